//! Where the values of a call come from: positive proof, by equality after a documented normalisation. A value that was
//! not found where a rule looks has no origin, wherever else it may stand.

use std::{cell::RefCell, collections::BTreeMap, ops::Range, rc::Rc};

use crate::{
    cases::Approval,
    decision::Reason,
    facts::Facts,
    observed::Observed,
    places::{Folder, Host},
    profile::Profile,
    proof::{Place, Proof, Span},
    reached::{Held, Why},
    tool::{Origin, OriginRule, Otherwise, ResultOrigin, Source, Tool},
    words::{Word, decimal, numbers, whole_number},
};
use seamgate_core::{
    Fault, FaultCode, Violation,
    kernel_api::{Document, Kind, Location, NodeId, canonical, quote, short},
};

/// The code of a reason about a value without a proven origin.
pub(crate) const CODE: &str = "origin";

/// The most values of a call whose origin is looked for. Further ones have none.
const MAX_VALUES: usize = 256;

/// The most values whose origins a decision lists: those without one first.
const MAX_LISTED: usize = 64;

/// A reason lists this many values.
const MAX_SHOWN: usize = 10;

/// How much of a text is shown before and after a value in it, in bytes.
const MAX_AROUND: usize = 24;

/// The member of a child's task that the model of its parent wrote.
const REASON: &str = "reason";

/// What the rules of a tool say about a call.
#[derive(Default)]
pub(crate) struct Proofs {
    /// Those of the first values, values without an origin first.
    pub(crate) listed: Vec<Proof>,
    /// Whether each value under the rules has an origin, and there is at least one.
    pub(crate) is_proven: bool,
    /// The rules with values without an origin, each with the reason.
    pub(crate) unproven: Vec<(usize, Reason)>,
}

/// Looks for the origin of each value that the rules of a tool hold.
///
/// # Errors
///
/// `bad_request`: the facts lack a list that a rule names.
pub(crate) fn prove(tool: &Tool, arguments: &Document, facts: &Facts) -> Result<Proofs, Fault> {
    if tool.origins.is_empty() {
        return Ok(Proofs::default());
    }
    let search = Search { tool, facts, sources: RefCell::default(), items: RefCell::default() };
    let held = Held::of(tool.origins.iter().map(|rule| &rule.path.selectors[..]), arguments);
    let mut listed = Vec::new();
    let mut unproven: BTreeMap<usize, Vec<Violation>> = BTreeMap::new();
    let mut count = 0;
    for (index, (rule, values)) in tool.origins.iter().zip(&held.values).enumerate() {
        for &at in values {
            count += 1;
            let found = if count > MAX_VALUES { None } else { search.find(rule, arguments, at)? };
            if found.is_none() {
                let (expected, message) = match count > MAX_VALUES {
                    true => (
                        format!("at most {MAX_VALUES} values"),
                        format!("must be one of the first {MAX_VALUES} values"),
                    ),
                    false => (sought(rule).join(" or "), format!("must come from {}", sought(rule).join(" or "))),
                };
                let wrong = Violation::of(arguments, at, CODE, &expected, &message);
                unproven.entry(index).or_default().push(wrong);
            }
            listed.push(proof(rule, arguments, at, found));
        }
    }
    for unheld in &held.unheld {
        let rule = &tool.origins[unheld.path];
        let (path, is) = (quote(&rule.path.text, 128), arguments.kind(unheld.at).name());
        let (expected, message) = match unheld.why {
            Why::Stopped(needed) => (
                needed.name(),
                format!("must be of the type {}, and is {is}: its origin is held at {path}", needed.name()),
            ),
            Why::Several => (
                "a single value",
                format!("must be a single value, and is of the type {is}: its origin is held at {path}"),
            ),
            Why::Beside => {
                ("no such item", format!("must not be there: of this list, origins are held only at {path}"))
            }
        };
        let wrong = Violation::of(arguments, unheld.at, CODE, expected, &message);
        unproven.entry(unheld.path).or_default().push(wrong);
        listed.push(proof(rule, arguments, unheld.at, None));
    }
    let is_proven = unproven.is_empty() && count > 0;
    listed.sort_by_key(|proof| proof.place.is_some());
    listed.truncate(MAX_LISTED);
    let reason = |(index, mut wrong): (usize, Vec<Violation>)| {
        wrong.truncate(MAX_SHOWN);
        (index, Reason::wrong(CODE, "a value has no proven origin", wrong))
    };
    Ok(Proofs { listed, is_proven, unproven: unproven.into_iter().map(reason).collect() })
}

