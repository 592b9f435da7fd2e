//! `seamgate mcp init` and `seamgate mcp check`: what a server lists, and what a person has seen of it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::read_profile;
use seamgate_mcp::{Document, Draft, Launch, Pins};
use seamgate_text::{escape_terminal, say};

use crate::{agent::principal, console::print, error::NoVerdict, status::Status};

/// What most programs need to start, as clients of the protocol hand it on.
const COMMON: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

#[derive(clap::Args)]
pub(crate) struct Init {
    /// The profile to write: NAME.profile.json. NAME.lock.json is written beside it
    #[arg(short, long, value_name = "FILE", default_value = "mcp.profile.json")]
    output: PathBuf,
    /// A variable of the environment that the server needs, beside HOME, PATH and the like
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Who may approve calls. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The profile, with its lock file beside it
    #[arg(short, long, value_name = "PROFILE")]
    profile: PathBuf,
    /// Several servers, from a servers file
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    servers: Option<PathBuf>,
    /// The server and its arguments
    #[arg(last = true, required_unless_present = "servers", value_name = "SERVER")]
    server: Vec<String>,
}

pub(super) fn init(arguments: &Init) -> Result<Status> {
    let (profile, lock) = files(&arguments.output)?;
    for path in [&profile, &lock] {
        if path.exists() {
            bail!("{}: it is there already: name another file with -o, or remove it", path.display());
        }
    }
    let mut names: Vec<String> = COMMON.iter().map(|name| (*name).to_owned()).chain(arguments.env.clone()).collect();
    names.retain(|name| std::env::var_os(name).is_some());
    let launch = Launch::new(String::new(), arguments.server.clone(), names.clone())?;
    let server = launch.connect()?;
    let listed = server.tools().map_err(NoVerdict)?;
    let info = server.info();
    drop(server);
    let stem = profile.file_name().unwrap_or_default().to_string_lossy();
    let owner = principal(arguments.principal.as_deref())?;
    let draft = Draft::new(stem.trim_end_matches(".profile.json"), &owner, &names, &info, &listed);
    write(&profile, &draft.profile)?;
    write(&lock, &draft.lock)?;
    // A profile that cannot be used would be our mistake, or a definition that is none.
    let mut gate = seamgate::Gate::new()?;
    if let Err(fault) = gate.register_profile(&read_profile(&profile)?) {
        say(&format!(
            "seamgate: {}: edit it before you use it: {}",
            profile.display(),
            escape_terminal(&fault.to_string())
        ));
    }
    print(&format!(
        "{}: {} of {}, each with approval\n{}: their definitions, as they are now\n\nSet 'effect' and 'permit' of each tool. Then put this line into the configuration of your client:\n\n  seamgate mcp -p {} -- {}",
        profile.display(),
        seamgate_text::count(listed.len(), "tool"),
        escape_terminal(info.name.as_deref().unwrap_or("the server")),
        lock.display(),
        profile.display(),
        escape_terminal(&arguments.server.join(" ")),
    ))?;
    Ok(Status::Accepted)
}

pub(super) fn check(arguments: &Check) -> Result<Status> {
    let text = read_profile(&arguments.profile)?;
    let document = Document::of(&arguments.profile, &text)?;
    let pins = Pins::of(&text).with_context(|| arguments.profile.display().to_string())?;
    let launches = match &arguments.servers {
        Some(file) => document.launches(file)?,
        None => vec![document.launch(&arguments.server)?],
    };
    let mut lines = Vec::new();
    let mut total = 0;
    for launch in &launches {
        let server = launch.connect()?;
        let listed = server.tools().map_err(NoVerdict)?;
        drop(server);
        total += listed.len();
        lines.extend(pins.differences(launch.name(), &listed));
    }
    if lines.is_empty() {
        print(&format!(
            "{}: {}, as the profile pins them",
            arguments.profile.display(),
            seamgate_text::count(total, "tool")
        ))?;
        return Ok(Status::Accepted);
    }
    print(&escape_terminal(&lines.join("\n")))?;
    Ok(Status::Rejected)
}

/// The files of a profile.
fn files(profile: &Path) -> Result<(PathBuf, PathBuf)> {
    let name = profile.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(stem) = name.strip_suffix(".profile.json").filter(|stem| !stem.is_empty()) else {
        bail!("-o {}: the name must end in .profile.json, for its lock file is found by that", profile.display());
    };
    Ok((profile.to_owned(), profile.with_file_name(format!("{stem}.lock.json"))))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| NoVerdict(format!("cannot write {}: {error}", path.display())).into())
}
