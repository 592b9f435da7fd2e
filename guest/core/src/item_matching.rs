//! Matches the items of an answer with earlier items: by key, or by shared members.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    caps::Caps,
    contract::Items,
    location::escaped,
    order::sort_by,
    parse::{
        Document, Kind, NodeId, Number, Span,
        loose::{Bracket, Ends, Lexeme, Lexer, Quoted, Quotes, Token},
        parse,
    },
    text::{push_json_string, without_left_out},
    types::{Quarantined, Reason},
};

/// The maximum number of members of an item that are compared.
const MAX_MEMBERS: usize = 64;

/// The maximum number of items that are matched by position because nothing is known about them.
const MAX_BY_PLACE: usize = 4;

/// The minimum length at which a prefix of a truncated string identifies something, in bytes.
const MIN_BEGINNING: usize = 8;

/// The maximum number of items that may share a member that still distinguishes items.
const MAX_ALIKE: usize = 16;

/// The identity of an item. Equal values have the same spelling, regardless of the JSON notation that the item used.
#[derive(Debug, Default)]
pub(crate) struct Fingerprint {
    /// The members, each with its name. An item that is not an object is a single member without a name.
    members: Vec<String>,
    /// The member in which the text is truncated, up to that point.
    cut: Option<String>,
    /// The value of the key member.
    key: Option<String>,
    /// The whole item, if its text is complete.
    whole: Option<String>,
}

impl Fingerprint {
    /// Returns the fingerprint of a valid item.
    pub(crate) fn of_value(text: &str, items: &Items, caps: &Caps) -> Self {
        match parse(text, Span::new(0, text.len()), caps) {
            Err(_) => Fingerprint::default(),
            Ok(parsed) => {
                let document = &parsed.document;
                let members = document.members(Document::ROOT).take(MAX_MEMBERS);
                let members = members.map(|(name, at)| (document.string(name).to_owned(), written(document, at)));
                let mut fingerprint = Fingerprint::of_members(members.collect(), items);
                let whole = written(document, Document::ROOT);
                if document.kind(Document::ROOT) != Kind::Object {
                    fingerprint.members.push(whole.clone());
                }
                Fingerprint { whole: Some(whole), ..fingerprint }
            }
        }
    }

    /// Returns the fingerprint of a quarantined item: the members that can be read from its text, except the invalid
    /// ones.
    pub(crate) fn of_quarantined(item: &Quarantined, items: &Items, caps: &Caps) -> Self {
        if item.reason == Reason::OverLimit {
            let fingerprint = Fingerprint::of_value(&item.snippet, items, caps);
            if fingerprint.whole.is_some() {
                return fingerprint;
            }
        }
        let here = items.path.item(item.index as usize).pointer();
        let wrong: Vec<&str> = item
            .violations
            .iter()
            .filter_map(|violation| violation.pointer.strip_prefix(&*here)?.strip_prefix('/')?.split('/').next())
            .collect();
        let (mut members, cut) = readable(&item.snippet, caps);
        let is_right = |name: &str| !wrong.contains(&&*escaped(name));
        members.retain(|(name, _)| is_right(name));
        let cut = cut.filter(|(name, _)| is_right(name)).map(member);
        Fingerprint { cut, ..Fingerprint::of_members(members, items) }
    }

    fn of_members(members: Vec<(String, String)>, items: &Items) -> Self {
        let key = members.iter().find(|(name, _)| Some(name) == items.key.as_ref()).map(|(_, value)| value.clone());
        Fingerprint {
            members: members.into_iter().take(MAX_MEMBERS).map(member).collect(),
            key,
            ..Fingerprint::default()
        }
    }

    /// Returns whether another item contains more than half of this item's members.
    fn is_form_of(&self, other: &Fingerprint) -> bool {
        2 * self.alike(other) > self.count()
    }

    /// Returns the number of known members, including a truncated one.
    fn count(&self) -> usize {
        self.members.len() + usize::from(self.cut.is_some())
    }

    /// Returns the number of members that another item shares.
    fn alike(&self, other: &Fingerprint) -> usize {
        let whole = self.members.iter().filter(|member| other.members.contains(member)).count();
        let cut = self.cut.iter().filter(|cut| other.members.iter().any(|member| member.starts_with(&***cut))).count();
        whole + cut
    }
}

/// Returns a member with its name, as text.
fn member((name, value): (String, String)) -> String {
    let mut text = String::new();
    push_json_string(&mut text, &name);
    text + ":" + &value
}

