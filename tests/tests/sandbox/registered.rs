//! Tests the cost of a registered contract: it does not depend on other registered contracts, and no output makes a
//! later call more expensive.

use std::{fs, thread};

use seamgate::{Component, Gate, Limits, Options, Request};
use seamgate_core::Contract;
use seamgate_tests::{Random, cases};

/// The result of a call: the report, its fuel and the memory of the instance, or a fault.
type Came = Result<(String, u64, usize), String>;

fn came(gate: &Gate, request: &Request) -> Came {
    match gate.validate(request) {
        Ok(verdict) => Ok((verdict.report.to_json(), verdict.usage.fuel, verdict.usage.memory)),
        Err(fault) => Err(fault.to_json()),
    }
}

#[test]
fn nothing_depends_on_what_else_is_registered() {
    let mut cases = cases().expect("cases");
    cases.retain(|case| Contract::compile(&case.contract).is_ok());
    let mut compared = 0;
    for (number, few) in cases.chunks(12).enumerate() {
        let alone: Vec<Came> = few
            .iter()
            .map(|case| {
                let mut gate = Gate::with(Options::default().slots(1)).expect("a gate");
                let agent = gate.register(&case.contract).expect("a contract").agent;
                came(&gate, &case.request(&agent))
            })
            .collect();
        // Forwards, backwards, and from the middle.
        for order in 0..3 {
            let mut gate = Gate::with(Options::default().slots(1)).expect("a gate");
            let mut agents = vec![None; few.len()];
            for step in 0..few.len() {
                let index = match order {
                    0 => step,
                    1 => few.len() - 1 - step,
                    _ => (step * 5 + number) % few.len(),
                };
                // Two cases may have the same agent name.
                agents[index] =
                    gate.register(&few[index].contract).ok().map(|info| info.agent).or(agents[index].take());
            }
            for ((case, agent), alone) in few.iter().zip(&agents).zip(&alone) {
                let Some(agent) = agent else { continue };
                if came(&gate, &case.request(agent)).as_ref().map(|came| &came.0) == alone.as_ref().map(|came| &came.0)
                {
                    assert_eq!(&came(&gate, &case.request(agent)), alone, "{}", case.name);
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} calls took the same beside other contracts");
    assert!(compared > 1_000, "only {compared} calls were compared");
}

#[test]
fn many_threads_share_few_slots() {
    const AGENTS: usize = 20;
    const THREADS: usize = 8;
    for slots in 1..=3 {
        let mut gate = Gate::with(Options::default().slots(slots)).expect("a gate");
        for agent in 0..AGENTS {
            let schema = format!(r#"{{"type": "array", "items": {{"pattern": "^x{{0,{agent}}}$"}}}}"#);
            gate.register(&format!(r#"{{"agent": "{agent}", "schema": {schema}}}"#)).expect("a contract");
        }
        // Each agent gets small and large outputs, some accepted and some rejected.
        let calls = |seed: usize| {
            let mut random = Random(seed as u64);
            let mut call = || {
                let spaces = if random.below(40) == 0 { 30_000 } else { random.below(600) };
                let output = format!("[\"{}\",{}1]", "x".repeat(random.below(30)), " ".repeat(spaces));
                came(&gate, &Request::new(&random.below(AGENTS).to_string(), &output))
            };
            (0..300).map(|_| call()).collect::<Vec<Came>>()
        };
        let alone: Vec<Vec<Came>> = (0..THREADS).map(calls).collect();
        let together: Vec<Vec<Came>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(move || calls(seed))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
        });
        assert!(together == alone, "{slots} slots");
    }
}

/// Returns the number of page faults of this thread that needed no disk access.
fn faults() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name of the thread may contain spaces.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().nth(7).and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(target_os = "linux")]
#[test]
fn no_output_makes_a_later_one_dearer() {
    const CALLS: u64 = 200;
    let contract = r#"{"agent": "a", "schema": {"type": "array"}}"#;
    let baked = Component::builtin().bake(&[contract], &Limits::default()).expect("a component");
    let mut registered = Gate::with(Options::default().slots(1)).expect("a gate");
    registered.register(contract).expect("a contract");
    let gates = [
        ("registered", registered),
        ("baked", Gate::with(Options::default().component(baked).slots(1)).expect("a gate")),
    ];
    for (what, gate) in &gates {
        let small = format!("[{}1]", "1234567, ".repeat(50));
        let judge = |output: &str| gate.validate(&Request::new("a", output)).expect("a verdict");
        let each = || {
            // The memory that a slot keeps is stable after a few calls.
            (0..20).for_each(|_| drop(judge(&small)));
            let before = faults();
            (0..CALLS).for_each(|_| drop(judge(&small)));
            (faults() - before) as f64 / CALLS as f64
        };
        let before = each();
        for length in [500, 1_500, 2_500, 7_000, 20_000, 100_000] {
            judge(&format!("[{}1]", "1234567, ".repeat(length)));
        }
        gate.instance().validate(&Request::new("a", &format!("[{}1]", "1, ".repeat(100_000)))).expect("a verdict");
        let after = each();
        println!("{what}: {before} page faults for each call, {after} after large outputs");
        assert!(after <= before + 1.0, "{what}: {before} page faults for each call, {after} after large outputs");
    }
}
