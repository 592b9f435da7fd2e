//! `seamgate trace` and `seamgate why`. The runs of `tests/runs` are recorded in folders, and checked as a person, a
//! browser, a collector and a script see them. The expected text and OTLP are in `tests/trace`. `cargo xtask bless`
//! writes them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use seamgate::{FileJournal, Gate, Run};
use seamgate_kernel::Profile;
use seamgate_tests::{
    runs::{RunCase, run_cases},
    suite::expect,
};
use serde_json::{Value, json};

/// Runs the binary of this build, which is beside the folder of the tests.
fn seamgate(arguments: &[&str]) -> Output {
    let test = std::env::current_exe().expect("this test");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    let mut command = Command::new(folder.join("seamgate"));
    command.args(arguments).current_dir(traces()).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache);
    command.output().expect("seamgate, built by `cargo xtask build`")
}

/// Returns the folder of the recorded runs. The runs stay there until the next test run, for inspection.
fn traces() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace");
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns an empty folder for one run.
fn fresh(name: &str) -> PathBuf {
    let folder = traces().join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn case(name: &str) -> RunCase {
    run_cases().expect("cases").into_iter().find(|case| case.name == name).expect("a case of this name")
}

/// Records a case in a folder. Writes the profile beside the journal; `agent.json` names it.
fn play(case: &RunCase, folder: &Path) {
    let profile = Profile::compile(&case.profile).unwrap_or_else(|fault| panic!("{}", fault.message));
    let played = case
        .play(|state, event| seamgate_kernel::advance(&profile, state, event).map_err(|fault| fault.to_json()))
        .expect("played");
    let mut gate = Gate::new().expect("a gate");
    let agent = gate.register_profile(&case.profile).expect("a profile").agent;
    let mut run: Option<Run<'_, FileJournal>> = None;
    for one in played {
        match &mut run {
            Some(run) => drop(run.send_json(&one.event).expect("a step")),
            None => {
                let journal = FileJournal::create(folder).expect("a journal");
                run = Some(Run::start_json(&gate, journal, &agent, &one.event).expect("started").0);
            }
        }
    }
    fs::write(folder.join("agent.json"), r#"{"profiles": ["agent.profile.json"]}"#).expect("written");
    fs::write(folder.join("agent.profile.json"), &case.profile).expect("written");
}

fn played(name: &str, folder: &str) -> PathBuf {
    let folder = fresh(folder);
    play(&case(name), &folder);
    folder
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn is_status(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}\n{}", out(output), err(output));
}

/// Returns a run whose folder contains a child.
fn with_child(name: &str) -> PathBuf {
    let folder = played("delegation/packet", name);
    let lines = fs::read_to_string(folder.join("journal.ndjson")).expect("a journal");
    let delegate = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|line| {
        let action = line.get("action")?;
        (action["type"] == "delegate").then(|| action.clone())
    });
    let delegate = delegate.expect("a delegate");
    let mut child = case("child/answer");
    child.events[0]["run"] = delegate["run"].clone();
    // The times are after the start of the child and before its end.
    for (at, event) in (1_790_000_002_100_u64..).step_by(100).zip(&mut child.events) {
        event["at"] = at.into();
    }
    let call = delegate["call"].as_str().expect("a key");
    play(&child, &folder.join("children").join(call));
    folder
}

/// Returns a text for a file of expected output. Replaces the component's digest, which changes with each build of the
/// component, and the path of the runs.
fn without_component(text: &str) -> String {
    let component = Gate::new().expect("a gate").component().digest().to_owned();
    text.replace(&component, "COMPONENT").replace(traces().to_str().expect("UTF-8"), "RUNS")
}

fn golden(file: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("trace");
    if let Err(error) = expect(&folder, file, "-", &without_component(text)) {
        panic!("{error:#}");
    }
}

#[test]
fn a_run_with_a_child_reads_as_expected() {
    let family = with_child("family");
    let text = seamgate(&["trace", family.to_str().expect("UTF-8")]);
    is_status(&text, 0);
    golden("family.txt", &out(&text));
}

#[test]
fn a_folder_of_runs_has_a_line_for_each() {
    let folder = fresh("several");
    for (name, of) in [("a run", "projections/run"), ("b", "gate/approved")] {
        play(&case(of), &folder.join(name));
    }
    fs::create_dir_all(folder.join("c")).expect("a folder");
    fs::write(folder.join("c/journal.ndjson"), "nothing").expect("a journal");
    let output = seamgate(&["trace", &folder.display().to_string()]);
    is_status(&output, 5);
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].contains("a run'") && lines[1].contains("/b  "), "{text}");
    assert!(lines[..2].iter().all(|line| line.contains(": final: ") || line.contains(" steps, ")), "{text}");
    assert!(err(&output).contains("/c"), "{}", err(&output));
}

