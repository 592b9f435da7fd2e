//! A run: one event after another, and the effects of each. The layers, in the order in which an event meets them:
//!
//! - [`event`], [`state`], [`step`]: input, state and output.
//! - [`timers`]: time passes, and waits expire.
//! - [`task`], [`context`]: the subject of the run.
//! - [`output`]: outputs of the model.
//! - [`calls`]: each call from its decision to its end, with approvals; [`results`]: the outcomes of calls.
//! - [`background`]: information for a person who is asked to approve a call.
//! - [`equal`]: equal calls that ran before.
//! - [`said`]: texts that people said, and values of results, which prove origins.
//! - [`message`]: other messages between a client and a server of tools.
//! - [`delegation`]: calls that are runs of other agents.
//! - [`resume`]: work that is repeated after an interruption.
//! - [`answer`]: validation of a final answer.
//! - [`size`]: the limit of the state.
//! - [`stop`]: decides whether the run continues, waits or ends.
//! - [`prompt`]: the prompts for the model.

mod answer;
mod background;
mod calls;
mod context;
mod delegation;
mod equal;
mod event;
mod message;
mod output;
mod prompt;
mod results;
mod resume;
mod said;
mod size;
mod state;
mod step;
mod stop;
mod task;
mod timers;

use std::{collections::BTreeMap, sync::Arc};

use seamgate_core::{
    Fault,
    kernel_api::{json, short},
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use event::Event;
pub(crate) use event::FORMAT;
use state::{EntryKind, Phase, State};
use step::{Action, Record};

use crate::{
    above::{Above, Handed},
    definition, digest,
    document::CAPS,
    facts::{Facts, Kept, Programs, Used},
    observe::united,
    profile::{Budget, Profile},
    sanitize::sanitize,
    stored::{self, Entry},
    tool::Tool,
};

/// The maximum number of event digests that are remembered.
const MAX_SEEN: usize = 64;

/// One step of a run.
struct Run<'p> {
    profile: &'p Profile,
    /// The limits of the profile, and of a parent.
    budget: Budget,
    /// The time at which a parent ends the run.
    deadline: Option<u64>,
    /// The bounds that a parent set.
    above: Option<Arc<Above>>,
    state: State,
    /// The part of the facts that decisions only read, as JSON text.
    given: String,
    actions: Vec<Action>,
    records: Vec<Record>,
    /// The final answer, if this event contained one.
    answer: Option<String>,
    /// Digests of artifacts that this step needs.
    need: Vec<String>,
}

/// The output for the host. See `schemas/step.schema.json`.
#[derive(Serialize)]
struct Step {
    step: u64,
    records: Vec<Record>,
    actions: Vec<Action>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_at: Option<u64>,
    /// The state. `None` for a run whose state stays in the instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Box<RawValue>>,
}

/// A step that cannot be performed yet.
#[derive(Serialize)]
struct Needs {
    need: Vec<String>,
}

/// Applies one event to a run. `state` is the state that the previous step returned, or `None` for the first event.
///
/// # Errors
///
/// Returns `bad_request` if the state does not belong to this profile and version, or if the event is invalid. Such an
/// event does not become part of the run.
pub(crate) fn advance(profile: &Profile, state: Option<&str>, event: &str) -> Result<String, Fault> {
    let state = state.map(|state| State::read(profile, state)).transpose()?;
    Ok(match step(profile, state, None, event)? {
        Stepped::Needs(needs) => json(&needs),
        Stepped::Step(step, state, _) => json(&Step { state: Some(written(&state)), ..step }),
    })
}

/// A run whose state stays in the instance.
pub struct OpenRun {
    agent: String,
    state: Option<State>,
    /// The bounds in the state, read once.
    above: Option<Arc<Above>>,
}

impl OpenRun {
    /// # Errors
    ///
    /// Returns `bad_request` if the state does not belong to this profile and version.
    pub(crate) fn open(profile: &Profile, state: Option<&str>) -> Result<Self, Fault> {
        let state = state.map(|state| State::read(profile, state)).transpose()?;
        let above = state.as_ref().map(Run::above).transpose()?.flatten();
        Ok(OpenRun { agent: profile.agent.clone(), state, above })
    }

