//! The seamgate component: [`seamgate_core`] and [`seamgate_kernel`] behind the WIT world `seamgate:harness/harness`.
//!
//! This crate decides nothing. It converts WIT types to kernel types, and back. [`seamgate_exports`] does the same for
//! the core, and `guest/validator` builds a smaller component from that alone.
#![allow(clippy::undocumented_unsafe_blocks, reason = "the macro that exports it")]
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
mod fast_path;
mod kernel;

use std::cell::RefCell;

use seamgate_exports::keep;
use seamgate_kernel::Registry;

thread_local! {
    static PROFILES: RefCell<Registry> = const { RefCell::new(Registry::keeping(keep)) };
}

/// The component with the kernel.
struct Harness;

impl seamgate_exports::Component for Harness {
    type Operations = Registry;

    fn with_operations<T>(run: impl FnOnce(&mut Registry) -> T) -> T {
        PROFILES.with_borrow_mut(run)
    }
}

seamgate_exports::export_call!(Harness);
seamgate_exports::bindings::export!(Harness with_types_in seamgate_exports::bindings);
