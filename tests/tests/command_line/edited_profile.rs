//! A profile that is edited while `seamgate mcp` runs: new denials apply immediately, and new permissions apply after
//! `seamgate mcp accept`.
#![cfg(unix)]

use std::fs;

use crate::served::Served;

/// Two tools, which report that they ran.
const TOOLS: &str = r#"
TOOLS = ["look", "act"]
def call(name, a): return dict(type="text", text="ran " + name)
"#;

fn profile([look, act]: [&str; 2], more: &str) -> String {
    format!(
        r#"{{"agent": "x", "tools": [
            {{"name": "look", "effect": "read", "permit": "{look}"}},
            {{"name": "act", "effect": "read", "permit": "{act}"}}
        ]}}{more}"#
    )
}

fn start(name: &str, permits: [&str; 2]) -> Served {
    Served::start(name, TOOLS, &profile(permits, ""))
}

fn edit(served: &Served, permits: [&str; 2], more: &str) {
    fs::write(served.folder.join("x.profile.json"), profile(permits, more)).expect("a file");
}

#[test]
fn what_an_edit_forbids_is_denied_at_once_and_what_it_allows_waits_for_a_person() {
    let mut served = start("both", ["allow", "deny"]);
    assert_eq!(served.tools(), ["look"]);
    assert_eq!(served.call("look"), "ran look");

    edit(&served, ["deny", "allow"], "");
    assert_eq!(served.call("look"), "Unknown tool: look");
    assert_eq!(served.call("act"), "Unknown tool: act");
    assert_eq!(served.tools(), Vec::<String>::new());
    assert!(served.said().contains("to let it allow more, if it does: seamgate mcp accept runs/"), "{}", served.said());

    let undecided = served.accept(&[]);
    let told = String::from_utf8_lossy(&undecided.stderr).into_owned();
    assert!(undecided.status.code() == Some(2) && told.contains("accept with --yes"), "{told}");
    let accepted = served.accept(&["--yes"]);
    let shown = String::from_utf8_lossy(&accepted.stdout).into_owned();
    assert!(accepted.status.success(), "{accepted:?}");
    for line in [r#"/tools/look/permit: was "allow""#, r#"/tools/act/permit: is  "allow""#] {
        assert!(shown.contains(line), "{shown}");
    }
    served.wait_for("is accepted; the session goes on in runs/");
    assert_eq!(served.tools(), ["act"]);
    assert_eq!(served.call("act"), "ran act");
    assert_eq!(served.runs(), 2);
    let nothing = served.accept(&["--yes"]);
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("as the run began with it"), "{nothing:?}");
    served.end();
}

#[test]
fn a_word_for_one_text_accepts_no_other() {
    let mut served = start("other-text", ["allow", "deny"]);
    edit(&served, ["allow", "allow"], " ");
    assert_eq!(served.call("act"), "Unknown tool: act");
    assert!(served.accept(&["--yes"]).status.success());
    // The gate either applies the acceptance before it sees the edit, or rejects it because the text is different. In
    // both cases, `look` stays denied.
    edit(&served, ["deny", "allow"], "  ");
    assert_eq!(served.call("look"), "Unknown tool: look");
    served.end();
}

#[test]
fn white_space_changes_nothing_and_an_invalid_edit_leaves_the_profile_before() {
    let mut served = start("invalid", ["allow", "deny"]);
    assert_eq!(served.call("look"), "ran look");
    edit(&served, ["allow", "deny"], "\n");
    assert_eq!(served.call("look"), "ran look");
    assert!(!served.said().contains("was edited"), "{}", served.said());
    edit(&served, ["allow", "deny"], "}");
    served.wait_for("the profile before the edit holds");
    assert_eq!(served.call("look"), "ran look");
    edit(&served, ["sometimes", "deny"], "");
    served.wait_for("$.tools[0].permit must be");
    assert_eq!(served.call("look"), "ran look");
    served.end();
}