    /// Returns the agent that the run belongs to.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Applies one event. Returns the step without the state.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the event is invalid. The state then stays unchanged.
    pub(crate) fn advance(&mut self, profile: &Profile, event: &str) -> Result<String, Fault> {
        Ok(match step(profile, self.state.clone(), self.above.clone(), event)? {
            Stepped::Needs(needs) => json(&needs),
            Stepped::Step(step, state, above) => {
                (self.state, self.above) = (Some(*state), above);
                json(&step)
            }
        })
    }

    /// Returns the state as JSON text.
    pub fn state(&self) -> Option<String> {
        self.state.as_ref().map(json)
    }
}

/// The outcome of an event.
enum Stepped {
    Needs(Needs),
    Step(Step, Box<State>, Option<Arc<Above>>),
}

/// Applies one event to a state. `above` contains the bounds of the state, if they have been read.
fn step(profile: &Profile, state: Option<State>, above: Option<Arc<Above>>, event: &str) -> Result<Stepped, Fault> {
    let mut replaced = None;
    let event = definition::read_each(event, &mut replaced, (&definition::LISTED_BY_EVENT[..], &CAPS), Event::read)?;
    let mut run = match state {
        None => Run::start(profile, &event)?,
        Some(state) => {
            let above = match above {
                Some(above) => Some(above),
                None => Run::above(&state)?,
            };
            let mut run = Run::new(profile, state, above);
            run.take(&event)?;
            run
        }
    };
    if !run.need.is_empty() {
        return Ok(Stepped::Needs(Needs { need: run.need }));
    }
    run.fit();
    run.decide()?;
    let step =
        Step { step: run.state.step, wake_at: run.wake_at(), records: run.records, actions: run.actions, state: None };
    Ok(Stepped::Step(step, Box::new(run.state), run.above))
}

impl<'p> Run<'p> {
    /// Reads the bounds of a state.
    fn above(state: &State) -> Result<Option<Arc<Above>>, Fault> {
        state.facts.parent.as_ref().map(|parent| Above::read(parent.get()).map(Arc::new)).transpose()
    }

    fn new(profile: &'p Profile, state: State, above: Option<Arc<Above>>) -> Self {
        let given = state.facts.given();
        let bounds = above.as_ref().and_then(|_| state.facts.facts(&given, above.as_ref()).ok());
        let (budget, deadline) = match bounds {
            Some(facts) => (facts.budget(&profile.budget), facts.deadline()),
            None => (profile.budget.clone(), None),
        };
        Run {
            profile,
            budget,
            deadline,
            above,
            state,
            given,
            actions: Vec::new(),
            records: Vec::new(),
            answer: None,
            need: Vec::new(),
        }
    }

    fn start(profile: &'p Profile, event: &Event) -> Result<Self, Fault> {
        if event.kind() != "started" {
            return Err(event.wrong("type", "must be \"started\": the run has no state yet"));
        }
        let owned = |name: &str| event.text(name).map(str::to_owned);
        let mode = match (owned("mode"), profile.modes.first()) {
            (Some(mode), _) if !profile.modes.iter().any(|known| known.name == mode) => {
                return Err(event.wrong("mode", "must be a mode of the profile"));
            }
            (Some(mode), _) => Some(mode),
            (None, first) => first.map(|mode| mode.name.clone()),
        };
        let list = |at| event.document().items(at).map(|at| event.document().string(at).to_owned()).collect();
        let lists: BTreeMap<String, Vec<String>> =
            event.members("lists").map(|(name, at)| (name.to_owned(), list(at))).collect();
        let asked =
            profile.lists().into_iter().chain(profile.final_contract.iter().flat_map(|contract| contract.lists()));
        if let Some(lacking) = { asked }.find(|name| !lists.contains_key(name)) {
            return Err(event.wrong("lists", &format!("must have the list {lacking:?}, which the profile names")));
        }
        let facts = Kept {
            run: owned("run").unwrap_or_default(),
            at: event.at(),
            principal: owned("principal").unwrap_or_default(),
            nonce: owned("nonce"),
            mode,
            task: None,
            context: BTreeMap::new(),
            lists,
            surface: None,
            labels: Vec::new(),
            used: Used::default(),
            asks: Vec::new(),
            approvals: Vec::new(),
            programs: Programs::new(),
            remembered: Vec::new(),
            said: Vec::new(),
            observed: Vec::new(),
            stores: Vec::new(),
            parent: event.source("parent").map(raw),
        };
        let state = State::new(profile, facts);
        let above =
            Run::above(&state).map_err(|fault| Fault { message: format!("event: {}", fault.message), ..fault })?;
        let mut run = Run::new(profile, state, above);
        run.state.step = 1;
        run.state.session = owned("session");
        run.state.turn = owned("turn");
        run.take_labels();
        let known: Vec<String> = event.member("labels").map(list).unwrap_or_default();
        if let Some(all) = united(&run.state.facts.labels, &known) {
            run.state.facts.labels = all;
        }
        run.remember(event);
        run.context(event);
        run.task(event);
        run.list(event)?;
        Ok(run)
    }

