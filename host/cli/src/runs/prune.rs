//! `seamgate runs prune`.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use seamgate::sync_folder;
use seamgate_runner::{
    agent::now,
    prune::{delete_rest, set_aside},
    run_dir::Lock,
    waiting::with_children,
};
use seamgate_text::{count, escape_terminal, say, shell_word};
use seamgate_trace::{JOURNAL, PRUNED, RunFacts, RunState, facts, has_journal};

use super::{list::time, look};
use crate::{error::Unwritten, status::Status};

pub(super) const HELP: &str = "\
Only runs that have ended are deleted: not one that is under way, waits for a person, is empty, or that a process
has open. A broken run is deleted if DIR is its folder. Children go with their parents. No symbolic link is followed.

  seamgate runs prune runs --older-than 30d --dry-run
  seamgate runs prune runs --older-than 30d --keep 100 --max-bytes 10G";

/// The maximum number of runs that are deleted at once. The folders around them are then synced only once.
const AT_ONCE: usize = 256;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder that contains the runs, or the folder of one run
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Delete runs whose last event is older than this, such as 30d, 12h or 90min
    #[arg(long, value_name = "AGE", value_parser = age, required_unless_present = "max_bytes")]
    older_than: Option<Duration>,
    /// Keep the newest N runs that have ended, regardless of the other options
    #[arg(long, value_name = "N", default_value_t = 0)]
    keep: usize,
    /// Also delete the oldest runs until all runs of DIR together have at most this size, such as 500M or 10G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_bytes: Option<u64>,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// Parses a duration.
fn age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|_| "must be a length of time, such as 30d, 12h or 90min".to_owned())
}

/// Parses a number of bytes: digits, and K, M, G or T for powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "must be a number of bytes, such as 500M or 10G (powers of 1024)".to_owned();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1024_u64.pow(power)).ok_or_else(wrong)
}

/// A run, and whether it may be deleted.
struct Candidate {
    folder: PathBuf,
    facts: RunFacts,
    bytes: u64,
    /// The length of the run's journal when it was read, and its modification time.
    journal: Option<(u64, std::time::SystemTime)>,
    /// The reason why the run is kept. `None` if it may be deleted.
    kept: Option<&'static str>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let dir = &arguments.dir;
    let is_named = has_journal(dir);
    let found = look(dir)?;
    let mut is_whole = found.is_whole;
    if !arguments.dry_run {
        is_whole &= clean(dir, &found.leftovers);
    }
    if found.leftovers.is_empty() {
        found.must_have_runs(dir)?;
    }
    let now = now();
    let mut all: Vec<Candidate> = found.runs.into_iter().map(|run| candidate(run, is_named, now)).collect();
    all.sort_by(|one, other| (one.facts.last, &one.folder).cmp(&(other.facts.last, &other.folder)));
    choose(&mut all, arguments, now);
    let (mut gone, mut bytes) = (0, 0);
    let mut out = anstream::stdout().lock();
    let verb = if arguments.dry_run { "would delete" } else { "deleted" };
    let mut chosen: Vec<&mut Candidate> = all.iter_mut().filter(|one| one.kept.is_none()).collect();
    for some in chosen.chunks_mut(AT_ONCE) {
        if !arguments.dry_run {
            is_whole &= delete(dir, some);
        }
        for one in some.iter().filter(|one| one.kept.is_none()) {
            (gone, bytes) = (gone + 1, bytes + one.bytes);
            let (state, last) = (one.facts.state.as_str(), time(one.facts.last));
            writeln!(out, "{verb} {}  {state}, last event {last}, {} bytes", shell_word(&one.folder), one.bytes)
                .map_err(Unwritten::from)?;
        }
    }
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().filter_map(|one| one.kept).for_each(|why| *kept.entry(why).or_default() += 1);
    let number: usize = kept.values().sum();
    let kept: Vec<String> = kept.into_iter().map(|(why, number)| format!("{number} {why}")).collect();
    let kept = if kept.is_empty() { String::new() } else { format!(": {}", kept.join(", ")) };
    writeln!(out, "{verb} {}, {bytes} bytes; kept {}{kept}", count(gone, "run"), count(number, "run"))
        .and_then(|()| out.flush())
        .map_err(Unwritten::from)?;
    Ok(if is_whole { Status::Accepted } else { Status::Fault })
}

