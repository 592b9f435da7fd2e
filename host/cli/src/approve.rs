//! `seamgate approve`: a person decides about a call for which a run requests approval.

use std::{
    cell::Cell,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{ApprovalAnswer, ApprovalEvent, ApprovalRemember, Ask, read_named};
use seamgate_runner::{
    agent::{YesOrNo, ask_rows, held_reason, now, to_decide},
    run_dir::{Decision, MAX_TOKEN, Plan, SigningKey},
    terminal::{Terminal, TerminalPrompt, is_terminal},
    waiting::{Waiting, find, with_children},
};
use seamgate_text::{count, escape_terminal, say, shell_word, with_sources};
use seamgate_trace::{CallOutcome, has_journal, runs_in};
use serde::de::IgnoredAny;

use crate::{
    console::{print, print_json},
    error,
    principal::principal,
    status::Status,
};

use self::remember::Remember;

mod list;
mod remember;

/// The maximum number of lines that a person may type on the terminal before the decision.
const MAX_LINES: u32 = 5;

/// The maximum number of sessions whose calls are looked up, of a run's most recent keys that are named, and of calls
/// that are described.
const MAX_SESSIONS: usize = 5;
const MAX_LAST: usize = 5;
const MAX_OUTCOMES: usize = 20;

/// The longest arguments of a call, in bytes. An event may contain no more.
const MAX_ARGUMENTS: usize = 1024 * 1024;

pub(crate) const HELP: &str = "\
If several calls wait, this lists them. DIR may be a folder of several runs.
If the call does not wait, this says what became of it. If no call waits, it says so of all calls that needed approval.

Exit status: 0 decided, 2 usage error or no such call waits, 5 fault, 6 nobody decided: the call still waits";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the run, or the folder of 'seamgate mcp --journal'
    #[arg(value_name = "DIR", required_unless_present = "new_key")]
    run: Option<PathBuf>,
    /// The call to decide about. Default: the only call that waits
    key: Option<String>,
    /// Reject the call
    #[arg(long)]
    reject: bool,
    /// The reason. The model reads it if the call is rejected
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Decide without a prompt on the terminal
    #[arg(long)]
    yes: bool,
    /// The principal who decides. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// Replace the arguments of the call with those in this file, a JSON object, before you decide. The model is
    /// informed. Not for calls of 'seamgate mcp'
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reject", "token", "json"])]
    arguments: Option<PathBuf>,
    #[command(flatten)]
    remember: Remember,
    /// Sign the decision with this private key. Default: the key in the SSH agent that the profile names
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Create a key to sign decisions with, write it to a new file, and print the entry for the profile
    #[arg(long, value_name = "FILE", exclusive = true)]
    new_key: Option<PathBuf>,
    /// Read the decision from a token that was signed elsewhere: a JWS with 'run', 'key', 'digest', 'decision'
    /// ('approved' or 'rejected') and 'principal', signed with a key of the profile (EdDSA)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reject", "yes", "principal", "key_file"])]
    token: Option<PathBuf>,
    /// Print the waiting calls as a JSON array, and decide nothing
    #[arg(long, conflicts_with_all = ["reject", "yes", "principal", "token", "reason", "key_file"])]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match (&arguments.new_key, &arguments.run) {
        (Some(file), _) => new_key(file),
        (None, Some(run)) => decide_in(arguments, run),
        (None, None) => bail!("name the folder of a run"),
    }
}

/// Creates a key, and prints where it belongs.
fn new_key(file: &Path) -> Result<Status> {
    let public = SigningKey::create(file)?;
    print(&format!("{public}\n"))?;
    let name = shell_word(file);
    say(&format!(
        "seamgate: {name} has the private key: keep it where no agent can read it. In the profile, among \"approvers\":\n  \
         {{ \"principal\": \"YOUR NAME\", \"key\": \"{public}\" }}\n  then decide with: seamgate approve DIR --key-file {name}"
    ));
    Ok(Status::Accepted)
}

