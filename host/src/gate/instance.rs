//! Instances that judge: calls into the sandbox, with the contracts that each call needs.

use std::sync::Arc;

use wasmtime::{
    Store,
    component::{ComponentNamedList, Lift},
};

use super::{
    registry::{Registered, Registry},
    verdict::{Answer, Verdict},
};
use crate::{
    sandbox::{
        Live, Sandbox, Size, Stopped,
        engine::Clock,
        exports::{Caller, Returned, SessionHandle},
        limiter::MemoryLimiter,
        snapshot::MemorySnapshot,
    },
    types::{
        ContractInfo, Finish, Progress, Report, Warning, fault::Fault, limits::Usage, profile::ProfileInfo,
        request::Request,
    },
};

/// An instance for more than one call. If a fault terminates it, the next call starts a fresh one. It takes no slot of
/// the gate, and is limited like a [`Session`](crate::Session).
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
    /// `true` if it serves only one call.
    once: bool,
    live: Option<Live<'g>>,
    /// `true` if the live instance was called.
    used: bool,
    /// The agents whose contracts are registered in it.
    agents: Vec<String>,
    /// The agents whose profiles are registered in it.
    profiles: Vec<String>,
}

impl<'g> Instance<'g> {
    /// Creates an instance for consecutive calls.
    pub(crate) fn new(sandbox: &'g Sandbox, registry: &'g Registry) -> Self {
        Instance { sandbox, registry, once: false, live: None, used: false, agents: Vec::new(), profiles: Vec::new() }
    }

    /// Creates an instance for one call.
    pub(crate) fn once(sandbox: &'g Sandbox, registry: &'g Registry) -> Self {
        let mut instance = Instance::new(sandbox, registry);
        instance.once = true;
        instance
    }

    /// Judges one output.
    ///
    /// # Errors
    ///
    /// See [`Gate::validate`](crate::Gate::validate).
    pub fn validate(&mut self, request: &Request) -> Result<Verdict, Fault> {
        let agent = request.agent();
        let bytes = request.output().len() + request.evidence_bytes();
        let judged = self
            .small_enough(bytes)
            .and_then(|()| self.with_contracts(&[agent], bytes, |exports| exports.validate(request)));
        self.verdict(agent, judged)
    }

    /// Answers one request that is JSON text.
    ///
    /// # Errors
    ///
    /// See [`Gate::call`](crate::Gate::call).
    pub fn answer(&mut self, request: &str) -> Result<Answer, Fault> {
        self.small_enough(request.len())?;
        let needed = self.registry.needed_for(request);
        if !self.once {
            // The request may leave state in this instance that a new one would lack, so the call must not be repeated
            // in another.
            self.begin(request.len())?.yielding()?;
        }
        let agents: Vec<&str> = needed.contracts.iter().map(String::as_str).collect();
        let profiles: Vec<&str> = needed.profiles.iter().map(String::as_str).collect();
        let (json, usage) = self.with((&agents, &profiles), request.len(), |exports| exports.call(request).map(Ok))?;
        Answer::of(self.is_trusted(), json, usage)
    }

    /// Opens a session in the component.
    pub(crate) fn open(&mut self, request: &Request) -> Result<(SessionHandle, Usage), Fault> {
        let bytes = request.evidence_bytes();
        self.small_enough(bytes)?;
        // No other instance has the state of the session, so its calls cannot be repeated in another.
        self.begin(bytes)?.yielding()?;
        self.with_contracts(&[request.agent()], bytes, |exports| exports.open(request))
    }

    pub(crate) fn push(&mut self, session: SessionHandle, text: &str) -> Result<(Progress, Usage), Fault> {
        self.ongoing(text.len(), |exports| exports.push(session, text))
    }

    pub(crate) fn finish(
        &mut self,
        session: SessionHandle,
        bytes: usize,
        (finish, invalid_utf8): (Finish, Option<u32>),
    ) -> Result<(Box<Report>, Usage), Fault> {
        self.ongoing(bytes, |exports| exports.finish(session, finish, invalid_utf8))
    }

    /// Returns whether the component includes the kernel.
    pub(crate) fn has_kernel(&self) -> bool {
        self.sandbox.has_kernel()
    }

