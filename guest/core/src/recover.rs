//! A text that is not JSON -> its items, each by itself: one that is broken is left out, and the others are kept.
//!
//! The way to the items' array is read token by token; each item, and each member beside that way, is a unit of which
//! the extent is found first and which then is JSON or not. What a unit lacks is its own loss: brackets and quotes are
//! soon in step again.

use crate::{
    contract::Caps,
    items::Malformed,
    parse::{
        Broken, Document, Edit, Kind, Span, apply,
        loose::{Bracket, Ends, Lexer, Token},
        parse, parse_prefix,
    },
    path::ItemsPath,
    place::{Place, Step},
    repair::{MAX_REPAIRS, Tail, first_value, is_marks, repair_member, repair_value},
};

/// Looking for where things are in step again may read this many bytes for each byte of the text.
const BYTES_PER_BYTE: usize = 4;

/// What a look at one place costs at least.
const LOOK: usize = 16;

/// The first name of a broken object is looked for in this many bytes.
const LIKELY: usize = 256;

/// The edits that make JSON of a text, and the items that are left out by them.
pub(crate) struct Recovered {
    pub(crate) edits: Vec<Edit>,
    pub(crate) malformed: Vec<Malformed>,
}

/// Why no items could be recovered.
pub(crate) enum Unrecovered {
    /// Their array was not found.
    NoArray,
    /// The text ends before the first of them does, so that there may have been any number; or they are over their cap.
    NoItems,
}

/// Recover the items at a path from a piece of the output. `repairs`: what is only syntax may be put right in each unit.
pub(crate) fn recover(
    output: &str,
    span: Span,
    path: &ItemsPath,
    repairs: bool,
    caps: &Caps,
) -> Result<Recovered, Unrecovered> {
    let (start, end) = (span.start as usize, span.end as usize);
    let first = first_value(&output[start..end]).ok_or(Unrecovered::NoArray)? + start;
    let mut recovery = Recovery {
        output,
        lexer: Lexer::new(output, (first, end), repairs),
        end,
        steps: &path.steps,
        repairs,
        caps,
        parents: Vec::new(),
        malformed: None,
        give_up: false,
        first_name: None,
        budget: BYTES_PER_BYTE * (end - start),
        repairs_left: MAX_REPAIRS,
    };
    let mut edits = Vec::new();
    if first > start {
        edits.push(Edit::new("around", (start, first), ""));
    }
    let (Some((inside, after)), Some(malformed)) = (recovery.root(first), recovery.malformed) else {
        return Err(if recovery.give_up { Unrecovered::NoItems } else { Unrecovered::NoArray });
    };
    edits.extend(inside);
    let rest = output[after..end].trim_end();
    if !rest.trim().is_empty() {
        edits.push(Edit::new(if is_marks(rest) { "stray" } else { "around" }, (after, after + rest.len()), ""));
    }
    Ok(Recovered { edits: joined(edits), malformed })
}

/// Brackets that were added at one place are one edit.
fn joined(edits: Vec<Edit>) -> Vec<Edit> {
    edits.into_iter().fold(Vec::new(), |mut joined, edit| {
        match joined.last_mut() {
            Some(last)
                if edit.kind == "closed"
                    && *last == (Edit { after: last.after.clone(), ..edit.clone() })
                    && last.inserts() =>
            {
                last.after.push_str(&edit.after);
            }
            _ => joined.push(edit),
        }
        joined
    })
}

/// A piece of a container that stands or falls as one: an item, or a member with its name.
struct Unit {
    start: usize,
    end: usize,
    /// What makes it JSON, or why it is none.
    read: Result<Vec<Edit>, Broken>,
}

/// What comes next in a container; of an array, only `After` says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    First,
    /// After a comma.
    Name,
    Colon,
    Value,
    After,
}

/// The containers of a unit that have not ended.
#[derive(Default)]
struct Containers {
    stack: Vec<(Bracket, Next)>,
    objects: usize,
    arrays: usize,
}

impl Containers {
    fn count(&mut self, bracket: Bracket) -> &mut usize {
        match bracket {
            Bracket::Object => &mut self.objects,
            Bracket::Array => &mut self.arrays,
        }
    }

    fn push(&mut self, bracket: Bracket) {
        self.stack.push((bracket, Next::First));
        *self.count(bracket) += 1;
    }