/// Decides about the rules of a tool with values without an origin: who must approve the call, and why. `own` is the approval that
/// the call needs anyway.
///
/// # Errors
///
/// A rule denies it.
pub(crate) fn decide(
    profile: &Profile,
    tool: &Tool,
    own: Option<&Approval>,
    unproven: Vec<(usize, Reason)>,
) -> Result<Vec<(Approval, Reason)>, Reason> {
    let mut approvals = Vec::new();
    for (index, reason) in unproven {
        match &tool.origins[index].otherwise {
            None => {}
            Some(Otherwise::Deny) => return Err(reason),
            Some(Otherwise::Approval(named)) => {
                let name = quote(&tool.full_name(), 128);
                let message = format!("{name} needs approval, because {}", reason.message);
                approvals.push((
                    profile.flow_approval(own.or_else(|| tool.permit.approval()), named.as_ref()),
                    Reason { message, ..reason },
                ));
            }
        }
    }
    Ok(approvals)
}

fn proof(rule: &OriginRule, arguments: &Document, at: NodeId, found: Option<Found>) -> Proof {
    let pointer = pointer(arguments, Document::ROOT, at);
    match found {
        Some(Found { place, named }) => Proof { pointer, place: Some(place), named, sought: Vec::new() },
        None => Proof { pointer, place: None, named: None, sought: sought(rule) },
    }
}

fn pointer(document: &Document, from: NodeId, at: NodeId) -> String {
    document.location_within(from, Location::root(), at).pointer()
}

/// Returns where a rule looks for values.
fn sought(rule: &OriginRule) -> Vec<String> {
    rule.from.iter().map(Origin::text).collect()
}

impl Origin {
    fn text(&self) -> String {
        let some = |texts: Vec<String>| {
            let more = if texts.len() > 4 { ", …" } else { "" };
            let texts: Vec<String> = texts.iter().take(4).map(|text| quote(text, 64)).collect();
            format!("{}{more}", texts.join(", "))
        };
        match self {
            Origin::User => "user".to_owned(),
            Origin::From(Source::Task) => "task".to_owned(),
            Origin::From(Source::Context(name)) => format!("context.{name}"),
            Origin::List(name) => format!("list {name}"),
            Origin::Values(values) => format!("values {}", some(values.iter().take(5).cloned().collect())),
            Origin::Below(folders) => format!("below {}", some(folders.iter().map(Folder::text).collect())),
            Origin::Hosts(hosts) => format!("hosts {}", some(hosts.iter().map(Host::text).collect())),
            Origin::Result(ResultOrigin { tool, at, named }) => {
                let named = named.as_ref().map(|named| format!(" named by {}", short(&named.text, 128)));
                format!("{tool} at {}{}", short(&at.text, 128), named.unwrap_or_default())
            }
        }
    }
}

/// A value of the arguments, as it is looked for.
enum Sought<'d> {
    Text {
        raw: &'d str,
        word: Word<'d>,
    },
    /// As equal numbers are written.
    Number(String),
    Truth(&'static str),
}

impl<'d> Sought<'d> {
    /// Reads a single value. `None`: it is nothing that could come from somewhere.
    fn of(document: &'d Document, at: NodeId) -> Option<Self> {
        match document.kind(at) {
            Kind::String => {
                let raw = document.string(at);
                Word::of(raw).map(|word| Sought::Text { raw, word })
            }
            Kind::Number => Some(Sought::Number(canonical(document, at))),
            Kind::True => Some(Sought::Truth("true")),
            Kind::False => Some(Sought::Truth("false")),
            Kind::Null | Kind::Array | Kind::Object => None,
        }
    }

    /// Returns whether it is a whole text.
    fn is_text(&self, text: &str) -> bool {
        match self {
            Sought::Text { word, .. } => word.is_whole(text),
            Sought::Number(number) => whole_number(text).as_ref() == Some(number),
            Sought::Truth(truth) => Word::of(truth).is_some_and(|word| word.is_whole(text)),
        }
    }

    /// Returns whether it is a number that JSON writes so.
    fn is_number(&self, source: &str) -> bool {
        match self {
            Sought::Text { word, .. } => word.is_whole(source),
            Sought::Number(number) => decimal(source).as_ref() == Some(number),
            Sought::Truth(_) => false,
        }
    }
}

/// Where a value was found.
#[derive(Clone)]
struct Found {
    place: Place,
    named: Option<Place>,
}

/// A text, a number or a truth value of a source, with its place in it.
struct Piece<'f> {
    content: Content<'f>,
    /// A node of the facts. Of what people said, 0.
    at: NodeId,
}

