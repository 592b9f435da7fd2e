//! Contracts on disk: `NAME.contract.json`, and the schemas that it names by relative paths.

use std::{
    fmt, fs, io,
    path::{Component, Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::file::{MAX_FILE, read_named, read_regular};

/// The longest contract with the files that it names, in bytes.
const MAX_WHOLE: usize = 4 * MAX_FILE;

/// Why a contract could not be read from disk. The source says what is wrong with the file.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct ContractError {
    path: PathBuf,
    #[source]
    kind: ErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum ErrorKind {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is not UTF-8 at byte {0}")]
    Utf8(usize),
    #[error("the file is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("the folder has no contract: name the files NAME.contract.json")]
    Empty,
    #[error("the contract has more than {MAX_WHOLE} bytes with the files that it names")]
    TooLarge,
    #[error("the path must name a file in the contract's folder")]
    NotInside,
    #[error("the link leads out of the contract's folder")]
    LeadsOut,
    #[error("`{member}` names {file:?}")]
    Reference {
        member: String,
        file: String,
        #[source]
        why: Box<ErrorKind>,
    },
}

/// Read one contract, and put in the schemas that it names by path. The result is one whole document for
/// [`Gate::register`](crate::Gate::register). A text that is not a contract comes back unchanged, and `register` refuses it.
///
/// A path must name a regular file in the contract's own folder or below. Neither `..` nor a link may lead out of it. The
/// contract itself may be a pipe. Each file may have 8 MiB, and all of them together 32 MiB.
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
pub fn read_contract(path: &Path) -> Result<String, ContractError> {
    whole(path, read_named(path, MAX_FILE))
}

/// A contract that was read from `path`, with the schemas that it names.
fn whole(path: &Path, read: io::Result<Vec<u8>>) -> Result<String, ContractError> {
    let fail = |kind| ContractError { path: path.to_owned(), kind };
    let text = text(read).map_err(fail)?;
    let Ok(Members(members)) = serde_json::from_str(&text) else {
        return Ok(text);
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut whole = String::from("{");
    for (index, (name, value)) in members.iter().enumerate() {
        let value = match name.as_str() {
            "schema" | "jtd" => put_in(folder, name, value).map_err(fail)?,
            "resources" => put_in_each(folder, name, value).map_err(fail)?,
            _ => value.get().to_owned(),
        };
        push_member(&mut whole, index, name, &value);
        bounded(whole.len()).map_err(fail)?;
    }
    whole.push('}');
    Ok(whole)
}

/// Read every `NAME.contract.json` in a folder, in the order of their names. Each must be a regular file, or a link to one.
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
pub fn read_contracts(folder: &Path) -> Result<Vec<(PathBuf, String)>, ContractError> {
    let fail = |kind| ContractError { path: folder.to_owned(), kind };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| fail(error.into()))? {
        let path = entry.map_err(|error| fail(error.into()))?.path();
        if path.to_string_lossy().ends_with(".contract.json") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(fail(ErrorKind::Empty));
    }
    paths.into_iter().map(|path| whole(&path, read_regular(&path)).map(|contract| (path, contract))).collect()
}

fn text(read: io::Result<Vec<u8>>) -> Result<String, ErrorKind> {
    String::from_utf8(read?).map_err(|error| ErrorKind::Utf8(error.utf8_error().valid_up_to()))
}

/// Refuse a contract that is too large with the files that it names: it may name one file many times.
fn bounded(bytes: usize) -> Result<(), ErrorKind> {
    if bytes > MAX_WHOLE { Err(ErrorKind::TooLarge) } else { Ok(()) }
}

/// The members of an object in the order of the text, each as its JSON text.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

fn push_member(out: &mut String, index: usize, name: &str, value: &str) {
    if index > 0 {
        out.push(',');
    }
    out.push_str(&crate::json::json(&name));
    out.push(':');
    out.push_str(value);
}

/// A schema, or the content of the file that it names.
fn put_in(folder: &Path, member: &str, value: &RawValue) -> Result<String, ErrorKind> {
    let Ok(file) = serde_json::from_str::<String>(value.get()) else {
        return Ok(value.get().to_owned());
    };
    let fail = |why| ErrorKind::Reference { member: member.to_owned(), file: file.clone(), why: Box::new(why) };
    let relative = Path::new(&file);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if file.is_empty() || !inside {
        return Err(fail(ErrorKind::NotInside));
    }
    let canonical = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize().map_err(|error| fail(error.into()))
    };
    let path = canonical(&folder.join(relative))?;
    if !path.starts_with(canonical(folder)?) {
        return Err(fail(ErrorKind::LeadsOut));
    }
    let text = text(read_regular(&path)).map_err(fail)?;
    let schema: &RawValue =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| fail(error.into()))?;
    Ok(schema.get().to_owned())
}

/// The same for each member of an object.
fn put_in_each(folder: &Path, member: &str, value: &RawValue) -> Result<String, ErrorKind> {
    let Ok(Members(members)) = serde_json::from_str(value.get()) else {
        return Ok(value.get().to_owned());
    };
    let mut whole = String::from("{");
    for (index, (name, value)) in members.iter().enumerate() {
        let value = put_in(folder, &format!("{member}.{name}"), value)?;
        push_member(&mut whole, index, name, &value);
        bounded(whole.len())?;
    }
    whole.push('}');
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("seamgate-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).expect("a folder");
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
        folder
    }

    /// An error with its sources.
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
            assert!(error.ends_with("leads out of the contract's folder"), "{error}");
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
