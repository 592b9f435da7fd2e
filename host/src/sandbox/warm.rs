//! Warm instances, which are reused for the next call. Before that, their memory is restored to that of a fresh
//! instance.
//!
//! Dropping an instance and creating another takes longer than an ordinary verdict, because Wasmtime asks the kernel
//! about every page that the instance has read. This module asks only whether the call caused a page fault. A call
//! without a page fault has written only to pages that were already private. These pages are known, and are overwritten
//! with the bytes of a fresh instance. After a call that caused a page fault, the kernel lists the private pages again.
//! A page that many consecutive calls left unchanged is returned to the kernel, so that it takes no time until a call
//! writes to it.
//!
//! Nothing else differs from a fresh instance. The module's only mutable global is the stack pointer, which a call
//! restores when it returns, and the module has no instruction that changes a table or drops a segment (a test below
//! checks both). An instance that trapped, grew its memory, or ran on a stack of its own is not reused.

use std::{collections::BTreeMap, sync::Arc};

use wasmparser::Operator;
use wasmtime::Store;

use super::{
    engine::KEEP_RESIDENT, exports::module::Handles, faults::PageFaults, limiter::MemoryLimiter,
    snapshot::MemorySnapshot,
};
use crate::system;

/// Returns whether an instruction changes only linear memory and globals, and neither tables nor segments.
///
/// The gate reuses an instance by restoring its memory, so its module must have no other instructions. Tools that build
/// a component can check this. [`Operator`] is a type of `wasmparser`, in the version that Wasmtime uses.
pub fn stays_in_memory(operator: &Operator) -> bool {
    !matches!(
        operator,
        Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. }
            | Operator::DataDrop { .. }
    )
}

/// The most bytes that calls may write outside the instance's snapshot. An instance with more is not reused.
const MOST_WRITTEN: usize = KEEP_RESIDENT;

/// The largest total size of a reused instance's private pages, in bytes.
const MOST_OWN: usize = 4 << 20;

/// The number of consecutive calls that must leave a page unchanged before it is returned to the kernel. Writing to the
/// page again then takes a page fault and a list of all pages, as long as some tens of comparisons.
const IDLE: u8 = 100;

/// An instance that waits for its next call.
pub(crate) struct WarmInstance {
    pub(crate) store: Store<MemoryLimiter>,
    pub(crate) handles: Handles,
    pub(crate) baseline: Baseline,
    written: Vec<Page>,
}

/// The state that an instance is restored to.
#[derive(Clone)]
pub(crate) struct Baseline {
    /// The snapshot of a contract or profile, if any.
    pub(crate) snapshot: Option<Arc<MemorySnapshot>>,
    /// The size of the memory, in bytes.
    pub(crate) size: usize,
}

/// Observes an instance that may be reused.
pub(crate) struct Watch {
    /// The page faults of the thread before the call.
    faults: PageFaults,
    /// The pages that may differ from those of a fresh instance. `None` before the kernel has listed them.
    written: Option<Vec<Page>>,
}

/// A page of the system, and its content in a fresh instance.
struct Page {
    number: usize,
    original: Original,
    /// `true` if returning the page to the kernel restores this content, because no part of it comes from a snapshot.
    is_given: bool,
    /// The number of consecutive calls that left the page unchanged.
    idle: u8,
}

#[derive(Clone)]
enum Original {
    Zeros,
    Bytes(Arc<[u8]>),
}

/// The pages of a fresh instance without a snapshot, by number. Contains the pages that any call has written to.
#[derive(Clone, Default)]
pub(crate) struct PristinePages(BTreeMap<usize, Original>);

/// The reason why an instance is not reused.
pub(crate) enum NotReusable {
    /// The content of these pages in a fresh instance is not yet known.
    Unknown(Vec<usize>),
    Other,
}

