//! The Model Context Protocol, from the side of a client.

mod client;

pub use client::{CallResult, Client, ContentBlock, MAX_PAGES, MAX_TOOLS, START, ServerInfo, Unanswered};
