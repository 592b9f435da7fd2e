//! Describes JSON that was found but not taken as a candidate.

use crate::{
    contract::{Contract, Embedded},
    text::{count, quote},
};

/// The maximum number of findings that are named.
const MAX_SEEN: usize = 4;

/// The length to which a marker that the contract does not list is truncated, in bytes.
const MAX_INFO: usize = 32;

/// A kind of text that may be the intended JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenKind {
    /// In prose.
    Json,
    /// In a block quote.
    Quoted,
    /// In a fenced block with another info string.
    Block(String),
}

impl SeenKind {
    /// Returns the marker of a block.
    fn marker(&self) -> Option<&str> {
        match self {
            SeenKind::Block(info) => info.split_whitespace().next(),
            _ => None,
        }
    }
}

/// The first findings, and their total number.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    listed: Vec<(SeenKind, usize)>,
    total: usize,
}

impl Seen {
    pub(super) fn add(&mut self, what: SeenKind, at: usize) {
        if self.listed.len() < MAX_SEEN {
            self.listed.push((what, at));
        }
        self.total += 1;
    }

    /// Returns notes about the settings that would accept this JSON.
    pub(crate) fn notes(&self, contract: &Contract) -> Vec<String> {
        let options = contract.extract();
        let mut notes = Vec::new();
        let is_json = |(kind, _): &(SeenKind, usize)| *kind == SeenKind::Json;
        if options.embedded == Embedded::None && !contract.repairs() && self.listed.iter().any(is_json) {
            notes.push("extract: a contract with \"embedded\" or \"repair\" takes JSON from prose".to_owned());
        }
        if let Some(info) = self.listed.iter().find_map(|(kind, _)| kind.marker()) {
            notes
                .push(format!("extract: a contract whose \"markers\" have {} takes that block", quote(info, MAX_INFO)));
        }
        notes
    }

    /// Returns a description such as `JSON in prose at line 3, a fenced block marked "js" at line 9`. Empty if nothing
    /// was found.
    pub(crate) fn words(&self, output: &str) -> String {
        let (mut line, mut from) = (1, 0);
        let mut words: Vec<(String, usize)> = Vec::new();
        for (what, at) in &self.listed {
            line += output.as_bytes()[from..*at].iter().filter(|byte| **byte == b'\n').count();
            from = *at;
            let word = match what {
                SeenKind::Json => format!("JSON in prose at line {line}"),
                SeenKind::Quoted => format!("JSON in a block quote at line {line}"),
                SeenKind::Block(info) if info.is_empty() => format!("a fenced block without a marker at line {line}"),
                SeenKind::Block(info) => format!("a fenced block marked {} at line {line}", quote(info, MAX_INFO)),
            };
            match words.last_mut() {
                Some((last, times)) if *last == word => *times += 1,
                _ => words.push((word, 1)),
            }
        }
        let times = |(word, times): (String, usize)| if times > 1 { format!("{word} ({times} times)") } else { word };
        let mut words: Vec<String> = words.into_iter().map(times).collect();
        if self.total > self.listed.len() {
            words.push(format!("and {} more", count(self.total - self.listed.len(), "piece")));
        }
        words.join(", ")
    }
}
