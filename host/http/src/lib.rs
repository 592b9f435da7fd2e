//! A server of HTTP/1.1 for clients on this machine. Each request is read within bounds of bytes and time ([`Connection`]). Its
//! sender must be on this machine, no page of another site, and know a token ([`Guard`]). [`serve`] accepts connections.

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
/// The text is another address, or none. The message says what is expected.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let wanted = "must be an address of this machine with a port, as 127.0.0.1:7777 or [::1]:7777";
    let address: SocketAddr = text.parse().map_err(|_| wanted.to_owned())?;
    // A remote client would send the token in the clear.
    if address.ip().is_loopback() { Ok(address) } else { Err(wanted.to_owned()) }
}
