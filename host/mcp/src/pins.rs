//! The definitions that a profile pins, and how the definitions that a server lists differ from them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use seamgate::{Gate, MAX_FILE, is_tool_pattern, matches_tool, read_named};
use seamgate_runner::{Error, Result};
use seamgate_text::{count, escape_terminal, escaped, tool_name, truncate};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::core::{READ_ARTIFACT, name_of};

/// The longest shown piece of a definition in a difference, in bytes.
const MAX_SHOWN: usize = 300;
/// The most bytes of both definitions' common beginning that are shown before the place where they differ.
const BEFORE: usize = 40;
/// The longest shown place of a difference, in bytes.
const MAX_PLACE: usize = 200;
/// The maximum number of lines about one tool, and about all tools of a server.
const MAX_LINES: usize = 100;
const MAX_ALL_LINES: usize = 2000;
/// The maximum number of new tools that are shown with an entry.
const MAX_ENTRIES: usize = 5;

/// The members of a definition that are JSON Schemas.
const SCHEMAS: [&str; 4] = ["inputSchema", "outputSchema", "parameters", "input_schema"];

/// The definitions that a profile pins.
pub struct Pins {
    profile: PathBuf,
    /// The complete text of the profile.
    text: String,
    /// The tools: entries whose names are not patterns, and tools for which patterns have definitions.
    tools: Vec<Pin>,
    /// The entries of the profile.
    entries: Vec<Pin>,
    /// A group of approvers.
    group: Option<String>,
    lock: Lock,
}

#[derive(Clone, Deserialize)]
struct Pin {
    #[serde(default)]
    name: String,
    #[serde(default)]
    server: String,
    definition: Option<Box<RawValue>>,
    /// The definitions, if the name is a pattern.
    #[serde(default)]
    definitions: Vec<Box<RawValue>>,
}

/// The lock file of a profile.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    servers: BTreeMap<String, Pinned>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    tools: Vec<Box<RawValue>>,
}

/// The differences between what a server lists and what is pinned.
#[derive(Default)]
pub struct Differences {
    /// One or more lines for each difference, escaped.
    pub lines: Vec<String>,
    /// Entries of a profile for some of the tools that it does not name yet.
    pub entries: Vec<String>,
    /// The number of differences that an updated lock file would resolve.
    pub acceptable: usize,
}

impl Pins {
    /// Reads the definitions of the profile at `path`, whose complete text is `text`.
    pub fn of(path: &Path, text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Profile {
            #[serde(default)]
            tools: Vec<Pin>,
            #[serde(default)]
            approvers: BTreeMap<String, Value>,
        }
        let invalid = |error| Error::caused(path.display().to_string(), error);
        let Profile { tools, approvers } = serde_json::from_str(text).map_err(invalid)?;
        let lock = match lock_path(path) {
            Some(lock) => Lock::read(&lock)?,
            None => Lock::default(),
        };
        let group = approvers.into_keys().next();
        let (profile, text) = (path.to_owned(), text.to_owned());
        Ok(Pins { profile, text, tools: each_tool(&tools), entries: tools, group, lock })
    }

    /// Describes the differences between what a server lists and what is pinned.
    pub fn differences(&self, server: &str, listed: &[Box<RawValue>]) -> Differences {
        let mut found = Differences::default();
        let listed = by_name(listed);
        let full = |name: &str| one_line(&truncate(&tool_name(server, name), MAX_PLACE));
        let pinned: Vec<&Pin> = self.tools.iter().filter(|tool| tool.server == server).collect();
        for tool in &pinned {
            let own = server.is_empty() && tool.name == READ_ARTIFACT;
            match (listed.get(&tool.name), &tool.definition) {
                (None, _) if own => {}
                (None, _) => found.lines.push(format!("missing  {}: the server does not list it", full(&tool.name))),
                (Some(_), None) => {
                    found.lines.push(format!("unpinned {}: the lock file lacks it", full(&tool.name)));
                    found.acceptable += 1;
                }
                (Some(now), Some(then)) => {
                    let lines = compare(then, now);
                    if !lines.is_empty() {
                        found.lines.push(format!("changed  {}", full(&tool.name)));
                        found.lines.extend(lines);
                        found.acceptable += 1;
                    }
                }
            }
        }
        for (name, definition) in &listed {
            // A tool in the lock file was seen before, and was omitted from the profile.
            let seen = self.lock.definition(server, name).map(|seen| compare(seen, definition));
            if pinned.iter().any(|tool| tool.name == *name) || seen.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            if seen.is_none() && self.entries.iter().any(|entry| entry.is_pattern_of(server, name)) {
                found.lines.push(format!("unpinned {}: the lock file lacks it", full(name)));
                found.acceptable += 1;
                continue;
            }
            let parsed: Value = serde_json::from_str(definition.get()).unwrap_or_default();
            let description = parsed["description"].as_str().unwrap_or_default();
            let word = if seen.is_some() { "changed  " } else { "new      " };
            let line = format!("{word}{}: {}", full(name), one_line(&truncate(description, MAX_SHOWN)));
            found.lines.push(line.trim_end_matches([':', ' ']).to_owned());
            found.lines.extend(seen.into_iter().flatten());
            found.acceptable += 1;
            if found.entries.len() < MAX_ENTRIES && is_nameable(name) {
                found.entries.push(self.entry(server, name));
            }
        }
        cut(&mut found.lines, MAX_ALL_LINES, "");
        found
    }

