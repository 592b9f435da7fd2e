//! `seamgate types` with fake programs in place of the generators.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const CONTRACT: &str =
    r#"{"agent": "order-items", "schema": {"type": "object", "properties": {"sku": {"type": "string"}}}}"#;

/// The languages, each with its program and a part of the command that installs it.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("python", "datamodel-codegen", "pip install datamodel-code-generator=="),
    ("typescript", "json2ts", "npm install -g json-schema-to-typescript@"),
    ("rust", "cargo-typify", "cargo install --locked cargo-typify@"),
    ("go", "go-jsonschema", "go install github.com/atombender/go-jsonschema@v"),
];

/// Returns a folder with a contract and with programs of these names. Each program runs the script.
fn folder(test: &str, script: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("types").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    fs::write(folder.join("order.contract.json"), CONTRACT).expect("a contract");
    for (_, program, _) in PROGRAMS {
        let path = folder.join("bin").join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    }
    folder
}

fn seamgate(folder: &Path, path: &str, arguments: &[&str]) -> Output {
    let test = std::env::current_exe().expect("this test");
    let target = test.parent().and_then(Path::parent).expect("target/PROFILE");
    Command::new(target.join("seamgate"))
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"))
        .env_remove("RUST_LOG")
        .arg("types")
        .args(arguments)
        .output()
        .expect("seamgate, built by `cargo xtask build`")
}

/// Runs the command with the programs in a folder.
fn types(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
    let output = seamgate(folder, &path, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn generators_get_a_schema_and_fixed_arguments() {
    let folder = folder("arguments", "echo \"$@\"; pwd; cat");
    for (language, program, _) in PROGRAMS {
        let (status, out, err) = types(&folder, &["order.contract.json", "--to", language]);
        assert_eq!((status, err.as_str()), (Some(0), ""), "{program}");
        assert!(out.contains("\"title\":\"OrderItems\""), "{program}: {out}");
        // The generators do not read configuration from the caller's folder.
        assert!(!out.contains(folder.to_str().expect("UTF-8")), "{program}: {out}");
        let (_, named, _) = types(&folder, &["order.contract.json", "--to", language, "--name", "Line"]);
        assert!(named.contains("\"title\":\"Line\""), "{program}: {named}");
    }
    let (_, out, _) = types(&folder, &["order.contract.json", "--to", "python"]);
    assert!(out.lines().next().is_some_and(|line| line.ends_with("--class-name OrderItems")), "{out}");
}

#[test]
fn a_missing_generator_says_how_to_install_it() {
    let folder = folder("missing", "exit 0");
    for (language, program, install) in PROGRAMS {
        let output = seamgate(&folder, "/nonexistent", &["order.contract.json", "--to", language]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(program) && err.contains(install) && output.stdout.is_empty(), "{err}");
    }
}

#[test]
fn a_failed_generator_writes_no_types() {
    let scripts = [
        ("fails", "echo part; echo 'cannot read it' >&2; exit 3", "cannot read it"),
        ("silent", "exit 0", "wrote nothing"),
        ("large", "head -c 68000000 /dev/zero", "wrote more than"),
        ("binary", "printf '\\377\\376x'", "not UTF-8"),
        ("slow", "sleep 60", "did not end within 1 s"),
        ("killed", "kill -9 $$", "failed"),
    ];
    for (name, script, message) in scripts {
        let folder = folder(name, script);
        let timeout = if name == "slow" { "1" } else { "60" };
        let (status, out, err) = types(&folder, &["order.contract.json", "--to", "rust", "--timeout", timeout]);
        assert_eq!((status, out.as_str()), (Some(5), ""), "{name}: {err}");
        assert!(err.contains(message) && err.contains("no types were written"), "{name}: {err}");
    }
}

#[test]
fn invalid_names_and_documents_are_refused_before_a_generator_runs() {
    let folder = folder("refused", "touch ran; echo x");
    fs::write(folder.join("p.profile.json"), "{}").expect("a profile");
    fs::write(folder.join("bad.contract.json"), r#"{"agent": "a", "schema": {"type": "text"}}"#).expect("a contract");
    for name in ["order", "--output=/tmp/x", "A;touch x", "$(touch x)", "String", "", "A\nB"] {
        let named = format!("--name={name}");
        let (status, out, err) = types(&folder, &["order.contract.json", "--to", "go", &named]);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{name}: {err}");
        assert!(err.contains("for example --name Order"), "{err}");
    }
    for (document, message) in [
        ("p.profile.json", "is a profile"),
        ("bad.contract.json", "type"),
        ("none.contract.json", "none.contract.json"),
    ] {
        let (status, out, err) = types(&folder, &[document, "--to", "go"]);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{document}: {err}");
        assert!(err.contains(message), "{document}: {err}");
    }
    let (status, _, err) = types(&folder, &["order.contract.json", "--to", "cobol"]);
    assert!(status == Some(2) && err.contains("python") && err.contains("go"), "{err}");
}