#[test]
fn calls_of_a_client_show_what_it_got() {
    for (name, said, got) in [
        (
            "client-changed",
            "key AKIAIOSFODNN7EXAMPLQ",
            ["key [redacted:aws_key]", "secrets redacted (aws_key: 1)", "at /content/0/text", "\"changed\""],
        ),
        (
            "client-unchanged",
            "scaled <b>",
            ["scaled", "none: the server said the same", "the client got", "\"unchanged\""],
        ),
    ] {
        let mut case = case("gate/approved");
        let result = case.events.iter_mut().find(|event| event["type"] == "tool_result").expect("a result");
        result["returned"] = json!({ "content": [{ "type": "text", "text": said }] });
        result.as_object_mut().expect("an event").remove("text");
        case.events.push(json!({ "type": "call", "tool": "drop_table", "arguments": {} }));
        case.events.push(json!({ "type": "call", "tool": "none", "arguments": {} }));
        let folder = fresh(name);
        play(&case, &folder);
        let text = seamgate(&["trace", name]);
        is_status(&text, 0);
        let [file, spans] = ["html", "otlp"].map(|kind| format!("{name}.{kind}"));
        is_status(&seamgate(&["trace", name, "--html", &file, "--otlp", &spans]), 0);
        let [file, spans] = [file, spans].map(|file| fs::read_to_string(traces().join(file)).expect("a file"));
        let page = page::read(&file).text;
        for (read, what) in [(out(&text), "text"), (page, "page")] {
            for expected in &got[..3] {
                assert!(read.contains(expected), "{what}: {expected}: {read}");
            }
            for denied in ["Call denied: \"db/drop_table\" is never permitted. Allowed tools: …", "Unknown tool: none"]
            {
                assert!(read.contains(denied), "{what}: {denied}: {read}");
            }
        }
        assert!(spans.contains(got[3]) && !spans.contains("EXAMPL") && !spans.contains("scaled"), "{spans}");
    }
}

