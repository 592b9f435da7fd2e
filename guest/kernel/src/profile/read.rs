//! Reads a profile from a document, and finds contradictions in it.

mod cases;
mod covers;
mod entries;

use seamgate_core::{
    Contract, Violation,
    kernel_api::{
        Describes, Document, Formats, Json, Kind, Lacking, Location, NodeId, Path, Schema, Selector, canonical, digest,
        ends_wrongly, json, leads_nowhere, quote, sort, sort_by_key, written,
    },
};

use entries::Meant;
use serde_json::value::RawValue;

use super::{
    Approver, Arguments, Budget, Context, Delegate, Deny, Flow, Group, Mode, Need, Profile, Projections, Prompt,
    Server, Then,
};
use crate::{
    call::DEFAULT_ARGUMENTS_BYTES,
    cases::{Approval, Permit},
    definition,
    document::{number_in, source, text, text_in, texts_in},
    names::Names,
    places::{Folder, Host},
    rate::Rate,
    render::sanitized,
    sanitize::Clean,
    tool::{
        Definition, Effect, Freshness, OriginRule, ResultContract, ResultRule, Scope, SecretRule, Source, Store,
        Support, Template, Tool, Within,
    },
};

/// The default time for which an approval is valid, in seconds.
pub(crate) const DEFAULT_TTL_S: u64 = 600;

/// The default maximum size of a result that the model reads, in bytes.
const DEFAULT_MAX_BYTES: u64 = 20_000;

/// The default maximum size of media in a result, in bytes.
const DEFAULT_MEDIA_BYTES: u64 = 5 * 1024 * 1024;

/// The default number of items that truncation keeps at the beginning and at the end, if `keep` lacks one of them.
const DEFAULT_HEAD: u64 = 30;
const DEFAULT_TAIL: u64 = 20;

/// The default maximum size of a context value that the model reads, in bytes.
const DEFAULT_CONTEXT_BYTES: u64 = 4_000;

/// The default maximum sizes of the prompt and of the state, in bytes.
const DEFAULT_PROMPT_BYTES: u64 = 60_000;
const DEFAULT_STATE_BYTES: u64 = 262_144;

/// The prefix of the names of delegate tools.
pub(crate) const DELEGATE: &str = "delegate_";

/// The schema of a delegate tool's arguments.
const DELEGATE_ARGUMENTS: &str = r#"{"type":"object","required":["reason"],"additionalProperties":false,"properties":{"reason":{"type":"string","minLength":1,"maxLength":4096}}}"#;

