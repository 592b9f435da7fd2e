//! Waits for the browser to be redirected back from the authorization server (RFC 8252, section 7.3).

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use percent_encoding::percent_decode_str;

/// The path that the browser is redirected to.
const PATH: &str = "/callback";
/// The largest head of a request, in bytes.
const MAX_HEAD: usize = 32 * 1024;
/// The longest time for a browser to send its request.
const HEAD: Duration = Duration::from_secs(3);
/// The interval at which new connections are accepted.
const TICK: Duration = Duration::from_millis(50);

/// A listener on this machine.
pub(super) struct Callback {
    listener: TcpListener,
    address: SocketAddr,
}

/// The parameters of the address that the browser opens.
pub(super) type Parameters = BTreeMap<String, String>;

impl Callback {
    pub(super) fn listen(port: u16) -> Result<Self, String> {
        let wrong = |error| format!("cannot listen on 127.0.0.1 port {port} for the browser: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        Ok(Callback { listener, address })
    }

    /// Returns the address that the browser is redirected to.
    pub(super) fn uri(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Waits for a request whose parameter `state` has this value. Other requests are rejected, and do not end the
    /// wait.
    pub(super) fn wait(&self, state: &str, time: Duration, is_over: impl Fn() -> bool) -> Option<Parameters> {
        let end = Instant::now() + time;
        while Instant::now() < end && !is_over() {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Some(parameters) = self.serve(stream, state) {
                        return Some(parameters);
                    }
                }
                Err(_) => thread::sleep(TICK),
            }
        }
        None
    }

    fn serve(&self, mut stream: TcpStream, state: &str) -> Option<Parameters> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(TICK)).ok()?;
        stream.set_write_timeout(Some(HEAD)).ok()?;
        let parameters = read_head(&mut stream).and_then(|head| self.parameters(&head));
        let parameters = parameters.filter(|parameters| parameters.get("state").is_some_and(|own| own == state));
        let (status, text) = match &parameters {
            Some(parameters) if parameters.contains_key("error") => {
                ("200 OK", "The login failed. The terminal says why.")
            }
            Some(_) => ("200 OK", "You can close this page and return to the terminal."),
            None => ("400 Bad Request", "This is not the answer that seamgate waits for."),
        };
        let body = format!("<!doctype html><meta charset=utf-8><title>seamgate</title><p>{text}</p>");
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(answer.as_bytes());
        parameters
    }

    /// Returns the parameters of a request, if it is for the right path of the right host.
    fn parameters(&self, head: &[u8]) -> Option<Parameters> {
        let mut headers = [httparse::EMPTY_HEADER; 128];
        let mut request = httparse::Request::new(&mut headers);
        if !request.parse(head).ok()?.is_complete() || request.method != Some("GET") {
            return None;
        }
        // A page that resolves its own host name to this machine's address is not the authorization server's.
        let host = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"))?;
        if host.value != self.address.to_string().as_bytes() {
            return None;
        }
        let (path, query) = request.path?.split_once('?')?;
        if path != PATH {
            return None;
        }
        let mut parameters = Parameters::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // A parameter must not occur twice (RFC 6749, section 3.1).
            if parameters.insert(decode(name)?, decode(value)?).is_some() {
                return None;
            }
        }
        Some(parameters)
    }
}

fn decode(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8().ok().map(|text| text.into_owned())
}

fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let start = Instant::now();
    let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
    while start.elapsed() < HEAD && head.len() < MAX_HEAD {
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(length) => head.extend_from_slice(buffer.get(..length)?),
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => return None,
        }
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return Some(head);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(request.as_bytes()).expect("written");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn only_the_answer_with_the_right_state_ends_the_wait() {
        let callback = Callback::listen(0).expect("a port");
        let address = callback.address;
        let browser = thread::spawn(move || {
            let ask = |line: &str, host: &str| get(address, &format!("{line}\r\nHost: {host}\r\n\r\n"));
            let own = address.to_string();
            let refused = [
                ask("GET /callback?code=a&state=bad HTTP/1.1", &own),
                ask("GET /callback?code=a&code=b&state=s%20t HTTP/1.1", &own),
                ask("GET /other?code=a&state=s%20t HTTP/1.1", &own),
                ask("GET /callback?code=a&state=s%20t HTTP/1.1", "evil.example"),
                ask("POST /callback?code=a&state=s%20t HTTP/1.1", &own),
                ask("\0\u{ff}", &own),
                ask("GET /favicon.ico HTTP/1.1", &own),
            ];
            let taken = ask("GET /callback?code=a%2Bb&state=s+t HTTP/1.1", &own);
            (refused.map(|answer| answer.starts_with("HTTP/1.1 400")), taken.starts_with("HTTP/1.1 200"))
        });
        let parameters = callback.wait("s t", Duration::from_secs(20), || false).expect("an answer");
        assert_eq!(parameters.get("code").map(String::as_str), Some("a+b"));
        assert_eq!(browser.join().expect("an end"), ([true; 7], true));
    }
}
