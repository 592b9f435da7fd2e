//! The catalog of tools. The gate asks the servers for their tools, the kernel decides which of them the client may
//! see, and the client gets those.

use std::collections::{BTreeMap, HashMap, VecDeque};

use seamgate::{Json, ToolsListedEvent};
use seamgate_runner::mcp::MAX_TOOLS;
use seamgate_text::escape_terminal;
use serde_json::value::RawValue;

use super::{
    call_request::Target,
    effects::{Effect, UpstreamId},
    links::{Links, Place, Then, cut},
    listed::{Listed, Next, name_of},
    message::{Answer, INTERNAL_ERROR, Id, Members, Message, Raw, json},
    meta,
    policy::{Policy, READ_ARTIFACT},
    server::Asked,
    surface::{Surface, meant},
};

/// The most requests that wait for a list of tools.
const MAX_WAITING: usize = 1024;

/// The definition of the gate's own tool.
const READ_ARTIFACT_DEFINITION: &str = r#"{"name":"read_artifact","description":"Read a whole result that was cut, in pieces. Each piece says where the next one begins.","inputSchema":{"type":"object","properties":{"artifact":{"type":"string","description":"The artifact that the cut result names: sha256:…"},"offset":{"type":"integer","minimum":0,"description":"Where to begin, in bytes. Default: 0."}},"required":["artifact"],"additionalProperties":false}}"#;

/// The state of one server's tools.
#[derive(Default)]
struct Source {
    listed: Listed,
    /// `true` if the server declares that it has tools. `None` before the server is asked.
    has_tools: Option<bool>,
    /// `true` if the server may report changes to its tools. `None` before the server is asked.
    tells_changes: Option<bool>,
    /// The gate's subscription to changes, if it has one.
    subscription: Option<u64>,
}

/// A request that waits for a list of tools.
enum Waiting {
    List(Id),
    Call(EarlyCall),
}

/// A call that arrived before there was a list.
pub(super) struct EarlyCall {
    pub(super) id: Id,
    pub(super) params: Option<Raw>,
    /// The headers that repeat arguments. `None` if the client does not send such headers.
    pub(super) headers: Option<Vec<(String, String)>>,
}

impl Waiting {
    fn id(&self) -> &Id {
        match self {
            Waiting::List(id) | Waiting::Call(EarlyCall { id, .. }) => id,
        }
    }
}

/// The catalog of tools.
#[derive(Default)]
pub(super) struct Catalog {
    sources: Vec<Source>,
    surface: Surface,
    /// Tools that the client saw before, by their names.
    seen: HashMap<String, (UpstreamId, String)>,
    /// The list that the kernel received. `None` before the first one.
    told: Option<String>,
    /// The number of servers whose lists are being read, and whether a list may have changed meanwhile.
    listing: usize,
    is_stale: bool,
    /// `true` if the kernel must judge the list again, by another profile.
    is_judged_again: bool,
    waiting: VecDeque<Waiting>,
    /// Calls whose list is available now.
    ready: VecDeque<EarlyCall>,
    /// Notifications for the client that tools have changed.
    changes: Vec<Message>,
    /// The error that a server returned in place of its list.
    error: Option<String>,
    /// `_meta` for the gate's own requests, if there is no session.
    meta: Option<String>,
}

impl Catalog {
    pub(super) fn new(servers: usize) -> Self {
        Catalog { sources: (0..servers).map(|_| Source::default()).collect(), ..Catalog::default() }
    }

    /// Returns the number of entries in each collection.
    pub(super) fn sizes(&self) -> [(&'static str, usize); 4] {
        [
            ("seen", self.seen.len()),
            ("waiting", self.waiting.len()),
            ("ready", self.ready.len()),
            ("changes", self.changes.len()),
        ]
    }

    /// Takes `_meta` for the gate's own requests from a request of the client.
    pub(super) fn set_meta(&mut self, params: Option<&RawValue>) {
        self.meta = meta::own_meta(params);
    }

    /// Records what a server declares about its tools.
    pub(super) fn set_capabilities(&mut self, server: UpstreamId, has_tools: bool, tells_changes: bool) {
        if let Some(source) = self.sources.get_mut(server.0) {
            (source.has_tools, source.tells_changes) = (Some(has_tools), Some(tells_changes));
        }
    }

    /// Returns whether calls can be decided now.
    pub(super) fn is_known(&self) -> bool {
        self.told.is_some() && self.listing == 0
    }

    /// Returns whether the kernel has received a list.
    pub(super) fn has_told(&self) -> bool {
        self.told.is_some()
    }

    /// Returns whether requests wait for a list, or have waited and are not yet decided.
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || !self.ready.is_empty()
    }

