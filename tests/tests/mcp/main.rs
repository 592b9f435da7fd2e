//! The core of the gate of `seamgate mcp`, in this process: a property over random sequences of messages.

mod sequences;
