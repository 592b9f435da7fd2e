//! The gate of `seamgate` between a client and servers of the Model Context Protocol. To the client it is the server.
//!
//! The kernel decides, and the gate does what the kernel says. One session is one run.

mod acceptance;
pub mod core;
mod document;
mod draft;
mod driver;
mod launch;
mod pins;
mod session;
mod setting;
mod transport;
mod watch;

pub use self::{
    acceptance::accept,
    core::{End, Times},
    document::Document,
    draft::{Draft, Permit, Permits, Rules, agent},
    launch::{Launch, Listing},
    pins::{Differences, Pins, lock_path, profile_changes},
    setting::{Reach, Setting},
    transport::{http, stdio},
};