/// Returns a value in a canonical spelling.
fn written(document: &Document, at: NodeId) -> String {
    let mut text = String::new();
    write(document, at, &mut text);
    text
}

fn write(document: &Document, at: NodeId, out: &mut String) {
    match document.kind(at) {
        Kind::Array => {
            out.push('[');
            for item in document.items(at) {
                write(document, item, out);
                out.push(',');
            }
            out.push(']');
        }
        Kind::Object => {
            let mut members: Vec<_> = document.members(at).collect();
            sort_by(&mut members, |(a, _), (b, _)| document.order_of_strings(*a, *b));
            out.push('{');
            for (name, value) in members {
                push_json_string(out, document.string(name));
                out.push(':');
                write(document, value, out);
                out.push(',');
            }
            out.push('}');
        }
        Kind::String => push_json_string(out, document.string(at)),
        Kind::Number => out.push_str(&number(Number(document.source(at)))),
        _ => out.push_str(document.source(at)),
    }
}

fn number(number: Number) -> String {
    let integer = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    match (integer, number.as_f64().unwrap_or(f64::NAN)) {
        (Some(integer), _) => integer.to_string(),
        (None, float) if float.fract() == 0.0 && float.abs() < 1e38 => (float as i128).to_string(),
        (None, float) => format!("{float:e}"),
    }
}

/// A member's name, with its value as JSON text.
type Member = (String, String);

