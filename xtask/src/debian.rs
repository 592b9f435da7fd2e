//! Debian's packages, pinned by version and digest. They are unpacked into a folder, and nothing is installed on the
//! system.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{
    install::{done, installed},
    run::{command, output, run, say},
};

/// Unpacks packages into a folder, unless they are already there. Each line of `pinned` has a package's name,
/// architecture, version and SHA-256. `what` describes them in messages.
pub(crate) fn unpack(folder: &Path, pinned: &str, what: &str) -> Result<()> {
    if installed(folder, &[Path::new(pinned)])? {
        return Ok(());
    }
    for tool in ["apt-get", "dpkg-deb"] {
        ensure!(output(command(tool).arg("--version")).is_some(), "{what} needs {tool}, which Debian has");
    }
    say(&format!("unpacking {what} into {}", folder.display()));
    let (apt, packed) = (folder.join("apt"), folder.join("packed"));
    for folder in [apt.join("lists/partial"), apt.join("cache/archives/partial"), packed.clone()] {
        fs::create_dir_all(folder)?;
    }
    // Separate package lists, because those of the system cover only this processor.
    let options: Vec<String> = vec![
        "-oAPT::Architectures::=amd64".into(),
        "-oAPT::Architectures::=arm64".into(),
        // Runs as this user, who owns the folder.
        "-oAPT::Sandbox::User=root".into(),
        format!("-oDir::State::Lists={}", apt.join("lists").display()),
        format!("-oDir::Cache={}", apt.join("cache").display()),
    ];
    run(command("apt-get").args(&options).args(["update", "--quiet"]))?;
    for line in fs::read_to_string(pinned)?.lines().filter(|line| !line.starts_with('#')) {
        let [name, architecture, version, digest] =
            <[&str; 4]>::try_from(line.split(' ').collect::<Vec<_>>()).ok().with_context(|| pinned.to_owned())?;
        let package = format!("{name}:{architecture}={version}");
        run(command("apt-get").args(&options).args(["download", "--quiet", &package]).current_dir(&packed))
            .with_context(|| format!("Debian has another version by now, perhaps: {pinned} pins it"))?;
        let mut files = fs::read_dir(&packed)?;
        let file = files.next().context("apt-get downloaded nothing")??.path();
        let found = HEXLOWER.encode(&Sha256::digest(fs::read(&file)?));
        ensure!(found == digest, "{package} has the SHA-256 {found}, and not {digest}");
        run(command("dpkg-deb").arg("--extract").arg(&file).arg(folder))?;
        fs::remove_file(file)?;
    }
    done(folder, &[Path::new(pinned)])
}
