//! `seamgate hook`: one profile decides about all tools of a coding harness.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{MAX_FILE, create_anew, read_named, read_profile};
use seamgate_hook::{Change, Harness, Place, Setting, plan, respond};
use seamgate_text::{escape_terminal, say};
use serde_json::Value;

use crate::{agent::read_lists, error::Unwritten, lists, principal::principal, status::Status};

pub(crate) const HELP: &str = "\
Put the hook into the settings of a project. Without --write, this shows the change:

  seamgate hook install claude -p code.profile.json --write

The harness then starts 'seamgate hook claude -p code.profile.json' for each message of a hook: this reads the message from standard
input and answers on standard output. Commands of a shell are taken apart, and each is a call of a tool on the server \"shell\".

Exit status: 0 answered, 2 the message cannot be read, or usage error: harnesses take that as a denial";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The harness: claude, codex, gemini, copilot or opencode
    #[arg(value_name = "HARNESS", value_parser = harness, required = true)]
    harness: Option<Harness>,
    /// The profile
    #[arg(short, long, value_name = "PROFILE", required = true)]
    profile: Option<PathBuf>,
    /// A folder for journals. Each session gets a separate folder in it. Default: seamgate/hooks in the XDG state
    /// folder
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
    /// A list that the profile's 'scope' names: a file with one value per line
    #[arg(long, value_name = "NAME=FILE", value_parser = lists::parse)]
    list: Vec<(String, PathBuf)>,
    /// The mode. Default: the first mode of the profile
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,
    /// The person that the harness works for. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Answer before the journal is synced to disk. A crash of the machine may then lose the last lines
    #[arg(long)]
    no_sync: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show how to add the hook to the settings of a harness, or add it with --write
    Install(Install),
}

#[derive(clap::Args)]
struct Install {
    /// The harness: claude, codex, gemini, copilot or opencode
    #[arg(value_name = "HARNESS", value_parser = harness)]
    harness: Harness,
    /// The profile
    #[arg(short, long, value_name = "PROFILE", required_unless_present = "uninstall")]
    profile: Option<PathBuf>,
    /// The settings file. Default: that of the project in the working folder
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write the file
    #[arg(long)]
    write: bool,
    /// Remove the hook
    #[arg(long)]
    uninstall: bool,
}

