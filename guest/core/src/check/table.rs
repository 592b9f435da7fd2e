//! A table that selects the schemas that can hold for an object, by the string value of one member.

use super::names::Names;
use crate::{
    parse::{Document, Kind, NodeId},
    scan::hash,
};

/// Selects the schemas that can hold for an object, by one of its members.
#[derive(Clone)]
pub(super) struct Table {
    name: Box<str>,
    /// The strings that any of the schemas lists for the member.
    strings: Names,
    /// The end of each row in `numbers`. There is a row for each string, then one for all other strings, and one for
    /// objects without the member.
    ends: Vec<u32>,
    /// The schemas that can hold, in ascending order, row after row.
    numbers: Vec<u32>,
}

impl Table {
    /// Creates a table. `rows` holds the schemas that can match each string, then those that can match any other
    /// string, then those that can match an object without the member.
    pub(super) fn new(name: &str, strings: Names, rows: Vec<Vec<u32>>) -> Self {
        let (mut ends, mut numbers) = (Vec::new(), Vec::new());
        for row in rows {
            numbers.extend(row);
            ends.push(numbers.len() as u32);
        }
        Table { name: name.into(), strings, ends, numbers }
    }

    /// Returns the indices of the schemas that can hold for an object. `None` if all can.
    #[inline(never)]
    pub(super) fn possible(&self, document: &Document, at: NodeId) -> Option<&[u32]> {
        let row = match document.member(at, &self.name) {
            Some(value) if document.kind(value) == Kind::String => self.row_of(Some(document.string_bytes(value))),
            Some(_) => return None,
            None => self.row_of(None),
        };
        Some(self.row(row))
    }

    /// Returns the name of the member.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Returns the row for a string value of the member. `None` stands for objects without the member.
    pub(super) fn row_of(&self, string: Option<&[u8]>) -> usize {
        match string {
            Some(string) => self.strings.find(string, hash(string)).unwrap_or(self.ends.len() - 2),
            None => self.ends.len() - 1,
        }
    }

    /// Returns the indices of the schemas in a row.
    pub(super) fn row(&self, row: usize) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start as usize..self.ends[row] as usize]
    }
}
