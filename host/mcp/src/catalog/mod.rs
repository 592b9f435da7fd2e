//! What servers list, page by page, and what the client sees of it.

mod list;

use std::collections::HashMap;

use seamgate_runner::mcp::{MAX_PAGES, MAX_TOOLS};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    document::{Document, READ_ARTIFACT},
    message::{Change, Members, json},
};

/// Between the name of a server and that of its tool, where there are several servers.
const SEPARATOR: &str = "__";

/// The definition of the gate's own tool.
pub(super) const READ_ARTIFACT_DEFINITION: &str = r#"{"name":"read_artifact","description":"Read a whole result that was cut, in pieces. Each piece says where the next one begins.","inputSchema":{"type":"object","properties":{"artifact":{"type":"string","description":"The artifact that the cut result names: sha256:…"},"offset":{"type":"integer","minimum":0,"description":"Where to begin, in bytes. Default: 0."}},"required":["artifact"],"additionalProperties":false}}"#;

/// The tools of one server, as it lists them.
#[derive(Default)]
pub(super) struct Listed {
    pages: Vec<Page>,
    /// Pages of a list that is under way.
    coming: Vec<Page>,
}

/// A page of a list.
struct Page {
    tools: Vec<Box<RawValue>>,
    /// The time that the client may keep the list, in milliseconds, and its scope, if the server names them.
    ttl_ms: Option<u64>,
    scope: Option<Scope>,
}

/// The clients that may share a list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Private,
    Public,
}

/// The step after a page.
pub(super) enum Next {
    /// Ask for the page of this cursor.
    Ask(String),
    Done,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

/// The name of a tool.
pub(super) fn name_of(definition: &str) -> Option<String> {
    serde_json::from_str(definition).map(|Named { name }| name).ok()
}

impl Listed {
    /// A new list is asked for.
    pub(super) fn begin(&mut self) {
        self.coming.clear();
    }

    /// There is no list.
    pub(super) fn fail(&mut self) {
        self.coming.clear();
        self.pages.clear();
    }

    /// Takes the next page. Of its members only these are read, and no others are passed on.
    pub(super) fn take(&mut self, result: &RawValue) -> Result<Next, String> {
        #[derive(Deserialize)]
        struct Given {
            tools: Vec<Box<RawValue>>,
            #[serde(default, rename = "nextCursor")]
            next: Option<String>,
            #[serde(default, rename = "ttlMs")]
            ttl_ms: Option<Value>,
            #[serde(default, rename = "cacheScope")]
            scope: Option<Value>,
        }
        let Given { tools, next, ttl_ms, scope } =
            serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
        let ttl_ms = ttl_ms.and_then(|ttl| ttl.as_u64());
        let scope = scope.and_then(|scope| serde_json::from_value(scope).ok());
        self.coming.push(Page { tools, ttl_ms, scope });
        if self.coming.iter().map(|page| page.tools.len()).sum::<usize>() > MAX_TOOLS {
            return Err(format!("it has more than {MAX_TOOLS} tools"));
        }
        match next {
            Some(_) if self.coming.len() == MAX_PAGES => Err(format!("it has more than {MAX_PAGES} pages")),
            Some(next) => Ok(Next::Ask(next)),
            None => {
                self.pages = std::mem::take(&mut self.coming);
                Ok(Next::Done)
            }
        }
    }

