//! A host's knowledge of a run, from the events that it sent and the actions that it received. It does not use the
//! state of the run.

use serde_json::Value;

/// The members of the profile's groups.
pub(crate) const ONCALL: [&str; 2] = ["anna", "ben"];
pub(crate) const LEAD: [&str; 1] = ["cleo"];

/// The limits of the profile.
pub(crate) const STEPS: u64 = 3;
pub(crate) const SAME_CALL: usize = 2;
pub(crate) const TOKENS: u64 = 100_000;
pub(crate) const MS: u64 = 900_000;

/// The stage of a call, as far as a host can know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    New,
    Asked,
    Denied,
    /// An action requested that the host send the call.
    Executed,
    /// The host reported that it is sending the call.
    Started,
    Uncertain,
    /// The outcome of the call was not reported in time.
    GivenUp,
    Settled,
}

impl Stage {
    pub(crate) fn is_under_way(self) -> bool {
        matches!(self, Stage::Executed | Stage::Started)
    }
}

/// An approval that is valid if the call is sent before it expires.
#[derive(Debug, Clone)]
pub(crate) struct Approval {
    pub(crate) digest: String,
    pub(crate) principal: &'static str,
    pub(crate) until: u64,
}

/// An approval that covers one further call of the effectful tool, with any arguments.
#[derive(Debug, Clone)]
pub(crate) struct Remembered {
    pub(crate) principal: &'static str,
    pub(crate) until: u64,
    pub(crate) mode: String,
}

/// The last ask for a call.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) digest: String,
    pub(crate) by: Vec<String>,
    pub(crate) at: u64,
    pub(crate) expires: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) key: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) stage: Stage,
    pub(crate) ask: Option<Ask>,
    pub(crate) approvals: Vec<Approval>,
    pub(crate) is_rejected: bool,
    /// `true` if the host ever reported that it was sending the call.
    pub(crate) was_started: bool,
    /// `true` if the call counts towards the permitted calls.
    pub(crate) counts: bool,
    /// The time at which the wait for the call ends.
    pub(crate) expires: Option<u64>,
}

impl Call {
    /// Returns the time at which something about the call expires: its ask, its wait, or, before it is sent, its
    /// approval.
    pub(crate) fn lapses(&self) -> Option<u64> {
        let ask = self.ask.as_ref().map(|ask| ask.expires);
        match self.stage {
            Stage::Asked => ask,
            Stage::Executed => self.expires.into_iter().chain(ask).min(),
            Stage::Started | Stage::Uncertain => self.expires,
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) has_loop: bool,
    pub(crate) now: u64,
    /// The time during which a call or a request was under way.
    pub(crate) ms: u64,
    pub(crate) mode: String,
    /// The key of the open `ask_model`, its purpose, and the time at which it expires.
    pub(crate) model: Option<(String, String, u64)>,
    pub(crate) question: Option<(String, u64)>,
    pub(crate) calls: Vec<Call>,
    pub(crate) remembered: Vec<Remembered>,
    /// `true` if the model has read untrusted data.
    pub(crate) is_untrusted: bool,
    pub(crate) steps: u64,
    pub(crate) tokens: u64,
    pub(crate) is_finished: bool,
    /// The data that can prove an origin, if the profile's effect requires one.
    pub(crate) known: Option<Known>,
}

/// The words of people, and the items that `find` returned, each with a name and an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) said: Vec<String>,
    pub(crate) items: Vec<(String, String)>,
}

impl Known {
    /// Returns whether a person said a word. The case of addresses is ignored.
    fn says(&self, word: &str) -> bool {
        let mut parts = self.said.iter().flat_map(|text| text.split(' ')).map(|part| part.trim_end_matches([',', '.']));
        parts.any(|part| part == word || (word.contains('@') && part.eq_ignore_ascii_case(word)))
    }

    /// Returns whether a target comes from people, or from an item that they named and whose name has only one address.
    pub(crate) fn proves(&self, target: &str) -> bool {
        let is_one = |name: &str| self.items.iter().all(|(other, address)| other != name || address == target);
        let mut items = self.items.iter();
        self.says(target) || items.any(|(name, address)| address == target && self.says(name) && is_one(name))
    }
}

/// Returns whether a tool has effects.
pub(crate) fn has_effect(tool: &str) -> bool {
    matches!(tool, "act" | "send")
}

impl World {
    pub(crate) fn max_tool_calls(&self) -> usize {
        if self.has_loop || self.known.is_some() { 3 } else { 2 }
    }

    pub(crate) fn call(&self, key: &str) -> Option<&Call> {
        self.calls.iter().find(|call| call.key == key)
    }