    /// Writes a profile entry for a tool that the profile does not name.
    fn entry(&self, server: &str, name: &str) -> String {
        let (name, server) = (json!(name), json!(server));
        let permit = match &self.group {
            Some(group) => json!({ "approval": { "by": [group] } }),
            None => json!("deny"),
        };
        let place = if server == "" { String::new() } else { format!("\"server\":{server},") };
        format!(r#"{{"name":{name},{place}"effect":"effectful","permit":{permit}}}"#)
    }

    /// Updates the lock file with the definitions that servers list, and returns whether that changed it. `listed` has
    /// each server with the definitions of its tools. Definitions of tools that a server no longer lists stay.
    ///
    /// # Errors
    ///
    /// The profile would be invalid with the new definitions, or the file cannot be written. The file is then
    /// unchanged.
    pub fn accept(&self, listed: &[(String, Vec<Box<RawValue>>)], gate: &Gate) -> Result<bool> {
        let Some(path) = lock_path(&self.profile) else {
            let message = "the name must end in .profile.json: the lock file is found by that";
            return Err(Error::invalid(format!("{}: {message}", self.profile.display())));
        };
        let mut servers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, pinned) in &self.lock.servers {
            servers.insert(name, pinned.tools.iter().map(|tool| tool.get()).collect());
        }
        let mut has_changed = false;
        for (server, tools) in listed {
            let pinned = servers.entry(server).or_default();
            for (name, definition) in by_name(tools) {
                let old = pinned.iter_mut().find(|old| name_of(old).as_deref() == Some(name.as_str()));
                match old {
                    Some(old) if *old == definition.get() => continue,
                    Some(old) => *old = definition.get(),
                    None => pinned.push(definition.get()),
                }
                has_changed = true;
            }
        }
        if !has_changed {
            return Ok(false);
        }
        let text = lock_text(self.lock.schema.as_deref(), &servers);
        if text.len() > MAX_FILE {
            let message = format!("{}: it would have {} bytes; the limit is {MAX_FILE}", path.display(), text.len());
            return Err(Error::invalid(message));
        }
        if let Err(fault) = gate.lint_profile(&self.with(listed)?) {
            return Err(Error::caused(
                format!("{}: it would be invalid with these definitions; nothing was accepted", self.profile.display()),
                Error::Fault(fault),
            ));
        }
        replace(&path, &text).map_err(|error| {
            Error::NoVerdict(format!("cannot write {}: {error}; the old one is unchanged", path.display()))
        })?;
        Ok(true)
    }

    /// Returns the complete text of the profile with new definitions in place of the pinned ones.
    fn with(&self, listed: &[(String, Vec<Box<RawValue>>)]) -> Result<String> {
        #[derive(Deserialize)]
        struct Profile(BTreeMap<String, Box<RawValue>>);
        let Profile(mut members) = serde_json::from_str(&self.text)?;
        let listed: BTreeMap<&str, BTreeMap<String, &RawValue>> =
            listed.iter().map(|(server, tools)| (server.as_str(), by_name(tools))).collect();
        if let Some(tools) = members.get_mut("tools") {
            let mut all: Vec<BTreeMap<String, Box<RawValue>>> = serde_json::from_str(tools.get())?;
            for (tool, pin) in all.iter_mut().zip(&self.entries) {
                if is_tool_pattern(&pin.name) {
                    let now = listed.get(pin.server.as_str());
                    tool.insert("definitions".to_owned(), serde_json::value::to_raw_value(&pin.definitions_with(now))?);
                    continue;
                }
                let now = listed.get(pin.server.as_str()).and_then(|tools| tools.get(&pin.name));
                if let Some(now) = now.filter(|_| !self.is_inline(pin)) {
                    tool.insert("definition".to_owned(), (*now).to_owned());
                }
            }
            *tools = serde_json::value::to_raw_value(&all)?;
        }
        Ok(serde_json::to_string(&members)?)
    }