    /// Handles a request for the list of tools.
    pub(super) fn on_list_request(&mut self, id: &Id, links: &mut Links) {
        self.wait(Waiting::List(id.clone()), links);
    }

    /// Handles a call that must wait for a list.
    pub(super) fn on_early_call(&mut self, call: EarlyCall, links: &mut Links) {
        self.wait(Waiting::Call(call), links);
    }

    fn wait(&mut self, waiting: Waiting, links: &mut Links) {
        if self.waiting.len() >= MAX_WAITING {
            links.error(waiting.id(), INTERNAL_ERROR, "too many requests wait for the list of tools");
            return;
        }
        links.put(waiting.id(), Place::Catalog);
        self.waiting.push_back(waiting);
    }

    /// Handles the cancellation of a request that waits here.
    pub(super) fn on_cancelled(&mut self, id: &Id) {
        self.waiting.retain(|waiting| waiting.id() != id);
    }

    /// Takes the next call whose list is available.
    pub(super) fn next_ready(&mut self) -> Option<EarlyCall> {
        self.ready.pop_front()
    }

    /// Asks the servers for their tools, unless that is already in progress. `is_ready` returns which servers can be
    /// asked.
    pub(super) fn list(&mut self, policy: &Policy, is_ready: impl Fn(UpstreamId) -> bool, links: &mut Links) {
        if self.listing > 0 {
            return;
        }
        let is_stateless = self.meta.is_some();
        let has_tools = |server: &UpstreamId| self.sources[server.0].has_tools.unwrap_or(is_stateless);
        let servers: Vec<UpstreamId> = links.all().filter(|server| has_tools(server) && is_ready(*server)).collect();
        self.listing = servers.len();
        if servers.is_empty() {
            return self.on_all_listed(policy, links);
        }
        for server in servers {
            self.subscribe(server, policy, links);
            self.sources[server.0].listed.begin();
            self.ask_page(server, None, policy, links);
        }
    }

