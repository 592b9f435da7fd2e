//! The bookkeeping of a call's arena: allocations lie end to end, and those that die with the call are freed at once.
//!
//! This module only counts addresses and touches no memory, so native code runs the same
//! (`tests/fuzz/targets/arena.rs`).

use std::{alloc::Layout, cell::Cell, ops::Range};

/// An arena. Allocations of ended calls that are still in use lie below `base`, those of this call between it and
/// `next`.
pub struct Arena {
    /// The address at which this call's allocations begin; zero if nothing lies before them.
    base: Cell<usize>,
    /// The address of the next allocation, while any of this call's is in use.
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

    /// Begins a call when its first argument arrives. Allocations that are in use outlast the calls before.
    pub fn begin_call(&self) {
        if self.ended.replace(false) && self.in_use.get() > 0 {
            self.left.set(self.left.get() + self.in_use.replace(0));
            self.base.set(self.next.get());
        }
    }

    /// Allocates memory, if there is enough room. `room` is the whole arena, the same each time.
    // Between `base` and `next` lie all that this call has in use, and below `base` what others have: so from `next` on, or
    // from `base` on where this call has nothing in use, all is free.
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
            // What lies last makes room; all else does when nothing is in use.
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
        // What would be given back lies between others.
        to <= size
    }
}
