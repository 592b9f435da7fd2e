//! Builds the published files into `target/package`, reproducibly, with digests.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{
    c, edge, go,
    guest::{self, EMBEDDED, METERED, MODULE, PAUSING},
    inside,
    install::{has_python, remove},
    java, js, oci, paths, python,
    run::{PACKAGES, cargo, command, output, rooted, run, say},
};

/// The file with the contained packages and their digests.
const LOCK: &str = "Cargo.lock";

/// The file with the digests, in the format of `sha256sum --check`.
pub(crate) const DIGESTS: &str = "SHA256SUMS";

/// The published crates, each after its dependencies: the library with the component inside, the crates of the command
/// line, and the command line.
const CRATES: [&str; 14] = [
    "seamgate-core",
    "seamgate-kernel",
    "seamgate",
    "seamgate-text",
    "seamgate-authoring",
    "seamgate-trace",
    "seamgate-runner",
    "seamgate-http",
    "seamgate-mcp",
    "seamgate-serve",
    "seamgate-hook",
    "seamgate-receipt",
    "seamgate-release",
    "seamgate-cli",
];

/// Builds all published files, and prints their digests.
pub(crate) fn package() -> Result<()> {
    let folder = Path::new(PACKAGES);
    fs::create_dir_all(folder)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut made = wit(folder, version)?.to_vec();
    edge::component()?;
    guest::validator()?;
    let components = [
        (EMBEDDED, "harness"),
        (METERED, "harness-metered"),
        (MODULE, "module"),
        (PAUSING, "module-pausing"),
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
    let program = program(folder, version)?;
    let inside = folder.join("inside");
    materials(&inside)?;
    if let Some(program) = program {
        c_library(&program, &inside.join(inside::NOTICES))?;
        made.push(program);
    }
    made.extend(oci::write(&made, &inside, folder)?);
    // The bills of materials are checked against this file.
    fs::copy(LOCK, inside.join(LOCK)).context(LOCK)?;
    made.extend([inside::NOTICES, inside::MATERIALS, LOCK].map(|name| inside.join(name)));
    made.extend(js::package()?.into_iter().flatten());
    made.extend(go::package()?);
    made.extend(java::package()?);
    made.extend(c::package()?);
    match has_python() {
        true => {
            let wheels = python::wheels()?;
            python::try_out(&wheels)?;
            made.extend(wheels);
        }
        false => say("skipping the Python wheel: python3 with its module venv is missing"),
    }
    // No earlier files may stay.
    fs::write(folder.join(DIGESTS), "")?;
    digests(folder, &made)
}

/// Packs the wheel and the addon from libraries that were built on another platform.
pub(crate) fn pack(target: &str, python_library: &Path, addon: &Path) -> Result<()> {
    let mut made = vec![python::native_of(python_library, target)?];
    made.extend(js::package_of(addon, target)?.into_iter().skip(1));
    digests(Path::new(PACKAGES), &made)
}

/// Writes the contents of the command line on this platform, and their licences.
pub(crate) fn materials(folder: &Path) -> Result<()> {
    inside::write(Some(("seamgate-cli", &inside::host()?)), folder)
}

/// Returns both WIT packages in binary form, for registries of components.
fn wit(folder: &Path, version: &str) -> Result<[PathBuf; 2]> {
    let [to, harness] = ["wit", "wit-harness"].map(|name| folder.join(format!("seamgate-{name}-{version}.wasm")));
    guest::wit(version, &to, &harness)?;
    Ok([to, harness])
}

fn crates(folder: &Path, version: &str) -> Result<Vec<PathBuf>> {
    // Without verification, because building the packed crates would compile Cranelift again. With uncommitted files,
    // because git ignores the components inside.
    let mut arguments = vec!["package", "--no-verify", "--allow-dirty", "--locked", "--quiet"];
    for name in CRATES {
        arguments.extend(["--package", name]);
    }
    cargo(arguments)?;
    let path = |name| folder.join(format!("{name}-{version}.crate"));
    Ok(CRATES.map(path).to_vec())
}

/// Returns the command line as one file that needs no other file, not even a C library. Returns `None` except on Linux
/// with x86-64.
fn program(folder: &Path, version: &str) -> Result<Option<PathBuf>> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        say("skipping the command line as one file: it is for Linux on x86-64");
        return Ok(None);
    }
    cargo(["build", "--release", "--locked"])?;
    // Links the existing build once more. `cargo rustc` would build it with other features of Wasmtime, which takes
    // minutes.
    let linked = folder.join("tmp-program");
    run(command("rustc")
        .args(["host/cli/src/main.rs", "--crate-name", "seamgate", "--edition", "2024"])
        .args(["--extern", "seamgate_cli=target/release/libseamgate_cli.rlib", "-Ldependency=target/release/deps"])
        .args(["-Copt-level=3", "-Ctarget-feature=+crt-static", "-Cstrip=symbols", "-o"])
        .arg(&linked))?;
    let to = folder.join(format!("seamgate-{version}-x86_64-linux"));
    paths::write_without(&linked, &to)?;
    fs::set_permissions(&to, fs::metadata(&linked)?.permissions())?;
    fs::remove_file(&linked)?;
    say(&format!("{}: {} bytes", to.display(), fs::metadata(&to)?.len()));
    try_out(&to)?;
    Ok(Some(to))
}

