//! The wall clock: a thread that moves the engine's epoch on while something runs, and sleeps otherwise.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use wasmtime::Engine;

/// How exactly time-outs are kept.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Moves the epoch of an engine on.
#[derive(Debug)]
pub(crate) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: OnceLock<Thread>,
}

/// While one of these lives, the epoch moves.
#[derive(Debug)]
pub(crate) struct Ticking<'t>(&'t Ticker);

impl Ticker {
    pub(crate) fn new() -> Self {
        Ticker { running: Arc::default(), thread: OnceLock::new() }
    }

    /// Let the epoch move until the result is dropped. The thread starts with the first call.
    pub(crate) fn start(&self, engine: &Engine) -> Ticking<'_> {
        let thread = self.thread.get_or_init(|| {
            let engine = engine.weak();
            let running = Arc::downgrade(&self.running);
            let tick = move || {
                loop {
                    match running.upgrade() {
                        None => return,
                        Some(running) if running.load(Ordering::SeqCst) == 0 => {
                            drop(running);
                            thread::park();
                        }
                        Some(_) => thread::sleep(TICK),
                    }
                    match engine.upgrade() {
                        Some(engine) => engine.increment_epoch(),
                        None => return,
                    }
                }
            };
            // Without the thread nothing times out; fuel bounds every call all the same.
            let handle = thread::Builder::new().name("seamgate-ticker".to_owned()).spawn(tick);
            handle.map(|handle| handle.thread().clone()).unwrap_or_else(|_| thread::current())
        });
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            thread.unpark();
        }
        Ticking(self)
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The thread wakes, finds nobody, and ends.
        self.running = Arc::default();
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
