//! Keeps the machine code of components in a folder that is private to the user.
//!
//! To load machine code is to trust it. So the cache loads only regular files that belong to this user, in a folder that
//! belongs to this user, where nobody else can write to either. The name of a file holds the digest of its component and
//! the compatibility of its engine, and its end a checksum. The cache skips any other file, logs that, and the gate
//! compiles again.

use std::{
    fmt, fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use wasmtime::Engine;

use super::code::{Code, CodeKind};

/// The number of files. The least recently used go first. A file is about three times as large as its component.
const KEPT: usize = 16;

/// The mark at the end of a file. After it comes the checksum of the code and of the file's key.
const MARK: &[u8; 12] = b"seamgate-01\n";

/// A folder with machine code.
#[derive(Debug)]
pub(crate) struct Cache(PathBuf);

/// Why the cache does not load a file.
#[derive(Debug)]
enum Unusable {
    /// There is no file. Nobody needs to know.
    Missing,
    /// Somebody else could have written it.
    NotPrivate(PathBuf),
    /// The checksum is wrong.
    Damaged,
    /// The file cannot be read.
    Io(io::Error),
    /// The engine refuses the code.
    Refused(wasmtime::Error),
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unusable::Missing => write!(formatter, "there is no file"),
            Unusable::NotPrivate(path) => write!(formatter, "{} is not private to this user", path.display()),
            Unusable::Damaged => write!(formatter, "the file is damaged"),
            Unusable::Io(error) => write!(formatter, "{error}"),
            Unusable::Refused(error) => write!(formatter, "{error:#}"),
        }
    }
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Unusable::Missing } else { Unusable::Io(error) }
    }
}

impl Cache {
    /// The default folder: `seamgate` in the user's cache folder. `None` on systems where files have no owner.
    pub(crate) fn users() -> Option<PathBuf> {
        if cfg!(unix) { dirs::cache_dir().map(|folder| folder.join("seamgate")) } else { None }
    }

    pub(crate) fn new(folder: PathBuf) -> Self {
        Cache(folder)
    }

    /// A component from its cached code.
    pub(crate) fn load(&self, engine: &Engine, key: &str, kind: CodeKind) -> Option<Code> {
        let path = self.path(key);
        match self.read(engine, &path, key, kind) {
            Ok(code) => {
                // Mark the file as used. If that fails, it only goes earlier.
                let _ = fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Some(code)
            }
            Err(Unusable::Missing) => None,
            Err(unfit) => {
                tracing::warn!(path = %path.display(), "the cache skips a file, and the gate compiles the component again: {unfit}");
                None
            }
        }
    }

    fn read(&self, engine: &Engine, path: &Path, key: &str, kind: CodeKind) -> Result<Code, Unusable> {
        private(&self.0, &fs::symlink_metadata(&self.0)?)?;
        // Do not follow links: anybody can make one.
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_file() {
            return Err(Unusable::NotPrivate(path.to_owned()));
        }
        private(path, &metadata)?;
        let mut file = fs::File::open(path)?;
        if !is_whole(&mut file, metadata.len(), key)? {
            return Err(Unusable::Damaged);
        }
        // SAFETY: the checksum shows that `keep` wrote the file, and `keep` writes only code that Wasmtime made for this
        // library. Only this user can have changed it since, who may do anything in this process anyway: others can
        // write neither to the file nor to its folder. Wasmtime itself checks that the code fits this engine.
        unsafe { Code::deserialize_file(engine, path, kind) }.map_err(Unusable::Refused)
    }

    /// Keep the code of a component. A failure is logged, and costs the next start only time.
    pub(crate) fn keep(&self, key: &str, code: &Code) {
        let path = self.path(key);
        let kept = code.serialize().map_err(|error| io::Error::other(format!("{error:#}"))).and_then(|code| {
            self.write(&path, &code, key)?;
            self.remove_old()
        });
        match kept {
            Ok(()) => tracing::info!(path = %path.display(), "the cache keeps the component's code for the next start"),
            Err(error) => {
                tracing::warn!(path = %path.display(), "the cache cannot keep the component's code: {error}");
            }
        }
    }

    fn write(&self, path: &Path, code: &[u8], key: &str) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0)?;
        private(&self.0, &fs::symlink_metadata(&self.0)?).map_err(|unfit| io::Error::other(unfit.to_string()))?;
        // Write the whole file or nothing, even if many processes do this at once.
        let part = path.with_extension(format!("part-{}", std::process::id()));
        let _ = fs::remove_file(&part);
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&part).and_then(|mut file| {
            file.write_all(code)?;
            file.write_all(MARK)?;
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(code);
            hasher.update(key.as_bytes());
            file.write_all(&hasher.finalize().to_le_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&part, path)).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
    }

    fn remove_old(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
        files.sort_unstable();
        for (_, path) in files.iter().rev().skip(KEPT) {
            fs::remove_file(path)?;
        }
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.cwasm"))
    }
}

/// Whether a file ends with the right checksum of its code and its key.
fn is_whole(file: &mut fs::File, length: u64, key: &str) -> io::Result<bool> {
    let end = (MARK.len() + size_of::<u32>()) as u64;
    let Some(code) = length.checked_sub(end) else {
        return Ok(false);
    };
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut rest = file.take(code);
    loop {
        match rest.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    hasher.update(key.as_bytes());
    let mut last = Vec::new();
    rest.into_inner().take(end).read_to_end(&mut last)?;
    Ok(last == [&MARK[..], &hasher.finalize().to_le_bytes()].concat())
}

/// Refuse a file or folder that others could have written.
#[cfg(unix)]
fn private(path: &Path, metadata: &fs::Metadata) -> Result<(), Unusable> {
    use std::os::unix::fs::MetadataExt;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    let others_write = metadata.mode() & 0o022 != 0;
    if own && !others_write && !metadata.is_symlink() { Ok(()) } else { Err(Unusable::NotPrivate(path.to_owned())) }
}

/// Without owners of files the cache keeps nothing.
#[cfg(not(unix))]
fn private(path: &Path, _: &fs::Metadata) -> Result<(), Unusable> {
    Err(Unusable::NotPrivate(path.to_owned()))
}
