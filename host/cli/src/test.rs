//! `seamgate test`: holds contracts to example outputs with the verdicts that their author expects.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, read_contract};

use crate::{
    console::{count, print, say},
    error::FaultError,
    examples::{self, Example, Expected},
    safe::safe,
    status::Status,
};

pub(crate) const HELP: &str = "\
Beside NAME.contract.json stands the folder NAME.examples:
  CASE.txt            an output
  CASE.verdict.json   what is expected of its verdict; --bless writes it
  CASE.request.json   'finish', 'lists' and 'evidence' that come with it, if any
  request.json        the same for all cases without a request of their own

Exit status: 0 all verdicts are as expected, 1 one is not, 2 usage or contract error";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Contracts, or folders of them
    #[arg(default_value = ".", value_name = "CONTRACT")]
    paths: Vec<PathBuf>,
    /// Write the verdicts that come out now as those expected. Read them before you commit them
    #[arg(long)]
    bless: bool,
}

/// What became of one example.
struct Outcome {
    file: PathBuf,
    /// The word of the verdict that came out.
    word: String,
    /// What differs from what is expected; nothing where it passes.
    differences: Vec<String>,
    written: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let mut contracts = Vec::new();
    for path in &arguments.paths {
        match path.is_dir() {
            true => contracts.extend(examples::contracts(path)?),
            false => contracts.push(path.clone()),
        }
    }
    if contracts.is_empty() {
        bail!("there is no NAME.contract.json; `seamgate init` makes one");
    }
    let mut errors = 0;
    let mut outcomes = Vec::new();
    let mut untested = Vec::new();
    for path in &contracts {
        match of_contract(path, arguments.bless) {
            Ok(found) if found.is_empty() => untested.push(path),
            Ok(found) => outcomes.extend(found),
            // The others are tested all the same.
            Err(error) => {
                errors += 1;
                say(&format!("error: {}", safe(&format!("{error:#}"))));
            }
        }
    }
    for path in untested {
        let folder = examples::folder(path);
        say(&format!("note: {} has no examples: put outputs into {}", shown(path), shown(&folder)));
    }
    if outcomes.is_empty() && errors == 0 {
        bail!("there are no examples");
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.differences.is_empty()).count();
    print(&told(&outcomes, failed, errors))?;
    Ok(match (errors, failed) {
        (0, 0) => Status::Accepted,
        (0, _) => Status::Rejected,
        _ => Status::Usage,
    })
}

fn of_contract(path: &Path, bless: bool) -> Result<Vec<Outcome>> {
    let mut gate = Gate::new()?;
    let context = || format!("{}", path.display());
    let info = gate.register(&read_contract(path)?).map_err(FaultError).with_context(context)?;
    let examples = examples::of(path)?;
    examples.iter().map(|example| of_example(&gate, &info.agent, example, bless)).collect()
}

fn of_example(gate: &Gate, agent: &str, example: &Example, bless: bool) -> Result<Outcome> {
    let is = match gate.validate(&example.request(agent)) {
        Ok(verdict) => Expected::of(&verdict.report),
        Err(fault) => Expected::fault(fault.code()),
    };
    let mut differences = match &example.expected {
        Some(expected) => expected.differences(&is),
        None => vec![format!("nothing is expected yet: --bless writes {}", shown(&example.verdict()))],
    };
    let written = bless && !differences.is_empty();
    if written {
        let path = example.verdict();
        fs::write(&path, is.to_json()?).with_context(|| format!("cannot write {}", path.display()))?;
        differences.clear();
    }
    Ok(Outcome { file: example.file.clone(), word: is.word().to_owned(), differences, written })
}

fn shown(path: &Path) -> String {
    safe(&path.display().to_string())
}

/// The outcomes for a person: a line each, and the sum.
fn told(outcomes: &[Outcome], failed: usize, errors: usize) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let (style, how) = match (outcome.differences.is_empty(), outcome.written) {
            (true, true) => ("\x1b[1;33m", "written"),
            (true, false) => ("\x1b[1;32m", "passed"),
            (false, _) => ("\x1b[1;31m", "failed"),
        };
        text.push_str(&format!("{style}{how:<7}\x1b[0m {}: {}\n", shown(&outcome.file), safe(&outcome.word)));
        for difference in &outcome.differences {
            text.push_str(&format!("        {}\n", safe(difference)));
        }
    }
    let mut sum = vec![format!("{} passed", outcomes.len() - failed), format!("{failed} failed")];
    let written = outcomes.iter().filter(|outcome| outcome.written).count();
    if written > 0 {
        sum.push(format!("{} written", count(written, "verdict")));
    }
    if errors > 0 {
        sum.push(count(errors, "error"));
    }
    text.push_str(&format!("{}: {}", count(outcomes.len(), "example"), sum.join(", ")));
    text
}
