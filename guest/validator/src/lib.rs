//! The small component: [`seamgate_core`] alone, behind the WIT world `seamgate:validator/validator`.
//!
//! A package of its own, and no feature of `guest`: so both are built from the same compiled crates, and neither build
//! throws the other's result away.
#![allow(clippy::undocumented_unsafe_blocks, reason = "what is generated, and the macro that exports it")]
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
#[path = "../../src/abi.rs"]
mod abi;
#[cfg(target_arch = "wasm32")]
#[path = "../../src/allocator.rs"]
mod allocator;
#[cfg(target_arch = "wasm32")]
#[path = "../../src/arena.rs"]
mod arena;
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "generated; documented in wit/")]
mod bindings;
#[path = "../../src/convert.rs"]
mod convert;
#[cfg(target_arch = "wasm32")]
#[path = "../../src/pages.rs"]
mod pages;
#[cfg(target_arch = "wasm32")]
#[path = "../../src/random.rs"]
mod random;
#[path = "../../src/validator.rs"]
mod validator;

use std::cell::RefCell;

thread_local! {
    /// No profiles: `wire` has no further operations.
    static PROFILES: RefCell<()> = const { RefCell::new(()) };
}

/// What the interfaces are written for.
struct Component;

bindings::export!(Component with_types_in bindings);
