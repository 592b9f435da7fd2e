//! The gate: contracts and outputs in, verdicts out, each from a fresh instance.

use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc};

use napi::{
    Env,
    bindgen_prelude::{AsyncTask, Uint8Array},
};
use napi_derive::napi;
use seamgate::{Answer, Component, Fault, Gate, Limits, LoadError, Options, Report, Request, SharedGate, Warning};
use serde::Serialize;

use crate::{
    error::{Result, fault, load, usage},
    harness::{NativeAttempts, NativeJournal},
    instance::NativeInstance,
    later::{Later, Made},
    options::{self, NativeLimits},
    run::{NativeRun, Where},
    session::NativeSession,
    verdict::{Judged, NativeOutcome, Reported, report},
};

/// The number of instances that can run concurrently. Each reserves addresses. JavaScript runs one at a time, and
/// promises as many as there are threads of libuv, which are rarely more.
const SLOTS: u32 = 64;

/// The number of different limits for which a thread keeps an empty gate.
const BASES: usize = 4;

thread_local! {
    /// Gates with nothing registered. Those of the same limits share one's engine, its code and its slots: JavaScript does not know what a
    /// gate reserves, and collects it late.
    static EMPTY: RefCell<VecDeque<(Limits, Gate)>> = const { RefCell::new(VecDeque::new()) };
}

/// Returns an empty gate with the built-in component.
fn empty(limits: Limits) -> std::result::Result<Gate, LoadError> {
    EMPTY.with_borrow_mut(|empty| {
        if let Some((_, gate)) = empty.iter().find(|(of, _)| *of == limits) {
            return Ok(gate.clone());
        }
        let gate = Gate::with(Options::default().limits(limits.clone()).slots(SLOTS))?;
        if empty.len() >= BASES {
            empty.pop_front();
        }
        empty.push_back((limits, gate.clone()));
        Ok(gate)
    })
}

/// Makes a gate with another component, off the thread of JavaScript: to compile it takes seconds, unless its code is in the cache.
#[napi]
pub(crate) fn gate_of(limits: NativeLimits, component: Uint8Array) -> AsyncTask<Later<NativeGate>> {
    let (limits, bytes) = (limits.limits(), component.to_vec());
    Later::new(move || Ok(SharedGate::new(other(limits, Component::from_bytes(bytes)).map_err(load)?)))
}

/// Returns a gate with another component.
pub(crate) fn other(limits: Limits, component: Component) -> std::result::Result<Gate, LoadError> {
    Gate::with(Options::default().limits(limits).slots(SLOTS).component(component))
}

/// See `Gate` of `host/js/src/gate.ts`.
#[napi]
pub struct NativeGate(Rc<SharedGate>);

/// A run that has started, and what to do first, each as JSON text.
#[napi]
pub struct NativeBegun {
    run: Option<NativeRun>,
    actions: Vec<String>,
}

#[napi]
impl NativeBegun {
    #[napi(getter)]
    pub fn actions(&self) -> Vec<String> {
        self.actions.clone()
    }

    /// Returns the run, once.
    #[napi]
    pub fn run(&mut self) -> Option<NativeRun> {
        self.run.take()
    }
}

impl Made for NativeGate {
    type From = SharedGate;

    fn of(made: SharedGate) -> Self {
        NativeGate(Rc::new(made))
    }
}

#[napi]
impl NativeGate {
    /// Creates a gate with the built-in component.
    #[napi(constructor)]
    pub fn new(limits: NativeLimits) -> Result<Self> {
        Ok(NativeGate::of(SharedGate::new(empty(limits.limits()).map_err(load)?)))
    }

    fn gate(&self) -> Arc<Gate> {
        self.0.current()
    }

    /// Returns the digest of the component.
    #[napi(getter)]
    pub fn digest(&self) -> String {
        self.gate().component().digest().to_owned()
    }

    /// Returns the contents of the component, as JSON text.
    #[napi]
    pub fn inspect(&self) -> Result<String> {
        json(&self.gate().inspect().map_err(fault)?)
    }

