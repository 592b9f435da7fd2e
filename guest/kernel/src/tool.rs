//! One tool of a profile.

use seamgate_core::{
    Contract,
    kernel_api::{Path, Schema, Selector},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    cases::{Approval, Cases},
    known::Known,
    names::Names,
    places::{Folder, Host},
    rate::Rate,
    sanitize::Clean,
    truncate::Room,
};

/// Labels that an observation computes itself, regardless of the labels in the profile.
pub(crate) const COMPUTED_LABELS: [&str; 5] = ["partial", "sampled", "stale", "truncated", "empty"];

/// The effect of a tool's calls.
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
            // An unknown word counts as an effect.
            _ => Effect::Effectful,
        }
    }
}

/// A tool that the profile names.
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The name of the tool's server. Empty for a tool of the host itself.
    pub(crate) server: String,
    pub(crate) definition: Option<Definition>,
    pub(crate) effect: Effect,
    pub(crate) egress: bool,
    pub(crate) store: Option<Store>,
    /// The number of times that equal calls are permitted, if this differs from the budget.
    pub(crate) same_call: Option<u64>,
    pub(crate) rate: Option<Rate>,
    /// The schema that applies in addition to that of the definition.
    pub(crate) arguments: Option<Schema>,
    /// The names of arguments in both schemas, in the scope, and in the deny rules.
    pub(crate) names: Names,
    pub(crate) scope: Vec<Scope>,
    pub(crate) origins: Vec<OriginRule>,
    /// The arguments that may name secrets.
    pub(crate) secrets: Vec<SecretRule>,
    /// The paths of its results at which rules of this profile look for origins.
    pub(crate) observed: Vec<Path>,
    pub(crate) permit: Cases,
    /// The follow-up calls that an approval also covers.
    pub(crate) covers: Vec<Cover>,
    /// The maximum size of the arguments, in bytes.
    pub(crate) max_arguments_bytes: usize,
    pub(crate) result: ResultRule,
    /// `true` if the tool starts another agent.
    pub(crate) is_delegate: bool,
    /// The index of the tool's entry in the profile. Tools share an entry if its name is a pattern.
    pub(crate) entry: Option<usize>,
}

/// A tool's definition, as the lock file pinned it.
pub(crate) struct Definition {
    pub(crate) digest: String,
    /// The digest that equal definitions share, however they are written.
    pub(crate) canonical: String,
    /// The part of the definition that the model may read, as JSON text.
    pub(crate) shown: Box<RawValue>,
    /// The schema that its server states for the arguments.
    pub(crate) arguments: Option<Schema>,
    /// The reason why the definition is invalid, which disables the tool.
    pub(crate) invalid: Option<String>,
}

/// A rule that restricts values of the arguments.
pub(crate) struct Scope {
    pub(crate) path: Path,
    pub(crate) within: Within,
}

/// The set that a value must belong to.
pub(crate) enum Within {
    /// A list of the facts.
    List(String),
    /// Values of the task and of the context.
    From(Vec<Source>),
    /// Literal values, in ascending order.
    Values(Vec<String>),
    /// Paths below one of these folders.
    Below(Vec<Folder>),
    /// Addresses of one of these hosts.
    Hosts(Vec<Host>),
}

