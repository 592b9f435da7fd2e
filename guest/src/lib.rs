//! The seamgate component: [`seamgate_core`] and [`seamgate_kernel`] behind the WIT world `seamgate:harness/harness`.
//!
//! Nothing is decided here: words of WIT are turned into words of the core, and back. `guest/validator` makes a smaller
//! component of the same files, without the kernel.
#![allow(clippy::undocumented_unsafe_blocks, reason = "what is generated, and the macro that exports it")]
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
mod abi;
#[cfg(target_arch = "wasm32")]
mod allocator;
#[cfg(target_arch = "wasm32")]
mod arena;
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "generated; documented in wit/")]
mod bindings;
mod convert;
#[cfg(target_arch = "wasm32")]
mod fast_path;
mod kernel;
#[cfg(target_arch = "wasm32")]
mod pages;
#[cfg(target_arch = "wasm32")]
mod random;
mod validator;

use std::cell::RefCell;

use seamgate_kernel::Registry;

use validator::keep;

thread_local! {
    static PROFILES: RefCell<Registry> = const { RefCell::new(Registry::keeping(keep)) };
}

/// What the interfaces are written for.
struct Component;

bindings::export!(Component with_types_in bindings);
