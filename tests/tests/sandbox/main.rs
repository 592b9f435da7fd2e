//! The library `seamgate` with the embedded component: limits, isolation, determinism, and the same answers as from the
//! core.

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