/// Adds to the notices that the file also contains the C library.
fn c_library(program: &Path, notices: &Path) -> Result<()> {
    let version = output(command("getconf").arg("GNU_LIBC_VERSION")).context("which C library this is")?;
    let name = program.file_name().context("a file")?.display();
    let mut text = fs::read_to_string(notices)?;
    text.push_str(&format!(
        "\n\n{}\n{name} alone\n\nIt has {version}, the GNU C Library, inside, under LGPL-2.1-or-later \
         (https://www.gnu.org/licenses/old-licenses/lgpl-2.1.html).\nThe source of seamgate links it with another one: \
         `cargo xtask package`.\n",
        "-".repeat(80)
    ));
    fs::write(notices, text).with_context(|| notices.display().to_string())
}

/// Judges an output with the command line in a root folder that contains nothing else: no library, no device, no
/// `/proc`.
fn try_out(program: &Path) -> Result<()> {
    let empty = Path::new(PACKAGES).join("tmp-root");
    remove(&empty)?;
    fs::create_dir_all(&empty)?;
    let examples = Path::new("schemas/examples");
    let files = [
        (program.to_owned(), "seamgate"),
        (examples.join("triage.contract.json"), "triage.contract.json"),
        (examples.join("triage.schema.json"), "triage.schema.json"),
        (examples.join("outputs/triage.good.txt"), "output.txt"),
    ];
    for (from, name) in files {
        fs::copy(&from, empty.join(name)).with_context(|| from.display().to_string())?;
    }
    let Some(mut rooted) = rooted(&empty) else {
        say("the command line as one file is not tried in an empty root: this system allows no user namespaces");
        return remove(&empty);
    };
    let check = ["/seamgate", "check", "-c", "triage.contract.json", "output.txt"];
    run(rooted.args(check).stdout(std::process::Stdio::null()))?;
    remove(&empty)
}

/// Returns the names of the files that a folder publishes, each with its digest, in the order of the list.
pub(crate) fn published(folder: &Path) -> Result<Vec<(String, String)>> {
    let file = folder.join(DIGESTS);
    let text = fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}: run `cargo xtask package` first", file.display()))?;
    let pair = |line: &str| line.split_once("  ").map(|(digest, name)| (name.to_owned(), digest.to_owned()));
    Ok(text.lines().filter_map(pair).collect())
}

/// Writes the digests of files, in addition to the existing digests of other files, and prints all.
pub(crate) fn digests(folder: &Path, made: &[PathBuf]) -> Result<()> {
    let to = folder.join(DIGESTS);
    let before = if to.exists() { published(folder)? } else { Vec::new() };
    let mut digests: BTreeMap<String, String> = before.into_iter().collect();
    let names = made.iter().map(|path| path.file_name().and_then(OsStr::to_str).context("a file"));
    let names = names.collect::<Result<Vec<&str>>>()?;
    for (path, name) in made.iter().zip(names) {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        digests.insert(name.to_owned(), HEXLOWER.encode(&Sha256::digest(bytes)));
    }
    let lines: String = digests.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
    fs::write(&to, &lines)?;
    say(&format!("{PACKAGES}/{DIGESTS}:"));
    print!("{lines}");
    Ok(())
}
