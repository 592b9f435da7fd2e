//! The gate and its warm instances.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pyo3::{
    IntoPyObjectExt, intern,
    prelude::*,
    pybacked::{PyBackedBytes, PyBackedStr},
};
use seamgate::{Component, Fault, Options, SharedGate};
use self_cell::self_cell;

use crate::{
    call::{Answer, Beside, Lists, Output, Plain, answer},
    fault::load,
    harness::{Attempts, Given, failed},
    journal::Run,
    session::Session,
    turns::{LOOK, Turns, apart, detached, until},
    verdict::shown,
};

/// Limits as Python hands them over.
pub(crate) mod limits {
    use std::time::Duration;

    use seamgate::Limits;

    /// Fuel and the fuel of contracts, where they are not the default; memory; seconds; bytes of an output.
    pub(crate) type Given = (Option<u64>, Option<u64>, usize, f64, usize);

    pub(crate) fn limits(given: &Given) -> Limits {
        let (fuel, contract_fuel, memory, timeout, output_bytes) = *given;
        let mut limits = Limits::default().memory(memory).output_bytes(output_bytes);
        // Python rejects an invalid time.
        limits = limits.timeout(Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX));
        if let Some(fuel) = fuel {
            limits = limits.fuel(fuel).fuel_per_byte(0);
        }
        if let Some(fuel) = contract_fuel {
            limits = limits.contract_fuel(fuel).contract_fuel_per_byte(0);
        }
        limits
    }
}

/// A gate. Any number of threads may use one.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Gate {
    shared: SharedGate,
    /// One contract is registered at a time.
    registering: Turns<()>,
    slots: u32,
    /// The longest time for a call, and for a thread that waits for another one.
    timeout: Duration,
}

impl Gate {
    fn now(&self) -> Arc<seamgate::Gate> {
        self.shared.current()
    }

    /// Registers something, while no other thread does.
    fn register_with<T: Send>(
        &self,
        py: Python,
        register: impl Fn(&mut seamgate::Gate) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        self.registering.apart(py, |()| self.shared.register(register))
    }
}

/// An output to judge, of many.
type Asked = (PyBackedStr, Output, Option<String>, Option<Lists>, Option<String>);

/// Returns the verdict by a contract, or by that of an agent.
fn judge(gate: &seamgate::Gate, contract: &str, beside: Beside, output: &Output) -> Result<seamgate::Verdict, Fault> {
    match is_contract(contract) {
        true => gate.validate_with(contract, &beside.request("", output)),
        false => gate.validate(&beside.request(contract, output)),
    }
}

