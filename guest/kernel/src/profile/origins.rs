//! Reads the rules about the origins of arguments, and checks them against the tools and flows of the profile.

use seamgate_core::kernel_api::{Kind, NodeId, Selector, quote, sort};

use super::{Flow, read::Reader};
use crate::{
    document::{text_in, texts_in},
    known::Known,
    observed::add_paths,
    places::{Folder, Host},
    tool::{KnownValues, Origin, OriginRule, Otherwise, ResultOrigin, Source, Tool},
};

impl OriginRule {
    /// Returns the kinds of values that can have one of the rule's origins.
    pub(super) fn kinds(&self) -> &'static [Kind] {
        match self.from.iter().all(|origin| matches!(origin, Origin::Below(_) | Origin::Hosts(_))) {
            true => &[Kind::String],
            false => &[Kind::String, Kind::Number, Kind::True],
        }
    }
}

impl Reader<'_, '_> {
    /// Reads `origins` of a tool.
    pub(super) fn origins(&mut self, tool: NodeId, groups: &[&str], sources: &[&str]) -> Vec<OriginRule> {
        let document = self.document;
        let rules: Vec<NodeId> = self.member(tool, "origins").into_iter().flat_map(|at| document.items(at)).collect();
        let mut origins = Vec::new();
        for rule in rules {
            let from: Vec<NodeId> = self.member(rule, "from").into_iter().flat_map(|at| document.items(at)).collect();
            let from = from.into_iter().filter_map(|at| self.origin(at, sources)).collect();
            let otherwise = self.member(rule, "else").map(|at| self.otherwise(at, groups));
            if let Some(path) = self.path(rule, "path") {
                origins.push(OriginRule { path, from, otherwise });
            }
        }
        origins
    }

    fn otherwise(&mut self, at: NodeId, groups: &[&str]) -> Otherwise {
        let document = self.document;
        match document.kind(at) {
            Kind::Object => Otherwise::Approval(Some(self.approval(at, groups))),
            Kind::String if document.string(at) == "approval" => {
                if groups.is_empty() {
                    self.say(at, "approvers", "must be \"deny\" where the profile has no 'approvers'");
                }
                Otherwise::Approval(None)
            }
            _ => Otherwise::Deny,
        }
    }

    fn origin(&mut self, at: NodeId, sources: &[&str]) -> Option<Origin> {
        let document = self.document;
        if document.kind(at) == Kind::String {
            return Some(match document.string(at) {
                "user" => Origin::User,
                word => Origin::From(match word.strip_prefix("context.") {
                    None => Source::Task,
                    Some(name) => {
                        if !sources.contains(&name) {
                            self.say(at, "a source of 'context'", "must be a source that 'context' declares");
                        }
                        Source::Context(name.to_owned())
                    }
                }),
            });
        }
        if let Some(list) = text_in(document, at, "list") {
            return Some(Origin::List(list.to_owned()));
        }
        if let Some(folders) = self.member(at, "below") {
            let say = "must be a folder without '..', '\\', ':' or '~' at its beginning";
            return Some(Origin::Below(self.read_each(folders, "a folder", say, Folder::read)));
        }
        if let Some(hosts) = self.member(at, "hosts") {
            let say = "must be a host in ASCII, without scheme and port, or '*.' and a host";
            return Some(Origin::Hosts(self.read_each(hosts, "a host", say, Host::read)));
        }
        if self.member(at, "values").is_some() {
            let mut values = texts_in(document, at, "values");
            sort(&mut values);
            let known = Known::of(values.iter().map(String::as_str));
            return Some(Origin::Values(KnownValues { texts: values, known }));
        }
        self.result_origin(at).map(Origin::Result)
    }

    fn result_origin(&mut self, rule: NodeId) -> Option<ResultOrigin> {
        let tool = text_in(self.document, rule, "tool")?.to_owned();
        let at = self.path(rule, "at")?;
        let named = self.path(rule, "named");
        let origin = ResultOrigin { tool, at, named };
        let has_items = origin.named.iter().any(|named| named.selectors.contains(&Selector::Each));
        if has_items
            && origin.steps_to_item() == 0
            && let Some(place) = self.member(rule, "named")
        {
            let list = quote(&origin.at.text, 128);
            let message = format!("must begin with the list of {list} up to a '[*]': names of other items say nothing");
            self.say(place, "a path to the same items", &message);
        }
        Some(origin)
    }

