//! `seamgate why`: follows a claim of a run's answer back to its evidence.

use std::path::PathBuf;

use anyhow::Result;
use seamgate_text::{escape_terminal, say};

use crate::{console::print, status::Status, trace::with_status};

pub(crate) const HELP: &str = "\
Exit status: 0 the whole chain is there, 1 it breaks, 2 usage error, 5 the journal is damaged";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of a run
    dir: PathBuf,
    /// The claim: its number from 0, a JSON Pointer into the final document, or words of it
    claim: String,
    /// The profile of the run, which says where claims stand [default: the copy in DIR/agent.json]
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let chain = seamgate_trace::why(&arguments.dir, &arguments.claim, arguments.profile.as_deref());
    let chain = chain.map_err(with_status)?;
    print(&escape_terminal(&chain.text))?;
    if chain.breaks == 0 {
        return Ok(Status::Accepted);
    }
    say("seamgate: the chain breaks: see above");
    Ok(Status::Rejected)
}
