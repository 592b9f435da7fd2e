//! Tests that patterns have the same meaning as in V8, in both engines. The answers of V8 are recorded. `cargo xtask
//! peers patterns` asks V8 about random patterns; with `table`, it records the answers.

use std::{fs, path::Path};

use jsonschema::PatternOptions;
use seamgate_tests::{
    Random,
    patterns::{Answer, ENGINES, Made, made, matches},
};
use serde_json::json;

fn lines<T: serde::de::DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("patterns").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

#[test]
fn both_engines_say_what_v8_says() {
    let (all, answers): (Vec<Made>, Vec<Answer>) = (lines("made.ndjson"), lines("v8.ndjson"));
    assert_eq!(all.len(), answers.len());
    let mut pairs = [0; 2];
    for (made, answer) in all.iter().zip(&answers) {
        for (engine, pairs) in ENGINES.iter().zip(&mut pairs) {
            match (matches(&made.pattern, engine, &made.texts), answer.reading.as_str()) {
                (_, "none") => {}
                (Some(ours), _) => {
                    let v8: Vec<Option<bool>> = answer.matches.iter().copied().map(Some).collect();
                    assert_eq!(ours, v8, "{engine} {:?} {:?}", made.pattern, made.texts);
                    *pairs += ours.len();
                }
                (None, _) => {
                    // The linear engine does not support look-around and back references.
                    let goes_back = matches(&made.pattern, "backtracking", &made.texts).is_some();
                    assert!(*engine == "linear" && goes_back, "{engine} {:?}", made.pattern);
                }
            }
        }
    }
    println!("{} patterns, {pairs:?} pairs as V8 has them", all.len());
    assert!(pairs[0] > 1000 && pairs[1] > 1500, "{pairs:?}");
}

/// No contract is rejected for a pattern that `jsonschema` accepts. The gate once used its translation. Its
/// backtracking engine accepts one pattern in a thousand that is invalid in every language, such as groups with
/// brackets in their names.
#[test]
fn no_pattern_is_refused_that_was_taken() {
    let mut random = Random(7);
    let (mut taken, mut refused) = ([0; 2], [0; 2]);
    for _ in 0..15_000 {
        let Made { pattern, .. } = made(&mut random, 1);
        let schema = json!({"pattern": pattern});
        let takes = [
            jsonschema::options().with_pattern_options(PatternOptions::regex()).build(&schema).is_ok(),
            jsonschema::options().with_pattern_options(PatternOptions::fancy_regex()).build(&schema).is_ok(),
        ];
        for (index, engine) in ENGINES.iter().enumerate().filter(|(index, _)| takes[*index]) {
            taken[index] += 1;
            if matches(&pattern, engine, &[]).is_none() {
                refused[index] += 1;
                println!("{engine} {pattern:?}");
            }
        }
    }
    println!("{taken:?} patterns were taken, {refused:?} of them are not");
    assert!(refused[0] == 0 && refused[1] * 1000 < taken[1], "{refused:?} of {taken:?}");
}
