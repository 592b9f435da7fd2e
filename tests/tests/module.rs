//! The module for hosts without components and without fuel gives the same bytes as the component, takes the same fuel, and
//! ends by the same limits.

use std::{collections::BTreeMap, fs};

use seamgate::{Gate, Limits};
use seamgate_tests::{
    Case, cases,
    hostile::{Asked, attacks},
};
use serde_json::{Value, json};
use wasmtime::{Config, Engine, Global, Instance, Module, Store, Trap, Val};

/// The module in an engine that counts no fuel: what is counted, it counts itself.
struct Host {
    engine: Engine,
    module: Module,
}

/// An answer and the fuel it took, or the code of a fault.
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

    /// Answer a request in an instance of its own.
    fn call(&self, request: &[u8]) -> Came {
        self.instance().call(request)
    }
}

/// An instance, which may have answered before.
struct Warm {
    store: Store<()>,
    instance: Instance,
}

impl Warm {
    /// Pages of memory that it has.
    fn pages(&mut self) -> u64 {
        self.instance.get_memory(&mut self.store, "memory").expect("memory").size(&self.store)
    }

    /// Answer a request, as `guest/src/abi.rs` says.
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

/// By a gate, with the component.
fn by_gate(gate: &Gate, request: &str) -> Came {
    match gate.call(request) {
        Ok(answer) => Ok((answer.json, answer.usage.fuel)),
        Err(fault) => Err(fault.code()),
    }
}

#[test]
fn every_case_has_the_same_answer_for_the_same_fuel() {
    let (host, gate) = (Host::new(), Gate::new().expect("a gate"));
    let mut most = 0;
    for case in cases().expect("cases").iter().flat_map(Case::attempts) {
        let request = case.wire_request();
        let (expected, fuel) = by_gate(&gate, &request).expect("an answer");
        let (answer, counted) = host.call(request.as_bytes()).expect("an answer");
        assert_eq!(answer, expected, "{}", case.name);
        // What comes as bytes is looked at for being UTF-8; what comes as a string is.
        let more = counted.checked_sub(fuel).expect("not less fuel");
        assert!(more <= 200 + 20 * request.len() as u64, "{}: {fuel} by the component, {counted} here", case.name);
        most = most.max(more);
    }
    println!("the module took at most {most} fuel more than the component");
}

#[test]
fn every_attack_ends_as_in_the_component() {
    let (host, gate) = (Host::new(), Gate::new().expect("a gate"));
    let mut faults = BTreeMap::new();
    for attack in attacks().expect("attacks") {
        let request = match &attack.asked {
            Asked::Wire { request } => request.clone(),
            Asked::Verdict { contract, output } => match serde_json::from_str::<Value>(contract) {
                Ok(contract) => json!({ "contract": contract, "output": output }).to_string(),
                // What is not JSON is no part of a request.
                Err(_) => continue,
            },
        };
        match by_gate(&gate, &request) {
            Ok((expected, _)) => {
                let came = host.call(request.as_bytes()).map(|(answer, _)| answer);
                assert_eq!(came, Ok(expected), "{}", attack.name);
            }
            // What a stack holds depends on who compiles; nothing that is too long is passed on.
            Err("stack_overflow" | "input_too_large") => {}
            Err(code) => {
                *faults.entry(code).or_insert(0) += 1;
                assert_eq!(host.call(request.as_bytes()), Err(code), "{}", attack.name);
            }
        }
    }
    println!("the same faults: {faults:?}");
    assert!(faults.contains_key("out_of_fuel") && faults.contains_key("out_of_memory"), "{faults:?}");
}

#[test]
fn a_warm_instance_takes_the_same_fuel_and_memory_each_time() {
    let host = Host::new();
    let mut warm = host.instance();
    let register = |number: usize| {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "integer", "minimum": number } } });
        json!({ "op": "register", "contract": { "agent": format!("a{number}"), "schema": schema } }).to_string()
    };
    for number in 0..20 {
        let (answer, _) = warm.call(register(number).as_bytes()).expect("an answer");
        assert!(answer.contains("\"result\""), "{answer}");
    }
    // More than the arena holds, were it not to start again.
    let output = json!(vec![json!({ "a": 1 }); 1_000]).to_string();
    let request = json!({ "agent": "a1", "output": output }).to_string();
    let mut call = || {
        let (answer, fuel) = warm.call(request.as_bytes()).expect("an answer");
        warm.call(b"").expect("a fault for a request of no length");
        (answer, fuel, warm.pages())
    };
    let (answer, fuel, pages) = (0..2).map(|_| call()).next_back().expect("two calls");
    let (last_answer, last_fuel, last_pages) = (0..200).map(|_| call()).next_back().expect("more calls");
    println!("a call of a warm instance: {fuel} fuel, {pages} pages; 200 calls later: {last_fuel}, {last_pages}");
    assert_eq!((last_answer, last_pages), (answer, pages));
    // Where the heap has room for an answer differs a little.
    assert!(last_fuel.abs_diff(fuel) * 100 < fuel, "{fuel} fuel, then {last_fuel}");
}

#[test]
fn what_is_not_utf8_is_answered_with_its_place() {
    let (answer, _) = Host::new().call(b"{\"op\":\"names\",\"id\":\"\xff\"}").expect("an answer");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["fault"]["fault"], "bad_request");
    let message = r#"request: $ must be UTF-8: the byte after "{\"op\":\"names\",\"id\":\"" is not"#;
    assert_eq!(answer["fault"]["message"], message);
}
