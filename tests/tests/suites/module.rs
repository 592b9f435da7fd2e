//! The module for hosts without components and without fuel. It returns the same bytes as the component, uses the same
//! fuel, and has the same limits.

use std::{fs, sync::LazyLock};

use anyhow::{Result, anyhow, ensure};
use seamgate::{Gate, Limits};
use seamgate_tests::{
    Case, cases,
    hostile::{Asked, Attack, attacks},
    suite::{Trial, trial},
};
use serde_json::{Value, json};
use wasmtime::{Config, Engine, Global, Instance, Module, Store, Trap, Val};

/// The module in an engine without fuel. The module counts its fuel itself.
struct Host {
    engine: Engine,
    module: Module,
}

/// An answer and its fuel, or the code of a fault.
type Came = Result<(String, u64), &'static str>;

impl Host {
    fn new() -> Host {
        let mut config = Config::new();
        config.cranelift_nan_canonicalization(true);
        let engine = Engine::new(&config).expect("an engine");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/component/module.wasm");
        let module = fs::read(path).expect("the module: cargo xtask build makes it");
        let module = Module::new(&engine, module).expect("a module");
        Host { engine, module }
    }

    fn instance(&self) -> Warm {
        let mut store = Store::new(&self.engine, ());
        let instance = Instance::new(&mut store, &self.module, &[]).expect("an instance: nothing is imported");
        Warm { store, instance }
    }

    /// Answers a request in a new instance.
    fn call(&self, request: &[u8]) -> Came {
        self.instance().call(request)
    }
}

/// An instance that may have answered other requests before.
struct Warm {
    store: Store<()>,
    instance: Instance,
}

impl Warm {
    /// Returns the number of memory pages.
    fn pages(&mut self) -> u64 {
        self.instance.get_memory(&mut self.store, "memory").expect("memory").size(&self.store)
    }

    /// Returns the address at which the module puts a request. The call returns a fault, which also frees the request.
    fn at(&mut self) -> Result<i32> {
        let (mut store, instance) = (&mut self.store, self.instance);
        let allocate = instance.get_typed_func::<i32, i32>(&mut store, "seamgate_allocate").expect("a function");
        let call = instance.get_typed_func::<(i32, i32), i64>(&mut store, "seamgate_call").expect("a function");
        let called = allocate.call(&mut store, 8).and_then(|at| call.call(&mut store, (at, 8)).map(|_| at));
        called.map_err(|error| anyhow!("{error}"))
    }

    fn answer(&mut self, request: &str) -> Result<(String, u64)> {
        self.call(request.as_bytes()).map_err(|code| anyhow!("{code}"))
    }

    /// Answers a request, as `guest/exports/src/abi.rs` specifies.
    fn call(&mut self, request: &[u8]) -> Came {
        let (mut store, instance) = (&mut self.store, self.instance);
        let memory = instance.get_memory(&mut store, "memory").expect("memory");
        let global = |name, store: &mut Store<()>| instance.get_global(store, name).expect("a global");
        let (fuel, refused) = (global("fuel", store), global("memory_refused", store));
        let allocate = instance.get_typed_func::<i32, i32>(&mut store, "seamgate_allocate").expect("a function");
        let call = instance.get_typed_func::<(i32, i32), i64>(&mut store, "seamgate_call").expect("a function");

        let limits = Limits::default();
        let given = limits.fuel + limits.fuel_per_byte * request.len() as u64;
        fuel.set(&mut store, Val::I64(given as i64)).expect("fuel");
        let length = request.len() as i32;
        let answer = allocate.call(&mut store, length).and_then(|at| {
            memory.write(&mut store, at as usize, request)?;
            call.call(&mut store, (at, length))
        });
        let left = |store: &mut Store<()>, global: &Global| global.get(store).i64().expect("an integer");
        match answer {
            Ok(answer) => {
                let (at, length) = ((answer >> 32) as usize, (answer & 0xffff_ffff) as usize);
                let text = memory.data(&store)[at..at + length].to_vec();
                let fuel = given - left(store, &fuel) as u64;
                Ok((String::from_utf8(text).expect("UTF-8"), fuel))
            }
            Err(error) => Err(match error.downcast_ref::<Trap>() {
                Some(Trap::StackOverflow) => "stack_overflow",
                _ if left(store, &fuel) <= 0 => "out_of_fuel",
                _ if refused.get(&mut store).i32() == Some(1) => "out_of_memory",
                _ => "trap",
            }),
        }
    }
}

/// Answers a request with a gate, which uses the component.
fn by_gate(gate: &Gate, request: &str) -> Came {
    match gate.call(request) {
        Ok(answer) => Ok((answer.json, answer.usage.fuel)),
        Err(fault) => Err(fault.code()),
    }
}

static HOST: LazyLock<Host> = LazyLock::new(Host::new);
static GATE: LazyLock<Gate> = LazyLock::new(|| Gate::new().expect("a gate"));

/// Returns a test for each case and attack, and the tests of an instance that answers many calls.
pub(crate) fn trials() -> Result<Vec<Trial>> {
    let mut trials = vec![
        trial("what_is_not_utf8_is_answered_with_its_place", what_is_not_utf8_is_answered_with_its_place),
        trial("a_warm_instance_stays_as_it_is", a_warm_instance_stays_as_it_is),
        trial("each_call_has_all_of_the_arena", each_call_has_all_of_the_arena),
    ];
    trials.extend(cases()?.into_iter().map(|case| trial(case.name.clone(), move || same_answer(&case))));
    trials.extend(attacks()?.into_iter().filter_map(|attack| {
        let request = request(&attack)?;
        Some(trial(format!("attacks/{}", attack.name), move || same_end(&request)))
    }));
    Ok(trials)
}

