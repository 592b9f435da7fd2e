//! The built component itself: what it imports, what it exports, how large it is.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use seamgate::{Component, Disposition, Fault, Gate, Limits, LoadError, Options, Request};
use seamgate_tests::{
    Random,
    fixture::{Fixture, fixtures},
};
use wit_parser::{Resolve, WorldItem};

#[test]
fn the_component_imports_nothing_and_exports_the_world() {
    let inspection = Gate::new().expect("a gate").inspect().expect("an inspection");
    assert!(inspection.imports.is_empty(), "a validator imports nothing, not even types: {:?}", inspection.imports);

    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");
    let (package, _) = resolve.push_path(wit).expect("the package in wit/");
    let world = resolve.select_world(&[package], Some("validator")).expect("the world validator");
    let mut exports: Vec<String> = resolve.worlds[world]
        .exports
        .iter()
        .map(|(key, item)| {
            assert!(matches!(item, WorldItem::Interface { .. }));
            resolve.name_world_key(key)
        })
        .collect();
    let mut exported = inspection.exports;
    exports.sort();
    exported.sort();
    assert_eq!(exported, exports);

    assert!(inspection.agents.is_empty(), "the built-in component holds no contracts");
    assert!(!inspection.sealed);
    assert!(inspection.bytes < 2_800_000, "the component has grown to {} bytes", inspection.bytes);
}

#[test]
fn every_item_of_the_package_is_documented() {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../wit")).expect("the package");
    for (name, interface) in &resolve.packages[package].interfaces {
        let interface = &resolve.interfaces[*interface];
        assert!(interface.docs.contents.is_some(), "interface {name} has no documentation");
        for (function, item) in &interface.functions {
            assert!(item.docs.contents.is_some(), "{name}.{function} has no documentation");
        }
    }
}

/// Why no gate is made of some bytes.
fn refused(bytes: impl Into<Vec<u8>>) -> String {
    format!("{:#}", anyhow::Error::from(gate(bytes).err().expect("refused")))
}

/// A gate of a component whose code is kept nowhere.
fn gate(component: impl Into<Vec<u8>>) -> Result<Gate, LoadError> {
    let component = Component::from_bytes(component);
    Gate::with(Options::default().component(component).slots(1).cache(None))
}

#[test]
fn what_is_no_validator_is_refused() {
    let none = "not a WebAssembly component: ";
    assert!(refused(b"").starts_with(none));
    assert!(refused(b"{\"agent\":\"a\",\"schema\":true}").starts_with(none));
    // The smallest module there is.
    assert!(refused(b"\0asm\x01\0\0\0").starts_with(none));
    // The smallest component there is: valid, and empty.
    assert!(refused(b"\0asm\x0d\0\x01\0").starts_with("the component does not export the world"));
    let large = vec![0; Component::MAX_BYTES + 1];
    assert_eq!(refused(large), "the component has 33554433 bytes; the limit is 33554432");

    // The real one, cut off anywhere, and with one bit turned where its sections begin.
    let builtin = Component::builtin();
    let whole = builtin.as_bytes();
    for cut in 1..50 {
        let why = refused(&whole[..whole.len() * cut / 50]);
        assert!(why.starts_with(none), "{why}");
    }
    for bit in 0..8 * 8 {
        let mut turned = whole.to_vec();
        turned[bit / 8] ^= 1 << (bit % 8);
        let why = refused(turned);
        assert!(why.starts_with(none), "{why}");
    }
}

/// What a component does with one call, in words: `CODE: MESSAGE` of the fault.
fn ended(gate: &Gate, what: &str) -> String {
    let fault = match what {
        "validate" => gate.validate(&Request::new("a", "{}\n")).err(),
        "call" => gate.call("{}").err(),
        "inspect" => gate.inspect().err(),
        other => panic!("{other} is nothing that can be done with a component"),
    };
    fault.map_or_else(|| "no fault".to_owned(), |fault| format!("{}: {fault}", fault.code()))
}

