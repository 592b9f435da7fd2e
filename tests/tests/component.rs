//! The built component itself: what it imports, what it exports, how large it is.

use seamgate::{Component, Gate};
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
    assert!(inspection.bytes < 2_500_000, "the component has grown to {} bytes", inspection.bytes);
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

#[test]
fn what_is_no_validator_is_refused() {
    let refused = |bytes: &[u8]| {
        let options = seamgate::Options { component: Component::from_bytes(bytes), ..Default::default() };
        Gate::with(options).err().expect("refused").to_string()
    };
    assert!(refused(b"").starts_with("not a WebAssembly component"));
    assert!(refused(b"\0asm\x01\0\0\0").starts_with("not a WebAssembly component"));
    // The smallest component there is: valid, and empty.
    assert!(refused(b"\0asm\x0d\0\x01\0").starts_with("the component is not a validator"));
}
