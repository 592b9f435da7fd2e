//! Rust: the modules to which the paths in a file lead.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, File, Ident, Item, ItemUse, Macro, Path as RustPath, UseTree,
    visit::{self, Visit},
};

use crate::graph::{Graph, Path};

/// The name of a crate's root among its modules.
const ROOT: &str = "(root)";

/// Returns the module graph of a crate, from its files.
///
/// If `holds_root` is set, no module may use a declaration of the root.
pub(crate) fn graph<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>, holds_root: bool) -> Graph {
    let files: Vec<_> = files.into_iter().collect();
    // A program beside a library uses the library like any other crate.
    let has_library = files.iter().any(|(name, _)| *name == "lib.rs");
    let files = files.into_iter().filter(|(name, _)| !(has_library && *name == "main.rs"));
    let parsed = files.map(|(name, text)| {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, module_of(name), file)
    });
    let tree = Tree::of(parsed.collect());
    let mut graph = Graph::default();
    for (name, module, file) in &tree.files {
        if !tree.is_compiled(module) {
            continue;
        }
        graph.add_file(name);
        for path in paths(file) {
            let Some(to) = tree.resolve(module, &path) else { continue };
            graph.add(name, module, &to);
            // The root uses all other modules.
            if let (true, Some(top)) = (holds_root && to.is_empty(), module.first()) {
                graph.add_between(name, &[], top, ROOT);
            }
        }
        if module.is_empty() {
            let children = tree.modules.keys().filter(|module| module.len() == 1);
            children.for_each(|child| graph.add_between(name, &[], ROOT, &child[0]));
        }
    }
    graph
}

/// Returns `a/b` for `a/b.rs` and for `a/b/mod.rs`, and an empty path for the root.
fn module_of(file: &str) -> Path {
    let name = file.trim_end_matches(".rs");
    let name = name.strip_suffix("/mod").unwrap_or(name);
    match name {
        "lib" | "main" => Path::new(),
        name => name.split('/').map(str::to_owned).collect(),
    }
}

/// The names in a module.
#[derive(Default)]
struct Names {
    /// The names that the module declares itself.
    own: BTreeSet<String>,
    /// The names that the module imports with `use`, with their paths.
    used: BTreeMap<String, Path>,
    /// The modules that the module imports with `use …::*`.
    all_of: Vec<Path>,
}

/// The modules of a crate.
struct Tree<'f> {
    files: Vec<(&'f str, Path, File)>,
    modules: BTreeMap<Path, Names>,
}

impl<'f> Tree<'f> {
    fn of(files: Vec<(&'f str, Path, File)>) -> Self {
        let mut modules: BTreeMap<Path, Names> = BTreeMap::new();
        for (_, module, file) in &files {
            let mut names = Names::default();
            for item in file.items.iter().filter(|item| !is_for_tests(attributes(item))) {
                match item {
                    Item::Use(used) => {
                        for (path, name) in tree_of(used) {
                            match name {
                                Some(name) => drop(names.used.insert(name, path)),
                                None => names.all_of.push(path),
                            }
                        }
                    }
                    item => names.own.extend(name_of(item)),
                }
            }
            modules.insert(module.clone(), names);
        }
        Tree { files, modules }
    }

    /// Returns whether a file is a module that is compiled outside tests.
    fn is_compiled(&self, module: &Path) -> bool {
        let mut around = module.clone();
        while let Some(name) = around.pop() {
            if !self.modules.get(&around).is_some_and(|names| names.own.contains(&name)) {
                return false;
            }
        }
        true
    }

    /// Returns the module that declares the target of a path. Returns `None` if the path leads out of the crate.
    fn resolve(&self, from: &Path, path: &[String]) -> Option<Path> {
        self.resolve_within(from, path, 0)
    }

    fn resolve_within(&self, from: &Path, path: &[String], level: usize) -> Option<Path> {
        // Imports can be circular.
        if level > 16 {
            return None;
        }
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => return self.descend(&Path::new(), rest, level),
            "self" => return self.descend(from, rest, level),
            "super" => from.clone(),
            name => {
                let names = self.modules.get(from)?;
                let is_child = self.modules.contains_key(&child(from, name));
                return (is_child || names.used.contains_key(name)).then(|| self.descend(from, path, level))?;
            }
        };
        at.pop()?;
        let ups = rest.iter().take_while(|name| *name == "super").count();
        for _ in 0..ups {
            at.pop()?;
        }
        self.descend(&at, &rest[ups..], level)
    }

    fn descend(&self, at: &Path, path: &[String], level: usize) -> Option<Path> {
        let Some((name, rest)) = path.split_first() else { return Some(at.clone()) };
        let inside = child(at, name);
        if self.modules.contains_key(&inside) {
            return self.descend(&inside, rest, level);
        }
        let names = self.modules.get(at)?;
        if names.own.contains(name) {
            return Some(at.clone());
        }
        if let Some(used) = names.used.get(name) {
            // A name from another crate counts as declared in this module.
            let whole = [used.clone(), rest.to_vec()].concat();
            return Some(self.resolve_within(at, &whole, level + 1).unwrap_or_else(|| at.clone()));
        }
        let declares = |module: &Path| {
            self.modules.get(module).is_some_and(|names| names.own.contains(name) || names.used.contains_key(name))
        };
        let mut all_of = names.all_of.iter().filter_map(|path| self.resolve_within(at, path, level + 1));
        all_of.find(declares).and_then(|module| self.descend(&module, path, level + 1)).or_else(|| Some(at.clone()))
    }
}

fn child(module: &Path, name: &str) -> Path {
    [module.clone(), vec![name.to_owned()]].concat()
}

