//! In each crate below, the modules form layers: no module uses one that uses it, directly or through others.
//!
//! The count: `cargo test --release -p seamgate-tests --test layers -- --nocapture`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The crates whose order is held, by the folders of their sources.
const CRATES: [&str; 5] = ["guest/core/src", "guest/kernel/src", "host/src", "host/cli/src", "xtask/src"];

#[test]
fn no_module_uses_one_that_uses_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = String::new();
    for name in CRATES {
        let modules = Modules::read(&root.join(name));
        let circles = modules.circles();
        let files: usize = circles.iter().flatten().map(|module| modules.files[module].len()).sum();
        println!("{name}: {} modules, {} circles of {files} files", modules.files.len(), circles.len());
        for circle in circles {
            wrong.push_str(&format!("{name}: a circle of {circle:?}:\n"));
            for ((from, to), files) in &modules.uses {
                if circle.contains(from) && circle.contains(to) {
                    wrong.push_str(&format!("    {} uses {to}\n", files.join(", ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_circle_is_found_however_a_module_is_named() {
    let modules = Modules::of([
        ("lib.rs", "mod a; mod b; mod c; mod d; mod e; mod f; pub use b::B; fn own() {}"),
        ("a.rs", "use crate::{c::{b, d}, B}; // crate::d\n#[cfg(test)] mod tests { use crate::d; }"),
        ("b.rs", "fn f() -> &'static str { let _ = ('\"', b'{'); super::c::f(); \"crate::d\" }"),
        ("c/mod.rs", "mod inner;"),
        ("c/inner.rs", "use super::super::a::f as d;"),
        ("d.rs", "fn f() { crate::a::f(); r#\" \" crate::d \"#; }\n#[cfg(test)]\nmod tests;"),
        ("d/tests.rs", "use crate::d;"),
        ("e.rs", "mod os { use super::f; } mod deep { mod er { use super::super::super::a; } } fn f() {}"),
        ("f.rs", "mod os { use super::super::e; }"),
    ]);
    assert_eq!(modules.circles(), [["a", "b", "c"].map(str::to_owned).into()]);
    let own = Modules::of([("main.rs", "mod a; const MAX: u32 = 1;"), ("a.rs", "use crate::MAX;")]);
    assert_eq!(own.circles(), [["a", "main"].map(str::to_owned).into()]);
}

/// The top-level modules of a crate, its root among them, and which of them uses which.
#[derive(Default)]
struct Modules {
    files: BTreeMap<String, Vec<String>>,
    /// A module and another that it uses, with the files that do.
    uses: BTreeMap<(String, String), Vec<String>>,
}

impl Modules {
    fn read(folder: &Path) -> Modules {
        let mut folders = vec![folder.to_owned()];
        let mut files = Vec::new();
        while let Some(inside) = folders.pop() {
            let mut entries: Vec<PathBuf> =
                fs::read_dir(&inside).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let name = path.strip_prefix(folder).expect("inside").to_str().expect("UTF-8").replace('\\', "/");
                    files.push((name, fs::read_to_string(&path).expect("source text")));
                }
            }
        }
        Modules::of(files.iter().map(|(name, source)| (name.as_str(), source.as_str())))
    }

    fn of<'s>(files: impl IntoIterator<Item = (&'s str, &'s str)>) -> Modules {
        let files: Vec<(&str, String)> =
            files.into_iter().map(|(name, text)| (name, without_tests(&code(text)))).collect();
        let is_root = |name: &str| matches!(name, "lib.rs" | "main.rs");
        let (root, source) = files.iter().find(|(name, _)| is_root(name)).expect("lib.rs or main.rs");
        let root = root.trim_end_matches(".rs");
        let declared: BTreeSet<String> = after(source, "mod ").map(|(_, rest)| word(rest).to_owned()).collect();
        // What the root names by `use` stands for the module that it comes from.
        let mut exported = BTreeMap::new();
        for (_, rest) in after(source, "use ") {
            let (module, tree) = (word(rest), rest.split(';').next().unwrap_or_default());
            let names = tree.split([',', '{', '}']).map(|name| name.rsplit([':', ' ']).find(|name| !name.is_empty()));
            exported.extend(names.flatten().map(|name| (name.to_owned(), module.to_owned())));
        }
        let mut modules = Modules::default();
        for (name, source) in &files {
            // `a` of `a.rs`, `a/mod.rs` and `a/b.rs`; how many modules are around what stands in it.
            let path = name.trim_end_matches("/mod.rs").trim_end_matches(".rs");
            let (module, depth) = (path.split('/').next().unwrap_or_default(), path.split('/').count());
            if is_root(name) {
                modules.files.entry(root.to_owned()).or_default().push((*name).to_owned());
                modules
                    .uses
                    .extend(declared.iter().map(|to| ((root.to_owned(), to.clone()), vec![(*name).to_owned()])));
                continue;
            }
            // A file of tests only.
            if !declared.contains(module) || path.ends_with("/tests") {
                continue;
            }
            modules.files.entry(module.to_owned()).or_default().push((*name).to_owned());
            let paths = after(source, "crate::").map(|(_, path)| path).chain(after_super(source, depth));
            let used: BTreeSet<&str> = paths.flat_map(first_names).collect();
            for to in used {
                let to = match exported.get(to) {
                    _ if declared.contains(to) => to,
                    Some(module) if declared.contains(module) => module,
                    _ => root,
                };
                if to != module {
                    let files = modules.uses.entry((module.to_owned(), to.to_owned())).or_default();
                    files.push((*name).to_owned());
                    files.dedup();
                }
            }
        }
        modules
    }

    /// All that a module uses, directly or through others.
    fn reached<'m>(&'m self, from: &'m str) -> BTreeSet<&'m str> {
        let mut reached = BTreeSet::new();
        let mut left = vec![from];
        while let Some(from) = left.pop() {
            let next = self.uses.keys().filter(|(user, _)| user == from).map(|(_, used)| used.as_str());
            left.extend(next.filter(|used| reached.insert(*used)));
        }
        reached
    }

    /// The strongly connected components of more than one module.
    fn circles(&self) -> Vec<BTreeSet<String>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.files.keys().map(|module| (module.as_str(), self.reached(module))).collect();
        let circle = |(module, others): (&&str, &BTreeSet<&str>)| -> BTreeSet<String> {
            let back = others.iter().filter(|other| reached.get(**other).is_some_and(|all| all.contains(module)));
            back.map(|other| (*other).to_owned()).collect()
        };
        let circles: BTreeSet<BTreeSet<String>> = reached.iter().map(circle).collect();
        circles.into_iter().filter(|circle| circle.len() > 1).collect()
    }
}

/// What stands before and after each place where a text has a word or path that begins with `start`.
fn after<'s>(source: &'s str, start: &str) -> impl Iterator<Item = (&'s str, &'s str)> {
    let found: Vec<usize> = source.match_indices(start).map(|(at, _)| at).collect();
    let length = start.len();
    let is_begun = |before: &str| before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    found
        .into_iter()
        .map(move |at| (&source[..at], &source[at + length..]))
        .filter(move |(before, _)| !is_begun(before))
}

/// What follows each `super::` that leads to the crate's root, in a file with so many modules around it. An inline module is
/// one more: there, `super::super::a` is what `super::a` is in its file.
fn after_super(source: &str, depth: usize) -> impl Iterator<Item = &str> {
    after(source, "super::").filter(|(before, _)| !before.ends_with("super::")).filter_map(move |(before, rest)| {
        let path = rest.trim_start_matches("super::");
        let ups = 1 + (rest.len() - path.len()) / "super::".len();
        (ups == depth + inline_modules(before)).then_some(path)
    })
}

/// How many modules that stand in the file itself are open after this text.
fn inline_modules(before: &str) -> usize {
    let mut open: Vec<bool> = Vec::new();
    for (at, character) in before.char_indices() {
        match character {
            '{' => open.push(before[..at].trim_end().rsplit([';', '{', '}', ']']).next().is_some_and(declares_module)),
            '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.into_iter().filter(|is_module| *is_module).count()
}

/// Whether an item begins as a module does.
fn declares_module(item: &str) -> bool {
    item.split_whitespace().rev().nth(1) == Some("mod")
}

fn word(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names that a path begins with: one, or those of a list in braces.
fn first_names(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else {
        return vec![word(path)];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !character.is_whitespace() => {
                names.push(word(&list[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// Source text without comments, and with empty literals.
fn code(source: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
        let is_raw = hashes.is_some_and(|hashes| rest[1 + hashes..].starts_with('"')) && !ends_a_word(&out);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = hashes.filter(|_| is_raw) {
            let close = format!("\"{}", "#".repeat(hashes));
            rest[hashes + 2..].find(&close).map_or(rest.len(), |end| hashes + 2 + end + close.len())
        } else if next == '"' {
            quoted(rest, '"')
        } else if next == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            quoted(rest, '\'')
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        rest = &rest[length..];
    }
    out
}

fn ends_a_word(text: &str) -> bool {
    text.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '#')) && !text.ends_with('b')
}

/// The length of a literal with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, character)| {
        let ends = *character == quote && !escaped;
        escaped = *character == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Code without what is compiled for tests only: an item that ends with its braces, or with a semicolon.
fn without_tests(code: &str) -> String {
    let mut parts = code.split("#[cfg(test)]");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut depth = 0;
        let end = part.char_indices().find(|(_, character)| {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(character, '}' | ';')
        });
        out.push_str(end.map_or("", |(at, _)| &part[at + 1..]));
    }
    out
}
