//! The command line as a script sees it: exit statuses, streams, order, and a reader that closes its end.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the binary of this build, which is beside the folder of the tests.
fn seamgate() -> Command {
    let test = std::env::current_exe().expect("this test");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let mut command = Command::new(folder.join("seamgate"));
    // Cached code is stored here, not in the user's folder.
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    command.current_dir(root().join("schemas/examples")).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache);
    command
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = seamgate()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("seamgate, built by `cargo xtask build`");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    // A program that does not read its input may close the pipe early.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("written");
    output
}

fn status(arguments: &[&str], input: &[u8]) -> i32 {
    run(arguments, input).status.code().expect("a status")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

const TOOL: [&str; 3] = ["check", "-c", "tool-result.contract.json"];

fn tool<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TOOL[..], more].concat()
}

#[test]
fn exit_statuses_are_those_promised() {
    assert_eq!(status(&tool(&["outputs/tool-result.good.txt"]), b""), 0);
    assert_eq!(status(&tool(&["outputs/tool-result.bad-status.txt"]), b""), 1);
    assert_eq!(status(&tool(&[]), b""), 1, "an empty output is rejected");
    assert_eq!(status(&["check", "-c", "cited-answer.contract.json", "outputs/cited-answer.refused.txt"], b""), 4);
    let partial = ["check", "-c", "triage.contract.json", "outputs/triage.partial-one-broken.txt"];
    assert_eq!(status(&partial, b""), 3);
    assert_eq!(status(&[&partial[..], &["--allow-partial"]].concat(), b""), 0);
    assert_eq!(status(&["check", "-c", "hostile/doubling.contract.json"], b"{}"), 5);
    for usage in [
        &["check"][..],
        &["check", "-c", "missing.contract.json"],
        &["check", "-c", "outputs"],
        &["check", "-c", "."],
        &["check", "-c", ".", "--agent", "nobody"],
        &["check", "-c", "tool-result.schema.json"],
        &["check", "-c", "tool-result.contract.json", "missing.txt"],
        &["check", "-c", "tool-result.contract.json", "--json", "--ndjson"],
        &["check", "-c", "tool-result.contract.json", "--finish", "bored"],
        &["check", "-c", "tool-result.contract.json", "--list", "teams"],
        &["check", "-c", "tool-result.contract.json", "--list", "teams=missing.txt"],
        &["check", "-j", "2", "-c", "."],
        &["frobnicate"],
    ] {
        let output = run(usage, b"{}");
        assert_eq!(output.status.code(), Some(2), "{usage:?}");
        assert!(output.stdout.is_empty() || out(&output).starts_with("{\"fault\":"), "{usage:?}: {}", out(&output));
        assert!(!output.stderr.is_empty(), "{usage:?}");
    }
}

#[test]
fn a_report_is_printed_where_there_is_no_terminal() {
    let output = run(&tool(&["outputs/tool-result.good.txt"]), b"");
    assert!(out(&output).starts_with("{\"disposition\":\"accepted\",\"agent\":\"tool-result\""), "{}", out(&output));
    assert_eq!(err(&output), "");
    let piped =
        run(&tool(&["-"]), &fs::read(root().join("schemas/examples/outputs/tool-result.good.txt")).expect("it"));
    assert_eq!(out(&piped), out(&output));
}

#[test]
fn a_picture_shows_what_is_wrong_under_the_text() {
    let output =
        run(&["check", "--picture", "-c", "cited-answer.contract.json", "outputs/cited-answer.bad-url.txt"], b"");
    let picture = out(&output);
    assert!(picture.contains("error[format]: $.citations[0].url must match format 'uri'"), "{picture}");
    assert!(picture.contains(" --> outputs/cited-answer.bad-url.txt:9:14"), "{picture}");
    assert!(picture.contains("^^^ expected uri"), "{picture}");
    assert!(picture.contains("\nrejected cited-answer, 2 violations (output_validation_failed)"), "{picture}");
    assert!(!picture.contains('\x1b'), "no colours where there is no terminal: {picture:?}");
}

#[test]
fn a_picture_shows_at_a_glance_what_was_kept() {
    let picture = |arguments: &[&str], input: &[u8]| {
        let output = run(&[&["check", "--picture", "-c", "triage.contract.json"], arguments].concat(), input);
        out(&output)
    };
    let partial = picture(&["outputs/triage.partial-one-broken.txt"], b"");
    for line in [
        "warning[malformed]: $.recommendations[3] is in quarantine",
        // The report shows only a part of a long line. The column counts from the start of the whole line.
        "outputs/triage.partial-one-broken.txt:31:79\n",
        "warning[schema]: $.recommendations[4] is in quarantine",
        "warning[over_limit]: $.recommendations[9] is in quarantine",
        "1 change before the verdict:\n  line 26    item_removed",
        "\nitems +++MS++++O  + 7 kept, M 1 malformed, S 1 schema, O 1 over_limit\n",
        "\npartial triage, 3 items in quarantine, review before use, from the block 'json'",
    ] {
        assert!(partial.contains(line), "{line} is not in {partial}");
    }
    let repaired = picture(&["outputs/triage.partial-cut-off.txt"], b"");
    assert!(repaired.contains("dropped "), "{repaired}");
    assert!(repaired.contains("\npartial triage, 1 item in quarantine, review before use"), "{repaired}");
    // If the document is unusable, the valid items are still reported.
    let output = fs::read_to_string(root().join("schemas/examples/outputs/triage.partial-one-broken.txt")).expect("it");
    let rejected = picture(&[], output.replace("2026-03-12", "today").as_bytes());
    assert!(rejected.contains("\nitems +++MS++++O  + 7 valid, but not in a document, M 1 malformed"), "{rejected}");
}

#[test]
fn a_list_comes_from_a_file() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("list");
    fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).display().to_string();
    let contract = r#"{"agent":"a","schema":true,"allow":[{"path":"$.team","list":"teams"}]}"#;
    fs::write(path("a.contract.json"), contract).expect("a contract");
    fs::write(path("teams.txt"), "core\nweb\r\n").expect("a list");
    let check = |list: &[&str], output: &str| {
        run(&[&["check", "-c", &path("a.contract.json")], list].concat(), output.as_bytes())
    };
    let list = format!("teams={}", path("teams.txt"));
    for (team, status) in [("core", 0), ("web", 0), ("nobody", 1)] {
        let output = check(&["--list", &list], &format!("{{\"team\":\"{team}\"}}"));
        assert_eq!(output.status.code(), Some(status), "{team}: {}", out(&output));
    }
    let optional = contract.replace("\"teams\"}", "\"teams\",\"optional\":true}");
    fs::write(path("a.contract.json"), optional).expect("a contract");
    let inert = check(&[], "{\"team\":\"nobody\"}");
    assert_eq!(inert.status.code(), Some(0), "{}", err(&inert));
    assert!(out(&inert).contains("was not checked: the request has no list"), "{}", out(&inert));
}

