//! Tests the parts of the HTTP gate that need no server: the manifest for Spin, and the status codes. `cargo xtask
//! edge` tests the server.

use std::path::{Component, Path, PathBuf};

use seamgate_edge_status::{self as status, Status};
use toml::{Table, Value};

/// Returns a normalized path without `..`, assuming that no component is a link.
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
    let manifest: Table = include_str!("../../../guest/edge/spin.toml").parse().expect("TOML");
    assert_eq!(manifest["spin_manifest_version"].as_integer(), Some(2));
    assert_eq!(manifest["application"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));

    let triggers = manifest["trigger"]["http"].as_array().expect("triggers");
    let [trigger] = triggers.as_slice() else { panic!("one trigger: {triggers:?}") };
    // The component also answers requests with unknown paths.
    assert_eq!(trigger["route"].as_str(), Some("/..."));
    let name = trigger["component"].as_str().expect("a component's name");

    let component = manifest["component"][name].as_table().expect("the component");
    let members: Vec<&str> = component.keys().map(String::as_str).collect();
    assert_eq!(members, ["allowed_outbound_hosts", "source"], "no files, variables or stores");
    assert_eq!(component["allowed_outbound_hosts"], Value::Array(Vec::new()));
    let source = component["source"].as_str().expect("a path");
    let source = plain(&Path::new("guest/edge").join(source));
    let made = format!("const SERVED: &str = {source:?};");
    for maker in [include_str!("../../../xtask/src/edge.rs"), include_str!("../../edge/server.rs")] {
        assert!(maker.contains(&made), "{} is not what is made and served", source.display());
    }
}

#[test]
fn the_manifest_for_kubernetes_has_the_flags_that_are_tested() {
    let manifest = include_str!("../../../deploy/kubernetes/edge/edge.yaml");
    let flags: Vec<&str> = manifest.lines().filter_map(|line| line.trim().strip_prefix("- -")).collect();
    let (address, flags) = flags.split_first().expect("flags");
    assert_eq!(*address, "-addr=0.0.0.0:8080");
    let tested = include_str!("../../edge/main.rs");
    let tested = tested.split_once("const LIMITS: [&str; 7] = [").and_then(|(_, rest)| rest.split_once("];"));
    let tested: Vec<&str> = tested.expect("the limits").0.split('"').skip(1).step_by(2).collect();
    assert_eq!(flags, tested.iter().map(|flag| &flag[1..]).collect::<Vec<_>>());
}

#[test]
fn an_answer_has_the_status_of_what_it_says_and_not_of_its_id() {
    let rests = [
        ("\"report\":{\"fault\":{\"fault\":\"sealed\"}}}", Status::Ok),
        ("\"result\":null}", Status::Ok),
        ("\"fault\":{\"fault\":\"bad_request\",\"message\":\"\"}}", Status::BadRequest),
        ("\"fault\":{\"fault\":\"sealed\"}}", Status::Forbidden),
        ("\"fault\":{\"fault\":\"unknown_agent\"}}", Status::NotFound),
        ("\"fault\":{\"fault\":\"bad_contract\"}}", Status::UnprocessableContent),
        // A validator does not return these answers.
        ("\"fault\":{\"fault\":\"other\"}}", Status::BadGateway),
        ("\"fault\":\"bad_request\"}", Status::BadGateway),
        ("\"verdict\":{}}", Status::BadGateway),
        ("", Status::BadGateway),
    ];
    let ids = [
        "null",
        "-1.50",
        "\"\"",
        "\"\\\\\"",
        "\",\\\"report\\\":\"",
        "[[],{},[1,2]]",
        "{\"a\":1,\"fault\":{\"fault\":\"sealed\"}}",
        "{\"]}\":[\"}\"]}",
    ];
    for id in ids {
        for (rest, status) in rests {
            let answer = format!("{{\"id\":{id},{rest}");
            assert_eq!(status::of(&answer), status, "{answer}");
        }
    }
    for answer in
        ["", "{", "{\"id\":", "{\"id\":1", "{\"id\":1}", "{\"id\":[1,2", "{\"id\":]],\"report\":{}}", "[]", "null"]
    {
        assert_eq!(status::of(answer), Status::BadGateway, "{answer}");
    }
}
