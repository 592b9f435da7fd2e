//! Random sequences of messages, answers, endings and times. Each sequence satisfies the checks of `seamgate-world`.
//!
//! `SEQUENCES=1000000` sets the number of sequences. For each kind of failure, the test prints one example: its seed, a
//! reduced list of moves that still fails, and their effects. `SEED=N` plays one sequence again and prints it.

use std::{
    collections::BTreeMap,
    env,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use seamgate::Gate;
use seamgate_tests::Random;
use seamgate_world::{Fake, Kernel, PROFILE, Prelude, Real, Setting, World};

/// The number of sequences of a test run.
const FAKE: u64 = 20_000;
const REAL: u64 = 3_000;

/// The number of moves in a long sequence.
const LONG: u64 = 100_000;

/// Allows one test at a time. A failure is played again with the panic messages disabled, which affects the whole
/// process.
static ONE: Mutex<()> = Mutex::new(());

/// A sequence: the source of its choices, and the moves that are made.
#[derive(Clone)]
struct Sequence {
    seed: u64,
    moves: Vec<u64>,
}

impl Sequence {
    /// Returns a sequence of four to eight moves, in addition to its start and its end.
    fn new(seed: u64) -> Self {
        let count = 4 + Random(seed).below(5) as u64;
        Sequence { seed, moves: (0..count).collect() }
    }

    /// Returns the random choices for one part of the sequence. If a move is removed, the other moves stay the same.
    fn choices(&self, part: u64) -> Random {
        Random(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ part << 40)
    }

    /// Plays the sequence.
    fn play(&self, kernel: impl Kernel, is_traced: bool) {
        let choices = &mut self.choices(0);
        let servers = 1 + usize::from(choices.chance(35));
        let prelude = choices.one(&[Prelude::Nothing, Prelude::Nothing, Prelude::Session, Prelude::Stateless]);
        let setting = Setting { servers, has_own_tool: choices.chance(30), prelude };
        let mut world = World::new(setting, kernel, is_traced);
        world.begin(setting, choices);
        for own in &self.moves {
            world.make_move(&mut self.choices(own + 1));
        }
        world.finish(&mut self.choices(u64::MAX >> 40));
    }

    /// Returns the message of the sequence's failure, without its numbers, or `None`. Failures of one kind have equal
    /// messages.
    fn failure(&self, play: &impl Fn(&Self, bool)) -> Option<String> {
        let failure = panic::catch_unwind(AssertUnwindSafe(|| play(self, false))).err()?;
        let text = failure.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| failure.downcast_ref::<&str>().copied()).unwrap_or_default();
        let words = text.split(['"', '{', '[', ':']).next().unwrap_or_default();
        Some(words.chars().filter(|next| !next.is_ascii_hexdigit()).collect())
    }

    /// Removes the moves that are not needed for the failure.
    fn shrink(mut self, kind: &str, play: &impl Fn(&Self, bool)) -> Self {
        for own in self.moves.clone().into_iter().rev() {
            let mut less = self.clone();
            less.moves.retain(|other| *other != own);
            if less.failure(play).as_deref() == Some(kind) {
                self = less;
            }
        }
        self
    }
}

/// Plays sequences on all processors. Prints one failure of each kind, with its remaining moves.
fn play_all(count: u64, play: impl Fn(&Sequence, bool) + Sync) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (first, count) = match number("SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("SEQUENCES").unwrap_or(count)),
    };
    let (next, failed) = (AtomicU64::new(first), Mutex::new(BTreeMap::new()));
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    // Each thread takes several sequences at a time.
                    let from = next.fetch_add(64, Ordering::Relaxed);
                    if from >= first + count {
                        break;
                    }
                    for seed in from..(from + 64).min(first + count) {
                        let Some(kind) = Sequence::new(seed).failure(&play) else { continue };
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        let least = failed.entry(kind).or_insert(seed);
                        *least = seed.min(*least);
                    }
                }
            });
        }
    });
    println!("{count} sequences in {:.1} s", started.elapsed().as_secs_f64());
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    let least: Vec<Sequence> = failed.iter().map(|(kind, seed)| Sequence::new(*seed).shrink(kind, &play)).collect();
    panic::set_hook(hook);
    for sequence in &least {
        eprintln!("SEED={} fails with the moves {:?}:", sequence.seed, sequence.moves);
        let _ = panic::catch_unwind(AssertUnwindSafe(|| play(sequence, true)));
    }
    assert!(least.is_empty(), "{} kinds of failures", least.len());
    if number("SEED").is_some() {
        play(&Sequence::new(first), true);
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number, and is {text:?}")))
}

#[test]
fn random_sequences_keep_the_rules() {
    play_all(FAKE, |sequence, is_traced| sequence.play(Fake::default(), is_traced));
}

#[test]
fn rules_hold_with_the_real_kernel() {
    let mut gate = Gate::new().expect("a gate");
    gate.register_profile(PROFILE).expect("a profile");
    let beginning = World::<Fake>::beginning();
    play_all(REAL, |sequence, is_traced| sequence.play(Real::start(&gate, beginning), is_traced));
}

#[test]
fn long_sequence_keeps_its_memory() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (servers, prelude) in [(1, Prelude::Session), (2, Prelude::Session), (1, Prelude::Stateless)] {
        let mut choices = Random(servers as u64);
        let setting = Setting { servers, has_own_tool: true, prelude };
        let mut world = World::new(setting, Fake::default(), false);
        world.begin(setting, &mut choices);
        for _ in 0..LONG {
            world.make_long_move(&mut choices);
            world.check_sizes();
        }
        world.finish(&mut choices);
    }
}
