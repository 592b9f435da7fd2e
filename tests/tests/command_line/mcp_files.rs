//! `seamgate mcp init` and `seamgate mcp check`: profiles and lock files that are generated from the tools that servers
//! list.
#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use seamgate_tests::Random;
use serde_json::{Value, json};

/// An MCP server under the name of a package runner. It lists the tools in `tools.json`.
const SERVER: &str = r#"#!/usr/bin/env python3
import json, os, sys
if "NEEDED" in os.environ.get("TERM", "") and "SERVICE_TOKEN" not in os.environ:
    sys.exit("no token")
folder = os.path.dirname(os.path.abspath(__file__))
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = dict(protocolVersion="2025-06-18", capabilities=dict(tools={}), serverInfo=dict(name="x", version="1"))
    elif m.get("method") == "tools/list":
        r = None
        text = open(os.path.join(folder, "tools.json"), encoding="utf-8").read()
        print('{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}' % (m["id"], text), flush=True)
    else: continue
    if r: print(json.dumps(dict(jsonrpc="2.0", id=m["id"], result=r)), flush=True)
"#;

/// A separate folder with a server.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new(name: &str, tools: &Value) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-files").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let place = Place { folder };
        place.write("npx", SERVER);
        fs::set_permissions(place.path("npx"), fs::Permissions::from_mode(0o755)).expect("executable");
        place.list(tools);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn list(&self, tools: &Value) {
        self.write("tools.json", &tools.to_string());
    }

    fn binary() -> PathBuf {
        let test = std::env::current_exe().expect("this test");
        test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate")
    }

    fn command(&self, program: &Path) -> Command {
        let path = format!("{}:{}", self.folder.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
        command.current_dir(&self.folder).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache);
        command.env("PATH", path).env("USER", "anna");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(&Self::binary()).args(arguments).output().expect("an end")
    }

    fn init(&self, more: &[&str]) -> Output {
        self.run(&[&["mcp", "init", "-o", "notes"], more, &["--", "npx", "-y", "server"]].concat())
    }

    fn check(&self, more: &[&str]) -> Output {
        self.run(&[&["mcp", "check", "-p", "notes.profile.json"], more, &["--", "npx", "-y", "server"]].concat())
    }

    /// Returns a tool of the profile.
    fn tool(&self, name: &str) -> Value {
        let profile: Value = serde_json::from_str(&self.read("notes.profile.json")).expect("JSON");
        let tools = profile["tools"].as_array().expect("tools");
        tools.iter().find(|tool| tool["name"] == name).cloned().unwrap_or_default()
    }

    /// Returns the names of the files in the folder.
    fn files(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn has_only_the_server(&self) -> bool {
        self.files().into_iter().eq(["npx", "tools.json"])
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Panics with the complete output if the exit status is not the expected one.
#[track_caller]
fn ends(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}\n{}", out(output), err(output));
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "A tool.", "inputSchema": { "type": "object" } })
}

fn read_only(name: &str) -> Value {
    let mut tool = tool(name);
    tool["annotations"] = json!({ "readOnlyHint": true });
    tool
}

#[test]
fn tools_that_only_read_run_without_approval_if_asked_for() {
    let mut liar = read_only("purge");
    liar["annotations"]["destructiveHint"] = json!(true);
    let mut word = read_only("word");
    word["annotations"]["readOnlyHint"] = json!("true");
    let tools = json!([read_only("get"), tool("put"), liar, word]);
    for (reads, get) in
        [("allow", json!("allow")), ("approve", json!({ "approval": { "by": ["owner"], "ttl_s": 600 } }))]
    {
        let place = Place::new(&format!("reads-{reads}"), &tools);
        ends(&place.init(&["--reads", reads]), 0);
        assert_eq!(place.tool("get")["permit"], get);
        assert_eq!(place.tool("get")["effect"], if reads == "allow" { "read" } else { "effectful" });
        for name in ["put", "purge", "word"] {
            assert_eq!(
                (&place.tool(name)["effect"], place.tool(name)["permit"].is_object()),
                (&json!("effectful"), true)
            );
        }
        let comment = place.tool("get")["$comment"].to_string();
        assert_eq!(comment.contains("the server says that it only reads"), reads == "allow", "{comment}");
        ends(&place.check(&[]), 0);
        ends(&place.run(&["lint", "notes.profile.json"]), 0);
        // All tools are pinned.
        place.list(&json!([json!({ "name": "get" }), tool("put")]));
        let check = place.check(&[]);
        ends(&check, 1);
        assert!(out(&check).contains("changed  notes/get\n"), "{}", out(&check));
    }
}