fn decide_in(arguments: &Arguments, folder: &Path) -> Result<Status> {
    let sessions = runs_in(folder, Plan::is_in);
    let mut waiting = Vec::new();
    let mut skipped = Vec::new();
    match sessions.is_empty() {
        // Sessions of a gate that have ended.
        true if has_ended(folder) => {}
        true => (waiting, skipped) = find(folder)?,
        false => {
            for session in &sessions {
                match find(session) {
                    Ok((more, unopened)) => {
                        waiting.extend(more);
                        skipped.extend(unopened);
                    }
                    Err(error) => skipped.push((session.clone(), error)),
                }
            }
        }
    }
    for (folder, error) in skipped {
        let why = error::told(&error::of_library(error.into()));
        say(&format!(
            "seamgate: skipped {}: {}",
            escape_terminal(&folder.display().to_string()),
            escape_terminal(&why)
        ));
    }
    let now = now();
    let is_meant = |key: &str| arguments.key.as_deref().is_none_or(|named| named == key);
    waiting.retain(|one| one.ask.expires > now && is_meant(&one.ask.key));
    if arguments.json {
        print_json(&list::json(&waiting)?)?;
        return Ok(if waiting.is_empty() { Status::Accepted } else { Status::Waits });
    }
    let edited;
    let mut one = match &waiting[..] {
        [only] => only,
        [] => {
            let key = arguments.key.as_ref().map(|key| format!(" {key}")).unwrap_or_default();
            let outcomes = outcomes(folder, arguments.key.as_deref(), now);
            bail!("{}: no call{key} waits for approval{outcomes}", folder.display())
        }
        several => {
            print(&list::text(several, now))?;
            let example = &several[0];
            let command = format!("seamgate approve {} {}", shell_word(&example.folder), example.ask.key);
            if arguments.yes || arguments.reject || arguments.token.is_some() {
                bail!("several calls wait for approval: name one of them, as in: {command}");
            }
            say(&format!("seamgate: several calls wait for approval. To read and decide one: {command}"));
            return Ok(Status::Waits);
        }
    };
    if let Some(file) = &arguments.arguments {
        match edit(arguments, one, file)? {
            Some(again) => edited = again,
            None => {
                let outcomes = outcomes(folder, Some(&one.ask.key), now);
                say(&format!("seamgate: the call with the new arguments needs no decision{outcomes}"));
                return Ok(Status::Accepted);
            }
        }
        one = &edited;
    }
    let (remember, covered) = arguments.remember.of(one)?.unzip();
    let rows = || ask_rows(&one.ask, &one.folder);
    // The terminal prompt shows them itself.
    if arguments.yes || arguments.token.is_some() || !is_terminal() {
        rows().iter().for_each(|row| say(row));
    }
    let decision = match &arguments.token {
        Some(file) => signed(file, one)?,
        None => match said(arguments, one, remember, &rows)? {
            Some(decision) => decision,
            None => {
                say("seamgate: nothing was decided");
                return Ok(Status::Waits);
            }
        },
    };
    let (answer, principal) = (decision.decision, decision.principal.clone());
    let covered =
        covered.filter(|_| decision.remember.is_some()).map(|about| format!(", and {about}")).unwrap_or_default();
    send(one, decision)?;
    let next = match one.goes_on {
        true => String::new(),
        false => format!("; go on with: seamgate agent --resume {}", shell_word(folder)),
    };
    say(&format!("seamgate: {answer} by {}{covered}{next}", escape_terminal(&principal)));
    Ok(Status::Accepted)
}

/// Changes the arguments of a call. Returns the call as it then waits, if it still does.
fn edit(arguments: &Arguments, one: &Waiting, file: &Path) -> Result<Option<Waiting>> {
    let context = || format!("--arguments {}", file.display());
    let text = String::from_utf8(read_named(file, MAX_ARGUMENTS).with_context(context)?).with_context(context)?;
    let text = text.trim();
    serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text)
        .with_context(context)
        .context("expected a JSON object")?;
    let principal = allowed(arguments, &one.ask)?;
    let mut event = one.event(ApprovalAnswer::Edited, &principal);
    event.reason = arguments.reason.as_deref().map(held_reason);
    event.arguments = Some(text.to_owned());
    send(one, event)?;
    let (waiting, _) = find(&one.folder)?;
    Ok(waiting.into_iter().find(|other| other.folder == one.folder && other.ask.key == one.ask.key))
}

