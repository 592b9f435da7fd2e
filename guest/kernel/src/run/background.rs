//! What a person learns about a call beside the call itself, when they are asked to approve it.

use super::{Run, state::CallState};
use crate::{surface, view::Background};

impl Run<'_> {
    pub(super) fn background(&self, index: usize) -> Background {
        let state = &self.state;
        let key = &state.calls[index].key;
        let answer = state.history.iter().rev().find(|entry| entry.calls.contains(key));
        let origin = |label: &String| {
            let has_label = |call: &&CallState| call.seen.as_ref().is_some_and(|seen| seen.labels.contains(label));
            state.calls.iter().filter(has_label).map(|call| format!("{} {}", call.key, call.tool)).collect()
        };
        let labels = self.facts().map(|facts| surface::read(self.profile, &facts)).unwrap_or_default();
        Background {
            said: answer.map(|entry| entry.text.clone()).unwrap_or_default(),
            labels: labels.into_iter().map(|label| (label.clone(), origin(&label))).collect(),
            equal_calls: self.equal_calls(index),
        }
    }
}
