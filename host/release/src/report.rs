//! The result of the checks.

use std::fmt;

use serde::Serialize;

/// A kind of check, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckKind {
    /// The bytes of each file have the digest in `SHA256SUMS`.
    Digests,
    /// A statement is signed by the release workflow of the repository, run for the tag, and is logged.
    Signature,
    /// The workflow built exactly the files of `SHA256SUMS`, from the tag of their version.
    Provenance,
    /// A bill of materials belongs to its command line, and `Cargo.lock` pins each of its packages.
    Materials,
    /// A component imports nothing, and exports exactly what the WIT package defines.
    Component,
}

impl CheckKind {
    /// Returns the word for the kind.
    pub fn word(self) -> &'static str {
        match self {
            CheckKind::Digests => "digests",
            CheckKind::Signature => "signature",
            CheckKind::Provenance => "provenance",
            CheckKind::Materials => "materials",
            CheckKind::Component => "component",
        }
    }
}

impl fmt::Display for CheckKind {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// One check of one file.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The kind of the check.
    pub check: CheckKind,
    /// The name of the file.
    pub file: String,
    /// `true` if the file passed.
    pub ok: bool,
    /// The finding. A failure names the fault, and the value that would pass.
    pub detail: String,
}

/// A file that was not checked.
#[derive(Debug, Clone, Serialize)]
pub struct Unchecked {
    /// The check that did not run.
    pub check: CheckKind,
    /// The name of the file.
    pub file: String,
    /// The reason.
    pub why: String,
}

/// The result of all checks of a release.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// `true` if every check that ran passed, including those of the provenance.
    pub ok: bool,
    /// The repository that must have built the release: `OWNER/NAME`.
    pub repository: String,
    /// The version of the release. `None` if no file names it.
    pub version: Option<String>,
    /// The commit that the release was built from. `None` if no signature names it.
    pub commit: Option<String>,
    /// The checks that ran.
    pub checks: Vec<Check>,
    /// The checks that did not run.
    pub unchecked: Vec<Unchecked>,
}

impl Report {
    pub(crate) fn new(repository: &str) -> Self {
        let repository = repository.to_owned();
        Report { ok: false, repository, version: None, commit: None, checks: Vec::new(), unchecked: Vec::new() }
    }

    /// Adds a check that passed with a detail, or failed with a reason.
    pub(crate) fn add(&mut self, check: CheckKind, file: &str, outcome: Result<String, String>) -> bool {
        let ok = outcome.is_ok();
        let detail = outcome.unwrap_or_else(|reason| reason);
        self.checks.push(Check { check, file: file.to_owned(), ok, detail });
        ok
    }

    pub(crate) fn skip(&mut self, check: CheckKind, file: &str, why: &str) {
        self.unchecked.push(Unchecked { check, file: file.to_owned(), why: why.to_owned() });
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| !check.ok)
    }
}
