//! Contracts on disk: `NAME.contract.json`, and the schemas that it names by relative paths.

use std::path::{Path, PathBuf};

use crate::{
    disk::{ErrorKind, FileError, as_it_is, each_member, files, put_in, text},
    file::{MAX_FILE, read_named, read_regular},
};

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
pub fn read_contract(path: &Path) -> Result<String, FileError> {
    let contract = text(read_named(path, MAX_FILE)).and_then(|text| whole(folder(path), &text));
    contract.map_err(|kind| FileError { path: path.to_owned(), kind })
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
pub fn read_contracts(folder: &Path) -> Result<Vec<(PathBuf, String)>, FileError> {
    let fail = |kind| FileError { path: folder.to_owned(), kind };
    let paths = files(folder, "contract").map_err(fail)?;
    if paths.is_empty() {
        return Err(fail(ErrorKind::Empty("contract")));
    }
    let read = |path: PathBuf| match text(read_regular(&path)).and_then(|text| whole(folder, &text)) {
        Ok(contract) => Ok((path, contract)),
        Err(kind) => Err(FileError { path, kind }),
    };
    paths.into_iter().map(read).collect()
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// A contract of a folder, with the schemas that it names.
pub(crate) fn whole(folder: &Path, contract: &str) -> Result<String, ErrorKind> {
    each_member(contract, |name, value| match name {
        "schema" | "jtd" => put_in(folder, name, value, as_it_is),
        "resources" => each_member(value, |uri, resource| put_in(folder, &format!("{name}.{uri}"), resource, as_it_is)),
        _ => Ok(value.to_owned()),
    })
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
