//! Mistakes in contracts, told at their places in the files that a contract is made of.

use std::{borrow::Cow, collections::HashMap, fmt, path::Path, rc::Rc};

use anyhow::Error;
use seamgate::{ContractSource, Fault, FileError, MAX_FILE, Span, Warning, read_named};
use seamgate_text::unescaped;
use serde_json::value::RawValue;

use crate::{
    costly,
    error::FaultError,
    format::{At, Finding, Level, drawn},
};

/// Mistakes, drawn: what a person is told in place of a message.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The file, for those who tell the message alone.
    file: String,
    pub(crate) picture: String,
}

impl fmt::Display for Drawn {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.file)
    }
}

impl Drawn {
    fn new(path: &Path, findings: &[Finding]) -> Self {
        let pictures: Vec<String> = findings.iter().map(drawn).collect();
        Drawn { file: path.display().to_string(), picture: pictures.join("\n\n") }
    }
}

/// The error of a contract that cannot be used.
pub(crate) fn unusable(fault: Fault, source: &ContractSource, path: &Path) -> Error {
    let mut findings = of_fault(&fault, &mut Places::new(source, path));
    if let Some(hint) = costly::hint(&fault, Some(source.text()), |_| Some(0)) {
        findings.iter_mut().for_each(|finding| finding.help = Some(hint.clone()));
    }
    Error::from(FaultError(fault)).context(Drawn::new(path, &findings))
}

/// The error of a profile that cannot be used.
pub(crate) fn unusable_profile(fault: Fault, path: &Path) -> Error {
    let findings = of_fault(&fault, &mut Places::of_profile(path));
    Error::from(FaultError(fault)).context(Drawn::new(path, &findings))
}

/// The error of a file that cannot be read.
pub(crate) fn unreadable(error: FileError, path: &Path) -> Error {
    match error.place() {
        Some(_) => {
            let drawn = Drawn::new(path, &[of_file_error(&error, path)]);
            Error::from(error).context(drawn)
        }
        None => error.into(),
    }
}

/// Places of a whole document in its files. Each file's text is kept once.
pub(crate) struct Places<'s> {
    of: Of<'s>,
    path: &'s Path,
    texts: HashMap<String, Rc<str>>,
}

enum Of<'s> {
    Contract(&'s ContractSource),
    /// The text of the file itself. What it names is told where it names it.
    Profile(Rc<str>),
}

impl<'s> Places<'s> {
    pub(crate) fn new(source: &'s ContractSource, path: &'s Path) -> Self {
        Places { of: Of::Contract(source), path, texts: HashMap::new() }
    }

    /// Those of a profile, which is not read where it is a pipe.
    pub(crate) fn of_profile(path: &'s Path) -> Self {
        let bytes = if path.is_file() { read_named(path, MAX_FILE).unwrap_or_default() } else { Vec::new() };
        Places { of: Of::Profile(String::from_utf8_lossy(&bytes).into()), path, texts: HashMap::new() }
    }

    /// The place of a span of the whole document, or of what a JSON Pointer leads to in it.
    fn at(&mut self, span: Option<Span>, pointer: &str) -> At {
        let file = self.path.display().to_string();
        match &self.of {
            Of::Profile(text) => At { file, text: located(text, pointer).map(|span| (Rc::clone(text), span)) },
            Of::Contract(source) => match span.and_then(|span| source.place(span)) {
                None => At::file(file),
                Some((path, text, span)) => {
                    let file = path.display().to_string();
                    let text = self.texts.entry(file.clone()).or_insert_with(|| text.into());
                    At { file, text: Some((Rc::clone(text), span)) }
                }
            },
        }
    }
}

/// The piece of a JSON text that a pointer leads to, or the innermost that is there on the way.
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

/// What is wrong by a fault.
pub(crate) fn of_fault(fault: &Fault, places: &mut Places) -> Vec<Finding> {
    if fault.violations().is_empty() {
        let (code, message) = (fault.code().to_owned(), fault.to_string());
        return vec![Finding {
            level: Level::Error,
            code,
            at: places.at(None, ""),
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
                _ => meant.or_else(|| {
                    Some(format!("expected {}", violation.expected)).filter(|_| !violation.expected.is_empty())
                }),
            };
            Finding {
                level: Level::Error,
                code: violation.keyword.clone(),
                at: places.at(violation.span, &violation.pointer),
                path: violation.path.clone(),
                message,
                help,
            }
        })
        .collect()
}

/// What `lint` found.
pub(crate) fn of_warning(warning: &Warning, places: &mut Places) -> Finding {
    let (message, help) = meant(&warning.message);
    Finding {
        level: match warning.level {
            seamgate::Level::Error => Level::Error,
            seamgate::Level::Hint => Level::Hint,
            _ => Level::Warning,
        },
        code: warning.code.clone(),
        at: places.at(warning.span, &warning.pointer),
        path: warning.path.clone(),
        message,
        help,
    }
}

/// A message, and what it says was meant.
fn meant(message: &str) -> (String, Option<String>) {
    match message.rfind("; did you mean ") {
        Some(at) => (message[..at].to_owned(), Some(message[at + 2..].to_owned())),
        None => (message.to_owned(), None),
    }
}

/// A file that cannot be read, or names one that cannot.
pub(crate) fn of_file_error(error: &FileError, path: &Path) -> Finding {
    let at = match error.place() {
        Some((path, text, span)) => At { file: path.display().to_string(), text: Some((text.into(), span)) },
        None => At::file(path.display().to_string()),
    };
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let message = sources.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    Finding { level: Level::Error, code: "unreadable".to_owned(), at, path: String::new(), message, help: None }
}
