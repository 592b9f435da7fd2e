//! A run: its events go through the kernel into its journal, and its state is what follows from them.

mod derivation;
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

/// The number of steps from one checkpoint to the next. Replaying a step takes about as long as making it, and each
/// checkpoint takes two syncs.
const CHECKPOINT_STEPS: u64 = 64;

/// Computes steps from events. Tests have another implementation than the gate.
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
    /// The kernel takes no such event, or a call passed a limit. The run is as it was, and nothing was appended.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The journal cannot be read, or not be appended to. The run is as it was.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    /// The version of the format.
    journal: u64,
    run: String,
    agent: String,
    /// The profile's digest.
    profile: String,
    /// The component's digest.
    component: String,
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

/// The life of one task, step by step. Each event goes to the kernel. What it led to is appended to the journal, and safe from a
/// crash, before the caller gets the actions.
///
/// The caller causes the effects. The result of an action is the next event. One run has one writer: if another process
/// appended to the journal, [`send`](Run::send) fails with [`JournalError::Conflict`], and the run is
/// [opened](Run::open) again.
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

/// The result of replaying the events of a journal.
struct Replayed {
    now: Now,
    /// After the last line.
    chain: Chain,
    actions: Vec<String>,
    records: Vec<String>,
}

/// The lines of a journal, checked.
struct History {
    about: About,
    chain: Chain,
    /// The ends of its steps, with the numbers of their lines.
    ends: Vec<(u64, End)>,
}

impl<'g, J: Journal> Run<'g, J> {
    /// Starts a run in a journal without lines. The event is a [`StartedEvent`]. Returns the run and its first actions.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exists`] if the journal has a run; a fault if the agent has no profile or the event is invalid; or the errors
    /// of [`send`](Run::send).
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
    /// Those of [`start`](Run::start).
    pub fn start_json(
        gate: &'g Gate,
        journal: J,
        agent: &str,
        started: &str,
    ) -> Result<(Self, Vec<String>), StepError> {
        Run::start_on(gate, journal, agent, started)
    }

    /// Continues the run that a journal has. Takes the last checkpoint, and replays the events after it: they must lead
    /// to the lines that the journal has, byte for byte. Nothing is appended, and no action is done again: send an
    /// event of the type `resumed`, which gives the actions that are left to do.
    ///
    /// # Errors
    ///
    /// [`JournalError::Empty`] if no run has begun; [`JournalError::Other`] if it has another profile or component than the gate;
    /// [`JournalError::Line`] and [`JournalError::Artifact`] name what is changed or missing.
    pub fn open(gate: &'g Gate, journal: J) -> Result<Self, StepError> {
        Run::open_on(gate, journal)
    }

    /// Continues the run of a [snapshot](Run::snapshot), without reading the journal. This is for engines that keep
    /// both in one transaction, and give a handler no more than it asks for.
    ///
    /// Calls only [`append`](Journal::append) and [`put`](Journal::put) of the journal, and [`get`](Journal::get) and
    /// [`lines`](Journal::lines) if a step needs a text again. Whoever can write the snapshot can also forge the run:
    /// no line is compared with it, as [`open`](Run::open) does.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotAJournal`] if the text is not a valid snapshot, or has another state than it says;
    /// [`JournalError::Newer`] if a later version made it; [`JournalError::Other`] if the gate has another profile or
    /// component.
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
        about.belongs_to(kernel, &journal.name())?;
        let now = Now { step, state: state.get().to_owned(), wake_at, records: Vec::new() };
        Ok(Run { kernel, journal, about, chain, now })
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