    /// The innermost of a kind. What is looked at on the way is taken out next, so that all of this is linear.
    fn innermost(&mut self, bracket: Bracket) -> Option<usize> {
        if *self.count(bracket) == 0 {
            return None;
        }
        self.stack.iter().rposition(|(own, _)| *own == bracket)
    }

    fn truncate(&mut self, length: usize) {
        while self.stack.len() > length
            && let Some((bracket, _)) = self.stack.pop()
        {
            *self.count(bracket) -= 1;
        }
    }
}

/// Where a unit ends, as far as its brackets and quotes tell.
struct Extent {
    end: usize,
    /// It is what is left of an object that has lost its first bracket.
    fragment: bool,
    /// Brackets or quotes are not in step in it: it may end elsewhere.
    suspect: bool,
}

/// How a container ends.
enum End {
    /// With its bracket, which begins here.
    Bracket(usize),
    /// Without one, before what stands here.
    Missing(usize),
}

/// The units that are no JSON.
fn left_out(units: Vec<Unit>) -> Vec<Malformed> {
    let malformed = |(index, unit): (usize, Unit)| {
        Some(Malformed { index, span: Span::new(unit.start, unit.end), broken: unit.read.err()? })
    };
    units.into_iter().enumerate().filter_map(malformed).collect()
}

struct Recovery<'t, 'c> {
    output: &'t str,
    lexer: Lexer<'t>,
    end: usize,
    steps: &'c [Step],
    repairs: bool,
    caps: &'c Caps,
    /// The containers around the one that is being read, the outermost first.
    parents: Vec<Bracket>,
    /// The items that are left out, once the array was found.
    malformed: Option<Vec<Malformed>>,
    /// Their array was found, and there is no use in it.
    give_up: bool,
    /// The name that the items begin with, once one was read, and the white space before one that begins a line.
    first_name: Option<(String, Option<String>)>,
    /// How many bytes may still be read to find what is in step.
    budget: usize,
    repairs_left: usize,
}

impl Recovery<'_, '_> {
    /// What the container at a depth of the path must be.
    fn bracket(&self, depth: usize) -> Bracket {
        match self.steps.get(depth) {
            Some(Step::Name(_)) => Bracket::Object,
            _ => Bracket::Array,
        }
    }

    /// The whole document: its edits, and where it ends.
    fn root(&mut self, first: usize) -> Option<(Vec<Edit>, usize)> {
        if !self.output[first..].starts_with(['{', '[']) {
            return None;
        }
        let open = self.lexer.peek();
        if open.token == Token::Open(self.bracket(0)) {
            self.lexer.next();
            return self.container(0, open.end);
        }
        // Documents in a row, where a list of them is asked for.
        let is_row = self.steps.is_empty() && matches!(open.token, Token::Open(_));
        is_row.then(|| self.row(first)).flatten()
    }

    /// A container on the way to the items, or their array, of which the bracket was read: its edits, and where it ends.
    fn container(&mut self, depth: usize, open: usize) -> Option<(Vec<Edit>, usize)> {
        let bracket = self.bracket(depth);
        let (units, end) = match bracket {
            Bracket::Object => self.members(depth)?,
            Bracket::Array => self.elements(depth)?,
        };
        let is_items = depth == self.steps.len();
        if is_items && units.is_empty() && matches!(end, End::Missing(_)) {
            // The text ends before the first item does: there may have been any number.
            self.give_up = true;
            return None;
        }
        let mut edits = self.assemble(&units, open, &end, if is_items { "item_removed" } else { "member_removed" });
        if is_items {
            self.malformed = Some(left_out(units));
        }
        let after = match end {
            End::Bracket(at) => at + 1,
            End::Missing(at) => {
                let bracket = if bracket == Bracket::Object { "}" } else { "]" };
                edits.push(Edit::new("closed", (at, at), bracket));
                at
            }
        };
        Some((edits, after))
    }

    /// Items in a row without a bracket around them.
    fn row(&mut self, start: usize) -> Option<(Vec<Edit>, usize)> {
        let (units, _) = self.elements(0)?;
        if units.len() < 2 {
            return None;
        }
        let end = units.last()?.end;
        let mut edits = vec![Edit::new("wrapped", (start, start), "[")];
        edits.extend(self.assemble(&units, start, &End::Missing(end), "item_removed"));
        edits.push(Edit::new("wrapped", (end, end), "]"));
        self.malformed = Some(left_out(units));
        Some((edits, end))
    }

