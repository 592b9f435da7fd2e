//! Sends the questions to the engines: every document in each round, and then the questions for some engines only.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{
    Extent,
    engines::{AJV, BOTH, Engine, Engines, FRESH, GENERATED, NATIVE, REGISTERED, SIMD, WARM},
    figures::median,
    plan::{ANSWER, LARGE_OUTPUT, Plan, RECORDS, SMALL, TRIVIAL},
};

/// The measurements, by engine and by document.
pub(crate) struct Measured {
    pub(crate) engines: Vec<Answers>,
    /// The documents per second with one thread and with two: in fresh instances after a warm one was used, and
    /// natively.
    pub(crate) threads: [[f64; 2]; 2],
    /// The factor by which two threads judge more documents than one.
    pub(crate) gains: [f64; 2],
    pub(crate) large_output: LargeOutput,
    /// The nanoseconds of a warm call for [`ANSWER`], alone and in a Markdown fence.
    pub(crate) fenced: [f64; 2],
    /// The nanoseconds that the fence adds.
    pub(crate) fence: f64,
    /// The time to the first verdict of seamgate's command line with all contracts.
    pub(crate) with_all_contracts_millis: f64,
}

/// The effect of a large output on later fresh calls.
pub(crate) struct LargeOutput {
    /// The nanoseconds of a small fresh call, before and after the large output.
    pub(crate) nanos: [f64; 2],
    /// The page faults of a small fresh call, before and after the large output.
    pub(crate) page_faults: [f64; 2],
    /// The time after, divided by the time before.
    pub(crate) ratio: f64,
}

/// The answers of one engine.
pub(crate) struct Answers {
    pub(crate) documents: Vec<Option<Answer>>,
    pub(crate) first_millis: Option<f64>,
    /// The peak memory. `None` if other processes do the work of the program.
    pub(crate) peak_kb: Option<f64>,
}

/// The result of one engine for one document.
pub(crate) enum Answer {
    Verdict { valid: bool, nanos: f64, reason: Option<String> },
    None { error: String },
}

impl Answer {
    pub(crate) fn nanos(&self) -> Option<f64> {
        match self {
            Answer::Verdict { nanos, .. } => Some(*nanos),
            Answer::None { .. } => None,
        }
    }

    pub(crate) fn valid(&self) -> Option<bool> {
        match self {
            Answer::Verdict { valid, .. } => Some(*valid),
            Answer::None { .. } => None,
        }
    }
}

