//! Runs the checks in their order.

use std::{collections::BTreeMap, io, path::Path};

use serde_json::Value;

use crate::{
    component::{self, Wit},
    digests,
    folder::Folder,
    materials::{self, Lock},
    names::{self, DIGESTS, LOCK},
    provenance,
    report::{CheckKind, Report},
    signature::{self, Signed, Trust},
    workflow::Workflow,
};

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The folder cannot be listed.
    #[error("cannot list the folder: {0}")]
    Folder(#[from] io::Error),
    /// The repository is not written as `OWNER/NAME`.
    #[error("the repository must be OWNER/NAME, such as example/seamgate; got {0:?}")]
    Repository(String),
    /// The version does not have the form of a release's version.
    #[error("the version must be one such as 0.1.0; got {0:?}")]
    Version(String),
}

/// The release that a folder must contain.
pub struct Expected<'e> {
    /// The repository on GitHub whose workflow must have built it: `OWNER/NAME`.
    pub repository: &'e str,
    /// The version of the release. If it is `None`, any version passes, so that an old release cannot be told from the
    /// newest one.
    pub version: Option<&'e str>,
}

/// Checks the files of a release in a folder, without a network.
///
/// Files without a signature are only hashed: `Cargo.lock`, bills of materials and components are parsed only if the
/// provenance names their digests.
///
/// # Errors
///
/// The folder cannot be listed, or the expected values are malformed. Problems with a release are in the report.
pub fn verify(folder: &Path, expected: &Expected<'_>, trust: &Trust) -> Result<Report, ReleaseError> {
    if !names::is_repository(expected.repository) {
        return Err(ReleaseError::Repository(expected.repository.to_owned()));
    }
    if let Some(version) = expected.version.filter(|version| !names::is_version(version)) {
        return Err(ReleaseError::Version(version.to_owned()));
    }
    let folder = Folder::open(folder)?;
    let mut release = Release { folder, trust, digests: BTreeMap::new(), report: Report::new(expected.repository) };
    release.check(expected);
    let mut report = release.report;
    report.ok = !report.has_failed();
    Ok(report)
}

struct Release<'r> {
    folder: Folder,
    trust: &'r Trust,
    /// The digests of `SHA256SUMS`.
    digests: BTreeMap<String, String>,
    report: Report,
}