/// Reads the members of an item whose text may be broken or truncated. Also returns the beginning of the string in
/// which the text is truncated.
fn readable(snippet: &str, caps: &Caps) -> (Vec<Member>, Option<Member>) {
    let text = without_left_out(snippet);
    let mut lexer = Lexer::new(text, (0, text.len()), true);
    let (mut members, mut cut) = (Vec::new(), None);
    // If an item lost its opening bracket, its members are at the top level.
    let top = usize::from(lexer.peek_past_blanks().token == Token::Open(Bracket::Object));
    let mut depth = 0_usize;
    loop {
        let lexeme = lexer.next_past_blanks();
        match lexeme.token {
            Token::End => break,
            Token::Open(_) => depth += 1,
            Token::Close(_) if depth <= top => break,
            Token::Close(_) => depth -= 1,
            Token::String(_) | Token::Word if depth == top && lexer.peek_past_blanks().token == Token::Colon => {
                lexer.next_past_blanks();
                let first = lexer.peek_past_blanks();
                let value = value(text, &mut lexer, caps);
                let name = string(text, lexeme, caps);
                match lexer.peek_past_blanks().token {
                    Token::Comma | Token::Close(_) => members.extend(name.zip(value)),
                    Token::End => cut = name.zip(beginning(text, first, caps)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    (members, cut)
}

/// Returns the beginning of an unterminated string, as JSON text without its last quote.
fn beginning(text: &str, lexeme: Lexeme, caps: &Caps) -> Option<String> {
    let Token::String(Quoted { quotes: Quotes::Double, ends: Ends::Text, quotes_inside: false }) = lexeme.token else {
        return None;
    };
    let cut = &text[lexeme.start..lexeme.end];
    // The last escape may be truncated as well.
    let end = cut.rfind('\\').filter(|at| at + 12 > cut.len()).unwrap_or(cut.len());
    let closed = format!("{}\"", cut[..end].trim_end_matches('\\'));
    let parsed = parse(&closed, Span::new(0, closed.len()), caps).ok()?;
    let mut written = written(&parsed.document, Document::ROOT);
    written.pop();
    Some(written).filter(|written| written.len() > MIN_BEGINNING)
}

/// Reads a value, and returns it if it is unambiguous.
fn value(text: &str, lexer: &mut Lexer, caps: &Caps) -> Option<String> {
    if !matches!(lexer.peek_past_blanks().token, Token::Open(_) | Token::String(_) | Token::Word) {
        return None;
    }
    let first = lexer.next_past_blanks();
    let mut end = first.end;
    if let Token::Open(_) = first.token {
        let mut open = 1;
        while open > 0 {
            let lexeme = lexer.next_past_blanks();
            end = lexeme.end;
            match lexeme.token {
                Token::Open(_) => open += 1,
                Token::Close(_) => open -= 1,
                Token::End => return None,
                _ => {}
            }
        }
    }
    let span = Span::new(first.start, end);
    match (parse(text, span, caps), span.of(text)) {
        (Ok(parsed), _) => Some(written(&parsed.document, Document::ROOT)),
        (Err(_), "True") => Some("true".to_owned()),
        (Err(_), "False") => Some("false".to_owned()),
        (Err(_), "None") => Some("null".to_owned()),
        (Err(_), _) => {
            let string = string(text, first, caps).filter(|_| matches!(first.token, Token::String(_)))?;
            let mut written = String::new();
            push_json_string(&mut written, &string);
            Some(written)
        }
    }
}

/// Returns the value of an unambiguous string, in any quotes, or of a bare name.
fn string(text: &str, lexeme: Lexeme, caps: &Caps) -> Option<String> {
    let written = &text[lexeme.start..lexeme.end];
    match lexeme.token {
        Token::Word => Some(written.to_owned()),
        Token::String(Quoted { ends: Ends::Quote, quotes_inside: false, quotes }) => match quotes {
            Quotes::Double => {
                let parsed = parse(text, Span::new(lexeme.start, lexeme.end), caps).ok()?;
                Some(parsed.document.string(Document::ROOT).to_owned())
            }
            _ => {
                let mut inside = written.chars();
                inside.next();
                inside.next_back();
                Some(inside.as_str().to_owned()).filter(|inside| !inside.contains('\\'))
            }
        },
        _ => None,
    }
}

/// An item that was present before the answer.
pub(crate) struct Before {
    pub(crate) number: u32,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Valid and kept.
    Kept,
    /// Invalid, and requested.
    Wanted,
    /// Invalid or over the limit, and not requested.
    Out,
}

/// An item of an answer.
pub(crate) struct Came {
    pub(crate) number: u32,
    pub(crate) fingerprint: Fingerprint,
    /// The reason if the item is in quarantine.
    pub(crate) reason: Option<Reason>,
}

/// The match found for an item of an answer. Numbers are indices of previous items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A previous item, unchanged.
    Again(usize),
    /// A duplicate of another item in the answer.
    Twice,
    /// A requested item.
    Wanted(usize),
    /// No certain match.
    Unknown,
}

/// The evidence that matches an item to a requested one, in ascending strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// Most members match, but some that were valid do not.
    Most,
    /// All members match that were valid and readable.
    All,
    Key,
}

/// A candidate match with a requested item, and the number of members that both share.
#[derive(Debug, Clone, Copy)]
struct Claim {
    wanted: usize,
    by: By,
    alike: u32,
}

/// Indexes the previous items by what identifies them.
pub(crate) struct ItemMatching<'b> {
    before: &'b [Before],
    members: BTreeMap<&'b str, Vec<usize>>,
    cuts: BTreeMap<&'b str, Vec<usize>>,
    keys: BTreeMap<&'b str, Vec<usize>>,
    wholes: BTreeMap<&'b str, usize>,
    /// For each item, the number of members that distinguish it from other items.
    telling: Vec<u32>,
}

/// The members that an item shares with each of several items, as bit sets.
type Alike = BTreeMap<usize, u64>;

impl<'b> ItemMatching<'b> {
    pub(crate) fn new(before: &'b [Before]) -> Self {
        let (members, cuts, keys, wholes) = Default::default();
        let mut matching = ItemMatching { before, members, cuts, keys, wholes, telling: Vec::new() };
        for (at, Before { fingerprint, state, .. }) in before.iter().enumerate() {
            for member in &fingerprint.members {
                matching.members.entry(member).or_default().push(at);
            }
            if let Some(cut) = &fingerprint.cut {
                matching.cuts.entry(cut).or_default().push(at);
            }
            if let Some(key) = &fingerprint.key {
                matching.keys.entry(key).or_default().push(at);
            }
            if let Some(whole) = fingerprint.whole.as_ref().filter(|_| *state != State::Wanted) {
                matching.wholes.entry(whole).or_insert(at);
            }
        }
        let tells = |member: &&String| matching.members[member.as_str()].len() <= MAX_ALIKE;
        let telling = before.iter().map(|Before { fingerprint, .. }| {
            (fingerprint.members.iter().filter(tells).count() + usize::from(fingerprint.cut.is_some())) as u32
        });
        matching.telling = telling.collect();
        matching
    }

    /// Returns the previous items that have the item's key.
    fn of_key(&self, fingerprint: &Fingerprint) -> &[usize] {
        fingerprint.key.as_ref().and_then(|key| self.keys.get(key.as_str())).map_or(&[], Vec::as_slice)
    }

    /// Returns the members that an item shares with each previous item, and the number of its members that could
    /// distinguish it from other items.
    fn alike(&self, fingerprint: &Fingerprint) -> (Alike, u32) {
        let (mut alike, mut telling) = (Alike::new(), 0);
        for (bit, member) in fingerprint.members.iter().enumerate() {
            let with = self.members.get(member.as_str()).map_or(&[][..], Vec::as_slice);
            let cut = self.cuts.range(..=member.as_str()).next_back().filter(|(cut, _)| member.starts_with(**cut));
            let cut = cut.map_or(&[][..], |(_, cut)| cut);
            if with.len() + cut.len() <= MAX_ALIKE {
                telling += 1;
                with.iter().chain(cut).for_each(|at| *alike.entry(*at).or_default() |= 1 << bit);
            }
        }
        (alike, telling)
    }

    /// Among some items, returns the one that shares the most members with this item, and those members. `None` if
    /// several share equally many.
    fn most_alike(alike: &Alike, among: impl Fn(usize) -> bool) -> Option<(usize, u64)> {
        let mut best: Option<(usize, u64)> = None;
        let mut tied = false;
        for (&at, &bits) in alike.iter().filter(|(at, _)| among(**at)) {
            let most = best.map_or(0, |(_, bits)| bits.count_ones());
            tied = bits.count_ones() == most || (tied && bits.count_ones() < most);
            if bits.count_ones() > most {
                best = Some((at, bits));
            }
        }
        best.filter(|_| !tied)
    }

    /// Returns whether an item differs from a requested item only in the invalid members of the latter, as far as they
    /// are readable.
    fn fits(&self, fingerprint: &Fingerprint, wanted: usize) -> bool {
        let wanted = &self.before[wanted].fingerprint;
        wanted.alike(fingerprint) == wanted.count()
    }

    fn is(&self, at: usize, state: State) -> bool {
        self.before[at].state == state
    }

    /// Returns the requested items.
    fn wanted(&self) -> impl Iterator<Item = usize> {
        (0..self.before.len()).filter(|at| self.is(*at, State::Wanted))
    }

    /// Returns the requested item that this item probably replaces.
    fn claim(&self, fingerprint: &Fingerprint) -> Option<Claim> {
        let (alike, _) = self.alike(fingerprint);
        let of_key = self.of_key(fingerprint);
        if of_key.iter().any(|at| !self.is(*at, State::Wanted)) {
            return None;
        }
        if let [wanted] = *of_key {
            let alike = alike.get(&wanted).map_or(0, |bits| bits.count_ones());
            return Some(Claim { wanted, by: By::Key, alike });
        }
        let can_be = |at: usize| {
            let key = &self.before[at].fingerprint.key;
            let is_of_key =
                if of_key.is_empty() { fingerprint.key.is_none() || key.is_none() } else { *key == fingerprint.key };
            self.is(at, State::Wanted) && is_of_key
        };
        let (wanted, bits) = Self::most_alike(&alike, can_be)?;
        let fits = self.fits(fingerprint, wanted);
        if !fits {
            // A few shared members are not enough.
            let best = &self.before[wanted].fingerprint;
            let fits_another = alike.iter().any(|(at, bits)| can_be(*at) && bits.count_ones() == self.telling[*at]);
            if 2 * best.alike(fingerprint) <= best.count() || fits_another {
                return None;
            }
        }
        let is_closer = |(at, other): (&usize, &u64)| match other.count_ones().cmp(&bits.count_ones()) {
            Ordering::Less => false,
            Ordering::Equal => !can_be(*at) && (!fits || *other == bits),
            Ordering::Greater => true,
        };
        let by = if fits { By::All } else { By::Most };
        (!alike.iter().any(is_closer)).then_some(Claim { wanted, by, alike: bits.count_ones() })
    }

    /// Returns the fate of each item of an answer.
    pub(crate) fn fates(&self, came: &[Came]) -> Vec<Fate> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut fates: Vec<Fate> = Vec::with_capacity(came.len());
        for (at, item) in came.iter().enumerate() {
            fates.push(match item.fingerprint.whole.as_deref() {
                Some(whole) if self.wholes.contains_key(whole) => Fate::Again(self.wholes[whole]),
                Some(whole) if *first.entry(whole).or_insert(at) != at => Fate::Twice,
                _ => Fate::Unknown,
            });
        }
        // Valid items are matched before invalid ones.
        self.claim_all(came, &mut fates, |reason| reason.is_none());
        self.claim_all(came, &mut fates, |reason| reason.is_some_and(|reason| reason != Reason::OverLimit));
        for (wanted, at) in self.by_place(came, &fates) {
            fates[at] = Fate::Wanted(wanted);
        }
        fates
    }

    /// Assigns each claimed item to the item of the answer that shares the most with it.
    fn claim_all(&self, came: &[Came], fates: &mut [Fate], takes_part: impl Fn(Option<Reason>) -> bool) {
        let taken = taken(fates);
        let mut claims: BTreeMap<usize, (Claim, Option<usize>)> = BTreeMap::new();
        for (at, item) in came.iter().enumerate() {
            if fates[at] != Fate::Unknown || !takes_part(item.reason) {
                continue;
            }
            let Some(claim) = self.claim(&item.fingerprint).filter(|claim| !taken.contains(&claim.wanted)) else {
                continue;
            };
            let best = claims.entry(claim.wanted).or_insert((claim, Some(at)));
            match (claim.by, claim.alike).cmp(&(best.0.by, best.0.alike)) {
                Ordering::Greater => *best = (claim, Some(at)),
                Ordering::Equal if best.1 != Some(at) => best.1 = None,
                _ => {}
            }
        }
        // An item with changed members could be anything. The exception is an answer that has as many items as were
        // requested, if each item claims a different requested item.
        let is_complete = self.wanted().all(|at| taken.contains(&at) || claims.contains_key(&at));
        let is_complete = is_complete && came.len() == taken.len() + claims.len();
        for (wanted, (claim, at)) in claims {
            if let Some(at) = at.filter(|_| is_complete || claim.by != By::Most) {
                fates[at] = Fate::Wanted(wanted);
            }
        }
    }

    /// Matches requested items by position if too little of them is readable to share any member, and only one position
    /// is possible.
    fn by_place(&self, came: &[Came], fates: &[Fate]) -> Vec<(usize, usize)> {
        let taken = taken(fates);
        let wanted: Vec<usize> = self.wanted().collect();
        let open = wanted.iter().copied().filter(|at| !taken.contains(at));
        let free = |at: &usize| fates[*at] == Fate::Unknown && came[*at].reason != Some(Reason::OverLimit);
        let again = again(fates);
        let pairs: Vec<(usize, usize)> = if self.in_step(came, fates) {
            let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
            numbers.extend(came.iter().enumerate().map(|(at, item)| (item.number, at)));
            let same = |at: usize| numbers.get(&self.before[at].number).map(|came| (at, *came));
            open.filter_map(same).collect()
        } else if came.len() == wanted.len() && wanted.len() == taken.len() + 1 {
            // The answer has exactly the requested items, and all but one are matched.
            open.zip((0..came.len()).filter(free)).collect()
        } else {
            Vec::new()
        };
        if pairs.len() > MAX_BY_PLACE {
            return Vec::new();
        }
        let fingerprint = |at: usize| &came[at].fingerprint;
        let repeats = |at: usize| {
            came.iter().zip(fates).any(|(item, fate)| is_found(fate) && item.fingerprint.is_form_of(fingerprint(at)))
        };
        let can_be =
            |(wanted, at): &(usize, usize)| free(at) && self.can_be(fingerprint(*at), *wanted, &again) && !repeats(*at);
        pairs.into_iter().filter(can_be).collect()
    }

    /// Returns whether an answer repeats all valid items unchanged and at their previous positions.
    fn in_step(&self, came: &[Came], fates: &[Fate]) -> bool {
        let same = |(item, fate): (&Came, &Fate)| match fate {
            Fate::Again(at) | Fate::Wanted(at) => item.number == self.before[*at].number,
            _ => true,
        };
        self.has_all(fates) && came.iter().zip(fates).all(same)
    }

    /// Returns whether an item at the position of a requested item can be that item, and resembles no other item more.
    /// `again` holds the items that came back unchanged.
    fn can_be(&self, fingerprint: &Fingerprint, wanted: usize, again: &BTreeSet<usize>) -> bool {
        let (alike, _) = self.alike(fingerprint);
        let count = self.before[wanted].fingerprint.count();
        let is_closer = |bits: &u64| bits.count_ones() as usize > count;
        self.of_key(fingerprint).is_empty()
            && self.fits(fingerprint, wanted)
            && match count {
                0 => !self.resembles(fingerprint, again),
                _ => !alike.values().any(is_closer),
            }
    }

    /// Returns whether an item may be a variant of a previous item. Half of its members must match, or more than half
    /// if the previous item also came back unchanged or has another key.
    pub(crate) fn resembles(&self, fingerprint: &Fingerprint, again: &BTreeSet<usize>) -> bool {
        let (alike, telling) = self.alike(fingerprint);
        let is_alike = |(at, bits): (&usize, &u64)| {
            let is_another = fingerprint.key.is_some() || again.contains(at);
            let half = 2 * bits.count_ones();
            half > telling || (half == telling && !is_another)
        };
        !self.of_key(fingerprint).is_empty() || alike.iter().any(is_alike)
    }

    /// Returns whether all kept items came back unchanged.
    pub(crate) fn has_all(&self, fates: &[Fate]) -> bool {
        let mut missing: BTreeMap<usize, usize> = BTreeMap::new();
        for before in self.before.iter().filter(|before| before.state == State::Kept) {
            match before.fingerprint.whole.as_ref().and_then(|whole| self.wholes.get(whole.as_str())) {
                Some(at) => *missing.entry(*at).or_default() += 1,
                None => return false,
            }
        }
        for fate in fates {
            if let Fate::Again(at) = fate
                && let Some(count) = missing.get_mut(at)
            {
                *count = count.saturating_sub(1);
            }
        }
        missing.values().all(|count| *count == 0)
    }

    /// Returns whether every kept item came back, unchanged or as a variant.
    pub(crate) fn has_forms_of_all(&self, came: &[Came], fates: &[Fate]) -> bool {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        for (item, fate) in came.iter().zip(fates).filter(|(item, _)| item.reason.is_none()) {
            match fate {
                Fate::Again(at) => drop(found.insert(*at)),
                _ if !self.keys.is_empty() => found.extend(self.of_key(&item.fingerprint)),
                _ => {
                    let is_kept = |at: usize| self.is(at, State::Kept);
                    found.extend(Self::most_alike(&self.alike(&item.fingerprint).0, is_kept).map(|(at, _)| at));
                }
            }
        }
        let is_missing = |(at, before): (usize, &Before)| before.state == State::Kept && !found.contains(&at);
        self.has_all(fates) || !self.before.iter().enumerate().any(is_missing)
    }
}

fn is_found(fate: &Fate) -> bool {
    matches!(fate, Fate::Again(_) | Fate::Wanted(_))
}

/// Returns the requested items that are already matched.
fn taken(fates: &[Fate]) -> BTreeSet<usize> {
    fates.iter().filter_map(|fate| if let Fate::Wanted(at) = fate { Some(*at) } else { None }).collect()
}

/// Returns the previous items that came back unchanged.
pub(crate) fn again(fates: &[Fate]) -> BTreeSet<usize> {
    fates.iter().filter_map(|fate| if let Fate::Again(at) = fate { Some(*at) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(snippet: &str) -> String {
        let (members, cut) = readable(snippet, &Caps::default());
        members.into_iter().chain(cut).map(member).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_can_be_read_of_a_broken_item_is_read() {
        for (snippet, expected) in [
            (r#"{"id":1,"size":"large"}"#, r#""id":1 "size":"large""#),
            (r#"{"id":1.0e1,"t":{"b":[1],"a":null}}"#, r#""id":10 "t":{"a":null,"b":[1,],}"#),
            // Broken values, and values without a visible end, are omitted.
            (r#"{"id":1,"size":}"#, r#""id":1"#),
            (r#"{"id":1,"size":12"#, r#""id":1"#),
            (r#"{"id":,"size":1}"#, r#""size":1"#),
            (r#"{"id":"a,"size":1,"t":2}"#, r#""t":2"#),
            // In the notation of other languages, and without the first bracket.
            ("{'id': 'a', ok: True, n: None}", r#""id":"a" "ok":true "n":null"#),
            (r#""id":1,"in":{"id":2}}"#, r#""id":1 "in":{"id":2,}"#),
            // Members of nested objects are not mistaken for the item's own.
            (r#"{"in" {"id":2},"t":3}"#, r#""t":3"#),
            // The text is truncated.
            (r#"{"id":1,"text":"some words a… [90 bytes left out]"#, r#""id":1 "text":"some words a"#),
            (r#"{"id":1,"text":"some words \u00… [90 bytes left out]"#, r#""id":1 "text":"some words "#),
            (r#"{"id":1,"text":"so… [90 bytes left out]"#, r#""id":1"#),
            ("[1]", ""),
            ("\"a", ""),
            ("", ""),
        ] {
            assert_eq!(read(snippet), expected, "{snippet}");
        }
    }
}
