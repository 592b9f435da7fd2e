//! Pages of memory for data that is read together. Each page is added for this purpose and filled from its beginning.
//! Its memory is never reused, so allocations stay in place.
//!
//! This module only computes addresses and touches no memory, so that native code can run it
//! (`tests/fuzz/targets/arena.rs`).

use std::{alloc::Layout, cell::Cell};

/// The size of a page, in bytes.
pub const PAGE: usize = 64 * 1024;

/// The maximum number of memory pages that can be distinguished: 64 MiB, which is the maximum memory that a host
/// provides.
const MOST: usize = 1024;

/// Pages of memory. The next allocation begins at `next`, where `left` bytes are free up to the end of the last page.
pub struct Pages {
    next: Cell<usize>,
    left: Cell<usize>,
    /// A bit for each page of the memory. Set for the pages of this set.
    own: [Cell<u32>; MOST / 32],
}

impl Default for Pages {
    fn default() -> Self {
        Self::new()
    }
}

impl Pages {
    /// Creates an empty set of pages.
    pub const fn new() -> Self {
        Pages { next: Cell::new(0), left: Cell::new(0), own: [const { Cell::new(0) }; MOST / 32] }
    }

    /// Allocates memory if it is small enough for a page and a page is available. `add` adds a page to the memory and
    /// returns its number, or a number that no page has.
    pub fn take(&self, layout: Layout, add: impl FnOnce() -> usize) -> Option<usize> {
        // A page begins at a multiple of the page size.
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

    /// Returns whether an address is on one of the pages.
    pub fn holds(&self, at: usize) -> bool {
        let page = at / PAGE;
        self.own.get(page / 32).is_some_and(|own| own.get() & 1 << (page % 32) != 0)
    }
}
