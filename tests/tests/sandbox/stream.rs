//! An output in pieces: for any pieces, the report equals that of the whole text, and the cost is only a little higher.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use seamgate::{Finish, Gate, Request};
use seamgate_core as core;
use seamgate_tests::{Case, Random, cases, natively, thorough};
use serde_json::Value;

/// The number of random splits of each case, natively and in the sandbox. The first value is the default, and the
/// second is for thorough tests.
const SPLITS: [usize; 2] = [10, 40];
const SANDBOXED: [usize; 2] = [1, 4];

/// The number of gates that are open at the same time. Each gate has its own copy of the machine code, about 15 MB.
const GATES: usize = 128;

/// A case with its gate, its contract and its agent.
type Registered = (Case, Gate, core::Contract, String);

/// Splits bytes at random places. Most pieces are small, and some are empty.
fn pieces<'t>(bytes: &'t [u8], random: &mut Random) -> Vec<&'t [u8]> {
    let longest = [1, 3, 16, 100, 5_000][random.below(5)];
    let mut rest = bytes;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(random.below(longest + 1).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Returns the cases with a contract and a single attempt. Each is registered when the iterator reaches it.
fn registered() -> impl Iterator<Item = Registered> {
    let of = |case: Case| {
        let contract = core::Contract::compile(&case.contract).ok()?;
        let mut gate = Gate::new().expect("a gate");
        let agent = gate.register(&case.contract).ok()?.agent;
        Some((case, gate, contract, agent))
    };
    let cases = cases().expect("cases");
    // Each case needs its own gate because agent names repeat. The cost test covers large outputs.
    cases.into_iter().filter(|case| case.more.is_empty() && case.output.len() < 20_000).filter_map(of)
}

fn evidence(case: &Case) -> Option<Vec<core::Observation>> {
    case.evidence().map(|evidence| evidence.into_iter().map(natively).collect())
}

fn lists(case: &Case) -> Vec<core::NamedList> {
    case.lists().into_iter().map(|(name, values)| core::NamedList { name, values }).collect()
}

#[test]
fn the_report_does_not_depend_on_the_pieces() {
    let (mut all, mut total, mut in_pieces) = (registered(), 0, 0);
    loop {
        let cases: Vec<Registered> = all.by_ref().take(GATES).collect();
        if cases.is_empty() {
            break;
        }
        in_pieces += in_all_pieces(&cases, total);
        total += cases.len();
    }
    println!("{total} cases, {in_pieces} splits: the same reports");
}

/// Splits cases into pieces. `before` is the number of earlier cases; it varies the splits. Returns the number of
/// splits that gave the report on the whole text.
fn in_all_pieces(cases: &[Registered], before: usize) -> usize {
    let [splits, sandboxes] = [SPLITS, SANDBOXED].map(|numbers| numbers[usize::from(thorough())]);
    // The result for the whole text: a report, or in a few cases a fault.
    let whole: Vec<String> = cases
        .iter()
        .map(|(case, gate, _, agent)| match gate.validate(&case.request(agent)) {
            Ok(verdict) => verdict.report.to_json(),
            Err(fault) => fault.to_json(),
        })
        .collect();
    let natively = |index: usize, random: &mut Random| {
        let (case, _, contract, _) = &cases[index];
        let (text, invalid) = case.text();
        let mut session = match core::Session::open(contract, lists(case), evidence(case)) {
            Ok(session) => session,
            Err(fault) => return fault.to_json(),
        };
        let mut at = 0;
        for piece in pieces(text.as_bytes(), random) {
            // The core requires text, so a piece ends at a character boundary.
            let end = text.ceil_char_boundary((at + piece.len()).min(text.len()));
            if end > at {
                session.push(contract, &text[at..end]).expect("taken");
            }
            at = end.max(at);
        }
        session.push(contract, &text[at..]).expect("taken");
        match session.finish(contract, case.finish().parse().expect("a finish"), invalid) {
            Ok(report) => report.to_json(),
            Err(fault) => fault.to_json(),
        }
    };
    let sandboxed = |index: usize, random: &mut Random| {
        let (case, gate, _, agent) = &cases[index];
        let request = case.sent(Request::new(agent, ""));
        let mut session = match gate.session(&request) {
            Ok(session) => session,
            Err(fault) => return fault.to_json(),
        };
        for piece in pieces(&case.output, random) {
            session.push(piece).expect("taken");
        }
        match session.finish(case.finish().parse().expect("a finish")) {
            Ok(verdict) => verdict.report.to_json(),
            Err(fault) => fault.to_json(),
        }
    };
    let (next, in_pieces) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |processors| processors.get()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= (splits + sandboxes) * cases.len() {
                        break;
                    }
                    let index = number % cases.len();
                    let mut random = Random((before * (splits + sandboxes) + number) as u64);
                    let judged = match number < splits * cases.len() {
                        true => natively(index, &mut random),
                        false => sandboxed(index, &mut random),
                    };
                    assert_eq!(judged, whole[index], "{}, split {number}", cases[index].0.name);
                    in_pieces.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    in_pieces.into_inner()
}

/// If a candidate is JSON, exactly its items are reported in flight, each with its number and span.
#[test]
fn items_are_told_as_the_report_has_them() {
    let mut compared = 0;
    for (case, gate, contract, agent) in registered() {
        let Ok(verdict) = gate.validate(&case.request(&agent)) else { continue };
        let report: Value = serde_json::from_str(&verdict.report.to_json()).expect("JSON");
        let chosen =
            report["candidates"].as_array().and_then(|all| all.iter().find(|one| one["chosen"] == true)).cloned();
        let path = serde_json::from_str::<Value>(&case.contract).expect("JSON")["items"]["path"].clone();
        let (Some(chosen), Some(path)) = (chosen, path.as_str()) else { continue };
        let (text, _) = case.text();
        let span = |value: &Value| {
            let at = |index: usize| value["span"][index].as_u64().expect("an offset") as usize;
            (at(0), at(1))
        };
        let (start, end) = span(&chosen);
        let Ok(document) = serde_json::from_str::<Value>(&text[start..end]) else { continue };
        let pointer =
            path.trim_end_matches("[*]").trim_start_matches('$').replace(['.', '['], "/").replace([']', '\''], "");
        let Some(items) = document.pointer(&pointer).and_then(Value::as_array) else { continue };
        // A pointer leads to only one of several members with the same name, and items that are nested too deeply are
        // not followed.
        let is_odd = |keyword: &str| report.to_string().contains(keyword);
        if is_odd("duplicate_member") || is_odd("caps.depth") {
            continue;
        }
        let mut session = core::Session::open(&contract, lists(&case), evidence(&case)).expect("its lists were sent");
        let mut told = Vec::new();
        for character in text.chars() {
            told.extend(session.push(&contract, character.encode_utf8(&mut [0; 4])).expect("taken").items);
        }
        told.retain(|item| item.candidate as usize == start);
        assert_eq!(told.len(), items.len(), "{}", case.name);
        for (index, (item, value)) in told.iter().zip(items).enumerate() {
            let piece = &text[item.span.start as usize..item.span.end as usize];
            assert_eq!(item.index as usize, index, "{}", case.name);
            assert_eq!(serde_json::from_str::<Value>(piece).ok().as_ref(), Some(value), "{}", case.name);
        }
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} cases have items");
}

/// Returns a pretty-printed list of items with text around it, of about this many bytes.
fn list(bytes: usize) -> String {
    let item = |number: usize| {
        format!(
            "    {{\n      \"id\": \"OPS-{number}\",\n      \"severity\": \"high\",\n      \"confidence\": 0.{number},\n      \"rationale\": \"The nightly export has failed {number} times; the log says \\\"timeout\\\".\"\n    }}"
        )
    };
    let items: Vec<String> = (0..bytes / 170).map(item).collect();
    format!(
        "Here it is:\n```json\n{{\n  \"date\": \"2026-03-12\",\n  \"recommendations\": [\n{}\n  ]\n}}\n```\n",
        items.join(",\n")
    )
}

/// Fuel is deterministic, so the test limits it. Times are only printed.
#[test]
fn pieces_cost_little_more_than_the_whole() {
    let contract = seamgate::read_contract(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/examples/triage.contract.json").as_ref(),
    );
    let contract =
        contract.expect("the example").replace("\"max\":7", "\"max\":10000").replace("\"max\": 7", "\"max\": 10000");
    let contract = contract.replace("\"maxItems\": 7,", "").replace("\"maxItems\":7,", "");
    let component = seamgate::Component::builtin().bake(&[contract], &seamgate::Limits::default()).expect("baked");
    let gate = Gate::with(seamgate::Options::default().component(component)).expect("a gate");
    let request = Request::new("triage", "");
    for bytes in [4_000, 400_000] {
        let output = list(bytes);
        let median = |mut times: Vec<Duration>| {
            times.sort();
            times[times.len() / 2]
        };
        let runs = 20_000_000 / bytes / 50;
        let whole = gate.validate(&Request::new("triage", &output)).expect("a verdict");
        assert_eq!(whole.report.disposition, seamgate::Disposition::Accepted);
        let time = median(
            (0..runs)
                .map(|_| {
                    let start = Instant::now();
                    gate.validate(&Request::new("triage", &output)).expect("a verdict");
                    start.elapsed()
                })
                .collect(),
        );
        println!("{} bytes, {} fuel, {time:?} as a whole", output.len(), whole.usage.fuel);
        for size in [1, 4, 16, 64, 256, 1024, 4096, 65_536] {
            let run = || {
                let start = Instant::now();
                let mut session = gate.session(&request).expect("a session");
                let mut items = 0;
                for piece in output.as_bytes().chunks(size) {
                    items += session.push(piece).expect("taken").items.len();
                }
                let verdict = session.finish(Finish::Unknown).expect("a verdict");
                assert_eq!(verdict.report.to_json(), whole.report.to_json());
                assert_eq!(items, output.matches("\"id\"").count());
                (start.elapsed(), verdict.usage.fuel)
            };
            let fuel = run().1;
            let time_in_pieces = median((0..runs.min(if size < 16 { 3 } else { runs })).map(|_| run().0).collect());
            let ratio = fuel as f64 / whole.usage.fuel as f64;
            let pushes = output.len().div_ceil(size);
            let each = (fuel as f64 - whole.usage.fuel as f64) / pushes as f64;
            println!(
                "  pieces of {size}: {ratio:.2} times the fuel ({each:.0} more a piece), {:.2} times the time",
                time_in_pieces.as_secs_f64() / time.as_secs_f64()
            );
            // A call costs about as much as a hundred bytes. Pieces smaller than that mostly pay for calls.
            assert!(each < 1_500.0 + 60.0 * size as f64, "a piece of {size} bytes takes {each:.0} fuel");
            // The limit is absolute, because the whole text may use less fuel in the future.
            assert!(
                size < 256 || bytes < 100_000 || each <= 40.0 * size as f64,
                "pieces of {size} bytes take {each:.0} more fuel each, {ratio:.2} times the fuel in all"
            );
        }
    }
}

/// For hosts without resources: the state is sent with each chunk, and stays small.
#[test]
fn wire_takes_pieces_with_their_state() {
    let mut gate = Gate::new().expect("a gate");
    gate.register(r#"{"agent":"a","schema":true,"items":{"path":"$.list[*]","schema":true}}"#).expect("a contract");
    let output = "So:\n```json\n{\"list\":[{\"a\":\"é\"},[1,2],3]}\n```\n";
    let mut state = Value::Null;
    let mut spans = Vec::new();
    let mut last = Value::Null;
    for chunk in output.split_inclusive(['a', '}', ' ', '2']) {
        let request = serde_json::json!({"op": "push", "agent": "a", "state": state, "chunk": chunk});
        let answer: Value =
            serde_json::from_str(&gate.call(&request.to_string()).expect("an answer").json).expect("JSON");
        state = answer["result"]["state"].clone();
        last = answer["result"]["progress"].clone();
        assert!(state.as_str().is_some_and(|state| state.len() < 100), "{answer}");
        spans.extend(last["items"].as_array().cloned().unwrap_or_default());
    }
    let texts: Vec<&str> = spans
        .iter()
        .map(|item| {
            &output[item["span"][0].as_u64().expect("an offset") as usize
                ..item["span"][1].as_u64().expect("an offset") as usize]
        })
        .collect();
    assert_eq!(texts, ["{\"a\":\"é\"}", "[1,2]", "3"]);
    assert_eq!((&last["completeness"], &last["dead_end"]), (&Value::from("soft_complete"), &Value::Null));
    for state in ["7", "\"AAAA\"", "{}", "\"not a state\""] {
        let request = format!("{{\"id\":1,\"op\":\"push\",\"agent\":\"a\",\"state\":{state},\"chunk\":\"[1\"}}");
        let answer = gate.call(&request).expect("an answer").json;
        assert!(answer.starts_with("{\"id\":1,\"fault\":{\"fault\":\"bad_request\""), "{answer}");
    }
}

#[test]
fn a_session_fails_as_a_whole_output_does() {
    let mut gate = Gate::new().expect("a gate");
    assert!(matches!(gate.session(&Request::new("a", "")).map(drop), Err(seamgate::Fault::UnknownAgent { .. })));
    gate.register(r#"{"agent":"a","schema":true}"#).expect("a contract");
    let mut session = gate.session(&Request::new("a", "[")).expect("a session");
    let piece = vec![b'1'; 1024 * 1024];
    let mut pushed = 0;
    let fault = loop {
        match session.push(&piece) {
            Ok(_) => pushed += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!((pushed, fault.code()), (7, "input_too_large"));
    // If a list is named twice, the request is rejected at the start, before any piece is sent.
    let request = Request::new("a", "1").list("l", ["x"]).list("l", ["y"]);
    assert_eq!(gate.session(&request).map(drop).map_err(|fault| fault.code()), Err("bad_request"));
    // The gate still works.
    assert!(gate.validate(&Request::new("a", "1")).is_ok());
}
