//! The evidence for origins: texts that people said, and values of results.

use super::Run;
use crate::{
    observed::{Observed, bound_said},
    tool::{Origin, Tool},
};

impl Run<'_> {
    /// Keeps a text that a person said, if a rule concerns it. The text stays unchanged, because every character
    /// counts. It applies only to later calls: mentioning a waiting call does not approve it.
    pub(super) fn hear(&mut self, text: &str) {
        let above = self.above.iter().flat_map(|above| &above.rules);
        let mut profiles = above.map(|rules| &rules.profile).chain([self.profile]);
        if !text.is_empty() && profiles.any(|profile| profile.has_origins()) {
            self.state.facts.said.push(text.to_owned());
            bound_said(&mut self.state.facts.said);
        }
    }

    /// Returns texts that people said, if they matter for a child that gets some tools.
    pub(super) fn said_for(&self, tools: &[&Tool]) -> Vec<String> {
        let is_needed = tools.iter().flat_map(|tool| tool.origins()).any(Origin::needs_said);
        if is_needed { self.state.facts.said.clone() } else { Vec::new() }
    }

    /// Returns the values of results that matter for a child that gets some tools.
    pub(super) fn observed_for(&self, tools: &[&Tool]) -> Vec<Observed> {
        let is_needed = |result: &&Observed| {
            tools.iter().flat_map(|tool| tool.origins()).any(|origin| match origin {
                Origin::Result(origin) => origin.is_of(&result.tool),
                _ => false,
            })
        };
        self.state.facts.observed.iter().filter(is_needed).cloned().collect()
    }
}
