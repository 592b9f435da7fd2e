//! A run: its events go through the kernel into its journal, and its state follows from them.

mod derivation;
mod difference;
pub(crate) mod journal;
mod step;
mod value;
#[expect(missing_docs, reason = "generated; `schemas/` documents what has no comment")]
mod words;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    thread,
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use self::{
    derivation::{Derivation, NotDerived},
    value::{Json, Large},
    words::*,
};
use self::{
    journal::{Blob, Chain, Checked, EventLine, FileJournal, Journal, JournalError, Line, VERSION, inline, restore},
    step::{Answered, End, Step, Written, read_actions, read_records},
};
use crate::{digest::digest, gate::Gate, json::json, types::fault::Fault};

/// The number of steps between two checkpoints. Replaying a step takes about as long as making it, and each checkpoint
/// takes two syncs.
const CHECKPOINT_STEPS: u64 = 64;

/// Computes steps from events. The gate implements it, and tests have an implementation of their own.
pub(crate) trait Kernel: Sync {
    /// Returns the step, as JSON text.
    fn advance(&self, agent: &str, state: Option<&str>, event: &str) -> Result<String, Fault>;
    /// Returns the digest of an agent's profile.
    fn profile(&self, agent: &str) -> Result<String, Fault>;
    /// Returns the digest of the component.
    fn component(&self) -> String;
}

impl Kernel for Gate {
    fn advance(&self, agent: &str, state: Option<&str>, event: &str) -> Result<String, Fault> {
        Gate::advance(self, agent, state, event).map(|answer| answer.json)
    }

    fn profile(&self, agent: &str) -> Result<String, Fault> {
        let registered = self.profiles().find(|profile| profile.agent == agent).cloned();
        let baked = || Ok(self.inspect()?.profiles.into_iter().find(|profile| profile.agent == agent));
        let unknown = || Fault::UnknownAgent {
            message: format!("there is no profile for the agent {}", json(&agent)),
            agents: self.profiles().map(|profile| profile.agent.clone()).collect(),
        };
        let profile = registered.map_or_else(baked, |profile| Ok::<_, Fault>(Some(profile)))?.ok_or_else(unknown)?;
        Ok(profile.profile)
    }

    fn component(&self) -> String {
        Gate::component(self).digest().to_owned()
    }
}

/// The reason why a run does not start, or does not continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The kernel does not accept the event, or a call exceeded a limit. The run is unchanged, and nothing was
    /// appended.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The journal cannot be read or appended to. The run is unchanged.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The first line of a journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct About {
    /// The version of the format.
    journal: u64,
    run: String,
    agent: String,
    /// The profile's digest.
    profile: String,
    /// The component's digest.
    component: String,
    /// The version of the kernel that states name. `None` if the component's states name no version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// The version of the kernel that wrote all journals of the first format.
const FIRST_VERSION: &str = "0.1.0";

/// The line that records that a run continues under another component.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// The digest of the component that the run had.
    from: String,
    /// The digest of the component that the run has from then on.
    to: String,
    /// The version of the kernel that the states after this line name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// The position of a run.
#[derive(Serialize, Deserialize)]
struct Snapshot<A> {
    run: A,
    /// After the last line.
    chain: Chain,
    end: End,
    state: Box<RawValue>,
}

/// The life of one task, step by step. Each event goes to the kernel. The resulting step is appended to the journal,
/// and survives a crash, before the caller gets the actions.
///
/// The caller causes the effects, and sends the result of each action as the next event. A run has one writer: if
/// another process appended to the journal, [`send`](Run::send) fails with [`JournalError::Conflict`].
/// [Open](Run::open) the run again in this case.
///
/// ```
/// use seamgate::{CallEvent, FileJournal, Gate, Json, ResumedEvent, Run, StartedEvent};
///
/// let mut gate = Gate::new()?;
/// gate.register_profile(r#"{"agent": "reader", "tools": [{"name": "search", "effect": "read", "permit": "allow"}]}"#)?;
/// let folder = std::env::temp_dir().join(format!("run-of-the-documentation-{}", std::process::id()));
///
/// let started = StartedEvent::new("r1", "anna", "c0ffee00c0ffee00");
/// let (mut run, _) = Run::start(&gate, FileJournal::create(&folder)?, "reader", &started.at(1_790_000_000_000))?;
/// let call = CallEvent::new("search", Json::parse(r#"{"q": "x"}"#)?);
/// let actions = run.send(&call.at(1_790_000_001_000))?;
/// assert_eq!((actions[0].word(), actions[0].key()), ("execute", "r1/2/0"));
///
/// // The process ends here. Another one goes on: the read is sent again.
/// let mut run = Run::open(&gate, FileJournal::open(&folder)?)?;
/// let actions = run.send(&ResumedEvent::new().at(1_790_000_002_000))?;
/// assert_eq!((actions[0].word(), run.step()), ("execute", 3));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'g, J> {
    kernel: &'g dyn Kernel,
    journal: J,
    about: About,
    /// After the last line.
    chain: Chain,
    now: Now,
    /// The change of the component, if the next step is the first that the new component decides.
    change: Option<Change>,
}

