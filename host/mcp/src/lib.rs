//! The gate of `seamgate` between a client and servers of the Model Context Protocol. To the client it is the server.
//!
//! The kernel decides, and the gate does what the kernel says. One session is one run.

pub mod core;
mod document;
mod draft;
mod driver;
mod launch;
mod pins;
mod setting;
mod transport;

use std::borrow::Cow;

use seamgate::Party;
use seamgate_runner::jsonrpc::one_line;

use self::{
    message::Message,
    methods::{Kind, Side, may_send},
};

pub use self::{
    core::{End, Times},
    document::Document,
    draft::{Draft, Permit, Permits, Rules, agent},
    launch::{Launch, Listing},
    pins::{Differences, Pins, lock_path},
    setting::{Reach, Setting},
    transport::{http, stdio},
};

/// Rewrites a message as the gate passes it on, before the profile decides. An error says why the gate refuses it.
pub fn rewrite(line: &str, from: Party) -> Result<String, String> {
    let line = one_line(line.to_owned());
    let message = Message::read(&line).map_err(|malformed| malformed.why)?;
    let side = if from == Party::Client { Side::Client } else { Side::Server };
    let sent: Option<(Kind, &Cow<str>)> = match &message {
        Message::Request { method, .. } => Some((Kind::Request, method)),
        Message::Notification { method, .. } => Some((Kind::Notification, method)),
        Message::Answer { .. } => None,
    };
    match sent {
        Some((kind, method)) if !may_send(side, kind, method) => {
            Err(format!("the {} may not send {method:?} as a {}", side.name(), kind.name()))
        }
        _ => Ok(message.to_line()),
    }
}
