//! A tree of modules, and the uses between them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// The path of a module: the names from the root to it.
pub(crate) type Path = Vec<String>;

/// The uses between the modules of a tree.
#[derive(Default)]
pub(crate) struct Graph {
    files: BTreeSet<String>,
    /// For each folder: a module in it, another module in it that the first one uses, and the files with these uses.
    uses: BTreeMap<Path, BTreeMap<(String, String), BTreeSet<String>>>,
}

/// Modules of one folder that use each other.
pub(crate) struct Circle {
    folder: Path,
    modules: BTreeSet<String>,
    uses: Vec<(String, String, Vec<String>)>,
}

impl Graph {
    pub(crate) fn add_file(&mut self, file: &str) {
        self.files.insert(file.to_owned());
    }

    /// Adds that a module uses another one. Uses between a module and one that encloses it belong to no folder.
    pub(crate) fn add(&mut self, file: &str, from: &[String], to: &[String]) {
        let shared = from.iter().zip(to).take_while(|(one, other)| one == other).count();
        if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
            self.add_between(file, &from[..shared], one, other);
        }
    }

    /// Adds that a module of a folder uses another module of the same folder.
    pub(crate) fn add_between(&mut self, file: &str, folder: &[String], from: &str, to: &str) {
        let uses = self.uses.entry(folder.to_vec()).or_default();
        uses.entry((from.to_owned(), to.to_owned())).or_default().insert(file.to_owned());
    }

    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn folders(&self) -> usize {
        self.uses.len()
    }

    /// Returns the modules of each folder that use each other: the strongly connected components with more than one
    /// module.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        self.uses.iter().flat_map(|(folder, uses)| circles(folder, uses)).collect()
    }
}

fn circles(folder: &Path, uses: &BTreeMap<(String, String), BTreeSet<String>>) -> Vec<Circle> {
    let modules: BTreeSet<&str> = uses.keys().flat_map(|(from, to)| [from.as_str(), to.as_str()]).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        modules.iter().map(|module| (*module, reached(module, uses))).collect();
    let circle = |module: &str| -> BTreeSet<String> {
        let back = reached[module].iter().filter(|other| reached[*other].contains(module));
        back.map(|other| (*other).to_owned()).collect()
    };
    let circles: BTreeSet<BTreeSet<String>> = modules.iter().map(|module| circle(module)).collect();
    let circles = circles.into_iter().filter(|circle| circle.len() > 1);
    circles
        .map(|modules| {
            let inside = uses.iter().filter(|((from, to), _)| modules.contains(from) && modules.contains(to));
            let uses =
                inside.map(|((from, to), files)| (from.clone(), to.clone(), files.iter().cloned().collect())).collect();
            Circle { folder: folder.clone(), modules, uses }
        })
        .collect()
}

/// Returns all modules that a module uses, directly or through others.
fn reached<'u>(from: &'u str, uses: &'u BTreeMap<(String, String), BTreeSet<String>>) -> BTreeSet<&'u str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(from) = left.pop() {
        let next = uses.keys().filter(|(user, _)| user == from).map(|(_, used)| used.as_str());
        left.extend(next.filter(|used| reached.insert(*used)));
    }
    reached
}

impl Circle {
    /// Returns the path of the folder from the root.
    pub(crate) fn folder(&self) -> String {
        self.folder.join("/")
    }

    #[cfg(test)]
    pub(crate) fn modules(&self) -> (String, Vec<&str>) {
        (self.folder(), self.modules.iter().map(String::as_str).collect())
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modules: Vec<&str> = self.modules.iter().map(String::as_str).collect();
        writeln!(f, "a circle in /{}: {}", self.folder.join("/"), modules.join(", "))?;
        for (from, to, files) in &self.uses {
            writeln!(f, "    {from} uses {to}: {}", files.join(", "))?;
        }
        Ok(())
    }
}