/// Returns the principal who decides, provided that they may decide about a call.
fn allowed(arguments: &Arguments, ask: &Ask) -> Result<String> {
    let principal = principal(arguments.principal.as_deref())?;
    if !ask.by.contains(&principal) {
        let by = escape_terminal(&ask.by.join(", "));
        bail!(
            "{} may not decide about this call; these may: {by}. Say who you are with --as",
            escape_terminal(&principal)
        );
    }
    Ok(principal)
}

/// Describes the outcome of a call that does not wait, or of all calls that needed approval, one per line.
fn outcomes(folder: &Path, key: Option<&str>, now: u64) -> String {
    let mut runs = if has_journal(folder) { vec![folder.to_owned()] } else { runs_in(folder, has_journal) };
    // Runs that continue come last, so that they are kept.
    runs.sort_by_key(|run| Plan::is_in(run));
    let older = runs.len().saturating_sub(MAX_SESSIONS);
    runs.drain(..older);
    let runs: Vec<PathBuf> = runs.into_iter().flat_map(|run| with_children(&run)).collect();
    let (mut told, mut others) = (Vec::new(), Vec::new());
    for run in &runs {
        let place = run.display();
        match seamgate_trace::calls(run, now) {
            Ok(calls) => {
                let last: Vec<&str> = calls.iter().rev().take(MAX_LAST).map(|call| call.key.as_str()).collect();
                if !last.is_empty() {
                    let last: Vec<&str> = last.into_iter().rev().collect();
                    others.push(format!("the last calls of {place} are {}", last.join(", ")));
                }
                let is_meant = |call: &&CallOutcome| key.map_or(call.was_asked, |key| call.key == key);
                let calls = calls.iter().filter(is_meant);
                told.extend(calls.map(|call| format!("{} {} of {place}: {}", call.key, call.tool, call.outcome)));
            }
            Err(error) => others.push(with_sources(&error)),
        }
    }
    if told.is_empty() && key.is_some() {
        told = others;
    }
    let more = told.len().saturating_sub(MAX_OUTCOMES);
    told.drain(..more);
    if more > 0 {
        told.insert(0, format!("{}: name one of them", count(more, "earlier call")));
    }
    if older > 0 {
        told.push(format!("{} not shown: name the folder of one", count(older, "older session")));
    }
    told.iter().map(|line| format!("\n  {line}")).collect()
}

/// Returns the decision of a person on this terminal or command line.
fn said(
    arguments: &Arguments,
    one: &Waiting,
    remember: Option<ApprovalRemember>,
    rows: &dyn Fn() -> Vec<String>,
) -> Result<Option<ApprovalEvent>> {
    let ask = &one.ask;
    let principal = allowed(arguments, ask)?;
    let signer = match ask.keys_of(&principal) {
        None if arguments.key_file.is_some() => {
            bail!("{} has no key in the profile: leave out --key-file", escape_terminal(&principal))
        }
        None => None,
        Some([]) => bail!("{}", no_common_key(&principal)),
        Some(_) if remember.is_some() => {
            bail!(
                "{} signs decisions, and a signature is for one call: leave out --for-run",
                escape_terminal(&principal)
            )
        }
        Some(keys) => Some(signer(arguments.key_file.as_deref(), &principal, keys)?),
    };
    let decision = match (arguments.yes, arguments.reject) {
        (true, false) => Some((ApprovalAnswer::Approved, None)),
        (true, true) => Some((ApprovalAnswer::Rejected, None)),
        (false, is_rejected) => asked(ask, &principal, is_rejected, rows)?,
    };
    let Some((decision, reason)) = decision else { return Ok(None) };
    let token = signer.map(|signer| {
        signer.sign(&Decision {
            run: &one.run,
            key: &ask.key,
            digest: &ask.digest,
            decision: &decision.to_string(),
            principal: &principal,
            exp: ask.expires.div_ceil(1000),
        })
    });
    let mut event = one.event(decision, &principal);
    event.reason = arguments.reason.clone().or(reason).as_deref().map(held_reason);
    event.token = token.transpose()?;
    event.remember = remember.filter(|_| decision == ApprovalAnswer::Approved);
    Ok(Some(event))
}