#[test]
fn calls_say_what_became_of_them() {
    let expired = "expired, 2026-09-21T14:14:21.000Z: nobody decided in time";
    let cases = [
        (
            "approved",
            "approved by ben, 2026-09-21T14:13:22.000Z; ended with a result of 6 bytes, 2026-09-21T14:13:24.000Z",
        ),
        ("rejected", "rejected by ben, 2026-09-21T14:13:22.000Z"),
        ("lapsed", expired),
        ("cancelled-ask", "cancelled by the client, before anybody decided, 2026-09-21T14:13:22.000Z"),
        ("cancelled", "cancelled, 2026-09-21T14:13:24.000Z: the run ended before anybody decided"),
        ("denied", "denied, 2026-09-21T14:13:21.000Z: \"db/drop_table\" is never permitted"),
        ("call", "ended with a result of "),
    ];
    let ask = |folder: &str, key: &[&str]| {
        let output = seamgate(&[&["approve", folder], key].concat());
        is_status(&output, 2);
        err(&output)
    };
    for (name, expected) in cases {
        let folder = format!("outcome-{name}");
        fs::remove_file(played(&format!("gate/{name}"), &folder).join("agent.json")).expect("removed");
        let said = ask(&folder, &["c1"]);
        let first = format!("seamgate: {folder}: no call c1 waits for approval\n  c1 ");
        assert!(said.starts_with(&first) && said.contains(&format!(" of {folder}: {expected}")), "{said}");
        // Without a key, the command reports only calls that required approval.
        let was_asked = !matches!(name, "denied" | "call");
        assert_eq!(ask(&folder, &[]).contains(expected), was_asked, "{name}");
        let unknown = ask(&folder, &["c99"]);
        assert!(unknown.contains(&format!("\n  the last calls of {folder} are c1")), "{unknown}");
    }
    // A truncated journal: one call expired without a decision, and one is under way.
    let folder = played("gate/cancelled", "outcome-cut");
    fs::remove_file(folder.join("agent.json")).expect("removed");
    let journal = folder.join("journal.ndjson");
    let lines = fs::read_to_string(&journal).expect("a journal");
    let end = lines.find("\"type\":\"cancelled\"").expect("an end");
    fs::write(&journal, &lines[..lines[..end].rfind('\n').expect("a line") + 1]).expect("written");
    assert!(ask("outcome-cut", &["c1"]).contains(expired));
    assert!(ask("outcome-cut", &["c2"]).contains("under way since 2026-09-21T14:13:23.000Z"));
    // The command searches all sessions in a folder.
    let sessions = fresh("outcomes");
    for name in ["approved", "rejected"] {
        fs::remove_file(played(&format!("gate/{name}"), &format!("outcomes/{name}")).join("agent.json"))
            .expect("removed");
    }
    assert!(sessions.is_dir());
    let said = ask("outcomes", &["c1"]);
    assert!(
        said.contains("of outcomes/approved: approved by ben")
            && said.contains("of outcomes/rejected: rejected by ben"),
        "{said}"
    );
}

#[test]
fn a_claim_is_followed_back_to_the_prompt() {
    played("projections/run", "why");
    let why = |claim: &str| seamgate(&["why", "why", claim]);
    let by_index = why("0");
    is_status(&by_index, 0);
    golden("why.txt", &out(&by_index));
    for same in ["/claims/0", "/claims/0/text", "timed out after"] {
        assert_eq!(out(&why(same)), out(&by_index), "{same}");
    }
    for none in ["1", "/claims", "/claims/1", "Which region?"] {
        let none = why(none);
        is_status(&none, 2);
        assert!(err(&none).contains("/claims/0 The database"), "{}", err(&none));
    }
    // The command must know the place of the claims.
    fs::remove_file(traces().join("why/agent.json")).expect("removed");
    let none = why("0");
    is_status(&none, 2);
    assert!(err(&none).contains("-p PROFILE"), "{}", err(&none));
    is_status(&seamgate(&["why", "why", "0", "-p", "why/agent.profile.json"]), 0);
}

#[test]
fn spans_have_the_names_of_the_conventions_and_nothing_that_was_said() {
    let family = with_child("spans");
    let otlp = |name: &str| {
        let file = traces().join(name);
        is_status(&seamgate(&["trace", "spans", "--otlp", file.to_str().expect("UTF-8")]), 0);
        fs::read_to_string(file).expect("spans")
    };
    let text = otlp("spans.json");
    assert_eq!(text, otlp("spans-again.json"), "ids follow from the run");
    let request: Value = serde_json::from_str(&text).expect("JSON");
    golden("family.otlp.json", &format!("{}\n", serde_json::to_string_pretty(&request).expect("JSON")));
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans");
    let ids: Vec<&Value> = spans.iter().map(|span| &span["spanId"]).collect();
    for (index, span) in spans.iter().enumerate() {
        assert_eq!(span["traceId"], spans[0]["traceId"]);
        assert!(!ids[..index].contains(&&span["spanId"]), "{span}");
        let is_root = span["parentSpanId"].is_null();
        assert!(is_root || ids.contains(&&span["parentSpanId"]), "{span}");
    }
    assert_eq!(spans.iter().filter(|span| span["parentSpanId"].is_null()).count(), 1);
    let journal = fs::read_to_string(family.join("journal.ndjson")).expect("a journal");
    for said in ["payment-api", "DB timeout", "last ten minutes", "You find the cause"] {
        assert!(!text.contains(said), "{said}");
        assert!(journal.contains(said) || said.starts_with("DB") || said.starts_with("You"), "{said}");
    }
}