enum Content<'f> {
    Text(&'f str),
    Number(&'f str),
    Truth(&'static str),
}

/// Numbers, as equal ones are written, each at its first place: the index of a piece, and a part of it.
type Numbers = BTreeMap<String, (usize, Range<usize>)>;

/// All that a source has.
struct Pieces<'f> {
    pieces: Vec<Piece<'f>>,
    /// The numbers in its texts.
    numbers: RefCell<Option<Numbers>>,
}

impl Pieces<'_> {
    /// Returns where a value first occurs: the index of a piece, and the part of its text.
    fn find(&self, value: &Sought) -> Option<(usize, Option<Range<usize>>)> {
        let within = |(index, piece): (usize, &Piece)| match (&piece.content, value) {
            (Content::Text(text), Sought::Text { word, .. }) => Some((index, Some(word.find(text)?))),
            (Content::Text(text), Sought::Truth(truth)) => Some((index, Some(Word::of(truth)?.find(text)?))),
            (Content::Number(source), value) => value.is_number(source).then_some((index, None)),
            (Content::Truth(one), Sought::Truth(other)) => (one == other).then_some((index, None)),
            _ => None,
        };
        let found = self.pieces.iter().enumerate().find_map(within);
        match value {
            Sought::Number(number) => found.or_else(|| self.number(number)),
            _ => found,
        }
    }

    fn number(&self, number: &str) -> Option<(usize, Option<Range<usize>>)> {
        let mut known = self.numbers.borrow_mut();
        let known = known.get_or_insert_with(|| {
            let mut known = BTreeMap::new();
            for (index, piece) in self.pieces.iter().enumerate() {
                if let Content::Text(text) = piece.content {
                    for (number, place) in numbers(text) {
                        known.entry(number).or_insert((index, place));
                    }
                }
            }
            known
        });
        known.get(number).map(|(index, place)| (*index, Some(place.clone())))
    }
}

/// An item of a result: the place of the result in the facts, the path of its name, and its pointer.
type Item<'f> = (usize, &'f str, &'f str);

/// Looks for values of one call. What it has read of the facts serves all of them.
struct Search<'f> {
    tool: &'f Tool,
    facts: &'f Facts<'f>,
    sources: RefCell<BTreeMap<String, Rc<Pieces<'f>>>>,
    /// What is known of the names of items.
    items: RefCell<BTreeMap<Item<'f>, Option<Place>>>,
}

