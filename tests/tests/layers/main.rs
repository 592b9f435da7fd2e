//! The modules of each folder form layers: no module uses one that uses it, directly or through others.
//!
//! In a folder, a module represents everything inside it. A module may use the declarations of the modules around it.
//! The rule applies to Rust, TypeScript and Python.
//!
//! `cargo test --release -p seamgate-tests --test layers -- --nocapture` prints the counts.

mod graph;
mod rust;
mod scripts;

use std::{
    fs,
    path::{Path, PathBuf},
};

use graph::Graph;

/// Folders without source code of the project.
const APART: [&str; 4] = ["node_modules", "target", ".git", "dist"];

/// Crates whose root declares nothing for its modules.
const BARE: [&str; 10] = [
    "guest/core/src",
    "guest/kernel/src",
    "host/authoring/src",
    "host/cli/src",
    "host/mcp/src",
    "host/receipt/src",
    "host/release/src",
    "host/runner/src",
    "host/trace/src",
    "xtask/src",
];

/// Generated bindings.
const GENERATED: [&str; 1] = ["bindings.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Returns the files below a folder with this extension. Each has its path in the folder and its text.
fn files(folder: &Path, extension: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(&inside).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !APART.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|other| other == extension) && !GENERATED.contains(&name.as_str()) {
                let name = path.strip_prefix(folder).expect("inside").to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&path).expect("source text")));
            }
        }
    }
    found.sort();
    found
}

/// Returns the source folders of all crates.
fn crates() -> Vec<String> {
    let manifests =
        files(&root(), "toml").into_iter().map(|(name, _)| name).filter(|name| name.ends_with("Cargo.toml"));
    let folders = manifests.map(|name| name.replace("Cargo.toml", "src"));
    folders.filter(|folder| ["lib.rs", "main.rs"].iter().any(|file| root().join(folder).join(file).exists())).collect()
}

fn hold(graphs: impl IntoIterator<Item = (String, Graph)>) {
    let mut wrong = String::new();
    for (name, graph) in graphs {
        let circles = graph.circles();
        println!("{name}: {} files, {} folders, {} circles", graph.files(), graph.folders(), circles.len());
        for circle in circles {
            wrong.push_str(&format!("{name}: {circle}"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn rust_modules_form_layers() {
    let crates = crates();
    assert!(crates.len() >= 14, "{crates:?}");
    hold(crates.into_iter().map(|folder| {
        let files = files(&root().join(&folder), "rs");
        let holds_root = BARE.contains(&folder.as_str());
        (folder, rust::graph(files.iter().map(|(name, text)| (name.as_str(), text.as_str())), holds_root))
    }));
}

#[test]
fn typescript_modules_form_layers() {
    let files = files(&root().join("host/js/src"), "ts");
    assert!(files.len() > 20);
    hold([("host/js/src".to_owned(), scripts::typescript(&files))]);
}

#[test]
fn python_modules_form_layers() {
    let files = files(&root().join("host/python/src"), "py");
    assert!(files.len() > 20);
    hold([("host/python/src".to_owned(), scripts::python(&files))]);
}
