//! Runs of agents for `seamgate`: processes that are not trusted, whole runs with their models and tools, and a client
//! of the Model Context Protocol.
//!
//! The kernel decides what an agent may do. This crate carries out its decisions: it starts programs, asks models and
//! people, calls tools, and sends the results to the run.

pub mod agent;
mod error;
mod header;
pub mod jsonrpc;
pub mod mcp;
pub mod notice;
pub mod post;
pub mod process;
pub mod prune;
mod random;
pub mod run_dir;
pub mod secrets;
pub mod terminal;
mod variables;
pub mod waiting;
pub mod webhook;

pub use error::{Error, Result};
pub use random::{new_nonce, random};
