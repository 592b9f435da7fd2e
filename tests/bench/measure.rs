//! Asking the engines: every document, round for round, then what is asked of only some.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{
    Extent,
    engines::{AJV, Engines, FRESH, NATIVE, WARM},
    figures::median,
    plan::Plan,
};

/// What was found, by engine and by document.
pub(crate) struct Measured {
    pub(crate) engines: Vec<Answers>,
    /// Documents a second in fresh instances, by one thread and by two.
    pub(crate) threads: [f64; 2],
    /// The first verdict of seamgate's command line with all contracts.
    pub(crate) with_all_contracts_millis: f64,
}

/// What one engine answered.
pub(crate) struct Answers {
    pub(crate) documents: Vec<Option<Answer>>,
    pub(crate) first_millis: Option<f64>,
    pub(crate) peak_kb: f64,
}

/// What one engine makes of one document.
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
    let stored: Vec<usize> = plan.stored().collect();
    for round in 1..=rounds {
        eprintln!("bench: {} documents, round {round} of {rounds}", stored.len());
        for &document in &stored {
            for (engine, answers) in engines.iter().zip(&mut answers) {
                answers[document].push(engine.ask(&document.to_string())?);
            }
        }
    }
    // Before the large documents, so that it is the same work for all.
    let mut peaks = Vec::new();
    for engine in engines {
        let answer = engine.ask("peak")?;
        peaks.push(answer["peak_kb"].as_f64().with_context(|| format!("{}: {answer}", engine.name))?);
    }

    eprintln!("bench: documents that grow");
    for _ in 0..rounds {
        for document in plan.growing() {
            for (engine, answers) in engines.iter().zip(&mut answers) {
                if [FRESH, WARM, NATIVE, AJV].contains(&engine.name) {
                    answers[document].push(engine.ask(&document.to_string())?);
                }
            }
        }
    }

    eprintln!("bench: threads");
    let fresh = engines.iter().find(|engine| engine.name == FRESH).context("no seamgate")?;
    let mut threads = [Vec::new(), Vec::new()];
    for _ in 0..2 * rounds {
        for (count, rates) in (1..).zip(&mut threads) {
            let answer = fresh.ask(&format!("threads {count}"))?;
            rates.push(answer["per_second"].as_f64().with_context(|| answer.to_string())?);
        }
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
        threads: threads.map(|rates| median(rates).unwrap_or_default()),
        with_all_contracts_millis: median(with_all_contracts).unwrap_or_default(),
    })
}

/// The answers of all rounds, as one.
fn answer(rounds: Vec<Value>) -> Option<Answer> {
    let last = rounds.last()?;
    if let Some(error) = last["error"].as_str() {
        return Some(Answer::None { error: error.to_owned() });
    }
    let nanos = median(rounds.iter().filter_map(|round| round["nanos"].as_f64()).collect())?;
    Some(Answer::Verdict { valid: last["valid"].as_bool()?, nanos, reason: last["reason"].as_str().map(str::to_owned) })
}
