//! Counts idioms that are hard to understand. `tests/style.json` has the maximum count of each idiom. The counts may
//! only decrease.
//!
//! The list is not complete: a sentence without these idioms can still be unclear.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The ends of the names of files to read: programs, whose comments are read, and pages.
const READ: [&str; 9] = [".rs", ".py", ".ts", ".mjs", ".js", ".go", ".java", ".wit", ".md"];

/// Folders with third-party text, results, and inputs of tests.
const SKIPPED: [&str; 16] = [
    "target",
    "node_modules",
    "sources",
    "cases",
    "runs",
    "hostile",
    "agreement",
    "conformance",
    "clean",
    "calls",
    "results",
    "peers",
    "workflows",
    "generated",
    "corpus",
    "__pycache__",
];

/// Returns whether a line contains an idiom.
type IsThere = fn(&Line) -> bool;

/// The idioms. The functions receive comments without their markers.
const IDIOMS: [(&str, IsThere); 6] = [
    ("a comment that begins with What, Who, Whether, So many, Gives or Told", |line| {
        let words = ["What ", "Who ", "Whether ", "So many ", "Gives ", "Told "];
        line.begins_comment && words.iter().any(|word| line.text.starts_with(word))
    }),
    ("'is none' and 'are none'", |line| has(line, &[" is none", " are none"])),
    ("'for it', which means because", |line| has(line, &[", for it ", ", for they ", ", for this ", ", for nobody "])),
    ("'is told' and 'are told'", |line| has(line, &[" is told", " are told", "told as "])),
    ("'comes of' and 'becomes of'", |line| has(line, &[" comes of ", "becomes of ", " came of "])),
    ("'made anew' and 'of which is said'", |line| has(line, &["made anew", "of which is said", "What is said of"])),
];

struct Line<'t> {
    text: &'t str,
    /// `true` for the first line of a comment.
    begins_comment: bool,
}

fn has(line: &Line, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| line.text.contains(phrase))
}

#[test]
fn idioms_that_are_read_twice_do_not_grow() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut files = Vec::new();
    found(root, &mut files);
    let mut places: BTreeMap<&str, Vec<String>> = IDIOMS.iter().map(|(idiom, _)| (*idiom, Vec::new())).collect();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        if text.lines().take(4).any(|line| line.contains("cargo xtask generate"))
            || file.ends_with("repository/style.rs")
        {
            continue;
        }
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        for (number, line) in lines(&shown, &text) {
            for (idiom, _) in IDIOMS.iter().filter(|(_, is_there)| is_there(&line)) {
                places.entry(idiom).or_default().push(format!("{shown}:{number}: {}", line.text));
            }
        }
    }
    let path = root.join("tests/style.json");
    let most: Value = serde_json::from_str(&fs::read_to_string(&path).expect("tests/style.json")).expect("JSON");
    let mut counted = serde_json::Map::new();
    let mut grown = String::new();
    for (idiom, places) in &places {
        let most = most[*idiom].as_u64().unwrap_or_default() as usize;
        println!("{:4} of {most:4}  {idiom}", places.len());
        if places.len() > most {
            grown.push_str(&format!("\n{} with {idiom}, at most {most}; the last ones:\n", places.len()));
            places.iter().rev().take(8).for_each(|place| grown.push_str(&format!("  {place}\n")));
        }
        counted.insert((*idiom).to_owned(), places.len().into());
    }
    if std::env::var_os("BLESS").is_some() {
        // A count that increased is not accepted.
        for (idiom, count) in &mut counted {
            let before = most[idiom.as_str()].as_u64().filter(|before| Some(*before) < count.as_u64());
            if let Some(before) = before {
                *count = before.into();
            }
        }
        let text = serde_json::to_string_pretty(&counted).expect("JSON");
        fs::write(&path, text + "\n").expect("tests/style.json");
    }
    assert!(grown.is_empty(), "{grown}Rewrite the sentences: CONTRIBUTING.md says how text reads.");
}

fn found(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name) {
                found(&path, files);
            }
        } else if READ.iter().any(|end| name.ends_with(end)) {
            files.push(path);
        }
    }
}

/// Returns the lines of a page outside its blocks, or the comments of a program, with their line numbers.
fn lines<'t>(name: &str, text: &'t str) -> Vec<(usize, Line<'t>)> {
    let mut lines = Vec::new();
    let (mut is_block, mut was_comment) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if name.ends_with(".md") {
            is_block ^= trimmed.starts_with("```");
            if !is_block {
                lines.push((number + 1, Line { text: trimmed, begins_comment: false }));
            }
            continue;
        }
        let marks = ["///", "//!", "//", "/**", "* ", "\"\"\"", "# "];
        let comment = marks.iter().find_map(|mark| trimmed.strip_prefix(mark)).map(str::trim);
        let begins_comment = comment.is_some() && !was_comment;
        if let Some(text) = comment {
            lines.push((number + 1, Line { text, begins_comment }));
        }
        was_comment = comment.is_some();
    }
    lines
}