/// The result of the events so far.
#[derive(Debug, Default)]
struct Now {
    step: u64,
    state: String,
    wake_at: Option<u64>,
    /// The records of the last step.
    records: Vec<String>,
}

/// The place from which the events of a journal are replayed.
struct Begin {
    /// The number of the line before the first event.
    line: u64,
    now: Now,
    /// The version of the kernel that the states after this line name.
    version: Option<String>,
}

/// The result of replaying the events of a journal.
struct Replayed {
    now: Now,
    /// After the last line.
    chain: Chain,
    actions: Vec<String>,
    records: Vec<String>,
    /// The last change of the component among the lines.
    change: Option<Change>,
}

/// How the lines of a replay may differ from those of the journal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// The same component made them: a difference is damage.
    Same,
    /// Another component made them: a difference is another decision.
    Equal,
    /// Other writers appended them, with the component of this process.
    Appended,
}

/// The lines of a journal, checked.
struct History {
    about: About,
    chain: Chain,
    /// The ends of its steps, with the numbers of their lines.
    ends: Vec<(u64, End)>,
    /// The changes of the component, with the numbers of their lines.
    changes: Vec<(u64, Change)>,
}

impl<'g, J: Journal> Run<'g, J> {
    /// Starts a run in a journal without lines. The event is a [`StartedEvent`]. Returns the run and its first actions.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exists`] if the journal has a run; a fault if the agent has no profile or the event is invalid;
    /// or the errors of [`send`](Run::send).
    pub fn start(gate: &'g Gate, journal: J, agent: &str, started: &Event) -> Result<(Self, Vec<Action>), StepError> {
        let (mut run, event, step) = Run::first_step(gate, journal, agent, &json(started))?;
        let actions = read_actions(&step.actions)?;
        run.commit(&event, step)?;
        Ok((run, actions))
    }