impl Watch {
    /// Observes a new instance. `None` if the system reports no page faults.
    pub(crate) fn new() -> Option<Self> {
        Some(Watch { faults: PageFaults::before_call()?, written: None })
    }

    #[cfg(test)]
    pub(crate) fn is_known(&self) -> bool {
        self.written.is_some()
    }

    /// Observes an instance that is reused.
    fn again(written: Vec<Page>) -> Option<Self> {
        Some(Watch { faults: PageFaults::before_call()?, written: Some(written) })
    }
}

impl WarmInstance {
    /// Returns whether the instance began from this snapshot, or without one if this is `None`.
    pub(crate) fn begins_from(&self, snapshot: Option<&Arc<MemorySnapshot>>) -> bool {
        match (&self.baseline.snapshot, snapshot) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Takes the instance for a call.
    pub(crate) fn wake(self) -> (Store<MemoryLimiter>, Handles, Baseline, Option<Watch>) {
        (self.store, self.handles, self.baseline, Watch::again(self.written))
    }

    /// Restores an instance to its baseline, if possible.
    pub(crate) fn rest(
        mut store: Store<MemoryLimiter>,
        handles: Handles,
        baseline: Baseline,
        watch: Watch,
        pristine: impl FnOnce() -> Arc<PristinePages>,
    ) -> Result<Self, NotReusable> {
        let memory = handles.memory.data_mut(&mut store);
        if memory.len() != baseline.size {
            return Err(NotReusable::Other);
        }
        let is_known = watch.faults.are_none_since();
        let mut written = match watch.written {
            Some(written) if is_known => written,
            before => {
                if before.is_none() && !system::without_huge_pages(memory) {
                    return Err(NotReusable::Other);
                }
                let most = MOST_OWN / system::page_size();
                let numbers =
                    system::written(memory).filter(|numbers| numbers.len() <= most).ok_or(NotReusable::Other)?;
                pristine().pages(numbers, before.unwrap_or_default(), baseline.snapshot.as_deref())?
            }
        };
        let size = system::page_size();
        let mut is_any_idle = false;
        for page in &mut written {
            let bytes = memory.chunks_mut(size).nth(page.number).ok_or(NotReusable::Other)?;
            page.idle = if page.original.restore(bytes) { 0 } else { page.idle.saturating_add(1) };
            is_any_idle |= page.idle >= IDLE && page.is_given;
        }
        if is_any_idle {
            give_back(&mut written, memory);
        }
        Ok(WarmInstance { store, handles, baseline, written })
    }
}

/// Returns pages to the kernel that calls no longer write to.
#[cold]
fn give_back(written: &mut Vec<Page>, memory: &mut [u8]) {
    written.retain_mut(|page| {
        if page.idle < IDLE || !page.is_given {
            return true;
        }
        let Some(bytes) = memory.chunks_mut(system::page_size()).nth(page.number) else {
            return true;
        };
        // The kernel then maps zeros for some pages, and the memory's image for others. Without an image, it cannot
        // restore the latter.
        page.is_given = system::forget(bytes)
            && match &page.original {
                Original::Zeros => true,
                Original::Bytes(_) => !page.original.restore(bytes),
            };
        !page.is_given
    });
}

impl PristinePages {
    /// Copies pages from the memory of a fresh instance.
    pub(crate) fn learn(&mut self, numbers: &[usize], fresh: &[u8]) {
        for number in numbers {
            let page = fresh.chunks(system::page_size()).nth(*number).unwrap_or_default();
            self.0.insert(*number, Original::of(page));
        }
    }