    /// Returns a run that has not begun, and its first step, whose artifacts are kept.
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
        };
        let mut run = Run { kernel, journal, about, chain: Chain::default(), now: Now::default() };
        let event = normal(started)?;
        let step = run.advance(&run.now, &event)?;
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
        let History { about, chain, ends } = History::read(&journal)?;
        about.belongs_to(kernel, &name)?;
        let mut run = Run { kernel, journal, about, chain, now: Now::default() };
        run.now = run.replay(run.last_checkpoint(&ends)?)?.now;
        Ok(run)
    }

    /// Takes an event: the result of an action, or what a person did. Returns the actions that it leads to, which the
    /// journal already contains.
    ///
    /// An event that does not fit, such as a late one, is recorded, and leads to nothing. Artifacts that the step needs are read from the
    /// journal.
    ///
    /// # Errors
    ///
    /// A fault if the event is invalid; [`JournalError::Conflict`] if another writer was there; any other [`JournalError`] if the step
    /// cannot be appended. The run stays as it was, and the caller must do nothing: the same event can be sent again.
    pub fn send(&mut self, event: &Event) -> Result<Vec<Action>, StepError> {
        let event = match json(event) {
            // It names an artifact in place of a value, and cannot be written.
            text if text.is_empty() => normal(&text)?,
            // Some are long: what was just written is not read again.
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
    /// Those of [`send`](Run::send).
    pub fn send_json(&mut self, event: &str) -> Result<Vec<String>, StepError> {
        let (event, step) = self.next_step(normal(event)?)?;
        self.commit(&event, step)
    }

    /// Returns the step that an event leads to. Its artifacts are kept, and nothing is appended.
    fn next_step(&mut self, event: EventLine) -> Result<(EventLine, Step), StepError> {
        let answered =
            if event.artifacts.is_empty() { self.ask(&self.now, &event.whole)? } else { self.ask_and_put(&event)? };
        let step = self.go_on(&self.now, &event, answered)?;
        Ok((event, step))
    }

    /// Returns where the run is now, as text for [`restore`](Run::restore): its state, and the number and the digest
    /// that its next line begins with. It belongs to this journal, and to the last line that it has.
    pub fn snapshot(&self) -> String {
        let Now { step, state, wake_at, .. } = &self.now;
        let end = End { step: *step, digest: digest(state.as_bytes()), wake_at: *wake_at };
        // A component's answer has been read, so that its state is JSON.
        let state = RawValue::from_string(state.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        json(&Snapshot { run: &self.about, chain: self.chain.clone(), end, state })
    }

    /// Returns the latest time to send an event of the type `tick`, in milliseconds since 1970: then something expires.
    pub fn wake_at(&self) -> Option<u64> {
        self.now.wake_at
    }

    /// Returns the state, as JSON text (`schemas/run-state.schema.json`).
    pub fn state(&self) -> &str {
        &self.now.state
    }

    /// Returns what the last event led to beside actions. [`Record::Ignored`] means that the event changed nothing: a call
    /// whose `tool_started` was ignored must not be sent. There are none after [`open`](Run::open).
    ///
    /// # Errors
    ///
    /// [`Fault::Trap`] if a component of others gave a record that `schemas/record.schema.json` does not have.
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

    /// Returns the journal.
    pub fn journal(&self) -> &J {
        &self.journal
    }

    /// Keeps a whole result that is too large for an event, whose event then has its head, tail, length and digest.
    /// Returns the digest.
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

    /// Asks the kernel while the event's artifacts are kept, because judging a large result takes about as long as
    /// writing it.
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
                // Without another thread, one after the other.
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

    /// Returns the step after the first answer, with the artifacts that it needs.
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
            // Each round brings at least one more artifact of the journal, or the component would continue for ever.
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

    /// Appends a step whose event's artifacts are kept, and then takes on its state.
    fn commit(&mut self, event: &EventLine, step: Step) -> Result<Vec<String>, StepError> {
        let mut chain = self.chain.clone();
        let first = (chain.n == 0).then(|| Line::Run(&json(&self.about)).write(&mut chain));
        let written = step.write(event, &mut chain);
        let lines: Vec<String> = first.into_iter().chain(written.lines).collect();
        for prompt in &written.prompts {
            self.journal.put(Blob::Artifact, &prompt.digest, &prompt.text)?;
        }
        self.journal.append(self.chain.n, &lines)?;
        self.chain = chain;
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

    /// Returns the last state that is kept, and the number of its line. Without one, the first line. The last step is
    /// always replayed: no digest of its `state` line follows.
    fn last_checkpoint(&self, ends: &[(u64, End)]) -> Result<(u64, Now), JournalError> {
        for (n, End { step, digest: expected, wake_at }) in ends.iter().rev().skip(1) {
            match self.journal.get(Blob::Checkpoint, expected)? {
                Some(state) if digest(state.as_bytes()) == *expected => {
                    return Ok((*n, Now { step: *step, state, wake_at: *wake_at, records: Vec::new() }));
                }
                Some(_) => {
                    let journal = self.journal.name();
                    tracing::warn!(journal, "the checkpoint {expected} is changed; the run begins with an earlier one");
                }
                None => {}
            }
        }
        Ok((0, Now::default()))
    }

    /// Sends all events after a line to the kernel again. They must lead to the lines that are there.
    fn replay(&self, (from, mut now): (u64, Now)) -> Result<Replayed, StepError> {
        let name = self.journal.name();
        let mut lines = self.journal.lines(from)?;
        let (mut actions, mut records) = (Vec::new(), Vec::new());
        let Some(first) = lines.next().transpose()? else {
            return Ok(Replayed { now, chain: Chain::default(), actions, records });
        };
        let mut chain = Chain::after(from, &first);
        let mut checked = Checked::from(chain.clone());
        let mut event = EventLine::of("{}".to_owned());
        // Of one step.
        let mut kept = Vec::new();
        for line in lines {
            let line = line?;
            let holds = checked.take(&name, &line, || None)?;
            if let Line::Event(value) = holds {
                event = EventLine::of(restore(value, |digest| self.artifact(digest))?);
            }
            let is_end = matches!(holds, Line::State(_));
            kept.push(line);
            if is_end {
                let step = self.again(&now, &event, &mut chain, &kept)?;
                actions.extend(step.actions);
                records.extend(step.records);
                now = Now { step: step.number, state: step.state, wake_at: step.wake_at, records: Vec::new() };
                kept.clear();
            }
        }
        Ok(Replayed { now, chain, actions, records })
    }

    /// Takes one event again.
    fn again(&self, now: &Now, event: &EventLine, chain: &mut Chain, kept: &[String]) -> Result<Step, StepError> {
        let first = chain.n;
        let step = self.advance(now, event).map_err(|error| match error {
            StepError::Fault(fault) => self.wrong(first, format!("its event is not taken again: {fault}")).into(),
            error => error,
        })?;
        let Written { lines: made, prompts } = step.write(event, chain);
        let same = made.iter().zip(kept).take_while(|(made, kept)| made == kept).count();
        if same < made.len() || same < kept.len() {
            let what = if same + 1 == kept.len() { "another state" } else { "another line" };
            return Err(self.wrong(first + same as u64, format!("the events up to it lead to {what} now")).into());
        }
        // Nobody reads prompts here, and the run is not whole without them.
        for prompt in prompts {
            self.artifact(&prompt.digest)?;
        }
        Ok(step)
    }

    /// Returns a whole result, or another text that lines name or have, by its digest.
    ///
    /// # Errors
    ///
    /// [`JournalError::Artifact`] if it is missing or changed.
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
    /// Takes an event as [`send`](Run::send) does, but without syncing the step. The caller must not act on the result
    /// before it has sent another event, or has called [`sync`](Run::sync): only then is the step safe from a crash.
    /// Two consecutive steps are synced together in this way.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Run::send).
    pub fn send_unsynced(&mut self, event: &Event) -> Result<Vec<Action>, StepError> {
        let was = self.journal.set_synced(false);
        let sent = self.send(event);
        self.journal.set_synced(was);
        sent
    }

    /// Makes the steps safe that were sent unsynced.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.journal.sync()
    }

    /// Takes the steps that other writers appended, for a process that continues the run while they do so. Returns the
    /// actions that they led to, which nobody has performed; [`records`](Run::records) returns their records. If there
    /// are none, nothing changes.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or its lines are not what its events lead to. The run stays as it was.
    pub fn catch_up(&mut self) -> Result<Vec<Action>, StepError> {
        let journal = self.journal.again()?;
        let own = std::mem::replace(&mut self.journal, journal);
        match self.replay_since(&own) {
            Ok(Replayed { now, chain, actions, records }) => {
                self.chain = chain;
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
        self.replay((last, Now { step: *step, state: state.clone(), wake_at: *wake_at, records: Vec::new() }))
    }
}

impl Ask {
    /// Returns the public keys with which a principal signs decisions. `None` if the principal has none, and their name
    /// is enough. If the list is empty, every decision of theirs is rejected.
    pub fn keys_of(&self, principal: &str) -> Option<&[String]> {
        self.keys.as_ref()?.get(principal).map(Vec::as_slice)
    }
}

impl About {
    /// Holds the run to the component and the profile that it began with.
    fn belongs_to(&self, kernel: &dyn Kernel, journal: &str) -> Result<(), StepError> {
        is_same(journal, "component", &self.component, kernel.component())?;
        self.has_profile(kernel, journal)
    }

    /// Holds the run to the profile that it began with.
    fn has_profile(&self, kernel: &dyn Kernel, journal: &str) -> Result<(), StepError> {
        is_same(journal, "profile", &self.profile, kernel.profile(&self.agent)?)
    }
}

/// Compares the digest of a run with the one that is there.
fn is_same(journal: &str, what: &'static str, expected: &str, found: String) -> Result<(), StepError> {
    match expected == found {
        true => Ok(()),
        false => {
            Err(JournalError::Other { journal: journal.to_owned(), what, expected: expected.to_owned(), found }.into())
        }
    }
}

impl History {
    /// Reads a journal that has lines, and checks each.
    fn read(journal: &impl Journal) -> Result<Self, JournalError> {
        let name = journal.name();
        let wrong =
            |line, message: &str| JournalError::Line { journal: name.clone(), line, message: message.to_owned() };
        let mut lines = journal.lines(0)?;
        let mut checked = Checked::default();
        let (mut about, mut ends) = (None, Vec::new());
        while let Some(line) = lines.next() {
            let (n, line) = (checked.chain.n, line?);
            match checked.take(&name, &line, || lines.next()?.ok())? {
                Line::Run(value) => {
                    let read = serde_json::from_str(value).map_err(|_| wrong(n, "it is changed: it names no run"))?;
                    about = Some(read);
                }
                Line::State(value) => {
                    let end = serde_json::from_str(value).map_err(|_| wrong(n, "it is changed: it is no state"))?;
                    ends.push((n, end));
                }
                Line::Event(_) | Line::Record(_) | Line::Action(_) => {}
            }
        }
        let about = about.ok_or_else(|| JournalError::Empty { journal: name.clone() })?;
        Ok(History { about, chain: checked.chain, ends })
    }
}

/// Returns an event as the journal has it.
fn normal(event: &str) -> Result<EventLine, Fault> {
    let event = EventLine::read(event).map_err(|error| {
        bad_request(&format!("the event must be a JSON object (line {}, column {})", error.line(), error.column()))
    })?;
    without_artifacts(event)
}

/// Refuses an event that brings artifacts itself.
fn without_artifacts(event: EventLine) -> Result<EventLine, Fault> {
    match event.has("artifacts") {
        true => Err(bad_request("the event must not have `artifacts`: they come from the journal")),
        false => Ok(event),
    }
}

/// Keeps what an event's line names.
fn put(journal: &mut impl Journal, event: &EventLine) -> Result<(), JournalError> {
    event.artifacts.iter().try_for_each(|artifact| journal.put(Blob::Artifact, &artifact.digest, &artifact.text))
}

fn bad_request(message: &str) -> Fault {
    Fault::BadRequest { message: message.to_owned(), violations: Vec::new() }
}

/// Returns an event with artifacts for the step that it leads to.
fn with_artifacts(event: &str, artifacts: &BTreeMap<String, String>) -> String {
    let begin = event.strip_suffix('}').unwrap_or(event);
    let comma = if begin == "{" { "" } else { "," };
    format!("{begin}{comma}\"artifacts\":{}}}", json(artifacts))
}

#[cfg(test)]
mod tests;
