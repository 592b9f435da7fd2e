//! JSON-Schema-Test-Suite: the drafts that contracts can be written in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use seamgate::Disposition;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Test, entries,
    sandbox::{Contract, Said, Sandbox, with_each},
};

pub(crate) const NAME: &str = "JSON-Schema-Test-Suite";

/// The drafts by their folders, and the dialect of schemas that name none.
const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// The parts of a draft's tests, and the folders of those that are not the first.
const PARTS: [(&str, &str); 3] = [("required", ""), ("optional", "optional"), ("format", "optional/format")];

/// The URL at which the suite expects its remotes.
const REMOTES: &str = "http://localhost:1234/";

/// A schema with its tests. Values stay as they are written: they may be more than this program's numbers hold.
#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Box<RawValue>,
    valid: bool,
}

/// One group of a file.
struct Job {
    draft: &'static str,
    dialect: &'static str,
    /// One of `PARTS`.
    part: &'static str,
    file: String,
    group: Group,
}

/// Further schemas that a group may refer to.
struct Remote {
    uri: String,
    text: String,
}

pub(crate) fn run(sandbox: &Sandbox, suite: &Path) -> Result<Vec<Test>> {
    let remotes = remotes(&suite.join("remotes"))?;
    let mut jobs = Vec::new();
    for (draft, dialect) in DRAFTS {
        let root = suite.join("tests").join(draft);
        for (part, folder) in PARTS {
            for path in files(&root.join(folder))? {
                let file = path.strip_prefix(&root)?.with_extension("").display().to_string();
                let groups: Vec<Group> =
                    serde_json::from_slice(&fs::read(&path)?).with_context(|| path.display().to_string())?;
                jobs.extend(groups.into_iter().map(|group| Job { draft, dialect, part, file: file.clone(), group }));
            }
        }
    }
    let tests = with_each(&jobs, |job| job.run(sandbox, &remotes))?;
    Ok(tests.into_iter().flatten().collect())
}

impl Job {
    fn run(&self, sandbox: &Sandbox, remotes: &[Remote]) -> Vec<Test> {
        let schema = self.group.schema.get();
        let contract = Contract {
            dialect: Some(self.dialect),
            // The required tests hold formats to be annotations, the others are about them.
            assert_formats: self.part != "required",
            resources: self.resources(remotes),
            ..Contract::of("schema", schema)
        };
        let test = |case: &Case| {
            let verdict = sandbox.judge(&contract, case.data.get().as_bytes());
            let is = verdict.as_ref().is_ok_and(|report| report.disposition == Disposition::Accepted);
            let as_expected = verdict.is_ok() && is == case.valid;
            Test {
                group: format!("{}, {}", self.draft, self.part),
                name: format!("{}/{}: {}: {}", self.draft, self.file, self.group.description, case.description),
                failure: (!as_expected).then(|| Said::by(&verdict)),
            }
        };
        self.group.tests.iter().map(test).collect()
    }

    /// Returns the remotes that a schema names, and those that they name: by the names of their files, in its draft's
    /// folder or in one that it names. All of them would be more than one draft takes.
    fn resources<'r>(&self, remotes: &'r [Remote]) -> Vec<(&'r str, &'r str)> {
        let schema = self.group.schema.get();
        let mut found: Vec<&Remote> = Vec::new();
        let mut open = vec![schema];
        while let Some(text) = open.pop() {
            for remote in remotes {
                let name = &remote.uri[REMOTES.len()..];
                let folder = name.split('/').next().unwrap_or_default();
                let file = name.rsplit('/').next().unwrap_or_default();
                let in_reach =
                    !folder.starts_with("draft") || folder == self.draft || schema.contains(&format!("/{folder}/"));
                let named = [format!("/{file}"), format!("\"{file}")].iter().any(|name| text.contains(name));
                if in_reach && named && !found.iter().any(|other| other.uri == remote.uri) {
                    found.push(remote);
                    open.push(&remote.text);
                }
            }
        }
        found.iter().map(|remote| (remote.uri.as_str(), remote.text.as_str())).collect()
    }
}

/// Returns whether a folder belongs to one of the drafts.
pub(crate) fn is_draft(folder: &str) -> bool {
    DRAFTS.iter().any(|(draft, _)| *draft == folder)
}

fn remotes(root: &Path) -> Result<Vec<Remote>> {
    let mut folders = vec![root.to_owned()];
    let mut remotes = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in files(&folder)? {
            let name = path.strip_prefix(root)?.display().to_string();
            remotes.push(Remote { uri: format!("{REMOTES}{name}"), text: fs::read_to_string(path)? });
        }
        folders.extend(entries(&folder)?.into_iter().filter(|path| path.is_dir()));
    }
    Ok(remotes)
}

/// Returns the JSON files in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    Ok(entries(folder)?.into_iter().filter(is_json).collect())
}
