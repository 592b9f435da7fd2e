//! Compares verdicts with those of a peer: random schemas and documents go to a program that judges them with it, as
//! lines of JSON, and each difference is reported with its seed, unless `explained.json` has a reason for it.
//!
//! `cargo xtask peers` installs the peers and starts this: `peers NAME SCHEMAS PROGRAM [ARGUMENT…]`; with `SEED` in place of
//! `SCHEMAS` as `=SEED`, that schema alone, with the verdicts.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
    process::{Command, ExitCode, Stdio},
    thread,
};

use anyhow::{Context, Result, bail, ensure};
use seamgate_checks::schemas::{DIALECTS, REFERRED, WORDS, references, schema, value};
use seamgate_core::{Contract, Disposition, Request, validate};
use seamgate_tests::Random;
use serde::Deserialize;
use serde_json::{Value, json};

/// Documents for each schema.
const DOCUMENTS: usize = 4;

/// The subject of a comparison with a peer.
#[derive(Clone, Copy, PartialEq)]
enum Made {
    /// All keywords, of all dialects.
    Keywords,
    /// References.
    References,
}

/// The peers there are.
const PEERS: [(&str, Made); 3] =
    [("hyperjump", Made::References), ("ajv", Made::Keywords), ("jsonschema", Made::Keywords)];

/// A schema made from a seed, with documents.
struct Asked {
    seed: u64,
    dialect: usize,
    schema: Value,
    resources: Value,
    documents: Vec<Value>,
}

impl Asked {
    fn new(made: Made, seed: u64) -> Self {
        let mut random = Random(seed);
        let dialect = random.below(DIALECTS.len());
        let (schema, resources, words) = match made {
            Made::Keywords => (schema(&mut random, WORDS, dialect), json!({}), WORDS),
            Made::References => {
                // Most of it is of the dialects whose references depend on the way.
                let dialect = if random.chance(60) { 4 } else { dialect };
                let made = references(&mut random, dialect);
                (made.schema, Value::Object(made.resources), REFERRED)
            }
        };
        let dialect = DIALECTS.iter().position(|uri| schema["$schema"] == *uri).unwrap_or(dialect);
        let documents = (0..DOCUMENTS).map(|_| value(&mut random, words, 4)).collect();
        Asked { seed, dialect, schema, resources, documents }
    }

    fn line(&self) -> Value {
        json!({
            "seed": self.seed, "dialect": DIALECTS[self.dialect], "schema": self.schema, "resources": self.resources,
            "documents": self.documents
        })
    }

    /// Returns our verdicts, or the reason why there are none.
    fn verdicts(&self) -> Result<Vec<bool>, String> {
        let contract = json!({"agent": "a", "schema": self.schema, "resources": self.resources});
        let contract = Contract::compile(&contract.to_string()).map_err(|fault| fault.to_json())?;
        let judge = |document: &Value| {
            let text = document.to_string();
            let report = validate(&contract, &Request { output: &text, ..Request::default() });
            report.map(|report| report.disposition == Disposition::Accepted).map_err(|fault| fault.to_json())
        };
        self.documents.iter().map(judge).collect()
    }
}

/// A peer's answer for a schema.
#[derive(Deserialize)]
struct Answer {
    seed: u64,
    #[serde(default)]
    verdicts: Vec<bool>,
    error: Option<String>,
}

/// A kind of difference, and its reason. All that is said of it must hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    peer: String,
    /// The reason why the peer's verdict differs.
    reason: String,
    /// Dialects, by the ends of their URIs.
    #[serde(default)]
    dialects: Vec<String>,
    /// Texts that the schema holds, all of them.
    #[serde(default)]
    schema: Vec<String>,
    /// Texts that the document holds, all of them.
    #[serde(default)]
    document: Vec<String>,
    /// Our verdict.
    valid: Option<bool>,
    /// The error of a peer without a verdict.
    error: Option<String>,
}

/// One difference.
struct Difference<'a> {
    asked: &'a Asked,
    document: Option<&'a Value>,
    ours: Result<bool, &'a str>,
    theirs: Result<bool, &'a str>,
}

impl Reason {
    fn explains(&self, peer: &str, difference: &Difference) -> bool {
        let dialect = DIALECTS[difference.asked.dialect];
        let schema = format!("{}{}", difference.asked.schema, difference.asked.resources);
        let document = difference.document.map(Value::to_string).unwrap_or_default();
        self.peer == peer
            && (self.dialects.is_empty() || self.dialects.iter().any(|end| dialect.trim_end_matches('#').contains(end)))
            && self.schema.iter().all(|text| schema.contains(text))
            && self.document.iter().all(|text| document.contains(text))
            && self.valid.is_none_or(|valid| difference.ours == Ok(valid))
            && match (&self.error, difference.theirs) {
                (Some(error), Err(told)) => told.contains(error) && difference.ours.is_ok(),
                (None, Ok(_)) => difference.ours.is_ok(),
                _ => false,
            }
    }
}