    /// The edits that leave just those units of a container that are JSON, with a comma between each two.
    fn assemble(&self, units: &[Unit], open: usize, end: &End, removed: &'static str) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut from, mut comma, mut left_out) = (open, "", false);
        for unit in units {
            match &unit.read {
                Ok(inside) => {
                    self.gap((from, unit.start), comma, left_out.then_some(removed), &mut edits);
                    edits.extend(inside.iter().cloned());
                    (from, comma, left_out) = (unit.end, ",", false);
                }
                Err(_) => left_out = true,
            }
        }
        let (End::Bracket(to) | End::Missing(to)) = *end;
        self.gap((from, to), "", left_out.then_some(removed), &mut edits);
        edits
    }

    /// Leave nothing but `comma` between two units.
    fn gap(&self, (from, to): (usize, usize), comma: &str, removed: Option<&'static str>, edits: &mut Vec<Edit>) {
        let text = &self.output[from..to];
        let front = text.len() - text.trim_ascii_start().len();
        let text = text.trim_ascii();
        if text == comma {
            return;
        }
        let kind = match removed {
            Some(removed) => removed,
            None if text.is_empty() => "comma_added",
            None if text.bytes().all(|byte| byte == b',' || byte.is_ascii_whitespace()) => "comma_removed",
            None if self.repairs && (text.contains("/*") || text.contains("//") || text.contains('#')) => "comment",
            None => "stray",
        };
        let (start, end) = if text.is_empty() { (from, from) } else { (from + front, from + front + text.len()) };
        edits.push(Edit::new(kind, (start, end), comma));
    }

    /// The members of an object on the way to the items.
    fn members(&mut self, depth: usize) -> Option<(Vec<Unit>, End)> {
        let mut units = Vec::new();
        let mut found = false;
        loop {
            let lexeme = self.lexer.peek();
            match lexeme.token {
                Token::End => return found.then_some((units, End::Missing(self.end))),
                Token::Close(Bracket::Object) => {
                    self.lexer.next();
                    return found.then_some((units, End::Bracket(lexeme.start)));
                }
                Token::Close(Bracket::Array) if self.parents.contains(&Bracket::Array) => {
                    return found.then_some((units, End::Missing(lexeme.start)));
                }
                Token::String(_) | Token::Word if self.is_member() => {
                    self.lexer.next();
                    let name = (lexeme.start, lexeme.end);
                    if !found && self.is_on_the_way(depth, name) {
                        found = true;
                        let (inside, end) = self.descend(depth, name)?;
                        units.push(Unit { start: lexeme.start, end, read: Ok(inside) });
                    } else {
                        self.blanks_and_colon();
                        let end = self.extent(false).end;
                        units.push(self.member(lexeme.start, end));
                    }
                }
                Token::String(_) | Token::Word | Token::Open(_) => {
                    let end = self.extent(false).end;
                    units.push(self.member(lexeme.start, end));
                }
                _ => {
                    self.lexer.next();
                }
            }
        }
    }

    /// Whether a name stands here: a colon comes after what comes first.
    fn is_member(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        ahead.peek_past_blanks().token == Token::Colon
    }

    /// Whether a member is the next step to the items, by its name and the bracket that its value begins with.
    fn is_on_the_way(&self, depth: usize, name: (usize, usize)) -> bool {
        let Some(Step::Name(step)) = self.steps.get(depth) else {
            return false;
        };
        let mut ahead = self.lexer;
        while ahead.next().token != Token::Colon {}
        ahead.peek_past_blanks().token == Token::Open(self.bracket(depth + 1)) && self.is_name(name, step)
    }

    /// Whether a name, as it is written, is this one.
    fn is_name(&self, (start, end): (usize, usize), name: &str) -> bool {
        let span = Span::new(start, end);
        let is = |text: &str, span| {
            parse(text, span, self.caps).is_ok_and(|parsed| parsed.document.is_string(Document::ROOT, name))
        };
        is(self.output, span)
            || self.repairs
                && (span.of(self.output) == name
                    || repair_value(self.output, (start, end)).is_some_and(|edits| {
                        let (text, _) = apply(self.output, span, &edits);
                        is(&text, Span::new(0, text.len()))
                    }))
    }

