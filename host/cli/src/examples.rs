//! Example outputs beside a contract, with the verdicts expected: `NAME.examples` beside `NAME.contract.json`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Finish, Limits, MAX_FILE, Observation, Report, Request, open_regular};
use seamgate_text::truncate;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::evidence::Seen;

/// How the name of an output ends. What stands before names the example.
const OUTPUT: &str = ".txt";
const VERDICT: &str = ".verdict.json";
const REQUEST: &str = ".request.json";

/// What every output of a folder comes with, unless it has a request of its own.
const SHARED_REQUEST: &str = "request.json";

/// Bytes of a value to show.
const MAX_SHOWN: usize = 300;

/// The files of a folder that are named `NAME.contract.json`, in the order of their names.
pub(crate) fn contracts(folder: &Path) -> Result<Vec<PathBuf>> {
    let context = || format!("cannot read {}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let path = plain(folder).join(entry.with_context(context)?.file_name());
        if path.to_string_lossy().ends_with(".contract.json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// A folder as its files are named by: not at all, if it is the current one.
pub(crate) fn plain(folder: &Path) -> &Path {
    folder.strip_prefix(".").unwrap_or(folder)
}

/// The folder with the examples of a contract.
pub(crate) fn folder(contract: &Path) -> PathBuf {
    let name = contract.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".contract.json").or(name.strip_suffix(".json")).unwrap_or(&name);
    contract.with_file_name(format!("{name}.examples"))
}

/// An output, what it comes with, and the verdict that is expected.
pub(crate) struct Example {
    pub(crate) file: PathBuf,
    pub(crate) output: Vec<u8>,
    sent: Sent,
    /// What is expected; `None` where nobody has said it.
    pub(crate) expected: Option<Expected>,
}

impl Example {
    /// The file of the verdict that is expected.
    pub(crate) fn verdict(&self) -> PathBuf {
        verdict(&self.file)
    }

    /// The request for a verdict on it.
    pub(crate) fn request<'t>(&'t self, agent: &'t str) -> Request<'t> {
        let mut request = Request::from_bytes(agent, &self.output).finish(self.sent.finish);
        for (name, values) in &self.sent.lists {
            request = request.list(name, values);
        }
        match &self.sent.evidence {
            Some(evidence) => request.evidence(evidence.iter().cloned()),
            None => request,
        }
    }
}

/// The file of the verdict that is expected for an output.
pub(crate) fn verdict(output: &Path) -> PathBuf {
    output.with_extension(&VERDICT[1..])
}

/// What comes with an output: the members of a request that have these names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    finish: Option<String>,
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<Seen>>,
}

#[derive(Clone)]
struct Sent {
    finish: Finish,
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<Observation>>,
}

impl Sent {
    fn read(file: &Path) -> Result<Self> {
        let context = || format!("{}", file.display());
        let written: Written = serde_json::from_slice(&regular(file, MAX_FILE)?)
            .context("must be an object with 'finish', 'lists' and 'evidence', as a request has them")
            .with_context(context)?;
        let finish = match written.finish {
            Some(word) => word.parse().with_context(|| format!("{}: 'finish'", file.display()))?,
            None => Finish::Unknown,
        };
        let evidence = written.evidence.map(|seen| seen.into_iter().map(Observation::from).collect());
        Ok(Sent { finish, lists: written.lists, evidence })
    }
}

/// A verdict as far as an author expects it. What is left out is not compared.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The code of a fault, where there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disposition: Option<String>,
    /// The kind of error of an output that is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<Vec<Wrong>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<Vec<SetAside>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Changed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Wrong {
    path: String,
    keyword: String,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct SetAside {
    path: String,
    reason: String,
}

#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Changed {
    kind: String,
    path: String,
}

impl Expected {
    /// What a verdict is like that comes out now.
    pub(crate) fn of(report: &Report) -> Self {
        let violations = report.violations().iter();
        let violations = violations.map(|it| Wrong { path: it.path.clone(), keyword: it.keyword.clone() });
        let quarantined = report.quarantined.iter();
        let quarantined =
            quarantined.map(|item| SetAside { path: item.path.clone(), reason: item.reason.as_str().to_owned() });
        let changes = report.changes.iter();
        let changes =
            changes.map(|change| Changed { kind: change.kind.as_str().to_owned(), path: change.path.clone() });
        Expected {
            fault: None,
            disposition: Some(report.disposition.as_str().to_owned()),
            error: report.error.as_ref().map(|error| error.error.as_str().to_owned()),
            violations: some(violations),
            quarantined: some(quarantined),
            changes: some(changes),
            output: report.output.clone().and_then(|output| RawValue::from_string(output.into()).ok()),
        }
    }

    /// The same for a fault.
    pub(crate) fn fault(code: &str) -> Self {
        Expected { fault: Some(code.to_owned()), ..Expected::default() }
    }

    /// One word: the disposition, or the code of the fault.
    pub(crate) fn word(&self) -> &str {
        match (&self.fault, &self.disposition) {
            (Some(fault), _) => fault,
            (None, Some(disposition)) => disposition,
            (None, None) => "any verdict",
        }
    }

