//! HTTP/1.1 over one connection. A request is read within limits on bytes and time, and answered as a whole or by a
//! stream of events.
//!
//! Implements RFC 9112. Requests that two parsers could interpret differently are rejected, such as those with two
//! lengths, with both a length and chunks, or with repeated headers.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use httparse::Status as Parsed;

/// The longest request line with its headers, in bytes, and the maximum number of headers.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// The longest body, in bytes.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// The longest line before a chunk, and the most bytes after the last chunk.
const MAX_CHUNK_LINE: usize = 256;
const MAX_TRAILERS: usize = 4 * 1024;

/// The time limits for an idle connection, and for a head and a body from their first byte on.
const IDLE: Duration = Duration::from_secs(60);
const HEAD: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(60);
/// The longest time that a client may read nothing of what it is sent.
const WRITE: Duration = Duration::from_secs(30);
/// How long, and how many bytes, a refused client is still read, so that it receives the answer.
const LINGER: Duration = Duration::from_millis(500);
const MAX_LINGER: usize = 1024 * 1024;

/// Headers that must not repeat, in addition to those of the protocol.
const SINGLE: [&str; 8] = [
    "authorization",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "origin",
    "transfer-encoding",
];

/// Returns whether a header must not repeat.
fn is_single(name: &str) -> bool {
    SINGLE.contains(&name) || name.starts_with("mcp-")
}

/// The head of a request.
#[derive(Debug)]
pub struct Request {
    /// The method, as the client wrote it.
    pub method: String,
    /// The path with its query, as the client wrote it.
    pub target: String,
    /// The headers, with names in lower case.
    headers: Vec<(String, String)>,
    body: Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Bytes(usize),
    Chunks,
}

/// A refusal: the HTTP status, and the reason.
#[derive(Debug)]
pub struct Refused(pub u16, pub String);

/// The reason why no more is read from a connection.
#[derive(Debug)]
pub enum Broken {
    /// The client ended the connection, or is silent.
    Ended,
    /// The request is refused. The client receives the reason.
    Refused(Refused),
}

impl From<Refused> for Broken {
    fn from(refused: Refused) -> Self {
        Broken::Refused(refused)
    }
}

impl Request {
    /// Returns the value of a header that must not repeat, if it is present.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns the headers whose names begin with a prefix, with their values.
    pub fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self.headers.iter().filter(move |(name, _)| name.starts_with(prefix));
        all.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the words of a header that may repeat, without their parameters.
    pub fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.headers.iter().filter(move |(own, _)| own == name);
        values.flat_map(|(_, value)| value.split(',')).map(|word| word.split(';').next().unwrap_or_default().trim())
    }

    /// Returns whether the request has a body.
    pub fn has_body(&self) -> bool {
        self.body != Length::Bytes(0)
    }

    fn is_last(&self) -> bool {
        self.words("connection").any(|word| word.eq_ignore_ascii_case("close"))
    }

    /// Parses a head, and returns it with its length in bytes. `None` if it is not complete yet.
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Refused> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(Parsed::Complete(length)) if length <= MAX_HEAD => length,
            Ok(Parsed::Partial) if bytes.len() <= MAX_HEAD => return Ok(None),
            Ok(_) => return Err(Refused(431, format!("the headers are too long: at most {MAX_HEAD} bytes"))),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refused(431, format!("there are too many headers: at most {MAX_HEADERS}")));
            }
            Err(error) => return Err(Refused(400, format!("this is no HTTP request: {error}"))),
        };
        if request.version != Some(1) {
            return Err(Refused(505, "the request must be of HTTP/1.1".to_owned()));
        }
        let mut read: Vec<(String, String)> = Vec::with_capacity(request.headers.len());
        for header in request.headers.iter() {
            let name = header.name.to_ascii_lowercase();
            let is_plain = header.value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
            let value = match str::from_utf8(header.value) {
                Ok(value) if is_plain => value.trim_matches([' ', '\t']).to_owned(),
                // Headers that are not used may contain bytes other than ASCII.
                _ if is_single(&name) => {
                    return Err(Refused(400, format!("the header {name} has bytes that are not ASCII")));
                }
                _ => continue,
            };
            if is_single(&name) && read.iter().any(|(other, _)| *other == name) {
                return Err(Refused(400, format!("the header {name} comes twice")));
            }
            read.push((name, value));
        }
        let mut request = Request {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            headers: read,
            body: Length::Bytes(0),
        };
        request.body = request.length()?;
        Ok(Some((request, length)))
    }

    /// Returns the length of the body.
    fn length(&self) -> Result<Length, Refused> {
        match (self.header("transfer-encoding"), self.header("content-length")) {
            (Some(_), Some(_)) => {
                Err(Refused(400, "a request has Content-Length or Transfer-Encoding, not both".to_owned()))
            }
            (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Ok(Length::Chunks),
            (Some(_), None) => Err(Refused(501, "Transfer-Encoding must be chunked".to_owned())),
            (None, None) => Ok(Length::Bytes(0)),
            (None, Some(length)) => {
                if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(Refused(400, "Content-Length must be a number of bytes".to_owned()));
                }
                match length.parse::<usize>() {
                    Ok(length) if length <= MAX_BODY => Ok(Length::Bytes(length)),
                    _ => Err(too_long()),
                }
            }
        }
    }
}