/// Rewrites the lines of a journal with changed values, and recomputes the chain. The result looks like the journal of
/// a real run.
fn rewrite(folder: &Path, edit: impl Fn(&str, &mut Value)) {
    let path = folder.join("journal.ndjson");
    let lines = fs::read_to_string(&path).expect("a journal");
    let (mut text, mut before) = (String::new(), String::new());
    for (n, line) in lines.lines().enumerate() {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        for kind in ["run", "event", "record", "action", "state"] {
            if let Some(value) = line.get_mut(kind) {
                edit(kind, value);
                let line = format!(r#"{{"n":{n},"before":"{before}","{kind}":{value}}}"#);
                before = seamgate::digest(line.as_bytes());
                text.push_str(&line);
                text.push('\n');
            }
        }
    }
    fs::write(&path, text).expect("written");
}

#[test]
fn the_chain_of_a_claim_breaks_where_it_breaks() {
    let why = |name: &str, edit: &dyn Fn(&str, &mut Value)| {
        let folder = played("projections/run", name);
        rewrite(&folder, edit);
        let why = seamgate(&["why", name, "0"]);
        (why.status.code(), out(&why))
    };
    let claim = |value: &mut Value, evidence: Value| {
        if value["type"] == "finish" {
            value["document"]["claims"][0]["evidence"] = evidence;
        }
    };
    assert_eq!(why("break-none", &|_, _| {}).0, Some(0));
    let (status, text) = why("break-nothing", &|_, value| claim(value, json!([])));
    assert!(status == Some(1) && text.contains("BREAKS: the claim cites nothing"), "{text}");
    let (status, text) = why("break-id", &|_, value| claim(value, json!(["search_logs#c9"])));
    assert!(status == Some(1) && text.contains("BREAKS: this run has no such observation"), "{text}");
    let (status, text) = why("break-result", &|_, value| {
        if value["type"] == "tool_result" && value["call"] == "c1" {
            value["result"] = json!({"lines": []});
        }
    });
    assert!(status == Some(1) && text.contains("BREAKS: the journal does not have the whole result"), "{text}");
    let (status, text) = why("break-read", &|_, value| {
        if value["type"] == "observation" {
            value["message"] = "Something else.".into();
        }
    });
    assert!(status == Some(1) && text.contains("BREAKS: no prompt has the observation"), "{text}");
    let (status, text) = why("break-decision", &|_, value| {
        if value["type"] == "decision" {
            value["call"] = "c7".into();
        }
    });
    assert!(status == Some(1) && text.contains("BREAKS: the journal has no decision"), "{text}");
}

#[test]
fn what_is_damaged_is_named_and_all_before_it_is_shown() {
    let whole = played("projections/run", "damage");
    let lines = fs::read_to_string(whole.join("journal.ndjson")).expect("a journal");
    let path = whole.join("journal.ndjson");
    let trace = |text: &str| {
        fs::write(&path, text).expect("written");
        let trace = seamgate(&["trace", "damage"]);
        is_status(&trace, 5);
        let page = traces().join("damage.html");
        is_status(&seamgate(&["trace", "damage", "--html", page.to_str().expect("UTF-8")]), 5);
        is_status(&seamgate(&["trace", "damage", "--otlp", page.to_str().expect("UTF-8")]), 5);
        (out(&trace), err(&trace))
    };
    let changed = lines.replace(r#""result":{"value":99.5}"#, r#""result":{"value":99.6}"#);
    let (shown, said) = trace(&changed);
    assert!(shown.contains("c3 db/drop_table (effectful): denied"), "{shown}");
    assert!(!shown.contains("observed query_metrics#c2"), "{shown}");
    assert!(said.contains("line 20 (\"n\":19)"), "{said}");
    // A crash truncated the last step.
    let (shown, said) = trace(&lines[..lines.len() - 40]);
    assert!(shown.contains("restart_service#c4: ok") && !shown.contains("has ended"), "{shown}");
    assert!(said.contains("the last step is torn"), "{said}");
    // An empty file, another file, and a text.
    for other in ["", "{}\n", "Dear diary,\n"] {
        fs::write(&path, other).expect("written");
        is_status(&seamgate(&["trace", "damage"]), 2);
    }
    fs::remove_file(&path).expect("removed");
    is_status(&seamgate(&["trace", "damage"]), 2);
}

#[test]
fn lines_of_another_version_are_shown_as_they_are() {
    let folder = played("projections/run", "version");
    rewrite(&folder, |_, value| {
        if value["type"] == "ask_model" {
            value["purpose"] = "ponder".into();
        }
        if value["type"] == "used" {
            value["type"] = "spent".into();
        }
    });
    let trace = seamgate(&["trace", "version"]);
    is_status(&trace, 0);
    for shown in [
        "action ask_model: this version cannot read it",
        "unknown variant `ponder`",
        "record spent: this version cannot read it",
        "unknown type \"spent\"",
        "the run has ended: final",
    ] {
        assert!(out(&trace).contains(shown), "{shown}: {}", out(&trace));
    }
}

#[test]
fn a_large_result_floods_nobody() {
    let folder = played("projections/run", "large");
    let result = format!("[{}0]", "\"DB timeout after 30 s, and more.\",".repeat(160_000));
    assert!(result.len() > 5_000_000);
    let digest = seamgate::digest(result.as_bytes());
    fs::write(folder.join("artifacts").join(&digest[7..]), &result).expect("written");
    rewrite(&folder, |_, value| match value["type"].as_str() {
        Some("tool_result") if value["call"] == "c1" => value["result"] = json!({"artifact": digest}),
        Some("observation") if value["call"] == "c1" => value["artifact"] = digest.clone().into(),
        Some("user_message" | "input") => value["text"] = json!({"artifact": digest}),
        _ => {}
    });
    let text = out(&seamgate(&["trace", "large"]));
    assert!(text.len() < 20_000, "{}", text.len());
    let page = traces().join("large.html");
    is_status(&seamgate(&["trace", "large", "--html", page.to_str().expect("UTF-8")]), 0);
    assert!(fs::metadata(&page).expect("a page").len() < 200_000);
    let why = seamgate(&["why", "large", "0"]);
    assert!(out(&why).len() < 6_000 && out(&why).contains("more bytes)"), "{}", out(&why));
}

/// Text that is hostile in markup, in a style, on a terminal, and to a reader.
const HOSTILE: &str = "</pre></style></title><script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=//evil.example>&lt;&#x202e;\u{202e}\u{1b}[31m\u{0}<!--";

/// Appends hostile text to every string, except in the members in `but`.
fn poison(value: &mut Value, but: &[&str]) {
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, but)),
        Value::Object(members) => {
            for (_, value) in members.iter_mut().filter(|(name, _)| !but.contains(&name.as_str())) {
                poison(value, but);
            }
        }
        _ => {}
    }
}

