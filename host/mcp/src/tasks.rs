//! Calls whose results come outside of them: a server answers with a task, and the client asks what became of it. What it came to is
//! judged like the result of any call, and given to whoever asks again.
//!
//! Extension `io.modelcontextprotocol/tasks`: <https://modelcontextprotocol.io/seps/2663-tasks-extension>

use std::time::Instant;

use seamgate::{JobEvent, Party, PossibleEffect};
use seamgate_runner::{Error, Result};
use serde_json::value::RawValue;

use super::{
    calls::{error_result, milliseconds},
    filter::Judged,
    gate::{Gate, cut_to},
    message::{self, Answer, Change, INTERNAL_ERROR, INVALID_PARAMS, Members, json},
    upstream::Asked,
};

/// The longest id of a task, in bytes, and the most tasks that are known at once.
const MAX_ID: usize = 1024;
const MAX_TASKS: usize = 256;
/// The time that a task has by default, and the longest that it may ask for.
const DAY_S: u64 = 86_400;

/// The members of an ended task. Only its result has these.
const ENDS: [&str; 3] = ["result", "error", "inputRequests"];

/// A task of a server.
pub(super) struct Task {
    number: usize,
    /// The call that it is, by the run's key.
    key: String,
    since: Instant,
    /// The request that gets what it came to, and what stands around that.
    asked: Option<(String, String)>,
    /// The answer to requests about the task, once it has ended.
    ended: Option<String>,
}