    /// Returns whether the profile itself contains the definition of a tool.
    fn is_inline(&self, pin: &Pin) -> bool {
        pin.definition.is_some() && self.lock.definition(&pin.server, &pin.name).is_none()
    }
}

impl Pin {
    /// Returns whether this is a pattern that matches a tool.
    fn is_pattern_of(&self, server: &str, name: &str) -> bool {
        is_tool_pattern(&self.name) && self.server == server && matches_tool(&self.name, name)
    }

    /// Returns the definitions of a pattern, replaced by those that its server lists, and followed by new ones.
    fn definitions_with<'p>(&'p self, listed: Option<&BTreeMap<String, &'p RawValue>>) -> Vec<&'p RawValue> {
        let now = listed.into_iter().flatten();
        // A tool with `*` in its name is never listed.
        let now = now.filter(|(name, _)| is_nameable(name) && matches_tool(&self.name, name));
        let mut all: BTreeMap<String, &RawValue> = BTreeMap::new();
        for definition in &self.definitions {
            if let Some(name) = name_of(definition.get()) {
                all.entry(name).or_insert(definition);
            }
        }
        all.extend(now.map(|(name, definition)| (name.clone(), *definition)));
        all.into_values().collect()
    }
}

/// Returns the tools that the entries of a profile represent. A name takes precedence over patterns.
fn each_tool(entries: &[Pin]) -> Vec<Pin> {
    let (patterns, mut tools): (Vec<&Pin>, Vec<Pin>) = {
        let (patterns, names): (Vec<&Pin>, Vec<&Pin>) = entries.iter().partition(|pin| is_tool_pattern(&pin.name));
        (patterns, names.into_iter().cloned().collect())
    };
    for pattern in patterns {
        for definition in &pattern.definitions {
            let Some(name) = name_of(definition.get()) else { continue };
            let is_known = |tool: &Pin| tool.server == pattern.server && tool.name == name;
            if !tools.iter().any(is_known) {
                let definition = Some(definition.clone());
                tools.push(Pin { name, server: pattern.server.clone(), definition, definitions: Vec::new() });
            }
        }
    }
    tools
}

impl Lock {
    /// Reads a lock file. If the file does not exist, it pins nothing.
    fn read(path: &Path) -> Result<Self> {
        let bytes = match read_named(path, MAX_FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::default()),
            read => read.map_err(|error| Error::caused(path.display().to_string(), error))?,
        };
        serde_json::from_slice(&bytes).map_err(|error| Error::caused(path.display().to_string(), error))
    }

    /// Returns the definition of a tool. If there are several, returns the first one, as when a profile is read.
    fn definition(&self, server: &str, name: &str) -> Option<&RawValue> {
        let mut tools = self.servers.get(server)?.tools.iter();
        tools.find(|tool| name_of(tool.get()).as_deref() == Some(name)).map(|tool| &**tool)
    }
}

/// Returns the path of a profile's lock file. `None` if the profile's file name does not allow one.
pub fn lock_path(profile: &Path) -> Option<PathBuf> {
    let name = profile.file_name()?.to_str()?;
    let stem = name.strip_suffix(".profile.json").filter(|stem| !stem.is_empty())?;
    Some(profile.with_file_name(format!("{stem}.lock.json")))
}

/// Writes a lock file, with each definition on a line, unchanged.
pub(super) fn lock_text(schema: Option<&str>, servers: &BTreeMap<&str, Vec<&str>>) -> String {
    let schema = schema.map(|schema| format!("  \"$schema\": {},\n", json!(schema))).unwrap_or_default();
    let servers: Vec<String> = servers
        .iter()
        .map(|(name, tools)| {
            let tools: String = tools.iter().map(|tool| format!("\n        {tool}")).collect::<Vec<_>>().join(",");
            let end = if tools.is_empty() { "" } else { "\n      " };
            format!("    {}: {{\n      \"tools\": [{tools}{end}]\n    }}", json!(name))
        })
        .collect();
    format!("{{\n{schema}  \"servers\": {{\n{}\n  }}\n}}\n", servers.join(",\n"))
}

/// Replaces the whole file, or leaves it unchanged. Links and permissions stay.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let (target, permissions) = match fs::canonicalize(path) {
        Ok(target) => {
            let permissions = fs::metadata(&target)?.permissions();
            if permissions.readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            (target, Some(permissions))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
        Err(error) => return Err(error),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = new_file(folder)?;
    part.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        part.as_file().set_permissions(permissions)?;
    }
    // A full disk is detected here at the latest.
    part.as_file().sync_all()?;
    part.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a file that gets its name later. If it gets none, it is removed.
