//! A contract: what one agent's output must be, read, checked and compiled once.

mod describe;
mod lint;

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    check::{self, Checker, Dialect, Patterns},
    fault::{Fault, FaultCode},
    parse::{self, Document, Kind, NodeId, Number, Span},
    place::{Place, Step},
    screen::{self, Screened},
    violation::Violation,
};

pub use lint::Warning;

/// The format of contracts, as JSON Schema.
const CONTRACT_SCHEMA: &str = include_str!("../../../../schemas/contract.schema.json");

/// Limits of a document, beyond which it is not judged by its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    pub(crate) bytes: usize,
    pub(crate) depth: usize,
    pub(crate) string_bytes: usize,
    pub(crate) array_items: usize,
    pub(crate) object_members: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Caps { bytes: 1024 * 1024, depth: 64, string_bytes: 64 * 1024, array_items: 10_000, object_members: 1_000 }
    }
}

/// Limits of a contract itself. Compiling recurses with its depth, well inside the stack at this one.
pub(crate) const CONTRACT_CAPS: Caps = Caps {
    bytes: 8 * 1024 * 1024,
    depth: 96,
    string_bytes: 1024 * 1024,
    array_items: 1_000_000,
    object_members: 100_000,
};

/// Where candidates are looked for in an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) markers: Vec<String>,
    pub(crate) raw_json: bool,
    pub(crate) embedded: bool,
    pub(crate) select: Select,
}

impl Default for Extract {
    fn default() -> Self {
        Extract { markers: vec!["json".to_owned()], raw_json: true, embedded: false, select: Select::Last }
    }
}

/// Which candidate is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Select {
    First,
    Last,
    Only,
    FirstValid,
    LastValid,
}

/// A contract that can be used.
pub struct Contract {
    agent: String,
    version: String,
    schema_id: Option<String>,
    digest: String,
    /// The contract as JSON text without optional white space.
    source: String,
    extract: Extract,
    caps: Caps,
    refusal: Option<Place>,
    unsatisfiable: bool,
    checker: Checker,
}

impl Contract {
    /// Read, check and compile a contract.
    ///
    /// `text` is one JSON document as `schemas/contract.schema.json` describes it. The fault of one that is not
    /// names the member, what is wrong, and what would be right.
    pub fn compile(text: &str) -> Result<Self, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadContract, "contract", violations);
        let screened = read(text).map_err(wrong)?;
        let document = screened.document();
        let format = format();
        if !format.is_valid(&screened) {
            return Err(wrong(format.violations(&screened).listed));
        }
        let unusable = [on_disk(document), unsupported(document)].concat();
        if !unusable.is_empty() {
            return Err(wrong(unusable));
        }
        Reader { document }.contract().map_err(wrong)
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// The schema's `$id`.
    pub fn schema_id(&self) -> Option<&str> {
        self.schema_id.as_deref()
    }

    /// `sha256:` and the digest of the contract without optional white space.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn extract(&self) -> &Extract {
        &self.extract
    }

    pub(crate) fn caps(&self) -> &Caps {
        &self.caps
    }

    pub(crate) fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Whether no document whatever can be valid.
    pub(crate) fn is_unsatisfiable(&self) -> bool {
        self.unsatisfiable
    }

    /// Whether a document is nothing but the member in which the producer declines.
    pub(crate) fn is_refusal(&self, document: &Document) -> bool {
        let Some(place) = &self.refusal else {
            return false;
        };
        let mut at = Document::ROOT;
        for step in place.steps() {
            let member = match step {
                Step::Name(name) if document.count(at) == 1 => document.member(at, name),
                _ => None,
            };
            match member {
                Some(member) => at = member,
                None => return false,
            }
        }
        document.kind(at) == Kind::String
    }

    /// What is likely a mistake in this contract.
    pub fn lint(&self) -> Vec<Warning> {
        lint::lint(&self.source)
    }

    /// Text for the agent's prompt.
    pub fn describe(&self) -> String {
        // It was parsed before, in as many words.
        match read(&self.source) {
            Ok(screened) => describe::describe(screened.document(), &self.extract),
            Err(_) => String::new(),
        }
    }
}

/// Parse a contract and refuse what no contract may be.
fn read(text: &str) -> Result<Screened<'_>, Vec<Violation>> {
    let span = Span::new(0, text.len());
    let listed = |violations: crate::violation::Violations| violations.listed;
    screen::screen_size(span, &CONTRACT_CAPS).map_err(listed)?;
    let parsed = parse::parse(text, span, &CONTRACT_CAPS).map_err(|broken| vec![screen::malformed(text, &broken)])?;
    screen::screen(parsed, &CONTRACT_CAPS).map_err(listed)
}

