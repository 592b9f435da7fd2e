//! Memory in two kinds: what dies with a call lies end to end in an arena; what outlasts it is on the heap.
//!
//! A call's arena is beside its stack, so a fresh instance touches few pages, and no search for free memory is paid
//! for. Which kind an allocation is need not be known exactly: the arena starts again only when nothing in it is in use,
//! so something that outlasts a call in it costs room and nothing else, and where there is no room the heap is taken.
//!
//! The arena is the gap that the linker leaves between the stack and the data (`.cargo/config.toml`); without one there
//! is none, and everything is on the heap.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ptr,
};

#[global_allocator]
static ALLOCATOR: Allocator =
    Allocator { next: Cell::new(ptr::null_mut()), in_use: Cell::new(0), lasting: Cell::new(false) };

struct Allocator {
    /// Where the next allocation in the arena goes; null before the first.
    next: Cell<*mut u8>,
    /// How many allocations in the arena are in use.
    in_use: Cell<usize>,
    /// Whether what is allocated now outlasts the call.
    lasting: Cell<bool>,
}

// SAFETY: a module without shared memory has one thread.
unsafe impl Sync for Allocator {}

/// Run something whose allocations outlast the call. What it frees is overwritten with zeros: an instance may become a
/// component, which should not hold what nobody uses.
pub(crate) fn lasting<T>(run: impl FnOnce() -> T) -> T {
    let before = ALLOCATOR.lasting.replace(true);
    let result = run();
    ALLOCATOR.lasting.set(before);
    result
}

/// The first byte of the arena, and the one after its last.
fn arena() -> (*mut u8, *mut u8) {
    unsafe extern "C" {
        // Made by the linker; only their addresses mean anything.
        static __stack_high: u8;
        static __global_base: u8;
    }
    ((&raw const __stack_high).cast_mut(), (&raw const __global_base).cast_mut())
}

impl Allocator {
    fn in_arena(&self, pointer: *mut u8) -> bool {
        let (start, end) = arena();
        pointer >= start && pointer < end
    }

    /// Room in the arena, if there is enough.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let (start, end) = arena();
        let next = if self.in_use.get() == 0 { start } else { self.next.get() };
        let padding = next.align_offset(layout.align());
        let free = end.addr().checked_sub(next.addr())?.checked_sub(padding)?;
        if layout.size() > free {
            return None;
        }
        let taken = next.wrapping_add(padding);
        self.next.set(taken.wrapping_add(layout.size()));
        self.in_use.set(self.in_use.get() + 1);
        Some(taken)
    }
}

// SAFETY: memory in the arena is given out by `take` alone, between `next` and the arena's end, where nothing is in use:
// `next` moves back only to the start when nothing is, or over an allocation that ends at `next` and is given back.
// Everything else is the system allocator's, which is asked by the same layout each time.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.lasting.get() {
            false => self.take(layout),
            true => None,
        }
        // SAFETY: the caller's promise about `layout`.
        .unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if self.in_arena(pointer) {
            self.in_use.set(self.in_use.get() - 1);
            if pointer.wrapping_add(layout.size()) == self.next.get() {
                self.next.set(pointer);
            }
            return;
        }
        if self.lasting.get() {
            // SAFETY: the caller gives back all of it.
            unsafe { ptr::write_bytes(pointer, 0, layout.size()) };
        }
        // SAFETY: what is not in the arena came from there, by the same layout.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let in_arena = self.in_arena(pointer);
        if in_arena && pointer.wrapping_add(layout.size()) == self.next.get() {
            let (_, end) = arena();
            if size <= end.addr() - pointer.addr() {
                self.next.set(pointer.wrapping_add(size));
                return pointer;
            }
        }
        if in_arena && size <= layout.size() {
            // What is given back lies between others: it is of no use before they are.
            return pointer;
        }
        if !in_arena && !self.lasting.get() {
            // SAFETY: as for `dealloc`; `size` is the caller's promise.
            return unsafe { System.realloc(pointer, layout, size) };
        }
        // SAFETY: the caller promises that `size` makes a layout; `pointer` holds `layout.size()` bytes, and `moved` is
        // another allocation that holds `size`.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                ptr::copy_nonoverlapping(pointer, moved, layout.size().min(size));
                self.dealloc(pointer, layout);
            }
            moved
        }
    }
}
