//! Sentences about speed in other documents. The benchmark generates them from its results.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::{
    engines::{AJV, FRESH, PYTHON, WARM},
    figures::{Figures, Ratios},
    table::number,
};

/// The heading of the section with these sentences.
const HEADING: &str = "\n## What it costs\n\n";

/// Writes the sections of all documents. A run without JavaScript or Python does not change them.
pub(crate) fn write(root: &Path, figures: &Figures) -> Result<()> {
    // README.md has a limited number of lines, so its lines are longer.
    let sections = [("README.md", 150, readme(figures)), ("docs/comparison.md", 100, comparison(figures))];
    for (path, width, text) in sections.into_iter().filter_map(|(path, width, text)| Some((path, width, text?))) {
        let path = root.join(path);
        let document = fs::read_to_string(&path)?;
        let (before, rest) =
            document.split_once(HEADING).with_context(|| format!("{}: no{HEADING}", path.display()))?;
        let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
        fs::write(&path, format!("{before}{HEADING}{}{after}", wrapped(&text, width)))?;
    }
    Ok(())
}

fn readme(figures: &Figures) -> Option<String> {
    let of = |engine, ratio: fn(&Ratios) -> Option<f64>| times(figures, engine, ratio);
    Some(format!(
        "`cargo xtask bench` judges documents of 71 schemas of SchemaStore ([all ratios](docs/benchmarks.md)). For valid ones, a warm \
         sandbox takes {} times the time of `serde_json` and `jsonschema` in Rust, and a fresh sandbox for each document {} times. \
         From 4 KB on, valid or not, these are {} and {} times. Ajv takes {} times for valid ones, and Python's `jsonschema` {} times.",
        of(WARM, |ratios| ratios.valid)?,
        of(FRESH, |ratios| ratios.valid)?,
        of(WARM, |ratios| ratios.large)?,
        of(FRESH, |ratios| ratios.large)?,
        of(AJV, |ratios| ratios.valid)?,
        of(PYTHON, |ratios| ratios.valid)?,
    ))
}

fn comparison(figures: &Figures) -> Option<String> {
    let of = |engine, ratio: fn(&Ratios) -> Option<f64>| times(figures, engine, ratio);
    Some(format!(
        "The measure is the time of `serde_json` and `jsonschema` in Rust, which only say whether a document is valid. Over all \
         documents, valid or not, a warm verdict takes {} times that, one in a fresh sandbox {} times, Ajv {} times, and \
         `jsonschema` in Python {} times. For documents under 4 KB, a warm verdict takes {} times, and a fresh one {} times. For \
         larger documents, these are {} and {} times, and Ajv takes {} times. A report has all that is wrong with a document: for \
         invalid ones, a warm verdict takes {} times. [Benchmarks](benchmarks.md) says how each validator is built, and has all \
         ratios.",
        of(WARM, |ratios| ratios.all)?,
        of(FRESH, |ratios| ratios.all)?,
        of(AJV, |ratios| ratios.all)?,
        of(PYTHON, |ratios| ratios.all)?,
        of(WARM, |ratios| ratios.small)?,
        of(FRESH, |ratios| ratios.small)?,
        of(WARM, |ratios| ratios.large)?,
        of(FRESH, |ratios| ratios.large)?,
        of(AJV, |ratios| ratios.large)?,
        of(WARM, |ratios| ratios.invalid)?,
    ))
}

/// Returns the ratio of an engine to the native engine, as text.
fn times(figures: &Figures, engine: &str, ratio: fn(&Ratios) -> Option<f64>) -> Option<String> {
    let engine = figures.engines.iter().find(|figures| figures.name == engine)?;
    ratio(&engine.ratios).map(number)
}

/// Wraps a text in lines of at most `most` characters.
fn wrapped(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        let apart = match column {
            0 => "",
            _ if column + 1 + width > most => {
                column = 0;
                "\n"
            }
            _ => {
                column += 1;
                " "
            }
        };
        out.push_str(apart);
        out.push_str(word);
        column += width;
    }
    out.push('\n');
    out
}
