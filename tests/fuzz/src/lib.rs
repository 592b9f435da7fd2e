//! The common part of the fuzz targets: contracts, and the invariants of every report.
//!
//! An input is one byte that selects a contract, followed by a text. A target panics if an invariant is violated.

pub mod contracts;
pub mod report;
pub mod runs;

/// Returns the selecting byte, and the text. Invalid UTF-8 is replaced, as hosts do.
pub fn split(input: &[u8]) -> Option<(usize, String)> {
    let (choice, text) = input.split_first()?;
    Some((usize::from(*choice), String::from_utf8_lossy(text).into_owned()))
}

/// Returns the report on a text.
///
/// # Panics
///
/// Panics on a fault, because all of these requests are valid.
pub fn judge(contract: &seamgate_core::Contract, output: &str) -> seamgate_core::Report {
    let request = seamgate_core::Request { output, ..Default::default() };
    seamgate_core::validate(contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
}
