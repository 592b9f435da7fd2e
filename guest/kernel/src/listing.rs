//! What servers list -> the tools that the model sees: those of the profile that are there and unchanged.

use seamgate_core::{
    Fault,
    kernel_api::{Document, Json, Kind, NodeId, canonical, digest, json, short},
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    above,
    document::{Format, text_in},
    facts::{Changed, Facts},
    profile::{Mode, Profile},
    render::sanitized,
    surface,
    tool::{Definition, Permit, Tool},
};

pub(crate) static FORMAT: Format = Format::new("listed", include_str!("../../../schemas/lock.schema.json"));

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
}

impl Listing {
    pub(crate) fn to_json(&self) -> String {
        json(self)
    }
}

/// Look at what servers list, in the format of lock files; without that, at the definitions of the profile.
///
/// # Errors
///
/// `bad_request`: the list is none, or the facts lack the mode.
pub(crate) fn list(profile: &Profile, facts: &Facts, listed: Option<&str>) -> Result<Listing, Fault> {
    let mode = surface::mode(profile, facts)?;
    let listed = listed.map(|listed| FORMAT.read(listed)).transpose()?;
    let (mut tools, mut hidden, mut there) = (Vec::new(), Vec::new(), Vec::new());
    for tool in &profile.tools {
        let pinned = tool.definition.as_ref();
        let offered = match &listed {
            // The host itself offers what delegates.
            Some(listed) if !tool.is_delegate => offered(tool, listed, pinned).and_then(|shown| {
                // What an agent above pinned must be there, too.
                let above = facts.above.iter().flat_map(|above| above.tools(tool));
                let mut pinned = above.filter_map(|theirs| theirs.definition.as_ref());
                pinned.try_for_each(|pinned| offered(tool, listed, Some(pinned)).map(|_| ()))?;
                Ok(shown)
            }),
            _ => Ok(pinned.map(|pinned| pinned.shown.clone())),
        };
        let code = match &offered {
            Err(code) => Some(*code),
            Ok(_) => unseen(profile, tool, mode, facts, listed.is_none()),
        };
        if offered.is_ok() {
            there.push(tool.full_name());
        }
        match (code, offered) {
            (None, Ok(definition)) => tools.push(Visible {
                server: tool.server.clone(),
                tool: tool.name.clone(),
                effect: above::effect(tool, facts.above.as_deref()).as_str(),
                permit: if matches!(tool.permit, Permit::Approval(_)) { "approval" } else { "allow" },
                definition,
            }),
            (code, _) => hidden.push(Hidden {
                server: tool.server.clone(),
                tool: tool.name.clone(),
                code: code.unwrap_or("absent"),
            }),
        }
    }
    hidden.extend(listed.iter().flat_map(|listed| unknown(profile, listed)));
    let surface = listed.is_some().then_some(there);
    Ok(Listing { tools, hidden, facts: Changed { surface, ..Changed::default() } })
}

/// What the model may read of a tool that its server lists now, if it is the pinned one, or none is.
fn offered(tool: &Tool, listed: &Json, pinned: Option<&Definition>) -> Result<Option<Box<RawValue>>, &'static str> {
    let at = of_server(listed, &tool.server)
        .into_iter()
        .find(|&at| text_in(listed, at, "name") == Some(tool.name.as_str()))
        .ok_or("absent")?;
    match pinned {
        None => Ok(RawValue::from_string(sanitized(listed, at)).ok()),
        Some(pinned) if pinned.canonical == digest(&canonical(listed, at)) => Ok(Some(pinned.shown.clone())),
        Some(_) => Err("changed"),
    }
}

/// The definitions that a server lists.
fn of_server(listed: &Document, server: &str) -> Vec<NodeId> {
    let servers = listed.member(Document::ROOT, "servers");
    let tools = servers.and_then(|at| listed.member(at, server)).and_then(|at| listed.member(at, "tools"));
    tools.into_iter().flat_map(|at| listed.items(at)).collect()
}

/// Why a tool that is there is not shown. `by_facts`: the facts say which tools are there.
fn unseen(profile: &Profile, tool: &Tool, mode: Option<&Mode>, facts: &Facts, by_facts: bool) -> Option<&'static str> {
    match () {
        () if tool.permit == Permit::Deny => Some("permit"),
        () if surface::is_denied(profile, facts, tool) => Some("deny"),
        () if !surface::is_in(tool, mode, facts) => Some("mode"),
        () if surface::withheld(tool, facts).is_some() => Some("parent"),
        () if by_facts && !surface::is_there(tool, facts) => Some("absent"),
        () => None,
    }
}

/// What servers list and the profile does not name.
fn unknown(profile: &Profile, listed: &Document) -> Vec<Hidden> {
    let servers = listed.member(Document::ROOT, "servers").into_iter().flat_map(|at| listed.members(at));
    let servers = servers.filter(|(_, at)| listed.kind(*at) == Kind::Object).map(|(name, _)| listed.string(name));
    let mut unknown = Vec::new();
    for server in servers {
        for at in of_server(listed, server) {
            let name = text_in(listed, at, "name").unwrap_or_default();
            if !profile.tools.iter().any(|tool| tool.name == name && tool.server == server) {
                let [server, tool] = [server, name].map(|name| short(name, 256));
                unknown.push(Hidden { server, tool, code: "unknown" });
            }
        }
    }
    unknown
}
