//! Locates the errors of contracts and profiles in their files.

use std::{borrow::Cow, collections::HashMap, path::Path, sync::Arc};

use seamgate::{ContractSource, Fault, FileError, MAX_FILE, Span, Warning, read_named};
use seamgate_text::unescaped;
use serde_json::value::RawValue;

use crate::{
    finding::{Finding, Level, Location},
    fuel,
};

/// The error for a contract or a profile that cannot be used, or for a file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}")]
#[non_exhaustive]
pub struct ContractError {
    /// The file as the user named it.
    pub file: String,
    /// The errors, with their places. Empty if a file cannot be read and no other file references it.
    pub findings: Vec<Finding>,
    /// The error without its places.
    #[source]
    pub cause: ContractErrorCause,
}

/// The reason for a [`ContractError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContractErrorCause {
    /// The gate does not accept the contract or the profile.
    #[error(transparent)]
    Fault(Fault),
    /// A file cannot be read.
    #[error(transparent)]
    File(FileError),
}

impl ContractError {
    /// Describes a contract that cannot be used.
    ///
    /// If compiling the contract took too much fuel, each finding suggests what to change ([`fuel::hint`]).
    pub fn of_contract(fault: Fault, source: &ContractSource, path: &Path) -> Self {
        let mut findings = of_fault(&fault, &mut Places::new(source, path));
        if let Some(hint) = fuel::hint(&fault, Some(source.text()), |_| Some(0)) {
            findings.iter_mut().for_each(|finding| finding.help = Some(hint.clone()));
        }
        ContractError { file: path.display().to_string(), findings, cause: ContractErrorCause::Fault(fault) }
    }

    /// Describes a profile that cannot be used.
    pub fn of_profile(fault: Fault, path: &Path) -> Self {
        let findings = of_fault(&fault, &mut Places::of_profile(path));
        ContractError { file: path.display().to_string(), findings, cause: ContractErrorCause::Fault(fault) }
    }

    /// Describes a file that cannot be read. There is a finding only if the error has a place.
    pub fn of_file(error: FileError, path: &Path) -> Self {
        let findings = error.place().map(|_| of_file_error(&error, path)).into_iter().collect();
        ContractError { file: path.display().to_string(), findings, cause: ContractErrorCause::File(error) }
    }
}

/// Finds places of a contract or a profile in its files. Keeps the text of each file only once.
pub struct Places<'s> {
    of: Of<'s>,
    path: &'s Path,
    texts: HashMap<String, Arc<str>>,
}

enum Of<'s> {
    Contract(&'s ContractSource),
    /// The text of the file itself. Errors in files that it references are located at the reference.
    Profile(Arc<str>),
}

impl<'s> Places<'s> {
    /// Returns the places of a contract that was read from a file.
    pub fn new(source: &'s ContractSource, path: &'s Path) -> Self {
        Places { of: Of::Contract(source), path, texts: HashMap::new() }
    }

    /// Returns the places of a profile. A profile that is a pipe has none, because it cannot be read again.
    pub fn of_profile(path: &'s Path) -> Self {
        let bytes = if path.is_file() { read_named(path, MAX_FILE).unwrap_or_default() } else { Vec::new() };
        Places { of: Of::Profile(String::from_utf8_lossy(&bytes).into()), path, texts: HashMap::new() }
    }

    /// Suggests what to do about a text that is not JSON, if it looks like another language.
    fn not_json(&self, span: Option<Span>) -> Option<&'static str> {
        let text = match &self.of {
            Of::Profile(text) => text,
            Of::Contract(source) => source.text(),
        };
        let at = usize::try_from(span?.start).ok()?;
        let rest = text.get(at..)?;
        let end = self.path.extension().unwrap_or_default().to_ascii_lowercase();
        if end == "yaml" || end == "yml" {
            return Some("this is YAML: convert it to JSON first, such as with yq -o json");
        }
        let is_name = rest.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$'));
        let is_member = text[..at].trim_end().ends_with(['{', ',']);
        (is_name && is_member).then_some("JSON needs double quotes around the names of members")
    }

    /// Locates a span of the complete document, or the value that a JSON Pointer leads to in it.
    fn locate(&mut self, span: Option<Span>, pointer: &str) -> Location {
        let file = self.path.display().to_string();
        match &self.of {
            Of::Profile(text) => Location { file, text: located(text, pointer).map(|span| (Arc::clone(text), span)) },
            Of::Contract(source) => match span.and_then(|span| source.place(span)) {
                None => Location::file(file),
                Some((path, text, span)) => {
                    let file = path.display().to_string();
                    let text = self.texts.entry(file.clone()).or_insert_with(|| text.into());
                    Location { file, text: Some((Arc::clone(text), span)) }
                }
            },
        }
    }
}

