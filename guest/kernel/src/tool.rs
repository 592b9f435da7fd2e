//! One tool of a profile.

use seamgate_core::{
    Contract,
    kernel_api::{Path, Schema},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    cases::Cases,
    names::Names,
    places::{Folder, Host},
    sanitize::Clean,
    truncate::Room,
};

/// What an observation says of itself, whatever labels the profile gives to the tool's results.
pub(crate) const COMPUTED_LABELS: [&str; 5] = ["partial", "sampled", "stale", "truncated", "empty"];

/// What a call of a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    Read,
    Idempotent,
    Effectful,
}

impl Effect {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Idempotent => "idempotent",
            Effect::Effectful => "effectful",
        }
    }

    pub(crate) fn of(word: &str) -> Self {
        match word {
            "read" => Effect::Read,
            "idempotent" => Effect::Idempotent,
            // What is not known changes something.
            _ => Effect::Effectful,
        }
    }
}

/// A tool that the profile names.
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Empty: the host itself.
    pub(crate) server: String,
    pub(crate) definition: Option<Definition>,
    pub(crate) effect: Effect,
    pub(crate) egress: bool,
    /// How often equal calls are permitted, if not as the budget says.
    pub(crate) same_call: Option<u64>,
    /// In addition to the definition's own.
    pub(crate) arguments: Option<Schema>,
    /// The names of arguments in both, in the scope, and in the deny rules.
    pub(crate) names: Names,
    pub(crate) scope: Vec<Scope>,
    pub(crate) permit: Cases,
    /// The longest arguments, in bytes.
    pub(crate) max_arguments_bytes: usize,
    pub(crate) result: ResultRule,
    /// It starts another agent.
    pub(crate) is_delegate: bool,
    /// The number of its entry in the profile. Several tools have the same one if its name is a pattern.
    pub(crate) entry: Option<usize>,
}

/// A tool's definition, as the lock file pinned it.
pub(crate) struct Definition {
    pub(crate) digest: String,
    /// The digest of what equal definitions share, however they are written.
    pub(crate) canonical: String,
    /// What the model may read of it: JSON text.
    pub(crate) shown: Box<RawValue>,
    /// What its server asks of the arguments.
    pub(crate) arguments: Option<Schema>,
    /// The reason why it is invalid, which disables the tool.
    pub(crate) invalid: Option<String>,
}

/// Values of the arguments are held to something.
pub(crate) struct Scope {
    pub(crate) path: Path,
    pub(crate) within: Within,
}

/// What a value must be among.
pub(crate) enum Within {
    /// A list of the facts.
    List(String),
    /// Values of the task and of the context.
    From(Vec<Source>),
    /// In ascending order.
    Values(Vec<String>),
    /// Paths below one of these folders.
    Below(Vec<Folder>),
    /// Addresses of one of these hosts.
    Hosts(Vec<Host>),
}

/// Where a value must occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Task,
    Context(String),
}

/// What is made of a tool's result.
pub(crate) struct ResultRule {
    pub(crate) contract: Option<ResultContract>,
    pub(crate) max_bytes: usize,
    /// The most bytes of images, audio and blobs in a result, decoded.
    pub(crate) max_media_bytes: usize,
    /// What is done to its texts.
    pub(crate) clean: Clean,
    /// The types of media that pass: `TYPE/SUBTYPE`, `TYPE/*` or `*/*`.
    pub(crate) media: Vec<String>,
    /// To the array of its items.
    pub(crate) items: Option<Path>,
    /// The most items or lines that a cut keeps from the beginning, and from the end.
    pub(crate) head: usize,
    pub(crate) tail: usize,
    pub(crate) source: Option<String>,
    pub(crate) query: Option<Template>,
    pub(crate) time_range: Option<Template>,
    pub(crate) cached: Option<Path>,
    pub(crate) freshness: Option<Freshness>,
    pub(crate) confidence: Option<Path>,
    pub(crate) sampled: Option<Path>,
    pub(crate) partial: Option<Path>,
    pub(crate) labels: Vec<String>,
    pub(crate) supports: Vec<Support>,
}

/// The contract by which a result is judged as any output is. It knows its items.
pub(crate) struct ResultContract {
    pub(crate) asserting: Contract,
    /// The same, if the server declared the schema: a format rejects nothing there.
    pub(crate) annotating: Option<Contract>,
}

impl ResultRule {
    /// Returns how much of a result is shown.
    pub(crate) fn room(&self) -> Room {
        Room { bytes: self.max_bytes, head: self.head, tail: self.tail }
    }

    /// Returns whether media of a type pass. Parameters of the type do not matter.
    pub(crate) fn passes(&self, media_type: &str) -> bool {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        self.media.iter().any(|known| match known.strip_suffix("/*") {
            Some("*") => true,
            Some(main) => essence.split_once('/').is_some_and(|(other, _)| other.eq_ignore_ascii_case(main)),
            None => essence.eq_ignore_ascii_case(known),
        })
    }
}

/// A text of the profile, or a path to one.
pub(crate) enum Template {
    Text(String),
    Path(Path),
}

/// Until when the data goes, and how old it may be.
pub(crate) struct Freshness {
    pub(crate) path: Path,
    pub(crate) max_lag_s: u64,
}

/// A result that this accepts is evidence of a kind.
pub(crate) struct Support {
    pub(crate) kind: String,
    pub(crate) when: Option<Schema>,
}

/// `SERVER/NAME`, or the name alone where the server is empty: the host itself.
pub(crate) fn full_name(server: &str, name: &str) -> String {
    if server.is_empty() { name.to_owned() } else { format!("{server}/{name}") }
}

impl Tool {
    /// `SERVER/NAME`, or the name alone for a tool of the host.
    pub(crate) fn full_name(&self) -> String {
        full_name(&self.server, &self.name)
    }

    /// Returns why the tool is disabled, if it is: its pinned definition is invalid.
    pub(crate) fn disabled(&self) -> Option<&str> {
        self.definition.as_ref()?.invalid.as_deref()
    }

    /// Whether a word of a profile means this tool: `*`, its name, or its full name.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        word == "*" || word == self.name || word == self.full_name()
    }
}
