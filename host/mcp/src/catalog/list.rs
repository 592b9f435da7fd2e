//! Lists of tools: servers are asked for theirs, and the client gets what the kernel lets it see.

use std::{collections::BTreeMap, time::Instant};

use seamgate::{Fault, Json, ToolsListedEvent};
use seamgate_runner::{Error, Result, mcp::START};
use seamgate_text::{escape_terminal, say};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Listed, Next, READ_ARTIFACT_DEFINITION, Surface, name_of};
use crate::{
    document::READ_ARTIFACT,
    gate::{Gate, cut_to},
    message::{self, Answer, Message, json},
    upstream::Asked,
};

impl Gate<'_> {
    pub(crate) fn lists(&self) -> Vec<(&str, &Listed)> {
        self.upstreams.iter().map(|upstream| (upstream.name.as_str(), &upstream.listed)).collect()
    }

    /// Ask all servers for their tools, unless that is under way.
    pub(crate) fn list(&mut self) -> Result<()> {
        if self.listing > 0 {
            return Ok(());
        }
        if self.initializing > 0 {
            self.is_list_wanted = true;
            return Ok(());
        }
        let numbers: Vec<usize> = (0..self.upstreams.len())
            .filter(|&number| self.upstreams[number].has_tools.unwrap_or(self.own_meta.is_some()))
            .filter(|&number| self.upstreams[number].ended.is_none())
            .collect();
        self.listing = numbers.len();
        if numbers.is_empty() {
            return self.tell_listed();
        }
        self.deadline = Some(Instant::now() + START);
        for number in numbers {
            self.subscribe(number);
            self.upstreams[number].listed.begin();
            self.ask_page(number, None)?;
        }
        Ok(())
    }

    pub(crate) fn ask_page(&mut self, number: usize, cursor: Option<&str>) -> Result<()> {
        let own = self.own_id();
        let cursor_member = cursor.map(|cursor| format!("\"cursor\":{}", json(cursor)));
        let members: Vec<String> = cursor_member.into_iter().chain(self.meta_for(number)).collect();
        let params = (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")));
        let line = message::request(&own, "tools/list", params.as_deref());
        match self.upstreams[number].ask(&own, line, Asked::List) {
            Ok(()) => Ok(()),
            Err(_) => {
                self.upstreams[number].listed.fail();
                self.one_listed()
            }
        }
    }

    pub(crate) fn list_page(&mut self, number: usize, answer: Answer) -> Result<()> {
        let taken = match answer {
            Answer::Result(result) => self.upstreams[number].listed.take(result),
            Answer::Error(error) if self.refused_to_list(number, error)? => Ok(Next::Done),
            Answer::Error(error) => Err(cut_to(error.get(), 512).to_owned()),
        };
        match taken {
            Ok(Next::Ask(cursor)) => self.ask_page(number, Some(&cursor)),
            Ok(Next::Done) => self.one_listed(),
            Err(message) => {
                say(&format!(
                    "seamgate: {} lists no tools: {}",
                    self.upstreams[number].told(),
                    escape_terminal(&message)
                ));
                self.upstreams[number].listed.fail();
                self.one_listed()
            }
        }
    }

    /// One server has said what it lists.
    pub(crate) fn one_listed(&mut self) -> Result<()> {
        self.listing = self.listing.saturating_sub(1);
        if self.listing > 0 {
            return Ok(());
        }
        self.deadline = None;
        if std::mem::take(&mut self.is_list_stale) {
            return self.list();
        }
        self.tell_listed()
    }

    /// Tell the kernel what servers list, and go on with what waits for it.
    pub(crate) fn tell_listed(&mut self) -> Result<()> {
        if let Some(error) = self.list_error.take() {
            for (id, _) in std::mem::take(&mut self.queue) {
                if self.pending.remove(&id).is_some() {
                    self.to_client(message::failure(&id, &error));
                }
            }
            return Ok(());
        }
        let listed = self.all_listed();
        if listed != self.listed || !self.is_listed {
            let listed = match self.tell(&listed)? {
                Ok(()) => listed,
                Err(_) => {
                    // One definition is not what a list may have: the others are looked at.
                    let listed = self.readable_listed()?;
                    self.tell(&listed)?.map_err(Error::Fault)?;
                    listed
                }
            };
            self.listed = listed;
            self.is_listed = true;
        }
        for line in std::mem::take(&mut self.list_changed) {
            self.to_client(line);
        }
        for (id, line) in std::mem::take(&mut self.queue) {
            if self.pending.remove(&id).is_none() {
                continue;
            }
            match Message::of_own(&line) {
                Ok(Message::Request { method, .. }) if method == "tools/list" => {
                    let list = self.surface.list(&self.lists(), self.own_meta.is_some());
                    self.to_client(message::result(&id, &list));
                }
                Ok(Message::Request { params, .. }) => self.call(&id, params, &line)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the tools that all servers list, in the format of lock files.
    pub(crate) fn all_listed(&self) -> String {
        let servers = self.upstreams.iter().map(|upstream| {
            let tools: Vec<&str> = upstream.listed.tools().map(RawValue::get).collect();
            (upstream.name.as_str(), tools)
        });
        listed(servers, self.document.reads_artifacts())
    }

    /// Returns the same without the definitions that the kernel cannot read.
    pub(crate) fn readable_listed(&self) -> Result<String> {
        let facts = self.facts()?;
        let servers = self.upstreams.iter().map(|upstream| {
            let is_readable = |tool: &&str| {
                let one = listed([(upstream.name.as_str(), vec![*tool])].into_iter(), false);
                self.profiles.gate.surface(self.run.agent(), facts.get(), Some(&one)).is_ok()
            };
            let all = upstream.listed.tools().map(RawValue::get);
            let tools: Vec<&str> = all.filter(is_readable).collect();
            (upstream.name.as_str(), tools)
        });
        Ok(listed(servers, self.document.reads_artifacts()))
    }

    pub(crate) fn facts(&self) -> Result<Box<RawValue>> {
        #[derive(Deserialize)]
        struct State {
            facts: Box<RawValue>,
        }
        let State { facts } = serde_json::from_str(self.run.state())?;
        Ok(facts)
    }

    pub(crate) fn tell(&mut self, listed: &str) -> Result<Result<(), Fault>> {
        if let Err(fault) = self.send(ToolsListedEvent::new(Json::parse(listed)?), None)? {
            return Ok(Err(fault));
        }
        let answer = match self.profiles.gate.surface(self.run.agent(), self.facts()?.get(), Some(listed)) {
            Ok(answer) => answer,
            Err(fault) => return Ok(Err(fault)),
        };
        self.surface = match Surface::new(&answer.json, &self.lists(), self.document) {
            Ok(surface) => surface,
            Err(message) => return Err(Error::NoVerdict(message)),
        };
        Ok(Ok(()))
    }
}

/// Writes what servers list in the format of lock files.
fn listed<'l>(servers: impl Iterator<Item = (&'l str, Vec<&'l str>)>, has_own: bool) -> String {
    let mut all: BTreeMap<&str, Vec<&str>> = servers.collect();
    if has_own {
        let own = all.entry("").or_default();
        own.retain(|tool| name_of(tool).as_deref() != Some(READ_ARTIFACT));
        own.push(READ_ARTIFACT_DEFINITION);
    }
    let servers: Vec<String> =
        all.iter().map(|(name, tools)| format!("{}:{{\"tools\":[{}]}}", json(name), tools.join(","))).collect();
    format!("{{\"servers\":{{{}}}}}", servers.join(","))
}