/// Returns the span of the value that a pointer leads to in a JSON text. If it does not exist, returns the span of the
/// innermost existing value on the way.
fn located(text: &str, pointer: &str) -> Option<Span> {
    let mut at: &RawValue = serde_json::from_str(text).ok()?;
    for step in pointer.split('/').skip(1) {
        let step = unescaped(step);
        let inside = match serde_json::from_str::<Vec<&RawValue>>(at.get()) {
            Ok(items) => step.parse().ok().and_then(|index: usize| items.get(index).copied()),
            Err(_) => serde_json::from_str::<HashMap<Cow<'_, str>, &RawValue>>(at.get())
                .ok()
                .and_then(|members| members.get(step.as_str()).copied()),
        };
        let Some(inside) = inside else { break };
        at = inside;
    }
    let start = at.get().as_ptr().addr() - text.as_ptr().addr();
    Some(Span { start: u32::try_from(start).ok()?, end: u32::try_from(start + at.get().len()).ok()? })
}

/// Returns a fault's errors of a contract or a profile as findings: one for each violation, and at least one.
pub fn of_fault(fault: &Fault, places: &mut Places) -> Vec<Finding> {
    if fault.violations().is_empty() {
        let (code, message) = (fault.code().to_owned(), fault.to_string());
        return vec![Finding {
            level: Level::Error,
            code,
            location: places.locate(None, ""),
            path: String::new(),
            message,
            help: None,
        }];
    }
    let file = places.path.display().to_string();
    let violations = fault.violations().iter();
    violations
        .map(|violation| {
            let (message, meant) = meant(&violation.message);
            let help = match violation.keyword.as_str() {
                "bare_schema" => {
                    Some(format!("to judge an output by the schema alone: seamgate check --schema {file}"))
                }
                "json" if let Some(hint) = places.not_json(violation.span) => Some(hint.to_owned()),
                _ => meant.or_else(|| {
                    Some(format!("expected {}", violation.expected)).filter(|_| !violation.expected.is_empty())
                }),
            };
            Finding {
                level: Level::Error,
                code: violation.keyword.clone(),
                location: places.locate(violation.span, &violation.pointer),
                path: violation.path.clone(),
                message,
                help,
            }
        })
        .collect()
}

/// Converts a warning of [`Gate::lint`](seamgate::Gate::lint) to a finding.
pub fn of_warning(warning: &Warning, places: &mut Places) -> Finding {
    let (message, help) = meant(&warning.message);
    Finding {
        level: match warning.level {
            seamgate::Level::Error => Level::Error,
            seamgate::Level::Hint => Level::Hint,
            _ => Level::Warning,
        },
        code: warning.code.clone(),
        location: places.locate(warning.span, &warning.pointer),
        path: warning.path.clone(),
        message,
        help,
    }
}

/// Splits a message from the suggestion at its end.
fn meant(message: &str) -> (String, Option<String>) {
    match message.rfind("; did you mean ") {
        Some(at) => (message[..at].to_owned(), Some(message[at + 2..].to_owned())),
        None => (message.to_owned(), None),
    }
}

/// Converts a file error to a finding: the file cannot be read, or it references a file that cannot be read.
pub fn of_file_error(error: &FileError, path: &Path) -> Finding {
    let location = match error.place() {
        Some((path, text, span)) => Location { file: path.display().to_string(), text: Some((text.into(), span)) },
        None => Location::file(path.display().to_string()),
    };
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let message = sources.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    Finding { level: Level::Error, code: "unreadable".to_owned(), location, path: String::new(), message, help: None }
}
