//! Snapshots of the changes that a contract or profile made to the memory of an instance.
//!
//! A fresh instance that begins from a snapshot holds the compiled contract, and is otherwise like any fresh instance:
//! no state outside the memory survives a call, because the module's only mutable global is the stack pointer, which
//! the call restores.

use std::ops::Range;

use wasmtime::{Memory, Result, Store};

use super::{engine::STACK, limiter::MemoryLimiter};

/// The size of a page of memory, in bytes.
const PAGE: usize = 64 * 1024;

/// The distance in bytes up to which neighbouring pieces are joined, because each piece has a fixed cost.
const NEAR: usize = 64;

/// The difference between the memory of an instance and that of a fresh one.
#[derive(Debug)]
pub(crate) struct MemorySnapshot {
    /// The size of the memory, in bytes.
    size: usize,
    /// The offset and the bytes of each piece, in ascending order and without overlap.
    pieces: Vec<(usize, Box<[u8]>)>,
}

impl MemorySnapshot {
    /// Takes a snapshot of everything that was written to a memory since its content was `before`. Omits the stack,
    /// which is the lowest part of the memory, because nothing on it is used between calls.
    pub(crate) fn since(before: &[u8], after: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let is_same = |at: usize, end: usize| before.get(at..end).unwrap_or_default() == &after[at..end];
        let mut begun: Option<(usize, usize)> = None;
        for at in (STACK..after.len()).step_by(NEAR) {
            let end = (at + NEAR).min(after.len());
            let fresh = before.len() <= at && after[at..end].iter().all(|byte| *byte == 0);
            match &mut begun {
                _ if fresh || is_same(at, end) => {
                    pieces.extend(begun.take());
                }
                Some((_, until)) => *until = end,
                None => begun = Some((at, end)),
            }
        }
        pieces.extend(begun);
        let piece = |(start, end): (usize, usize)| (start, Box::from(&after[start..end]));
        MemorySnapshot { size: after.len(), pieces: pieces.into_iter().map(piece).collect() }
    }

    /// Returns the number of bytes in the snapshot.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.pieces.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Returns whether the snapshot has a byte between two addresses.
    pub(crate) fn touches(&self, addresses: Range<usize>) -> bool {
        self.within(&addresses).next().is_some()
    }

    /// Copies the part of the snapshot that lies in a page to that page.
    pub(crate) fn lay_over(&self, address: usize, page: &mut [u8]) {
        let end = address + page.len();
        for (at, bytes) in self.within(&(address..end)) {
            let (from, to) = ((*at).max(address), (at + bytes.len()).min(end));
            page[from - address..to - address].copy_from_slice(&bytes[from - at..to - at]);
        }
    }

    /// Returns the pieces that have a byte between two addresses.
    fn within(&self, addresses: &Range<usize>) -> impl Iterator<Item = &(usize, Box<[u8]>)> {
        let first = self.pieces.partition_point(|(at, bytes)| at + bytes.len() <= addresses.start);
        let end = addresses.end;
        self.pieces.iter().skip(first).take_while(move |(at, _)| *at < end)
    }

    /// Writes the snapshot to the memory of a fresh instance.
    ///
    /// # Errors
    ///
    /// The memory cannot grow to the size of the snapshot.
    pub(crate) fn restore(&self, memory: Memory, store: &mut Store<MemoryLimiter>) -> Result<()> {
        let missing = self.size.saturating_sub(memory.data_size(&*store)).div_ceil(PAGE);
        if missing > 0 {
            memory.grow(&mut *store, missing as u64)?;
        }
        for (at, bytes) in &self.pieces {
            memory.write(&mut *store, *at, bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_what_changed_above_the_stack() {
        let before = vec![7; STACK + 10 * NEAR + 5];
        let mut after = before.clone();
        after[3] = 0;
        after[STACK + 2 * NEAR] = 1;
        after[STACK + 3 * NEAR + 1] = 1;
        after[STACK + 10 * NEAR + 4] = 1;
        after.resize(before.len() + 4 * NEAR, 0);
        *after.last_mut().expect("a byte") = 9;
        let snapshot = MemorySnapshot::since(&before, &after);
        let mut restored = before.clone();
        restored.resize(snapshot.size, 0);
        for (at, bytes) in &snapshot.pieces {
            restored[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        assert_eq!(restored[STACK..], after[STACK..]);
        assert_eq!(restored[3], 7);
        assert!(snapshot.bytes() < 8 * NEAR, "{}", snapshot.bytes());
    }
}
