//! Reads documents, and the files that they reference by relative paths.

use std::{
    fmt, fs, io,
    path::{Component, Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{file::read_regular, types::Span};

/// The largest document together with the files that it references, in bytes: four times the largest file.
const MAX_WHOLE: usize = 32 * 1024 * 1024;

/// The reason why a contract or a profile cannot be read from disk. The source says what is wrong with the file.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct FileError {
    pub(crate) path: PathBuf,
    #[source]
    pub(crate) kind: FileErrorKind,
    pub(crate) place: Option<Box<(PathBuf, String, Span)>>,
}

impl FileError {
    pub(crate) fn new(path: &Path, kind: FileErrorKind) -> Self {
        FileError { path: path.to_owned(), kind, place: None }
    }

    /// Returns the file, its content, and the part of it that is wrong, if that is known: a path that leads nowhere, or
    /// the byte at which a schema file stops being JSON.
    pub fn place(&self) -> Option<(&Path, &str, Span)> {
        self.place.as_deref().map(|(path, text, span)| (path.as_path(), text.as_str(), *span))
    }

    /// Returns whether the error is that the folder has no file of the requested kind.
    pub fn is_empty_folder(&self) -> bool {
        matches!(self.kind, FileErrorKind::Empty(_))
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FileErrorKind {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the file is not UTF-8 at byte {0}")]
    Utf8(usize),
    #[error("the file is UTF-16: save it as UTF-8")]
    Utf16,
    #[error("the file is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("the folder has no {0}: name the files NAME.{0}.json")]
    Empty(&'static str),
    #[error("it has more than {MAX_WHOLE} bytes with the files that it names")]
    TooLarge,
    #[error("the path must name a file in the folder of the file that names it")]
    NotInside,
    #[error("the link leads out of the folder of the file that names it")]
    LeadsOut,
    #[error("`{member}` names {file:?}")]
    Reference {
        member: String,
        file: String,
        #[source]
        why: Box<FileErrorKind>,
    },
}

/// Returns the files of one kind in a folder, `NAME.KIND.json`, sorted by name.
pub(crate) fn files(folder: &Path, kind: &'static str) -> Result<Vec<PathBuf>, FileErrorKind> {
    let end = format!(".{kind}.json");
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(&end) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the text of a file, without a byte order mark.
pub(crate) fn text(read: io::Result<Vec<u8>>) -> Result<String, FileErrorKind> {
    let bytes = read?;
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(FileErrorKind::Utf16);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| FileErrorKind::Utf8(error.utf8_error().valid_up_to()))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Rejects a document that is too large together with the files that it references. The document may reference one file
/// many times.
pub(crate) fn bounded(bytes: usize) -> Result<(), FileErrorKind> {
    if bytes > MAX_WHOLE { Err(FileErrorKind::TooLarge) } else { Ok(()) }
}

/// The members of an object in the order of the text, each as JSON text.
pub(crate) struct ObjectMembers<'l>(pub(crate) Vec<(String, &'l RawValue)>);

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectMembers<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(ObjectMembers(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Returns an object with each member rewritten by `write`. Any other value comes back unchanged.
pub(crate) fn each_member(
    object: &str,
    mut write: impl FnMut(&str, &str) -> Result<String, FileErrorKind>,
) -> Result<String, FileErrorKind> {
    let Ok(ObjectMembers(members)) = serde_json::from_str(object) else {
        return Ok(object.to_owned());
    };
    let mut whole = String::from("{");
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            whole.push(',');
        }
        whole.push_str(&crate::json::json(&name));
        whole.push(':');
        whole.push_str(&write(name, value.get())?);
        bounded(whole.len())?;
    }
    whole.push('}');
    Ok(whole)
}

/// Returns a list with each item rewritten by `write`. Any other value comes back unchanged.
pub(crate) fn each_item(
    list: &str,
    mut write: impl FnMut(usize, &str) -> Result<String, FileErrorKind>,
) -> Result<String, FileErrorKind> {
    let Ok(items) = serde_json::from_str::<Vec<Box<RawValue>>>(list) else {
        return Ok(list.to_owned());
    };
    let mut whole = String::from("[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            whole.push(',');
        }
        whole.push_str(&write(index, item.get())?);
        bounded(whole.len())?;
    }
    whole.push(']');
    Ok(whole)
}

/// Returns the value itself, or, if it references a file, the text that `read` makes of that file's content.
pub(crate) fn put_in(
    folder: &Path,
    member: &str,
    value: &str,
    read: impl FnOnce(&Path, &str) -> Result<String, FileErrorKind>,
) -> Result<String, FileErrorKind> {
    let Ok(file) = serde_json::from_str::<String>(value) else {
        return Ok(value.to_owned());
    };
    let fail = |why| FileErrorKind::Reference { member: member.to_owned(), file: file.clone(), why: Box::new(why) };
    let (path, text) = named(folder, &file).map_err(fail)?;
    let json: &RawValue = serde_json::from_str(&text).map_err(|error| fail(error.into()))?;
    read(&path, json.get()).map_err(fail)
}

/// Returns the file that a path in a document of this folder references, and its content.
pub(crate) fn named(folder: &Path, file: &str) -> Result<(PathBuf, String), FileErrorKind> {
    let relative = Path::new(file);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if file.is_empty() || !inside {
        return Err(FileErrorKind::NotInside);
    }
    let canonical = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize()
    };
    let path = canonical(&folder.join(relative))?;
    if !path.starts_with(canonical(folder)?) {
        return Err(FileErrorKind::LeadsOut);
    }
    let text = text(read_regular(&path))?;
    Ok((path, text))
}

/// Returns the file's JSON text unchanged.
pub(crate) fn as_it_is(_: &Path, json: &str) -> Result<String, FileErrorKind> {
    Ok(json.to_owned())
}
