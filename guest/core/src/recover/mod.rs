//! Recovers the items of an invalid text one by one. Broken items are left out, and the others are kept.
//!
//! The path to the items' array is read token by token. Each item, and each member beside that path, is a unit. The
//! extent of a unit is determined first, and then whether it is JSON. Damage is confined to a unit, because brackets
//! and quotes are soon in step again.

mod extent;
mod fit;
mod resync;
mod unit;

use crate::{
    caps::Caps,
    location::{Location, Step},
    parse::{
        Broken, Document, Edit, Span, apply,
        loose::{Bracket, Lexeme, Lexer, State, Token, begins_line},
        parse,
    },
    path::ItemsPath,
    repair::{MAX_REPAIRS, beyond, comment, first_value, repair_value},
    types::ChangeKind,
};
use extent::{Containers, Extent};
use resync::Beginning;

/// The search for well-formed text may read this many bytes per byte of the text.
const BYTES_PER_BYTE: usize = 2;

/// The minimum of that budget, in bytes, so that many readings of a short text are tried.
const LEAST_BYTES: usize = 1 << 16;

/// The edits that turn a text into JSON, and the items that they leave out.
pub(crate) struct Recovered {
    pub(crate) edits: Vec<Edit>,
    pub(crate) malformed: Vec<Malformed>,
}

/// An item that is not JSON, and is not in the document.
#[derive(Debug, Clone)]
pub(crate) struct Malformed {
    pub(crate) index: usize,
    pub(crate) span: Span,
}

impl Malformed {
    /// Returns the position at which the item stops being JSON. The location is relative to the item.
    pub(crate) fn broken(&self, output: &str, caps: &Caps) -> Broken {
        let end = self.span.end as usize;
        // The item is JSON but was cut off, so it may have been longer.
        let cut_off = || Broken { at: end, cut_off: true, expected: "',' or ']'", place: Location::root() };
        parse(output, self.span, caps).err().unwrap_or_else(cut_off)
    }
}

/// The reason why no items could be recovered.
pub(crate) enum Unrecovered {
    /// The array of items was not found.
    NoArray,
    /// The text ends before the first item ends, so that the number of items is unknown, or the items exceed their cap.
    NoItems,
}

/// The repairs that are allowed in each unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repairs {
    None,
    /// Repairs syntax, and omits what was cut off.
    Syntax,
    /// Repairs syntax, and keeps a string that was cut off up to that point.
    Keeping,
}

/// Recovers the items at a path from a piece of the output.
pub(crate) fn recover(
    output: &str,
    span: Span,
    path: &ItemsPath,
    repairs: Repairs,
    caps: &Caps,
) -> Result<Recovered, Unrecovered> {
    let (start, end) = (span.start as usize, span.end as usize);
    let first = first_value(&output[start..end]).ok_or(Unrecovered::NoArray)? + start;
    let mut recovery = Recovery {
        output,
        lexer: Lexer::new(output, (first, end), repairs != Repairs::None),
        end,
        steps: &path.steps,
        repairs,
        caps,
        parents: Vec::new(),
        malformed: Vec::new(),
        joints: Vec::new(),
        beginning: None,
        budget: BYTES_PER_BYTE * (end - start) + LEAST_BYTES,
        repairs_left: MAX_REPAIRS,
        in_vain: 0,
        open: Containers::default(),
    };
    let mut edits = Vec::new();
    if first > start {
        edits.push(Edit::new(ChangeKind::Around, (start, first), ""));
    }
    let (inside, after) = recovery.root(first)?;
    edits.extend(inside);
    let rest = output[after..end].trim_end();
    if !rest.is_empty() {
        edits.push(beyond(output, (after, after + rest.len())));
    }
    Ok(Recovered { edits: joined(edits), malformed: recovery.malformed })
}

/// Joins brackets that were added at the same position into one edit.
fn joined(edits: Vec<Edit>) -> Vec<Edit> {
    edits.into_iter().fold(Vec::new(), |mut joined, edit| {
        match joined.last_mut() {
            Some(last)
                if last.kind == ChangeKind::Closed && edit.kind == ChangeKind::Closed && last.span == edit.span =>
            {
                last.after.push_str(&edit.after);
            }
            _ => joined.push(edit),
        }
        joined
    })
}

/// A part of a container that is kept or left out as a whole: an item, or a member with its name.
struct Unit {
    start: usize,
    end: usize,
    /// The edits that make it JSON. `None` if that is impossible.
    read: Option<Vec<Edit>>,
}

