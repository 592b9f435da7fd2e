//! The seamgate component: [`seamgate_core`] and [`seamgate_kernel`] behind the WIT world `seamgate:harness/harness`.
//!
//! Nothing is decided here: words of WIT are turned into words of the core, and back. `guest/validator` makes a smaller
//! component of the same files, without the kernel.
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
mod abi;
#[cfg(target_arch = "wasm32")]
mod allocator;
mod convert;
mod kernel;
#[cfg(target_arch = "wasm32")]
mod random;
mod validator;

use std::cell::RefCell;

use seamgate_kernel::Registry;

use validator::keep;

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wit_bindgen::generate!({ path: ["../wit", "../wit/harness"], world: "seamgate:harness/harness" });
}

thread_local! {
    static PROFILES: RefCell<Registry> = const { RefCell::new(Registry::keeping(keep)) };
}

/// What the interfaces are written for.
struct Component;

bindings::export!(Component with_types_in bindings);
