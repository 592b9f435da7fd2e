//! Receipts: a signed file with the events of a run, from which anybody derives the decisions again.
//!
//! A receipt is a `COSE_Sign1` message (RFC 9052, section 4.2), signed with Ed25519, and a signed statement in the sense of SCITT
//! (RFC 9943). What is signed names the run, its profile, its component and its last line by digests. The lines themselves, the
//! profile and the artifacts are in the unprotected header, and each is bound to what is signed by its digest.

mod attest;
mod envelope;
mod journal;
mod run;
mod signed;
mod tree;
mod verdicts;
mod verify;
mod verify_verdicts;

pub use attest::{Attested, MAX_ATTESTATION, NotAttested, Predicate, Subject, attest, read_attestation, subject};
pub use envelope::{Envelope, MAX_RECEIPT, Part};
pub use run::{NoReceipt, Signing, Statement, Withhold, receipt_of};
pub use signed::{NotAReceipt, Signed};
pub use verdicts::{Batch, Row, Rows, VerdictsStatement};
pub use verify::{Check, Counts, Expected, Report, Trusted, Withheld, verify};
pub use verify_verdicts::{VerdictsReport, verify_batch, verify_row};

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