    /// Read the colon after a name.
    fn blanks_and_colon(&mut self) {
        while self.lexer.next().token != Token::Colon {}
    }

    /// Go on to the container that a member's name leads to: the edits of the member, and where it ends.
    fn descend(&mut self, depth: usize, name: (usize, usize)) -> Option<(Vec<Edit>, usize)> {
        let mut edits = Vec::new();
        let span = Span::new(name.0, name.1);
        if parse(self.output, span, self.caps).is_err() {
            match repair_value(self.output, name) {
                Some(quotes) if !quotes.is_empty() => edits.extend(quotes),
                _ => edits.push(Edit::new("quoted", name, format!("\"{}\"", span.of(self.output)))),
            }
        }
        let open = loop {
            let lexeme = self.lexer.next();
            match lexeme.token {
                Token::Open(_) => break lexeme,
                Token::Comment => edits.push(Edit::new("comment", (lexeme.start, lexeme.end), "")),
                Token::Space => edits.push(Edit::new("space", (lexeme.start, lexeme.end), " ")),
                _ => {}
            }
        };
        self.parents.push(Bracket::Object);
        let (inside, end) = self.container(depth + 1, open.end)?;
        self.parents.pop();
        edits.extend(inside);
        Some((edits, end))
    }

    /// The elements of an array: the items, or those of which one is on the way to them.
    fn elements(&mut self, depth: usize) -> Option<(Vec<Unit>, End)> {
        let target = match self.steps.get(depth) {
            Some(Step::Index(index)) => Some(*index),
            _ => None,
        };
        let mut units: Vec<Unit> = Vec::new();
        let end = loop {
            // Over its cap, the list is of no use, however many of its items are.
            if units.len() > self.caps.array_items {
                self.give_up = true;
                return None;
            }
            let lexeme = self.lexer.peek();
            match lexeme.token {
                Token::End => {
                    if target.is_some() || !self.last_took_the_rest(&mut units) {
                        break End::Missing(self.end);
                    }
                }
                Token::Close(Bracket::Array) => {
                    self.lexer.next();
                    if self.may_end_here(lexeme.start) {
                        break End::Bracket(lexeme.start);
                    }
                }
                Token::Close(Bracket::Object) => {
                    if self.parents.contains(&Bracket::Object) && self.is_tail(lexeme.start) {
                        break End::Missing(lexeme.start);
                    }
                    self.lexer.next();
                }
                Token::Open(bracket) if target == Some(units.len()) && bracket == self.bracket(depth + 1) => {
                    self.lexer.next();
                    self.parents.push(Bracket::Array);
                    let (inside, end) = self.container(depth + 1, lexeme.end)?;
                    self.parents.pop();
                    units.push(Unit { start: lexeme.start, end, read: Ok(inside) });
                }
                Token::String(_) | Token::Word if self.is_member() && self.is_after_items(&units) => {
                    break End::Missing(units.last().map_or(lexeme.start, |last| last.end));
                }
                Token::String(_) | Token::Word | Token::Open(_) => {
                    let extent = self.extent(true);
                    self.element(lexeme.start, extent, &mut units);
                }
                _ => {
                    self.lexer.next();
                }
            }
        };
        match target {
            // Without one of them, the others would have other numbers.
            Some(index) if units.len() <= index || units.iter().any(|unit| unit.read.is_err()) => None,
            _ => Some((units, end)),
        }
    }

    /// Whether a member that stands here is one of the object around the array, which has lost its bracket.
    fn is_after_items(&mut self, units: &[Unit]) -> bool {
        let last = units.last().filter(|last| last.read.is_ok()).map(|last| last.end);
        self.parents.last() == Some(&Bracket::Object) && last.is_some_and(|end| self.is_tail(end))
    }

    /// One more element, if it is one. A fragment is what is left of an object without its first bracket.
    fn element(&mut self, start: usize, extent: Extent, units: &mut Vec<Unit>) {
        let text = &self.output[start..extent.end];
        if !text.contains(|character: char| character.is_alphanumeric() || "\"{[".contains(character)) {
            return;
        }
        if extent.fragment
            && let Some(last) = units.last_mut()
            && last.read.as_ref().is_ok_and(Vec::is_empty)
            && self.continues((last.start, last.end), start)
        {
            *last = self.item(last.start, extent.end);
            return;
        }
        let Err(broken) = self.strict(start, extent.end) else {
            if self.first_name.is_none() {
                self.first_name = self.first_name(start);
            }
            units.push(Unit { start, end: extent.end, read: Ok(Vec::new()) });
            return;
        };
        units.push(match self.resync(start, &extent) {
            Some(end) => self.item(start, end),
            None => self.broken(start, extent.end, broken),
        });
    }

