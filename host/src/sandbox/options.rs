//! The settings of a gate.

use std::path::PathBuf;

use super::{cache::Cache, component::Component};
use crate::types::limits::Limits;

/// The settings of a gate. Every setting has a default, and each method changes one setting.
///
/// ```
/// use std::time::Duration;
/// use seamgate::{Gate, Limits, Options};
///
/// let limits = Limits::default().timeout(Duration::from_secs(1));
/// let gate = Gate::with(Options::default().limits(limits).slots(2))?;
/// # Ok::<(), seamgate::LoadError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The component that runs in the sandbox. Default: the built-in component.
    pub component: Component,
    /// The limits of one call.
    pub limits: Limits,
    /// The number of instances that can run concurrently, at least one. A further call waits, at most as long as a call
    /// may take ([`Limits::timeout`]), and then ends in [`Fault::Busy`](crate::Fault::Busy). Sessions and instances of
    /// [`Gate::instance`](crate::Gate::instance) take no slots. Default: four for each processor, at least 8.
    ///
    /// Each reserves 4 GiB of addresses, and takes memory only as it uses it. If the process may not reserve that much
    /// (`ulimit -v`), as many instances run as fit, but at least one; that one needs 5 GiB. Verdicts and fuel stay the
    /// same, and each instance takes some tenths of a millisecond longer.
    pub slots: u32,
    /// The folder where the gate keeps the machine code of components other than the built-in one. Default: `seamgate`
    /// in the user's cache folder, private to the user. With `None`, each gate compiles its component again.
    pub cache: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, |processors| processors.get() as u32);
        Options {
            component: Component::builtin(),
            limits: Limits::default(),
            slots: processors.saturating_mul(4).max(8),
            cache: Cache::users(),
        }
    }
}

impl Options {
    /// Sets [`component`](Options::component).
    #[must_use]
    pub fn component(mut self, component: Component) -> Self {
        self.component = component;
        self
    }

    /// Sets [`limits`](Options::limits).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`slots`](Options::slots).
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots;
        self
    }

    /// Sets [`cache`](Options::cache).
    #[must_use]
    pub fn cache(mut self, folder: Option<PathBuf>) -> Self {
        self.cache = folder;
        self
    }
}
