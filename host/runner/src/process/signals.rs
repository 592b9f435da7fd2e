//! Signals that end this process.

pub use self::os::{Listening, Signals};

#[cfg(unix)]
mod os {
    use std::{
        io,
        path::{Path, PathBuf},
        sync::{Arc, Mutex, PoisonError},
    };

    use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

    use super::super::spawn;

    /// Passes SIGINT, SIGTERM and SIGHUP to all listeners. Without a listener, they end this process, as is the
    /// default.
    #[derive(Clone)]
    pub struct Signals(Arc<Shared>);

    #[derive(Default)]
    struct Shared {
        listeners: Mutex<Listeners>,
        /// The folder to remove before a signal ends this process.
        folder: Mutex<Option<PathBuf>>,
    }

    impl Signals {
        /// Catches the signals from now on. Call this once, at start.
        pub fn install() -> io::Result<Self> {
            // A parent can make this process ignore SIGCHLD. Then the kernel reaps the child itself: its status is
            // lost, and its number may be reused for another process. Catching the signal undoes that.
            let ends = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored() >> (signal - 1) & 1 == 0);
            let mut caught = signal_hook::iterator::Signals::new(ends.chain([SIGCHLD]))?;
            let signals = Self(Arc::default());
            let listener = signals.clone();
            spawn(move || {
                for signal in caught.forever().filter(|signal| *signal != SIGCHLD) {
                    if !listener.tell(signal) {
                        if let Some(folder) = &*listener.0.folder.lock().unwrap_or_else(PoisonError::into_inner) {
                            let _ = std::fs::remove_dir_all(folder);
                        }
                        // This terminates the process.
                        drop(signal_hook::low_level::emulate_default_handler(signal));
                    }
                }
            })?;
            Ok(signals)
        }

        /// Passes later signals to a listener, until the result is dropped. The listener returns whether anybody
        /// received the signal.
        pub fn listen(&self, listener: impl Fn(i32) -> bool + Send + 'static) -> Listening {
            let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.last += 1;
            let number = listeners.last;
            listeners.all.push((number, Box::new(listener)));
            Listening { signals: self.clone(), number }
        }

        /// Sets the folder that is removed before a signal ends this process. `None` for no folder.
        pub fn remove_at_end(&self, folder: Option<&Path>) {
            *self.0.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder.map(Path::to_owned);
        }

        /// Notifies all listeners. Returns whether any of them received it.
        fn tell(&self, signal: i32) -> bool {
            let listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.all.iter().fold(false, |is_heard, (_, listener)| listener(signal) || is_heard)
        }
    }

    /// A function that receives a signal, and returns whether anybody handles it.
    type Listener = Box<dyn Fn(i32) -> bool + Send>;

    #[derive(Default)]
    struct Listeners {
        last: u64,
        /// The listeners, with their numbers.
        all: Vec<(u64, Listener)>,
    }

    /// Keeps a listener registered for signals until this is dropped.
    pub struct Listening {
        signals: Signals,
        number: u64,
    }

    impl Drop for Listening {
        fn drop(&mut self) {
            let mut listeners = self.signals.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.all.retain(|(number, _)| *number != self.number);
        }
    }

    /// Returns the signals that this process ignored at its start, as bits. They stay ignored, as `nohup` requires for
    /// SIGHUP. Only Linux reports them.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod os {
    use std::{io, path::Path};

    /// Does nothing, because no signals are caught on this system.
    #[derive(Clone)]
    pub struct Signals;

    /// Does nothing.
    pub struct Listening;

    impl Signals {
        /// Does nothing.
        pub fn install() -> io::Result<Self> {
            Ok(Self)
        }

        /// Does nothing.
        pub fn listen(&self, _: impl Fn(i32) -> bool + Send + 'static) -> Listening {
            Listening
        }

        /// Does nothing.
        pub fn remove_at_end(&self, _: Option<&Path>) {}
    }
}