/// The way a container ends.
enum End {
    /// With its bracket, at this position.
    Bracket(usize),
    /// Without a bracket, before this position.
    Missing(usize),
}

struct Recovery<'t, 'c> {
    output: &'t str,
    lexer: Lexer<'t>,
    end: usize,
    steps: &'c [Step],
    repairs: Repairs,
    caps: &'c Caps,
    /// The enclosing containers, outermost first.
    parents: Vec<Bracket>,
    /// The items that are left out.
    malformed: Vec<Malformed>,
    /// The positions where one list ends and the next one begins, including both brackets.
    joints: Vec<(usize, usize)>,
    /// The common beginning of the items, once an item was read.
    beginning: Option<Beginning<'t>>,
    /// The number of bytes that may still be read to find well-formed text.
    budget: usize,
    repairs_left: usize,
    /// The number of consecutive units that no repair fixed.
    in_vain: usize,
    /// Reused by `extent`, to allocate only once.
    open: Containers,
}

impl Recovery<'_, '_> {
    fn repairs(&self) -> bool {
        self.repairs != Repairs::None
    }

    /// Returns the bracket that the container at a depth of the path must have.
    fn bracket(&self, depth: usize) -> Bracket {
        match self.steps.get(depth) {
            Some(Step::Name(_)) => Bracket::Object,
            _ => Bracket::Array,
        }
    }

    /// Recovers the whole document. Returns its edits, and its end.
    fn root(&mut self, first: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        if !self.output[first..].starts_with(['{', '[']) {
            return Err(Unrecovered::NoArray);
        }
        let open = self.lexer.peek();
        if open.token == Token::Open(self.bracket(0)) {
            self.lexer.skip();
            return self.container(0, open.end);
        }
        // The text may be consecutive documents, if a list of them is requested.
        if self.steps.is_empty() { self.row(first) } else { Err(Unrecovered::NoArray) }
    }

    /// Recovers a container on the path to the items, or the array of items, from after its opening bracket. Returns
    /// its edits and its end.
    fn container(&mut self, depth: usize, open: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        let bracket = self.bracket(depth);
        let (units, end) = match bracket {
            Bracket::Object => self.members(depth)?,
            Bracket::Array => self.elements(depth)?,
        };
        let is_items = depth == self.steps.len();
        if is_items && units.is_empty() && matches!(end, End::Missing(_)) {
            return Err(Unrecovered::NoItems);
        }
        let mut edits = self.assemble(units, open, &end, is_items);
        let after = match end {
            End::Bracket(at) => at + 1,
            End::Missing(at) => {
                edits.push(Edit::new(ChangeKind::Closed, (at, at), bracket.closing()));
                at
            }
        };
        Ok((edits, after))
    }

    /// Recovers consecutive items without a bracket around them.
    fn row(&mut self, start: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        let (units, _) = self.elements(0)?;
        let [_, .., last] = &units[..] else {
            return Err(Unrecovered::NoArray);
        };
        let end = last.end;
        let mut edits = vec![Edit::new(ChangeKind::Wrapped, (start, start), "[")];
        edits.extend(self.assemble(units, start, &End::Missing(end), true));
        edits.push(Edit::new(ChangeKind::Wrapped, (end, end), "]"));
        Ok((edits, end))
    }

    /// Returns the edits that leave only the valid units of a container, separated by commas. Records the items that
    /// are left out.
    fn assemble(&mut self, units: Vec<Unit>, open: usize, end: &End, is_items: bool) -> Vec<Edit> {
        let removed = if is_items { ChangeKind::ItemRemoved } else { ChangeKind::MemberRemoved };
        let mut edits = Vec::new();
        let (mut from, mut comma, mut left_out) = (open, "", false);
        for (index, unit) in units.into_iter().enumerate() {
            match unit.read {
                Some(inside) => {
                    self.gap((from, unit.start), comma, left_out.then_some(removed), &mut edits);
                    edits.extend(inside);
                    (from, comma, left_out) = (unit.end, ",", false);
                }
                None => {
                    left_out = true;
                    if is_items {
                        // White space at the end belongs neither to the unit nor to the change that removes it.
                        let end = unit.start + self.output[unit.start..unit.end].trim_ascii_end().len();
                        self.malformed.push(Malformed { index, span: Span::new(unit.start, end) });
                    }
                }
            }
        }
        let (End::Bracket(to) | End::Missing(to)) = *end;
        self.gap((from, to), "", left_out.then_some(removed), &mut edits);
        edits
    }

