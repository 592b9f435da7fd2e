//! The entries of `tools`, and the tools that each stands for: one tool, or the pinned definitions that match its
//! pattern.

use seamgate_core::{
    Violation,
    kernel_api::{NodeId, quote},
};

use super::Reader;
use crate::{
    definition::wrong_name,
    document::text_in,
    pattern::{is_pattern, matches, rank},
};

/// The expected value if a condition names an argument that the definition lacks.
pub(super) const PATH: &str = "a path of the tool's arguments";
pub(super) const MEMBERS: &str = "members of the tool's arguments";

/// A tool that an entry stands for.
pub(super) struct Meant {
    /// The number of the entry.
    pub(super) entry: usize,
    pub(super) name: String,
    pub(super) definition: Option<NodeId>,
}

/// An entry of `tools`.
struct Entry<'d> {
    at: NodeId,
    server: &'d str,
    name: &'d str,
}

impl Reader<'_, '_> {
    /// Returns the tools that the entries stand for, in the order of the profile. A name takes precedence over
    /// patterns, and a pattern with more text before its first `*` takes precedence over other patterns. A pattern only
    /// stands for tools with pinned definitions.
    pub(super) fn meant(&mut self) -> Vec<Meant> {
        let document = self.document;
        let entry = |at| Entry {
            at,
            server: text_in(document, at, "server").unwrap_or_default(),
            name: text_in(document, at, "name").unwrap_or_default(),
        };
        let entries: Vec<Entry> = self.each("tools").into_iter().map(entry).collect();
        let mut all = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let one = document.member(entry.at, "definition");
            let several = document.member(entry.at, "definitions");
            match (is_pattern(entry.name), one, several) {
                (false, _, Some(at)) => self.say(at, "definition", "must be 'definition': the name is not a pattern"),
                (true, Some(at), _) => {
                    self.say(at, "definitions", "must be 'definitions', a list: the name is a pattern")
                }
                _ => {}
            }
            if !is_pattern(entry.name) {
                all.push(Meant { entry: number, name: entry.name.to_owned(), definition: one });
                continue;
            }
            if entries[..number].iter().any(|other| other.server == entry.server && other.name == entry.name) {
                self.say(entry.at, "each pattern once", "must be a pattern that its server does not have yet");
            }
            let first = all.len();
            for at in several.into_iter().flat_map(|at| document.items(at)) {
                let name = text_in(document, at, "name").unwrap_or_default();
                let is_known = all[first..].iter().any(|other: &Meant| other.name == name);
                if is_known || wrong_name(name).is_some() || !matches(entry.name, name) {
                    continue;
                }
                let of_server = entries.iter().filter(|other| other.server == entry.server);
                let ranked = of_server.filter(|other| matches(other.name, name)).map(|other| (rank(other.name), other));
                let best: Vec<&Entry> = highest(ranked);
                match &best[..] {
                    [only] if only.at == entry.at => {
                        all.push(Meant { entry: number, name: name.to_owned(), definition: Some(at) });
                    }
                    [one, .., last] if last.at == entry.at && one.name != entry.name => {
                        let message = format!(
                            "must not match {} as {} does, with as much text before the '*': name the tool in an entry of its own",
                            quote(name, 128),
                            quote(one.name, 128)
                        );
                        self.say(entry.at, "a pattern of another rank", &message);
                    }
                    _ => {}
                }
            }
        }
        all
    }

    /// Reads each of some tools. For a pattern, it is enough if one tool has the argument that a condition names.
    /// Scopes and origins apply to every tool, so a tool without their path is an error.
    pub(super) fn each_meant<T>(
        &mut self,
        meant: Vec<Meant>,
        mut read: impl FnMut(&mut Self, NodeId, Meant) -> T,
    ) -> Vec<T> {
        let entries = self.each("tools");
        let mut tools = Vec::new();
        let mut wrong: Vec<(usize, String, Vec<Violation>)> = Vec::new();
        for one in meant {
            let (entry, name, before) = (one.entry, one.name.clone(), std::mem::take(&mut self.wrong));
            tools.push(read(self, entries[entry], one));
            wrong.push((entry, name, std::mem::replace(&mut self.wrong, before)));
        }
        for of_entry in wrong.chunk_by(|(one, ..), (other, ..)| one == other) {
            let lacks = |found: &Violation| found.expected == PATH || found.expected == MEMBERS;
            let has = |all: &[Violation], found: &Violation| {
                all.iter().any(|other| lacks(other) && other.pointer == found.pointer)
            };
            for (_, name, found) in of_entry {
                for violation in found {
                    let is_shared = lacks(violation) && !of_entry.iter().all(|(_, _, all)| has(all, violation));
                    let holds_each = ["/scope/", "/origins/"].iter().any(|member| violation.pointer.contains(member));
                    let counts = !is_shared || holds_each;
                    let is_known = self.wrong.iter().any(|known| {
                        known.pointer == violation.pointer && (known.message == violation.message || lacks(known))
                    });
                    if counts && !(is_known && of_entry.len() > 1) {
                        let mut violation = violation.clone();
                        if is_shared {
                            let name = quote(name, 128);
                            violation.message +=
                                &format!(" {name}, which the pattern matches: give {name} an entry of its own");
                        }
                        self.wrong.push(violation);
                    }
                }
            }
        }
        tools
    }
}

/// Returns the items of the highest rank.
fn highest<T>(ranked: impl Iterator<Item = (usize, T)>) -> Vec<T> {
    let mut best: (usize, Vec<T>) = (0, Vec::new());
    for (rank, one) in ranked {
        if rank > best.0 {
            best = (rank, vec![one]);
        } else if rank == best.0 {
            best.1.push(one);
        }
    }
    best.1
}
