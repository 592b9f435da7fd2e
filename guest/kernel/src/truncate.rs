//! Truncates results: selects the units that the model reads. Units are whole items, lines or members, from both ends,
//! as far as there is room.

use seamgate_core::kernel_api::{sort, sort_by_key};
use serde::Serialize;

/// The bytes reserved for the text that says how much was left out.
pub(crate) const LEFT_OUT: usize = 48;

/// The maximum number of units that are themselves truncated because they take most of the room.
pub(crate) const MAX_CUT: usize = 4;

/// The minimum room for a part of a unit.
const MIN_CUT: usize = 80;

/// The number of a result's units that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) unit: &'static str,
    pub(crate) head: u64,
    pub(crate) tail: u64,
    pub(crate) of: u64,
}

impl Part {
    /// Adds the part that another truncation of the same result shows. Numbers of items take precedence over numbers of
    /// bytes or members.
    pub(crate) fn and(self, other: Part) -> Part {
        match (self.unit, other.unit) {
            (own, theirs) if own == theirs => {
                Part { head: self.head + other.head, tail: self.tail + other.tail, of: self.of + other.of, ..self }
            }
            (_, "items") => other,
            _ => self,
        }
    }
}

/// The limits of what may be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    /// The maximum number of units from the beginning, and from the end.
    pub(crate) head: usize,
    pub(crate) tail: usize,
}

/// The units that are shown.
pub(crate) struct Filled {
    /// The shown units in order, with their places.
    pub(crate) units: Vec<(usize, String)>,
    /// The number of whole units from the beginning, and from the end.
    head: usize,
    tail: usize,
    /// The number of all units.
    total: usize,
}

impl Filled {
    pub(crate) fn part(&self, unit: &'static str) -> Part {
        Part { unit, head: self.head as u64, tail: self.tail as u64, of: self.total as u64 }
    }

    /// Returns whether every unit is shown completely.
    pub(crate) fn is_all(&self) -> bool {
        self.head + self.tail == self.total
    }

    /// Returns the number of units that are not shown at all.
    pub(crate) fn left_out(&self) -> usize {
        self.total - self.units.len()
    }

    /// Returns the units, with a text in place of the units that are left out.
    pub(crate) fn with(self, left_out: impl FnOnce(usize) -> String) -> Vec<String> {
        let gap = self.units.iter().enumerate().position(|(index, (place, _))| index != *place);
        let (gap, count) = (gap.unwrap_or(self.units.len()), self.left_out());
        let mut units: Vec<String> = self.units.into_iter().map(|(_, unit)| unit).collect();
        if count > 0 {
            units.insert(gap, left_out(count));
        }
        units
    }
}

/// The operations on units, by position and within a number of bytes.
pub(crate) trait Units {
    /// Writes a unit as it is shown, if it fits.
    fn whole(&self, index: usize, bytes: usize) -> Option<String>;

    /// Writes a part of a unit that does not fit.
    fn cut(&self, index: usize, bytes: usize) -> Option<String>;

    /// Returns the approximate size of a unit, in bytes.
    fn size(&self, index: usize) -> usize;

    /// Returns whether a unit itself has units, which stay whole if the unit is truncated.
    fn is_list(&self, index: usize) -> bool;
}

