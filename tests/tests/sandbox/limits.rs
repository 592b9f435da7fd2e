//! Limits other than the defaults, warm instances, and the cost of hostile texts. `hostile.rs` tests the attacks at
//! default limits.

use std::{thread, time::Duration};

use seamgate::{Disposition, Fault, FuelUse, Gate, Limits, Options, Request};
use seamgate_tests::hostile::named;

const GREETER: &str = r#"{"agent":"greeter","schema":{"type":"object","required":["greeting"]}}"#;

fn gate(limits: Limits) -> Gate {
    Gate::with(Options::default().limits(limits)).expect("a gate")
}

/// Checks that a gate still judges after a fault.
fn works(gate: &Gate) {
    let request = Request::new("greeter", r#"{"greeting":"hi"}"#);
    let verdict = gate.validate_with(GREETER, &request).expect("a verdict after a fault");
    assert_eq!(verdict.report.disposition, Disposition::Accepted);
}

/// Returns a contract with the agent `doubling`. Judging `{}` with it takes 2^40 steps.
fn doubling() -> String {
    named("fuel/reference-doubling-unevaluated").expect("an attack").contract().to_owned()
}

#[test]
fn wall_clock() {
    let gate = gate(Limits::default().fuel(u64::MAX).timeout(Duration::from_millis(200)));
    let fault = gate.validate_with(&doubling(), &Request::new("", "{}")).expect_err("2^40 steps");
    assert!(matches!(fault, Fault::Timeout { .. }), "{fault:?}");
    works(&gate);
}

#[test]
fn memory() {
    let gate = gate(Limits::default().memory(16 * 1024 * 1024));
    let output = format!("[{}]", vec!["1"; 2_000_000].join(","));
    let contract =
        r#"{"agent":"a","schema":{"contains":{"type":"integer"}},"caps":{"bytes":8388608,"array_items":10000000}}"#;
    let fault = gate.validate_with(contract, &Request::new("", &output)).expect_err("40 MB of nodes");
    assert!(matches!(fault, Fault::OutOfMemory { limit: 16_777_216, .. }), "{fault:?}");
    works(&gate);
}

#[test]
fn a_warm_instance_goes_on_after_a_fault() {
    let mut gate = gate(Limits::default());
    gate.register(GREETER).expect("a contract");
    gate.register(&doubling()).expect("a contract");
    let mut instance = gate.instance();
    let good = Request::new("greeter", r#"{"greeting":"hi"}"#);
    for _ in 0..3 {
        instance.validate(&good).expect("a verdict");
        let fault = instance.validate(&Request::new("doubling", "{}")).expect_err("2^40 steps");
        assert_eq!(fault.code(), "out_of_fuel");
    }
}

/// A registered contract has its own finite fuel for compiling, and the producer cannot use the rest of it. A contract
/// in a request uses the fuel of the request.
#[test]
fn contracts_have_fuel_of_their_own() {
    let patterns = |count: usize| {
        let each = (0..count).map(|number| {
            format!(r#"{{"pattern":"^(?:{number}[a-z]{{1,63}}[.]){{1,8}}([a-z]{{2,63}}|.{{3,100}})$"}}"#)
        });
        format!(
            r#"{{"agent":"many","schema":{{"anyOf":[{{"type":"object"}},{}]}}}}"#,
            each.collect::<Vec<_>>().join(",")
        )
    };
    let mut gate = gate(Limits::default());
    let contract = patterns(20);
    gate.register(&contract).expect("a contract");
    let usage = gate.validate(&Request::new("many", "{}")).expect("a verdict").usage;
    // The contract was compiled once. The verdict does not include the fuel of compiling.
    assert!(usage.fuel < 100_000, "{usage:?}");
    let fault = gate.validate_with(&contract, &Request::new("", "{}")).expect_err("too much for a call");
    let of_the_call = Limits::default().fuel + 500 * (contract.len() as u64 + 2);
    assert!(matches!(fault, Fault::OutOfFuel { limit, .. } if limit == of_the_call), "{fault:?}");
    let large = patterns(1000);
    let fault = gate.register(&large).expect_err("too much for any contract");
    let of_the_contract = 500_000_000 + 2_500 * large.len() as u64;
    assert!(
        matches!(fault, Fault::OutOfFuel { limit, used_by: FuelUse::Compiling, .. } if limit == of_the_contract),
        "{fault:?}"
    );
    works(&gate);
    // The producer of outputs does not receive this fuel: 2^40 steps end at the usual limit.
    gate.register(&doubling()).expect("a contract");
    let fault = gate.validate(&Request::new("doubling", "{}")).expect_err("2^40 steps");
    let of_the_call = Limits::default().fuel + 500 * (doubling().len() as u64 + 2);
    assert!(
        matches!(fault, Fault::OutOfFuel { limit, used_by: FuelUse::Judging, .. } if limit == of_the_call),
        "{fault:?}"
    );
}

/// A text that is designed to be read repeatedly costs about ten times as much for each byte as an ordinary text. The
/// cost for a byte does not increase with the length. An ordinary text is read once.
#[test]
fn hostile_texts_cost_little_more_than_ordinary_ones() {
    const BYTES: usize = 400_000;
    let contract = r##"{"agent":"a","repair":"syntax","extract":{"embedded":true},
        "schema":{"type":"object","properties":{"list":{"type":"array","items":{"$ref":"#/$defs/item"}}},
        "$defs":{"item":{"type":"object","required":["id"],"properties":{"id":{"type":"string","maxLength":9},
        "text":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}}},
        "items":{"path":"$.list[*]","max":100000},"unknown_members":"strip"}"##;
    let mut gate = gate(Limits::default().fuel(u64::MAX).timeout(Duration::from_secs(60)).memory(1 << 30));
    gate.register(contract).expect("a contract");
    let whole = |output: &str| gate.validate(&Request::new("a", output)).expect("a verdict").usage.fuel;
    let empty = whole("");
    let cost = |output: &str| (whole(output) - empty) as f64 / output.len() as f64;
    // The additional cost of following the text in pieces.
    let in_pieces = |output: &str| {
        let mut session = gate.session(&Request::new("a", "")).expect("a session");
        output.as_bytes().chunks(4096).for_each(|piece| drop(session.push(piece).expect("taken")));
        let fuel = session.finish(seamgate::Finish::Unknown).expect("a verdict").usage.fuel;
        fuel.saturating_sub(whole(output)) as f64 / output.len() as f64
    };
    let repeated = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    let item = r#"{"id":"ID-1","text":"A sentence, as agents write them, about {this} and that.","tags":["a","b"]},"#;
    let ordinary = |bytes: usize| format!("{{\"list\":[{}{{\"id\":\"x\"}}]}}", repeated(item, bytes));
    let normal = cost(&ordinary(BYTES));
    let (mut worst, mut worst_followed) = ((0.0, String::new()), (0.0, String::new()));
    for unit in [
        "{",
        "[",
        "}",
        "]",
        "\"",
        "'",
        "\"'",
        ",",
        ":",
        "\\",
        "`",
        "```",
        "/*",
        "//",
        "#",
        "\n",
        "\u{a0}",
        "“",
        "{\"",
        "[\"",
        "{'",
        "\"x",
        "\"\n",
        "\"\n}",
        "\"},{\"",
        "},{",
        "{}",
        "[]",
        "{},",
        "[],",
        "1,",
        "1 ",
        "x ",
        "-",
        "\"\",",
        "\"a\":",
        "a:",
        "a:1,",
        "{\"id\":",
        "{\"id\":[",
        ",{\"id\":",
        "},{\"id\":",
        "{\"id\":\"x\"",
        "{\"id\":\"x\"}",
        "{\"id\":\"x\"},]",
        "{\"id\":\"x\",,},",
        "{\"id\":\"x},",
        "{\"id\":\"x\"],",
        "\"id\":\"x\"},",
        "{\"id\":1},",
        "{\"id\":\"x\",\"y\":1},",
        "{\"id\":\"x\",\"id\":\"y\"},",
        "```json\n",
        "```json\n{",
        "```json\n\"",
        "```json\n[1,\n```\n",
        "{\"list\":[",
        "{\"list\":[{\"id\":\"x\"},{]",
        "[{}}",
        "[{]",
        "\\u",
        "\\ud83d",
        "{a:1}",
        "True,",
        "None ",
        "{\"a\" \"b\"}",
        "[1 2]",
        "/**/1",
        "// x\n",
        "\"a\nb\",",
        "\"\t\",",
        "'a',",
        "'a\"b',",
        "{'id':'x'},",
        "{[}]",
        "{[}],",
        "{\"id\":\"x\",\"s\":[{\"id\":1},{\"id\":2]},",
        "{\"id\":1,\"x\":2}}, # ",
    ] {
        for (before, after) in [
            ("", ""),
            ("{\"list\":[", ""),
            ("{\"list\":[", "]}"),
            ("{\"list\":[{\"id\":\"a\"},{", "},{\"id\":\"b\"}]}"),
        ] {
            let text = |bytes: usize| format!("{before}{}{after}", repeated(unit, bytes));
            let followed = in_pieces(&text(BYTES)) / normal;
            if followed > worst_followed.0 {
                worst_followed = (followed, format!("{before} {unit:?} … {after}"));
            }
            let cost = cost(&text(BYTES)) / normal;
            if cost > worst.0 {
                worst = (cost, format!("{before} {unit:?} … {after}"));
            }
        }
    }
    println!(
        "{normal:.0} fuel for a byte of an ordinary text; the worst takes {:.2} times as much: {}",
        worst.0, worst.1
    );
    println!("following it in pieces takes {:.2} times that at the most: {}", worst_followed.0, worst_followed.1);
    // The limits are absolute, because an ordinary text may use less fuel in the future.
    let [worst, worst_followed] = [worst, worst_followed].map(|(cost, text)| (cost * normal, text));
    assert!(worst.0 <= 865.0 && worst_followed.0 <= 595.0, "fuel for a byte: {worst:?}, in pieces {worst_followed:?}");
    let longer = cost(&ordinary(2 * BYTES)) / normal;
    assert!((0.9..1.1).contains(&longer), "twice the text takes {longer:.2} times as much a byte");
}

#[test]
fn more_threads_than_slots_wait_for_each_other() {
    let mut gate = Gate::with(Options::default().slots(2)).expect("a gate");
    gate.register(GREETER).expect("a contract");
    let request = Request::new("greeter", "{\"greting\":\"hi\"}");
    let expected = gate.validate(&request).expect("a verdict");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let verdict = gate.validate(&request).expect("a verdict");
                    assert_eq!(verdict.report.to_json(), expected.report.to_json());
                    assert_eq!(verdict.usage.fuel, expected.usage.fuel, "the same request takes the same fuel");
                }
            });
        }
    });
}

