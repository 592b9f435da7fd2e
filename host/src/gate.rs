//! The gate: contracts and outputs in, verdicts out, each from a fresh sandbox.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::de::IgnoredAny;
use wasmtime::{
    Config, Engine, PoolingAllocationConfig, ResourceLimiter, Store, Trap,
    component::{ComponentNamedList, Instance as WasmInstance, InstancePre, Lift, Linker, ResourceAny},
};

use crate::{
    bindings::exports::seamgate::validator::{stream, types},
    cache::Cache,
    component::{Component, Inspection},
    engine::{self, Clock, LOOK, STACK, Slot, Slots, TABLE, TimedOut},
    exports::{Exports, Interfaces},
    fault::{Fault, LoadError},
    limits::{Limits, Usage},
    report::{ContractInfo, Disposition, Finish, NamedList, Report, Warning},
    request::Request,
    session::Session,
};

/// How a gate is set up; every setting has a default.
#[derive(Debug, Clone)]
pub struct Options {
    /// What runs in the sandbox. Default: the built-in component.
    pub component: Component,
    /// What one call may use.
    pub limits: Limits,
    /// How many instances there can be at once; further calls wait. Default: four for each processor, at least 8.
    /// Each takes 4 GiB of addresses, and memory only as it is used. Where a process may not have so many addresses
    /// (`ulimit -v`), there are as many instances as fit, at least one; 5 GiB are needed for that. Verdicts and their fuel
    /// are the same; each instance takes some tenths of a millisecond more.
    pub slots: u32,
    /// Where machine code is kept that was made of components other than the built-in one, so that it is made once.
    /// Default: `seamgate` in the user's cache folder, private to them. None: it is made for each gate.
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

/// The verdict on one output, and what it took.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The verdict.
    pub report: Report,
    /// What it took. Beside the report: reports are the same bytes everywhere, times are not.
    pub usage: Usage,
}

/// The answer to a request that is text.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The answer as JSON text: `{"id":…,"report":{…}}`, or `{"id":…,"fault":{…}}`.
    pub json: String,
    /// What it took.
    pub usage: Usage,
}

/// Judges outputs, each in a fresh instance of a component. Use one from as many threads as you like.
pub struct Gate {
    engine: Engine,
    component: Component,
    pre: InstancePre<State>,
    interfaces: Interfaces,
    limits: Limits,
    slots: Slots,
    contracts: BTreeMap<String, Registered>,
}

/// A contract that every instance is given before it judges by it.
struct Registered {
    text: String,
    info: ContractInfo,
}

impl Gate {
    /// A gate with the built-in component and the default limits.
    ///
    /// # Errors
    ///
    /// The engine cannot be set up on this machine.
    pub fn new() -> Result<Self, LoadError> {
        Gate::with(Options::default())
    }

    /// A gate with other settings.
    ///
    /// # Errors
    ///
    /// The component is none, too large, imports anything, or is not a validator; it does not start within the limits;
    /// or the engine cannot be set up.
    pub fn with(options: Options) -> Result<Self, LoadError> {
        let failed = |error: wasmtime::Error| LoadError::Engine { message: format!("{error:#}") };
        let (engine, slots) = engine::engine(&options.limits, options.slots).map_err(failed)?;
        Gate::on(engine, Options { slots, ..options })
    }

    /// How the engine of a gate is set up, and its pool: for tests, which change one thing of it and see that it makes
    /// no difference.
    #[doc(hidden)]
    pub fn engine(limits: &Limits, slots: u32) -> (Config, PoolingAllocationConfig) {
        engine::config(limits, slots)
    }

