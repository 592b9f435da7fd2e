//! Cases: a test is a folder with an output, a contract, and the expected verdict.
//!
//! `tests/cases/GROUP/NAME/` contains:
//!
//! - `output.txt`: the output, as bytes that may be invalid UTF-8.
//! - `output-2.txt` and so on: the outputs of further attempts. The reports of all attempts are merged.
//! - `contract.json`: the contract.
//! - `request.json`: the other members of the request (`finish`, `lists`, `agent`, `evidence`). Optional.
//! - `report.json` or `fault.json`: the expected verdict, which `cargo xtask bless` writes.
//!
//! A case without its own `output.txt`, `contract.json` or `request.json` uses the file of this name in
//! `tests/cases/GROUP`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

pub mod calls;
pub mod console;
pub mod fixture;
pub mod hostile;
pub mod http;
pub mod other;
pub mod patterns;
mod pieces;
mod random;
pub mod runs;
pub mod suite;
pub mod wire;

pub use pieces::PIECES;
pub use random::Random;

/// One case, read from its folder.
#[derive(Clone)]
pub struct Case {
    /// `GROUP/NAME`.
    pub name: String,
    /// The output of the agent.
    pub output: Vec<u8>,
    /// The outputs of later attempts.
    pub more: Vec<Vec<u8>>,
    /// The contract as text.
    pub contract: String,
    /// Members of the request other than the output.
    pub members: Value,
    /// The folder of the expected verdict.
    pub folder: PathBuf,
}

/// Returns whether tests that take minutes run completely, as in `cargo xtask ci thorough`. Otherwise, they run a fixed
/// part.
pub fn thorough() -> bool {
    std::env::var_os("SEAMGATE_TESTS").is_some_and(|tests| tests == "thorough")
}

/// Returns the folder of all cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// Returns all cases, in the order of their names.
///
/// # Errors
///
/// Returns an error if a file cannot be read, or if a case has no contract.
pub fn cases() -> Result<Vec<Case>> {
    cases_in(&folder())
}

/// Returns the cases of another folder with the same layout.
///
/// # Errors
///
/// Returns the errors of [`cases`].
pub fn cases_in(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for group in folders(folder)? {
        for folder in folders(&group)? {
            cases.push(case(folder).with_context(|| format!("in {}", group.display()))?);
        }
    }
    Ok(cases)
}

