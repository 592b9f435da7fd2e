//! Checks the changes of a report against the report.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Checks that the changes of a report, applied to the chosen candidate, give the text that was validated. Without the
/// quarantined items, its value is the report's output. `items` is the contract's path of the items.
///
/// # Errors
///
/// Returns an error if the changes give another text, or overlap.
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
        // Input that the JSON grammar allows and that both the gate and this parser reject.
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
    // Invalid items are not in the text. The other quarantined items are removed from it, beginning with the last.
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

/// Converts a path of the cases to a JSON Pointer.
fn pointer(path: &str) -> String {
    let steps = path.trim_start_matches('$').split(['.', '[']).map(|step| step.trim_matches([']', '\'', '"']));
    steps.filter(|step| !step.is_empty()).map(|step| format!("/{step}")).collect()
}
