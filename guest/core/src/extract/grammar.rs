//! Defines fences, and what they open and close. Both extractors use this: the one for whole texts, and the one that
//! receives text byte by byte.

use serde::{Deserialize, Serialize};

/// The length at which all fences count as equal. This bounds the number of lengths to search for.
const MAX_FENCE: u32 = 16;

/// A run of backticks or tildes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) mark: u8,
    /// The number of marks, at most [`MAX_FENCE`].
    pub(super) length: u32,
    /// `true` if only white space precedes it on its line.
    pub(crate) first: bool,
}

impl Run {
    pub(crate) fn new(mark: u8, length: usize, first: bool) -> Self {
        Run { mark, length: length.min(MAX_FENCE as usize) as u32, first }
    }

    /// Returns the run with one more mark.
    pub(crate) fn longer(self) -> Self {
        Run { length: MAX_FENCE.min(self.length + 1), ..self }
    }

    pub(crate) fn length(self) -> usize {
        self.length as usize
    }

    pub(crate) fn is_fence(self) -> bool {
        self.length >= 3
    }

    /// Returns whether the run can open a block. In prose, tildes also occur in the middle of a line.
    pub(crate) fn can_open(self) -> bool {
        self.is_fence() && (self.first || self.mark == b'`')
    }

    /// Returns whether the run is long enough to close a block, or to end it if nothing else does.
    pub(crate) fn reaches(self, open: Run) -> bool {
        self.mark == open.mark && self.length >= open.length
    }

    /// Returns the shortest run that closes a block opened by this one.
    pub(crate) fn shortest_close(self) -> Self {
        Run { first: true, ..self }
    }

    /// Returns whether the run closes a block if nothing follows on its line.
    pub(crate) fn can_close(self, open: Run) -> bool {
        self.first && self.reaches(open)
    }
}

pub(crate) fn is_mark(byte: u8) -> bool {
    matches!(byte, b'`' | b'~')
}

/// Returns whether a byte ends the word after a fence that names the content. The end of a line also ends it.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'{' | b'[')
}

/// Returns whether a block's content can begin with this byte, on the line of its marker.
pub(crate) fn begins_content(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// Returns the marker that equals a word.
pub(crate) fn marker<'m>(markers: &'m [String], word: &[u8]) -> Option<&'m String> {
    markers.iter().find(|marker| marker.as_bytes().eq_ignore_ascii_case(word))
}
