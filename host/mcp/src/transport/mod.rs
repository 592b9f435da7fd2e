//! The ways by which a client reaches the gate.

pub mod http;
pub mod stdio;