    fn ask_page(&mut self, server: UpstreamId, cursor: Option<&str>, policy: &Policy, links: &mut Links) {
        let cursor = cursor.map(|cursor| format!("\"cursor\":{}", json(cursor)));
        let members: Vec<String> = cursor.into_iter().chain(self.meta_for(server, policy, links)).collect();
        let params = (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")));
        let since = links.now;
        if links.ask(server, "tools/list", params, Asked::List { since }).is_err() {
            self.on_no_list(server, policy, links);
        }
    }

    /// Returns the member `_meta` for the gate's own requests to a server.
    fn meta_for(&self, server: UpstreamId, policy: &Policy, links: &Links) -> Option<String> {
        let meta = self.meta.as_ref()?;
        Some(format!("\"_meta\":{}", meta::cut_meta(policy, links.name(server), meta)))
    }

    /// Subscribes to changes of a server's tools. Without a session, a server reports changes only to subscribers.
    fn subscribe(&mut self, server: UpstreamId, policy: &Policy, links: &mut Links) {
        let Some(meta) = self.meta_for(server, policy, links) else { return };
        let source = &mut self.sources[server.0];
        if source.subscription.is_some() || source.tells_changes == Some(false) {
            return;
        }
        let params = format!("{{{meta},\"notifications\":{{\"toolsListChanged\":true}}}}");
        source.subscription = links.ask(server, "subscriptions/listen", Some(params), Asked::Listen).ok();
    }

    /// Returns whether the gate's own subscription at a server has this id.
    pub(super) fn is_own_subscription(&self, server: UpstreamId, id: u64) -> bool {
        self.sources.get(server.0).is_some_and(|source| source.subscription == Some(id))
    }

    /// Handles a server's answer to the request for a page. Returns an error that must be judged before clients read
    /// it.
    pub(super) fn on_page(
        &mut self,
        server: UpstreamId,
        answer: &Answer,
        policy: &Policy,
        links: &mut Links,
    ) -> Option<Raw> {
        let listed = &mut self.sources[server.0].listed;
        let taken = match answer {
            Answer::Result(result) => listed.take(result),
            Answer::Error(error) if listed.stop() => Ok(Next::Done(Some(cut(error.get(), 512).to_owned()))),
            // Stateless clients receive the reason why there is no list, unless the server has no tools.
            Answer::Error(error) if self.meta.is_some() && self.sources.len() == 1 && !has_no_method(error) => {
                return Some(error.clone());
            }
            Answer::Error(error) => Err(cut(error.get(), 512).to_owned()),
        };
        let told = links.told(server);
        let warn = |what: &str, why: &str| Effect::Warn(format!("{told} {what}: {}", escape_terminal(why)));
        match taken {
            Ok(Next::Ask(cursor)) => self.ask_page(server, Some(&cursor), policy, links),
            Ok(Next::Done(early)) => {
                if let Some(why) = early {
                    links.add(warn("lists no further tools", &why));
                }
                self.on_listed(policy, links);
            }
            Err(why) => {
                links.add(warn("lists no tools", &why));
                self.on_no_list(server, policy, links);
            }
        }
        None
    }

    /// Handles the judged error that a server returned in place of its list.
    pub(super) fn on_list_error(&mut self, error: String, policy: &Policy, links: &mut Links) {
        self.error = Some(error);
        self.on_listed(policy, links);
    }

    /// Handles a server that fails to list its tools.
    pub(super) fn on_no_list(&mut self, server: UpstreamId, policy: &Policy, links: &mut Links) {
        self.sources[server.0].listed.clear();
        self.on_listed(policy, links);
    }

    /// Handles the end of a server. Its tools are unavailable until it is back.
    pub(super) fn on_server_ended(&mut self, server: UpstreamId, policy: &Policy, links: &mut Links) {
        let Some(source) = self.sources.get_mut(server.0) else { return };
        source.subscription = None;
        let had_tools = source.listed.tools().next().is_some();
        source.listed.clear();
        if had_tools && self.told.is_some() {
            self.changes.push(Message::notification("notifications/tools/list_changed", None));
            if self.listing == 0 {
                self.on_all_listed(policy, links);
            }
        }
    }

    /// Handles the return of a server. The client is notified together with its tools.
    pub(super) fn on_server_back(&mut self) {
        if self.told.is_some() {
            self.changes.push(Message::notification("notifications/tools/list_changed", None));
        }
    }

    /// Handles a change of a server's tools. The notification contains nothing else, and uses the client's own
    /// subscription if there is one.
    pub(super) fn on_changed(&mut self, subscription: Option<&Id>) {
        if self.changes.len() < MAX_WAITING {
            let params = subscription.map(|id| format!("{{\"_meta\":{{{}:{id}}}}}", json(meta::SUBSCRIPTION)));
            self.changes.push(Message::notification("notifications/tools/list_changed", params));
        }
    }

    /// Reads the lists again. If lists are being read, this happens afterwards.
    pub(super) fn list_again(&mut self, policy: &Policy, is_ready: impl Fn(UpstreamId) -> bool, links: &mut Links) {
        match self.listing > 0 {
            true => self.is_stale = true,
            false => self.list(policy, is_ready, links),
        }
    }

    /// Handles a server that has listed its tools, or never will.
    fn on_listed(&mut self, policy: &Policy, links: &mut Links) {
        self.listing = self.listing.saturating_sub(1);
        if self.listing == 0 {
            self.on_all_listed(policy, links);
        }
    }

    /// Returns whether a list that was read may be outdated.
    pub(super) fn take_stale(&mut self) -> bool {
        self.listing == 0 && std::mem::take(&mut self.is_stale)
    }

    /// Reports the tools that the servers list to the kernel, and continues with what waits for that.
    fn on_all_listed(&mut self, policy: &Policy, links: &mut Links) {
        if self.is_stale {
            return;
        }
        if let Some(error) = self.error.take() {
            for waiting in std::mem::take(&mut self.waiting) {
                links.failure(waiting.id(), error.clone());
            }
            return;
        }
        let listed = self.listed(policy, links);
        if self.told.as_ref() == Some(&listed) {
            return self.release(links);
        }
        match Json::parse(listed.clone()) {
            Ok(json) => links.send(ToolsListedEvent::new(json), Then::Listed(listed)),
            Err(_) => self.release(links),
        }
    }

    /// Has the kernel judge the list again, because the profile has changed. If this changes the client's tools, the
    /// client is notified.
    pub(super) fn judge_again(&mut self, policy: &Policy, links: &mut Links) {
        if self.told.take().is_none() {
            return;
        }
        self.is_judged_again = true;
        if self.listing == 0 {
            self.on_all_listed(policy, links);
        }
    }

    /// Handles the kernel's answer about a list: the tools that the client may see.
    pub(super) fn on_surface(&mut self, listed: String, surface: &str, policy: &Policy, links: &mut Links) {
        self.told = Some(listed);
        match Surface::new(surface, &self.servers(links), policy) {
            Ok(surface) => {
                if std::mem::take(&mut self.is_judged_again) && surface != self.surface {
                    self.on_changed(None);
                }
                self.surface = surface;
            }
            Err(why) => links.add(Effect::Warn(format!("the list of tools cannot be read: {why}"))),
        }
        if self.seen.len() > MAX_TOOLS {
            self.seen.clear();
        }
        for name in self.surface.names() {
            if let Some(tool) = self.surface.find(name)
                && let Some(upstream) = tool.upstream
            {
                self.seen.insert(name.to_owned(), (upstream, tool.tool.clone()));
            }
        }
        self.release(links);
    }

    /// Handles a list that the kernel cannot read: the client keeps its previous list.
    pub(super) fn on_refused(&mut self, why: &str, links: &mut Links) {
        links.add(Effect::Warn(format!("the list of tools cannot be judged: {}", escape_terminal(why))));
        self.told.get_or_insert_default();
        self.release(links);
    }

    /// Continues with what waits for a list.
    fn release(&mut self, links: &mut Links) {
        for message in std::mem::take(&mut self.changes) {
            links.tell_client(message);
        }
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting {
                Waiting::List(id) => {
                    let list = self.surface.list(&self.servers(links), self.meta.is_some());
                    links.result(&id, list);
                }
                Waiting::Call(call) => self.ready.push_back(call),
            }
        }
    }

