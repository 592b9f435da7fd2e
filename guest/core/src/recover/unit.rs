//! Whether a unit is JSON: as it is, repaired, or not at all.

use super::{Recovery, Unit};
use crate::{
    parse::{Broken, Document, Edit, Kind, Span, parse},
    place::Place,
    repair::{Tail, repair_member, repair_value},
};

/// After so many units in a row that no repair mends, none is tried any more.
const MAX_IN_VAIN: usize = 256;

impl Recovery<'_, '_> {
    /// Whether a piece is JSON as it is.
    pub(super) fn strict(&self, start: usize, end: usize) -> Result<(), Broken> {
        let parsed = parse(self.output, Span::new(start, end), self.caps)?;
        if self.may_be_longer(parsed.document.kind(Document::ROOT), end) {
            return Err(Broken { at: end, cut_off: true, expected: "',' or ']'", place: Place::root() });
        }
        Ok(())
    }

    /// Whether a value that ends here may have been longer: a number that the output ends with.
    fn may_be_longer(&self, kind: Kind, end: usize) -> bool {
        kind == Kind::Number && Tail::of(self.output, end) == Tail::Open
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
                let document = &parsed.document;
                let mut members = document.members(Document::ROOT);
                match (members.next(), members.next()) {
                    (Some((_, value)), None) if !self.may_be_longer(document.kind(value), end) => Ok(Vec::new()),
                    _ => Err(()),
                }
            }
            Err(_) => self.repaired(repair_member, (start, end)).ok_or(()),
        };
        Unit { start, end, read: read.map_err(|()| no_member(start)) }
    }

    fn repaired(
        &mut self,
        repair: fn(&str, (usize, usize)) -> Option<Vec<Edit>>,
        piece: (usize, usize),
    ) -> Option<Vec<Edit>> {
        if !self.repairs || self.repairs_left == 0 || self.in_vain == MAX_IN_VAIN {
            return None;
        }
        let Some(edits) = repair(self.output, piece) else {
            self.in_vain += 1;
            return None;
        };
        self.in_vain = 0;
        let left = self.repairs_left.checked_sub(edits.len());
        self.repairs_left = left.unwrap_or_default();
        left.map(|_| edits)
    }
}

/// What is left of it is in the change that takes it out.
pub(super) fn no_member(at: usize) -> Broken {
    Broken { at, cut_off: false, expected: "a member", place: Place::root() }
}
