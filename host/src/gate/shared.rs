//! One gate for several threads, some of which register while others judge.

use std::sync::{Arc, PoisonError, RwLock};

use super::Gate;
use crate::types::fault::Fault;

/// A gate in which threads register contracts and profiles while others judge with it. A clone is the same gate.
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
// Locked for a moment only, to read or to replace the pointer. No thread waits while another one registers.
pub struct SharedGate(Arc<RwLock<Arc<Gate>>>);

impl SharedGate {
    /// Shares a gate.
    pub fn new(gate: Gate) -> Self {
        SharedGate(Arc::new(RwLock::new(Arc::new(gate))))
    }

    /// Returns the gate as it is now. What is registered later, it does not have.
    pub fn current(&self) -> Arc<Gate> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers something in a copy of the gate, and puts the copy in its place. Calls that are under way keep the gate that
    /// they began with. If another thread registered something meanwhile, `register` runs again, on a copy of that gate.
    ///
    /// # Errors
    ///
    /// Those of `register`. The gate then stays as it is.
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
