//! The gate of `seamgate` between a client and servers of the Model Context Protocol. To the client, it appears as the
//! server.
//!
//! The kernel decides, and the gate carries out its decisions. Each session is a run.

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