pub(super) fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".seamgate-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The permissions of any new file, which the umask restricts.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Returns the definitions by the names of their tools. As in the gate, the first definition of a name counts.
fn by_name(listed: &[Box<RawValue>]) -> BTreeMap<String, &RawValue> {
    let mut definitions = BTreeMap::new();
    for definition in listed {
        if let Some(name) = name_of(definition.get()) {
            definitions.entry(name).or_insert(&**definition);
        }
    }
    definitions
}

/// Describes the differences between two definitions, one per line.
fn compare(then: &RawValue, now: &RawValue) -> Vec<String> {
    if then.get() == now.get() {
        return Vec::new();
    }
    let parse = |definition: &RawValue| serde_json::from_str::<Value>(definition.get());
    let mut lines = Vec::new();
    match (parse(then), parse(now)) {
        (Ok(then), Ok(now)) => differences("", &normalized(then), &normalized(now), &mut lines),
        _ => lines.push("         it is nested too deeply to be compared, and has other bytes".to_owned()),
    }
    cut(&mut lines, MAX_LINES, "         ");
    lines
}

/// Describes the differences between two profiles, one per line. Their tools are compared by name.
pub fn profile_changes(then: &str, now: &str) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).map(with_tools_by_name);
    let mut lines = Vec::new();
    match (parse(then), parse(now)) {
        (Ok(then), Ok(now)) => differences("", &then, &now, &mut lines),
        _ => lines.push("         they cannot be compared".to_owned()),
    }
    cut(&mut lines, MAX_ALL_LINES, "         ");
    lines.into_iter().map(|line| line.trim_start().to_owned()).collect()
}

fn with_tools_by_name(mut profile: Value) -> Value {
    let text = |tool: &Value, member: &str| tool[member].as_str().unwrap_or_default().to_owned();
    if let Some(tools) = profile.get_mut("tools")
        && let Some(all) = tools.as_array()
    {
        let named = all.iter().map(|tool| (tool_name(&text(tool, "server"), &text(tool, "name")), tool.clone()));
        *tools = Value::Object(named.collect());
    }
    profile
}

/// Limits the number of lines, and adds the number of omitted ones.
fn cut(lines: &mut Vec<String>, limit: usize, indent: &str) {
    if lines.len() > limit {
        let more = lines.split_off(limit).len();
        lines.push(format!("{indent}… ({} more)", count(more, "line")));
    }
}

/// Returns a definition in which the lists in its schemas are sorted if their order has no meaning.
fn normalized(definition: Value) -> Value {
    let Value::Object(members) = definition else { return definition };
    let members = members.into_iter().map(|(name, value)| match SCHEMAS.contains(&name.as_str()) {
        true => (name, normalized_schema(value)),
        false => (name, value),
    });
    Value::Object(members.collect())
}

fn normalized_schema(schema: Value) -> Value {
    let each = |value: Value| match value {
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, normalized_schema(value))).collect(),
        other => other,
    };
    match schema {
        Value::Array(items) => items.into_iter().map(normalized_schema).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(keyword, value)| {
                let value = match keyword.as_str() {
                    "required" | "type" | "enum" => sorted(value),
                    "const" | "default" | "examples" => value,
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => each(value),
                    "dependentRequired" => sorted_each(value, sorted),
                    "dependencies" => sorted_each(value, |value| match value {
                        Value::Array(_) => sorted(value),
                        schema => normalized_schema(schema),
                    }),
                    _ => normalized_schema(value),
                };
                (keyword, value)
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn sorted_each(value: Value, change: impl Fn(Value) -> Value) -> Value {
    match value {
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, change(value))).collect(),
        other => other,
    }
}

/// Sorts an array by the texts of its items.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items) => {
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        other => other,
    }
}

/// Describes the differences between two values, one per line.
fn differences(path: &str, then: &Value, now: &Value, lines: &mut Vec<String>) {
    let place = || one_line(&truncate(path, MAX_PLACE));
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            for name in names {
                let path = format!("{path}/{}", escaped(name));
                let place = || one_line(&truncate(&path, MAX_PLACE));
                match (then.get(name), now.get(name)) {
                    (Some(then), Some(now)) => differences(&path, then, now, lines),
                    (Some(then), None) => lines.push(format!("         {}: was {}, and is gone", place(), short(then))),
                    (None, Some(now)) => lines.push(format!("         {}: new: {}", place(), short(now))),
                    (None, None) => {}
                }
            }
        }
        _ if then == now => {}
        _ => {
            let (then, now) = (then.to_string(), now.to_string());
            let (then, now) = (excerpt(&then, &now), excerpt(&now, &then));
            lines.push(format!("         {}: was {}", place(), one_line(&then)));
            lines.push(format!("         {}: is  {}", place(), one_line(&now)));
        }
    }
}

