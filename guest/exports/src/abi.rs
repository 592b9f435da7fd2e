//! `wire.call` for hosts that run core modules. Bytes are passed by their address and length in memory.
//!
//! The component also exports these functions, but does not use them. `host/component/module.wasm` is built from the
//! component's module, and exports nothing else (`xtask/component/src/meter.rs`). A host allocates room for a request,
//! writes the request there, calls, and reads the answer at the address in the result.

use std::{
    alloc::{Layout, alloc},
    cell::Cell,
};

use seamgate_core as core;
use seamgate_memory::{begin_call, lasting, one_call};

use crate::interfaces::{Component, REGISTRY};

thread_local! {
    /// The last answer, until the next call.
    static ANSWER: Cell<String> = const { Cell::new(String::new()) };
}

/// Allocates room for data that a host passes to a call (Component Model, Canonical ABI).
///
/// # Safety
///
/// `old` must be null, or a pointer that this function returned for `old_length` and `alignment`.
// Replaces the function of `wit-bindgen`, which the linker takes only if there is no other.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_length: usize, alignment: usize, length: usize) -> *mut u8 {
    begin_call();
    // SAFETY: the caller's promise.
    unsafe { wit_bindgen::rt::cabi_realloc(old, old_length, alignment, length) }
}

/// Reserves room for the next request to `seamgate_call`, in bytes. Returns its address, or 0 if it does not fit.
#[unsafe(no_mangle)]
extern "C" fn seamgate_allocate(length: usize) -> *mut u8 {
    begin_call();
    match Layout::array::<u8>(length.max(1)) {
        // SAFETY: its size is not zero.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Answers a request like `wire.call`: UTF-8 in, UTF-8 out. Returns the address of the answer in the upper 32 bits, and
/// its length in the lower 32 bits. The answer stays there until the next call. Frees the memory of the request.
///
/// # Safety
///
/// `request` must be the address that [`seamgate_allocate`] returned for this `length`, with all bytes written. The
/// caller gives up ownership.
pub unsafe fn call<C: Component>(request: *mut u8, length: usize) -> u64 {
    ANSWER.set(String::new());
    // SAFETY: the caller's promise: an allocation of its own for this length, of initialised bytes. It has one byte where
    // the length is zero.
    let request = unsafe { Vec::from_raw_parts(request, length, length.max(1)) };
    let answer = one_call(|| {
        REGISTRY.with_borrow_mut(|registry| {
            C::with_operations(|operations| core::call_bytes_with(registry, operations, &request))
        })
    });
    // The answer outlasts the call. In the call's arena, it would prevent the arena from starting again.
    let answer = lasting(|| answer.clone());
    let at = (answer.as_ptr().addr() as u64) << 32 | answer.len() as u64;
    ANSWER.set(answer);
    at
}
