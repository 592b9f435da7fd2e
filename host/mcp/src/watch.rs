//! Watches the profile of a session for edits.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use seamgate::{Json, read_profile};
use serde_json::Value;

use crate::pins::lock_path;

/// How long an unreadable file must stay unchanged before it counts as invalid, in milliseconds, because editors write
/// in pieces.
const SETTLED_MS: u64 = 1000;

/// A profile and its lock file, as they were when they were last read.
pub(crate) struct Watch {
    path: PathBuf,
    lock: Option<PathBuf>,
    stamps: [Option<Stamp>; 2],
    /// The time when an unreadable file was first noticed.
    invalid_since: Option<u64>,
    /// The profile that a person accepted last, and the one that was read last.
    accepted: Value,
    profile: Value,
}

/// The size of a file and the time of its last change.
type Stamp = (u64, SystemTime);

/// A profile that differs from the one that was read before.
pub(crate) struct Edit {
    /// The complete text.
    pub(crate) text: String,
    /// The part that affects the judgment of calls: everything except the definitions of tools.
    pub(crate) rules: Json,
    /// `false` if the profile is known to allow no more than the one that a person accepted last.
    pub(crate) may_allow_more: bool,
}

impl Watch {
    /// Watches the profile at `path`, whose complete text is `text`. Returns `None` if it is not a regular file,
    /// because a pipe can be read only once.
    pub(crate) fn new(path: &Path, text: &str) -> Option<Self> {
        let profile: Value = serde_json::from_str(text).ok()?;
        // Without stamps, the first check reads the files, because they may have changed since the text was read.
        let lock = lock_path(path);
        path.is_file().then(|| Watch {
            path: path.to_owned(),
            lock,
            stamps: [None, None],
            invalid_since: None,
            accepted: profile.clone(),
            profile,
        })
    }

    /// Records that a person has accepted the profile that was read last.
    pub(crate) fn accept(&mut self) {
        self.accepted = self.profile.clone();
    }

    /// Checks the files. Returns the profile if it has changed. Returns an error once if it cannot be read.
    pub(crate) fn look(&mut self, now: u64) -> Option<Result<Edit, String>> {
        let stamps = [Some(&self.path), self.lock.as_ref()].map(|path| path.and_then(|path| stamp(path)));
        // A profile that was removed stays in force.
        if stamps[0].is_none() || (stamps == self.stamps && self.invalid_since.is_none()) {
            return None;
        }
        let is_settled = stamps == self.stamps && self.invalid_since.is_none_or(|since| now >= since + SETTLED_MS);
        self.stamps = stamps;
        let read = read_profile(&self.path).map_err(|error| error.to_string());
        let edited = read.and_then(|text| match serde_json::from_str::<Value>(&text) {
            Ok(profile) => Ok((text, profile)),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        });
        match edited {
            Err(why) if is_settled => {
                self.invalid_since = None;
                Some(Err(why))
            }
            Err(_) => {
                self.invalid_since.get_or_insert(now);
                None
            }
            Ok((text, profile)) => {
                self.invalid_since = None;
                let before = std::mem::replace(&mut self.profile, profile);
                (judging(&before) != judging(&self.profile)).then(|| self.edit(text))
            }
        }
    }

    fn edit(&self, text: String) -> Result<Edit, String> {
        let mut rules = judging(&self.profile);
        let tools = rules.get_mut("tools").and_then(Value::as_array_mut);
        for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
            tool.remove("definition");
        }
        let rules = Json::parse(rules.to_string()).map_err(|error| error.to_string())?;
        Ok(Edit { text, rules, may_allow_more: !allows_no_more(&self.accepted, &self.profile) })
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let about = fs::metadata(path).ok()?;
    Some((about.len(), about.modified().ok()?))
}

/// Returns a profile without the parts that do not affect the judgment of calls.
fn judging(profile: &Value) -> Value {
    let mut judging = without_comments(profile);
    if let Some(members) = judging.as_object_mut() {
        members.retain(|name, _| !matches!(name.as_str(), "$schema" | "version" | "description"));
    }
    judging
}

