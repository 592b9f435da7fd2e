//! `seamgate init`: creates a contract to start from, with its schema and an example output that passes.

use std::path::PathBuf;

use anyhow::{Error, Result, anyhow};
use seamgate_authoring::init::{InitError, Starter};
use seamgate_text::{count, escape_terminal};

use crate::{console::print, error::FaultError, status::Status};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder for the files. Existing files are never overwritten
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The agent, after which the files are named [default: derived from the source of the schema]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A JSON Schema to start from
    #[arg(long, value_name = "FILE", group = "from")]
    from_schema: Option<PathBuf>,
    /// A folder of example outputs. The schema accepts all of them
    #[arg(long, value_name = "DIR", group = "from")]
    from_examples: Option<PathBuf>,
    /// A Pydantic model that python3 can import from the current folder. This runs the module
    #[arg(long, value_name = "MODULE:MODEL", group = "from")]
    pydantic: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let started = starter(arguments)?.write(&arguments.folder).map_err(with_status)?;
    let mut said: Vec<String> = started.files.iter().map(|path| format!("made {}", path.display())).collect();
    if !started.has_examples {
        said.push(format!("no example that passes was found: write an output into {}", started.examples.display()));
    }
    if started.remarks > 0 {
        let remarks = count(started.remarks, "remark");
        said.push(format!("seamgate lint {} has {remarks} for it", started.contract.display()));
    }
    if started.has_examples {
        said.push(format!("next: seamgate test {}", arguments.folder.display()));
    }
    print(&escape_terminal(&said.join("\n")))?;
    Ok(Status::Accepted)
}

/// Starts the contract from the source that the arguments name.
fn starter(arguments: &Arguments) -> Result<Starter> {
    let agent = arguments.agent.as_deref();
    let (starter, option) = if let Some(file) = &arguments.from_schema {
        (Starter::from_schema(agent, file), format!("--from-schema {}", file.display()))
    } else if let Some(model) = &arguments.pydantic {
        (Starter::from_pydantic(agent, model), format!("--pydantic {model}"))
    } else if let Some(folder) = &arguments.from_examples {
        (Starter::from_examples(agent, folder), format!("--from-examples {}", folder.display()))
    } else {
        (Starter::template(agent), String::new())
    };
    starter.map_err(|error| match error {
        InitError::AgentName(_) => anyhow!("--agent {error}"),
        InitError::NotUtf8 => anyhow!("{option} {error}"),
        error => with_status(error).context(option),
    })
}

/// Returns the error that decides the exit status.
fn with_status(error: InitError) -> Error {
    match error {
        InitError::Gate(fault) => FaultError(fault).into(),
        InitError::Judging { path, fault, .. } => Error::from(FaultError(fault)).context(path.display().to_string()),
        error => error.into(),
    }
}
