//! Describes the contents of a published package: writes a bill of materials (CycloneDX 1.6), and the licences of all
//! components.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    run::{command, output},
    toolchain::TARGET,
};

/// The file of a package with the licences of its contents, and the file that lists them.
pub(crate) const NOTICES: &str = "THIRD-PARTY-NOTICES.txt";
pub(crate) const MATERIALS: &str = "seamgate.cdx.json";

/// The package from which the component is built.
const GUEST: &str = "seamgate-guest";

/// Writes both files for a package that contains the component, and, if given, for a package of the workspace that
/// surrounds it on a platform.
pub(crate) fn write(around: Option<(&str, &str)>, folder: &Path) -> Result<()> {
    let mut inside = linked(GUEST, TARGET)?;
    if let Some((package, platform)) = around {
        inside.extend(linked(package, platform)?);
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join(NOTICES), notices(&inside)?)?;
    fs::write(folder.join(MATERIALS), materials(&inside)?)?;
    Ok(())
}

/// Returns the platform that the compiler builds for on this machine, in the compiler's notation.
pub(crate) fn host() -> Result<String> {
    let rustc = output(command("rustc").arg("-vV")).context("rustc does not run")?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

/// A package of the registry that is contained.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    licence: String,
    /// The folder with the package's files.
    folder: PathBuf,
}

/// Returns the packages that are linked into a package of the workspace. Packages that are needed only for building it
/// are excluded.
fn linked(package: &str, platform: &str) -> Result<BTreeSet<Package>> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", platform];
    let metadata = output(command("cargo").args(arguments)).context("`cargo metadata` fails")?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: HashMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (text(&package["id"]), package)).collect();
    let uses: HashMap<String, Vec<Value>> =
        list(&metadata["resolve"]["nodes"]).iter().map(|node| (text(&node["id"]), list(&node["deps"]))).collect();
    let is_macro = |id: &str| list(&packages[id]["targets"]).iter().any(|target| target["kind"][0] == "proc-macro");
    let named = packages.iter().find(|(_, found)| found["name"] == package && found["source"].is_null());
    let (root, _) = named.with_context(|| format!("the workspace has no package {package}"))?;
    let (mut open, mut seen) = (vec![root.clone()], BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        for used in uses.get(&id).into_iter().flatten() {
            let to = text(&used["pkg"]);
            if list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) && !is_macro(&to) {
                open.push(to);
            }
        }
    }
    let package = |id: &String| {
        let package = &packages[id];
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
        let [name, version] = ["name", "version"].map(|member| text(&package[member]));
        // The older notation for OR.
        let licence = text(&package["license"]).replace('/', " OR ");
        (!package["source"].is_null()).then_some(Package { name, version, licence, folder })
    };
    Ok(seen.iter().filter_map(package).collect())
}

/// Returns the texts of all licences, without duplicates, each with the packages that it applies to.
fn notices(inside: &BTreeSet<Package>) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without: Vec<&Package> = Vec::new();
    for package in inside {
        let mut any = false;
        for entry in fs::read_dir(&package.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_file() && ["LICEN", "COPY", "NOTICE", "UNLICENSE"].iter().any(|word| name.starts_with(word)) {
                let text = fs::read(&path).with_context(|| path.display().to_string())?;
                let users = texts.entry(String::from_utf8_lossy(&text).trim().replace("\r\n", "\n")).or_default();
                users.push(format!("{} {}", package.name, package.version));
                any = true;
            }
        }
        if !any {
            without.push(package);
        }
    }
    let mut out = String::from("seamgate has these packages inside. Each is used under the licence that it names.\n");
    for Package { name, version, licence, .. } in inside {
        out.push_str(&format!("\n{name} {version}: {licence}"));
    }
    for package in without {
        // Crates of the same project, of which only the first one has the text.
        let same = inside.iter().find(|other| other.licence == package.licence && has_text(&texts, other));
        let same = same.with_context(|| format!("{} has no text of its licence, and no other has it", package.name))?;
        let users = texts.values_mut().find(|users| users.contains(&format!("{} {}", same.name, same.version)));
        users.context("it has a text")?.push(format!("{} {}", package.name, package.version));
    }
    for (text, mut users) in texts {
        users.sort();
        users.dedup();
        out.push_str(&format!("\n\n{}\n{}\n\n{text}\n", "-".repeat(80), users.join(", ")));
    }
    Ok(out)
}

fn has_text(texts: &BTreeMap<String, Vec<String>>, package: &Package) -> bool {
    let name = format!("{} {}", package.name, package.version);
    texts.values().any(|users| users.contains(&name))
}

/// Returns the bill of materials in the format CycloneDX 1.6. It has no time and no serial number, so that it is the
/// same for each build.
fn materials(inside: &BTreeSet<Package>) -> Result<String> {
    let digests = digests(&fs::read_to_string("Cargo.lock")?);
    let version = env!("CARGO_PKG_VERSION");
    let component = |package: &Package| {
        let Package { name, version, licence, .. } = package;
        let purl = format!("pkg:cargo/{name}@{version}");
        let digest = digests.get(&(name.clone(), version.clone())).with_context(|| format!("no digest of {purl}"))?;
        Ok(json!({
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "hashes": [{ "alg": "SHA-256", "content": digest }], "licenses": [{ "expression": licence }],
        }))
    };
    let components: Vec<Value> = inside.iter().map(component).collect::<Result<_>>()?;
    let of = json!({ "type": "application", "bom-ref": "seamgate", "name": "seamgate", "version": version });
    let materials = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": { "component": of }, "components": components,
    });
    Ok(serde_json::to_string_pretty(&materials)? + "\n")
}

/// Returns the digests of packages, by name and version, that `Cargo.lock` pins.
fn digests(lock: &str) -> HashMap<(String, String), String> {
    let value = |of: &str, name: &str| {
        let line = of.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let packages = lock.split("[[package]]");
    let digest = |of: &str| Some(((value(of, "name")?, value(of, "version")?), value(of, "checksum")?));
    packages.filter_map(digest).collect()
}
