//! Drafts a profile from what a server lists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
    path::Path,
};

use seamgate::{Fault, Gate, MAX_FILE, matches_tool};
use seamgate_runner::{Error, Result, mcp::ServerInfo};
use seamgate_text::{count, escape_terminal, shorten, truncate};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    core::{READ_ARTIFACT, name_of},
    pins::{is_nameable, lock_text, new_file},
};

/// The longest description of a tool in a drafted profile, in bytes.
const MAX_SHOWN: usize = 300;
/// The maximum number of a server's tools in a profile. The gate's own tool comes in addition (`tools` in
/// `schemas/profile.schema.json`).
const MAX_NAMED: usize = 1023;
/// The maximum number of names in an error, and the longest shown part of each, in characters.
const MAX_LISTED: usize = 20;
const MAX_NAME: usize = 64;

/// The reason why a profile cannot name a tool.
const WRONG_NAME: &str =
    "its name must have 1 to 128 letters, digits, '_', '.' and '-', and begin with none of '.' and '-'";

/// The protocol's hints about the effects of a tool. Other annotations are not shown.
const HINTS: [&str; 4] = ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"];

/// A drafted profile, with its lock file.
pub struct Draft {
    /// The text of the profile.
    pub profile: String,
    /// The text of the lock file, which pins the definitions of the tools.
    pub lock: String,
    /// The permits of the profile's tools.
    pub permits: Permits,
    /// The tools that a profile cannot contain, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// The tools of a draft by their permits.
#[derive(Default)]
pub struct Permits {
    /// The number of tools that run without approval.
    pub allow: usize,
    /// The number of tools that need approval.
    pub approve: usize,
    /// The number of tools that are denied.
    pub deny: usize,
    /// The names of allowed tools that may cause changes.
    pub unsafe_allow: Vec<String>,
}

/// The permit of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// Calls run at once.
    Allow,
    /// Each call waits for approval.
    Approve,
    /// The tool is hidden from the client.
    Deny,
}

/// The permits that a person chose, by patterns of names.
pub struct Rules {
    /// `true` to run tools that declare themselves read-only without approval.
    pub allows_reads: bool,
    /// Patterns in which `*` matches any characters. The last pattern that matches a name decides.
    pub patterns: Vec<(Permit, String)>,
}

/// The part of a tool's definition on which a person bases a decision.
#[derive(Default, Deserialize)]
struct Described {
    description: Option<String>,
    annotations: Option<BTreeMap<String, Value>>,
}

/// A tool that a server lists.
struct Tool<'t> {
    name: String,
    definition: &'t RawValue,
    described: Described,
}

impl Draft {
    /// Writes a profile that `gate` accepts. `stem` is the name of its file without `.profile.json`, `owner` is the
    /// principal who approves, and `environment` names the variables that the server gets.
    ///
    /// # Errors
    ///
    /// A pattern matches no tool, or the profile would be invalid even without the tools that a profile cannot contain.
    pub fn new(
        (stem, owner): (&str, &str),
        environment: &[String],
        server: &ServerInfo,
        listed: &[Box<RawValue>],
        rules: &Rules,
        gate: &Gate,
    ) -> Result<Self> {
        let mut left_out = Vec::new();
        let tools = unique(listed, &mut left_out);
        rules.check(&tools)?;
        let frame = Frame::new(stem, owner, environment, server);
        frame.is_accepted(gate, &[]).map_err(Error::invalid)?;
        let mut usable = Vec::new();
        for some in tools.chunks(MAX_NAMED) {
            frame.select(gate, some, &mut usable, &mut left_out);
        }
        for tool in usable.split_off(usable.len().min(MAX_NAMED)) {
            left_out.push((tool.name.clone(), format!("a profile holds at most {MAX_NAMED} tools of servers")));
        }
        frame.is_accepted(gate, &usable).map_err(Error::invalid)?;
        let mut permits = Permits::default();
        let reads = frame.reads(gate, &usable).map_err(Error::invalid)?;
        let each = usable.iter().zip(reads);
        let entries: Vec<String> = each.map(|(tool, reads)| frame.entry(tool, reads, rules, &mut permits)).collect();
        // The lock file also contains the omitted tools, because a person has seen them: `mcp check` does not report
        // them as new.
        let definitions = |tools: &[&Tool]| {
            let definitions = tools.iter().map(|tool| tool.definition.get()).collect();
            lock_text(None, &BTreeMap::from([(frame.agent.as_str(), definitions)]))
        };
        let all: Vec<&Tool> = tools.iter().collect();
        let lock =
            Some(definitions(&all)).filter(|lock| lock.len() <= MAX_FILE).unwrap_or_else(|| definitions(&usable));
        if lock.len() > MAX_FILE {
            let message = format!("the definitions of the tools have {} bytes; the limit is {MAX_FILE}", lock.len());
            return Err(Error::invalid(message));
        }
        Ok(Draft { profile: frame.profile(entries), lock, permits, left_out })
    }

