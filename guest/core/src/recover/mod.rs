//! A text that is not JSON -> its items, each by itself: one that is broken is left out, and the others are kept.
//!
//! The way to the items' array is read token by token; each item, and each member beside that way, is a unit of which
//! the extent is found first and which then is JSON or not. What a unit lacks is its own loss: brackets and quotes are
//! soon in step again.

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

/// Looking for where things are in step again may read this many bytes for each byte of the text.
const BYTES_PER_BYTE: usize = 2;

/// And so many in any case: of a short text many readings are tried.
const LEAST_BYTES: usize = 1 << 16;

/// The edits that make JSON of a text, and the items that are left out by them.
pub(crate) struct Recovered {
    pub(crate) edits: Vec<Edit>,
    pub(crate) malformed: Vec<Malformed>,
}

/// An item that is no JSON: it is not in the document.
#[derive(Debug, Clone)]
pub(crate) struct Malformed {
    pub(crate) index: usize,
    pub(crate) span: Span,
}

impl Malformed {
    /// Where it breaks, the place being one in the item.
    pub(crate) fn broken(&self, output: &str, caps: &Caps) -> Broken {
        let end = self.span.end as usize;
        // What is JSON was cut off: it may have been longer.
        let cut_off = || Broken { at: end, cut_off: true, expected: "',' or ']'", place: Location::root() };
        parse(output, self.span, caps).err().unwrap_or_else(cut_off)
    }
}

/// Why no items could be recovered.
pub(crate) enum Unrecovered {
    /// Their array was not found.
    NoArray,
    /// The text ends before the first of them does, so that there may have been any number; or they are over their cap.
    NoItems,
}

/// Whether what is only syntax may be put right in each unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repairs {
    None,
    /// It may, and what was cut off is left out.
    Syntax,
    /// It may, and a string that was cut off is kept as far as it came.
    Keeping,
}

/// Recover the items at a path from a piece of the output.
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

/// Brackets that were added at one place are one edit.
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

/// A piece of a container that stands or falls as one: an item, or a member with its name.
struct Unit {
    start: usize,
    end: usize,
    /// What makes it JSON; none where nothing does.
    read: Option<Vec<Edit>>,
}

/// How a container ends.
enum End {
    /// With its bracket, which begins here.
    Bracket(usize),
    /// Without one, before what stands here.
    Missing(usize),
}

struct Recovery<'t, 'c> {
    output: &'t str,
    lexer: Lexer<'t>,
    end: usize,
    steps: &'c [Step],
    repairs: Repairs,
    caps: &'c Caps,
    /// The containers around the one that is being read, the outermost first.
    parents: Vec<Bracket>,
    /// The items that are left out.
    malformed: Vec<Malformed>,
    /// Where one list ends and the next one begins, with both brackets.
    joints: Vec<(usize, usize)>,
    /// How the items begin, once one was read.
    beginning: Option<Beginning<'t>>,
    /// How many bytes may still be read to find what is in step.
    budget: usize,
    repairs_left: usize,
    /// How many units in a row no repair has mended.
    in_vain: usize,
    /// Kept for `extent`, so that it allocates once.
    open: Containers,
}

impl Recovery<'_, '_> {
    fn repairs(&self) -> bool {
        self.repairs != Repairs::None
    }

    /// What the container at a depth of the path must be.
    fn bracket(&self, depth: usize) -> Bracket {
        match self.steps.get(depth) {
            Some(Step::Name(_)) => Bracket::Object,
            _ => Bracket::Array,
        }
    }

    /// The whole document: its edits, and where it ends.
    fn root(&mut self, first: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        if !self.output[first..].starts_with(['{', '[']) {
            return Err(Unrecovered::NoArray);
        }
        let open = self.lexer.peek();
        if open.token == Token::Open(self.bracket(0)) {
            self.lexer.skip();
            return self.container(0, open.end);
        }
        // Documents in a row, where a list of them is asked for.
        if self.steps.is_empty() { self.row(first) } else { Err(Unrecovered::NoArray) }
    }

    /// A container on the way to the items, or their array, of which the bracket was read: its edits, and where it ends.
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

