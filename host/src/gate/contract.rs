//! Contracts on disk: `NAME.contract.json`, and the schemas that it references by relative paths.

use std::{
    borrow::Cow,
    fmt, io,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::references::{self, FileError, FileErrorKind, files, text};
use crate::{
    file::{MAX_FILE, read_named, read_regular},
    types::Span,
};

/// Reads one contract, and inserts the schemas that it references by path. The result is one complete document for
/// [`Gate::register`](crate::Gate::register). A text that is not a contract comes back unchanged, and `register`
/// rejects it.
///
/// A path must name a regular file in the contract's own folder or below. Neither `..` nor a link may lead out of it.
/// The contract itself may be a pipe. Each file may have up to 8 MiB, and all of them together up to 32 MiB.
///
/// ```no_run
/// let mut gate = seamgate::Gate::new()?;
/// gate.register(&seamgate::read_contract("triage.contract.json".as_ref())?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A file cannot be read, is too large or is not UTF-8, or a path names no regular file in the folder.
pub fn read_contract(path: &Path) -> Result<String, FileError> {
    ContractSource::read(path).map(|source| source.text)
}

/// Reads every `NAME.contract.json` in a folder, sorted by name. Each must be a regular file, or a link to one.
///
/// ```no_run
/// let mut gate = seamgate::Gate::new()?;
/// for (_path, contract) in seamgate::read_contracts("contracts".as_ref())? {
///     gate.register(&contract)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`read_contract`]; or the folder has no such file.
pub fn read_contracts(folder: &Path) -> Result<Vec<(PathBuf, String)>, FileError> {
    let read = |path: PathBuf| ContractSource::read_regular(&path).map(|source| (path, source.text));
    contract_files(folder)?.into_iter().map(read).collect()
}

/// Returns the path of every `NAME.contract.json` in a folder, sorted by name. Does not read the files.
///
/// # Errors
///
/// The folder cannot be read, or has no such file.
pub fn contract_files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let paths = files(folder, "contract").map_err(|kind| FileError::new(folder, kind))?;
    if paths.is_empty() {
        return Err(FileError::new(folder, FileErrorKind::Empty("contract")));
    }
    Ok(paths)
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns a contract that was read from a file, with the schemas that it references inserted.
pub(crate) fn whole(path: &Path, contract: &str) -> Result<String, FileErrorKind> {
    ContractSource::of(path, contract.to_owned()).map(|source| source.text).map_err(|error| error.kind)
}

/// A contract from disk as one complete document, with the schemas that it references by path. Knows which file each
/// piece comes from.
///
/// Faults locate mistakes in the complete document. [`ContractSource::place`] finds the file.
///
/// ```no_run
/// let source = seamgate::ContractSource::read("triage.contract.json".as_ref())?;
/// if let Err(fault) = seamgate::Gate::new()?.register(source.text()) {
///     for violation in fault.violations() {
///         let place = violation.span.and_then(|span| source.place(span));
///         println!("{:?}: {}", place.map(|(path, _, span)| (path, span)), violation.message);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ContractSource {
    text: String,
    files: Vec<(PathBuf, String)>,
    pieces: Vec<SourcePiece>,
}

/// A piece of the complete document, which is a piece of a file.
#[derive(Debug)]
struct SourcePiece {
    at: usize,
    length: usize,
    file: usize,
    from: usize,
}

/// The reason why a schema cannot be read, and, if known, the file, its text and the piece of it that is wrong.
type Unread = (FileErrorKind, Option<(PathBuf, String, Span)>);