/// Records a run with a child, and with hostile text in every field. If `is_linked` is set, the keywords of a run and
/// the links between its parts stay unchanged. Otherwise, many lines are unreadable.
fn hostile(name: &str, is_linked: bool) -> PathBuf {
    let family = with_child(name);
    let words = "type kind key artifact";
    let links = "call run agent profile id permit effect status purpose code confidence limitations finish decision \
                 outcome from what";
    let links = if is_linked { links } else { "" };
    let but: Vec<&str> = words.split(' ').chain(links.split(' ')).collect();
    for folder in [family.join("children/c1"), family.clone()] {
        rewrite(&folder, |kind, value| {
            if kind != "state" {
                poison(value, &but);
            }
            // The text of the model's prompt, with its own digest.
            if value["type"] == "ask_model" {
                let tool = json!({"tool": HOSTILE, "effect": "read", "permit": "allow"});
                let prompt = json!({"messages": [{"role": "user", "text": HOSTILE}], "tools": [tool]}).to_string();
                let digest = seamgate::digest(prompt.as_bytes());
                fs::write(folder.join("artifacts").join(&digest[7..]), &prompt).expect("written");
                value["prompt"]["artifact"] = digest.into();
            }
        });
    }
    family
}

#[test]
fn hostile_text_does_nothing_in_a_terminal() {
    for (name, is_linked) in [("hostile-text", true), ("hostile-text-all", false)] {
        hostile(name, is_linked);
        let trace = seamgate(&["trace", name]);
        let why = seamgate(&["why", name, "0"]);
        for text in [out(&trace), err(&trace), out(&why), err(&why)] {
            let is_unsafe = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
            assert_eq!(text.chars().find(is_unsafe), None, "{text}");
        }
        assert!(out(&trace).matches("<script>alert(1)</script>").count() > 20, "{}", out(&trace));
    }
}

