//! A scripted HTTP server on this machine.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use serde_json::Value;

/// A request as the server received it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// The headers, by their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Returns the HTTP method, and the method of the message.
    pub(crate) fn what(&self) -> String {
        let message = self.json();
        format!("{} {}", self.method, message["method"].as_str().unwrap_or_default()).trim_end().to_owned()
    }
}

/// The connection of an answer.
pub(crate) struct Reply<'c>(&'c mut TcpStream);

impl Reply<'_> {
    pub(crate) fn raw(&mut self, text: &str) {
        let _ = self.0.write_all(text.as_bytes());
    }

    pub(crate) fn send(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.raw(&format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()));
    }

    pub(crate) fn json(&mut self, status: u16, body: &Value) {
        self.send(status, &[("Content-Type", "application/json")], &body.to_string());
    }

    /// Begins a stream of events.
    pub(crate) fn stream(&mut self, headers: &[(&str, &str)]) {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.raw(&format!(
            "HTTP/1.1 200 X\r\n{headers}Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        ));
    }

    pub(crate) fn chunk(&mut self, text: &str) {
        self.raw(&format!("{:x}\r\n{text}\r\n", text.len()));
    }

    pub(crate) fn event(&mut self, message: &Value) {
        self.chunk(&format!("data: {message}\n\n"));
    }

    /// Ends a stream correctly.
    pub(crate) fn end(&mut self) {
        self.raw("0\r\n\r\n");
    }

    /// Closes the connection.
    pub(crate) fn hang_up(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }

    /// Waits until the client closes the connection. Returns whether the client closed it in time.
    pub(crate) fn is_closed(&mut self, patience: Duration) -> bool {
        let _ = self.0.set_read_timeout(Some(patience));
        matches!(self.0.read(&mut [0; 1]), Ok(0))
    }
}

/// A server. A function writes its answers.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&Request, &mut Reply) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (own, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&own), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Server { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Vec<Request>> {
        self.seen.lock().expect("no panic")
    }

    /// Returns the kinds of all requests, in order.
    pub(crate) fn what(&self) -> Vec<String> {
        self.seen().iter().map(Request::what).collect()
    }

    /// Waits until a request of this kind arrives.
    pub(crate) fn wait_for(&self, what: &str) -> bool {
        for _ in 0..400 {
            if self.what().iter().any(|own| own == what) {
                return true;
            }
            thread::sleep(Duration::from_millis(25));
        }
        false
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Request>>, answer: &(impl Fn(&Request, &mut Reply) + ?Sized)) {
    let mut rest = Vec::new();
    while let Some(request) = read(&mut stream, &mut rest) {
        seen.lock().expect("no panic").push(request.clone());
        answer(&request, &mut Reply(&mut stream));
    }
}

fn read(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Request> {
    let mut buffer = [0; 8192];
    let _ = stream.set_read_timeout(None);
    let end = loop {
        match rest.windows(4).position(|end| end == b"\r\n\r\n") {
            Some(end) => break end,
            None => match stream.read(&mut buffer) {
                Ok(length) if length > 0 => rest.extend_from_slice(&buffer[..length]),
                _ => return None,
            },
        }
    };
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    rest.drain(..end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
    while rest.len() < length {
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => rest.extend_from_slice(&buffer[..read]),
            _ => return None,
        }
    }
    let body = String::from_utf8_lossy(&rest[..length]).into_owned();
    rest.drain(..length);
    Some(Request { method, path, headers, body })
}
