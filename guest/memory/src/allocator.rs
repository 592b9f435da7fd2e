//! Two kinds of memory: allocations that end with a call are placed end to end in an arena, and allocations that
//! outlast it are on the heap.
//!
//! A call's arena is beside its stack and its data, so a fresh instance touches few pages, and searching for free
//! memory takes no time. The kind of an allocation need not be exact: an allocation in the arena that outlasts its call
//! only occupies room there until it is freed. If the arena is full, the heap is used.
//!
//! A verdict reads only a small part of the memory that outlasts a call. That part is copied to separate pages
//! (`pages.rs`). A fresh instance then reads few pages, and an image of its memory is small.
//!
//! The arena is the room that the linker leaves between the data and the end of an instance's initial memory
//! (`.cargo/config.toml`). The system's allocator only uses pages that it adds after that.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    arch::wasm32,
    cell::Cell,
    ops::Range,
    ptr,
};

use crate::{arena::Arena, pages::Pages};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { arena: Arena::new(), pages: Pages::new(), kind: Cell::new(Kind::Call) };

struct Allocator {
    arena: Arena,
    pages: Pages,
    /// The kind of the current allocations.
    kind: Cell<Kind>,
}

/// The lifetime of an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ends with the call.
    Call,
    /// Outlasts the call.
    Lasting,
    /// Outlasts the call, and is placed beside other allocations that are read with it.
    Together,
}

// SAFETY: a module without shared memory has one thread.
unsafe impl Sync for Allocator {}

/// Runs a closure whose allocations outlast the call. Freed memory is overwritten with zeros, because an instance may
/// become a component, which should not contain unused data.
pub fn lasting<T>(run: impl FnOnce() -> T) -> T {
    allocating(Kind::Lasting, run)
}

/// Runs a closure whose allocations outlast the call and are read together. Freed memory is overwritten as in
/// [`lasting`].
pub fn together<T>(run: impl FnOnce() -> T) -> T {
    allocating(Kind::Together, run)
}

fn allocating<T>(kind: Kind, run: impl FnOnce() -> T) -> T {
    let before = ALLOCATOR.kind.replace(kind);
    let result = run();
    ALLOCATOR.kind.set(before);
    result
}

/// Begins another call, if the previous one has ended.
pub fn begin_call() {
    ALLOCATOR.arena.begin_call();
}

/// Runs the body of a call. Afterwards, the arena starts again above the data that the call leaves there.
pub fn one_call<T>(run: impl FnOnce() -> T) -> T {
    let result = run();
    ALLOCATOR.arena.end_call();
    result
}

unsafe extern "C" {
    // The linker defines these symbols. Only their addresses have a meaning.
    static __heap_base: u8;
    static __heap_end: u8;
}

/// Returns the addresses of the arena.
fn room() -> Range<usize> {
    (&raw const __heap_base).addr()..(&raw const __heap_end).addr()
}

impl Allocator {
    /// Allocates on a page, if there is enough room.
    fn take_page(&self, layout: Layout) -> Option<*mut u8> {
        // If no memory is left, this returns a number that no page has.
        let at = self.pages.take(layout, || wasm32::memory_grow::<0>(1))?;
        Some(ptr::with_exposed_provenance_mut(at))
    }

    /// Allocates in the arena, if there is enough room.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let at = self.arena.take(room(), layout)?;
        Some((&raw const __heap_base).cast_mut().with_addr(at))
    }
}

// SAFETY: memory in the arena is allocated only by `Arena::take`, which returns no byte that is in use, inside `room`.
// Nothing else is there: the linker puts the stack and the data before it, and the system's allocator adds pages after
// it. A page of `pages` was added to the memory for it alone, and `Pages::take` returns each of its bytes once.
// Everything outside of both belongs to the system allocator, which gets the same layout each time; it touches no page
// that it has not added itself.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.kind.get() {
            Kind::Call => self.take(layout),
            Kind::Lasting => None,
            Kind::Together => self.take_page(layout),
        }
        // SAFETY: the caller's promise about `layout`.
        .unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if room().contains(&pointer.addr()) {
            self.arena.give_back(pointer.addr(), layout.size());
            return;
        }
        if self.kind.get() != Kind::Call {
            // SAFETY: the caller frees all of it.
            unsafe { ptr::write_bytes(pointer, 0, layout.size()) };
        }
        if self.pages.holds(pointer.addr()) {
            return;
        }
        // SAFETY: anything outside of the arena and the pages was allocated by `System`, with the same layout.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let in_arena = room().contains(&pointer.addr());
        if in_arena && self.arena.resize(room(), pointer.addr(), layout.size(), size) {
            return pointer;
        }
        if !in_arena && self.kind.get() == Kind::Call && !self.pages.holds(pointer.addr()) {
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