fn short(value: &Value) -> String {
    one_line(&truncate(&value.to_string(), MAX_SHOWN))
}

/// Returns the part of a long text around the place where it begins to differ from another.
fn excerpt<'t>(text: &'t str, other: &str) -> Cow<'t, str> {
    let shared = text.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let start = text.floor_char_boundary(shared.saturating_sub(BEFORE));
    match text.len() <= MAX_SHOWN || start == 0 {
        true => truncate(text, MAX_SHOWN).into(),
        false => format!("…{}", truncate(&text[start..], MAX_SHOWN)).into(),
    }
}

/// Returns whether a profile can name a tool (`tools` in `schemas/profile.schema.json`).
pub(crate) fn is_nameable(name: &str) -> bool {
    let is_known = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    (1..=128).contains(&name.len()) && name.chars().all(is_known) && !name.starts_with(['.', '-'])
}

/// Escapes untrusted text as one line.
fn one_line(text: &str) -> String {
    escape_terminal(&text.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(then: &Value, now: &Value) -> Vec<String> {
        let raw = |value: &Value| RawValue::from_string(value.to_string()).expect("JSON");
        compare(&raw(then), &raw(now))
    }

    #[test]
    fn order_of_sets_is_no_difference() {
        let definition = |first: &str, second: &str| {
            json!({ "name": "t", "inputSchema": {
                "type": ["object", first, second],
                "required": [first, second],
                "properties": {
                    "required": { "enum": [first, second, 1] },
                    "enum": { "items": { "anyOf": [{ "required": [first, second] }] } },
                },
                "dependentRequired": { "required": [first, second] },
                "dependencies": { "a": [first, second], "b": { "required": [first, second] } },
                "$defs": { "default": { "required": [first, second] } },
            } })
        };
        assert_eq!(lines(&definition("a", "b"), &definition("b", "a")), Vec::<String>::new());
    }

    #[test]
    fn order_of_data_and_of_other_lists_is_a_difference() {
        for keyword in ["default", "const", "examples", "prefixItems", "oneOf"] {
            let definition = |first: Value, second: Value| json!({ "inputSchema": { keyword: [first, second] } });
            let (one, other) = (json!({ "a": 1 }), json!({ "b": 1 }));
            let lines = lines(&definition(one.clone(), other.clone()), &definition(other, one));
            assert_eq!(lines.len(), 2, "{keyword}: {lines:?}");
        }
        let data = |first, second| json!({ "inputSchema": { "default": { "required": [first, second] } } });
        assert_eq!(lines(&data(1, 2), &data(2, 1)).len(), 2);
        let annotations = |first, second| json!({ "annotations": { "required": [first, second] } });
        assert_eq!(lines(&annotations(1, 2), &annotations(2, 1)).len(), 2);
    }

    #[test]
    fn difference_behind_a_long_common_beginning_is_shown() {
        let text = |end: &str| json!({ "description": format!("{}{end}", "x".repeat(5000)) });
        let lines = lines(&text("reads"), &text("reads, and deletes"));
        assert!(lines[1].contains("reads, and deletes") && lines[1].len() < 400, "{lines:?}");
    }

    #[test]
    fn lines_are_bounded_and_cannot_be_forged() {
        let many: Value = (0..5000).map(|number| (format!("m{number}"), json!(number))).collect::<Map<_, _>>().into();
        assert_eq!(lines(&json!({}), &many).len(), MAX_LINES + 1);
        let forged = lines(&json!({}), &json!({ "a\nnew      x\u{1b}[2K": "b\nchanged  y", "c".repeat(9999): 1 }));
        assert!(forged.iter().all(|line| line.len() < 1000 && !line.contains(['\n', '\u{1b}'])), "{forged:?}");
        assert_eq!(forged.len(), 2);
    }

    #[test]
    fn deep_definitions_are_compared_by_their_bytes() {
        let deep = |end: &str| {
            let text = format!("{}{end}{}", "[".repeat(500), "]".repeat(500));
            RawValue::from_string(text).expect("JSON")
        };
        assert!(compare(&deep("1"), &deep("1")).is_empty());
        assert_eq!(compare(&deep("1"), &deep("2")).len(), 1);
    }
}