/// Fills the room with units, separated by one byte. A unit larger than half of the room is shown in part if most of
/// the room would otherwise stay free. A unit larger than the room, and a list, are also shown in part.
pub(crate) fn fill(total: usize, room: Room, units: &dyn Units) -> Filled {
    let mut left = room.bytes;
    let (mut next, mut end) = (0, total);
    // From the beginning, and from the end.
    let (most, mut taken, mut is_open) = ([room.head, room.tail], [0; 2], [true; 2]);
    let (mut shown, mut large) = (Vec::new(), Vec::new());
    while next < end && is_open != [false; 2] {
        for side in 0..2 {
            is_open[side] &= taken[side] < most[side];
            if !is_open[side] || next == end {
                continue;
            }
            let index = if side == 0 { next } else { end - 1 };
            match left.checked_sub(1).and_then(|bytes| units.whole(index, bytes)) {
                Some(unit) => {
                    left = left.saturating_sub(unit.len() + 1);
                    shown.push((index, unit));
                }
                None if large.len() < MAX_CUT && (units.size(index) > room.bytes / 2 || units.is_list(index)) => {
                    large.push(index);
                }
                None => {
                    is_open[side] = false;
                    continue;
                }
            }
            taken[side] += 1;
            if side == 0 { next += 1 } else { end -= 1 }
        }
    }
    let tail = shown.iter().filter(|(index, _)| *index >= end).count();
    let head = shown.len() - tail;
    let is_mostly_free = left > room.bytes / 2;
    large.retain(|&index| is_mostly_free || units.size(index) > room.bytes || units.is_list(index));
    large.truncate((left / MIN_CUT).max(1));
    sort(&mut large);
    for (done, &index) in large.iter().enumerate() {
        let share = left / (large.len() - done);
        if share >= MIN_CUT
            && let Some(unit) = units.cut(index, share - 1)
        {
            left = left.saturating_sub(unit.len() + 1);
            shown.push((index, unit));
        }
    }
    sort_by_key(&mut shown, |(index, _)| *index);
    Filled { units: shown, head, tail, total }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of these lengths.
    struct Lengths<'l>(&'l [usize]);

    impl Units for Lengths<'_> {
        fn whole(&self, index: usize, bytes: usize) -> Option<String> {
            (self.0[index] <= bytes).then(|| "x".repeat(self.0[index]))
        }

        fn cut(&self, _: usize, bytes: usize) -> Option<String> {
            Some("c".repeat(bytes))
        }

        fn size(&self, index: usize) -> usize {
            self.0[index]
        }

        fn is_list(&self, _: usize) -> bool {
            false
        }
    }

    fn filled(lengths: &[usize], bytes: usize, head: usize, tail: usize) -> String {
        let filled = fill(lengths.len(), Room { bytes, head, tail }, &Lengths(lengths));
        assert_eq!(filled.part("lines").of, lengths.len() as u64);
        assert!(filled.units.iter().map(|(_, unit)| unit.len() + 1).sum::<usize>() <= bytes);
        filled
            .with(|count| format!("-{count}"))
            .iter()
            .map(|unit| &unit[..unit.len().min(2)])
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn whole_units_from_both_ends() {
        assert_eq!(filled(&[6; 3], 100, 9, 9), "xx xx xx");
        assert_eq!(filled(&[6; 1000], 100, 2, 1), "xx xx -9 xx");
        assert_eq!(filled(&[6; 12], 16, 9, 9), "xx -1 xx");
        assert_eq!(filled(&[6; 7], 3, 9, 9), "-7");
        assert_eq!(filled(&[], 100, 9, 9), "");
    }

    #[test]
    fn units_without_end_fill_the_room() {
        let filled = fill(1000, Room { bytes: 5000, head: usize::MAX, tail: usize::MAX }, &Lengths(&[49; 1000]));
        assert_eq!((filled.head, filled.tail, filled.left_out()), (50, 50, 900));
    }

    #[test]
    fn large_units_are_cut_where_the_room_is_free() {
        assert_eq!(filled(&[10, 5000, 10], 1000, 9, 9), "xx cc xx");
        assert_eq!(filled(&[5000, 5000, 10], 1000, 9, 9), "cc cc xx");
        assert_eq!(filled(&[400, 900, 400], 1000, 9, 9), "xx -1 xx");
        assert_eq!(filled(&[300, 5000, 300], 1000, 9, 9), "xx cc xx");
        assert_eq!(filled(&[5000, 10, 10, 10, 5000], 1000, 9, 9), "cc xx xx xx cc");
        assert_eq!(filled(&[5000; 9], 1000, 0, 0), "-9");
    }
}
