//! Profiles on disk: `NAME.profile.json` with `NAME.lock.json` beside it.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    contract::{folder, whole as whole_contract},
    references::{FileError, FileErrorKind, ObjectMembers, as_it_is, each_item, each_member, files, put_in, text},
    tool_patterns::{is_tool_pattern, matches_tool},
};
use crate::file::{MAX_FILE, read_named, read_regular};

/// Reads one profile, and inserts the files that it references by path and the definitions of its tools from the lock
/// file. The result is one complete document for [`Gate::register_profile`](crate::Gate::register_profile). A text that
/// is not a profile comes back unchanged, and `register_profile` rejects it.
///
/// The lock file of `NAME.profile.json` is `NAME.lock.json` in the same folder (`schemas/lock.schema.json`). If the
/// file is missing or lacks a tool, that tool has no definition, and [`Gate::lint_profile`](crate::Gate::lint_profile)
/// reports that. The rules of [`read_contract`](crate::read_contract) apply to paths and sizes.
///
/// ```no_run
/// let mut gate = seamgate::Gate::new()?;
/// gate.register_profile(&seamgate::read_profile("sre.profile.json".as_ref())?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A file cannot be read, is too large or is not UTF-8; a path names no regular file in the folder; or the lock file is
/// invalid.
pub fn read_profile(path: &Path) -> Result<String, FileError> {
    read_by(path, read_named(path, MAX_FILE))
}

/// Reads every `NAME.profile.json` in a folder, sorted by name. The folder may have none.
///
/// # Errors
///
/// The errors of [`read_profile`].
pub fn read_profiles(folder: &Path) -> Result<Vec<(PathBuf, String)>, FileError> {
    let paths = profile_files(folder)?;
    let read = |path: PathBuf| read_by(&path, read_regular(&path)).map(|profile| (path, profile));
    paths.into_iter().map(read).collect()
}

/// Returns the path of every `NAME.profile.json` in a folder, sorted by name. The folder may have none. Does not read
/// the files.
///
/// # Errors
///
/// The folder cannot be read.
pub fn profile_files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    files(folder, "profile").map_err(|kind| FileError::new(folder, kind))
}

fn read_by(path: &Path, read: io::Result<Vec<u8>>) -> Result<String, FileError> {
    let profile = text(read).map_err(|kind| FileError::new(path, kind))?;
    let lock = lock(path)?;
    whole(folder(path), &profile, &lock).map_err(|kind| FileError::new(path, kind))
}

/// The tool definitions that servers listed when a person last checked them, by server. The host's own tools are under
/// the empty name.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    servers: BTreeMap<String, Server>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    tools: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct NamedTool {
    #[serde(default)]
    name: String,
    #[serde(default)]
    server: String,
}

/// Returns the content of the lock file beside a profile, if there is one.
fn lock(profile: &Path) -> Result<Lock, FileError> {
    let name = profile.file_name().unwrap_or_default().to_string_lossy();
    let Some(name) = name.strip_suffix(".profile.json") else {
        return Ok(Lock::default());
    };
    let path = profile.with_file_name(format!("{name}.lock.json"));
    let read = match read_regular(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::default()),
        read => text(read).and_then(|text| Ok(serde_json::from_str(&text)?)),
    };
    read.map_err(|kind| FileError::new(&path, kind))
}

impl Lock {
    /// Returns the definition of a tool as it was listed.
    fn definition(&self, tool: &str) -> Option<&str> {
        let NamedTool { name, server } = serde_json::from_str(tool).ok()?;
        self.matching(&server, &name).next()
    }

    /// Returns the definitions of the tools that a pattern matches, as a list.
    fn definitions(&self, tool: &str) -> Option<String> {
        let NamedTool { name, server } = serde_json::from_str(tool).ok()?;
        is_tool_pattern(&name).then(|| format!("[{}]", self.matching(&server, &name).collect::<Vec<_>>().join(",")))
    }