/// Returns the name under which a child receives a value: the last name of the value's path.
pub(crate) fn passed_as(path: &Path) -> String {
    let name = path.selectors.iter().rev().find_map(|selector| match selector {
        Selector::Name(name) => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_default()
}

/// Returns a contract for results with a schema, as JSON text, with the largest caps. `items` contains further members.
fn contract_of_results(schema: &str, items: &str) -> String {
    format!(
        r#"{{"agent":"result","schema":{schema},"extract":{{"markers":[],"untagged":false,"ignore":[]}},"caps":{{"bytes":67108864,"depth":96,"string_bytes":67108864,"array_items":10000000,"object_members":1000000}}{items}}}"#
    )
}

/// Checks that results can be validated against the `outputSchema` of a definition.
fn results(document: &Document, definition: NodeId) -> Result<(), String> {
    definition::results(document, definition)?;
    let Some(schema) = document.member(definition, "outputSchema") else { return Ok(()) };
    match Contract::compile(&contract_of_results(&source(document, schema), "")) {
        Ok(_) => Ok(()),
        Err(fault) => Err(definition::reason(document, definition, &fault.violations)),
    }
}

/// Returns the definition of a delegate tool.
fn delegate_definition(agent: &str) -> Definition {
    let name = json(&format!("{DELEGATE}{agent}"));
    let description = json(&format!("Hand a part of the task to the agent {agent}. It answers with a document."));
    let whole = format!(r#"{{"name":{name},"description":{description},"inputSchema":{DELEGATE_ARGUMENTS}}}"#);
    Definition {
        digest: digest(&whole),
        canonical: String::new(),
        shown: RawValue::from_string(whole).unwrap_or_default(),
        arguments: None,
        invalid: None,
    }
}

/// # Errors
///
/// Returns all violations in the document.
pub(crate) fn read(document: &Json) -> Result<Profile, Vec<Violation>> {
    read_as(document, false)
}

/// Reads the part of a profile that a parent handed on. Its paths were checked when the whole profile was loaded.
///
/// # Errors
///
/// Returns all violations in the document.
pub(crate) fn read_part(document: &Json) -> Result<Profile, Vec<Violation>> {
    read_as(document, true)
}

fn read_as(document: &Json, is_part: bool) -> Result<Profile, Vec<Violation>> {
    let mut reader = Reader { document, is_part, wrong: Vec::new() };
    let profile = reader.profile();
    if reader.wrong.is_empty() { Ok(profile) } else { Err(reader.wrong) }
}

/// Reads a document, and collects the violations in it.
pub(super) struct Reader<'d, 't> {
    pub(super) document: &'d Json<'t>,
    pub(super) is_part: bool,
    wrong: Vec<Violation>,
}

impl Reader<'_, '_> {
    fn profile(&mut self) -> Profile {
        let document = self.document;
        let source = document.minified();
        let approvers = self.approvers();
        let groups: Vec<&str> = approvers.iter().map(|group| group.name.as_str()).collect();
        let context = self.context();
        let sources: Vec<&str> = context.iter().map(|source| source.name.as_str()).collect();
        let meant = self.meant();
        let mut tools = self.each_meant(meant, |reader, at, meant| reader.tool(at, meant, &groups, &sources));
        let delegates = self.delegates();
        let delegate_tools = self.each("delegate");
        tools.extend(delegate_tools.into_iter().map(|at| self.delegate_tool(at, &groups)));
        self.unique_tools(&tools);
        self.observed(&mut tools);
        let deny = self.deny(&tools);
        for (when, rule) in deny.iter().filter_map(|rule| Some((rule.when.as_ref()?, rule))) {
            let paths = when.paths();
            for tool in tools.iter_mut().filter(|tool| tool.is_named(&rule.tool)) {
                paths.iter().for_each(|path| tool.names.add(path));
            }
        }
        let modes = self.modes(&tools, &groups);
        let flows = self.flows(&groups);
        self.origins_apply(&tools, &flows);
        self.covers(&mut tools, &flows);
        Profile {
            agent: text(document, "agent").unwrap_or_default().to_owned(),
            version: text(document, "version").unwrap_or("0.0.0").to_owned(),
            digest: digest(&source),
            modes,
            deny,
            flows,
            budget: self.budget(self.member(Document::ROOT, "budget")),
            task: self.task(),
            frame: self.member(Document::ROOT, "task").is_some_and(|task| self.is_true(task, "frame")),
            prompt: self.prompt(),
            final_contract: self.final_contract(),
            evidence: self.evidence(),
            fails_at_limit: text(document, "on_limit") == Some("failed"),
            stops_at_rejection: text(document, "on_reject") == Some("stop"),
            projections: self.projections(),
            delegates,
            servers: self.servers(),
            source,
            tools,
            approvers,
            context,
        }
    }

    pub(super) fn say(&mut self, at: NodeId, expected: &str, message: &str) {
        self.wrong.push(Violation::of(self.document, at, "profile", expected, message));
    }

    pub(super) fn member(&self, at: NodeId, name: &str) -> Option<NodeId> {
        self.document.member(at, name)
    }

    /// Returns the items of a member of the root.
    pub(super) fn each(&self, name: &str) -> Vec<NodeId> {
        self.member(Document::ROOT, name).into_iter().flat_map(|at| self.document.items(at)).collect()
    }

    /// Returns the members of a member of the root.
    fn members(&self, name: &str) -> Vec<(String, NodeId)> {
        let members = self.member(Document::ROOT, name).into_iter().flat_map(|at| self.document.members(at));
        members.map(|(name, at)| (self.document.string(name).to_owned(), at)).collect()
    }

    /// Compiles the schema that a member contains. `None` if it accepts everything.
    fn schema(&mut self, at: NodeId, name: &str) -> Option<Schema> {
        let at = self.member(at, name)?;
        if self.document.kind(at) == Kind::True {
            return None;
        }
        Schema::compile(self.document, at).map_err(|found| self.wrong.extend(found)).ok()
    }

    pub(super) fn path(&mut self, at: NodeId, name: &str) -> Option<Path> {
        let at = self.member(at, name)?;
        self.path_at(at)
    }

    pub(super) fn path_at(&mut self, at: NodeId) -> Option<Path> {
        let path = Path::read(self.document.string(at));
        if path.is_none() {
            self.say(
                at,
                "a path of names, indices and '[*]'",
                "must be a path (RFC 9535) of names, indices and '[*]', as $.list[*].name is",
            );
        }
        path
    }

    fn approvers(&self) -> Vec<Group> {
        let approver = |at: NodeId| Approver {
            principal: text_in(self.document, at, "principal").unwrap_or_default().to_owned(),
            key: text_in(self.document, at, "key").map(str::to_owned),
        };
        let approvers = |at: NodeId| self.document.items(at).map(approver).collect();
        self.members("approvers").into_iter().map(|(name, at)| Group { name, approvers: approvers(at) }).collect()
    }

    fn context(&mut self) -> Vec<Context> {
        let mut context: Vec<Context> = Vec::new();
        for at in self.each("context") {
            let name = text_in(self.document, at, "name").unwrap_or_default().to_owned();
            if context.iter().any(|other| other.name == name) {
                self.say(at, "each name once", "must have a name that no other source has");
            }
            let max_bytes = self.size(Some(at), "max_bytes", DEFAULT_CONTEXT_BYTES);
            context.push(Context {
                name,
                schema: self.schema(at, "schema"),
                max_bytes,
                is_required: self.is_true(at, "required"),
                labels: texts_in(self.document, at, "labels"),
            });
        }
        context
    }

    fn is_true(&self, at: NodeId, name: &str) -> bool {
        self.member(at, name).is_some_and(|at| self.document.kind(at) == Kind::True)
    }

    fn size(&self, at: Option<NodeId>, name: &str, default: u64) -> usize {
        let number = at.and_then(|at| number_in(self.document, at, name)).unwrap_or(default);
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    /// Returns the way in which the texts of a result are sanitized: one for the tool, or one for each label. If there
    /// are several labels, the strictest applies.
    fn clean(&self, rule: Option<NodeId>) -> Clean {
        let document = self.document;
        let word = |at: NodeId| match document.string(at) {
            "none" => Clean::None,
            "mark" => Clean::Mark,
            _ => Clean::Full,
        };
        let Some((rule, at)) = rule.and_then(|rule| Some((rule, document.member(rule, "clean")?))) else {
            return Clean::default();
        };
        if document.kind(at) != Kind::Object {
            return word(at);
        }
        let labels = self.labels(Some(rule));
        labels.iter().filter_map(|label| document.member(at, label)).map(word).max().unwrap_or_default()
    }

    /// Returns the labels of a tool's results. Results without labels in the profile are not trusted.
    fn labels(&self, rule: Option<NodeId>) -> Vec<String> {
        match rule.filter(|&rule| self.member(rule, "labels").is_some()) {
            Some(rule) => texts_in(self.document, rule, "labels"),
            None => vec!["untrusted".to_owned()],
        }
    }

    /// Compiles the contract for tasks. Tasks have a contract because the model may have to produce them.
    fn task(&mut self) -> Option<Contract> {
        let task = self.member(Document::ROOT, "task")?;
        let at = self.member(task, "schema")?;
        if let Err(found) = Schema::compile(self.document, at) {
            self.wrong.extend(found);
            return None;
        }
        let schema = source(self.document, at);
        let place = self.document.location(task);
        self.contract(&format!(r#"{{"agent":"task","schema":{schema}}}"#), &place)
    }

    fn prompt(&self) -> Option<Prompt> {
        let at = self.member(Document::ROOT, "prompt")?;
        Some(Prompt {
            role: text_in(self.document, at, "role").unwrap_or_default().to_owned(),
            rules: texts_in(self.document, at, "rules"),
            max_bytes: self.size(Some(at), "max_bytes", DEFAULT_PROMPT_BYTES),
        })
    }

    fn evidence(&mut self) -> Vec<Need> {
        let needs = self.member(Document::ROOT, "final").and_then(|at| self.member(at, "evidence"));
        let needs: Vec<NodeId> = needs.into_iter().flat_map(|at| self.document.items(at)).collect();
        let need = |at| Need {
            kind: text_in(self.document, at, "kind").unwrap_or_default().to_owned(),
            min: self.size(Some(at), "min", 1),
            or_explained: self.path(at, "or_explained"),
        };
        needs.into_iter().map(need).collect()
    }

    fn projections(&self) -> Projections {
        let document = self.document;
        let audience = |name| document.member(document.member(Document::ROOT, "projections")?, name);
        let texts = |name| {
            let members = document.members(audience(name)?);
            let texts = members.map(|(tool, at)| (document.string(tool).to_owned(), document.string(at).to_owned()));
            Some(texts.collect())
        };
        let arguments = |name| match text_in(document, audience(name)?, "args") {
            Some("text") => Some(Arguments::Text),
            _ => Some(Arguments::Digest),
        };
        Projections { ui: texts("ui"), user: texts("user"), audit: arguments("audit"), eval: arguments("eval") }
    }

    fn delegates(&mut self) -> Vec<Delegate> {
        let mut delegates: Vec<Delegate> = Vec::new();
        for at in self.each("delegate") {
            let paths: Vec<NodeId> =
                self.member(at, "pass").into_iter().flat_map(|at| self.document.items(at)).collect();
            let mut names = vec!["reason".to_owned()];
            let paths: Vec<(NodeId, Path)> = paths.into_iter().filter_map(|at| Some((at, self.path_at(at)?))).collect();
            for (at, path) in &paths {
                let name = passed_as(path);
                if names.contains(&name) {
                    let message = "must end in a name that no other path here ends in, and that is not \"reason\"";
                    self.say(*at, "each name once", message);
                }
                names.push(name);
            }
            let agent = text_in(self.document, at, "agent").unwrap_or_default().to_owned();
            delegates.push(Delegate {
                agent,
                profile: text_in(self.document, at, "profile").unwrap_or_default().to_owned(),
                tools: texts_in(self.document, at, "tools"),
                pass: paths.into_iter().map(|(_, path)| path).collect(),
                budget: self.budget(self.member(at, "budget")),
                limits_state: self.member(at, "budget").is_some_and(|at| self.member(at, "state_bytes").is_some()),
            });
        }
        delegates
    }

    fn servers(&self) -> Vec<Server> {
        let members = self.members("servers").into_iter();
        members.map(|(name, at)| Server { name, methods: texts_in(self.document, at, "methods") }).collect()
    }

    /// Returns the tool that delegates to an agent. It is like other tools, but the host itself offers it.
    fn delegate_tool(&mut self, at: NodeId, groups: &[&str]) -> Tool {
        let agent = text_in(self.document, at, "agent").unwrap_or_default();
        Tool {
            definition: Some(delegate_definition(agent)),
            name: format!("{DELEGATE}{agent}"),
            server: String::new(),
            // The child's run has the key of the call, so repeating the call does not start another run.
            effect: Effect::Idempotent,
            egress: false,
            store: None,
            same_call: None,
            rate: None,
            arguments: Some(Schema::own(DELEGATE_ARGUMENTS)),
            names: Names::default(),
            scope: Vec::new(),
            origins: Vec::new(),
            secrets: Vec::new(),
            observed: Vec::new(),
            permit: self.permit(at, groups).into(),
            covers: Vec::new(),
            max_arguments_bytes: DEFAULT_ARGUMENTS_BYTES,
            result: self.result_rule(None, None),
            is_delegate: true,
            entry: None,
        }
    }

    fn tool(&mut self, at: NodeId, meant: Meant, groups: &[&str], sources: &[&str]) -> Tool {
        let document = self.document;
        let Meant { entry, name, definition: pinned } = meant;
        let definition = pinned.and_then(|pinned| self.definition(at, pinned, &name));
        let is_disabled = definition.as_ref().is_some_and(|definition| definition.invalid.is_some());
        let arguments = self.schema(at, "arguments");
        let scope = self.scope(at, sources);
        let origins = self.origins(at, groups, sources);
        let paths = scope.iter().map(|rule| (&rule.path, kinds_within(&rule.within))).collect();
        self.reachable((at, "scope"), paths, definition.as_ref(), arguments.as_ref());
        let paths = origins.iter().map(|rule| (&rule.path, rule.kinds())).collect();
        self.reachable((at, "origins"), paths, definition.as_ref(), arguments.as_ref());
        let secrets = self.secrets(at);
        let paths = secrets.iter().map(|rule| (&rule.path, &[Kind::String][..])).collect();
        self.reachable((at, "secrets"), paths, definition.as_ref(), arguments.as_ref());
        let permit = self.cases(at, groups, definition.as_ref(), arguments.as_ref());
        let mut names = names(definition.as_ref(), arguments.as_ref(), &scope, &origins);
        secrets.iter().for_each(|rule| names.add(&rule.path.selectors));
        permit.paths().iter().for_each(|path| names.add(path));
        let store = self.store(at);
        store.iter().filter_map(|store| store.key.as_ref()).for_each(|path| names.add(&path.selectors));
        Tool {
            server: text_in(document, at, "server").unwrap_or_default().to_owned(),
            effect: self.effect(at, pinned),
            same_call: number_in(document, at, "same_call"),
            rate: self.rate(at),
            egress: self.member(at, "egress").is_some_and(|at| document.kind(at) == Kind::True),
            store,
            names,
            definition,
            arguments,
            scope,
            origins,
            secrets,
            observed: Vec::new(),
            permit,
            // These rules name other tools, which are read first.
            covers: Vec::new(),
            max_arguments_bytes: self.size(Some(at), "max_arguments_bytes", DEFAULT_ARGUMENTS_BYTES as u64),
            result: self.result_rule(Some((at, pinned)).filter(|_| !is_disabled), self.member(at, "result")),
            name,
            is_delegate: false,
            entry: Some(entry),
        }
    }

    fn definition(&mut self, tool: NodeId, at: NodeId, name: &str) -> Option<Definition> {
        let document = self.document;
        if text_in(document, at, "name") != Some(name) {
            let expected = quote(name, 128);
            self.say(at, &expected, &format!("must be the definition of the tool {expected}"));
        }
        let has_schema = self.member(tool, "result").is_some_and(|rule| self.member(rule, "schema").is_some());
        let arguments = definition::arguments(document, at, self.formats(tool));
        let results = if has_schema { Ok(()) } else { results(document, at) };
        let invalid = arguments.as_ref().err().cloned().or(results.err());
        Some(Definition {
            digest: digest(&source(document, at)),
            canonical: definition::equal(document, at),
            shown: RawValue::from_string(sanitized(document, at)).unwrap_or_default(),
            arguments: arguments.ok().flatten(),
            invalid,
        })
    }

    /// Returns the effect of a tool. For `annotated`, the pinned definition states it, unless its annotations
    /// contradict each other.
    fn effect(&self, tool: NodeId, pinned: Option<NodeId>) -> Effect {
        match text_in(self.document, tool, "effect").unwrap_or_default() {
            "annotated" => pinned.map_or(Effect::Effectful, |pinned| definition::annotated(self.document, pinned)),
            word => Effect::of(word),
        }
    }

    fn store(&mut self, tool: NodeId) -> Option<Store> {
        let at = self.member(tool, "store")?;
        let name = text_in(self.document, at, "name").unwrap_or_default().to_owned();
        Some(Store { name, key: self.path(at, "key") })
    }

    fn rate(&mut self, tool: NodeId) -> Option<Rate> {
        let at = self.member(tool, "rate")?;
        let rate = Rate::read(self.document.string(at));
        if rate.is_none() {
            let message =
                "must be a number of calls, 1 to 1000, and a unit (second, minute, hour, day), as 10/minute is";
            self.say(at, "a rate", message);
        }
        rate
    }

    /// Returns the treatment of `format` in the schemas of a tool's definition.
    fn formats(&self, tool: NodeId) -> Formats {
        match text_in(self.document, tool, "formats") {
            Some("assert") => Formats::Assert,
            _ => Formats::Annotate,
        }
    }

    fn scope(&mut self, tool: NodeId, sources: &[&str]) -> Vec<Scope> {
        let document = self.document;
        let rules: Vec<NodeId> = self.member(tool, "scope").into_iter().flat_map(|at| document.items(at)).collect();
        let mut scopes = Vec::new();
        for rule in rules {
            let within = if let Some(list) = text_in(document, rule, "list") {
                Within::List(list.to_owned())
            } else if let Some(from) = self.member(rule, "from") {
                let mut named = Vec::new();
                for at in document.items(from) {
                    match document.string(at).strip_prefix("context.") {
                        Some(name) if !sources.contains(&name) => {
                            self.say(at, "a source of 'context'", "must be a source that 'context' declares");
                        }
                        Some(name) => named.push(Source::Context(name.to_owned())),
                        None => named.push(Source::Task),
                    }
                }
                Within::From(named)
            } else if let Some(folders) = self.member(rule, "below") {
                Within::Below(self.read_each(folders, "a folder", cases::FOLDERS, Folder::read))
            } else if let Some(hosts) = self.member(rule, "hosts") {
                Within::Hosts(self.read_each(hosts, "a host", cases::HOSTS, Host::read))
            } else {
                let mut values = texts_in(document, rule, "values");
                sort(&mut values);
                Within::Values(values)
            };
            if let Some(path) = self.path(rule, "path") {
                scopes.push(Scope { path, within });
            }
        }
        scopes
    }

    /// Reads `secrets` of a tool.
    fn secrets(&mut self, tool: NodeId) -> Vec<SecretRule> {
        let document = self.document;
        let rules: Vec<NodeId> = self.member(tool, "secrets").into_iter().flat_map(|at| document.items(at)).collect();
        let rule = |rule| Some(SecretRule { path: self.path(rule, "path")?, names: texts_in(document, rule, "names") });
        rules.into_iter().filter_map(rule).collect()
    }

    /// Parses each text of a list. Reports an error for a text that cannot be parsed.
    pub(super) fn read_each<T>(
        &mut self,
        list: NodeId,
        expected: &str,
        wrong: &str,
        read: fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let document = self.document;
        let mut all = Vec::new();
        for at in document.items(list) {
            match read(document.string(at)) {
                Some(one) => all.push(one),
                None => self.say(at, expected, wrong),
            }
        }
        all
    }

    /// Checks that the paths in a tool's rules about values exist in its definition and its own schema. A definition
    /// that is not pinned yet is checked when it is pinned.
    fn reachable(
        &mut self,
        (tool, member): (NodeId, &str),
        paths: Vec<(&Path, &[Kind])>,
        pinned: Option<&Definition>,
        own: Option<&Schema>,
    ) {
        let document = self.document;
        let rules = self.member(tool, member).into_iter().flat_map(|at| document.items(at));
        // An invalid path has a separate error.
        let rules: Vec<NodeId> = rules.filter_map(|rule| document.member(rule, "path")).collect();
        for (path, wanted) in paths {
            let Some(&at) = rules.iter().find(|&&at| document.string(at) == path.text) else { continue };
            self.leads_to(at, path, wanted, tool, pinned, own);
        }
    }

    /// Checks that a path of a tool's arguments exists in its definition and its own schema.
    fn leads_to(
        &mut self,
        at: NodeId,
        path: &Path,
        wanted: &[Kind],
        tool: NodeId,
        pinned: Option<&Definition>,
        own: Option<&Schema>,
    ) {
        if self.is_part {
            return;
        }
        let name = quote(text_in(self.document, tool, "name").unwrap_or_default(), 128);
        let pinned = pinned.and_then(|definition| definition.arguments.as_ref());
        let schemas = [
            (pinned, Describes::All, format!("the pinned definition of {name}")),
            (own, Describes::Part, format!("the 'arguments' of {name}")),
        ];
        for (schema, describes, of) in &schemas {
            let Some(schema) = schema else { continue };
            let wrong = match schema.reach(&path.selectors, *describes) {
                Ok(kinds) => ends_wrongly(&path.selectors, kinds, wanted, of),
                Err(lacking) => Some(leads_nowhere(&path.selectors, &lacking, of)),
            };
            if let Some(wrong) = wrong {
                self.say(at, entries::PATH, &wrong);
                return;
            }
        }
    }

    /// Checks that each member that a condition names exists in at least one of its tools' definitions.
    fn applicable(&mut self, at: NodeId, rule: &Deny, tools: &[Tool]) {
        let Some(when) = &rule.when else { return };
        let meant: Vec<&Tool> = tools.iter().filter(|tool| tool.is_named(&rule.tool)).collect();
        let definitions = meant.iter().filter_map(|tool| tool.definition.as_ref());
        let schemas: Vec<&Schema> = definitions.filter_map(|definition| definition.arguments.as_ref()).collect();
        if meant.is_empty() || schemas.len() < meant.len() {
            return;
        }
        let of = match &meant[..] {
            [tool] => format!("the pinned definition of {}", quote(&tool.full_name(), 128)),
            _ => format!("the pinned definition of any tool that {} names", quote(&rule.tool, 128)),
        };
        self.has_members(at, when, &schemas, &of);
    }

    /// Checks that each member that a condition names exists in at least one of the given definitions.
    fn has_members(&mut self, at: NodeId, when: &Schema, definitions: &[&Schema], of: &str) {
        if self.is_part {
            return;
        }
        let mut all = when.paths();
        sort_by_key(&mut all, Vec::len);
        let mut wrong: Vec<Vec<Selector>> = Vec::new();
        for path in all {
            if wrong.iter().any(|known| path.starts_with(known)) {
                continue;
            }
            let found = path.clone();
            let lacking: Option<Vec<Lacking>> =
                definitions.iter().map(|schema| schema.reach(&path, Describes::All).err()).collect();
            if let Some(lacking) = lacking.and_then(|all| all.into_iter().max_by_key(|lacking| lacking.steps)) {
                let (path, why) = (quote(&written(&path), 256), leads_nowhere(&path, &lacking, of));
                let message = format!("can never apply: {path} {why}");
                self.say(at, entries::MEMBERS, &message);
                wrong.push(found);
            }
        }
    }

    /// Reads `permit` of a delegate or of a case. The default is deny.
    fn permit(&mut self, tool: NodeId, groups: &[&str]) -> Permit {
        let document = self.document;
        let Some(at) = self.member(tool, "permit") else {
            return Permit::Deny;
        };
        match document.kind(at) {
            Kind::String if document.string(at) == "allow" => Permit::Allow,
            Kind::Object => Permit::Approval(self.approval(at, groups)),
            _ => Permit::Deny,
        }
    }

    /// Reads `{"approval": {"by": […], "ttl_s": …}}`.
    pub(super) fn approval(&mut self, at: NodeId, groups: &[&str]) -> Approval {
        let document = self.document;
        let at = self.member(at, "approval").unwrap_or(at);
        if let Some(by) = self.member(at, "by") {
            self.known_groups(by, groups);
        }
        Approval { by: texts_in(document, at, "by"), ttl_s: number_in(document, at, "ttl_s").unwrap_or(DEFAULT_TTL_S) }
    }

    fn known_groups(&mut self, by: NodeId, groups: &[&str]) {
        let document = self.document;
        for at in document.items(by) {
            if !groups.contains(&document.string(at)) {
                let known = if groups.is_empty() { "a group of 'approvers'".to_owned() } else { groups.join(", ") };
                self.say(at, &known, "must be a group that 'approvers' names");
            }
        }
    }

    fn unique_tools(&mut self, tools: &[Tool]) {
        let (entries, delegates) = (self.each("tools"), self.each("delegate"));
        let places = tools.iter().filter_map(|tool| tool.entry).map(|entry| entries[entry]).chain(delegates);
        for (index, at) in places.collect::<Vec<_>>().into_iter().enumerate() {
            let same = |other: &&Tool| other.name == tools[index].name && other.server == tools[index].server;
            if tools[..index].iter().any(|other| same(&other)) {
                self.say(at, "each tool once", "must be a tool that is not there yet: its server and name are taken");
            }
        }
    }

    /// Checks that each name or pattern of a tool matches at least one tool.
    fn known_tools(&mut self, words: impl IntoIterator<Item = NodeId>, tools: &[Tool]) {
        let document = self.document;
        for at in words {
            let word = document.string(at);
            if word != "*" && !tools.iter().any(|tool| tool.is_named(word)) {
                self.say(at, "the name of a tool, or *", "must be a tool of this profile, or *");
            }
        }
    }

    fn modes(&mut self, tools: &[Tool], groups: &[&str]) -> Vec<Mode> {
        let document = self.document;
        let task = self.member(Document::ROOT, "task").and_then(|at| document.member(at, "schema"));
        // An invalid schema has a separate error.
        let task = task.and_then(|at| Schema::compile(document, at).ok());
        let task = task.as_ref();
        let mut modes = Vec::new();
        for (name, at) in self.members("modes") {
            let words: Vec<NodeId> = self.member(at, "tools").into_iter().flat_map(|at| document.items(at)).collect();
            self.known_tools(words, tools);
            if let Some(by) = self.member(at, "by") {
                self.known_groups(by, groups);
            }
            let mut when = Vec::new();
            for (path, values) in self.member(at, "when").into_iter().flat_map(|at| document.members(at)) {
                let at = path;
                if let Some(path) = self.path_at(path) {
                    if let Some(Err(lacking)) = task.map(|task| task.reach(&path.selectors, Describes::All)) {
                        let message = leads_nowhere(&path.selectors, &lacking, "the task");
                        self.say(at, "a path of the task", &message);
                    }
                    when.push((path, document.items(values).map(|at| canonical(document, at)).collect()));
                }
            }
            let by = texts_in(document, at, "by");
            modes.push(Mode { name, tools: texts_in(document, at, "tools"), when, by });
        }
        modes
    }

    fn deny(&mut self, tools: &[Tool]) -> Vec<Deny> {
        let document = self.document;
        let mut deny = Vec::new();
        for at in self.each("deny") {
            self.known_tools(self.member(at, "tool"), tools);
            let rule = Deny {
                tool: text_in(document, at, "tool").unwrap_or("*").to_owned(),
                when: self.schema(at, "when"),
                reason: text_in(document, at, "reason").unwrap_or_default().to_owned(),
            };
            if let Some(when) = self.member(at, "when") {
                self.applicable(when, &rule, tools);
            }
            deny.push(rule);
        }
        deny
    }

    fn flows(&mut self, groups: &[&str]) -> Vec<Flow> {
        let document = self.document;
        let mut flows = Vec::new();
        for at in self.each("flows") {
            let then = self.member(at, "then").unwrap_or(at);
            let word = |name| text_in(document, at, name).unwrap_or_default().to_owned();
            let then = match document.kind(then) {
                Kind::Object => Then::Approval(Some(self.approval(then, groups))),
                Kind::String if document.string(then) == "approval" => {
                    if groups.is_empty() {
                        self.say(then, "approvers", "must be \"deny\" where the profile has no 'approvers'");
                    }
                    Then::Approval(None)
                }
                _ => Then::Deny,
            };
            let unless_origins = self.member(at, "unless").is_some();
            flows.push(Flow { after: word("after"), to: word("to"), unless_origins, then });
        }
        flows
    }

    fn budget(&self, at: Option<NodeId>) -> Budget {
        let limit = |name| number_in(self.document, at?, name);
        Budget {
            steps: limit("steps"),
            tool_calls: limit("tool_calls"),
            tokens: limit("tokens"),
            ms: limit("ms"),
            same_call: limit("same_call"),
            state_bytes: self.size(at, "state_bytes", DEFAULT_STATE_BYTES),
        }
    }

    /// Compiles a contract. Its locations are reported below a place in this document.
    fn contract(&mut self, text: &str, place: &Location) -> Option<Contract> {
        match Contract::compile(text) {
            Ok(contract) => Some(contract),
            Err(fault) => {
                // Spans refer to the contract's own text, which may not occur in any document.
                let told = |wrong: Violation| Violation { span: None, ..wrong.under(place) };
                self.wrong.extend(fault.violations.into_iter().map(told));
                None
            }
        }
    }

    fn final_contract(&mut self) -> Option<Contract> {
        let at = self.member(self.member(Document::ROOT, "final")?, "contract")?;
        self.contract(&source(self.document, at), &self.document.location(at))
    }

    /// Reads the rules for a tool's results. `tool` contains its entry and its pinned definition.
    fn result_rule(&mut self, tool: Option<(NodeId, Option<NodeId>)>, rule: Option<NodeId>) -> ResultRule {
        let document = self.document;
        let inside = |name: &str| rule.and_then(|rule| document.member(rule, name));
        let (provenance, freshness, keep) = (inside("provenance"), inside("freshness"), inside("keep"));
        let items = rule.and_then(|rule| self.items(rule));
        // An invalid path has a separate error.
        let are_items = items.is_some() || inside("items").is_none();
        ResultRule {
            max_bytes: self.size(rule, "max_bytes", DEFAULT_MAX_BYTES),
            max_media_bytes: self.size(rule, "max_media_bytes", DEFAULT_MEDIA_BYTES),
            clean: self.clean(rule),
            media: match (inside("media"), rule) {
                (Some(_), Some(rule)) => texts_in(document, rule, "media"),
                _ => vec!["*/*".to_owned()],
            },
            contract: tool.filter(|_| are_items).and_then(|(tool, pinned)| self.result_contract(tool, pinned, rule)),
            items,
            head: keep.map_or(usize::MAX, |_| self.size(keep, "head", DEFAULT_HEAD)),
            tail: keep.map_or(usize::MAX, |_| self.size(keep, "tail", DEFAULT_TAIL)),
            source: provenance.and_then(|at| text_in(document, at, "source")).map(str::to_owned),
            query: provenance.and_then(|at| self.template(at, "query")),
            time_range: provenance.and_then(|at| self.template(at, "time_range")),
            cached: provenance.and_then(|at| self.path(at, "cached")),
            freshness: freshness.and_then(|at| {
                let path = self.path(at, "path")?;
                Some(Freshness { path, max_lag_s: number_in(document, at, "max_lag_s").unwrap_or_default() })
            }),
            confidence: rule.and_then(|at| self.path(at, "confidence")),
            sampled: rule.and_then(|at| self.path(at, "sampled")),
            partial: rule.and_then(|at| self.path(at, "partial")),
            labels: self.labels(rule),
            supports: self.supports(rule),
        }
    }

    fn supports(&mut self, rule: Option<NodeId>) -> Vec<Support> {
        let document = self.document;
        let rules = rule.and_then(|rule| document.member(rule, "supports"));
        let rules: Vec<NodeId> = rules.into_iter().flat_map(|at| document.items(at)).collect();
        let support = |at| Support {
            kind: text_in(document, at, "kind").unwrap_or_default().to_owned(),
            when: self.schema(at, "when"),
        };
        rules.into_iter().map(support).collect()
    }

    fn template(&mut self, at: NodeId, name: &str) -> Option<Template> {
        let text = text_in(self.document, at, name)?;
        match text.starts_with('$') {
            true => self.path(at, name).map(Template::Path),
            false => Some(Template::Text(text.to_owned())),
        }
    }

    /// Returns the path of the items, without its final `[*]`.
    fn items(&mut self, rule: NodeId) -> Option<Path> {
        let at = self.member(rule, "items")?;
        let mut path = self.path_at(at)?;
        let is_each = |selector: &Selector| *selector == Selector::Each;
        if !path.selectors.pop().is_some_and(|last| is_each(&last)) || path.selectors.iter().any(is_each) {
            self.say(at, "a path of names and indices, and '[*]'", "must end with '[*]', and have no other");
            return None;
        }
        Some(path)
    }

    /// Returns the contract of a tool's result: its schema, its items, and the largest caps.
    fn result_contract(
        &mut self,
        tool: NodeId,
        pinned: Option<NodeId>,
        rule: Option<NodeId>,
    ) -> Option<ResultContract> {
        let document = self.document;
        let own = rule.and_then(|rule| document.member(rule, "schema"));
        let declared = pinned.and_then(|at| document.member(at, "outputSchema"));
        let schema = own.or(declared);
        let items = rule.and_then(|rule| text_in(document, rule, "items"));
        if schema.is_none() && items.is_none() {
            return None;
        }
        if let Some(at) = schema
            && let Err(found) = Schema::compile(document, at)
        {
            self.wrong.extend(found);
            return None;
        }
        let schema = schema.map_or("true".to_owned(), |at| source(document, at));
        let whole = |more: &str| contract_of_results(&schema, more);
        let place = document.location(tool).name("result");
        let path = items.map(|path| json(&path));
        let mut compile = |more: &str| {
            let Some(path) = &path else { return self.contract(&whole(more), &place) };
            // If the schema does not define the items, any value may be an item.
            let governed = Contract::compile(&whole(&format!(r#","items":{{"path":{path}}}{more}"#)));
            let any = format!(r#","items":{{"path":{path},"schema":true}}{more}"#);
            governed.ok().or_else(|| self.contract(&whole(&any), &place))
        };
        let asserting = compile("")?;
        // Without a format, both are the same.
        let is_annotated = own.is_none() && schema.contains("\"format\"");
        let annotating = if is_annotated { compile(r#","formats":"annotate""#) } else { None };
        let annotating = annotating.filter(|_| self.formats(tool) == Formats::Annotate);
        Some(ResultContract { asserting, annotating })
    }
}

/// Returns the kinds of values that a scope can accept.
fn kinds_within(within: &Within) -> &'static [Kind] {
    match within {
        Within::List(_) | Within::Values(_) | Within::Below(_) | Within::Hosts(_) => &[Kind::String],
        Within::From(_) => &[Kind::String, Kind::Number, Kind::True],
    }
}

/// Returns the names of arguments in a tool's schemas and in its rules about values.
fn names(definition: Option<&Definition>, own: Option<&Schema>, scope: &[Scope], origins: &[OriginRule]) -> Names {
    let mut names = Names::default();
    let schemas = definition.and_then(|definition| definition.arguments.as_ref()).into_iter().chain(own);
    for path in schemas.flat_map(Schema::paths) {
        names.add(&path);
    }
    let rules = scope.iter().map(|rule| &rule.path).chain(origins.iter().map(|rule| &rule.path));
    rules.for_each(|path| names.add(&path.selectors));
    names
}
