//! Tests the documents: their examples print the output shown, and their links are valid.
//!
//! In `README.md` and in each page of `docs/`, a `console` block contains commands, each after `$ `, and their output.
//! An `sh` block that starts with `cat >` creates the files that they use. A line `…` stands for any lines. With
//! `BLESS=1`, blocks that differ are rewritten.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use seamgate_tests::console::{again, fresh, shell};

/// The maximum number of lines of README.md. It leads a reader to the first verdict, and links to everything else.
const README_LINES: usize = 120;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Finds the Markdown files in a folder and its subfolders, except for generated files and files of other projects.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules", "sources"].contains(&name) {
            documents(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Returns the pages whose examples are run.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    documents(&root().join("docs"), &mut pages);
    pages.sort();
    pages
}

/// A fenced block of a page: its language, and its lines.
struct Block<'t> {
    language: &'t str,
    lines: std::ops::Range<usize>,
}

fn blocks<'t>(lines: &[&'t str]) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    for (number, line) in lines.iter().enumerate() {
        match (open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language, number + 1)),
            (Some((language, first)), Some("")) => {
                blocks.push(Block { language, lines: first..number });
                open = None;
            }
            _ => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

#[test]
fn examples_print_what_the_documents_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut run = 0;
    for page in pages() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(page.file_stem().expect("a name"));
        fresh(&folder);
        let text = read(&page);
        let lines: Vec<&str> = text.lines().collect();
        let mut written: Vec<String> = Vec::new();
        let mut copied = 0;
        for block in blocks(&lines) {
            let shown = &lines[block.lines.clone()];
            if block.language == "sh" && shown.first().is_some_and(|line| line.starts_with("cat >")) {
                shell(&folder, &shown.join("\n"));
            }
            if block.language != "console" || shown.iter().any(|line| line.starts_with("$ cargo ")) {
                continue;
            }
            run += 1;
            if let Some(is) = again(&folder, shown) {
                assert!(
                    bless,
                    "{}: prints otherwise now; if that is meant, BLESS=1:\n{}",
                    page.display(),
                    is.join("\n")
                );
                written.extend(lines[copied..block.lines.start].iter().map(|line| (*line).to_owned()));
                written.extend(is);
                copied = block.lines.end;
            }
        }
        if copied > 0 {
            written.extend(lines[copied..].iter().map(|line| (*line).to_owned()));
            fs::write(&page, written.join("\n") + "\n").expect("written");
        }
    }
    assert!(run >= 3, "only {run} examples");
}

/// Returns the anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns a page without its code, because code may contain brackets that look like links.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            // Code that contains a backtick is enclosed in double backticks.
            prose.extend(line.replace("``", "`").split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    documents(root(), &mut found);
    let mut broken = BTreeSet::new();
    for document in &found {
        let text = prose(&read(document));
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
        for link in links.filter(|link| !link.contains("://") && !link.contains(' ')) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = document.parent().expect("a folder");
            let target = if path.is_empty() { document.clone() } else { folder.join(path) };
            let has_heading = |text: String| {
                text.lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == heading)
            };
            if !target.exists() || (!heading.is_empty() && !has_heading(read(&target))) {
                broken.insert(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn readme_is_short() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= README_LINES, "README.md has {lines} lines: move what is a task of its own to docs/");
}

/// The page about one turn shows lines of a journal and of its views. `…` stands for an omitted part.
#[test]
fn the_turn_is_that_of_its_case() {
    let page = read(&root().join("docs/turn.md"));
    let case = root().join("tests/runs/loop/answered");
    let lines = [read(&case.join("journal.ndjson")), read(&case.join("views.ndjson"))].concat();
    let shows = |line: &str, shown: &str| {
        let mut rest = line;
        shown.split('…').all(|part| match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    };
    let page: Vec<&str> = page.lines().collect();
    let shown = blocks(&page).into_iter().filter(|block| block.language == "json").flat_map(|block| &page[block.lines]);
    let mut count = 0;
    for shown in shown {
        count += 1;
        assert!(lines.lines().any(|line| shows(line, shown)), "no line of {} has {shown}", case.display());
    }
    assert!(count > 10, "{count} lines");
}
