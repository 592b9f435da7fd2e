//! Proves the origins of a call's values. A proof is positive: it requires equality after a documented normalization. A
//! value that is not found in the places that a rule names has no origin, even if it occurs elsewhere.

use std::{cell::RefCell, collections::BTreeMap, ops::Range, rc::Rc};

use crate::{
    cases::Approval,
    decision::Reason,
    facts::Facts,
    known::{Known, Sought},
    observed::Value,
    places::{Folder, Host},
    profile::Profile,
    proof::{Place, Proof, Span},
    reached::{Held, Why},
    secret::References,
    tool::{Origin, OriginRule, Otherwise, ResultOrigin, Source, Tool},
    words::{Word, decimal, numbers},
};
use seamgate_core::{
    Fault, FaultCode, Violation,
    kernel_api::{Document, Kind, Location, NodeId, Path, quote, short},
};

/// The code of a reason about a value without a proven origin.
pub(crate) const CODE: &str = "origin";

/// The maximum number of values of a call that are searched for. Further values have no origin.
const MAX_VALUES: usize = 256;

/// The maximum number of values whose origins a decision lists. Values without an origin come first.
const MAX_LISTED: usize = 64;

/// The maximum number of values that a reason lists.
const MAX_SHOWN: usize = 10;

/// The maximum length of the text that is shown before and after a value in it, in bytes.
const MAX_AROUND: usize = 24;

/// The member of a child's task that the parent's model wrote.
const REASON: &str = "reason";

/// The result of a tool's origin rules for one call.
#[derive(Default)]
pub(crate) struct Proofs {
    /// The proofs of the first values. Values without an origin come first.
    pub(crate) listed: Vec<Proof>,
    /// `true` if the rules cover at least one value and every covered value has an origin.
    pub(crate) is_proven: bool,
    /// The rules for which a value lacks an origin, each with the reason.
    pub(crate) unproven: Vec<(usize, Reason)>,
}

/// Looks for the origin of each value that the rules of a tool cover.
///
/// # Errors
///
/// Returns `bad_request` if the facts lack a list that a rule names.
pub(crate) fn prove(
    tool: &Tool,
    arguments: &Document,
    references: &References,
    facts: &Facts,
) -> Result<Proofs, Fault> {
    if tool.origins.is_empty() {
        return Ok(Proofs::default());
    }
    let search = Search {
        tool,
        facts,
        sources: Memo::default(),
        lists: Memo::default(),
        results: Memo::default(),
        named: Memo::default(),
    };
    let held = Held::of(tool.origins.iter().map(|rule| &rule.path.selectors[..]), arguments);
    let mut outcome = Outcome { arguments, values: Vec::new(), unproven: BTreeMap::new() };
    let mut count = 0;
    for (index, (rule, values)) in tool.origins.iter().zip(&held.values).enumerate() {
        for &at in values {
            count += 1;
            if count > MAX_VALUES {
                outcome.unproven(index, rule, at, || {
                    let limit = format!("one of the first {MAX_VALUES} values");
                    (format!("at most {MAX_VALUES} values"), format!("must be {limit}"))
                });
            } else if let Some(name) = references.name(at) {
                // The rule that allows the argument to contain the secret is in the same profile.
                let place = Place { origin: format!("secret {name}"), ..Place::default() };
                outcome.values.push((rule, at, Some(Found { place, named: None })));
            } else if let Some(found) = search.find(rule, arguments, at)? {
                outcome.values.push((rule, at, Some(found)));
            } else {
                outcome.unproven(index, rule, at, || {
                    let sought = sought(rule).join(" or ");
                    (sought.clone(), format!("must come from {sought}"))
                });
            }
        }
    }
    for unheld in &held.unheld {
        let rule = &tool.origins[unheld.path];
        outcome.unproven(unheld.path, rule, unheld.at, || {
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
            (expected.to_owned(), message)
        });
    }
    let is_proven = outcome.unproven.is_empty() && count > 0;
    let Outcome { mut values, unproven, .. } = outcome;
    values.sort_by_key(|(_, _, found)| found.is_some());
    let listed =
        values.into_iter().take(MAX_LISTED).map(|(rule, at, found)| proof(rule, arguments, at, found)).collect();
    let reason = |(index, wrong)| (index, Reason::wrong(CODE, "a value has no proven origin", wrong));
    Ok(Proofs { listed, is_proven, unproven: unproven.into_iter().map(reason).collect() })
}

