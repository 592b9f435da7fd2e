//! Receipts of recorded runs: each receipt verifies, and no forgery does, not even one that is signed with the same
//! key.

mod evidence;
mod forged;
mod recorded;

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex},
    thread,
};

use seamgate::Gate;
use seamgate_receipt::{Expected, Report, Trusted, Withhold, verify};
use seamgate_tests::Random;

use crate::{
    forged::{Forger, Kind},
    recorded::{KEY, Recorded, all, changed, signed_approvals},
};

/// A gate without profiles, to be cloned.
static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::new().expect("a gate"));

static RUNS: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let mut runs = all(&GATE).expect("runs");
    let changed = changed(&GATE, &runs).expect("runs");
    runs.extend(changed);
    runs.push(signed_approvals(&GATE).expect("a run"));
    runs
});

fn verified(file: &[u8]) -> Report {
    verify(file, GATE.clone(), &Expected { keys: Trusted::Keys(vec![KEY.public()]), profile: None })
}

fn failed(report: &Report) -> String {
    report
        .checks
        .iter()
        .find(|check| !check.ok)
        .map(|check| format!("{}: {}", check.check, check.detail))
        .unwrap_or_default()
}

#[test]
fn every_recorded_run_verifies() {
    assert!(RUNS.len() > 200, "{} runs", RUNS.len());
    for run in RUNS.iter() {
        let report = verified(&run.receipt(&Withhold::default()));
        assert!(report.ok && report.whole, "{}: {}", run.name, failed(&report));
        assert_eq!(report.counts.derived, report.counts.steps, "{}", run.name);
        let component = report.checks.iter().find(|check| check.check == "component").expect("a component");
        let named = component.detail.matches("; before step ").count();
        assert_eq!(named, run.changes.min(4), "{}: {}", run.name, component.detail);
        assert_eq!(component.detail.contains(" changes more"), run.changes > 4, "{}", run.name);
    }
    let changed = RUNS.iter().filter(|run| run.changes > 0).count();
    assert!(changed > 10, "{changed} runs that changed their component");
    assert!(RUNS.iter().any(|run| verified(&run.receipt(&Withhold::default())).counts.signed_approvals >= 2));
}

#[test]
fn no_forgery_by_the_holder_of_the_key_verifies() {
    const FORGERIES: usize = 1200;
    let mut forger = Forger::new(&RUNS, Random(7));
    let forgeries: Vec<_> = (0..FORGERIES).map(|_| forger.next()).collect();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let by_kind: Mutex<BTreeMap<Kind, usize>> = Mutex::default();
    thread::scope(|scope| {
        for part in forgeries.chunks(FORGERIES.div_ceil(threads)) {
            let by_kind = &by_kind;
            scope.spawn(move || {
                for (kind, name, file) in part {
                    let report = verified(file);
                    assert!(!report.ok, "{kind:?} in {name} verifies");
                    let named = report.checks.iter().any(|check| !check.ok && check.step.is_some());
                    assert!(named, "{kind:?} in {name}: {}", failed(&report));
                    let mut by_kind = by_kind.lock().expect("no panic");
                    *by_kind.entry(*kind).or_default() += 1;
                }
            });
        }
    });
    let by_kind = by_kind.into_inner().expect("no panic");
    for kind in Kind::ALL {
        let all = by_kind.get(&kind).copied().unwrap_or_default();
        println!("{kind:?}: {all} found, each with the step named");
        assert!(all >= 40, "{kind:?}: only {all} forgeries");
    }
}

#[test]
fn no_change_of_a_byte_verifies() {
    const CHANGES: usize = 10_000;
    let small: Vec<Vec<u8>> = RUNS.iter().map(|run| run.receipt(&Withhold::default())).collect();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for part in 0..threads {
            let small = &small;
            scope.spawn(move || {
                let mut random = Random(100 + part as u64);
                for _ in 0..CHANGES.div_ceil(threads) {
                    let mut file = small[random.below(small.len())].clone();
                    let at = random.below(file.len());
                    let bit = 1 << random.below(8);
                    file[at] ^= bit;
                    let report = verify(&file, GATE.clone(), &Expected { keys: Trusted::Any, profile: None });
                    assert!(!report.ok, "byte {at} changed by {bit}");
                }
            });
        }
    });
}

#[test]
fn cut_and_extended_files_do_not_verify() {
    let run = &RUNS[0];
    let file = run.receipt(&Withhold::default());
    for length in (0..file.len()).step_by(7) {
        assert!(!verified(&file[..length]).ok, "{length} bytes");
    }
    for more in [&b"\0"[..], b"\xd2", b"{}", b"\n"] {
        assert!(!verified(&[&file, more].concat()).ok);
    }
    assert!(!verified(b"").ok);
}

#[test]
fn a_key_that_is_not_given_is_refused() {
    let file = RUNS[0].receipt(&Withhold::default());
    let other = Expected { keys: Trusted::Keys(vec![[7; 32]]), profile: None };
    assert!(failed(&verify(&file, GATE.clone(), &other)).starts_with("key: "));
    let profile = |text: &str| Expected { keys: Trusted::Any, profile: Some(text.to_owned()) };
    assert!(failed(&verify(&file, GATE.clone(), &profile("{}"))).starts_with("profile: "));
    assert!(verify(&file, GATE.clone(), &profile(&RUNS[0].profile)).ok);
}

#[test]
fn withheld_steps_are_named_and_what_follows_is_not_derived() {
    for run in RUNS.iter().filter(|run| run.steps >= 3) {
        let step = run.steps / 2 + 1;
        let withhold = Withhold { steps: [step].into(), ..Withhold::default() };
        let file = run.receipt(&withhold);
        let report = verified(&file);
        assert!(report.ok && !report.whole, "{}: {}", run.name, failed(&report));
        assert_eq!(report.counts.derived, step - 1, "{}", run.name);
        let named: Vec<u64> = report.withheld.iter().map(|withheld| withheld.step).collect();
        assert_eq!(named, (step..=run.steps).collect::<Vec<_>>(), "{}", run.name);
    }
    // The file does not contain the call's arguments.
    let run = RUNS.last().expect("the run with approvals");
    let file = run.receipt(&Withhold { calls: ["c1".to_owned()].into(), ..Withhold::default() });
    assert!(!String::from_utf8_lossy(&file).contains("secret-order-1"));
    assert!(String::from_utf8_lossy(&run.receipt(&Withhold::default())).contains("secret-order-1"));
    let report = verified(&file);
    assert!(report.ok && !report.whole, "{}", failed(&report));
}
