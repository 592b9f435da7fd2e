//! Tests the dependencies: every package comes from the registry and has an allowed licence. The validators of the
//! benchmark have the same features as for their users.

use std::process::Command;

use serde_json::Value;
use spdx::{Expression, Licensee};

/// Reads the licences that packages may have. cargo-deny reads the same list.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../deny.toml")).expect("deny.toml");
    let deny: toml::Table = text.parse().expect("TOML");
    let allowed = deny["licenses"]["allow"].as_array().expect("a list");
    allowed.iter().map(|licence| licence.as_str().expect("a licence").to_owned()).collect()
}

/// The only source of packages. `Cargo.lock` contains their digests.
const REGISTRY: &str = "registry+";

/// Returns cargo's metadata about the packages for this platform.
fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn host() -> String {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc");
    let lines = String::from_utf8(rustc.stdout).expect("text");
    lines.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

#[test]
fn every_package_comes_from_the_registry_with_a_licence_that_may_be_used() {
    let allowed = allowed();
    let licensees: Vec<Licensee> =
        allowed.iter().map(|licence| Licensee::parse(licence).expect("a licence of SPDX")).collect();
    let mut used = vec![false; allowed.len()];
    let metadata = metadata();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or_default();
        let source = package["source"].as_str();
        if source.is_some_and(|source| !source.starts_with(REGISTRY)) {
            wrong.push(format!("{name} comes from {source:?}"));
        }
        // The slash is an older form of OR.
        let expression = Expression::parse(&licence.replace('/', " OR "));
        let is_allowed = expression.is_ok_and(|expression| {
            expression.evaluate(|asked| {
                let found = licensees.iter().position(|licensee| licensee.satisfies(asked));
                found.inspect(|index| used[*index] = true).is_some()
            })
        });
        if !is_allowed {
            wrong.push(format!("{name}: licence {licence:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let idle: Vec<_> = allowed.iter().zip(used).filter(|(_, used)| !used).collect();
    assert!(idle.is_empty(), "no package has one of these licences: {idle:?}");
}

/// Returns the features of `serde_json` that Cargo enables if it builds only one package.
fn features_of_serde_json(package: &str) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--package", package, "--edges", "normal,build,features"])
        .args(["--invert", "serde_json", "--depth", "1", "--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("text");
    let features = tree.lines().filter_map(|line| line.strip_prefix("serde_json feature \"")?.split('"').next());
    features.map(str::to_owned).collect()
}

#[test]
fn peers_of_the_benchmark_get_the_features_that_their_users_get() {
    assert_eq!(features_of_serde_json("seamgate-bench-serde-json"), ["default", "std"]);
    assert_eq!(features_of_serde_json("seamgate-bench-blaze"), ["default", "std"]);
    assert_eq!(features_of_serde_json("seamgate-bench-boon"), ["default", "std"]);
    for package in ["seamgate-bench-generated", "seamgate-bench-jsonschema", "seamgate-bench-simd-json"] {
        // `jsonschema` itself enables `float_roundtrip`.
        assert_eq!(features_of_serde_json(package), ["default", "float_roundtrip", "std"], "{package}");
    }
}

/// This test is built together with seamgate, so Cargo unifies the features. The benchmark must detect unified features
/// in a peer.
#[test]
fn a_program_notices_the_unified_features_of_its_serde_json() {
    assert_eq!(seamgate_bench_protocol::features::enabled(), ["arbitrary_precision", "float_roundtrip", "raw_value"]);
}
