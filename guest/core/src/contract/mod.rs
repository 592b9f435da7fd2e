//! A contract: the requirements on one agent's output, parsed, checked and compiled once.

mod describe;
mod faults;
mod lint;
mod reasoning;
mod unconstrained;

use std::{borrow::Cow, sync::OnceLock};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{
    caps::{CONTRACT_CAPS, Caps},
    caps_check::Json,
    check::{self, Checker, Describes, Dialect, Misfits, Patterns, Resource, SchemaSource},
    fault::{Fault, FaultCode},
    location::{Location, Step},
    order::sort,
    parse::{Document, Kind, NodeId, Number},
    path::{ItemsPath, Path},
    types::{Violation, Warning},
    violation::Details,
};

pub(crate) use reasoning::{Markup, Reading, Reasoning, Tag};

/// The format of contracts, as JSON Schema.
const CONTRACT_SCHEMA: &str = include_str!("format.json");

/// The places in an output that are searched for candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) markers: Vec<String>,
    /// `true` if blocks without an info string are candidates when no block has a marker.
    pub(crate) untagged: bool,
    pub(crate) raw_json: bool,
    pub(crate) embedded: Embedded,
    /// The markup of reasoning, which the extractor skips.
    pub(crate) ignore: Reasoning,
    /// The tag to search inside. Text outside it is ignored.
    pub(crate) within: Option<Reasoning>,
    pub(crate) select: Select,
}

impl Default for Extract {
    fn default() -> Self {
        Extract {
            markers: vec!["json".to_owned()],
            untagged: true,
            raw_json: true,
            embedded: Embedded::None,
            ignore: Reasoning::default(),
            within: None,
            select: Select::Last,
        }
    }
}

/// The JSON in prose that is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embedded {
    None,
    /// The value in prose, if there is only one.
    Single,
    Each,
}

/// The candidate that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Select {
    First,
    Last,
    Only,
    FirstValid,
    LastValid,
}

/// A compiled contract.
pub struct Contract {
    agent: String,
    version: String,
    schema_id: Option<String>,
    digest: String,
    /// The contract as JSON text without insignificant white space.
    source: String,
    extract: Extract,
    caps: Caps,
    repairs: bool,
    /// The paths of strings that are kept if they were cut off.
    keeps: Vec<Path>,
    strips: bool,
    coerces: bool,
    unwraps: bool,
    items: Option<Items>,
    allow: Vec<Rule>,
    evidence: Option<Claims>,
    refusal: Option<Location>,
    retry_limit: u32,
    unsatisfiable: bool,
    /// The draft of schemas that declare none.
    draft: referencing::Draft,
    checker: Checker,
}

/// The items of a document: its units of work.
pub(crate) struct Items {
    pub(crate) path: ItemsPath,
    /// The most items that are kept.
    pub(crate) max: Option<usize>,
    /// The member that identifies an item across attempts.
    pub(crate) key: Option<String>,
    /// The schema of an item, if the contract's schema does not define it.
    pub(crate) schema: Option<Checker>,
}

/// A rule that the values at a path must be on a list.
pub(crate) struct Rule {
    pub(crate) path: Path,
    pub(crate) list: List,
}

impl Rule {
    /// Returns the name of the list in the request.
    fn list(&self) -> Option<&str> {
        match &self.list {
            List::Named { name, .. } => Some(name),
            List::Values(_) => None,
        }
    }
}

/// A list of allowed values.
pub(crate) enum List {
    /// A list from the request. If `optional` is `true`, the request may omit it.
    Named { name: String, optional: bool },
    /// Values in ascending order.
    Values(Vec<String>),
}

/// Claims that are checked against the evidence of a request.
pub(crate) struct Claims {
    pub(crate) path: ItemsPath,
    /// The members of a claim: its text, its citations, and its other statements.
    pub(crate) text: String,
    pub(crate) cites: String,
    pub(crate) confidence: String,
    pub(crate) limitations: String,
    /// `true` if each citation must have a quote.
    pub(crate) quotes: bool,
    /// `true` if the cited text must contain the figures of a claim.
    pub(crate) numbers: bool,
    /// The path at which claims of absence are declared.
    pub(crate) absence: Option<Path>,
    pub(crate) kinds: Vec<RequiredKind>,
}

/// A kind of evidence that must be cited.
pub(crate) struct RequiredKind {
    pub(crate) kind: String,
    /// The minimum number of observations of this kind.
    pub(crate) min: usize,
    /// The path at which a smaller number may be explained.
    pub(crate) or_explained: Option<Path>,
}

