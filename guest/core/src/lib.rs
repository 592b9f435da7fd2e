//! The pipeline of seamgate. It turns a contract and an output into a report.
//!
//! This library has no I/O, clock or randomness: the same request produces the same report, natively and in the
//! sandbox. [`validate`] is the entry point. Each module is one stage, and only uses the results of earlier stages.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the words are documented once, in wit/types.wit")]

mod allow;
#[cfg(feature = "bench")]
pub mod bench;
mod caps;
mod caps_check;
mod change;
mod check;
mod coerce;
mod contract;
mod evidence;
mod extract;
mod fault;
mod feedback;
mod finish;
mod hidden;
mod item_matching;
mod items;
mod json;
mod judgement;
pub mod kernel_api;
mod location;
mod merge;
mod misspelling;
mod order;
mod parse;
mod path;
mod pipeline;
#[cfg(test)]
mod random;
mod recover;
mod registry;
mod repair;
mod report;
mod request;
mod scan;
mod stream;
mod text;
mod types;
mod unwrap;
mod violation;
mod wire;

pub use contract::Contract;
pub use fault::{Fault, FaultCode};
pub use finish::UnknownFinish;
pub use hidden::is_hidden;
pub use merge::{Attempt, Merged, merge};
pub use pipeline::validate;
pub use registry::{Keep, Registry, kept};
pub use report::{Accepted, Verdict};
pub use request::{Confidence, Finish, NamedList, Observation, Request};
pub use stream::Session;
pub use types::{
    Change, ChangeKind, Completed, Completeness, ContractInfo, DeadEnd, Disposition, ErrorKind, Item, JudgedCandidate,
    Level, MergeOutcome, MergeStep, OutputError, Progress, Quarantined, Reason, Report, Source, Span, Violation,
    Wanted, Warning,
};
pub use wire::{Members, Operations, call, call_bytes_with, call_with, operations};