    fn take(&mut self, event: &Event) -> Result<(), Fault> {
        self.state.step += 1;
        if self.state.status.is_finished() {
            self.ignore("finished", "the run has ended");
            return Ok(());
        }
        let is_resumed = event.kind() == "resumed";
        self.pass_time(event.at(), is_resumed);
        if event.kind() != "model_output" && !self.remember(event) {
            self.ignore("repeated", "the run had this event before");
            return Ok(());
        }
        // An event about a call ends the wait for the call, even if the wait has just expired.
        let tells = matches!(
            event.kind(),
            "tool_result" | "tool_failed" | "job" | "resolution" | "child_result" | "call_cancelled"
        );
        let told = event.text("call").filter(|_| tells);
        self.lapse(is_resumed, told)?;
        match event.kind() {
            "started" => self.ignore("started", "a run starts once"),
            "tools_listed" => self.tools_listed(event)?,
            "model_output" => self.model_output(event)?,
            "model_failed" => self.model_failed(event),
            "call" => self.outside_call(event)?,
            "tool_started" => self.tool_started(event),
            "tool_result" => self.tool_result(event)?,
            "tool_failed" => self.tool_failed(event)?,
            "job" => self.job(event),
            "approval" => self.approval(event)?,
            "input" => self.input(event)?,
            "user_message" => self.user_message(event)?,
            "said" => self.hear(event.text("text").unwrap_or_default()),
            "stores" => self.stores_changed(event),
            "context" => self.context_changed(event)?,
            "resolution" => self.resolution(event)?,
            "mode" => self.mode_changed(event)?,
            "profile" => self.profile_edited(event)?,
            "child_result" => self.child_result(event)?,
            "call_cancelled" => self.call_cancelled(event)?,
            "cancelled" => self.cancelled(event),
            "message" => self.message(event),
            "resumed" => {
                self.list(event)?;
                self.resumed()?;
            }
            // The time was already advanced.
            _ => {}
        }
        if told.is_some() {
            self.lapse(is_resumed, None)?;
        }
        self.release()?;
        self.start_children();
        self.drop_stale();
        Ok(())
    }

    /// Drops asks that this step has already settled. Asks about expired calls are created before the event is
    /// processed.
    fn drop_stale(&mut self) {
        let state = &self.state;
        let is_in = |key: &str, phase: Phase| state.calls.iter().any(|call| call.key == key && call.phase == phase);
        self.actions.retain(|action| match action {
            Action::AskApproval { call, .. } => is_in(call, Phase::Asked),
            Action::AskInput { call: Some(call), .. } => is_in(call, Phase::Uncertain),
            _ => true,
        });
        self.number();
    }

    /// Numbers the actions. Each key contains the action's position, even after other actions were left out.
    fn number(&mut self) {
        for (place, action) in self.actions.iter_mut().enumerate() {
            let key = format!("{}/{}/{place}", self.state.facts.run, self.state.step);
            if let (Action::AskInput { call: None, .. }, Some(question)) = (&action, &mut self.state.question) {
                question.key.clone_from(&key);
            }
            *action.key_mut() = key;
        }
    }

    /// Remembers an event, and returns whether it is new.
    fn remember(&mut self, event: &Event) -> bool {
        // The event may be large. If it arrives again, it is ignored as late, because its call has ended.
        if event.member("returned").is_some() {
            return true;
        }
        let digest = digest::event(&event.document().minified());
        if self.state.seen.contains(&digest) {
            return false;
        }
        if self.state.seen.len() == MAX_SEEN {
            self.state.seen.remove(0);
        }
        self.state.seen.push(digest);
        true
    }

