//! Whether a unit is JSON: as it is, repaired, or not at all.

use super::{Recovery, Unit};
use crate::{
    parse::{Broken, Document, Edit, Kind, Span, parse},
    place::Place,
    repair::{Tail, repair_member, repair_value},
};

impl Recovery<'_, '_> {
    /// Whether a piece is JSON as it is.
    pub(super) fn strict(&self, start: usize, end: usize) -> Result<(), Broken> {
        let parsed = parse(self.output, Span::new(start, end), self.caps)?;
        // A number that the output ends with may have been longer.
        let is_number = parsed.document.kind(Document::ROOT) == Kind::Number;
        if is_number && Tail::of(self.output, end) == Tail::Open {
            return Err(Broken { at: end, cut_off: true, expected: "',' or ']'", place: Place::root() });
        }
        Ok(())
    }

    pub(super) fn item(&mut self, start: usize, end: usize) -> Unit {
        match self.strict(start, end) {
            Ok(()) => Unit { start, end, read: Ok(Vec::new()) },
            Err(broken) => self.broken(start, end, broken),
        }
    }

    /// An item that is not JSON as it is.
    pub(super) fn broken(&mut self, start: usize, end: usize, broken: Broken) -> Unit {
        Unit { start, end, read: self.repaired(repair_value, (start, end)).ok_or(broken) }
    }

    pub(super) fn member(&mut self, start: usize, end: usize) -> Unit {
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
}