fn folders(within: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(within).with_context(|| format!("{}", within.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn case(folder: PathBuf) -> Result<Case> {
    let read = |path: PathBuf| fs::read(&path).with_context(|| format!("{}", path.display()));
    let own_or_shared = |name: &str| match folder.join(name) {
        own if own.exists() => own,
        _ => folder.join("..").join(name),
    };
    let request = own_or_shared("request.json");
    let name: Vec<_> = folder.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    let more = (2..).map(|number| folder.join(format!("output-{number}.txt"))).take_while(|path| path.exists());
    Ok(Case {
        name: format!("{}/{}", name[1], name[0]),
        output: read(own_or_shared("output.txt"))?,
        more: more.map(read).collect::<Result<_>>()?,
        contract: String::from_utf8(read(own_or_shared("contract.json"))?)?,
        members: match request.exists() {
            true => serde_json::from_slice(&read(request)?)?,
            false => Value::Object(Default::default()),
        },
        folder,
    })
}

impl Case {
    /// Returns the output as text, and the offset of the first byte that was not UTF-8.
    pub fn text(&self) -> (String, Option<u32>) {
        let invalid = std::str::from_utf8(&self.output).err().map(|error| error.valid_up_to() as u32);
        (String::from_utf8_lossy(&self.output).into_owned(), invalid)
    }

    /// Returns each attempt as a separate case.
    pub fn attempts(&self) -> impl Iterator<Item = Case> {
        let outputs = std::iter::once(&self.output).chain(&self.more);
        outputs.map(|output| Case { output: output.clone(), more: Vec::new(), ..self.clone() })
    }

    /// Returns the agent in the request, or an empty text if the request names none.
    pub fn agent(&self) -> &str {
        self.members["agent"].as_str().unwrap_or_default()
    }

    /// Returns the word for the reason why the producer stopped.
    pub fn finish(&self) -> &str {
        self.members["finish"].as_str().unwrap_or("unknown")
    }

    /// Returns the case as a request of the host's library, for the contract of `agent`.
    pub fn request<'c>(&'c self, agent: &'c str) -> seamgate::Request<'c> {
        let finish = self.finish().parse().unwrap_or(seamgate::Finish::Unknown);
        let request = seamgate::Request::from_bytes(agent, &self.output).finish(finish);
        self.sent(request)
    }

    /// Returns a request with the lists and the evidence of this case.
    pub fn sent<'r>(&self, request: seamgate::Request<'r>) -> seamgate::Request<'r> {
        let request = self.lists().into_iter().fold(request, |request, (name, values)| request.list(name, values));
        match self.evidence() {
            Some(evidence) => request.evidence(evidence),
            None => request,
        }
    }

    /// Returns the observations in the request, if it has any.
    pub fn evidence(&self) -> Option<Vec<seamgate::Observation>> {
        let evidence = self.members.get("evidence")?.as_array()?;
        // The defaults are the strictest values.
        let whole = |observation: &Value| {
            let mut whole = serde_json::json!({
                "kinds": [], "labels": [], "confidence": "low", "complete": false, "limitations": []
            });
            let members = observation.as_object().expect("an observation").clone();
            whole.as_object_mut().expect("an object").extend(members);
            serde_json::from_value(whole).expect("an observation")
        };
        Some(evidence.iter().map(whole).collect())
    }

    /// Returns the case as one line of JSON text, with its contract. If the contract is not JSON, the line is not JSON
    /// either.
    pub fn wire_request(&self) -> String {
        let (output, invalid_utf8) = self.text();
        let mut rest = String::new();
        for name in ["agent", "finish", "lists", "evidence"] {
            if !self.members[name].is_null() {
                rest.push_str(&format!(",\"{name}\":{}", self.members[name]));
            }
        }
        if let Some(at) = invalid_utf8 {
            rest.push_str(&format!(",\"invalid_utf8\":{at}"));
        }
        // Outside strings, line ends are white space in JSON.
        let contract = self.contract.replace(['\n', '\r'], " ");
        format!("{{\"id\":[1.50],\"contract\":{contract},\"output\":{}{rest}}}", Value::from(output))
    }

    /// Returns the lists in the request.
    pub fn lists(&self) -> Vec<(String, Vec<String>)> {
        let lists = self.members["lists"].as_object().cloned().unwrap_or_default();
        lists
            .into_iter()
            .map(|(name, values)| {
                let values = values.as_array().cloned().unwrap_or_default();
                let values = values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
                (name, values)
            })
            .collect()
    }
}

/// Converts an observation to the core's type.
pub fn natively(observation: seamgate::Observation) -> seamgate_core::Observation {
    let confidence = observation.confidence.as_str();
    let confidence = seamgate_core::Confidence::ALL.into_iter().find(|word| word.as_str() == confidence);
    seamgate_core::Observation {
        id: observation.id,
        kinds: observation.kinds,
        text: observation.text,
        labels: observation.labels,
        confidence: confidence.expect("the same words"),
        complete: observation.complete,
        limitations: observation.limitations,
    }
}

/// Returns JSON with indentation, for reviewers who read a diff. Adds only white space, so that comparisons still
/// compare the bytes.
pub fn indented(json: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    let (mut quoted, mut escaped) = (false, false);
    let mut previous = ' ';
    for character in json.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            out.push(character);
        } else {
            let closing = matches!(character, '}' | ']');
            depth -= usize::from(closing);
            let empty = closing && matches!(previous, '{' | '[');
            if (matches!(previous, '{' | '[' | ',') || closing) && !empty {
                out.push('\n');
                out.push_str(&"  ".repeat(depth));
            }
            depth += usize::from(matches!(character, '{' | '['));
            quoted = character == '"';
            out.push(character);
            if character == ':' {
                out.push(' ');
            }
        }
        previous = character;
    }
    out.push('\n');
    out
}

/// The example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
