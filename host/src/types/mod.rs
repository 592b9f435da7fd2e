//! The values that go into the sandbox and come out of it, and their limits and faults.

pub(crate) mod abi;
mod defaults;
pub(crate) mod document;
pub(crate) mod fault;
pub(crate) mod finish;
mod generated;
pub(crate) mod limits;
pub(crate) mod profile;
mod report;
pub(crate) mod request;
pub(crate) mod wasm;

pub use generated::*;