    /// Compiles a contract within the budget for contracts. Also returns the snapshot that a fresh instance may begin
    /// from.
    pub(crate) fn register(&mut self, contract: &str) -> Result<(ContractInfo, Option<MemorySnapshot>), Fault> {
        self.compile(contract.len(), |exports| exports.register(contract))
    }

    pub(crate) fn lint(&mut self, contract: &str) -> Result<Vec<Warning>, Fault> {
        let fuel = self.sandbox.limits().fuel_for_contract(contract.len());
        self.within_fuel(fuel, contract.len(), |exports| exports.lint(contract))
            .map(|(warnings, _)| warnings)
            .map_err(Fault::while_compiling)
    }

    /// Returns the tools that the model may see.
    ///
    /// # Errors
    ///
    /// See [`Gate::surface`](crate::Gate::surface).
    pub fn surface(&mut self, agent: &str, facts: &str, listed: Option<&str>) -> Result<Answer, Fault> {
        let bytes = facts.len() + listed.map_or(0, str::len);
        self.decide(agent, bytes, |kernel| kernel.surface(agent, facts, listed))
    }

    /// Decides whether a call may run.
    ///
    /// # Errors
    ///
    /// See [`Gate::permit`](crate::Gate::permit).
    pub fn permit(&mut self, agent: &str, facts: &str, call: &str) -> Result<Answer, Fault> {
        self.decide(agent, facts.len() + call.len(), |kernel| kernel.permit(agent, facts, call))
    }

    /// Creates an observation from a tool's result.
    ///
    /// # Errors
    ///
    /// See [`Gate::observe`](crate::Gate::observe).
    pub fn observe(&mut self, agent: &str, facts: &str, call: &str, result: &str) -> Result<Answer, Fault> {
        let bytes = facts.len() + call.len() + result.len();
        self.decide(agent, bytes, |kernel| kernel.observe(agent, facts, call, result))
    }

    /// Applies one event to a run.
    ///
    /// # Errors
    ///
    /// See [`Gate::advance`](crate::Gate::advance).
    pub fn advance(&mut self, agent: &str, state: Option<&str>, event: &str) -> Result<Answer, Fault> {
        let bytes = event.len() + state.map_or(0, str::len);
        self.decide(agent, bytes, |kernel| kernel.advance(agent, state, event))
    }

    /// Shows a line of a journal to an audience.
    ///
    /// # Errors
    ///
    /// See [`Gate::project`](crate::Gate::project).
    pub fn project(&mut self, agent: &str, line: &str, audience: &str) -> Result<Answer, Fault> {
        self.decide(agent, line.len(), |kernel| kernel.project(agent, line, audience))
    }

    /// Has the kernel create a document under an agent's profile.
    fn decide(
        &mut self,
        agent: &str,
        bytes: usize,
        call: impl Fn(&mut Caller) -> Returned<String>,
    ) -> Result<Answer, Fault> {
        self.small_enough(bytes)?;
        let (json, usage) = self.with_profile(agent, bytes, call)?;
        Answer::document(self.is_trusted(), json, usage)
    }

    /// Compiles a profile, as [`register`](Instance::register) does a contract.
    pub(crate) fn register_profile(&mut self, profile: &str) -> Result<(ProfileInfo, Option<MemorySnapshot>), Fault> {
        let (info, snapshot) = self.compile(profile.len(), |exports| exports.register_profile(profile))?;
        Ok((ProfileInfo::read(&info)?, snapshot))
    }

    pub(crate) fn lint_profile(&mut self, profile: &str) -> Result<Vec<Warning>, Fault> {
        let fuel = self.sandbox.limits().fuel_for_contract(profile.len());
        self.within_fuel(fuel, profile.len(), |exports| exports.lint_profile(profile))
            .map(|(warnings, _)| warnings)
            .map_err(Fault::while_compiling)
    }

