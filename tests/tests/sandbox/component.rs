//! The built components: their imports, exports and sizes.

use std::{collections::BTreeSet, fs, time::Duration};

use seamgate::{BakeError, Component, Fault, Gate, Limits, LoadError, Options};
use seamgate_tests::{
    Random,
    fixture::{Fixture, ended, fixtures, gate},
};
use wit_parser::{Resolve, WorldItem};

#[test]
fn the_component_imports_nothing_and_exports_the_world() {
    holds(&Gate::new().expect("a gate"), "seamgate:harness/harness", 4_220_000);
}

/// `cargo xtask build` does not build this component.
#[test]
#[ignore = "`cargo xtask ci validator` makes the small component and runs this"]
fn the_small_component_has_no_kernel_and_says_so() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/validator/validator.wasm");
    let component = Component::from_bytes(fs::read(path).expect("the small component"));
    let mut gate = gate(component.as_bytes()).expect("a gate");
    holds(&gate, "seamgate:validator/validator", 2_600_000);

    let none = "the component has no seamgate:harness/profiles";
    let profile = r#"{"agent":"a","tools":[]}"#;
    let refused = gate.register_profile(profile).expect_err("no profiles");
    assert!(refused.to_string().contains(none), "{refused}");
    match component.bake_with(&[] as &[&str], &[profile], &Limits::default()) {
        Err(BakeError::Profile { fault, .. }) => assert!(fault.to_string().contains(none), "{fault}"),
        other => panic!("{other:?}"),
    }
    for operation in ["register_profile", "surface", "permit", "observe", "advance"] {
        let answer = gate.call(&format!(r#"{{"id":1,"op":"{operation}"}}"#)).expect("an answer").json;
        let begin = r#"{"id":1,"fault":{"fault":"bad_request","#;
        assert!(answer.starts_with(begin) && answer.contains("must be one of validate, merge"), "{answer}");
    }
}

/// Checks that a component imports nothing, exports a world, has no state, and is smaller than a limit.
fn holds(gate: &Gate, world: &str, limit: usize) {
    let inspection = gate.inspect().expect("an inspection");
    assert!(inspection.imports.is_empty(), "a validator imports nothing, not even types: {:?}", inspection.imports);

    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");
    let packages = [wit, concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/harness")]
        .map(|folder| resolve.push_path(folder).expect("a package").0);
    let id = resolve.select_world(&packages, Some(world)).expect("the world");
    let exports = resolve.worlds[id].exports.iter().map(|(key, item)| {
        assert!(matches!(item, WorldItem::Interface { .. }));
        resolve.name_world_key(key)
    });
    assert_eq!(BTreeSet::from_iter(inspection.exports), BTreeSet::from_iter(exports));

    assert!(inspection.agents.is_empty() && inspection.profiles.is_empty(), "the component holds contracts");
    assert!(!inspection.sealed);
    assert!(inspection.bytes < limit, "the component of {world} has grown to {} bytes", inspection.bytes);
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

/// Returns the reason why a gate rejects a component.
fn refused(bytes: impl Into<Vec<u8>>) -> String {
    format!("{:#}", anyhow::Error::from(gate(bytes).err().expect("refused")))
}

#[test]
fn what_is_no_validator_is_refused() {
    let none = "not a WebAssembly component: ";
    assert!(refused(b"").starts_with(none));
    assert!(refused(b"{\"agent\":\"a\",\"schema\":true}").starts_with(none));
    // The smallest possible module.
    assert!(refused(b"\0asm\x01\0\0\0").starts_with(none));
    // The smallest possible component, which is valid and empty.
    assert!(refused(b"\0asm\x0d\0\x01\0").starts_with("the component does not export the world"));
    let large = vec![0; Component::MAX_BYTES + 1];
    assert_eq!(refused(large), "the component has 33554433 bytes; the limit is 33554432");

    // The built-in component, truncated at any byte, and with one bit flipped where its sections begin.
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

/// Flips random bits in small components, so that many variants are possible. Every outcome has a code.
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
            // Little fuel, because some variants loop forever.
            let limits = Limits::default().fuel(1_000_000);
            let options = Options::default().component(Component::from_bytes(wasm)).limits(limits);
            if let Ok(gate) = Gate::with(options.slots(1).cache(None)) {
                loaded += 1;
                let _ = [ended(&gate, "validate"), ended(&gate, "call"), ended(&gate, "inspect")];
            }
        }
    }
    println!("{turned} components with a bit turned, {loaded} of them loaded");
    assert!(loaded > 20 && turned - loaded > 20, "{loaded} of {turned} loaded");
}

/// The wall-clock limit also applies to code that runs when an instance is created, even with unlimited fuel.
#[test]
fn an_endless_start_is_stopped_by_the_clock() {
    let endless = fixtures().expect("components").into_iter().find(|fixture| fixture.name == "start-endless");
    let component = Component::from_bytes(endless.expect("start-endless.wat").wasm);
    let limits = Limits::default().fuel(u64::MAX).timeout(Duration::from_millis(200));
    let options = Options::default().component(component).limits(limits).slots(1).cache(None);
    let refused = Gate::with(options).err().expect("refused");
    assert!(matches!(refused, LoadError::Fault(Fault::Timeout { .. })), "{refused}");
}

/// Baking rejects all hostile components.
#[test]
fn nothing_is_baked_into_hostile_components() {
    let contract = r#"{"agent":"a","schema":true}"#;
    for Fixture { name, wasm, .. } in fixtures().expect("components") {
        let baked = Component::from_bytes(wasm).bake(&[contract], &Limits::default());
        assert!(baked.is_err(), "{name}");
    }
}