    /// Does the same as [`start`](Run::start) for callers that have the event as JSON text (`schemas/event.schema.json`) and
    /// take the actions as JSON texts (`schemas/action.schema.json`).
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Run::start).
    pub fn start_json(
        gate: &'g Gate,
        journal: J,
        agent: &str,
        started: &str,
    ) -> Result<(Self, Vec<String>), StepError> {
        Run::start_on(gate, journal, agent, started)
    }

    /// Continues the run that a journal has. Takes the last checkpoint, and replays the events after it, which must
    /// lead to the lines of the journal byte for byte. Nothing is appended, and no action is repeated: send an event of
    /// the type `resumed`, which returns the actions that are left to do.
    ///
    /// If the gate has another component than the run, all events are replayed from the first one. The run continues if
    /// they lead to the lines of the journal; only the kernel version in the states may differ. The next step then
    /// writes the change before its event, and [`changed_from`](Run::changed_from) returns the run's previous
    /// component. This takes as long as deciding all steps again.
    ///
    /// # Errors
    ///
    /// [`JournalError::Empty`] if no run has begun; [`JournalError::Other`] if the run has another profile than the
    /// gate; [`JournalError::Differs`] if the gate has another component, which decides a step differently;
    /// [`JournalError::Line`] and [`JournalError::Artifact`] for a changed or missing line or artifact, which they
    /// name.
    pub fn open(gate: &'g Gate, journal: J) -> Result<Self, StepError> {
        Run::open_on(gate, journal)
    }

    /// Continues a run from a [snapshot](Run::snapshot), without reading the journal. This is for engines that keep
    /// both in one transaction, and hand a handler only what it asks for.
    ///
    /// Calls only [`append`](Journal::append) and [`put`](Journal::put) of the journal, and [`get`](Journal::get) and
    /// [`lines`](Journal::lines) if a step needs an earlier text. Whoever can write the snapshot can also forge the
    /// run, because, unlike [`open`](Run::open), this compares no line with it.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotAJournal`] if the text is not a valid snapshot, or if its state does not match its digest;
    /// [`JournalError::Newer`] if a later version made it; [`JournalError::Other`] if the gate has another profile or
    /// component. A snapshot has no events to replay, so [open](Run::open) the journal if the component differs.
    pub fn restore(gate: &'g Gate, journal: J, snapshot: &str) -> Result<Self, StepError> {
        Run::restore_on(gate, journal, snapshot)
    }

    pub(crate) fn restore_on(kernel: &'g dyn Kernel, journal: J, snapshot: &str) -> Result<Self, StepError> {
        let damaged =
            |message: &str| JournalError::NotAJournal { journal: journal.name(), message: message.to_owned() };
        let Snapshot { run: about, chain, end, state } = serde_json::from_str::<Snapshot<About>>(snapshot)
            .map_err(|_| damaged("its snapshot is not as it was made"))?;
        if about.journal > VERSION {
            return Err(JournalError::Newer { journal: journal.name(), version: about.journal }.into());
        }
        let End { step, digest: expected, wake_at } = end;
        if digest(state.get().as_bytes()) != expected {
            return Err(damaged("its snapshot is changed: the state has another digest").into());
        }
        about.has_profile_of(kernel, &journal.name())?;
        if about.component != kernel.component() {
            let advice = "open its journal in place of the snapshot, which replays the run";
            return Err(about.other_component(&journal.name(), &kernel.component(), advice).into());
        }
        let now = Now { step, state: state.get().to_owned(), wake_at, records: Vec::new() };
        Ok(Run { kernel, journal, about, chain, now, change: None })
    }

    pub(crate) fn start_on(
        kernel: &'g dyn Kernel,
        journal: J,
        agent: &str,
        started: &str,
    ) -> Result<(Self, Vec<String>), StepError> {
        let (mut run, event, step) = Run::first_step(kernel, journal, agent, started)?;
        let actions = run.commit(&event, step)?;
        Ok((run, actions))
    }

    /// Returns a run that has not begun, and its first step. The artifacts of the step are already kept.
    fn first_step(
        kernel: &'g dyn Kernel,
        journal: J,
        agent: &str,
        started: &str,
    ) -> Result<(Self, EventLine, Step), StepError> {
        #[derive(Deserialize)]
        struct Started {
            run: String,
        }
        if journal.count() > 0 {
            return Err(JournalError::Exists { journal: journal.name() }.into());
        }
        let about = About {
            journal: VERSION,
            run: String::new(),
            agent: agent.to_owned(),
            profile: kernel.profile(agent)?,
            component: kernel.component(),
            version: None,
        };
        let mut run = Run { kernel, journal, about, chain: Chain::default(), now: Now::default(), change: None };
        let event = normal(started)?;
        let step = run.advance(&run.now, &event)?;
        run.about.version = version_of(&step.state);
        let Started { run: id } = serde_json::from_str(&event.whole)
            .map_err(|_| bad_request("the first event must have `run`, the run's id, a string"))?;
        run.put(&event)?;
        run.about.run = id;
        Ok((run, event, step))
    }

    pub(crate) fn open_on(kernel: &'g dyn Kernel, journal: J) -> Result<Self, StepError> {
        let name = journal.name();
        if journal.count() == 0 {
            return Err(JournalError::Empty { journal: name }.into());
        }
        let history = History::read(&journal)?;
        history.about.has_profile_of(kernel, &name)?;
        let first = Begin { line: 0, now: Now::default(), version: history.about.version.clone() };
        let (about, chain) = (history.last_about(), history.chain.clone());
        let mut run = Run { kernel, journal, about, chain, now: Now::default(), change: None };
        let component = kernel.component();
        if run.about.component == component {
            let begin = run.last_checkpoint(&history)?.unwrap_or(first);
            run.now = run.replay(begin, Expect::Same)?.now;
        } else {
            run.now = run.replay(first, Expect::Equal)?.now;
            let from = run.about.component.clone();
            run.change = Some(Change { from, to: component, version: version_of(&run.now.state) });
        }
        Ok(run)
    }

    /// Takes an event: the result of an action, or what a person did. Returns the actions that it leads to. The journal
    /// already contains them.
    ///
    /// An event that does not fit, such as a late one, is recorded, and has no effect. Artifacts that the step needs
    /// are read from the journal.
    ///
    /// # Errors
    ///
    /// A fault if the event is invalid; [`JournalError::Conflict`] if another writer appended; any other
    /// [`JournalError`] if the step cannot be appended. The run is unchanged, and the caller must perform no action.
    /// The same event can be sent again.
    pub fn send(&mut self, event: &Event) -> Result<Vec<Action>, StepError> {
        let event = match json(event) {
            // The event has an artifact in place of a value, and cannot be written.
            text if text.is_empty() => normal(&text)?,
            // The text may be long. It was just written, so it is not parsed again.
            text => without_artifacts(EventLine::write(text))?,
        };
        let (event, step) = self.next_step(event)?;
        let actions = read_actions(&step.actions)?;
        self.commit(&event, step)?;
        Ok(actions)
    }

    /// Does the same as [`send`](Run::send) for callers that have the event as JSON text (`schemas/event.schema.json`) and
    /// take the actions as JSON texts (`schemas/action.schema.json`).
    ///
    /// # Errors
    ///
    /// The errors of [`send`](Run::send).
    pub fn send_json(&mut self, event: &str) -> Result<Vec<String>, StepError> {
        let (event, step) = self.next_step(normal(event)?)?;
        self.commit(&event, step)
    }

    /// Returns the step that an event leads to. Keeps its artifacts, and appends nothing.
    fn next_step(&mut self, event: EventLine) -> Result<(EventLine, Step), StepError> {
        let answered =
            if event.artifacts.is_empty() { self.ask(&self.now, &event.whole)? } else { self.ask_and_put(&event)? };
        let step = self.go_on(&self.now, &event, answered)?;
        Ok((event, step))
    }

    /// Returns the present position of the run, as text for [`restore`](Run::restore): its state, and the number and
    /// digest that its next line begins with. It is valid only with this journal, up to its present last line.
    pub fn snapshot(&self) -> String {
        let Now { step, state, wake_at, .. } = &self.now;
        let end = End { step: *step, digest: digest(state.as_bytes()), wake_at: *wake_at };
        // The component's answer was parsed, so its state is JSON.
        let state = RawValue::from_string(state.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        json(&Snapshot { run: &self.about, chain: self.chain.clone(), end, state })
    }

    /// Returns the latest time to send an event of the type `tick`, in milliseconds since 1970, because something
    /// expires then.
    pub fn wake_at(&self) -> Option<u64> {
        self.now.wake_at
    }

    /// Returns the state, as JSON text (`schemas/run-state.schema.json`).
    pub fn state(&self) -> &str {
        &self.now.state
    }

    /// Returns the results of the last event other than actions. [`Record::Ignored`] means that the event changed
    /// nothing: a call whose `tool_started` was ignored must not be sent. Empty after [`open`](Run::open).
    ///
    /// # Errors
    ///
    /// [`Fault::Trap`] if a component that is not built in returned a record that does not match
    /// `schemas/record.schema.json`.
    pub fn records(&self) -> Result<Vec<Record>, Fault> {
        read_records(&self.now.records)
    }

    /// Returns the same records as JSON texts (`schemas/record.schema.json`).
    pub fn records_json(&self) -> &[String] {
        &self.now.records
    }

    /// Returns the number of events taken.
    pub fn step(&self) -> u64 {
        self.now.step
    }

    /// Returns the run's id.
    pub fn id(&self) -> &str {
        &self.about.run
    }

    /// Returns the agent whose profile applies.
    pub fn agent(&self) -> &str {
        &self.about.agent
    }

    /// Returns the digest of the component that the run had, if the gate has another one. The next step writes the change
    /// into the journal. `None` after that step, and if the component is the same.
    pub fn changed_from(&self) -> Option<&str> {
        self.change.as_ref().map(|change| change.from.as_str())
    }

    /// Returns the journal.
    pub fn journal(&self) -> &J {
        &self.journal
    }

    /// Keeps a complete result that is too large for an event. The event then has only its head, tail, length and
    /// digest. Returns the digest.
    ///
    /// # Errors
    ///
    /// The journal cannot keep it.
    pub fn keep(&mut self, text: &str) -> Result<String, JournalError> {
        let digest = digest(text.as_bytes());
        self.journal.put(Blob::Artifact, &digest, text)?;
        Ok(digest)
    }

    /// Returns the kernel's answer to an event.
    fn ask(&self, now: &Now, event: &str) -> Result<Answered, Fault> {
        let state = (now.step > 0).then_some(now.state.as_str());
        Answered::read(&self.kernel.advance(&self.about.agent, state, event)?)
    }

    /// Asks the kernel while the event's artifacts are being written, because judging a large result takes about as
    /// long as writing it.
    fn ask_and_put(&mut self, event: &EventLine) -> Result<Answered, StepError> {
        let Run { kernel, journal, about, now, .. } = &mut *self;
        let (kernel, state) = (*kernel, (now.step > 0).then_some(now.state.as_str()));
        let (answer, put) = thread::scope(|scope| {
            let ask = || kernel.advance(&about.agent, state, &event.whole);
            let asked = thread::Builder::new().spawn_scoped(scope, ask);
            let put = put(journal, event);
            let answer = match asked {
                Ok(asked) => asked.join().unwrap_or_else(|_| {
                    Err(Fault::Trap { message: "the thread that judges an event ended".to_owned() })
                }),
                // If no thread can be started, do one after the other.
                Err(_) => ask(),
            };
            (answer, put)
        });
        let answered = Answered::read(&answer?)?;
        put?;
        Ok(answered)
    }

    /// Returns the step that an event leads to, with the artifacts that it needs.
    fn advance(&self, now: &Now, event: &EventLine) -> Result<Step, StepError> {
        self.go_on(now, event, self.ask(now, &event.whole)?)
    }

    /// Returns the step that follows the kernel's first answer, after giving it the artifacts that it needs.
    fn go_on(&self, now: &Now, event: &EventLine, mut answered: Answered) -> Result<Step, StepError> {
        let mut given = BTreeMap::new();
        loop {
            let need = match answered {
                Answered::Step(step) => return Ok(step),
                Answered::Need(need) => need,
            };
            let had = given.len();
            for digest in need {
                if let Entry::Vacant(place) = given.entry(digest) {
                    let text = self.artifact(place.key())?;
                    place.insert(text);
                }
            }
            // Each round must add at least one artifact of the journal, or the component could continue forever.
            if given.len() == had {
                let message = "invalid step: it needs artifacts that it has".to_owned();
                return Err(Fault::Trap { message }.into());
            }
            answered = self.ask(now, &with_artifacts(&event.whole, &given))?;
        }
    }

    fn put(&mut self, event: &EventLine) -> Result<(), JournalError> {
        put(&mut self.journal, event)
    }

    /// Appends a step whose event's artifacts are already kept, and then takes over its state.
    fn commit(&mut self, event: &EventLine, step: Step) -> Result<Vec<String>, StepError> {
        let mut chain = self.chain.clone();
        let first = (chain.n == 0).then(|| Line::Run(&json(&self.about)).write(&mut chain));
        let change = self.change.as_ref().map(|change| Line::Component(&json(change)).write(&mut chain));
        let written = step.write(event, &mut chain);
        let lines: Vec<String> = first.into_iter().chain(change).chain(written.lines).collect();
        for prompt in &written.prompts {
            self.journal.put(Blob::Artifact, &prompt.digest, &prompt.text)?;
        }
        self.journal.append(self.chain.n, &lines)?;
        self.chain = chain;
        if let Some(change) = self.change.take() {
            self.about.take(change);
        }
        let Step { number, state, digest, wake_at, actions, records } = step;
        self.now = Now { step: number, state, wake_at, records };
        if number.is_multiple_of(CHECKPOINT_STEPS)
            && let Err(error) = self.journal.put(Blob::Checkpoint, &digest, &self.now.state)
        {
            // The step is in the journal. Without the checkpoint, the next start replays more.
            tracing::warn!("no checkpoint was kept: {error}");
        }
        Ok(actions)
    }

    /// Returns the last state that is kept, if there is one, as the run's present component would write it. The last
    /// step is always replayed, because no line after it confirms the digest of its `state` line.
    fn last_checkpoint(&self, history: &History) -> Result<Option<Begin>, JournalError> {
        for (n, End { step, digest: expected, wake_at }) in history.ends.iter().rev().skip(1) {
            match self.journal.get(Blob::Checkpoint, expected)? {
                Some(state) if digest(state.as_bytes()) == *expected => {
                    let version = history.version_at(*n).cloned();
                    // The process that changed the component replayed the events up to here, and got the same state.
                    let state = with_version(&state, version.as_ref(), self.about.version.as_ref()).unwrap_or(state);
                    let now = Now { step: *step, state, wake_at: *wake_at, records: Vec::new() };
                    return Ok(Some(Begin { line: *n, now, version }));
                }
                Some(_) => {
                    let journal = self.journal.name();
                    tracing::warn!(journal, "the checkpoint {expected} is changed; the run begins with an earlier one");
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Sends all events after a line to the kernel again. They must lead to the lines of the journal.
    fn replay(&self, begin: Begin, expect: Expect) -> Result<Replayed, StepError> {
        let name = self.journal.name();
        let Begin { line: from, mut now, mut version } = begin;
        let mut lines = self.journal.lines(from)?;
        let (mut actions, mut records, mut change) = (Vec::new(), Vec::new(), None);
        let Some(first) = lines.next().transpose()? else {
            return Ok(Replayed { now, chain: Chain::default(), actions, records, change });
        };
        let mut chain = Chain::after(from, &first);
        let mut checked = Checked::from(chain.clone());
        let mut event = EventLine::of("{}".to_owned());
        // The lines of one step.
        let mut kept = Vec::new();
        // The kernel version in states of the gate's component. Known after the first step.
        let mut own = None;
        for line in lines {
            let line = line?;
            let n = checked.chain.n;
            let holds = checked.take(&name, &line, || None)?;
            match holds {
                Line::Event(value) => event = EventLine::of(restore(value, |digest| self.artifact(digest))?),
                Line::Component(value) => {
                    let read = Change::read(value).ok_or_else(|| self.wrong(n, CHANGED_CHANGE.to_owned()))?;
                    let component = self.kernel.component();
                    if expect == Expect::Appended && read.to != component {
                        let advice = "another process went on with it: open it again";
                        return Err(About { component: read.to, ..self.about.clone() }
                            .other_component(&name, &component, advice)
                            .into());
                    }
                    version.clone_from(&read.version);
                    change = Some(read);
                    chain = checked.chain.clone();
                    continue;
                }
                _ => {}
            }
            let is_end = matches!(holds, Line::State(_));
            kept.push(line);
            if is_end {
                let own = &mut own;
                let as_kept = |state: &str| {
                    let own = own.get_or_insert_with(|| version_of(state));
                    with_version(state, own.as_ref(), version.as_ref())
                };
                let step = self.again(&now, &event, &mut chain, &kept, expect, as_kept)?;
                actions.extend(step.actions);
                records.extend(step.records);
                now = Now { step: step.number, state: step.state, wake_at: step.wake_at, records: Vec::new() };
                kept.clear();
            }
        }
        Ok(Replayed { now, chain, actions, records, change })
    }

    /// Replays one event. `as_kept` returns the state with the kernel version that the journal's states have at this
    /// point, if that differs.
    fn again(
        &self,
        now: &Now,
        event: &EventLine,
        chain: &mut Chain,
        kept: &[String],
        expect: Expect,
        as_kept: impl FnOnce(&str) -> Option<String>,
    ) -> Result<Step, StepError> {
        let first = chain.n;
        let differs = |how: String| JournalError::Differs {
            journal: self.journal.name(),
            step: now.step + 1,
            difference: format!("{}: {how}", difference::step(now.step + 1, &event.whole)),
            expected: self.about.component.clone(),
            found: self.kernel.component(),
        };
        let mut step = self.advance(now, event).map_err(|error| match error {
            StepError::Fault(fault) if expect == Expect::Equal => {
                differs(format!("the run took it, this component does not: {fault}")).into()
            }
            StepError::Fault(fault) => self.wrong(first, format!("its event is not taken again: {fault}")).into(),
            error => error,
        })?;
        if let Some(state) = as_kept(&step.state) {
            step.digest = digest(state.as_bytes());
        }
        let Written { lines: made, prompts } = step.write(event, chain);
        if let Some(place) = difference::first(&made, kept) {
            if expect == Expect::Equal {
                return Err(differs(difference::lines(kept, &made)).into());
            }
            let what = if place + 1 == kept.len() { "another state" } else { "another line" };
            return Err(self.wrong(first + place as u64, format!("the events up to it lead to {what} now")).into());
        }
        // Prompts are not used here, but the run is incomplete without them.
        for prompt in prompts {
            self.artifact(&prompt.digest)?;
        }
        Ok(step)
    }

    /// Returns a complete result, or another text that lines reference or contain, by its digest.
    ///
    /// # Errors
    ///
    /// [`JournalError::Artifact`] if the text is missing or changed.
    pub fn artifact(&self, expected: &str) -> Result<String, JournalError> {
        let wrong = |message: &str| JournalError::Artifact {
            journal: self.journal.name(),
            digest: json(&expected.chars().take(80).collect::<String>()),
            message: message.to_owned(),
        };
        match self.journal.get(Blob::Artifact, expected)? {
            Some(text) if digest(text.as_bytes()) == expected => return Ok(text),
            Some(_) => return Err(wrong("is changed")),
            None => {}
        }
        // Small values are in their lines.
        let mut checked = Checked::default();
        for line in self.journal.lines(0)? {
            let line = line?;
            if let Line::Event(event) = checked.take(&self.journal.name(), &line, || None)?
                && let Some(text) = inline(event, expected)
            {
                return Ok(text);
            }
        }
        Err(wrong("is missing"))
    }

    fn wrong(&self, line: u64, message: String) -> JournalError {
        JournalError::Line { journal: self.journal.name(), line, message }
    }
}

impl Run<'_, FileJournal> {
    /// Takes an event as [`send`](Run::send) does, but without syncing the step. The step survives a crash only after
    /// the caller has sent another event or called [`sync`](Run::sync), and the caller must not act on the result
    /// before that. Two consecutive steps are synced together in this way.
    ///
    /// # Errors
    ///
    /// The errors of [`send`](Run::send).
    pub fn send_unsynced(&mut self, event: &Event) -> Result<Vec<Action>, StepError> {
        let was = self.journal.set_synced(false);
        let sent = self.send(event);
        self.journal.set_synced(was);
        sent
    }

    /// Syncs the steps that were sent unsynced, so that they survive a crash.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }

    /// Takes the steps that other writers appended, for a process that continues the run while they do so. Returns the
    /// actions of these steps, which nobody has performed; [`records`](Run::records) returns their records. If there
    /// are no new steps, nothing changes.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or its lines do not match what its events lead to. The run is unchanged.
    pub fn catch_up(&mut self) -> Result<Vec<Action>, StepError> {
        let journal = self.journal.again()?;
        let own = std::mem::replace(&mut self.journal, journal);
        match self.replay_since(&own) {
            Ok(Replayed { now, chain, actions, records, change }) => {
                self.chain = chain;
                if let Some(change) = change {
                    self.about.take(change);
                    self.change = None;
                }
                self.now = Now { records, ..now };
                Ok(read_actions(&actions)?)
            }
            Err(error) => {
                self.journal = own;
                Err(error)
            }
        }
    }

    fn replay_since(&self, own: &FileJournal) -> Result<Replayed, StepError> {
        let last = own.count().saturating_sub(1);
        let line = self.journal.lines(last)?.next().transpose()?.unwrap_or_default();
        if !self.chain.ends_with(&line) {
            return Err(self.wrong(last, "it is changed: this process wrote another".to_owned()).into());
        }
        let Now { step, state, wake_at, .. } = &self.now;
        let now = Now { step: *step, state: state.clone(), wake_at: *wake_at, records: Vec::new() };
        self.replay(Begin { line: last, now, version: self.about.version.clone() }, Expect::Appended)
    }
}

impl Ask {
    /// Returns the public keys with which a principal signs decisions. `None` if the principal has no keys, so that the
    /// name is enough. If the list is empty, every decision of the principal is rejected.
    pub fn keys_of(&self, principal: &str) -> Option<&[String]> {
        self.keys.as_ref()?.get(principal).map(Vec::as_slice)
    }
}

impl About {
    /// Reads the first line of a journal. Journals of the first format do not name the kernel's version.
    fn read(json: &str) -> Option<Self> {
        let about: About = serde_json::from_str(json).ok()?;
        let first = (about.journal == 1).then(|| FIRST_VERSION.to_owned());
        Some(About { version: about.version.clone().or(first), ..about })
    }

    /// Checks that the gate has the profile that the run began with.
    fn has_profile_of(&self, kernel: &dyn Kernel, journal: &str) -> Result<(), StepError> {
        let found = kernel.profile(&self.agent)?;
        match self.profile == found {
            true => Ok(()),
            false => Err(JournalError::Other {
                journal: journal.to_owned(),
                what: "profile",
                expected: self.profile.clone(),
                found,
                advice: "open it with what it began with",
            }
            .into()),
        }
    }

    fn other_component(&self, journal: &str, found: &str, advice: &'static str) -> JournalError {
        JournalError::Other {
            journal: journal.to_owned(),
            what: "component",
            expected: self.component.clone(),
            found: found.to_owned(),
            advice,
        }
    }

    /// Switches to the component that the run has from now on.
    fn take(&mut self, change: Change) {
        let Change { to, version, .. } = change;
        (self.component, self.version) = (to, version);
    }
}

/// The error for a changed line that names a change of the component.
const CHANGED_CHANGE: &str = "it is changed: it names no change from the component that the run has";

impl Change {
    fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// Returns the version of the kernel that made a state, if the state names it.
fn version_of(state: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct State {
        component: Option<String>,
    }
    serde_json::from_str::<State>(state).ok()?.component
}

/// Replaces the kernel version in a state. `None` if nothing changes. If a state names its version elsewhere, the
/// result is a wrong text, whose digest no line has.
fn with_version(state: &str, own: Option<&String>, other: Option<&String>) -> Option<String> {
    let (own, other) = (own?, other?);
    let member = |version: &String| format!(r#""component":{}"#, json(version));
    (own != other).then(|| state.replacen(&member(own), &member(other), 1))
}

impl History {
    /// Reads a journal that has lines, and checks each.
    fn read(journal: &impl Journal) -> Result<Self, JournalError> {
        let name = journal.name();
        let wrong =
            |line, message: &str| JournalError::Line { journal: name.clone(), line, message: message.to_owned() };
        let mut lines = journal.lines(0)?;
        let mut checked = Checked::default();
        let (mut about, mut ends, mut changes) = (None, Vec::new(), Vec::<(u64, Change)>::new());
        while let Some(line) = lines.next() {
            let (n, line) = (checked.chain.n, line?);
            match checked.take(&name, &line, || lines.next()?.ok())? {
                Line::Run(value) => {
                    let read = About::read(value).ok_or_else(|| wrong(n, "it is changed: it names no run"))?;
                    about = Some(read);
                }
                Line::State(value) => {
                    let end = serde_json::from_str(value).map_err(|_| wrong(n, "it is changed: it is no state"))?;
                    ends.push((n, end));
                }
                Line::Component(value) => {
                    let had = changes.last().map(|(_, change)| &change.to);
                    let had = had.or(about.as_ref().map(|about: &About| &about.component)).cloned();
                    let change = Change::read(value).filter(|change| Some(&change.from) == had.as_ref());
                    changes.push((n, change.ok_or_else(|| wrong(n, CHANGED_CHANGE))?));
                }
                Line::Event(_) | Line::Record(_) | Line::Action(_) => {}
            }
        }
        let about = about.ok_or_else(|| JournalError::Empty { journal: name.clone() })?;
        Ok(History { about, chain: checked.chain, ends, changes })
    }

    /// Describes the run with the component that it has after its last line.
    fn last_about(&self) -> About {
        let mut about = self.about.clone();
        self.changes.iter().cloned().for_each(|(_, change)| about.take(change));
        about
    }

    /// Returns the version of the kernel that the states up to a line name.
    fn version_at(&self, line: u64) -> Option<&String> {
        let before = self.changes.iter().rev().find(|(n, _)| *n < line);
        before.map_or(&self.about.version, |(_, change)| &change.version).as_ref()
    }
}

/// Returns an event as the journal has it.
fn normal(event: &str) -> Result<EventLine, Fault> {
    let event = EventLine::read(event).map_err(|error| {
        bad_request(&format!("the event must be a JSON object (line {}, column {})", error.line(), error.column()))
    })?;
    without_artifacts(event)
}

/// Rejects an event that contains references to artifacts itself.
fn without_artifacts(event: EventLine) -> Result<EventLine, Fault> {
    match event.has("artifacts") {
        true => Err(bad_request("the event must not have `artifacts`: they come from the journal")),
        false => Ok(event),
    }
}

/// Keeps the artifacts that an event's line references.
fn put(journal: &mut impl Journal, event: &EventLine) -> Result<(), JournalError> {
    event.artifacts.iter().try_for_each(|artifact| journal.put(Blob::Artifact, &artifact.digest, &artifact.text))
}

fn bad_request(message: &str) -> Fault {
    Fault::BadRequest { message: message.to_owned(), violations: Vec::new() }
}

/// Adds the artifacts that an event's step needs to the event.
fn with_artifacts(event: &str, artifacts: &BTreeMap<String, String>) -> String {
    let begin = event.strip_suffix('}').unwrap_or(event);
    let comma = if begin == "{" { "" } else { "," };
    format!("{begin}{comma}\"artifacts\":{}}}", json(artifacts))
}

#[cfg(test)]
mod tests;
