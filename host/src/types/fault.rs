//! The reasons why there is no verdict.

use std::time::Duration;

use serde::Serialize;

use super::Violation;
use crate::types;

/// The reason why there is no verdict: the caller made a mistake, or a call exceeded a limit. A rejected output is not
/// a fault: it is a [`Report`](crate::Report).
///
/// Each fault fails closed: no part of the output is accepted. Faults may gain further fields, so match them with `..`.
///
/// ```
/// use seamgate::{Fault, Gate, Limits, Options, Request};
///
/// let gate = Gate::with(Options::default().limits(Limits::default().output_bytes(100)))?;
/// let fault = gate.validate(&Request::new("counter", &"4".repeat(101))).unwrap_err();
/// assert!(matches!(fault, Fault::InputTooLarge { bytes: 101, limit: 100, .. }));
/// assert_eq!(fault.code(), "input_too_large");
/// assert_eq!(fault.to_string(), "the output has 101 bytes; the limit is 100");
/// # Ok::<(), seamgate::LoadError>(())
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The request is invalid, or lacks a list that the contract needs.
    #[error("{message}")]
    BadRequest {
        /// A description in one sentence.
        message: String,
        /// The mistakes, with their places in the request.
        violations: Vec<Violation>,
    },
    /// The contract is invalid, or its schema cannot be used.
    #[error("{message}")]
    #[non_exhaustive]
    BadContract {
        /// A description in one sentence.
        message: String,
        /// The mistakes, with their places in the contract.
        violations: Vec<Violation>,
    },
    /// The profile is invalid, or contradicts itself.
    #[error("{message}")]
    #[non_exhaustive]
    BadProfile {
        /// A description in one sentence.
        message: String,
        /// The mistakes, with their places in the profile.
        violations: Vec<Violation>,
    },
    /// No contract or profile is registered for the agent.
    #[error("{message}")]
    #[non_exhaustive]
    UnknownAgent {
        /// A description in one sentence.
        message: String,
        /// The agents that are registered.
        agents: Vec<String>,
    },
    /// The component's registry is sealed.
    #[error("{message}")]
    #[non_exhaustive]
    Sealed {
        /// A description in one sentence.
        message: String,
    },
    /// The call used all its fuel.
    #[error("{used_by} took more than {limit} units of fuel")]
    #[non_exhaustive]
    OutOfFuel {
        /// The fuel that the call had.
        limit: u64,
        /// The operation that used it.
        used_by: FuelUse,
    },
    /// The instance asked for more memory than its limit.
    #[error("the verdict took more than {limit} bytes of memory")]
    #[non_exhaustive]
    OutOfMemory {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The instance used all its stack.
    #[error("the verdict took more than {limit} bytes of stack")]
    #[non_exhaustive]
    StackOverflow {
        /// The size of the stack, in bytes.
        limit: usize,
    },
    /// The call exceeded its limit on wall-clock time.
    #[error("the verdict took longer than {} ms", limit.as_millis())]
    #[non_exhaustive]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// There is no instance for the call: all were busy for as long as a call may take, or too many are held.
    #[error("{message}")]
    #[non_exhaustive]
    Busy {
        /// A description in one sentence.
        message: String,
        /// The maximum number of instances.
        limit: usize,
    },
    /// The output is longer than the limit. It did not enter the sandbox.
    #[error("the output has {bytes} bytes{}; the limit is {limit}", if *.more { " or more" } else { "" })]
    InputTooLarge {
        /// The output's length in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
        /// `true` if the output may be longer than `bytes`, because the gate does not read it to its end.
        more: bool,
    },
    /// The instance stopped for another reason, or its answer is invalid, so the component has a bug.
    #[error("the component failed: {message}")]
    #[non_exhaustive]
    Trap {
        /// A description of the failure. Programs must not depend on the text.
        message: String,
    },
}

/// The operation that used all the fuel of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FuelUse {
    /// Compiling a contract or a profile that is registered. [`Limits::contract_fuel`](crate::Limits::contract_fuel)
    /// bounds it.
    Compiling,
    /// Judging an output, and compiling a contract that came with the request. [`Limits::fuel`](crate::Limits::fuel)
    /// bounds it.
    Judging,
}

impl std::fmt::Display for FuelUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FuelUse::Compiling => "compiling",
            FuelUse::Judging => "the verdict",
        })
    }
}

impl Fault {
    /// If the fault is for fuel, records that compiling used it.
    pub(crate) fn while_compiling(self) -> Self {
        match self {
            Fault::OutOfFuel { limit, .. } => Fault::OutOfFuel { limit, used_by: FuelUse::Compiling },
            fault => fault,
        }
    }

