//! The loop of one run. It performs the actions of each step, and sends their outcomes back. The kernel makes all
//! decisions.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::Scope,
    time::{Duration, Instant},
};

use seamgate::{
    Action, ApprovalEvent, Ask, AskInputAction, AskModelAction, CallCancelledEvent, DelegateAction, Event, EventKind,
    ExecuteAction, Fault, FileJournal, FinishAction, InputEvent, ModelFailedEvent, PossibleEffect, ResolutionEvent,
    ResolutionOutcome, ResultStatus, Run, StepError, TickEvent, ToolFailedEvent, ToolResultEvent, ToolStartedEvent,
    ToolsListedEvent,
};

use super::{
    action::{ChildEnd, End, Waiting},
    child,
    context::Context,
    event::{Answer, MAX_END, now, result_ends},
    no_answer::NoAnswer,
    person::{Prompt, Reply, held_reason, place},
    progress,
    tool::{self, Body, Outcome},
};
use crate::{
    error::{Error, Result, bail},
    notice::{Notice, tool_of},
    process::Stop,
    run_dir::Stores,
};

/// The longest result that an event contains as a whole, in bytes. For a longer result, the event has the beginning and
/// the end, and the journal keeps the whole. The kernel's fuel suffices for this length of most texts.
const MAX_INLINE: usize = 1024 * 1024;

/// A message to the loop.
enum Input {
    Model { key: String, answer: Result<Answer, NoAnswer> },
    Tool { call: String, ms: u64, outcome: Outcome },
    Child { call: String, end: Result<ChildEnd> },
    Signal(i32),
}

/// A request to the model that is in flight.
struct Asked {
    /// The key of its action.
    key: String,
    stop: Stop,
    /// The time of the next notice that the model has not answered, and the length of the wait at that time.
    notice: (Instant, Duration),
}

/// The wait for the model after which the run reports that it is still waiting. Each further wait is twice as long.
const FIRST_NOTICE: Duration = Duration::from_secs(15);

/// The loop of one run, with its calls in flight.
pub struct Runner<'s> {
    context: &'s Context,
    run: Run<'s, FileJournal>,
    folder: PathBuf,
    /// The labels of data that outlives the run.
    stores: Stores,
    todo: VecDeque<Action>,
    /// The calls in flight, by their keys.
    under_way: HashMap<String, Stop>,
    /// The request to the model that is in flight.
    asked: Option<Asked>,
    /// The unanswered prompts, by the keys of calls and of questions.
    waiting: BTreeMap<String, Prompt>,
    /// The prompts of children.
    below: Vec<Waiting>,
    /// The generation of the servers' tools that the run knows of.
    generation: u64,
    finish: Option<FinishAction>,
    unreachable: Option<String>,
    signal: Option<i32>,
    sender: Sender<Input>,
    inputs: Receiver<Input>,
}

impl<'s> Runner<'s> {
    pub(super) fn new(
        context: &'s Context,
        (run, actions): (Run<'s, FileJournal>, Vec<Action>),
        folder: &Path,
        stores: Stores,
    ) -> Self {
        let (sender, inputs) = mpsc::channel();
        Runner {
            context,
            run,
            folder: folder.to_owned(),
            stores,
            todo: actions.into(),
            under_way: HashMap::new(),
            asked: None,
            waiting: BTreeMap::new(),
            below: Vec::new(),
            generation: 0,
            finish: None,
            unreachable: None,
            signal: None,
            sender,
            inputs,
        }
    }

    /// Runs until the run ends, or waits for a person.
    pub(super) fn go_on<'e>(mut self, scope: &'s Scope<'s, 'e>) -> Result<End> {
        let sender = self.sender.clone();
        let _listening = self.context.signals.listen(move |signal| sender.send(Input::Signal(signal)).is_ok());
        let ended = self.until_end(scope);
        // The journal accepts no outcomes of calls in flight any more.
        self.stop_all();
        ended
    }

    fn stop_all(&mut self) {
        self.under_way.values().for_each(Stop::stop);
        // Nobody waits for the model's answer.
        if let Some(asked) = self.asked.take() {
            asked.stop.stop();
        }
    }