    /// A gate on another engine, whose pool has the slots of the options.
    #[doc(hidden)]
    pub fn on(engine: Engine, options: Options) -> Result<Self, LoadError> {
        let component = options.component.load(&engine, options.cache.map(Cache::new).as_ref())?;
        if let Some((import, _)) = component.component_type().imports(&engine).next() {
            return Err(LoadError::Imports { import: import.to_owned() });
        }
        let not_a_validator = |error: wasmtime::Error| LoadError::NotAValidator { message: format!("{error:#}") };
        let pre = Linker::new(&engine).instantiate_pre(&component).map_err(not_a_validator)?;
        let interfaces = Interfaces::of(&pre).map_err(not_a_validator)?;
        let gate = Gate {
            engine,
            component: options.component,
            pre,
            interfaces,
            limits: options.limits,
            slots: Slots::new(options.slots),
            contracts: BTreeMap::new(),
        };
        // That its functions have the right types is seen in an instance.
        if !gate.component.is_builtin() {
            let mut live = gate.enter()?;
            live.validator.look_up_all(&mut live.store).map_err(not_a_validator)?;
        }
        Ok(gate)
    }

    /// Check a contract and keep it: outputs of its agent are judged by it from now on. `contract` is one whole JSON
    /// document; see [`read_contract`](crate::read_contract) for those on disk.
    ///
    /// # Errors
    ///
    /// [`Fault::BadContract`], also where the agent has another contract already; [`Fault::Sealed`] where the component
    /// takes none; or a limit was passed.
    pub fn register(&mut self, contract: &str) -> Result<ContractInfo, Fault> {
        let info = self.instance().register(contract)?;
        match self.contracts.get(&info.agent) {
            Some(held) if held.info.contract != info.contract => {
                return Err(Fault::BadContract {
                    message: format!("the agent {:?} has another contract already, {}", info.agent, held.info.contract),
                    violations: Vec::new(),
                });
            }
            _ => {}
        }
        let registered = Registered { text: contract.to_owned(), info: info.clone() };
        self.contracts.insert(info.agent.clone(), registered);
        Ok(info)
    }

    /// The contracts that were registered here, by ascending agent. Those baked into the component are told by
    /// [`inspect`](Gate::inspect).
    pub fn contracts(&self) -> impl Iterator<Item = &ContractInfo> {
        self.contracts.values().map(|registered| &registered.info)
    }

    /// Judge one output in a fresh instance.
    ///
    /// # Errors
    ///
    /// A [`Fault`] says that there is no verdict: [`Fault::BadRequest`], say, where a list is missing that the contract asks
    /// for. A rejected output is none: it is a report.
    pub fn validate(&self, request: &Request) -> Result<Verdict, Fault> {
        self.instance().validate(request)
    }

    /// Judge one output in a fresh instance by a contract that need not be registered. The request's agent may be
    /// empty; where it is not, it must be the contract's.
    ///
    /// # Errors
    ///
    /// As for [`validate`](Gate::validate); and [`Fault::BadContract`].
    pub fn validate_with(&self, contract: &str, request: &Request) -> Result<Verdict, Fault> {
        let bytes = request.output().len();
        let judged = self.small_enough(bytes).and_then(|()| {
            let request = request.to_wit();
            self.instance().call(bytes + contract.len(), |validator, store, clock| {
                let validate = validator.validate(&mut *store)?;
                let report = clock.run(validate.call_validate_with(store, contract, &request))?;
                Ok(report.map_err(Fault::from))
            })
        });
        self.verdict(request.agent(), judged)
    }