/// Returns the key with which a principal signs: the one named on the command line, or one that the SSH agent holds.
fn signer(file: Option<&Path>, principal: &str, keys: &[String]) -> Result<SigningKey> {
    let name = escape_terminal(principal);
    match file {
        Some(file) => {
            let signer = SigningKey::read(file)?;
            if !signer.is_one_of(keys) {
                bail!("--key-file {}: it is not the key that {name} has in the profile", file.display());
            }
            Ok(signer)
        }
        None => SigningKey::of_agent(keys).with_context(|| {
            format!(
                "{name} has a key in the profile, and the SSH agent does not hold it: sign with --key-file FILE, or give a decision \
                 that was signed elsewhere with --token FILE"
            )
        }),
    }
}

/// Reads a decision from a file with a signed token.
fn signed(file: &Path, one: &Waiting) -> Result<ApprovalEvent> {
    let context = || format!("--token {}", file.display());
    let text = String::from_utf8(read_named(file, MAX_TOKEN).with_context(context)?).with_context(context)?;
    one.signed(&text).with_context(context)
}

fn no_common_key(principal: &str) -> String {
    let principal = escape_terminal(principal);
    format!(
        "{principal} has another key in the profile of the run's agent than in that of an agent above it, and cannot sign for both: \
         give {principal} the same key in these profiles, or let another of those who may decide do so"
    )
}

/// Asks on the terminal, below the view. Returns the decision, if there is one.
fn asked(
    ask: &Ask,
    principal: &str,
    is_rejected: bool,
    rows: &dyn Fn() -> Vec<String>,
) -> Result<Option<(ApprovalAnswer, Option<String>)>> {
    if !is_terminal() {
        bail!("there is no terminal to ask on: decide with --yes");
    }
    let (key, principal) = (escape_terminal(&ask.key), escape_terminal(principal));
    let left = Cell::new(MAX_LINES);
    let decision = Terminal::default().ask(&TerminalPrompt {
        rows,
        prompt: &|code| match is_rejected {
            false => format!("Approve {key} as {principal}? {}", to_decide(code)),
            true => format!("Reject {key} as {principal}? Type \"{code}\" to reject:"),
        },
        take: &|line, code| match (YesOrNo::of(line, code), is_rejected) {
            (Some(answer), false) => Some(Some(answer.decision())),
            (Some(YesOrNo::Yes), true) => Some(Some((ApprovalAnswer::Rejected, None))),
            (None, _) | (Some(YesOrNo::No(_)), true) => {
                left.set(left.get() - 1);
                if left.get() == 0 { Some(None) } else { None }
            }
        },
        invalid: "That decides nothing. The call waits if you end this now.",
        over: &|| (ask.expires <= now()).then(|| say("Nobody answered in time.")).map(|()| None),
    })?;
    Ok(decision.flatten())
}

/// Returns whether a folder has journals, or belongs to one, but has no run that can continue.
fn has_ended(folder: &Path) -> bool {
    !Plan::is_in(folder) && (has_journal(folder) || !runs_in(folder, has_journal).is_empty())
}

/// Sends a decision to the run of a call.
fn send(one: &Waiting, event: ApprovalEvent) -> Result<()> {
    match one.send(event)? {
        Some(record) => bail!("the run did not take it: {} ({})", escape_terminal(&record.message), record.code),
        None => Ok(()),
    }
}
