//! Keeps the environment and the memory of this process from other processes of the same user: they hold keys of models, tokens,
//! and what was not yet sanitized.

/// Keeps from the programs that this process starts what its own parent left open: files, sockets and pipes beside standard
/// input, output and error.
///
/// Call it before this process has threads.
#[cfg(unix)]
pub fn keep_descriptors() {
    use std::os::fd::BorrowedFd;

    use rustix::io::{FdFlags, fcntl_setfd};

    let open = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in open.filter(|number: &i32| *number > 2) {
        // SAFETY: `borrow_raw` wants a descriptor that stays open as long as it is borrowed. The folder has just listed this one,
        // and is open itself while it lists. It is borrowed for a single call, and no other thread is there to close it. In a
        // program that has such a thread, the flag would at worst be set on another descriptor: no memory is touched.
        #[expect(unsafe_code, reason = "the standard library and rustix set flags only on descriptors that they own")]
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}

/// Keeps nothing: on this system a program inherits only what it is given.
#[cfg(not(unix))]
pub fn keep_descriptors() {}

/// Closes `/proc/PID/environ`, `mem`, `maps` and `fd` of this process to everybody but root, and forbids to trace it or to dump its
/// core. A program that it starts is not affected.
///
/// Only Linux has this. Call it first: what was open before stays open.
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