    /// Begin an output that is still coming, in a fresh instance: what `request` has of it may be empty.
    ///
    /// # Errors
    ///
    /// As for [`validate`](Gate::validate).
    pub fn session(&self, request: &Request) -> Result<Session<'_>, Fault> {
        Session::open(self, request)
    }

    /// Put together what several attempts gave, in their order, and judge the result as a whole. What a producer sends
    /// when it was asked for some items alone ([`Report::feedback`]) takes their places. All reports are of one agent.
    ///
    /// # Errors
    ///
    /// [`Fault::BadRequest`] where there is no report, or one of another contract; as for [`validate`](Gate::validate),
    /// also where a list is missing.
    pub fn merge(&self, reports: &[Report], lists: &[NamedList]) -> Result<Verdict, Fault> {
        let agent = reports.first().map_or("", |report| report.agent.as_str());
        let size = |report: &Report| {
            let items: usize = report.items.iter().map(|item| item.value.len()).sum();
            report.output.as_ref().map_or(items, |output| output.len() + items)
        };
        let bytes = reports.iter().map(size).sum();
        let merged = self.instance().with_contracts(&[agent], bytes, |validator, store, clock| {
            let report = clock.run(validator.merge(&mut *store)?.call_merge(store, reports, lists))?;
            Ok(report.map_err(Fault::from))
        });
        self.verdict(agent, merged)
    }

    /// Answer one request that is JSON text (`schemas/request.schema.json`) in a fresh instance. `request` counts as
    /// the output does for its size.
    ///
    /// # Errors
    ///
    /// A limit was passed. Other faults are answers.
    pub fn call(&self, request: &str) -> Result<Answer, Fault> {
        self.instance().answer(request)
    }

    /// What is likely a mistake in a contract.
    ///
    /// # Errors
    ///
    /// [`Fault::BadContract`], or a limit was passed.
    pub fn lint(&self, contract: &str) -> Result<Vec<Warning>, Fault> {
        self.instance().lint(contract)
    }

    /// Which contract applies to an agent's outputs, registered here or baked into the component.
    ///
    /// # Errors
    ///
    /// [`Fault::UnknownAgent`], or a limit was passed.
    pub fn contract(&self, agent: &str) -> Result<ContractInfo, Fault> {
        if let Some(registered) = self.contracts.get(agent) {
            return Ok(registered.info.clone());
        }
        let (info, _) = self.instance().with_contracts(&[], 0, |validator, store, clock| {
            let info = clock.run(validator.registry(&mut *store)?.call_contract(store, agent))?;
            Ok(info.map_err(Fault::from))
        })?;
        Ok(info)
    }

    /// Text for an agent's prompt: what its output must be.
    ///
    /// # Errors
    ///
    /// [`Fault::UnknownAgent`], or a limit was passed.
    pub fn describe(&self, agent: &str) -> Result<String, Fault> {
        let mut instance = self.instance();
        instance
            .with_contracts(&[agent], 0, |validator, store, clock| {
                let text = clock.run(validator.registry(&mut *store)?.call_describe(store, agent))?;
                Ok(text.map_err(Fault::from))
            })
            .map(|(text, _)| text)
    }

    /// The component that judges here.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// What the component holds.
    ///
    /// # Errors
    ///
    /// The component does not answer within the limits.
    pub fn inspect(&self) -> Result<Inspection, Fault> {
        let world = self.pre.component().component_type();
        let (agents, _) = self.instance().call(0, |validator, store, clock| {
            let registry = validator.registry(&mut *store)?;
            let names = clock.run(registry.call_names(&mut *store))?;
            let mut agents = Vec::new();
            for name in names {
                match clock.run(registry.call_contract(&mut *store, &name))? {
                    Ok(info) => agents.push(info),
                    Err(fault) => return Ok(Err(fault.into())),
                }
            }
            Ok(Ok(agents))
        })?;
        // An empty text is no contract: only a sealed registry does not say so.
        let sealed = self.instance().call(0, |validator, store, clock| {
            let refused = clock.run(validator.registry(&mut *store)?.call_register(store, ""))?;
            Ok(refused.map_err(Fault::from))
        });
        Ok(Inspection {
            agents,
            imports: world.imports(&self.engine).map(|(name, _)| name.to_owned()).collect(),
            exports: world.exports(&self.engine).map(|(name, _)| name.to_owned()).collect(),
            bytes: self.component.as_bytes().len(),
            digest: self.component.digest().to_owned(),
            sealed: matches!(sealed, Err(Fault::Sealed { .. })),
        })
    }

    /// An instance to use more than once, for callers who trust their producers alike: what one output did to it, the
    /// next one finds. The reports are the same.
    pub fn instance(&self) -> Instance<'_> {
        Instance { gate: self, live: None }
    }
}

