//! Facts: everything that a decision about one call depends on.

use std::{collections::BTreeMap, sync::Arc};

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{Document, Json, Kind, NodeId, json},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    above::{Above, Rules},
    counts::{self, Calls},
    document::{CAPS, Format, number_at, number_in, source, text, text_in, texts_in},
    observed::{Observed, bound, bound_said},
    profile::Budget,
    rate::{Recent, merged},
    stored::{self, Entry},
};

pub(crate) static FORMAT: Format = Format::new("facts", include_str!("formats/facts.json"));

/// The maximum integer in a document. Every language parses it from JSON exactly.
pub(crate) const MAX_NUMBER: u64 = 9_007_199_254_740_991;

/// The facts as a document, and the parts of it that decisions change.
pub(crate) struct Facts<'t> {
    pub(crate) document: Json<'t>,
    pub(crate) run: String,
    pub(crate) at: u64,
    pub(crate) principal: String,
    pub(crate) nonce: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) surface: Option<Vec<String>>,
    pub(crate) labels: Vec<String>,
    pub(crate) used: Used,
    pub(crate) asks: Vec<Ask>,
    pub(crate) approvals: Vec<Decided>,
    pub(crate) programs: Programs,
    pub(crate) remembered: Vec<Remembered>,
    /// The last texts that people said in this run.
    pub(crate) said: Vec<String>,
    /// The number of earlier texts, which the caller passed.
    pub(crate) said_before: usize,
    pub(crate) observed: Vec<Observed>,
    /// The labels of data in stores.
    pub(crate) stores: Vec<Entry>,
    /// The bounds that a parent set.
    pub(crate) above: Option<Arc<Above>>,
    /// `true` if the model of a parent may have written parts of the task.
    pub(crate) is_child: bool,
}

/// The descriptions of the way in which tools are run: by `SERVER/` for all tools of a server, and by `SERVER/TOOL` for
/// one.
pub(crate) type Programs = BTreeMap<String, String>;

/// The used budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Used {
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    pub(crate) ms: u64,
    /// The number of times that each call was permitted.
    pub(crate) calls: Calls,
    /// The times of the last permitted calls of tools with a rate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) recent: Recent,
}

/// A request to a person to decide whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) key: String,
    pub(crate) digest: String,
    pub(crate) at: u64,
    pub(crate) expires: u64,
}

/// The decision of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decided {
    pub(crate) key: String,
    pub(crate) digest: String,
    pub(crate) decision: Verdict,
    pub(crate) principal: String,
    pub(crate) at: u64,
    /// The reason, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) spent: bool,
}

/// A person's approval of further calls of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remembered {
    /// The digest of the action, without the arguments that may differ.
    pub(crate) digest: String,
    /// The names of these arguments, in ascending order.
    pub(crate) any: Vec<String>,
    /// The paths to the values that must be the same. Used for a follow-up call, whose digest covers no other
    /// arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) same: Vec<String>,
    pub(crate) principal: String,
    pub(crate) at: u64,
    pub(crate) expires: u64,
    /// The number of calls that it still covers.
    pub(crate) left: u64,
    /// The reasons why the call needed approval.
    pub(crate) why: Vec<String>,
}

/// A person's answer. Everything except a yes is a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Approved,
    Rejected,
}

impl Verdict {
    pub(crate) fn of(word: &str) -> Self {
        if word == "approved" { Verdict::Approved } else { Verdict::Rejected }
    }
}

/// The facts in the form that a run's state stores: a separate document format.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) run: String,
    pub(crate) at: u64,
    pub(crate) principal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nonce: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<Box<RawValue>>,
    pub(crate) context: BTreeMap<String, Box<RawValue>>,
    pub(crate) lists: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) surface: Option<Vec<String>>,
    pub(crate) labels: Vec<String>,
    pub(crate) used: Used,
    pub(crate) asks: Vec<Ask>,
    pub(crate) approvals: Vec<Decided>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) programs: Programs,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) remembered: Vec<Remembered>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) said: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) observed: Vec<Observed>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) stores: Vec<Entry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<Box<RawValue>>,
}

