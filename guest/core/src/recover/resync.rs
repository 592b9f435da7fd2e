//! Finds well-formed text where brackets and quotes do not match: a valid item that begins like the others, the bracket
//! that ends the array, or a rest that is well-formed to its end.

use super::{Recovery, Unit, extent::Extent};
use crate::parse::{
    Document, Kind, Span,
    loose::{Bracket, Token},
    parse, strict_end,
};

/// The minimum cost of examining one position.
const LOOK: usize = 16;

/// The number of bytes in which the first name of a broken object is searched for.
const LIKELY: usize = 256;

/// The beginning of an object: its first name, and the white space before it if it begins a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beginning<'t> {
    name: &'t str,
    indent: Option<&'t str>,
}

/// The well-formed text after a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Follows {
    /// Nothing conclusive.
    Nothing,
    /// Items, followed by a broken one or the end of the text.
    Items,
    /// Everything up to the end.
    End,
}

/// The text after a possible end of a unit, and the position up to which it is well-formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Outlook {
    pub(super) follows: Follows,
    /// `true` if the next item begins like the others, or there is none.
    pub(super) alike: bool,
    pub(super) reach: usize,
}

impl<'t> Recovery<'t, '_> {
    /// Classifies the text after an element that begins at `start`, assuming that it ends at `end`. `known` is the
    /// outlook at another position.
    pub(super) fn outlook(&mut self, start: usize, end: usize, known: Option<(Outlook, usize)>) -> Outlook {
        let (mut at, mut items, mut alike) = (end, 0, true);
        let (follows, reach) = loop {
            if let Some((outlook, _)) = known.filter(|(_, place)| *place == at && items > 0) {
                break (outlook.follows, outlook.reach);
            }
            at = self.skip_white(at);
            let broken = if items > 0 { Follows::Items } else { Follows::Nothing };
            let bytes = &self.output.as_bytes()[..self.end];
            match bytes.get(at) {
                Some(b']') => match self.tail(at + 1) {
                    // Text may follow the document.
                    Ok(reach) if bytes.get(reach).is_none_or(|byte| !b",:]}".contains(byte)) => {
                        break (Follows::End, reach);
                    }
                    Ok(reach) | Err(reach) => break (Follows::Nothing, reach),
                },
                Some(b',') => {
                    let next = self.skip_white(at + 1);
                    if items == 0 {
                        self.spend(at, Some(at + LIKELY));
                    }
                    alike &= items > 0 || self.begins_alike(start, next);
                    match self.reach(next) {
                        Ok(end) => (at, items) = (end, items + 1),
                        Err(reach) => break (broken, reach),
                    }
                }
                Some(_) => break (Follows::Nothing, at),
                None => break (broken, at),
            }
        };
        // Unless everything is well-formed, only text that begins like the other items is certainly an item.
        let follows = if follows == Follows::Items && !alike { Follows::Nothing } else { follows };
        Outlook { follows, alike, reach }
    }

    /// Returns whether the text at a position begins like the items or, if there are none, like the element at `start`.
    fn begins_alike(&self, start: usize, at: usize) -> bool {
        match self.beginning.or_else(|| self.likely_beginning(start)) {
            Some(Beginning { name, indent }) => {
                self.beginning_of(at).is_some_and(|own| own.name == name && (indent.is_none() || own.indent == indent))
            }
            None => self.output.as_bytes().get(at) == self.output.as_bytes().get(start),
        }
    }

    pub(super) fn skip_white(&self, at: usize) -> usize {
        self.end - self.output[at..self.end].trim_ascii_start().len()
    }

    /// Returns whether the last valid element of an array without an end is broken after all, because it includes
    /// brackets of the array and of the text after it, and other items. In that case, reads these items.
    pub(super) fn last_took_the_rest(&mut self, units: &mut Vec<Unit>) -> bool {
        let Some(last) = units.iter().rposition(|unit| unit.read.as_ref().is_some_and(Vec::is_empty)) else {
            return false;
        };
        let Unit { start, end, .. } = units[last];
        let Some(item) = self.next_item(start, self.past_first(start)).filter(|item| *item < end) else {
            return false;
        };
        // The text may be cut off directly after an item. An item that contains others of its kind has them in its own
        // list.
        self.spend(start, Some(end));
        if !self.is_mixed((start, end)) || self.end_of_array(item, self.end).is_none() {
            return false;
        }
        let end = self.go_on_at(item);
        units.truncate(last);
        units.push(self.item(start, end));
        true
    }

    /// Returns whether an array in a value contains both elements that begin like the items here and others.
    fn is_mixed(&self, (start, end): (usize, usize)) -> bool {
        let Some(Beginning { name, .. }) = self.beginning else {
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

    /// Continues at an item, or at the bracket of the array. Returns the end of the item before it.
    fn go_on_at(&mut self, next: usize) -> usize {
        self.lexer = self.lexer.moved_to(next);
        let before = self.output[..next].trim_ascii_end();
        before.strip_suffix(',').unwrap_or(before).trim_ascii_end().len()
    }

    /// Returns the end of a broken item, if it differs from the apparent end: before an item that is certain, or before
    /// the array's own bracket. The lexer is then at the token after it.
    pub(super) fn resync(&mut self, start: usize, extent: &Extent) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        let mut ahead = self.lexer;
        let next = ahead.next_past_blanks();
        let in_step = match next.token {
            Token::Comma => {
                // The next element begins like this one, or the comma is extra.
                let (after, bytes) = (ahead.peek_past_blanks(), self.output.as_bytes());
                matches!(after.token, Token::Close(Bracket::Array) | Token::End)
                    || bytes.get(after.start) == bytes.get(start)
            }
            Token::Close(Bracket::Array) => true,
            Token::Open(_) => self.value(next.start).is_some(),
            _ => false,
        };
        let inside = self.past_first(start);
        let (from, item) = match (extent.suspect, next.token) {
            (true, _) => (inside, self.next_item(start, inside).or_else(|| self.rest_of_items(inside))),
            // The item may be cut off, so that the inner text belongs to it.
            (false, Token::End) => return None,
            (false, _) if in_step => return None,
            (false, _) => (extent.end, self.next_item(start, extent.end).or_else(|| self.rest_of_items(extent.end))),
        };
        let stop = item.unwrap_or(self.end);
        let next = self.end_of_array(from, stop).or(item)?;
        Some(self.go_on_at(next).max(inside))
    }

    /// Returns the position after the first character at a position.
    pub(super) fn past_first(&self, start: usize) -> usize {
        self.output[start..self.end].chars().next().map_or(self.end, |first| start + first.len_utf8())
    }

    /// Returns the next valid item from a position on that begins like the other items.
    pub(super) fn next_item(&mut self, start: usize, from: usize) -> Option<usize> {
        let Beginning { name, indent } = match self.beginning {
            Some(beginning) => beginning,
            None if self.budget == 0 => return None,
            None => {
                self.spend(start, Some(start + LIKELY));
                self.likely_beginning(start)?
            }
        };
        let mut at = from;
        while self.budget > 0 {
            let found = self.output[at..self.end].find('{').map(|found| at + found);
            let Some(item) = self.spend(at, found) else {
                break;
            };
            at = item + 1;
            let before = self.output[..item].trim_ascii_end();
            let plausible = before.ends_with([',', '}', ']'])
                && self
                    .beginning_of(item)
                    .is_some_and(|own| own.name == name && (indent.is_none() || own.indent == indent));
            if plausible && let Some(end) = self.value(item) {
                let after = self.output[end..self.end].trim_ascii_start();
                if after.is_empty() || after.starts_with([',', ']']) {
                    return Some(item);
                }
            }
        }
        None
    }

    /// Returns the next position from which everything is well-formed: items up to the end of the array, and the text
    /// after it.
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

    /// Returns the bracket between two positions that ends the array, judging by the text after it.
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

    /// Deducts the cost of reading from one position to another, or to the end.
    pub(super) fn spend(&mut self, from: usize, to: Option<usize>) -> Option<usize> {
        self.budget = self.budget.saturating_sub(to.unwrap_or(self.end) - from + LOOK);
        to
    }

    /// Returns the end of the JSON value that begins at a position, if it is valid.
    pub(super) fn value(&mut self, at: usize) -> Option<usize> {
        self.reach(at).ok()
    }

    /// Returns the same, or the position where the value breaks.
    fn reach(&mut self, at: usize) -> Result<usize, usize> {
        // In a hostile text, values begin at many positions and none of them ends.
        let end = (at + self.budget).min(self.end);
        let end = self.output.floor_char_boundary(end);
        let read = strict_end(self.output, (at, end));
        let (Ok(to) | Err(to)) = read;
        self.spend(at, Some(to.max(at)));
        read
    }

    /// Returns the beginning of the object at a position.
    pub(super) fn beginning_of(&self, object: usize) -> Option<Beginning<'t>> {
        let inside = self.output[object..self.end].strip_prefix('{')?.trim_ascii_start();
        let (name, after) = inside.strip_prefix('"')?.split_once('"')?;
        after.trim_ascii_start().starts_with(':').then(|| Beginning { name, indent: self.indent(object) })
    }

    /// Returns the likely beginning of a broken object: the first certain name in it.
    fn likely_beginning(&self, object: usize) -> Option<Beginning<'t>> {
        let output = self.output;
        let end = output.floor_char_boundary((object + LIKELY).min(self.end));
        let mut pieces = output[object..end].split('"').peekable();
        while let Some(name) = pieces.next() {
            let follows = pieces.peek().is_some_and(|after| after.trim_ascii_start().starts_with(':'));
            if follows && !name.is_empty() && !name.contains(['{', '}', '[', ']', ',', ':', '\n']) {
                let indent = if output[object..].starts_with('{') { self.indent(object) } else { None };
                return Some(Beginning { name, indent });
            }
        }
        None
    }

    /// Returns the white space before a position, if nothing else precedes it on its line.
    fn indent(&self, at: usize) -> Option<&'t str> {
        let output = self.output;
        let before = output[..at].trim_end_matches([' ', '\t']);
        before.ends_with('\n').then(|| &output[before.len()..at])
    }

    /// Returns whether members without an opening bracket belong to the previous object, because it lacks the first of
    /// these names.
    pub(super) fn continues(&self, object: (usize, usize), fragment: usize) -> bool {
        let parsed = parse(self.output, Span::new(object.0, object.1), self.caps);
        let (Ok(parsed), Some(Beginning { name, .. })) = (parsed, self.likely_beginning(fragment)) else {
            return false;
        };
        let object = &parsed.document;
        object.kind(Document::ROOT) == Kind::Object && object.member(Document::ROOT, name).is_none()
    }
}
