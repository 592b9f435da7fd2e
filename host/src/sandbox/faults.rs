//! Detects whether a call caused a page fault, with one system call instead of two.
//!
//! The kernel counts the page faults of a thread. A call caused none if the count after it equals a count from before
//! it. The count after the previous call of the same thread can serve as the latter, as long as the thread causes no
//! page faults between its calls. Once it does, the count is read before each call again, until many consecutive calls
//! have had no page faults between them.

use std::{
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::system;

/// The number of consecutive calls without page faults before them, after which the previous count is used again. If
/// that turns out wrong, the kernel lists all pages, which takes as long as some tens of these system calls.
const QUIET: u32 = 32;

#[derive(Clone, Copy)]
struct Seen {
    /// The process that counted. After a fork, the counts of the parent are meaningless.
    process: u64,
    faults: u64,
    /// The number of consecutive calls without page faults before them.
    quiet: u32,
}

thread_local! {
    static SEEN: Cell<Seen> = const { Cell::new(Seen { process: 0, faults: 0, quiet: 0 }) };
}

/// A number of page faults of this thread, from before a call.
pub(crate) struct PageFaults {
    before: u64,
    /// `true` if the count was read directly before the call, and not after the previous one.
    is_exact: bool,
}

impl PageFaults {
    /// Returns the count from before a call. `None` if the system does not count page faults.
    pub(crate) fn before_call() -> Option<Self> {
        let seen = SEEN.get();
        let process = process()?;
        if seen.process == process && seen.quiet >= QUIET {
            return Some(PageFaults { before: seen.faults, is_exact: false });
        }
        let faults = system::page_faults()?;
        let is_quiet = seen.process == process && seen.faults == faults;
        SEEN.set(Seen { process, faults, quiet: if is_quiet { seen.quiet + 1 } else { 0 } });
        Some(PageFaults { before: faults, is_exact: true })
    }

    /// Returns whether the thread has caused no page faults since. Call it on the thread that read the count.
    pub(crate) fn are_none_since(&self) -> bool {
        let (Some(process), Some(faults)) = (process(), system::page_faults()) else {
            return false;
        };
        let seen = SEEN.get();
        let is_none = faults == self.before && seen.process == process;
        // The page faults may have occurred between two calls or in the call.
        let quiet = if is_none || self.is_exact { seen.quiet } else { 0 };
        SEEN.set(Seen { process, faults, quiet });
        is_none
    }
}

/// Returns a number that a forked process does not share with its parent. `None` if forks cannot be detected.
fn process() -> Option<u64> {
    static PROCESS: AtomicU64 = AtomicU64::new(1);
    static IS_NOTICED: OnceLock<bool> = OnceLock::new();
    extern "C" fn forked() {
        PROCESS.fetch_add(1, Ordering::Relaxed);
    }
    IS_NOTICED.get_or_init(|| system::after_fork(forked)).then(|| PROCESS.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Causes a page fault.
    fn touch() {
        let mut pages = vec![0_u8; 1 << 21];
        for page in pages.chunks_mut(4096) {
            page[0] = std::hint::black_box(1);
        }
        std::hint::black_box(pages);
    }

    #[test]
    fn a_page_fault_in_a_call_is_never_missed() {
        for quiet in 0..2 * QUIET {
            let Some(before) = PageFaults::before_call() else {
                return;
            };
            touch();
            assert!(!before.are_none_since(), "after {quiet} calls");
            for _ in 0..quiet {
                let before = PageFaults::before_call().expect("a count");
                // Both answers are allowed: the thread may or may not have page faults between calls.
                before.are_none_since();
            }
        }
    }

    #[test]
    fn a_count_is_used_again_only_while_there_are_no_page_faults_between_calls() {
        let call = || PageFaults::before_call().is_none_or(|before| before.are_none_since());
        let mut tried = 0;
        // Anything else that causes page faults here does so rarely.
        while !(0..3 * QUIET).all(|_| call()) {
            tried += 1;
            assert!(tried < 100, "page faults without end");
        }
        touch();
        if PageFaults::before_call().is_some_and(|before| !before.is_exact) {
            assert!(!call(), "page faults between two calls count as those of the second");
            assert!(PageFaults::before_call().is_some_and(|before| before.is_exact));
        }
    }
}
