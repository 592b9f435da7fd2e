//! Validates a document against schemas. Returns whether the document is valid, or all of its failures. Every rejection
//! comes from this file.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    format::WrongContent,
    keywords,
    pattern::Pattern,
    schema::{Applied, ArrayRules, Contains, NumberRules, ObjectRules, Schema, SchemaId, Schemas, Sizes, StringRules},
    union::{Meant, Takes, likeness, meant, steps},
    value::{Numeric, is_unique},
};
use crate::{
    parse::{Document, Kind, NodeId},
    repair::MAX_REPAIRS,
};

/// The maximum number of values that a search for all failures visits, and the number that each byte of the document
/// adds.
const VISITS: u32 = 20_000;
const VISITS_PER_BYTE: u32 = 4;

/// The maximum number of failures that a search finds, including those inside alternatives. A report lists 100 of them.
pub(super) const FAILURES: usize = 1_000;

/// The maximum number of undecided matches that a search for all failures reaches, because each takes long.
const UNDECIDED: u32 = 3;

/// The maximum number of undecided matches that a validation tries. After that, the validation tries no pattern whose
/// match could be undecided, and treats results that depend on such a match as undecided.
const TRIED: usize = 16;

/// The maximum number of values that are validated by both readings because they depend on an undecided match. Further
/// values are treated as undecided.
const TWICE: u32 = 1_000;

/// The maximum number of references that are followed to find the kinds of values that a schema expects.
const LEVELS: usize = 16;

/// The number of validations before results are memoized, and the number that each value of the document adds.
/// Alternatives that refer to each other can validate the same value exponentially often. Most documents do not need
/// the memo.
/// memory.
const FORGETFUL: usize = 1_000;
const FORGETFUL_PER_VALUE: usize = 8;

/// A value that violates a schema, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) at: NodeId,
    pub(super) schema: SchemaId,
    pub(super) why: BrokenRule,
}

/// The violated rule. Numbers identify the rule where a schema can have several.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BrokenRule {
    Never,
    Type,
    Allowed(usize),
    Bound(usize),
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    /// A pattern for member names.
    PatternProperties(usize),
    /// The value must match, but the match is undecided.
    Undecided,
    /// The verdict depends on an undecided match.
    Hanging,
    Format,
    ContentEncoding(&'static str),
    ContentMediaType(&'static str),
    MinItems,
    MaxItems,
    UniqueItems,
    AdditionalItems,
    Contains,
    /// The number of items that match.
    MinContains(usize),
    MaxContains(usize),
    /// The index of the first unevaluated item.
    UnevaluatedItems(usize),
    MinProperties,
    MaxProperties,
    /// The name's number in `names`.
    Required(usize),
    /// The index of the dependent, and the index of the missing name in it.
    Dependent(usize, usize),
    /// The member is undeclared.
    AdditionalProperties,
    UnevaluatedProperties,
    /// The member's name is invalid.
    PropertyName(Box<Failure>),
    Not(usize),
    AnyOf(usize, Option<Box<Nearest>>),
    OneOfNone(usize, Option<Box<Nearest>>),
    OneOfSeveral(usize, Vec<usize>),
}

/// The best description of the alternatives for a value that matches none of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Nearest {
    /// The nearest alternative, its first failure, and the number of its other failures.
    Alternative { number: usize, first: Failure, more: usize },
    /// The values that the alternatives accept.
    Takes(Vec<Takes>),
}

impl Failure {
    /// Returns the schema whose rule was violated, and the keyword. The keyword is `None` if the schema itself forbids
    /// the value.
    pub(super) fn rule(&self, schemas: &Schemas) -> (SchemaId, Option<&'static str>) {
        match &self.why {
            BrokenRule::PropertyName(inner) => inner.rule(schemas),
            BrokenRule::Never | BrokenRule::AdditionalProperties | BrokenRule::UnevaluatedProperties => {
                (self.schema, None)
            }
            _ => (self.schema, Some(self.keyword(schemas))),
        }
    }

    /// Returns the keyword that a report names.
    pub(super) fn keyword(&self, schemas: &Schemas) -> &'static str {
        let schema = schemas.get(self.schema);
        match &self.why {
            BrokenRule::Never => "false",
            BrokenRule::AdditionalProperties => keywords::ADDITIONAL_PROPERTIES.name,
            BrokenRule::UnevaluatedProperties => keywords::UNEVALUATED_PROPERTIES.name,
            BrokenRule::PropertyName(_) => keywords::PROPERTY_NAMES.name,
            BrokenRule::Type => keywords::TYPE.name,
            BrokenRule::Allowed(number) => schema.allowed[*number].keyword,
            BrokenRule::Bound(number) => schema.number.as_ref().map_or("", |rules| rules.bounds[*number].keyword),
            BrokenRule::MultipleOf => keywords::MULTIPLE_OF.name,
            BrokenRule::MinLength => keywords::MIN_LENGTH.name,
            BrokenRule::MaxLength => keywords::MAX_LENGTH.name,
            BrokenRule::Pattern | BrokenRule::Undecided | BrokenRule::Hanging => keywords::PATTERN.name,
            BrokenRule::PatternProperties(_) => keywords::PATTERN_PROPERTIES.name,
            BrokenRule::Format => keywords::FORMAT.name,
            BrokenRule::ContentEncoding(_) => keywords::CONTENT_ENCODING.name,
            BrokenRule::ContentMediaType(_) => keywords::CONTENT_MEDIA_TYPE.name,
            BrokenRule::MinItems => keywords::MIN_ITEMS.name,
            BrokenRule::MaxItems => keywords::MAX_ITEMS.name,
            BrokenRule::UniqueItems => keywords::UNIQUE_ITEMS.name,
            BrokenRule::AdditionalItems => keywords::ADDITIONAL_ITEMS.name,
            BrokenRule::Contains => keywords::CONTAINS.name,
            BrokenRule::MinContains(_) => keywords::MIN_CONTAINS.name,
            BrokenRule::MaxContains(_) => keywords::MAX_CONTAINS.name,
            BrokenRule::UnevaluatedItems(_) => keywords::UNEVALUATED_ITEMS.name,
            BrokenRule::MinProperties => keywords::MIN_PROPERTIES.name,
            BrokenRule::MaxProperties => keywords::MAX_PROPERTIES.name,
            BrokenRule::Required(_) => keywords::REQUIRED.name,
            BrokenRule::Dependent(number, _) => {
                schema.object.as_ref().map_or("", |rules| rules.dependent[*number].keyword)
            }
            BrokenRule::Not(_) => keywords::NOT.name,
            BrokenRule::AnyOf(..) => keywords::ANY_OF.name,
            BrokenRule::OneOfNone(..) | BrokenRule::OneOfSeveral(..) => keywords::ONE_OF.name,
        }
    }

    /// Returns the position of the rule in the text of the contract's schema. Rules of other resources sort last.
    pub(super) fn position(&self, schemas: &Schemas) -> NodeId {
        let (schema, keyword) = self.rule(schemas);
        let schema = schemas.get(schema);
        let named = |keyword: &str| schema.keywords.iter().find(|(name, _)| *name == keyword).map(|(_, at)| *at);
        match schema.location.resource {
            0 => keyword.and_then(named).unwrap_or(schema.position),
            _ => NodeId::MAX,
        }
    }
}

