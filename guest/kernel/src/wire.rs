//! The kernel's operations on the wire.

use seamgate_core::{Fault, Members, Operations, kernel_api::json};

use crate::{decide, profile::Profile, registry::Registry};

/// The operations, each with its members in addition to `id` and `op`. `schemas/request.schema.json` describes them.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("register_profile", &["profile"]),
    ("has_profile", &["agent"]),
    ("profile_names", &[]),
    ("profile", &["agent"]),
    ("describe_profile", &["agent"]),
    ("lint_profile", &["profile"]),
    ("surface", &["agent", "profile", "facts", "listed"]),
    ("permit", &["agent", "profile", "facts", "call"]),
    ("observe", &["agent", "profile", "facts", "call", "result"]),
    ("advance", &["agent", "profile", "state", "event"]),
    ("project", &["agent", "profile", "line", "audience"]),
];

impl Operations for Registry {
    fn operations(&self) -> &'static [(&'static str, &'static [&'static str])] {
        OPERATIONS
    }

    fn answer(&mut self, operation: &str, members: &Members) -> Result<String, Fault> {
        match operation {
            "register_profile" => Ok(json(&self.register(&members.json("profile")?)?)),
            "has_profile" => Ok(json(&self.has(members.string("agent")?))),
            "profile_names" => Ok(json(&self.names())),
            "profile" => Ok(json(&self.profile(members.string("agent")?)?)),
            "describe_profile" => Ok(json(&self.describe(members.string("agent")?)?)),
            "lint_profile" => Ok(json(&self.lint(&members.json("profile")?)?)),
            "surface" => {
                let facts = members.json("facts")?;
                let listed = members.has("listed").then(|| members.json("listed")).transpose()?;
                self.with(members, |profile| decide::surface(profile, &facts, listed.as_deref()))
            }
            "permit" => {
                let (facts, call) = (members.json("facts")?, members.json("call")?);
                self.with(members, |profile| decide::permit(profile, &facts, &call))
            }
            "advance" => {
                let state = members.has("state").then(|| members.json("state")).transpose()?;
                let event = members.json("event")?;
                self.with(members, |profile| decide::advance(profile, state.as_deref(), &event))
            }
            "project" => {
                let (line, audience) = (members.json("line")?, members.string("audience")?);
                self.with(members, |profile| decide::project(profile, &line, audience))
            }
            _ => {
                let (facts, call, result) = (members.json("facts")?, members.json("call")?, members.json("result")?);
                self.with(members, |profile| decide::observe(profile, &facts, &call, &result))
            }
        }
    }

    fn seal(&mut self) {
        Registry::seal(self);
    }
}

impl Registry {
    /// Uses the profile in the request, or else the registered profile of its agent.
    fn with<T>(&self, members: &Members, decide: impl FnOnce(&Profile) -> Result<T, Fault>) -> Result<T, Fault> {
        match members.has("profile") {
            true => decide(&Profile::compile(&members.json("profile")?)?),
            false => decide(self.find(members.string("agent")?)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_operations_are_those_that_the_schema_describes() {
        let schema: Value = serde_json::from_str(include_str!("../../../schemas/request.schema.json")).expect("JSON");
        let mut described = BTreeMap::new();
        for request in schema["$defs"].as_object().expect("definitions").values() {
            let Some(op) = request["properties"].get("op") else { continue };
            let names = op["enum"].as_array().cloned().unwrap_or_else(|| vec![op["const"].clone()]);
            let members = request["properties"].as_object().expect("members").keys();
            let members: BTreeSet<&str> =
                members.map(String::as_str).filter(|name| !["id", "op"].contains(name)).collect();
            described.extend(names.iter().map(|name| (name.as_str().expect("a name").to_owned(), members.clone())));
        }
        for name in seamgate_core::operations() {
            assert!(described.remove(name).is_some(), "{name}");
        }
        let ours = OPERATIONS.iter().map(|(name, members)| ((*name).to_owned(), members.iter().copied().collect()));
        assert_eq!(described, ours.collect());
    }
}
