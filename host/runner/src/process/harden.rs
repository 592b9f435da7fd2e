//! Keeps the environment and the memory of this process from other processes of the same user: they hold keys of models, tokens,
//! and what was not yet sanitized.

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