/// An instance that is used more than once. After a fault that stopped it, the next call begins with a fresh one.
pub struct Instance<'g> {
    gate: &'g Gate,
    live: Option<Live<'g>>,
}

/// An instance that has not trapped.
struct Live<'g> {
    store: Store<State>,
    validator: Exports<'g>,
    /// The agents whose contracts it was given.
    agents: Vec<String>,
    _slot: Slot<'g>,
}

impl<'g> Instance<'g> {
    /// Judge one output.
    ///
    /// # Errors
    ///
    /// As for [`Gate::validate`].
    pub fn validate(&mut self, request: &Request) -> Result<Verdict, Fault> {
        let agent = request.agent();
        let bytes = request.output().len();
        let judged = self.gate.small_enough(bytes).and_then(|()| {
            let request = request.to_wit();
            self.with_contracts(&[agent], bytes, |validator, store, clock| {
                let report = clock.run(validator.validate(&mut *store)?.call_validate(store, &request))?;
                Ok(report.map_err(Fault::from))
            })
        });
        self.gate.verdict(agent, judged)
    }

    /// Answer one request that is JSON text.
    ///
    /// # Errors
    ///
    /// As for [`Gate::call`].
    pub fn answer(&mut self, request: &str) -> Result<Answer, Fault> {
        self.gate.small_enough(request.len())?;
        let agents = self.gate.agents_for(request);
        let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
        let (json, usage) = self.with_contracts(&agents, request.len(), |validator, store, clock| {
            clock.run(validator.wire(&mut *store)?.call_call(store, request)).map(Ok)
        })?;
        if !self.gate.component.is_builtin() && !is_answer(&json) {
            return Err(Fault::Trap { message: "what it answered is no answer: one line of JSON".to_owned() });
        }
        Ok(Answer { json, usage })
    }

    pub(crate) fn open(&mut self, request: &Request) -> Result<(ResourceAny, Usage), Fault> {
        let (agent, lists) = (request.agent(), request.lists());
        self.with_contracts(&[agent], 0, |validator, store, clock| {
            let session = validator.stream(&mut *store)?.session();
            Ok(clock.run(session.call_open(store, agent, lists))?.map_err(Fault::from))
        })
    }

    pub(crate) fn push(&mut self, session: ResourceAny, text: &str) -> Result<(stream::Progress, Usage), Fault> {
        self.ongoing(text.len(), |validator, store, clock| {
            let stream = validator.stream(&mut *store)?.session();
            Ok(clock.run(stream.call_push(store, session, text))?.map_err(Fault::from))
        })
    }

    pub(crate) fn finish(
        &mut self,
        session: ResourceAny,
        bytes: usize,
        (finish, invalid_utf8): (Finish, Option<u32>),
    ) -> Result<(Report, Usage), Fault> {
        self.ongoing(bytes, |validator, store, clock| {
            let stream = validator.stream(&mut *store)?.session();
            Ok(clock.run(stream.call_finish(store, session, finish, invalid_utf8))?.map_err(Fault::from))
        })
    }

