//! The statement about where the files were built: SLSA provenance, as GitHub's workflows create it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{names, signature::Signed, workflow::Workflow};

const PREDICATE: &str = "https://slsa.dev/provenance/v1";
const BUILD: &str = "https://actions.github.io/buildtypes/workflow/v1";

/// Checks a statement with a valid signature. Returns the finding.
pub(crate) fn check(
    signed: &Signed,
    digests: &BTreeMap<String, String>,
    workflow: &Workflow,
) -> Result<String, String> {
    let statement = &signed.statement;
    if statement.predicate_type != PREDICATE {
        return Err(format!("is a statement of the type {}; expected {PREDICATE}", statement.predicate_type));
    }
    let mut subjects: BTreeMap<&str, &str> = BTreeMap::new();
    for subject in &statement.subject {
        if subjects.insert(&subject.name, &subject.digest.sha256).is_some() {
            return Err(format!("names {} twice", subject.name));
        }
    }
    for (name, digest) in digests {
        match subjects.remove(name.as_str()) {
            None => return Err(format!("does not name {name}, which SHA256SUMS names")),
            Some(built) if built != digest => {
                return Err(format!("{name} was built with the SHA-256 {built}, and SHA256SUMS says {digest}"));
            }
            Some(_) => {}
        }
    }
    if let Some(name) = subjects.keys().next() {
        return Err(format!("names {name}, which SHA256SUMS does not name"));
    }
    let workflow_of = "/buildDefinition/externalParameters/workflow";
    let (address, tag) = (workflow.address(), workflow.tag());
    let expected = [
        ("/buildDefinition/buildType".to_owned(), BUILD.to_owned()),
        (format!("{workflow_of}/repository"), address.clone()),
        (format!("{workflow_of}/path"), Workflow::PATH.to_owned()),
        (format!("{workflow_of}/ref"), tag.clone()),
        ("/runDetails/builder/id".to_owned(), workflow.identity()),
    ];
    let predicate = &statement.predicate;
    for (place, expected) in expected {
        let found = predicate.pointer(&place).and_then(Value::as_str).unwrap_or("none");
        if found != expected {
            return Err(format!("{place} is {found}; expected {expected}"));
        }
    }
    let source = predicate.pointer("/buildDefinition/resolvedDependencies/0");
    let text = |place: &str| source.and_then(|source| source.pointer(place)).and_then(Value::as_str);
    let uri = format!("git+{address}@{tag}");
    if text("/uri") != Some(&uri) {
        return Err(format!("was built from {}; expected {uri}", text("/uri").unwrap_or("none")));
    }
    if text("/digest/gitCommit") != Some(&signed.commit) {
        let found = text("/digest/gitCommit").unwrap_or("none");
        return Err(format!("was built from the commit {found}; the certificate names {}", signed.commit));
    }
    // The names of the files, which the statement covers, also contain the version.
    if let Some(name) = digests.keys().find(|name| !names::says_version(name, &workflow.version)) {
        return Err(format!("{name} is no file of version {}", workflow.version));
    }
    Ok(format!("names exactly the {} files of SHA256SUMS, built from commit {}", digests.len(), signed.commit))
}
