//! Which room in a call's arena is taken: allocations lie end to end, and what dies with the call is given back at once.
//!
//! Only addresses are counted here, and no memory is touched: so native code runs the same (`tests/fuzz/targets/arena.rs`).

use std::{alloc::Layout, cell::Cell, ops::Range};

/// The allocations of calls that have ended and that are still in use lie below `base`, those of this call between it and
/// `next`.
pub struct Arena {
    /// Where this call's allocations begin; zero where nothing lies before them.
    base: Cell<usize>,
    /// Where the next one goes, while any of this call's is in use.
    next: Cell<usize>,
    /// How many of this call's are in use.
    in_use: Cell<usize>,
    /// How many of earlier calls' are.
    left: Cell<usize>,
    /// Whether the next argument is another call's.
    ended: Cell<bool>,
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// An arena in which nothing is in use.
    pub const fn new() -> Self {
        let (base, next) = (Cell::new(0), Cell::new(0));
        Arena { base, next, in_use: Cell::new(0), left: Cell::new(0), ended: Cell::new(false) }
    }

    /// A call has ended; its results may still be in use.
    pub fn end_call(&self) {
        self.ended.set(true);
    }

    /// A call begins: its first argument comes. What is in use outlasts the calls before.
    pub fn begin_call(&self) {
        if self.ended.replace(false) && self.in_use.get() > 0 {
            self.left.set(self.left.get() + self.in_use.replace(0));
            self.base.set(self.next.get());
        }
    }

    /// Room for an allocation, if there is enough. `room` is all of the arena, the same each time.
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

    /// Take an allocation back.
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

    /// Whether an allocation could be given another size where it is.
    pub fn resize(&self, room: Range<usize>, at: usize, size: usize, to: usize) -> bool {
        if at >= self.base.get() && at + size == self.next.get() && to <= room.end - at {
            self.next.set(at + to);
            return true;
        }
        // What would be given back lies between others.
        to <= size
    }
}
