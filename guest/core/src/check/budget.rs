//! The cost that hints may have.

use std::cell::Cell;

/// The cost, in nodes, that the hints on one document may still have. Once it is spent, messages have no more hints.
#[derive(Debug)]
pub(super) struct Budget(Cell<u32>);

impl Default for Budget {
    fn default() -> Self {
        Budget(Cell::new(20_000))
    }
}

impl Budget {
    /// Takes a cost from it. Returns whether there was as much.
    pub(super) fn pays(&self, cost: u32) -> bool {
        let left = self.0.get().checked_sub(cost);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}