impl Contract {
    /// Copies the strings that a verdict reads to contiguous memory. In a newly compiled contract, they are scattered
    /// among memory that compilation freed.
    pub(crate) fn settle(&mut self) {
        for text in [&mut self.agent, &mut self.version, &mut self.digest].into_iter().chain(&mut self.schema_id) {
            *text = text.clone();
        }
        self.checker.settle();
        if let Some(schema) = self.items.as_mut().and_then(|items| items.schema.as_mut()) {
            schema.settle();
        }
    }

    /// Parses, checks and compiles a contract.
    ///
    /// `text` is one JSON document as `schemas/contract.schema.json` describes it. The fault for an invalid contract
    /// names the member, and says what is wrong and what would be right.
    pub fn compile(text: &str) -> Result<Self, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadContract, "contract", violations);
        let document = Json::read(text, &CONTRACT_CAPS).map_err(wrong)?;
        let wrong = |violations| wrong(faults::told(&document, violations));
        if let Some(violation) = faults::bare_schema(&document) {
            return Err(wrong(vec![violation]));
        }
        let format = format();
        if !format.is_valid(document.within_caps()) {
            return Err(wrong(format.violations(document.within_caps()).listed));
        }
        let unusable = on_disk(&document);
        if !unusable.is_empty() {
            return Err(wrong(unusable));
        }
        Reader { document: &document }.contract().map_err(wrong)
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the schema's `$id`.
    pub fn schema_id(&self) -> Option<&str> {
        self.schema_id.as_deref()
    }

    /// Returns `sha256:` and the digest of the contract without insignificant white space.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the number of times that the producer may retry.
    pub fn retry_limit(&self) -> u32 {
        self.retry_limit
    }

    /// Returns the names of the lists in `allow`, sorted.
    pub fn lists(&self) -> Vec<String> {
        let mut lists: Vec<String> = self.allow.iter().filter_map(Rule::list).map(str::to_owned).collect();
        sort(&mut lists);
        lists.dedup();
        lists
    }

    pub(crate) fn extract(&self) -> &Extract {
        &self.extract
    }

    pub(crate) fn caps(&self) -> &Caps {
        &self.caps
    }

    /// Returns whether the gate repairs syntax.
    pub(crate) fn repairs(&self) -> bool {
        self.repairs
    }

    /// Returns whether the gate removes members that the schema forbids.
    pub(crate) fn strips(&self) -> bool {
        self.strips
    }

    /// Returns whether the contract has `coerce`.
    pub(crate) fn coerces(&self) -> bool {
        self.coerces
    }

    /// Returns whether the contract has `unwrap`.
    pub(crate) fn unwraps(&self) -> bool {
        self.unwraps
    }

    /// Returns the failures of a document and its items, and replacements that the schemas accept. `None` if the search
    /// reached its limit.
    pub(crate) fn misfits(&self, document: &Document) -> Option<Misfits> {
        let mut misfits = self.checker.misfits(document, &[Document::ROOT], &self.caps)?;
        let own = self.items.as_ref().and_then(|items| Some((items.schema.as_ref()?, items.path.array(document)?)));
        if let Some((checker, array)) = own {
            let items: Vec<NodeId> = document.items(array).take(self.caps.array_items).collect();
            misfits.add(checker.misfits(document, &items, &self.caps)?);
        }
        Some(misfits)
    }

    /// Returns whether the schema is the only requirement on a document.
    pub(crate) fn is_simple(&self) -> bool {
        self.items().is_none() && self.allow().is_empty() && self.evidence().is_none()
    }

    pub(crate) fn items(&self) -> Option<&Items> {
        self.items.as_ref()
    }

    /// Returns whether the document consists only of a list of items.
    pub(crate) fn is_list(&self) -> bool {
        self.items.as_ref().is_some_and(|items| items.path.steps.is_empty())
    }

    pub(crate) fn allow(&self) -> &[Rule] {
        &self.allow
    }

    pub(crate) fn evidence(&self) -> Option<&Claims> {
        self.evidence.as_ref()
    }

    pub(crate) fn checker(&self) -> &Checker {
        &self.checker
    }

    /// Returns whether no document can be valid.
    pub(crate) fn is_unsatisfiable(&self) -> bool {
        self.unsatisfiable
    }

    /// Returns the paths of strings that `repair` keeps if the output was cut off inside them.
    pub(crate) fn keeps(&self) -> &[Path] {
        &self.keeps
    }

    /// Returns whether a JSON text may be a document in which the producer declines.
    pub(crate) fn may_be_refusal(&self, text: &str) -> bool {
        let Some(place) = &self.refusal else {
            return false;
        };
        let Some(Step::Name(name)) = place.steps().first() else {
            return true;
        };
        let first = text.strip_prefix('{').and_then(|inside| inside.trim_ascii_start().strip_prefix('"'));
        first.is_some_and(|first| {
            first.starts_with(name.as_str()) || first.split('"').next().is_some_and(|name| name.contains('\\'))
        })
    }

    /// Returns whether a document consists only of the member in which the producer declines.
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

    /// Returns the likely mistakes in this contract. `text` is its source.
    pub fn lint(&self, text: &str) -> Vec<Warning> {
        let mut warnings = lint::lint(&self.source, self.draft);
        // Parsing cannot fail, because the text was already parsed.
        if let Ok(document) = Json::read(text, &CONTRACT_CAPS) {
            warnings.iter_mut().for_each(|warning| warning.locate(&document));
        }
        warnings
    }

    /// Returns text for the agent's prompt.
    pub fn describe(&self) -> String {
        // Parsing cannot fail, because the text was already parsed.
        match Json::read(&self.source, &CONTRACT_CAPS) {
            Ok(document) => describe::describe(&document, &self.extract),
            Err(_) => String::new(),
        }
    }
}

