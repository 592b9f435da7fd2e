//! Builds what is published into `target/package`, reproducibly, with digests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{
    edge,
    guest::{self, EMBEDDED, METERED, MODULE},
    inside,
    install::has_python,
    js, python,
    run::{PACKAGES, cargo, say},
};

/// The digests, as `sha256sum --check` reads them.
const DIGESTS: &str = "SHA256SUMS";

/// The crates that are published: the library, with the component inside, and the command line.
const CRATES: [&str; 2] = ["seamgate", "seamgate-cli"];

/// Build everything that is published, and print its digests.
pub(crate) fn package() -> Result<()> {
    let folder = Path::new(PACKAGES);
    fs::create_dir_all(folder)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut made = vec![wit(folder, version)?];
    edge::component()?;
    guest::validator()?;
    let components = [
        (EMBEDDED, "harness"),
        (METERED, "harness-metered"),
        (MODULE, "module"),
        (guest::VALIDATOR, "validator"),
        (guest::VALIDATOR_BUILT, "validator-to-bake"),
        (edge::EDGE, "edge"),
    ];
    for (component, name) in components {
        let to = folder.join(format!("seamgate-{name}-{version}.wasm"));
        fs::copy(component, &to).with_context(|| format!("cannot copy {component}"))?;
        made.push(to);
    }
    made.extend(crates(folder, version)?);
    let inside = folder.join("inside");
    inside::write(Some("seamgate-cli"), &inside)?;
    made.extend([inside.join(inside::NOTICES), inside.join(inside::MATERIALS)]);
    made.extend(js::package()?);
    match has_python() {
        true => {
            let wheels = python::wheels()?;
            python::try_out(&wheels)?;
            made.extend(wheels);
        }
        false => say("skipping the Python wheel: python3 with its module venv is missing"),
    }
    digests(folder, &made)
}

/// The WIT package in binary form, for registries of components.
fn wit(folder: &Path, version: &str) -> Result<PathBuf> {
    let to = folder.join(format!("seamgate-wit-{version}.wasm"));
    guest::wit(version, &to)?;
    Ok(to)
}

fn crates(folder: &Path, version: &str) -> Result<Vec<PathBuf>> {
    // Unverified: a build of what was packed would compile Cranelift again. Dirty: git ignores the components inside.
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
