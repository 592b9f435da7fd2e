//! Measures receipts: a run of 10,000 events, and the verdicts of an archive with a million rows. Writes `tests/receipts/README.md`.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use ring::signature::{Ed25519KeyPair, KeyPair};
use seamgate::{FileJournal, Gate, Run};
use seamgate_receipt::{
    Batch, Expected, Row, Rows, Signing, Trusted, Withhold, receipt_of, verify, verify_batch, verify_row,
};
use serde_json::json;

const PAGE: &str = "tests/receipts/README.md";
const EVENTS: usize = 10_000;
const ROWS: usize = 1_000_000;
const START: u64 = 1_790_000_000_000;

/// The profile of the run: reads are allowed, one tool is denied.
const PROFILE: &str = r#"{"agent":"ops","tools":[
    {"name":"search","effect":"read","permit":"allow"},
    {"name":"drop","effect":"effectful","permit":"deny"}]}"#;

const CONTRACT: &str = r#"{"agent":"order","schema":{"type":"object","required":["sku","count"],
    "properties":{"sku":{"type":"string"},"count":{"type":"integer","minimum":1}}}}"#;

fn main() -> Result<()> {
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).ok().context("a key")?;
    let run = a_run(&key)?;
    let verdicts = an_archive(&key)?;
    let page = format!(
        "# Receipts, measured

`cargo xtask receipts` writes this page. [Receipts](../../docs/receipts.md) says what they are. All times are of one machine, and
of one run.

## A run of {EVENTS} events

| what | time |
| --- | ---: |
{run}
## A batch of {ROWS} verdicts

Signed at once. The times of a tree hold whatever the verdicts are: a row is two digests.

| what | time or size |
| --- | ---: |
{verdicts}
## Read by others

`cargo xtask recipes` reads a receipt with `pycose` and `cwt`, and a statement with `securesystemslib` and `in-toto-attestation`
(`check.py`).
"
    );
    print!("{page}");
    fs::write(PAGE, page)?;
    Ok(())
}

fn row(what: &str, time: Duration) -> String {
    format!("| {what} | {:.2} s |\n", time.as_secs_f64())
}

fn public(key: &Ed25519KeyPair) -> Result<[u8; 32]> {
    Ok(key.public_key().as_ref().try_into()?)
}

fn a_run(key: &Ed25519KeyPair) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().join("run");
    let mut gate = Gate::new()?;
    let info = gate.register_profile(PROFILE)?;
    let mut at = START;
    let mut next = || {
        at += 1000;
        at
    };
    let started =
        json!({"type": "started", "at": next(), "run": "r1", "principal": "ben", "nonce": "c0ffee00c0ffee00"});
    let (mut run, _) = Run::start_json(&gate, FileJournal::create(&folder)?, &info.agent, &started.to_string())?;
    let mut sent = 1;
    for number in 1.. {
        let tool = if number % 10 == 0 { "drop" } else { "search" };
        let call = json!({"type": "call", "at": next(), "tool": tool, "arguments": {"q": format!("number {number}")}});
        let mut events = vec![call];
        if tool == "search" {
            let key = format!("c{number}");
            events.push(json!({"type": "tool_started", "at": next(), "call": key}));
            let result = json!({"found": [format!("the result of call {number}"), "and another"]});
            events.push(json!({"type": "tool_result", "at": next(), "call": key, "result": result}));
        }
        for event in events {
            if sent < EVENTS {
                // Only the last event must be safe from a crash.
                run.send_unsynced(&serde_json::from_value(event)?)?;
                sent += 1;
            }
        }
        if sent == EVENTS {
            break;
        }
    }
    run.sync()?;
    ensure!(run.step() == EVENTS as u64, "{} steps", run.step());
    drop(run);
    let signing = Signing {
        key: public(key)?,
        sign: &|bytes: &[u8]| Ok::<_, String>(key.sign(bytes).as_ref().to_vec()),
        issuer: "https://operator.example",
        now: START / 1000,
    };
    let profiles = vec![PROFILE.to_owned()];
    let begin = Instant::now();
    let file = receipt_of(&folder, Gate::new()?, profiles, &Withhold::default(), &signing)?;
    let made = begin.elapsed();
    let expected = Expected { keys: Trusted::Keys(vec![public(key)?]), profile: None };
    let gate = Gate::new()?;
    let begin = Instant::now();
    let report = verify(&file, gate, &expected);
    let verified = begin.elapsed();
    ensure!(report.ok && report.whole, "{report:?}");
    Ok(format!(
        "{}{}| the receipt | {:.1} MB |\n",
        row("to make the receipt, which derives every step first", made),
        row("to verify it, every step derived again", verified),
        file.len() as f64 / 1e6
    ))
}

fn an_archive(key: &Ed25519KeyPair) -> Result<String> {
    let mut gate = Gate::new()?;
    gate.register(CONTRACT)?;
    let component = gate.component().digest().to_owned();
    let contracts = vec![CONTRACT.to_owned()];
    let judge = |gate: &Gate, request: &str| gate.call(request).map(|answer| answer.json).unwrap_or_default();
    let request = |number: usize| {
        let output = json!({"sku": format!("A-{number}"), "count": number % 3}).to_string();
        json!({"id": number, "agent": "order", "output": output}).to_string()
    };
    // One row in a thousand is judged; the others only have to be lines of the same length.
    let pairs: Vec<(String, String)> = (0..ROWS / 1000)
        .map(|number| {
            let request = request(number * 1000);
            let answer = judge(&gate, &request);
            (request, answer)
        })
        .collect();
    let begin = Instant::now();
    let mut rows = Rows::default();
    for number in 0..ROWS {
        let (request, answer) = &pairs[number / 1000];
        rows.push(request.as_bytes(), answer.as_bytes());
    }
    let tree = rows.tree();
    let statement = tree.statement(&component, &contracts);
    let mut batch = Batch::new(&statement, public(key)?, "https://operator.example", START / 1000);
    batch.signed.sign(|bytes| Ok::<_, String>(key.sign(bytes).as_ref().to_vec())).map_err(anyhow::Error::msg)?;
    let built = begin.elapsed();
    let file = batch.encode();
    let expected = Expected { keys: Trusted::Keys(vec![public(key)?]), profile: None };
    ensure!(verify_batch(&file, &tree, &expected).ok, "the batch verifies");
    let index = 777_000;
    let (request, answer) = pairs[index / 1000].clone();
    let begin = Instant::now();
    let path = tree.path(index);
    let proved = begin.elapsed();
    let one = Row { signed: batch.signed, index: index as u64, size: ROWS as u64, path, request, answer, contracts };
    let receipt = one.encode();
    let begin = Instant::now();
    let report = verify_row(&receipt, Gate::new()?, judge, &expected);
    let verified = begin.elapsed();
    ensure!(report.ok, "{report:?}");
    Ok(format!(
        "{}{}{}| the receipt of the batch | {} bytes |\n| the receipt of a row, with its output, verdict and contract | {} bytes |\n\
         | its proof alone | {} bytes |\n",
        row("to hash all rows, build the tree and sign", built),
        row("to make a proof of one row, from the tree", proved),
        row("to verify the receipt of one row, judged again", verified),
        file.len(),
        receipt.len(),
        one.path.len() * 32,
    ))
}
