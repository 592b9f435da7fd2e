//! The API for the harness kernel: strictly parsed documents, schemas, paths, and messages for violations.

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

/// The treatment of `format` in a schema, and of draft 7's keywords about the content of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// A value that does not match its format is a violation.
    Assert,
    /// Formats reject nothing, which is JSON Schema's default.
    Annotate,
}

/// A compiled JSON Schema. Its dialect is the one that `$schema` names. The default is 2020-12.
pub struct Schema(Checker);

impl Schema {
    /// Compiles a schema inside a document. The schema must not have external references. Formats are asserted.
    ///
    /// # Errors
    ///
    /// Returns the violations, with locations in the document.
    pub fn compile(document: &Document, at: NodeId) -> Result<Self, Vec<Violation>> {
        Schema::with_formats(document, at, Formats::Assert)
    }

    /// Compiles a schema like [`Schema::compile`], with the given treatment of `format`.
    ///
    /// # Errors
    ///
    /// Returns the violations, with locations in the document.
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

    /// Returns whether the schema could accept a document if rules were undecided for values of kinds that they are not
    /// for, such as `pattern` for a list. If this returns `false`, the document is invalid whatever those rules would
    /// decide.
    pub fn may_be_valid(&self, document: &Json) -> bool {
        self.0.may_be_valid(document.within_caps())
    }

    /// Returns whether the schema accepts a document whatever its rules say about values of kinds that they are not
    /// for.
    pub fn must_be_valid(&self, document: &Json) -> bool {
        self.0.must_be_valid(document.within_caps())
    }

    /// Returns the kinds of values that a path leads to in documents that the schema describes.
    ///
    /// # Errors
    ///
    /// Returns an error if no such document has a value at the path.
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
