//! Checks that hold for every report and decision, and a generator of schemas. The tests and the fuzz targets share
//! them.
//!
//! The crate needs neither the component nor Wasmtime, so that the fuzz targets build without them.

pub mod accounts;
pub mod changes;
pub mod decisions;
pub mod items;
pub mod scalars;
pub mod schemas;
