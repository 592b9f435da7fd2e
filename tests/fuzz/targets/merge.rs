//! Several attempts, apart by a byte of zero: what is put together is valid, loses nothing, and is the same on the wire.
#![no_main]

use std::{cell::RefCell, collections::BTreeMap};

use libfuzzer_sys::fuzz_target;
use seamgate_core::{Attempt, Disposition, Merged, Registry, Report, call, merge};
use seamgate_fuzz::{contracts, judge, split};

thread_local! {
    /// A registry for each contract: they have one agent.
    static REGISTRIES: RefCell<BTreeMap<usize, Registry>> = const { RefCell::new(BTreeMap::new()) };
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let pairs = contracts::items();
    let choice = choice % pairs.len();
    let pair = &pairs[choice];
    let reports: Vec<Report> = text.split('\0').take(5).map(|output| judge(&pair.contract, output)).collect();
    let attempts: Vec<Attempt> = reports.iter().map(Attempt::from).collect();
    let merged = match merge(&pair.contract, &attempts, Vec::new()) {
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