/// Each is refused when it is loaded or stopped when it is called, as its text says, by the library and by the command.
#[test]
fn hostile_components_are_refused_or_stopped() {
    let ordinary = Gate::new().expect("a gate");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components");
    fs::create_dir_all(&folder).expect("a folder");
    let mut failed = Vec::new();
    for Fixture { name, wasm, expected } in fixtures().expect("components") {
        assert_eq!(expected.len(), 1, "{name}: its text says in one line what is done and how that ends");
        let (what, outcome) = &expected[0];
        let start = Instant::now();
        let told = match gate(wasm.clone()) {
            Err(error) if what == "load" => error.to_string(),
            Err(error) => format!("refused: {error}"),
            Ok(_) if what == "load" => "loaded".to_owned(),
            Ok(gate) => {
                let first = ended(&gate, what);
                // The slot serves the next one.
                assert_eq!(ended(&gate, what), first, "{name}");
                first
            }
        };
        let elapsed = start.elapsed();
        println!("{name:26} {what:8} {:5} ms  {told}", elapsed.as_millis());
        if !told.contains(outcome.as_str()) || elapsed > Duration::from_secs(10) {
            failed.push(format!("{name}: {told}, after {elapsed:?}"));
        }
        let contract = r#"{"agent":"a","schema":true}"#;
        let report = ordinary.validate_with(contract, &Request::new("", "{}")).expect("a verdict").report;
        assert_eq!(report.disposition, Disposition::Accepted, "after {name}");

        let file = folder.join(format!("{name}.wasm"));
        fs::write(&file, wasm).expect("written");
        let message = outcome.split_once(": ").map_or(outcome.as_str(), |(code, message)| match what.as_str() {
            "load" => outcome,
            _ => {
                if message.is_empty() {
                    code
                } else {
                    message
                }
            }
        });
        let file = file.to_str().expect("UTF-8");
        let commands: &[&[&str]] = match what.as_str() {
            "load" => &[&["inspect", file], &["check", "-c", file, "--agent", "a"], &["check", "--ndjson", "-c", file]],
            "call" => &[&["check", "--ndjson", "-c", file]],
            "inspect" => &[&["inspect", file]],
            _ => &[&["check", "-c", file, "--agent", "a"], &["check", "--picture", "-c", file, "--agent", "a"]],
        };
        for arguments in commands {
            let output = command(arguments, b"{}\n");
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let status = if what == "load" { 2 } else { 5 };
            if output.status.code() != Some(status) || !text.contains(message) || text.contains("panicked") {
                failed.push(format!("{arguments:?}: {:?}: {text}", output.status.code()));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What the command line does, with something on its standard input.
fn command(arguments: &[&str], input: &[u8]) -> Output {
    let test = std::env::current_exe().expect("this test");
    let seamgate = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let mut command = Command::new(seamgate);
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("seamgate, built by `cargo xtask build`");
    // It may end without having read it.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("an end")
}

/// A bit turned at random in components that are small, so that there can be many: whatever becomes of them is told.
#[test]
fn a_turned_bit_ends_in_a_word() {
    let fixtures = fixtures().expect("components");
    let mut random = Random(7);
    let (mut loaded, mut turned) = (0, 0);
    for fixture in fixtures.iter().filter(|fixture| fixture.expected[0].0 != "load") {
        for _ in 0..100 {
            let mut wasm = fixture.wasm.clone();
            let at = random.below(wasm.len());
            wasm[at] ^= 1 << random.below(8);
            turned += 1;
            if let Ok(gate) = gate(wasm) {
                loaded += 1;
                let _ = [ended(&gate, "validate"), ended(&gate, "call"), ended(&gate, "inspect")];
            }
        }
    }
    println!("{turned} components with a bit turned, {loaded} of them loaded");
    assert!(loaded > 20 && turned - loaded > 20, "{loaded} of {turned} loaded");
}

/// What runs when an instance is made is held to the wall clock too, however much fuel there is.
#[test]
fn an_endless_start_is_stopped_by_the_clock() {
    let endless = fixtures().expect("components").into_iter().find(|fixture| fixture.name == "start-endless");
    let component = Component::from_bytes(endless.expect("start-endless.wat").wasm);
    let limits = Limits::default().fuel(u64::MAX).timeout(Duration::from_millis(200));
    let options = Options::default().component(component).limits(limits).slots(1).cache(None);
    let refused = Gate::with(options).err().expect("refused");
    assert!(matches!(refused, LoadError::Fault(Fault::Timeout { .. })), "{refused}");
}

/// Nothing is baked into them either.
#[test]
fn nothing_is_baked_into_hostile_components() {
    let contract = r#"{"agent":"a","schema":true}"#;
    for Fixture { name, wasm, .. } in fixtures().expect("components") {
        let baked = Component::from_bytes(wasm).bake(&[contract], &Limits::default());
        assert!(baked.is_err(), "{name}");
    }
}