impl Release<'_> {
    fn check(&mut self, expected: &Expected<'_>) {
        let is_read = self.check_digests();
        let version = match self.version(expected.version) {
            Ok(version) => version,
            Err(reason) => {
                self.report.add(CheckKind::Signature, &names::provenance("VERSION"), Err(reason));
                return;
            }
        };
        self.report.version = Some(version.clone());
        let workflow = Workflow { repository: expected.repository.to_owned(), version };
        let statement = names::provenance(&workflow.version);
        let Some(signed) = self.statement(&statement, &workflow) else {
            return;
        };
        self.report.commit = Some(signed.commit.clone());
        if !is_read {
            return self.report.skip(CheckKind::Provenance, &statement, "SHA256SUMS cannot be used");
        }
        let outcome = provenance::check(&signed, &self.digests, &workflow);
        if !self.report.add(CheckKind::Provenance, &statement, outcome) {
            self.report.skip(CheckKind::Materials, LOCK, "the provenance failed");
            for name in component::wit_packages(&workflow.version) {
                self.report.skip(CheckKind::Component, &name, "the provenance failed");
            }
            return;
        }
        self.check_statements(&workflow.version);
        self.check_materials(&workflow, &signed.commit);
        self.check_components(&workflow.version);
    }

    /// Compares every file with `SHA256SUMS`. Returns whether `SHA256SUMS` could be read.
    fn check_digests(&mut self) -> bool {
        let read = self.folder.read(DIGESTS, digests::MAX_BYTES).and_then(|bytes| digests::parse(&bytes));
        match read {
            Ok(digests) => self.digests = digests,
            Err(reason) => {
                let reason = match self.folder.has(DIGESTS) {
                    true => reason,
                    false => "is not in the folder; copy it from the release".to_owned(),
                };
                self.report.add(CheckKind::Digests, DIGESTS, Err(reason));
                return false;
            }
        }
        let (mut equal, mut is_ok) = (0, true);
        for (name, digest) in &self.digests {
            let outcome = match self.folder.has(name) {
                false => {
                    self.report.skip(CheckKind::Digests, name, "is not in the folder");
                    continue;
                }
                true => self.folder.digest(name).map_err(|error| format!("cannot read it: {error}")),
            };
            let outcome = outcome.and_then(|found| match found == *digest {
                true => Ok(()),
                false => Err(format!("has the SHA-256 {found}; SHA256SUMS says {digest}")),
            });
            match outcome {
                Ok(()) => equal += 1,
                Err(reason) => is_ok = self.report.add(CheckKind::Digests, name, Err(reason)),
            }
        }
        let is_own = |name: &str| name == DIGESTS || names::is_statement(name) || self.digests.contains_key(name);
        let strange: Vec<String> =
            self.folder.names().filter(|(name, _)| !is_own(name)).map(|(name, _)| name.to_owned()).collect();
        for name in strange {
            let reason = "SHA256SUMS does not name it; remove it, or take the whole release".to_owned();
            is_ok = self.report.add(CheckKind::Digests, &name, Err(reason));
        }
        if is_ok {
            let detail = format!("{equal} of its {} files are in the folder, and have its digests", self.digests.len());
            self.report.add(CheckKind::Digests, DIGESTS, Ok(detail));
        }
        true
    }

    /// Returns the version in the name of the provenance statement.
    fn version(&self, expected: Option<&str>) -> Result<String, String> {
        let mut found = self.folder.names().filter_map(|(name, _)| names::version_of_provenance(name));
        let version = found.next().ok_or("is not in the folder; copy it from the release")?;
        if let Some(other) = found.next() {
            return Err(format!("the folder has the statements of {version} and {other}; keep one release in it"));
        }
        match expected {
            Some(expected) if expected != version => Err(format!("belongs to version {version}; expected {expected}")),
            _ => Ok(version.to_owned()),
        }
    }

    /// Rejects statements that belong to no file of this release.
    fn check_statements(&mut self, version: &str) {
        let of_files = names::materials(version).into_iter().filter(|of| self.digests.contains_key(&of.program));
        let mut known: Vec<String> = of_files.map(|of| of.statement).collect();
        known.push(names::provenance(version));
        let strange = self.folder.names().map(|(name, _)| name);
        let strange = strange.filter(|name| names::is_statement(name) && !known.iter().any(|known| known == name));
        let strange: Vec<String> = strange.map(str::to_owned).collect();
        for name in strange {
            let reason = format!("belongs to no file of version {version}; remove it");
            self.report.add(CheckKind::Signature, &name, Err(reason));
        }
    }

    /// Verifies the signature of a statement.
    fn statement(&mut self, name: &str, workflow: &Workflow) -> Option<Signed> {
        let bundle = self.folder.read(name, signature::MAX_BYTES);
        let signed = bundle.and_then(|bundle| self.trust.statement(&bundle, workflow));
        let (outcome, signed) = match signed {
            Ok(signed) => {
                let logged = signed.logged.as_deref().map_or_else(String::new, |time| format!(", logged at {time}"));
                (Ok(format!("signed by {}{logged}", workflow.identity())), Some(signed))
            }
            Err(reason) => (Err(reason), None),
        };
        self.report.add(CheckKind::Signature, name, outcome);
        signed
    }

    /// Reads a file of the release whose digest the provenance names. If the file is missing or has another digest,
    /// adds the reason to the report.
    fn read(&mut self, check: CheckKind, name: &str, limit: u64) -> Option<Vec<u8>> {
        let Some(digest) = self.digests.get(name).filter(|_| self.folder.has(name)) else {
            self.report.skip(check, name, "is not in the folder");
            return None;
        };
        if self.report.checks.iter().any(|failed| !failed.ok && failed.file == name) {
            self.report.skip(check, name, "has another digest");
            return None;
        }
        match self.folder.read_checked(name, limit, digest) {
            Ok(bytes) => Some(bytes),
            Err(reason) => {
                self.report.add(check, name, Err(reason));
                None
            }
        }
    }

    fn check_materials(&mut self, workflow: &Workflow, commit: &str) {
        let Some(lock) = self.read(CheckKind::Materials, LOCK, materials::MAX_BYTES) else {
            return;
        };
        let lock = match Lock::read(&lock, &workflow.version) {
            Ok(lock) => lock,
            Err(reason) => {
                self.report.add(CheckKind::Materials, LOCK, Err(reason));
                return;
            }
        };
        for of in names::materials(&workflow.version) {
            // The release does not include this platform.
            let Some(digest) = self.digests.get(&of.program).cloned() else {
                continue;
            };
            let Some(bill) = self.read(CheckKind::Materials, &of.bill, materials::MAX_BYTES) else {
                continue;
            };
            let bill: Value = match serde_json::from_slice(&bill) {
                Ok(bill) => bill,
                Err(error) => {
                    self.report.add(CheckKind::Materials, &of.bill, Err(format!("is no JSON: {error}")));
                    continue;
                }
            };
            let outcome = materials::check(&bill, &lock, &workflow.version);
            let outcome = outcome.map(|number| format!("{LOCK} pins all of its {number} packages"));
            self.report.add(CheckKind::Materials, &of.bill, outcome);
            if !self.folder.has(&of.statement) {
                let reason = "is not in the folder; copy it from the release".to_owned();
                self.report.add(CheckKind::Signature, &of.statement, Err(reason));
                continue;
            }
            if let Some(signed) = self.statement(&of.statement, workflow) {
                let outcome = materials::check_statement(&signed, &of.program, &digest, &bill, commit);
                let outcome = outcome.map(|()| format!("says that {} is what {} contains", of.bill, of.program));
                self.report.add(CheckKind::Materials, &of.statement, outcome);
            }
        }
    }

    fn check_components(&mut self, version: &str) {
        let mut packages: BTreeMap<String, Wit> = BTreeMap::new();
        for name in component::wit_packages(version) {
            let Some(bytes) = self.read(CheckKind::Component, &name, component::MAX_BYTES) else {
                continue;
            };
            match Wit::read(&bytes, version) {
                Ok(wit) => drop(packages.insert(name, wit)),
                Err(reason) => drop(self.report.add(CheckKind::Component, &name, Err(reason))),
            }
        }
        let packages_of_wit = component::wit_packages(version);
        let is_component = |file: &&String| file.ends_with(".wasm") && !packages_of_wit.contains(file);
        let files: Vec<String> = self.digests.keys().filter(is_component).cloned().collect();
        for file in files {
            let package = component::wit_package_of(&file, version);
            let wit = package.as_ref().and_then(|package| packages.get(package));
            if !component::is_known(&file, version) {
                self.report.skip(CheckKind::Component, &file, "no WIT package says what it exports");
            } else if let (Some(package), None) = (&package, wit) {
                self.report.skip(CheckKind::Component, &file, &format!("needs {package}"));
            } else if let Some(bytes) = self.read(CheckKind::Component, &file, component::MAX_BYTES) {
                let outcome = component::check(&file, &bytes, wit, version);
                self.report.add(CheckKind::Component, &file, outcome);
            }
        }
    }
}