/// Deletes what earlier calls left when they were interrupted. Returns whether everything was deleted.
fn clean(dir: &Path, leftovers: &[PathBuf]) -> bool {
    let mut gone = 0;
    for rest in leftovers {
        match delete_rest(rest) {
            Ok(()) => {
                remove_empty_parents(dir, rest);
                gone += 1;
            }
            Err(error) => say(&escape_terminal(&format!("seamgate: cannot delete {}: {error}", rest.display()))),
        }
    }
    if gone > 0 {
        say(&format!("seamgate: deleted the rest of {} whose deletion was interrupted", count(gone, "run")));
    }
    gone == leftovers.len()
}

fn candidate(folder: PathBuf, is_named: bool, now: u64) -> Candidate {
    let journal = written(&folder);
    let facts = facts(&folder, now);
    let kept = match facts.state {
        _ if with_children(&folder).iter().any(|run| Lock::is_held(run)) => Some("open in a process"),
        state if state.has_ended() => None,
        RunState::Broken if is_named => None,
        RunState::Broken => Some("broken"),
        RunState::Waiting => Some("waiting"),
        RunState::Empty => Some("empty"),
        _ => Some("under way"),
    };
    Candidate { bytes: facts.size.total(), folder, facts, journal, kept }
}

/// Returns the length of a journal, and its modification time.
fn written(folder: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = fs::symlink_metadata(folder.join(JOURNAL)).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Marks the runs that are kept. `all` is in the order of their last events.
fn choose(all: &mut [Candidate], arguments: &Arguments, now: u64) {
    for one in all.iter_mut().rev().filter(|one| one.kept.is_none()).take(arguments.keep) {
        one.kept = Some("among the newest");
    }
    let age = arguments.older_than.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    let is_old = |facts: &RunFacts| match (age, facts.last) {
        (Some(age), Some(last)) => last < now.saturating_sub(age),
        // A damaged journal may have no readable event.
        (Some(_), None) => true,
        (None, _) => false,
    };
    let mut total: u64 = all.iter().map(|one| one.bytes).sum();
    for one in all.iter_mut().filter(|one| one.kept.is_none()) {
        if is_old(&one.facts) || arguments.max_bytes.is_some_and(|most| total > most) {
            total -= one.bytes;
        } else {
            one.kept = Some("not old enough");
        }
    }
}

/// Deletes runs that have not changed since they were read, and marks the others as kept. Returns whether nothing
/// failed.
fn delete(dir: &Path, runs: &mut [&mut Candidate]) -> bool {
    let mut is_whole = true;
    let mut failed = |run: &mut Candidate, error: io::Error| {
        is_whole = false;
        run.kept = Some("not deleted");
        say(&escape_terminal(&format!("seamgate: cannot delete {}: {error}", run.folder.display())));
    };
    let mut aside: Vec<(usize, PathBuf)> = Vec::new();
    let mut parents: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for (place, run) in runs.iter_mut().enumerate() {
        if written(&run.folder) != run.journal {
            run.kept = Some("open in a process");
            continue;
        }
        match set_aside(&run.folder, PRUNED) {
            Ok(folder) => {
                parents.entry(run.folder.parent().unwrap_or(dir).to_owned()).or_default().push(place);
                aside.push((place, folder));
            }
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => run.kept = Some("open in a process"),
            Err(error) => failed(run, error),
        }
    }
    // A crash must not leave a part of a run under the name of the run.
    for (parent, places) in parents {
        if let Err(error) = sync_folder(&parent) {
            aside.retain(|(place, _)| !places.contains(place));
            for place in places {
                failed(runs[place], io::Error::new(error.kind(), error.to_string()));
            }
        }
    }
    for (place, folder) in aside {
        match delete_rest(&folder) {
            Ok(()) => remove_empty_parents(dir, &folder),
            Err(error) => failed(runs[place], error),
        }
    }
    is_whole
}

/// Removes the folders between the folder on the command line and a run, such as that of a hook's session, if they are
/// empty.
fn remove_empty_parents(dir: &Path, run: &Path) {
    let mut parent = run.parent();
    while let Some(folder) = parent.filter(|folder| *folder != dir && folder.starts_with(dir)) {
        // The system refuses if the folder is not empty.
        if fs::remove_dir(folder).is_err() {
            return;
        }
        parent = folder.parent();
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_bytes_in_powers_of_1024() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("12"), Ok(12));
        assert_eq!(size("3k"), Ok(3072));
        assert_eq!(size("10G"), Ok(10 << 30));
        assert_eq!(size("2MiB"), Ok(2 << 20));
        for wrong in ["", "G", "-1", "1.5G", "10X", "99999999999T", "1 G", "१"] {
            size(wrong).expect_err(wrong);
        }
    }
}
