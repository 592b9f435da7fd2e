//! Reads a stream of server-sent events.
//!
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

use std::time::Duration;

/// The longest id of an event, in bytes. A longer one is ignored.
const MAX_ID: usize = 1024;
/// The longest name of an event, and the longest field other than data, in bytes. The rest of such a line is ignored.
const MAX_FIELD: usize = 4096;
/// The longest wait that a server may ask for before the client reconnects.
const MAX_RETRY: Duration = Duration::from_secs(30);

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The data, with a line feed between its lines.
    pub(super) data: Vec<u8>,
    /// `true` if the event has the default name, as messages do.
    pub(super) is_message: bool,
}

/// An event or a line that exceeds the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Parses events from bytes as they arrive.
pub(super) struct Events {
    /// The most bytes of one event.
    limit: usize,
    line: Vec<u8>,
    /// `true` if the last byte was a carriage return, which a line feed may follow.
    after_cr: bool,
    is_first: bool,
    data: Vec<u8>,
    has_data: bool,
    name: Vec<u8>,
    id: Option<String>,
    /// The id of the last event that was read completely.
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Events {
    /// Creates a parser for events of at most `limit` bytes each.
    pub(super) fn new(limit: usize) -> Self {
        Events {
            limit,
            line: Vec::new(),
            after_cr: false,
            is_first: true,
            data: Vec::new(),
            has_data: false,
            name: Vec::new(),
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Returns the id of the last event, which the client sends when it reconnects.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns how long the server asks the client to wait before it reconnects.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Processes the next bytes, and passes on each event that they complete. Stops early if `each` returns `false`.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Event) -> bool) -> Result<bool, TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes.first() == Some(&b'\n') {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            self.extend(piece)?;
            let Some(end) = end else { break };
            self.after_cr = bytes.get(end) == Some(&b'\r');
            bytes = bytes.get(end + 1..).unwrap_or_default();
            if let Some(event) = self.end_line()
                && !each(event)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn extend(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        // Only data may be long.
        let room = if may_be_data(&self.line) {
            if self.data.len() + self.line.len() + piece.len() > self.limit {
                return Err(TooLong);
            }
            piece.len()
        } else {
            MAX_FIELD.saturating_sub(self.line.len()).min(piece.len())
        };
        self.line.extend_from_slice(piece.get(..room).unwrap_or_default());
        if !may_be_data(&self.line) && self.line.len() > MAX_FIELD {
            self.line.truncate(MAX_FIELD);
            self.line.shrink_to_fit();
        }
        Ok(())
    }

    /// Ends a line. An empty line ends an event.
    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if std::mem::take(&mut self.is_first) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = value.to_vec(),
            // The id is later sent as the value of a header.
            b"id" if value.len() <= MAX_ID && value.iter().all(|byte| matches!(byte, b' '..=b'~')) => {
                self.id = String::from_utf8(value.to_vec()).ok();
            }
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.retry = milliseconds.map(|value| Duration::from_millis(value).min(MAX_RETRY)).or(self.retry);
            }
            // A comment, or an unknown field.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        self.last_id = self.id.clone().filter(|id| !id.is_empty());
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        let is_message = name.is_empty() || name == b"message";
        has_data.then_some(Event { data, is_message })
    }
}

/// Returns whether a line with this beginning may be a line of data.
fn may_be_data(line: &[u8]) -> bool {
    let mark = "\u{feff}".as_bytes();
    let line = line.strip_prefix(mark).unwrap_or(line);
    mark.starts_with(line) || b"data".starts_with(line) || line.starts_with(b"data")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]], limit: usize) -> (Vec<String>, Events, Result<bool, TooLong>) {
        let (mut events, mut all, mut last) = (Events::new(limit), Vec::new(), Ok(true));
        for piece in pieces {
            last = events.push(piece, |event| {
                all.push(format!(
                    "{}{}",
                    if event.is_message { "" } else { "!" },
                    String::from_utf8_lossy(&event.data)
                ));
                true
            });
            if last.is_err() {
                break;
            }
        }
        (all, events, last)
    }

    #[test]
    fn every_line_end_and_every_split_gives_the_same_events() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}: hello|id: a1|retry: 250|data: {|data:  1}||event: ping|data: x||data||id:|data: y||id: z|data: cut"
                .replace('|', end);
            let bytes = text.as_bytes();
            for split in 0..bytes.len() {
                let (all, events, _) = read(&[&bytes[..split], &bytes[split..]], 1000);
                assert_eq!(all, ["{\n 1}", "!x", "", "y"], "{split}");
                assert_eq!((events.last_id(), events.retry()), (None, Some(Duration::from_millis(250))));
            }
        }
    }

    #[test]
    fn last_id_is_that_of_a_whole_event() {
        let (_, events, _) = read(&[b"id: 1\ndata:\n\nid: 2\ndata: cut\n"], 100);
        assert_eq!(events.last_id(), Some("1"));
        let (_, events, _) = read(&[b"id: 1\n\nid: a\0b\n\n"], 100);
        assert_eq!(events.last_id(), Some("1"), "an id that cannot be a header is ignored");
    }

    #[test]
    fn long_data_is_an_error_and_long_comments_cost_no_memory() {
        assert_eq!(read(&[b"data: 12345\n", b"data: 12345\n\n"], 15).2, Err(TooLong));
        assert_eq!(read(&[b"data: 1234567890123"], 16).2, Err(TooLong));
        let long = vec![b'x'; 100_000];
        let (all, events, last) = read(&[b":", &long, &long, b"\ndata: a\n\nevent:", &long, b"\ndata: b\n\n"], 200_100);
        assert_eq!((all, last), (vec!["a".to_owned(), "!b".to_owned()], Ok(true)));
        assert!(events.line.capacity() <= 2 * MAX_FIELD, "{}", events.line.capacity());
    }

    #[test]
    fn arbitrary_bytes_never_panic() {
        let mut state = 7_u64;
        for _ in 0..2000 {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize
            };
            let words: [&[u8]; 9] = [b"data:", b"id:", b"\n", b"\r", b"retry:", b"9", b"\xff", b": ", b"event"];
            let bytes: Vec<u8> = (0..next() % 40).flat_map(|_| words[next() % words.len()].to_vec()).collect();
            let _ = read(&[&bytes], 30).1;
        }
    }
}