    /// Leaves only `comma` between two units. Joins lists that meet there.
    fn gap(&self, (from, to): (usize, usize), comma: &str, removed: Option<ChangeKind>, edits: &mut Vec<Edit>) {
        let (mut at, mut comma) = (from, comma);
        let joints = &self.joints[self.joints.partition_point(|(start, _)| *start < from)..];
        for (start, end) in joints.iter().take_while(|(_, end)| *end <= to) {
            self.between((at, *start), "", removed, edits);
            edits.push(Edit::new(ChangeKind::Wrapped, (*start, *end), std::mem::take(&mut comma)));
            at = *end;
        }
        self.between((at, to), comma, removed, edits);
    }

    /// Like [`gap`](Self::gap), where no lists meet.
    fn between(&self, (from, to): (usize, usize), comma: &str, removed: Option<ChangeKind>, edits: &mut Vec<Edit>) {
        let text = &self.output[from..to];
        let front = text.len() - text.trim_ascii_start().len();
        let text = text.trim_ascii();
        if text == comma {
            return;
        }
        let kind = match removed {
            Some(removed) => removed,
            None if text.is_empty() => ChangeKind::CommaAdded,
            None if text.bytes().all(|byte| byte == b',' || byte.is_ascii_whitespace()) => ChangeKind::CommaRemoved,
            None if self.repairs() && (text.contains("/*") || text.contains("//") || text.contains('#')) => {
                ChangeKind::Comment
            }
            None => ChangeKind::Stray,
        };
        let (start, end) = if text.is_empty() { (from, from) } else { (from + front, from + front + text.len()) };
        edits.push(Edit::new(kind, (start, end), comma));
    }

    /// Recovers the members of an object on the path to the items.
    fn members(&mut self, depth: usize) -> Result<(Vec<Unit>, End), Unrecovered> {
        let mut units = Vec::new();
        let mut found = false;
        let end = loop {
            let lexeme = self.lexer.peek();
            match lexeme.token {
                Token::End => break End::Missing(self.end),
                Token::Close(Bracket::Object) => {
                    self.lexer.skip();
                    break End::Bracket(lexeme.start);
                }
                Token::Close(Bracket::Array) if self.parents.contains(&Bracket::Array) => {
                    break End::Missing(lexeme.start);
                }
                Token::String(_) | Token::Word if self.is_member() => {
                    let name = (lexeme.start, lexeme.end);
                    self.lexer.skip();
                    let on_the_way = if found { None } else { self.on_the_way(depth, name)? };
                    units.push(match on_the_way {
                        Some(edits) => {
                            found = true;
                            let (inside, end) = self.descend(depth, edits)?;
                            Unit { start: name.0, end, read: Some(inside) }
                        }
                        None => {
                            while !matches!(self.lexer.next().token, Token::Colon | Token::End) {}
                            let end = self.extent(false).end;
                            self.member(name.0, end)
                        }
                    });
                }
                Token::String(_) | Token::Word => {
                    let end = self.extent(false).end;
                    units.push(self.member(lexeme.start, end));
                }
                // The value has no name, and no repair makes it a member.
                Token::Open(_) => {
                    let end = self.extent(false).end;
                    units.push(Unit { start: lexeme.start, end, read: None });
                }
                Token::Comment if self.may_be_data(lexeme, Bracket::Object) => {
                    self.lexer.skip();
                    units.push(self.doubtful(lexeme));
                }
                _ => self.lexer.skip(),
            }
        };
        if found { Ok((units, end)) } else { Err(Unrecovered::NoArray) }
    }

    /// Returns whether a comment between the units of a container may be one of them.
    fn may_be_data(&self, comment: Lexeme, bracket: Bracket) -> bool {
        let before = self.output[..comment.start].trim_ascii_end();
        let state = if before.ends_with(['{', '[', ',']) { State::Next } else { State::After };
        comment::may_be_data(self.output, (comment.start, comment.end), Some((bracket, state)))
    }

    /// Returns a comment as a unit to be left out, because it may be data.
    fn doubtful(&self, comment: Lexeme) -> Unit {
        Unit { start: comment.start, end: comment.end, read: None }
    }

    /// Returns whether a name comes next: a colon follows the next token.
    fn is_member(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        ahead.peek_past_blanks().token == Token::Colon
    }