    /// Returns the content of pages in a fresh instance that began from a snapshot. `known` has those that were already
    /// known, with the same snapshot.
    ///
    /// # Errors
    ///
    /// There are too many pages, or some are unknown.
    fn pages(
        &self,
        numbers: Vec<usize>,
        known: Vec<Page>,
        snapshot: Option<&MemorySnapshot>,
    ) -> Result<Vec<Page>, NotReusable> {
        let size = system::page_size();
        let touched = |number: usize| snapshot.filter(|snapshot| snapshot.touches(number * size..(number + 1) * size));
        let written = numbers.iter().filter(|number| touched(**number).is_none()).count();
        if written > MOST_WRITTEN / size {
            return Err(NotReusable::Other);
        }
        let unknown: Vec<usize> = numbers.iter().copied().filter(|number| !self.0.contains_key(number)).collect();
        if !unknown.is_empty() {
            return Err(NotReusable::Unknown(unknown));
        }
        let mut known = known.into_iter().peekable();
        let mut page = |number: usize| {
            // Both lists are in ascending order.
            while known.next_if(|page| page.number < number).is_some() {}
            if let Some(page) = known.next_if(|page| page.number == number) {
                return Some(page);
            }
            let mut original = self.0.get(&number).cloned()?;
            let touched = touched(number);
            if let Some(snapshot) = touched {
                let mut page = match original {
                    Original::Zeros => vec![0; size],
                    Original::Bytes(bytes) => bytes.to_vec(),
                };
                snapshot.lay_over(number * size, &mut page);
                original = Original::of(&page);
            }
            Some(Page { number, original, is_given: touched.is_none(), idle: 0 })
        };
        numbers.into_iter().map(|number| page(number).ok_or(NotReusable::Other)).collect()
    }
}

impl Original {
    fn of(page: &[u8]) -> Self {
        if page.iter().all(|byte| *byte == 0) { Original::Zeros } else { Original::Bytes(page.into()) }
    }

    /// Restores the content of a page. Returns whether it had changed.
    fn restore(&self, page: &mut [u8]) -> bool {
        /// The size of the pieces that are compared. Most bytes of a page were only read, and comparing is faster than
        /// writing.
        const PIECE: usize = 512;
        let mut is_changed = false;
        let mut originals = match self {
            Original::Zeros => [].chunks(PIECE),
            Original::Bytes(bytes) => bytes.chunks(PIECE),
        };
        for piece in page.chunks_mut(PIECE) {
            let original = originals.next().unwrap_or(&[0; PIECE][..piece.len()]);
            if piece != original {
                piece.copy_from_slice(original);
                is_changed = true;
            }
        }
        is_changed
    }
}

#[cfg(test)]
mod tests {
    use wasmparser::{Operator, Parser, Payload};

    use super::stays_in_memory;
    use crate::sandbox::{component::Component, same_code};

    /// Restoring the memory restores everything that a call can change.
    #[test]
    fn the_module_changes_nothing_but_its_memory_and_the_pointer_of_its_stack() {
        let component = Component::builtin();
        let Some(module) = same_code::module(component.as_bytes(), component.as_bytes()) else {
            // This build embeds no component.
            return;
        };
        let (mut changing, mut written, mut functions) = (0, 0, 0);
        for payload in Parser::new(0).parse_all(module.wasm) {
            match payload.expect("a module") {
                Payload::GlobalSection(globals) => {
                    changing += globals
                        .into_iter()
                        .filter(|global| global.as_ref().is_ok_and(|global| global.ty.mutable))
                        .count();
                }
                Payload::ImportSection(imports) => {
                    let is_function = |import: wasmparser::Import| matches!(import.ty, wasmparser::TypeRef::Func(_));
                    assert!(imports.into_imports().all(|import| import.is_ok_and(is_function)));
                }
                Payload::CodeSectionEntry(body) => {
                    functions += 1;
                    for operator in body.get_operators_reader().expect("a body") {
                        let operator = operator.expect("an instruction");
                        assert!(stays_in_memory(&operator), "{operator:?} changes what is not in memory");
                        if let Operator::GlobalSet { global_index } = operator {
                            assert_eq!(global_index, 0);
                            written += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        assert_eq!(changing, 1);
        assert!(written > 100 && functions > 1_000, "{written} writes in {functions} functions");
    }
}
