//! Calls whose results are delivered outside of them: a server answers with a task, and the client requests its
//! outcome. The gate judges the outcome like the result of any call, and returns it to everybody who requests it again.
//!
//! Implements the extension `io.modelcontextprotocol/tasks`:
//! <https://modelcontextprotocol.io/seps/2663-tasks-extension>

use std::collections::HashMap;

use super::{
    effects::UpstreamId,
    links::Links,
    message::{Change, Id, Members, json},
};

/// The longest id of a task, in bytes, and the maximum number of known tasks.
const MAX_ID: usize = 1024;
const MAX_TASKS: usize = 256;
/// The default time that a task has, and the longest that it may request, in seconds.
const DAY_S: u64 = 86_400;

/// The members of an ended task. They occur only in its result.
const ENDS: [&str; 3] = ["result", "error", "inputRequests"];

/// The tasks of servers, by their ids.
#[derive(Default)]
pub(super) struct Tasks {
    all: HashMap<String, Task>,
    /// Ids of tasks by the run's keys of their calls.
    by_call: HashMap<String, String>,
}

/// A task of a server.
pub(super) struct Task {
    pub(super) server: UpstreamId,
    /// The call that became the task, by the run's key.
    pub(super) key: String,
    pub(super) since: u64,
    /// The request that gets the outcome of the task, and the text that surrounds the outcome.
    asked: Option<(Id, String)>,
    /// The answer to requests about the task, once it has ended.
    pub(super) ended: Option<String>,
}

/// A server's description of a task.
pub(super) struct Told {
    pub(super) task: String,
    /// The description without the outcome of the task.
    pub(super) text: String,
    /// How long the task lives, in seconds.
    pub(super) ttl_s: u64,
}

/// Parses a description of a task. Returns `None` if it is malformed.
pub(super) fn read_told(result: &str) -> Option<Told> {
    let members = Members::of(result).filter(|members| !members.has_doubles())?;
    let task = members.text("taskId").filter(|id| id.len() <= MAX_ID)?.into_owned();
    let text = members.with(|name, _| if ENDS.contains(&name) { Change::Drop } else { Change::Keep });
    let ttl_ms = members.get("ttlMs").and_then(|ttl| ttl.get().parse::<u64>().ok());
    Some(Told { task, text, ttl_s: ttl_ms.map_or(DAY_S, |ms| (ms / 1000).clamp(1, DAY_S)) })
}

/// Returns a server's sanitized description of a task, under the id by which the client requests it.
pub(super) fn with_id(told: &str, task: &str) -> String {
    Members::of(told).map_or_else(|| told.to_owned(), |members| members.set("taskId", &json(task)))
}

impl Tasks {
    /// Returns the number of entries in each collection.
    pub(super) fn sizes(&self) -> [(&'static str, usize); 2] {
        [("tasks", self.all.len()), ("tasks_by_call", self.by_call.len())]
    }

    /// Adds a task for a call.
    ///
    /// # Errors
    ///
    /// Two calls have the same task, or there are too many.
    pub(super) fn begin(&mut self, task: &str, server: UpstreamId, key: &str, now: u64) -> Result<(), &'static str> {
        if self.all.contains_key(task) {
            return Err("gives two calls the same task");
        }
        if self.all.len() >= MAX_TASKS && !self.forget_oldest() {
            return Err("has too many tasks under way");
        }
        self.by_call.insert(key.to_owned(), task.to_owned());
        let own = Task { server, key: key.to_owned(), since: now, asked: None, ended: None };
        self.all.insert(task.to_owned(), own);
        Ok(())
    }

    /// Returns the task with this id.
    pub(super) fn get(&self, task: &str) -> Option<&Task> {
        self.all.get(task)
    }

    /// Returns whether a call became a task.
    pub(super) fn has_call(&self, key: &str) -> bool {
        self.by_call.contains_key(key)
    }

    /// Makes a request wait for the outcome of a task while the kernel judges it. `told` surrounds the outcome.
    pub(super) fn await_result(&mut self, task: &str, id: &Id, told: String) {
        if let Some(own) = self.all.get_mut(task) {
            own.asked = Some((id.clone(), told));
        }
    }

    /// Answers the request about the task of a call that has ended.
    pub(super) fn on_result(&mut self, key: &str, result: &str, links: &mut Links) {
        let Some(task) = self.by_call.get(key).cloned() else { return };
        let Some((id, told)) = self.all.get_mut(&task).and_then(|own| own.asked.take()) else { return };
        let told = Members::of(&told).map(|members| members.set("result", result)).unwrap_or(told);
        self.end(&task, &told);
        links.result(&id, told);
    }

    /// Records the end of a task. Later requests get this answer.
    pub(super) fn end(&mut self, task: &str, told: &str) {
        if let Some(own) = self.all.get_mut(task) {
            own.ended = Some(told.to_owned());
        }
    }

    /// Removes the call of a task that has ended. The outcome of the task, if it has one, stays.
    pub(super) fn forget_call(&mut self, key: &str) {
        let Some(task) = self.by_call.remove(key) else { return };
        if self.all.get(&task).is_some_and(|own| own.ended.is_none()) {
            self.all.remove(&task);
        }
    }

    /// Removes the oldest ended task, so that one more task can be added. Returns whether there was one.
    fn forget_oldest(&mut self) -> bool {
        let ended = self.all.iter().filter(|(_, own)| own.ended.is_some());
        let oldest = ended.min_by_key(|(_, own)| own.since).map(|(task, _)| task.clone());
        oldest.and_then(|task| self.all.remove(&task)).is_some()
    }
}