    /// Returns the edits of a member's name if the member is the next step to the items, judging by its name and the
    /// opening bracket of its value. If a name occurs twice, the first member counts.
    fn on_the_way(&self, depth: usize, name: (usize, usize)) -> Result<Option<Vec<Edit>>, Unrecovered> {
        let Some(Step::Name(step)) = self.steps.get(depth) else {
            return Ok(None);
        };
        let mut ahead = self.lexer;
        ahead.next_past_blanks();
        if ahead.peek_past_blanks().token == Token::Open(self.bracket(depth + 1)) {
            return Ok(self.named(name, step));
        }
        if self.output[name.0..name.1].trim_matches('"') == step { Err(Unrecovered::NoArray) } else { Ok(None) }
    }

    /// Returns the edits that turn a written name into a string, if it equals `name`.
    fn named(&self, (start, end): (usize, usize), name: &str) -> Option<Vec<Edit>> {
        let span = Span::new(start, end);
        let is = |text: &str, span| {
            parse(text, span, self.caps).is_ok_and(|parsed| parsed.document.is_string(Document::ROOT, name))
        };
        if is(self.output, span) {
            return Some(Vec::new());
        }
        if !self.repairs() {
            return None;
        }
        if span.of(self.output) == name {
            return Some(vec![Edit::new(ChangeKind::Quoted, (start, end), format!("\"{name}\""))]);
        }
        let edits = repair_value(self.output, (start, end), true)?;
        let (text, _) = apply(self.output, span, &edits);
        is(&text, Span::new(0, text.len())).then_some(edits)
    }

    /// Recovers the container that a member's name leads to. Returns the edits of the member, and its end.
    fn descend(&mut self, depth: usize, mut edits: Vec<Edit>) -> Result<(Vec<Edit>, usize), Unrecovered> {
        let open = loop {
            let lexeme = self.lexer.next();
            match lexeme.token {
                Token::Open(_) => break lexeme,
                Token::Comment
                    if comment::may_be_data(
                        self.output,
                        (lexeme.start, lexeme.end),
                        Some((Bracket::Object, State::Value)),
                    ) =>
                {
                    return Err(Unrecovered::NoArray);
                }
                Token::Comment => edits.push(Edit::new(ChangeKind::Comment, (lexeme.start, lexeme.end), "")),
                Token::Space => edits.push(Edit::new(ChangeKind::Space, (lexeme.start, lexeme.end), " ")),
                _ => {}
            }
        };
        let (inside, end) = self.inside(Bracket::Object, depth + 1, open.end)?;
        edits.extend(inside);
        Ok((edits, end))
    }

    /// Recovers a container inside another one.
    fn inside(&mut self, parent: Bracket, depth: usize, open: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        self.parents.push(parent);
        let read = self.container(depth, open)?;
        self.parents.pop();
        Ok(read)
    }

    /// Recovers the elements of an array. These are the items, or one of them is on the path to the items.
    fn elements(&mut self, depth: usize) -> Result<(Vec<Unit>, End), Unrecovered> {
        let target = match self.steps.get(depth) {
            Some(Step::Index(index)) => Some(*index),
            _ => None,
        };
        let mut units: Vec<Unit> = Vec::new();
        let end = loop {
            // A list above its cap is rejected, however many items are left out.
            if units.len() > self.caps.array_items {
                return Err(Unrecovered::NoItems);
            }
            let lexeme = self.lexer.peek();
            match lexeme.token {
                Token::End => {
                    if target.is_some() || !self.last_took_the_rest(&mut units) {
                        break End::Missing(self.end);
                    }
                }
                Token::Close(Bracket::Array) => {
                    self.lexer.skip();
                    if let Some(open) = self.next_list(depth, lexeme.end) {
                        self.joints.push((lexeme.start, open + 1));
                        self.lexer = Lexer::new(self.output, (open + 1, self.end), self.repairs());
                    } else if self.may_end_here(lexeme.start) {
                        break End::Bracket(lexeme.start);
                    }
                }
                Token::Close(Bracket::Object) => {
                    if self.parents.contains(&Bracket::Object) && self.is_tail(lexeme.start) {
                        break End::Missing(lexeme.start);
                    }
                    self.lexer.skip();
                }
                Token::Open(bracket) if target == Some(units.len()) && bracket == self.bracket(depth + 1) => {
                    self.lexer.skip();
                    let (inside, end) = self.inside(Bracket::Array, depth + 1, lexeme.end)?;
                    units.push(Unit { start: lexeme.start, end, read: Some(inside) });
                }
                Token::String(_) | Token::Word if self.is_member() && self.is_after_items(&units) => {
                    break End::Missing(units.last().map_or(lexeme.start, |last| last.end));
                }
                Token::Word if let Some(end) = self.words(lexeme.start, &units) => {
                    self.lexer = Lexer::new(self.output, (end, self.end), self.repairs());
                    units.push(Unit { start: lexeme.start, end, read: None });
                }
                Token::String(_) | Token::Word | Token::Open(_) => {
                    let extent = self.extent(true);
                    self.element(lexeme.start, extent, &mut units);
                }
                Token::Comment if self.may_be_data(lexeme, Bracket::Array) => {
                    self.lexer.skip();
                    units.push(self.doubtful(lexeme));
                }
                _ => self.lexer.skip(),
            }
        };
        match target {
            // If an element were left out, the others would have other indices.
            Some(index) if units.len() <= index || units.iter().any(|unit| unit.read.is_none()) => {
                Err(Unrecovered::NoArray)
            }
            _ => Ok((units, end)),
        }
    }

