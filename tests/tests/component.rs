//! The built component itself: what it imports, what it exports, how large it is.

use std::time::Duration;

use seamgate::{Component, Fault, Gate, Limits, LoadError, Options};
use seamgate_tests::{
    Random,
    fixture::{Fixture, ended, fixtures, gate},
};
use wit_parser::{Resolve, WorldItem};

#[test]
fn the_component_imports_nothing_and_exports_the_world() {
    let inspection = Gate::new().expect("a gate").inspect().expect("an inspection");
    assert!(inspection.imports.is_empty(), "a validator imports nothing, not even types: {:?}", inspection.imports);

    let mut resolve = Resolve::default();
    let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");
    resolve.push_path(wit).expect("the package in wit/");
    let (package, _) = resolve.push_path(format!("{wit}/harness")).expect("the package in wit/harness");
    let world = resolve.select_world(&[package], Some("harness")).expect("the world harness");
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
    assert!(inspection.bytes < 3_000_000, "the component has grown to {} bytes", inspection.bytes);
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