impl ContractSource {
    /// Reads one contract, as [`read_contract`] does.
    ///
    /// # Errors
    ///
    /// A file cannot be read, is too large or is not UTF-8, or a path names no regular file in the folder.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::of_bytes(path, read_named(path, MAX_FILE))
    }

    /// Takes a contract whose bytes were already read, such as those of a pipe. Errors name `path`, and schemas are
    /// looked up in its folder.
    ///
    /// # Errors
    ///
    /// The bytes could not be read or are not UTF-8; or the errors of [`ContractSource::read`] for the schemas.
    pub fn of_bytes(path: &Path, bytes: io::Result<Vec<u8>>) -> Result<Self, FileError> {
        let text = text(bytes).map_err(|kind| FileError::new(path, kind))?;
        Self::of(path, text)
    }

    /// Reads one contract of a folder, as [`read_contracts`] does. It must be a regular file or a link to one.
    ///
    /// # Errors
    ///
    /// The errors of [`ContractSource::read`]; or the file is not a regular file.
    pub fn read_regular(path: &Path) -> Result<Self, FileError> {
        let text = text(read_regular(path)).map_err(|kind| FileError::new(path, kind))?;
        Self::of(path, text)
    }

    /// Reads a schema, and creates a contract from it that uses defaults for everything else.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is too large or is not UTF-8, or is not JSON.
    pub fn of_schema(path: &Path, agent: &str) -> Result<Self, FileError> {
        Self::of_schema_bytes(path, agent, read_named(path, MAX_FILE))
    }

    /// Takes a schema whose bytes were already read, such as those of a pipe. Errors name `path`.
    ///
    /// # Errors
    ///
    /// The bytes could not be read or are not UTF-8, or are not JSON.
    pub fn of_schema_bytes(path: &Path, agent: &str, bytes: io::Result<Vec<u8>>) -> Result<Self, FileError> {
        let text = text(bytes).map_err(|kind| FileError::new(path, kind))?;
        let mut source = ContractSource { text: String::new(), files: Vec::new(), pieces: Vec::new() };
        source.text = format!("{{\"agent\":{},\"schema\":", crate::json::json(&agent));
        source.push_schema(path.to_owned(), text).map_err(|(kind, place)| FileError {
            path: path.to_owned(),
            kind,
            place: place.map(Box::new),
        })?;
        source.text.push('}');
        Ok(source)
    }

    /// Returns the contract as one document, for [`Gate::register`](crate::Gate::register).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the file that a piece of the complete document comes from, the content of that file, and the piece in
    /// it.
    pub fn place(&self, span: Span) -> Option<(&Path, &str, Span)> {
        let is_in = |piece: &&SourcePiece| (piece.at..=piece.at + piece.length).contains(&(span.start as usize));
        // A position where one piece ends and the next begins belongs to the next.
        let piece = self.pieces.iter().rfind(is_in)?;
        let (path, text) = &self.files[piece.file];
        let of_file = |at: u32| ((at as usize - piece.at).min(piece.length) + piece.from) as u32;
        Some((path, text, Span { start: of_file(span.start), end: of_file(span.end.max(span.start)) }))
    }

    fn of(path: &Path, contract: String) -> Result<Self, FileError> {
        let named = names(&contract);
        let mut source =
            ContractSource { text: String::new(), files: vec![(path.to_owned(), contract)], pieces: Vec::new() };
        let mut done = 0;
        for (member, file, span) in named {
            source.push(0, done, span.start as usize);
            done = span.end as usize;
            let shown = folder(path).join(&file);
            let read = references::named(folder(path), &file).map_err(|kind| (kind, None));
            read.and_then(|(_, text)| source.push_schema(shown, text)).map_err(|(why, place)| FileError {
                path: path.to_owned(),
                kind: FileErrorKind::Reference { member, file, why: Box::new(why) },
                place: Some(Box::new(place.unwrap_or_else(|| (path.to_owned(), source.files[0].1.clone(), span)))),
            })?;
        }
        let end = source.files[0].1.len();
        source.push(0, done, end);
        references::bounded(source.text.len()).map_err(|kind| FileError::new(path, kind))?;
        Ok(source)
    }

    /// Appends a piece of a file.
    fn push(&mut self, file: usize, from: usize, to: usize) {
        let piece = self.files[file].1.get(from..to).unwrap_or_default();
        self.pieces.push(SourcePiece { at: self.text.len(), length: piece.len(), file, from });
        self.text.push_str(piece);
    }

    /// Appends the JSON of a file.
    fn push_schema(&mut self, path: PathBuf, text: String) -> Result<(), Unread> {
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(json) => {
                let from = json.get().as_ptr().addr() - text.as_ptr().addr();
                let to = from + json.get().len();
                references::bounded(self.text.len() + json.get().len()).map_err(|kind| (kind, None))?;
                self.files.push((path, text));
                self.push(self.files.len() - 1, from, to);
                Ok(())
            }
            Err(error) => {
                let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
                let start: usize = lines.map(str::len).sum();
                let at = (start + error.column().saturating_sub(1)).min(text.len()) as u32;
                Err((error.into(), Some((path, text, Span { start: at, end: at + 1 }))))
            }
        }
    }
}