#[test]
fn hostile_text_does_nothing_in_a_browser() {
    for (name, is_linked) in [("hostile-page", true), ("hostile-page-all", false)] {
        hostile(name, is_linked);
        let file = traces().join(format!("{name}.html"));
        let output = seamgate(&["trace", name, "--html", file.to_str().expect("UTF-8")]);
        assert!(matches!(output.status.code(), Some(0 | 5)), "{}", err(&output));
        let page = page::read(&fs::read_to_string(&file).expect("a page"));
        assert!(page.text.matches("<script>alert(1)</script>").count() > 25, "{}", page.text);
    }
}

#[test]
fn a_page_links_claims_to_their_evidence_and_shows_what_audiences_see() {
    played("projections/run", "page");
    let file = traces().join("page.html");
    is_status(&seamgate(&["trace", "page", "--html", file.to_str().expect("UTF-8")]), 0);
    let read = page::read(&fs::read_to_string(&file).expect("a page"));
    assert!(read.links.iter().any(|link| link == "#r0s4e1"), "{:?}", read.links);
    for shown in [
        "Looked at the logs.",
        "Checked logs of payment-api: DB timeout after 30 s",
        "You find the cause of an incident.",
    ] {
        assert!(read.text.contains(shown), "{shown}");
    }
    // Another profile would show a run that did not happen.
    let mut other: Value = serde_json::from_str(&case("projections/run").profile).expect("JSON");
    other["version"] = "2.0.0".into();
    fs::write(traces().join("page/other.profile.json"), other.to_string()).expect("written");
    let refused =
        seamgate(&["trace", "page", "--html", file.to_str().expect("UTF-8"), "-p", "page/other.profile.json"]);
    is_status(&refused, 2);
    assert!(err(&refused).contains("the run began with the profile"), "{}", err(&refused));
    // Without a profile, the page says which parts are missing.
    fs::remove_file(traces().join("page/agent.json")).expect("removed");
    is_status(&seamgate(&["trace", "page", "--html", file.to_str().expect("UTF-8")]), 0);
    let read = page::read(&fs::read_to_string(&file).expect("a page"));
    assert!(read.text.contains("left out, as that needs the profile") && !read.text.contains("Looked at the logs."));
}

#[test]
fn the_last_states_are_kept_and_a_run_goes_on_with_them() {
    let folder = fresh("states");
    let case = case("projections/run");
    let mut gate = Gate::new().expect("a gate");
    let agent = gate.register_profile(&case.profile).expect("a profile").agent;
    let journal = FileJournal::create(&folder).expect("a journal");
    let mut started = case.events[0].clone();
    started["at"] = 1_790_000_000_000_u64.into();
    let (mut run, _) = Run::start_json(&gate, journal, &agent, &started.to_string()).expect("started");
    for tick in 1..=330_u64 {
        run.send_json(&json!({"type": "tick", "at": 1_790_000_000_000 + tick}).to_string()).expect("sent");
    }
    assert_eq!(fs::read_dir(folder.join("states")).expect("states").count(), 4);
    let again = Run::open(&gate, FileJournal::open(&folder).expect("a journal")).expect("opened");
    assert_eq!((again.step(), again.state()), (331, run.state()));
}

