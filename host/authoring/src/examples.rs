//! Example outputs beside a contract, with their expected verdicts: `NAME.examples` beside `NAME.contract.json`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use seamgate::{Finish, Limits, MAX_FILE, Observation, Report, Request, UnknownFinish, open_regular};
use seamgate_text::truncate;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::observation::ObservationDocument;

/// The suffixes of the names of an example's files. The name of the example precedes them.
const OUTPUT: &str = ".txt";
const VERDICT: &str = ".verdict.json";
const REQUEST: &str = ".request.json";

/// The request for each output in a folder that has no request of its own.
const SHARED_REQUEST: &str = "request.json";

/// The longest value in a message, in bytes. Longer values are truncated.
const MAX_SHOWN: usize = 300;

/// The reason why example outputs cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExamplesError {
    /// A file or a folder cannot be read.
    #[error("cannot read {}", path.display())]
    #[non_exhaustive]
    Read {
        /// The file or the folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file is too long.
    #[error("{}: the file has more than {limit} bytes", path.display())]
    #[non_exhaustive]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A verdict or a request is not JSON of the required form.
    #[error("{}: must be an object with {expected}", path.display())]
    #[non_exhaustive]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The members that the object must have.
        expected: &'static str,
        /// The reason.
        source: serde_json::Error,
    },
    /// The member `finish` of a request has an unknown word.
    #[error("{}: 'finish'", path.display())]
    #[non_exhaustive]
    UnknownFinish {
        /// The file of the request.
        path: PathBuf,
        /// The word.
        source: UnknownFinish,
    },
    /// A verdict or a request belongs to no output.
    #[error("{}: there is no output {output} that it belongs to", path.display())]
    #[non_exhaustive]
    NoOutput {
        /// The file of the verdict or the request.
        path: PathBuf,
        /// The file that is missing.
        output: String,
    },
    /// A file in the folder has an unknown kind of name.
    #[error(
        "{}: a folder of examples has NAME{OUTPUT}, NAME{VERDICT}, NAME{REQUEST} and {SHARED_REQUEST}",
        path.display()
    )]
    #[non_exhaustive]
    UnknownFile {
        /// The file.
        path: PathBuf,
    },
}

