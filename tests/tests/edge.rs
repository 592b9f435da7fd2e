//! The manifest for Spin names what is made, and gives it nothing. What is served is tested by `cargo xtask edge`.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// A path without `..`, where nothing is a link.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leads out of the repository", path.display()),
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn the_manifest_for_spin_names_what_is_made_and_allows_nothing() {
    let manifest: Table = include_str!("../../guest/edge/spin.toml").parse().expect("TOML");
    assert_eq!(manifest["spin_manifest_version"].as_integer(), Some(2));
    assert_eq!(manifest["application"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));

    let triggers = manifest["trigger"]["http"].as_array().expect("triggers");
    let [trigger] = triggers.as_slice() else { panic!("one trigger: {triggers:?}") };
    // What has no answer is the component's to say.
    assert_eq!(trigger["route"].as_str(), Some("/..."));
    let name = trigger["component"].as_str().expect("a component's name");

    let component = manifest["component"][name].as_table().expect("the component");
    let members: Vec<&str> = component.keys().map(String::as_str).collect();
    assert_eq!(members, ["allowed_outbound_hosts", "source"], "no files, variables or stores");
    assert_eq!(component["allowed_outbound_hosts"], Value::Array(Vec::new()));
    let source = component["source"].as_str().expect("a path");
    let source = plain(&Path::new("guest/edge").join(source));
    let made = format!("const SERVED: &str = {source:?};");
    for maker in [include_str!("../../xtask/src/edge.rs"), include_str!("../edge/server.rs")] {
        assert!(maker.contains(&made), "{} is not what is made and served", source.display());
    }
}