    fn servers<'c>(&'c self, links: &'c Links) -> Vec<(&'c str, &'c Listed)> {
        links.servers.iter().zip(&self.sources).map(|(own, source)| (own.name.as_str(), &source.listed)).collect()
    }

    /// Returns the tools that all servers list, in the format of lock files.
    fn listed(&self, policy: &Policy, links: &Links) -> String {
        let servers = self.servers(links).into_iter();
        let mut all: BTreeMap<&str, Vec<&str>> =
            servers.map(|(name, listed)| (name, listed.tools().map(RawValue::get).collect())).collect();
        if policy.reads_artifacts() {
            let own = all.entry("").or_default();
            own.retain(|tool| name_of(tool).as_deref() != Some(READ_ARTIFACT));
            own.push(READ_ARTIFACT_DEFINITION);
        }
        let servers: Vec<String> =
            all.iter().map(|(name, tools)| format!("{}:{{\"tools\":[{}]}}", json(name), tools.join(","))).collect();
        format!("{{\"servers\":{{{}}}}}", servers.join(","))
    }

    /// Returns the tool that the client calls by a name.
    pub(super) fn target(&self, name: &str, links: &Links) -> Target {
        if let Some(visible) = self.surface.find(name) {
            return Target { upstream: visible.upstream, tool: visible.tool.clone(), is_visible: true };
        }
        if let Some((upstream, tool)) = self.seen.get(name) {
            return Target { upstream: Some(*upstream), tool: tool.clone(), is_visible: false };
        }
        let (upstream, tool) = meant(name, &self.servers(links));
        Target { upstream, tool: tool.to_owned(), is_visible: false }
    }

    /// Returns whether the client sees a tool.
    pub(super) fn is_visible(&self, name: &str) -> bool {
        self.surface.find(name).is_some()
    }

    /// Returns the definition of a tool that the client received.
    pub(super) fn definition(&self, name: &str) -> Option<&str> {
        self.surface.definition(name)
    }

    /// Returns the names of the tools that the client sees.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.surface.names()
    }
}

/// Returns whether an error says that the method does not exist.
fn has_no_method(error: &RawValue) -> bool {
    let code = Members::of(error.get()).and_then(|members| members.get("code")).map(RawValue::get);
    code == Some(&super::message::METHOD_NOT_FOUND.to_string())
}