    /// Collects for each tool the paths of its results at which rules look for origins.
    pub(super) fn observed(&mut self, tools: &mut [Tool]) {
        let document = self.document;
        if !self.is_part {
            let rules = self.each("tools").into_iter().filter_map(|tool| self.member(tool, "origins"));
            let rules = rules.flat_map(|rules| document.items(rules)).filter_map(|rule| self.member(rule, "from"));
            let named: Vec<NodeId> =
                rules.flat_map(|from| document.items(from)).filter_map(|at| self.member(at, "tool")).collect();
            for at in named {
                let is_meant = |tool: &Tool| !tool.is_delegate && tool.is_named(document.string(at));
                match tools.iter().filter(|tool| is_meant(tool)).count() {
                    _ if document.string(at) == "*" => self.say(at, "the name of a tool", "must name one tool"),
                    0 => self.say(at, "the name of a tool", "must be a tool of this profile"),
                    1 => {}
                    _ => self.say(at, "SERVER/NAME", "must name the server, too: several servers have this tool"),
                }
            }
        }
        let observed = tools.iter().filter(|tool| !tool.is_delegate).map(|tool| {
            let origins = tools.iter().flat_map(Tool::origins).filter_map(|origin| match origin {
                Origin::Result(origin) if origin.is_of(&tool.full_name()) => Some(origin),
                _ => None,
            });
            let mut paths = Vec::new();
            add_paths(&mut paths, origins.flat_map(|origin| [Some(&origin.at), origin.named.as_ref()]).flatten());
            paths.into_iter().cloned().collect()
        });
        let observed: Vec<_> = observed.collect();
        tools.iter_mut().filter(|tool| !tool.is_delegate).zip(observed).for_each(|(tool, paths)| tool.observed = paths);
    }

    /// Rejects rules that can never apply: origins that nothing depends on, and flows that no origin can exempt from.
    pub(super) fn origins_apply(&mut self, tools: &[Tool], flows: &[Flow]) {
        if self.is_part {
            return;
        }
        let entries = self.each("tools");
        let with_entry = tools.iter().filter_map(|tool| Some((tool, *entries.get(tool.entry?)?)));
        let mut told: Vec<NodeId> = Vec::new();
        for (tool, at) in with_entry {
            let is_used = tool.origins.iter().any(|rule| rule.otherwise.is_some())
                || flows.iter().any(|flow| flow.unless_origins && flow.is_about(tool));
            if let Some(at) = self.member(at, "origins").filter(|_| !tool.origins.is_empty() && !is_used) {
                // Tools of one pattern share their entry.
                if told.contains(&at) {
                    continue;
                }
                told.push(at);
                let message =
                    "can never apply: add 'else' to a rule, or \"unless\": \"origins\" to a flow about this tool";
                self.say(at, "a rule with 'else', or a flow with 'unless'", message);
            }
        }
        for (flow, at) in flows.iter().zip(self.each("flows")) {
            let may_apply = tools.iter().any(|tool| !tool.origins.is_empty() && flow.is_about(tool));
            if let Some(at) = self.member(at, "unless").filter(|_| flow.unless_origins && !may_apply) {
                let (to, message) = (&flow.to, "can never apply: no tool that the flow is about has 'origins'");
                self.say(at, &format!("a tool with 'origins' that is {to}"), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Profile;

    #[test]
    fn rules_are_told_in_their_own_entry_beside_patterns() {
        let pinned = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"properties":{{"x":{{}}}}}}}}"#);
        let origins = r#""origins":[{"path":"$.x","from":["user"]}]"#;
        for definitions in [vec![], vec![pinned("get_a")], vec![pinned("get_a"), pinned("get_b")]] {
            let profile = format!(
                r#"{{"agent":"a","tools":[{{"name":"get_*","effect":"read","definitions":[{}]}},
                {{"name":"t","effect":"read",{origins}}}]}}"#,
                definitions.join(",")
            );
            let fault = Profile::compile(&profile).err().map(|fault| fault.to_json()).unwrap_or_default();
            assert!(fault.contains("$.tools[1].origins can never apply"), "{profile}: {fault}");
            let profile = format!(
                r#"{{"agent":"a","tools":[{{"name":"get_*","effect":"read",{origins},"definitions":[{}]}}]}}"#,
                definitions.join(",")
            );
            let fault = Profile::compile(&profile).err().map(|fault| fault.to_json()).unwrap_or_default();
            assert_eq!(fault.matches("\"message\":\"can never apply").count(), definitions.len().min(1), "{fault}");
        }
    }

    #[test]
    fn rules_that_cannot_apply_are_errors() {
        let tool = |origins: &str| {
            format!(
                r#"{{"agent":"a","tools":[{{"name":"t","effect":"read","origins":[{{"path":"$.x",{origins}}}]}}]}}"#
            )
        };
        let flow = r#"{"agent":"a","tools":[{"name":"t","effect":"read"}],"flows":
            [{"after":"u","to":"read","unless":"origins","then":"deny"}]}"#;
        let other_items = r#""from":[{"tool":"t","at":"$.a[*]","named":"$.b[*]"}],"else":"deny""#;
        for (profile, message) in [
            (tool(r#""from":["user"]"#), "can never apply"),
            (flow.to_owned(), "can never apply"),
            (tool(r#""from":[{"tool":"z","at":"$"}],"else":"deny""#), "must be a tool of this profile"),
            (tool(r#""from":[{"tool":"*","at":"$"}],"else":"deny""#), "must name one tool"),
            (tool(other_items), "names of other items"),
            (tool(r#""from":["context.c"],"else":"deny""#), "a source that"),
            (tool(r#""from":["user"],"else":"approval""#), "no 'approvers'"),
            (tool(r#""from":[{"at":"$"}],"else":"deny""#), "tools[0].origins"),
        ] {
            let fault = Profile::compile(&profile).err().map(|fault| fault.to_json()).unwrap_or_default();
            assert!(fault.contains(message), "{profile}: {fault}");
        }
    }
}
