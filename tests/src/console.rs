//! Commands and their output. A line that begins with `$ ` is a command, and the lines after it are its output. A line
//! `…` stands for any lines.

use std::{fs, path::Path, process::Command};

/// Creates an empty folder that contains the project's `schemas`.
pub fn fresh(folder: &Path) {
    drop(fs::remove_dir_all(folder));
    fs::create_dir_all(folder).expect("a folder");
    let schemas = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas")).canonicalize().expect("schemas");
    std::os::unix::fs::symlink(schemas, folder.join("schemas")).expect("a link");
}

/// Returns a shell in a folder. Its `schemas` is the project's folder, and its path contains the built command.
pub fn shell(folder: &Path, script: &str) -> String {
    let test = std::env::current_exe().expect("this test");
    let built = test.parent().and_then(Path::parent).expect("target/PROFILE");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {script}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_CACHE_HOME", built.join("../tmp/user-cache"))
        .env_remove("RUST_LOG")
        .output()
        .expect("sh");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns a line without the figures that depend on the build and the machine.
fn without_figures(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_figure = |index: usize| {
        let unit = words.get(index + 1).map(|unit| unit.trim_end_matches([',', ';']));
        matches!(unit, Some("fuel" | "KiB" | "ms" | "s"))
            && words[index].starts_with(|first: char| first.is_ascii_digit())
    };
    let shown = words.iter().enumerate().map(|(index, word)| if is_figure(index) { "N" } else { word });
    shown.collect::<Vec<_>>().join(" ")
}

/// Returns whether the lines match the expected ones, in which `…` stands for any lines.
fn matches(expected: &[&str], is: &[&str]) -> bool {
    match expected.split_first() {
        None => is.is_empty(),
        Some((&"…", rest)) => (0..=is.len()).any(|skipped| matches(rest, &is[skipped..])),
        Some((line, rest)) => is
            .split_first()
            .is_some_and(|(first, others)| without_figures(line) == without_figures(first) && matches(rest, others)),
    }
}

/// Runs the commands of a `console` block again and returns their output. Returns `None` if the output is unchanged.
pub fn again(folder: &Path, shown: &[&str]) -> Option<Vec<String>> {
    let mut result = Vec::new();
    let mut differs = false;
    let starts: Vec<usize> = (0..shown.len()).filter(|&line| shown[line].starts_with("$ ")).collect();
    assert_eq!(starts.first(), Some(&0), "a block of console starts with a command: {shown:?}");
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(shown.len());
        let (command, expected) = (shown[start], &shown[start + 1..end]);
        let printed = shell(folder, &command[2..]);
        let is: Vec<&str> = printed.lines().collect();
        let same = matches(expected, &is) && expected != ["…"];
        differs |= !same;
        result.push(command.to_owned());
        result.extend(if same { expected } else { &is }.iter().map(|line| (*line).to_owned()));
    }
    differs.then_some(result)
}