/// A byte order mark at the start of a list is ignored. An empty list is reported because nobody intends one.
#[test]
fn a_list_is_what_its_author_sees() {
    let folder = temporary("list-files");
    let path = |name: &str| folder.join(name).display().to_string();
    let contract = r#"{"agent":"a","schema":true,"allow":[{"path":"$.team","list":"teams"}]}"#;
    fs::write(path("a.contract.json"), contract).expect("a contract");
    let check = |text: &[u8]| {
        fs::write(path("teams.txt"), text).expect("a list");
        let list = format!("teams={}", path("teams.txt"));
        let output = run(&["check", "-c", &path("a.contract.json"), "--list", &list], br#"{"team":"core"}"#);
        (output.status.code(), err(&output))
    };
    for text in ["\u{feff}core\nweb\n", "\u{feff}core", "\u{feff}core\r\nweb\r\n", "web\ncore\n", "core\n\n"] {
        assert_eq!(check(text.as_bytes()), (Some(0), String::new()), "{text:?}");
    }
    let file = path("teams.txt");
    for (text, said) in [
        ("", format!("seamgate: --list teams: {file} is empty: this list allows no value\n")),
        ("\u{feff}", format!("seamgate: --list teams: {file} is empty: this list allows no value\n")),
        (
            "\r\n\n",
            format!("seamgate: --list teams: {file} has only empty lines: this list allows only an empty string\n"),
        ),
        (
            "web\n\u{feff}core\n",
            format!(
                "seamgate: --list teams: {file} has a byte order mark (U+FEFF) at the start of line 2: it is part of that \
                 value; remove it\n"
            ),
        ),
    ] {
        assert_eq!(check(text.as_bytes()), (Some(1), said), "{text:?}");
    }
    // PowerShell writes such a file with `>`.
    let wide: Vec<u8> = "\u{feff}core".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (code, said) = check(&wide);
    assert!(code == Some(2) && said.contains("invalid utf-8"), "{said}");

    // Observations are JSON, with or without a byte order mark.
    let contract = r#"{"agent":"a","schema":true,"evidence":{"claims":"$.claims[*]"}}"#;
    fs::write(path("b.contract.json"), contract).expect("a contract");
    fs::write(path("seen.json"), "\u{feff}[]").expect("evidence");
    let arguments = ["check", "-c", &path("b.contract.json"), "--evidence", &path("seen.json")];
    assert_eq!(status(&arguments, br#"{"claims":[]}"#), 0);
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn a_list_that_is_lacking_is_a_fault_and_one_that_nobody_asks_for_a_mistake_of_usage() {
    let folder = temporary("lists");
    let path = |name: &str| folder.join(name).display().to_string();
    let contract = |agent: &str, list: &str| {
        let contract = format!(r#"{{"agent":"{agent}","schema":true,"allow":[{{"path":"$.team","list":"{list}"}}]}}"#);
        fs::write(path(&format!("{agent}.contract.json")), contract).expect("a contract");
    };
    contract("a", "teams");
    contract("b", "users");
    fs::write(path("core.txt"), "core\n").expect("a list");
    let list = |name: &str| format!("{name}={}", path("core.txt"));
    let baked = path("gate.wasm");
    assert_eq!(status(&["bake", &path(""), "-o", &baked], b""), 0);

    let says = "request: $.lists must have the list \"teams\", which 'allow' in the contract asks for at $.team.";
    for contracts in [path("a.contract.json"), path(""), baked.clone()] {
        let check = |more: &[&str]| {
            let arguments = ["check", "-c", contracts.as_str(), "--agent", "a"];
            run(&[&arguments[..], more].concat(), br#"{"team":"core"}"#)
        };
        for more in [&[][..], &["--stream"], &["--picture"]] {
            let lacking = check(more);
            assert_eq!(lacking.status.code(), Some(5), "{contracts} {more:?}: {}", err(&lacking));
            assert!(err(&lacking).contains(says), "{contracts} {more:?}: {}", err(&lacking));
            let answer = if more.contains(&"--picture") { "" } else { "\"fault\":\"bad_request\"" };
            assert!(out(&lacking).contains(answer), "{contracts} {more:?}: {}", out(&lacking));
        }
        let (teams, users, others) = (list("teams"), list("users"), list("others"));
        assert_eq!(check(&["--list", &teams]).status.code(), Some(0), "{contracts}");
        // A typo in the name. Without this error, no value would be checked against the list.
        let unknown = check(&["--list", &teams, "--list", &others]);
        assert_eq!(unknown.status.code(), Some(2), "{contracts}");
        let known = if contracts.ends_with("a.contract.json") { "\"teams\"" } else { "\"teams\", \"users\"" };
        let says = format!("--list others: no contract has this list in 'allow'; known lists: {known}\n");
        assert!(err(&unknown).ends_with(&says), "{}", err(&unknown));
        assert_eq!(check(&["--list", &teams, "--list", &teams]).status.code(), Some(2), "twice");
        // Only the folder and the baked component also contain the contract that needs the list `users`.
        let other = if contracts.ends_with("a.contract.json") { 2 } else { 0 };
        assert_eq!(check(&["--list", &teams, "--list", &users]).status.code(), Some(other), "{contracts}");
    }
    let none = run(&tool(&["--list", &list("teams")]), b"{}");
    assert_eq!(none.status.code(), Some(2));
    assert!(err(&none).contains("no contract has this list in 'allow'; known lists: none"), "{}", err(&none));

    // In a batch, only the invalid request is answered with a fault; the others are answered with a report.
    let lines = concat!(
        r#"{"id":1,"agent":"a","output":"{\"team\":\"core\"}"}"#,
        "\n",
        r#"{"id":2,"agent":"a","output":"{\"team\":\"core\"}","lists":{"teams":["core"]},"finish":"end_turn"}"#,
        "\n",
        r#"{"id":3,"agent":"a","output":"{\"team\":\"core\"}","lists":{"users":["core"]}}"#,
        "\n",
    );
    let answered = run(&["check", "--ndjson", "-c", &path("")], lines.as_bytes());
    assert_eq!(answered.status.code(), Some(5));
    let answers: Vec<String> = out(&answered).lines().map(str::to_owned).collect();
    assert!(answers[0].starts_with("{\"id\":1,\"fault\":{\"fault\":\"bad_request\""), "{}", answers[0]);
    assert!(answers[1].starts_with("{\"id\":2,\"report\":{\"disposition\":\"accepted\""), "{}", answers[1]);
    assert!(answers[2].starts_with("{\"id\":3,\"fault\":{\"fault\":\"bad_request\""), "{}", answers[2]);

    let inspected = out(&run(&["inspect", &baked], b""));
    assert!(inspected.contains("\"lists\":[\"teams\"]") && inspected.contains("\"lists\":[\"users\"]"), "{inspected}");
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn evidence_comes_from_a_file() {
    let folder = temporary("evidence");
    let path = |name: &str| folder.join(name).display().to_string();
    let contract = r#"{"agent":"a","schema":true,"evidence":{"claims":"$.claims[*]"}}"#;
    fs::write(path("a.contract.json"), contract).expect("a contract");
    fs::write(path("seen.json"), r#"[{"id":"log","text":"matches: 128","confidence":"high"}]"#).expect("evidence");
    fs::write(path("other.json"), r#"[{"id":"log","txt":"matches: 128"}]"#).expect("evidence");
    let claim = |number: u32| {
        format!(r#"{{"claims":[{{"text":"{number} errors","evidence":[{{"id":"log","quote":"matches: 128"}}]}}]}}"#)
    };
    let check = |more: &[&str], output: &str| {
        run(&[&["check", "-c", &path("a.contract.json")], more].concat(), output.as_bytes())
    };
    let (seen, other) = (path("seen.json"), path("other.json"));
    for more in [&["--evidence", &seen][..], &["--stream", "--json", "--evidence", &seen]] {
        assert_eq!(check(more, &claim(128)).status.code(), Some(0), "{more:?}");
        let rejected = check(more, &claim(182));
        assert_eq!(rejected.status.code(), Some(1), "{more:?}");
        assert!(out(&rejected).contains("\"keyword\":\"evidence.number\""), "{}", out(&rejected));
    }
    let missing = check(&[], &claim(128));
    assert_eq!(missing.status.code(), Some(5), "{}", err(&missing));
    assert!(err(&missing).contains("--evidence FILE"), "{}", err(&missing));
    for file in [other, path("nothing.json"), path("a.contract.json")] {
        let unusable = check(&["--evidence", &file], &claim(128));
        assert_eq!(unusable.status.code(), Some(2), "{file}: {}", err(&unusable));
        assert!(err(&unusable).contains("--evidence"), "{}", err(&unusable));
    }
    fs::remove_dir_all(folder).expect("removed");
}

/// No output is read if it cannot be judged.
#[test]
fn a_stream_without_its_lists_is_not_read() {
    let folder = temporary("stream-lists");
    let path = folder.join("a.contract.json");
    fs::write(&path, r#"{"agent":"a","schema":true,"allow":[{"path":"$.team","list":"teams"}]}"#).expect("a contract");
    let mut child = seamgate()
        .args(["check", "--stream", "-c", &path.to_string_lossy()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("seamgate, built by `cargo xtask build`");
    // Standard input stays open.
    let stdin = child.stdin.take();
    assert_eq!(child.wait().expect("an end").code(), Some(5));
    drop(stdin);
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn finish_takes_the_words_of_apis() {
    let judged = |finish: &str| out(&run(&tool(&["--finish", finish]), b"{\"status\":"));
    for (ours, theirs) in [
        ("stop", ["end_turn", "STOP"]),
        ("length", ["max_tokens", "MAX_TOKENS"]),
        ("refusal", ["refusal", "Refusal"]),
        ("content_filter", ["content-filter", "SAFETY"]),
        ("tool_call", ["tool_calls", "tool_use"]),
        ("unknown", ["other", "FINISH_REASON_UNSPECIFIED"]),
    ] {
        for word in theirs {
            assert_eq!(judged(word), judged(ours), "{word}");
        }
    }
    assert!(judged("MAX_TOKENS").contains("\"retryable\":false"));
    let unknown = run(&tool(&["--finish", "bored"]), b"{}");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("must be stop, length, refusal, content_filter, tool_call, unknown, or"));
}

/// Text from a producer can neither control the terminal nor hide on it.
#[test]
fn a_picture_is_safe_to_look_at() {
    let hostile = "{\"status\":\"\u{1b}[2J\u{202e}gnp\u{200b}\",\"\u{1b}]0;x\u{7}\":1}";
    for arguments in [tool(&["--picture"]), tool(&["--picture", "--finish", "stop"])] {
        let picture = out(&run(&arguments, hostile.as_bytes()));
        let bad = ['\u{1b}', '\u{202e}', '\u{200b}', '\u{7}'];
        assert!(!picture.contains(bad), "{picture:?}");
    }
}

#[test]
fn a_long_line_is_cut_in_the_picture() {
    let output = format!("{{\"status\":\"{}\"}}", "x".repeat(5_000_000));
    let picture = out(&run(&tool(&["--picture"]), output.as_bytes()));
    assert!(picture.len() < 10_000, "{} bytes", picture.len());
}

#[test]
fn a_bad_contract_is_explained() {
    let folder = temporary("bad-contract");
    let path = folder.join("a.contract.json");
    fs::write(&path, r#"{"agent":"a","schema":{"type":"frob"},"colour":1}"#).expect("written");
    let output = run(&["check", "-c", &path.to_string_lossy()], b"{}");
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("$.colour must not be there"), "{}", err(&output));
    fs::remove_dir_all(folder).expect("removed");
}

fn temporary(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("seamgate-cli-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn requests(number: usize) -> Vec<u8> {
    let mut lines = String::new();
    for id in 0..number {
        lines.push_str(&match id % 5 {
            0 => format!(
                "{{\"id\":{id},\"agent\":\"ordinary\",\"output\":\"{{\\\"greeting\\\":\\\"hello {id}\\\"}}\"}}\n"
            ),
            1 => format!("{{\"id\":{id},\"agent\":\"ordinary\",\"output\":\"{{}}\"}}\n"),
            2 => format!("{{\"id\":{id},\"agent\":\"nobody\",\"output\":\"\"}}\n"),
            3 => "not a request\n".to_owned(),
            _ => format!("{{\"id\":{id},\"agent\":\"ordinary\",\"output\":\"prose\"}}\n"),
        });
    }
    lines.into_bytes()
}

#[test]
fn ndjson_answers_every_line_in_order_and_alike_however_many_work() {
    let requests = requests(200);
    let one = run(&["check", "--ndjson", "-c", "hostile", "-j", "1"], &requests);
    assert_eq!(one.status.code(), Some(5));
    let lines: Vec<String> = out(&one).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 200);
    for (id, line) in lines.iter().enumerate() {
        let expected = match id % 5 {
            0 => format!("{{\"id\":{id},\"report\":{{\"disposition\":\"accepted\""),
            1 | 4 => format!("{{\"id\":{id},\"report\":{{\"disposition\":\"rejected\""),
            2 => format!("{{\"id\":{id},\"fault\":{{\"fault\":\"unknown_agent\""),
            _ => "{\"id\":null,\"fault\":{\"fault\":\"bad_request\"".to_owned(),
        };
        assert!(line.starts_with(&expected), "{line}");
        assert_eq!(line.contains("\"usage\":{\"fuel\":"), line.contains("\"report\":"), "{line}");
    }
    let two = run(&["check", "--ndjson", "-c", "hostile", "-j", "2"], &requests);
    assert_eq!(out(&two), out(&one));
}

#[test]
fn ndjson_answers_a_line_that_is_too_long_or_not_utf_8() {
    let mut input = b"{\"id\":1,\"agent\":\"ordinary\",\"output\":\"".to_vec();
    input.extend(vec![b'x'; 9 * 1024 * 1024]);
    input.extend(b"\"}\n\xff\n{\"id\":3,\"agent\":\"ordinary\",\"output\":\"{\\\"greeting\\\":\\\"\\\"}\"}");
    let output = run(&["check", "--ndjson", "-c", "hostile"], &input);
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("{\"id\":null,\"fault\":{\"fault\":\"input_too_large\""), "{}", lines[0]);
    assert!(lines[1].starts_with("{\"id\":null,\"fault\":{\"fault\":\"bad_request\""), "{}", lines[1]);
    assert!(lines[2].starts_with("{\"id\":3,\"report\":{\"disposition\":\"accepted\""), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
}

/// A program may wait for an answer before it sends the next request. Bytes after a request in the same write do not
/// delay its answer.
#[test]
fn ndjson_answers_before_it_waits_for_the_next_request() {
    let mut child = seamgate()
        .args(["check", "--ndjson", "-c", "hostile"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("seamgate");
    let mut stdin = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    let request = |id: usize| format!("{{\"id\":{id},\"agent\":\"ordinary\",\"output\":\"prose\"}}\n");
    for (id, next) in ["", "\n", "  \n\n", "{\"id\":3", "\n"].into_iter().enumerate() {
        // The fourth write ends with the beginning of a request. The fifth write contains only the rest of that
        // request.
        let begun = if id == 4 { request(3)["{\"id\":3".len()..].to_owned() } else { request(id) };
        stdin.write_all(format!("{begun}{next}").as_bytes()).expect("a request");
        let mut answer = answers.next().expect("an answer").expect("text");
        while answer.starts_with("{\"id\":null") {
            answer = answers.next().expect("an answer").expect("text");
        }
        assert!(answer.starts_with(&format!("{{\"id\":{},\"report\"", id.min(3))), "{answer}");
    }
    drop(stdin);
    assert_eq!(answers.count(), 0);
    child.wait().expect("an end");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let mut child = seamgate()
        .args(["check", "--ndjson", "-c", "hostile"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("seamgate");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || {
        // Writes until the pipe is closed.
        let requests = requests(50);
        while stdin.write_all(&requests).is_ok() {}
    });
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_exact(&mut [0; 10]).expect("the first answer");
    drop(stdout);
    let output = child.wait_with_output().expect("an end");
    writer.join().expect("written");
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(err(&output), "");
}

/// A verdict that cannot be written is a fault.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_fault() {
    for arguments in [&tool(&["outputs/tool-result.good.txt"])[..], &["check", "--ndjson"], &["inspect"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = seamgate();
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .expect("seamgate");
        child.stdin.take().expect("piped").write_all(b"x\n").expect("written");
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(5), "{arguments:?}");
        assert!(err(&output).starts_with("seamgate: cannot write standard output: "), "{}", err(&output));
    }
}

#[test]
fn inspect_says_what_the_built_in_component_holds() {
    let text = out(&run(&["inspect"], b""));
    assert!(text.starts_with("{\"agents\":[],\"profiles\":[],\"imports\":[],\"exports\":["), "{text}");
    assert!(text.contains("\"digest\":\"sha256:") && text.trim_end().ends_with("\"sealed\":false}"), "{text}");
}

#[test]
fn a_baked_component_judges_as_its_contracts_do() {
    let baked = temporary("bake").join("baked.wasm");
    let file = baked.to_str().expect("UTF-8");
    let done = run(&["bake", ".", "-o", file], b"");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(err(&done).contains("3 contracts (cited-answer, tool-result, triage)"), "{}", err(&done));
    assert_eq!(out(&done), "");

    let inspected = out(&run(&["inspect", file], b""));
    assert!(inspected.contains("\"imports\":[]") && inspected.contains("\"sealed\":true"), "{inspected}");
    assert!(inspected.contains("\"agent\":\"triage\""), "{inspected}");
    for (output, expected) in [("tool-result.good.txt", 0), ("tool-result.bad-status.txt", 1)] {
        let output = format!("outputs/{output}");
        let plain = run(&tool(&[&output]), b"");
        let judged = run(&["check", "-c", file, "--agent", "tool-result", &output], b"");
        assert_eq!((judged.status.code(), out(&judged)), (Some(expected), out(&plain)));
    }
    // Baking into the component of the guest's build gives the same result.
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/component/built.wasm");
    let again = baked.with_file_name("again.wasm");
    let done = run(&["bake", ".", "--component", built, "-o", again.to_str().expect("UTF-8")], b"");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(fs::read(&baked).expect("a component") == fs::read(&again).expect("a component"));

    let several = run(&["check", "-c", file, "outputs/tool-result.good.txt"], b"");
    assert_eq!(several.status.code(), Some(2));
    assert!(err(&several).contains("name one with --agent (cited-answer, tool-result, triage)"), "{}", err(&several));
    let described = run(&["describe", "-c", file, "--agent", "triage"], b"");
    assert_eq!(out(&described), out(&run(&["describe", "-c", "triage.contract.json"], b"")));
}

#[test]
fn profiles_are_linted_described_baked_and_inspected() {
    let folder = temporary("profiles");
    let profile = r#"{"agent":"reader","tools":[{"name":"search","server":"web","effect":"read","permit":"allow","arguments":"a.json"}]}"#;
    let file = folder.join("reader.profile.json");
    fs::write(&file, profile).expect("a profile");
    fs::write(folder.join("a.json"), "{\"required\": [\"q\"]}").expect("a schema");
    let (name, all) = (file.to_str().expect("UTF-8"), folder.to_str().expect("UTF-8"));

    let lint = out(&run(&["lint", all], b""));
    assert!(
        lint.contains("warning[no_definition]: $.tools[0] ")
            && lint.contains("reader.profile.json:1:28")
            && lint.contains("\n1 profile, 0 errors, "),
        "{lint}"
    );
    let lock = r#"{"servers":{"web":{"tools":[{"name":"search"}]}}}"#;
    fs::write(folder.join("reader.lock.json"), lock).expect("a lock file");
    let lint = out(&run(&["lint", name], b""));
    assert!(!lint.contains("no_definition"), "{lint}");
    assert_eq!(out(&run(&["describe", "-c", name], b"")), "Tools:\n- web/search (read)\n");

    let baked = folder.join("baked.wasm");
    let baked = baked.to_str().expect("UTF-8");
    let done = run(&["bake", all, "-o", baked], b"");
    assert!(err(&done).contains("1 profile (reader)"), "{}", err(&done));
    assert!(out(&run(&["inspect", baked], b"")).contains("\"profiles\":[{\"agent\":\"reader\""));

    fs::write(&file, profile.replace("\"read\"", "\"reads\"")).expect("a profile");
    let wrong = run(&["lint", name], b"");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(out(&wrong).contains("error[enum]: $.tools[0].effect must be one of"), "{}", out(&wrong));
}

#[test]
fn what_cannot_be_baked_is_said_and_nothing_is_written() {
    let baked = temporary("unbaked").join("baked.wasm");
    let file = baked.to_str().expect("UTF-8");
    let folder = temporary("contracts");
    fs::write(folder.join("bad.contract.json"), br#"{"agent":"a","schema":{"pattern":"(?=x)"}}"#).expect("written");
    let folder = folder.to_str().expect("UTF-8");
    for (arguments, said) in [
        (&["bake", folder, "-o", file][..], "error[pattern]: $.schema.pattern must not use look-ahead"),
        (&["bake", "outputs", "-o", file], "the folder has no contract"),
        (&["bake", "nowhere", "-o", file], "nowhere"),
        (&["bake", ".", "-o", "/nowhere/baked.wasm"], "/nowhere/baked.wasm"),
        (&["bake", "."], "--output"),
        (&["bake", ".", "--component", "triage.contract.json", "-o", file], "not a WebAssembly component"),
        (&["bake", ".", "--component", "nowhere.wasm", "-o", file], "cannot load nowhere.wasm"),
    ] {
        let done = run(arguments, b"");
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(err(&done).contains(said), "{arguments:?}: {}", err(&done));
        assert!(!baked.exists());
    }
}

#[test]
fn lint_and_describe_speak_of_contracts() {
    let output = run(&["lint", ".", "hostile"], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        out(&output).ends_with("5 contracts, 0 errors, 0 warnings, 7 hints that --strict shows\n"),
        "{}",
        out(&output)
    );
    let output = run(&["lint", ".", "hostile", "--strict"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(out(&output).contains("hint[no_id]: $.schema has no '$id'"), "{}", out(&output));
    assert!(out(&output).ends_with("5 contracts, 0 errors, 0 warnings, 7 hints\n"), "{}", out(&output));
    let output = run(&["lint", ".", "--allow", "frob"], b"");
    assert!(err(&output).contains("`lint` finds nothing of that code"), "{}", err(&output));
    let output = run(&["describe", "-c", "triage.contract.json"], b"");
    assert!(out(&output).contains("\"severity\": one of"), "{}", out(&output));
}

#[test]
fn what_is_known_of_a_stream_is_told_while_it_comes() {
    let mut child = seamgate()
        .args(["check", "--stream", "-c", "triage.contract.json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("seamgate");
    let mut stdin = child.stdin.take().expect("piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = || {
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        line
    };
    let output = fs::read_to_string(root().join("schemas/examples/outputs/triage.good.txt")).expect("it");
    let (first, rest) = output.split_at(output.find("},").expect("two items") + 1);
    stdin.write_all(first.as_bytes()).expect("taken");
    // The input is still open.
    assert!(
        line().starts_with("{\"progress\":{\"completeness\":\"in_flight\",\"items\":[{\"candidate\":138,\"index\":0,")
    );
    stdin.write_all(rest.as_bytes()).expect("taken");
    let told = line();
    assert!(told.contains("\"completeness\":\"soft_complete\"") && told.contains("\"index\":2"), "{told}");
    drop(stdin);
    let whole = out(&run(&["check", "-c", "triage.contract.json", "outputs/triage.good.txt"], b""));
    assert_eq!(line(), format!("{{\"report\":{}}}\n", whole.trim_end()));
    assert_eq!(child.wait().expect("an end").code(), Some(0));

    let words = out(&run(&["check", "--stream", "--picture", "-c", "triage.contract.json"], output.as_bytes()));
    assert!(words.starts_with("item 0 at bytes 290 to 534: { \"id\": \"WEB-4312\""), "{words}");
    assert!(
        words.contains("\nsoft-complete: this is a whole document\nhard-complete: the producer has stopped\n"),
        "{words}"
    );
    let stuck = out(&run(&["check", "--stream", "--picture", "-c", "tool-result.contract.json"], b"```json\n{\"a\":}"));
    assert!(stuck.starts_with("dead end at byte 0: it must be JSON alone: other text starts"), "{stuck}");
    let long = run(&["check", "--stream", "-c", "tool-result.contract.json"], &vec![b' '; 9 * 1024 * 1024]);
    assert_eq!(long.status.code(), Some(5));
    assert!(out(&long).starts_with("{\"fault\":{\"fault\":\"input_too_large\""), "{}", out(&long));
}

/// Paths that come from a folder or a contract must lead to files of limited size. A path that the user names may be a
/// pipe. No path exhausts memory or blocks.
#[cfg(unix)]
mod files {
    use std::{
        os::unix::fs::symlink,
        time::{Duration, Instant},
    };

    use super::*;

    const MAX: usize = 8 << 20;

    /// The kinds of things that can be in the place of a file.
    #[derive(Debug, Clone, Copy)]
    enum Found {
        Endless(&'static str),
        Fifo,
        Folder,
        Bytes(usize),
    }

    const WRONG: [Found; 7] = [
        Found::Endless("/dev/zero"),
        Found::Endless("/dev/urandom"),
        Found::Endless("/dev/full"),
        Found::Fifo,
        Found::Folder,
        Found::Bytes(MAX + 1),
        Found::Bytes(3 * MAX),
    ];

    impl Found {
        /// Creates the thing at a path. An endless device is created as a link.
        fn put(self, path: &Path) {
            match self {
                Found::Endless(device) => symlink(device, path).expect("a link"),
                Found::Fifo => assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success()),
                Found::Folder => fs::create_dir(path).expect("a folder"),
                Found::Bytes(bytes) => fs::write(path, vec![b' '; bytes]).expect("a file"),
            }
        }
    }

    /// Runs a command with limited memory and time. Allocations beyond the limit fail, and a process that hangs is
    /// terminated.
    fn ended(arguments: &[&str]) -> (i32, String) {
        ended_with(Stdio::null(), arguments)
    }

    fn ended_with(input: Stdio, arguments: &[&str]) -> (i32, String) {
        let binary = seamgate().get_program().to_owned();
        let mut command = Command::new("timeout");
        command.args(["20", "sh", "-c", "ulimit -v 8388608; exec \"$0\" \"$@\""]).arg(binary).args(arguments);
        let output = command.stdin(input).env_remove("RUST_LOG").output().expect("timeout");
        (output.status.code().unwrap_or(-1), err(&output) + &out(&output))
    }

    #[test]
    fn what_a_folder_or_a_contract_leads_to_is_a_file_of_bounded_size() {
        for (number, found) in WRONG.into_iter().enumerate() {
            for place in ["contract", "schema", "resource", "linked"] {
                let folder = temporary(&format!("found-{number}-{place}"));
                let (contract, other) = (folder.join("a.contract.json"), folder.join("other"));
                let named = match place {
                    "resource" => r#"{"agent":"a","schema":{},"resources":{"urn:a":"other"}}"#,
                    _ => r#"{"agent":"a","schema":"other"}"#,
                };
                match place {
                    "contract" => found.put(&contract),
                    "linked" => {
                        found.put(&other);
                        symlink("other", &contract).expect("a link");
                    }
                    _ => {
                        found.put(&other);
                        fs::write(&contract, named).expect("a contract");
                    }
                }
                let start = Instant::now();
                let folder_path = folder.to_string_lossy().into_owned();
                for arguments in [&["lint", &folder_path][..], &["check", "-c", &folder_path]] {
                    let (status, said) = ended(arguments);
                    assert_eq!(status, 2, "{found:?} {place}: {said}");
                    let why = match found {
                        Found::Bytes(bytes) => format!("the file has {bytes} bytes; the limit is {MAX}"),
                        // A path in a contract must not lead to a device of the system.
                        Found::Endless(_) if matches!(place, "schema" | "resource") => "leads out of".to_owned(),
                        _ => "must be a regular file".to_owned(),
                    };
                    assert!(said.contains(&why), "{found:?} {place}: {said}");
                }
                assert!(start.elapsed() < Duration::from_secs(10), "{found:?} {place}: {:?}", start.elapsed());
                fs::remove_dir_all(folder).expect("removed");
            }
        }
    }

    /// Kubernetes mounts folders like this: each name is a link into a folder, and this folder is itself a link.
    #[test]
    fn links_inside_a_folder_are_followed() {
        let folder = temporary("mounted");
        fs::create_dir(folder.join("..1")).expect("a folder");
        fs::write(folder.join("..1/a.contract.json"), r#"{"agent":"a","schema":"a.json"}"#).expect("a contract");
        fs::write(folder.join("..1/a.json"), format!("{}true", " ".repeat(MAX - 4))).expect("a schema");
        symlink("..1", folder.join("..data")).expect("a link");
        for name in ["a.contract.json", "a.json"] {
            symlink(format!("..data/{name}"), folder.join(name)).expect("a link");
        }
        let output = run(&["check", "-c", &folder.to_string_lossy()], b"{}");
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        fs::remove_dir_all(folder).expect("removed");
    }

    /// A short contract can name a file many times, so the total size is limited.
    #[test]
    fn a_contract_with_what_it_names_is_bounded() {
        let folder = temporary("many");
        fs::write(folder.join("a.json"), format!("\"{}\"", "x".repeat(MAX - 2))).expect("a schema");
        let schemas = "\"schema\":\"a.json\",".repeat(2000);
        let resources = (0..2000).map(|number| format!("\"urn:{number}\":\"a.json\"")).collect::<Vec<_>>().join(",");
        for members in [schemas, format!("\"schema\":{{}},\"resources\":{{{resources}}},")] {
            fs::write(folder.join("a.contract.json"), format!("{{{members}\"agent\":\"a\"}}")).expect("a contract");
            let (status, said) = ended(&["lint", &folder.to_string_lossy()]);
            assert_eq!(status, 2, "{said}");
            assert!(said.contains("has more than 33554432 bytes with the files that it names"), "{said}");
        }
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn what_the_user_names_may_be_a_pipe_and_is_bounded_too() {
        let folder = temporary("named");
        let path = |name: &str| folder.join(name).display().to_string();
        let contract = r#"{"agent":"a","schema":true,"allow":[{"path":"$.team","list":"teams"}]}"#;
        fs::write(path("a.contract.json"), contract).expect("a contract");
        let list = |file: &str| format!("teams={file}");
        for (arguments, said) in [
            (
                ["check", "-c", "/dev/zero", "--list", &list("/dev/null")],
                "/dev/zero: the file has more than 8388608 bytes",
            ),
            (["check", "-c", &path("a.contract.json"), "--list", &list("/dev/zero")], "has more than 8388608 bytes"),
            (["check", "-c", &path("a.contract.json"), "--list", &list("/dev/urandom")], "has more than 8388608 bytes"),
            (["check", "-c", &path(""), "--list", &list("/dev/zero")], "has more than 8388608 bytes"),
        ] {
            let (status, err) = ended(&arguments);
            assert_eq!(status, 2, "{arguments:?}: {err}");
            assert!(err.contains(said), "{arguments:?}: {err}");
        }
        for (pipe, text) in [("contract", contract), ("list", "core\n"), ("output", "{\"team\":\"core\"}")] {
            Found::Fifo.put(&folder.join(pipe));
            let (path, text) = (folder.join(pipe), text.to_owned());
            std::thread::spawn(move || fs::write(path, text));
        }
        let output = run(&["check", "-c", &path("contract"), "--list", &list(&path("list")), &path("output")], b"");
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        fs::remove_dir_all(folder).expect("removed");
    }

    /// Returns the path of a new pipe in a folder. A thread writes a text into the pipe once.
    fn pipe(folder: &Path, name: &str, text: impl Into<Vec<u8>>) -> String {
        let (path, text) = (folder.join(name), text.into());
        Found::Fifo.put(&path);
        let shown = path.display().to_string();
        std::thread::spawn(move || fs::write(path, text));
        shown
    }

    /// A contract that checks values against a list and claims against evidence.
    const GIVEN: &str = r#"{"agent":"a","schema":{"type":"object"},"allow":[{"path":"$.team","list":"teams"}],
        "evidence":{"claims":"$.claims[*]"},"retry":{"limit":3}}"#;

    const SEEN: &str = r#"[{"id":"e1","text":"The export stops at 10:02."}]"#;

    const GOOD: &str = r#"{"team":"core","claims":[{"text":"The export stops.","evidence":[{"id":"e1","quote":"The export stops"}]}]}"#;

    #[test]
    fn every_output_is_judged_by_the_same_bytes_of_a_pipe() {
        let folder = temporary("pipes-for-all");
        let path = |name: &str| folder.join(name).display().to_string();
        let outputs = ["a.txt", "b.txt", "c.txt"].map(path);
        for output in &outputs {
            fs::write(output, GOOD).expect("an output");
        }
        fs::write(path("good.contract.json"), GIVEN).expect("a contract");
        let baked = run(&["bake", &path(""), "-o", &path("gate.wasm")], b"");
        assert_eq!(baked.status.code(), Some(0), "{}", err(&baked));
        let component = fs::read(path("gate.wasm")).expect("a component");
        for (number, contract) in [GIVEN.as_bytes().to_vec(), component].into_iter().enumerate() {
            for (turn, more) in
                [&[][..], &["--json"], &["--picture"], &["--format", "github"], &["--stream"]].iter().enumerate()
            {
                let name = |what: &str| format!("{what}-{number}-{turn}");
                let contract = pipe(&folder, &name("contract"), contract.clone());
                let list = format!("teams={}", pipe(&folder, &name("list"), "core\nweb\n"));
                let evidence = pipe(&folder, &name("evidence"), SEEN);
                let files = if more.contains(&"--stream") { &outputs[..1] } else { &outputs[..] };
                let mut arguments = vec!["check", "-c", &contract, "--list", &list, "--evidence", &evidence];
                arguments.extend(*more);
                arguments.extend(files.iter().map(String::as_str));
                let judged = run(&arguments, b"");
                assert_eq!(judged.status.code(), Some(0), "{arguments:?}: {}{}", err(&judged), out(&judged));
            }
        }
        // With a schema only.
        let schema = pipe(&folder, "schema", r#"{"required":["team"]}"#);
        let (status, said) =
            ended(&[&["check", "--schema", &schema], &outputs.each_ref().map(String::as_str)[..]].concat());
        assert_eq!(status, 0, "{said}");

        // Each attempt of a run uses the same inputs.
        let list = format!("teams={}", pipe(&folder, "run-list", "core\n"));
        let (contract, evidence) = (pipe(&folder, "run-contract", GIVEN), pipe(&folder, "run-evidence", SEEN));
        let agent =
            format!("if [ $SEAMGATE_ATTEMPT = 1 ]; then echo '{{\"team\":\"ops\"}}'; else cat {}; fi", outputs[0]);
        let ran = run(
            &["run", "-c", &contract, "--list", &list, "--evidence", &evidence, "--", "sh", "-c", &agent],
            b"the prompt",
        );
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        fs::remove_dir_all(folder).expect("removed");
    }

    /// `seamgate mcp` uses the profile twice: for itself and for the gate.
    #[test]
    fn a_profile_that_is_a_pipe_is_read_once() {
        let folder = temporary("pipe-profile");
        let profile = r#"{"agent":"files","tools":[{"name":"list","effect":"read","permit":"allow"}]}"#;
        let path = pipe(&folder, "files.profile.json", profile);
        let (status, said) = ended(&["mcp", "-p", &path, "--as", "anna", "--", "cat"]);
        assert_eq!(status, 0, "{said}");
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn what_can_be_read_only_once_is_named_once() {
        let folder = temporary("named-twice");
        let path = |name: &str| folder.join(name).display().to_string();
        fs::write(path("a.contract.json"), GIVEN).expect("a contract");
        fs::write(path("good.txt"), GOOD).expect("an output");
        fs::write(path("seen.json"), SEEN).expect("evidence");
        fs::write(path("teams.txt"), "core\n").expect("a list");
        Found::Fifo.put(&folder.join("pipe"));
        let (contract, pipe, good) = (path("a.contract.json"), path("pipe"), path("good.txt"));
        let list = |file: &str| format!("teams={file}");
        let (list_of_pipe, list_of_input, list_of_file) = (list(&pipe), list("-"), list(&path("teams.txt")));
        let (seen, device) = (path("seen.json"), list("/dev/stdin"));
        for arguments in [
            &["check", "-c", &contract, "-", "-"][..],
            // If no output is named, it is read from standard input.
            &["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_input],
            &["check", "-c", &contract, "--evidence", &seen, "--list", &device],
            &["check", "-c", &contract, "--evidence", &seen, "--list", &device, "-"],
            &["check", "-c", &contract, "--evidence", "-", "--list", &list_of_input, &good],
            &["check", "-c", "-", "--evidence", &seen, "--list", &list_of_input, &good],
            &["check", "--schema", "-"],
            &["check", "-c", "-", "--ndjson"],
            &["check", "-c", &contract, "--evidence", &pipe, "--list", &list_of_pipe, &good],
            &["check", "-c", &pipe, "--evidence", &seen, "--list", &list_of_pipe, &good],
            &["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_file, &pipe, &good, &pipe],
            &["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_pipe, &pipe],
            &["check", "-c", &contract, "--list", &list_of_pipe, "--parquet", &pipe, "--out", &good],
            &["run", "-c", &contract, "--evidence", "-", "--list", &list_of_file, "--", "true"],
            &["run", "-c", &contract, "--evidence", &seen, "--list", &device, "--", "true"],
            &["run", "-c", &contract, "--evidence", &pipe, "--list", &list_of_pipe, "--", "true"],
            &["mcp", "-p", &pipe, "--list", &list_of_pipe, "--", "true"],
            &["mcp", "-p", &contract, "--list", &device, "--", "true"],
            &["agent", "-p", &pipe, "--servers", &pipe, "--journal", &good, "--", "true"],
            &["diff", &pipe, &pipe],
            &["lint", &pipe, &pipe],
            &["test", &pipe, &pipe],
        ] {
            let (status, said) = ended_with(Stdio::piped(), arguments);
            assert_eq!(status, 2, "{arguments:?}: {said}");
            let no_library = arguments.contains(&"--parquet");
            assert!(no_library || said.contains("can be read only once"), "{arguments:?}: {said}");
        }
        // A regular file can be read again, and so can an empty device.
        let twice = ["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_file, &good, &good];
        assert_eq!(ended(&twice).0, 0);
        assert_eq!(
            ended(&["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_file, "/dev/null", "/dev/null"])
                .0,
            1
        );

        // Each input alone may be standard input.
        let check = |arguments: &[&str], input: &str| run(arguments, input.as_bytes()).status.code();
        let given = ["--evidence", seen.as_str(), "--list", &list_of_file];
        assert_eq!(check(&[&["check", "-c", "-"], &given[..], &[&good, &good]].concat(), GIVEN), Some(0));
        assert_eq!(check(&[&["check", "-c", &contract], &given[..], &[&good, "-"]].concat(), GOOD), Some(0));
        assert_eq!(
            check(&["check", "-c", &contract, "--evidence", "-", "--list", &list_of_file, &good, &good], SEEN),
            Some(0)
        );
        assert_eq!(
            check(&["check", "-c", &contract, "--evidence", &seen, "--list", &list_of_input, &good, &good], "core\n"),
            Some(0)
        );
        assert_eq!(check(&["check", "--schema", "-", &good], r#"{"required":["team"]}"#), Some(0));
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn what_is_too_large_is_told_with_its_size() {
        let folder = temporary("sizes");
        let path = folder.join("output").display().to_string();
        for bytes in [MAX + 1, MAX + 100_000, 3 * MAX] {
            fs::write(&path, vec![b' '; bytes]).expect("a file");
            let exact = format!("the output has {bytes} bytes; the limit is {MAX}");
            for more in [&[][..], &["--stream"]] {
                let named = run(&tool(&[more, &[&path]].concat()), b"");
                assert_eq!(named.status.code(), Some(5));
                assert!(out(&named).contains(&exact), "{}", out(&named));
                assert!(out(&named).contains(&format!("{{\"bytes\":{bytes},\"limit\":{MAX}}}")), "{}", out(&named));
                let mut redirected = seamgate();
                redirected.args(tool(more)).stdin(fs::File::open(&path).expect("the file"));
                let redirected = redirected.output().expect("seamgate");
                assert!(out(&redirected).contains(&exact), "{}", out(&redirected));
                // For a pipe, the total size is unknown.
                let piped = out(&run(&tool(more), &vec![b' '; bytes]));
                assert!(piped.contains(&format!(" bytes or more; the limit is {MAX}")), "{piped}");
            }
        }
        fs::write(&path, vec![0; 40_000_000]).expect("a file");
        let inspected = err(&run(&["inspect", &path], b""));
        assert!(inspected.contains("the file has 40000000 bytes; the limit is 33554432"), "{inspected}");
        fs::remove_dir_all(folder).expect("removed");
    }

    /// A link in the place of the temporary file is not followed.
    #[test]
    fn bake_follows_no_link_of_others() {
        let folder = temporary("bake-link");
        let path = |name: &str| folder.join(name).display().to_string();
        fs::write(path("victim"), "mine").expect("a file");
        symlink("victim", path("gate.wasm.part")).expect("a link");
        let baked = run(&["bake", "hostile", "-o", &path("gate.wasm")], b"");
        assert_eq!(baked.status.code(), Some(0), "{}", err(&baked));
        assert_eq!(fs::read_to_string(path("victim")).expect("a file"), "mine");
        assert!(fs::symlink_metadata(path("gate.wasm")).expect("a component").is_file());
        fs::remove_dir_all(folder).expect("removed");
    }
}

/// All commands work if the address space is too small for the pool of instances.
#[cfg(target_os = "linux")]
#[test]
fn a_small_address_space_is_enough() {
    let folder = temporary("addresses");
    let baked = folder.join("gate.wasm").display().to_string();
    let limited = |addresses: &str, arguments: &[&str]| {
        let binary = seamgate();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {addresses} && exec \"$0\" \"$@\"")]).arg(binary.get_program());
        command.args(arguments).current_dir(root().join("schemas/examples")).env_remove("RUST_LOG");
        command.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache")).stdin(Stdio::null());
        let output = command.output().expect("sh");
        (output.status.code(), out(&output), err(&output))
    };
    assert_eq!(status(&["bake", ".", "-o", &baked], b""), 0);
    for arguments in [
        &["check", "-c", "triage.contract.json", "outputs/triage.partial-one-broken.txt"][..],
        &["check", "--stream", "-c", "triage.contract.json", "outputs/triage.good.txt"],
        &["check", "-c", ".", "--agent", "triage", "outputs/triage.good.txt"],
        &["check", "-c", "hostile/doubling.contract.json", "outputs/triage.good.txt"],
        &["run", "-c", "triage.contract.json", "--", "sh", "agents/triage.sh"],
        &["lint", "."],
        &["describe", "-c", "triage.contract.json"],
        &["inspect"],
        // Its code was compiled and cached with an unlimited address space.
        &["check", "-c", &baked, "--agent", "triage", "outputs/triage.good.txt"],
    ] {
        let expected = limited("unlimited", arguments);
        // 8 GiB, and the smallest address space that the documentation promises.
        for addresses in ["8388608", "5242880"] {
            assert_eq!(limited(addresses, arguments), expected, "{addresses} {arguments:?}");
        }
    }
    fs::remove_dir_all(folder).expect("removed");
}

/// A change of a file that is watched is tested, also one that makes the contract unusable.
#[test]
fn test_watches_for_changes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
    drop(fs::remove_dir_all(&folder));
    let folder = folder.to_str().expect("UTF-8");
    assert_eq!(status(&["init", folder], b""), 0);
    let mut child = seamgate()
        .args(["test", "--watch", folder])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("seamgate");
    let mut printed = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut messages = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut waits = || {
        let found: Vec<String> = messages
            .by_ref()
            .map(|line| line.expect("UTF-8"))
            .take_while(|line| !line.contains("waiting for a change"))
            .collect();
        found.join("\n")
    };
    let mut summary =
        || printed.find(|line| line.as_ref().is_ok_and(|line| line.contains(" examples: "))).expect("a line");
    assert!(summary().expect("UTF-8").contains("2 passed"));
    assert_eq!(waits(), "");
    fs::write(format!("{folder}/order.examples/good.txt"), "{}").expect("written");
    assert!(summary().expect("UTF-8").contains("1 passed, 1 failed"));
    assert_eq!(waits(), "");
    fs::write(format!("{folder}/order.contract.json"), "{").expect("written");
    assert!(waits().contains("order.contract.json:1:2"));
    child.kill().expect("killed");
    child.wait().expect("an end");
}
