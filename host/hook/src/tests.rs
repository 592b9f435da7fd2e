//! Messages of hooks as harnesses send them, and the answers. Each file of `tests/hook` is a session. `BLESS=1` writes
//! the answers.

use std::{collections::BTreeMap, fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use crate::{Answer, Harness, Setting, respond};

#[derive(Serialize, Deserialize)]
struct Session {
    harness: String,
    messages: Vec<Exchange>,
}

#[derive(Serialize, Deserialize)]
struct Exchange {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Box<RawValue>>,
    /// Text that is sent in place of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The output of the hook. `null` if it prints nothing.
    #[serde(default)]
    answer: Value,
    /// The reason for the hook's failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/hook"))
}

fn setting(name: &str) -> Setting {
    let journal = std::env::temp_dir().join(format!("seamgate-hook-{}-{name}", std::process::id()));
    drop(fs::remove_dir_all(&journal));
    let path = folder().join("code.profile.json");
    Setting {
        profile: seamgate::read_profile(&path).expect("a profile"),
        path,
        journal,
        principal: "joe".to_owned(),
        lists: BTreeMap::new(),
        mode: None,
        is_synced: false,
        home: Some("/home/anna".to_owned()),
    }
}

fn bash(id: &str, command: &str) -> String {
    json!({
        "session_id": "s", "cwd": "/work/app", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_use_id": id, "tool_input": {"command": command}
    })
    .to_string()
}

fn decided(setting: &Setting, message: &str) -> String {
    let answer = respond(setting, Harness::Claude, message.as_bytes());
    let answer: Value = serde_json::from_str(&answer.output).expect("an answer");
    answer["hookSpecificOutput"]["permissionDecision"].as_str().expect("a decision").to_owned()
}

#[test]
fn recorded_sessions_are_answered_as_expected() {
    let mut sessions = 0;
    for entry in fs::read_dir(folder()).expect("cases") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".json").filter(|name| !name.contains('.')) else { continue };
        sessions += 1;
        let mut session: Session = serde_json::from_str(&fs::read_to_string(&path).expect("text"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let harness = Harness::ALL.into_iter().find(|harness| harness.word() == session.harness).expect("a harness");
        let setting = setting(name);
        for exchange in &mut session.messages {
            let input = exchange.message.as_ref().map(|message| message.get()).or(exchange.text.as_deref());
            let Answer { output, failure } = respond(&setting, harness, input.expect("a message").as_bytes());
            let answer = if output.is_empty() { Value::Null } else { serde_json::from_str(&output).expect("JSON") };
            if std::env::var_os("BLESS").is_some() {
                (exchange.answer, exchange.failure) = (answer, failure);
                continue;
            }
            assert_eq!(
                (&exchange.answer, &exchange.failure),
                (&answer, &failure),
                "{name}: {}",
                input.expect("a message")
            );
        }
        drop(fs::remove_dir_all(&setting.journal));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, serde_json::to_string_pretty(&session).expect("JSON") + "\n").expect("written");
        }
    }
    assert!(sessions >= 8);
}

/// Checks that a sensible profile allows most commands that developers run every day.
#[test]
fn ordinary_commands_are_mostly_allowed() {
    let setting = setting("ordinary");
    let (mut sum, mut lines) = (BTreeMap::<String, Vec<String>>::new(), 0);
    for line in fs::read_to_string(folder().join("ordinary.txt")).expect("text").lines() {
        lines += 1;
        sum.entry(decided(&setting, &bash(&lines.to_string(), line))).or_default().push(line.to_owned());
    }
    drop(fs::remove_dir_all(&setting.journal));
    let count = |word: &str| sum.get(word).map_or(0, Vec::len);
    println!("{lines} commands: {} allow, {} ask, {} deny", count("allow"), count("ask"), count("deny"));
    println!("ask: {:#?}\ndeny: {:#?}", sum.get("ask"), sum.get("deny"));
    assert!(count("allow") * 100 >= lines * 80, "{sum:#?}");
}

#[test]
fn damaged_snapshots_are_replaced_and_damaged_journals_deny() {
    let setting = setting("damage");
    assert_eq!(decided(&setting, &bash("1", "ls")), "allow");
    let session = setting.journal.join("claude-s");
    let run = fs::read_dir(&session).expect("a session").flatten().map(|entry| entry.path()).find(|path| path.is_dir());
    let run = run.expect("a run");
    let snapshot = fs::read_to_string(run.join("hook.json")).expect("a snapshot");
    for damaged in ["", "{}", "{\"position\":\"1 2 3\",\"run\":\"\"}"] {
        fs::write(run.join("hook.json"), damaged).expect("written");
        assert_eq!(decided(&setting, &bash(&format!("2{}", damaged.len()), "ls")), "allow");
    }
    // An older snapshot is behind the journal.
    fs::write(run.join("hook.json"), snapshot).expect("written");
    assert_eq!(decided(&setting, &bash("3", "ls")), "allow");
    fs::remove_file(run.join("hook.json")).expect("removed");
    let journal = fs::read_to_string(run.join("journal.ndjson")).expect("a journal");
    fs::write(run.join("journal.ndjson"), journal.replacen("\"Bash\"", "\"Dash\"", 1)).expect("written");
    assert_eq!(decided(&setting, &bash("4", "ls")), "deny");
    drop(fs::remove_dir_all(&setting.journal));
}

