//! No byte of one output is readable in the next instance. The test fills a slot with a secret in many ways. Then an
//! instance that allocates all available memory searches the slot from inside.

use std::{fs, path::PathBuf, time::Duration};

use seamgate::{Component, Disposition, Fault, Gate, Limits, Options, Request};
use seamgate_tests::{fixture::probed, thorough};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// The bytes to search for, in this order. Neither the code nor any contract contains them.
const SECRET: &str = "q7Zx0vKp";

/// A contract that accepts large texts with any content.
const TEXTS: &str = r#"{"agent":"texts","schema":{"type":"array","items":{"type":"string"}},
    "items":{"path":"$[*]"},"repair":"syntax","caps":{"bytes":8388608,"array_items":10000000}}"#;

/// A contract that refers to itself twice at each level, and then checks which members were evaluated.
const DOUBLING: &str = include_str!("../../../schemas/examples/hostile/doubling.contract.json");

/// A function that changes one engine setting of a gate.
type Change = fn(&mut Config, &mut PoolingAllocationConfig);

/// Ways to leave data behind, each with its expected fault. The outputs are full of the secret.
const FILLS: [(&str, Fill, Option<&str>); 10] = [
    ("accepted, 8 MiB", |gate| judged(gate, &texts(8_000_000, "]"), Disposition::Accepted), None),
    ("rejected, 8 MiB", |gate| judged(gate, &in_object(&texts(8_000_000, "]")), Disposition::Rejected), None),
    ("repaired", |gate| judged(gate, &texts(1_000_000, ",]"), Disposition::Partial), None),
    ("a contract of its own", own_contract, None),
    ("a warm instance, dropped", warm, None),
    ("a session, dropped in the middle", session, None),
    ("out of fuel", out_of_fuel, Some("out_of_fuel")),
    ("out of memory", out_of_memory, Some("out_of_memory")),
    ("out of stack", out_of_stack, Some("stack_overflow")),
    ("all its memory, a global and a table filled, and a trap", filled, Some("trap")),
];

type Fill = fn(&Gate) -> Result<(), Fault>;

/// Returns a list of texts that repeat the secret, with about this many bytes and with the given end.
fn texts(bytes: usize, end: &str) -> String {
    let text = format!("\"{}\",", SECRET.repeat(1000));
    let list = text.repeat(bytes / text.len());
    format!("[{}{end}", list.trim_end_matches(','))
}

/// Returns an object with the list, which the contract rejects.
fn in_object(list: &str) -> String {
    format!("{{\"list\":{list}}}")
}

fn judged(gate: &Gate, output: &str, expected: Disposition) -> Result<(), Fault> {
    let report = gate.validate(&Request::new("texts", output))?.report;
    assert_eq!(report.disposition, expected, "{:?}", report.violations().first());
    assert!(report.to_json().contains(SECRET), "the report has nothing of the output");
    Ok(())
}

