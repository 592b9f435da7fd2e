//! The Model Context Protocol, from the side of a client.

pub mod client;
