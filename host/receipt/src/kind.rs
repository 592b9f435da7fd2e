//! Distinguishes the kinds of receipts.

use crate::{
    envelope,
    signed::{NotAReceipt, Signed},
    verdicts,
};

/// The subject of a receipt.
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

/// Returns the kind of receipt in a file, judging only by its header.
///
/// # Errors
///
/// The file is not a receipt.
pub fn kind_of(file: &[u8]) -> Result<Kind, NotAReceipt> {
    let (signed, unprotected) = Signed::decode(file)?;
    match signed.content_type.as_str() {
        envelope::CONTENT_TYPE => Ok(Kind::Run),
        verdicts::CONTENT_TYPE if unprotected.is_empty() => Ok(Kind::Batch),
        verdicts::CONTENT_TYPE => Ok(Kind::Row),
        _ => Err(NotAReceipt::of("its content type is another one")),
    }
}
