//! Allocations, resizes and ends of calls -> the arena of `guest/memory/src/allocator.rs` over a buffer. No two
//! allocations in use overlap, each keeps its content, and all memory is free again when no allocation is in use. The
//! same allocations on pages: no two overlap, and each is on a page that was added for them.
#![no_main]

use std::alloc::Layout;

use libfuzzer_sys::fuzz_target;
use seamgate_memory::{Arena, PAGE, Pages};

/// The arena's address and length. Neither is aligned to more than a byte.
const START: usize = 4097;
const LENGTH: usize = 16 * 1024;

/// An allocation in use: its address, its layout, and the byte that fills it.
#[derive(Clone, Copy)]
struct Held {
    at: usize,
    layout: Layout,
    mark: u8,
}

struct Memory {
    arena: Arena,
    bytes: Vec<u8>,
    held: Vec<Held>,
    marks: u8,
}

impl Memory {
    fn room() -> std::ops::Range<usize> {
        START..START + LENGTH
    }

    fn of(&mut self, at: usize, size: usize) -> &mut [u8] {
        &mut self.bytes[at - START..at - START + size]
    }

    fn take(&mut self, layout: Layout) -> Option<usize> {
        let at = self.arena.take(Memory::room(), layout)?;
        assert_eq!(at % layout.align(), 0, "not aligned");
        let end = at + layout.size();
        assert!(START <= at && end <= START + LENGTH, "outside of the arena");
        let is_apart = |held: &Held| end <= held.at || held.at + held.layout.size() <= at;
        assert!(self.held.iter().all(is_apart), "two allocations overlap");
        self.marks = self.marks.wrapping_add(1);
        let mark = self.marks;
        self.of(at, layout.size()).fill(mark);
        self.held.push(Held { at, layout, mark });
        Some(at)
    }

    fn give_back(&mut self, index: usize) {
        let Held { at, layout, mark } = self.held.swap_remove(index);
        assert!(self.of(at, layout.size()).iter().all(|byte| *byte == mark), "an allocation was written over");
        self.arena.give_back(at, layout.size());
    }

    fn resize(&mut self, index: usize, to: usize) {
        let Held { at, layout, mark } = self.held[index];
        let Ok(other) = Layout::from_size_align(to, layout.align()) else { return };
        if self.arena.resize(Memory::room(), at, layout.size(), to) {
            self.of(at, to).fill(mark);
            self.held[index].layout = other;
        } else if self.take(other).is_some() {
            self.give_back(index);
        }
    }
}

/// The pages, the pages that were added, and the end of the last allocation.
struct Together {
    pages: Pages,
    added: Vec<usize>,
    end: usize,
}

impl Together {
    fn take(&mut self, layout: Layout) {
        // Other code also adds pages, until none are left.
        let next = self.added.last().map_or(3, |page| page + 1 + layout.size() % 3);
        let page = if next < 40 { next } else { usize::MAX };
        let Some(at) = self.pages.take(layout, || {
            self.added.push(page);
            page
        }) else {
            assert_eq!(self.added.pop_if(|page| *page == usize::MAX), Some(usize::MAX), "there was room");
            return;
        };
        let end = at + layout.size();
        assert!(self.end <= at, "two allocations overlap");
        assert!(at.is_multiple_of(layout.align()), "not aligned");
        assert!(self.added.contains(&(at / PAGE)) && (end - 1) / PAGE == at / PAGE, "outside of a page");
        assert!(self.pages.holds(at) && self.pages.holds(end - 1), "it is not known");
        assert!(!self.pages.holds((at / PAGE + 1) * PAGE), "another page is taken for one of them");
        self.end = end;
    }
}

fuzz_target!(|input: &[u8]| {
    let mut together = Together { pages: Pages::new(), added: Vec::new(), end: 0 };
    for step in input.chunks_exact(3) {
        let size = (usize::from(step[1]) << (step[2] & 7)) + 1;
        let _ = Layout::from_size_align(size, 1 << (step[2] >> 5)).map(|layout| together.take(layout));
    }
    let mut memory = Memory { arena: Arena::new(), bytes: vec![0; LENGTH], held: Vec::new(), marks: 0 };
    for step in input.chunks_exact(3) {
        let size = usize::from(step[1]) * usize::from(step[2] & 0x1f) + 1;
        let which = |memory: &Memory| usize::from(step[1]).checked_rem(memory.held.len());
        match step[0] % 8 {
            0..=2 => drop(Layout::from_size_align(size, 1 << (step[2] >> 5)).map(|layout| memory.take(layout))),
            3 | 4 => which(&memory).into_iter().for_each(|index| memory.give_back(index)),
            5 => which(&memory).into_iter().for_each(|index| memory.resize(index, size)),
            6 => memory.arena.end_call(),
            _ => memory.arena.begin_call(),
        }
    }
    while !memory.held.is_empty() {
        memory.give_back(memory.held.len() - 1);
    }
    let whole = Layout::from_size_align(LENGTH, 1);
    assert!(whole.is_ok_and(|layout| memory.take(layout).is_some()), "the arena does not begin again");
});
