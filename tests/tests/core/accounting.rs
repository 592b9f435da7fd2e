//! Checks that a report accounts for each byte of an output. The outputs combine prefixes, bodies, suffixes and
//! settings, or random pieces.

use std::{env, sync::Mutex, thread};

use seamgate_checks::accounts::every_byte_is_accounted_for;
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::{PIECES, Random};

/// The number of random outputs. `ACCOUNTING_OUTPUTS` overrides it.
const OUTPUTS: usize = 400_000;

/// Text before JSON: words, and brackets that do not begin JSON.
const BEFORE: [&str; 64] = [
    "",
    "Sure! Here it is:\n",
    "[WARN] tests were NOT run.\n",
    "[INFO] started\n[INFO] done\n",
    "[plugins] memory: on (bank: ON)\n",
    "[link](u) says:\n",
    "{{user}} asked:\n",
    "GET {/x}\n",
    "[[ ## out ## ]]\n",
    "Read {mode: fast}.\n",
    "See [[Notes]].\n",
    "The mode comes from opts['mode'].\n",
    "It reads cfg[\"mode\"].\n",
    "It reads ${HOME:-/x}.\n",
    "Route GET /orders/{id:int} prints {0:.2f}.\n",
    "a[0] and b[i][j] differ.\n",
    "- [x] done\n- [ ] open\n",
    "{% if x %}\n",
    "f(x) = {x | x > 0}\n",
    "See [1] and [2, 3].\n",
    "(node:12) Warning: x\n",
    "json\n",
    "> quoted: tests fail\n",
    "not run\n> quoted\n",
    "> {\"ok\": false}\nand so\n",
    "<think>maybe {\"ok\": false}</think>\n",
    "not run <think>hm</think>\n",
    "<think time=\"3s\">maybe {\"ok\": false}</think >\n",
    "[THINK]maybe {\"ok\": false}[/THINK]\n",
    "maybe {\"ok\": false}[/THINK] not run\n",
    "◁think▷maybe {\"ok\": false}◁/think▷\n",
    "<|channel|>analysis<|message|>maybe {\"ok\": false}<|end|><|start|>assistant<|channel|>final<|message|>",
    "hm</think>\n",
    "first</think> then <think>b</think> c\n",
    "<thought>x</thought>\n",
    "[THINK]maybe {\"ok\": false}[/THINK]\n",
    "```sh\necho ${x}\n```\nnot run\n",
    "```\nnot run\n```\n",
    "```js\nlet a = {b: 1};\n```\n",
    "``` \n",
    "~~~text\n[x]\n~~~\nwords\n",
    "Draft {\"ok\": false} is wrong.\n",
    "Draft: {\"ok\": false\nLet me begin again.\n",
    "{'ok': False}\n",
    "{\"ok\": false},\n",
    "[{\"ok\": false}, {\"ok\": true}]\n",
    "[{\"ok\": false},\nAnd another one:\n",
    "{\"a\": \"b\n",
    "\"Done\" is what they said.\n",
    "2026 was a good year.\n",
    "// not run\n",
    "# not run [x]\n",
    "/* not run */ ",
    "\u{feff}",
    "\u{feff}not run\n",
    "\u{a0}\u{2028}",
    "]}\n",
    "\"}, ",
    "it's ",
    "<pre><code class=\"language-json\">",
    "**Answer** (see [docs](x)):\n\n",
    "<answer>",
    "Not run.\n<answer>\n",
    "<answer>{\"ok\": false}</answer>\nNo: <answer>",
];