    /// Call an instance that holds a session: there is no other to go on with.
    fn ongoing<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<State>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        if self.live.is_none() {
            return Err(Fault::Trap { message: "the session ended with an earlier fault".to_owned() });
        }
        self.call(bytes, call)
    }

    fn register(&mut self, contract: &str) -> Result<ContractInfo, Fault> {
        let (fuel, clock) = (self.gate.limits.fuel_for_contract(contract.len()), self.begin()?);
        let (info, _) = self.within(fuel, clock, |validator, store, clock| {
            let registered = clock.run(validator.registry(&mut *store)?.call_register(store, contract))?;
            Ok(registered.map_err(Fault::from))
        })?;
        Ok(info)
    }

    fn lint(&mut self, contract: &str) -> Result<Vec<Warning>, Fault> {
        let (fuel, clock) = (self.gate.limits.fuel_for_contract(contract.len()), self.begin()?);
        let (warnings, _) = self.within(fuel, clock, |validator, store, clock| {
            let warnings = clock.run(validator.registry(&mut *store)?.call_lint(store, contract))?;
            Ok(warnings.map_err(Fault::from))
        })?;
        Ok(warnings)
    }

    /// Call an instance that has the contracts of these agents, as far as the gate does. Each is compiled within a budget
    /// of its own: what is left of that is not the call's.
    fn with_contracts<T>(
        &mut self,
        agents: &[&str],
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<State>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let gate = self.gate;
        let given = |agent: &str| {
            let live = self.live.as_ref();
            live.is_some_and(|live| live.agents.iter().any(|given| given == agent))
        };
        let contracts: Vec<&Registered> =
            agents.iter().filter(|agent| !given(agent)).filter_map(|agent| gate.contracts.get(*agent)).collect();
        let all = bytes + contracts.iter().map(|contract| contract.text.len()).sum::<usize>();
        let clock = self.begin()?;
        let mut compiled = 0_u64;
        for contract in contracts {
            let fuel = gate.limits.fuel_for_contract(contract.text.len());
            let registered = self.within(fuel, clock, |validator, store, clock| {
                let registered = clock.run(validator.registry(&mut *store)?.call_register(store, &contract.text))?;
                Ok(registered.map(drop).map_err(Fault::from))
            });
            let ((), usage) = registered.map_err(|fault| gate.with_names(fault))?;
            compiled = compiled.saturating_add(usage.fuel);
            if let Some(live) = &mut self.live {
                live.agents.push(contract.info.agent.clone());
            }
        }
        let called = self.within(gate.limits.fuel_for(all), clock, call);
        let (value, usage) = called.map_err(|fault| gate.with_names(fault))?;
        Ok((value, Usage { fuel: usage.fuel.saturating_add(compiled), ..usage }))
    }

    /// Call the instance, or a fresh one where there is none, within the limits for so many bytes.
    fn call<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<State>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let clock = self.begin()?;
        self.within(self.gate.limits.fuel_for(bytes), clock, call)
    }

    /// Start the clock of a call, once there is an instance.
    fn begin(&mut self) -> Result<Clock, Fault> {
        if self.live.is_none() {
            self.live = Some(self.gate.enter()?);
        }
        Ok(Clock::start(self.gate.limits.timeout))
    }

    /// The same within so much fuel, by a clock that runs.
    fn within<T>(
        &mut self,
        fuel: u64,
        clock: Clock,
        call: impl FnOnce(&Exports, &mut Store<State>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let gate = self.gate;
        let mut live = match self.live.take() {
            Some(live) => live,
            None => gate.enter()?,
        };
        let store = &mut live.store;
        store.set_fuel(fuel).map_err(|error| Fault::Trap { message: format!("{error:#}") })?;
        let called = call(&live.validator, store, clock);
        let elapsed = clock.elapsed();
        match called {
            Ok(answered) => {
                let usage = Usage {
                    fuel: fuel.saturating_sub(store.get_fuel().unwrap_or(0)),
                    memory: store.data().peak,
                    elapsed,
                    component: Arc::clone(gate.component.shared_digest()),
                };
                self.live = Some(live);
                answered.map(|answer| (answer, usage))
            }
            // The store is poisoned: it is dropped here.
            Err(error) => Err(gate.fault(&error, store.data(), fuel)),
        }
    }
}

/// An instance of a component with exports by which all of its state can be read: for a snapshot of it.
pub(crate) struct Exposed<'g> {
    instance: Instance<'g>,
    exports: WasmInstance,
}

