//! Compares the tools that servers list with the profile. The model sees the profile's tools that are present and
//! unchanged.

use seamgate_core::{
    Fault,
    kernel_api::{Document, Formats, Json, Kind, NodeId, cut_at, digest, json, short},
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    above, definition,
    document::{CAPS, Format, text_in},
    facts::{Changed, Facts, Programs},
    profile::{Mode, Profile},
    render::sanitized,
    secret, surface,
    tool::{Definition, Tool},
};

pub(crate) static FORMAT: Format = Format::new("listed", include_str!("formats/lock.json"));

/// The tools that the model may see. See `schemas/surface.schema.json`.
#[derive(Serialize)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Visible>,
    pub(crate) hidden: Vec<Hidden>,
    pub(crate) facts: Changed,
}

#[derive(Serialize)]
pub(crate) struct Visible {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) server: String,
    pub(crate) tool: String,
    effect: &'static str,
    permit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<Box<RawValue>>,
}

#[derive(Serialize)]
pub(crate) struct Hidden {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

/// The code of tools whose definition is invalid.
const INVALID: &str = "invalid_definition";

/// The reason why a tool is not shown.
struct Unseen {
    code: &'static str,
    /// The error in the tool's definition.
    message: Option<String>,
}

impl From<&'static str> for Unseen {
    fn from(code: &'static str) -> Self {
        Unseen { code, message: None }
    }
}

impl Listing {
    pub(crate) fn to_json(&self) -> String {
        json(self)
    }
}

/// Lists the tools that the model may see. These are tools that servers list, in the format of lock files. Without a
/// list, they are tools with a definition in the profile.
///
/// # Errors
///
/// Returns `bad_request` if the list is invalid, or if the facts lack the mode.
pub(crate) fn list(profile: &Profile, facts: &Facts, listed: Option<&str>) -> Result<Listing, Fault> {
    let mode = surface::mode(profile, facts)?;
    let mut replaced = None;
    let place = (&definition::LISTED[..], &CAPS);
    let listed =
        listed.map(|text| definition::read_each(text, &mut replaced, place, |text| FORMAT.read(text))).transpose()?;
    let (mut tools, mut hidden, mut there) = (Vec::new(), Vec::new(), Vec::new());
    for tool in &profile.tools {
        let mut is_there = false;
        let pinned = tool.definition.as_ref();
        let offered = match &listed {
            // The host itself offers tools that delegate.
            Some(listed) if !tool.is_delegate => offered(tool, listed, pinned).and_then(|shown| {
                // A definition that an agent above pinned must also be present.
                let above = facts.above.iter().flat_map(|above| above.tools(tool));
                let mut pinned = above.filter_map(|theirs| theirs.definition.as_ref());
                pinned.try_for_each(|pinned| offered(tool, listed, Some(pinned)).map(|_| ()))?;
                Ok(shown)
            }),
            _ => Ok(pinned.map(|pinned| pinned.shown.clone())),
        };
        let offered = match tool.disabled() {
            Some(why) => Err(Unseen { code: INVALID, message: Some(why.to_owned()) }),
            None => offered,
        };
        let offered = offered.and_then(|shown| {
            is_there = true;
            match unseen(profile, tool, mode, facts, listed.is_none()) {
                Some(code) => Err(code.into()),
                None => Ok(shown),
            }
        });
        if is_there {
            there.push(tool.full_name());
        }
        match offered {
            Ok(definition) => tools.push(Visible {
                definition: definition.map(|definition| secret::shown(tool, definition)),
                server: tool.server.clone(),
                tool: tool.name.clone(),
                effect: above::effect(tool, facts.above.as_deref()).as_str(),
                permit: if tool.permit.may_ask() { "approval" } else { "allow" },
            }),
            Err(Unseen { code, message }) => {
                hidden.push(Hidden { server: tool.server.clone(), tool: tool.name.clone(), code, message });
            }
        }
    }
    hidden.extend(listed.iter().flat_map(|listed| unknown(profile, listed)));
    let surface = listed.is_some().then_some(there);
    let programs = listed.as_ref().map(|listed| programs(profile, listed, &facts.programs));
    let programs = programs.filter(|programs| *programs != facts.programs);
    Ok(Listing { tools, hidden, facts: Changed { surface, programs, ..Changed::default() } })
}