/// Checks that the answer has the same bytes and about the same fuel.
fn same_answer(case: &Case) -> Result<()> {
    for request in case.attempts().map(|attempt| attempt.wire_request()) {
        let Ok((expected, fuel)) = by_gate(&GATE, &request) else { anyhow::bail!("the component gives no answer") };
        let Ok((answer, counted)) = HOST.call(request.as_bytes()) else { anyhow::bail!("the module gives no answer") };
        ensure!(answer == expected, "the module answers otherwise:\n  {expected}\n  {answer}");
        // The module checks that its input is UTF-8, and the component receives a string.
        let most = fuel + 200 + 20 * request.len() as u64;
        // The keys of some maps are addresses, which differ between both builds. Therefore a lookup may take a few more
        // or fewer steps.
        let least = fuel - fuel / 200;
        ensure!((least..=most).contains(&counted), "{fuel} fuel in the component, {counted} in the module");
    }
    Ok(())
}

/// Returns an attack as a request, or `None` if its contract is not JSON, because such a contract cannot be part of a
/// request.
fn request(attack: &Attack) -> Option<String> {
    match &attack.asked {
        Asked::Wire { request } => Some(request.clone()),
        Asked::Verdict { contract, output } => {
            let contract: Value = serde_json::from_str(contract).ok()?;
            Some(json!({ "contract": contract, "output": output }).to_string())
        }
    }
}

/// Checks that a request has the same answer or the same fault.
fn same_end(request: &str) -> Result<()> {
    let expected = by_gate(&GATE, request);
    // The depth of the stack depends on the compiler. The library itself rejects a request that is too long.
    if matches!(expected, Err("stack_overflow" | "input_too_large")) {
        return Ok(());
    }
    let [expected, came] = [expected, HOST.call(request.as_bytes())].map(|came| came.map(|(answer, _)| answer));
    ensure!(came == expected, "the module ends otherwise:\n  {expected:?}\n  {came:?}");
    Ok(())
}

/// Checks that a warm instance does not grow, and uses nearly the same fuel for each call.
fn a_warm_instance_stays_as_it_is() -> Result<()> {
    let mut warm = HOST.instance();
    for number in 0..20 {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "integer", "minimum": number } } });
        let contract = json!({ "agent": format!("a{number}"), "schema": schema });
        let (answer, _) = warm.answer(&json!({ "op": "register", "contract": contract }).to_string())?;
        ensure!(answer.contains("\"result\""), "{answer}");
    }
    // All outputs together are larger than the arena, so the arena must be reset.
    let output = json!(vec![json!({ "a": 1 }); 1_000]).to_string();
    let request = json!({ "agent": "a1", "output": output }).to_string();
    let mut taken = Vec::new();
    for _ in 0..200 {
        let (answer, fuel) = warm.answer(&request)?;
        // A request of length 0 returns a fault, and must not leave any data behind.
        warm.answer("")?;
        taken.push((answer, fuel, warm.pages()));
    }
    let [(answer, fuel, pages), (last_answer, last_fuel, last_pages)] = [&taken[1], &taken[199]];
    ensure!((last_answer, last_pages) == (answer, pages), "{pages} pages, then {last_pages}");
    // The address of an answer on the heap varies a little.
    ensure!(last_fuel.abs_diff(*fuel) * 100 < *fuel, "{fuel} fuel, then {last_fuel}");
    Ok(())
}

/// Checks that every argument is put at the same address as the first one, after any earlier calls: the arena is empty.
fn each_call_has_all_of_the_arena() -> Result<()> {
    let mut warm = HOST.instance();
    let schema = json!({
        "type": "array", "items": { "pattern": "^(a|b)+[0-9]{2,5}$", "format": "email", "maxLength": 40 },
        "uniqueItems": true
    });
    let contract = json!({ "agent": "a", "repair": "syntax", "items": { "path": "$[*]" }, "schema": schema });
    warm.answer(&json!({ "op": "register", "contract": contract }).to_string())?;
    let mut taken = Vec::new();
    for number in 0..10_000 {
        let texts: Vec<String> = (0..number % 41).map(|item| format!("ab{}@example.com", item * number % 89)).collect();
        let end = ["", ",", "\n```", " and more"][number % 4];
        let request = json!({ "agent": "a", "output": format!("{}{end}", json!(texts)) }).to_string();
        warm.answer(&request)?;
        taken.push((warm.at()?, warm.pages()));
    }
    // At this point, the longest answer has been returned, which is allocated on the heap.
    let [(first, _), (_, pages)] = [taken[0], taken[200]];
    ensure!(taken.iter().all(|(at, _)| *at == first), "an argument is not put at {first} each time");
    ensure!(taken[200..].iter().all(|(_, now)| *now == pages), "{pages} pages, and then more");
    Ok(())
}

fn what_is_not_utf8_is_answered_with_its_place() -> Result<()> {
    let Ok((answer, _)) = HOST.call(b"{\"op\":\"names\",\"id\":\"\xff\"}") else { anyhow::bail!("no answer") };
    let answer: Value = serde_json::from_str(&answer)?;
    let message = r#"request: $ must be UTF-8: the byte after "{\"op\":\"names\",\"id\":\"" is not"#;
    ensure!(answer["fault"]["fault"] == "bad_request" && answer["fault"]["message"] == message, "{answer}");
    Ok(())
}
