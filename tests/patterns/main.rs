//! Patterns beside V8: what each says of patterns made at random and of texts near to what they match.
//!
//! `patterns make COUNT SEED` writes them as lines of JSON, `patterns read FILE` those of a file with a pattern in each line
//! (`{"pattern": …, "attack": …}`), `patterns table` the chosen ones and some of the former; `patterns compare MADE ANSWERS` compares with what `v8.mjs` made of them, and fails where
//! a difference is not one that is known.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, bail, ensure};
use seamgate_tests::{
    Random,
    patterns::{Answer, ENGINES, Made, made, matches},
};
use serde_json::Value;

/// The number of texts of each pattern.
const TEXTS: usize = 5;

/// The number of random patterns in the table.
const IN_TABLE: usize = 400;

/// The number of differences of a class to show.
const SHOWN: usize = 12;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", count, seed] => {
            let mut random = Random(seed.parse().context("a seed")?);
            let count: usize = count.parse().context("how many pairs")?;
            for _ in 0..count.div_ceil(TEXTS) {
                println!("{}", serde_json::to_string(&made(&mut random, TEXTS))?);
            }
            Ok(())
        }
        ["read", path] => read(path),
        ["table"] => table(),
        ["compare", made, answers] => compare(made, answers),
        _ => bail!("usage: patterns make COUNT SEED | read FILE | table | compare MADE ANSWERS"),
    }
}

/// Prints the patterns of a file, each with texts that are generated for it.
fn read(path: &str) -> Result<()> {
    let mut random = Random(1);
    for line in fs::read_to_string(path).with_context(|| path.to_owned())?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let pattern = line["pattern"].as_str().context("a line has a pattern")?.to_owned();
        let mut texts: Vec<String> = made(&mut random, TEXTS).texts;
        // Longer ones keep an engine that goes back busy for ever.
        texts.extend(line["attack"].as_str().map(|attack| attack.chars().take(24).collect()));
        texts.extend([pattern.chars().filter(|character| character.is_alphanumeric()).take(16).collect()]);
        println!("{}", serde_json::to_string(&Made { pattern, texts })?);
    }
    Ok(())
}

/// Prints the table of patterns whose properties `tests/core/patterns.rs` checks without V8.
fn table() -> Result<()> {
    let chosen: Vec<Made> = serde_json::from_str(include_str!("chosen.json"))?;
    let mut random = Random(42);
    let random = (0..IN_TABLE).map(|_| made(&mut random, TEXTS));
    for made in chosen.into_iter().chain(random) {
        println!("{}", serde_json::to_string(&made)?);
    }
    Ok(())
}

fn compare(made: &str, answers: &str) -> Result<()> {
    let lines = |path: &str| fs::read_to_string(path).with_context(|| path.to_owned());
    let made: Vec<Made> = lines(made)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let answers: Vec<Answer> = lines(answers)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(made.len() == answers.len(), "{} patterns and {} answers", made.len(), answers.len());
    let mut readings: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut pairs, mut faults) = (0, 0);
    for answer in &answers {
        *readings.entry(&answer.reading).or_default() += 1;
        pairs += answer.matches.len();
        faults += answer.faults;
    }
    println!("{} patterns, by V8's reading {readings:?}, {pairs} pairs that V8 decides", made.len());
    println!("{faults} pairs for which V8 begins a match inside a character: it is asked for each character instead");
    let mut unexplained = 0;
    for engine in ENGINES {
        let mut found: BTreeMap<Difference, Vec<String>> = BTreeMap::new();
        for (made, answer) in made.iter().zip(&answers) {
            for (difference, text) in differences(engine, made, answer) {
                let text = text.map(|text| format!("   {text:?}")).unwrap_or_default();
                found.entry(difference).or_default().push(format!("{:?}{text}", made.pattern));
            }
        }
        println!("\n{engine}");
        for (difference, examples) in found {
            let (text, known) = difference.told();
            println!("  {} {text}{}", examples.len(), if known { "" } else { ": NOT EXPLAINED" });
            if !known {
                unexplained += examples.len();
                examples.iter().take(SHOWN).for_each(|example| println!("    {example}"));
            }
        }
    }
    ensure!(unexplained == 0, "{unexplained} differences that nothing explains");
    println!("\nno difference that is not explained");
    Ok(())
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// The verdict on a text, and V8's reading.
    Verdict(bool, String),
    Refused(String),
    Larger,
    Taken,
    Undecided,
    NeedsBacktracking,
}

impl Difference {
    /// Returns a description, and whether the difference is intended.
    fn told(&self) -> (String, bool) {
        match self {
            Difference::Verdict(v8, reading) => {
                (format!("pairs that V8 ({reading}) says {} of, and we do not", if *v8 { "yes" } else { "no" }), false)
            }
            Difference::Refused(reading) => (format!("patterns that V8 takes ({reading}) and we refuse"), false),
            Difference::Larger => ("patterns that are refused for their size".to_owned(), true),
            Difference::Taken => ("patterns that V8 refuses and we take, as other dialects have them".to_owned(), true),
            Difference::Undecided => ("pairs that are not decided within the steps: rejected".to_owned(), true),
            Difference::NeedsBacktracking => {
                ("patterns with look-around or back references, which `linear` refuses".to_owned(), true)
            }
        }
    }
}

fn differences<'m>(engine: &str, made: &'m Made, answer: &Answer) -> Vec<(Difference, Option<&'m str>)> {
    if answer.reading == "too-slow" {
        return Vec::new();
    }
    let taken = answer.reading != "none";
    let Some(ours) = matches(&made.pattern, engine, &made.texts) else {
        return match (taken, engine) {
            (false, _) => Vec::new(),
            (true, "linear") if matches(&made.pattern, "backtracking", &made.texts).is_some() => {
                vec![(Difference::NeedsBacktracking, None)]
            }
            (true, _) if is_large(&made.pattern) => vec![(Difference::Larger, None)],
            (true, _) => vec![(Difference::Refused(answer.reading.clone()), None)],
        };
    };
    if !taken {
        return vec![(Difference::Taken, None)];
    }
    let each = made.texts.iter().zip(ours.iter().zip(&answer.matches));
    each.filter_map(|(text, (ours, v8))| {
        let difference = match ours {
            None => Difference::Undecided,
            Some(ours) if ours == v8 => return None,
            Some(_) => Difference::Verdict(*v8, answer.reading.clone()),
        };
        Some((difference, Some(text.as_str())))
    })
    .collect()
}

/// Returns whether it repeats a hundred times or more, or nests as deeply: the gate bounds the cost of that.
fn is_large(pattern: &str) -> bool {
    let counts = pattern.split(['{', ',', '}']).filter_map(|count| count.parse::<u64>().ok());
    counts.max().is_some_and(|count| count >= 100) || pattern.matches('(').count() > 100
}