/// The possible bodies of an answer.
const BODIES: [&str; 31] = [
    "{\"refusal\": \"I will not.\"}",
    "{\"ok\": true}",
    "{\n  \"ok\": true,\n  \"why\": \"see [x] and `y` } ```\"\n}",
    "[{\"ok\": true}, {\"ok\": false}]",
    "[{\"ok\": true}]\n[{\"ok\": false}]",
    "{\"ok\": true}\n{\"ok\": false}",
    "{\"ok\": true}\n\nSorry, corrected:\n{\"ok\": false}",
    "{\"ok\": true,}",
    "{\"ok\": tru",
    "{\"ok\": true, \"why\": \"cut",
    "[\n{\"ok\": true},\nAnd the second one:\n{\"ok\": false}\n]",
    "[{\"ok\": true}, {\"ok\" false}, {\"ok\": false}]",
    "{ok: true}",
    "```json\n{\"ok\": true}\n```",
    "```json title=x\n{\"ok\": true}\n```",
    "~~~JSON\n[{\"ok\": true}]\n~~~",
    "```\n{\"ok\": true}\n```",
    "```json\n{\"ok\": true}\n{\"ok\": false}\n```",
    "```json\n[WARN] not run\n{\"ok\": true}\n```",
    "```json\n{\"ok\": true}\n\nDone.\n",
    "```json\n{\"ok\": false}\n```\nNo:\n```json\n{\"ok\": true}\n```",
    "[3, 7]",
    "\"ok\"",
    "{\"answer\": {\"ok\": \"false\"}}",
    "[ {\"ok\": true} ]",
    "{\"ok\": \"true\", \"why\": \"ok\", \"no\": null}",
    "[{\"ok\": \"1\", \"why\": \"[\\\"x\\\"]\"}, {\"ok\": null}, \"{\\\"ok\\\": \\\"1\\\"}\"]",
    "{\\\"ok\\\": true, \\\"why\\\": \\\"a \\\\\\\"b\\\\\\\"\\\"}",
    "{\\n\"ok\"：true，\\n\"why\": \"x”\\n}",
    "[{\"ok\": true}，{\"why\": \"a\\_b\"},\\n{\"ok\": fals}]",
    "{\"why\": \"5 \\* 3\", \"ok\": tru",
];

/// Text after JSON.
const AFTER: [&str; 34] = [
    "",
    "\n",
    "\nTests were not run.",
    " [x]",
    "\n\n[[ ## completed ## ]]\n",
    "\n> Tests were not run.",
    "\n> quoted\nTests were not run.",
    "\n```sh\nls\n```\nTests were not run.",
    "\n```js\nlet a = {};\n```\nTests were not run.",
    "\n```js",
    ".\"\n}",
    "}",
    "]}",
    "\n[1] says so; see opts['a'].",
    "<think>no</think>",
    "\n<think>no</think> not run",
    "</think>",
    "\n<think>no",
    "\nSee `</think>` too.",
    ", {\"ok\": false}",
    "\n{\"ok\": false}\nTests were not run.",
    "\n[{\"ok\": false}]",
    "\n[{\"ok\": fal",
    "\nThe 5\" one.",
    " // not run",
    "\n- [ ] tests",
    "</code></pre>",
    "\n```json\n{\"ok\": false}\n```\nno",
    "\u{a0}",
    "\n\n--\nsent from {device: phone}",
    "</answer>",
    "\n</answer>\nTests were not run.",
    "</answer> or <answer>{\"ok\": false}",
    " in `<answer>` and `</answer>`",
];

/// Members of contracts.
const SETTINGS: [&str; 24] = [
    "",
    r#","repair":"syntax""#,
    r#","items":{"path":"$[*]","schema":true}"#,
    r#","items":{"path":"$[*]","schema":true},"repair":"syntax""#,
    r#","items":{"path":"$.list[*]","schema":true},"repair":"syntax""#,
    r#","extract":{"embedded":"single"}"#,
    r#","extract":{"embedded":"single"},"repair":"syntax""#,
    r#","extract":{"embedded":"single","raw_json":false,"select":"only"}"#,
    r#","extract":{"embedded":true}"#,
    r#","extract":{"embedded":true,"select":"last_valid"},"repair":"syntax""#,
    r#","extract":{"embedded":true,"ignore":[]},"items":{"path":"$[*]","schema":true}"#,
    r#","extract":{"markers":[]},"repair":"syntax""#,
    r#","extract":{"markers":["json"],"untagged":true,"select":"first"},"repair":"syntax""#,
    r#","extract":{"select":"first_valid"},"repair":"syntax""#,
    r#","extract":{"select":"last_valid","markers":["json",""]},"items":{"path":"$[*]","schema":true}"#,
    r#","extract":{"ignore":["thought"]},"repair":"syntax""#,
    r#","refusal":"$.refusal","repair":"syntax""#,
    r#","extract":{"select":"only"},"items":{"path":"$[*]","schema":true,"max":1},"repair":"syntax""#,
    r#","coerce":"lossless","repair":"syntax","items":{"path":"$[*]","schema":{"properties":{"ok":{"const":1},"why":{"type":"array"}}}}"#,
    r#","coerce":"lossless","unknown_members":"strip","extract":{"embedded":true}"#,
    r#","coerce":"lossless","unwrap":true,"unknown_members":"strip","repair":"syntax""#,
    r#","unwrap":true,"unknown_members":"reject","extract":{"embedded":"single"}"#,
    r#","extract":{"within":"answer"},"repair":"syntax""#,
    r#","extract":{"within":"answer","select":"first","embedded":true}"#,
];

