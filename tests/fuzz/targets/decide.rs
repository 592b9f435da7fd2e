//! Any facts, calls and results: either a fault with a description, or a sound decision and observation.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seamgate_checks::decisions::{assert_sound_decision, assert_sound_observation};
use seamgate_core::{Fault, FaultCode};
use seamgate_kernel::{Profile, observe, permit};
use serde_json::Value;

/// The profile of `tests/calls`, with the largest limits for its tools.
static PROFILE: LazyLock<(Profile, usize)> = LazyLock::new(|| {
    let text = include_str!("../../calls/surface/profile.json");
    (Profile::compile(text).unwrap_or_else(|fault| panic!("{}", fault.to_json())), 20_000)
});

// Three lines: facts, a call, and an optional result.
fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let [Some(facts), Some(call)] = [lines.next(), lines.next()] else { return };
    let (profile, max_bytes) = &*PROFILE;
    let sound = |answer: Result<String, Fault>| match answer {
        Ok(answer) => Some(serde_json::from_str::<Value>(&answer).unwrap_or_else(|error| panic!("{error}"))),
        Err(fault) => {
            assert_eq!(fault.code, FaultCode::BadRequest, "{}", fault.to_json());
            None
        }
    };
    if let Some(decision) = sound(permit(profile, facts, call)) {
        assert_sound_decision(&decision, &serde_json::from_str(call).unwrap_or_default());
    }
    if let Some(result) = lines.next()
        && let Some(observation) = sound(observe(profile, facts, call, result))
    {
        assert_sound_observation(&observation, *max_bytes, true);
    }
});
