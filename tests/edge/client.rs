//! HTTP/1.1 as far as a test needs it: one request, one response, over a connection that may be kept.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

/// Longer than any answer takes. What waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest response that is read.
const MAX_RESPONSE: usize = 64 * 1024 * 1024;

/// A connection to the server.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    /// Returns the value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

impl Connection {
    pub(crate) fn open(server: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(server).context("the server does not take a connection")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Connection { stream: BufReader::new(stream) })
    }

    /// Asks for something with a body of a known length.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> Result<Response> {
        let mut request = head(method, path, &format!("content-length: {}\r\n", body.len()));
        request.extend(body);
        self.send(&request)?;
        self.receive()
    }

    /// Sends bytes. A server that has answered already need not read on: what it says then is in its answer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        match self.stream.get_mut().write_all(bytes) {
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
            sent => Ok(sent?),
        }
    }

    /// Closes the sending side.
    pub(crate) fn end(&mut self) -> Result<()> {
        Ok(self.stream.get_ref().shutdown(std::net::Shutdown::Write)?)
    }

    /// Reads the response to what was sent.
    pub(crate) fn receive(&mut self) -> Result<Response> {
        let line = self.line()?;
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.with_context(|| format!("not the first line of a response: {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').with_context(|| format!("not a header: {line:?}"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response { status, headers, body: String::new() };
        let length = response.header("content-length").context("a response without a length")?.parse()?;
        ensure!(length <= MAX_RESPONSE, "a response of {length} bytes");
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).context("the response breaks off")?;
        response.body = String::from_utf8(body)?;
        Ok(response)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        // Nothing a server of ours says is longer.
        self.stream.by_ref().take(8192).read_line(&mut line).context("no response")?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None if line.is_empty() => bail!("the server closed the connection"),
            None => bail!("the response breaks off in a line: {line:?}"),
        }
    }
}

/// Returns the beginning of a request, with further headers.
pub(crate) fn head(method: &str, path: &str, headers: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\r\n")
        .into_bytes()
}

/// Sends one request over a connection of its own.
pub(crate) fn ask(server: SocketAddr, method: &str, path: &str, body: &[u8]) -> Result<Response> {
    Connection::open(server)?.ask(method, path, body)
}
