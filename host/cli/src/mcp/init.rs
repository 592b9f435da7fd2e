//! `seamgate mcp init`: creates a profile to start from, with its lock file, and the entry for the configuration of a
//! client.

use std::{
    ffi::OsStr,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::{
    Arg, ArgAction, ArgMatches, FromArgMatches,
    builder::{NonEmptyStringValueParser, PossibleValuesParser},
};
use seamgate::Gate;
use seamgate_mcp::{Draft, Launch, Permit, Permits, Rules, agent, lock_path};
use seamgate_runner::process::Signals;
use seamgate_text::{count, escape_terminal, say, shorten};

use super::{
    clients::{ANY, CLIENTS, Client, Entry},
    list,
};
use crate::{console::print, principal::principal, status::Status};

/// The variables that most programs need to start. MCP clients pass these on.
const COMMON: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// The suffix of a profile's file name.
const ENDING: &str = ".profile.json";
/// The maximum length of a principal, in characters (`approvers` in `schemas/profile.schema.json`).
const MAX_PRINCIPAL: usize = 256;
/// The maximum number of names in a message, and the longest shown part of each, in characters.
const MAX_LISTED: usize = 10;
const MAX_NAME: usize = 64;

#[derive(clap::Args)]
pub(crate) struct Init {
    /// The profile to write: NAME.profile.json, or NAME. NAME.lock.json is written beside it
    #[arg(short, long, value_name = "FILE", default_value = "mcp.profile.json")]
    output: PathBuf,
    /// The permit of tools that declare themselves read-only. `allow`: they run without approval
    #[arg(long, value_name = "PERMIT", default_value = "approve", value_parser = ["approve", "allow"])]
    reads: String,
    #[command(flatten)]
    patterns: Patterns,
    /// Print only the entry for the configuration of this client
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(CLIENTS.map(|client| client.name)))]
    client: Option<String>,
    /// The folder for journals in that entry. Default: runs/NAME beside the profile
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// An environment variable that the server needs, in addition to HOME, PATH and the like
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// The principal who may approve calls. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// The command of the server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<String>,
}

/// Patterns of names with their permits, in the order of the command line.
struct Patterns(Vec<(Permit, String)>);

/// The options of patterns, each with its help.
const PATTERNS: [(Permit, &str); 3] = [
    (
        Permit::Allow,
        "Let tools run without approval: a name, or a pattern with '*'. Of several that match, the last one counts",
    ),
    (Permit::Approve, "Ask for approval of these tools: a name, or a pattern"),
    (Permit::Deny, "Deny these tools, so that the client does not see them: a name, or a pattern"),
];