    /// Whether the last element that is JSON, of an array that has lost its end, is broken after all: it has brackets of
    /// the array and of what comes after it for its own, and other items inside. Those are read then.
    fn last_took_the_rest(&mut self, units: &mut Vec<Unit>) -> bool {
        let Some(last) = units.iter().rposition(|unit| unit.read.as_ref().is_ok_and(Vec::is_empty)) else {
            return false;
        };
        let Unit { start, end, .. } = units[last];
        let Some(item) = self.next_item(start, start + 1).filter(|item| *item < end) else {
            return false;
        };
        // A text may be cut off right after an item; one that holds others of its kind has them in a list of their own.
        self.spend(start, Some(end));
        if !self.is_mixed((start, end)) || self.end_of_array(item, self.end).is_none() {
            return false;
        }
        let end = self.go_on_at(item);
        units.truncate(last);
        units.push(self.item(start, end));
        true
    }

    /// Whether an array in a value holds both what begins as items here do and what does not.
    fn is_mixed(&self, (start, end): (usize, usize)) -> bool {
        let Some((name, _)) = &self.first_name else {
            return false;
        };
        let Ok(parsed) = parse(self.output, Span::new(start, end), self.caps) else {
            return false;
        };
        let document = &parsed.document;
        let is_item = |at| document.members(at).next().is_some_and(|(first, _)| document.is_string(first, name));
        let arrays = (0..document.next(Document::ROOT)).filter(|at| document.kind(*at) == Kind::Array);
        arrays.into_iter().any(|array| {
            let items = document.items(array).filter(|at| is_item(*at)).count();
            items > 0 && (items < document.count(array) || array == Document::ROOT)
        })
    }

    /// Read on with an item, or with the bracket of the array: where the item before it ends.
    fn go_on_at(&mut self, next: usize) -> usize {
        self.lexer = Lexer::new(self.output, (next, self.end), self.repairs);
        let before = self.output[..next].trim_ascii_end();
        before.strip_suffix(',').unwrap_or(before).trim_ascii_end().len()
    }