impl Within {
    /// Returns the list of the facts that it names.
    pub(crate) fn list(&self) -> Option<&str> {
        match self {
            Within::List(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the sources that it names.
    pub(crate) fn sources(&self) -> &[Source] {
        match self {
            Within::From(sources) => sources,
            _ => &[],
        }
    }
}

/// A source in which a value must occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Task,
    Context(String),
}

/// A follow-up call that the approval of a call covers.
pub(crate) struct Cover {
    /// The full name of the tool.
    pub(crate) tool: String,
    /// Values that must be the same: the path to them in the follow-up call, and in the approved one.
    pub(crate) same: Vec<(Path, Path)>,
    pub(crate) ttl_s: u64,
}

/// A rule that values of the arguments must have an origin.
pub(crate) struct OriginRule {
    pub(crate) path: Path,
    pub(crate) from: Vec<Origin>,
    /// The decision for values without an origin. `None` if the flows decide.
    pub(crate) otherwise: Option<Otherwise>,
}

/// The store that a tool reads and, unless it only reads, writes.
pub(crate) struct Store {
    pub(crate) name: String,
    /// The path to the keys in the arguments. `None` if each call concerns the whole store.
    pub(crate) key: Option<Path>,
}

/// A rule that values of the arguments may be references to secrets.
pub(crate) struct SecretRule {
    pub(crate) path: Path,
    /// The secrets, by the names that the host has for them.
    pub(crate) names: Vec<String>,
}

/// The decision about a call with a value that has no origin.
pub(crate) enum Otherwise {
    Deny,
    /// Approval by the groups that the rule names, or else by the tool's own approvers, or else by any approver.
    Approval(Option<Approval>),
}

/// A place that a value may come from.
pub(crate) enum Origin {
    /// Texts that people said in this run.
    User,
    From(Source),
    /// A list of the facts.
    List(String),
    Values(KnownValues),
    Below(Vec<Folder>),
    Hosts(Vec<Host>),
    Result(ResultOrigin),
}

/// Values that the profile lists, and the forms in which they are looked up.
pub(crate) struct KnownValues {
    pub(crate) texts: Vec<String>,
    pub(crate) known: Known,
}

/// Values of results of a tool.
pub(crate) struct ResultOrigin {
    /// The tool, as the profile names it.
    pub(crate) tool: String,
    pub(crate) at: Path,
    /// The path to an item's name. If present, only items that the user or the task names are origins.
    pub(crate) named: Option<Path>,
}

impl ResultOrigin {
    /// Returns whether results of a tool are such origins. Its full name contains the name of its server.
    pub(crate) fn is_of(&self, full_name: &str) -> bool {
        full_name == self.tool || full_name.split_once('/').is_some_and(|(_, name)| name == self.tool)
    }

    /// Returns the number of steps of `at` that lead to an item of the list that it shares with `named`. Returns 0 if
    /// they share no list, so that the whole result is one item.
    pub(crate) fn steps_to_item(&self) -> usize {
        let Some(named) = &self.named else { return 0 };
        let shared = self.at.selectors.iter().zip(&named.selectors).take_while(|(one, other)| one == other).count();
        let last = self.at.selectors[..shared].iter().rposition(|selector| *selector == Selector::Each);
        last.map_or(0, |last| last + 1)
    }
}

impl Origin {
    /// Returns whether the origin depends on texts that people said.
    pub(crate) fn needs_said(&self) -> bool {
        matches!(self, Origin::User | Origin::Result(ResultOrigin { named: Some(_), .. }))
    }

    /// Returns whether the origin depends on the task.
    pub(crate) fn needs_task(&self) -> bool {
        matches!(self, Origin::From(Source::Task) | Origin::Result(ResultOrigin { named: Some(_), .. }))
    }
}

/// The rules for a tool's results.
pub(crate) struct ResultRule {
    pub(crate) contract: Option<ResultContract>,
    pub(crate) max_bytes: usize,
    /// The maximum size of images, audio and blobs in a result, decoded, in bytes.
    pub(crate) max_media_bytes: usize,
    /// The treatment of its texts.
    pub(crate) clean: Clean,
    /// The types of media that pass: `TYPE/SUBTYPE`, `TYPE/*` or `*/*`.
    pub(crate) media: Vec<String>,
    /// The path to the array of its items.
    pub(crate) items: Option<Path>,
    /// The maximum number of items or lines that truncation keeps from the beginning and from the end.
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

/// The contract of a result, which is judged like an output. It defines the items of the result.
pub(crate) struct ResultContract {
    pub(crate) asserting: Contract,
    /// The same contract for a schema that the server declared. It treats `format` as an annotation.
    pub(crate) annotating: Option<Contract>,
}

impl ResultRule {
    /// Returns the limits on the shown part of a result.
    pub(crate) fn room(&self) -> Room {
        Room { bytes: self.max_bytes, head: self.head, tail: self.tail }
    }

    /// Returns whether media of a type pass. Ignores parameters of the type.
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

/// The path to the time up to which the data extends, and the maximum age of the data.
pub(crate) struct Freshness {
    pub(crate) path: Path,
    pub(crate) max_lag_s: u64,
}

/// A kind of evidence, and the schema of the results that support it.
pub(crate) struct Support {
    pub(crate) kind: String,
    pub(crate) when: Option<Schema>,
}

/// Returns `SERVER/NAME`, or the name alone if the server is empty, which means the host itself.
pub(crate) fn full_name(server: &str, name: &str) -> String {
    if server.is_empty() { name.to_owned() } else { format!("{server}/{name}") }
}

impl Tool {
    /// Returns `SERVER/NAME`, or the name alone for a tool of the host.
    pub(crate) fn full_name(&self) -> String {
        full_name(&self.server, &self.name)
    }

    /// Returns the lists of the facts that its rules name.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &str> {
        let origins = self.origins().filter_map(|origin| match origin {
            Origin::List(name) => Some(name.as_str()),
            _ => None,
        });
        self.scope.iter().filter_map(|scope| scope.within.list()).chain(origins)
    }

    /// Returns the sources that its scopes and its origins name, and the task if the name of an item matters.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        let origins = self.origins().filter_map(|origin| match origin {
            Origin::From(source) => Some(source),
            other => other.needs_task().then_some(&Source::Task),
        });
        self.scope.iter().flat_map(|scope| scope.within.sources()).chain(origins)
    }

    /// Returns the origins that its rules name.
    pub(crate) fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.iter().flat_map(|rule| &rule.from)
    }

    /// Returns the reason if the tool is disabled because its pinned definition is invalid.
    pub(crate) fn disabled(&self) -> Option<&str> {
        self.definition.as_ref()?.invalid.as_deref()
    }

    /// Returns whether a word of a profile means this tool: `*`, its name, or its full name.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        word == "*" || word == self.name || word == self.full_name()
    }
}
