//! The files of a release, which anybody may have written. The size of each is limited before it is read.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256, digest};
use seamgate::open_regular;

/// The maximum number of files in a folder.
const MAX_FILES: usize = 4096;

/// The folder of a release.
pub(crate) struct Folder {
    path: PathBuf,
    /// The names in the folder, and whether each is a regular file.
    names: BTreeMap<String, bool>,
}

impl Folder {
    /// Lists a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut names = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if names.len() == MAX_FILES {
                return Err(io::Error::other(format!("the folder has more than {MAX_FILES} files")));
            }
            // A link could lead to a file that changes. A name that is not text cannot belong to a release.
            names.insert(entry.file_name().to_string_lossy().into_owned(), entry.file_type()?.is_file());
        }
        Ok(Folder { path: path.to_owned(), names })
    }

    /// Returns all names, and whether each is a regular file.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.names.iter().map(|(name, is_file)| (name.as_str(), *is_file))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns the SHA-256 digest of a file of any length.
    pub(crate) fn digest(&self, name: &str) -> io::Result<String> {
        let mut file = self.file(name)?;
        let (mut context, mut buffer) = (Context::new(&SHA256), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(HEXLOWER.encode(context.finish().as_ref())),
                Ok(length) => context.update(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads a file of at most `limit` bytes.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = self.file(name).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
        match read {
            Err(error) => Err(format!("cannot read it: {error}")),
            Ok(_) if bytes.len() as u64 > limit => Err(format!("has more than {limit} bytes, the limit")),
            Ok(_) => Ok(bytes),
        }
    }

    /// Reads a file of at most `limit` bytes, and checks that it still has the digest that was checked before.
    pub(crate) fn read_checked(&self, name: &str, limit: u64, digest: &str) -> Result<Vec<u8>, String> {
        let bytes = self.read(name, limit)?;
        match sha256(&bytes) == digest {
            true => Ok(bytes),
            false => Err("changed while it was checked; copy the release again".to_owned()),
        }
    }

    fn file(&self, name: &str) -> io::Result<File> {
        if self.names.get(name) != Some(&true) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "must be a regular file"));
        }
        open_regular(File::options().read(true), &self.path.join(name))
    }
}

/// Returns the SHA-256 digest of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(digest(&SHA256, bytes).as_ref())
}
