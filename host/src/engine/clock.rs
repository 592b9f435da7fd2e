//! The wall clock, looked at whenever the guest has used so much fuel: no thread has to watch, and the guest's code has
//! nothing to look at.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// Fuel between two looks at the clock: some milliseconds. Each costs a switch of stacks, a fraction of a microsecond.
pub(crate) const LOOK: u64 = 10_000_000;

/// How long a call may last, from its begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    timeout: Duration,
}

/// The time was up.
#[derive(Debug, thiserror::Error)]
#[error("the time is up")]
pub(crate) struct TimedOut;

impl Clock {
    pub(crate) fn start(timeout: Duration) -> Self {
        Clock { start: Instant::now(), timeout }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Run a call of the guest's to its end, or until the time is up. After that its store is of no use.
    pub(crate) fn run<T>(&self, call: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
        let mut call = pin!(call);
        // The guest waits for nothing: where it yields, it can go on at once.
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match call.as_mut().poll(&mut context) {
                Poll::Ready(result) => return result,
                Poll::Pending if self.elapsed() >= self.timeout => return Err(TimedOut.into()),
                Poll::Pending => {}
            }
        }
    }
}
