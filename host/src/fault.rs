//! Why no verdict could be given.

use std::time::Duration;

use serde::Serialize;

use crate::report::Violation;

/// No verdict could be given. A mistake of the caller, or a limit that was passed; never a rejected output.
///
/// Everything fails closed: no part of the output was accepted.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The request is not one.
    #[error("{message}")]
    BadRequest {
        /// One sentence for a person.
        message: String,
        /// What is wrong, with places in the request.
        violations: Vec<Violation>,
    },
    /// The contract is not one, or its schema cannot be used.
    #[error("{message}")]
    BadContract {
        /// One sentence for a person.
        message: String,
        /// What is wrong, with places in the contract.
        violations: Vec<Violation>,
    },
    /// No contract is registered for the agent.
    #[error("{message}")]
    UnknownAgent {
        /// One sentence for a person.
        message: String,
        /// The agents that are registered.
        agents: Vec<String>,
    },
    /// The component's registry is sealed.
    #[error("{message}")]
    Sealed {
        /// One sentence for a person.
        message: String,
    },
    /// The call used all its fuel.
    #[error("the verdict took more than {limit} units of fuel")]
    OutOfFuel {
        /// The fuel it had.
        limit: u64,
    },
    /// The instance asked for more memory than it may have.
    #[error("the verdict took more than {limit} bytes of memory")]
    OutOfMemory {
        /// The memory it may have, in bytes.
        limit: usize,
    },
    /// The instance used all its stack.
    #[error("the verdict took more than {limit} bytes of stack")]
    StackOverflow {
        /// The stack it has, in bytes.
        limit: usize,
    },
    /// The call took too long by the wall clock.
    #[error("the verdict took longer than {} ms", limit.as_millis())]
    Timeout {
        /// How long it may take.
        limit: Duration,
    },
    /// The output is longer than the host takes. The sandbox was not entered.
    #[error("the output has {bytes} bytes{}; at most {limit} are taken", if *.more { " or more" } else { "" })]
    InputTooLarge {
        /// The output's length in bytes.
        bytes: usize,
        /// The longest that is taken.
        limit: usize,
        /// Whether there may be more: what is still coming is not read to its end.
        more: bool,
    },
    /// The instance stopped for another reason, or what it answered is no answer: a mistake in the component.
    #[error("the component failed: {message}")]
    Trap {
        /// What went wrong, in the runtime's words where that stopped it. Not for programs: it may change.
        message: String,
    },
}

impl Fault {
    /// The word for this fault, the same in every language: `bad_request`, `out_of_fuel` …
    pub fn code(&self) -> &'static str {
        match self {
            Fault::BadRequest { .. } => "bad_request",
            Fault::BadContract { .. } => "bad_contract",
            Fault::UnknownAgent { .. } => "unknown_agent",
            Fault::Sealed { .. } => "sealed",
            Fault::OutOfFuel { .. } => "out_of_fuel",
            Fault::OutOfMemory { .. } => "out_of_memory",
            Fault::StackOverflow { .. } => "stack_overflow",
            Fault::Timeout { .. } => "timeout",
            Fault::InputTooLarge { .. } => "input_too_large",
            Fault::Trap { .. } => "trap",
        }
    }

    /// The same of an output that is still coming: what is too large may become larger.
    pub(crate) fn so_far(mut self) -> Self {
        if let Fault::InputTooLarge { more, .. } = &mut self {
            *more = true;
        }
        self
    }

    /// What is wrong and where, for faults that concern a document of the caller's.
    pub fn violations(&self) -> &[Violation] {
        match self {
            Fault::BadRequest { violations, .. } | Fault::BadContract { violations, .. } => violations,
            _ => &[],
        }
    }

    /// The fault as JSON text: `{"fault":…,"message":…,"detail":{…}}`.
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
            Fault::BadRequest { violations, .. } | Fault::BadContract { violations, .. } => {
                Detail { violations, ..Detail::default() }
            }
            Fault::UnknownAgent { agents, .. } => Detail { agents, ..Detail::default() },
            Fault::OutOfFuel { limit } => Detail { limit: Some(*limit), ..Detail::default() },
            Fault::OutOfMemory { limit: bytes } | Fault::StackOverflow { limit: bytes } => {
                Detail { limit: limit(*bytes), ..Detail::default() }
            }
            Fault::Timeout { limit } => Detail { limit: u64::try_from(limit.as_millis()).ok(), ..Detail::default() },
            Fault::InputTooLarge { bytes, limit: most, .. } => {
                Detail { bytes: limit(*bytes), limit: limit(*most), ..Detail::default() }
            }
            Fault::Sealed { .. } | Fault::Trap { .. } => Detail::default(),
        };
        crate::report::json(&Wire { fault: self.code(), message: self.to_string(), detail })
    }
}

/// Why a gate could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// This build of the library embeds no component: it was compiled from a clone before `cargo xtask build`.
    #[error("this build of seamgate embeds no component: run `cargo xtask build`, then build your program again")]
    NotBuilt,
    /// The bytes are not a component that this engine takes.
    #[error("not a WebAssembly component: {message}")]
    NotAComponent {
        /// What the engine said.
        message: String,
    },
    /// The component is larger than any that is compiled.
    #[error("the component has {bytes} bytes; at most {limit} are taken")]
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
        /// The longest that is taken.
        limit: usize,
    },
    /// The component wants something from its host. A validator has no imports.
    #[error("the component imports {import:?}; a validator imports nothing")]
    Imports {
        /// The first import.
        import: String,
    },
    /// The component does not export the world `seamgate:validator/validator`.
    #[error("the component is not a validator of the world seamgate:validator/validator@0.1.0: {message}")]
    NotAValidator {
        /// What is missing.
        message: String,
    },
    /// The engine or its pool could not be set up with these limits.
    #[error("the engine cannot be set up: {message}")]
    Engine {
        /// What the engine said.
        message: String,
    },
    /// The component does not start, or does not say which contracts it holds, within the limits.
    #[error("the component does not answer: {0}")]
    Fault(#[from] Fault),
}

/// Why contracts could not be baked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// One of the contracts cannot be used, or not within the limits.
    #[error("contract {index}: {fault}")]
    Contract {
        /// Which one, counted from 0.
        index: usize,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The component cannot be run, or takes no contracts.
    #[error(transparent)]
    Load(#[from] LoadError),
}