    #[napi]
    pub fn register(&self, contract: String) -> Result<String> {
        json(&self.0.register(|gate| gate.register(&contract)).map_err(fault)?)
    }

    #[napi]
    pub fn register_profile(&self, profile: String) -> Result<String> {
        json(&self.0.register(|gate| gate.register_profile(&profile)).map_err(fault)?)
    }

    #[napi]
    pub fn contract(&self, agent: String) -> Result<String> {
        json(&self.gate().contract(&agent).map_err(fault)?)
    }

    #[napi]
    pub fn describe(&self, agent: String) -> Result<String> {
        self.gate().describe(&agent).map_err(fault)
    }

    #[napi]
    pub fn lint(&self, contract: String) -> Result<String> {
        warnings(self.gate().lint(&contract))
    }

    #[napi]
    pub fn describe_profile(&self, agent: String) -> Result<String> {
        self.gate().describe_profile(&agent).map_err(fault)
    }

    #[napi]
    pub fn lint_profile(&self, profile: String) -> Result<String> {
        warnings(self.gate().lint_profile(&profile))
    }

    #[napi]
    pub fn validate<'env>(
        &self,
        env: &'env Env,
        agent: String,
        output: String,
        extras: Option<String>,
    ) -> Result<Reported<'env>> {
        self.judge(env, &options::request(&agent, output.as_bytes(), extras.as_deref())?)
    }

    #[napi]
    pub fn validate_bytes<'env>(
        &self,
        env: &'env Env,
        agent: String,
        output: Uint8Array,
        extras: Option<String>,
    ) -> Result<Reported<'env>> {
        self.judge(env, &options::request(&agent, &output, extras.as_deref())?)
    }

    fn judge<'env>(&self, env: &'env Env, request: &Request) -> Result<Reported<'env>> {
        report(env, self.gate().validate(request).map_err(fault)?)
    }

    /// Judges by a contract that need not be registered.
    #[napi]
    pub fn validate_with(&self, contract: String, output: Uint8Array, extras: Option<String>) -> Result<Judged> {
        let request = options::request("", &output, extras.as_deref())?;
        self.gate().validate_with(&contract, &request).map(Judged::of).map_err(fault)
    }

    #[napi]
    pub fn call(&self, request: String) -> Result<Judged> {
        self.gate().call(&request).map(Judged::answer).map_err(fault)
    }

    /// Merges reports, each given as JSON text.
    #[napi]
    pub fn merge(&self, reports: Vec<String>, extras: Option<String>) -> Result<Judged> {
        let report = |text: &String| Report::from_json(text).map_err(|error| usage(format!("not a report: {error}")));
        let reports = reports.iter().map(report).collect::<Result<Vec<_>>>()?;
        let agent = reports.first().map_or("", |report| report.agent.as_str());
        let request = options::request(agent, b"", extras.as_deref())?;
        self.gate().merge(&reports, &request).map(Judged::of).map_err(fault)
    }

    #[napi]
    pub fn surface(&self, agent: String, facts: String, listed: Option<String>) -> Result<Judged> {
        decided(self.gate().surface(&agent, &facts, listed.as_deref()))
    }

    #[napi]
    pub fn permit(&self, agent: String, facts: String, call: String) -> Result<Judged> {
        decided(self.gate().permit(&agent, &facts, &call))
    }

    #[napi]
    pub fn observe(&self, agent: String, facts: String, call: String, result: String) -> Result<Judged> {
        decided(self.gate().observe(&agent, &facts, &call, &result))
    }

    #[napi]
    pub fn advance(&self, agent: String, state: Option<String>, event: String) -> Result<Judged> {
        decided(self.gate().advance(&agent, state.as_deref(), &event))
    }

    #[napi]
    pub fn project(&self, agent: String, line: String, audience: String) -> Result<Judged> {
        decided(self.gate().project(&agent, &line, &audience))
    }

    /// Returns an instance for more than one call.
    #[napi]
    pub fn instance(&self) -> NativeInstance {
        NativeInstance::new(Rc::clone(&self.0))
    }

    /// Begins an output that is still coming.
    #[napi]
    pub fn session(&self, agent: String, extras: Option<String>) -> Result<NativeSession> {
        NativeSession::open(self.gate(), &agent, extras.as_deref())
    }

    /// Begins a harness step.
    #[napi]
    pub fn attempts(
        &self,
        agent: String,
        extras: Option<String>,
        allow_partial: bool,
        journal: Option<NativeJournal>,
    ) -> Result<NativeAttempts> {
        NativeAttempts::begin(self.gate(), &agent, extras.as_deref(), allow_partial, journal)
    }

    /// Starts a run of the kernel.
    #[napi]
    pub fn start_run(&self, env: Env, journal: Where, agent: String, started: String) -> Result<NativeBegun> {
        let begun = NativeRun::start(env, self.gate(), journal, &agent, &started)?;
        Ok(NativeBegun { run: Some(begun.run), actions: begun.actions })
    }

    /// Continues a run.
    #[napi]
    pub fn open_run(&self, env: Env, journal: Where) -> Result<NativeRun> {
        NativeRun::open(env, self.gate(), journal)
    }

    /// Continues a run from its snapshot.
    #[napi]
    pub fn restore_run(&self, env: Env, journal: Where, snapshot: String) -> Result<NativeRun> {
        NativeRun::restore(env, self.gate(), journal, &snapshot)
    }

    // The same off the thread of JavaScript.

    #[napi]
    pub fn register_later(&self, contract: String) -> AsyncTask<Later<String>> {
        let current = SharedGate::clone(&self.0);
        Later::new(move || json(&current.register(|gate| gate.register(&contract)).map_err(fault)?))
    }

    #[napi]
    pub fn describe_later(&self, agent: String) -> AsyncTask<Later<String>> {
        let gate = self.gate();
        Later::new(move || gate.describe(&agent).map_err(fault))
    }

    #[napi]
    pub fn lint_later(&self, contract: String) -> AsyncTask<Later<String>> {
        let gate = self.gate();
        Later::new(move || warnings(gate.lint(&contract)))
    }

    #[napi]
    pub fn call_later(&self, request: String) -> AsyncTask<Later<Judged>> {
        let gate = self.gate();
        Later::new(move || gate.call(&request).map(Judged::answer).map_err(fault))
    }

    /// Judges several outputs, one after the other, each by the contract of an agent or by one that comes with it.
    #[napi]
    pub fn validate_all_later(&self, outputs: Vec<NativeOutput>) -> AsyncTask<Later<Vec<NativeOutcome>>> {
        let gate = self.gate();
        // JavaScript may change bytes meanwhile.
        let outputs: Vec<(NativeOutput, Vec<u8>)> = outputs.into_iter().map(NativeOutput::copied).collect();
        Later::new(move || Ok(outputs.iter().map(|(given, output)| given.judged(&gate, output)).collect()))
    }
}