/// The result so far. Describing the place of a value requires a walk through its list, so only the values that a
/// decision lists are described.
struct Outcome<'o> {
    arguments: &'o Document<'o>,
    /// The values, each with its origin if it has one.
    values: Vec<(&'o OriginRule, NodeId, Option<Found>)>,
    unproven: BTreeMap<usize, Vec<Violation>>,
}

impl<'o> Outcome<'o> {
    /// Adds a value without an origin. `say` returns the expectation and the message.
    fn unproven(&mut self, index: usize, rule: &'o OriginRule, at: NodeId, say: impl FnOnce() -> (String, String)) {
        let wrong = self.unproven.entry(index).or_default();
        if wrong.len() < MAX_SHOWN {
            let (expected, message) = say();
            wrong.push(Violation::of(self.arguments, at, CODE, &expected, &message));
        }
        if self.values.len() < MAX_VALUES + MAX_LISTED {
            self.values.push((rule, at, None));
        }
    }
}

/// Decides about a tool's rules whose values have no origin. Returns who must approve the call, and why. `own` is the
/// approval that the call needs anyway.
///
/// # Errors
///
/// Returns the reason if a rule denies the call.
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

/// Returns the places in which a rule looks for values.
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
            Origin::Values(values) => format!("values {}", some(values.texts.iter().take(5).cloned().collect())),
            Origin::Below(folders) => format!("below {}", some(folders.iter().map(Folder::text).collect())),
            Origin::Hosts(hosts) => format!("hosts {}", some(hosts.iter().map(Host::text).collect())),
            Origin::Result(ResultOrigin { tool, at, named }) => {
                let named = named.as_ref().map(|named| format!(" named by {}", short(&named.text, 128)));
                format!("{tool} at {}{}", short(&at.text, 128), named.unwrap_or_default())
            }
        }
    }
}

/// The place where a value was found.
#[derive(Clone)]
struct Found {
    place: Place,
    named: Option<Place>,
}

/// A text, a number or a boolean of a source, with its place.
struct Piece<'f> {
    content: Content<'f>,
    /// A node of the facts. 0 for texts that people said.
    at: NodeId,
}

