//! The protocol that the benchmark's programs in Rust speak, and their clock.
//!
//! The peers (`tests/bench/peers`), each built by itself, and seamgate's own engines (`tests/bench/engines`) use it.

pub mod features;
pub mod protocol;
pub mod threads;