fn harness(word: &str) -> Result<Harness, String> {
    let words: Vec<&str> = Harness::ALL.iter().map(|harness| harness.word()).collect();
    let found = Harness::ALL.into_iter().find(|harness| harness.word() == word);
    found.ok_or_else(|| format!("name one of {}, or 'install'", words.join(", ")))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    if let Some(Command::Install(arguments)) = &arguments.command {
        return install(arguments);
    }
    let (Some(harness), Some(path)) = (arguments.harness, &arguments.profile) else {
        bail!("name a harness, and a profile with -p")
    };
    let setting = setting(arguments, path)?;
    let mut input = Vec::new();
    // One byte more than the limit shows that the input is too long.
    std::io::stdin().lock().take(MAX_FILE as u64 + 1).read_to_end(&mut input).context("cannot read standard input")?;
    let answer = respond(&setting, harness, &input);
    if let Some(why) = answer.failure {
        say(&format!("seamgate: {}", escape_terminal(&why)));
        return Ok(Status::Usage);
    }
    if !answer.output.is_empty() {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", answer.output).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    }
    Ok(Status::Accepted)
}

fn setting(arguments: &Arguments, path: &Path) -> Result<Setting> {
    let profile = read_profile(path)?;
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let state = state.or_else(|| home.as_ref().map(|home| Path::new(home).join(".local/state")));
    let journal = match (&arguments.journal, state) {
        (Some(folder), _) => folder.clone(),
        (None, Some(state)) => state.join("seamgate/hooks"),
        (None, None) => bail!("there is no HOME: name a folder for journals with --journal"),
    };
    let names = list_names(&profile);
    Ok(Setting {
        path: path.to_owned(),
        lists: read_lists(&arguments.list, &names)?,
        profile,
        journal,
        principal: principal(arguments.principal.as_deref()).unwrap_or_else(|_| "nobody".to_owned()),
        mode: arguments.mode.clone(),
        is_synced: !arguments.no_sync,
        home,
    })
}

/// Returns the names of lists in the scopes of a profile.
fn list_names(profile: &str) -> Vec<String> {
    let profile: Value = serde_json::from_str(profile).unwrap_or_default();
    let tools = profile["tools"].as_array().into_iter().flatten();
    let rules = tools.filter_map(|tool| tool["scope"].as_array()).flatten();
    rules.filter_map(|rule| rule["list"].as_str().map(str::to_owned)).collect()
}

fn install(arguments: &Install) -> Result<Status> {
    let Install { harness, profile, file, write, uninstall } = arguments;
    let file = file.clone().unwrap_or_else(|| Place::of(*harness));
    let mut command = ["seamgate", "hook", harness.word(), "-p"].map(str::to_owned).to_vec();
    if let Some(profile) = profile {
        // A profile that cannot be used would deny all calls, so check it first.
        let text = read_profile(profile)?;
        let mut gate = seamgate::Gate::new()?;
        gate.register_profile(&text).map_err(|fault| crate::error::unusable_profile(fault, profile))?;
        command.push(std::path::absolute(profile)?.display().to_string());
    }
    let context = || format!("cannot read {}", file.display());
    let text = match file.exists() {
        true => Some(String::from_utf8(read_named(&file, MAX_FILE).with_context(context)?).with_context(context)?),
        false => None,
    };
    let change = plan(*harness, text.as_deref(), &command, !uninstall).with_context(|| file.display().to_string())?;
    let before = text.unwrap_or_default();
    let after = match &change {
        Change::None => {
            say(&format!("seamgate: {} is as it should be", escape_terminal(&file.display().to_string())));
            return Ok(Status::Accepted);
        }
        Change::Write(text) => text.as_str(),
        Change::Remove => "",
    };
    let mut out = std::io::stdout().lock();
    write!(out, "{}", escape_terminal(&difference(&file, &before, after))).map_err(Unwritten::from)?;
    if !write {
        say("seamgate: nothing was written: to write it, add --write");
        return Ok(Status::Accepted);
    }
    let written = match &change {
        Change::Remove => fs::remove_file(&file),
        _ => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| replace(&file, after.as_bytes()))
        }
    };
    written.with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Status::Accepted)
}

/// Writes the file atomically. If it is a link, the link stays, and its target is replaced with the same permissions.
fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = match file.symlink_metadata() {
        Ok(_) => file.canonicalize()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => file.to_owned(),
        Err(error) => return Err(error),
    };
    let mut part = target.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    // This does not follow a link of that name.
    let written = create_anew(fs::File::options().write(true), Path::new(&part)).and_then(|mut new| {
        new.write_all(bytes)?;
        if let Ok(metadata) = target.metadata() {
            new.set_permissions(metadata.permissions())?;
        }
        new.sync_all()?;
        fs::rename(&part, &target)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&part);
    })
}

/// Shows the lines that differ.
fn difference(file: &Path, before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let name = file.display();
    let (removed, added) = (&old[begin..old.len() - end], &new[begin..new.len() - end]);
    let mut text = format!(
        "--- {name}\n+++ {name}\n@@ -{},{} +{},{} @@\n",
        begin + usize::from(!removed.is_empty()),
        removed.len(),
        begin + usize::from(!added.is_empty()),
        added.len()
    );
    for line in removed {
        text.push_str(&format!("-{line}\n"));
    }
    for line in added {
        text.push_str(&format!("+{line}\n"));
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn settings_are_replaced_behind_a_link_with_their_permissions() {
        let folder = std::env::temp_dir().join(format!("seamgate-hook-replace-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(folder.join("real")).expect("a folder");
        let (target, link) = (folder.join("real/settings.json"), folder.join("settings.json"));
        fs::write(&target, "old").expect("written");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("permissions");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        replace(&link, b"new").expect("replaced");
        assert!(link.symlink_metadata().expect("a link").is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("text"), "new");
        assert_eq!(target.metadata().expect("a file").permissions().mode() & 0o777, 0o640);
        replace(&folder.join("other.json"), b"new").expect("written");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 3);
        assert_eq!(fs::read_dir(folder.join("real")).expect("a folder").count(), 1);
        drop(fs::remove_dir_all(&folder));
    }
}
