//! `kill -9` at any point: of the agent, of the process that records a person's decision, and between approval and
//! effect.
//!
//! `KILLS=1000 cargo test --release -p seamgate-tests --test agent -- kills` runs longer than CI does. `SEED=7` sets
//! the first seed. A stand-in replaces the service here: a script writes what the real service would write, so that
//! many runs are possible.

use std::{
    collections::BTreeMap,
    env, fs,
    process::Command,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    thread,
    time::Duration,
};

use seamgate_tests::Random;
use serde_json::Value;

use super::{
    lifecycle::{finished, nothing_is_unapproved, ran, same, to_its_end, to_its_end_at_once},
    place::{Done, Place},
};

/// The number of runs that CI kills, each one to three times.
const KILLS: u64 = 100;

/// The longest delay between a line of the journal and the kill, in microseconds. A call takes about as long.
const LONGER_US: usize = 40_000;

/// The time to wait for system calls that may complete after their process is killed.
const SETTLED: Duration = Duration::from_millis(20);

/// A run that is not killed.
struct Whole {
    document: Value,
    lines: usize,
    /// The line of the approval. The effect follows soon after it.
    near: usize,
}

impl Whole {
    fn of(script: &str) -> Self {
        let place = Place::with_stand_in(&format!("whole-{script}"));
        let document = to_its_end_at_once(&place, script);
        let journal = place.journal();
        let near = journal.of("event", "approval").next().map_or(0, |(line, _)| line);
        Whole { document, lines: journal.0.len(), near }
    }
}

#[derive(Default)]
struct Counts {
    kills: AtomicUsize,
    uncertain: AtomicUsize,
    /// The number of kills between the approval and the result of the effect.
    near: AtomicUsize,
}

/// A run that is killed several times.
struct Killer<'k> {
    place: &'k Place,
    whole: &'k Whole,
    counts: &'k Counts,
    random: Random,
    /// The number of journal lines at which the process is killed.
    at: usize,
    left: usize,
    /// The number of times that each finished call ran.
    finished: BTreeMap<String, usize>,
}

impl Killer<'_> {
    fn point(&mut self) -> usize {
        match self.random.chance(30) {
            true => self.whole.near + self.random.below(8),
            false => self.random.below(self.whole.lines),
        }
    }

    /// Runs a process. Returns `None` if it was killed.
    fn run(&mut self, mut command: Command) -> Option<Done> {
        let mut child = command.spawn().expect("seamgate");
        let path = self.place.run().join("journal.ndjson");
        let lines = || fs::read(&path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
        while self.left == 0 || lines() < self.at {
            if child.try_wait().expect("its status").is_some() {
                return Some(child.wait_with_output().expect("its end").into());
            }
            thread::sleep(Duration::from_micros(500));
        }
        thread::sleep(Duration::from_micros(self.random.below(LONGER_US) as u64));
        let is_over = child.try_wait().expect("its status").is_some();
        let _ = child.kill();
        let ended = child.wait_with_output().expect("its end");
        if is_over {
            return Some(ended.into());
        }
        thread::sleep(SETTLED);
        self.left -= 1;
        self.at = self.point();
        self.look();
        None
    }

    /// Checks the invariants after each kill.
    fn look(&mut self) {
        self.counts.kills.fetch_add(1, Relaxed);
        nothing_is_unapproved(self.place);
        let ran = ran(self.place);
        for key in finished(self.place) {
            let times = ran.get(&key).copied().unwrap_or_default();
            self.finished.entry(key).or_insert(times);
        }
        let journal = self.place.journal().whole();
        let is_near = journal
            .of("event", "approval")
            .any(|(_, event)| !journal.calls("tool_result").any(|call| event["key"] == call));
        self.counts.near.fetch_add(usize::from(is_near), Relaxed);
    }
}

/// Runs a script, kills it at points that depend on a seed, and checks the invariants at the end.
fn killed(seed: u64, script: &str, whole: &Whole, counts: &Counts) {
    let name = format!("kill-{script}-{seed}");
    let place = Place::with_stand_in(&name);
    let mut random = Random(seed);
    let left = 1 + random.below(3);
    let mut killer = Killer { place: &place, whole, counts, random, at: 0, left, finished: BTreeMap::new() };
    killer.at = killer.point();
    let document = to_its_end(&place, script, &mut |command| killer.run(command));

    same(&place, &document, &whole.document);
    nothing_is_unapproved(&place);
    assert_eq!(place.restarts().len(), usize::from(script == "sre"), "{name}");
    let ran = ran(&place);
    for (key, times) in killer.finished {
        assert_eq!(ran.get(&key).copied().unwrap_or_default(), times, "{name}: {key} ran again");
    }
    let journal = place.journal();
    let uncertain = journal.of("record", "settled").any(|(_, settled)| settled["code"] == "uncertain");
    counts.uncertain.fetch_add(usize::from(uncertain), Relaxed);
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Runs a script `runs` times, in parallel on all processors.
fn many(runs: u64, script: &str) -> Counts {
    let (whole, counts) = (Whole::of(script), Counts::default());
    let first = number("SEED", 0);
    let next = AtomicU64::new(first);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Relaxed);
                    if seed >= first + runs {
                        return;
                    }
                    killed(seed, script, &whole, &counts);
                }
            });
        }
    });
    let of = |count: &AtomicUsize| count.load(Relaxed);
    let (kills, near, uncertain) = (of(&counts.kills), of(&counts.near), of(&counts.uncertain));
    println!("{script}: {runs} runs, {kills} kills, {near} between approval and result, {uncertain} runs uncertain");
    counts
}

#[test]
fn a_killed_run_restarts_the_service_once_and_ends_the_same() {
    let runs = number("KILLS", KILLS);
    let counts = many(runs, "sre");
    if runs >= KILLS {
        assert!(counts.near.into_inner() > 0, "no run was killed between approval and effect");
        assert!(counts.uncertain.into_inner() > 0, "no run was uncertain");
    }
}

#[test]
fn a_killed_run_goes_on_with_its_child() {
    many(number("KILLS", KILLS) / 5, "delegate");
}
