//! Protects the environment and the memory of this process from other processes of the same user. They contain keys of
//! models, tokens, and data that is not yet sanitized.

/// Keeps the programs that this process starts from inheriting descriptors that the parent process left open: files,
/// sockets and pipes other than standard input, output and error.
///
/// Call it before this process has further threads.
#[cfg(unix)]
pub fn keep_descriptors() {
    use std::os::fd::BorrowedFd;

    use rustix::io::{FdFlags, fcntl_setfd};

    let open = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in open.filter(|number: &i32| *number > 2) {
        // SAFETY: `borrow_raw` requires a descriptor that stays open as long as it is borrowed. The folder has just
        // listed this one, and is itself open while it lists. It is borrowed for a single call, and there is no other
        // thread that could close it. In a program with such a thread, the flag would at worst be set on another
        // descriptor; no memory is accessed.
        #[expect(unsafe_code, reason = "the standard library and rustix set flags only on descriptors that they own")]
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}

/// Does nothing, because on this system a program inherits only what it is explicitly given.
#[cfg(not(unix))]
pub fn keep_descriptors() {}

/// Denies access to `/proc/PID/environ`, `mem`, `maps` and `fd` of this process to everybody but root, and prevents
/// tracing it and dumping its core. Programs that it starts are not affected.
///
/// Works only on Linux. Call it first, because whatever another process has already opened stays open.
pub fn harden() {
    seamgate::open_pagemap();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};

        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            seamgate_text::say(&format!(
                "seamgate: programs that it starts can read its environment: the system does not prevent that: {error}"
            ));
        }
    }
}
