//! Receipts: signed files with the events of a run, from which anybody can derive the decisions again.
//!
//! A receipt is a `COSE_Sign1` message (RFC 9052, section 4.2), signed with Ed25519, and a signed statement in the
//! sense of SCITT (RFC 9943). The signed statement names the run, its profile, its component and its last line by
//! digests. The lines themselves, the profile and the artifacts are in the unprotected header, and each is bound to the
//! statement by its digest.

mod attest;
mod envelope;
mod evidence;
mod inclusion;
mod journal;
mod kind;
mod run;
mod signed;
mod time_stamp;
mod tree;
mod verdicts;
mod verify;
mod verify_verdicts;
mod witness;

pub use attest::{Attested, MAX_ATTESTATION, NotAttested, Predicate, Subject, attest, read_attestation, subject};
pub use envelope::{Envelope, MAX_RECEIPT, Part};
pub use evidence::Evidence;
pub use kind::{Kind, kind_of};
pub use run::{NoReceipt, Sign, Signing, Statement, Withhold, receipt_of};
pub use signed::{NotAReceipt, Signed};
pub use time_stamp::{Authority, MAX_TIME_STAMP, NotAnAuthority, check_time_stamp};
pub use verdicts::{Batch, Row, RowTree, Rows, VerdictsStatement};
pub use verify::{Check, Counts, Expected, Report, Trusted, Withheld, verify};
pub use verify_verdicts::{VerdictsReport, verify_batch, verify_row};
pub use witness::{Log, MAX_WITNESS, NotALog, Witness, check_witness};