fn too_long() -> Refused {
    Refused(413, format!("the body is too long: at most {MAX_BODY} bytes"))
}

/// A connection of a client.
pub struct Connection {
    stream: TcpStream,
    /// The bytes that were read and do not belong to a request yet.
    read: Vec<u8>,
    /// `true` if the client sends no more requests, or could not be understood.
    is_last: bool,
    /// `true` if the body of the last request was not read.
    owes_body: bool,
}

impl Connection {
    /// Creates a connection from an accepted stream.
    ///
    /// # Errors
    ///
    /// The system rejects the settings because the client has disconnected.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE))?;
        Ok(Connection { stream, read: Vec::new(), is_last: false, owes_body: false })
    }

    /// Returns the head of the next request. It has at most 16 KiB and 64 headers, and must arrive within 10 s of its
    /// first byte.
    ///
    /// # Errors
    ///
    /// The client ended the connection or was idle for 60 s, or the head is refused.
    pub(crate) fn head(&mut self) -> Result<Request, Broken> {
        if self.is_last {
            return Err(Broken::Ended);
        }
        if self.read.is_empty() && !self.more(Instant::now() + IDLE)? {
            return Err(Broken::Ended);
        }
        let until = Instant::now() + HEAD;
        loop {
            match Request::parse(&self.read) {
                Ok(Some((request, length))) => {
                    self.read.drain(..length);
                    self.is_last = request.is_last();
                    self.owes_body = request.has_body();
                    return Ok(request);
                }
                Ok(None) if self.more(until)? => {}
                Ok(None) => {
                    self.is_last = true;
                    return Err(Refused(408, "the headers took too long".to_owned()).into());
                }
                Err(refused) => {
                    // It is not known where the next request begins.
                    self.is_last = true;
                    return Err(refused.into());
                }
            }
        }
    }

    /// Returns the body of a request whose head was read. It has at most 16 MiB, and must arrive within 60 s.
    ///
    /// # Errors
    ///
    /// The client ended the connection, or the body is refused.
    pub fn body(&mut self, request: &Request) -> Result<Vec<u8>, Broken> {
        match request.header("expect") {
            Some(expect) if expect.eq_ignore_ascii_case("100-continue") && request.has_body() => {
                self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").map_err(|_| Broken::Ended)?;
            }
            Some(expect) if !expect.eq_ignore_ascii_case("100-continue") => {
                return Err(Refused(417, "Expect can only be 100-continue".to_owned()).into());
            }
            _ => {}
        }
        let until = Instant::now() + BODY;
        let body = match request.body {
            Length::Bytes(length) => self.take(length, until)?,
            Length::Chunks => self.chunks(until)?,
        };
        self.owes_body = false;
        Ok(body)
    }

    fn chunks(&mut self, until: Instant) -> Result<Vec<u8>, Broken> {
        let mut body = Vec::new();
        loop {
            let (line, length) = loop {
                match httparse::parse_chunk_size(&self.read) {
                    Ok(Parsed::Complete(found)) if found.0 <= MAX_CHUNK_LINE => break found,
                    Ok(Parsed::Partial) if self.read.len() <= MAX_CHUNK_LINE => self.need(until)?,
                    _ => return Err(Refused(400, "the length of a chunk is malformed".to_owned()).into()),
                }
            };
            self.read.drain(..line);
            let left = MAX_BODY - body.len();
            let length = usize::try_from(length).ok().filter(|length| *length <= left).ok_or_else(too_long)?;
            if length == 0 {
                return self.trailers(until).map(|()| body);
            }
            body.extend(self.take(length, until)?);
            if self.take(2, until)? != b"\r\n" {
                return Err(Refused(400, "a chunk is longer than it says".to_owned()).into());
            }
        }
    }

    /// Skips everything after the last chunk.
    fn trailers(&mut self, until: Instant) -> Result<(), Broken> {
        let mut read = 0;
        loop {
            let end = loop {
                match self.read.windows(2).position(|two| two == b"\r\n") {
                    Some(end) => break end,
                    None if self.read.len() + read <= MAX_TRAILERS => self.need(until)?,
                    None => return Err(Refused(431, "what follows the last chunk is too long".to_owned()).into()),
                }
            };
            self.read.drain(..end + 2);
            read += end + 2;
            if end == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, length: usize, until: Instant) -> Result<Vec<u8>, Broken> {
        while self.read.len() < length {
            self.need(until)?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    /// Reads more of a body.
    fn need(&mut self, until: Instant) -> Result<(), Broken> {
        match self.more(until)? {
            true => Ok(()),
            false => Err(Refused(408, "the body took too long".to_owned()).into()),
        }
    }

    /// Reads the next bytes. Returns whether any arrived in time.
    fn more(&mut self, until: Instant) -> Result<bool, Broken> {
        let mut piece = [0; 16 * 1024];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            self.stream.set_read_timeout(Some(left)).map_err(|_| Broken::Ended)?;
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(Broken::Ended),
                Ok(length) => {
                    self.read.extend_from_slice(&piece[..length]);
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok(false),
                Err(_) => return Err(Broken::Ended),
            }
        }
    }

    /// Answers a request as a whole. `kind` is the media type of the body; `headers` are additional lines, each with
    /// its line end.
    ///
    /// # Errors
    ///
    /// The client has ended the connection, or reads too slowly.
    pub fn answer(&mut self, status: u16, kind: &str, headers: &str, body: &str) -> io::Result<()> {
        let kind = if body.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        // The rest of this request must not be read as the next one.
        self.is_last |= self.owes_body;
        let last = if self.is_last { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} {}\r\n{kind}Content-Length: {}\r\nCache-Control: no-store\r\n{last}{headers}\r\n",
            reason(status),
            body.len()
        );
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// Returns whether the connection ends after the answer.
    pub(crate) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Begins a stream of events. `headers` are additional lines, each with its line end.
    ///
    /// # Errors
    ///
    /// The client has ended the connection, or reads too slowly.
    pub fn stream(&mut self, headers: &str) -> io::Result<()> {
        let last = if self.is_last { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\
             X-Accel-Buffering: no\r\n{last}{headers}\r\n"
        );
        self.stream.write_all(head.as_bytes())
    }

    /// Writes a piece of a stream.
    ///
    /// # Errors
    ///
    /// The client has ended the connection, or reads too slowly.
    pub fn piece(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// Ends a stream.
    ///
    /// # Errors
    ///
    /// The client has ended the connection.
    pub fn end_stream(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    /// Returns whether the client has ended the connection. Bytes that it sends early belong to its next request.
    pub fn has_ended(&self) -> bool {
        if self.stream.set_nonblocking(true).is_err() {
            return true;
        }
        let peeked = self.stream.peek(&mut [0]);
        let is_back = self.stream.set_nonblocking(false).is_ok();
        match peeked {
            Ok(0) => true,
            Ok(_) => !is_back,
            Err(error) => !is_back || error.kind() != ErrorKind::WouldBlock,
        }
    }

    /// Ends the connection. A client that is still sending receives the answer first.
    pub(crate) fn end(mut self) {
        let until = Instant::now() + LINGER;
        self.read.clear();
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let mut read = 0;
        while read < MAX_LINGER && matches!(self.more(until), Ok(true)) {
            read += self.read.len();
            self.read.clear();
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "HTTP Version Not Supported",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_in_pieces_is_the_same_head() {
        let text =
            b"POST /mcp HTTP/1.1\r\nHost: a\r\nAccept: x/y; q=1 , z\r\naccept:w\r\nContent-Length: 5\r\n\r\nhello";
        let end = text.len() - 5;
        for length in 0..end {
            assert!(matches!(Request::parse(&text[..length]), Ok(None)), "{length}");
        }
        let (request, length) = Request::parse(text).expect("a head").expect("all of it");
        assert_eq!((length, request.body, request.header("host")), (end, Length::Bytes(5), Some("a")));
        assert_eq!(request.words("accept").collect::<Vec<_>>(), ["x/y", "z", "w"]);
    }

    #[test]
    fn whatever_bytes_come_nothing_panics() {
        let text = b"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: \xff\r\nMcp-Name: b\r\n\r\n";
        for place in 0..text.len() {
            for byte in 0..=255 {
                let mut text = text.to_vec();
                text[place] = byte;
                let _ = Request::parse(&text);
            }
        }
    }
}
