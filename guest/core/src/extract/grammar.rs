//! What a fence is, and what it opens and closes, for those who read a text as a whole and those who read it byte by byte.

use serde::{Deserialize, Serialize};

/// Longer fences count as this long, which bounds how many lengths are looked for.
const MAX_FENCE: u32 = 16;

/// A run of backticks or tildes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) mark: u8,
    /// How many there are, at most [`MAX_FENCE`].
    pub(super) length: u32,
    /// Nothing but white space comes before it on its line.
    pub(crate) first: bool,
}

impl Run {
    pub(crate) fn new(mark: u8, length: usize, first: bool) -> Self {
        Run { mark, length: length.min(MAX_FENCE as usize) as u32, first }
    }

    /// One more of the same.
    pub(crate) fn longer(self) -> Self {
        Run { length: MAX_FENCE.min(self.length + 1), ..self }
    }

    pub(crate) fn length(self) -> usize {
        self.length as usize
    }

    pub(crate) fn is_fence(self) -> bool {
        self.length >= 3
    }

    /// Whether it can open a block. Prose has tildes elsewhere than at the start of a line.
    pub(crate) fn can_open(self) -> bool {
        self.is_fence() && (self.first || self.mark == b'`')
    }

    /// Whether it is long enough to close a block, or to end it where nothing else does.
    pub(crate) fn reaches(self, open: Run) -> bool {
        self.mark == open.mark && self.length >= open.length
    }

    /// The shortest run that closes a block that this one opens.
    pub(crate) fn shortest_close(self) -> Self {
        Run { first: true, ..self }
    }

    /// Whether it closes a block if nothing comes after it on its line.
    pub(crate) fn can_close(self, open: Run) -> bool {
        self.first && self.reaches(open)
    }
}

pub(crate) fn is_mark(byte: u8) -> bool {
    matches!(byte, b'`' | b'~')
}

/// Whether a byte ends the word behind a fence, which says what the block holds. The end of a line does too.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'{' | b'[')
}

/// Whether a block's content begins here, on the line of its marker.
pub(crate) fn begins_content(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// The marker that a word is.
pub(crate) fn marker<'m>(markers: &'m [String], word: &[u8]) -> Option<&'m String> {
    markers.iter().find(|marker| marker.as_bytes().eq_ignore_ascii_case(word))
}
