//! Any events after the events of a valid run, and any states: either a fault with a description, or a sound step whose
//! state accepts the next event.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seamgate_fuzz::{
    runs::{State, apply},
    split,
};
use seamgate_kernel::Profile;

static PROFILE: LazyLock<Profile> = LazyLock::new(|| {
    let text = include_str!("../../runs/loop/profile.json");
    Profile::compile(text).unwrap_or_else(|fault| panic!("{}", fault.to_json()))
});

/// The states after each event of some runs, and before the first.
static STATES: LazyLock<Vec<State>> = LazyLock::new(|| {
    let runs = [
        include_str!("../../runs/loop/interrupted/events.ndjson"),
        include_str!("../../runs/loop/delegated/events.ndjson"),
        include_str!("../../runs/loop/answered/events.ndjson"),
    ];
    let mut states = vec![State::default()];
    for run in runs {
        let mut state = State::default();
        for event in run.lines() {
            assert!(apply(&PROFILE, &mut state, event), "{event}");
            states.push(state.clone());
        }
    }
    states
});

// A byte that selects a state, followed by lines. Each line is an event, or a state after `!`, or a replacement in the
// state after `~`.
fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let mut state = STATES[choice % STATES.len()].clone();
    for line in text.lines() {
        match line.split_at_checked(1) {
            Some(("!", text)) => state = State::hostile(text.to_owned()),
            Some(("~", change)) => {
                if let (Some(text), Some((is, becomes))) = (&state.text, change.split_once('~')) {
                    state = State::hostile(text.replacen(is, becomes, 1));
                }
            }
            _ => drop(apply(&PROFILE, &mut state, line)),
        }
    }
});
