//! Cases: a test is a folder with an output, a contract, and the verdict expected.
//!
//! `tests/cases/GROUP/NAME/` holds `output.txt` (bytes, UTF-8 or not); `output-2.txt` and so on where there were further
//! attempts, of which the reports are put together; `request.json` where more than an output is
//! asked (`finish`, `lists`, `agent`); `contract.json`, else the group's; and `report.json` or `fault.json`, which
//! `cargo xtask bless` writes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

pub mod hostile;

/// Numbers from a seed (SplitMix64): the same in each run.
pub struct Random(pub u64);

impl Random {
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// One of several.
    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// True so often.
    pub fn chance(&mut self, in_a_hundred: usize) -> bool {
        self.below(100) < in_a_hundred
    }
}

/// One case, read from its folder.
#[derive(Clone)]
pub struct Case {
    /// `GROUP/NAME`.
    pub name: String,
    /// What the agent produced.
    pub output: Vec<u8>,
    /// What it produced in attempts after the first.
    pub more: Vec<Vec<u8>>,
    /// The contract as text.
    pub contract: String,
    /// Members of the request beside the output.
    pub members: Value,
    /// Where the expected verdict stands.
    pub folder: PathBuf,
}

/// The folder of all cases.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// All cases, in the order of their names.
///
/// # Errors
///
/// A file cannot be read, or a case has no contract.
pub fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for group in folders(&folder())? {
        for folder in folders(&group)? {
            cases.push(case(folder).with_context(|| format!("in {}", group.display()))?);
        }
    }
    Ok(cases)
}

