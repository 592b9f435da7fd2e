//! The entry of the hook in the settings of a harness. All other text of the file is unchanged.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

use seamgate_runner::{Error, Result};
use serde_json::{json, value::RawValue};

use crate::harness::Harness;

/// The time limit for a hook in the harness' settings, in seconds.
const TIMEOUT_S: u64 = 60;

/// The change to a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// The file is already as it should be.
    None,
    /// The file gets this text.
    Write(String),
    /// The file is removed.
    Remove,
}

/// The location of a harness' settings.
pub struct Place;

impl Place {
    /// Returns the settings file of a project.
    pub fn of(harness: Harness) -> PathBuf {
        PathBuf::from(match harness {
            Harness::Claude => ".claude/settings.json",
            Harness::Codex => ".codex/hooks.json",
            Harness::Gemini => ".gemini/settings.json",
            Harness::Copilot => ".github/hooks/seamgate.json",
            Harness::Opencode => ".opencode/plugins/seamgate.js",
        })
    }
}

/// Plans the change of the settings file of a harness, whose text is `text`, that adds or removes the hook. `command`
/// is the command of the hook with its arguments.
pub fn plan(harness: Harness, text: Option<&str>, command: &[String], is_installed: bool) -> Result<Change> {
    let whole = match harness {
        Harness::Copilot | Harness::Opencode => whole_file(harness, command),
        _ => return entries(harness, text, command, is_installed),
    };
    let is_own = text.is_none_or(|text| text.contains("seamgate"));
    if !is_own {
        return Err(Error::invalid("the file is not one that seamgate wrote: name another one with --file"));
    }
    Ok(match (is_installed, text) {
        (true, Some(text)) if text == whole => Change::None,
        (true, _) => Change::Write(whole),
        (false, Some(_)) => Change::Remove,
        (false, None) => Change::None,
    })
}

/// The events that a harness reports to the hook, each with the selector for all tools.
fn events(harness: Harness) -> &'static [(&'static str, Option<&'static str>)] {
    match harness {
        Harness::Claude => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", Some("*")),
            ("PostToolUse", Some("*")),
            ("PostToolUseFailure", Some("*")),
        ],
        Harness::Codex => {
            &[("SessionStart", None), ("UserPromptSubmit", None), ("PreToolUse", Some("")), ("PostToolUse", Some(""))]
        }
        Harness::Gemini => {
            &[("SessionStart", None), ("BeforeAgent", None), ("BeforeTool", Some(".*")), ("AfterTool", Some(".*"))]
        }
        Harness::Copilot => &[
            ("SessionStart", None),
            ("UserPromptSubmit", None),
            ("PreToolUse", None),
            ("PostToolUse", None),
            ("PostToolUseFailure", None),
        ],
        Harness::Opencode => &[],
    }
}

/// Returns the command in shell syntax. If it cannot be started, or fails, the harness denies the call.
fn shell(command: &[String]) -> String {
    let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let quoted = |word: &String| match is_plain(word) {
        true => word.clone(),
        false => seamgate_text::shell_word(Path::new(word)),
    };
    let words: Vec<String> = command.iter().map(quoted).collect();
    format!("{} || exit 2", words.join(" "))
}

/// Returns the text of a file that contains only the hook.
fn whole_file(harness: Harness, command: &[String]) -> String {
    if harness == Harness::Opencode {
        return include_str!("plugin.js").replace("COMMAND", &json!(command).to_string());
    }
    let hook = json!({"type": "command", "bash": shell(command), "timeoutSec": TIMEOUT_S});
    let events: Vec<String> =
        events(harness).iter().map(|(event, _)| format!("    {}: [{hook}]", json!(event))).collect();
    format!("{{\n  \"version\": 1,\n  \"hooks\": {{\n{}\n  }}\n}}\n", events.join(",\n"))
}

fn entry(harness: Harness, matcher: Option<&str>, command: &[String]) -> String {
    let timeout = if harness == Harness::Gemini { TIMEOUT_S * 1000 } else { TIMEOUT_S };
    let hook = json!({"type": "command", "command": shell(command), "timeout": timeout});
    match matcher {
        Some(matcher) => format!("{{\"matcher\":{},\"hooks\":[{hook}]}}", json!(matcher)),
        None => format!("{{\"hooks\":[{hook}]}}"),
    }
}

