//! An instance that judges: calls into the sandbox, with the contracts that each call needs.

use wasmtime::{
    Store,
    component::{ComponentNamedList, Lift, ResourceAny},
};

use crate::{
    bindings::exports::seamgate::harness::kernel::Guest as Kernel,
    engine::Clock,
    exports::Exports,
    fault::Fault,
    limits::Usage,
    profile::ProfileInfo,
    registry::{Registered, Registry},
    request::{Request, to_wit},
    sandbox::{Live, Memory, Sandbox, answered},
    types::{ContractInfo, Finish, Progress, Report, Warning},
    verdict::{Answer, Verdict},
};

/// An instance for more than one call. After a fault that stopped it, the next call begins with a fresh one.
///
/// ```
/// use seamgate::{Disposition, Gate, Request};
///
/// let mut gate = Gate::new()?;
/// gate.register(r#"{"agent": "counter", "schema": {"type": "integer"}}"#)?;
/// let mut instance = gate.instance();
/// for output in ["1", "2", "3"] {
///     let verdict = instance.validate(&Request::new("counter", output))?;
///     assert_eq!(verdict.report.disposition, Disposition::Accepted);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Instance<'g> {
    sandbox: &'g Sandbox,
    registry: &'g Registry,
    live: Option<Live<'g>>,
    /// The agents whose contracts the live instance has.
    agents: Vec<String>,
    /// The agents whose profiles it has.
    profiles: Vec<String>,
}

impl<'g> Instance<'g> {
    pub(crate) fn new(sandbox: &'g Sandbox, registry: &'g Registry) -> Self {
        Instance { sandbox, registry, live: None, agents: Vec::new(), profiles: Vec::new() }
    }

    /// Judge one output.
    ///
    /// # Errors
    ///
    /// See [`Gate::validate`](crate::Gate::validate).
    pub fn validate(&mut self, request: &Request) -> Result<Verdict, Fault> {
        let agent = request.agent();
        let bytes = request.output().len() + request.evidence_bytes();
        let judged = self.small_enough(bytes).and_then(|()| {
            let request = request.to_wit();
            self.with_contracts(&[agent], bytes, |validator, store, clock| {
                let report = clock.run(validator.validate(&mut *store)?.call_validate(store, &request))?;
                Ok(answered(report))
            })
        });
        self.verdict(agent, judged)
    }

    /// Answer one request that is JSON text.
    ///
    /// # Errors
    ///
    /// See [`Gate::call`](crate::Gate::call).
    pub fn answer(&mut self, request: &str) -> Result<Answer, Fault> {
        self.small_enough(request.len())?;
        let needed = self.registry.needed_for(request);
        let agents: Vec<&str> = needed.contracts.iter().map(String::as_str).collect();
        let mut compiled = 0_u64;
        for agent in &needed.profiles {
            compiled = compiled.saturating_add(self.give_profile(agent)?);
        }
        let (json, usage) = self.with_contracts(&agents, request.len(), |validator, store, clock| {
            clock.run(validator.wire(&mut *store)?.call_call(store, request)).map(Ok)
        })?;
        let usage = Usage { fuel: usage.fuel.saturating_add(compiled), ..usage };
        Answer::of(self.is_trusted(), json, usage)
    }

    /// Open a session in the component.
    pub(crate) fn open(&mut self, request: &Request) -> Result<(ResourceAny, Usage), Fault> {
        let (agent, lists, evidence) = (request.agent(), to_wit(request.lists()), request.evidence_to_wit());
        let bytes = request.evidence_bytes();
        self.small_enough(bytes)?;
        self.with_contracts(&[agent], bytes, |validator, store, clock| {
            let session = validator.stream(&mut *store)?.session();
            Ok(answered(clock.run(session.call_open(store, agent, &lists, evidence.as_deref()))?))
        })
    }

    pub(crate) fn push(&mut self, session: ResourceAny, text: &str) -> Result<(Progress, Usage), Fault> {
        self.ongoing(text.len(), |validator, store, clock| {
            let stream = validator.stream(&mut *store)?.session();
            Ok(answered(clock.run(stream.call_push(store, session, text))?))
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
            Ok(answered(clock.run(stream.call_finish(store, session, finish.into(), invalid_utf8))?))
        })
    }

    /// Whether the component has the kernel, too.
    pub(crate) fn has_kernel(&self) -> bool {
        self.sandbox.has_kernel()
    }

    /// Compile a contract, within a contract's budget.
    pub(crate) fn register(&mut self, contract: &str) -> Result<ContractInfo, Fault> {
        let budget = (self.sandbox.limits().fuel_for_contract(contract.len()), self.begin()?);
        let (info, _) = self.within(budget, |validator, store, clock| {
            let registered = clock.run(validator.registry(&mut *store)?.call_register(store, contract))?;
            Ok(answered(registered))
        })?;
        Ok(info)
    }

