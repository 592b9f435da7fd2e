//! Tools for authors of contracts.
//!
//! - [`init`] starts a contract from a JSON Schema, from example outputs, or from a Pydantic model.
//! - [`diff`] compares two versions of a contract, and determines whom the change breaks.
//! - [`export`] writes the part of a contract's schema that a provider's constrained decoding enforces.
//! - [`examples`] reads example outputs, and compares their verdicts with those that the author expects.
//! - [`contract_errors`] locates the errors of a contract or a profile in its files.
//! - [`types`] reduces a contract to the schema that a generator of types reads.
//! - [`fuel`] finds the keyword of a contract that uses the most fuel.
//!
//! ```
//! use seamgate_authoring::diff::{Answer, Contract, compare};
//!
//! let old = Contract::from_text("old.json", r#"{"agent": "a", "schema": {"type": "integer", "maximum": 9}}"#)?;
//! let new = Contract::from_text("new.json", r#"{"agent": "a", "schema": {"type": "integer", "maximum": 20}}"#)?;
//!
//! let difference = compare(&old, &new)?;
//! assert_eq!(difference.changes[0].pointer, "/schema/maximum");
//! // Every output that the old contract accepts is still accepted.
//! assert!(matches!(difference.producers, Answer::Compatible));
//! // A consumer that relies on the old maximum breaks.
//! assert!(matches!(difference.consumers, Answer::Breaks(_)));
//! # Ok::<(), seamgate_authoring::diff::DiffError>(())
//! ```

pub mod contract_errors;
pub mod diff;
pub mod examples;
pub mod export;
mod finding;
pub mod fuel;
pub mod init;
mod observation;
mod schema;
pub mod types;

pub use finding::{Finding, Level, Lines, Location};
pub use observation::ObservationDocument;