/// Returns whether a document is valid.
pub(super) fn is_valid(schemas: &Schemas, document: &Document) -> bool {
    Judge::new(schemas, document).judge(&mut First, schemas.root, Document::ROOT, None)
}

/// Returns whether a document as a whole is valid under all of the given schemas.
pub(super) fn is_valid_by(schemas: &Schemas, document: &Document, all: &[SchemaId]) -> bool {
    let mut judge = Judge::new(schemas, document);
    all.iter().all(|id| judge.is_valid(*id, Document::ROOT))
}

/// Returns whether a document could be valid if each rule for one kind of value were undecided for values of other
/// kinds. For example, `pattern` then says nothing about a list of strings, and `const` says nothing about the same
/// value written as a string.
pub(super) fn may_be_valid(schemas: &Schemas, document: &Document) -> bool {
    let mut judge = Judge::new(schemas, document);
    judge.reading = Reading::Open;
    judge.by_shape = true;
    judge.is_valid(schemas.root, Document::ROOT)
}

/// Returns whether a document is valid even if every rule rejects values of kinds that it is not for. The opposite of
/// [`may_be_valid`].
pub(super) fn must_be_valid(schemas: &Schemas, document: &Document) -> bool {
    let mut judge = Judge::new(schemas, document);
    judge.by_shape = true;
    judge.is_valid(schemas.root, Document::ROOT)
}

/// Returns the failures of a document, unordered, and whether the search stopped early.
pub(super) fn failures(schemas: &Schemas, document: &Document) -> (Vec<Failure>, bool) {
    let mut found = All::new(document);
    Judge::new(schemas, document).judge(&mut found, schemas.root, Document::ROOT, None);
    let incomplete = found.is_spent();
    (found.failures, incomplete)
}

/// Returns the failures of some values of a document, unordered, as far as edits can fix them. `None` if the search
/// stopped early.
pub(super) fn failures_of(schemas: &Schemas, document: &Document, values: &[NodeId]) -> Option<Vec<Failure>> {
    let mut found = All { left: MAX_REPAIRS, ..All::new(document) };
    let mut judge = Judge::new(schemas, document);
    for at in values {
        judge.judge(&mut found, schemas.root, *at, None);
    }
    (!found.is_spent()).then_some(found.failures)
}

/// Validates a document's items one after the other, sharing one search and its limits.
pub(super) struct Inspection<'d> {
    judge: Judge<'d>,
    found: All,
}

impl<'d> Inspection<'d> {
    pub(super) fn new(schemas: &'d Schemas, document: &'d Document) -> Self {
        Inspection { judge: Judge::new(schemas, document), found: All::new(document) }
    }

    pub(super) fn is_valid(&mut self, id: SchemaId, at: NodeId) -> bool {
        self.judge.is_valid(id, at)
    }

    /// Returns the failures of a value, and whether the search stopped early. `None` if the value is valid under all of
    /// the schemas.
    pub(super) fn failures<I: Iterator<Item = SchemaId>>(
        &mut self,
        all: impl Fn() -> I,
        at: NodeId,
    ) -> Option<(Vec<Failure>, bool)> {
        if all().all(|id| self.is_valid(id, at)) {
            return None;
        }
        self.found.left = FAILURES;
        for id in all() {
            self.judge.judge(&mut self.found, id, at, None);
        }
        let incomplete = self.found.is_spent();
        Some((self.found.since(0), incomplete))
    }
}

/// Returns the values of the members that `additionalProperties` and `unevaluatedProperties` forbid, unordered.
pub(super) fn undeclared(schemas: &Schemas, document: &Document) -> Vec<NodeId> {
    let mut found = Undeclared { members: Vec::new(), visits: visits(document) };
    Judge::new(schemas, document).judge(&mut found, schemas.root, Document::ROOT, None);
    found.members
}

fn visits(document: &Document) -> u32 {
    let bytes = document.source(Document::ROOT).len() as u32;
    VISITS.saturating_add(bytes.saturating_mul(VISITS_PER_BYTE))
}

/// A sink for failures. It stops the search at the first failure, or collects all.
trait Findings {
    const ALL: bool;

    /// `true` if failures are recorded for each alternative.
    const BY_ALTERNATIVE: bool;

    /// Returns whether the search must stop.
    fn is_spent(&mut self) -> bool;

    fn add(&mut self, failure: Failure);

    /// Returns the number of failures so far.
    fn mark(&self) -> usize;

    /// Removes and returns the failures added since `mark`.
    fn since(&mut self, mark: usize) -> Vec<Failure>;
}

struct First;

impl Findings for First {
    const ALL: bool = false;
    const BY_ALTERNATIVE: bool = false;

    fn is_spent(&mut self) -> bool {
        false
    }

    fn add(&mut self, _: Failure) {}

    fn mark(&self) -> usize {
        0
    }

    fn since(&mut self, _: usize) -> Vec<Failure> {
        Vec::new()
    }
}

struct All {
    failures: Vec<Failure>,
    visits: u32,
    left: usize,
    undecided: u32,
}

impl All {
    fn new(document: &Document) -> Self {
        All { failures: Vec::new(), visits: visits(document), left: FAILURES, undecided: UNDECIDED }
    }

    fn is_spent(&self) -> bool {
        self.visits == 0 || self.left == 0 || self.undecided == 0
    }
}

impl Findings for All {
    const ALL: bool = true;
    const BY_ALTERNATIVE: bool = true;

