//! The harness kernel of seamgate: what an agent may do, decided by pure functions.
//!
//! A plain library without I/O, clock or randomness: the same profile and the same facts give the same decision, natively
//! and in the sandbox. Each module is one layer. The gate does not depend on it.
#![forbid(unsafe_code)]

pub mod clean;
