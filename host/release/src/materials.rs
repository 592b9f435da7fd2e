//! Bills of materials in CycloneDX format, checked against `Cargo.lock`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::signature::Signed;

/// The largest bill of materials and the largest `Cargo.lock`, in bytes.
pub(crate) const MAX_BYTES: u64 = 8 << 20;
/// The maximum number of components in a bill of materials.
const MAX_COMPONENTS: usize = 8192;

const PREDICATE: &str = "https://cyclonedx.org/bom";
/// The package of the workspace that has the version of the release.
const PACKAGE: &str = "seamgate";

/// The packages of `Cargo.lock` that come from a registry: the digest of each, by name and version.
pub(crate) struct Lock(BTreeMap<(String, String), String>);

#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockPackage>,
}

#[derive(Deserialize)]
struct LockPackage {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

impl Lock {
    /// Parses `Cargo.lock`, which must belong to this version.
    pub(crate) fn read(bytes: &[u8], version: &str) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "must be UTF-8".to_owned())?;
        let file: LockFile = toml::from_str(text).map_err(|error| format!("is no Cargo.lock: {}", error.message()))?;
        let own = file.package.iter().find(|package| package.name == PACKAGE && package.source.is_none());
        match own.map(|package| package.version.as_str()) {
            Some(found) if found == version => {}
            Some(found) => return Err(format!("belongs to version {found}; expected {version}")),
            None => return Err(format!("has no package {PACKAGE}")),
        }
        let mut packages = BTreeMap::new();
        for LockPackage { name, version, source, checksum } in file.package {
            let Some(checksum) = checksum.filter(|_| source.is_some_and(|source| source.starts_with("registry+")))
            else {
                continue;
            };
            if let Some(other) = packages.insert((name.clone(), version.clone()), checksum) {
                return Err(format!("has {name} {version} twice, once with the checksum {other}"));
            }
        }
        Ok(Lock(packages))
    }
}

/// Checks that a bill of materials belongs to a version, and that `Cargo.lock` pins each of its components. Returns the
/// number of components.
pub(crate) fn check(bill: &Value, lock: &Lock, version: &str) -> Result<usize, String> {
    let text = |place: &str| bill.pointer(place).and_then(Value::as_str).unwrap_or("none");
    let expected =
        [("/bomFormat", "CycloneDX"), ("/metadata/component/name", PACKAGE), ("/metadata/component/version", version)];
    for (place, expected) in expected {
        if text(place) != expected {
            return Err(format!("{place} is {}; expected {expected}", text(place)));
        }
    }
    let components = bill["components"].as_array().filter(|components| !components.is_empty());
    let components = components.ok_or("lists no components")?;
    if components.len() > MAX_COMPONENTS {
        return Err(format!("lists more than {MAX_COMPONENTS} components"));
    }
    let mut seen = BTreeSet::new();
    for (index, component) in components.iter().enumerate() {
        let text = |place: &str| component.pointer(place).and_then(Value::as_str);
        let (Some(name), Some(version)) = (text("/name"), text("/version")) else {
            return Err(format!("/components/{index} has no name or no version"));
        };
        if !seen.insert((name, version)) {
            return Err(format!("lists {name} {version} twice"));
        }
        let pinned = lock.0.get(&(name.to_owned(), version.to_owned()));
        let pinned = pinned.ok_or_else(|| format!("lists {name} {version}, which Cargo.lock does not have"))?;
        let is_single = component["hashes"].as_array().is_some_and(|hashes| hashes.len() == 1);
        if !is_single || text("/hashes/0/alg") != Some("SHA-256") {
            return Err(format!("{name} {version}: must have one digest, by SHA-256"));
        }
        let found = text("/hashes/0/content").unwrap_or("none");
        if found != pinned {
            return Err(format!("{name} {version} has the digest {found}; Cargo.lock pins {pinned}"));
        }
        let purl = format!("pkg:cargo/{name}@{version}");
        if text("/purl") != Some(&purl) {
            return Err(format!(
                "{name} {version} has the address {}; expected {purl}",
                text("/purl").unwrap_or("none")
            ));
        }
    }
    Ok(components.len())
}

/// Checks that a statement with a valid signature is about exactly one file with this digest, and contains this bill of
/// materials.
pub(crate) fn check_statement(
    signed: &Signed,
    program: &str,
    digest: &str,
    bill: &Value,
    commit: &str,
) -> Result<(), String> {
    let statement = &signed.statement;
    if statement.predicate_type != PREDICATE {
        return Err(format!("is a statement of the type {}; expected {PREDICATE}", statement.predicate_type));
    }
    let [subject] = statement.subject.as_slice() else {
        return Err(format!("is about {} files; expected one, {program}", statement.subject.len()));
    };
    if subject.name != program || subject.digest.sha256 != digest {
        let found = &subject.digest.sha256;
        return Err(format!("is about {} with the SHA-256 {found}; expected {program} with {digest}", subject.name));
    }
    if signed.commit != commit {
        return Err(format!("belongs to the commit {}; the release was built from {commit}", signed.commit));
    }
    match &statement.predicate == bill {
        true => Ok(()),
        false => Err("holds another bill of materials than the file of the release".to_owned()),
    }
}
