//! The core of the gate of `seamgate mcp`, in this process: properties of random message sequences, and scripts of
//! attacks and mistakes.

mod scripts;
mod sequences;

/// The sequences allocate often. This allocator reduces their time to five sixths.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
