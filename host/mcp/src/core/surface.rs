//! The tools that the client sees, and their names.

use std::collections::HashMap;

use seamgate::digest;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    effects::UpstreamId,
    listed::{Freshness, Listed, name_of},
    message::{Change, Members, json},
    policy::{Policy, READ_ARTIFACT},
};

/// The separator between the name of a server and that of its tool, if there are several servers.
const SEPARATOR: &str = "__";

/// The longest name that the client receives, in characters. Clients and models accept only letters, digits, `_` and
/// `-`.
const MAX_NAME: usize = 64;

/// The tools that the client sees.
#[derive(Default, PartialEq)]
pub(super) struct Surface {
    tools: Vec<Visible>,
    by_name: HashMap<String, usize>,
}

/// A tool that the client sees.
#[derive(PartialEq)]
pub(super) struct Visible {
    /// The server that provides the tool. `None` if the tool belongs to the gate itself.
    pub(super) upstream: Option<UpstreamId>,
    pub(super) tool: String,
    /// The name that the client uses for the tool.
    name: String,
    /// The definition that the client receives.
    definition: String,
}

/// The kernel's answer: the tools that the model may see.
#[derive(Deserialize)]
struct Answer {
    tools: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    server: String,
    tool: String,
    definition: Option<Box<RawValue>>,
}

impl Surface {
    /// Builds the surface from the kernel's answer about the tools that `servers` list.
    pub(super) fn new(answer: &str, servers: &[(&str, &Listed)], policy: &Policy) -> Result<Self, String> {
        let Answer { tools } = serde_json::from_str(answer).map_err(|error| error.to_string())?;
        let mut surface = Surface::default();
        for Shown { server, tool, definition } in tools {
            let is_own = server.is_empty() && tool == READ_ARTIFACT && policy.reads_artifacts();
            let place = servers.iter().position(|(name, _)| *name == server).filter(|_| !is_own);
            if place.is_none() && !is_own {
                continue;
            }
            let listed = place.and_then(|place| {
                servers[place].1.tools().find(|listed| name_of(listed.get()).is_some_and(|name| name == tool))
            });
            let shown = definition.as_deref().map_or("{}", RawValue::get);
            // If the kernel found nothing to change in a definition, its bytes stay the same.
            let text = match listed {
                Some(listed) if is_same(listed.get(), shown) => listed.get().to_owned(),
                _ => shown.to_owned(),
            };
            let wanted = match (servers.len(), is_own) {
                (1, _) | (_, true) => tool.clone(),
                _ => format!("{server}{SEPARATOR}{tool}"),
            };
            let name = surface.client_name(&wanted, &server, &tool);
            let is_truncated = !is_own && policy.may_truncate(&server, &tool);
            let definition = match Members::of(&text) {
                Some(members) => members.with(|member, _| match member {
                    "name" if name != tool => Change::To(json(&name)),
                    // A client would reject a truncated result that no longer matches the schema.
                    "outputSchema" if is_truncated => Change::Drop,
                    _ => Change::Keep,
                }),
                None => text,
            };
            surface.by_name.insert(name.clone(), surface.tools.len());
            surface.tools.push(Visible { upstream: place.map(UpstreamId), tool, name, definition });
        }
        Ok(surface)
    }

