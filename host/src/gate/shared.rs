//! One gate for several threads, some of which register while others judge.

use std::sync::{Arc, PoisonError, RwLock};

use super::Gate;
use crate::types::fault::Fault;

/// A gate in which some threads register contracts and profiles while others judge. All clones are the same gate.
///
/// ```
/// use seamgate::{Disposition, Gate, Request, SharedGate};
///
/// let shared = SharedGate::new(Gate::new()?);
/// shared.register(|gate| gate.register(r#"{"agent": "counter", "schema": {"type": "integer"}}"#))?;
/// assert!(shared.current().validate(&Request::new("counter", "4"))?.report.disposition == Disposition::Accepted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
// The lock is held only for a moment, to read or replace the pointer. No thread waits while another one registers.
pub struct SharedGate(Arc<RwLock<Arc<Gate>>>);

impl SharedGate {
    /// Makes a gate shareable.
    pub fn new(gate: Gate) -> Self {
        SharedGate(Arc::new(RwLock::new(Arc::new(gate))))
    }

    /// Returns the gate as it is now. It does not receive later registrations.
    pub fn current(&self) -> Arc<Gate> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers something in a copy of the gate, and then replaces the gate with the copy. Calls in flight keep the
    /// gate that they began with. If another thread registered something meanwhile, `register` runs again, on a copy of
    /// the new gate.
    ///
    /// # Errors
    ///
    /// The faults of `register`. The gate then stays as it is.
    pub fn register<T>(&self, register: impl Fn(&mut Gate) -> Result<T, Fault>) -> Result<T, Fault> {
        loop {
            let before = self.current();
            let mut next = Gate::clone(&before);
            let registered = register(&mut next)?;
            let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&now, &before) {
                *now = Arc::new(next);
                return Ok(registered);
            }
        }
    }
}
