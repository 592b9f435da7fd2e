//! The fuel of a verdict grows in proportion to the output, even if the output repeats a pattern.

use std::env;

use seamgate::{Gate, Limits, Options, Request};
use seamgate_tests::{PIECES, Random};

/// Members of contracts that change how an output is read.
const SETTINGS: [&str; 6] = [
    "",
    r#","repair":"syntax""#,
    r#","extract":{"embedded":"single"}"#,
    r#","extract":{"embedded":true},"repair":"syntax""#,
    r#","items":{"path":"$[*]","schema":true},"repair":"syntax""#,
    r#","extract":{"select":"first_valid"},"items":{"path":"$[*]","schema":{"type":"object"}}"#,
];

/// The number of texts for each contract. `GROWTH_TEXTS` overrides it.
const TEXTS: usize = 400;

/// The shortest length, in bytes. The other two lengths are four and sixteen times as long.
const SHORT: usize = 8 * 1024;

/// The maximum growth of fuel when the length grows by a factor of four. A text fails only if both steps exceed it,
/// because an exhausted budget makes one of them larger.
const MOST: f64 = 5.0;

/// Builds a text of a given length: a beginning, a repeated unit, and an end.
fn text(begin: &str, unit: &str, end: &str, length: usize) -> String {
    format!("{begin}{}{end}", unit.repeat(length / unit.len()))
}

#[test]
fn fuel_grows_in_proportion_to_the_output() {
    let mut gate = Gate::with(Options::default().limits(Limits::default().fuel_per_byte(1 << 14))).expect("a gate");
    for (number, members) in SETTINGS.iter().enumerate() {
        gate.register(&format!(r#"{{"agent":"{number}","schema":true{members}}}"#)).expect("a contract");
    }
    let mut random = Random(41);
    let mut worst: Vec<(f64, String)> = Vec::new();
    let texts = env::var("GROWTH_TEXTS").map_or(TEXTS, |texts| texts.parse().expect("a number"));
    for _ in 0..texts {
        let mut some = |most: usize| -> String { (0..random.below(most)).map(|_| random.one(&PIECES)).collect() };
        let (begin, unit, end) = (some(3), some(5) + "x", some(3));
        let unit = if random.chance(70) { unit.trim_end_matches('x') } else { &unit };
        if unit.is_empty() {
            continue;
        }
        for (number, members) in SETTINGS.iter().enumerate() {
            let agent = number.to_string();
            let fuel = |length: usize| {
                let verdict = gate.validate(&Request::new(&agent, &text(&begin, unit, &end, length)));
                verdict.map_or(f64::INFINITY, |verdict| verdict.usage.fuel as f64)
            };
            let [one, next, last] = [SHORT, 4 * SHORT, 16 * SHORT].map(fuel);
            let growth = if last.is_finite() { (next / one).min(last / next) } else { last };
            worst.push((growth, format!("{begin:?} + {unit:?} again and again + {end:?}, by {members:?}")));
        }
    }
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    let shown: Vec<String> = worst.iter().take(12).map(|(growth, what)| format!("{growth:.2} {what}")).collect();
    println!("{} texts; four times as much text takes at most:\n{}", worst.len(), shown.join("\n"));
    assert!(worst[0].0 < MOST, "four times as much text takes {:.2} times as much fuel: {}", worst[0].0, worst[0].1);
}
