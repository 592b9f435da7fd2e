//! An output that is still coming.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::{prelude::*, pybacked::PyBackedBytes};
use seamgate::{Fault, Finish, Gate, Request};
use self_cell::self_cell;

use crate::{call::apart, fault::Unfit, verdict::Verdict};

type Streaming<'g> = Option<seamgate::Session<'g>>;

self_cell!(
    struct Open {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Streaming,
    }
);

/// Chunks in, the verdict at the end.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Session(Mutex<Open>);

fn ended() -> Fault {
    Fault::BadRequest { message: "the session has ended".to_owned(), violations: Vec::new() }
}

impl Session {
    pub(crate) fn open(gate: Arc<Gate>, request: &Request) -> Result<Self, Fault> {
        Ok(Session(Mutex::new(Open::try_new(gate, |gate| gate.session(request).map(Some))?)))
    }
}

#[pymethods]
impl Session {
    /// Add the next bytes: what is known, as JSON text.
    fn push(&self, py: Python, chunk: PyBackedBytes) -> PyResult<String> {
        apart(py, || {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            open.with_dependent_mut(|_, session| {
                let pushed = session.as_mut().ok_or_else(ended)?.push(&chunk);
                if pushed.is_err() {
                    *session = None;
                }
                pushed.map(|progress| progress.to_json())
            })
        })
    }

    fn finish(&self, py: Python, finish: &str) -> PyResult<Verdict> {
        let finish: Finish = finish.parse().map_err(|_| Unfit::new_err("finish"))?;
        apart(py, || {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            open.with_dependent_mut(|_, session| session.take().ok_or_else(ended)?.finish(finish))
        })
        .map(Verdict::from)
    }
}