/// The format of contracts, compiled once.
fn format() -> &'static Checker {
    static FORMAT: OnceLock<Checker> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let dialect =
            Dialect { draft: referencing::Draft::Draft202012, assert_formats: true, patterns: Patterns::Linear };
        Checker::own(CONTRACT_SCHEMA, dialect)
    })
}

/// Schemas named by path, as contracts on disk have them: what comes here must be whole.
fn on_disk(document: &Document) -> Vec<Violation> {
    let member = |name: &str| document.member(Document::ROOT, name);
    let resources = member("resources").into_iter().flat_map(|at| document.members(at)).map(|(_, at)| at);
    ["schema", "jtd"]
        .into_iter()
        .filter_map(member)
        .chain(resources)
        .filter(|&at| document.kind(at) == Kind::String)
        .map(|at| {
            let message = "must be the schema itself: a path to it is put in by the host's loader, and only there";
            Violation::new(&document.place(at), "type", "a schema", document.string(at), message)
                .spanning(document.span(at))
        })
        .collect()
}

/// Members of the format that this version cannot honour: said, never passed over.
fn unsupported(document: &Document) -> Vec<Violation> {
    let root = Document::ROOT;
    let is = |name: &str, value: &str| document.member(root, name).filter(|&at| document.string(at) == value);
    let filled = |name: &str| document.member(root, name).filter(|&at| document.count(at) > 0);
    [
        ("items", document.member(root, "items"), "no member 'items'"),
        ("repair", is("repair", "syntax"), "\"none\""),
        ("unknown_members", is("unknown_members", "strip"), "\"reject\""),
        ("allow", filled("allow"), "no rules"),
    ]
    .into_iter()
    .filter_map(|(name, at, right)| {
        let at = at?;
        let message = format!("is not supported by this version of seamgate; what it takes here is {right}");
        Some(
            Violation::new(&Place::root().name(name), "unsupported", right, &document.shown(at), &message)
                .spanning(document.span(at)),
        )
    })
    .collect()
}

/// Reads a document that matches the format.
struct Reader<'d, 't> {
    document: &'d Document<'t>,
}