pub(crate) fn measure(started: &Engines, plan: &Plan, extent: Extent) -> Result<Measured> {
    let rounds = extent.rounds();
    let engines = &started.all;
    let mut answers: Vec<Vec<Vec<Value>>> = vec![vec![Vec::new(); plan.documents.len()]; engines.len()];
    let order = order(plan)?;
    for round in 1..=rounds {
        eprintln!("bench: {} documents, round {round} of {rounds}", plan.stored().count());
        for &document in &order {
            // This engine may compile a contract for each document.
            let slow = plan.documents[document].bytes >= SMALL || extent == Extent::Rust && plan.is_stored(document);
            let asked = |engine: &Engine| engine.name != REGISTERED || !slow;
            for (engine, answers) in engines.iter().zip(&mut answers).filter(|(engine, _)| asked(engine)) {
                answers[document].push(engine.ask(&document.to_string())?);
            }
        }
    }
    // Measured before the large documents, so that all engines have done the same work.
    let mut peaks = Vec::new();
    for engine in engines {
        let answer = engine.ask("peak")?;
        peaks.push(answer["peak_kb"].as_f64());
    }

    eprintln!("bench: documents that grow");
    for _ in 0..rounds {
        for document in plan.growing().filter(|document| plan.documents[*document].bytes >= SMALL) {
            for (engine, answers) in engines.iter().zip(&mut answers) {
                if [FRESH, WARM, NATIVE, GENERATED, SIMD, BOTH, AJV].contains(&engine.name) {
                    answers[document].push(engine.ask(&document.to_string())?);
                }
            }
        }
    }

    eprintln!("bench: threads, and a large output");
    let named = |name| engines.iter().find(|engine| engine.name == name).context("an engine is missing");
    let pair = [named(FRESH)?, named(NATIVE)?];
    let mut threads = [Vec::new(), Vec::new()];
    let mut large_outputs = Vec::new();
    let mut fenced = Vec::new();
    for _ in 0..2 * rounds {
        for (engine, threads) in pair.iter().zip(&mut threads) {
            let answer = engine.ask("threads")?;
            threads.push(two([&answer["one"], &answer["two"]]).with_context(|| answer.to_string())?);
        }
        let [small, large] = [plan.document(TRIVIAL)?, plan.document(LARGE_OUTPUT)?];
        let answer = pair[0].ask(&format!("after {small} {large}"))?;
        let pairs = ["nanos", "page_faults"].map(|name| two([&answer[name][0], &answer[name][1]]));
        let [Some(nanos), Some(page_faults)] = pairs else { bail!("{answer}") };
        large_outputs.push((nanos, page_faults));
        let answer = named(WARM)?.ask(&format!("fenced {}", plan.document(ANSWER)?))?;
        fenced.push(two([&answer["bare"], &answer["fenced"]]).with_context(|| answer.to_string())?);
    }
    for engine in engines {
        engine.stop()?;
    }

    eprintln!("bench: first verdicts");
    let mut firsts = vec![Vec::new(); engines.len()];
    let mut with_all_contracts = Vec::new();
    for _ in 0..extent.starts() {
        for (engine, firsts) in engines.iter().zip(&mut firsts) {
            if let Some(program) = &engine.first {
                firsts.push(program.millis()?);
            }
        }
        with_all_contracts.push(started.with_all_contracts.millis()?);
    }

    let engines = answers.into_iter().zip(firsts).zip(peaks);
    Ok(Measured {
        engines: engines
            .map(|((documents, firsts), peak_kb)| Answers {
                documents: documents.into_iter().map(answer).collect(),
                first_millis: median(firsts),
                peak_kb,
            })
            .collect(),
        gains: threads.each_ref().map(|rates| middle(rates, |[one, two]| two / one)),
        threads: threads.each_ref().map(|rates| [0, 1].map(|count| middle(rates, |rates| rates[count]))),
        large_output: LargeOutput {
            nanos: [0, 1].map(|time| middle(&large_outputs, |(nanos, _)| nanos[time])),
            page_faults: [0, 1].map(|time| middle(&large_outputs, |(_, page_faults)| page_faults[time])),
            ratio: middle(&large_outputs, |([before, after], _)| after / before),
        },
        fenced: [0, 1].map(|which| middle(&fenced, |nanos| nanos[which])),
        fence: middle(&fenced, |[bare, fenced]| fenced - bare),
        with_all_contracts_millis: median(with_all_contracts).unwrap_or_default(),
    })
}

/// Returns the documents of SchemaStore, with the documents that have a figure of their own, or that other figures are
/// divided by, repeated between them.
fn order(plan: &Plan) -> Result<Vec<usize>> {
    const APART: usize = 20;
    let few = [plan.document(TRIVIAL)?, plan.document(ANSWER)?, plan.document(RECORDS)?];
    let mut order = Vec::new();
    for (index, document) in plan.stored().enumerate() {
        if index % APART == 0 {
            order.extend(few);
        }
        order.push(document);
    }
    Ok(order)
}

fn two(values: [&Value; 2]) -> Option<[f64; 2]> {
    let [Some(one), Some(two)] = values.map(Value::as_f64) else { return None };
    Some([one, two])
}

/// Returns the median of a value over all rounds.
fn middle<T>(rounds: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(rounds.iter().map(value).collect()).unwrap_or_default()
}

/// Combines the answers of all rounds.
fn answer(rounds: Vec<Value>) -> Option<Answer> {
    let last = rounds.last()?;
    if let Some(error) = last["error"].as_str() {
        return Some(Answer::None { error: error.to_owned() });
    }
    let nanos = median(rounds.iter().filter_map(|round| round["nanos"].as_f64()).collect())?;
    Some(Answer::Verdict { valid: last["valid"].as_bool()?, nanos, reason: last["reason"].as_str().map(str::to_owned) })
}
