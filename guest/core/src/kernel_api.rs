//! The API for the harness kernel: strictly parsed documents, schemas, paths, and the wording of violations.

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
    /// Formats reject nothing, which is JSON Schema's default.
    Annotate,
}

/// A compiled JSON Schema. Its dialect is the one that its `$schema` names, or else 2020-12.
pub struct Schema(Checker);

impl Schema {
    /// Compiles a schema inside a document, without external references. Its formats are asserted.
    ///
    /// # Errors
    ///
    /// The violations, with locations in the document.
    pub fn compile(document: &Document, at: NodeId) -> Result<Self, Vec<Violation>> {
        Schema::with_formats(document, at, Formats::Assert)
    }

    /// Compiles a schema like [`Schema::compile`], with another meaning of `format`.
    ///
    /// # Errors
    ///
    /// The violations, with locations in the document.
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

    /// Compiles a built-in schema.
    pub fn own(source: &str) -> Self {
        Schema(Checker::own(source, Dialect::default()))
    }

    /// Returns whether the schema accepts a document.
    pub fn is_valid(&self, document: &Json) -> bool {
        self.0.is_valid(document.within_caps())
    }

    /// Returns whether the schema could accept a document: a rule that meets a value of a kind it is not for decides
    /// nothing, like `pattern` for a list. A document that is rejected whatever such rules decide is invalid.
    pub fn may_be_valid(&self, document: &Json) -> bool {
        self.0.may_be_valid(document.within_caps())
    }

    /// Returns whether the schema accepts a document, independently of any rule that meets a value of a kind it is not
    /// for.
    pub fn must_be_valid(&self, document: &Json) -> bool {
        self.0.must_be_valid(document.within_caps())
    }

    /// Returns the kinds of values to which a path leads in documents that the schema describes.
    ///
    /// # Errors
    ///
    /// No such document has a value there.
    pub fn reach(&self, path: &[Selector], describes: Describes) -> Result<Kinds, Lacking> {
        self.0.reach(path, describes)
    }

    /// Returns the paths that the schema describes.
    pub fn paths(&self) -> Vec<Vec<Selector>> {
        self.0.paths()
    }

    /// Returns the violations of a document, at most 100. Empty if it is valid.
    pub fn violations(&self, document: &Json) -> Vec<Violation> {
        match self.is_valid(document) {
            true => Vec::new(),
            false => self.0.violations(document.within_caps()).listed,
        }
    }
}