impl Reader<'_, '_> {
    fn member(&self, name: &str) -> Option<NodeId> {
        self.document.member(Document::ROOT, name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.member(name).map(|at| self.document.string(at))
    }

    fn contract(&self) -> Result<Contract, Vec<Violation>> {
        let document = self.document;
        let source = document.minified();
        let draft = self.draft().map_err(|violation| vec![violation])?;
        let (checker, schema) = self.checker(draft)?;
        let schema_id = match check::id(&schema, draft) {
            "" => None,
            id => Some(id.to_owned()),
        };
        let version = match (self.text("version"), &schema_id) {
            (Some(version), _) => version.to_owned(),
            (None, Some(id)) => version_in(id).unwrap_or("0.0.0").to_owned(),
            (None, None) => "0.0.0".to_owned(),
        };
        let refusal = self.text("refusal").map(|path| {
            // The format allows just these.
            Place::of_names(path).unwrap_or_default()
        });
        Ok(Contract {
            agent: self.text("agent").unwrap_or_default().to_owned(),
            version,
            schema_id,
            digest: digest(&source),
            extract: self.extract(),
            caps: self.caps(),
            refusal,
            unsatisfiable: check::is_never(&schema),
            checker,
            source,
        })
    }

    /// The compiled schema, and the schema.
    fn checker(&self, draft: referencing::Draft) -> Result<(Checker, Value), Vec<Violation>> {
        let document = self.document;
        // Numbers that a schema holds fit 64 bits, and its depth is below what `serde_json` takes: it was screened.
        let value = |at: NodeId| serde_json::from_str::<Value>(document.source(at)).unwrap_or_default();
        let minified = |at: NodeId| {
            let mut source = String::new();
            document.write(at, &mut source);
            source
        };
        if let Some(at) = self.member("jtd") {
            let here = Place::root().name("jtd");
            let checker = Checker::jtd(minified(at)).map_err(|violation| vec![violation.under(&here)])?;
            return Ok((checker, Value::Null));
        }
        let at = self.member("schema").unwrap_or(Document::ROOT);
        let schema = value(at);
        let dialect = Dialect {
            draft,
            assert_formats: self.text("formats") != Some("annotate"),
            patterns: match self.text("patterns") {
                Some("backtracking") => Patterns::Backtracking,
                _ => Patterns::Linear,
            },
        };
        let resources: Vec<(String, Value)> = self
            .member("resources")
            .into_iter()
            .flat_map(|at| document.members(at))
            .map(|(uri, at)| (document.string(uri).to_owned(), value(at)))
            .collect();
        self.known_dialect(at, draft, &resources).map_err(|violation| vec![violation])?;
        Checker::json_schema(minified(at), &resources, dialect).map(|checker| (checker, schema))
    }

    fn draft(&self) -> Result<referencing::Draft, Violation> {
        match self.text("dialect") {
            None => Ok(referencing::Draft::Draft202012),
            Some(uri) => check::draft(uri).ok_or_else(|| unknown_dialect(Place::root().name("dialect"), uri)),
        }
    }

    /// `$schema` must be a dialect there is, or one that `resources` describes.
    fn known_dialect(
        &self,
        schema: NodeId,
        draft: referencing::Draft,
        resources: &[(String, Value)],
    ) -> Result<(), Violation> {
        let Some(at) = self.document.member(schema, "$schema") else {
            return Ok(());
        };
        let uri = self.document.string(at);
        let given = |(name, resource): &(String, Value)| {
            [name, check::id(resource, draft)]
                .iter()
                .any(|name| name.trim_end_matches('#') == uri.trim_end_matches('#'))
        };
        if check::draft(uri).is_some() || resources.iter().any(given) {
            return Ok(());
        }
        Err(unknown_dialect(self.document.place(at), uri))
    }

    fn extract(&self) -> Extract {
        let document = self.document;
        let mut extract = Extract::default();
        let Some(options) = self.member("extract") else {
            return extract;
        };
        for (name, at) in document.members(options) {
            let flag = document.kind(at) == Kind::True;
            match document.string(name) {
                "markers" => {
                    extract.markers = document.items(at).map(|at| document.string(at).to_owned()).collect();
                }
                "raw_json" => extract.raw_json = flag,
                "embedded" => extract.embedded = flag,
                _ => {
                    extract.select = match document.string(at) {
                        "first" => Select::First,
                        "only" => Select::Only,
                        "first_valid" => Select::FirstValid,
                        "last_valid" => Select::LastValid,
                        _ => Select::Last,
                    }
                }
            }
        }
        extract
    }

    fn caps(&self) -> Caps {
        let document = self.document;
        let mut caps = Caps::default();
        let Some(options) = self.member("caps") else {
            return caps;
        };
        for (name, at) in document.members(options) {
            let Some(value) = Number(document.source(at)).as_f64().map(|value| value as usize) else {
                continue;
            };
            match document.string(name) {
                "bytes" => caps.bytes = value,
                "depth" => caps.depth = value,
                "string_bytes" => caps.string_bytes = value,
                "array_items" => caps.array_items = value,
                _ => caps.object_members = value,
            }
        }
        caps
    }
}

fn unknown_dialect(place: Place, uri: &str) -> Violation {
    let known = check::dialects();
    let message = format!("must be a dialect that is known: {known}");
    Violation::new(&place, "dialect", &known, uri, &message)
}

/// The version in a schema's URI: its last part of the form `1.2.3`, with or without a `v` before it.
fn version_in(id: &str) -> Option<&str> {
    id.split(['/', '#', '?', ':', '@']).rev().map(|part| part.strip_prefix('v').unwrap_or(part)).find(|part| {
        let core = part.split(['-', '+']).next().unwrap_or_default();
        let numbers: Vec<&str> = core.split('.').collect();
        numbers.len() == 3
            && numbers.iter().all(|number| {
                !number.is_empty()
                    && number.bytes().all(|byte| byte.is_ascii_digit())
                    && (*number == "0" || !number.starts_with('0'))
            })
    })
}

fn digest(source: &str) -> String {
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(source.as_bytes()) {
        digest.push_str(&format!("{byte:02x}"));
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_contracts_compiles() {
        format();
    }

    #[test]
    fn a_version_is_found_in_the_uri_of_a_schema() {
        for (id, version) in [
            ("https://example.com/triage/1.0.0", Some("1.0.0")),
            ("https://example.com/v2.10.3/triage.json", Some("2.10.3")),
            ("urn:example:triage:1.0.0-rc.1", Some("1.0.0-rc.1")),
            ("https://example.com/1.0/triage", None),
            ("https://example.com/01.0.0/triage", None),
            ("https://192.168.10.1/triage", None),
        ] {
            assert_eq!(version_in(id), version, "{id}");
        }
    }
}
