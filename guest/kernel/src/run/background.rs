//! Additional information about a call for the person who is asked to approve it.

use super::Run;
use crate::{surface, tool::COMPUTED_LABELS, view::Background};

/// The maximum number of calls that are remembered as the origin of a label.
const MAX_ORIGINS: usize = 4;

/// Stands for further calls that are not listed.
const MORE: &str = "…";

impl Run<'_> {
    /// Remembers that the result of a call has labels.
    pub(super) fn remember_origin(&mut self, key: &str, tool: &str, labels: &[String]) {
        for label in labels {
            let origins = self.state.origins.entry(label.clone()).or_default();
            match origins.len() {
                0..MAX_ORIGINS => origins.push(format!("{key} {tool}")),
                MAX_ORIGINS => origins.push(MORE.to_owned()),
                _ => {}
            }
        }
    }

    pub(super) fn background(&self, index: usize) -> Background {
        let state = &self.state;
        let key = &state.calls[index].key;
        let answer = state.history.iter().rev().find(|entry| entry.calls.contains(key));
        let origin = |label: &String| state.origins.get(label).cloned().unwrap_or_default();
        // Computed labels are shown only if a flow concerns them.
        let is_told = |label: &String| {
            !COMPUTED_LABELS.contains(&label.as_str()) || self.profile.flows.iter().any(|flow| flow.after == *label)
        };
        let labels = self.facts().map(|facts| surface::read(self.profile, &facts)).unwrap_or_default();
        Background {
            said: answer.map(|entry| entry.text.clone()).unwrap_or_default(),
            labels: labels.into_iter().filter(is_told).map(|label| (label.clone(), origin(&label))).collect(),
            equal_calls: self.equal_calls(index),
        }
    }
}
