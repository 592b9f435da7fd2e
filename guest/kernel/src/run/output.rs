//! Outputs of the model: calls, a question, a plan, a refusal, a final answer, or an invalid output. Each output is an
//! event, never a command.

use seamgate_core::{
    Fault, Finish,
    kernel_api::{Document, Json, Kind, NodeId, cut_at, short},
};

use super::{
    Run,
    answer::Judged,
    event::Event,
    raw,
    state::{CallState, Entry, EntryKind, ModelCall, Phase, Purpose, Question},
    step::{Action, Record},
    task::only,
    timers::INPUT_MS,
};
use crate::{
    document::{CAPS, number_in, source, text_in},
    facts::MAX_NUMBER,
    sanitize::sanitize,
    tool::Effect,
};

/// The maximum size of a text of the model, and of a provider's message, in the state, in bytes.
const MAX_ENTRY: usize = 64 * 1024;

/// The length to which a question or plan is truncated, in bytes.
const MAX_QUESTION: usize = 4096;

/// The number of consecutive failures of the model that ends the run.
const MAX_FAILURES: u64 = 3;

/// The estimated number of bytes per token.
const BYTES_PER_TOKEN: u64 = 4;

impl Run<'_> {
    pub(super) fn model_output(&mut self, event: &Event) -> Result<(), Fault> {
        let Some(asked) = self.take_model(event) else { return Ok(()) };
        self.state.failures = 0;
        let text = event.text("text").unwrap_or_default();
        self.spend_tokens(event, &asked, text);
        let message = event.source("message");
        let lengths = [("text", text.len()), ("message", message.as_ref().map_or(0, String::len))];
        for (name, bytes) in lengths.into_iter().filter(|(_, bytes)| *bytes > MAX_ENTRY) {
            let message = format!("it has {bytes} bytes; the limit is {MAX_ENTRY}, which no setting changes");
            self.records.push(Record::LeftOut { what: "output", name: name.to_owned(), code: "too_large", message });
        }
        self.state.history.push(Entry {
            kind: EntryKind::Output,
            text: cut_at(text, MAX_ENTRY),
            message: message.filter(|message| message.len() <= MAX_ENTRY).map(raw),
            calls: Vec::new(),
        });
        let document = event.document();
        let calls: Vec<_> = event.items("calls").collect();
        if !calls.is_empty() {
            if asked.purpose == Purpose::Step {
                // A denied call is also a call. Repeated denials are counted separately.
                self.state.strikes = 0;
            }
            for at in calls {
                let index = self.new_call(document, at);
                let key = self.state.calls[index].key.clone();
                if let Some(entry) = self.state.history.last_mut() {
                    entry.calls.push(key);
                }
                match asked.purpose {
                    Purpose::Step => self.judge(index)?,
                    Purpose::Frame | Purpose::Final => self.deny_all(index),
                }
            }
            if asked.purpose != Purpose::Step {
                self.strike("calls", "No tool is available now: answer without calls.".to_owned());
            }
            return Ok(());
        }
        if matches!(event.finish(), Finish::Refusal | Finish::ContentFilter) {
            self.strike(
                "refusal",
                "That was a refusal. Answer as asked, or say what is missing in a valid answer.".to_owned(),
            );
            return Ok(());
        }
        if asked.purpose == Purpose::Frame {
            self.framed(text);
            return Ok(());
        }
        if let Ok(document) = Json::read(text.trim(), &CAPS) {
            if let Some(at) = only(&document, "question").filter(|&at| document.kind(at) == Kind::String) {
                self.ask(document.string(at));
                return Ok(());
            }
            if let Some(at) = only(&document, "plan") {
                self.state.plan = Some(short(&sanitize(&source(&document, at)).text, MAX_QUESTION));
                self.strike("plan", "The plan is noted. Go on: call a tool, or answer.".to_owned());
                return Ok(());
            }
        }
        match self.judge_answer(text, event) {
            Judged::Answer(document) => {
                self.records.push(Record::Output { kind: "answer", message: String::new() });
                self.state.strikes = 0;
                self.answer = Some(document);
            }
            Judged::Need(artifacts) => self.need = artifacts,
            Judged::Not(feedback) => self.strike("no_answer", feedback),
        }
        Ok(())
    }

    pub(super) fn model_failed(&mut self, event: &Event) {
        if self.take_model(event).is_some() {
            let message = short(&sanitize(event.text("message").unwrap_or_default()).text, 512);
            self.model_gave_none(&message, event.is_true("retry"));
        }
    }

    pub(super) fn model_gave_none(&mut self, message: &str, again: bool) {
        self.records.push(Record::Output { kind: "failure", message: message.to_owned() });
        self.state.failures += 1;
        let ends = !again || self.state.failures >= MAX_FAILURES;
        // There was no answer. If a step is left, the final answer can be requested again.
        self.state.is_final_asked = ends;
        if ends {
            // A request because no tools are left is a normal step. The reason for any other last request stays.
            self.state.stop = self.state.stop.take().filter(|stop| stop.code != "surface");
            self.state.end("model", format!("the model failed: {message}"));
        }
    }

    /// Takes the model call that an event answers.
    fn take_model(&mut self, event: &Event) -> Option<ModelCall> {
        let is_answer = |asked: &mut ModelCall| Some(asked.key.as_str()) == event.text("key");
        let asked = self.state.model.take_if(is_answer);
        if asked.is_none() {
            self.ignore("late", "the model was not asked this, or it was answered or given up");
        }
        asked
    }

    fn spend_tokens(&mut self, event: &Event, asked: &ModelCall, text: &str) {
        let said = event.member("usage").map(|at| {
            let number = |name| number_in(event.document(), at, name).unwrap_or_default();
            number("input").saturating_add(number("output"))
        });
        let bytes = asked.bytes + text.len() as u64 + event.source("calls").map_or(0, |calls| calls.len() as u64);
        let used = &mut self.state.facts.used;
        used.tokens = used.tokens.saturating_add(said.unwrap_or(bytes.div_ceil(BYTES_PER_TOKEN))).min(MAX_NUMBER);
    }

    fn ask(&mut self, question: &str) {
        let (key, expires) = (self.key(), self.now().saturating_add(INPUT_MS));
        let question = cut_at(&sanitize(question).text, MAX_QUESTION);
        self.records.push(Record::Output { kind: "question", message: question.clone() });
        self.state.strikes = 0;
        self.state.question = Some(Question { key: key.clone(), text: question.clone(), expires });
        self.actions.push(Action::AskInput { key, question, call: None, expires });
    }

    /// Adds a call that the model requested, under the run's own key.
    pub(super) fn new_call(&mut self, document: &Document, at: NodeId) -> usize {
        self.add_call(Run::asked_call(document, at))
    }

    /// Adds a call to the run, under a new key.
    pub(super) fn add_call(&mut self, call: CallState) -> usize {
        self.state.calls_made += 1;
        self.state.calls.push(CallState { key: format!("c{}", self.state.calls_made), ..call });
        self.state.calls.len() - 1
    }

    /// Reads a call that has no key yet.
    pub(super) fn asked_call(document: &Document, at: NodeId) -> CallState {
        let arguments = document.member(at, "arguments").map_or(String::new(), |at| match document.kind(at) {
            Kind::String => document.string(at).to_owned(),
            _ => source(document, at),
        });
        CallState {
            key: String::new(),
            id: text_in(document, at, "id").map(str::to_owned),
            server: text_in(document, at, "server").map(str::to_owned),
            tool: text_in(document, at, "tool").unwrap_or_default().to_owned(),
            arguments,
            effect: Effect::Effectful,
            phase: Phase::Denied,
            digest: None,
            by: Vec::new(),
            expires: None,
            carved: None,
            edited: None,
            told: None,
            seen: None,
        }
    }
}
