//! An output that is still coming.

use std::{sync::Arc, time::Duration};

use pyo3::{prelude::*, pybacked::PyBackedBytes};
use seamgate::{Fault, Finish, Gate, Request};
use self_cell::self_cell;

use crate::{fault::Unfit, turns::Turns, verdict::shown};

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
pub(crate) struct Session(Turns<Open>);

fn ended() -> Fault {
    Fault::BadRequest { message: "the session has ended".to_owned(), violations: Vec::new() }
}

impl Session {
    pub(crate) fn open(gate: Arc<Gate>, request: &Request, most: Duration) -> Result<Self, Fault> {
        let open = Open::try_new(gate, |gate| gate.session(request).map(Some))?;
        Ok(Session(Turns::new("session", most, open)))
    }
}

#[pymethods]
impl Session {
    /// Adds the next bytes. Returns what is known, as JSON text.
    fn push(&self, py: Python, chunk: PyBackedBytes) -> PyResult<String> {
        self.0.apart(py, |open| {
            open.with_dependent_mut(|_, session| {
                let pushed = session.as_mut().ok_or_else(ended)?.push(&chunk);
                if pushed.is_err() {
                    *session = None;
                }
                pushed.map(|progress| progress.to_json())
            })
        })
    }

    /// Returns the verdict on the whole output, which the caller has, too.
    fn finish<'py>(&self, py: Python<'py>, finish: &str, output: Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let finish: Finish = finish.parse().map_err(|_| Unfit::new_err("finish"))?;
        let finished = |session: &mut Streaming| session.take().ok_or_else(ended)?.finish(finish);
        let verdict = self.0.apart(py, |open| open.with_dependent_mut(|_, session| finished(session)))?;
        shown(py, verdict, output)
    }

    /// Ends the session without a verdict. What it holds is free at once.
    fn close(&self, py: Python) -> PyResult<()> {
        self.0.with(py, |open| open.with_dependent_mut(|_, session| drop(session.take())))
    }
}