impl Exposed<'_> {
    pub(crate) fn register(&mut self, contract: &str) -> Result<ContractInfo, Fault> {
        self.instance.register(contract)
    }

    pub(crate) fn lint(&mut self, contract: &str) -> Result<Vec<Warning>, Fault> {
        self.instance.lint(contract)
    }

    /// Seal contracts that have so many bytes.
    pub(crate) fn seal(&mut self, bytes: usize) -> Result<(), Fault> {
        let sealed = self.instance.call(bytes, |validator, store, clock| {
            clock.run(validator.registry(&mut *store)?.call_seal(store)).map(Ok)
        });
        sealed.map(|((), _)| ())
    }

    /// Call one of the exports that read, and use what it gives.
    pub(crate) fn read<R, T>(
        &mut self,
        interface: &str,
        function: &str,
        used: impl FnOnce(&Store<State>, R) -> T,
    ) -> Result<T, Fault>
    where
        R: Lift + 'static,
        (R,): ComponentNamedList + Lift,
    {
        if self.instance.live.is_none() {
            return Err(Fault::Trap { message: "the instance is gone".to_owned() });
        }
        let exports = self.exports;
        let (value, _) = self.instance.call(0, |_, store, clock| {
            let missing = || wasmtime::Error::msg(format!("no export {interface}.{function}"));
            let index = exports.get_export_index(&mut *store, None, interface).ok_or_else(missing)?;
            let index = exports.get_export_index(&mut *store, Some(&index), function).ok_or_else(missing)?;
            let function = exports.get_typed_func::<(), (R,)>(&mut *store, index)?;
            let (value,) = clock.run(function.call_async(&mut *store, ()))?;
            Ok(Ok(used(store, value)))
        })?;
        Ok(value)
    }
}

impl Gate {
    pub(crate) fn small_enough(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.output_bytes;
        if bytes > limit {
            return Err(Fault::InputTooLarge { bytes, limit, more: false });
        }
        Ok(())
    }

    /// A fresh instance, once there is a slot.
    fn enter(&self) -> Result<Live<'_>, Fault> {
        let slot = self.slots.take();
        let mut store = Store::new(&self.engine, State { limit: self.limits.memory, peak: 0, refused: false });
        store.limiter(|state| state);
        // Instantiating runs what a component starts with: the built-in one nothing, another whatever it likes, within
        // the limits of a call. Fuel for the call is given when it begins.
        let fuel = self.limits.fuel;
        let clock = Clock::start(self.limits.timeout);
        let entered = store.set_fuel(fuel).and_then(|()| {
            store.fuel_async_yield_interval(Some(LOOK))?;
            clock.run(self.pre.instantiate_async(&mut store))
        });
        match entered {
            Ok(instance) => {
                let validator = Exports::new(&self.interfaces, instance);
                Ok(Live { store, validator, agents: Vec::new(), _slot: slot })
            }
            Err(error) => Err(self.fault(&error, store.data(), fuel)),
        }
    }

    /// A fresh instance whose state can be read, of a component that was made for it.
    pub(crate) fn exposed(&self) -> Result<Exposed<'_>, Fault> {
        let live = self.enter()?;
        let exports = live.validator.instance();
        Ok(Exposed { instance: Instance { gate: self, live: Some(live) }, exports })
    }

    /// What stopped an instance.
    fn fault(&self, error: &wasmtime::Error, state: &State, fuel: u64) -> Fault {
        // A guest that gets no memory aborts, by whatever trap: so the limiter is asked first.
        if state.refused {
            return Fault::OutOfMemory { limit: self.limits.memory };
        }
        if error.is::<TimedOut>() {
            return Fault::Timeout { limit: self.limits.timeout };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Fault::OutOfFuel { limit: fuel },
            Some(Trap::StackOverflow) => Fault::StackOverflow { limit: STACK },
            Some(trap) => Fault::Trap { message: trap.to_string() },
            None => Fault::Trap { message: format!("{error:#}") },
        }
    }

    /// The agents whose contracts an instance needs to answer a request: the one it names, or, where it asks for
    /// something else than a verdict, all. The component reads the request itself, and says what is wrong.
    fn agents_for(&self, request: &str) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Named {
            agent: Option<String>,
            op: Option<String>,
        }
        match serde_json::from_str(request) {
            Ok(Named { op: Some(_), .. }) => self.contracts.keys().cloned().collect(),
            Ok(Named { agent, .. }) => agent.into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// An instance knows the contracts it was given; the gate knows them all.
    fn with_names(&self, fault: Fault) -> Fault {
        match fault {
            Fault::UnknownAgent { message, mut agents } => {
                agents.extend(self.contracts.keys().cloned());
                agents.sort();
                agents.dedup();
                Fault::UnknownAgent { message, agents }
            }
            fault => fault,
        }
    }

    /// What was judged, told as events. A report of the built-in component is as the core makes them; one of another is
    /// looked at first, which means to read its documents again.
    pub(crate) fn verdict(&self, agent: &str, judged: Result<(Report, Usage), Fault>) -> Result<Verdict, Fault> {
        let trusted = self.component.is_builtin();
        let sound = |(report, usage): (Report, Usage)| match (!trusted).then(|| report.unsound()).flatten() {
            Some(why) => Err(Fault::Trap { message: format!("what it answered is no report: {why}") }),
            None => Ok((report, usage)),
        };
        match judged.and_then(sound) {
            Ok((report, usage)) => {
                told(&report, &usage);
                Ok(Verdict { report, usage })
            }
            Err(fault) => {
                tracing::warn!(agent, fault = fault.code(), "{fault}");
                Err(fault)
            }
        }
    }
}

