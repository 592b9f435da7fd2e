//! A client of `seamgate mcp --listen` that sends exactly the bytes of a test, and the gate for it.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, Result, bail};

/// The variable that contains the token of gates in tests.
pub const VARIABLE: &str = "GATE_TOKEN";
/// The value of [`VARIABLE`].
pub const TOKEN: &str = "0123456789abcdef";

/// The maximum time that a test waits for an expected event.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a gate.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// The head of an answer whose body has not been read yet.
pub struct Head {
    /// The status.
    pub status: u16,
    /// The headers, by their names in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Connection {
    /// Connects to a port of this machine.
    ///
    /// # Errors
    ///
    /// Returns an error if no program listens on the port.
    pub fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    /// Returns a handle that can close this connection while another thread reads it.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no more handles.
    pub fn ending(&self) -> Result<TcpStream> {
        Ok(self.stream.get_ref().try_clone()?)
    }

    /// Sends bytes unchanged.
    ///
    /// # Errors
    ///
    /// Returns an error if the gate has closed the connection.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.get_mut().write_all(bytes)?)
    }

    /// Sends a request with the required headers. `headers` are further header lines.
    ///
    /// # Errors
    ///
    /// Returns an error if the gate has closed the connection.
    pub fn ask(&mut self, port: u16, method: &str, headers: &str, body: &str) -> Result<()> {
        let length = body.len();
        self.send(
            format!(
                "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    /// Returns the head of the next answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection ends before the head is complete, or if the head is malformed.
    pub fn head(&mut self) -> Result<Head> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("no status: {first:?}"))?;
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some((name, value)) => drop(headers.insert(name.to_ascii_lowercase(), value.to_owned())),
                None if line.is_empty() => return Ok(Head { status, headers }),
                None => bail!("no header: {line:?}"),
            }
        }
    }

    /// Reads the body of an answer. Passes each piece to `tell` when it arrives.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection ends before the body is complete, or if the body is malformed.
    pub fn body(&mut self, head: &Head, mut tell: impl FnMut(&str)) -> Result<()> {
        if let Some(length) = head.headers.get("content-length") {
            let mut body = vec![0; length.parse()?];
            self.stream.read_exact(&mut body)?;
            if !body.is_empty() {
                tell(&String::from_utf8(body)?);
            }
            return Ok(());
        }
        while let Some(piece) = self.piece()? {
            tell(&piece);
        }
        Ok(())
    }

    /// Returns the next piece of a stream, or `None` if the stream has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection ends before the piece is complete, or if the piece is malformed.
    pub fn piece(&mut self) -> Result<Option<String>> {
        let length = usize::from_str_radix(&self.line()?, 16)?;
        let mut piece = vec![0; length];
        self.stream.read_exact(&mut piece)?;
        if !self.line()?.is_empty() {
            bail!("a chunk is longer than it says");
        }
        Ok(if length == 0 { None } else { Some(String::from_utf8(piece)?) })
    }

    /// Returns whether the connection has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if reading fails, for example because neither data nor the end arrives in time.
    pub fn ends(&mut self) -> Result<bool> {
        match self.stream.fill_buf() {
            Ok(rest) => Ok(rest.is_empty()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the gate closed the connection");
        }
        Ok(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// Returns the message of a piece of a body: an event, or JSON.
pub fn message(piece: &str) -> Option<&str> {
    if piece.starts_with('{') {
        return Some(piece);
    }
    piece.lines().find_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty())
}

/// Returns the port that a gate reports on its standard error, and the text before it.
///
/// # Errors
///
/// Returns an error if standard error ends before the port is reported.
pub fn port(errors: &mut impl BufRead) -> Result<(u16, String)> {
    let mut told = String::new();
    loop {
        let mut line = String::new();
        if errors.read_line(&mut line)? == 0 {
            bail!("the gate does not serve: {told}");
        }
        let address = line.trim_end().strip_prefix("seamgate: serves http://127.0.0.1:");
        if let Some(port) = address.and_then(|address| address.strip_suffix("/mcp")) {
            // The next line describes the headers that clients must send.
            errors.read_line(&mut String::new())?;
            return Ok((port.parse()?, told));
        }
        told.push_str(&line);
    }
}
