//! Information that Linux provides about the pages of a memory. Other systems provide none.

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
    /// Each first write to a page that the memory shares with a file or with zero pages causes one (`getrusage(2)`).
    pub(crate) fn page_faults() -> Option<u64> {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is to space for a `rusage`, which the call initializes if it returns 0.
        let usage = unsafe {
            if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
                return None;
            }
            usage.assume_init()
        };
        // Every thread that reaches this point has caused a page fault.
        u64::try_from(usage.ru_minflt.checked_add(usage.ru_majflt)?).ok().filter(|faults| *faults > 0)
    }

    /// Registers a function that runs in each process forked from this one. Returns whether that succeeded.
    pub(crate) fn after_fork(forked: extern "C" fn()) -> bool {
        // SAFETY: the function belongs to this library, which is never unloaded, and does only what a forked process
        // may do.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) == 0 }
    }

    /// Returns whether pages may be swapped out: there is swap space, or the system does not report it.
    pub(crate) fn has_swap() -> bool {
        // Each line after the heading is a swap area.
        std::fs::read_to_string("/proc/swaps").map_or(true, |places| places.lines().count() > 1)
    }

    /// Returns the page size, as the C library reports it. `rustix` would read it from the auxiliary vector, and
    /// examine the vDSO. Valgrind hides the vDSO, so the process would end there.
    pub(crate) fn page_size() -> usize {
        // SAFETY: the call only reads.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        // Linux always reports it.
        usize::try_from(size).unwrap_or(4096)
    }

    /// Keeps the kernel from joining the pages of a memory. When it joins pages, pages can become writable that nobody
    /// wrote to before, without a page fault. Returns whether this is certain.
    pub(crate) fn without_huge_pages(memory: &mut [u8]) -> bool {
        // SAFETY: the pages are those of a slice, and all of them are complete, because a memory begins and ends at a
        // page boundary. The advice changes no byte.
        let advised = unsafe {
            rustix::mm::madvise(memory.as_mut_ptr().cast(), memory.len(), rustix::mm::Advice::LinuxNoHugepage)
        };
        // A kernel without huge pages does not know this advice.
        matches!(advised, Ok(()) | Err(rustix::io::Errno::INVAL))
    }

    /// Returns pages to the kernel, which restores their first content. Returns whether the kernel took them. It does
    /// not take locked pages, which keep their content.
    pub(crate) fn forget(memory: &mut [u8]) -> bool {
        // SAFETY: the pages are those of a slice, all of them complete, and nobody else uses them now. They are
        // private: each becomes what the mapping has at that place, bytes of the file or zeros, and any byte is valid.
        unsafe { rustix::mm::madvise(memory.as_mut_ptr().cast(), memory.len(), rustix::mm::Advice::LinuxDontNeed) }
            .is_ok()
    }

    /// Returns the numbers of the private pages of a memory in ascending order: all pages that have been written to.
    /// `None` if the system does not report them. See `Documentation/admin-guide/mm/pagemap.rst` of Linux.
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
        // Each call writes to the stack. So if no page is reported as written, the report is not usable.
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