    pub(crate) fn call_mut(&mut self, key: &str) -> Option<&mut Call> {
        self.calls.iter_mut().find(|call| call.key == key)
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.model.is_some() || self.calls.iter().any(|call| call.stage.is_under_way())
    }

    pub(crate) fn is_with_a_person(&self) -> bool {
        self.question.is_some() || self.calls.iter().any(|call| matches!(call.stage, Stage::Asked | Stage::Uncertain))
    }

    /// Returns the earliest time at which something expires.
    pub(crate) fn lapses(&self) -> Option<u64> {
        let model = self.model.iter().map(|(.., expires)| *expires);
        let question = self.question.iter().map(|(_, expires)| *expires);
        let calls = self.calls.iter().filter_map(Call::lapses);
        model.chain(question).chain(calls).min()
    }

    /// Returns the part of the world that affects the future, in the same form as [`typed`].
    pub(crate) fn typed(&self) -> String {
        let left = |until: u64| left(until, self.now);
        let mut open = Vec::new();
        let mut closed = Vec::new();
        for call in &self.calls {
            match call.stage {
                Stage::Denied | Stage::Settled | Stage::GivenUp => closed.push((call.stage as u8, call.counts)),
                _ => {
                    let approvals = call.approvals.iter().filter(|approval| approval.until > self.now);
                    let approvals: Vec<_> =
                        approvals.map(|approval| (approval.principal, left(approval.until))).collect();
                    open.push((call.stage, call.is_rejected, call.was_started, call.counts, approvals));
                }
            }
        }
        closed.sort_unstable();
        let remembered = self.remembered.iter().filter(|one| one.until > self.now);
        let remembered: Vec<_> = remembered.map(|one| (one.principal, left(one.until), &one.mode)).collect();
        let (tokens, ms) = (self.tokens / TOKENS, self.ms / 1000);
        format!("{open:?}{closed:?}{remembered:?}{}{tokens}{ms}", self.is_untrusted)
    }
}

/// Returns the remaining time in seconds. Orders of events with smaller differences lead to the same state.
fn left(until: u64, now: u64) -> u64 {
    until.saturating_sub(now).div_ceil(1000)
}

/// Returns a state without the parts that do not affect the future. It has no times except for remaining times, no
/// numbers of steps, no digests of events and no messages. Settled calls are counted by kind, and other calls keep
/// their order.
pub(crate) fn typed(state: &mut Value, now: u64) -> String {
    remove(
        state,
        &["step", "seen", "history", "left_out", "component", "profile", "format", "session", "turn", "plan"],
    );
    remove(&mut state["facts"], &["run", "at", "nonce", "principal", "task", "context", "lists"]);
    let used = &mut state["facts"]["used"];
    for (name, unit) in [("ms", 1000), ("tokens", TOKENS)] {
        used[name] = (used[name].as_u64().unwrap_or_default() / unit).into();
    }
    let mut keys = Vec::new();
    let mut closed = Vec::new();
    if let Some(calls) = state["calls"].as_array_mut() {
        calls.retain_mut(|call| {
            let phase = call["phase"].as_str().unwrap_or_default();
            let is_closed = matches!(phase, "done" | "denied" | "cancelled");
            if is_closed {
                let supports = call["seen"]["is_error"] == false && call["seen"]["kinds"] != Value::Array(Vec::new());
                closed.push(format!("{phase} {supports}"));
            } else {
                keys.push(call["key"].clone());
                remove(call, &["key", "id", "told"]);
            }
            !is_closed
        });
    }
    closed.sort_unstable();
    for remembered in state["facts"]["remembered"].as_array_mut().into_iter().flatten() {
        remove(remembered, &["at"]);
    }
    for name in ["asks", "approvals"] {
        for decided in state["facts"][name].as_array_mut().into_iter().flatten() {
            let place = keys.iter().position(|key| *key == decided["key"]);
            decided["key"] = place.map_or(u64::MAX, |place| place as u64).into();
            remove(decided, &["at"]);
        }
    }
    remove(&mut state["model"], &["key", "bytes"]);
    remove(&mut state["question"], &["key", "text"]);
    remove(&mut state["stop"], &["message"]);
    relative(state, now);
    format!("{state}{closed:?}")
}

fn remove(value: &mut Value, names: &[&str]) {
    if let Some(members) = value.as_object_mut() {
        names.iter().for_each(|name| drop(members.remove(*name)));
    }
}

fn relative(value: &mut Value, now: u64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| relative(item, now)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                match value.as_u64() {
                    Some(time) if name == "expires" => *value = left(time, now).into(),
                    _ => relative(value, now),
                }
            }
        }
        _ => {}
    }
}
