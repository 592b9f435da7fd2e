//! The library `seamgate` with the component inside: limits, isolation, determinism, and the same answers as the core's.

mod bake;
mod component;
mod determinism;
mod growth;
mod isolation;
mod journals;
mod limits;
mod registered;
mod rows;
mod scan_width;
mod stream;