/// Adds the entries of the hook to a file, or removes them.
fn entries(harness: Harness, text: Option<&str>, command: &[String], is_installed: bool) -> Result<Change> {
    let before = text.unwrap_or_default();
    let mut now = if before.trim().is_empty() { "{}\n".to_owned() } else { before.to_owned() };
    check(&now)?;
    for (event, matcher) in events(harness) {
        let wanted = entry(harness, *matcher, command);
        let own = own_entries(&now, harness, event)?;
        if is_installed && own.len() == 1 && now[own[0].clone()] == wanted {
            continue;
        }
        for _ in 0..own.len() {
            if let Some(range) = own_entries(&now, harness, event)?.into_iter().next_back() {
                remove(&mut now, range);
            }
        }
        match is_installed {
            true => add(&mut now, event, &wanted)?,
            false if !own.is_empty() => tidy(&mut now, event)?,
            false => {}
        }
    }
    check(&now)?;
    let is_same = now == before || text.is_none() && !is_installed;
    Ok(if is_same { Change::None } else { Change::Write(now) })
}

fn check(text: &str) -> Result<()> {
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Error::caused("the file must be a JSON object without comments: add the hook by hand", error))
        }
    }
}

/// Returns the range of a part of a text.
fn place(text: &str, part: &str) -> Range<usize> {
    let begin = part.as_ptr() as usize - text.as_ptr() as usize;
    begin..begin + part.len()
}

/// Returns the ranges of the members of an object, by their names.
fn members(text: &str, object: Range<usize>) -> Result<BTreeMap<String, Range<usize>>> {
    let read: BTreeMap<String, &RawValue> = serde_json::from_str(&text[object])
        .map_err(|error| Error::caused("\"hooks\" must be an object of lists, as the harness has it", error))?;
    Ok(read.into_iter().map(|(name, value)| (name, place(text, value.get()))).collect())
}

fn items(text: &str, list: Range<usize>) -> Result<Vec<Range<usize>>> {
    let read: Vec<&RawValue> = serde_json::from_str(&text[list])
        .map_err(|error| Error::caused("\"hooks\" must be an object of lists, as the harness has it", error))?;
    Ok(read.into_iter().map(|value| place(text, value.get())).collect())
}

fn own_entries(text: &str, harness: Harness, event: &str) -> Result<Vec<Range<usize>>> {
    let Some(hooks) = members(text, 0..text.len())?.remove("hooks") else { return Ok(Vec::new()) };
    let Some(list) = members(text, hooks)?.remove(event) else { return Ok(Vec::new()) };
    let mark = format!(" hook {} ", harness.word());
    let is_own = |range: &Range<usize>| text[range.clone()].contains("seamgate") && text[range.clone()].contains(&mark);
    Ok(items(text, list)?.into_iter().filter(is_own).collect())
}

/// Removes an item or a member, and the comma beside it.
fn remove(text: &mut String, mut range: Range<usize>) {
    let before = text[..range.start].trim_end();
    let after = text[range.end..].trim_start();
    if before.ends_with(',') {
        range.start = before.len() - 1;
    } else if after.starts_with(',') {
        range.end = text.len() - after.len() + 1;
        // The next item takes its place.
        range.end += text[range.end..].len() - text[range.end..].trim_start().len();
    } else {
        range.start = before.len();
        range.end = text.len() - after.len();
    }
    text.replace_range(range, "");
}

/// Removes the empty list of an event, and an empty object of hooks.
fn tidy(text: &mut String, event: &str) -> Result<()> {
    for path in [&["hooks", event][..], &["hooks"][..]] {
        let mut object = 0..text.len();
        for (depth, name) in path.iter().enumerate() {
            let Some(value) = members(text, object.clone())?.remove(*name) else { return Ok(()) };
            if depth + 1 < path.len() {
                object = value;
                continue;
            }
            if !matches!(text[value.clone()].split_whitespace().collect::<String>().as_str(), "[]" | "{}") {
                return Ok(());
            }
            let begin = name_before(text, value.start);
            remove(text, begin..value.end);
        }
    }
    Ok(())
}

/// Returns the position of the name of a member whose value begins at a position. The name is the string before the
/// colon.
fn name_before(text: &str, value: usize) -> usize {
    let name = text[..value].trim_end().trim_end_matches(':').trim_end();
    // A quote in a name is escaped: an odd number of backslashes precedes it.
    let mut end = name.len() - 1;
    loop {
        let Some(begin) = name[..end].rfind('"') else { return value };
        let before = &name[..begin];
        if (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2) {
            return begin;
        }
        end = begin;
    }
}