fn is_contract(contract: &str) -> bool {
    contract.trim_start().starts_with('{')
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[pymethods]
impl Gate {
    #[new]
    fn new(py: Python, component: Option<PyBackedBytes>, limits: limits::Given, cache: bool) -> PyResult<Self> {
        detached(py, || {
            let mut options = Options::default().limits(limits::limits(&limits));
            if let Some(component) = component {
                options = options.component(Component::from_bytes(&component[..]));
            }
            if !cache {
                options = options.cache(None);
            }
            let (slots, timeout) = (options.slots, options.limits.timeout);
            let gate = seamgate::Gate::with(options)?;
            let registering = Turns::new("registry of the gate", timeout, ());
            Ok(Gate { shared: SharedGate::new(gate), registering, slots, timeout })
        })?
        .map_err(|error: seamgate::LoadError| load(&error))
    }

    #[getter]
    fn digest(&self) -> String {
        self.now().component().digest().to_owned()
    }

    /// Returns the contents of the component, as JSON text.
    fn inspect(&self, py: Python) -> PyResult<String> {
        apart(py, || self.now().inspect().map(|inspection| json(&inspection)))
    }

    /// Registers a contract. Returns its description as JSON text.
    fn register(&self, py: Python, contract: &str) -> PyResult<String> {
        self.register_with(py, |gate| gate.register(contract).map(|info| json(&info)))
    }

    fn lint(&self, py: Python, contract: &str) -> PyResult<String> {
        apart(py, || self.now().lint(contract).map(|warnings| json(&warnings)))
    }

    fn register_profile(&self, py: Python, profile: &str) -> PyResult<String> {
        self.register_with(py, |gate| gate.register_profile(profile).map(|info| json(&info)))
    }

    fn lint_profile(&self, py: Python, profile: &str) -> PyResult<String> {
        apart(py, || self.now().lint_profile(profile).map(|warnings| json(&warnings)))
    }

    fn describe_profile(&self, py: Python, agent: &str) -> PyResult<String> {
        apart(py, || self.now().describe_profile(agent))
    }

    /// Judges an output by a contract or by that of an agent.
    #[pyo3(signature = (contract, output, finish=None, lists=None, evidence=None))]
    fn validate<'py>(
        &self,
        py: Python<'py>,
        contract: &str,
        output: Output,
        finish: Option<&str>,
        lists: Option<Lists>,
        evidence: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let beside = Beside::read(finish, lists, evidence)?;
        let gate = self.now();
        let verdict = apart(py, || judge(&gate, contract, beside, &output))?;
        shown(py, verdict, output.given)
    }

    /// Does the same for most calls. Returns `None` if the package has to look at the arguments.
    fn plain<'py>(
        &self,
        contract: Bound<'py, PyAny>,
        output: Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = contract.py();
        let Some(Plain { contract, output }) = Plain::of(&contract, &output)? else {
            return Ok(None);
        };
        let contract = contract.to_str()?;
        let gate = self.now();
        let verdict = apart(py, || match is_contract(contract) {
            true => gate.validate_with(contract, &output.request("")),
            false => gate.validate(&output.request(contract)),
        })?;
        shown(py, verdict, output.given).map(Some)
    }

    /// Judges many outputs, several at once: for each, its verdict, or the JSON text of a fault. Ctrl-C ends it.
    fn validate_all(&self, py: Python, asked: Vec<Asked>, threads: Option<usize>) -> PyResult<Vec<Py<PyAny>>> {
        let read = |(contract, output, finish, lists, evidence): Asked| {
            Ok((contract, output, Mutex::new(Some(Beside::read(finish.as_deref(), lists, evidence.as_deref())?))))
        };
        let asked = asked.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let gate = self.now();
        let most = usize::try_from(self.slots).unwrap_or(usize::MAX).min(asked.len());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or(processors).clamp(1, most.max(1));
        let (next, stop) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let answers: Vec<OnceLock<Result<seamgate::Verdict, Fault>>> = asked.iter().map(|_| OnceLock::new()).collect();
        let interrupted = py.detach(|| {
            std::thread::scope(|scope| {
                let (done, ended) = channel::<()>();
                for _ in 0..threads {
                    let done = done.clone();
                    let (gate, asked, answers, next, stop) = (&gate, &asked, &answers, &next, &stop);
                    scope.spawn(move || {
                        // Dropped at the end, however that comes.
                        let _done = done;
                        while !stop.load(Ordering::Relaxed) {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let (Some((contract, output, beside)), Some(answer)) = (asked.get(at), answers.get(at))
                            else {
                                break;
                            };
                            let beside = beside.lock().unwrap_or_else(PoisonError::into_inner).take();
                            if let Some(beside) = beside {
                                let _ = answer.set(until(stop, || judge(gate, contract, beside, output)));
                            }
                        }
                    });
                }
                drop(done);
                let mut interrupted = None;
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
                    if let (None, Err(error)) = (&interrupted, Python::attach(|py| py.check_signals())) {
                        stop.store(true, Ordering::Relaxed);
                        interrupted = Some(error);
                    }
                }
                interrupted
            })
        });
        if let Some(error) = interrupted {
            return Err(error);
        }
        let judged = answers.into_iter().map(OnceLock::into_inner).zip(asked);
        let object = |(answer, (_, output, _)): (Option<Result<seamgate::Verdict, Fault>>, (_, Output, _))| match answer
        {
            Some(Ok(verdict)) => Ok(shown(py, verdict, output.given)?.unbind()),
            Some(Err(fault)) => fault.to_json().into_py_any(py),
            None => Err(pyo3::exceptions::PyRuntimeError::new_err("a thread ended early")),
        };
        judged.map(object).collect()
    }

    /// Answers a request that is JSON text.
    fn call(&self, py: Python, request: &str) -> PyResult<Answer> {
        let gate = self.now();
        apart(py, || gate.call(request)).map(answer)
    }

    /// Merges reports, which are JSON texts.
    fn merge<'py>(
        &self,
        py: Python<'py>,
        reports: Vec<String>,
        lists: Option<Lists>,
        evidence: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = Beside::read(None, lists, evidence)?.empty("");
        let read = |text: &String| seamgate::Report::from_json(text);
        let reports = reports.iter().map(read).collect::<Result<Vec<_>, _>>();
        let reports = reports.map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
        let gate = self.now();
        let verdict = apart(py, || gate.merge(&reports, &request))?;
        shown(py, verdict, intern!(py, "").clone().into_any().unbind())
    }

    fn decide(&self, py: Python, what: &str, agent: &str, texts: [Option<String>; 3]) -> PyResult<String> {
        let gate = self.now();
        apart(py, || decide(&mut gate.instance(), what, agent, &texts))
    }

    fn instance(slf: Bound<Self>) -> Instance {
        let held = Turns::new("instance", slf.get().timeout, None);
        Instance { gate: slf.unbind(), held }
    }

    fn session(&self, py: Python, agent: &str, lists: Option<Lists>, evidence: Option<&str>) -> PyResult<Session> {
        let request = Beside::read(None, lists, evidence)?.empty(agent);
        let gate = self.now();
        apart(py, || Session::open(gate, &request, self.timeout))
    }

    fn attempts(
        &self,
        py: Python,
        agent: &str,
        lists: Option<Lists>,
        evidence: Option<&str>,
        allow_partial: bool,
        journal: Option<Given>,
    ) -> PyResult<Attempts> {
        let request = Beside::read(None, lists, evidence)?.empty(agent);
        let gate = self.now();
        detached(py, || Attempts::begin(gate, &request, allow_partial, journal, self.timeout))?.map_err(failed)
    }

    /// Starts a run in a folder, or in an object that is a journal.
    fn start(&self, py: Python, journal: Bound<PyAny>, agent: &str, started: &str) -> PyResult<(Run, Vec<String>)> {
        Run::start(py, self.now(), self.timeout, journal, agent, started)
    }

    /// Continues a run.
    fn open(&self, py: Python, journal: Bound<PyAny>) -> PyResult<Run> {
        Run::open(py, self.now(), self.timeout, journal)
    }

    /// Continues a run from its snapshot.
    fn restore(&self, py: Python, journal: Bound<PyAny>, snapshot: &str) -> PyResult<Run> {
        Run::restore(py, self.now(), self.timeout, journal, snapshot)
    }
}