impl Gate<'_> {
    /// A server answered a call with a task.
    pub(super) fn becomes_task(&mut self, key: &str, result: &RawValue) -> Result<()> {
        let Some(call) = self.calls.get(key) else { return Ok(()) };
        let (number, is_stateless) = (call.upstream.unwrap_or_default(), call.sender.is_stateless);
        let read =
            match is_stateless && !matches!(self.judge(number, "tasks/get", Party::Server, None)?, Judged::Denied) {
                true => self.read_task(number, "tools/call", result)?,
                false => Err("answers with a task, which the profile does not name".to_owned()),
            };
        let read = read.and_then(|(id, told)| match self.tasks.contains_key(&id) {
            true => Err("gives two calls the same task".to_owned()),
            false if self.tasks.len() >= MAX_TASKS && !self.forget_oldest_task() => {
                Err("has too many tasks under way".to_owned())
            }
            false => Ok((id, told)),
        });
        let (id, told) = match read {
            Ok(read) => read,
            Err(why) => {
                let message = format!("{} {why}", self.upstreams[number].told());
                return self.fail_call(key, &message, PossibleEffect::Unknown);
            }
        };
        let ttl_ms = Members::of(result.get()).and_then(|members| members.get("ttlMs")?.get().parse::<u64>().ok());
        let ttl_s = ttl_ms.map_or(DAY_S, |ms| (ms / 1000).clamp(1, DAY_S));
        let mut event = JobEvent::new(key);
        event.ttl_s = Some(ttl_s);
        self.send(event, None)?.map_err(Error::Fault)?;
        let task = Task { number, key: key.to_owned(), since: Instant::now(), asked: None, ended: None };
        self.tasks.insert(id.clone(), task);
        let Some(call) = self.calls.get_mut(key) else { return Ok(()) };
        call.task = Some(id);
        call.again = Some(told.clone());
        for id in std::mem::take(&mut call.waiters) {
            self.pending.remove(&id);
            self.to_client(message::result(&id, &told));
        }
        Ok(())
    }

    /// The id of a task, and what is told of it beside what it came to, cleaned.
    fn read_task(
        &mut self,
        number: usize,
        method: &str,
        result: &RawValue,
    ) -> Result<Result<(String, String), String>> {
        let malformed = || Ok(Err("tells of a task in a way that is malformed".to_owned()));
        let Some(members) = Members::of(result.get()).filter(|members| !members.has_doubles()) else {
            return malformed();
        };
        let Some(id) = members.text("taskId").filter(|id| id.len() <= MAX_ID) else { return malformed() };
        let told = members.with(|name, _| if ENDS.contains(&name) { Change::Drop } else { Change::Keep });
        let told = RawValue::from_string(told)?;
        Ok(match self.try_judge(number, method, Party::Server, Some(&told))? {
            Ok(Judged::Unchanged) => Ok((id.into_owned(), told.get().to_owned())),
            Ok(Judged::Cleaned(cleaned)) => match Members::of(cleaned.as_str()) {
                // By its id the client asks for it.
                Some(members) => Ok((id.to_string(), members.set("taskId", &json(&id)))),
                None => return malformed(),
            },
            Ok(Judged::Denied) => Err("tells of a task, which the profile does not name".to_owned()),
            Err(fault) => Err(format!("tells of a task in a way that cannot be judged: {fault}")),
        })
    }

    /// The client asks about a task, tells it something, or wants its end.
    pub(super) fn about_task(&mut self, id: &str, method: &str, params: Option<&RawValue>, line: &str) -> Result<()> {
        let task = params.and_then(|params| Members::of(params.get())?.text("taskId").map(|task| task.into_owned()));
        let known = task.as_ref().and_then(|task| self.tasks.get(task));
        let Some((task, Task { number, ended, .. })) = task.zip(known) else {
            let (number, known) = (0, "Failed to retrieve task: no call of this session has this task");
            // What does not exist is told first.
            match self.judge(number, method, Party::Client, None)? {
                Judged::Denied => self.not_found(id, method),
                _ => self.to_client(message::error(id, INVALID_PARAMS, known)),
            }
            return Ok(());
        };
        match (ended, method) {
            (Some(ended), "tasks/get") => {
                self.to_client(message::result(id, ended));
                Ok(())
            }
            _ => {
                let asked = match method {
                    "tasks/get" => Asked::Task { task },
                    _ => Asked::Forwarded { method: method.to_owned() },
                };
                self.forward_to(*number, id, method, params, line, asked)
            }
        }
    }

    /// A server says how far a task is.
    pub(super) fn told_of_task(
        &mut self,
        number: usize,
        id: &str,
        name: &str,
        answer: Answer,
        line: &str,
    ) -> Result<()> {
        self.pending.remove(id);
        let told = match answer {
            Answer::Error(_) => {
                let line = self.forwarded(number, id, "tasks/get", answer, line)?;
                self.to_client(line);
                return Ok(());
            }
            Answer::Result(result) => self.take_told(number, id, name, result)?,
        };
        match told {
            Ok(Some(told)) => self.to_client(message::result(id, &told)),
            // Its call answers.
            Ok(None) => {}
            Err(why) => {
                let message = format!("{} {why}", self.upstreams[number].told());
                self.to_client(message::error(id, INTERNAL_ERROR, &message));
            }
        }
        Ok(())
    }

    fn take_told(
        &mut self,
        number: usize,
        id: &str,
        name: &str,
        result: &RawValue,
    ) -> Result<Result<Option<String>, String>> {
        let told = match self.read_task(number, "tasks/get", result)? {
            Ok((own, told)) if own == name => told,
            Ok(_) => return Ok(Err("tells of another task".to_owned())),
            Err(why) => return Ok(Err(why)),
        };
        let Some(task) = self.tasks.get_mut(name) else { return Ok(Err("tells of a task that is over".to_owned())) };
        if let Some(ended) = &task.ended {
            return Ok(Ok(Some(ended.clone())));
        }
        let (key, duration_ms) = (task.key.clone(), milliseconds(task.since));
        let Some(members) = Members::of(result.get()) else { return Ok(Ok(Some(told))) };
        let status = members.text("status").unwrap_or_default();
        match (&*status, members.get("result"), members.get("error"), members.get("inputRequests")) {
            ("completed", Some(result), ..) => {
                if message::result_type(result.get()).is_some_and(|kind| kind != "complete") {
                    return Ok(Err("ends a task with a result that is none".to_owned()));
                }
                task.asked = Some((id.to_owned(), told));
                if let Some(call) = self.calls.get_mut(&key) {
                    call.answered = Some(result.get().to_owned());
                }
                self.returned(&key, duration_ms, result)?;
                Ok(Ok(None))
            }
            ("failed", _, Some(error), _) => {
                let cleaned = self.cleaned(number, "tasks/get", error)?;
                let told = Members::of(&told).map(|told| told.set("error", &cleaned)).unwrap_or(told);
                self.end_task(name, &told);
                let text = format!("the server answered with an error: {}", cut_to(error.get(), 4096));
                self.send(error_result(&key, duration_ms, &text), None)?.map_err(Error::Fault)?;
                Ok(Ok(Some(told)))
            }
            ("cancelled", ..) => {
                self.end_task(name, &told);
                self.fail_call(&key, "the server cancelled the task", PossibleEffect::Unknown)?;
                Ok(Ok(Some(told)))
            }
            ("input_required", _, _, Some(requests)) => {
                let asked = RawValue::from_string(format!("{{\"inputRequests\":{}}}", requests.get()))?;
                Ok(self.question(number, "tasks/get", &asked)?.map(|(question, _)| {
                    let requests = Members::of(&question).and_then(|all| all.get("inputRequests"));
                    Members::of(&told).zip(requests).map(|(told, all)| told.set("inputRequests", all.get()))
                }))
            }
            _ => Ok(Ok(Some(told))),
        }
    }

    /// Answers a request about the task of a call that has ended. Returns whether the call has a task.
    pub(super) fn end_of_task(&mut self, key: &str, result: &str) -> bool {
        let Some(name) = self.calls.get(key).and_then(|call| call.task.clone()) else { return false };
        let Some((id, told)) = self.tasks.get_mut(&name).and_then(|task| task.asked.take()) else { return true };
        let told = Members::of(&told).map(|members| members.set("result", result)).unwrap_or(told);
        self.end_task(&name, &told);
        self.to_client(message::result(&id, &told));
        true
    }

    fn end_task(&mut self, name: &str, told: &str) {
        if let Some(task) = self.tasks.get_mut(name) {
            task.ended = Some(told.to_owned());
        }
    }

    /// The call of a task has ended. What it came to stays, if it came to something.
    pub(super) fn forget_task(&mut self, name: &str) {
        if self.tasks.get(name).is_some_and(|task| task.ended.is_none()) {
            self.tasks.remove(name);
        }
    }

    /// Makes room for one more task. Returns whether there is room.
    fn forget_oldest_task(&mut self) -> bool {
        let ended = self.tasks.iter().filter(|(_, task)| task.ended.is_some());
        let oldest = ended.min_by_key(|(_, task)| task.since).map(|(name, _)| name.clone());
        oldest.and_then(|name| self.tasks.remove(&name)).is_some()
    }
}