#[test]
fn the_last_pattern_that_matches_decides() {
    let place = Place::new("patterns", &json!([read_only("get_a"), tool("get_b"), tool("put_a"), read_only("list")]));
    let init = place.init(&[
        "--reads",
        "allow",
        "--allow",
        "get_*",
        "--deny",
        "*_a",
        "--approve",
        "put_*",
        "--approve",
        "list",
    ]);
    ends(&init, 0);
    let permits = ["get_a", "get_b", "put_a", "list"].map(|name| place.tool(name)["permit"].to_string());
    let approval = r#"{"approval":{"by":["owner"],"ttl_s":600}}"#;
    assert_eq!(permits, [r#""deny""#, r#""allow""#, approval, approval]);
    assert!(out(&init).contains("4 tools of x: 1 without approval, 2 with approval, 1 denied"), "{}", out(&init));
    assert!(err(&init).contains("do not say that they only read: get_b\n"), "{}", err(&init));
    // A denied tool counts as known.
    ends(&place.check(&[]), 0);

    let place = Place::new("patterns-order", &json!([tool("get_a")]));
    ends(&place.init(&["--deny", "*_a", "--allow", "get_*"]), 0);
    assert_eq!(place.tool("get_a")["permit"], "allow");
}

#[test]
fn a_pattern_that_matches_no_tool_is_an_error() {
    let many: Vec<Value> = (0..50).map(|number| tool(&format!("tool_{number}"))).collect();
    for (name, tools, known) in [
        ("unmatched", json!([tool("a"), tool("b\u{1b}[2J\nc")]), "the server's tools: a, b␛[2J c\n"),
        ("unmatched-none", json!([]), "the server's tools: it has none\n"),
        ("unmatched-many", json!(many), "tool_18, tool_19 and 30 more\n"),
    ] {
        let place = Place::new(name, &tools);
        let init = place.init(&["--allow", "get_*"]);
        ends(&init, 2);
        assert!(err(&init).contains("seamgate: --allow 'get_*': no tool has such a name"), "{}", err(&init));
        assert!(err(&init).ends_with(known), "{:?}", err(&init));
        assert!(place.has_only_the_server(), "{:?}", place.files());
    }
    let place = Place::new("empty-pattern", &json!([]));
    ends(&place.init(&["--allow", ""]), 2);
}

/// Returns a random tool, as a server may list it.
fn generated(random: &mut Random) -> Value {
    let text = |random: &mut Random| {
        random
            .one(&["", "a", "Reads\nall", "\u{202e}x", "\u{1b}[2J", "é\u{e0041}", "'\"\\", &"long ".repeat(2000)])
            .to_owned()
    };
    let names = ["a", "b.c", "_d", "e-f", "A1", "", " ", "x/y", "-dash", ".dot", "naïve", "read_artifact", "a\nb", "*"];
    let name = match random.below(3) {
        0 => random.one(&names).to_owned(),
        1 => format!("tool_{}", random.below(1000)),
        _ => "n".repeat(random.one(&[1, 64, 128, 129, 5000])),
    };
    let deep = (0..random.one(&[1, 50, 110])).fold(json!({}), |inner, _| json!({ "items": inner }));
    let schema = random.one(&[
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] }),
        json!(true),
        json!({}),
        json!({ "type": "strange" }),
        json!({ "$ref": "#/$defs/missing" }),
        json!({ "$ref": "https://example.com/schema" }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }),
        json!({ "$schema": "https://example.com/unknown", "type": "object" }),
        json!({ "properties": { "a": { "pattern": "(?<=a)b" } } }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
        json!({ "propertis": {}, "requierd": [] }),
        json!({ "minimum": "1" }),
        json!([]),
        json!("object"),
        json!(null),
        deep,
    ]);
    let mut tool = json!({ "name": name });
    for member in ["description", "title"] {
        if random.chance(60) {
            tool[member] = json!(text(random));
        }
    }
    if random.chance(90) {
        tool["inputSchema"] = schema.clone();
    }
    if random.chance(30) {
        tool["outputSchema"] = schema;
    }
    if random.chance(60) {
        let hint = |random: &mut Random| random.one(&[json!(true), json!(false), json!(1)]);
        tool["annotations"] =
            json!({ "readOnlyHint": hint(random), "destructiveHint": hint(random), "xHint": text(random) });
    }
    if random.chance(5) {
        tool[random.one(&["description", "annotations", "name"])] = random.one(&[json!(1), json!(null), json!([])]);
    }
    if random.chance(3) { random.one(&[json!(1), json!(null), json!([]), json!("a")]) } else { tool }
}