    fn matching(&self, server: &str, pattern: &str) -> impl Iterator<Item = &str> {
        let definitions = self.servers.get(server).into_iter().flat_map(|server| &server.tools).map(|tool| tool.get());
        definitions.filter(move |definition| {
            serde_json::from_str(definition).is_ok_and(|named: NamedTool| matches_tool(pattern, &named.name))
        })
    }
}

fn whole(folder: &Path, profile: &str, lock: &Lock) -> Result<String, FileErrorKind> {
    let schema = |place: &str, value: &str| put_in(folder, place, value, as_it_is);
    each_member(profile, |name, value| match name {
        "task" => each_member(value, |name, value| match name {
            "schema" => schema("task.schema", value),
            _ => Ok(value.to_owned()),
        }),
        "context" => each_item(value, |index, source| {
            each_member(source, |name, value| match name {
                "schema" => schema(&format!("context[{index}].schema"), value),
                _ => Ok(value.to_owned()),
            })
        }),
        "final" => each_member(value, |name, value| match name {
            "contract" => put_in(folder, "final.contract", value, whole_contract),
            _ => Ok(value.to_owned()),
        }),
        "tools" => each_item(value, |index, tool| whole_tool(folder, index, tool, lock)),
        _ => Ok(value.to_owned()),
    })
}

fn whole_tool(folder: &Path, index: usize, tool: &str, lock: &Lock) -> Result<String, FileErrorKind> {
    let schema = |member: &str, value: &str| put_in(folder, &format!("tools[{index}].{member}"), value, as_it_is);
    let mut whole = each_member(tool, |name, value| match name {
        "arguments" => schema("arguments", value),
        "result" => each_member(value, |name, value| match name {
            "schema" => schema("result.schema", value),
            _ => Ok(value.to_owned()),
        }),
        _ => Ok(value.to_owned()),
    })?;
    let Ok(ObjectMembers(members)) = serde_json::from_str(tool) else {
        return Ok(whole);
    };
    let has_own = members.iter().any(|(name, _)| name == "definition" || name == "definitions");
    if has_own {
        return Ok(whole);
    }
    if let Some(definitions) = lock.definitions(tool) {
        whole.insert_str(1, &format!("\"definitions\":{definitions},"));
    } else if let Some(definition) = lock.definition(tool) {
        whole.insert_str(1, &format!("\"definition\":{definition},"));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_profile_becomes_whole() {
        let folder = std::env::temp_dir().join(format!("seamgate-profile-{}", std::process::id()));
        fs::create_dir_all(folder.join("contracts")).expect("a folder");
        for (name, text) in [
            (
                "a.profile.json",
                r#"{"agent":"a","final":{"contract":"contracts/a.contract.json"},"tools":[
                   {"name":"t","server":"s","effect":"read","arguments":"t.schema.json"},{"name":"own","effect":"read"}]}"#,
            ),
            ("a.lock.json", r#"{"servers":{"s":{"tools":[{"name":"u"},{"name":"t","x": 1.50}]}}}"#),
            ("t.schema.json", "{ \"maxProperties\": 1 }\n"),
            ("contracts/a.contract.json", r#"{"agent":"a","schema":"s.json"}"#),
            ("contracts/s.json", "true"),
        ] {
            fs::write(folder.join(name), text).expect("a file");
        }
        let expected = concat!(
            r#"{"agent":"a","final":{"contract":{"agent":"a","schema":true}},"tools":["#,
            r#"{"definition":{"name":"t","x": 1.50},"name":"t","server":"s","effect":"read","arguments":{ "maxProperties": 1 }},"#,
            r#"{"name":"own","effect":"read"}]}"#
        );
        assert_eq!(read_profile(&folder.join("a.profile.json")).expect("a profile"), expected);
        assert_eq!(read_profiles(&folder).expect("a folder").len(), 1);
        fs::write(folder.join("a.lock.json"), "[]").expect("a file");
        let error = read_profile(&folder.join("a.profile.json")).expect_err("no lock file");
        assert!(error.to_string().contains("a.lock.json"), "{error}");
        fs::remove_dir_all(folder).expect("removed");
    }
}