    /// Writes both files, or neither.
    pub fn write(&self, profile: &Path, lock: &Path) -> Result<()> {
        let part = |path: &Path, text: &str| -> std::io::Result<tempfile::NamedTempFile> {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let mut part = new_file(folder)?;
            part.write_all(text.as_bytes())?;
            // A full disk is detected here at the latest.
            part.as_file().sync_all()?;
            Ok(part)
        };
        let failed = |path: &Path, error: &std::io::Error| {
            Error::NoVerdict(format!("cannot write {}: {error}; nothing was written", path.display()))
        };
        let lock_part = part(lock, &self.lock).map_err(|error| failed(lock, &error))?;
        let profile_part = part(profile, &self.profile).map_err(|error| failed(profile, &error))?;
        lock_part.persist_noclobber(lock).map_err(|error| failed(lock, &error.error))?;
        if let Err(error) = profile_part.persist_noclobber(profile) {
            let _ = std::fs::remove_file(lock);
            return Err(failed(profile, &error.error));
        }
        Ok(())
    }
}

/// Returns the tools that have a name, without duplicates.
fn unique<'t>(listed: &'t [Box<RawValue>], left_out: &mut Vec<(String, String)>) -> Vec<Tool<'t>> {
    let mut seen = BTreeSet::new();
    let mut tools = Vec::new();
    for definition in listed {
        let Some(name) = name_of(definition.get()) else {
            left_out.push((shorten(definition.get(), MAX_NAME), "it has no name".to_owned()));
            continue;
        };
        if !seen.insert(name.clone()) {
            left_out.push((name, "the server lists this name twice: the first definition counts".to_owned()));
            continue;
        }
        let described = serde_json::from_str(definition.get()).unwrap_or_default();
        tools.push(Tool { name, definition, described });
    }
    tools
}

impl Permits {
    /// Returns the number of tools.
    pub fn total(&self) -> usize {
        self.allow + self.approve + self.deny
    }
}

impl Rules {
    /// Returns the permit of a tool, and the reason.
    fn permit(&self, tool: &Tool, reads: bool) -> (Permit, Option<String>) {
        let matching = self.patterns.iter().rev().find(|(_, pattern)| matches_tool(pattern, &tool.name));
        match matching {
            Some((Permit::Approve, _)) => (Permit::Approve, None),
            Some((Permit::Allow, pattern)) => (Permit::Allow, Some(format!("Allowed by --allow '{pattern}'."))),
            Some((Permit::Deny, pattern)) => (Permit::Deny, Some(format!("Denied by --deny '{pattern}'."))),
            None if self.allows_reads && reads => {
                (Permit::Allow, Some("Allowed because the server says that it only reads.".to_owned()))
            }
            None => (Permit::Approve, None),
        }
    }

    /// Checks that each pattern matches a tool.
    fn check(&self, tools: &[Tool]) -> Result<()> {
        let unused =
            self.patterns.iter().find(|(_, pattern)| !tools.iter().any(|tool| matches_tool(pattern, &tool.name)));
        let Some((permit, pattern)) = unused else { return Ok(()) };
        let names: Vec<String> =
            tools.iter().take(MAX_LISTED).map(|tool| escape_line(&shorten(&tool.name, MAX_NAME))).collect();
        let more = tools.len().saturating_sub(MAX_LISTED);
        let names = match (names.is_empty(), more) {
            (true, _) => "it has none".to_owned(),
            (false, 0) => names.join(", "),
            (false, more) => format!("{} and {more} more", names.join(", ")),
        };
        let pattern = escape_line(&shorten(pattern, MAX_NAME));
        Err(Error::invalid(format!(
            "{} '{pattern}': no tool has such a name; the server's tools: {names}",
            permit.option()
        )))
    }
}