#[test]
fn generated_profiles_have_no_warning_and_no_difference() {
    let mut random = Random(11);
    let mut lists: Vec<Value> =
        (0..12).map(|_| (0..random.below(12)).map(|_| generated(&mut random)).collect::<Vec<_>>().into()).collect();
    lists.push(json!([]));
    lists.push((0..1100).map(|number| tool(&format!("tool_{number}"))).collect::<Vec<_>>().into());
    for (number, tools) in lists.iter().enumerate() {
        for reads in ["approve", "allow"] {
            let place = Place::new(&format!("generated-{number}-{reads}"), tools);
            let init = place.init(&["--reads", reads]);
            ends(&init, 0);
            let all = tools.as_array().expect("tools").len();
            let profile: Value = serde_json::from_str(&place.read("notes.profile.json")).expect("JSON");
            // All tools except the gate's own.
            let kept = profile["tools"].as_array().expect("tools").len() - 1;
            assert_eq!(err(&init).contains("left out"), kept < all, "{}", err(&init));
            assert!(!err(&init).contains('\u{1b}'), "{}", err(&init));
            let lint = place.run(&["lint", "notes.profile.json"]);
            ends(&lint, 0);
            assert!(out(&lint).starts_with("1 profile, 0 errors, 0 warnings"), "{tools}\n{}", out(&lint));
            let check = place.check(&[]);
            ends(&check, 0);
            let _ = fs::remove_dir_all(&place.folder);
        }
    }
}

#[test]
fn a_tool_that_a_profile_cannot_hold_is_named_with_the_reason() {
    let mut bad = tool("bad");
    bad["inputSchema"] = json!({ "$ref": "#/$defs/missing" });
    let place = Place::new("left-out", &json!([tool("good"), bad, tool("x/y"), tool("good")]));
    let init = place.init(&[]);
    ends(&init, 0);
    for said in [
        "left out the tool bad: definition",
        "left out the tool x/y: its name must have",
        "left out the tool good: the server lists this name twice: the first definition counts",
    ] {
        assert!(err(&init).contains(said), "{said}: {}", err(&init));
    }
    assert_eq!((place.tool("good").is_object(), place.tool("bad").is_null()), (true, true));
    // The tool was seen before, so it is not new. A change to it is reported as a difference.
    ends(&place.check(&[]), 0);
    place.list(&json!([tool("good"), tool("bad"), tool("x/y")]));
    let check = place.check(&[]);
    ends(&check, 1);
    assert!(out(&check).starts_with("changed  notes/bad: A tool.\n"), "{}", out(&check));
}

