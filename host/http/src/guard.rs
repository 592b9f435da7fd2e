//! Guards an address: requests must come from this machine, must not come from a page of another site, and must have
//! the token.
//!
//! A page of any site can send requests to this machine. If its host name resolves to this machine, it can also read
//! the answers. So `Host` and `Origin` must name this machine. Other users and programs of this machine do not know the
//! token.

use std::net::IpAddr;

use seamgate::digest;
use seamgate_runner::{Error, Result, random};
use seamgate_text::{escape_terminal, truncate};

use crate::wire::{Refused, Request};

/// The shortest token that a user may choose, in bytes.
const MIN_TOKEN: usize = 16;
/// The longest part of a header in a message, in bytes.
const MAX_TOLD: usize = 100;

/// The conditions that requests must meet.
pub struct Guard {
    port: u16,
    /// The digest of the token. The token itself is not kept.
    token: String,
}

impl Guard {
    /// Guards a port with the token in an environment variable. Without a variable, generates a new token and returns
    /// it.
    ///
    /// # Errors
    ///
    /// The variable is not set, or its token has fewer than 16 characters, or characters other than printable ASCII
    /// without spaces.
    pub fn new(port: u16, variable: Option<&str>) -> Result<(Self, Option<String>)> {
        let (token, new) = match variable {
            Some(name) => match std::env::var(name) {
                Ok(token) if token.len() >= MIN_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                    (token, None)
                }
                Ok(_) => {
                    return Err(Error::invalid(format!(
                        "--token-env {name}: the token must have at least {MIN_TOKEN} characters, of ASCII and without spaces"
                    )));
                }
                Err(_) => return Err(Error::invalid(format!("--token-env {name}: there is no such variable"))),
            },
            None => {
                let token = random(32)?;
                (token.clone(), Some(token))
            }
        };
        Ok((Guard { port, token: digest(token.as_bytes()) }, new))
    }

    /// Checks that a request comes from this machine, and not from a page of another site.
    ///
    /// # Errors
    ///
    /// The refusal, with the status 400 or 403.
    pub fn check_place(&self, request: &Request) -> Result<(), Refused> {
        let shown = |text: &str| escape_terminal(&truncate(text, MAX_TOLD));
        match request.header("host") {
            None => return Err(Refused(400, "the header Host is missing".to_owned())),
            Some(host) if !self.is_own(host) => {
                return Err(Refused(
                    403,
                    format!("the header Host must name this machine and port, not {}", shown(host)),
                ));
            }
            Some(_) => {}
        }
        let Some(origin) = request.header("origin") else { return Ok(()) };
        let place = ["http://", "https://"].into_iter().find_map(|scheme| origin.strip_prefix(scheme));
        match place.and_then(host_of) {
            Some((host, _)) if is_loopback(host) => Ok(()),
            _ => Err(Refused(403, format!("pages of {} may not ask this server", shown(origin)))),
        }
    }

    /// Checks that a request has the token.
    ///
    /// # Errors
    ///
    /// The refusal, with the status 401.
    pub fn check_token(&self, request: &Request) -> Result<(), Refused> {
        let given = request.header("authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
        });
        match given {
            // Comparing digests takes a time that reveals nothing about the token.
            Some(token) if digest(token.as_bytes()) == self.token => Ok(()),
            Some(_) => Err(Refused(401, "the token was not made for this server".to_owned())),
            None => Err(Refused(401, "the header Authorization must be: Bearer TOKEN".to_owned())),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        host_of(host).is_some_and(|(host, port)| is_loopback(host) && port.unwrap_or(80) == self.port)
    }
}

/// Returns a host and its port.
fn host_of(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port {
        None => Some((host, None)),
        Some(port) if is_number(port) => Some((host, Some(port.parse().ok()?))),
        Some(_) => None,
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