enum Content<'f> {
    Text(&'f str),
    Number(&'f str),
    Truth(&'static str),
}

/// The numbers in texts, by the form that equal numbers share. Each has its first place: the index of a piece, and a
/// part of it.
type Numbers = BTreeMap<String, (usize, Range<usize>)>;

/// The values of a source.
struct Pieces<'f> {
    pieces: Vec<Piece<'f>>,
    /// The values of the source that are numbers, and their places among the pieces.
    known: Known,
    known_at: Vec<usize>,
    /// The numbers in the texts of the source.
    numbers: RefCell<Option<Numbers>>,
}

impl<'f> Pieces<'f> {
    fn new(pieces: Vec<Piece<'f>>) -> Self {
        let (mut known, mut known_at) = (Known::default(), Vec::new());
        for (index, piece) in pieces.iter().enumerate() {
            if let Content::Number(source) = piece.content {
                known.number(source);
                known_at.push(index);
            }
        }
        Pieces { pieces, known, known_at, numbers: RefCell::default() }
    }

    /// Returns the first occurrence of a value: the index of a piece, and the part of its text.
    fn find(&self, value: &Sought) -> Option<(usize, Option<Range<usize>>)> {
        let within = |(index, piece): (usize, &Piece)| match (&piece.content, value) {
            (Content::Text(text), Sought::Text { word, .. }) if !word.is_common() => {
                Some((index, Some(word.find(text)?)))
            }
            (Content::Truth(one), Sought::Truth(other)) => (one == other).then_some((index, None)),
            _ => None,
        };
        let known = self.known.find(value).first().map(|&place| (self.known_at[place], None));
        known.or_else(|| match value {
            Sought::Number(number) => self.number(number),
            _ => self.pieces.iter().enumerate().find_map(within),
        })
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

/// The values of one tool's results at one path, beginning with the newest result.
#[derive(Default)]
struct Results<'f> {
    /// The values, each with the number of its result in the facts.
    values: Vec<(usize, &'f Value)>,
    known: Known,
}

/// The items of one tool's results, by name.
#[derive(Default)]
struct Named<'f> {
    /// The names of each item, by the number of its result and its pointer.
    names: BTreeMap<(usize, &'f str), Vec<&'f str>>,
    /// The value that all items with a name share. `None` if they differ, so that the name identifies none of them.
    values: BTreeMap<String, Option<String>>,
    /// Places of names of items that were already looked up.
    places: Memo<&'f str, Option<Place>>,
}

/// A cache of values that were read from the facts, by key.
struct Memo<K, V>(RefCell<BTreeMap<K, Rc<V>>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo(RefCell::default())
    }
}

impl<K: Ord, V> Memo<K, V> {
    /// Returns a value. Each value is read once.
    fn get(&self, key: K, read: impl FnOnce() -> V) -> Rc<V> {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let value = Rc::new(read());
        self.0.borrow_mut().insert(key, value.clone());
        value
    }
}

/// The search for the values of one call. All values share the data that it reads from the facts.
struct Search<'f> {
    tool: &'f Tool,
    facts: &'f Facts<'f>,
    /// The values of sources, by the text of the origin.
    sources: Memo<String, Pieces<'f>>,
    /// The values of lists, by the name of the list in the facts.
    lists: Memo<&'f str, Option<Known>>,
    /// The values of results, by the tool and the path.
    results: Memo<(&'f str, &'f str), Results<'f>>,
    /// The items of results, by the tool, the path of values and the path of names.
    named: Memo<(&'f str, &'f str, &'f str), Named<'f>>,
}

impl<'f> Search<'f> {
    fn find(&self, rule: &'f OriginRule, arguments: &Document, at: NodeId) -> Result<Option<Found>, Fault> {
        let value = Sought::of(arguments, at);
        for origin in &rule.from {
            // A missing list is a fault, whatever the value is.
            let found = match origin {
                Origin::List(name) => self.in_list(name, value.as_ref())?,
                origin => value.as_ref().and_then(|value| self.in_origin(origin, value)),
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
            Origin::Values(values) => place(!values.known.find(value).is_empty()),
            Origin::Below(folders) => place(raw(&|text| folders.iter().any(|folder| folder.holds(text)))),
            Origin::Hosts(hosts) => place(raw(&|text| hosts.iter().any(|host| host.holds(text)))),
            Origin::Result(origin) => self.in_results(origin, value),
        }
    }

    fn in_list(&self, name: &'f str, value: Option<&Sought>) -> Result<Option<Found>, Fault> {
        let known = self.lists.get(name, || self.facts.list(name).map(Known::of));
        let known = known.as_ref().as_ref().ok_or_else(|| {
            let (list, tool) = (quote(name, 64), quote(&self.tool.full_name(), 128));
            let message = format!("facts: $.lists must have the list {list}, which an origin of {tool} names");
            Fault::new(FaultCode::BadRequest, message)
        })?;
        let index = value.and_then(|value| known.find(value).first().copied());
        let place = |index| Place { at: Some(format!("/{index}")), ..Place::default() };
        Ok(index.map(|index| Found { place: place(index), named: None }))
    }

    /// Finds a value in the texts that people said.
    fn said(&self, value: &Sought) -> Option<Place> {
        let said = &self.facts.said;
        let piece = |text: &'f String| Piece { content: Content::Text(text), at: Document::ROOT };
        let pieces = self.sources.get("user".to_owned(), || Pieces::new(said.iter().map(piece).collect()));
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
        // The task of a child contains a text that the parent's model wrote. A copy of such a task in another task also
        // contains it.
        self.in_document("task", at, self.facts.is_child.then_some(REASON), value)
    }

    fn in_document(&self, origin: &str, root: NodeId, without: Option<&str>, value: &Sought) -> Option<Place> {
        let pieces = self.sources.get(origin.to_owned(), || {
            let mut pieces = Vec::new();
            self.add_pieces(root, without, &mut pieces);
            Pieces::new(pieces)
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

    /// Adds the scalars inside a value of the facts, except those in members named `without`.
    fn add_pieces(&self, at: NodeId, without: Option<&str>, pieces: &mut Vec<Piece<'f>>) {
        let document: &'f Document = &self.facts.document;
        let content = match document.kind(at) {
            Kind::String => Content::Text(document.string(at)),
            Kind::Number => Content::Number(document.source(at)),
            Kind::True => Content::Truth("true"),
            Kind::False => Content::Truth("false"),
            Kind::Null => return,
            Kind::Array => return document.items(at).for_each(|item| self.add_pieces(item, without, pieces)),
            Kind::Object => {
                let members = document.members(at).filter(|(name, _)| Some(document.string(*name)) != without);
                return members.for_each(|(_, value)| self.add_pieces(value, without, pieces));
            }
        };
        pieces.push(Piece { content, at });
    }

    fn in_results(&self, origin: &'f ResultOrigin, value: &Sought) -> Option<Found> {
        if matches!(value, Sought::Truth(_)) {
            return None;
        }
        let results = self.results_of(origin);
        results.known.find(value).iter().find_map(|&place| {
            let (index, known) = results.values[place];
            let named = match &origin.named {
                Some(named) => Some(self.name_of(index, &known.at, origin, named)?),
                None => None,
            };
            let call = Some(self.facts.observed[index].call.clone());
            Some(Found { place: Place { call, at: Some(known.at.clone()), ..Place::default() }, named })
        })
    }

    fn results_of(&self, origin: &'f ResultOrigin) -> Rc<Results<'f>> {
        let (tool, path) = (origin.tool.as_str(), origin.at.text.as_str());
        self.results.get((tool, path), || {
            let mut results = Results::default();
            for (index, one) in self.facts.observed.iter().enumerate().rev().filter(|(_, one)| origin.is_of(&one.tool))
            {
                for value in one.values.get(path).into_iter().flatten() {
                    match (&value.text, &value.number) {
                        (Some(text), _) => results.known.text(text),
                        (None, Some(number)) => results.known.number(number),
                        (None, None) => continue,
                    }
                    results.values.push((index, value));
                }
            }
            results
        })
    }

    /// Returns the place where the user or the task names an item of a result. The name must identify no other value.
    fn name_of(&self, index: usize, at: &'f str, origin: &'f ResultOrigin, named: &'f Path) -> Option<Place> {
        let all = self.names_of(origin, named);
        let item = item_of(at, origin.steps_to_item());
        let names = all.names.get(&(index, item))?;
        names.iter().find_map(|&name| {
            let word = Word::of(name)?;
            all.values.get(&word.key())?.as_ref()?;
            let place = all.places.get(name, || {
                let value = Sought::Text { raw: name, word };
                self.said(&value).or_else(|| self.in_task(&value))
            });
            place.as_ref().clone()
        })
    }

    fn names_of(&self, origin: &'f ResultOrigin, named: &'f Path) -> Rc<Named<'f>> {
        let key = (origin.tool.as_str(), origin.at.text.as_str(), named.text.as_str());
        self.named.get(key, || {
            let (mut all, steps) = (Named::default(), origin.steps_to_item());
            let results = self.facts.observed.iter().enumerate().filter(|(_, one)| origin.is_of(&one.tool));
            for (index, result) in results {
                for name in result.values.get(key.2).into_iter().flatten() {
                    let names = all.names.entry((index, item_of(&name.at, steps))).or_default();
                    names.extend(name.text.as_deref());
                }
            }
            for &(index, value) in &self.results_of(origin).values {
                let names = all.names.get(&(index, item_of(&value.at, steps))).into_iter().flatten();
                let form = match (&value.text, &value.number) {
                    (Some(text), _) => Word::of(text).map_or_else(|| text.clone(), |word| word.key()),
                    (None, number) => number.as_deref().and_then(decimal).unwrap_or_default(),
                };
                for word in names.filter_map(|name| Word::of(name)) {
                    let known = all.values.entry(word.key()).or_insert_with(|| Some(form.clone()));
                    known.take_if(|known| *known != form);
                }
            }
            all
        })
    }
}

/// Returns the first steps of a JSON Pointer.
fn item_of(pointer: &str, steps: usize) -> &str {
    let end = pointer.match_indices('/').nth(steps).map_or(pointer.len(), |(at, _)| at);
    &pointer[..end]
}

/// Returns a part of a text with a few characters on both sides.
fn around(text: &str, span: &Range<usize>) -> String {
    let start = text.ceil_char_boundary(span.start.saturating_sub(MAX_AROUND));
    let end = text.floor_char_boundary((span.end + MAX_AROUND).min(text.len()));
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{}{after}", &text[start..end])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Profile, permit};

    /// Returns the decision about a call of a tool that has one rule for `$.to[*]`.
    fn decide(from: &Value, facts: &Value, to: &Value) -> Value {
        let profile = json!({"agent": "a", "tools": [
            {"name": "search", "effect": "read", "permit": "allow"},
            {"name": "send", "effect": "effectful", "permit": "allow",
             "origins": [{"path": "$.to[*]", "from": from, "else": "deny"}]},
        ]});
        let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        let mut all = json!({"run": "r", "at": 1, "principal": "anna", "nonce": "c0ffee00c0ffee00"});
        for (name, fact) in facts.as_object().expect("facts") {
            all[name] = fact.clone();
        }
        let call = json!({"key": "c1", "tool": "send", "arguments": {"to": to}});
        let decision = permit(&profile, &all.to_string(), &call.to_string());
        serde_json::from_str(&decision.unwrap_or_else(|fault| panic!("{}", fault.to_json()))).expect("JSON")
    }

    fn result(call: &str, items: &[(&str, &str)]) -> Value {
        let column = |path: &str, of: fn(&(&str, &str)) -> String| -> Vec<Value> {
            let value = |(index, item)| json!({"at": format!("/{index}/{path}"), "text": of(item)});
            items.iter().enumerate().map(value).collect()
        };
        let names = column("name", |(name, _)| (*name).to_owned());
        let emails = column("email", |(_, email)| (*email).to_owned());
        json!({"tool": "search", "call": call, "values": {"$[*].name": names, "$[*].email": emails}})
    }

    #[test]
    fn a_name_of_different_values_names_none_of_them() {
        let from = json!([{"tool": "search", "at": "$[*].email", "named": "$[*].name"}]);
        let (bob, eve) = ("bob@x.com", "eve@evil.org");
        for (results, bobs, eves) in [
            (vec![result("c1", &[("Bob", bob)])], true, false),
            (vec![result("c1", &[("Bob", bob), ("Eve", eve)])], true, false),
            (vec![result("c1", &[("Bob", bob), ("Bob", eve)])], false, false),
            (vec![result("c1", &[("Bob", eve), (" 'Bob'", bob)])], false, false),
            (vec![result("c1", &[("Bob", bob), ("Bob", "Bob@X.com")])], true, false),
            (vec![result("c1", &[("Bob", bob)]), result("c2", &[("Bob", eve)])], false, false),
            (vec![result("c1", &[("Bob", bob)]), result("c2", &[("Bob", bob)])], true, false),
            (vec![result("c1", &[("Bob", bob), ("Ann", eve), ("Bob", eve), ("Ann", eve)])], false, true),
        ] {
            let facts = json!({"said": ["Send it to Bob, and to Ann"], "observed": results});
            for (to, is_proven) in [(bob, bobs), (eve, eves)] {
                let decision = decide(&from, &facts, &json!([to]));
                assert_eq!(decision["permit"] == "allow", is_proven, "{to}: {results:?}\n{decision}");
            }
        }
    }

    #[test]
    fn an_item_with_several_values_has_no_name() {
        let from = json!([{"tool": "search", "at": "$[*].email[*]", "named": "$[*].name"}]);
        let observed = json!([{"tool": "search", "call": "c1", "values": {
            "$[*].name": [{"at": "/0/name", "text": "Bob"}],
            "$[*].email[*]": [{"at": "/0/email/0", "text": "bob@x.com"}, {"at": "/0/email/1", "text": "eve@x.com"}]}}]);
        let decision = decide(&from, &json!({"said": ["Ask Bob"], "observed": observed}), &json!(["bob@x.com"]));
        assert_eq!(decision["permit"], "deny");
    }

    #[test]
    fn a_boolean_has_no_origin_in_a_text() {
        let from = json!(["user", "task", {"list": "l"}]);
        for (facts, to, is_proven) in [
            (json!({"said": ["Is it true?"], "lists": {"l": []}}), json!(true), false),
            (json!({"said": ["Is it true?"], "lists": {"l": []}}), json!("true"), false),
            (json!({"task": "Is it False?", "lists": {"l": []}}), json!("False"), false),
            (json!({"task": {"public": "true"}, "lists": {"l": []}}), json!(true), false),
            (json!({"task": {"public": true}, "lists": {"l": []}}), json!(true), true),
            (json!({"task": {"public": true}, "lists": {"l": []}}), json!(false), false),
            (json!({"lists": {"l": ["true"]}}), json!(true), true),
        ] {
            let decision = decide(&from, &facts, &json!([to]));
            assert_eq!(decision["permit"] == "allow", is_proven, "{to}: {facts}");
        }
    }

    #[test]
    fn values_equal_whole_ones_in_lists_and_results() {
        let observed = json!([{"tool": "search", "call": "c1", "values": {"$": [{"at": "", "number": "50.0"}]}}]);
        let facts = json!({"lists": {"l": ["Bob@X.com", "1,000,000", "007"]}, "observed": observed});
        let from = json!([{"list": "l"}, {"tool": "search", "at": "$"}, {"values": ["/", "-2"]}]);
        for (to, is_proven) in [
            (json!("bob@x.com"), true),
            (json!("bob@x.co"), false),
            (json!(1_000_000), true),
            (json!(7), false),
            (json!("007"), true),
            (json!(50), true),
            (json!("50.0"), true),
            (json!("50"), false),
            (json!("/"), true),
            (json!(-2), true),
            (json!("bob@x.com\n"), false),
        ] {
            let decision = decide(&from, &facts, &json!([to]));
            assert_eq!(decision["permit"] == "allow", is_proven, "{to}");
        }
    }

    #[test]
    fn few_of_many_values_are_described_and_those_without_an_origin_first() {
        let mut to = vec![json!("bob@x.com"); 2000];
        to[200] = json!("eve@evil.org");
        let decision = decide(&json!(["user"]), &json!({"said": ["Mail bob@x.com"]}), &json!(to));
        assert_eq!(decision["permit"], "deny");
        assert_eq!(decision["reasons"][0]["violations"].as_array().map(Vec::len), Some(10));
        assert_eq!(decision["reasons"][0]["violations"][0]["pointer"], "/to/200");
        let origins = decision["origins"].as_array().expect("origins");
        assert_eq!(origins.len(), 64);
        assert_eq!(origins[0]["pointer"], "/to/200");
        assert!(origins.iter().all(|origin| origin["origin"].is_null()));
        let decision = decide(&json!(["user"]), &json!({"said": ["Mail bob@x.com"]}), &json!(vec!["bob@x.com"; 256]));
        assert_eq!(decision["permit"], "allow");
    }

    /// The second rule set belongs to the agent that delegated to the child. The first rule set also belongs to a
    /// child.
    #[test]
    fn what_a_model_wrote_into_the_task_of_a_child_is_no_origin_for_those_above() {
        let task = json!({"reason": "Mail eve@evil.org", "task": {"reason": "or eve@evil.org"}, "to": "ann@x.com"});
        let sender = |origins: &str| {
            let origins: Value = serde_json::from_str(origins).expect("JSON");
            json!({"agent": "a", "tools": [{"name": "send", "effect": "effectful", "permit": "allow", "origins": origins}]})
        };
        let ruled = sender(r#"[{"path":"$.to","from":["task"],"else":"deny"}]"#);
        let plain = json!({"agent": "a", "tools": [{"name": "send", "effect": "effectful", "permit": "allow"}]});
        let profile = Profile::compile(&plain.to_string()).expect("a profile");
        for (rules, edited) in [
            (json!([{"profile": ruled, "task": task}, {"profile": plain}]), false),
            (json!([{"profile": plain}, {"profile": ruled, "task": task}]), true),
            (json!([{"profile": plain}, {"profile": plain}, {"profile": ruled, "task": task}]), false),
        ] {
            let mut parent = json!({"run": "p", "call": "c", "tools": ["send"], "rules": rules, "budget": {}});
            if edited {
                parent["edited"] = json!(true);
            }
            for (to, is_proven) in [("ann@x.com", true), ("eve@evil.org", false)] {
                let facts = json!({"run": "r", "at": 1, "principal": "anna", "task": task, "parent": parent});
                let call = json!({"key": "c1", "tool": "send", "arguments": {"to": to}});
                let decision = permit(&profile, &facts.to_string(), &call.to_string());
                let decision = decision.unwrap_or_else(|fault| panic!("{}", fault.to_json()));
                assert_eq!(decision.contains(r#""permit":"allow""#), is_proven, "{to}: {parent}\n{decision}");
            }
        }
    }
}
