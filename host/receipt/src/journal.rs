//! The journal of a receipt: its lines, and the chain of digests over them.

use std::{cell::RefCell, collections::HashMap};

use ring::digest::SHA256;
use seamgate::{Blob, Journal, JournalError, Lines, digest};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::envelope::Part;

/// The content of a line, as JSON text.
#[derive(Deserialize)]
pub(crate) struct Content<'l> {
    #[serde(borrow)]
    pub(crate) run: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) event: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) record: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) action: Option<&'l RawValue>,
    #[serde(borrow)]
    pub(crate) component: Option<&'l RawValue>,
}

/// A step, or the first line alone.
pub(crate) struct Step<'p> {
    /// The number of the step, from 1. 0 for the first line.
    pub(crate) number: u64,
    /// The number of the step's first line.
    pub(crate) line: u64,
    pub(crate) parts: &'p [Part],
}

/// A line that does not follow the line before it, and its step.
pub(crate) struct Broken {
    pub(crate) step: u64,
    pub(crate) line: u64,
}

impl Step<'_> {
    /// Returns the lines, if none is withheld.
    pub(crate) fn lines(&self) -> Option<Vec<String>> {
        let text = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Withheld(_) => None,
        };
        self.parts.iter().map(text).collect()
    }
}

/// Returns whether a line records another component.
pub(crate) fn is_change(line: &str) -> bool {
    content(line).is_some_and(|content| content.component.is_some())
}

/// A step before which the run continued under another component.
pub(crate) struct Change {
    /// The number of the step.
    pub(crate) step: u64,
    /// The number of the line.
    pub(crate) line: u64,
    /// The digest of the component before it.
    pub(crate) from: String,
}

/// The content of a line that records another component. A verifier does not need the version: [`Derivation`] compares
/// it with the states.
///
/// [`Derivation`]: seamgate::Derivation
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeLine {
    from: String,
    to: String,
    #[serde(default)]
    #[expect(dead_code, reason = "read to accept it")]
    version: Option<String>,
}

/// Returns the changes of a run's component, and the component after the last one. Each must begin a step, and must
/// name the component before it.
pub(crate) fn changes(all: &[Step<'_>], first: &str) -> Result<(Vec<Change>, String), Broken> {
    let (mut changes, mut component) = (Vec::new(), first.to_owned());
    for step in all {
        for (line, part) in (step.line..).zip(step.parts) {
            let Part::Text(text) = part else { continue };
            let Some(value) = content(text).and_then(|content| content.component) else { continue };
            let broken = Broken { step: step.number, line };
            match object::<ChangeLine>(value) {
                Some(ChangeLine { from, to, .. }) if line == step.line && from == component && from != to => {
                    changes.push(Change { step: step.number, line, from });
                    component = to;
                }
                _ => return Err(broken),
            }
        }
    }
    Ok((changes, component))
}

/// Returns the content of a line.
pub(crate) fn content(line: &str) -> Option<Content<'_>> {
    serde_json::from_str(line).ok()
}

/// Reads an object. Rejects a list of its values, which serde would accept.
pub(crate) fn object<'l, T: Deserialize<'l>>(text: &'l RawValue) -> Option<T> {
    text.get().starts_with('{').then(|| serde_json::from_str(text.get()).ok()).flatten()
}

/// Returns the digests of texts.
pub(crate) fn digests(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| digest(text.as_bytes())).collect()
}

/// Formats a SHA-256 digest as [`digest`] does.
pub(crate) fn written(bytes: &[u8]) -> String {
    format!("sha256:{}", data_encoding::HEXLOWER.encode(bytes))
}

pub(crate) fn sha256(text: &[u8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(ring::digest::digest(&SHA256, text).as_ref());
    bytes
}

/// Returns the steps of a journal, preceded by the first line, and the digest of the last line. Each line must have its
/// number and the digest of the line before it, and the last line must end a step.
pub(crate) fn steps(parts: &[Part]) -> Result<(Vec<Step<'_>>, String), Broken> {
    let mut steps = Vec::new();
    let (mut before, mut from) = (String::new(), 0);
    for (n, part) in parts.iter().enumerate() {
        let number = steps.len() as u64;
        let broken = || Broken { step: number, line: n as u64 };
        let is_end = match part {
            Part::Withheld(withheld) => {
                before = written(withheld);
                false
            }
            Part::Text(text) => {
                let rest = text.strip_prefix(&format!(r#"{{"n":{n},"before":"{before}","#)).ok_or_else(broken)?;
                before = digest(text.as_bytes());
                n == 0 || rest.starts_with(r#""state":"#)
            }
        };
        if is_end {
            steps.push(Step { number, line: from as u64, parts: &parts[from..=n] });
            from = n + 1;
        }
    }
    match from == parts.len() && !parts.is_empty() {
        true => Ok((steps, before)),
        false => Err(Broken { step: steps.len() as u64, line: from as u64 }),
    }
}

/// A source of a run's artifacts.
pub(crate) trait Artifacts {
    fn artifact(&self, digest: &str) -> Result<Option<String>, JournalError>;
}

impl Artifacts for HashMap<String, &str> {
    fn artifact(&self, digest: &str) -> Result<Option<String>, JournalError> {
        Ok(self.get(digest).map(|text| (*text).to_owned()))
    }
}

/// A read-only journal: lines, and artifacts from another source. Records which artifacts were requested and found.
pub(crate) struct ReadOnly<'r, A> {
    pub(crate) name: &'r str,
    pub(crate) lines: &'r [String],
    pub(crate) artifacts: &'r A,
    /// The texts of these artifacts, in the order of their first use.
    pub(crate) used: &'r RefCell<Vec<String>>,
    pub(crate) seen: RefCell<HashMap<String, usize>>,
}

impl<A: Artifacts> Journal for ReadOnly<'_, A> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn count(&self) -> u64 {
        self.lines.len() as u64
    }

    fn lines(&self, from: u64) -> Result<Lines<'_>, JournalError> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(Box::new(self.lines.iter().skip(from).cloned().map(Ok)))
    }

    fn append(&mut self, expected: u64, _: &[String]) -> Result<(), JournalError> {
        Err(JournalError::Conflict { journal: self.name(), lines: expected })
    }

    fn put(&mut self, _: Blob, _: &str, _: &str) -> Result<(), JournalError> {
        Ok(())
    }

    fn get(&self, blob: Blob, digest: &str) -> Result<Option<String>, JournalError> {
        if blob != Blob::Artifact {
            return Ok(None);
        }
        let mut used = self.used.borrow_mut();
        if let Some(known) = self.seen.borrow().get(digest).and_then(|index| used.get(*index)) {
            return Ok(Some(known.clone()));
        }
        let found = self.artifacts.artifact(digest)?;
        if let Some(text) = &found {
            self.seen.borrow_mut().insert(digest.to_owned(), used.len());
            used.push(text.clone());
        }
        Ok(found)
    }
}
