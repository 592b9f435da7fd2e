//! What is published, built reproducibly into `target/package`, with its digests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use wit_parser::Resolve;

use crate::{
    edge,
    guest::{EMBEDDED, METERED, MODULE},
    install::has_python,
    js, python,
    run::{PACKAGES, cargo, say},
};

/// The digests, as `sha256sum --check` reads them.
const DIGESTS: &str = "SHA256SUMS";

/// The crates that are published: the library, and the command line. What they embed is in them.
const CRATES: [&str; 2] = ["seamgate", "seamgate-cli"];

/// Build everything that is published, and tell what it is.
pub(crate) fn package() -> Result<()> {
    let folder = Path::new(PACKAGES);
    fs::create_dir_all(folder)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut made = vec![wit(folder, version)?];
    edge::component()?;
    let components =
        [(EMBEDDED, "validator"), (METERED, "validator-metered"), (MODULE, "module"), (edge::EDGE, "edge")];
    for (component, name) in components {
        let to = folder.join(format!("seamgate-{name}-{version}.wasm"));
        fs::copy(component, &to).with_context(|| format!("cannot copy {component}"))?;
        made.push(to);
    }
    made.extend(crates(folder, version)?);
    made.extend(js::package()?);
    match has_python() {
        true => made.push(python::wheel()?),
        false => say("there is no python3 with its module venv: the package for Python is not made"),
    }
    digests(folder, &made)
}

/// The WIT package in its binary form, as registries of components keep it.
fn wit(folder: &Path, version: &str) -> Result<PathBuf> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir("wit")?;
    let name = &resolve.packages[package].name;
    ensure!(
        name.version.as_ref().is_some_and(|of_wit| of_wit.to_string() == version),
        "the package in wit/ is {name}, and the version in Cargo.toml is {version}: they should be the same"
    );
    let to = folder.join(format!("seamgate-wit-{version}.wasm"));
    fs::write(&to, wit_component::encode(&resolve, package, false)?)?;
    Ok(to)
}

fn crates(folder: &Path, version: &str) -> Result<Vec<PathBuf>> {
    // Not built again from what was packed: that would compile a compiler once more. The components in it are not committed.
    let mut arguments = vec!["package", "--no-verify", "--allow-dirty", "--locked", "--quiet"];
    for name in CRATES {
        arguments.extend(["--package", name]);
    }
    cargo(arguments)?;
    let path = |name| folder.join(format!("{name}-{version}.crate"));
    Ok(CRATES.map(path).to_vec())
}

fn digests(folder: &Path, made: &[PathBuf]) -> Result<()> {
    let mut digests = String::new();
    for path in made {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let name = path.file_name().unwrap_or_default().display();
        digests.push_str(&format!("{}  {name}\n", HEXLOWER.encode(&Sha256::digest(bytes))));
    }
    fs::write(folder.join(DIGESTS), &digests)?;
    say(&format!("{PACKAGES}/{DIGESTS}:"));
    print!("{digests}");
    Ok(())
}
