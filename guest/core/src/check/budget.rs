//! The budget for hints.

use std::cell::Cell;

/// The remaining cost, in nodes, of hints on one document. Once it is spent, further messages get no hints.
#[derive(Debug)]
pub(super) struct Budget(Cell<u32>);

impl Default for Budget {
    fn default() -> Self {
        Budget(Cell::new(20_000))
    }
}

impl Budget {
    /// Deducts a cost. Returns whether the budget was sufficient.
    pub(super) fn pays(&self, cost: u32) -> bool {
        let left = self.0.get().checked_sub(cost);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}