    fn is_spent(&mut self) -> bool {
        self.visits = self.visits.saturating_sub(1);
        All::is_spent(self)
    }

    fn add(&mut self, failure: Failure) {
        if let BrokenRule::Undecided | BrokenRule::Hanging | BrokenRule::PatternProperties(_) = failure.why {
            self.undecided = self.undecided.saturating_sub(1);
        }
        if self.left > 0 {
            self.left -= 1;
            self.failures.push(failure);
        }
    }

    fn mark(&self) -> usize {
        self.failures.len()
    }

    fn since(&mut self, mark: usize) -> Vec<Failure> {
        self.failures.split_off(mark)
    }
}

/// Collects only the undeclared members.
struct Undeclared {
    members: Vec<NodeId>,
    visits: u32,
}

impl Findings for Undeclared {
    const ALL: bool = true;
    const BY_ALTERNATIVE: bool = false;

    fn is_spent(&mut self) -> bool {
        self.visits = self.visits.saturating_sub(1);
        self.visits == 0
    }

    fn add(&mut self, failure: Failure) {
        if let BrokenRule::AdditionalProperties | BrokenRule::UnevaluatedProperties = failure.why {
            self.members.push(failure.at);
        }
    }

    fn mark(&self) -> usize {
        self.members.len()
    }

    fn since(&mut self, mark: usize) -> Vec<Failure> {
        self.members.truncate(mark);
        Vec::new()
    }
}

/// The items or members of one value that were evaluated (2020-12 core, section 11).
struct Seen(Vec<bool>);

impl Seen {
    fn of(document: &Document, at: NodeId) -> Self {
        Seen(vec![false; document.count(at)])
    }

    fn mark(&mut self, index: usize) {
        if let Some(seen) = self.0.get_mut(index) {
            *seen = true;
        }
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index).is_some_and(|seen| *seen)
    }

    fn add(&mut self, other: &Seen) {
        self.0.iter_mut().zip(&other.0).for_each(|(seen, other)| *seen |= other);
    }
}

/// The way in which an undecided match is read, which gives a verdict a third value. A value that is valid by the
/// strict reading is valid whatever the match turns out to be. A value that is invalid by the open reading is invalid
/// whatever the match turns out to be. A negation swaps the readings. The strict reading gives the final verdict, so
/// nothing that depends on an undecided match is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    Strict,
    Open,
}

/// The verdicts of both readings. They differ only if the verdict depends on an undecided match.
#[derive(Clone, Copy, PartialEq)]
struct Both {
    strict: bool,
    open: bool,
}

impl Both {
    fn is_decided(self) -> bool {
        self.strict == self.open
    }
}

struct Judge<'d> {
    schemas: &'d Schemas,
    document: &'d Document<'d>,
    /// The values that recursive schemas are validating.
    open: Vec<(SchemaId, NodeId)>,
    /// Members that are not validated yet. Those of outer objects come first.
    waiting: Vec<(SchemaId, NodeId)>,
    /// The number of validations before results are memoized.
    forgetful: usize,
    /// Results by value, schema, reading, and whether the value's kind is expected. A result says whether the value is
    /// valid, and whether the validation met an undecided match.
    decided: BTreeMap<(NodeId, SchemaId, Reading, bool), (bool, bool)>,
    reading: Reading,
    /// The number of undecided matches so far, and the last of them.
    met: u32,
    hanging: Option<Failure>,
    /// The undecided matches, by pattern and string. Each is tried once.
    tried: BTreeSet<(*const Pattern, NodeId)>,
    twice: u32,
    /// `true` if rules leave values of other kinds undecided.
    by_shape: bool,
    /// Values whose kind another alternative expects. The remaining alternatives apply to them as in JSON Schema.
    expected: Vec<NodeId>,
    /// The remaining steps for telling alternatives apart.
    steps: u32,
}

/// Records a failure. Continues only if the sink collects all failures.
macro_rules! fail {
    ($valid:ident, $found:ident, $at:expr, $schema:expr, $why:expr) => {{
        if !F::ALL {
            return false;
        }
        $found.add(Failure { at: $at, schema: $schema, why: $why });
        $valid = false;
    }};
}

/// Propagates an invalid result whose failure is already recorded.
macro_rules! demand {
    ($valid:ident, $judged:expr) => {
        if !$judged {
            if !F::ALL {
                return false;
            }
            $valid = false;
        }
    };
}

/// The value being validated.
#[derive(Clone, Copy)]
struct Value {
    at: NodeId,
    kind: Kind,
}

/// The schema that validates it.
#[derive(Clone, Copy)]
struct Rules<'d> {
    id: SchemaId,
    schema: &'d Schema,
}

/// All or some of a list of schemas.
struct Possible<'d> {
    all: &'d [SchemaId],
    /// The indices of the schemas that can apply. `None` means all.
    numbers: Option<&'d [u32]>,
    next: usize,
}

impl Iterator for Possible<'_> {
    type Item = (usize, SchemaId);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let number = match self.numbers {
            None => self.next,
            Some(numbers) => *numbers.get(self.next)? as usize,
        };
        self.next += 1;
        self.all.get(number).map(|id| (number, *id))
    }
}

/// Returns whether a count is within its limits, and records a failure if it is not.
#[inline(always)]
fn within<F: Findings>(
    found: &mut F,
    id: SchemaId,
    at: NodeId,
    sizes: Sizes,
    count: usize,
    [few, many]: [fn() -> BrokenRule; 2],
) -> bool {
    let mut valid = true;
    if count < sizes.min {
        fail!(valid, found, at, id, few());
    }
    if count > sizes.max {
        fail!(valid, found, at, id, many());
    }
    valid
}

// Recursive functions are kept separate from the others. A stack frame holds everything that its function needs,
// including inlined functions, and a deep document opens hundreds of frames.
impl<'d> Judge<'d> {
    fn new(schemas: &'d Schemas, document: &'d Document<'d>) -> Self {
        let forgetful = FORGETFUL + FORGETFUL_PER_VALUE * document.next(Document::ROOT) as usize;
        let (open, waiting, decided) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (reading, met, hanging, tried, twice) = (Reading::Strict, 0, None, BTreeSet::new(), TWICE);
        let (by_shape, expected, steps) = (false, Vec::new(), steps(document));
        Judge {
            schemas,
            document,
            open,
            waiting,
            forgetful,
            decided,
            reading,
            met,
            hanging,
            tried,
            twice,
            by_shape,
            expected,
            steps,
        }
    }