#[test]
fn labels_outlast_an_edit_of_the_profile() {
    let call = |event: &str, id: &str, more: Value| {
        let mut message = json!({
            "session_id": "s", "cwd": "/work/app", "hook_event_name": event, "tool_name": "WebFetch",
            "tool_use_id": id, "tool_input": {"url": "https://example.com"}
        });
        message["tool_response"] = more;
        message.to_string()
    };
    type Damage = fn(&Path);
    let damages: [(&str, Damage, &str); 6] = [
        ("none", |_| {}, "ask"),
        ("no snapshot", |run| fs::remove_file(run.join("hook.json")).expect("removed"), "ask"),
        ("empty snapshot", |run| fs::write(run.join("hook.json"), "").expect("written"), "ask"),
        (
            "other snapshot",
            |run| fs::write(run.join("hook.json"), r#"{"position":"1 2 3","run":"{}"}"#).expect("written"),
            "ask",
        ),
        ("old snapshot", |run| fs::rename(run.join("hook.json.old"), run.join("hook.json")).expect("renamed"), "ask"),
        (
            "no snapshot and a damaged journal",
            |run| {
                fs::remove_file(run.join("hook.json")).expect("removed");
                let journal = fs::read_to_string(run.join("journal.ndjson")).expect("a journal");
                fs::write(run.join("journal.ndjson"), journal.replacen("WebFetch", "WebFetsh", 1)).expect("written");
            },
            "deny",
        ),
    ];
    for (name, damage, expected) in damages {
        let mut setting = setting(&format!("edit-{}", name.replace(' ', "-")));
        assert_eq!(decided(&setting, &call("PreToolUse", "1", Value::Null)), "allow");
        let session = setting.journal.join("claude-s");
        let mut entries = fs::read_dir(&session).expect("a session").flatten().map(|entry| entry.path());
        let run = entries.find(|path| path.is_dir()).expect("a run");
        fs::copy(run.join("hook.json"), run.join("hook.json.old")).expect("copied");
        respond(&setting, Harness::Claude, call("PostToolUse", "1", json!("text")).as_bytes());
        damage(&run);
        setting.profile = setting.profile.replace("1.0.0", "1.0.1");
        assert_eq!(decided(&setting, &call("PreToolUse", "2", Value::Null)), expected, "{name}");
        drop(fs::remove_dir_all(&setting.journal));
    }
}

/// Data that one session stores keeps its labels when another session reads it.
#[test]
fn labels_of_stores_outlast_a_session() {
    let mut setting = setting("stores");
    setting.profile = json!({
        "agent": "code",
        "tools": [
            {"name": "WebFetch", "effect": "read", "permit": "allow", "result": {"labels": ["untrusted"]}},
            {"name": "Write", "effect": "idempotent", "permit": "allow", "result": {"labels": []},
             "store": {"name": "files", "key": "$.file_path"}},
            {"name": "Read", "effect": "read", "permit": "allow", "result": {"labels": []},
             "store": {"name": "files", "key": "$.file_path"}},
            {"name": "Bash", "effect": "effectful", "permit": "allow", "result": {"labels": []}},
            {"name": "other", "server": "shell", "effect": "effectful", "permit": "allow", "result": {"labels": []}}
        ],
        "flows": [{"after": "untrusted", "to": "effectful", "then": "deny"}]
    })
    .to_string();
    let call = |session: &str, event: &str, id: &str, tool: &str, path: &str| {
        json!({
            "session_id": session, "cwd": "/work/app", "hook_event_name": event, "tool_name": tool,
            "tool_use_id": id, "tool_input": {"file_path": path}, "tool_response": "text"
        })
        .to_string()
    };
    let make = |setting: &Setting, session: &str, id: &str, tool: &str, path: &str| {
        assert_eq!(decided(setting, &call(session, "PreToolUse", id, tool, path)), "allow", "{session} {id}");
        let answer = respond(setting, Harness::Claude, call(session, "PostToolUse", id, tool, path).as_bytes());
        assert_eq!(answer.failure, None, "{session} {id}");
    };
    let may_act = |setting: &Setting, session: &str, id: &str| {
        decided(setting, &bash(id, "make").replace(r#""session_id":"s""#, &format!(r#""session_id":"{session}""#)))
    };
    make(&setting, "one", "1", "Write", "/work/app/clean.md");
    make(&setting, "one", "2", "WebFetch", "");
    make(&setting, "one", "3", "Write", "/work/app/notes.md");
    make(&setting, "two", "1", "Read", "/work/app/clean.md");
    assert_eq!(may_act(&setting, "two", "2"), "allow");
    make(&setting, "two", "3", "Read", "notes.md");
    assert_eq!(may_act(&setting, "two", "4"), "deny");
    fs::write(setting.journal.join("stores.ndjson"), "{}\n").expect("written");
    assert_eq!(may_act(&setting, "three", "1"), "deny");
    drop(fs::remove_dir_all(&setting.journal));
}