    /// Returns the shortest time and the narrowest scope of the pages, which versions without sessions add to a list.
    fn freshness(&self) -> (u64, Scope) {
        let ttl_ms = self.pages.iter().map(|page| page.ttl_ms.unwrap_or_default()).min().unwrap_or_default();
        let scope = self.pages.iter().map(|page| page.scope.unwrap_or(Scope::Private)).min();
        (ttl_ms, scope.unwrap_or(Scope::Private))
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &RawValue> {
        self.pages.iter().flat_map(|page| page.tools.iter().map(|tool| &**tool))
    }
}

/// The tools that the client sees.
#[derive(Default)]
pub(super) struct Surface {
    tools: Vec<Visible>,
    by_name: HashMap<String, usize>,
}

/// A tool that the client sees.
pub(super) struct Visible {
    /// The server that has it. `None` if the tool belongs to the gate itself.
    pub(super) upstream: Option<usize>,
    pub(super) tool: String,
    /// As the client calls it.
    name: String,
    /// Its definition, as the client gets it.
    definition: String,
}

/// The answer of the kernel: which tools the model may see.
#[derive(Deserialize)]
struct Answer {
    tools: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    server: String,
    tool: String,
    definition: Option<Box<RawValue>>,
}

impl Surface {
    /// Builds the surface from the kernel's answer about the tools that `upstreams` list.
    pub(super) fn new(answer: &str, upstreams: &[(&str, &Listed)], document: &Document) -> Result<Self, String> {
        let Answer { tools } = serde_json::from_str(answer).map_err(|error| error.to_string())?;
        let mut surface = Surface::default();
        for Shown { server, tool, definition } in tools {
            let is_own = server.is_empty() && tool == READ_ARTIFACT && document.reads_artifacts();
            let upstream = match is_own {
                true => None,
                false => match upstreams.iter().position(|(name, _)| *name == server) {
                    Some(upstream) => Some(upstream),
                    None => continue,
                },
            };
            let listed = upstream.and_then(|upstream| {
                upstreams[upstream].1.tools().find(|listed| name_of(listed.get()).is_some_and(|name| name == tool))
            });
            let shown = definition.as_deref().map_or("{}", RawValue::get);
            // What nothing was found in keeps its bytes.
            let mut text = match listed {
                Some(listed) if is_same(listed.get(), shown) => listed.get().to_owned(),
                _ => shown.to_owned(),
            };
            let name = match (upstreams.len(), is_own) {
                (1, _) | (_, true) => tool.clone(),
                _ => format!("{server}{SEPARATOR}{tool}"),
            };
            let is_cut = !is_own && document.may_cut(&server, &tool);
            if let Some(members) = Members::of(&text)
                && (name != tool || is_cut && members.get("outputSchema").is_some())
            {
                let changed = members.with(|member, _| match member {
                    "name" => Change::To(json(&name)),
                    // A client fails on a result that no longer fits it.
                    "outputSchema" if is_cut => Change::Drop,
                    _ => Change::Keep,
                });
                text = changed;
            }
            let place = surface.tools.len();
            if let Some(other) = surface.by_name.insert(name.clone(), place) {
                let other = &surface.tools[other];
                let of = |upstream: Option<usize>| upstream.map_or("seamgate", |upstream| upstreams[upstream].0);
                return Err(format!(
                    "two tools are called {name:?}: {:?} of {:?} and {tool:?} of {server:?}; give one server another name",
                    other.tool,
                    of(other.upstream)
                ));
            }
            surface.tools.push(Visible { upstream, tool, name, definition: text });
        }
        Ok(surface)
    }

    /// The names that the client sees.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// The tool that the client calls by a name.
    pub(super) fn find(&self, name: &str) -> Option<&Visible> {
        self.by_name.get(name).map(|&place| &self.tools[place])
    }

    /// The result of `tools/list`: all tools that the client sees, on one page.
    pub(super) fn list(&self, upstreams: &[(&str, &Listed)], is_stateless: bool) -> String {
        let mut visible: Vec<&Visible> = self.tools.iter().collect();
        let (ttl_ms, scope) = match upstreams {
            [(_, listed)] => {
                // In the order in which the server lists them, and then the gate's own.
                let names = listed.tools().filter_map(|tool| name_of(tool.get()));
                let places: HashMap<String, usize> = names.enumerate().map(|(place, name)| (name, place)).collect();
                let place =
                    |tool: &&Visible| tool.upstream.and_then(|_| places.get(&tool.tool)).copied().unwrap_or(usize::MAX);
                visible.sort_by_key(place);
                listed.freshness()
            }
            _ => (0, Scope::Private),
        };
        let tools: Vec<&str> = visible.iter().map(|tool| tool.definition.as_str()).collect();
        let scope = if scope == Scope::Public { "public" } else { "private" };
        let more = match is_stateless {
            true => format!(r#","resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{scope}""#),
            false => String::new(),
        };
        format!("{{\"tools\":[{}]{more}}}", tools.join(","))
    }
}

/// The server and the tool that a name means which nobody lists.
pub(super) fn meant<'n>(name: &'n str, upstreams: &[(&str, &Listed)]) -> (Option<usize>, &'n str) {
    if upstreams.len() == 1 {
        return (Some(0), name);
    }
    let own = |(server, _): &(&str, &Listed)| name.strip_prefix(server)?.strip_prefix(SEPARATOR);
    match upstreams.iter().enumerate().find_map(|(place, upstream)| Some((place, own(upstream)?))) {
        Some((place, tool)) => (Some(place), tool),
        None => (None, name),
    }
}

/// Returns whether two JSON texts have equal values.
fn is_same(one: &str, other: &str) -> bool {
    match (serde_json::from_str::<Value>(one), serde_json::from_str::<Value>(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
