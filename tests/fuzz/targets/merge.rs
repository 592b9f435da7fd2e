//! Several attempts, separated by a zero byte: the merged document is valid, loses nothing, keeps valid items
//! unchanged, and is the same on the wire.
#![no_main]

use std::{cell::RefCell, collections::BTreeMap};

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Attempt, Disposition, MergeOutcome, Merged, Registry, Report, call, merge};
use seamgate_fuzz::{contracts, judge, split};
use serde_json::Value;

thread_local! {
    /// One registry for each contract, because the contracts have the same agent.
    static REGISTRIES: RefCell<BTreeMap<usize, Registry>> = const { RefCell::new(BTreeMap::new()) };
}

fn items(report: &Report, at: Option<&str>) -> Vec<Value> {
    let output = report.output.as_deref().unwrap_or("null");
    let document: Value = serde_json::from_str(output).unwrap_or_else(|error| panic!("{error}: {output}"));
    at.and_then(|at| document.pointer(at)?.as_array()).cloned().unwrap_or_default()
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::items();
    let choice = choice % pairs.len();
    let pair = &pairs[choice];
    let reports: Vec<Report> = text.split('\0').take(5).map(|output| judge(&pair.contract, output)).collect();
    let attempts: Vec<Attempt> = reports.iter().map(Attempt::from).collect();
    let merged = match merge(&pair.contract, &attempts, Vec::new(), None) {
        Ok(Merged::Same(index)) => reports[index].clone(),
        Ok(Merged::New(report)) => *report,
        Err(fault) => panic!("{}", fault.to_json()),
    };
    match &merged.output {
        Some(document) => {
            let again = judge(&pair.again, document);
            assert_eq!(again.disposition, Disposition::Accepted, "what was put together is not valid: {document}");
            assert_eq!(again.output.as_ref(), Some(document));
        }
        None => assert!(reports.iter().all(|report| report.output.is_none()), "a valid document is lost"),
    }
    if merged.disposition == Disposition::Accepted {
        assert!(merged.quarantined.is_empty());
    }
    let is_new = merged.merged.iter().any(|step| step.outcome == MergeOutcome::Replaced);
    if let Some(first) = reports.iter().find(|report| report.output.is_some() && !is_new && reports.len() > 1) {
        let (before, after) = (items(first, pair.items), items(&merged, pair.items));
        let mut rest = after.iter();
        assert!(before.iter().all(|item| rest.any(|other| other == item)), "a valid item is lost or moved: {before:?}");
        if merged.disposition == Disposition::Accepted {
            assert_eq!(after.len(), before.len() + first.quarantined.len(), "an item asked for is lost");
        }
    }
    let listed: Vec<String> = reports.iter().map(Report::to_json).collect();
    let request = format!(r#"{{"op":"merge","agent":"a","reports":[{}]}}"#, listed.join(","));
    let answer = REGISTRIES.with_borrow_mut(|registries| {
        let registry = registries.entry(choice).or_insert_with(|| {
            let mut registry = Registry::new();
            registry.register(&pair.text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
            registry
        });
        call(registry, &request)
    });
    assert_eq!(answer, format!(r#"{{"id":null,"report":{}}}"#, merged.to_json()));
});
