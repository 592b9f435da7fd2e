//! The common part of the fuzz targets: contracts, and the invariants of every report.
//!
//! An input is one byte that chooses a contract, and then a text. A target panics where something does not hold.

pub mod contracts;
pub mod report;
pub mod runs;

/// Returns the byte that chooses, and the text: what is not UTF-8 is replaced, as hosts do.
pub fn split(input: &[u8]) -> Option<(usize, String)> {
    let (choice, text) = input.split_first()?;
    Some((usize::from(*choice), String::from_utf8_lossy(text).into_owned()))
}

/// Returns the report on this text.
///
/// # Panics
///
/// There is a fault: none of these requests is wrong.
pub fn judge(contract: &seamgate_core::Contract, output: &str) -> seamgate_core::Report {
    let request = seamgate_core::Request { output, ..Default::default() };
    seamgate_core::validate(contract, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
}
