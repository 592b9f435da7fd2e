//! Addresses, and which of them the client may connect to.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

use ureq::http::{Uri, uri::Scheme};

/// The longest address, in bytes.
const MAX_URL: usize = 4096;

/// An absolute HTTP address without user information and fragment.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url(Uri);

/// The hosts that an address may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The user named the address: HTTPS, or HTTP to this machine.
    Named,
    /// The user named the address, and allows HTTP to any machine.
    Insecure,
    /// A server on this machine named the address. The same rules apply as if the user had named it.
    FoundByLocal,
    /// A server named the address: HTTPS, and not to this machine.
    Found,
}

impl Url {
    /// Parses an address, and checks that the client may connect to it.
    pub(crate) fn parse(text: &str, reach: Reach) -> Result<Self, String> {
        let invalid = |why: &str| Err(format!("invalid address {text:?}: {why}"));
        if text.len() > MAX_URL {
            return Err(format!("the address has more than {MAX_URL} bytes"));
        }
        if text.contains('#') {
            return invalid("it must have no fragment");
        }
        let uri = match text.parse::<Uri>() {
            Ok(uri) => uri,
            Err(error) => return invalid(&error.to_string()),
        };
        let Some(authority) = uri.authority().filter(|authority| !authority.host().is_empty()) else {
            return invalid("it must begin with https:// and a host");
        };
        if authority.as_str().contains('@') {
            return invalid("it must have no user and no password");
        }
        let url = Url(uri);
        // A host name may resolve to such an address, too. That is checked when the name is resolved.
        if let Some(why) = url.host().parse().ok().and_then(|address| refusal(address, false, reach)) {
            return invalid(why);
        }
        let is_local = url.is_loopback();
        match (url.0.scheme() == Some(&Scheme::HTTPS), url.0.scheme() == Some(&Scheme::HTTP), reach) {
            (true, _, Reach::Found) | (_, true, Reach::Found) if is_local => {
                invalid("a server on another machine may not name an address of this one")
            }
            (true, ..) => Ok(url),
            (_, true, Reach::Insecure) => Ok(url),
            (_, true, Reach::Named | Reach::FoundByLocal) if is_local => Ok(url),
            (_, true, Reach::Named) => {
                invalid("http is for this machine only: use https, or set \"insecure\": true if the network is trusted")
            }
            (_, true, _) => invalid("it must begin with https://"),
            _ => invalid("it must begin with https://, or with http:// for this machine"),
        }
    }

    /// Returns the reach of addresses that the server at this address names.
    pub(super) fn reach_of_found(&self) -> Reach {
        if self.is_loopback() { Reach::FoundByLocal } else { Reach::Found }
    }

    /// Returns the address as a URI for an HTTP client.
    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    /// Returns the host, without brackets if it is an IPv6 address.
    pub(super) fn host(&self) -> &str {
        self.0.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns whether the host's name denotes this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host();
        let is_local = |address: IpAddr| address.to_canonical().is_loopback();
        host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_local)
    }

    pub(crate) fn is_https(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    /// Returns the scheme, the host and the port. Omits the scheme's default port.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_https() { "https" } else { "http" };
        let host = self.0.host().unwrap_or_default().to_ascii_lowercase();
        match self.0.port_u16() {
            None | Some(443) if self.is_https() => format!("{scheme}://{host}"),
            None | Some(80) if !self.is_https() => format!("{scheme}://{host}"),
            port => format!("{scheme}://{host}:{}", port.unwrap_or_default()),
        }
    }

    /// Returns the path. `/` if the address has none.
    pub(super) fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns the address as a resource identifier (RFC 8707): in lower case where case does not matter, and without a
    /// lone `/`.
    pub(super) fn canonical(&self) -> String {
        let query = self.0.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if self.path() == "/" { "" } else { self.path() };
        format!("{}{path}{query}", self.origin())
    }

    /// Returns the address that a server at this address names in `Location`, if it has the same origin.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, String> {
        let text = if location.starts_with('/') && !location.starts_with("//") {
            format!("{}{location}", self.origin())
        } else {
            location.to_owned()
        };
        // The origin is the same, so the user's permissions for it apply.
        let url = Url::parse(&text, Reach::Insecure)?;
        if url.origin() != self.origin() {
            return Err(format!(
                "it redirects to {text:?}, which has another origin: use that address if you trust it"
            ));
        }
        Ok(url)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the reason not to connect to a network address. `None` if connecting is permitted.
