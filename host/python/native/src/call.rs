//! The arguments of a call.

use std::collections::BTreeMap;

use pyo3::{
    PyErr, PyResult,
    exceptions::PyTypeError,
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
    types::{PyBytes, PyString},
};
use seamgate::{Finish, Observation, Request, Usage};

use crate::fault::Unfit;

/// The output of an agent.
pub(crate) struct Output {
    /// As the caller gave it.
    pub(crate) given: Py<PyAny>,
    content: Content,
}

/// The very bytes that Python has.
enum Content {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl<'py> FromPyObject<'_, 'py> for Output {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let content = if let Ok(text) = given.cast::<PyString>() {
            match PyBackedStr::try_from(text.to_owned()) {
                Ok(text) => Content::Text(text),
                // Half of a surrogate pair is not valid text. As bytes, the verdict reports where it stands.
                Err(_) => {
                    let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                    Content::Bytes(PyBackedBytes::from(bytes.cast_into::<PyBytes>()?))
                }
            }
        } else if let Ok(bytes) = given.cast::<PyBytes>() {
            Content::Bytes(PyBackedBytes::from(bytes.to_owned()))
        } else {
            let name = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("an output must be str or bytes, not {name}")));
        };
        Ok(Output { given: given.to_owned().unbind(), content })
    }
}

impl Output {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    pub(crate) fn request<'t>(&'t self, agent: &'t str) -> Request<'t> {
        match &self.content {
            Content::Text(text) => Request::new(agent, text),
            Content::Bytes(bytes) => Request::from_bytes(agent, bytes),
        }
    }
}

/// An agent or a contract, and an output, without anything else: the arguments of most calls.
pub(crate) struct Plain<'py> {
    pub(crate) contract: Bound<'py, PyString>,
    pub(crate) output: Output,
}

impl<'py> Plain<'py> {
    /// `None` where the package itself has to look at what was given.
    pub(crate) fn of(contract: &Bound<'py, PyAny>, output: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let Ok(contract) = contract.cast_exact::<PyString>() else {
            return Ok(None);
        };
        let is_output = output.is_exact_instance_of::<PyString>() || output.is_exact_instance_of::<PyBytes>();
        match contract.to_str() {
            // The end of a path.
            Ok(text) if is_output && !text.ends_with(".json") => {
                Ok(Some(Plain { contract: contract.clone(), output: output.extract()? }))
            }
            _ => Ok(None),
        }
    }
}

/// Lists by their names.
pub(crate) type Lists = BTreeMap<String, Vec<String>>;

/// The rest of a request: why the producer stopped, lists, and evidence.
pub(crate) struct Beside {
    finish: Finish,
    lists: Lists,
    evidence: Option<Vec<Observation>>,
}

impl Beside {
    /// `evidence` is the JSON text of a list of observations with all their members.
    pub(crate) fn read(finish: Option<&str>, lists: Option<Lists>, evidence: Option<&str>) -> PyResult<Self> {
        let finish = finish.map_or(Ok(Finish::Unknown), str::parse).map_err(|_| Unfit::new_err("finish"))?;
        let evidence = evidence.map(serde_json::from_str).transpose().map_err(|_| Unfit::new_err("evidence"))?;
        Ok(Beside { finish, lists: lists.unwrap_or_default(), evidence })
    }

    pub(crate) fn request<'t>(self, agent: &'t str, output: &'t Output) -> Request<'t> {
        let mut request = output.request(agent).finish(self.finish);
        for (name, values) in self.lists {
            request = request.list(name, values);
        }
        match self.evidence {
            Some(evidence) => request.evidence(evidence),
            None => request,
        }
    }

    /// Returns a request without an output.
    pub(crate) fn empty(self, agent: &str) -> Request<'_> {
        let mut request = Request::new(agent, "").finish(self.finish);
        for (name, values) in self.lists {
            request = request.list(name, values);
        }
        match self.evidence {
            Some(evidence) => request.evidence(evidence),
            None => request,
        }
    }
}

/// An answer as JSON text, and what it took: fuel, memory, and seconds.
pub(crate) type Answer = (String, u64, usize, f64);

pub(crate) fn answer(answer: seamgate::Answer) -> Answer {
    let Usage { fuel, memory, elapsed, .. } = answer.usage;
    (answer.json, fuel, memory, elapsed.as_secs_f64())
}
