//! A profile as a run registered it. The run keeps a copy, so that it continues with the same profile after the file
//! has changed.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use seamgate::{FileError, read_profile};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::value::RawValue;

/// The file of a profile, and, once the profile is registered, the run's copy of the complete document.
#[derive(Clone, Serialize)]
pub struct ProfileCopy {
    /// The file, as an absolute path.
    pub path: PathBuf,
    /// The complete document, with the files that it references by path and the definitions of its tools.
    #[serde(skip_serializing_if = "has_none", serialize_with = "write")]
    document: OnceLock<Box<RawValue>>,
}

fn has_none(document: &OnceLock<Box<RawValue>>) -> bool {
    document.get().is_none()
}

fn write<S: Serializer>(document: &OnceLock<Box<RawValue>>, serializer: S) -> Result<S::Ok, S::Error> {
    document.get().serialize(serializer)
}

impl ProfileCopy {
    /// Creates an entry for a file that is not copied yet.
    pub(super) fn of(path: PathBuf) -> Self {
        ProfileCopy { path, document: OnceLock::new() }
    }

    /// Returns the complete document. `None` if there is no copy.
    pub fn document(&self) -> Option<&str> {
        self.document.get().map(|document| document.get())
    }

    /// Returns the copy. If there is none, returns the text that `read` returns.
    pub(super) fn text(
        &self,
        read: impl FnOnce(&Path) -> Result<String, FileError>,
    ) -> Result<Cow<'_, str>, FileError> {
        match self.document.get() {
            Some(copy) => Ok(Cow::Borrowed(copy.get())),
            None => read(&self.path).map(Cow::Owned),
        }
    }

    /// Keeps a copy of the complete document, unless there is one.
    pub(super) fn keep(&self, text: Cow<str>) -> serde_json::Result<()> {
        if let Cow::Owned(text) = text {
            let document = RawValue::from_string(text)?;
            // Another thread may have copied it.
            let _ = self.document.set(document);
        }
        Ok(())
    }

    /// Compares the file with the copy. Describes how they differ, as the end of a sentence about the file. Returns
    /// `None` if they are equal, or if there is nothing to compare because the file was a pipe or there is no copy.
    pub fn difference(&self) -> Option<String> {
        let copy = self.document.get()?;
        if self.path.exists() && !self.path.is_file() {
            return None;
        }
        match read_profile(&self.path) {
            Ok(text) if text.trim() == copy.get() => None,
            Ok(_) => Some("has changed since the run began".to_owned()),
            Err(error) => Some(format!("cannot be used any more ({error})")),
        }
    }
}

impl<'de> Deserialize<'de> for ProfileCopy {
    /// Deserializes a file and its copy. The first version of plans has only the path.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Copy {
            path: PathBuf,
            document: Option<Box<RawValue>>,
        }
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let Copy { path, document } = match json.get().starts_with('"') {
            true => Copy { path: serde_json::from_str(json.get()).map_err(D::Error::custom)?, document: None },
            false => serde_json::from_str(json.get()).map_err(D::Error::custom)?,
        };
        Ok(ProfileCopy { path, document: document.map(OnceLock::from).unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_is_written_and_read_again_byte_for_byte() {
        let one = ProfileCopy::of("/a.profile.json".into());
        let write = |one: &ProfileCopy| serde_json::to_string(one).expect("JSON");
        assert_eq!(write(&one), r#"{"path":"/a.profile.json"}"#);
        let text = "{\"agent\":\"a\", \"limit\": 1.50}\n";
        one.keep(one.text(|_| Ok(text.to_owned())).expect("a text")).expect("a copy");
        one.keep(Cow::Owned("{}".to_owned())).expect("a copy");
        let written = write(&one);
        assert_eq!(written, r#"{"path":"/a.profile.json","document":{"agent":"a", "limit": 1.50}}"#);
        let read: ProfileCopy = serde_json::from_str(&written).expect("a copy");
        assert_eq!(read.text(|_| panic!("there is a copy")).expect("a text"), text.trim());
        assert!(read.difference().is_some_and(|how| how.starts_with("cannot be used any more")));
        let first: ProfileCopy = serde_json::from_str(r#""/b.profile.json""#).expect("the first version");
        assert_eq!(first.text(|path| Ok(path.display().to_string())).expect("a text"), "/b.profile.json");
        assert!(first.difference().is_none());
        for invalid in ["1", "{}", r#"{"path":"/a","text":"b"}"#] {
            assert!(serde_json::from_str::<ProfileCopy>(invalid).is_err(), "{invalid}");
        }
    }
}