/// Whether a text is what `wire` says an answer is, on one line: who writes it beside others counts on its lines.
fn is_answer(json: &str) -> bool {
    let members = serde_json::from_str::<BTreeMap<&str, IgnoredAny>>(json).unwrap_or_default();
    let names: Vec<&str> = members.into_keys().collect();
    !json.as_bytes().contains(&b'\n') && matches!(names[..], ["fault", "id"] | ["id", "report" | "result"])
}

fn told(report: &Report, usage: &Usage) {
    let agent = report.agent.as_str();
    let contract = report.contract.as_str();
    if report.disposition == Disposition::Rejected {
        let first = report.violations().first();
        tracing::info!(
            agent,
            contract,
            error = report.error.as_ref().map(|error| error.error.word()),
            violations = report.violations().len(),
            path = first.map(|violation| violation.path.as_str()),
            keyword = first.map(|violation| violation.keyword.as_str()),
            "output failed validation"
        );
    }
    tracing::debug!(
        agent,
        contract,
        disposition = report.disposition.word(),
        fuel = usage.fuel,
        memory = usage.memory,
        elapsed = ?usage.elapsed,
        "verdict"
    );
}

/// What the limiter of an instance knows.
pub(crate) struct State {
    limit: usize,
    peak: usize,
    /// Memory was asked for beyond the limit.
    refused: bool,
}

impl ResourceLimiter for State {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.limit {
            self.refused = true;
            // It ends here: asking again and again takes time, and hardly any fuel.
            return Err(wasmtime::Error::msg("the memory is used up"));
        }
        self.peak = self.peak.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // As the pool has it, also where there is none.
        Ok(desired <= TABLE)
    }
}

impl From<types::Fault> for Fault {
    fn from(fault: types::Fault) -> Self {
        let types::Fault { code, message, violations, agents } = fault;
        match code {
            types::FaultCode::BadRequest => Fault::BadRequest { message, violations },
            types::FaultCode::BadContract => Fault::BadContract { message, violations },
            types::FaultCode::UnknownAgent => Fault::UnknownAgent { message, agents },
            types::FaultCode::Sealed => Fault::Sealed { message },
        }
    }
}