    fn is_valid(&mut self, id: SchemaId, at: NodeId) -> bool {
        self.judge(&mut First, id, at, None)
    }

    /// Returns whether a value is valid by the other reading.
    fn is_valid_otherwise(&mut self, id: SchemaId, at: NodeId) -> bool {
        self.otherwise(|judge| judge.is_valid(id, at))
    }

    /// Runs `judge` with the other reading.
    fn otherwise<T>(&mut self, judge: impl FnOnce(&mut Self) -> T) -> T {
        let reading = self.reading;
        self.reading = match reading {
            Reading::Strict => Reading::Open,
            Reading::Open => Reading::Strict,
        };
        let judged = judge(self);
        self.reading = reading;
        judged
    }

    /// Validates a value by both readings against a schema that it may violate. The current reading decides which items
    /// and members are marked as evaluated.
    fn both(&mut self, schema: SchemaId, at: NodeId, seen: Option<&mut Seen>) -> Both {
        let met = self.met;
        let here = self.matches(schema, at, seen);
        if self.met == met {
            return Both { strict: here, open: here };
        }
        self.with_the_other(schema, at, here)
    }

    /// Completes [`both`](Self::both) after the current reading met an undecided match.
    #[inline(never)]
    fn with_the_other(&mut self, schema: SchemaId, at: NodeId, here: bool) -> Both {
        match (self.reading, here) {
            (Reading::Strict, true) | (Reading::Open, false) => Both { strict: here, open: here },
            _ if self.twice == 0 => Both { strict: false, open: true },
            (Reading::Strict, false) => {
                self.twice -= 1;
                Both { strict: false, open: self.is_valid_otherwise(schema, at) }
            }
            (Reading::Open, true) => {
                self.twice -= 1;
                Both { strict: self.is_valid_otherwise(schema, at), open: true }
            }
        }
    }

    /// Returns whether a string matches, or `None` if the match is undecided.
    fn is_match(&mut self, pattern: &Pattern, id: SchemaId, at: NodeId, why: BrokenRule, text: &str) -> Option<bool> {
        // Looks up the pattern only if the validation has tried any undecided match. Most validations try none.
        let is_known = !self.tried.is_empty() && self.is_tried(pattern, at);
        if !is_known && let Ok(matches) = pattern.matches(text) {
            return Some(matches);
        }
        self.tried.insert((std::ptr::from_ref(pattern), at));
        self.met = self.met.wrapping_add(1);
        self.hanging = Some(Failure { at, schema: id, why });
        None
    }

    #[inline(never)]
    fn is_tried(&self, pattern: &Pattern, at: NodeId) -> bool {
        (self.tried.len() >= TRIED && pattern.can_be_undecided())
            || self.tried.contains(&(std::ptr::from_ref(pattern), at))
    }

    /// Returns a failure for the undecided match that the verdict depends on.
    fn hanging(&self, id: SchemaId, at: NodeId) -> Failure {
        self.hanging.clone().unwrap_or(Failure { at, schema: id, why: BrokenRule::Hanging })
    }

    /// Records the undecided match as a failure, and returns `false`.
    // Not inlined, to keep the stack frames of recursive functions small.
    #[inline(never)]
    fn hangs<F: Findings>(&self, found: &mut F, id: SchemaId, at: NodeId) -> bool {
        found.add(self.hanging(id, at));
        false
    }

    /// Validates a value against a schema. If `seen` is given, marks the evaluated items or members in it.
    #[inline(always)]
    fn judge<F: Findings>(&mut self, found: &mut F, id: SchemaId, at: NodeId, seen: Option<&mut Seen>) -> bool {
        let brief = self.schemas.brief(id);
        let kind = self.document.kind(at);
        if self.by_shape && self.is_misshapen(id, at, kind) {
            return self.reading == Reading::Open;
        }
        if brief.takes_all(kind) {
            return true;
        }
        if !F::ALL && brief.takes_none(kind) {
            return false;
        }
        self.judge_by_rules(found, id, Value { at, kind }, seen)
    }

    /// Returns whether a schema's rules only concern values of other kinds.
    #[cold]
    #[inline(never)]
    fn is_misshapen(&mut self, id: SchemaId, at: NodeId, kind: Kind) -> bool {
        let is = !self.expected.contains(&at) && self.schemas.expects(id, 0).is_some_and(|kinds| !kinds.has(kind));
        self.met = self.met.wrapping_add(u32::from(is));
        is
    }

    /// Validates against one of several alternatives. If any of them expects values of this kind, the others apply as
    /// in JSON Schema.
    #[inline(always)]
    fn alternative<T>(&mut self, all: &[SchemaId], at: NodeId, judge: impl FnOnce(&mut Self) -> T) -> T {
        let is_expected = self.by_shape && self.is_expected(all, at);
        if is_expected {
            self.expected.push(at);
        }
        let judged = judge(self);
        if is_expected {
            self.expected.pop();
        }
        judged
    }

    /// Returns whether any of the alternatives expects values of this kind.
    #[cold]
    #[inline(never)]
    fn is_expected(&self, all: &[SchemaId], at: NodeId) -> bool {
        let kind = self.document.kind(at);
        all.iter().any(|id| self.schemas.expects(*id, LEVELS).is_some_and(|kinds| kinds.has(kind)))
    }

