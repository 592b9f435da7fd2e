//! The calls that the kernel decides about: the call of the tool, and the calls of the commands that a shell would run.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Setting,
    harness::Call,
    shell::{self, Line, Simple},
};

/// The profile's server for shell commands.
const SHELL: &str = "shell";
/// The tool that represents everything that the profile does not name.
const OTHER: &str = "other";
/// The tool that represents files that redirections read and write.
const REDIRECT: &str = "redirect";
/// The tool that represents commands whose text does not reveal everything that they run.
const UNCLEAR: &str = "unclear";
/// The tools that run a shell.
const SHELLS: [&str; 8] =
    ["Bash", "bash", "shell", "Shell", "run_shell_command", "shell_command", "exec_command", "local_shell"];
/// Shell tools whose language is not parsed.
const FOREIGN: [&str; 3] = ["PowerShell", "powershell", "Monitor"];

/// Calls that are decided together. The strictest decision applies.
pub(crate) struct Calls {
    pub(crate) all: Vec<One>,
    /// The reasons why there may be further calls. If there is any, the best decision is that the harness asks its
    /// user.
    pub(crate) doubts: Vec<String>,
}

/// One call.
pub(crate) struct One {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// Returns the calls that represent a call of the harness.
pub(crate) fn of(call: &Call, folder: &str, setting: &Setting) -> Calls {
    let known = Known::read(&setting.profile);
    let mut calls = Calls { all: vec![known.call(&call.server, &call.tool, call.input.clone())], doubts: Vec::new() };
    let Some(line) = line(call, folder, setting.home.as_deref()) else { return calls };
    for command in &line.commands {
        calls.all.push(known.command(command));
    }
    if !line.reads.is_empty() || !line.writes.is_empty() {
        let arguments = json!({"reads": line.reads, "writes": line.writes});
        calls.all.push(One { server: SHELL.to_owned(), tool: REDIRECT.to_owned(), arguments });
    }
    if !line.doubts.is_empty() {
        let arguments = json!({"doubts": line.doubts, "input": call.input});
        calls.all.push(One { server: SHELL.to_owned(), tool: UNCLEAR.to_owned(), arguments });
        calls.doubts = line.doubts.into_iter().collect();
    }
    calls
}

/// Parses the command of a tool that runs a shell. `None` for other tools.
fn line(call: &Call, folder: &str, home: Option<&str>) -> Option<Line> {
    if !call.server.is_empty() {
        return None;
    }
    if FOREIGN.contains(&call.tool.as_str()) {
        return Some(Line::doubted("the language of the command is not read"));
    }
    if !SHELLS.contains(&call.tool.as_str()) {
        return None;
    }
    let Call { input, .. } = call;
    let folders = ["workdir", "cwd", "directory", "dir_path"];
    let within =
        folders.iter().find_map(|name| input.get(name).and_then(Value::as_str)).filter(|within| !within.is_empty());
    if !folder.starts_with('/') {
        return Some(Line::doubted("the folder of the command is not known"));
    }
    let folder = match within {
        Some(within) if within.starts_with('/') => within.to_owned(),
        Some(within) => format!("{folder}/{within}"),
        None => folder.to_owned(),
    };
    let command = input.get("command").or_else(|| input.get("cmd"));
    Some(match command {
        Some(Value::String(text)) => shell::read(text, &folder, home),
        Some(Value::Array(words)) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            match words {
                Some(words) if !words.is_empty() => shell::read_words(&words, &folder, home),
                _ => Line::doubted("the command cannot be read"),
            }
        }
        _ => Line::doubted("the command cannot be read"),
    })
}

/// The tools that a profile names.
struct Known(BTreeSet<(String, String)>);

impl Known {
    fn read(profile: &str) -> Self {
        #[derive(Default, Deserialize)]
        struct Profile {
            #[serde(default)]
            tools: Vec<Tool>,
        }
        #[derive(Deserialize)]
        struct Tool {
            name: String,
            #[serde(default)]
            server: String,
        }
        let profile: Profile = serde_json::from_str(profile).unwrap_or_default();
        Known(profile.tools.into_iter().map(|tool| (tool.server, tool.name)).collect())
    }

    fn has(&self, server: &str, tool: &str) -> bool {
        self.0.contains(&(server.to_owned(), tool.to_owned()))
    }

    /// Returns the call of a tool, or of the tool that represents it.
    fn call(&self, server: &str, tool: &str, input: Value) -> One {
        let server = server.to_owned();
        let is_own = tool == OTHER || !self.has(&server, tool);
        match is_own && self.has(&server, OTHER) {
            true => One { server, tool: OTHER.to_owned(), arguments: json!({"tool": tool, "input": input}) },
            false => One { server, tool: tool.to_owned(), arguments: input },
        }
    }

    fn command(&self, command: &Simple) -> One {
        let Simple { program, argv, command, paths, reads, writes, environment } = command;
        let mut arguments = json!({
            "program": program, "argv": argv, "paths": paths, "reads": reads, "writes": writes, "environment": environment
        });
        if let (Some(command), Some(members)) = (command, arguments.as_object_mut()) {
            members.insert("command".to_owned(), json!(command));
        }
        let is_named = ![OTHER, REDIRECT, UNCLEAR].contains(&program.as_str()) && self.has(SHELL, program);
        let tool = match is_named || !self.has(SHELL, OTHER) && !program.is_empty() && !program.contains('/') {
            true => program.clone(),
            false => OTHER.to_owned(),
        };
        One { server: SHELL.to_owned(), tool, arguments }
    }
}
