//! Reads `covers` of the tools, and checks that each of its rules can apply.

use seamgate_core::kernel_api::{Kind, NodeId, Path};

use super::{DEFAULT_TTL_S, Reader};
use crate::{
    document::{number_in, text_in},
    profile::{Flow, asks},
    tool::{Cover, Tool},
};

/// The kinds of values that can be compared.
const VALUES: [Kind; 4] = [Kind::String, Kind::Number, Kind::True, Kind::Null];

impl Reader<'_, '_> {
    pub(super) fn covers(&mut self, tools: &mut [Tool], flows: &[Flow]) {
        let entries = self.each("tools");
        for index in 0..tools.len() {
            let Some(at) = tools[index].entry.and_then(|entry| self.member(entries[entry], "covers")) else { continue };
            if self.document.items(at).next().is_none() {
                continue;
            }
            if !asks(&tools[index], flows) {
                let message = "can never apply: no call of this tool needs an approval";
                self.say(at, "a tool that needs approvals", message);
                continue;
            }
            for rule in self.document.items(at) {
                if let Some(other) = self.follow_up(rule, index, tools, flows) {
                    self.cover(rule, (index, other), tools, &entries);
                }
            }
        }
    }

    /// Returns the place of the tool that a rule names.
    fn follow_up(&mut self, rule: NodeId, index: usize, tools: &[Tool], flows: &[Flow]) -> Option<usize> {
        let word = text_in(self.document, rule, "tool").unwrap_or_default();
        let at = self.member(rule, "tool").unwrap_or(rule);
        let named: Vec<usize> = (0..tools.len()).filter(|&other| tools[other].is_named(word)).collect();
        let (expected, message) = match named[..] {
            [other] if other == index => ("another tool", "must be another tool: an approval covers its own call"),
            [other] if tools[other].is_delegate => ("a tool of 'tools'", "must not be a delegate"),
            [other] if asks(&tools[other], flows) => return Some(other),
            [_] => ("a tool that needs approvals", "can never apply: no call of that tool needs an approval"),
            [] => ("the name of a tool", "must be a tool of this profile"),
            _ => ("one tool", "must be one tool: name its server, too, as SERVER/NAME"),
        };
        self.say(at, expected, message);
        None
    }

    fn cover(&mut self, rule: NodeId, (index, other): (usize, usize), tools: &mut [Tool], entries: &[NodeId]) {
        let pairs: Vec<NodeId> = self.member(rule, "same").into_iter().flat_map(|at| self.document.items(at)).collect();
        let mut same = Vec::new();
        for pair in pairs {
            let Some(path) = self.held(pair, "path", (other, tools), entries) else { continue };
            let own = match self.member(pair, "as") {
                Some(_) => self.held(pair, "as", (index, tools), entries),
                None => self.held(pair, "path", (index, tools), entries),
            };
            let Some(own) = own else { continue };
            tools[other].names.add(&path.selectors);
            tools[index].names.add(&own.selectors);
            same.push((path, own));
        }
        let ttl_s = number_in(self.document, rule, "ttl_s").unwrap_or(DEFAULT_TTL_S);
        let tool = tools[other].full_name();
        tools[index].covers.push(Cover { tool, same, ttl_s });
    }

    /// Reads a path of a tool's arguments, which must lead to values.
    fn held(
        &mut self,
        pair: NodeId,
        member: &str,
        (place, tools): (usize, &[Tool]),
        entries: &[NodeId],
    ) -> Option<Path> {
        let path = self.path(pair, member)?;
        let (at, tool) = (self.member(pair, member)?, &tools[place]);
        let entry = entries[tool.entry?];
        self.leads_to(at, &path, &VALUES, entry, tool.definition.as_ref(), tool.arguments.as_ref());
        Some(path)
    }
}