    /// Returns the facts for decisions.
    fn facts(&self) -> Result<Facts<'_>, Fault> {
        self.state.facts.facts(&self.given, self.above.as_ref())
    }

    fn ignore(&mut self, code: &'static str, message: &str) {
        self.records.push(Record::Ignored { code, message: message.to_owned() });
    }

    /// Returns the key of the next action.
    fn key(&self) -> String {
        format!("{}/{}/{}", self.state.facts.run, self.state.step, self.actions.len())
    }

    /// Adds labels that other runs gave to data in stores.
    fn stores_changed(&mut self, event: &Event) {
        let entries = event.items("stores").map(|at| Entry::read(event.document(), at));
        if let Some(all) = stored::with(&self.state.facts.stores, entries) {
            self.state.facts.stores = all;
        }
    }

    fn user_message(&mut self, event: &Event) -> Result<(), Fault> {
        if !self.profile.has_loop() {
            self.ignore("no_loop", "a profile without 'prompt' and 'final' asks no model");
            return Ok(());
        }
        if let Some(turn) = event.text("turn") {
            self.state.turn = Some(turn.to_owned());
        }
        self.state.strikes = 0;
        let text = shown(event);
        self.state.say(EntryKind::User, text);
        self.hear(event.text("text").unwrap_or_default());
        Ok(())
    }

    fn input(&mut self, event: &Event) -> Result<(), Fault> {
        let asked = self.state.question.as_ref().is_some_and(|asked| Some(asked.key.as_str()) == event.text("key"));
        if !asked {
            self.ignore("not_asked", "nobody was asked this, or it was answered");
            return Ok(());
        }
        self.state.question = None;
        // The person's answer is for the model. If the model asked instead of giving its final answer, it is asked for
        // that again.
        self.state.is_final_asked = false;
        let text = shown(event);
        self.state.say(EntryKind::User, text);
        self.hear(event.text("text").unwrap_or_default());
        Ok(())
    }

    fn mode_changed(&mut self, event: &Event) -> Result<(), Fault> {
        let (mode, principal) = (event.text("mode").unwrap_or_default(), event.text("principal").unwrap_or_default());
        let Some(known) = self.profile.modes.iter().find(|known| known.name == mode) else {
            self.ignore("mode", "the profile has no such mode");
            return Ok(());
        };
        if !self.profile.principals(&known.by).iter().any(|known| known == principal) {
            self.ignore("mode", "this principal may not change to this mode");
            return Ok(());
        }
        self.state.facts.mode = Some(known.name.clone());
        self.judge_asked_again()
    }

    /// Applies an edit of the profile. From now on, a call must also satisfy the edited profile.
    fn profile_edited(&mut self, event: &Event) -> Result<(), Fault> {
        let Kept { run, task, context, lists, .. } = &self.state.facts;
        let edited = Handed {
            profile: raw(event.source("profile").unwrap_or_default()),
            task: task.clone(),
            context: context.clone(),
            lists: lists.clone(),
            said: Vec::new(),
            observed: Vec::new(),
            calls: BTreeMap::new(),
            recent: BTreeMap::new(),
            reserved: 0,
        };
        let tools = self.profile.tools.iter().map(Tool::full_name).collect();
        let bounds = written(&Above::with_edit(self.above.as_deref(), run, tools, edited)?);
        let above = Above::read(bounds.get())?;
        let mut named = above.rules.iter().flat_map(|rules| rules.profile.lists());
        if let Some(lacking) = named.find(|name| !lists.contains_key(name)) {
            return Err(event.wrong("profile", &format!("names the list {lacking:?}, which the run does not have")));
        }
        self.state.facts.parent = Some(bounds);
        self.above = Some(Arc::new(above));
        self.budget = self.facts()?.budget(&self.profile.budget);
        self.judge_asked_again()
    }

    fn cancelled(&mut self, event: &Event) {
        let by = event.text("principal").map(|by| format!(" by {by}")).unwrap_or_default();
        let reason = event.text("reason").map(|reason| format!(": {reason}")).unwrap_or_default();
        self.end_calls();
        self.state.stop = None;
        self.state.end("cancelled", short(format!("cancelled{by}{reason}"), 512));
    }
}

/// Returns a person's text, without invisible characters.
fn shown(event: &Event) -> String {
    sanitize(event.text("text").unwrap_or_default()).text
}

/// Returns a value of this crate as JSON text.
fn written(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Wraps JSON text that this crate wrote or parsed strictly.
fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
