//! The protocol of the benchmark's programs in Rust, and their clock.
//!
//! The peers (`tests/bench/peers`) use it, each built separately, and so do seamgate's own engines
//! (`tests/bench/engines`).

pub mod features;
pub mod protocol;
pub mod threads;
