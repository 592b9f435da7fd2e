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

mod digest;
mod file;
mod gate;
mod json;
mod retry;
mod run;
mod sandbox;
mod system;
mod types;

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wasmtime::component::bindgen!({
        path: ["wit", "wit/harness"],
        world: "seamgate:harness/harness",
        exports: { default: async },
    });
}

pub use digest::digest;
pub use file::{MAX_FILE, create_anew, length, open_regular, read_named, sync_folder, write_private};
pub use gate::tool_patterns::{is_tool_pattern, matches_tool, tool_pattern_rank};
pub use gate::{
    Gate,
    contract::{ContractSource, contract_files, read_contract, read_contracts},
    instance::Instance,
    profile::{profile_files, read_profile, read_profiles},
    references::FileError,
    session::Session,
    shared::SharedGate,
    verdict::{Answer, Verdict},
};
pub use json::UnknownWord;
pub use retry::{
    Attempts, JournalledAttempts, Next, Outcome, Produced, RetryJournal, RetryJournalError, RetryNotice, RunError,
    Stop, UnknownStop,
};
pub use run::{
    journal::{Blob, FileJournal, Journal, JournalError, JournalLine, JournalReader, LineKind, Lines, Torn},
    *,
};
pub use sandbox::{
    component::{Component, Inspection},
    engine::{interrupt_when, open_pagemap},
    options::Options,
    warm::stays_in_memory,
};
pub use types::{
    Candidate, Change, ChangeKind, Completed, Completeness, Confidence, ContractInfo, DeadEnd, Disposition, ErrorKind,
    Finish, Item, Level, MergeOutcome, MergeStep, NamedList, Observation, OutputError, Progress, QuarantineReason,
    Quarantined, Report, Source, Span, Violation, Wanted, Warning,
    document::Document,
    fault::{BakeError, Fault, FuelUse, LoadError},
    finish::UnknownFinish,
    limits::{Limits, Usage},
    profile::{DisabledTool, ProfileInfo},
    request::Request,
    wasm::ComponentDigest,
};