/// Measures the figures in docs/trace.md. `cargo test --release -p seamgate-tests --test command_line -- ten_thousand
/// --ignored --nocapture`
#[test]
#[ignore = "takes minutes: `cargo xtask ci thorough` runs this"]
fn a_run_of_ten_thousand_events() {
    let folder = fresh("long");
    let mut profile: Value = serde_json::from_str(&case("projections/run").profile).expect("JSON");
    profile["budget"] = json!({"steps": 10_000, "tool_calls": 10_000, "tokens": 1_000_000_000, "ms": 86_400_000, "state_bytes": 16_777_216});
    let mut gate = Gate::new().expect("a gate");
    let agent = gate.register_profile(&profile.to_string()).expect("a profile").agent;
    let at = 1_790_000_000_000_u64;
    let started = json!({"type": "started", "at": at, "run": "r1", "principal": "anna", "nonce": "c0ffee00c0ffee00",
        "task": {"service": "payment-api", "env": "prod"}, "lists": {"services": ["payment-api"]}});
    let begin = Instant::now();
    let journal = FileJournal::create(&folder).expect("a journal");
    let (mut run, actions) = Run::start_json(&gate, journal, &agent, &started.to_string()).expect("started");
    let first = |actions: &[String]| serde_json::from_str::<Value>(&actions[0]).expect("JSON");
    let mut key = first(&actions)["key"].clone();
    for tick in 1..=6999_u64 {
        run.send_json(&json!({"type": "tick", "at": at + tick}).to_string()).expect("sent");
    }
    for call in 1..=1000_u64 {
        let at = at + 10_000 + call * 100;
        let output = json!({"type": "model_output", "at": at, "key": key, "usage": {"input": 1000, "output": 50},
            "calls": [{"tool": "search_logs", "arguments": {"service": "payment-api", "since": format!("{call}m")}}]});
        let execute = run.send_json(&output.to_string()).expect("sent");
        assert_eq!(first(&execute)["type"], "execute", "{}", execute[0]);
        run.send_json(&json!({"type": "tool_started", "at": at + 1, "call": format!("c{call}")}).to_string())
            .expect("sent");
        let words = format!("DB timeout after {call} s ").repeat(4);
        let result = json!({"type": "tool_result", "at": at + 50, "call": format!("c{call}"), "result": {"confidence": "high",
            "lines": [{"timestamp": "2026-09-21T14:10:00Z", "message": words}], "until": "2026-09-21T14:13:20Z"}});
        key = first(&run.send_json(&result.to_string()).expect("sent"))["key"].clone();
    }
    assert_eq!(run.step(), 10_000);
    println!("10,000 events, 1,000 of them calls, played in {:?}", begin.elapsed());
    let bytes = |folder: &Path| {
        let files =
            fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").metadata().expect("a file").len());
        files.collect::<Vec<_>>()
    };
    let (artifacts, states) = (bytes(&folder.join("artifacts")), bytes(&folder.join("states")));
    println!("journal.ndjson {} bytes", fs::metadata(folder.join("journal.ndjson")).expect("a journal").len());
    println!("artifacts {} files, {} bytes", artifacts.len(), artifacts.iter().sum::<u64>());
    println!("states {} files, {} bytes", states.len(), states.iter().sum::<u64>());
    let begin = Instant::now();
    let again = Run::open(&gate, FileJournal::open(&folder).expect("a journal")).expect("opened");
    println!("Run::open {:?}", begin.elapsed());
    assert_eq!(again.step(), 10_000);
    let mut other = seamgate_tests::other::other_gate();
    other.register_profile(&profile.to_string()).expect("a profile");
    let begin = Instant::now();
    let again = Run::open(&other, FileJournal::open(&folder).expect("a journal")).expect("opened");
    println!("Run::open under another component {:?}", begin.elapsed());
    assert_eq!((again.step(), again.changed_from()), (10_000, Some(gate.component().digest())));
    fs::write(folder.join("long.profile.json"), profile.to_string()).expect("written");
    for (name, options) in [
        ("text", &["-p", "long/long.profile.json"][..]),
        ("otlp", &["--otlp", "long.otlp.json"]),
        ("html", &["--html", "long.html", "-p", "long/long.profile.json"]),
        ("html without profile", &["--html", "long-bare.html"]),
    ] {
        let begin = Instant::now();
        let output = seamgate(&[&["trace", "long"][..], options].concat());
        is_status(&output, 0);
        let file = options.get(1).and_then(|file| fs::metadata(traces().join(file)).ok());
        let bytes =
            if output.stdout.is_empty() { file.map_or(0, |file| file.len()) } else { output.stdout.len() as u64 };
        println!("{name}: {:?}, {bytes} bytes", begin.elapsed());
    }
}

