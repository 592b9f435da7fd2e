//! Receipts: a signed file with the events of a run, from which anybody derives the decisions again.
//!
//! A receipt is a `COSE_Sign1` message (RFC 9052, section 4.2), signed with Ed25519, and a signed statement in the sense of SCITT
//! (RFC 9943). What is signed names the run, its profile, its component and its last line by digests. The lines themselves, the
//! profile and the artifacts are in the unprotected header, and each is bound to what is signed by its digest.

mod envelope;
mod journal;
mod run;
mod verify;

pub use envelope::{Envelope, MAX_RECEIPT, NotAReceipt, Part};
pub use run::{NoReceipt, Signing, Statement, Withhold, receipt_of};
pub use verify::{Check, Counts, Expected, Report, Trusted, Withheld, verify};