#[test]
fn accepted_definitions_are_pinned() {
    let place = Place::new("accept", &json!([tool("a"), tool("b"), tool("gone")]));
    ends(&place.init(&[]), 0);
    let before = (place.read("notes.profile.json"), place.read("notes.lock.json"));
    let mut changed = tool("a");
    changed["description"] = json!("Another tool.");
    place.list(&json!([changed, tool("b"), tool("fresh"), tool("x\u{1b}\n")]));
    fs::set_permissions(place.path("notes.lock.json"), fs::Permissions::from_mode(0o640)).expect("a mode");
    let said = "changed  notes/a\n         /description: was \"A tool.\"\n         /description: is  \"Another tool.\"\nmissing  notes/gone: the server does not list it\nnew      notes/fresh: A tool.\nnew      notes/x␛ : A tool.\n";

    let check = place.check(&[]);
    ends(&check, 1);
    assert_eq!(out(&check), said);
    assert!(err(&check).contains("run this command again with --accept"), "{}", err(&check));
    let entry = r#"{"name":"fresh","server":"notes","effect":"effectful","permit":{"approval":{"by":["owner"]}}}"#;
    assert!(err(&check).contains(&format!("add it to 'tools':\n  {entry}\n")), "{}", err(&check));
    assert_eq!((place.read("notes.profile.json"), place.read("notes.lock.json")), before, "a check writes nothing");

    let accept = place.check(&["--accept"]);
    ends(&accept, 1);
    assert_eq!(out(&accept), said);
    assert!(err(&accept).contains("what remains:\nmissing  notes/gone"), "{}", err(&accept));
    assert_eq!(place.read("notes.profile.json"), before.0, "the profile stays");
    let mode = fs::metadata(place.path("notes.lock.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let check = place.check(&[]);
    ends(&check, 1);
    assert_eq!(out(&check), "missing  notes/gone: the server does not list it\n");
    assert_eq!(place.files().len(), 4, "{:?}", place.files());
    // Tools that reappear are known.
    let lock = place.read("notes.lock.json");
    place.list(&json!([tool("b"), tool("gone"), changed]));
    ends(&place.check(&["--accept"]), 0);
    assert_eq!(place.read("notes.lock.json"), lock);
}

#[test]
fn order_in_sets_of_a_schema_is_no_difference() {
    let with = |names: [&str; 2]| {
        let mut tool = tool("a");
        tool["inputSchema"] = json!({ "type": "object", "required": names, "properties": {
            "a": { "enum": names }, "b": { "type": ["string", "null"] } } });
        json!([tool])
    };
    let place = Place::new("order", &with(["a", "b"]));
    ends(&place.init(&[]), 0);
    place.list(&with(["b", "a"]));
    ends(&place.check(&[]), 0);
    // After `--accept`, the lock file contains the current list.
    ends(&place.check(&["--accept"]), 0);
    assert!(place.read("notes.lock.json").contains(r#""required":["b","a"]"#));
}

#[test]
fn definitions_that_would_break_the_profile_are_not_accepted() {
    let mut scoped = tool("a");
    scoped["inputSchema"] =
        json!({ "type": "object", "properties": { "id": { "type": "string" } }, "additionalProperties": false });
    let place = Place::new("breaks", &json!([scoped]));
    ends(&place.init(&[]), 0);
    let profile = place.read("notes.profile.json");
    let scope = r#""effect": "effectful", "scope": [{ "path": "$.id", "values": ["1"] }]"#;
    place.write("notes.profile.json", &profile.replacen(r#""effect": "effectful""#, scope, 1));
    ends(&place.check(&[]), 0);
    let lock = place.read("notes.lock.json");
    scoped["inputSchema"]["properties"] = json!({ "ids": { "type": "string" } });
    place.list(&json!([scoped]));
    let accept = place.check(&["--accept"]);
    ends(&accept, 2);
    assert!(
        err(&accept).contains("nothing was accepted") && err(&accept).contains("$.tools[0].scope[0]"),
        "{}",
        err(&accept)
    );
    assert_eq!(place.read("notes.lock.json"), lock);
}

#[test]
fn full_disk_keeps_the_old_lock_file_and_leaves_no_half_profile() {
    let place = Place::new("full", &json!([tool("a")]));
    let full = |arguments: &str| {
        // With this trap, the file size limit causes an error instead of a signal. The engine also needs some space.
        let script = format!("trap '' XFSZ; ulimit -f 5000; exec '{}' {arguments} -- npx", Place::binary().display());
        place.command(Path::new("bash")).args(["-c", &script]).output().expect("an end")
    };
    let large: Vec<Value> = ["a", "b", "c", "d", "e", "f"]
        .map(|name| json!({ "name": name, "description": "x".repeat(1_000_000), "inputSchema": { "type": "object" } }))
        .to_vec();
    place.list(&json!(large));
    let init = full("mcp init -o notes");
    ends(&init, 5);
    assert!(err(&init).contains("notes.lock.json: ") && err(&init).contains("nothing was written"), "{}", err(&init));
    assert!(place.has_only_the_server(), "{:?}", place.files());

    place.list(&json!([tool("a")]));
    ends(&place.init(&[]), 0);
    let (lock, files) = (place.read("notes.lock.json"), place.files());
    place.list(&json!(large));
    let accept = full("mcp check --accept -p notes.profile.json");
    ends(&accept, 5);
    assert!(err(&accept).contains("the old one is unchanged"), "{}", err(&accept));
    assert_eq!((place.read("notes.lock.json"), place.files()), (lock, files));
}

#[test]
fn lock_file_behind_a_link_is_replaced_there() {
    let place = Place::new("link", &json!([tool("a")]));
    ends(&place.init(&[]), 0);
    fs::create_dir(place.path("locks")).expect("a folder");
    fs::rename(place.path("notes.lock.json"), place.path("locks/real.json")).expect("moved");
    symlink("locks/real.json", place.path("notes.lock.json")).expect("a link");
    place.list(&json!([read_only("a")]));
    ends(&place.check(&["--accept"]), 0);
    assert!(place.path("notes.lock.json").is_symlink());
    assert!(place.read("locks/real.json").contains("readOnlyHint"));
    ends(&place.check(&[]), 0);
}

#[test]
fn names_of_outputs_get_their_ending() {
    let place = Place::new("names", &json!([]));
    fs::create_dir(place.path("folder")).expect("a folder");
    for (given, file) in [
        ("a", "a.profile.json"),
        ("b.json", "b.profile.json"),
        ("c.profile.json", "c.profile.json"),
        ("d.e", "d.e.profile.json"),
        ("folder", "folder/mcp.profile.json"),
        ("folder/f", "folder/f.profile.json"),
    ] {
        ends(&place.run(&["mcp", "init", "-o", given, "--", "npx"]), 0);
        assert!(place.path(file).is_file(), "{given}: {:?}", place.files());
        assert!(place.path(&file.replace(".profile.", ".lock.")).is_file(), "{given}");
    }
    let before = place.read("a.lock.json");
    for (given, said) in [
        ("a", "a.profile.json: it exists already"),
        ("missing/a", "the folder missing does not exist"),
        (".profile.json", "a name goes before .profile.json"),
        ("..", "mcp.profile.json: it exists already"),
    ] {
        if given == ".." {
            fs::write(place.path("../mcp.profile.json"), "").expect("a file");
        }
        let init = place.run(&["mcp", "init", "-o", given, "--", "npx"]);
        ends(&init, 2);
        assert!(err(&init).contains(said), "{given}: {}", err(&init));
    }
    fs::remove_file(place.path("../mcp.profile.json")).expect("removed");
    assert_eq!(place.read("a.lock.json"), before);
}

#[test]
fn mistakes_are_found_before_the_server_starts() {
    let place = Place::new("early", &json!([]));
    place.write("npx", "#!/bin/sh\n: > started\n");
    for more in [
        &["--env", "A=b"][..],
        &["--as", ""],
        &["--as", &"a".repeat(300)],
        &["-o", "missing/a"],
        &["--client", "nobody"],
        &["--reads", "deny"],
    ] {
        ends(&place.run(&[&["mcp", "init"], more, &["--", "npx"]].concat()), 2);
    }
    assert!(place.has_only_the_server(), "{:?}", place.files());
}

#[test]
fn server_that_fails_to_start_is_told_with_the_variables_that_it_lacks() {
    let place = Place::new("variables", &json!([tool("a")]));
    let run = |arguments: &[&str]| {
        let mut command = place.command(&Place::binary());
        command.args(arguments).args(["--", "npx"]).env("SERVICE_TOKEN", "hunter2").env("TERM", "NEEDED");
        command.output().expect("an end")
    };
    let init = run(&["mcp", "init", "-o", "notes"]);
    ends(&init, 5);
    let said = err(&init);
    assert!(
        said.contains("if it needs some of these, name them with --env: ") && said.contains("SERVICE_TOKEN"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
    assert!(place.has_only_the_server(), "{:?}", place.files());

    let client = run(&["mcp", "init", "-o", "notes", "--env", "SERVICE_TOKEN", "--client", "cursor"]);
    ends(&client, 0);
    assert!(out(&client).contains(r#""env": { "SERVICE_TOKEN": "${env:SERVICE_TOKEN}" }"#), "{}", out(&client));
    ends(&run(&["mcp", "check", "-p", "notes.profile.json"]), 0);
    let profile = place.read("notes.profile.json");
    place.write("notes.profile.json", &profile.replace(r#", "SERVICE_TOKEN""#, ""));
    let check = run(&["mcp", "check", "-p", "notes.profile.json"]);
    ends(&check, 5);
    assert!(err(&check).contains("add them to 'environment' of the server in the profile: "), "{}", err(&check));

    let missing = place.run(&["mcp", "init", "-o", "other", "--", "./no-such-program"]);
    ends(&missing, 5);
    assert!(!err(&missing).contains("variables"), "{}", err(&missing));
}

/// Returns the values of `--client`.
fn clients() -> Vec<String> {
    let place = Place::new("clients-all", &json!([]));
    let said = err(&place.init(&["--client", ""]));
    let values = said.split_once("[possible values: ").and_then(|(_, rest)| rest.split_once(']'));
    values.expect("values").0.split(", ").map(str::to_owned).collect()
}

#[test]
fn entries_of_clients_are_those_of_the_documentation() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp-clients.md")).expect("the page");
    let place = Place::new("clients", &json!([tool("a")]));
    let server = ["--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/notes"];
    let clients = clients();
    assert_eq!(clients.len(), 9, "{clients:?}");
    let mut blocks = BTreeSet::new();
    let options = clients.iter().map(|client| vec!["--client", client.as_str()]);
    for option in options.chain([vec![]]) {
        for file in ["notes.profile.json", "notes.lock.json"] {
            let _ = fs::remove_file(place.path(file));
        }
        let init = place.run(&[&["mcp", "init", "-o", "notes"], &option[..], &server].concat());
        ends(&init, 0);
        let real = fs::canonicalize(Place::binary()).expect("the command");
        let shown = out(&init)
            .replace(&real.display().to_string(), "/usr/local/bin/seamgate")
            .replace(&place.folder.display().to_string(), "/home/anna");
        let block = match option.is_empty() {
            true => shown.split_once(":\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).expect("a block").0,
            false => shown.trim_end(),
        };
        assert!(page.contains(&format!("\n{block}\n```\n")), "docs/mcp-clients.md lacks this for {option:?}:\n{block}");
        blocks.insert(block.to_owned());
        if let [_, client] = option[..] {
            assert!(page.contains(&format!("`{client}`")), "docs/mcp-clients.md does not name --client {client}");
            let said = err(&init);
            let said = said.split_once("Read the profile, and ").expect("a sentence").1;
            for path in
                said.split([' ', ',', ':', '\n']).filter(|word| word.contains(['~', '_']) || word.starts_with('.'))
            {
                assert!(page.contains(path), "docs/mcp-clients.md does not name {path}, of --client {client}");
            }
        }
    }
    assert_eq!(blocks.len(), 6, "{blocks:#?}");
}

#[test]
fn entries_of_clients_can_be_read_back() {
    let place = Place::new("entries-read", &json!([]));
    fs::create_dir(place.path("it's a \"folder\"")).expect("a folder");
    let command = ["--env", "A_KEY", "--", "./npx", "../x", "tools.json", "-y", "--o=a b", "", "'\"\\$é"];
    let mut words: Vec<String> = command[3..].iter().map(|word| (*word).to_owned()).collect();
    words[0] = place.path("npx").display().to_string();
    words[1] = place.path("../x").display().to_string();
    words[2] = place.path("tools.json").display().to_string();
    for client in clients() {
        let output = format!("it's a \"folder\"/{client}.1");
        let mut init = place.command(&Place::binary());
        init.args(["mcp", "init", "-o", &output, "--client", &client]).args(command).env("A_KEY", "1");
        let init = init.output().expect("an end");
        ends(&init, 0);
        let entry = out(&init);
        let name = format!("{client}.1");
        let arguments: Vec<String> = match client.as_str() {
            "claude-code" => {
                // A shell parses the entry.
                let script = format!("claude() {{ printf '%s\\0' \"$@\"; }}\n{entry}");
                let output = Command::new("bash").args(["-c", &script]).env("A_KEY", "s").output().expect("bash");
                let words = out(&output);
                let words: Vec<&str> = words.trim_end_matches('\0').split('\0').collect();
                assert_eq!(words[..6], ["mcp", "add", &name, "--env", "A_KEY=s", "--"], "{entry}");
                words[7..].iter().map(|word| (*word).to_owned()).collect()
            }
            "codex" => {
                let entry: toml::Table = entry.parse().unwrap_or_else(|error| panic!("{error}: {entry}"));
                let entry = &entry["mcp_servers"][&name];
                assert_eq!(entry["env_vars"][0].as_str(), Some("A_KEY"));
                entry["args"]
                    .as_array()
                    .expect("args")
                    .iter()
                    .filter_map(|word| Some(word.as_str()?.to_owned()))
                    .collect()
            }
            "goose" => {
                use saphyr::{LoadableYamlNode, Yaml};
                let entry = &Yaml::load_from_str(&entry).expect("YAML")[0]["extensions"][name.as_str()];
                assert_eq!(entry["envs"]["A_KEY"].as_str(), Some("VALUE OF A_KEY"));
                entry["args"]
                    .as_vec()
                    .expect("args")
                    .iter()
                    .filter_map(|word| Some(word.as_str()?.to_owned()))
                    .collect()
            }
            _ => {
                let entry: Value = serde_json::from_str(&entry).unwrap_or_else(|error| panic!("{error}: {entry}"));
                let member = entry.as_object().and_then(|entry| entry.values().next()).expect("a member");
                assert!(member[&name]["env"]["A_KEY"].is_string(), "{entry}");
                let words = member[&name]["args"].as_array().expect("args");
                words.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
            }
        };
        let profile = place.path(&format!("{output}.profile.json")).display().to_string();
        assert_eq!(arguments[..3], ["mcp".to_owned(), "-p".to_owned(), profile], "{client}");
        let at = arguments.iter().position(|word| word == "--").expect("--");
        assert_eq!(arguments[at + 1..], words, "{client}");
    }
}

#[test]
fn server_of_a_check_is_confined_as_in_the_gate() {
    let place = Place::new("confined", &json!([tool("a")]));
    place.write("secret", "secret");
    let spy = SERVER.replacen(
        "import json, os, sys",
        "import json, os, sys\ntry: open('secret').read(); sys.exit('not confined')\nexcept OSError: pass",
        1,
    );
    place.write("spy.py", &spy);
    place
        .write("notes.profile.json", &json!({ "agent": "notes", "servers": { "notes": {} }, "tools": [] }).to_string());
    let paths = json!({ "read": ["spy.py", "tools.json"] });
    let servers = json!({ "servers": { "notes": { "mcp": { "command": ["/usr/bin/env", "python3", "spy.py"], "environment": ["PATH"], "paths": paths } } } });
    place.write("notes.servers.json", &servers.to_string());
    let check = place.run(&["mcp", "check", "-p", "notes.profile.json", "--servers", "notes.servers.json"]);
    if err(&check).contains("this system has no Landlock") {
        return;
    }
    ends(&check, 1);
    assert!(!err(&check).contains("not confined") && out(&check).starts_with("new      notes/a"), "{}", err(&check));
}
