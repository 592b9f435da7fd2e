//! The gate of `seamgate` between a client and servers of the Model Context Protocol. To the client it is the server.
//!
//! The kernel decides, and this does what it says. One session is one run.

mod artifacts;
mod calls;
mod catalog;
mod document;
mod downstream;
mod draft;
mod elicitation;
mod filter;
mod gate;
pub mod http;
mod launch;
mod message;
mod methods;
mod names;
mod pins;
mod round_trips;
mod servers;
mod setting;
mod stateless;
pub mod stdio;
mod tasks;
mod upstream;

pub use self::{
    document::Document,
    draft::Draft,
    gate::End,
    launch::Launch,
    pins::Pins,
    setting::{Reach, Setting},
};