/// Returns the files in a folder that are named `NAME.contract.json`, sorted by name.
///
/// # Errors
///
/// The folder cannot be read.
pub fn contracts(folder: &Path) -> Result<Vec<PathBuf>, ExamplesError> {
    let unreadable = |source| ExamplesError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = without_dot(folder).join(entry.map_err(unreadable)?.file_name());
        if path.to_string_lossy().ends_with(".contract.json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns a folder in the form in which the paths of its files begin: the empty path for the current folder `.`.
pub fn without_dot(folder: &Path) -> &Path {
    folder.strip_prefix(".").unwrap_or(folder)
}

/// Returns the folder with the examples of a contract: `NAME.examples` beside `NAME.contract.json`.
pub fn folder(contract: &Path) -> PathBuf {
    let name = contract.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".contract.json").or(name.strip_suffix(".json")).unwrap_or(&name);
    contract.with_file_name(format!("{name}.examples"))
}

/// An output, its request, and its expected verdict.
pub struct Example {
    /// The file of the output.
    pub file: PathBuf,
    /// The output.
    pub output: Vec<u8>,
    sent: Sent,
    /// The expected verdict. `None` if the author has not specified one.
    pub expected: Option<Expected>,
}

impl Example {
    /// Returns the file of the expected verdict.
    pub fn verdict(&self) -> PathBuf {
        verdict(&self.file)
    }

    /// Returns the request for a verdict on the output.
    pub fn request<'t>(&'t self, agent: &'t str) -> Request<'t> {
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

/// Returns the file of the expected verdict on an output.
pub fn verdict(output: &Path) -> PathBuf {
    output.with_extension(&VERDICT[1..])
}

/// The request for an output, as it is written in a file. It has the members of a request with these names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    finish: Option<String>,
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<ObservationDocument>>,
}

#[derive(Clone)]
struct Sent {
    finish: Finish,
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<Observation>>,
}

impl Sent {
    fn read(file: &Path) -> Result<Self, ExamplesError> {
        let written: Written = object(file, "'finish', 'lists' and 'evidence', as a request has them")?;
        let unknown = |source| ExamplesError::UnknownFinish { path: file.to_owned(), source };
        let finish = match written.finish {
            Some(word) => word.parse::<Finish>().map_err(unknown)?,
            None => Finish::Unknown,
        };
        let evidence = written.evidence.map(|seen| seen.into_iter().map(Observation::from).collect());
        Ok(Sent { finish, lists: written.lists, evidence })
    }
}

/// The parts of a verdict that an author expects. Omitted members are not compared.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The code of a fault, if there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disposition: Option<String>,
    /// The kind of error of a rejected output.
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
    /// Converts a report to an expected verdict.
    pub fn of(report: &Report) -> Self {
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

    /// Creates an expected verdict that is a fault, given its code.
    pub fn fault(code: &str) -> Self {
        Expected { fault: Some(code.to_owned()), ..Expected::default() }
    }

    /// Returns one word for the verdict: the disposition, or the code of the fault.
    pub fn word(&self) -> &str {
        match (&self.fault, &self.disposition) {
            (Some(fault), _) => fault,
            (None, Some(disposition)) => disposition,
            (None, None) => "any verdict",
        }
    }

    /// Lists the differences between this verdict and an actual one, one sentence each. Empty if there are none.
    pub fn differences(&self, is: &Expected) -> Vec<String> {
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

    /// Returns the text of the verdict's file.
    ///
    /// # Errors
    ///
    /// The verdict cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

/// Returns a list, or `None` if it is empty.
fn some<T>(all: impl Iterator<Item = T>) -> Option<Vec<T>> {
    let all: Vec<T> = all.collect();
    (!all.is_empty()).then_some(all)
}

/// Adds the missing and the unexpected items of a list. The order counts only if there are no other differences.
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

/// Returns JSON without the white space between its tokens.
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

/// Reads the examples of a contract, sorted by name. If there is no folder of examples, there are none.
///
/// # Errors
///
/// The folder or a file in it cannot be read, or the name or the text of a file is invalid.
pub fn of(contract: &Path) -> Result<Vec<Example>, ExamplesError> {
    let folder = folder(contract);
    let names = match names(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names.map_err(|source| ExamplesError::Read { path: folder.clone(), source })?,
    };
    let shared = match names.contains(SHARED_REQUEST) {
        true => Sent::read(&folder.join(SHARED_REQUEST))?,
        false => Sent { finish: Finish::Unknown, lists: BTreeMap::new(), evidence: None },
    };
    let mut examples = Vec::new();
    for name in &names {
        let path = folder.join(name);
        if let Some(of) = name.strip_suffix(VERDICT).or(name.strip_suffix(REQUEST)) {
            let output = format!("{of}{OUTPUT}");
            if !names.contains(&output) {
                return Err(ExamplesError::NoOutput { path, output });
            }
        } else if let Some(of) = name.strip_suffix(OUTPUT) {
            examples.push(example(&folder, of, &names, &shared)?);
        } else if name != SHARED_REQUEST {
            return Err(ExamplesError::UnknownFile { path });
        }
    }
    Ok(examples)
}

fn example(folder: &Path, name: &str, names: &BTreeSet<String>, shared: &Sent) -> Result<Example, ExamplesError> {
    let named = |end: &str| Some(format!("{name}{end}")).filter(|name| names.contains(name));
    let file = folder.join(format!("{name}{OUTPUT}"));
    let expected = match named(VERDICT) {
        Some(verdict) => Some(object(&folder.join(verdict), "what is expected of the verdict")?),
        None => None,
    };
    let sent = named(REQUEST).map_or_else(|| Ok(shared.clone()), |request| Sent::read(&folder.join(request)))?;
    let output = regular(&file, Limits::default().output_bytes)?;
    Ok(Example { file, output, sent, expected })
}

/// Parses a JSON object. `expected` describes its members.
fn object<T: DeserializeOwned>(path: &Path, expected: &'static str) -> Result<T, ExamplesError> {
    let malformed = |source| ExamplesError::Malformed { path: path.to_owned(), expected, source };
    serde_json::from_slice(&regular(path, MAX_FILE)?).map_err(malformed)
}

/// Returns the names of the files in a folder, without hidden ones.
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

/// Reads a file that was found in a folder. It must be a regular file.
fn regular(path: &Path, limit: usize) -> Result<Vec<u8>, ExamplesError> {
    let unreadable = |source| ExamplesError::Read { path: path.to_owned(), source };
    let file = open_regular(fs::File::options().read(true), path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the file is too long.
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > limit {
        return Err(ExamplesError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
