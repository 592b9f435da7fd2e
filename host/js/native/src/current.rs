//! The gate as it is now, which several objects of JavaScript share.

use std::sync::{Arc, PoisonError, RwLock};

use seamgate::{Fault, Gate};

use crate::error::{Result, fault};

/// A gate as it is now. To register something puts another one in its place: those that an instance, a session or a run was begun with
/// stay as they were.
// Locked for a moment only, to read or to replace the pointer: the thread of JavaScript waits for no registration of another thread.
#[derive(Clone)]
pub struct Current(Arc<RwLock<Arc<Gate>>>);

impl Current {
    pub(crate) fn new(gate: Gate) -> Self {
        Current(Arc::new(RwLock::new(Arc::new(gate))))
    }

    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers something, and again if another thread registered something meanwhile. So often at most as others do.
    pub(crate) fn register<T>(&self, register: impl Fn(&mut Gate) -> std::result::Result<T, Fault>) -> Result<T> {
        loop {
            let before = self.gate();
            let mut gate = Gate::clone(&before);
            let info = register(&mut gate).map_err(fault)?;
            let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&now, &before) {
                *now = Arc::new(gate);
                return Ok(info);
            }
        }
    }
}