/// Parses a page as a browser does.
mod page {
    use std::collections::BTreeSet;

    use html5ever::{ParseOpts, parse_document, tendril::TendrilSink};
    use markup5ever_rcdom::{Handle, NodeData, RcDom};

    const ELEMENTS: [&str; 29] = [
        "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "h3", "h4", "span", "p", "ul",
        "ol", "li", "b", "details", "summary", "dl", "dt", "dd", "div", "time", "a", "q", "code", "pre",
    ];

    #[derive(Default)]
    pub(super) struct Page {
        /// All text that the page shows.
        pub(super) text: String,
        pub(super) links: Vec<String>,
        ids: BTreeSet<String>,
        styles: usize,
    }

    /// Reads a page. Asserts that it is well-formed, has only the elements and attributes that the trace writes, and
    /// links only to itself.
    pub(super) fn read(html: &str) -> Page {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(html);
        assert!(dom.errors.borrow().is_empty(), "{:?}", dom.errors.borrow());
        let mut page = Page::default();
        page.walk(&dom.document);
        assert_eq!(page.styles, 1);
        for link in &page.links {
            assert!(page.ids.contains(link.strip_prefix('#').expect("a link into the page")), "{link}");
        }
        page
    }

    impl Page {
        fn walk(&mut self, node: &Handle) {
            match &node.data {
                NodeData::Text { contents } => self.text.push_str(&contents.borrow()),
                NodeData::Comment { contents } => panic!("a comment: {contents}"),
                NodeData::Element { name, attrs, .. } => {
                    let element = name.local.to_string();
                    assert!(ELEMENTS.contains(&element.as_str()), "{element}");
                    for attribute in attrs.borrow().iter() {
                        self.attribute(&element, &attribute.name.local, &attribute.value);
                    }
                    if element == "style" {
                        self.styles += 1;
                        return;
                    }
                }
                _ => {}
            }
            node.children.borrow().iter().for_each(|child| self.walk(child));
        }

        fn attribute(&mut self, element: &str, name: &str, value: &str) {
            match (element, name) {
                ("a", "href") => self.links.push(value.to_owned()),
                (_, "id") => assert!(self.ids.insert(value.to_owned()), "{value} twice"),
                ("meta", "content") if value.contains("default-src") => {
                    assert!(value.starts_with("default-src 'none'; style-src 'sha256-"), "{value}");
                    assert!(!value.contains("unsafe") && !value.contains('*'), "{value}");
                }
                ("meta", "charset" | "name" | "content" | "http-equiv") => {}
                ("html", "lang") | ("details", "open") | (_, "class") => {}
                other => panic!("{other:?}"),
            }
            assert!(!value.contains("alert"), "{value}");
        }
    }
}
