//! The wall clock. The host checks it each time the guest has used some fuel, so neither a thread nor the guest's code
//! has to.

use std::{
    pin::pin,
    sync::OnceLock,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// The fuel between two checks of the clock, which lasts some milliseconds. A check switches stacks, which takes a
/// fraction of a microsecond.
pub(crate) const LOOK: u64 = 10_000_000;

/// How long a call works or waits before it asks the host again whether to continue.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

static INTERRUPTED: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets the function that can end calls early, for the whole process. The first call of `interrupt_when` wins, and later
/// ones have no effect.
///
/// While a call works or waits for a slot, the gate calls the function every 50 ms, on the thread of that call. If the
/// function returns `true`, the call ends in [`Fault::Timeout`](crate::Fault::Timeout) or
/// [`Fault::Busy`](crate::Fault::Busy). A language that holds signals back until a call returns, such as Python, checks for
/// Ctrl-C here.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// static CANCELLED: AtomicBool = AtomicBool::new(false);
///
/// seamgate::interrupt_when(|| CANCELLED.load(Ordering::Relaxed));
/// ```
pub fn interrupt_when(asked: fn() -> bool) {
    let _ = INTERRUPTED.set(asked);
}

pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|asked| asked())
}

/// The start of a call, and its time limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    timeout: Duration,
}

/// The error of a call that took too long.
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

    /// Returns the remaining time.
    pub(crate) fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.elapsed())
    }

    /// Runs a call of the guest to its end, or until the time is up. Drop the store after a timeout.
    pub(crate) fn run<T>(&self, call: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
        let mut call = pin!(call);
        // The guest never waits for anything: after a yield it can continue at once.
        let mut context = Context::from_waker(Waker::noop());
        let mut next = self.elapsed() + PAUSE;
        loop {
            match call.as_mut().poll(&mut context) {
                Poll::Ready(result) => return result,
                Poll::Pending if self.left().is_zero() => return Err(TimedOut.into()),
                Poll::Pending if self.elapsed() >= next => {
                    if is_interrupted() {
                        return Err(TimedOut.into());
                    }
                    next = self.elapsed() + PAUSE;
                }
                Poll::Pending => {}
            }
        }
    }
}