impl Kept {
    /// Returns the part of the facts that decisions read and never change, as JSON text.
    pub(crate) fn given(&self) -> String {
        #[derive(Serialize)]
        struct Given<'k> {
            #[serde(skip_serializing_if = "Option::is_none")]
            task: &'k Option<Box<RawValue>>,
            context: &'k BTreeMap<String, Box<RawValue>>,
            lists: &'k BTreeMap<String, Vec<String>>,
        }
        json(&Given { task: &self.task, context: &self.context, lists: &self.lists })
    }

    /// Returns the facts for a decision. `given` is the text that [`Kept::given`] returned, and `above` holds the
    /// bounds that a parent set.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the given text is not JSON within the caps.
    pub(crate) fn facts<'t>(&self, given: &'t str, above: Option<&Arc<Above>>) -> Result<Facts<'t>, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadRequest, "state", violations);
        Ok(Facts {
            document: Json::read(given, &CAPS).map_err(wrong)?,
            run: self.run.clone(),
            at: self.at,
            principal: self.principal.clone(),
            nonce: self.nonce.clone(),
            mode: self.mode.clone(),
            surface: self.surface.clone(),
            labels: self.labels.clone(),
            used: self.used.clone(),
            asks: self.asks.clone(),
            approvals: self.approvals.clone(),
            programs: self.programs.clone(),
            remembered: self.remembered.clone(),
            said: self.said.clone(),
            said_before: 0,
            observed: self.observed.clone(),
            stores: self.stores.clone(),
            is_child: above.is_some_and(|above| above.has_parent()),
            above: above.cloned(),
        })
    }

    /// Applies the changes from a decision or an observation.
    pub(crate) fn take(&mut self, changed: Changed) {
        let Changed { surface, labels, used, asks, approvals, programs, remembered, observed, stores } = changed;
        if surface.is_some() {
            self.surface = surface;
        }
        self.labels = labels.unwrap_or_else(|| std::mem::take(&mut self.labels));
        self.used = used.unwrap_or_else(|| std::mem::take(&mut self.used));
        self.asks = asks.unwrap_or_else(|| std::mem::take(&mut self.asks));
        self.approvals = approvals.unwrap_or_else(|| std::mem::take(&mut self.approvals));
        self.programs = programs.unwrap_or_else(|| std::mem::take(&mut self.programs));
        self.remembered = remembered.unwrap_or_else(|| std::mem::take(&mut self.remembered));
        self.observed = observed.unwrap_or_else(|| std::mem::take(&mut self.observed));
        self.stores = stores.unwrap_or_else(|| std::mem::take(&mut self.stores));
    }
}

/// The changed members of the facts, each with its complete new value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Changed {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) surface: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) used: Option<Used>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asks: Option<Vec<Ask>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approvals: Option<Vec<Decided>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) programs: Option<Programs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remembered: Option<Vec<Remembered>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) observed: Option<Vec<Observed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stores: Option<Vec<Entry>>,
}

impl<'t> Facts<'t> {
    /// # Errors
    ///
    /// Returns `bad_request` if the text is not one document of facts.
    pub(crate) fn read(json: &'t str) -> Result<Self, Fault> {
        let document = FORMAT.read(json)?;
        let owned = |name: &str| text(&document, name).map(str::to_owned);
        let required = |name: &str| owned(name).unwrap_or_default();
        let parent = document.member(Document::ROOT, "parent");
        let mut said = texts_in(&document, Document::ROOT, "said");
        let said_before = bound_said(&mut said);
        let mut observed = each(&document, "observed", |at| Observed::read(&document, at));
        bound(&mut observed);
        let stores = stored::with(&[], each(&document, "stores", |at| Entry::read(&document, at)).into_iter());
        let stores = stores.unwrap_or_default();
        let above = parent.map(|at| Above::read(&source(&document, at)).map(Arc::new)).transpose()?;
        Ok(Facts {
            is_child: above.as_ref().is_some_and(|above| above.has_parent()),
            above,
            run: required("run"),
            at: number_in(&document, Document::ROOT, "at").unwrap_or_default(),
            principal: required("principal"),
            nonce: owned("nonce"),
            mode: owned("mode"),
            surface: document.member(Document::ROOT, "surface").map(|_| texts_in(&document, Document::ROOT, "surface")),
            labels: texts_in(&document, Document::ROOT, "labels"),
            used: used(&document),
            asks: each(&document, "asks", |at| Ask {
                key: text_in(&document, at, "key").unwrap_or_default().to_owned(),
                digest: text_in(&document, at, "digest").unwrap_or_default().to_owned(),
                at: number_in(&document, at, "at").unwrap_or_default(),
                expires: number_in(&document, at, "expires").unwrap_or_default(),
            }),
            approvals: each(&document, "approvals", |at| Decided {
                key: text_in(&document, at, "key").unwrap_or_default().to_owned(),
                digest: text_in(&document, at, "digest").unwrap_or_default().to_owned(),
                decision: Verdict::of(text_in(&document, at, "decision").unwrap_or_default()),
                principal: text_in(&document, at, "principal").unwrap_or_default().to_owned(),
                at: number_in(&document, at, "at").unwrap_or_default(),
                reason: text_in(&document, at, "reason").map(str::to_owned),
                spent: document.member(at, "spent").is_some_and(|at| document.kind(at) == Kind::True),
            }),
            programs: programs(&document),
            remembered: each(&document, "remembered", |at| Remembered {
                digest: text_in(&document, at, "digest").unwrap_or_default().to_owned(),
                any: texts_in(&document, at, "any"),
                same: texts_in(&document, at, "same"),
                principal: text_in(&document, at, "principal").unwrap_or_default().to_owned(),
                at: number_in(&document, at, "at").unwrap_or_default(),
                expires: number_in(&document, at, "expires").unwrap_or_default(),
                left: number_in(&document, at, "left").unwrap_or_default(),
                why: texts_in(&document, at, "why"),
            }),
            said,
            said_before,
            observed,
            stores,
            document,
        })
    }