/// An output, and what it is judged by.
#[napi(object)]
pub struct NativeOutput {
    pub agent: String,
    pub contract: Option<String>,
    pub text: Option<String>,
    pub bytes: Option<Uint8Array>,
    pub extras: Option<String>,
}

impl NativeOutput {
    /// Returns the report with its bytes, which may cross threads.
    fn copied(mut self) -> (Self, Vec<u8>) {
        let text = self.text.take().map(String::into_bytes);
        let bytes = self.bytes.take().map(|bytes| bytes.to_vec());
        (self, text.or(bytes).unwrap_or_default())
    }

    fn judged(&self, gate: &Gate, output: &[u8]) -> NativeOutcome {
        let judged = options::request(&self.agent, output, self.extras.as_deref()).and_then(|request| {
            let judged = match &self.contract {
                Some(contract) => gate.validate_with(contract, &request),
                None => gate.validate(&request),
            };
            judged.map(Judged::of).map_err(fault)
        });
        NativeOutcome::of(judged)
    }
}

fn decided(answer: std::result::Result<Answer, Fault>) -> Result<Judged> {
    answer.map(Judged::answer).map_err(fault)
}

fn warnings(found: std::result::Result<Vec<Warning>, Fault>) -> Result<String> {
    json(&found.map_err(fault)?)
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| usage(error.to_string()))
}
