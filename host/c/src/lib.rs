//! The C package: the gate of the Rust library behind a C interface. `include/seamgate.h` is generated from these modules, so
//! the comments of what they export are written for readers of C.
//!
//! # Pointers
//!
//! Each exported function is unsafe to call. It relies on these rules, which the header states for callers in C:
//!
//! - A pointer with a length is null, or points to as many bytes that are readable and do not change during the call. The function
//!   itself checks null pointers and lengths.
//! - A pointer to a handle is null, or comes from the function that makes such handles and was not freed.
//! - A pointer to a result is null, or points to aligned and writable memory for it that nothing else uses during the call.
//!
//! `border` turns pointers into references and runs the rest, which is safe code.

#![allow(clippy::missing_safety_doc, reason = "the rules above hold for every function")]
#![allow(clippy::too_many_arguments, reason = "C has no slices")]

pub mod attempts;
mod border;
mod failure;
pub mod gate;
pub mod instance;
pub mod kernel;
mod request;
pub mod session;
pub mod status;
pub mod value;

/// Threads may share every handle.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<gate::Gate>();
    is_shared::<session::Session>();
    is_shared::<instance::Instance>();
    is_shared::<attempts::Attempts>();
};