impl clap::Args for Patterns {
    fn augment_args(command: clap::Command) -> clap::Command {
        PATTERNS.into_iter().fold(command, |command, (permit, help)| {
            let name = permit.option().trim_start_matches('-');
            let option = Arg::new(name).long(name).value_name("PATTERN").help(help);
            command.arg(option.action(ArgAction::Append).value_parser(NonEmptyStringValueParser::new()))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Patterns {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut all: Vec<(usize, Permit, String)> = Vec::new();
        for (permit, _) in PATTERNS {
            let name = permit.option().trim_start_matches('-');
            let places = matches.indices_of(name).into_iter().flatten();
            let patterns = matches.get_many::<String>(name).into_iter().flatten();
            all.extend(places.zip(patterns).map(|(place, pattern)| (place, permit, pattern.clone())));
        }
        all.sort_by_key(|(place, ..)| *place);
        Ok(Patterns(all.into_iter().map(|(_, permit, pattern)| (permit, pattern)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(super) fn init(arguments: &Init) -> Result<Status> {
    // Report all mistakes that can be detected without the server before starting it.
    let (profile, lock) = files(&arguments.output)?;
    let owner = principal(arguments.principal.as_deref())?;
    if owner.chars().count() > MAX_PRINCIPAL {
        bail!("--as: a principal has at most {MAX_PRINCIPAL} characters; this one has {}", owner.chars().count());
    }
    let variables = variables(&arguments.env)?;
    let file_name = profile.file_name().unwrap_or_default().to_string_lossy();
    let stem = file_name.strip_suffix(ENDING).unwrap_or(&file_name);
    let entry = entry(arguments, stem, &profile, &variables)?;

    let launch = Launch::new(String::new(), arguments.server.clone(), variables.clone())?;
    let listing = list(&launch, "name them with --env")?;
    let gate = Gate::new()?;
    let rules = Rules { allows_reads: arguments.reads == "allow", patterns: arguments.patterns.0.clone() };
    let draft = Draft::new((stem, &owner), &variables, &listing.info, &listing.tools, &rules, &gate)?;
    {
        // A signal waits until both files are written.
        let signals = Signals::install()?;
        let _deferred = signals.listen(|_| true);
        draft.write(&profile, &lock)?;
    }
    let server = listing.info.name.as_deref().map_or_else(|| "the server".to_owned(), shown);
    let summary = format!(
        "{}: {} of {server}{}\n{}: their definitions, as they are now",
        shown_path(&profile),
        count(draft.permits.total(), "tool"),
        permits(&draft.permits),
        shown_path(&lock),
    );
    let client = arguments.client.as_deref().and_then(Client::named);
    match client {
        Some(client) => {
            say(&format!("{summary}\n\nRead the profile, and {}:\n", client.task));
            print(&client.entry(&entry))?;
        }
        None => {
            let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            print(&format!(
                "{summary}\n\nRead the profile, and decide about 'effect' and 'permit' of each tool. Then {}, in place of the server:\n\n{}\n\n\
                 With --client, this command prints the form of one client: {}",
                ANY.task,
                ANY.entry(&entry),
                names.join(", ")
            ))?;
        }
    }
    remarks(&draft, client.unwrap_or(&ANY), &entry);
    Ok(Status::Accepted)
}

/// Prints what a person should know in addition to the result.
fn remarks(draft: &Draft, client: &Client, entry: &Entry) {
    for (name, reason) in draft.left_out.iter().take(MAX_LISTED) {
        say(&format!("seamgate: left out the tool {}: {}", shown(name), escape_terminal(reason)));
    }
    if let Some(more) = draft.left_out.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        say(&format!("seamgate: left out {more} more"));
    }
    let unsafe_allow = &draft.permits.unsafe_allow;
    if !unsafe_allow.is_empty() {
        let names: Vec<String> = unsafe_allow.iter().take(MAX_LISTED).map(|name| shown(name)).collect();
        let more = match unsafe_allow.len().saturating_sub(MAX_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        say(&format!(
            "seamgate: these tools run without approval, and do not say that they only read: {}{more}",
            names.join(", ")
        ));
    }
    if client.lacks_values() && !entry.variables.is_empty() {
        say("seamgate: fill in the values in 'env': the client passes them to the gate, and the gate to the server");
    }
}

/// Describes how many tools have each permit.
fn permits(permits: &Permits) -> String {
    let parts = [(permits.allow, "without approval"), (permits.approve, "with approval"), (permits.deny, "denied")];
    match parts.iter().filter(|(number, _)| *number > 0).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [(1, how)] => format!(", {how}"),
        [(_, how)] => format!(", each {how}"),
        ref several => {
            let several: Vec<String> = several.iter().map(|(number, how)| format!("{number} {how}")).collect();
            format!(": {}", several.join(", "))
        }
    }
}

/// Returns the paths of the profile and its lock file, neither of which exists yet.
fn files(output: &Path) -> Result<(PathBuf, PathBuf)> {
    let mut profile = output.to_owned();
    if profile.is_dir() {
        profile.push(format!("mcp{ENDING}"));
    }
    let name = profile.file_name().and_then(OsStr::to_str).map(str::to_owned);
    let Some(name) = name else { bail!("-o {}: name a file, such as files{ENDING}", shown_path(output)) };
    if !name.ends_with(ENDING) {
        profile.set_file_name(format!("{}{ENDING}", name.strip_suffix(".json").unwrap_or(&name)));
    }
    let Some(lock) = lock_path(&profile) else {
        bail!("-o {}: a name goes before {ENDING}, such as files{ENDING}", shown_path(output))
    };
    let folder = profile.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("-o {}: the folder {} does not exist: make it first", shown_path(output), shown_path(folder));
    }
    for path in [&profile, &lock] {
        if path.symlink_metadata().is_ok() {
            bail!("{}: it exists already: name another file with -o, or remove it", shown_path(path));
        }
    }
    Ok((profile, lock))
}

/// Returns the variables that the server gets: those that most programs need, if they are set, and those that the user
/// named.
fn variables(named: &[String]) -> Result<Vec<String>> {
    let is_name = |name: &str| {
        let is_known = |character: char| character.is_ascii_alphanumeric() || character == '_';
        !name.is_empty()
            && name.len() <= 256
            && name.chars().all(is_known)
            && !name.starts_with(|first: char| first.is_ascii_digit())
    };
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let mut names: Vec<String> = COMMON.into_iter().filter(|name| is_set(name)).map(str::to_owned).collect();
    for name in named {
        if !is_name(name) {
            bail!(
                "--env {}: the name of a variable has letters, digits and '_'; its value stays in the environment",
                shown(name)
            );
        }
        if !is_set(name) {
            say(&format!("seamgate: --env {name}: it is not set here, so the server starts without it"));
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// Returns the gate as an entry of a client's configuration. Clients start programs in other folders, so all paths are
/// absolute.
fn entry(arguments: &Init, stem: &str, profile: &Path, variables: &[String]) -> Result<Entry> {
    let absolute = |path: &Path| -> Result<String> {
        let absolute = std::path::absolute(path).with_context(|| shown_path(path))?;
        Ok(absolute.to_string_lossy().into_owned())
    };
    let journal = match &arguments.journal {
        Some(folder) => folder.clone(),
        None => profile.with_file_name("runs").join(stem),
    };
    let mut server = Vec::new();
    for (index, word) in arguments.server.iter().enumerate() {
        server.push(if is_path(index, word) { absolute(Path::new(word))? } else { word.clone() });
    }
    Ok(Entry {
        name: agent(stem),
        gate: gate(),
        arguments: ["mcp", "-p", &absolute(profile)?, "--journal", &absolute(&journal)?, "--"]
            .map(str::to_owned)
            .to_vec(),
        server,
        variables: variables.iter().filter(|name| arguments.env.contains(name)).cloned().collect(),
    })
}

/// Returns whether a word of the server's command is a path relative to this folder: a program with a separator, a path
/// that begins with `.`, or an existing file.
fn is_path(index: usize, word: &str) -> bool {
    let path = Path::new(word);
    let starts_with_dot =
        matches!(path.components().next(), Some(std::path::Component::CurDir | std::path::Component::ParentDir));
    match path.is_absolute() {
        true => false,
        false if index == 0 => word.contains(['/', MAIN_SEPARATOR]),
        false => starts_with_dot || path.is_file(),
    }
}

/// Returns the path of this command. In a package for another language, the process is that language's interpreter.
fn gate() -> String {
    let is_own = |path: &PathBuf| path.file_stem() == Some(OsStr::new("seamgate"));
    let name = format!("seamgate{}", std::env::consts::EXE_SUFFIX);
    let on_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .map(|folder| folder.join(&name))
            .find(|path| path.is_absolute() && path.is_file())
    };
    let path = std::env::current_exe().ok().filter(is_own).or_else(on_path);
    path.map_or(name.clone(), |path| path.to_string_lossy().into_owned())
}

/// Formats an untrusted name for display.
fn shown(name: &str) -> String {
    escape_terminal(&shorten(name, MAX_NAME).replace(['\n', '\r'], " "))
}

fn shown_path(path: &Path) -> String {
    escape_terminal(&path.display().to_string())
}
