//! Secrets that a call names by reference: the text `secret:NAME` in an argument that may take the secret NAME. Only
//! the host knows the value, and replaces the reference when it sends the call.

use std::collections::BTreeMap;

use seamgate_core::{
    Violation,
    kernel_api::{Document, Kind, Location, NodeId, json, quote},
};
use serde_json::value::RawValue;

use crate::{
    decision::{Reason, Secret},
    definition::Members,
    reached::Reached,
    secret_text::{PREFIX, described, references},
    tool::Tool,
};

/// The code of a reason about a reference that the profile does not allow.
pub(crate) const CODE: &str = "secret";

/// The maximum number of references that a reason lists.
const MAX_SHOWN: usize = 10;

/// The references in the arguments of a call, each with the name of its secret.
#[derive(Default)]
pub(crate) struct References(BTreeMap<NodeId, String>);

impl References {
    /// Finds the references in the arguments of a call: texts that begin with `secret:`, if the tool may take a secret.
    /// For other tools, such a text is ordinary text.
    ///
    /// # Errors
    ///
    /// Returns the reason if a text names a secret that its argument may not take.
    pub(crate) fn find(tool: &Tool, arguments: &Document) -> Result<Self, Reason> {
        let mut fitting: BTreeMap<NodeId, Vec<&str>> = BTreeMap::new();
        for rule in &tool.secrets {
            for at in Reached::of(&rule.path.selectors, arguments, Document::ROOT).ends {
                if arguments.kind(at) == Kind::String && arguments.string(at).starts_with(PREFIX) {
                    fitting.entry(at).or_default().extend(rule.names.iter().map(String::as_str));
                }
            }
        }
        let (mut found, mut wrong) = (BTreeMap::new(), Vec::new());
        for (at, names) in fitting {
            let name = &arguments.string(at)[PREFIX.len()..];
            if names.contains(&name) {
                found.insert(at, name.to_owned());
            } else if wrong.len() < MAX_SHOWN {
                let expected = references(&names);
                let message = format!("must be {expected}, or a value of its own");
                wrong.push(Violation::of(arguments, at, CODE, &expected, &message));
            }
        }
        let reason = || Reason::wrong(CODE, "an argument names a secret that it may not take", wrong.clone());
        if wrong.is_empty() { Ok(References(found)) } else { Err(reason()) }
    }

    /// Returns the name of the secret that a value refers to.
    pub(crate) fn name(&self, at: NodeId) -> Option<&str> {
        self.0.get(&at).map(String::as_str)
    }

    /// Describes the references for the host, in the order of the arguments.
    pub(crate) fn listed(&self, arguments: &Document) -> Vec<Secret> {
        let pointer = |at| arguments.location_within(Document::ROOT, Location::root(), at).pointer();
        self.0.iter().map(|(&at, name)| Secret { at: pointer(at), name: name.clone() }).collect()
    }
}

/// Returns the reason if an agent above does not allow the call to take one of its secrets.
pub(crate) fn withheld(own: &[Secret], above: &[Secret]) -> Option<Reason> {
    let Secret { at, name } = own.iter().find(|secret| !above.contains(secret))?;
    Some(Reason::new(CODE, format!("{at} must not take the secret {}", quote(name, 64))))
}

/// Adds a description to a definition that tells the model how to name the tool's secrets.
pub(crate) fn shown(tool: &Tool, definition: Box<RawValue>) -> Box<RawValue> {
    let Some(said) = described(tool) else { return definition };
    let Ok(Members(mut members)) = serde_json::from_str::<Members>(definition.get()) else { return definition };
    let known = members.iter().position(|(name, _)| name == "description");
    let before = known.and_then(|at| serde_json::from_str::<String>(members.remove(at).1.get()).ok());
    let text = before.map_or(said.clone(), |before| format!("{before}\n\n{said}"));
    let Ok(text) = RawValue::from_string(json(&text)) else { return definition };
    members.insert(known.unwrap_or(members.len()), ("description".to_owned(), text));
    let members: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", json(name))).collect();
    RawValue::from_string(format!("{{{}}}", members.join(","))).unwrap_or(definition)
}