    /// Calls an instance that has the profile of an agent, provided that the gate has it.
    pub(crate) fn with_profile<T>(
        &mut self,
        agent: &str,
        bytes: usize,
        call: impl Fn(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Fault> {
        let registry = self.registry;
        self.with((&[], &[agent]), bytes, call).map_err(|fault| registry.with_profiles(fault))
    }

    /// Calls an instance that has the contracts of these agents, except those that the gate does not have.
    pub(crate) fn with_contracts<T>(
        &mut self,
        agents: &[&str],
        bytes: usize,
        call: impl Fn(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Fault> {
        let registry = self.registry;
        self.with((agents, &[]), bytes, call).map_err(|fault| registry.with_agents(fault))
    }

    /// Seals contracts of this many bytes.
    pub(crate) fn seal(&mut self, bytes: usize) -> Result<(), Fault> {
        self.call(bytes, |exports| exports.seal().map(Ok)).map(|((), _)| ())
    }

    /// Calls an export without parameters that is not in the world, and uses its result. Snapshots read state this way.
    pub(crate) fn read<R, T>(
        &mut self,
        interface: &str,
        function: &str,
        used: impl FnOnce(&Store<MemoryLimiter>, R) -> T,
    ) -> Result<T, Fault>
    where
        R: Lift + 'static,
        (R,): ComponentNamedList + Lift,
    {
        let (value, _) = self.ongoing(0, |exports| exports.read((interface, function), used).map(Ok))?;
        Ok(value)
    }

    pub(crate) fn small_enough(&self, bytes: usize) -> Result<(), Fault> {
        self.sandbox.small_enough(bytes)
    }

    /// Logs and returns the verdict of this instance.
    pub(crate) fn verdict(&self, agent: &str, judged: Result<(Box<Report>, Usage), Fault>) -> Result<Verdict, Fault> {
        Verdict::of(self.is_trusted(), agent, judged)
    }

    fn is_trusted(&self) -> bool {
        self.sandbox.component().is_builtin()
    }

    /// Compiles something in the instance, and takes a snapshot of what that changed in its memory.
    fn compile<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Option<MemorySnapshot>), Fault> {
        let fuel = self.sandbox.limits().fuel_for_contract(bytes);
        let live = self.begin(bytes)?;
        live.yielding()?;
        let before = live.memory().map(<[u8]>::to_vec);
        let clock = self.clock();
        let (compiled, _) =
            self.within((fuel, clock), call).map_err(|stopped| Fault::from(stopped).while_compiling())?;
        let after = self.live.as_ref().and_then(Live::memory);
        let snapshot = before.zip(after).map(|(before, after)| MemorySnapshot::since(&before, after));
        if let Some(live) = self.live.take_if(|_| self.once) {
            // The whole memory was read. If a slot kept these pages, the kernel would examine each of them after each
            // call.
            live.forget();
        }
        Ok((compiled, snapshot))
    }

    /// Calls an instance that has the contracts and profiles of these agents. Compiling them has a budget of its own,
    /// and the call does not get what remains of it.
    fn with<T>(
        &mut self,
        of: (&[&str], &[&str]),
        bytes: usize,
        call: impl Fn(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Fault> {
        let is_long = self.once && Size::of(bytes) == Size::Large;
        let snapshot = self.snapshot(of);
        let live = self.begin_from(bytes, snapshot)?;
        if is_long {
            // Otherwise, such a call would often have to be repeated.
            live.yielding()?;
        }
        let clock = self.clock();
        match self.give_and_call(of, bytes, clock, &call) {
            Err(Stopped::Look) => {
                // Repeats the call with checks of the clock. The result is the same because calls are deterministic.
                self.begin_from(bytes, snapshot)?.yielding()?;
                self.give_and_call(of, bytes, clock, &call).map_err(Fault::from)
            }
            called => called.map_err(Fault::from),
        }
    }

    /// Returns the snapshot from which an instance with these contracts and profiles begins.
    fn snapshot(&self, (agents, profiles): (&[&str], &[&str])) -> Option<&'g Arc<MemorySnapshot>> {
        let registry = self.registry;
        match (profiles.first(), agents.first()) {
            (Some(agent), _) => registry.profile(agent)?.snapshot.as_ref(),
            (None, Some(agent)) => registry.get(agent)?.snapshot.as_ref(),
            (None, None) => None,
        }
    }

    fn give_and_call<T>(
        &mut self,
        (agents, profiles): (&[&str], &[&str]),
        bytes: usize,
        clock: Clock,
        call: impl Fn(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Stopped> {
        let mut compiled = 0_u64;
        let mut all = bytes;
        for agent in profiles {
            compiled = compiled.saturating_add(self.give_profile(agent, clock)?);
        }
        for agent in agents {
            let (length, fuel) = self.give_contract(agent, clock)?;
            all += length;
            compiled = compiled.saturating_add(fuel);
        }
        let (value, usage) = self.within((self.sandbox.limits().fuel_for(all), clock), call)?;
        Ok((value, Usage { fuel: usage.fuel.saturating_add(compiled), ..usage }))
    }

    /// Ensures that the live instance has the contract of an agent, if the gate has it. Returns the length of the
    /// contract, and the fuel for compiling it if the instance did not have it.
    fn give_contract(&mut self, agent: &str, clock: Clock) -> Result<(usize, u64), Stopped> {
        let registry = self.registry;
        let given = self.agents.iter().any(|given| given == agent);
        let Some(Registered { text, snapshot, .. }) = registry.get(agent).filter(|_| !given) else {
            return Ok((0, 0));
        };
        let fuel = self.give((text, snapshot.as_ref()), clock, |exports| exports.register(text))?;
        self.agents.push(agent.to_owned());
        Ok((text.len(), fuel))
    }

    /// Ensures that the live instance has the profile of an agent, as `give_contract` does for a contract. Returns only
    /// the fuel.
    fn give_profile(&mut self, agent: &str, clock: Clock) -> Result<u64, Stopped> {
        let registry = self.registry;
        let given = self.profiles.iter().any(|given| given == agent);
        let Some(profile) = registry.profile(agent).filter(|_| !given) else {
            return Ok(0);
        };
        let (text, snapshot) = (&profile.text, profile.snapshot.as_ref());
        let fuel = self.give((text, snapshot), clock, |exports| exports.register_profile(text))?;
        self.profiles.push(agent.to_owned());
        Ok(fuel)
    }

    /// Gives the live instance a contract or profile: from the snapshot if the instance is unused, otherwise by
    /// compiling the text.
    fn give<T>(
        &mut self,
        (text, snapshot): (&str, Option<&Arc<MemorySnapshot>>),
        clock: Clock,
        compile: impl FnOnce(&mut Caller) -> Returned<T>,
    ) -> Result<u64, Stopped> {
        if let (false, Some(snapshot), Some(live)) = (self.used, snapshot, &mut self.live)
            && live.begin_from(snapshot)
        {
            self.used = true;
            return Ok(0);
        }
        if let Some(live) = &mut self.live {
            live.yielding().map_err(Stopped::Fault)?;
        }
        let fuel = self.sandbox.limits().fuel_for_contract(text.len());
        let compiled = self.within((fuel, clock), compile).map_err(|stopped| match stopped {
            Stopped::Fault(fault) => Stopped::Fault(fault.while_compiling()),
            stopped => stopped,
        });
        compiled.map(|(_, usage)| usage.fuel)
    }

    /// Calls an instance that holds the state of an earlier call. A fresh instance would lack that state.
    fn ongoing<T>(&mut self, bytes: usize, call: impl FnOnce(&mut Caller) -> Returned<T>) -> Result<(T, Usage), Fault> {
        if self.live.is_none() {
            return Err(Fault::Trap { message: "an earlier fault ended the session".to_owned() });
        }
        self.call(bytes, call)
    }

    /// Calls the instance, or a fresh one if there is none, within the limits for this many bytes.
    pub(crate) fn call<T>(
        &mut self,
        bytes: usize,
        call: impl FnOnce(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Fault> {
        self.within_fuel(self.sandbox.limits().fuel_for(bytes), bytes, call)
    }

    fn within_fuel<T>(
        &mut self,
        fuel: u64,
        bytes: usize,
        call: impl FnOnce(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Fault> {
        self.begin(bytes)?.yielding()?;
        let clock = self.clock();
        self.within((fuel, clock), call).map_err(Fault::from)
    }

    /// Ensures that there is an instance, for calls with this many bytes.
    pub(crate) fn begin(&mut self, bytes: usize) -> Result<&mut Live<'g>, Fault> {
        self.begin_from(bytes, None)
    }

    /// Ensures that there is an instance, for calls that can begin from a snapshot.
    fn begin_from(&mut self, bytes: usize, snapshot: Option<&Arc<MemorySnapshot>>) -> Result<&mut Live<'g>, Fault> {
        if self.live.is_none() {
            let size = if self.once { Size::of(bytes) } else { Size::Held };
            self.used = false;
            self.agents.clear();
            self.profiles.clear();
            self.live = Some(self.sandbox.enter(size, snapshot)?);
        }
        self.live.as_mut().ok_or_else(|| Fault::Trap { message: "there is no instance".to_owned() })
    }

    /// Starts and returns the clock of a call.
    fn clock(&self) -> Clock {
        Clock::start(self.sandbox.limits().timeout)
    }

    /// Calls the instance within this much fuel, on a clock that is already running.
    fn within<T>(
        &mut self,
        budget: (u64, Clock),
        call: impl FnOnce(&mut Caller) -> Returned<T>,
    ) -> Result<(T, Usage), Stopped> {
        let Some(live) = &mut self.live else {
            return Err(Stopped::Fault(Fault::Trap { message: "an earlier fault ended the instance".to_owned() }));
        };
        self.used = true;
        match self.sandbox.call(live, budget, call) {
            Ok((answered, usage)) => answered.map(|answer| (answer, usage)).map_err(Stopped::Fault),
            Err(stopped) => {
                self.live = None;
                Err(stopped)
            }
        }
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        if let (true, Some(live)) = (self.once, self.live.take()) {
            self.sandbox.leave(live);
        }
    }
}

impl From<Stopped> for Fault {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Fault(fault) => fault,
            Stopped::Look => Fault::Trap { message: "the clock cannot be looked at".to_owned() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::Gate,
        sandbox::{engine, options::Options},
        system,
    };

    const CONTRACT: &str = r#"{"agent": "a", "schema": {"type": "array", "items": {"pattern": "^[a-z]+$"}}}"#;

    const PROFILE: &str = r#"{"agent": "a", "tools": [{"name": "t", "effect": "read", "permit": "allow"}]}"#;

    const ENDS: [&str; 3] = ["]", "", "}"];

    /// Returns a list of this many bytes that the contract rejects, with this end.
    fn output(length: usize, end: &str) -> String {
        format!("[\"{}\", 1{end}", "q7Zx0vKp".repeat(length / 8))
    }

    /// Returns the whole memory of a fresh instance that has the contract of an agent, and whether the instance was
    /// kept from an earlier call.
    fn begun(gate: &Gate, agent: &str) -> (Vec<u8>, bool) {
        let mut instance = gate.once();
        let snapshot = instance.snapshot((&[agent], &[]));
        let was_kept = instance.begin_from(0, snapshot).expect("an instance").was_kept();
        let clock = instance.clock();
        assert!(instance.give_contract(agent, clock).is_ok_and(|(_, fuel)| fuel == 0), "it was compiled again");
        // The instance is not kept, because all of its pages were read.
        let live = instance.live.take();
        (live.as_ref().and_then(Live::memory).map(<[u8]>::to_vec).expect("a memory"), was_kept)
    }

    /// Returns whether this system reports enough about pages to keep instances.
    fn keeps() -> bool {
        let page = vec![1; 2 * system::page_size()];
        system::page_faults().is_some() && system::written(&page).is_some()
    }

    #[test]
    fn a_fresh_instance_is_the_same_whatever_its_slot_held() {
        // With one slot, instances follow one another.
        let (engine, slots) = engine::engine(&crate::Limits::default(), 1).expect("an engine");
        let Ok(mut gate) = Gate::on(engine, Options::default().slots(slots)) else {
            // This build embeds no component.
            return;
        };
        gate.register(CONTRACT).expect("a contract");
        let (first, _) = begun(&gate, "a");
        for length in [2, 500, 20_000, 300_000] {
            for end in ENDS {
                gate.validate(&Request::new("a", &output(length, end))).expect("a verdict");
                assert!(begun(&gate, "a").0 == first, "{length} bytes and {end:?} left something");
            }
        }
        // Registering another contract afterwards changes nothing.
        gate.register(&CONTRACT.replace("\"a\"", "\"b\"")).expect("a contract");
        assert!(begun(&gate, "a").0 == first);
        assert!(begun(&gate, "b").0 != first);
    }

    #[test]
    fn an_instance_that_was_kept_is_the_same_as_a_fresh_one() {
        let gate = || {
            let mut gate = Gate::with(Options::default().slots(1)).ok()?;
            gate.register(CONTRACT).expect("a contract");
            gate.register_profile(PROFILE).expect("a profile");
            Some(gate)
        };
        let Some(fresh) = gate() else {
            return;
        };
        let (fresh, _) = begun(&fresh, "a");
        let mut kept = 0;
        for (lengths, calls) in [
            // The first call finds the pages that calls write to.
            (&[2][..], 3),
            (&[15_000], 3),
            (&[300_000], 3),
            (&[2, 500, 2, 4_000, 16, 15_000, 2], 3),
            (&[20_000, 300_000, 2, 9_000], 3),
            // Enough calls for unchanged pages to be given back to the kernel.
            (&[15_000, 2, 9_000, 2, 500], 300),
        ] {
            // A gate for each round, so that the pages read here are not read in the next round.
            let gate = gate().expect("a gate");
            for (length, end) in lengths.iter().flat_map(|length| ENDS.map(|end| (*length, end))) {
                let facts = r#"{"run": "r", "at": 0, "principal": "p"}"#;
                let call =
                    format!(r#"{{"key": "k", "tool": "t", "arguments": {{"q": "{}"}}}}"#, "x".repeat(length / 2));
                gate.permit("a", facts, &call).expect("a decision");
                gate.validate(&Request::new("nobody", "1")).expect_err("an agent that nobody knows");
                for _ in 0..calls {
                    gate.validate(&Request::new("a", &output(length, end))).expect("a verdict");
                }
            }
            let (memory, was_kept) = begun(&gate, "a");
            assert!(memory == fresh, "{lengths:?} left something");
            kept += usize::from(was_kept);
        }
        assert!(kept >= 3 || !keeps(), "only {kept} instances were kept");
    }

    #[test]
    fn a_call_that_takes_long_is_made_again_where_the_clock_is_looked_at() {
        let Ok(mut gate) = Gate::new() else {
            return;
        };
        gate.register(CONTRACT).expect("a contract");
        let output = format!("[\"{}\"]", "x\", \"".repeat(100_000));
        let request = Request::new("a", &output);
        let fresh = gate.validate(&request).expect("a verdict");
        assert!(fresh.usage.fuel > engine::LOOK, "it takes only {}", fresh.usage.fuel);
        let mut warm = gate.instance();
        warm.validate(&Request::new("a", "[]")).expect("a verdict");
        let again = warm.validate(&request).expect("a verdict");
        assert_eq!(again.usage.fuel, fresh.usage.fuel);
        assert!(again.report == fresh.report);
        // The call continues in the instance in which the clock is checked.
        assert!(warm.validate(&request).is_ok_and(|again| again.report == fresh.report));
    }

    /// `docs/host.md` states the bound.
    #[test]
    fn a_thousand_contracts_take_little_memory() {
        let Ok(mut gate) = Gate::with(Options::default().slots(1)) else {
            return;
        };
        let contract = |number: usize| {
            format!(
                r#"{{"agent": "agent-{number}", "schema": {{"type": "object", "required": ["id"],
                "additionalProperties": false, "properties": {{"id": {{"type": "string", "pattern": "^[A-Z]+-{number}$"}},
                "tags": {{"type": "array", "items": {{"enum": ["a", "b"]}}}}}}}}}}"#
            )
        };
        (0..1_000).for_each(|number| drop(gate.register(&contract(number)).expect("a contract")));
        let held = gate.snapshots().map(MemorySnapshot::bytes).collect::<Vec<_>>();
        let (all, most) = (held.iter().sum::<usize>(), held.iter().max().copied().unwrap_or_default());
        println!("{all} bytes for 1,000 contracts, {most} for the largest");
        assert!(held.len() == 1_000 && all < 64 << 20, "{all} bytes");
        let used = |gate: &Gate| {
            let usage = gate.validate(&Request::new("agent-999", r#"{"id": "OPS-999"}"#)).expect("a verdict").usage;
            (usage.fuel, usage.memory)
        };
        let mut alone = Gate::new().expect("a gate");
        alone.register(&contract(999)).expect("a contract");
        assert_eq!(used(&gate), used(&alone));
    }
}