impl Permit {
    /// Returns the option of `seamgate mcp init` that gives this permit.
    pub fn option(self) -> &'static str {
        match self {
            Permit::Allow => "--allow",
            Permit::Approve => "--approve",
            Permit::Deny => "--deny",
        }
    }
}

impl Tool<'_> {
    fn hint(&self, name: &str) -> Option<bool> {
        self.described.annotations.as_ref()?.get(name)?.as_bool()
    }

    /// Returns whether the server declares that the tool changes nothing.
    fn only_reads(&self) -> bool {
        self.hint("readOnlyHint") == Some(true) && self.hint("destructiveHint") != Some(true)
    }

    /// Returns what a person should know about a tool before they decide. The information comes from the server, so it
    /// proves nothing.
    fn comment(&self, why: Option<String>) -> String {
        let description = self.described.description.as_deref().unwrap_or_default().trim();
        let first = description.lines().next().unwrap_or_default().trim();
        let hints = HINTS.iter().filter_map(|name| Some(format!("{name}: {}", self.hint(name)?)));
        let hints: Vec<String> = hints.collect();
        let hints = (!hints.is_empty()).then(|| format!("The server says {}.", hints.join(", ")));
        let first = (!first.is_empty()).then(|| escape_line(&truncate(first, MAX_SHOWN)));
        first
            .into_iter()
            .chain(hints)
            .chain(why.map(|why| escape_line(&truncate(&why, MAX_SHOWN))))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Escapes untrusted text as one line.
fn escape_line(text: &str) -> String {
    escape_terminal(&text.replace(['\n', '\r'], " "))
}

/// All of a profile except its tools.
struct Frame {
    agent: String,
    owner: String,
    environment: Vec<String>,
    comment: String,
}

impl Frame {
    fn new(stem: &str, owner: &str, environment: &[String], server: &ServerInfo) -> Self {
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
        let comment = match kinds.is_empty() {
            true => "The server has tools only.".to_owned(),
            false => format!("The server also has: {}. Name in 'methods' what the client needs.", kinds.join(", ")),
        };
        Frame { agent: agent(stem), owner: owner.to_owned(), environment: environment.to_owned(), comment }
    }

    /// Adds the tools that a profile can contain to `usable`, and the others to `left_out`.
    fn select<'t>(
        &self,
        gate: &Gate,
        tools: &'t [Tool<'t>],
        usable: &mut Vec<&'t Tool<'t>>,
        left_out: &mut Vec<(String, String)>,
    ) {
        let all: Vec<&Tool> = tools.iter().collect();
        match (self.is_accepted(gate, &all), tools) {
            (Ok(()), _) => usable.extend(tools),
            // An entry with `*` in its name would be a pattern.
            (Err(_), [only]) if !is_nameable(&only.name) => left_out.push((only.name.clone(), WRONG_NAME.to_owned())),
            (Err(reason), [only]) => left_out.push((only.name.clone(), reason)),
            (Err(_), _) => {
                let (left, right) = tools.split_at(tools.len() / 2);
                self.select(gate, left, usable, left_out);
                self.select(gate, right, usable, left_out);
            }
        }
    }

    /// Checks that a profile with these tools can be used, and disables none of them. The error is the reason.
    fn is_accepted(&self, gate: &Gate, tools: &[&Tool]) -> Result<(), String> {
        let entries = tools.iter().map(|tool| {
            let (name, server, definition) = (json!(tool.name), json!(self.agent), tool.definition);
            format!(r#"{{"name":{name},"server":{server},"effect":"read","permit":"deny","definition":{definition}}}"#)
        });
        let warnings = gate.lint_profile(&self.profile(entries.collect())).map_err(|fault| reason(&fault))?;
        match warnings.iter().find(|warning| warning.code == "invalid_definition") {
            Some(disabled) => Err(place_and_message(&disabled.path, &disabled.message)),
            None => Ok(()),
        }
    }

    /// Returns for each tool whether it can count as a read: its server declares that it changes nothing, and neither
    /// its name nor its description suggests an effect.
    fn reads(&self, gate: &Gate, tools: &[&Tool]) -> Result<Vec<bool>, String> {
        let entries = tools.iter().map(|tool| {
            let (name, server, definition) = (json!(tool.name), json!(self.agent), tool.definition);
            format!(r#"{{"name":{name},"server":{server},"effect":"read","permit":"allow","definition":{definition}}}"#)
        });
        let warnings = gate.lint_profile(&self.profile(entries.collect())).map_err(|fault| reason(&fault))?;
        let acts = |number: usize| {
            let place = format!("/tools/{number}/effect");
            warnings.iter().any(|warning| warning.code == "effect_read" && warning.pointer == place)
        };
        Ok(tools.iter().enumerate().map(|(number, tool)| tool.only_reads() && !acts(number)).collect())
    }

    /// Writes a tool of a profile, and counts its permit.
    fn entry(&self, tool: &Tool, reads: bool, rules: &Rules, permits: &mut Permits) -> String {
        let (permit, why) = rules.permit(tool, reads);
        let is_read = permit == Permit::Allow && reads;
        let effect = if is_read { "read" } else { "effectful" };
        match permit {
            Permit::Allow => permits.allow += 1,
            Permit::Approve => permits.approve += 1,
            Permit::Deny => permits.deny += 1,
        }
        if permit == Permit::Allow && !is_read {
            permits.unsafe_allow.push(tool.name.clone());
        }
        let written = match permit {
            Permit::Allow => r#""allow""#,
            Permit::Approve => r#"{ "approval": { "by": ["owner"], "ttl_s": 600 } }"#,
            Permit::Deny => r#""deny""#,
        };
        let mut entry = String::from("    {\n");
        let comment = tool.comment(why);
        if !comment.is_empty() {
            let _ = writeln!(entry, r#"      "$comment": {},"#, json!(comment));
        }
        let (name, server) = (json!(tool.name), json!(self.agent));
        let _ = write!(
            entry,
            "      \"name\": {name},\n      \"server\": {server},\n      \"effect\": \"{effect}\",\n      \"permit\": {written}\n    }}"
        );
        entry
    }

    fn profile(&self, mut tools: Vec<String>) -> String {
        tools.push(format!(
            r#"    {{
      "$comment": "seamgate's own: the client reads whole results by it that were cut.",
      "name": {},
      "effect": "read",
      "permit": "allow"
    }}"#,
            json!(READ_ARTIFACT)
        ));
        let names: Vec<String> = self.environment.iter().map(|name| json!(name).to_string()).collect();
        format!(
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
            agent = json!(self.agent),
            owner = json!(self.owner),
            methods = json!(self.comment),
            names = names.join(", "),
            tools = tools.join(",\n")
        )
    }
}

/// Describes why a profile cannot contain a tool: the first error, with its place in the tool.
fn reason(fault: &Fault) -> String {
    let violations = fault.violations();
    let Some(first) = violations.first() else { return fault.to_string() };
    let more = match violations.len() {
        0 | 1 => String::new(),
        all => format!(" ({} more)", count(all - 1, "error")),
    };
    place_and_message(&first.path, &format!("{}{more}", first.message))
}

/// Describes what is wrong with the only tool of a profile, and where.
fn place_and_message(path: &str, message: &str) -> String {
    let place = path.strip_prefix("$.tools[0]").unwrap_or(path).trim_start_matches('.');
    truncate(&format!("{place} {message}"), MAX_SHOWN)
}

/// Derives the name of an agent and a server from the name of a file.
pub fn agent(stem: &str) -> String {
    let is_known = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let name: String = stem.chars().map(|next| if is_known(next) { next.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.trim_start_matches(['.', '_', '-']).chars().take(64).collect::<String>();
    if name.is_empty() { "mcp".to_owned() } else { name }
}