    /// Where a broken item ends, if not where it seems to: before what is an item for certain, or before the array's own
    /// bracket. The next token is then what comes after it.
    fn resync(&mut self, start: usize, extent: &Extent) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        let next = self.lexer.peek_past_blanks();
        let in_step = match next.token {
            Token::Comma => {
                let mut ahead = self.lexer;
                while ahead.next() != next {}
                // What comes next begins as this does, or the comma is one too many.
                let (after, bytes) = (ahead.peek_past_blanks(), self.output.as_bytes());
                matches!(after.token, Token::Close(Bracket::Array) | Token::End)
                    || bytes.get(after.start) == bytes.get(start)
            }
            Token::Close(Bracket::Array) => true,
            Token::Open(_) => self.value(next.start).is_some(),
            _ => false,
        };
        let (from, item) = match (extent.suspect, next.token) {
            (true, _) => (start + 1, self.next_item(start, start + 1).or_else(|| self.rest_of_items(start + 1))),
            // It may be cut off, and then what is inside is its own.
            (false, Token::End) => return None,
            (false, _) if in_step => return None,
            (false, _) => (extent.end, self.next_item(start, extent.end).or_else(|| self.rest_of_items(extent.end))),
        };
        let stop = item.unwrap_or(self.end);
        match (self.end_of_array(from, stop), item) {
            (Some(bracket), _) => Some(self.go_on_at(bracket).max(start + 1)),
            (None, Some(item)) => Some(self.go_on_at(item).max(start + 1)),
            (None, None) => None,
        }
    }

    /// The next item from a place on that is JSON and begins as items here do.
    fn next_item(&mut self, start: usize, from: usize) -> Option<usize> {
        let known = self.first_name.clone();
        let (name, indent) = known.or_else(|| {
            self.spend(start, Some(start + LIKELY));
            self.likely_name(start)
        })?;
        let mut at = from;
        while self.budget > 0 {
            let found = self.output[at..self.end].find('{').map(|found| at + found);
            let Some(item) = self.spend(at, found) else {
                break;
            };
            at = item + 1;
            let before = self.output[..item].trim_ascii_end();
            let plausible = before.ends_with([',', '}', ']'])
                && (indent.is_none() || self.indent(item) == indent)
                && self.first_name(item).is_some_and(|(own, _)| own == name);
            if plausible && let Some(end) = self.value(item) {
                let after = self.output[end..self.end].trim_ascii_start();
                if after.is_empty() || after.starts_with([',', ']']) {
                    return Some(item);
                }
            }
        }
        None
    }

    /// The next place from which on all is well: there are only items to the end of the array, and what comes after it.
    fn rest_of_items(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        while self.budget > 0 {
            let found = self.output[at..self.end].find(',').map(|found| at + found);
            at = self.spend(at, found)? + 1;
            let item = self.end - self.output[at..self.end].trim_ascii_start().len();
            if let Some(end) = self.value(item) {
                self.parents.push(Bracket::Array);
                let is_tail = self.is_tail(end);
                self.parents.pop();
                if is_tail {
                    return Some(item);
                }
            }
        }
        None
    }

    /// The bracket between two places that ends the array, as what comes after it shows.
    fn end_of_array(&mut self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while self.budget > 0 {
            let found = self.output[at..to].find(']').map(|found| at + found);
            let bracket = self.spend(at, found)?;
            at = bracket + 1;
            if self.is_tail(at) {
                return Some(bracket);
            }
        }
        None
    }

    /// Pay for having read from one place to another, or to the end.
    fn spend(&mut self, from: usize, to: Option<usize>) -> Option<usize> {
        self.budget = self.budget.saturating_sub(to.unwrap_or(self.end) - from + LOOK);
        to
    }

    /// Where the JSON value that begins at a place ends; none where it does not.
    fn value(&mut self, at: usize) -> Option<usize> {
        // A hostile text has many places where much begins and nothing ends.
        let end = (at + self.budget).min(self.end);
        let end = self.output.floor_char_boundary(end);
        let (to, result) = match parse_prefix(self.output, Span::new(at, end), self.caps) {
            Ok(parsed) => (parsed.end, Some(parsed.end)),
            Err(broken) => (broken.at, None),
        };
        self.spend(at, Some(to.max(at)));
        result
    }

    /// The name of the first member of the object that begins at a place, and the white space before that if it begins
    /// a line.
    fn first_name(&self, object: usize) -> Option<(String, Option<String>)> {
        let inside = self.output[object..self.end].strip_prefix('{')?.trim_ascii_start();
        let (name, after) = inside.strip_prefix('"')?.split_once('"')?;
        after.trim_ascii_start().starts_with(':').then(|| (name.to_owned(), self.indent(object)))
    }

    /// The same for an object that is broken: the first name in it that is one for certain.
    fn likely_name(&self, object: usize) -> Option<(String, Option<String>)> {
        let end = self.output.floor_char_boundary((object + LIKELY).min(self.end));
        let mut pieces = self.output[object..end].split('"').peekable();
        while let Some(name) = pieces.next() {
            let follows = pieces.peek().is_some_and(|after| after.trim_ascii_start().starts_with(':'));
            if follows && !name.is_empty() && !name.contains(['{', '}', '[', ']', ',', ':', '\n']) {
                let indent = self.output[object..].starts_with('{').then(|| self.indent(object)).flatten();
                return Some((name.to_owned(), indent));
            }
        }
        None
    }

    /// The white space before a place, if that is all there is on its line.
    fn indent(&self, at: usize) -> Option<String> {
        let before = self.output[..at].trim_end_matches([' ', '\t']);
        before.ends_with('\n').then(|| self.output[before.len()..at].to_owned())
    }

    /// Whether members without a bracket before them belong to the object before: it has none of the first one's name.
    fn continues(&self, object: (usize, usize), fragment: usize) -> bool {
        let parsed = parse(self.output, Span::new(object.0, object.1), self.caps);
        let (Ok(object), Some((name, _))) = (parsed.map(|parsed| parsed.document), self.likely_name(fragment)) else {
            return false;
        };
        object.kind(Document::ROOT) == Kind::Object && object.member(Document::ROOT, &name).is_none()
    }

    /// Whether a piece is JSON as it is.
    fn strict(&self, start: usize, end: usize) -> Result<(), Broken> {
        let parsed = parse(self.output, Span::new(start, end), self.caps)?;
        // A number that the output ends with may have been longer.
        let is_number = parsed.document.kind(Document::ROOT) == Kind::Number;
        if is_number && Tail::of(self.output, end) == Tail::Open {
            return Err(Broken { at: end, cut_off: true, expected: "',' or ']'", place: Place::root() });
        }
        Ok(())
    }

    fn item(&mut self, start: usize, end: usize) -> Unit {
        match self.strict(start, end) {
            Ok(()) => Unit { start, end, read: Ok(Vec::new()) },
            Err(broken) => self.broken(start, end, broken),
        }
    }

    /// An item that is not JSON as it is.
    fn broken(&mut self, start: usize, end: usize, broken: Broken) -> Unit {
        Unit { start, end, read: self.repaired(repair_value, (start, end)).ok_or(broken) }
    }

    fn member(&mut self, start: usize, end: usize) -> Unit {
        let text = format!("{{{}}}", &self.output[start..end]);
        let read = match parse(&text, Span::new(0, text.len()), self.caps) {
            Ok(parsed) => {
                let value = self.output[..end].trim_end_matches(|character: char| character.is_ascii_digit());
                let may_be_longer = value.len() < end && Tail::of(self.output, end) == Tail::Open;
                match parsed.document.count(Document::ROOT) == 1 && !may_be_longer {
                    true => Ok(Vec::new()),
                    false => Err(()),
                }
            }
            Err(_) => self.repaired(repair_member, (start, end)).ok_or(()),
        };
        // What is left of it is in the change that takes it out.
        let broken = |()| Broken { at: start, cut_off: false, expected: "a member", place: Place::root() };
        Unit { start, end, read: read.map_err(broken) }
    }

    fn repaired(
        &mut self,
        repair: fn(&str, (usize, usize)) -> Option<Vec<Edit>>,
        piece: (usize, usize),
    ) -> Option<Vec<Edit>> {
        if !self.repairs || self.repairs_left == 0 {
            return None;
        }
        let edits = repair(self.output, piece)?;
        let left = self.repairs_left.checked_sub(edits.len());
        self.repairs_left = left.unwrap_or_default();
        left.map(|_| edits)
    }

    /// Where a unit that begins here ends.
    fn extent(&mut self, in_array: bool) -> Extent {
        let mut open = Containers::default();
        // Where the last token ends, the last one before a comma, and what the last one outside of brackets was.
        let (mut end, mut before_comma, mut last) = (self.lexer.peek().start, 0, None);
        let (mut fragment, mut suspect) = (false, false);
        let mut previous = Token::Comma;
        loop {
            let lexeme = self.lexer.peek();
            if matches!(lexeme.token, Token::Comment | Token::Space) {
                self.lexer.skip();
                continue;
            }
            if open.stack.is_empty() {
                let goes_on = match (lexeme.token, last) {
                    (Token::End, _) => false,
                    (Token::Comma, _) => fragment && self.comma_of_member(),
                    (Token::Close(Bracket::Object), _) if fragment => {
                        self.lexer.skip();
                        return Extent { end: lexeme.end, fragment, suspect: true };
                    }
                    (Token::Close(_), _) => false,
                    (Token::Colon, _) => {
                        fragment |= in_array;
                        true
                    }
                    (_, None | Some(Token::Colon | Token::Comma)) => true,
                    (Token::Word, Some(Token::Word | Token::String(_))) | (Token::String(_), Some(Token::Word)) => true,
                    _ => false,
                };
                if !goes_on {
                    return Extent { end, fragment, suspect: suspect || fragment };
                }
            }
            suspect |= is_out_of_step(previous, lexeme.token);
            if let Token::String(quoted) = lexeme.token {
                suspect |= quoted.quotes_inside || quoted.ends == Ends::Lost;
            }
            match (lexeme.token, open.stack.last_mut()) {
                (Token::End, _) => return Extent { end, fragment, suspect },
                (Token::Open(bracket), Some((Bracket::Object, next @ (Next::Name | Next::After))))
                    if bracket == Bracket::Object =>
                {
                    // An object where none can stand: brackets are missing before it.
                    suspect = true;
                    let before = if *next == Next::Name { before_comma } else { end };
                    match open.innermost(Bracket::Array) {
                        Some(array) => open.truncate(array + 1),
                        None if in_array => return Extent { end: before, fragment, suspect },
                        None => {}
                    }
                    open.push(bracket);
                }
                (Token::Open(bracket), top) => {
                    if let Some((_, next)) = top {
                        *next = Next::After;
                    }
                    open.push(bracket);
                }
                (Token::Close(bracket), Some(_)) => match open.innermost(bracket) {
                    Some(own) => {
                        suspect |= own + 1 < open.stack.len();
                        open.truncate(own);
                    }
                    // One of the containers around, or one too many.
                    None if in_array && self.is_end_of_items(bracket, lexeme.start) => {
                        return Extent { end, fragment, suspect };
                    }
                    None => suspect = true,
                },
                (Token::Comma, Some((_, next))) => {
                    before_comma = end;
                    *next = Next::Name;
                }
                (Token::Colon, Some((_, next))) => *next = Next::Value,
                (_, Some((_, next))) => {
                    *next = if matches!(next, Next::Name | Next::First) { Next::Colon } else { Next::After };
                }
                _ => {}
            }
            if open.stack.is_empty() {
                last = Some(lexeme.token);
            }
            previous = lexeme.token;
            end = lexeme.end;
            self.lexer.skip();
        }
    }

    /// Whether a member comes after the comma that stands here.
    fn comma_of_member(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        let next = ahead.peek_past_blanks();
        matches!(next.token, Token::String(_) | Token::Word) && {
            while ahead.next() != next {}
            ahead.peek_past_blanks().token == Token::Colon
        }
    }

    /// Whether the bracket before this place can end the array, by what comes next.
    fn may_end_here(&mut self, bracket: usize) -> bool {
        let mut ahead = self.lexer;
        let next = ahead.peek_past_blanks();
        match next.token {
            Token::Comma => {}
            Token::End | Token::Close(_) => return true,
            // A comma is missing here, or something else.
            _ => return self.next_item(bracket, bracket).is_none(),
        }
        while ahead.next() != next {}
        let after = ahead.peek_past_blanks();
        match (after.token, self.parents.last()) {
            (Token::Open(_), Some(Bracket::Object) | None) => false,
            (Token::String(_) | Token::Word, Some(Bracket::Object)) => {
                while ahead.next() != after {}
                matches!(ahead.peek_past_blanks().token, Token::Colon | Token::End)
            }
            (Token::String(_) | Token::Word, None) => false,
            _ => true,
        }
    }

    /// Whether a bracket inside an item that has lost some of its own ends the array, or what is around it.
    fn is_end_of_items(&mut self, bracket: Bracket, at: usize) -> bool {
        match bracket {
            Bracket::Array => self.is_tail(at + 1),
            Bracket::Object => self.parents.contains(&Bracket::Object) && self.is_tail(at),
        }
    }

    /// Whether what comes from here on ends the containers around, with well-formed members or items before each end.
    fn is_tail(&mut self, mut at: usize) -> bool {
        let bytes = &self.output.as_bytes()[..self.end];
        let skip = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        for parent in self.parents.clone().iter().rev() {
            let closing = if *parent == Bracket::Object { b'}' } else { b']' };
            loop {
                at = skip(at);
                match bytes.get(at) {
                    Some(byte) if *byte == closing => break,
                    Some(b',') => {
                        at = skip(at + 1);
                        if *parent == Bracket::Object {
                            match self.value(at).map(skip) {
                                Some(colon) if bytes.get(colon) == Some(&b':') => at = colon + 1,
                                _ => return false,
                            }
                        }
                        match self.value(at) {
                            Some(end) => at = end,
                            None => return false,
                        }
                    }
                    _ => return false,
                }
            }
            at += 1;
        }
        skip(at) >= self.end
    }
}

/// Whether brackets, or a piece between them, are missing between two tokens.
fn is_out_of_step(previous: Token, next: Token) -> bool {
    matches!(
        (previous, next),
        (Token::String(_) | Token::Word, Token::Open(_))
            | (Token::Close(_), Token::Open(Bracket::Array))
            | (Token::Open(_), Token::Comma | Token::Colon)
            | (Token::Comma, Token::Comma)
    )
}
