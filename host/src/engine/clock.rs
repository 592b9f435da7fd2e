//! The wall clock. The host checks it each time the guest has used some fuel, so neither a thread nor the guest's code
//! has to.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// Fuel between two checks of the clock: some milliseconds. A check switches stacks, a fraction of a microsecond.
pub(crate) const LOOK: u64 = 10_000_000;

/// The start of a call, and how long it may last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    timeout: Duration,
}

/// The call took too long.
#[derive(Debug, thiserror::Error)]
#[error("the call took too long")]
pub(crate) struct TimedOut;

impl Clock {
    pub(crate) fn start(timeout: Duration) -> Self {
        Clock { start: Instant::now(), timeout }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Run a call of the guest to its end, or until the time is up. Drop the store after a timeout.
    pub(crate) fn run<T>(&self, call: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
        let mut call = pin!(call);
        // The guest waits for nothing: after a yield it can go on at once.
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