impl<'f> Search<'f> {
    fn find(&self, rule: &'f OriginRule, arguments: &Document, at: NodeId) -> Result<Option<Found>, Fault> {
        for origin in &rule.from {
            // A missing list is a fault, whatever the value is.
            let found = match origin {
                Origin::List(name) => self.in_list(name, arguments, at)?,
                origin => Sought::of(arguments, at).and_then(|value| self.in_origin(origin, &value)),
            };
            if let Some(mut found) = found {
                found.place.origin = origin.text();
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn in_origin(&self, origin: &'f Origin, value: &Sought) -> Option<Found> {
        let found = |place| Found { place, named: None };
        let place = |holds: bool| holds.then(|| found(Place::default()));
        let raw = |holds: &dyn Fn(&str) -> bool| matches!(value, Sought::Text { raw, .. } if holds(raw));
        match origin {
            Origin::User => self.said(value).map(found),
            Origin::From(Source::Task) => self.in_task(value).map(found),
            Origin::From(Source::Context(name)) => {
                self.in_document(&origin.text(), self.facts.context(name)?, None, value).map(found)
            }
            Origin::List(_) => None,
            Origin::Values(values) => place(values.iter().any(|known| value.is_text(known))),
            Origin::Below(folders) => place(raw(&|text| folders.iter().any(|folder| folder.holds(text)))),
            Origin::Hosts(hosts) => place(raw(&|text| hosts.iter().any(|host| host.holds(text)))),
            Origin::Result(origin) => self.in_results(origin, value),
        }
    }

    fn in_list(&self, name: &str, arguments: &Document, at: NodeId) -> Result<Option<Found>, Fault> {
        let list = self.facts.list(name).ok_or_else(|| {
            let (list, tool) = (quote(name, 64), quote(&self.tool.full_name(), 128));
            let message = format!("facts: $.lists must have the list {list}, which an origin of {tool} names");
            Fault::new(FaultCode::BadRequest, message)
        })?;
        let Some(value) = Sought::of(arguments, at) else { return Ok(None) };
        let index = list.into_iter().position(|known| value.is_text(known));
        let place = |index| Place { at: Some(format!("/{index}")), ..Place::default() };
        Ok(index.map(|index| Found { place: place(index), named: None }))
    }

    /// What people said.
    fn said(&self, value: &Sought) -> Option<Place> {
        let said = &self.facts.said;
        let piece = |text: &'f String| Piece { content: Content::Text(text), at: Document::ROOT };
        let pieces = self.source("user", || said.iter().map(piece).collect());
        let (index, span) = pieces.find(value)?;
        Some(Place {
            origin: "user".to_owned(),
            message: Some((self.facts.said_before + index + 1) as u64),
            around: span.as_ref().map(|span| around(&said[index], span)).unwrap_or_default(),
            span: span.map(Span::of),
            ..Place::default()
        })
    }

    fn in_task(&self, value: &Sought) -> Option<Place> {
        let at = self.facts.task()?;
        // The task of a child has a text that the model of its parent wrote.
        let is_child = self.facts.above.as_ref().is_some_and(|above| above.has_parent());
        self.in_document("task", at, self.facts.document.member(at, REASON).filter(|_| is_child), value)
    }

    fn in_document(&self, origin: &str, root: NodeId, without: Option<NodeId>, value: &Sought) -> Option<Place> {
        let pieces = self.source(origin, || {
            let mut pieces = Vec::new();
            self.add_pieces(root, without, &mut pieces);
            pieces
        });
        let (index, span) = pieces.find(value)?;
        let piece = &pieces.pieces[index];
        let text = if let Content::Text(text) = piece.content { text } else { "" };
        Some(Place {
            origin: origin.to_owned(),
            at: Some(pointer(&self.facts.document, root, piece.at)),
            around: span.as_ref().map(|span| around(text, span)).unwrap_or_default(),
            span: span.map(Span::of),
            ..Place::default()
        })
    }

    fn source(&self, name: &str, read: impl FnOnce() -> Vec<Piece<'f>>) -> Rc<Pieces<'f>> {
        if let Some(known) = self.sources.borrow().get(name) {
            return known.clone();
        }
        let pieces = Rc::new(Pieces { pieces: read(), numbers: RefCell::default() });
        self.sources.borrow_mut().insert(name.to_owned(), pieces.clone());
        pieces
    }

    /// Adds the single values in a value of the facts, but for those inside of one of its members.
    fn add_pieces(&self, at: NodeId, without: Option<NodeId>, pieces: &mut Vec<Piece<'f>>) {
        let document: &'f Document = &self.facts.document;
        let content = match document.kind(at) {
            Kind::String => Content::Text(document.string(at)),
            Kind::Number => Content::Number(document.source(at)),
            Kind::True => Content::Truth("true"),
            Kind::False => Content::Truth("false"),
            Kind::Null => return,
            Kind::Array => return document.items(at).for_each(|item| self.add_pieces(item, without, pieces)),
            Kind::Object => {
                let members = document.members(at).map(|(_, value)| value).filter(|value| Some(*value) != without);
                return members.for_each(|value| self.add_pieces(value, without, pieces));
            }
        };
        pieces.push(Piece { content, at });
    }

    fn in_results(&self, origin: &'f ResultOrigin, value: &Sought) -> Option<Found> {
        let results = self.facts.observed.iter().enumerate().rev().filter(|(_, result)| origin.is_of(&result.tool));
        for (index, result) in results {
            for known in result.values.get(&origin.at.text).into_iter().flatten() {
                let holds = match (&known.text, &known.number) {
                    (Some(text), _) => value.is_text(text),
                    (None, Some(number)) => value.is_number(number),
                    (None, None) => false,
                };
                if !holds {
                    continue;
                }
                let place =
                    || Place { call: Some(result.call.clone()), at: Some(known.at.clone()), ..Place::default() };
                match &origin.named {
                    None => return Some(Found { place: place(), named: None }),
                    Some(named) => {
                        let item = item_of(&known.at, origin.steps_to_item());
                        if let Some(named) = self.name_of((index, &named.text, item), result, origin) {
                            return Some(Found { place: place(), named: Some(named) });
                        }
                    }
                }
            }
        }
        None
    }

    /// Returns where the user or the task names an item of a result.
    fn name_of(&self, item: Item<'f>, result: &'f Observed, origin: &ResultOrigin) -> Option<Place> {
        if let Some(known) = self.items.borrow().get(&item) {
            return known.clone();
        }
        let (_, path, pointer) = item;
        let steps = origin.steps_to_item();
        let names = result.values.get(path).into_iter().flatten().filter(|name| item_of(&name.at, steps) == pointer);
        let found = names.filter_map(|name| name.text.as_deref()).find_map(|name| {
            let value = Sought::Text { raw: name, word: Word::of(name)? };
            self.said(&value).or_else(|| self.in_task(&value))
        });
        self.items.borrow_mut().insert(item, found.clone());
        found
    }
}

/// The first steps of a JSON Pointer.
fn item_of(pointer: &str, steps: usize) -> &str {
    let end = pointer.match_indices('/').nth(steps).map_or(pointer.len(), |(at, _)| at);
    &pointer[..end]
}

/// A part of a text with what stands around it.
fn around(text: &str, span: &Range<usize>) -> String {
    let start = text.ceil_char_boundary(span.start.saturating_sub(MAX_AROUND));
    let end = text.floor_char_boundary((span.end + MAX_AROUND).min(text.len()));
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{}{after}", &text[start..end])
}
