//! The core of the gate of `seamgate mcp`, in this process: properties over random sequences of messages, and scripts of attacks and mistakes.

mod scripts;
mod sequences;