pub(super) fn refusal(address: IpAddr, needs_loopback: bool, reach: Reach) -> Option<&'static str> {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => is_v6_link_local(v6),
    };
    if is_link_local || address.is_unspecified() || address.is_multicast() {
        return Some("it is a link-local, multicast or unspecified address");
    }
    if needs_loopback && !address.is_loopback() {
        return Some("http is for this machine only");
    }
    if reach == Reach::Found && address.is_loopback() {
        return Some("a server on another machine may not name an address of this one");
    }
    None
}

fn is_v6_link_local(address: Ipv6Addr) -> bool {
    // The metadata service of a cloud provider has this address in addition to its link-local one.
    address.is_unicast_link_local() || address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_reaches_this_machine_only() {
        for (text, reach, is_allowed) in [
            ("https://mcp.example.com/mcp", Reach::Named, true),
            ("http://127.0.0.1:3000/mcp", Reach::Named, true),
            ("http://[::1]:3000/mcp", Reach::Named, true),
            ("http://LOCALHOST/mcp", Reach::Named, true),
            ("http://[::ffff:127.0.0.1]/mcp", Reach::Named, true),
            ("http://10.0.0.1/mcp", Reach::Named, false),
            ("http://localhost.example.com/mcp", Reach::Named, false),
            ("http://10.0.0.1/mcp", Reach::Insecure, true),
            ("http://169.254.169.254/mcp", Reach::Insecure, false),
            ("https://[::ffff:169.254.169.254]/mcp", Reach::Named, false),
            ("https://0.0.0.0/mcp", Reach::Named, false),
            ("http://auth.example.com", Reach::FoundByLocal, false),
            ("http://127.0.0.1:1/", Reach::FoundByLocal, true),
            ("https://127.0.0.1:1/", Reach::Found, false),
            ("https://localhost/", Reach::Found, false),
            ("https://auth.example.com", Reach::Found, true),
            ("https://user:secret@example.com/", Reach::Named, false),
            ("https://example.com/#a", Reach::Named, false),
            ("file:///etc/passwd", Reach::Named, false),
            ("ftp://example.com/", Reach::Insecure, false),
            ("/mcp", Reach::Named, false),
            ("https://", Reach::Named, false),
            ("", Reach::Named, false),
        ] {
            assert_eq!(Url::parse(text, reach).is_ok(), is_allowed, "{text} {reach:?}");
        }
    }

    #[test]
    fn resource_is_canonical() {
        let canonical = |text| Url::parse(text, Reach::Named).expect("an address").canonical();
        assert_eq!(canonical("HTTPS://Example.COM:443/Mcp?a=B"), "https://example.com/Mcp?a=B");
        assert_eq!(canonical("https://example.com/"), "https://example.com");
        assert_eq!(canonical("https://example.com:8443/mcp/"), "https://example.com:8443/mcp/");
    }

    #[test]
    fn redirects_keep_the_origin() {
        let url = Url::parse("https://example.com/mcp", Reach::Named).expect("an address");
        for (location, expected) in [
            ("/mcp/", Some("https://example.com/mcp/")),
            ("https://EXAMPLE.com:443/x", Some("https://EXAMPLE.com:443/x")),
            ("http://example.com/mcp/", None),
            ("//evil.example/mcp", None),
            ("https://example.com.evil.example/", None),
            ("mcp/", None),
        ] {
            let redirected = url.redirected(location).ok().map(|url| url.to_string());
            assert_eq!(redirected.as_deref(), expected, "{location}");
        }
    }

    #[test]
    fn link_local_addresses_are_never_asked() {
        for text in
            ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "0.0.0.0", "::", "224.0.0.1"]
        {
            assert!(refusal(text.parse().expect("an address"), false, Reach::Insecure).is_some(), "{text}");
        }
        let local: IpAddr = "127.0.0.1".parse().expect("an address");
        assert!(refusal(local, true, Reach::Named).is_none());
        assert!(refusal(local, false, Reach::Found).is_some());
        assert!(refusal("10.0.0.1".parse().expect("an address"), true, Reach::Named).is_some());
    }
}
