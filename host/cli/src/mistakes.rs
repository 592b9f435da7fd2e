//! Mistakes in contracts, told at their places in the files that a contract is made of.

use std::{collections::HashMap, fmt, path::Path, rc::Rc};

use anyhow::Error;
use seamgate::{ContractSource, Fault, FileError, Span, Warning};

use crate::{
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
    let findings = of_fault(&fault, &mut Places::new(source, path));
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
    source: Option<&'s ContractSource>,
    path: &'s Path,
    texts: HashMap<String, Rc<str>>,
}

impl<'s> Places<'s> {
    pub(crate) fn new(source: &'s ContractSource, path: &'s Path) -> Self {
        Places { source: Some(source), path, texts: HashMap::new() }
    }

    /// Those of a document of which the places are not known.
    pub(crate) fn unknown(path: &'s Path) -> Self {
        Places { source: None, path, texts: HashMap::new() }
    }

    fn at(&mut self, span: Option<Span>) -> At {
        let Some((path, text, span)) = span.zip(self.source).and_then(|(span, source)| source.place(span)) else {
            return At::file(self.path.display().to_string());
        };
        let file = path.display().to_string();
        let text = self.texts.entry(file.clone()).or_insert_with(|| text.into());
        At { file, text: Some((Rc::clone(text), span)) }
    }
}

/// What is wrong by a fault.
pub(crate) fn of_fault(fault: &Fault, places: &mut Places) -> Vec<Finding> {
    if fault.violations().is_empty() {
        let (code, message) = (fault.code().to_owned(), fault.to_string());
        return vec![Finding {
            level: Level::Error,
            code,
            at: places.at(None),
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
                at: places.at(violation.span),
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
        at: places.at(warning.span),
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
