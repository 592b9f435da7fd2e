//! Hostile cases: attacks as data, each with its required outcome. `tests/hostile/README.md` describes the format.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// One attack, with its repetitions expanded.
#[derive(Debug, Clone)]
pub struct Attack {
    /// `GROUP/NAME`.
    pub name: String,
    /// A description of the attack, in one sentence.
    pub about: String,
    /// The required outcome.
    pub must: String,
    /// The request.
    pub asked: Asked,
}

/// The request that an attack sends to a gate.
#[derive(Debug, Clone)]
pub enum Asked {
    /// A verdict on an output by a contract.
    Verdict {
        /// The contract as text.
        contract: String,
        /// The output.
        output: String,
    },
    /// The answer to a request.
    Wire {
        /// JSON text, or any other text that is sent in its place.
        request: String,
    },
}

/// The file of an attack.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    about: String,
    must: String,
    contract: Option<Box<RawValue>>,
    output: Option<Value>,
    request: Option<Value>,
}

/// Returns the folder of all attacks.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile")
}

/// Returns all attacks, in the order of their names.
///
/// # Errors
///
/// Returns an error if a file cannot be read, or is not a valid attack.
pub fn attacks() -> Result<Vec<Attack>> {
    let mut attacks = Vec::new();
    for group in super::folders(&folder())? {
        let mut files = fs::read_dir(&group)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.sort();
        for file in files {
            attacks.push(attack(&file).with_context(|| format!("{}", file.display()))?);
        }
    }
    Ok(attacks)
}

/// Returns the attack of this name.
///
/// # Errors
///
/// Returns the errors of [`attacks`].
pub fn named(name: &str) -> Result<Attack> {
    let file = folder().join(format!("{name}.json"));
    attack(&file).with_context(|| format!("{}", file.display()))
}

impl Attack {
    /// Returns the contract as text, or an empty text if there is no contract.
    pub fn contract(&self) -> &str {
        match &self.asked {
            Asked::Verdict { contract, .. } => contract,
            Asked::Wire { .. } => "",
        }
    }

    /// Returns the output, or an empty text if the attack is a request.
    pub fn output(&self) -> &str {
        match &self.asked {
            Asked::Verdict { output, .. } => output,
            Asked::Wire { .. } => "",
        }
    }
}

fn attack(path: &Path) -> Result<Attack> {
    let file: File = serde_json::from_str(&fs::read_to_string(path)?)?;
    let asked = match (file.contract, file.output, file.request) {
        (Some(contract), Some(output), None) => {
            Asked::Verdict { contract: text_or_json(&contract)?, output: text(&output)? }
        }
        (None, None, Some(request)) => Asked::Wire { request: text(&request)? },
        _ => bail!("either a contract and an output, or a request"),
    };
    let name: Vec<_> =
        path.with_extension("").iter().rev().take(2).map(|part| part.to_string_lossy().into_owned()).collect();
    Ok(Attack { name: format!("{}/{}", name[1], name[0]), about: file.about, must: file.must, asked })
}

/// Returns a contract as text. A contract without repetitions is returned unchanged.
fn text_or_json(contract: &RawValue) -> Result<String> {
    match serde_json::from_str(contract.get()) {
        Ok(Value::Object(members)) if !members.contains_key("repeat") => Ok(contract.get().to_owned()),
        Ok(pieces) => text(&pieces),
        // A number that this parser cannot represent.
        Err(_) => Ok(contract.get().to_owned()),
    }
}

/// Expands a text. A string stands for itself. An array stands for its pieces, one after the other. `{"repeat": …,
/// "times": N}` repeats a text N times; in it, `{n}` counts from 0 and `{n+1}` from 1.
fn text(written: &Value) -> Result<String> {
    match written {
        Value::String(text) => Ok(text.clone()),
        Value::Array(pieces) => pieces.iter().map(text).collect(),
        Value::Object(members) if members.len() == 2 => {
            let repeated = text(members.get("repeat").context("no \"repeat\"")?)?;
            let times = members.get("times").and_then(Value::as_u64).context("\"times\" is no number")?;
            let counts = repeated.contains("{n");
            let copy = |n: u64| match counts {
                true => repeated.replace("{n}", &n.to_string()).replace("{n+1}", &(n + 1).to_string()),
                false => repeated.clone(),
            };
            Ok((0..times).map(copy).collect())
        }
        other => bail!("no text: {other}"),
    }
}
