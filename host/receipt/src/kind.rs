//! Tells receipts apart.

use crate::{
    envelope,
    signed::{NotAReceipt, Signed},
    verdicts,
};

/// What a receipt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A run.
    Run,
    /// Many verdicts.
    Batch,
    /// One verdict of a batch.
    Row,
}

/// Returns what a file is a receipt of, by its header alone.
///
/// # Errors
///
/// It is no receipt.
pub fn kind_of(file: &[u8]) -> Result<Kind, NotAReceipt> {
    let (signed, unprotected) = Signed::decode(file)?;
    match signed.content_type.as_str() {
        envelope::CONTENT_TYPE => Ok(Kind::Run),
        verdicts::CONTENT_TYPE if unprotected.is_empty() => Ok(Kind::Batch),
        verdicts::CONTENT_TYPE => Ok(Kind::Row),
        _ => Err(NotAReceipt::of("its content type is another one")),
    }
}
