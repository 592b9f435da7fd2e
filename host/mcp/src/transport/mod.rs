//! The transports between a client and the gate.

pub mod http;
pub mod stdio;
