//! Information about the pages of a memory that Linux provides. Other systems provide none.

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    after_fork, forget, has_swap, open_pagemap, page_faults, page_size, without_huge_pages, written,
};

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs::File, io, mem::MaybeUninit, os::unix::fs::FileExt, sync::OnceLock};

    use rustix::process::{Pid, getpid};

    /// The file that [`open_pagemap`] opened, and the process whose pages it lists. After a fork, that is still the
    /// parent.
    static PAGEMAP: OnceLock<(Pid, File)> = OnceLock::new();

    /// Opens the list of the pages that were written to, and keeps it open.
    pub(crate) fn open_pagemap() {
        if let Ok(file) = pagemap() {
            let _ = PAGEMAP.set((getpid(), file));
        }
    }

    fn pagemap() -> io::Result<File> {
        File::open("/proc/self/pagemap")
    }

    /// Returns the number of page faults of this thread. `None` if the system does not count them.
    ///
    /// Each first write to a page that the memory shares with a file or with other zeros is one (`getrusage(2)`).
    pub(crate) fn page_faults() -> Option<u64> {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: it has room for a `rusage`, which the call fills in where it gives 0.
        let usage = unsafe {
            if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
                return None;
            }
            usage.assume_init()
        };
        // No thread gets here without one.
        u64::try_from(usage.ru_minflt.checked_add(usage.ru_majflt)?).ok().filter(|faults| *faults > 0)
    }

    /// Registers a function that runs in each process forked from this one. Returns whether that succeeded.
    pub(crate) fn after_fork(forked: extern "C" fn()) -> bool {
        // SAFETY: the function is of this library, which nobody unloads, and does what a forked process may do.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) == 0 }
    }

    /// Returns whether pages may be swapped out: there is swap space, or the system does not say.
    pub(crate) fn has_swap() -> bool {
        // Below its heading, each line is a place.
        std::fs::read_to_string("/proc/swaps").map_or(true, |places| places.lines().count() > 1)
    }

    /// Returns the page size from the C library. `rustix` would read it from the auxiliary vector, and look at the
    /// vDSO, which valgrind hides, and the process would end there.
    pub(crate) fn page_size() -> usize {
        // SAFETY: the call only reads.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        // Linux always reports it.
        usize::try_from(size).unwrap_or(4096)
    }

    /// Has the kernel never join the pages of a memory: where it does, pages can be written to that nobody wrote to
    /// before, and no page fault says so. Returns whether it is sure.
    pub(crate) fn without_huge_pages(memory: &mut [u8]) -> bool {
        // SAFETY: the pages are those of a slice, all of them whole: a memory begins and ends with a page. The advice changes no byte.
        let advised = unsafe {
            rustix::mm::madvise(memory.as_mut_ptr().cast(), memory.len(), rustix::mm::Advice::LinuxNoHugepage)
        };
        // A kernel without huge pages knows no such advice.
        matches!(advised, Ok(()) | Err(rustix::io::Errno::INVAL))
    }

    /// Returns pages to the kernel, which restores their first content. Returns whether the kernel took them: it does
    /// not take locked pages, and those keep their content.
    pub(crate) fn forget(memory: &mut [u8]) -> bool {
        // SAFETY: the pages are those of a slice, all of them whole, that nobody else has now. They are private: each becomes what the mapping
        // has there, bytes of the file or zeros, and all of these are bytes.
        unsafe { rustix::mm::madvise(memory.as_mut_ptr().cast(), memory.len(), rustix::mm::Advice::LinuxDontNeed) }
            .is_ok()
    }

    /// Returns the numbers of the pages of a memory that are its own, ascending: all that anybody has written to.
    /// `None` if the system does not say. See `Documentation/admin-guide/mm/pagemap.rst` of Linux.
    pub(crate) fn written(memory: &[u8]) -> Option<Vec<usize>> {
        const PRESENT: u64 = 1 << 63;
        const SWAPPED: u64 = 1 << 62;
        const OF_A_FILE: u64 = 1 << 61;
        const ENTRY: usize = size_of::<u64>();
        let opened;
        let file = match PAGEMAP.get() {
            Some((process, file)) if *process == getpid() => file,
            // Opened each time, because this process may fork.
            _ => {
                opened = pagemap().ok()?;
                &opened
            }
        };
        let mut entries = vec![0; memory.len().div_ceil(page_size()) * ENTRY];
        let first = memory.as_ptr().addr() / page_size() * ENTRY;
        file.read_exact_at(&mut entries, first as u64).ok()?;
        let entries = entries.as_chunks::<ENTRY>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
        let is_own = |entry: u64| entry & (PRESENT | SWAPPED) != 0 && entry & OF_A_FILE == 0;
        let numbers: Vec<usize> =
            entries.enumerate().filter(|(_, entry)| is_own(*entry)).map(|(number, _)| number).collect();
        // Each call writes to the stack. If no page is reported as written, nothing is reported at all.
        (!numbers.is_empty()).then_some(numbers)
    }
}

#[cfg(not(target_os = "linux"))]
mod nothing {
    pub(crate) fn open_pagemap() {}

    pub(crate) fn forget(_: &mut [u8]) -> bool {
        false
    }

    pub(crate) fn after_fork(_: extern "C" fn()) -> bool {
        false
    }

    pub(crate) fn has_swap() -> bool {
        true
    }

    pub(crate) fn page_faults() -> Option<u64> {
        None
    }

    pub(crate) fn page_size() -> usize {
        4096
    }

    pub(crate) fn without_huge_pages(_: &mut [u8]) -> bool {
        false
    }

    pub(crate) fn written(_: &[u8]) -> Option<Vec<usize>> {
        None
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use nothing::{
    after_fork, forget, has_swap, open_pagemap, page_faults, page_size, without_huge_pages, written,
};