fn add(text: &mut String, event: &str, entry: &str) -> Result<()> {
    let hooks = members(text, object_of(text))?.remove("hooks");
    let Some(hooks) = hooks else {
        let value = format!("{{\n    {}: [\n      {entry}\n    ]\n  }}", json!(event));
        let object = object_of(text);
        insert_member(text, object, "hooks", &value, "  ");
        return Ok(());
    };
    let Some(list) = members(text, hooks.clone())?.remove(event) else {
        insert_member(text, hooks, event, &format!("[\n      {entry}\n    ]"), "    ");
        return Ok(());
    };
    match items(text, list.clone())?.last() {
        Some(last) => text.insert_str(last.end, &format!(",\n      {entry}")),
        None => text.replace_range(list, &format!("[\n      {entry}\n    ]")),
    }
    Ok(())
}

/// Returns the range of the object that a text consists of.
fn object_of(text: &str) -> Range<usize> {
    let begin = text.len() - text.trim_start().len();
    begin..text.trim_end().len()
}

fn insert_member(text: &mut String, object: Range<usize>, name: &str, value: &str, indent: &str) {
    let inside = text[object.start + 1..object.end - 1].trim_end();
    let end = object.start + 1 + inside.len();
    let comma = if inside.trim().is_empty() { "" } else { "," };
    let member = format!("{comma}\n{indent}{}: {value}", json!(name));
    let is_closed_below = text[end..object.end - 1].contains('\n');
    // Text on a single line stays on one line, and is restored exactly when the member is removed.
    let member = if is_closed_below || !comma.is_empty() { member } else { format!("{member}\n{}", &indent[2..]) };
    text.insert_str(end, &member);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Vec<String> {
        ["seamgate", "hook", "claude", "-p", "/p/a b.profile.json"].map(str::to_owned).to_vec()
    }

    fn written(change: Change) -> String {
        match change {
            Change::Write(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn other_text_stays_and_comes_back_byte_for_byte() {
        let files = [
            "{}\n",
            "{ }",
            "{\n  \"model\": \"opus\",\n  \"n\": 1.50\n}\n",
            "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[]}]},\"z\":[1,\t2]}",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n",
        ];
        for harness in [Harness::Claude, Harness::Codex, Harness::Gemini] {
            let command: Vec<String> = command().iter().map(|word| word.replace("claude", harness.word())).collect();
            for file in files {
                let text = written(plan(harness, Some(file), &command, true).expect("a change"));
                let again = plan(harness, Some(&text), &command, true).expect("no change");
                assert_eq!(again, Change::None, "{text}");
                for line in file.lines().map(str::trim).filter(|line| line.len() > 3 && !line.ends_with(['"', '}'])) {
                    assert!(text.contains(line.trim_end_matches(['{', ' '])), "{line}\n{text}");
                }
                let back = plan(harness, Some(&text), &command, false).expect("a change");
                let back = written(back);
                let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
                assert_eq!(value(&back), value(file), "{back}");
                if file.len() > 4 {
                    assert_eq!(back, file);
                }
            }
        }
    }

    #[test]
    fn a_member_is_removed_with_its_own_name() {
        let entry = entry(Harness::Claude, None, &command());
        let name = r#""S\u0065ssionStart""#;
        for (before, after) in [
            (format!(r#"{{"a":"SessionStart","hooks":{{{name}:[{entry}]}},"z":1}}"#), r#"{"a":"SessionStart","z":1}"#),
            (
                format!(r#"{{"hooks":{{"Stop":["SessionStart"], {name} : [{entry}]}}}}"#),
                r#"{"hooks":{"Stop":["SessionStart"]}}"#,
            ),
        ] {
            let text = written(plan(Harness::Claude, Some(&before), &command(), false).expect("a change"));
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
            assert_eq!(value(&text), value(after), "{text}");
        }
    }

    #[test]
    fn another_profile_takes_the_place_of_the_first() {
        let text = written(plan(Harness::Claude, None, &command(), true).expect("a change"));
        let mut other = command();
        other[4] = "/p/b.profile.json".to_owned();
        let changed = written(plan(Harness::Claude, Some(&text), &other, true).expect("a change"));
        assert_eq!(changed.matches("b.profile.json").count(), text.matches("a b.profile.json").count());
        assert!(!changed.contains("a b.profile.json"));
        assert!(plan(Harness::Claude, Some("{ // no\n}"), &command(), true).is_err());
    }

    #[test]
    fn files_of_their_own_are_written_and_removed() {
        for harness in [Harness::Copilot, Harness::Opencode] {
            let text = written(plan(harness, None, &command(), true).expect("a change"));
            assert_eq!(plan(harness, Some(&text), &command(), true).expect("no change"), Change::None);
            assert_eq!(plan(harness, Some(&text), &command(), false).expect("a change"), Change::Remove);
            assert!(plan(harness, Some("other"), &command(), true).is_err());
        }
    }
}
