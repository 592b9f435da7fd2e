//! What the harness kernel is built from: documents that were read strictly, schemas, paths, and the words for what is
//! wrong with them.

use std::ops::Deref;

pub use crate::{
    caps::{CONTRACT_CAPS, Caps},
    check::canonical,
    json::json,
    parse::{Document, Kind, NodeId, Number},
    path::{Path, Selector},
    place::{Place, Step},
    text::{count, cut, push_json_string, quote, short, visible},
    violation::Details,
};
use crate::{
    check::{self, Checker, Dialect, Patterns, SchemaSource},
    parse::{Span, parse},
    screen::{self, Screening, screen_size},
    types::Violation,
};

/// JSON text that was read strictly: no member is there twice, and nothing in it is over a cap.
pub struct Json<'t>(Screening<'t>);

impl<'t> Json<'t> {
    /// Read a text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, at most 100 violations.
    pub fn read(text: &'t str, caps: &Caps) -> Result<Self, Vec<Violation>> {
        let span = Span::new(0, text.len().min(crate::caps::MAX_TEXT));
        screen_size(span, caps).map_err(|violations| violations.listed)?;
        let parsed = parse(text, span, caps).map_err(|broken| vec![screen::malformed(text, &broken)])?;
        let screening = screen::screen(parsed);
        match screening.passed() {
            Some(_) => Ok(Json(screening)),
            None => Err(screening.violations(caps).listed),
        }
    }
}

impl<'t> Deref for Json<'t> {
    type Target = Document<'t>;

    fn deref(&self) -> &Document<'t> {
        &self.0.document
    }
}

/// A compiled JSON Schema. Its dialect is the one that its `$schema` names, else 2020-12's; `format` is checked.
pub struct Schema(Checker);

impl Schema {
    /// Compile a schema that stands in a document, without references out of itself.
    ///
    /// # Errors
    ///
    /// What is wrong with it, by its places in the document.
    pub fn compile(document: &Document, at: NodeId) -> Result<Self, Vec<Violation>> {
        let source = SchemaSource::new(document, at);
        let dialect =
            Dialect { draft: referencing::Draft::Draft202012, assert_formats: true, patterns: Patterns::Linear };
        let place = document.place(at);
        if let Some(named) = source.member("$schema").filter(|&named| document.kind(named) == Kind::String)
            && check::draft(document.string(named)).is_none()
        {
            let known = check::dialects();
            let received = document.string(named);
            let message = format!("must be a known dialect: {known}");
            let details = Details { expected: &known, received, message: &message };
            return Err(vec![Violation::new(&place.name("$schema"), "dialect", details)]);
        }
        Checker::json_schema(&source, &place, &[], dialect).map(Schema)
    }

    /// Compile a schema of our own.
    pub fn own(source: &str) -> Self {
        let dialect =
            Dialect { draft: referencing::Draft::Draft202012, assert_formats: true, patterns: Patterns::Linear };
        Schema(Checker::own(source, dialect))
    }

    /// Whether it accepts a document.
    pub fn is_valid(&self, document: &Json) -> bool {
        document.0.passed().is_some_and(|screened| self.0.is_valid(screened))
    }

    /// What is wrong with a document, at most 100 violations; none where it is valid.
    pub fn violations(&self, document: &Json) -> Vec<Violation> {
        match document.0.passed() {
            Some(screened) if !self.0.is_valid(screened) => self.0.violations(screened).listed,
            _ => Vec::new(),
        }
    }
}
