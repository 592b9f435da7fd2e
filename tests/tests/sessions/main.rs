//! Sessions and instances that stay open between calls. They do not delay verdicts, no matter how many are open, and
//! every wait of a call has a timeout.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use seamgate::{Disposition, Fault, Finish, Gate, Instance, Limits, Options, Request, Session};

/// Returns a lock for a test that must run alone, because open sessions are counted for the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lists of integers, in which each integer is an item.
const NUMBERS: &str =
    r#"{"agent": "numbers", "schema": {"items": {"type": "integer"}, "type": "array"}, "items": {"path": "$[*]"}}"#;

/// Returns a gate with so few slots that a session that occupies one would be noticed.
fn gate_with(slots: u32, timeout: Duration) -> Gate {
    let limits = Limits::default().timeout(timeout);
    let mut gate = Gate::with(Options::default().limits(limits).slots(slots)).expect("a gate");
    gate.register(NUMBERS).expect("a contract");
    gate
}

/// Returns the memory of this process in bytes, or 0 if it is unknown.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

/// Measures the memory that `docs/host.md` states.
#[test]
fn a_thousand_open_sessions_hold_up_no_verdict() {
    let _alone = alone();
    const SESSIONS: usize = 1_000;
    const VERDICTS: usize = 10_000;
    let gate = gate_with(2, Duration::from_secs(10));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < VERDICTS {
                    let verdict = gate.validate(&Request::new("numbers", "[1, 2, 3]")).expect("a verdict");
                    assert_eq!(verdict.report.disposition, Disposition::Accepted);
                }
            });
        }
        let before = resident();
        let open = || gate.session(&Request::new("numbers", "[1")).expect("a session");
        let mut sessions: Vec<Session> = std::iter::repeat_with(open).take(SESSIONS).collect();
        let held = resident().saturating_sub(before);
        println!("{SESSIONS} sessions hold {held} bytes");
        assert!(held < SESSIONS << 20, "{held} bytes");
        for session in &mut sessions {
            assert_eq!(session.push(b", 22").expect("taken").items.len(), 1);
        }
        for mut session in sessions {
            assert_eq!(session.push(b"2]").expect("taken").items.len(), 1);
            let verdict = session.finish(Finish::Stop).expect("a verdict");
            assert_eq!(verdict.report.output.as_deref(), Some("[1,222]"));
        }
    });
}

/// This also applies to everything else that keeps an instance between calls.
#[test]
fn nothing_that_is_held_between_calls_takes_a_slot() {
    let _alone = alone();
    let gate = gate_with(1, Duration::from_millis(500));
    let mut warm: Vec<Instance> = (0..20).map(|_| gate.instance()).collect();
    for instance in &mut warm {
        instance.validate(&Request::new("numbers", "[1]")).expect("a verdict");
    }
    let sessions: Vec<Session> =
        (0..20).map(|_| gate.session(&Request::new("numbers", "")).expect("a session")).collect();
    let attempts: Vec<_> = (0..20).map(|_| gate.attempts(&Request::new("numbers", "")).expect("attempts")).collect();
    for bytes in [1, 100, 10_000, 100_000] {
        let output = format!("[{}1]", "1,".repeat(bytes / 2));
        gate.validate(&Request::new("numbers", &output)).expect("a verdict");
    }
    gate.clone().lint(NUMBERS).expect("warnings");
    drop((warm, sessions, attempts));
}

/// One session above the limit of a process fails immediately, and the others continue.
#[test]
fn one_session_too_many_is_a_fault_and_not_a_wait() {
    let _alone = alone();
    let gate = gate_with(1, Duration::from_secs(60));
    let mut sessions = Vec::new();
    let fault = loop {
        match gate.session(&Request::new("numbers", "[")) {
            Ok(session) => sessions.push(session),
            Err(fault) => break fault,
        }
        assert!(sessions.len() <= 4096);
    };
    assert!(matches!(fault, Fault::Busy { limit: 4096, .. }), "{fault:?}");
    assert!(fault.to_json().contains(r#""fault":"busy""#));
    gate.validate(&Request::new("numbers", "[1]")).expect("a verdict");
    sessions.pop().expect("a session").finish(Finish::Stop).expect("a verdict");
    drop(gate.session(&Request::new("numbers", "[")).expect("a session in its place"));
}

/// Returns a contract whose judgement never ends in practice: it takes 2^40 steps.
fn endless() -> String {
    let levels = |level: usize| {
        format!(r##""l{}":{{"allOf":[{{"$ref":"#/$defs/l{level}"}},{{"$ref":"#/$defs/l{level}"}}]}}"##, level + 1)
    };
    let levels: Vec<String> = (0..40).map(levels).collect();
    format!(
        r##"{{"agent":"endless","schema":{{"unevaluatedProperties":false,"$ref":"#/$defs/l40","$defs":{{"l0":{{}},{}}}}}}}"##,
        levels.join(",")
    )
}

#[test]
fn a_call_waits_for_a_slot_no_longer_than_a_call_may_take() {
    let _alone = alone();
    let timeout = Duration::from_millis(700);
    let limits = Limits::default().fuel(u64::MAX).timeout(timeout);
    let mut gate = Gate::with(Options::default().limits(limits).slots(1)).expect("a gate");
    gate.register(&endless()).expect("a contract");
    let begin = Instant::now();
    let faults: Vec<String> = std::thread::scope(|scope| {
        let ask = || gate.validate(&Request::new("endless", "{}")).expect_err("no verdict").code().to_owned();
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    assert!(begin.elapsed() < 4 * timeout, "{:?}", begin.elapsed());
    assert!(faults.iter().all(|code| code == "timeout" || code == "busy"), "{faults:?}");
    assert!(faults.iter().any(|code| code == "busy"), "{faults:?}");
    // The slot is free for the next call.
    gate.register(NUMBERS).expect("a contract");
    gate.validate(&Request::new("numbers", "[1]")).expect("a verdict");
}
