//! The bookkeeping of a call's arena. Allocations are placed end to end, and those that end with the call are freed at
//! once.
//!
//! This module only computes addresses and touches no memory, so that native code can run it
//! (`tests/fuzz/targets/arena.rs`).

use std::{alloc::Layout, cell::Cell, ops::Range};

/// An arena. Allocations of earlier calls that are still in use are below `base`. Those of this call are between `base`
/// and `next`.
pub struct Arena {
    /// The address at which this call's allocations begin. Zero if no allocation precedes them.
    base: Cell<usize>,
    /// The address of the next allocation, while any allocation of this call is in use.
    next: Cell<usize>,
    /// The number of this call's allocations that are in use.
    in_use: Cell<usize>,
    /// The number of earlier calls' allocations that are in use.
    left: Cell<usize>,
    /// `true` if the next argument belongs to another call.
    ended: Cell<bool>,
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// Creates an arena in which nothing is in use.
    pub const fn new() -> Self {
        let (base, next) = (Cell::new(0), Cell::new(0));
        Arena { base, next, in_use: Cell::new(0), left: Cell::new(0), ended: Cell::new(false) }
    }

    /// Ends a call. Its results may still be in use.
    pub fn end_call(&self) {
        self.ended.set(true);
    }

    /// Begins a call when its first argument arrives. Allocations in use then outlast the earlier calls.
    pub fn begin_call(&self) {
        if self.ended.replace(false) && self.in_use.get() > 0 {
            self.left.set(self.left.get() + self.in_use.replace(0));
            self.base.set(self.next.get());
        }
    }

    /// Allocates memory, if there is enough room. `room` is the whole arena, and must be the same each time.
    // This call's allocations are between `base` and `next`, and those of earlier calls are below `base`. Everything
    // from `next` on is free, or from `base` on if this call has no allocation in use.
    pub fn take(&self, room: Range<usize>, layout: Layout) -> Option<usize> {
        let free = if self.in_use.get() == 0 { self.base.get().max(room.start) } else { self.next.get() };
        let at = free.checked_next_multiple_of(layout.align())?;
        let end = at.checked_add(layout.size())?;
        if end > room.end {
            return None;
        }
        self.next.set(end);
        self.in_use.set(self.in_use.get() + 1);
        Some(at)
    }

    /// Frees an allocation.
    pub fn give_back(&self, at: usize, size: usize) {
        if at >= self.base.get() {
            self.in_use.set(self.in_use.get() - 1);
            // Freeing the last allocation makes room at once. All other room becomes free when no allocation is in use.
            if at + size == self.next.get() {
                self.next.set(at);
            }
            return;
        }
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            self.base.set(0);
        }
    }

    /// Returns whether an allocation could be resized in place.
    pub fn resize(&self, room: Range<usize>, at: usize, size: usize, to: usize) -> bool {
        if at >= self.base.get() && at + size == self.next.get() && to <= room.end - at {
            self.next.set(at + to);
            return true;
        }
        // The room to give back is between other allocations.
        to <= size
    }
}
