//! `seamgate demo`, as a new user sees it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// Returns an empty folder for temporary files.
fn fresh(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demo").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns the command of this build, with a folder for temporary files.
fn demo(temporary: &Path) -> Command {
    let test = std::env::current_exe().expect("this test");
    let mut command = Command::new(test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate"));
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
    command.arg("demo").env_remove("USER").env("XDG_CACHE_HOME", cache).env("TMPDIR", temporary);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
#[cfg(unix)]
fn every_scene_ends_as_it_should_and_in_order() {
    let temporary = fresh("scenes");
    let Output { status, stdout, stderr } = demo(&temporary).output().expect("a demo");
    let (stdout, stderr) = (text(&stdout), text(&stderr));
    assert!(status.success() && stderr.is_empty(), "{stdout}{stderr}");
    let shown = [
        "$.quantity must be integer, not string",
        "(exit status 1)",
        "items +S+",
        "(exit status 3)",
        "out_of_fuel",
        "(exit status 5)",
        "c2 send_mail: denied",
        "c3 refund: needs approval",
        "(exit status 6)",
        "approved by anna",
        "(exit status 0)",
        "c3 refund: ok",
        r#"arguments: {"amount":4990,"order":1042}"#,
        "(exit status 6)",
        "trace.html",
        "(exit status 0)",
        "seamgate init my-contracts",
    ];
    let mut rest = stdout.as_str();
    for part in shown {
        let (_, after) = rest.split_once(part).unwrap_or_else(|| panic!("{part} is not next in:\n{rest}"));
        rest = after;
    }
    // The files stay, including the page.
    let folder = fs::read_dir(&temporary).expect("a folder").next().expect("one").expect("an entry").path();
    assert!(folder.join("run").is_dir() && folder.join("trace.html").is_file(), "{}", folder.display());
    // The mail was read once, and one refund was paid. Nothing was sent.
    let journal = fs::read_to_string(folder.join("run/journal.ndjson")).expect("a journal");
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let sent: Vec<_> = lines.filter(|line| line["event"]["type"] == "tool_started").collect();
    assert_eq!(sent.len(), 2, "{journal}");
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_named() {
    let missing = fresh("missing").join("not there");
    let output = demo(&missing).output().expect("a demo");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write the demo's files to") && said.contains("not there"), "{said}");
}
