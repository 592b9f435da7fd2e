//! What a decision about one call depends on.

use std::collections::BTreeMap;

use seamgate_core::{
    Fault,
    parts::{Document, Json, Kind, NodeId},
};
use serde::Serialize;

use crate::document::{Format, number_in, text, text_in, texts_in};

pub(crate) static FORMAT: Format = Format::new("facts", include_str!("../../../schemas/facts.schema.json"));

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
}

/// The use of budgets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Used {
    pub(crate) tool_calls: u64,
    pub(crate) tokens: u64,
    pub(crate) ms: u64,
    /// How often each call was permitted.
    pub(crate) calls: BTreeMap<String, u64>,
}

/// What a person was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Ask {
    pub(crate) key: String,
    pub(crate) digest: String,
    pub(crate) at: u64,
    pub(crate) expires: u64,
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Decided {
    pub(crate) key: String,
    pub(crate) digest: String,
    pub(crate) decision: &'static str,
    pub(crate) principal: String,
    pub(crate) at: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) spent: bool,
}

pub(crate) const APPROVED: &str = "approved";
pub(crate) const REJECTED: &str = "rejected";

/// The members of the facts that changed, each whole.
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
}

impl<'t> Facts<'t> {
    /// # Errors
    ///
    /// `bad_request`: the text is not one document of facts.
    pub(crate) fn read(json: &'t str) -> Result<Self, Fault> {
        let document = FORMAT.read(json)?;
        let owned = |name: &str| text(&document, name).map(str::to_owned);
        let required = |name: &str| owned(name).unwrap_or_default();
        Ok(Facts {
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
                decision: match text_in(&document, at, "decision") {
                    Some(APPROVED) => APPROVED,
                    _ => REJECTED,
                },
                principal: text_in(&document, at, "principal").unwrap_or_default().to_owned(),
                at: number_in(&document, at, "at").unwrap_or_default(),
                spent: document.member(at, "spent").is_some_and(|at| document.kind(at) == Kind::True),
            }),
            document,
        })
    }

    /// A named list.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&str>> {
        let lists = self.document.member(Document::ROOT, "lists")?;
        let list = self.document.member(lists, name)?;
        Some(self.document.items(list).map(|at| self.document.string(at)).collect())
    }

    pub(crate) fn task(&self) -> Option<NodeId> {
        self.document.member(Document::ROOT, "task")
    }

    /// A value of the context.
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
    Used { tool_calls: number("tool_calls"), tokens: number("tokens"), ms: number("ms"), calls: calls.collect() }
}

fn each<T>(document: &Document, name: &str, read: impl Fn(NodeId) -> T) -> Vec<T> {
    document.member(Document::ROOT, name).into_iter().flat_map(|at| document.items(at)).map(read).collect()
}
