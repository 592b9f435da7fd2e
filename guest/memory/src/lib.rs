//! The memory of a component: an arena for allocations that die with a call, and pages for those that outlast it.
//!
//! On other targets, the system's allocator does everything. The address arithmetic is the same on all targets, so that
//! the fuzz target `arena` can run it natively.

#[cfg(target_arch = "wasm32")]
mod allocator;
mod arena;
mod pages;

#[cfg(target_arch = "wasm32")]
pub use allocator::{begin_call, lasting, one_call, together};
pub use arena::Arena;
pub use pages::{PAGE, Pages};

/// Runs a closure whose allocations outlast the call.
#[cfg(not(target_arch = "wasm32"))]
pub fn lasting<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Runs a closure whose allocations outlast the call and are read together.
#[cfg(not(target_arch = "wasm32"))]
pub fn together<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Runs the body of a call.
#[cfg(not(target_arch = "wasm32"))]
pub fn one_call<T>(run: impl FnOnce() -> T) -> T {
    run()
}
