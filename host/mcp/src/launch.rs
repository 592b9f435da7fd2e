//! Describes how a server of a gate is started.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use seamgate_runner::{
    Error, Result,
    mcp::{Client, Endpoint, ServerInfo},
    process::{Inherited, Paths, Program, can_confine},
    run_dir::Command,
    secrets::Secrets,
};
use seamgate_text::say;
use serde_json::value::RawValue;

/// The maximum number of variables that an error names.
const MAX_NAMED: usize = 10;
/// The longest name of a variable that an error shows, in characters.
const MAX_NAME: usize = 64;

/// Words in the names of variables that servers often need to start.
const OFTEN_NEEDED: [&str; 9] =
    ["TOKEN", "KEY", "APIKEY", "SECRET", "PASSWORD", "CREDENTIALS", "URL", "DATABASE", "ACCOUNT"];

/// The description of a server's start.
pub struct Launch {
    pub(super) name: String,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// Variables that are added to the program's environment.
    pub(super) environment: BTreeMap<String, String>,
    /// The variables of this process's environment that the program gets.
    pub(super) inherited: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) paths: Option<Paths>,
    /// The address of a server that is reached over HTTP. Such a server has no program.
    pub(super) endpoint: Option<Endpoint>,
    /// A description of how the server is run, for the person who approves its calls.
    pub(super) described: String,
    /// The secrets that are hidden in the server's output.
    pub(super) secrets: Arc<Secrets>,
}

/// A server's description of itself, with the definitions of its tools.
pub struct Listing {
    /// The description.
    pub info: ServerInfo,
    /// The definitions, in the server's order.
    pub tools: Vec<Box<RawValue>>,
}

impl Launch {
    /// Describes a server that runs in this process's working folder. `name` is its name in the profile, and may be empty.
    pub fn new(name: String, command: Vec<String>, inherited: Vec<String>) -> Result<Self> {
        let folder = std::env::current_dir().map_err(|error| Error::caused("cannot find the working folder", error))?;
        let described = Command::new(command.clone()).described();
        let (environment, paths, endpoint) = (BTreeMap::new(), None, None);
        Ok(Launch {
            name,
            command,
            environment,
            inherited,
            folder,
            paths,
            endpoint,
            described,
            secrets: Arc::default(),
        })
    }

    /// Returns the server's name in the profile. It may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server's name for messages.
    pub(super) fn told(&self) -> String {
        if self.name.is_empty() { "the server".to_owned() } else { format!("the server {:?}", self.name) }
    }

    /// Starts the server with a separate client, confined as in a gate, and requests its tools. The server is
    /// terminated afterwards.
    pub fn list(&self) -> Result<Listing> {
        if self.paths.is_some() && !can_confine() {
            say("seamgate: this system has no Landlock: servers can reach more than their \"paths\"");
        }
        let client = match &self.endpoint {
            Some(endpoint) => Client::connect(endpoint),
            None => Client::start(&self.program()),
        };
        let client = client.map_err(Error::NoVerdict)?;
        let tools = client.tools().map_err(Error::NoVerdict)?;
        Ok(Listing { info: client.info(), tools })
    }

    /// Names the variables of this process's environment that the server does not get, beginning with those that
    /// servers often need. `None` if it gets all of them, or if there is no such program.
    pub fn withheld(&self) -> Option<String> {
        let program = self.command.first()?;
        let folders = std::env::var_os("PATH").unwrap_or_default();
        // A path is relative to the folder of the server, and a name is looked up in PATH.
        let is_there = match program.contains(std::path::is_separator) {
            true => self.folder.join(program).exists(),
            false => std::env::split_paths(&folders).any(|folder| folder.join(program).exists()),
        };
        if cfg!(unix) && !is_there {
            return None;
        }
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        named(names.filter(|name| !self.gets(name) && !self.environment.contains_key(name)))
    }

    pub(super) fn program(&self) -> Program<'_> {
        Program {
            command: &self.command,
            environment: &self.environment,
            inherited: Inherited::Only(&self.inherited),
            folder: &self.folder,
            told_as: if self.name.is_empty() { "server" } else { &self.name },
            paths: self.paths.as_ref(),
            secrets: &self.secrets,
        }
    }

    /// Returns whether the server gets this variable of this process's environment.
    pub(super) fn gets(&self, variable: &str) -> bool {
        self.inherited.iter().any(|name| name == variable)
    }
}

/// Joins names, beginning with those that servers often need. Only the first ones are named.
fn named(names: impl Iterator<Item = String>) -> Option<String> {
    let rank = |name: &str| !name.to_ascii_uppercase().split('_').any(|word| OFTEN_NEEDED.contains(&word));
    let mut names: Vec<(bool, String)> = names.map(|name| (rank(&name), name)).collect();
    names.sort();
    let shown: Vec<String> =
        names.iter().take(MAX_NAMED).map(|(_, name)| seamgate_text::shorten(name, MAX_NAME)).collect();
    match names.len().saturating_sub(MAX_NAMED) {
        0 => (!shown.is_empty()).then(|| shown.join(", ")),
        more => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withheld_variables_are_named_with_likely_ones_first_and_cut() {
        let named = |names: &[&str]| named(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(named(&[]), None);
        let all = ["CURL_BUNDLE", "EDITOR", "GITHUB_TOKEN", "api_key"];
        assert_eq!(named(&all).as_deref(), Some("GITHUB_TOKEN, api_key, CURL_BUNDLE, EDITOR"));
        let many: Vec<String> = (10..30).map(|number| format!("V{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let expected = "V10, V11, V12, V13, V14, V15, V16, V17, V18, V19 and 10 more";
        assert_eq!(named(&many).as_deref(), Some(expected));
        let long = "A".repeat(1000);
        assert!(named(&[&long]).is_some_and(|text| text.chars().count() == MAX_NAME + 1));
    }
}
