//! The gate of `seamgate` between a client and servers of the Model Context Protocol. To the client it is the server.
//!
//! The kernel decides, and this does what it says. One session is one run.

mod artifacts;
mod asks;
mod calls;
mod client;
mod document;
mod draft;
mod era;
mod gate;
pub mod http;
mod judged;
mod launch;
mod legs;
mod listing;
mod message;
mod methods;
mod names;
mod peer;
mod pins;
mod servers;
mod setting;
pub mod stdio;
mod tasks;
mod tools;

pub use self::{
    document::Document,
    draft::Draft,
    gate::End,
    launch::Launch,
    pins::Pins,
    setting::{Reach, Setting},
};