/// Returns the files that a contract references: the member, the path of the file, and its position in the text. `None`
/// if the contract is not JSON.
fn names(contract: &str) -> Vec<(String, String, Span)> {
    let mut names = Vec::new();
    let mut add = |member: String, value: &RawValue| {
        if let Ok(file) = serde_json::from_str::<String>(value.get()) {
            let start = value.get().as_ptr().addr() - contract.as_ptr().addr();
            names.push((member, file, Span { start: start as u32, end: (start + value.get().len()) as u32 }));
        }
    };
    let members = |text| serde_json::from_str(text).map_or(Vec::new(), |Borrowed(members)| members);
    for (name, value) in members(contract) {
        match &*name {
            "schema" | "jtd" => add(name.into_owned(), value),
            "resources" => {
                members(value.get()).into_iter().for_each(|(uri, value)| add(format!("resources.{uri}"), value))
            }
            _ => {}
        }
    }
    names
}

/// An object's members in the order of the text, each as a slice of it.
struct Borrowed<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Borrowed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Borrowed<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    members.push((name, value));
                }
                Ok(Borrowed(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("seamgate-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
        folder
    }

    /// Returns an error message that includes its sources.
    fn chain(error: &dyn std::error::Error) -> String {
        let texts = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
        texts.collect::<Vec<_>>().join(": ")
    }

    #[test]
    fn schemas_are_put_in_as_they_are_written() {
        let folder = folder(
            "put-in",
            &[
                (
                    "a.contract.json",
                    r#"{"agent":"a","schema":"a.schema.json","resources":{"urn:b":"sub/b.json","urn:c":{}}}"#,
                ),
                ("a.schema.json", "{ \"maximum\": 1.50 }\n"),
                ("sub/b.json", "true"),
            ],
        );
        let expected = r#"{"agent":"a","schema":{ "maximum": 1.50 },"resources":{"urn:b":true,"urn:c":{}}}"#;
        assert_eq!(read_contract(&folder.join("a.contract.json")).expect("a contract"), expected);
        assert_eq!(read_contracts(&folder).expect("a folder").len(), 1);
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let folder = folder("out", &[("secret.json", "{}")]);
        for path in ["../secret.json", "/etc/hostname", "sub/../../x", "", "missing.json"] {
            let contract = folder.join("sub/a.contract.json");
            fs::write(&contract, format!(r#"{{"agent":"a","schema":"{path}"}}"#)).expect("a file");
            let error = chain(&read_contract(&contract).expect_err(path));
            assert!(error.contains("`schema` names"), "{error}");
        }
        #[cfg(unix)]
        {
            let contract = folder.join("sub/a.contract.json");
            std::os::unix::fs::symlink("../secret.json", folder.join("sub/link.json")).expect("a link");
            fs::write(&contract, r#"{"agent":"a","schema":"link.json"}"#).expect("a file");
            let error = chain(&read_contract(&contract).expect_err("a link"));
            assert!(error.ends_with("leads out of the folder of the file that names it"), "{error}");
        }
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn the_component_refuses_a_text_that_is_not_a_contract() {
        let folder = folder("no-contract", &[("a.contract.json", "[1")]);
        assert_eq!(read_contract(&folder.join("a.contract.json")).expect("text"), "[1");
        fs::remove_dir_all(folder).expect("removed");
    }
}
