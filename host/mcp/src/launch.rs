//! How a server of a gate is started.

use std::{collections::BTreeMap, path::PathBuf};

use seamgate_runner::{
    Error, Result,
    mcp::Client,
    process::{Inherited, Paths, Program},
};

/// The description of a server's start.
pub struct Launch {
    pub(super) name: String,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// Variables that are added to its environment.
    pub(super) environment: BTreeMap<String, String>,
    /// The variables of this process's environment that it gets.
    pub(super) inherited: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) paths: Option<Paths>,
}

impl Launch {
    /// Describes a server that runs in this process's working folder. `name` is its name in the profile, and may be empty.
    pub fn new(name: String, command: Vec<String>, inherited: Vec<String>) -> Result<Self> {
        let folder = std::env::current_dir().map_err(|error| Error::caused("cannot find the working folder", error))?;
        Ok(Launch { name, command, environment: BTreeMap::new(), inherited, folder, paths: None })
    }

    /// Returns the server's name in the profile. It may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server's name for messages.
    pub(super) fn told(&self) -> String {
        if self.name.is_empty() { "the server".to_owned() } else { format!("the server {:?}", self.name) }
    }

    /// Starts the server with a client of its own, to ask what it lists. Its programs are not confined.
    pub fn connect(&self) -> Result<Client> {
        let program = Program { paths: None, ..self.program() };
        Client::start(&program).map_err(Error::NoVerdict)
    }

    pub(super) fn program(&self) -> Program<'_> {
        Program {
            command: &self.command,
            environment: &self.environment,
            inherited: Inherited::Only(&self.inherited),
            folder: &self.folder,
            told_as: if self.name.is_empty() { "server" } else { &self.name },
            paths: self.paths.as_ref(),
        }
    }

    /// Returns whether the server gets this variable of this process's environment.
    pub(super) fn gets(&self, variable: &str) -> bool {
        self.inherited.iter().any(|name| name == variable)
    }
}
