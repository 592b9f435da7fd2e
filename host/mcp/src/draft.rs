//! A profile to start from, made from what a server lists.

use std::collections::BTreeMap;

use seamgate_runner::mcp::ServerInfo;
use seamgate_text::{escape_terminal, truncate};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::core::{READ_ARTIFACT, name_of};

/// The longest description of a tool that a profile has, in bytes.
const MAX_SHOWN: usize = 300;

/// A profile to start from, with its lock file.
pub struct Draft {
    /// The text of the profile.
    pub profile: String,
    /// The text of the lock file, which pins the definitions of the tools.
    pub lock: String,
}

/// The part of a tool's definition that a person decides by.
#[derive(Deserialize)]
struct Described {
    description: Option<String>,
    annotations: Option<BTreeMap<String, Value>>,
}

impl Draft {
    /// Writes a profile in which each tool needs approval. `stem` is the name of its file without `.profile.json`, `owner` the
    /// principal who approves, and `environment` names the variables that the server gets.
    pub fn new(stem: &str, owner: &str, environment: &[String], server: &ServerInfo, listed: &[Box<RawValue>]) -> Self {
        let agent = agent(stem);
        let mut tools: Vec<String> = listed
            .iter()
            .filter_map(|tool| {
                let (name, comment) = (json!(name_of(tool.get())?), json!(comment(tool)));
                Some(format!(
                    r#"    {{
      "$comment": {comment},
      "name": {name},
      "server": {server},
      "effect": "effectful",
      "permit": {{ "approval": {{ "by": ["owner"], "ttl_s": 600 }} }}
    }}"#,
                    server = json!(agent)
                ))
            })
            .collect();
        tools.push(format!(
            r#"    {{
      "$comment": "seamgate's own: the client reads whole results by it that were cut.",
      "name": {},
      "effect": "read",
      "permit": "allow"
    }}"#,
            json!(READ_ARTIFACT)
        ));
        let kinds: Vec<&str> = [
            ("resources", "resources/*"),
            ("prompts", "prompts/*"),
            ("completions", "completion/*"),
            ("logging", "logging/*"),
        ]
        .into_iter()
        .filter(|(kind, _)| server.capabilities.contains_key(*kind))
        .map(|(_, methods)| methods)
        .collect();
        let methods = match kinds.is_empty() {
            true => "The server has tools only.".to_owned(),
            false => format!("The server also has: {}. Name in 'methods' what the client needs.", kinds.join(", ")),
        };
        let names: Vec<String> = environment.iter().map(|name| json!(name).to_string()).collect();
        let profile = format!(
            r#"{{
  "$comment": "Made by 'seamgate mcp init'. Decide for each tool: 'effect' (read, idempotent, effectful), 'permit' (allow, deny, approval), what its 'arguments' may be, and 'labels' of its result.",
  "agent": {agent},
  "version": "0.1.0",
  "approvers": {{
    "owner": [
      {{ "principal": {owner} }}
    ]
  }},
  "servers": {{
    {agent}: {{
      "$comment": {methods},
      "methods": [],
      "environment": [{names}]
    }}
  }},
  "tools": [
{tools}
  ],
  "budget": {{ "tool_calls": 10000 }}
}}
"#,
            agent = json!(agent),
            owner = json!(owner),
            methods = json!(methods),
            names = names.join(", "),
            tools = tools.join(",\n")
        );
        let definitions: Vec<&str> = listed.iter().map(|tool| tool.get()).collect();
        let lock = format!(
            "{{\n  \"servers\": {{\n    {}: {{\n      \"tools\": [\n        {}\n      ]\n    }}\n  }}\n}}\n",
            json!(agent),
            definitions.join(",\n        ")
        );
        Draft { profile, lock }
    }
}

/// Returns what a person should know of a tool before they decide. The server says it, so it proves nothing.
fn comment(definition: &RawValue) -> String {
    let Ok(Described { description, annotations }) = serde_json::from_str(definition.get()) else {
        return "The server's definition is none.".to_owned();
    };
    let first = description.as_deref().unwrap_or_default().lines().next().unwrap_or_default().trim().to_owned();
    let hints: Vec<String> = annotations
        .unwrap_or_default()
        .into_iter()
        .filter(|(name, value)| name.ends_with("Hint") && value.is_boolean())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let hints = if hints.is_empty() { String::new() } else { format!(" The server says {}.", hints.join(", ")) };
    escape_terminal(&format!("{}{hints}", truncate(&first, MAX_SHOWN)))
}

/// Turns the name of a file into that of an agent and a server.
fn agent(stem: &str) -> String {
    let is_known = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let name: String = stem.chars().map(|next| if is_known(next) { next.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.trim_start_matches(['.', '_', '-']).chars().take(64).collect::<String>();
    if name.is_empty() { "mcp".to_owned() } else { name }
}