    /// Items in a row without a bracket around them.
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

    /// The edits that leave just those units of a container that are JSON, with a comma between each two. Items that are
    /// left out are noted.
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
                        // White space at its end is no part of it, as it is none of the change that takes it out.
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

    /// Leaves nothing but `comma` between two units. Lists that meet there become one.
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

    /// The same where no lists meet.
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

    /// The members of an object on the way to the items.
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
                // It has no name: no repair makes a member of it.
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

    /// Whether a comment between the units of a container may be one of them.
    fn may_be_data(&self, comment: Lexeme, bracket: Bracket) -> bool {
        let before = self.output[..comment.start].trim_ascii_end();
        let state = if before.ends_with(['{', '[', ',']) { State::Next } else { State::After };
        comment::may_be_data(self.output, (comment.start, comment.end), Some((bracket, state)))
    }

    /// A comment that may be a unit. It is left out as one.
    fn doubtful(&self, comment: Lexeme) -> Unit {
        Unit { start: comment.start, end: comment.end, read: None }
    }

    /// Whether a name stands here: a colon comes after what comes first.
    fn is_member(&self) -> bool {
        let mut ahead = self.lexer;
        ahead.next();
        ahead.peek_past_blanks().token == Token::Colon
    }

    /// The edits of a member's name, where the member is the next step to the items: by its name, and by the bracket that
    /// its value begins with. Of a member that is there twice, the first one counts.
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

    /// The edits that make a string of a name as it is written, where it is this one.
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

    /// Go on to the container that a member's name leads to: the edits of the member, and where it ends.
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

    /// A container inside another one.
    fn inside(&mut self, parent: Bracket, depth: usize, open: usize) -> Result<(Vec<Edit>, usize), Unrecovered> {
        self.parents.push(parent);
        let read = self.container(depth, open)?;
        self.parents.pop();
        Ok(read)
    }

    /// The elements of an array: the items, or those of which one is on the way to them.
    fn elements(&mut self, depth: usize) -> Result<(Vec<Unit>, End), Unrecovered> {
        let target = match self.steps.get(depth) {
            Some(Step::Index(index)) => Some(*index),
            _ => None,
        };
        let mut units: Vec<Unit> = Vec::new();
        let end = loop {
            // Over its cap, the list is of no use, however many of its items are.
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
            // Without one of them, the others would have other numbers.
            Some(index) if units.len() <= index || units.iter().any(|unit| unit.read.is_none()) => {
                Err(Unrecovered::NoArray)
            }
            _ => Ok((units, end)),
        }
    }

    /// Where another list of items opens, right after the one that ends here and is the whole document.
    fn next_list(&self, depth: usize, end: usize) -> Option<usize> {
        if depth > 0 || !self.steps.is_empty() {
            return None;
        }
        let rest = self.output[end..self.end].trim_ascii_start();
        let rest = rest.strip_prefix(',').map_or(rest, str::trim_ascii_start);
        rest.starts_with('[').then(|| self.end - rest.len())
    }

    /// Where a line of words ends that stands between two items: the next line begins as the last item does.
    fn words(&self, start: usize, units: &[Unit]) -> Option<usize> {
        let is_item = |text: &str| text.starts_with('{');
        let last = units.last().filter(|last| last.read.is_some())?;
        // A line is looked through once: from its first word.
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

    /// Whether a member that stands here is one of the object around the array, which has lost its bracket.
    fn is_after_items(&mut self, units: &[Unit]) -> bool {
        let last = units.last().filter(|last| last.read.is_some()).map(|last| last.end);
        self.parents.last() == Some(&Bracket::Object) && last.is_some_and(|end| self.is_tail(end))
    }

    /// One more element, if it is one. A fragment is what is left of an object without its first bracket.
    fn element(&mut self, start: usize, extent: Extent, units: &mut Vec<Unit>) {
        let text = &self.output[start..extent.end];
        let quotes = if self.repairs() { "\"{['“”‘’`" } else { "\"{[" };
        let has_content = |character: char| character.is_alphanumeric() || quotes.contains(character);
        // Dots stand for items that were left out.
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