#[test]
fn an_event_with_8_mib_of_base64_needs_a_higher_limit_and_no_more_memory() {
    let profile = r#"{"agent":"gate","tools":[{"name":"shot","effect":"read","permit":"allow","result":{"max_media_bytes":8388608}}]}"#;
    let started = r#"{"type":"started","at":1,"run":"r1","principal":"anna","nonce":"c0ffee00c0ffee00"}"#;
    let call = r#"{"type":"call","at":2,"tool":"shot","arguments":{}}"#;
    let result = |bytes: usize| {
        let data = "aB3d".repeat(bytes / 4);
        format!(
            r#"{{"type":"tool_result","at":3,"call":"c1","returned":{{"content":[{{"type":"image","mimeType":"image/png","data":"{data}"}}]}}}}"#
        )
    };
    let advanced = |limits: Limits, bytes: usize| {
        let mut gate = gate(limits);
        gate.register_profile(profile).expect("a profile");
        let mut state: Option<String> = None;
        for event in [started, call] {
            let step = gate.advance("gate", state.as_deref(), event).expect("a step").json;
            let step: serde_json::Value = serde_json::from_str(&step).expect("JSON");
            state = Some(step["state"].to_string());
        }
        gate.advance("gate", state.as_deref(), &result(bytes))
    };
    let fault = advanced(Limits::default(), 8 << 20).expect_err("more than 8 MiB with the state");
    assert!(matches!(fault, Fault::InputTooLarge { .. }), "{fault:?}");
    let step = advanced(Limits::default(), (8 << 20) - (64 << 10)).expect("a step").json;
    assert!(step.contains(r#""status":"ok""#) && step.len() < 16_384, "{}", step.len());
    let step = advanced(Limits::default().output_bytes(16 << 20), 8 << 20).expect("a step").json;
    assert!(step.contains(r#""status":"ok""#) && step.len() < 16_384, "{}", step.len());
}