fn without_comments(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "$comment");
            Value::Object(members.map(|(name, value)| (name.clone(), without_comments(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_comments).collect()),
        _ => value.clone(),
    }
}

/// Returns whether an edit only removes or denies tools, or adds rules of `deny`.
fn allows_no_more(before: &Value, after: &Value) -> bool {
    let (before, after) = (judging(before), judging(after));
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else { return false };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut tools = list(before.get("tools"));
    let mut denied = tools.clone();
    for tool in denied.iter_mut().filter_map(Value::as_object_mut) {
        tool.insert("permit".to_owned(), "deny".into());
    }
    tools.extend(denied);
    let denials = list(after.get("deny"));
    let other = |name: &String| !matches!(name.as_str(), "tools" | "deny");
    list(after.get("tools")).iter().all(|tool| tools.contains(tool))
        && list(before.get("deny")).iter().all(|rule| denials.contains(rule))
        && before.keys().chain(after.keys()).filter(|name| other(name)).all(|name| before.get(name) == after.get(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_removed_and_denied_tools_and_new_denials_allow_no_more() {
        let tool = |name: &str, permit: &str| json!({"name": name, "effect": "read", "permit": permit});
        let profile = |tools: Value, deny: Value| json!({"agent": "a", "tools": tools, "deny": deny});
        let before = profile(json!([tool("a", "allow"), tool("b", "allow")]), json!([]));
        let rule = json!({"tool": "a", "path": "/x"});
        for (after, is_narrower) in [
            (profile(json!([tool("a", "allow")]), json!([])), true),
            (profile(json!([tool("b", "deny"), tool("a", "allow")]), json!([])), true),
            (profile(json!([tool("a", "allow"), tool("b", "allow")]), json!([rule])), true),
            (json!({"$comment": "c", "agent": "a", "tools": [], "deny": []}), true),
            (profile(json!([tool("a", "allow"), tool("b", "allow"), tool("c", "allow")]), json!([])), false),
            (json!({"agent": "a", "tools": [], "deny": [], "budget": {"tool_calls": 1}}), false),
        ] {
            assert_eq!(allows_no_more(&before, &after), is_narrower, "{after}");
        }
        let denied = profile(json!([tool("a", "deny")]), json!([rule]));
        assert!(!allows_no_more(&denied, &profile(json!([tool("a", "allow")]), json!([rule]))));
        assert!(!allows_no_more(&denied, &profile(json!([tool("a", "deny")]), json!([]))));
    }

    #[test]
    fn edits_are_seen_once_and_comments_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.profile.json");
        let write = |text: &str| fs::write(&path, text).expect("written");
        let first = r#"{"agent":"a","tools":[{"name":"x","effect":"read","permit":"allow"}]}"#;
        write(first);
        let mut watch = Watch::new(&path, first).expect("a file");
        assert!(watch.look(0).is_none());
        write(&first.replacen('{', r#"{"$comment":"why","#, 1));
        assert!(watch.look(1).is_none());
        write(&first.replace("allow", "deny"));
        let edit = watch.look(2).expect("an edit").expect("a profile");
        assert!(!edit.may_allow_more && edit.rules.as_str().contains("deny"));
        assert!(watch.look(3).is_none());
        for (number, other) in ["[]", "1", r#"{"tools":[1]}"#].into_iter().enumerate() {
            write(other);
            assert!(watch.look(3).is_some_and(|edit| edit.is_ok_and(|edit| edit.may_allow_more)), "{number}");
        }
        write("{");
        assert!(watch.look(4).is_none() && watch.look(5).is_none());
        assert!(watch.look(4 + SETTLED_MS).expect("settled").is_err());
        assert!(watch.look(9999).is_none());
        write(first);
        assert!(!watch.look(10_000).expect("an edit").expect("a profile").may_allow_more, "it is the accepted one");
        write(&first.replace("read", "effectful"));
        assert!(watch.look(10_001).expect("an edit").expect("a profile").may_allow_more);
    }
}
