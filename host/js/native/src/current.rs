//! The gate as it is now, which several objects of JavaScript share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use seamgate::{Fault, Gate};

use crate::error::{Result, fault};

/// A gate as it is now. To register something puts another one in its place: those that an instance, a session or a run was begun with
/// stay as they were.
#[derive(Clone)]
pub(crate) struct Current(Arc<Shared>);

struct Shared {
    /// Locked for a moment only: the thread of JavaScript reads it.
    now: RwLock<Arc<Gate>>,
    /// One contract is registered at a time.
    registering: Mutex<()>,
}

impl Current {
    pub(crate) fn new(gate: Gate) -> Self {
        Current(Arc::new(Shared { now: RwLock::new(Arc::new(gate)), registering: Mutex::new(()) }))
    }

    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.0.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn register<T>(&self, register: impl FnOnce(&mut Gate) -> std::result::Result<T, Fault>) -> Result<T> {
        let _alone = self.0.registering.lock().unwrap_or_else(PoisonError::into_inner);
        let mut gate = Gate::clone(&self.gate());
        let info = register(&mut gate).map_err(fault)?;
        *self.0.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(gate);
        Ok(info)
    }
}