    /// Returns the code of this fault, the same in every language: `bad_request`, `out_of_fuel` …
    pub fn code(&self) -> &'static str {
        match self {
            Fault::BadRequest { .. } => "bad_request",
            Fault::BadContract { .. } => "bad_contract",
            Fault::BadProfile { .. } => "bad_profile",
            Fault::UnknownAgent { .. } => "unknown_agent",
            Fault::Sealed { .. } => "sealed",
            Fault::OutOfFuel { .. } => "out_of_fuel",
            Fault::OutOfMemory { .. } => "out_of_memory",
            Fault::StackOverflow { .. } => "stack_overflow",
            Fault::Timeout { .. } => "timeout",
            Fault::Busy { .. } => "busy",
            Fault::InputTooLarge { .. } => "input_too_large",
            Fault::Trap { .. } => "trap",
        }
    }

    /// Returns the fault for a call that got no slot within the time limit.
    pub(crate) fn all_at_work(slots: u32, waited: Duration) -> Self {
        let limit = usize::try_from(slots).unwrap_or(usize::MAX);
        let message = format!(
            "all instances ({limit}) were at work for {} ms: ask from fewer threads, or raise the limit on time",
            waited.as_millis()
        );
        Fault::Busy { message, limit }
    }

    /// Returns the fault for too many instances held between calls.
    pub(crate) fn too_many(limit: usize) -> Self {
        let message =
            format!("no more than {limit} sessions and instances can be open at once: close those that are done");
        Fault::Busy { message, limit }
    }

    /// Returns the same fault for an output that is still arriving. If the output is too large, it may grow further.
    pub(crate) fn so_far(mut self) -> Self {
        if let Fault::InputTooLarge { more, .. } = &mut self {
            *more = true;
        }
        self
    }

    /// Returns the mistakes and their places, if the fault is about a request, a contract or a profile.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Fault::BadRequest { violations, .. }
            | Fault::BadContract { violations, .. }
            | Fault::BadProfile { violations, .. } => violations,
            _ => &[],
        }
    }

    /// Returns the fault as JSON text: `{"fault":…,"message":…,"detail":{…}}`.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'f> {
            fault: &'static str,
            message: String,
            detail: Detail<'f>,
        }
        #[derive(Serialize, Default)]
        struct Detail<'f> {
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            violations: &'f [Violation],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            agents: &'f [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            bytes: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            limit: Option<u64>,
        }
        let limit = |limit: usize| u64::try_from(limit).ok();
        let detail = match self {
            Fault::BadRequest { violations, .. }
            | Fault::BadContract { violations, .. }
            | Fault::BadProfile { violations, .. } => Detail { violations, ..Detail::default() },
            Fault::UnknownAgent { agents, .. } => Detail { agents, ..Detail::default() },
            Fault::OutOfFuel { limit, .. } => Detail { limit: Some(*limit), ..Detail::default() },
            Fault::OutOfMemory { limit: bytes }
            | Fault::StackOverflow { limit: bytes }
            | Fault::Busy { limit: bytes, .. } => Detail { limit: limit(*bytes), ..Detail::default() },
            Fault::Timeout { limit } => Detail { limit: u64::try_from(limit.as_millis()).ok(), ..Detail::default() },
            Fault::InputTooLarge { bytes, limit: most, .. } => {
                Detail { bytes: limit(*bytes), limit: limit(*most), ..Detail::default() }
            }
            Fault::Sealed { .. } | Fault::Trap { .. } => Detail::default(),
        };
        crate::json::json(&Wire { fault: self.code(), message: self.to_string(), detail })
    }
}

/// The reason why a gate cannot be created. The sources are the engine's errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// This build of the library embeds no component: it was compiled from a clone before `cargo xtask build`.
    #[error("this build of seamgate embeds no component: run `cargo xtask build`, then build your program again")]
    NotBuilt,
    /// The bytes are not a component that this engine accepts.
    #[error("not a WebAssembly component")]
    NotAComponent(#[source] Cause),
    /// The component is larger than the limit.
    #[error("the component has {bytes} bytes; the limit is {limit}")]
    #[non_exhaustive]
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The limit: [`Component::MAX_BYTES`](crate::Component::MAX_BYTES).
        limit: usize,
    },
    /// The component imports something from its host. A validator has no imports.
    #[error("the component imports {import:?}; a validator imports nothing")]
    #[non_exhaustive]
    Imports {
        /// The first import.
        import: String,
    },
    /// The component does not export the world `seamgate:validator/validator`.
    #[error("the component does not export the world seamgate:validator/validator@0.1.0")]
    NotAValidator(#[source] Cause),
    /// The engine or its pool could not be set up with these limits.
    #[error("the engine cannot be set up")]
    Engine(#[source] Cause),
    /// The component does not start, or does not list its contracts, within the limits.
    #[error("the component does not answer")]
    Fault(#[from] Fault),
}

/// An error of a dependency that is not part of this library's API.
type Cause = Box<dyn std::error::Error + Send + Sync>;

impl LoadError {
    pub(crate) fn not_a_component(error: wasmtime::Error) -> Self {
        LoadError::NotAComponent(error.into())
    }

    pub(crate) fn not_a_validator(error: wasmtime::Error) -> Self {
        LoadError::NotAValidator(error.into())
    }

    pub(crate) fn engine(error: wasmtime::Error) -> Self {
        LoadError::Engine(error.into())
    }
}

/// The reason why contracts cannot be baked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// One of the contracts cannot be used, or not within the limits.
    #[error("contract {index} cannot be baked")]
    #[non_exhaustive]
    Contract {
        /// The index of the contract, from 0.
        index: usize,
        /// The reason.
        #[source]
        fault: Fault,
    },
    /// One of the profiles cannot be used, or not within the limits.
    #[error("profile {index} cannot be baked")]
    #[non_exhaustive]
    Profile {
        /// The index of the profile, from 0.
        index: usize,
        /// The reason.
        #[source]
        fault: Fault,
    },
    /// The component cannot be run, or accepts no contracts.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<types::WitFault> for Fault {
    fn from(fault: types::WitFault) -> Self {
        let types::WitFault { code, message, violations, agents } = fault;
        match code {
            types::FaultCode::BadRequest => Fault::BadRequest { message, violations },
            types::FaultCode::BadContract => Fault::BadContract { message, violations },
            types::FaultCode::BadProfile => Fault::BadProfile { message, violations },
            types::FaultCode::UnknownAgent => Fault::UnknownAgent { message, agents },
            types::FaultCode::Sealed => Fault::Sealed { message },
        }
    }
}
