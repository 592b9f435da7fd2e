//! The limit of the state. The oldest texts are removed first, and the state says so.

use seamgate_core::kernel_api::json;

use super::{Run, state::EntryKind, step::Record};
use crate::{decision::Reason, stored::Entry};

/// The number of history entries that are always kept, regardless of their size.
const KEPT: usize = 4;

impl Run<'_> {
    /// Drops settled calls, and makes the state fit.
    pub(super) fn fit(&mut self) {
        self.forget();
        let limit = self.budget.state_bytes;
        if self.at_most() <= limit {
            return;
        }
        let mut size = json(&self.state).len();
        let mut calls = Vec::new();
        for call in &mut self.state.calls {
            if size <= limit {
                break;
            }
            if let Some(text) = call.seen.as_mut().and_then(|seen| seen.text.take()) {
                size -= written(&text).min(size);
                calls.push(call.key.clone());
            }
        }
        let mut entries = 0;
        while size > limit && self.state.history.len() > KEPT {
            let Some(freed) = self.drop_first() else { break };
            size -= freed.min(size);
            entries += 1;
        }
        // Dropping proofs is safe: a value without a proof has no origin.
        while size > limit && !self.state.facts.observed.is_empty() {
            size -= json(&self.state.facts.observed.remove(0)).len().min(size);
        }
        while size > limit && !self.state.facts.said.is_empty() {
            size -= written(&self.state.facts.said.remove(0)).min(size);
        }
        if entries > 0 || !calls.is_empty() {
            self.records.push(Record::Cut { from: "state", calls, entries });
        }
        if size > limit
            && let Some(reason) = self.too_large()
        {
            self.state.end(reason.code, reason.message);
        }
    }

    /// Returns the reason if there is no more room. In a run without a loop, this denies further calls.
    pub(super) fn too_large(&self) -> Option<Reason> {
        let limit = self.budget.state_bytes;
        if self.at_most() <= limit {
            return None;
        }
        let bytes = json(&self.state).len();
        (bytes > limit).then(|| {
            Reason::new(
                "state_bytes",
                format!("the state has {bytes} bytes; the limit is {limit}, 'budget.state_bytes'"),
            )
        })
    }

    /// Returns an upper bound for the size of the state, which is cheap to compute.
    fn at_most(&self) -> usize {
        let state = &self.state;
        let calls = state.calls.iter().map(|call| {
            let seen = call.seen.as_ref();
            let text = seen.and_then(|seen| seen.text.as_ref()).map_or(0, String::len);
            1024 + call.arguments.len() + call.told.as_ref().map_or(0, String::len) + text + call.tool.len()
        });
        let entries = state
            .history
            .iter()
            .map(|entry| 256 + entry.text.len() + entry.message.as_ref().map_or(0, |message| message.get().len()));
        let counts =
            state.facts.used.calls.len() + state.denials.len() + state.facts.asks.len() + state.facts.approvals.len();
        let counts = counts + state.ran.len() + 8 * state.uncertain.len();
        let parent = self.state.facts.parent.as_ref().map_or(0, |parent| parent.get().len());
        let given = self.given.len() + parent + state.frame.as_ref().map_or(0, String::len);
        let said: usize = state.facts.said.iter().map(|text| text.len() + 8).sum();
        let times: usize = state.facts.used.recent.values().map(|times| 512 + 17 * times.len()).sum();
        let observed = state.facts.observed.iter().map(|result| 1024 + result.most_bytes()).sum::<usize>();
        let stores = state.facts.stores.iter().map(Entry::most_bytes).sum::<usize>();
        let given = given + said + observed + stores + times;
        // Each byte of a text takes at most two bytes. Bytes that would take more were escaped before.
        8192 + 2 * (calls.sum::<usize>() + entries.sum::<usize>() + given) + 512 * counts
    }

    /// Returns whether this agent or one above it requires equal calls to be counted.
    pub(super) fn counts_calls(&self) -> bool {
        self.budget.same_call.is_some()
            || self.profile.limits_equal_calls()
            || self.above.as_ref().is_some_and(|above| above.counts_calls())
    }

    /// Drops asks and approvals of settled calls. Without a loop, also drops the calls.
    fn forget(&mut self) {
        if !self.counts_calls() {
            self.state.facts.used.calls.clear();
        }
        if !self.profile.has_loop() {
            self.state.calls.retain(|call| call.phase.is_open());
        }
        let calls = &self.state.calls;
        let is_needed = |key: &str| calls.iter().any(|call| call.key == key && call.phase.is_open());
        self.state.facts.asks.retain(|ask| is_needed(&ask.key));
        self.state.facts.approvals.retain(|approval| is_needed(&approval.key));
    }

    /// Drops the first entry of the history, and returns the number of freed bytes. `None` if its calls are not
    /// settled.
    fn drop_first(&mut self) -> Option<usize> {
        let entry = self.state.history.first()?;
        let mut freed = written(&entry.text) + entry.message.as_ref().map_or(0, |message| message.get().len());
        if entry.kind == EntryKind::Output {
            let calls = self.state.calls.iter().filter(|call| entry.calls.contains(&call.key));
            if { calls }.any(|call| call.phase.is_open()) {
                return None;
            }
            for call in self.state.calls.iter_mut().filter(|call| entry.calls.contains(&call.key)) {
                freed += written(&call.arguments) + call.told.as_deref().map_or(0, written);
                call.arguments = String::new();
                call.told = None;
            }
        }
        self.state.history.remove(0);
        self.state.left_out += 1;
        Some(freed)
    }
}

/// Returns the length of a text as JSON.
fn written(text: &str) -> usize {
    json(&text).len()
}
