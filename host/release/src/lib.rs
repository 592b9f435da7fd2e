//! Checks a release of seamgate without a network: the digests of its files, the signatures of its statements, where
//! the files were built, the packages inside, and the interfaces of the components.
//!
//! The checks trust only the certificate authorities and logs of a [`Trust`], and nothing in the folder.

mod component;
mod crypto;
mod digests;
mod folder;
mod interface;
mod materials;
mod names;
mod provenance;
mod report;
mod signature;
mod verify;
mod workflow;

pub use crypto::install as install_cryptography;
pub use report::{Check, CheckKind, Report, Unchecked};
pub use signature::{MAX_TRUST_ROOT, Trust};
pub use verify::{Expected, ReleaseError, verify};
