//! The core of the gate of `seamgate mcp`, in this process: properties over random sequences of messages, and scripts of attacks and mistakes.

mod scripts;
mod sequences;

/// Sequences allocate much: with this allocator they take five sixths of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
