//! An HTTP/1.1 server for clients on this machine. [`Connection`] reads each request within limits on bytes and time.
//! [`Guard`] checks that the sender is on this machine, is not a page of another site, and knows a token. [`serve`]
//! accepts connections.

mod guard;
mod server;
mod wire;

use std::net::SocketAddr;

pub use self::{
    guard::Guard,
    server::{Handler, serve},
    wire::{Broken, Connection, Refused, Request},
};

/// Parses an address of this machine to listen at, such as `127.0.0.1:7777`.
///
/// # Errors
///
/// The text is not such an address. The message says what is expected.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let wanted = "must be an address of this machine with a port, as 127.0.0.1:7777 or [::1]:7777";
    let address: SocketAddr = text.parse().map_err(|_| wanted.to_owned())?;
    // A remote client would send the token unencrypted.
    if address.ip().is_loopback() { Ok(address) } else { Err(wanted.to_owned()) }
}