/// Returns the format of contracts, compiled once.
fn format() -> &'static Checker {
    static FORMAT: OnceLock<Checker> = OnceLock::new();
    FORMAT.get_or_init(|| Checker::own(CONTRACT_SCHEMA, Dialect::default()))
}

/// Rejects schemas given by path. Contracts on disk may contain them, but they must be inlined before this point.
fn on_disk(document: &Document) -> Vec<Violation> {
    let member = |name: &str| document.member(Document::ROOT, name);
    let resources = member("resources").into_iter().flat_map(|at| document.members(at)).map(|(_, at)| at);
    ["schema", "jtd"]
        .into_iter()
        .filter_map(member)
        .chain(resources)
        .filter(|&at| document.kind(at) == Kind::String)
        .map(|at| {
            let message = "must be a schema, not a path: only contracts on disk name files";
            Violation::new(
                &document.location(at),
                "type",
                Details { expected: "a schema", received: document.string(at), message },
            )
            .spanning(document.span(at))
        })
        .collect()
}

/// Reads a document that matches the contract format.
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
        let name = if self.member("jtd").is_some() { "jtd" } else { "schema" };
        let schema = SchemaSource::new(document, self.member(name).unwrap_or(Document::ROOT));
        let resources = self.member("resources").into_iter().flat_map(|at| document.members(at));
        let resources: Vec<(&str, SchemaSource)> =
            resources.map(|(uri, at)| (document.string(uri), SchemaSource::new(document, at))).collect();
        let mut resources: Vec<Resource> = resources.iter().map(|(uri, resource)| (*uri, resource)).collect();
        let checker = self.compiled(&schema, &Location::root().name(name), draft, &resources)?.planned();
        let items = self.items(&checker, &schema, draft, &mut resources)?;
        let allow = self.allow().map_err(|violation| vec![violation])?;
        let evidence = self.evidence().map_err(|violation| vec![violation])?;
        let keeps = self.keeps().map_err(|violation| vec![violation])?;
        self.all_lead_somewhere(&checker)?;
        let schema_id = match schema.id(draft) {
            "" => None,
            id => Some(id.to_owned()),
        };
        let version = match (self.text("version"), &schema_id) {
            (Some(version), _) => version.to_owned(),
            (None, Some(id)) => version_in(id).unwrap_or("0.0.0").to_owned(),
            (None, None) => "0.0.0".to_owned(),
        };
        let refusal = self.text("refusal").map(|path| {
            // The format allows only valid paths.
            Location::of_names(path).unwrap_or_default()
        });
        Ok(Contract {
            agent: self.text("agent").unwrap_or_default().to_owned(),
            version,
            schema_id,
            digest: digest(&source),
            extract: self.extract(),
            caps: self.caps(),
            repairs: self.text("repair") == Some("syntax"),
            keeps,
            strips: self.text("unknown_members") == Some("strip"),
            coerces: self.text("coerce") == Some("lossless"),
            unwraps: self.member("unwrap").is_some_and(|at| document.kind(at) == Kind::True),
            items,
            allow,
            evidence,
            refusal,
            retry_limit: self.retry_limit(),
            unsatisfiable: schema.is_never(),
            draft,
            checker,
            source,
        })
    }

    fn dialect(&self, draft: referencing::Draft) -> Dialect {
        Dialect {
            draft,
            assert_formats: self.text("formats") != Some("annotate"),
            patterns: match self.text("patterns") {
                Some("backtracking") => Patterns::Backtracking,
                _ => Patterns::Linear,
            },
        }
    }

    /// Compiles the schema at a location, or the definition in a contract that has one.
    fn compiled(
        &self,
        schema: &SchemaSource,
        here: &Location,
        draft: referencing::Draft,
        resources: &[Resource],
    ) -> Result<Checker, Vec<Violation>> {
        if self.member("jtd").is_some() {
            return Checker::jtd(schema).map_err(|violation| vec![violation.under(here)]);
        }
        if let Some(violation) = unconstrained::violation(self.document, schema.root(), here) {
            return Err(vec![violation]);
        }
        for schema in [schema].into_iter().chain(resources.iter().map(|(_, resource)| *resource)) {
            self.known_dialect(schema, draft, resources).map_err(|violation| vec![violation])?;
        }
        Checker::json_schema(schema, here, resources, self.dialect(draft))
    }

    /// Reads the items, with their schema.
    fn items<'s>(
        &'s self,
        checker: &Checker,
        schema: &'s SchemaSource<'s>,
        draft: referencing::Draft,
        resources: &mut Vec<Resource<'s>>,
    ) -> Result<Option<Items>, Vec<Violation>> {
        let document = self.document;
        let Some(items) = self.member("items") else {
            return Ok(None);
        };
        let member = |name: &str| document.member(items, name);
        let wrong = |name: &str, expected: &str, message: &str| {
            let at = member(name).unwrap_or(items);
            let place = Location::root().name("items").name(name);
            vec![
                Violation::new(&place, "items", Details { expected, received: &document.shown(at), message })
                    .spanning(document.span(at)),
            ]
        };
        let path = member("path").and_then(|at| ItemsPath::read(document.string(at))).ok_or_else(|| {
            let message = "must be a path (RFC 9535) of names and indices that ends with '[*]', as $.list[*] does";
            wrong("path", "a path of names and indices, and '[*]'", message)
        })?;
        let max = member("max").and_then(|at| Number(document.source(at)).as_f64()).map(|max| max as usize);
        let schema = match member("schema") {
            Some(at) => {
                // Items may refer to the contract's schema by its URI.
                if self.member("schema").is_some() && schema.id(draft).contains(':') {
                    resources.push((schema.id(draft), schema));
                }
                let here = Location::root().name("items").name("schema");
                Some(self.compiled(&SchemaSource::new(document, at), &here, draft, resources)?)
            }
            None if checker.governs(&path) => None,
            None => {
                let message = format!(
                    "must be there: what the items at {} must be cannot be told from the contract's schema; \
                     true if anything may be one",
                    path.text
                );
                return Err(wrong("schema", "what one item must be", &message));
            }
        };
        let key = member("key").map(|at| document.string(at).to_owned());
        Ok(Some(Items { path, max, key, schema }))
    }

    fn allow(&self) -> Result<Vec<Rule>, Violation> {
        let document = self.document;
        let rules = self.member("allow").into_iter().flat_map(|at| document.items(at));
        rules
            .map(|rule| {
                let text = |name: &str| document.member(rule, name).map_or("", |at| document.string(at));
                let path = Path::read(text("path")).ok_or_else(|| {
                    let message = "must be a path (RFC 9535) of names, indices and '[*]', as $.list[*].name is";
                    let at = document.member(rule, "path").unwrap_or(rule);
                    let expected = "a path of names, indices and '[*]'";
                    Violation::new(
                        &document.location(at),
                        "allow",
                        Details { expected, received: text("path"), message },
                    )
                    .spanning(document.span(at))
                })?;
                let list = match document.member(rule, "values") {
                    Some(values) => {
                        let mut values: Vec<String> =
                            document.items(values).map(|at| document.string(at).to_owned()).collect();
                        sort(&mut values);
                        List::Values(values)
                    }
                    None => {
                        let optional = document.member(rule, "optional");
                        let optional = optional.is_some_and(|at| document.kind(at) == Kind::True);
                        List::Named { name: text("list").to_owned(), optional }
                    }
                };
                Ok(Rule { path, list })
            })
            .collect()
    }

    fn evidence(&self) -> Result<Option<Claims>, Violation> {
        let document = self.document;
        let Some(evidence) = self.member("evidence") else {
            return Ok(None);
        };
        let text = |at: NodeId, name: &str| document.member(at, name).map(|at| document.string(at));
        let name = |member: &str, default: &str| text(evidence, member).unwrap_or(default).to_owned();
        let path = |at: NodeId, member: &str| {
            document.member(at, member).map(|at| self.path(at, "evidence", "$.absence")).transpose()
        };
        let claims = document.member(evidence, "claims").unwrap_or(evidence);
        let claims = ItemsPath::read(document.string(claims)).ok_or_else(|| {
            let message = "must be a path (RFC 9535) of names and indices that ends with '[*]', as $.claims[*] does";
            self.wrong(claims, "evidence", "a path of names and indices, and '[*]'", message)
        })?;
        let kind = |at: NodeId| {
            // The format limits the number.
            let min = document.member(at, "min").and_then(|at| Number(document.source(at)).as_f64());
            Ok(RequiredKind {
                kind: text(at, "kind").unwrap_or_default().to_owned(),
                min: min.map_or(1, |min| min as usize),
                or_explained: path(at, "or_explained")?,
            })
        };
        let kinds = document.member(evidence, "kinds").into_iter().flat_map(|at| document.items(at));
        Ok(Some(Claims {
            path: claims,
            text: name("text", "text"),
            cites: name("cites", "evidence"),
            confidence: name("confidence", "confidence"),
            limitations: name("limitations", "limitations"),
            quotes: text(evidence, "quotes") != Some("optional"),
            numbers: text(evidence, "numbers") != Some("ignore"),
            absence: path(evidence, "absence")?,
            kinds: kinds.map(kind).collect::<Result<_, Violation>>()?,
        }))
    }

    fn draft(&self) -> Result<referencing::Draft, Violation> {
        match self.text("dialect") {
            None => Ok(referencing::Draft::Draft202012),
            Some(uri) => check::draft(uri).ok_or_else(|| check::unknown_dialect(Location::root().name("dialect"), uri)),
        }
    }

    /// Checks that `$schema` is a known dialect, or one that `resources` describes.
    fn known_dialect(
        &self,
        schema: &SchemaSource,
        draft: referencing::Draft,
        resources: &[Resource],
    ) -> Result<(), Violation> {
        let Some(at) = schema.member("$schema") else {
            return Ok(());
        };
        let uri = self.document.string(at);
        let given = |(name, resource): &Resource| {
            [*name, resource.id(draft)].iter().any(|name| name.trim_end_matches('#') == uri.trim_end_matches('#'))
        };
        if check::draft(uri).is_some() || resources.iter().any(given) {
            return Ok(());
        }
        Err(check::unknown_dialect(self.document.location(at), uri))
    }

    fn retry_limit(&self) -> u32 {
        let limit = self.member("retry").and_then(|at| self.document.member(at, "limit"));
        // The format limits the number.
        limit.and_then(|at| Number(self.document.source(at)).as_f64()).map_or(1, |limit| limit as u32)
    }

    fn extract(&self) -> Extract {
        let document = self.document;
        let mut extract = Extract::default();
        let Some(options) = self.member("extract") else {
            return extract;
        };
        // If the contract gives markers, only blocks with a marker are candidates by default.
        extract.untagged = document.member(options, "markers").is_none();
        for (name, at) in document.members(options) {
            let flag = document.kind(at) == Kind::True;
            let texts = || document.items(at).map(|at| document.string(at).to_owned()).collect();
            match document.string(name) {
                "markers" => extract.markers = texts(),
                "untagged" => extract.untagged = flag,
                "raw_json" => extract.raw_json = flag,
                "ignore" => extract.ignore = self.reasoning(at),
                "within" => {
                    let name = document.string(at).to_owned();
                    extract.within = Some(Reasoning::new(vec![name.into()], std::iter::empty()));
                }
                "embedded" => {
                    extract.embedded = match document.kind(at) {
                        Kind::True => Embedded::Each,
                        Kind::String => Embedded::Single,
                        _ => Embedded::None,
                    }
                }
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

    /// Reads `keep_cut_off`.
    fn keeps(&self) -> Result<Vec<Path>, Violation> {
        let document = self.document;
        let Some(list) = self.member("keep_cut_off") else {
            return Ok(Vec::new());
        };
        if self.text("repair") != Some("syntax") {
            let message = "must come with \"repair\": \"syntax\": without it, nothing that was cut off is kept";
            return Err(self.wrong(list, "keep_cut_off", "'repair'", message));
        }
        document.items(list).map(|at| self.path(at, "keep_cut_off", "$.list[*].text")).collect()
    }

    /// Parses a path. `example` is a path that the error shows.
    fn path(&self, at: NodeId, keyword: &str, example: &str) -> Result<Path, Violation> {
        Path::read(self.document.string(at)).ok_or_else(|| {
            let message = format!("must be a path (RFC 9535) of names, indices and '[*]', as {example} is");
            self.wrong(at, keyword, "a path of names, indices and '[*]'", &message)
        })
    }

    /// Returns the violation at a value of the contract.
    fn wrong(&self, at: NodeId, keyword: &str, expected: &str, message: &str) -> Violation {
        let received = self.document.shown(at);
        Violation::new(&self.document.location(at), keyword, Details { expected, received: &received, message })
            .spanning(self.document.span(at))
    }

    /// Checks that the schema allows values at the paths of `items`, `allow` and `keep_cut_off`. A rule about any other
    /// path would never apply.
    fn all_lead_somewhere(&self, checker: &Checker) -> Result<(), Vec<Violation>> {
        let document = self.document;
        let of = |name: &str, member: &str| {
            let rules = self.member(name).into_iter().flat_map(|at| document.items(at).chain([at]));
            rules.filter_map(|rule| document.member(rule, member)).collect::<Vec<_>>()
        };
        let texts = self.member("keep_cut_off").into_iter().flat_map(|at| document.items(at));
        let all = of("items", "path").into_iter().map(|at| (at, "items", None));
        let all = all.chain(of("allow", "path").into_iter().map(|at| (at, "allow", None)));
        let all = all.chain(texts.map(|at| (at, "keep_cut_off", Some(Kind::String))));
        let wrong = |(at, keyword, wanted): (NodeId, &str, Option<Kind>)| {
            let path = Path::read(document.string(at))?.selectors;
            let of = "the schema";
            let message = match (checker.reach(&path, Describes::Part), wanted) {
                (Err(lacking), _) => check::leads_nowhere(&path, &lacking, of),
                (Ok(kinds), Some(wanted)) => check::ends_wrongly(&path, kinds, &[wanted], of)?,
                (Ok(_), None) => return None,
            };
            Some(self.wrong(at, keyword, "a path to what the schema allows", &message))
        };
        let wrong: Vec<Violation> = all.filter_map(wrong).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Reads `extract.ignore`: names of tags, and pairs of texts that begin and end reasoning.
    fn reasoning(&self, at: NodeId) -> Reasoning {
        let document = self.document;
        let items = || document.items(at);
        let text = |at| Cow::Owned(document.string(at).to_owned());
        let tags = items().filter(|at| document.kind(*at) == Kind::String).map(text).collect();
        let pairs =
            items().filter_map(|at| Some([document.member(at, "begin")?, document.member(at, "end")?].map(text)));
        Reasoning::new(tags, pairs.collect::<Vec<_>>().into_iter())
    }

    fn caps(&self) -> Caps {
        let document = self.document;
        let mut caps = Caps::default();
        let Some(options) = self.member("caps") else {
            return caps;
        };
        for (name, cap) in caps.named() {
            let value = document.member(options, name).and_then(|at| Number(document.source(at)).as_f64());
            // The format limits the number.
            *cap = value.map_or(*cap, |value| value as usize);
        }
        caps
    }
}

/// Returns the version in a schema's URI: the last part that looks like `1.2.3`, without the optional `v` before it.
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

/// Returns `sha256:` and the digest of a text.
pub fn digest(text: &str) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_contracts_takes_contracts_and_nothing_else() {
        for (text, is_one) in [
            (r#"{"agent":"a","schema":true}"#, true),
            (r#"{"agent":"a","jtd":{}}"#, true),
            (r#"{"schema":true}"#, false),
            (r#"{"agent":"a"}"#, false),
            (r#"{"agent":"a","schema":true,"shcema":true}"#, false),
            (r#"{"agent":"a","schema":true,"caps":{"depth":129}}"#, false),
        ] {
            let Ok(document) = Json::read(text, &CONTRACT_CAPS) else { panic!("nothing to refuse: {text}") };
            assert_eq!(format().is_valid(document.within_caps()), is_one, "{text}");
        }
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
