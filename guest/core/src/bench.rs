//! Single stages for `benches/stages.rs`. Each returns a number that depends on all of its work, so that the compiler
//! removes none of it.

use crate::{
    Contract,
    caps::Caps,
    caps_check::{CapsCheck, check_caps},
    check::Fused,
    extract,
    parse::{Document, Span, parse},
    recover::{self, Repairs},
    repair,
};

fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

/// A document that was parsed and checked for caps.
pub struct Parsed<'t>(CapsCheck<'t>);

impl<'t> Parsed<'t> {
    pub fn new(text: &'t str, contract: &Contract) -> Option<Self> {
        parse(text, whole(text), contract.caps()).ok().map(|parsed| Parsed(check_caps(parsed)))
    }

    pub fn nodes(&self) -> u32 {
        self.0.document.next(Document::ROOT)
    }

    pub fn is_valid(&self, contract: &Contract) -> bool {
        self.0.passed().is_some_and(|within_caps| contract.checker().is_valid(within_caps))
    }

    pub fn violations(&self, contract: &Contract) -> usize {
        self.0.passed().map_or(0, |within_caps| contract.checker().violations(within_caps).total)
    }
}

/// Returns the number of candidates in an output.
pub fn extract(output: &str, contract: &Contract) -> usize {
    let lone = extract::Lone::find(output, contract).map(|lone| (lone, lone.read(output, contract)));
    extract::extract(output, contract, lone).candidates.len()
}

/// Returns the number of edits that turn the items of a text into JSON. `None` if no items are found.
pub fn recover(output: &str, contract: &Contract) -> Option<usize> {
    let path = &contract.items()?.path;
    let repairs = if contract.repairs() { Repairs::Syntax } else { Repairs::None };
    recover::recover(output, whole(output), path, repairs, &Caps::default()).ok().map(|text| text.edits.len())
}

/// Returns the number of edits that turn a text into JSON. `None` if it cannot be repaired.
pub fn repair(output: &str) -> Option<usize> {
    repair::repair(output, whole(output), false, false).map(|edits| edits.len())
}

/// Returns the verdict of the one-pass check on a document, or `None` if the pass cannot decide.
pub fn fused(text: &str, contract: &Contract) -> Option<bool> {
    match contract.checker().fused(text, whole(text.trim_ascii_end()), contract.caps()) {
        Fused::Valid => Some(true),
        Fused::Wrong => Some(false),
        Fused::Unknown => None,
    }
}
