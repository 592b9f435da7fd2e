//! Decides whether a unit is valid JSON, becomes valid after repair, or cannot be repaired.

use super::{Recovery, Repairs, Unit};
use crate::{
    parse::{Document, Edit, Span, parse, strict_end},
    repair::{Tail, repair_member, repair_value},
};

/// Repairs a piece of the output. If the last argument is `true`, keeps a string that was cut off.
type Repair = fn(&str, (usize, usize), bool) -> Option<Vec<Edit>>;

/// The number of consecutive units without a successful repair after which no further repair is tried.
const MAX_IN_VAIN: usize = 256;

impl Recovery<'_, '_> {
    /// Returns whether a piece is valid JSON without changes.
    pub(super) fn is_strict(&self, start: usize, end: usize) -> bool {
        strict_end(self.output, (start, end)).is_ok_and(|value| self.output[value..end].trim_ascii_start().is_empty())
            && !self.may_be_longer(end)
    }

    /// Returns whether JSON that ends here may have been longer: it is a number at the end of the output.
    fn may_be_longer(&self, end: usize) -> bool {
        self.output[..end].ends_with(|last: char| last.is_ascii_digit()) && Tail::of(self.output, end) == Tail::Open
    }

    pub(super) fn item(&mut self, start: usize, end: usize) -> Unit {
        if self.is_strict(start, end) { Unit { start, end, read: Some(Vec::new()) } } else { self.broken(start, end) }
    }

    /// Handles an item that is not valid JSON.
    pub(super) fn broken(&mut self, start: usize, end: usize) -> Unit {
        Unit { start, end, read: self.repaired(repair_value, (start, end)) }
    }

    pub(super) fn member(&mut self, start: usize, end: usize) -> Unit {
        let text = format!("{{{}}}", &self.output[start..end]);
        let read = match parse(&text, Span::new(0, text.len()), self.caps) {
            Ok(parsed) => {
                let document = &parsed.document;
                let mut members = document.members(Document::ROOT);
                let is_one = members.next().is_some() && members.next().is_none();
                (is_one && !self.may_be_longer(end)).then(Vec::new)
            }
            Err(_) => self.repaired(repair_member, (start, end)),
        };
        Unit { start, end, read }
    }

    fn repaired(&mut self, repair: Repair, piece: (usize, usize)) -> Option<Vec<Edit>> {
        if self.repairs == Repairs::None || self.repairs_left == 0 || self.in_vain == MAX_IN_VAIN {
            return None;
        }
        let Some(edits) = repair(self.output, piece, self.repairs == Repairs::Keeping) else {
            self.in_vain += 1;
            return None;
        };
        self.in_vain = 0;
        let left = self.repairs_left.checked_sub(edits.len());
        self.repairs_left = left.unwrap_or_default();
        left.map(|_| edits)
    }
}