    /// Returns the client's name for a tool. This is the wanted name if it fits and no other tool has it. Otherwise, it
    /// is a shortened name with a digest of the server and the tool, so that it is the same in each session.
    fn client_name(&self, wanted: &str, server: &str, tool: &str) -> String {
        let fits = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '-');
        if !wanted.is_empty()
            && wanted.len() <= MAX_NAME
            && wanted.chars().all(fits)
            && !self.by_name.contains_key(wanted)
        {
            return wanted.to_owned();
        }
        let digest = digest(format!("{server}\0{tool}").as_bytes());
        let digits = &digest["sha256:".len()..][..8];
        let begin = wanted.chars().map(|next| if fits(next) { next } else { '_' }).take(MAX_NAME - digits.len() - 1);
        format!("{}_{digits}", begin.collect::<String>())
    }

    /// Returns the names that the client sees.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// Returns the tool that the client calls by a name.
    pub(super) fn find(&self, name: &str) -> Option<&Visible> {
        self.by_name.get(name).map(|&place| &self.tools[place])
    }

    /// Returns the result of `tools/list`: all tools that the client sees, on one page.
    pub(super) fn list(&self, servers: &[(&str, &Listed)], is_stateless: bool) -> String {
        let mut visible: Vec<&Visible> = self.tools.iter().collect();
        let freshness = match servers {
            [(_, listed)] => {
                // The order of the server's list, followed by the gate's own tool.
                let names = listed.tools().filter_map(|tool| name_of(tool.get()));
                let places: HashMap<String, usize> = names.enumerate().map(|(place, name)| (name, place)).collect();
                let place =
                    |tool: &&Visible| tool.upstream.and_then(|_| places.get(&tool.tool)).copied().unwrap_or(usize::MAX);
                visible.sort_by_key(place);
                listed.freshness()
            }
            _ => Freshness::default(),
        };
        let tools: Vec<&str> = visible.iter().map(|tool| tool.definition.as_str()).collect();
        let scope = if freshness.is_public { "public" } else { "private" };
        let more = match is_stateless {
            true => format!(r#","resultType":"complete","ttlMs":{},"cacheScope":"{scope}""#, freshness.ttl_ms),
            false => String::new(),
        };
        format!("{{\"tools\":[{}]{more}}}", tools.join(","))
    }

    /// Returns the definition of a tool that the client received.
    pub(super) fn definition(&self, name: &str) -> Option<&str> {
        self.by_name.get(name).map(|&place| self.tools[place].definition.as_str())
    }
}

/// Returns the server and the tool that an unlisted name refers to.
pub(super) fn meant<'n>(name: &'n str, servers: &[(&str, &Listed)]) -> (Option<UpstreamId>, &'n str) {
    if servers.len() == 1 {
        return (Some(UpstreamId(0)), name);
    }
    let own = |(server, _): &(&str, &Listed)| name.strip_prefix(server)?.strip_prefix(SEPARATOR);
    match servers.iter().enumerate().find_map(|(place, server)| Some((place, own(server)?))) {
        Some((place, tool)) => (Some(UpstreamId(place)), tool),
        None => (None, name),
    }
}

/// Returns whether two JSON texts have equal values.
fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::message::raw;

    fn listed(names: &[&str]) -> Listed {
        let tools: Vec<String> = names.iter().map(|name| format!("{{\"name\":{}}}", json(name))).collect();
        let mut listed = Listed::default();
        listed.begin();
        listed.take(&raw(format!("{{\"tools\":[{}]}}", tools.join(",")))).expect("a list");
        listed
    }

    fn surface(servers: &[(&str, &Listed)]) -> Surface {
        let tools: Vec<String> = servers
            .iter()
            .flat_map(|(server, listed)| listed.tools().map(move |tool| (server, tool)))
            .map(|(server, tool)| {
                let name = json(&name_of(tool.get()).expect("a name"));
                format!("{{\"server\":{},\"tool\":{name},\"definition\":{}}}", json(server), tool.get())
            })
            .collect();
        Surface::new(&format!("{{\"tools\":[{}]}}", tools.join(",")), servers, &Policy::default()).expect("a surface")
    }

    #[test]
    fn every_client_takes_the_names() {
        let long = "x".repeat(100);
        let (one, other) = (listed(&["look", "files.read", "é", "", &long, "b__c"]), listed(&["c", "look"]));
        let surface = surface(&[("a", &one), ("a__b", &other)]);
        let names: Vec<&str> = surface.names().collect();
        assert_eq!(names.len(), 8);
        for name in &names {
            assert!(!name.is_empty() && name.len() <= MAX_NAME, "{name}");
            assert!(name.chars().all(|next| next.is_ascii_alphanumeric() || matches!(next, '_' | '-')), "{name}");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
            let definition = surface.definition(name).expect("a definition");
            assert_eq!(name_of(definition).as_deref(), Some(*name));
        }
        // Both would otherwise be called a__b__c.
        assert!(names.contains(&"a__look") && names.contains(&"a__b__c") && names.contains(&"a__b__look"));
    }

    #[test]
    fn name_that_fits_stays() {
        let one = listed(&["look", "read-file_2"]);
        assert_eq!(surface(&[("a", &one)]).names().collect::<Vec<_>>(), ["look", "read-file_2"]);
    }
}