    pub(crate) fn lint(&mut self, contract: &str) -> Result<Vec<Warning>, Fault> {
        let budget = (self.sandbox.limits().fuel_for_contract(contract.len()), self.begin()?);
        let (warnings, _) = self.within(budget, |validator, store, clock| {
            let warnings = clock.run(validator.registry(&mut *store)?.call_lint(store, contract))?;
            Ok(warnings.map(|found| found.into_iter().map(Into::into).collect()).map_err(Fault::from))
        })?;
        Ok(warnings)
    }

    /// The tools that the model may see.
    ///
    /// # Errors
    ///
    /// See [`Gate::surface`](crate::Gate::surface).
    pub fn surface(&mut self, agent: &str, facts: &str, listed: Option<&str>) -> Result<Answer, Fault> {
        let bytes = facts.len() + listed.map_or(0, str::len);
        self.decide(agent, bytes, |kernel, store, clock| {
            Ok(answered(clock.run(kernel.call_surface(store, agent, facts, listed))?))
        })
    }

    /// Decide whether a call may run.
    ///
    /// # Errors
    ///
    /// See [`Gate::permit`](crate::Gate::permit).
    pub fn permit(&mut self, agent: &str, facts: &str, call: &str) -> Result<Answer, Fault> {
        self.decide(agent, facts.len() + call.len(), |kernel, store, clock| {
            Ok(answered(clock.run(kernel.call_permit(store, agent, facts, call))?))
        })
    }

    /// Make an observation of a tool's result.
    ///
    /// # Errors
    ///
    /// See [`Gate::observe`](crate::Gate::observe).
    pub fn observe(&mut self, agent: &str, facts: &str, call: &str, result: &str) -> Result<Answer, Fault> {
        self.decide(agent, facts.len() + call.len() + result.len(), |kernel, store, clock| {
            Ok(answered(clock.run(kernel.call_observe(store, agent, facts, call, result))?))
        })
    }

    /// Apply one event to a run.
    ///
    /// # Errors
    ///
    /// See [`Gate::advance`](crate::Gate::advance).
    pub fn advance(&mut self, agent: &str, state: Option<&str>, event: &str) -> Result<Answer, Fault> {
        let bytes = event.len() + state.map_or(0, str::len);
        self.decide(agent, bytes, |kernel, store, clock| {
            Ok(answered(clock.run(kernel.call_advance(store, agent, state, event))?))
        })
    }

    /// Show a line of a journal to an audience.
    ///
    /// # Errors
    ///
    /// See [`Gate::project`](crate::Gate::project).
    pub fn project(&mut self, agent: &str, line: &str, audience: &str) -> Result<Answer, Fault> {
        self.decide(agent, line.len(), |kernel, store, clock| {
            Ok(answered(clock.run(kernel.call_project(store, agent, line, audience))?))
        })
    }

