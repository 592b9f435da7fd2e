//! TypeScript and Python: the files that a file imports.

use crate::graph::{Graph, Path};

/// Returns the graph of TypeScript modules. Type-only imports count.
pub(crate) fn typescript(files: &[(String, String)]) -> Graph {
    graph(files, ".ts", |file, text| {
        let folder: Vec<&str> = file.split('/').collect();
        let folder = &folder[..folder.len() - 1];
        // A string that begins with a dot and follows `from` or `import`.
        let literals = text.match_indices(['"', '\'']).filter_map(|(at, _)| {
            let before = text[..at].trim_end_matches(['(', ' ']);
            let path = text[at + 1..].split(['"', '\'', '\n']).next()?;
            let is_import = before.ends_with("from") || before.ends_with("import");
            (is_import && path.starts_with('.')).then_some(path)
        });
        literals.map(|path| relative(folder, path.trim_end_matches(".js"))).collect()
    })
}

/// Returns the graph of Python modules. Imports inside functions and type-only imports count.
pub(crate) fn python(files: &[(String, String)]) -> Graph {
    let known: Vec<Path> = files.iter().map(|(name, _)| module_of(name, ".py")).collect();
    graph(files, ".py", |file, text| {
        let package: Vec<&str> = file.split('/').collect();
        let package = &package[..package.len() - 1];
        let mut used = Vec::new();
        // A list of names in parentheses is one statement.
        let mut rest = text;
        while let Some(line) = rest.lines().next() {
            let statement = line.trim_start();
            let end = match line.find('(') {
                Some(_) if statement.starts_with("from ") => rest.find(')').map_or(rest.len(), |end| end + 1),
                _ => line.len(),
            };
            let statement = rest[..end].trim_start();
            let (from, names) = match statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
                Some((from, names)) => (from.trim(), names),
                None => (statement.strip_prefix("import ").unwrap_or_default(), ""),
            };
            let from = from.split([' ', ',']).next().unwrap_or_default();
            let name = from.trim_start_matches('.');
            let mut base = match from.len() - name.len() {
                0 => Path::new(),
                dots => {
                    package[..(package.len() + 1).saturating_sub(dots)].iter().map(|&name| name.to_owned()).collect()
                }
            };
            base.extend(name.split('.').filter(|name| !name.is_empty()).map(str::to_owned));
            // `from . import a, b` names modules.
            let names = names.split([',', '(', ')', '\n']).filter_map(|name| name.split_whitespace().next());
            let modules = names.map(|name| [base.clone(), vec![name.to_owned()]].concat());
            used.extend(modules.chain([base.clone()]).filter(|module| known.contains(module)));
            rest = rest[end..].split_once('\n').map_or("", |(_, rest)| rest);
        }
        used
    })
}

fn graph(files: &[(String, String)], extension: &str, used: impl Fn(&str, &str) -> Vec<Path>) -> Graph {
    let mut graph = Graph::default();
    for (file, text) in files {
        graph.add_file(file);
        for to in used(file, text) {
            graph.add(file, &module_of(file, extension), &to);
        }
    }
    graph
}

/// Returns the module of a file. The file that initialises a package is a separate module in the package, because other
/// modules import it by its name.
fn module_of(file: &str, extension: &str) -> Path {
    file.trim_end_matches(extension).trim_end_matches("/__init__").split('/').map(str::to_owned).collect()
}

/// Returns the module to which a relative path leads.
fn relative(folder: &[&str], path: &str) -> Path {
    let mut module: Path = folder.iter().map(|&name| name.to_owned()).collect();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => drop(module.pop()),
            name => module.push(name.to_owned()),
        }
    }
    module
}

#[test]
fn imports_are_found_however_they_are_written() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let graph = typescript(&[
        file("a.ts", "import { b } from \"./b.js\";\nimport type { T } from './x';"),
        file("b.ts", "export {\n  c,\n} from \"./c.js\";"),
        file("c.ts", "const a = await import(\"./a.js\");"),
        file("d.ts", "import \"./a.js\";"),
    ]);
    let circles: Vec<_> = graph.circles();
    assert_eq!(circles.iter().map(|circle| circle.modules().1).collect::<Vec<_>>(), [["a", "b", "c"]]);
    let graph = python(&[
        file("p/__init__.py", "from ._a import x"),
        file("p/_a.py", "from . import (\n    _b,\n    other,\n)"),
        file("p/_b.py", "def f():\n    from ._c import y"),
        file("p/_c.py", "if TYPE_CHECKING:\n    from p._a import x"),
        file("p/_d.py", "import p._a"),
    ]);
    let circles: Vec<_> = graph.circles();
    assert_eq!(
        circles.iter().map(|circle| circle.modules()).collect::<Vec<_>>(),
        [("p".to_owned(), vec!["_a", "_b", "_c"])]
    );
}