fn main() -> ExitCode {
    match compare(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &[String]) -> Result<()> {
    let [name, count, program, rest @ ..] = arguments else {
        bail!("peers NAME SCHEMAS PROGRAM [ARGUMENT…]");
    };
    let (_, made) = PEERS.iter().find(|(peer, _)| peer == name).with_context(|| format!("no peer '{name}'"))?;
    let (seeds, alone) = match count.strip_prefix('=') {
        Some(seed) => (seed.parse()?..seed.parse::<u64>()? + 1, true),
        None => (0..count.parse()?, false),
    };
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/explained.json"))?;
    let reasons: Vec<Reason> = serde_json::from_str(&text).context("explained.json")?;

    let asked: Vec<Asked> = seeds.map(|seed| Asked::new(*made, seed)).collect();
    let answers = ask(program, rest, asked.iter().map(|asked| asked.line().to_string()).collect())?;
    ensure!(answers.len() == asked.len(), "{name} answered {} of {}", answers.len(), asked.len());
    let (mut pairs, mut both, mut unexplained) = (0, [0_usize; 2], 0);
    // For each reason, how often it was one.
    let mut explained: BTreeMap<usize, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (asked, answer) in asked.iter().zip(&answers) {
        ensure!(asked.seed == answer.seed, "{name} answered of {} where {} was asked", answer.seed, asked.seed);
        let ours = asked.verdicts();
        if alone {
            println!("{:#}\nours: {ours:?}\n{name}: {:?} {:?}", asked.line(), answer.verdicts, answer.error);
        }
        pairs += asked.documents.len();
        let differences: Vec<Difference> = match (&ours, &answer.error) {
            (Err(_), Some(_)) => continue,
            (Ok(_), Some(error)) => {
                vec![Difference { asked, document: None, ours: Ok(true), theirs: Err(error) }]
            }
            (Err(fault), None) => vec![Difference { asked, document: None, ours: Err(fault), theirs: Ok(true) }],
            (Ok(ours), None) => {
                let each = asked.documents.iter().zip(ours).zip(&answer.verdicts);
                let differs = |((document, ours), theirs): ((_, &bool), &bool)| {
                    both[usize::from(*ours)] += usize::from(ours == theirs);
                    (ours != theirs).then_some(Difference {
                        asked,
                        document: Some(document),
                        ours: Ok(*ours),
                        theirs: Ok(*theirs),
                    })
                };
                each.filter_map(differs).collect()
            }
        };
        for difference in &differences {
            if let Some(number) = reasons.iter().position(|reason| reason.explains(name, difference)) {
                *explained.entry(number).or_default() += 1;
                continue;
            }
            unexplained += 1;
            let kind = match (difference.ours, difference.theirs) {
                (Err(_), _) => "a fault of ours",
                (_, Err(_)) => "no verdict of theirs",
                (Ok(true), _) => "only we accept",
                (Ok(false), _) => "only we reject",
            };
            *kinds.entry(kind).or_default() += 1;
            if unexplained <= 10 {
                let document = difference.document.map(Value::to_string).unwrap_or_default();
                println!(
                    "seed {}: ours {:?}, {name} {:?}: {document}\n  by {} with {}",
                    asked.seed, difference.ours, difference.theirs, asked.schema, asked.resources
                );
            }
        }
    }
    println!("{name}: {pairs} pairs of {} schemas; both accept {}, both reject {}", asked.len(), both[1], both[0]);
    for (number, count) in explained {
        println!("  explained {count:6}: {}", reasons[number].reason);
    }
    for (kind, count) in kinds {
        println!("  unexplained {count:4}: {kind}");
    }
    ensure!(unexplained == 0, "{unexplained} differences have no reason");
    Ok(())
}

/// Returns a program's answers to lines, one for each.
fn ask(program: &str, arguments: &[String], lines: Vec<String>) -> Result<Vec<Answer>> {
    let mut peer = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {program}"))?;
    let mut input = BufWriter::new(peer.stdin.take().context("no input")?);
    let output = BufReader::new(peer.stdout.take().context("no output")?);
    let writer = thread::spawn(move || -> Result<()> {
        for line in lines {
            writeln!(input, "{line}")?;
        }
        Ok(())
    });
    let read = |line: std::io::Result<String>| -> Result<Answer> {
        let line = line?;
        serde_json::from_str(&line).with_context(|| line.clone())
    };
    let answers = output.lines().map(read).collect::<Result<_>>()?;
    writer.join().ok().context("the writer ended")??;
    ensure!(peer.wait()?.success(), "{program} failed");
    Ok(answers)
}
