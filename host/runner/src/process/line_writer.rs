//! Queues lines for a reader that may be slow, or may never read.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// The maximum number of waiting bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The interval at which a writer that waits for space checks whether to continue.
const TICK: Duration = Duration::from_millis(100);

/// A queue of lines, and a thread that writes them.
#[derive(Default)]
pub struct LineWriter {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<String>,
    /// The total size of all waiting lines and of those that are being written, in bytes.
    bytes: usize,
    /// `true` once no more lines will be added.
    is_closed: bool,
    /// `true` once the reader reads no more.
    is_broken: bool,
}

/// The reason why the queue rejected a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// Too many bytes are already waiting.
    Full,
    /// The reader reads no more.
    Broken,
}

impl LineWriter {
    /// Starts a thread that writes all lines to `out`, until the queue is closed. Then drops `out`.
    pub fn start(out: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        let writer = Arc::<LineWriter>::default();
        let own = Arc::clone(&writer);
        thread::Builder::new().spawn(move || own.write_all(out))?;
        Ok(writer)
    }

    fn write_all(&self, mut out: impl Write) {
        let mut written = 0;
        while let Some(bytes) = self.next(written) {
            written = bytes.len();
            if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
                let mut queue = self.lock();
                queue.is_broken = true;
                queue.lines.clear();
                queue.bytes = 0;
                self.changed.notify_all();
                return;
            }
        }
    }

    /// Waits for lines, and returns all waiting ones. Returns `None` if no more will come.
    fn next(&self, written: usize) -> Option<Vec<u8>> {
        let mut queue = self.lock();
        queue.bytes = queue.bytes.saturating_sub(written);
        self.changed.notify_all();
        while queue.lines.is_empty() && !queue.is_closed {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        if queue.lines.is_empty() {
            queue.is_broken = true;
            self.changed.notify_all();
            return None;
        }
        // Usually only one line waits, which can be long.
        let mut bytes = queue.lines.pop_front().unwrap_or_default().into_bytes();
        bytes.push(b'\n');
        for line in queue.lines.drain(..) {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        Some(bytes)
    }

    /// Adds a line, if there is space.
    pub fn push(&self, line: String) -> Result<(), Refused> {
        let mut queue = self.lock();
        if queue.is_broken || queue.is_closed {
            return Err(Refused::Broken);
        }
        if queue.bytes > MAX_BYTES {
            return Err(Refused::Full);
        }
        queue.bytes += line.len() + 1;
        queue.lines.push_back(line);
        self.changed.notify_all();
        Ok(())
    }

    /// Adds a line as soon as there is space. Gives up when `is_over` returns `true`.
    pub fn push_waiting(&self, line: String, is_over: impl Fn() -> bool) -> Result<(), Refused> {
        {
            let mut queue = self.lock();
            while queue.bytes > MAX_BYTES && !queue.is_broken {
                if is_over() {
                    return Err(Refused::Full);
                }
                queue = self.changed.wait_timeout(queue, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        self.push(line)
    }

    /// Closes the queue: waiting lines are written, and then the reader sees the end.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until everything is written or the reader reads no more, but no longer than `time`.
    pub fn wait(&self, time: Duration) {
        let queue = self.lock();
        let is_left = |queue: &mut Queue| !queue.is_broken && queue.bytes > 0;
        drop(self.changed.wait_timeout_while(queue, time, is_left));
    }

    /// Returns whether the reader reads no more.
    pub fn is_broken(&self) -> bool {
        self.lock().is_broken
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Sender};

    use super::*;

    /// A reader that accepts one write for each message.
    struct Slow(mpsc::Receiver<()>, Sender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_come_out_in_order_and_a_slow_reader_makes_it_full() {
        let (go, may_go) = mpsc::channel();
        let (sender, written) = mpsc::channel();
        let writer = LineWriter::start(Slow(may_go, sender)).expect("a thread");
        writer.push("a".to_owned()).expect("room");
        writer.push("x".repeat(MAX_BYTES)).expect("room");
        writer.push("b".to_owned()).expect_err("full");
        assert_eq!(writer.push_waiting("b".to_owned(), || true), Err(Refused::Full));
        go.send(()).expect("a reader");
        go.send(()).expect("a reader");
        let all: usize = [written.recv(), written.recv()].into_iter().flatten().map(|bytes| bytes.len()).sum();
        assert_eq!(all, MAX_BYTES + 3);
        writer.push_waiting("b".to_owned(), || false).expect("room");
        go.send(()).expect("a reader");
        assert_eq!(written.recv().expect("written"), b"b\n");
        writer.push("c".to_owned()).expect("room");
        drop(go);
        writer.wait(Duration::from_secs(10));
        assert!(writer.is_broken());
        assert_eq!(writer.push("d".to_owned()), Err(Refused::Broken));
    }
}