/// Returns a document of the kernel, in JSON text, by the name of the function that makes it.
fn decide(
    instance: &mut seamgate::Instance,
    what: &str,
    agent: &str,
    texts: &[Option<String>; 3],
) -> Result<String, Fault> {
    let [first, second, third] = texts.each_ref().map(Option::as_deref);
    let text = |text: Option<&'_ str>| text.unwrap_or_default().to_owned();
    let decided = match what {
        "surface" => instance.surface(agent, &text(first), second),
        "permit" => instance.permit(agent, &text(first), &text(second)),
        "observe" => instance.observe(agent, &text(first), &text(second), &text(third)),
        "advance" => instance.advance(agent, first, &text(second)),
        _ => instance.project(agent, &text(first), &text(second)),
    };
    decided.map(|answer| answer.json)
}

type Warm<'g> = seamgate::Instance<'g>;

self_cell!(
    struct Held {
        owner: Arc<seamgate::Gate>,
        #[not_covariant]
        dependent: Warm,
    }
);

/// An instance that is used more than once.
#[pyclass(frozen, module = "seamgate._native")]
pub(crate) struct Instance {
    gate: Py<Gate>,
    held: Turns<Option<Held>>,
}

impl Instance {
    /// Runs an operation in the instance. Where something was registered since, a fresh one takes its place.
    fn with<T: Send>(
        &self,
        py: Python,
        work: impl FnOnce(&mut seamgate::Instance) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let gate = self.gate.get().now();
        self.held.apart(py, |held| {
            if held.as_ref().is_none_or(|held| !Arc::ptr_eq(held.borrow_owner(), &gate)) {
                *held = Some(Held::new(gate, |gate| gate.instance()));
            }
            match held.as_mut() {
                Some(held) => held.with_dependent_mut(|_, instance| work(instance)),
                None => Err(Fault::BadRequest { message: "there is no instance".to_owned(), violations: Vec::new() }),
            }
        })
    }
}

#[pymethods]
impl Instance {
    #[pyo3(signature = (agent, output, finish=None, lists=None, evidence=None))]
    fn validate<'py>(
        &self,
        py: Python<'py>,
        agent: &str,
        output: Output,
        finish: Option<&str>,
        lists: Option<Lists>,
        evidence: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let beside = Beside::read(finish, lists, evidence)?;
        let request = beside.request(agent, &output);
        let verdict = self.with(py, |instance| instance.validate(&request))?;
        drop(request);
        shown(py, verdict, output.given)
    }

    /// Does the same for most calls. Returns `None` if the package has to look at the arguments.
    fn plain<'py>(&self, agent: Bound<'py, PyAny>, output: Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = agent.py();
        let Some(Plain { contract: agent, output }) = Plain::of(&agent, &output)? else {
            return Ok(None);
        };
        let agent = agent.to_str()?;
        if agent.contains('{') {
            return Ok(None);
        }
        let verdict = self.with(py, |instance| instance.validate(&output.request(agent)))?;
        shown(py, verdict, output.given).map(Some)
    }

    fn call(&self, py: Python, request: &str) -> PyResult<Answer> {
        self.with(py, |instance| instance.answer(request)).map(answer)
    }

    fn decide(&self, py: Python, what: &str, agent: &str, texts: [Option<String>; 3]) -> PyResult<String> {
        self.with(py, |instance| decide(instance, what, agent, &texts))
    }

    /// Drops what it holds.
    fn close(&self, py: Python) -> PyResult<()> {
        self.held.with(py, |held| drop(held.take()))
    }
}