    /// What of this verdict differs from one that came out, a sentence each.
    pub(crate) fn differences(&self, is: &Expected) -> Vec<String> {
        let mut found = Vec::new();
        match (&self.fault, &is.fault) {
            (None, Some(fault)) => return vec![format!("expected a verdict, received the fault {fault}")],
            (Some(expected), fault) if fault.as_ref() != Some(expected) => {
                return vec![format!("expected the fault {expected}, received {}", is.word())];
            }
            _ => {}
        }
        let words = [(&self.disposition, &is.disposition), (&self.error, &is.error)];
        for (expected, received) in words {
            if let Some(expected) = expected.as_ref().filter(|expected| Some(*expected) != received.as_ref()) {
                found.push(format!("expected {expected}, received {}", received.as_deref().unwrap_or("none")));
            }
        }
        compare("violation", &self.violations, &is.violations, &mut found);
        compare("item in quarantine", &self.quarantined, &is.quarantined, &mut found);
        compare("change", &self.changes, &is.changes, &mut found);
        if let Some(expected) = &self.output {
            let received = is.output.as_ref().map_or("null", |output| output.get());
            let expected = compact(expected.get());
            if expected != received {
                let [expected, received] = [expected.as_str(), received].map(|text| truncate(text, MAX_SHOWN));
                found.push(format!("expected the output {expected}, received {received}"));
            }
        }
        found
    }

    /// As it stands in a file.
    pub(crate) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// A list, if it has anything.
fn some<T>(all: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let all: Vec<T> = all.collect();
    (!all.is_empty()).then_some(all)
}

/// What is missing of a list, and what is in it unexpectedly. The order counts only where nothing else differs.
fn compare<T: PartialEq + Serialize>(
    noun: &str,
    expected: &Option<Vec<T>>,
    received: &Option<Vec<T>>,
    found: &mut Vec<String>,
) {
    let Some(expected) = expected else {
        return;
    };
    let received = received.as_deref().unwrap_or_default();
    let shown = |one: &T| truncate(&serde_json::to_string(one).unwrap_or_default(), MAX_SHOWN);
    let before = found.len();
    for one in expected.iter().filter(|one| !received.contains(one)) {
        found.push(format!("expected the {noun} {}", shown(one)));
    }
    for one in received.iter().filter(|one| !expected.contains(one)) {
        found.push(format!("unexpected {noun} {}", shown(one)));
    }
    if found.len() == before && expected != received {
        found.push(format!("expected each {noun} as often and in the order that the verdict file lists it"));
    }
}

/// JSON without the white space between its tokens.
fn compact(json: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let keep = |character: &char| {
        if quoted {
            quoted = escaped || *character != '"';
            escaped = !escaped && *character == '\\';
            return true;
        }
        quoted = *character == '"';
        !character.is_ascii_whitespace()
    };
    json.chars().filter(keep).collect()
}

/// The examples of a contract, in the order of their names. None, if there is no such folder.
pub(crate) fn of(contract: &Path) -> Result<Vec<Example>> {
    let folder = folder(contract);
    let names = match names(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let shared = match names.contains(SHARED_REQUEST) {
        true => Sent::read(&folder.join(SHARED_REQUEST))?,
        false => Sent { finish: Finish::Unknown, lists: BTreeMap::new(), evidence: None },
    };
    let mut examples = Vec::new();
    for name in &names {
        if let Some(of) = name.strip_suffix(VERDICT).or(name.strip_suffix(REQUEST)) {
            if !names.contains(&format!("{of}{OUTPUT}")) {
                bail!("{}: there is no output {of}{OUTPUT} that it belongs to", folder.join(name).display());
            }
        } else if let Some(of) = name.strip_suffix(OUTPUT) {
            examples.push(example(&folder, of, &names, &shared)?);
        } else if name != SHARED_REQUEST {
            bail!(
                "{}: a folder of examples has NAME{OUTPUT}, NAME{VERDICT}, NAME{REQUEST} and {SHARED_REQUEST}",
                folder.join(name).display()
            );
        }
    }
    Ok(examples)
}

fn example(folder: &Path, name: &str, names: &BTreeSet<String>, shared: &Sent) -> Result<Example> {
    let named = |end: &str| Some(format!("{name}{end}")).filter(|name| names.contains(name));
    let file = folder.join(format!("{name}{OUTPUT}"));
    let expected = match named(VERDICT) {
        Some(verdict) => {
            let path = folder.join(verdict);
            let expected: Expected = serde_json::from_slice(&regular(&path, MAX_FILE)?)
                .context("must be an object with what is expected of the verdict")
                .with_context(|| format!("{}", path.display()))?;
            Some(expected)
        }
        None => None,
    };
    let sent = named(REQUEST).map_or_else(|| Ok(shared.clone()), |request| Sent::read(&folder.join(request)))?;
    let output = regular(&file, Limits::default().output_bytes)?;
    Ok(Example { file, output, sent, expected })
}

/// The names of the files in a folder, without hidden ones.
fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}

/// A file that stands in a folder, and that nobody named.
fn regular(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let context = || format!("cannot read {}", path.display());
    let file = open_regular(fs::File::options().read(true), path).with_context(context)?;
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the file is too long.
    file.take(limit as u64 + 1).read_to_end(&mut bytes).with_context(context)?;
    if bytes.len() > limit {
        bail!("{}: the file has more than {limit} bytes", path.display());
    }
    Ok(bytes)
}
