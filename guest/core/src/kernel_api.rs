//! What the harness kernel is built from: documents that were read strictly, schemas, paths, and the words for what is
//! wrong with them.

pub use crate::{
    caps::{CONTRACT_CAPS, Caps},
    caps_check::Json,
    check::{Describes, Kinds, Lacking, canonical, ends_wrongly, leads_nowhere, written},
    contract::digest,
    hidden::is_hidden,
    items::MAX_QUARANTINED,
    json::json,
    location::{Location, Step, unescaped},
    misspelling::nearest,
    order::{sort, sort_by_key},
    parse::{Document, Kind, NodeId, Number},
    path::{Path, Selector},
    text::{count, cut_at, push_json_string, quote, short, visible},
};
use crate::{
    check::{self, Checker, Dialect, SchemaSource},
    types::Violation,
};

/// The meaning of `format` in a schema, and of draft 7's keywords about the content of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// A value of another format is a violation.
    Assert,
    /// They reject nothing, as JSON Schema has it by default.
    Annotate,
}

/// A compiled JSON Schema. Its dialect is the one that its `$schema` names, else 2020-12's.
pub struct Schema(Checker);

impl Schema {
    /// Compile a schema that stands in a document, without references out of itself. Its formats are asserted.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by its places in the document.
    pub fn compile(document: &Document, at: NodeId) -> Result<Self, Vec<Violation>> {
        Schema::with_formats(document, at, Formats::Assert)
    }

    /// Compile a schema like [`Schema::compile`], with another meaning of `format`.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by its places in the document.
    pub fn with_formats(document: &Document, at: NodeId, formats: Formats) -> Result<Self, Vec<Violation>> {
        let source = SchemaSource::new(document, at);
        if let Some(named) = source.member("$schema").filter(|&named| document.kind(named) == Kind::String)
            && check::draft(document.string(named)).is_none()
        {
            return Err(vec![check::unknown_dialect(document.location(named), document.string(named))]);
        }
        let dialect = Dialect { assert_formats: formats == Formats::Assert, ..Dialect::default() };
        Checker::json_schema(&source, &document.location(at), &[], dialect).map(Schema)
    }

    /// Compile a schema of our own.
    pub fn own(source: &str) -> Self {
        Schema(Checker::own(source, Dialect::default()))
    }

    /// Whether it accepts a document.
    pub fn is_valid(&self, document: &Json) -> bool {
        self.0.is_valid(document.within_caps())
    }

    /// Whether it could accept a document: a rule that meets a value of a kind that it is not about leaves open what it says, as
    /// `pattern` does of a list. What accepts nothing whatever such rules say is not valid.
    pub fn may_be_valid(&self, document: &Json) -> bool {
        self.0.may_be_valid(document.within_caps())
    }

    /// Returns whether it accepts a document, and no rule on which that hangs meets a value of a kind that it is not about.
    pub fn must_be_valid(&self, document: &Json) -> bool {
        self.0.must_be_valid(document.within_caps())
    }

    /// The kinds of values to which a path leads in documents that it describes.
    ///
    /// # Errors
    ///
    /// None of them has a value there.
    pub fn reach(&self, path: &[Selector], describes: Describes) -> Result<Kinds, Lacking> {
        self.0.reach(path, describes)
    }

    /// The paths that it says something about.
    pub fn paths(&self) -> Vec<Vec<Selector>> {
        self.0.paths()
    }

    /// What is wrong with a document, at most 100 violations; none where it is valid.
    pub fn violations(&self, document: &Json) -> Vec<Violation> {
        match self.is_valid(document) {
            true => Vec::new(),
            false => self.0.violations(document.within_caps()).listed,
        }
    }
}