/// Returns the part of a listed tool that the model may read. If there is a pinned definition, the tool must equal it.
fn offered(tool: &Tool, listed: &Json, pinned: Option<&Definition>) -> Result<Option<Box<RawValue>>, Unseen> {
    let at = of_server(listed, &tool.server)
        .into_iter()
        .find(|&at| text_in(listed, at, "name") == Some(tool.name.as_str()))
        .ok_or("absent")?;
    match pinned {
        Some(pinned) if pinned.canonical == definition::equal(listed, at) => Ok(Some(pinned.shown.clone())),
        Some(_) => Err(Unseen { code: "changed", message: definition::arguments(listed, at, Formats::Annotate).err() }),
        None => match definition::arguments(listed, at, Formats::Annotate) {
            Ok(_) => Ok(RawValue::from_string(sanitized(listed, at)).ok()),
            Err(why) => Err(Unseen { code: INVALID, message: Some(why) }),
        },
    }
}

/// Returns the definitions that a server lists.
fn of_server(listed: &Document, server: &str) -> Vec<NodeId> {
    let servers = listed.member(Document::ROOT, "servers");
    let tools = servers.and_then(|at| listed.member(at, server)).and_then(|at| listed.member(at, "tools"));
    tools.into_iter().flat_map(|at| listed.items(at)).collect()
}

/// The maximum length of a program's description, in bytes. A longer one is truncated, followed by its digest.
const MAX_PROGRAM: usize = 1024;

/// Returns the way in which each tool of a profile is run, from the list or else from earlier knowledge.
fn programs(profile: &Profile, listed: &Document, known: &Programs) -> Programs {
    let servers = listed.member(Document::ROOT, "servers");
    let program = |server: &str, tool: &str| {
        let server = servers.and_then(|at| listed.member(at, server))?;
        let at = match tool {
            "" => listed.member(server, "program")?,
            tool => listed.member(listed.member(server, "programs")?, tool)?,
        };
        let text = listed.string(at);
        Some(match text.len() <= MAX_PROGRAM {
            true => text.to_owned(),
            false => format!("{} ({})", cut_at(text, MAX_PROGRAM), digest(text)),
        })
    };
    let mut programs = known.clone();
    for tool in &profile.tools {
        for name in ["", &tool.name] {
            if let Some(text) = program(&tool.server, name) {
                programs.insert(format!("{}/{name}", tool.server), text);
            }
        }
    }
    programs
}

/// Returns the reason why a present tool is not shown. `by_facts` is `true` if the facts say which tools are
/// present.
fn unseen(profile: &Profile, tool: &Tool, mode: Option<&Mode>, facts: &Facts, by_facts: bool) -> Option<&'static str> {
    match () {
        () if tool.permit.is_never() => Some("permit"),
        () if surface::is_denied(profile, facts, tool) => Some("deny"),
        () if !surface::is_in(tool, mode, facts) => Some("mode"),
        () if surface::withheld(tool, facts).is_some() => Some("parent"),
        () if by_facts && !surface::is_there(tool, facts) => Some("absent"),
        () => None,
    }
}

/// Returns the listed tools that the profile does not name.
fn unknown(profile: &Profile, listed: &Document) -> Vec<Hidden> {
    let servers = listed.member(Document::ROOT, "servers").into_iter().flat_map(|at| listed.members(at));
    let servers = servers.filter(|(_, at)| listed.kind(*at) == Kind::Object).map(|(name, _)| listed.string(name));
    let mut unknown = Vec::new();
    for server in servers {
        for at in of_server(listed, server) {
            let name = text_in(listed, at, "name").unwrap_or_default();
            if !profile.tools.iter().any(|tool| tool.name == name && tool.server == server) {
                let unseen = match definition::wrong_name(name) {
                    None => Unseen::from("unknown"),
                    Some(why) => {
                        let why = definition::arguments(listed, at, Formats::Annotate)
                            .err()
                            .unwrap_or_else(|| why.to_owned());
                        // A tool without a name is identified by its place.
                        let place = if name.is_empty() { listed.location(at).path() } else { String::new() };
                        let why = if place.is_empty() { why } else { short(format!("{place}: {why}"), 512) };
                        Unseen { code: INVALID, message: Some(why) }
                    }
                };
                let [server, tool] = [server, name].map(|name| short(name, 256));
                unknown.push(Hidden { server, tool, code: unseen.code, message: unseen.message });
            }
        }
    }
    unknown
}