fn folders(within: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(within).with_context(|| format!("{}", within.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn case(folder: PathBuf) -> Result<Case> {
    let read = |path: PathBuf| fs::read(&path).with_context(|| format!("{}", path.display()));
    let own = folder.join("contract.json");
    let contract = match own.exists() {
        true => own,
        false => folder.join("../contract.json"),
    };
    let request = folder.join("request.json");
    let name: Vec<_> = folder.iter().rev().take(2).map(|part| part.to_string_lossy()).collect();
    let more = (2..).map(|number| folder.join(format!("output-{number}.txt"))).take_while(|path| path.exists());
    Ok(Case {
        name: format!("{}/{}", name[1], name[0]),
        output: read(folder.join("output.txt"))?,
        more: more.map(read).collect::<Result<_>>()?,
        contract: String::from_utf8(read(contract)?)?,
        members: match request.exists() {
            true => serde_json::from_slice(&read(request)?)?,
            false => Value::Object(Default::default()),
        },
        folder,
    })
}

impl Case {
    /// The output as text, and where its bytes were not UTF-8.
    pub fn text(&self) -> (String, Option<u32>) {
        let invalid = std::str::from_utf8(&self.output).err().map(|error| error.valid_up_to() as u32);
        (String::from_utf8_lossy(&self.output).into_owned(), invalid)
    }

    /// Each attempt as a case of its own.
    pub fn attempts(&self) -> impl Iterator<Item = Case> {
        let outputs = std::iter::once(&self.output).chain(&self.more);
        outputs.map(|output| Case { output: output.clone(), more: Vec::new(), ..self.clone() })
    }

    /// The agent that the request names, if it does.
    pub fn agent(&self) -> &str {
        self.members["agent"].as_str().unwrap_or_default()
    }

    /// The word for why the producer stopped.
    pub fn finish(&self) -> &str {
        self.members["finish"].as_str().unwrap_or("unknown")
    }

    /// The case as the host's library asks it, by the contract of `agent`.
    pub fn request<'c>(&'c self, agent: &'c str) -> seamgate::Request<'c> {
        let finish = match self.finish() {
            "stop" => seamgate::Finish::Stop,
            "length" => seamgate::Finish::Length,
            "refusal" => seamgate::Finish::Refusal,
            "content_filter" => seamgate::Finish::ContentFilter,
            _ => seamgate::Finish::Unknown,
        };
        let request = seamgate::Request::from_bytes(agent, &self.output).finish(finish);
        self.lists().into_iter().fold(request, |request, (name, values)| request.list(name, values))
    }

    /// The lists that came with the request.
    pub fn lists(&self) -> Vec<(String, Vec<String>)> {
        let lists = self.members["lists"].as_object().cloned().unwrap_or_default();
        lists
            .into_iter()
            .map(|(name, values)| {
                let values = values.as_array().cloned().unwrap_or_default();
                let values = values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
                (name, values)
            })
            .collect()
    }
}

/// JSON without optional white space, with indentation: what a reviewer reads in a diff. Nothing but white space is
/// added, so that what is compared is still the bytes.
pub fn indented(json: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    let (mut quoted, mut escaped) = (false, false);
    let mut previous = ' ';
    for character in json.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            out.push(character);
        } else {
            let closing = matches!(character, '}' | ']');
            depth -= usize::from(closing);
            let empty = closing && matches!(previous, '{' | '[');
            if (matches!(previous, '{' | '[' | ',') || closing) && !empty {
                out.push('\n');
                out.push_str(&"  ".repeat(depth));
            }
            depth += usize::from(matches!(character, '{' | '['));
            quoted = character == '"';
            out.push(character);
            if character == ':' {
                out.push(' ');
            }
        }
        previous = character;
    }
    out.push('\n');
    out
}

/// The changes of a report, applied to the candidate chosen, give the text that was validated: without the items in
/// quarantine, what it says is the report's output. `items` is the contract's path of them.
///
/// # Errors
///
/// They do not, or they overlap.
pub fn changes_give_what_was_validated(report: &Value, output: &str, items: Option<&str>) -> Result<()> {
    let changes = report["changes"].as_array().context("changes")?;
    let chosen = report["candidates"].as_array().and_then(|all| all.iter().find(|one| one["chosen"] == true));
    let Some(chosen) = chosen.filter(|_| !changes.is_empty() || report["output"] != Value::Null) else {
        ensure!(changes.is_empty(), "changes of no candidate");
        return Ok(());
    };
    let offset = |value: &Value| value.as_u64().unwrap_or(u64::MAX) as usize;
    let (mut at, end) = (offset(&chosen["span"][0]), offset(&chosen["span"][1]));
    let mut text = String::new();
    for change in changes {
        let (from, to) = (offset(&change["span"][0]), offset(&change["span"][1]));
        ensure!(at <= from && from <= to && to <= end, "the changes overlap, or are not in order: {change}");
        let before = change["before"].as_str().context("before")?;
        let kept = before.split("… [").next().unwrap_or_default();
        ensure!(output[from..to].starts_with(kept), "what stood there is something else: {change}");
        text.push_str(&output[at..from]);
        text.push_str(change["after"].as_str().context("after")?);
        at = to;
    }
    text.push_str(&output[at..end]);
    let mut document: Value = match serde_json::from_str(&text) {
        Ok(document) => document,
        // What JSON's grammar allows, and this gate as well as this parser does not.
        Err(_)
            if ["number_range", "lone_surrogate", "caps.depth"]
                .iter()
                .any(|word| report.to_string().contains(word)) =>
        {
            return Ok(());
        }
        Err(error) => bail!("the changes give what is not JSON: {error}: {text}"),
    };
    if report["output"] == Value::Null {
        return Ok(());
    }
    // Those that are no JSON are not in the text; the others are taken out of it from the last on.
    let quarantined = report["quarantined"].as_array().context("quarantined")?;
    let malformed: Vec<u64> = quarantined
        .iter()
        .filter(|item| item["reason"] == "malformed")
        .filter_map(|item| item["index"].as_u64())
        .collect();
    for item in quarantined.iter().rev().filter(|item| item["reason"] != "malformed") {
        let index = item["index"].as_u64().context("index")?;
        let path = items.context("a contract with items")?;
        let before = malformed.iter().filter(|other| **other < index).count();
        let array = path.strip_suffix("[*]").map(pointer).and_then(|pointer| document.pointer_mut(&pointer));
        let array = array.and_then(Value::as_array_mut).context("the items")?;
        ensure!((index as usize - before) < array.len(), "there is no item {index}");
        array.remove(index as usize - before);
    }
    ensure!(document == report["output"], "the changes give another document: {document}");
    Ok(())
}

/// A path of the cases as a JSON Pointer.
fn pointer(path: &str) -> String {
    let steps = path.trim_start_matches('$').split(['.', '[']).map(|step| step.trim_matches([']', '\'', '"']));
    steps.filter(|step| !step.is_empty()).map(|step| format!("/{step}")).collect()
}
