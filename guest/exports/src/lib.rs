//! The exports of both components: bindings of all interfaces, and an implementation of those of `seamgate:validator`.
//!
//! `guest` adds the kernel, and `guest/validator` adds nothing. They are separate packages rather than features of this
//! one. Both are built from the same compiled crates, and neither build invalidates the other's result.
#![allow(clippy::undocumented_unsafe_blocks, reason = "what is generated")]
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
pub mod abi;
#[rustfmt::skip]
#[allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "generated; documented in wit/")]
pub mod bindings;
pub mod convert;
mod interfaces;
#[cfg(target_arch = "wasm32")]
mod random;

pub use interfaces::{Component, REGISTRY, keep};

/// Exports `seamgate_call` of a component.
#[macro_export]
macro_rules! export_call {
    ($component:ident) => {
        /// Answers a request like `wire.call`.
        ///
        /// # Safety
        ///
        /// `request` must be the address that `seamgate_allocate` returned for this `length`, with all bytes written.
        /// The caller gives up ownership.
        #[cfg(target_arch = "wasm32")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn seamgate_call(request: *mut u8, length: usize) -> u64 {
            // SAFETY: the caller's promise.
            unsafe { $crate::abi::call::<$component>(request, length) }
        }
    };
}