    fn until_end<'e>(&mut self, scope: &'s Scope<'s, 'e>) -> Result<End> {
        loop {
            while let Some(action) = self.todo.pop_front() {
                if self.signal.is_none() {
                    self.act(action, scope)?;
                }
            }
            if let Some(finish) = self.finish.take() {
                return Ok(End::Finished(Box::new(finish)));
            }
            if self.under_way.is_empty() && self.asked.is_none() {
                if let Some(end) = self.idle()? {
                    return Ok(end);
                }
                continue;
            }
            self.receive()?;
        }
    }

    /// Asks the person at the terminal when nothing is in flight. Returns the end of the loop if nobody answers.
    fn idle(&mut self) -> Result<Option<End>> {
        if let Some(signal) = self.signal {
            return Ok(Some(End::Signal(signal)));
        }
        if let Some(message) = self.unreachable.take() {
            return Ok(Some(End::Unreachable(message)));
        }
        if self.waiting.is_empty() && self.below.is_empty() {
            return Err(Error::NoVerdict("the run waits for nothing: this is a mistake of seamgate".to_owned()));
        }
        let until = self.run.wake_at();
        let said = match self.waiting.values().find(|what| self.may_say(what)) {
            Some(what) => self.context.person.ask(what, until, &self.folder, || match self.inputs.try_recv() {
                Ok(Input::Signal(signal)) => Some(signal),
                _ => None,
            })?,
            None => Reply::Nothing,
        };
        match said {
            Reply::Nothing => {}
            Reply::Late => {
                self.send(TickEvent::new())?;
                self.forget_lapsed();
                return Ok(None);
            }
            Reply::Signal(signal) => return Ok(Some(End::Signal(signal))),
            Reply::Decided { ask, answer, principal } => {
                self.waiting.remove(&ask.key);
                let (decision, reason) = answer.decision();
                let mut event = ApprovalEvent::new(ask.key, ask.digest, decision, principal);
                event.reason = reason.as_deref().map(held_reason);
                self.send(event)?;
                return Ok(None);
            }
            Reply::Answered { question, text, principal } => {
                self.waiting.remove(place(&question));
                self.answer(&question, &text, &principal)?;
                return Ok(None);
            }
        }
        let own = std::mem::take(&mut self.waiting).into_values();
        let own = own.map(|prompt| Waiting { folder: self.folder.clone(), prompt });
        Ok(Some(End::Waits(own.chain(std::mem::take(&mut self.below)).collect())))
    }

    /// Returns whether the person at the terminal may answer a prompt. A principal with a key signs decisions instead.
    fn may_say(&self, what: &Prompt) -> bool {
        let principal = &self.context.person.principal;
        match what {
            Prompt::Approval(ask) => ask.by.contains(principal) && ask.keys_of(principal).is_none(),
            Prompt::Input(_) => true,
        }
    }

    /// Sends a person's answer to a question.
    ///
    /// # Errors
    ///
    /// An answer about an uncertain call is neither `done` nor `not_done`, or the run does not accept the event.
    pub fn answer(&mut self, question: &AskInputAction, text: &str, principal: &str) -> Result<()> {
        let Some(call) = &question.call else {
            let mut input = InputEvent::new(&question.key, text);
            input.principal = Some(principal.to_owned());
            return self.send(input);
        };
        let outcome = match text {
            "done" => ResolutionOutcome::Done,
            "not_done" => ResolutionOutcome::NotDone,
            other => bail!("{other:?} does not say what became of the call {call}: must be done or not_done"),
        };
        self.send(ResolutionEvent::new(call, outcome, principal))
    }

    /// Removes the first question that `is_it` accepts from the actions that the loop has not begun, and returns it.
    pub fn take_question(&mut self, is_it: impl Fn(&AskInputAction) -> bool) -> Option<AskInputAction> {
        let at = self.todo.iter().position(|action| matches!(action, Action::AskInput(question) if is_it(question)))?;
        // The question is answered, so nobody is asked again.
        match self.todo.remove(at)? {
            Action::AskInput(question) => Some(question),
            _ => None,
        }
    }

    /// Removes prompts that are no longer pending.
    fn forget_lapsed(&mut self) {
        let now = now();
        self.waiting.retain(|_, what| what.expires() > now);
    }

    /// Waits for the next input, or until something expires.
    fn receive(&mut self) -> Result<()> {
        let wake = self.run.wake_at().filter(|_| self.signal.is_none());
        let wake = wake.map(|at| Duration::from_millis(at.saturating_sub(now())));
        let notice = self.asked.as_ref().map(|asked| asked.notice.0.saturating_duration_since(Instant::now()));
        let input = match wake.into_iter().chain(notice).min() {
            None => self.inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => self.inputs.recv_timeout(wait),
        };
        match input {
            Ok(Input::Signal(signal)) => {
                self.signal = Some(signal);
                self.stop_all();
                Ok(())
            }
            Ok(Input::Model { key, answer }) => {
                // The answer belongs to an earlier action, so it is too late.
                if self.asked.take_if(|asked| asked.key == key).is_none() {
                    return Ok(());
                }
                self.answered(&key, answer)
            }
            Ok(Input::Tool { call, ms, outcome }) => {
                self.under_way.remove(&call);
                self.returned(&call, ms, outcome)
            }
            Ok(Input::Child { call, end }) => {
                self.under_way.remove(&call);
                self.child_ended(&call, end?)
            }
            Err(RecvTimeoutError::Timeout) if wake.is_none_or(|wake| notice.is_some_and(|notice| notice < wake)) => {
                self.tell_slow();
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => self.send(TickEvent::new()),
            Err(RecvTimeoutError::Disconnected) => bail!("nobody works on the run"),
        }
    }

    /// Reports that the model has not answered yet.
    fn tell_slow(&mut self) {
        let Some(Asked { notice: (at, waited), .. }) = &mut self.asked else { return };
        progress::tell_slow(self.run.agent(), *waited);
        *at += *waited;
        *waited *= 2;
    }

    /// Sends an event. The loop then performs the resulting actions.
    fn send(&mut self, event: impl Into<EventKind>) -> Result<()> {
        self.try_send(event)?.map_err(Error::Fault)
    }

    /// Sends an event, and returns the fault if the kernel does not accept it.
    fn try_send(&mut self, event: impl Into<EventKind>) -> Result<Result<(), Fault>> {
        for stores in self.stores.news(self.run.state())? {
            let actions = self.run.send(&stores.at(now()))?;
            self.todo.extend(actions);
        }
        match self.run.send(&Event { at: now(), kind: event.into() }) {
            Ok(actions) => {
                progress::tell(&self.run)?;
                self.todo.extend(actions);
                Ok(Ok(()))
            }
            Err(StepError::Fault(fault)) => Ok(Err(fault)),
            Err(error) => Err(error.into()),
        }
    }

    fn act<'e>(&mut self, action: Action, scope: &'s Scope<'s, 'e>) -> Result<()> {
        match action {
            Action::AskModel(action) => self.ask_model(action, scope)?,
            Action::Execute(action) => self.execute(action, scope)?,
            Action::Delegate(action) => self.delegate(action, scope)?,
            Action::AskApproval(action) => {
                self.notify(&action.ask, scope)?;
                self.waiting.insert(action.ask.key.clone(), Prompt::Approval(action.ask));
            }
            Action::AskInput(question) => {
                self.waiting.insert(place(&question).to_owned(), Prompt::Input(question));
            }
            Action::Cancel(action) => self.under_way.get(&action.call).into_iter().for_each(Stop::stop),
            Action::Finish(action) => self.finish = Some(action),
        }
        Ok(())
    }

    /// Informs the notifier, if there is one, that a call waits for approval.
    fn notify<'e>(&self, ask: &Ask, scope: &'s Scope<'s, 'e>) -> Result<()> {
        let context = self.context;
        let Some(notifier) = &context.servers.notifier else { return Ok(()) };
        let notice = Notice {
            folder: self.folder.display().to_string(),
            run: self.run.id(),
            agent: self.run.agent(),
            tool: tool_of(&self.run.records()?, &ask.key),
            ask,
        };
        let text = serde_json::to_string(&notice)?;
        scope.spawn(move || notifier.notify(&text, &context.signals));
        Ok(())
    }

    fn ask_model<'e>(&mut self, action: AskModelAction, scope: &'s Scope<'s, 'e>) -> Result<()> {
        let timeout = Duration::from_millis(action.expires.saturating_sub(now()));
        let (context, key) = (self.context, action.key.clone());
        let stop = Stop::default();
        let notice = (Instant::now() + FIRST_NOTICE, FIRST_NOTICE);
        if let Some(late) = self.asked.replace(Asked { key: key.clone(), stop: stop.clone(), notice }) {
            late.stop.stop();
        }
        let sender = self.sender.clone();
        scope.spawn(move || {
            let answer = context.model.ask(action, timeout, &context.signals, stop);
            // There is no receiver once the run has ended.
            let _ = sender.send(Input::Model { key, answer });
        });
        Ok(())
    }

    fn answered(&mut self, key: &str, answer: Result<Answer, NoAnswer>) -> Result<()> {
        self.list_again()?;
        let failed = match answer {
            Ok(answer) => match self.try_send(answer.into_event(key))? {
                Ok(()) => return Ok(()),
                Err(fault) => format!("Invalid answer: {fault}"),
            },
            Err(NoAnswer::Invalid(message)) => message,
            Err(NoAnswer::Unreachable(message)) => {
                self.unreachable = Some(message);
                return Ok(());
            }
            Err(NoAnswer::Interrupted) => return Ok(()),
        };
        let mut event = ModelFailedEvent::new(key, failed);
        event.retry = Some(true);
        self.send(event)
    }

    /// Reports the available tools to the run, if they may have changed.
    fn list_again(&mut self) -> Result<()> {
        let generation = self.context.servers.generation();
        if generation != self.generation
            && let Some(profile) = self.context.profiles.of(self.run.agent())
        {
            self.generation = generation;
            let listed = profile.listed(&self.context.servers)?;
            self.send(ToolsListedEvent::new(listed))?;
        }
        Ok(())
    }

    fn execute<'e>(&mut self, execute: ExecuteAction, scope: &'s Scope<'s, 'e>) -> Result<()> {
        // A remembered approval may cover a call that waited.
        self.waiting.remove(&execute.call);
        self.stores.keep(self.run.state())?;
        if !self.start(&execute.call)? {
            return Ok(());
        }
        let stop = self.begin(&execute.call);
        let (context, sender, run) = (self.context, self.sender.clone(), self.run.id().to_owned());
        scope.spawn(move || {
            let start = Instant::now();
            let (servers, name) = (&context.servers, execute.server.as_deref().unwrap_or_default());
            let arguments = tool::arguments(&servers.secrets, &execute);
            let outcome = match (arguments, servers.command(name, &execute.tool), servers.running(name)) {
                (Err(not_sent), ..) => not_sent,
                (Ok(arguments), Some(command), _) => {
                    let (inherited, what) = (servers.inherited(name, command), (&execute, &arguments[..]));
                    tool::run((servers, command), &run, what, now(), (&inherited, &context.signals, stop))
                }
                (Ok(arguments), None, Some(server)) => tool::call(server, &execute, &arguments, now(), &stop),
                (Ok(_), None, None) => {
                    Outcome::not_sent(format!("the servers file has no tool {name}/{}", execute.tool))
                }
            };
            let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            let _ = sender.send(Input::Tool { call: execute.call, ms, outcome });
        });
        Ok(())
    }

    /// Records in the journal that a call is sent now, and returns whether it may be sent.
    fn start(&mut self, call: &str) -> Result<bool> {
        self.send(ToolStartedEvent::new(call))?;
        Ok(progress::ignored(&self.run)?.is_none())
    }

    fn begin(&mut self, key: &str) -> Stop {
        let stop = Stop::default();
        self.under_way.insert(key.to_owned(), stop.clone());
        stop
    }

    /// Sends the outcome of a call.
    fn returned(&mut self, call: &str, duration_ms: u64, outcome: Outcome) -> Result<()> {
        match outcome {
            Outcome::Result { is_error, body } => {
                let status = if is_error { ResultStatus::Error } else { ResultStatus::Ok };
                let Err(fault) = self.result(call, duration_ms, status, &body, MAX_INLINE)? else {
                    return Ok(());
                };
                tracing::warn!(call, "both ends of the result are sent, for the whole is too much: {fault}");
                if let Err(fault) = self.result(call, duration_ms, status, &body, 2 * MAX_END)? {
                    let text = format!("The call was done, but its result cannot be read: {fault}");
                    self.result(call, duration_ms, ResultStatus::Error, &Body::Text(text), MAX_INLINE)?
                        .map_err(Error::Fault)?;
                }
                Ok(())
            }
            Outcome::Failed { message, may_have_run } => {
                let effect = if may_have_run { PossibleEffect::Unknown } else { PossibleEffect::None };
                self.send(failed(call, message, effect))
            }
            Outcome::Cancelled if self.signal.is_none() => self.send(CallCancelledEvent::new(call)),
            // When the run continues, it determines the outcome of the call.
            Outcome::Cancelled | Outcome::Interrupted => Ok(()),
        }
    }

    /// Sends a result. If it has more than `max` bytes, sends only the beginning and the end.
    fn result(
        &mut self,
        call: &str,
        duration_ms: u64,
        status: ResultStatus,
        body: &Body,
        max: usize,
    ) -> Result<Result<(), Fault>> {
        let whole = match body {
            Body::Json(value) => value.as_str(),
            Body::Text(text) => text,
        };
        let mut event = if whole.len() <= max {
            let mut event = ToolResultEvent::new(call);
            match body {
                Body::Json(value) => event.result = Some(value.clone()),
                Body::Text(text) => event.text = Some(text.clone().into()),
            }
            event
        } else {
            let digest = self.run.keep(whole).map_err(|error| Error::NoVerdict(error.to_string()))?;
            result_ends(call, whole, digest)
        };
        event.duration_ms = Some(duration_ms);
        event.status = Some(status);
        self.try_send(event)
    }

    fn delegate<'e>(&mut self, delegate: DelegateAction, scope: &'s Scope<'s, 'e>) -> Result<()> {
        self.waiting.remove(&delegate.call);
        if !self.start(&delegate.call)? {
            return Ok(());
        }
        self.begin(&delegate.call);
        let (context, sender) = (self.context, self.sender.clone());
        let (folder, state, stores) = (self.folder.clone(), self.run.state().to_owned(), self.stores.again());
        scope.spawn(move || {
            let go_on = |started: (Run<'s, FileJournal>, Vec<Action>), folder: &Path| {
                Runner::new(context, started, folder, stores).go_on(scope)
            };
            let end = child::run(context, &delegate, &folder, &state, go_on);
            let _ = sender.send(Input::Child { call: delegate.call, end });
        });
        Ok(())
    }

    fn child_ended(&mut self, call: &str, end: ChildEnd) -> Result<()> {
        match end {
            ChildEnd::Ended(End::Finished(finish)) => self.send(child::result(call, &finish)?),
            ChildEnd::Ended(End::Waits(waiting)) => {
                self.below.extend(waiting);
                Ok(())
            }
            ChildEnd::Ended(End::Unreachable(message)) => {
                self.unreachable = Some(message);
                Ok(())
            }
            ChildEnd::Ended(End::Signal(signal)) => {
                self.signal = Some(signal);
                Ok(())
            }
            ChildEnd::NotStarted(message) => self.send(failed(call, message, PossibleEffect::None)),
        }
    }
}

fn failed(call: &str, message: String, effect: PossibleEffect) -> ToolFailedEvent {
    let mut event = ToolFailedEvent::new(call, message);
    event.effect = Some(effect);
    event
}
