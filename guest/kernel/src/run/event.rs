//! Events: facts from outside, parsed strictly.

use seamgate_core::{
    Fault, FaultCode, Finish,
    kernel_api::{Document, Json, Kind, NodeId},
};

use crate::{
    digest,
    document::{Format, number_in, source, text_in},
};

pub(crate) static FORMAT: Format = Format::new("event", include_str!("../formats/event.json"));

/// An event: a document that matches its format.
pub(crate) struct Event<'t> {
    document: Json<'t>,
}

impl<'t> Event<'t> {
    /// # Errors
    ///
    /// Returns `bad_request` if the text is not an event.
    pub(crate) fn read(text: &'t str) -> Result<Self, Fault> {
        FORMAT.read(text).map(|document| Event { document })
    }

    /// Returns its `type`.
    pub(crate) fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    pub(crate) fn at(&self) -> u64 {
        self.number("at").unwrap_or_default()
    }

    pub(crate) fn member(&self, name: &str) -> Option<NodeId> {
        self.document.member(Document::ROOT, name)
    }

    pub(crate) fn document(&self) -> &Json<'t> {
        &self.document
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        text_in(&self.document, Document::ROOT, name)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        number_in(&self.document, Document::ROOT, name)
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.member(name).is_some_and(|at| self.document.kind(at) == Kind::True)
    }

    /// Returns a member as JSON text without optional white space.
    pub(crate) fn source(&self, name: &str) -> Option<String> {
        self.member(name).map(|at| source(&self.document, at))
    }

    /// Returns the names and values of a member that is an object.
    pub(crate) fn members(&self, name: &str) -> impl Iterator<Item = (&str, NodeId)> {
        let members = self.member(name).into_iter().flat_map(|at| self.document.members(at));
        members.map(|(name, at)| (self.document.string(name), at))
    }

    /// Returns the items of a member that is a list.
    pub(crate) fn items(&self, name: &str) -> impl Iterator<Item = NodeId> {
        self.member(name).into_iter().flat_map(|at| self.document.items(at))
    }

    /// Returns a new object with only the named members.
    pub(crate) fn part(&self, names: &[&str]) -> String {
        let member = |name: &&str| self.source(name).map(|value| format!("\"{name}\":{value}"));
        format!("{{{}}}", names.iter().filter_map(member).collect::<Vec<_>>().join(","))
    }

    /// Returns the result of the Model Context Protocol in the event, if the event contains nothing else.
    pub(crate) fn returned(&self) -> Option<NodeId> {
        let document = &self.document;
        let is_known = |(name, at): (NodeId, NodeId)| match document.string(name) {
            "type" | "at" | "call" | "duration_ms" => true,
            "returned" => document.kind(at) == Kind::Object,
            "digest" => digest::is_one(document.string(at)),
            _ => false,
        };
        self.member("returned").filter(|_| document.members(Document::ROOT).all(is_known))
    }

    /// Returns the reason why the model stopped.
    pub(crate) fn finish(&self) -> Finish {
        let word = self.text("finish").unwrap_or_default();
        Finish::words().find(|(known, _)| *known == word).map_or(Finish::Unknown, |(_, finish)| finish)
    }

    /// Returns a fault at a member.
    pub(crate) fn wrong(&self, member: &str, message: &str) -> Fault {
        Fault::new(FaultCode::BadRequest, format!("event: $.{member} {message}"))
    }
}