fn own_contract(gate: &Gate) -> Result<(), Fault> {
    let contract = format!(r#"{{"agent":"a","schema":{{"enum":["{}"]}}}}"#, SECRET.repeat(10_000));
    gate.validate_with(&contract, &Request::new("", &texts(100_000, "]"))).map(drop)
}

fn warm(gate: &Gate) -> Result<(), Fault> {
    let mut instance = gate.instance();
    for _ in 0..2 {
        instance.validate(&Request::new("texts", &texts(1_000_000, "]")))?;
    }
    Ok(())
}

fn session(gate: &Gate) -> Result<(), Fault> {
    let mut session = gate.session(&Request::new("texts", ""))?;
    texts(4_000_000, "").as_bytes().chunks(100_000).try_for_each(|chunk| session.push(chunk).map(drop))
}

fn out_of_fuel(gate: &Gate) -> Result<(), Fault> {
    let output = format!("{{\"{0}\":\"{1}\"}}", SECRET, SECRET.repeat(5_000));
    gate.validate_with(DOUBLING, &Request::new("", &output)).map(drop)
}

fn out_of_memory(gate: &Gate) -> Result<(), Fault> {
    let output = texts(1_000_000, "").replace("\",\"", "\",\"a\",\"") + &",1".repeat(3_400_000) + "]";
    gate.validate(&Request::new("texts", &output)).map(drop)
}

fn out_of_stack(gate: &Gate) -> Result<(), Fault> {
    let level =
        |level: usize| format!("\"l{level}\":{{\"minimum\":0,\"$ref\":\"#/$defs/l{}\"}}", level.saturating_sub(1));
    let levels: Vec<String> = (1..=5_000).map(level).collect();
    let contract =
        format!(r##"{{"agent":"a","schema":{{"$ref":"#/$defs/l5000","$defs":{{"l0":{{}},{}}}}}}}"##, levels.join(","));
    gate.validate_with(&contract, &Request::new("", &texts(100_000, "]"))).map(drop)
}

fn filled(gate: &Gate) -> Result<(), Fault> {
    gate.call(&format!("FILL....{SECRET}")).map(drop)
}

/// Returns the number of times that an instance contains the secret.
fn found(instance: &mut seamgate::Instance) -> u64 {
    let turned: String = SECRET.bytes().map(|byte| char::from(byte ^ 1)).collect();
    let answer = instance.answer(&format!("SCAN....{turned}")).expect("an answer");
    assert_eq!(answer.usage.memory, Limits::default().memory, "not all that there is was searched");
    let answer: serde_json::Value = serde_json::from_str(&answer.json).expect("JSON");
    answer["result"].as_u64().expect("a number")
}

/// Returns two counts of the secret. The first is from an instance that contains the secret and is used again; it shows
/// that the search works. The second is from the next instances after each way to leave data behind.
fn searched(gate: &mut Gate, slots: usize, fills: &[(&str, Fill, Option<&str>)]) -> (u64, Vec<u64>) {
    match gate.register(TEXTS) {
        // The contract may already be baked in.
        Ok(_) | Err(Fault::Sealed { .. }) => {}
        Err(fault) => panic!("{fault}"),
    }
    let after = |(name, fill, code): &(&str, Fill, Option<&str>)| {
        let ended = fill(gate).err();
        assert_eq!(ended.as_ref().map(Fault::code), *code, "{name}: {ended:?}");
        // All slots are used at the same time, so that each slot is searched.
        let mut instances: Vec<_> = (0..slots).map(|_| gate.instance()).collect();
        instances.iter_mut().map(found).sum()
    };
    let after = fills.iter().map(after).collect();
    let mut instance = gate.instance();
    instance.validate(&Request::new("texts", &texts(8_000_000, "]"))).expect("a verdict");
    (found(&mut instance), after)
}

#[test]
fn no_byte_of_an_output_is_in_the_next_instance() {
    // The instances that search much memory need this fuel.
    let limits = Limits::default().fuel(1_500_000_000).timeout(Duration::from_secs(120));
    // Settings that result in the same code share it.
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("isolation");
    let _ = fs::remove_dir_all(&cache);
    let options = |component: Component, slots: u32| {
        Options::default().component(component).limits(limits.clone()).slots(slots).cache(Some(cache.clone()))
    };
    let builtin = Component::from_bytes(probed(Component::builtin().as_bytes()).expect("with a probe"));
    let baked = Component::builtin().bake(&[TEXTS], &Limits::default()).expect("a baked component");
    let baked = Component::from_bytes(probed(baked.as_bytes()).expect("with a probe"));
    const SETTINGS: [(&str, u32, Change); 7] = [
        ("3 slots", 3, |_, _| {}),
        ("nothing kept resident", 1, |_, pool| {
            pool.linear_memory_keep_resident(0).table_keep_resident(0);
        }),
        ("everything kept resident", 1, |_, pool| {
            pool.linear_memory_keep_resident(64 << 20).table_keep_resident(1 << 20);
        }),
        ("no copy-on-write images", 1, |config, _| {
            config.memory_init_cow(false);
        }),
        ("without asking which pages were written to", 1, |_, pool| {
            pool.pagemap_scan(Enabled::No);
        }),
        ("the same, everything kept resident", 1, |_, pool| {
            pool.pagemap_scan(Enabled::No).linear_memory_keep_resident(64 << 20).table_keep_resident(1 << 20);
        }),
        ("slots reset in batches", 1, |_, pool| {
            pool.decommit_batch_size(16);
        }),
    ];
    let mut gates = vec![
        ("as shipped", 1, Gate::with(options(builtin.clone(), 1)).expect("a gate")),
        ("as shipped, baked", 1, Gate::with(options(baked, 1)).expect("a gate")),
    ];
    for (name, slots, change) in SETTINGS {
        let (mut config, mut pool) = Gate::engine(&limits, slots);
        change(&mut config, &mut pool);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).expect("an engine");
        gates.push((name, slots as usize, Gate::on(engine, options(builtin.clone(), slots)).expect("a gate")));
    }
    println!("how often the secret is found, of {} ways to leave it behind:", FILLS.len());
    println!("{:45} {:>20} {:>20}", "", "in the same instance", "in the next ones");
    let mut leaks = Vec::new();
    for (number, (setting, slots, gate)) in gates.iter_mut().enumerate() {
        // The shipped settings are tested in all ways. Each other setting is tested in a different third of them.
        let is_chosen = |place: usize| thorough() || number < 2 || place % 3 == number % 3;
        let chosen = FILLS.into_iter().enumerate().filter(|(place, _)| is_chosen(*place));
        let fills: Vec<_> = chosen.map(|(_, fill)| fill).collect();
        let (same, next) = searched(gate, *slots, &fills);
        println!("{setting:45} {same:>20} {:>20}", next.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
        assert!(same > 1_000_000, "{setting}: the search finds the secret {same} times where it is");
        let ways = fills.iter().zip(next).filter(|(_, found)| *found > 0);
        leaks.extend(ways.map(|((way, ..), found)| format!("{setting}, {way}: found {found} times")));
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}