    #[inline(never)]
    fn judge_by_rules<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        Value { at, kind }: Value,
        seen: Option<&mut Seen>,
    ) -> bool {
        if found.is_spent() {
            return true;
        }
        let schemas = self.schemas;
        let schema = schemas.get(id);
        if schemas.brief(id).is_costly(kind) {
            self.judge_costly(found, Rules { id, schema }, Value { at, kind }, seen)
        } else {
            self.judge_simple(found, Rules { id, schema }, Value { at, kind })
        }
    }

    /// Applies the rules that need no other schema.
    fn judge_simple<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
    ) -> bool {
        let mut valid = true;
        if !schema.types.has(self.document, at, kind) {
            let why = if schema.never { BrokenRule::Never } else { BrokenRule::Type };
            fail!(valid, found, at, id, why);
        }
        for (number, allowed) in schema.allowed.iter().enumerate() {
            if !allowed.has(self.document, at, kind) {
                fail!(valid, found, at, id, BrokenRule::Allowed(number));
            }
        }
        match kind {
            Kind::String => {
                if let Some(rules) = &schema.string {
                    demand!(valid, self.string(found, id, rules, at));
                }
            }
            Kind::Number => {
                if let Some(rules) = &schema.number {
                    demand!(valid, self.number(found, id, rules, at));
                }
            }
            _ => {}
        }
        valid
    }

    fn judge_costly<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
        seen: Option<&mut Seen>,
    ) -> bool {
        if schema.recurs {
            // The schema refers to itself for the same value, so the rest of its rules decide. Entries for the same
            // value are all at the end, after those for outer values.
            if self.open.iter().rev().take_while(|(_, value)| *value == at).any(|(schema, _)| *schema == id) {
                return true;
            }
            self.open.push((id, at));
        }
        let remembers = !F::ALL && seen.is_none() && {
            self.forgetful = self.forgetful.saturating_sub(1);
            self.forgetful == 0
        };
        let valid = if remembers {
            self.judge_remembering(found, Rules { id, schema }, Value { at, kind })
        } else {
            self.judge_deeply(found, Rules { id, schema }, Value { at, kind }, seen)
        };
        if schema.recurs {
            self.open.pop();
        }
        valid
    }

    /// Looks up the result, or computes and memoizes it.
    #[cold]
    #[inline(never)]
    fn judge_remembering<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
    ) -> bool {
        let key = (at, id, self.reading, self.expected.contains(&at));
        if let Some((valid, hangs)) = self.decided.get(&key).copied() {
            self.met = self.met.wrapping_add(u32::from(hangs));
            return valid;
        }
        let met = self.met;
        let valid = self.judge_deeply(found, Rules { id, schema }, Value { at, kind }, None);
        self.decided.insert(key, (valid, self.met != met));
        valid
    }

    #[inline(always)]
    fn judge_deeply<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
        seen: Option<&mut Seen>,
    ) -> bool {
        let unevaluated = match kind {
            Kind::Array => schema.unevaluated_items,
            Kind::Object => schema.unevaluated_members,
            _ => None,
        };
        match unevaluated {
            None => self.judge_parts(found, Rules { id, schema }, Value { at, kind }, seen),
            Some(unevaluated) => {
                self.judge_unevaluated(found, Rules { id, schema }, Value { at, kind }, unevaluated, seen)
            }
        }
    }

    /// Validates a value under a schema that depends on evaluated items or members.
    #[inline(never)]
    fn judge_unevaluated<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
        unevaluated: SchemaId,
        seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        let mut own = Seen::of(self.document, at);
        let met = self.met;
        demand!(valid, self.judge_parts(found, Rules { id, schema }, Value { at, kind }, Some(&mut own)));
        if F::ALL && self.met != met {
            demand!(valid, self.hanging_evaluation(found, Rules { id, schema }, Value { at, kind }, &mut own));
        }
        demand!(valid, self.unevaluated(found, id, unevaluated, Value { at, kind }, &mut own));
        if let Some(seen) = seen {
            seen.add(&own);
        }
        valid
    }

    /// If the evaluation depends on an undecided match, reports that match instead of an unevaluated item or member.
    #[inline(never)]
    fn hanging_evaluation<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
        own: &mut Seen,
    ) -> bool {
        let document = self.document;
        let mut possible = Seen::of(document, at);
        self.otherwise(|judge| {
            judge.judge_parts(&mut First, Rules { id, schema }, Value { at, kind }, Some(&mut possible))
        });
        let mut valid = true;
        let (unevaluated, parts): (_, Vec<NodeId>) = match kind {
            Kind::Array => (schema.unevaluated_items, document.items(at).collect()),
            _ => (schema.unevaluated_members, document.members(at).map(|(_, value)| value).collect()),
        };
        let hanging = self.hanging(id, at);
        for (index, part) in parts.into_iter().enumerate().filter(|(index, _)| possible.has(*index)) {
            if !own.has(index) && !unevaluated.is_none_or(|schema| self.is_valid(schema, part)) {
                found.add(hanging.clone());
                valid = false;
            }
            own.mark(index);
        }
        valid
    }

    fn judge_parts<F: Findings>(
        &mut self,
        found: &mut F,
        Rules { id, schema }: Rules<'d>,
        Value { at, kind }: Value,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        demand!(valid, self.judge_simple(found, Rules { id, schema }, Value { at, kind }));
        match kind {
            Kind::Array => {
                if let Some(rules) = &schema.array {
                    demand!(valid, self.array(found, id, rules, at, seen.as_deref_mut()));
                }
            }
            Kind::Object => {
                if let Some(rules) = &schema.object {
                    demand!(valid, self.object(found, id, rules, at, seen.as_deref_mut()));
                }
            }
            _ => {}
        }
        for (number, applied) in schema.applied.iter().enumerate() {
            demand!(valid, self.applied(found, id, number, applied, at, seen.as_deref_mut()));
        }
        valid
    }

    fn number<F: Findings>(&self, found: &mut F, id: SchemaId, rules: &NumberRules, at: NodeId) -> bool {
        let mut valid = true;
        let number = Numeric::of(self.document.source(at));
        for (index, bound) in rules.bounds.iter().enumerate() {
            if !bound.has(number) {
                fail!(valid, found, at, id, BrokenRule::Bound(index));
            }
        }
        if let Some((divisor, _)) = &rules.multiple_of
            && !number.is_multiple_of(divisor)
        {
            fail!(valid, found, at, id, BrokenRule::MultipleOf);
        }
        valid
    }

    fn string<F: Findings>(&mut self, found: &mut F, id: SchemaId, rules: &StringRules, at: NodeId) -> bool {
        let mut valid = true;
        let document = self.document;
        let text = document.string(at);
        // Counts code points only if the length in bytes does not decide. Each code point takes one to four bytes.
        let (min, max) = (rules.length.min, rules.length.max);
        if text.len() > max || text.len() < min.saturating_mul(4) {
            let length = text.chars().count();
            demand!(
                valid,
                within(found, id, at, rules.length, length, [|| BrokenRule::MinLength, || BrokenRule::MaxLength])
            );
        }
        if let Some(pattern) = &rules.pattern {
            match self.is_match(pattern, id, at, BrokenRule::Hanging, text) {
                Some(true) => {}
                Some(false) => fail!(valid, found, at, id, BrokenRule::Pattern),
                None if self.reading == Reading::Open => {}
                None => fail!(valid, found, at, id, BrokenRule::Undecided),
            }
        }
        if let Some(format) = &rules.format
            && !(format.is_valid)(text)
        {
            fail!(valid, found, at, id, BrokenRule::Format);
        }
        match rules.content.check(text) {
            Ok(()) => {}
            Err(WrongContent::Encoding(name)) => fail!(valid, found, at, id, BrokenRule::ContentEncoding(name)),
            Err(WrongContent::MediaType(name)) => fail!(valid, found, at, id, BrokenRule::ContentMediaType(name)),
        }
        valid
    }

    #[inline(never)]
    fn array<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        rules: &'d ArrayRules,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        let document = self.document;
        let count = document.count(at);
        demand!(valid, within(found, id, at, rules.length, count, [|| BrokenRule::MinItems, || BrokenRule::MaxItems]));
        if rules.closed && count > rules.prefix.len() {
            fail!(valid, found, at, id, BrokenRule::AdditionalItems);
        }
        if rules.unique && !is_unique(document, at) {
            fail!(valid, found, at, id, BrokenRule::UniqueItems);
        }
        if rules.rest.is_some() || !rules.prefix.is_empty() {
            for (index, item) in document.items(at).enumerate() {
                let Some(schema) = rules.prefix.get(index).copied().or(rules.rest) else {
                    break;
                };
                demand!(valid, self.judge(found, schema, item, None));
                if let Some(seen) = &mut seen {
                    seen.mark(index);
                }
            }
        }
        if let Some(contains) = &rules.contains {
            demand!(valid, self.contains(found, id, contains, at, seen));
        }
        valid
    }

    #[inline(never)]
    fn contains<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        contains: &Contains,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        // The number of matches under each reading.
        let (mut strict, mut open) = (0, 0);
        let marks = contains.evaluates && seen.is_some();
        for (index, item) in self.document.items(at).enumerate() {
            if strict >= contains.count.min && contains.count.max == usize::MAX && !marks {
                break;
            }
            let both = self.both(contains.schema, item, None);
            strict += usize::from(both.strict);
            open += usize::from(both.open);
            let here = if self.reading == Reading::Strict { both.strict } else { both.open };
            if let (true, true, Some(seen)) = (here, contains.evaluates, &mut seen) {
                seen.mark(index);
            }
        }
        let (least, most) = if self.reading == Reading::Strict { (strict, open) } else { (open, strict) };
        if least < contains.count.min {
            if F::ALL && open >= contains.count.min {
                return self.hangs(found, id, at);
            }
            let why = if contains.count.min == 1 { BrokenRule::Contains } else { BrokenRule::MinContains(least) };
            fail!(valid, found, at, id, why);
        }
        if most > contains.count.max {
            if F::ALL && strict <= contains.count.max {
                return self.hangs(found, id, at);
            }
            fail!(valid, found, at, id, BrokenRule::MaxContains(most));
        }
        valid
    }

    #[inline(never)]
    fn object<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        rules: &'d ObjectRules,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        let document = self.document;
        let count = document.count(at);
        demand!(
            valid,
            within(found, id, at, rules.count, count, [|| BrokenRule::MinProperties, || BrokenRule::MaxProperties])
        );
        let waiting = self.waiting.len();
        let mut judged = match !F::ALL && seen.is_none() && rules.names_few(count) {
            true => self.named_members(rules, at),
            false => self.members(found, id, rules, at, seen.as_deref_mut()),
        };
        let mut next = waiting;
        while (judged || F::ALL) && next < self.waiting.len() {
            let (schema, value) = self.waiting[next];
            judged &= self.judge(found, schema, value, None);
            next += 1;
        }
        self.waiting.truncate(waiting);
        demand!(valid, judged);
        if !rules.dependent.is_empty() {
            demand!(valid, self.dependent(found, id, rules, at, seen));
        }
        valid
    }

    #[inline(never)]
    fn dependent<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        rules: &'d ObjectRules,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        let document = self.document;
        for (name, _) in document.members(at) {
            for (number, dependent) in rules.dependents_of(document.string(name)) {
                for (index, name) in dependent.required.iter().enumerate() {
                    if document.member(at, name).is_none() {
                        fail!(valid, found, at, id, BrokenRule::Dependent(number, index));
                    }
                }
                if let Some(schema) = dependent.schema {
                    demand!(valid, self.judge(found, schema, at, seen.as_deref_mut()));
                }
            }
        }
        valid
    }

    /// Validates the members of an object, and postpones the expensive ones, because the others usually decide.
    #[inline(never)]
    fn members<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        rules: &'d ObjectRules,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        let document = self.document;
        let mut required = 0;
        for (index, (name, value)) in document.members(at).enumerate() {
            let mut covered = false;
            if let Some(number) = rules.names.find(document.string_bytes(name), document.name_hash(name)) {
                let member = rules.members[number];
                // Names are unique: the check of caps rejects duplicates.
                required += usize::from(member.required);
                if let Some(schema) = member.schema {
                    covered = true;
                    demand!(valid, self.judge_soon(found, schema, value));
                }
            }
            let text = if rules.patterns.is_empty() { "" } else { document.string(name) };
            let mut hanging = Vec::new();
            for (number, (pattern, schema)) in rules.patterns.iter().enumerate() {
                match self.is_match(pattern, id, name, BrokenRule::PatternProperties(number), text) {
                    Some(true) => {
                        covered = true;
                        demand!(valid, self.judge_soon(found, *schema, value));
                    }
                    Some(false) => {}
                    None => hanging.push((number, *schema)),
                }
            }
            if !hanging.is_empty() {
                // Reports the failure at the object, because the names belong to the object.
                self.hanging = Some(Failure { at, schema: id, why: BrokenRule::PatternProperties(hanging[0].0) });
                let additional = if covered { None } else { rules.additional };
                if !self.hanging_member(&hanging, additional, value) {
                    fail!(valid, found, at, id, BrokenRule::PatternProperties(hanging[0].0));
                }
                covered |= additional.is_some() || self.reading == Reading::Open;
            } else if !covered && let Some(schema) = rules.additional {
                covered = true;
                if self.schemas.get(schema).never {
                    fail!(valid, found, value, schema, BrokenRule::AdditionalProperties);
                } else {
                    demand!(valid, self.judge_soon(found, schema, value));
                }
            }
            if let Some(schema) = rules.property_names {
                demand!(valid, self.property_name(found, id, schema, name));
            }
            if let (true, Some(seen)) = (covered, &mut seen) {
                seen.mark(index);
            }
        }
        if required < rules.required {
            demand!(valid, F::ALL && self.lacking(found, id, rules, at));
        }
        valid
    }

    /// Looks up the named members if a schema lists few and has no rules for others. Conditions usually do.
    #[inline(never)]
    fn named_members(&mut self, rules: &'d ObjectRules, at: NodeId) -> bool {
        rules.members.iter().enumerate().all(|(number, member)| {
            match (self.document.member(at, rules.names.get(number)), member.schema) {
                (Some(value), Some(schema)) => self.judge_soon(&mut First, schema, value),
                (Some(_), None) => true,
                (None, _) => !member.required,
            }
        })
    }

    /// Records a failure for each missing member.
    #[cold]
    #[inline(never)]
    fn lacking<F: Findings>(&mut self, found: &mut F, id: SchemaId, rules: &'d ObjectRules, at: NodeId) -> bool {
        let document = self.document;
        let mut there = vec![false; rules.members.len()];
        for (name, _) in document.members(at) {
            if let Some(number) = rules.names.find(document.string_bytes(name), document.name_hash(name)) {
                there[number] = true;
            }
        }
        for (number, member) in rules.members.iter().enumerate() {
            if member.required && !there[number] {
                found.add(Failure { at, schema: id, why: BrokenRule::Required(number) });
            }
        }
        false
    }

    /// Returns whether a member is valid if it is undecided which patterns match its name. If no pattern matches, the
    /// additional schema applies.
    #[inline(never)]
    fn hanging_member(&mut self, hanging: &[(usize, SchemaId)], additional: Option<SchemaId>, value: NodeId) -> bool {
        let none = additional.is_none_or(|schema| self.is_valid(schema, value));
        match self.reading {
            Reading::Strict => none && hanging.iter().all(|(_, schema)| self.is_valid(*schema, value)),
            Reading::Open => none || hanging.iter().any(|(_, schema)| self.is_valid(*schema, value)),
        }
    }

    /// Validates a value immediately if that is cheap. Postpones it otherwise.
    #[inline(always)]
    fn judge_soon<F: Findings>(&mut self, found: &mut F, id: SchemaId, at: NodeId) -> bool {
        if self.schemas.brief(id).is_costly(self.document.kind(at)) {
            self.waiting.push((id, at));
            return true;
        }
        self.judge(found, id, at, None)
    }

    /// Validates a member's name as a string.
    #[inline(never)]
    fn property_name<F: Findings>(&mut self, found: &mut F, id: SchemaId, schema: SchemaId, name: NodeId) -> bool {
        let mark = found.mark();
        let valid = self.judge(found, schema, name, None);
        // Reports the failure as a failure of the member's name.
        if let Some(hanging) = self.hanging.take_if(|hanging| hanging.at == name) {
            let why = match hanging.why {
                BrokenRule::PropertyName(_) => hanging.why,
                _ => BrokenRule::PropertyName(Box::new(hanging)),
            };
            self.hanging = Some(Failure { at: name, schema: id, why });
        }
        for failure in found.since(mark) {
            found.add(Failure { at: name, schema: id, why: BrokenRule::PropertyName(Box::new(failure)) });
        }
        valid
    }

    #[inline(never)]
    fn unevaluated<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        schema: SchemaId,
        Value { at, kind }: Value,
        seen: &mut Seen,
    ) -> bool {
        let mut valid = true;
        let never = self.schemas.get(schema).never;
        let document = self.document;
        if kind == Kind::Array {
            for (index, item) in document.items(at).enumerate() {
                if seen.has(index) {
                    continue;
                }
                if never {
                    fail!(valid, found, at, id, BrokenRule::UnevaluatedItems(index));
                    break;
                }
                demand!(valid, self.judge(found, schema, item, None));
                seen.mark(index);
            }
        } else {
            for (index, (_, value)) in document.members(at).enumerate() {
                if seen.has(index) {
                    continue;
                }
                if never {
                    fail!(valid, found, value, schema, BrokenRule::UnevaluatedProperties);
                } else {
                    demand!(valid, self.judge(found, schema, value, None));
                }
                seen.mark(index);
            }
        }
        valid
    }

    #[inline(never)]
    fn applied<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        number: usize,
        applied: &'d Applied,
        at: NodeId,
        mut seen: Option<&mut Seen>,
    ) -> bool {
        let mut valid = true;
        match applied {
            Applied::Reference(schema) => demand!(valid, self.judge(found, *schema, at, seen)),
            Applied::All(all) => {
                for (_, schema) in self.possible(id, number, all, at) {
                    demand!(valid, self.judge(found, schema, at, seen.as_deref_mut()));
                }
            }
            Applied::Any(any) => {
                let mut matches = false;
                let met = self.met;
                for (_, schema) in self.possible(id, number, any, at) {
                    matches |= self.alternative(any, at, |judge| judge.matches(schema, at, seen.as_deref_mut()));
                    // Continues, because the items and members that the other alternatives evaluate also count.
                    if matches && seen.is_none() {
                        break;
                    }
                }
                if !matches {
                    if F::ALL && self.met != met && any.iter().any(|schema| self.is_valid_otherwise(*schema, at)) {
                        return self.hangs(found, id, at);
                    }
                    demand!(
                        valid,
                        self.unmatched(found, id, any, at, seen, |nearest| BrokenRule::AnyOf(number, nearest))
                    );
                }
            }
            Applied::One(one) => {
                let mut matching = Vec::new();
                // The number of matches under each reading.
                let (mut strict, mut open) = (0, 0);
                for (index, schema) in self.possible(id, number, one, at) {
                    let both = self.alternative(one, at, |judge| judge.both(schema, at, seen.as_deref_mut()));
                    strict += usize::from(both.strict);
                    open += usize::from(both.open);
                    if F::ALL {
                        if both.strict {
                            matching.push(index);
                        }
                    } else if strict > 1 || (open > 1 && self.reading == Reading::Strict) {
                        return false;
                    }
                }
                match (strict, open) {
                    (1, 1) => {}
                    (_, 0) => {
                        let why = |nearest| BrokenRule::OneOfNone(number, nearest);
                        demand!(valid, self.unmatched(found, id, one, at, seen, why));
                    }
                    (0 | 1, _) if self.reading == Reading::Open => {}
                    (0 | 1, _) => {
                        demand!(valid, self.hangs(found, id, at));
                    }
                    _ => fail!(valid, found, at, id, BrokenRule::OneOfSeveral(number, matching)),
                }
            }
            Applied::Not(schema, _) => {
                let met = self.met;
                if self.is_valid_otherwise(*schema, at) {
                    if F::ALL && self.met != met && !self.is_valid(*schema, at) {
                        return self.hangs(found, id, at);
                    }
                    fail!(valid, found, at, id, BrokenRule::Not(number));
                }
            }
            Applied::If { condition, then, otherwise } => {
                let both = self.both(*condition, at, seen.as_deref_mut());
                if both.is_decided() {
                    if let Some(schema) = if both.strict { then } else { otherwise } {
                        demand!(valid, self.judge(found, *schema, at, seen));
                    }
                } else if !self.branches([*then, *otherwise], at, seen) {
                    demand!(valid, self.hangs(found, id, at));
                }
            }
        }
        valid
    }

    /// Returns the schemas that can apply to a value, each with its number. For conditions, returns those that can add
    /// a rule.
    #[inline(always)]
    fn possible(&self, id: SchemaId, number: usize, all: &'d [SchemaId], at: NodeId) -> Possible<'d> {
        let table = self.schemas.get(id).tables[number].as_deref();
        // In this mode, rules for one kind of value decide nothing about other kinds, so a list of strings cannot
        // exclude values of another kind.
        let numbers = table.filter(|_| !self.by_shape && self.document.kind(at) == Kind::Object);
        Possible { all, numbers: numbers.and_then(|table| table.possible(self.document, at)), next: 0 }
    }

    /// Returns whether a value is valid if it is undecided which of two schemas applies to it. A missing schema accepts
    /// everything. The strict reading marks only what both schemas evaluate.
    #[inline(never)]
    fn branches(&mut self, branches: [Option<SchemaId>; 2], at: NodeId, seen: Option<&mut Seen>) -> bool {
        if self.twice == 0 {
            return self.reading == Reading::Open;
        }
        self.twice -= 1;
        let Some(seen) = seen else {
            let reading = self.reading;
            let mut valid = branches.iter().flatten().map(|schema| self.is_valid(*schema, at));
            return match reading {
                Reading::Strict => valid.all(|valid| valid),
                Reading::Open => branches.contains(&None) || valid.any(|valid| valid),
            };
        };
        let mut judged = branches.map(|branch| {
            let mut own = Seen::of(self.document, at);
            let valid = branch.is_none_or(|schema| self.judge(&mut First, schema, at, Some(&mut own)));
            (valid, own)
        });
        let [(then, evaluated), (otherwise, others)] = &mut judged;
        match self.reading {
            Reading::Strict => {
                evaluated.0.iter_mut().zip(&others.0).for_each(|(seen, other)| *seen &= other);
                seen.add(evaluated);
                *then && *otherwise
            }
            Reading::Open => {
                judged.iter().filter(|(valid, _)| *valid).for_each(|(_, own)| seen.add(own));
                judged.iter().any(|(valid, _)| *valid)
            }
        }
    }

    /// Returns whether a value is valid under a schema that it may violate. Marks what the schema evaluates only if the
    /// value is valid.
    #[inline(always)]
    fn matches(&mut self, schema: SchemaId, at: NodeId, seen: Option<&mut Seen>) -> bool {
        match seen {
            None => self.is_valid(schema, at),
            Some(seen) => self.matches_seen(schema, at, seen),
        }
    }

    #[inline(never)]
    fn matches_seen(&mut self, schema: SchemaId, at: NodeId, seen: &mut Seen) -> bool {
        let mut own = Seen::of(self.document, at);
        let matches = self.judge(&mut First, schema, at, Some(&mut own));
        if matches {
            seen.add(&own);
        }
        matches
    }

    /// Records the failures of a value that matches no alternative: those of the intended alternative if it is known,
    /// or one failure for all alternatives otherwise.
    #[inline(never)]
    fn unmatched<F: Findings>(
        &mut self,
        found: &mut F,
        id: SchemaId,
        alternatives: &[SchemaId],
        at: NodeId,
        seen: Option<&mut Seen>,
        why: impl Fn(Option<Box<Nearest>>) -> BrokenRule,
    ) -> bool {
        if !F::BY_ALTERNATIVE {
            return false;
        }
        let (place, nearest) = match meant(self.schemas, self.document, alternatives, at, &mut self.steps) {
            Meant::One(number) => {
                let mark = found.mark();
                self.judge(found, alternatives[number], at, seen);
                if found.mark() > mark {
                    return false;
                }
                // The search reached its limit.
                (at, None)
            }
            Meant::Several(numbers) => (at, self.nearest(found, alternatives, &numbers, at)),
            Meant::None(place, takes) => (place, Some(Box::new(Nearest::Takes(takes)))),
        };
        found.add(Failure { at: place, schema: id, why: why(nearest) });
        false
    }

    /// Finds the nearest alternative. Prefers the one that declares the most names in the value, or similar names. Then
    /// prefers the one with the fewest failures, then the one whose first failure is furthest into the document.
    #[inline(never)]
    fn nearest<F: Findings>(
        &mut self,
        found: &mut F,
        alternatives: &[SchemaId],
        numbers: &[usize],
        at: NodeId,
    ) -> Option<Box<Nearest>> {
        let mut nearest = None;
        for &number in numbers {
            let mark = found.mark();
            self.judge(found, alternatives[number], at, None);
            let failures = found.since(mark);
            let Some(first) = failures.iter().min_by_key(|failure| failure.at) else {
                continue;
            };
            let depth = |failure: &Failure| {
                let mut steps = 0;
                self.document.walk(at, failure.at, |_| steps += 1);
                steps
            };
            let furthest: usize = failures.iter().map(depth).max().unwrap_or(0);
            let (count, first) = (failures.len(), first.clone());
            let likeness = likeness(self.schemas, self.document, alternatives[number], at, &mut self.steps);
            let key = (Reverse(likeness), count, Reverse(furthest));
            if nearest.as_ref().is_none_or(|(best, _)| key < *best) {
                let more = count - 1;
                nearest = Some((key, Box::new(Nearest::Alternative { number, first, more })));
            }
        }
        nearest.map(|(_, nearest)| nearest)
    }
}