    /// Returns the position of another list of items directly after the list that ends here, if the two are the whole
    /// document.
    fn next_list(&self, depth: usize, end: usize) -> Option<usize> {
        if depth > 0 || !self.steps.is_empty() {
            return None;
        }
        let rest = self.output[end..self.end].trim_ascii_start();
        let rest = rest.strip_prefix(',').map_or(rest, str::trim_ascii_start);
        rest.starts_with('[').then(|| self.end - rest.len())
    }

    /// Returns the end of a line of words between two items. The next line must begin like the last item.
    fn words(&self, start: usize, units: &[Unit]) -> Option<usize> {
        let is_item = |text: &str| text.starts_with('{');
        let last = units.last().filter(|last| last.read.is_some())?;
        // Searches each line once, from its first word.
        if !is_item(&self.output[last.start..]) || !begins_line(self.output, start) {
            return None;
        }
        let rest = &self.output[start..self.end];
        let line = &rest[..rest.find('\n')?];
        let is_between = is_item(rest[line.len()..].trim_ascii_start());
        let words = line.trim_end_matches([' ', '\t', '\r', ',']);
        // Literals are items.
        let is_sentence = words.ends_with([':', '.', '!']) || (words.contains(' ') && !words.contains(','));
        let is_words = words.starts_with(char::is_alphabetic) && !words.contains(['{', '}', '[', ']', '"']);
        (is_between && is_sentence && is_words).then(|| start + words.len())
    }

    /// Returns whether the next member belongs to the object around the array. The array has then lost its bracket.
    fn is_after_items(&mut self, units: &[Unit]) -> bool {
        let last = units.last().filter(|last| last.read.is_some()).map(|last| last.end);
        self.parents.last() == Some(&Bracket::Object) && last.is_some_and(|end| self.is_tail(end))
    }

    /// Adds an element, unless the text contains none. A fragment is the rest of an object without its opening bracket.
    fn element(&mut self, start: usize, extent: Extent, units: &mut Vec<Unit>) {
        let text = &self.output[start..extent.end];
        let quotes = if self.repairs() { "\"{['“”‘’`" } else { "\"{[" };
        let has_content = |character: char| character.is_alphanumeric() || quotes.contains(character);
        // Dots stand for items that the producer left out.
        if !text.contains(has_content) && !text.contains("...") && !text.contains('…') {
            return;
        }
        if extent.fragment
            && let Some(last) = units.last_mut()
            && last.read.as_ref().is_some_and(Vec::is_empty)
            && self.continues((last.start, last.end), start)
        {
            *last = self.item(last.start, extent.end);
            return;
        }
        if self.is_strict(start, extent.end) {
            if self.beginning.is_none() {
                self.beginning = self.beginning_of(start);
            }
            units.push(Unit { start, end: extent.end, read: Some(Vec::new()) });
            return;
        }
        if (extent.fragment || text.starts_with(['{', '[']))
            && let Some(end) = self.fitting_end(start, extent.fragment)
        {
            self.lexer = Lexer::new(self.output, (end, self.end), self.repairs());
            units.push(self.item(start, end));
            return;
        }
        units.push(match self.resync(start, &extent) {
            Some(end) => self.item(start, end),
            None => self.broken(start, extent.end),
        });
    }
}
