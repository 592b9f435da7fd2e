//! A gate for the output of language models: an untrusted text and a contract in, one verdict out.
//!
//! ```
//! use seamgate::{Disposition, Gate, Request};
//!
//! let mut gate = Gate::new()?;
//! gate.register(r#"{"agent": "greeter", "schema": {"type": "object", "required": ["greeting"]}}"#)?;
//!
//! let verdict = gate.validate(&Request::new("greeter", "Here you are: ```json\n{\"greeting\": \"hi\"}\n```"))?;
//! assert_eq!(verdict.report.disposition, Disposition::Accepted);
//! assert_eq!(verdict.report.output.as_deref(), Some(r#"{"greeting":"hi"}"#));
//!
//! let verdict = gate.validate(&Request::new("greeter", "{\"greting\": \"hi\"}"))?;
//! assert_eq!(verdict.report.violations()[0].message, "must have member \"greeting\"; rename member \"greting\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A WebAssembly component without imports validates each output in a fresh instance. [`Limits`] bound its fuel, memory,
//! stack, time and size. A rejected output is data: a [`Report`]. A [`Fault`] means that there is no verdict: the contract
//! is wrong, or the call passed a limit. Both fail closed, and the gate keeps working.
//!
//! The gate emits `tracing` events: `debug` for each verdict, `info` for an output that fails validation, `warn` for a
//! fault.

mod abi;
mod bake;
mod cache;
mod code;
mod component;
mod contract;
mod defaults;
mod digest;
mod disk;
mod document;
mod engine;
mod exports;
mod fault;
mod file;
mod finish;
mod gate;
mod harness;
mod image;
mod instance;
mod journal;
mod json;
mod kept;
mod limits;
mod memory;
mod options;
mod profile;
mod registry;
mod report;
mod request;
mod run;
mod sandbox;
mod session;
mod skeleton;
mod system;
mod types;
mod verdict;
mod wasm;

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wasmtime::component::bindgen!({
        path: ["wit", "wit/harness"],
        world: "seamgate:harness/harness",
        exports: { default: async },
    });
}

pub use component::{Component, Inspection};
pub use contract::{ContractSource, contract_files, read_contract, read_contracts};
pub use digest::digest;
pub use disk::FileError;
pub use document::Document;
#[doc(hidden)]
pub use engine::{interrupt_when, open_pagemap};
pub use fault::{BakeError, Fault, FuelUse, LoadError};
#[doc(hidden)]
pub use file::{MAX_FILE, length, open_regular, read_named};
pub use finish::UnknownFinish;
pub use gate::Gate;
pub use harness::{Attempts, Next, Outcome, Produced, RunError, Stop, UnknownStop};
pub use instance::Instance;
pub use journal::{Blob, FileJournal, Journal, JournalError, JournalLine, JournalReader, LineKind, Lines, Torn};
pub use json::UnknownWord;
#[doc(hidden)]
pub use kept::stays_in_memory;
pub use limits::{Limits, Usage};
pub use options::Options;
pub use profile::{ProfileInfo, profile_files, read_profile, read_profiles};
pub use request::Request;
pub use run::*;
pub use session::Session;
pub use types::{
    Candidate, Change, ChangeKind, Completed, Completeness, Confidence, ContractInfo, DeadEnd, Disposition, ErrorKind,
    Finish, Item, Level, MergeOutcome, MergeStep, NamedList, Observation, OutputError, Progress, QuarantineReason,
    Quarantined, Report, Source, Span, Violation, Wanted, Warning,
};
pub use verdict::{Answer, Verdict};
pub use wasm::ComponentDigest;