fn contracts() -> Vec<Contract> {
    // Changing values that the schema does not accept requires a schema.
    let schema = |members: &str| match members.contains("unknown_members") {
        true => r#"{"properties":{"ok":{"type":"boolean"},"why":{"enum":["OK",1,null]}},"additionalProperties":false}"#,
        false => "true",
    };
    let compiled =
        |members: &&str| Contract::compile(&format!(r#"{{"agent":"a","schema":{}{members}}}"#, schema(members)));
    SETTINGS.iter().map(|members| compiled(members).unwrap_or_else(|fault| panic!("{members}: {fault:?}"))).collect()
}

/// The contracts that judge an output.
#[derive(Clone, Copy)]
enum By {
    All,
    /// One contract for each output, in rotation.
    One,
}

/// Judges outputs on all processors. Returns the number of reports with each disposition.
fn hold<O: Send>(
    by: By,
    outputs: impl Fn(usize) -> Option<O> + Sync,
    text: impl Fn(&O) -> String + Sync,
) -> [usize; 4] {
    let contracts = contracts();
    let workers = thread::available_parallelism().map_or(1, Into::into);
    let all = Mutex::new(([0; 4], Vec::<String>::new()));
    let work = |worker: usize| {
        let mut counts = [0; 4];
        for index in (worker..).step_by(workers) {
            let Some(output) = outputs(index) else { break };
            let text = text(&output);
            let (first, count) = match by {
                By::All => (0, contracts.len()),
                By::One => (index % contracts.len(), 1),
            };
            for (contract, members) in contracts.iter().zip(SETTINGS).skip(first).take(count) {
                let request = Request { output: &text, ..Request::default() };
                let report = validate(contract, &request).unwrap_or_else(|fault| panic!("{fault:?}"));
                counts[report.disposition as usize] += 1;
                if let Err(error) = every_byte_is_accounted_for(&text, &report) {
                    let mut all = all.lock().expect("no other thread panics");
                    all.1.push(format!("{error}\n{text:?} by {members:?}:\n{}", report.to_json()));
                    if all.1.len() > 20 {
                        return;
                    }
                }
            }
        }
        let mut all = all.lock().expect("no other thread panics");
        all.0.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    };
    thread::scope(|scope| (0..workers).for_each(|worker| drop(scope.spawn(move || work(worker)))));
    let (counts, mut failures) = all.into_inner().expect("no thread panics");
    failures.sort_by_key(String::len);
    assert!(
        failures.is_empty(),
        "{} are wrong; the shortest:\n{}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n\n")
    );
    counts
}

#[test]
fn each_byte_is_accounted_for_between_text_of_any_kind() {
    let total = BEFORE.len() * BODIES.len() * AFTER.len();
    let counts = hold(
        By::All,
        |index| (index < total).then_some(index),
        |index| {
            let (before, rest) = (index % BEFORE.len(), index / BEFORE.len());
            [BEFORE[before], BODIES[rest % BODIES.len()], AFTER[rest / BODIES.len()]].concat()
        },
    );
    println!("{} reports: {counts:?} by disposition", total * SETTINGS.len());
    assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
}

#[test]
fn each_byte_is_accounted_for_in_pieces_in_any_order() {
    let total = env::var("ACCOUNTING_OUTPUTS").map_or(OUTPUTS, |count| count.parse().expect("a number"));
    let counts = hold(
        By::One,
        |index| (index < total).then_some(index),
        |index| {
            let mut random = Random(*index as u64);
            let mut text = String::new();
            for _ in 0..=random.below(7) {
                let piece = match random.below(4) {
                    0 => random.one(&BEFORE),
                    1 => random.one(&AFTER),
                    2 => random.one(&BODIES),
                    _ => random.one(&PIECES),
                };
                // Some pieces are truncated.
                let end = if random.chance(15) { random.below(piece.len() + 1) } else { piece.len() };
                text.push_str(&piece[..piece.floor_char_boundary(end)]);
            }
            text
        },
    );
    println!("{total} outputs: {counts:?} by disposition");
}

/// More candidates than the report keeps, more pieces of prose than it lists, and reasoning.
#[test]
fn each_byte_is_accounted_for_where_there_is_much_of_it() {
    let units = [
        "Draft {\"ok\": false}.\n",
        "{\"ok\": true}\n",
        "```json\n{\"ok\": true}\n```\nno\n",
        "<think>x</think> words ",
        "> x\n",
        "[x] {\"ok\": true} ",
        "<think>x</think>```json\n1\n```\n",
        "opts['a'] ",
        "[[x]] {\"ok\": true}\n",
    ];
    let counts = hold(
        By::All,
        |index| (index < units.len() * units.len() * 5).then_some(index),
        |index| {
            let (one, other) = (units[index % units.len()], units[index / units.len() % units.len()]);
            let times = [9, 60, 64, 129, 300][index / units.len() / units.len()];
            (one.repeat(times) + other).repeat(2)
        },
    );
    println!("{counts:?} by disposition");
}

/// Prose with brackets hides nothing: JSON on a line of its own is found after it.
#[test]
fn brackets_in_prose_hide_no_json() {
    const PROSE: [&str; 24] = [
        "[WARN] tests were NOT run.",
        "[plugins] memory: on (bank: ON)",
        "[link](u) says:",
        "{{user}} asked:",
        "GET {/x}",
        "[[ ## out ## ]]",
        "Read {mode: fast}.",
        "See [[Notes]].",
        "The mode comes from opts['mode'].",
        "It reads cfg[\"mode\"].",
        "It reads ${HOME:-/x}.",
        "Route GET /orders/{id:int} prints {0:.2f}.",
        "a[0] and b[i][j] differ.",
        "- [x] done, - [ ] open",
        "{% if x %}",
        "{x | x > 0}",
        "See [1] and [2, 3].",
        "[THINKER]",
        "Use {name} or {other: name}.",
        "[[wiki|page]] and [^1]",
        "[2026-01-01 10:00:00] INFO: up",
        "std::vec<[u8; 4]> and [u8]",
        "Array(3) [ 'a', b, c ]",
        "{{- range .Items }}",
    ];
    const JSON: [&str; 3] = ["{\"ok\": true}", "{\n  \"ok\": [\"[x]\", {}]\n}", "[{\"ok\": true}, {\"ok\": false}]"];
    let compiled = |members: &str| Contract::compile(&format!(r#"{{"agent":"a","schema":true{members}}}"#));
    let cases = [
        (r#","extract":{"embedded":"single"}"#, Disposition::Accepted),
        (r#","extract":{"embedded":true}"#, Disposition::Accepted),
        (r#","repair":"syntax""#, Disposition::Partial),
    ];
    let mut wrong = Vec::new();
    // A contract that accepts every value also accepts lists of numbers.
    let is_value = |prose: &str, members: &str| prose.contains("[1]") && members.contains("true");
    for (members, disposition) in cases {
        let contract = compiled(members).unwrap_or_else(|fault| panic!("{fault:?}"));
        for (first, second) in PROSE.iter().flat_map(|first| PROSE.iter().map(move |second| (first, second))) {
            if is_value(first, members) || is_value(second, members) {
                continue;
            }
            for json in JSON {
                for output in [
                    format!("{first}\n{json}"),
                    format!("{first}\n{second}\n\n{json}\n"),
                    format!("{first}\n{json}\n{second}\n"),
                ] {
                    let request = Request { output: &output, ..Request::default() };
                    let report = validate(&contract, &request).unwrap_or_else(|fault| panic!("{fault:?}"));
                    let wanted: serde_json::Value = serde_json::from_str(json).expect("JSON");
                    let came = report.output.as_deref().map(|text| serde_json::from_str(text).expect("JSON"));
                    if report.disposition != disposition || came != Some(wanted) {
                        wrong.push(format!("{output:?} by {members}: {}", report.to_json()));
                    }
                }
            }
        }
    }
    wrong.sort_by_key(String::len);
    wrong.dedup();
    assert!(wrong.is_empty(), "{} are wrong; the shortest:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}
