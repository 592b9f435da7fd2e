//! `seamgate replay`: shows how recorded runs would be decided under another profile.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use seamgate::{Gate, Permit, read_profile};
use seamgate_text::{count, escape_terminal, say, shell_word, with_sources};
use seamgate_trace::{NotReplayed, Replay, ReplayedCall, TraceError, find_runs, replay};

use crate::{
    error::{FaultError, Unwritten},
    status::Status,
    trace::with_status,
};

pub(crate) const HELP: &str = "\
Nothing runs, and nothing is written. What tools, models and people did is taken from the journals. If the profile asks about a call
that ran, the call counts as approved, and the run goes on with its recorded result. If it allows a call that did not run, the call
ends without a result.

Exit status: 0 all calls are decided as before, 1 some are not, 2 usage error or invalid profile, 5 a journal is damaged, or no run
could be replayed";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folders of runs, or folders that contain them
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,
    /// The profile to replay them under
    #[arg(short, long, value_name = "PROFILE")]
    profile: PathBuf,
    /// List all calls, not only those with another decision
    #[arg(long)]
    all: bool,
}

/// The counts of all runs.
#[derive(Default)]
struct Counts {
    runs: usize,
    calls: usize,
    differ: usize,
    /// The number of calls by decision: allow, approval, deny, and not reached.
    before: [usize; 4],
    after: [usize; 4],
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let mut gate = Gate::new()?;
    let info = gate
        .register_profile(&read_profile(&arguments.profile)?)
        .map_err(|fault| anyhow::Error::from(FaultError(fault)).context(arguments.profile.display().to_string()))?;
    let mut folders = Vec::new();
    for dir in &arguments.dirs {
        // A folder that cannot be read has no run that can be replayed.
        let found = find_runs(dir).map(|found| found.runs).unwrap_or_default();
        if found.is_empty() {
            bail!("{}: there is no run in it: name the folder of a run, or one that holds runs", dir.display());
        }
        folders.extend(found);
    }
    let mut out = anstream::stdout().lock();
    let (mut counts, mut is_damaged) = (Counts::default(), false);
    for folder in &folders {
        let replay = match replay(folder, &gate, &info.agent) {
            Ok(replay) => replay,
            Err(NotReplayed::Trace(error @ TraceError::Journal(_))) => return Err(with_status(error)),
            Err(error) => {
                say(&format!("seamgate: {}: left out: {}", folder.display(), escape_terminal(&with_sources(&error))));
                continue;
            }
        };
        counts.add(&replay);
        write(&mut out, folder, &replay, arguments.all).map_err(Unwritten::from)?;
        for fault in &replay.faults {
            is_damaged = true;
            say(&format!("seamgate: {}: {}", folder.display(), escape_terminal(fault)));
        }
    }
    write!(out, "{}", counts.table()).and_then(|()| out.flush()).map_err(Unwritten::from)?;
    Ok(match counts {
        _ if is_damaged || counts.runs == 0 => Status::Fault,
        Counts { differ: 0, .. } => Status::Accepted,
        _ => Status::Rejected,
    })
}

fn write(out: &mut impl Write, folder: &Path, replay: &Replay, is_all: bool) -> std::io::Result<()> {
    let shown: Vec<&ReplayedCall> = replay.calls.iter().filter(|call| is_all || call.differs()).collect();
    if shown.is_empty() && replay.notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", shell_word(folder))?;
    for call in shown {
        let (tool, reason) = (escape_terminal(&call.tool), escape_terminal(&call.reason));
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let after = match call.differs() {
            true => format!(" -> {}", WORDS[place(call.after)]),
            false => String::new(),
        };
        writeln!(out, "  {} {tool}  {}{after}{reason}", escape_terminal(&call.key), WORDS[place(Some(call.before))])?;
    }
    for note in &replay.notes {
        writeln!(out, "  left out: {}", escape_terminal(note))?;
    }
    Ok(())
}

/// The words for decisions, in the order of the table.
const WORDS: [&str; 4] = ["runs", "asks", "denied", "not reached"];

/// Returns the column of a decision in the table.
fn place(permit: Option<Permit>) -> usize {
    match permit {
        Some(Permit::Allow) => 0,
        Some(Permit::Approval) => 1,
        Some(Permit::Deny) => 2,
        None => 3,
    }
}

impl Counts {
    fn add(&mut self, replay: &Replay) {
        self.runs += 1;
        for call in &replay.calls {
            self.calls += 1;
            self.differ += usize::from(call.differs());
            self.before[place(Some(call.before))] += 1;
            self.after[place(call.after)] += 1;
        }
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{} in {}, {} decided differently\n",
            count(self.calls, "call"),
            count(self.runs, "run"),
            self.differ
        );
        if self.calls > 0 {
            text.push_str("             before  after\n");
            for ((word, before), after) in WORDS.iter().zip(self.before).zip(self.after) {
                if before + after > 0 {
                    text.push_str(&format!("{word:<12} {before:>6} {after:>6}\n"));
                }
            }
        }
        text
    }
}