    /// Returns the way in which a tool is run, if the host provides it.
    pub(crate) fn program(&self, server: &str, tool: &str) -> &str {
        let of = |name: &str| self.programs.get(&format!("{server}/{name}"));
        of(tool).or_else(|| of("")).map_or("", String::as_str)
    }

    /// Returns a named list.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&str>> {
        let lists = self.document.member(Document::ROOT, "lists")?;
        let list = self.document.member(lists, name)?;
        Some(self.document.items(list).map(|at| self.document.string(at)).collect())
    }

    pub(crate) fn task(&self) -> Option<NodeId> {
        self.document.member(Document::ROOT, "task")
    }

    /// Returns the limits that apply: those of the profile and those of a parent.
    pub(crate) fn budget(&self, own: &Budget) -> Budget {
        let Some(above) = &self.above else { return own.clone() };
        let mut budget = above.budget(own);
        if let Some(deadline) = self.deadline() {
            let ends = self.used.ms.saturating_add(deadline.saturating_sub(self.at));
            budget.ms = Some(budget.ms.map_or(ends, |ms| ms.min(ends)));
        }
        budget
    }

    /// Returns the time at which a parent ends the run.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.above.as_ref()?.bounds.deadline
    }

    /// Returns the rules of all agents above, beginning with the parent.
    pub(crate) fn rules(&self) -> &[Rules] {
        self.above.as_ref().map_or(&[], |above| &above.rules)
    }

    /// Returns the facts by which an agent above judges a call of this run. They contain that agent's task, context and
    /// lists, the labels that were read in this run, and the number of times that equal calls were permitted in both
    /// runs. Asks and approvals of that agent do not apply here.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if a document that was handed on is not JSON within the caps.
    pub(crate) fn by<'r>(&self, rules: &'r Rules, read: &[String]) -> Result<Facts<'r>, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadRequest, "parent", violations);
        // An edited profile judges by what people said and the model read in this run.
        let is_own = self.above.as_ref().is_some_and(|above| above.is_edit(rules));
        let (said, observed) = match is_own {
            true => (&self.said, &self.observed),
            false => (&rules.said, &rules.observed),
        };
        Ok(Facts {
            document: Json::read(&rules.given, &CAPS).map_err(wrong)?,
            run: self.run.clone(),
            at: self.at,
            principal: self.principal.clone(),
            nonce: self.nonce.clone(),
            mode: None,
            surface: None,
            labels: read.to_vec(),
            used: Used {
                calls: counts::then(&rules.calls, &self.used.calls),
                recent: merged(&rules.recent, &self.used.recent),
                ..Used::default()
            },
            asks: Vec::new(),
            approvals: Vec::new(),
            programs: Programs::new(),
            remembered: Vec::new(),
            said: said.clone(),
            said_before: if is_own { self.said_before } else { 0 },
            observed: observed.clone(),
            // All rules already apply to the labels of this run.
            stores: Vec::new(),
            above: None,
            // Of several rule sets, some belong to agents that are children themselves.
            is_child: self.rules().len() > 1,
        })
    }

    /// Returns a value of the context.
    pub(crate) fn context(&self, name: &str) -> Option<NodeId> {
        self.document.member(self.document.member(Document::ROOT, "context")?, name)
    }
}

fn used(document: &Document) -> Used {
    let Some(at) = document.member(Document::ROOT, "used") else {
        return Used::default();
    };
    let number = |name| number_in(document, at, name).unwrap_or_default();
    let calls = document.member(at, "calls").into_iter().flat_map(|calls| {
        document.members(calls).map(move |(name, _)| {
            let name = document.string(name);
            (name.to_owned(), number_in(document, calls, name).unwrap_or_default())
        })
    });
    Used {
        tool_calls: number("tool_calls"),
        tokens: number("tokens"),
        ms: number("ms"),
        calls: calls.collect(),
        recent: recent_in(document, at),
    }
}

/// Reads the member `recent` of an object.
pub(crate) fn recent_in(document: &Document, at: NodeId) -> Recent {
    let members = document.member(at, "recent").into_iter().flat_map(|at| document.members(at));
    let recent = members.map(|(name, at)| {
        let mut times: Vec<u64> = document.items(at).filter_map(|at| number_at(document, at)).collect();
        times.sort_unstable();
        (document.string(name).to_owned(), times)
    });
    recent.collect()
}

fn programs(document: &Document) -> Programs {
    let programs = document.member(Document::ROOT, "programs").into_iter().flat_map(|at| document.members(at));
    programs.map(|(name, at)| (document.string(name).to_owned(), document.string(at).to_owned())).collect()
}

fn each<T>(document: &Document, name: &str, read: impl Fn(NodeId) -> T) -> Vec<T> {
    document.member(Document::ROOT, name).into_iter().flat_map(|at| document.items(at)).map(read).collect()
}
