//! Pages of memory that hold what is read together: each was added for this, and is filled from its beginning. Nothing on them is
//! used again: what lies there stays.
//!
//! Only addresses are counted here, and no memory is touched: so native code runs the same (`tests/fuzz/targets/arena.rs`).

use std::{alloc::Layout, cell::Cell};

/// The size of a page, in bytes.
pub const PAGE: usize = 64 * 1024;

/// So many pages of the memory can be told apart: 64 MiB, as much as a host gives.
const MOST: usize = 1024;

/// Each allocation lies between those before it and the end of the last page: `next`, and `left` bytes from there.
pub struct Pages {
    next: Cell<usize>,
    left: Cell<usize>,
    /// Which pages of the memory these are, a bit for each.
    own: [Cell<u32>; MOST / 32],
}

impl Default for Pages {
    fn default() -> Self {
        Self::new()
    }
}

impl Pages {
    /// No pages.
    pub const fn new() -> Self {
        Pages { next: Cell::new(0), left: Cell::new(0), own: [const { Cell::new(0) }; MOST / 32] }
    }

    /// Room for an allocation, if it is small enough for a page and there is one. `add` adds one to the memory and gives its
    /// number, or one that no page has.
    pub fn take(&self, layout: Layout, add: impl FnOnce() -> usize) -> Option<usize> {
        // A page begins at a multiple of its size.
        if layout.size() > PAGE || layout.align() > PAGE {
            return None;
        }
        let padding = |next: usize| next.next_multiple_of(layout.align()) - next;
        if padding(self.next.get()) + layout.size() > self.left.get() {
            let page = add();
            let own = self.own.get(page / 32)?;
            own.set(own.get() | 1 << (page % 32));
            self.next.set(page * PAGE);
            self.left.set(PAGE);
        }
        let at = self.next.get() + padding(self.next.get());
        let end = at + layout.size();
        self.left.set(self.left.get() - (end - self.next.get()));
        self.next.set(end);
        Some(at)
    }

    /// Whether an address is on one of the pages.
    pub fn holds(&self, at: usize) -> bool {
        let page = at / PAGE;
        self.own.get(page / 32).is_some_and(|own| own.get() & 1 << (page % 32) != 0)
    }
}