    /// Have the kernel make a document by the profile of an agent.
    fn decide(
        &mut self,
        agent: &str,
        bytes: usize,
        call: impl FnOnce(&Kernel, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<String, Fault>>,
    ) -> Result<Answer, Fault> {
        self.small_enough(bytes)?;
        let (json, usage) = self.with_profile(agent, bytes, |validator, store, clock| {
            let kernel = validator.kernel(&mut *store)?;
            call(kernel, store, clock)
        })?;
        Answer::document(self.is_trusted(), json, usage)
    }

    /// Compile a profile, within a contract's budget.
    pub(crate) fn register_profile(&mut self, profile: &str) -> Result<ProfileInfo, Fault> {
        let budget = (self.sandbox.limits().fuel_for_contract(profile.len()), self.begin()?);
        let (info, _) = self.within(budget, |validator, store, clock| {
            let registered = clock.run(validator.profiles(&mut *store)?.call_register(store, profile))?;
            Ok(answered::<String, String>(registered))
        })?;
        ProfileInfo::read(&info)
    }

    pub(crate) fn lint_profile(&mut self, profile: &str) -> Result<Vec<Warning>, Fault> {
        let budget = (self.sandbox.limits().fuel_for_contract(profile.len()), self.begin()?);
        let (warnings, _) = self.within(budget, |validator, store, clock| {
            let warnings = clock.run(validator.profiles(&mut *store)?.call_lint(store, profile))?;
            Ok(warnings.map(|found| found.into_iter().map(Into::into).collect()).map_err(Fault::from))
        })?;
        Ok(warnings)
    }

    /// Call an instance that has the profile of an agent, if the gate has it.
    pub(crate) fn with_profile<T>(
        &mut self,
        agent: &str,
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let clock = self.begin()?;
        let compiled = self.give_profile(agent)?;
        let called = self.within((self.sandbox.limits().fuel_for(bytes), clock), call);
        let (value, usage) = called.map_err(|fault| self.registry.with_profiles(fault))?;
        Ok((value, Usage { fuel: usage.fuel.saturating_add(compiled), ..usage }))
    }

    /// Compile the profile of an agent in the live instance, if the gate has it and the instance has not. Gives the fuel.
    fn give_profile(&mut self, agent: &str) -> Result<u64, Fault> {
        let clock = self.begin()?;
        let registry = self.registry;
        let Some(profile) = registry.profile(agent).filter(|_| !self.profiles.iter().any(|given| given == agent))
        else {
            return Ok(0);
        };
        let budget = (self.sandbox.limits().fuel_for_contract(profile.text.len()), clock);
        let ((), usage) = self.within(budget, |validator, store, clock| {
            let registered = clock.run(validator.profiles(&mut *store)?.call_register(store, &profile.text))?;
            Ok(registered.map(drop).map_err(Fault::from))
        })?;
        self.profiles.push(agent.to_owned());
        Ok(usage.fuel)
    }

    /// Seal contracts that have so many bytes.
    pub(crate) fn seal(&mut self, bytes: usize) -> Result<(), Fault> {
        let sealed = self.call(bytes, |validator, store, clock| {
            clock.run(validator.registry(&mut *store)?.call_seal(store)).map(Ok)
        });
        sealed.map(|((), _)| ())
    }

    /// Call an export without parameters that is not in the world, and use its result. A snapshot reads state this way.
    pub(crate) fn read<R, T>(
        &mut self,
        interface: &str,
        function: &str,
        used: impl FnOnce(&Store<Memory>, R) -> T,
    ) -> Result<T, Fault>
    where
        R: Lift + 'static,
        (R,): ComponentNamedList + Lift,
    {
        let (value, _) = self.ongoing(0, |validator, store, clock| {
            let instance = validator.instance();
            let missing = || wasmtime::Error::msg(format!("no export {interface}.{function}"));
            let index = instance.get_export_index(&mut *store, None, interface).ok_or_else(missing)?;
            let index = instance.get_export_index(&mut *store, Some(&index), function).ok_or_else(missing)?;
            let function = instance.get_typed_func::<(), (R,)>(&mut *store, index)?;
            let (value,) = clock.run(function.call_async(&mut *store, ()))?;
            Ok(Ok(used(store, value)))
        })?;
        Ok(value)
    }

    pub(crate) fn small_enough(&self, bytes: usize) -> Result<(), Fault> {
        self.sandbox.small_enough(bytes)
    }

    /// The verdict that this instance gave, logged.
    pub(crate) fn verdict(&self, agent: &str, judged: Result<(Report, Usage), Fault>) -> Result<Verdict, Fault> {
        Verdict::of(self.is_trusted(), agent, judged)
    }

    fn is_trusted(&self) -> bool {
        self.sandbox.component().is_builtin()
    }

    /// Call an instance that has the contracts of these agents, as far as the gate has them. Each contract is compiled
    /// within a budget of its own: what is left of that budget does not go to the call.
    pub(crate) fn with_contracts<T>(
        &mut self,
        agents: &[&str],
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let clock = self.begin()?;
        let (limits, registry) = (self.sandbox.limits(), self.registry);
        let given = |agent: &&&str| !self.agents.iter().any(|given| given == *agent);
        let contracts: Vec<&Registered> = agents.iter().filter(given).filter_map(|agent| registry.get(agent)).collect();
        let all = bytes + contracts.iter().map(|contract| contract.text.len()).sum::<usize>();
        let mut compiled = 0_u64;
        for contract in contracts {
            let fuel = limits.fuel_for_contract(contract.text.len());
            let registered = self.within((fuel, clock), |validator, store, clock| {
                let registered = clock.run(validator.registry(&mut *store)?.call_register(store, &contract.text))?;
                Ok(registered.map(drop).map_err(Fault::from))
            });
            let ((), usage) = registered.map_err(|fault| registry.with_agents(fault))?;
            compiled = compiled.saturating_add(usage.fuel);
            self.agents.push(contract.info.agent.clone());
        }
        let called = self.within((limits.fuel_for(all), clock), call);
        let (value, usage) = called.map_err(|fault| registry.with_agents(fault))?;
        Ok((value, Usage { fuel: usage.fuel.saturating_add(compiled), ..usage }))
    }

    /// Call an instance that holds state of an earlier call: a fresh one has none of it.
    fn ongoing<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        if self.live.is_none() {
            return Err(Fault::Trap { message: "an earlier fault ended the session".to_owned() });
        }
        self.call(bytes, call)
    }

    /// Call the instance, or a fresh one if there is none, within the limits for so many bytes.
    pub(crate) fn call<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let clock = self.begin()?;
        self.within((self.sandbox.limits().fuel_for(bytes), clock), call)
    }

    /// Make sure that there is an instance, then start the clock of a call.
    pub(crate) fn begin(&mut self) -> Result<Clock, Fault> {
        if self.live.is_none() {
            self.agents.clear();
            self.profiles.clear();
            self.live = Some(self.sandbox.enter()?);
        }
        Ok(Clock::start(self.sandbox.limits().timeout))
    }

    /// Call the instance within so much fuel, by a clock that already runs.
    fn within<T>(
        &mut self,
        budget: (u64, Clock),
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<Result<T, Fault>>,
    ) -> Result<(T, Usage), Fault> {
        let live = match self.live.take() {
            Some(live) => live,
            None => self.sandbox.enter()?,
        };
        let (answered, usage, live) = self.sandbox.call(live, budget, call)?;
        self.live = Some(live);
        answered.map(|answer| (answer, usage))
    }
}