/// Returns the paths of a `use`, each with the name that it declares, or with `None` for `*`.
fn tree_of(item: &ItemUse) -> Vec<(Path, Option<String>)> {
    fn walk(tree: &UseTree, before: &Path, found: &mut Vec<(Path, Option<String>)>) {
        match tree {
            UseTree::Path(path) => walk(&path.tree, &child(before, &path.ident.to_string()), found),
            UseTree::Name(name) if name.ident == "self" => found.push((before.clone(), before.last().cloned())),
            UseTree::Name(name) => found.push((child(before, &name.ident.to_string()), Some(name.ident.to_string()))),
            UseTree::Rename(rename) => {
                let path = match rename.ident == "self" {
                    true => before.clone(),
                    false => child(before, &rename.ident.to_string()),
                };
                found.push((path, Some(rename.rename.to_string())));
            }
            UseTree::Glob(_) => found.push((before.clone(), None)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, before, found)),
        }
    }
    let mut found = Vec::new();
    walk(&item.tree, &Path::new(), &mut found);
    found
}

/// Returns the paths in a file, except for those in its tests.
fn paths(file: &File) -> BTreeSet<Path> {
    let mut found = Paths { inline: 0, found: BTreeSet::new() };
    found.visit_file(file);
    found.found
}

struct Paths {
    /// The number of inline modules around the current position.
    inline: usize,
    found: BTreeSet<Path>,
}

impl Paths {
    /// Adds a path, relative to the module of the file.
    fn add(&mut self, mut path: Path) {
        let ups = path.iter().take_while(|name| *name == "super").count().min(self.inline);
        if self.inline > ups && !matches!(path.first().map(String::as_str), Some("crate" | "super")) {
            return;
        }
        path.drain(..ups);
        if path.len() > usize::from(ups == 0 && self.inline == 0 && path.first().is_some_and(|name| name == "self")) {
            self.found.insert(path);
        }
    }

    /// Adds the paths in the arguments of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        let mut goes_on = false;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if !goes_on {
                        self.end(&mut path);
                    }
                    path.push(name.to_string());
                    goes_on = false;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    colons += 1;
                    goes_on = colons == 2;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.add_tokens(group.stream());
                    goes_on = false;
                }
                _ => {
                    self.end(&mut path);
                    goes_on = false;
                }
            }
            colons = 0;
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Path) {
        if path.len() > 1 {
            self.add(std::mem::take(path));
        }
        path.clear();
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        if let Item::Mod(module) = item {
            self.inline += usize::from(module.content.is_some());
            visit::visit_item(self, item);
            self.inline -= usize::from(module.content.is_some());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    // `pub(crate)` does not count as a use.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        tree_of(item).into_iter().for_each(|(path, _)| self.add(path));
    }

    fn visit_path(&mut self, path: &'ast RustPath) {
        if path.leading_colon.is_none() {
            self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.add_tokens(item.tokens.clone());
    }
}

/// Returns whether an item is compiled only for tests.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    parts(item).0
}

fn name_of(item: &Item) -> Option<String> {
    parts(item).1.map(ToString::to_string)
}

/// Returns the attributes of an item, and the name that it declares.
fn parts(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, Some(&item.ident)),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

#[test]
fn a_circle_is_found_however_a_module_is_named() {
    let found = graph(
        [
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e; mod f; pub use b::B; fn own() {}"),
            ("a.rs", "use crate::{c::{b, d}, B}; // crate::d\n#[cfg(test)] mod tests { use crate::d; }"),
            (
                "b.rs",
                "pub struct B; fn f() -> &'static str { let _ = ('\"', b'{'); assert!(super::c::f()); \"crate::d\" }",
            ),
            ("c/mod.rs", "mod inner; pub fn f() -> bool { true }"),
            ("c/inner.rs", "use super::super::a::f as d;"),
            ("d.rs", "fn f() { crate::a::f(); r#\" \" crate::d \"#; }\n#[cfg(test)]\nmod tests;"),
            ("d/tests.rs", "use crate::d;"),
            ("e.rs", "mod os { use super::f; } mod deep { mod er { use super::super::super::a; } } fn f() {}"),
            ("f.rs", "mod os { use super::super::e; }"),
        ],
        true,
    );
    let circles = found.circles();
    let modules = |circles: &[crate::graph::Circle]| -> Vec<(String, Vec<String>)> {
        let owned = |(folder, names): (String, Vec<&str>)| (folder, names.into_iter().map(str::to_owned).collect());
        circles.iter().map(|circle| owned(circle.modules())).collect()
    };
    assert_eq!(modules(&circles), [(String::new(), ["a", "b", "c"].map(str::to_owned).to_vec())]);
    let own = graph([("main.rs", "mod a; const MAX: u32 = 1;"), ("a.rs", "use crate::MAX;")], true);
    assert_eq!(modules(&own.circles()), [(String::new(), [ROOT, "a"].map(str::to_owned).to_vec())]);
    // In a folder, a module may use declarations of the modules around it, and its siblings must also form layers.
    let inner = graph(
        [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; mod c; mod d; pub use c::C; pub const MAX: u32 = 1; fn f() { b::f() }"),
            ("a/b.rs", "use super::{MAX, C}; pub fn f() {}"),
            ("a/c.rs", "pub struct C; fn f() { crate::a::b::f() }"),
            ("a/d/mod.rs", "mod e; fn f() { e::f(); super::c::C; }"),
            ("a/d/e.rs", "pub fn f() { super::super::b::f() }"),
        ],
        false,
    );
    assert_eq!(modules(&inner.circles()), [("a".to_owned(), ["b", "c"].map(str::to_owned).to_vec())]);
}
