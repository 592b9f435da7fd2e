//! Keeps the machine code of components in a folder that is private to the user.
//!
//! Loading machine code means trusting it. So the cache loads only regular files that belong to this user, from a
//! folder that belongs to this user, and only if nobody else can write to either. The name of a file contains the
//! digest of its component and the compatibility of its engine. The end of the file has a checksum. The cache skips and
//! logs any other file, and the gate compiles again.
//!
//! Files are memory-mapped, so that a start reads only the code that it runs. Computing the checksum requires reading
//! the whole file, so the cache does that once, and then sets the file's modification time to a value that follows from
//! the checksum, years ago. Every write changes this time, and the checksum of a file with another time is computed
//! again. This detects damage. It does not protect against others who can write as this user, who can do anything in
//! this process anyway.
//!
//! A mapped file must not change. The cache never writes to a file under its final name: it writes a complete file
//! under another name, and renames it. A process that has mapped a file keeps its content, even if the file is replaced
//! or removed. If somebody truncates the file in place, a process that runs its code is terminated by `SIGBUS`, as with
//! a truncated program or library.

use std::{
    fmt, fs, io,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use wasmtime::Engine;

use super::code::{Code, CodeKind};

/// The number of files to keep. The least recently used are removed first. A file is about three times as large as its
/// component.
const KEPT: usize = 16;

/// The mark at the end of a file. The checksum of the file's key follows, and then the checksum of the code and the
/// key.
const MARK: &[u8; 12] = b"seamgate-02\n";

/// The length of the end of a file, in bytes.
const END: usize = MARK.len() + 2 * size_of::<u32>();

/// The precision with which the cache records when a file was last used.
const USED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder with machine code.
#[derive(Debug)]
pub(crate) struct Cache(PathBuf);

/// The reason why the cache does not load a file.
#[derive(Debug)]
enum Unusable {
    /// There is no file. This is not logged.
    Missing,
    /// Somebody else could have written the file.
    NotPrivate(PathBuf),
    /// The checksum is wrong.
    Damaged,
    /// The file cannot be read.
    Io(io::Error),
    /// The engine rejects the code.
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
    /// Returns the default folder: `seamgate` in the user's cache folder. `None` on systems where files have no owner.
    pub(crate) fn users() -> Option<PathBuf> {
        if cfg!(unix) { dirs::cache_dir().map(|folder| folder.join("seamgate")) } else { None }
    }

    pub(crate) fn new(folder: PathBuf) -> Self {
        Cache(folder)
    }

    /// Returns a component from its cached code.
    pub(crate) fn load(&self, engine: &Engine, key: &str, kind: CodeKind) -> Option<Code> {
        let path = self.path(key);
        match self.read(engine, &path, key, kind) {
            Ok(code) => Some(code),
            Err(Unusable::Missing) => None,
            Err(unfit) => {
                tracing::warn!(path = %path.display(), "the cache skips a file, and the gate compiles the component again: {unfit}");
                None
            }
        }
    }

    fn read(&self, engine: &Engine, path: &Path, key: &str, kind: CodeKind) -> Result<Code, Unusable> {
        private(&self.0, &fs::symlink_metadata(&self.0)?)?;
        // Do not follow links, because anybody can create one.
        if !fs::symlink_metadata(path)?.is_file() {
            return Err(Unusable::NotPrivate(path.to_owned()));
        }
        let mut file = fs::File::open(path)?;
        let metadata = file.metadata()?;
        private(path, &metadata)?;
        let end = End::read(&mut file, metadata.len())?.filter(|end| end.is_of(key)).ok_or(Unusable::Damaged)?;
        let mut times = fs::FileTimes::new();
        let is_checked = metadata.modified()? == end.time();
        if !is_checked {
            if !end.is_right(&mut file, metadata.len(), key)? {
                return Err(Unusable::Damaged);
            }
            times = times.set_modified(end.time());
        }
        let now = SystemTime::now();
        if !is_checked || now.duration_since(metadata.accessed()?).is_ok_and(|unused| unused > USED) {
            // If this fails, the file is merely removed sooner, or its checksum is computed again.
            let _ = file.set_times(times.set_accessed(now));
        }
        // SAFETY: the checksum showed that `keep` wrote the file, and `keep` writes only code that Wasmtime made for
        // this library. Only this user can have changed it since, who can do anything in this process anyway: others
        // can write neither to the file nor to its folder. Wasmtime itself checks that the code fits this engine.
        unsafe { Code::map(engine, (file, path), kind) }.map_err(Unusable::Refused)
    }

    /// Keeps the code of a component. A failure is logged, and only makes the next start slower.
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
        // Write the file atomically, even if many processes do this at once.
        let part = path.with_extension(format!("part-{}", std::process::id()));
        let _ = fs::remove_file(&part);
        let mut options = fs::File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(&part).and_then(|mut file| {
            let end = End::new(key, code);
            file.write_all(code)?;
            file.write_all(&end.to_bytes())?;
            file.set_times(fs::FileTimes::new().set_accessed(SystemTime::now()).set_modified(end.time()))?;
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
            files.push((entry.metadata()?.accessed()?, entry.path()));
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

/// The data at the end of a file.
struct End {
    /// The checksum of the key.
    named: u32,
    /// The checksum of the code and the key.
    whole: u32,
}

impl End {
    fn new(key: &str, code: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(code);
        hasher.update(key.as_bytes());
        End { named: crc32fast::hash(key.as_bytes()), whole: hasher.finalize() }
    }

    /// Reads the data at the end of an open file of this length. `None` if the file has no such end.
    fn read(file: &mut fs::File, length: u64) -> io::Result<Option<Self>> {
        let Some(start) = length.checked_sub(END as u64) else {
            return Ok(None);
        };
        let mut bytes = [0; END];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        let checksums = bytes.strip_prefix(MARK).map(|checksums| checksums.as_chunks().0);
        Ok(match checksums {
            Some([named, whole]) => Some(End { named: u32::from_le_bytes(*named), whole: u32::from_le_bytes(*whole) }),
            _ => None,
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        [&MARK[..], &self.named.to_le_bytes(), &self.whole.to_le_bytes()].concat()
    }

    /// Returns whether the file belongs to this key.
    fn is_of(&self, key: &str) -> bool {
        self.named == crc32fast::hash(key.as_bytes())
    }

    /// Returns whether the code in the open file, which has this length, matches the checksum.
    fn is_right(&self, file: &mut fs::File, length: u64, key: &str) -> io::Result<bool> {
        let mut hasher = crc32fast::Hasher::new();
        let mut buffer = vec![0; 256 * 1024];
        file.seek(SeekFrom::Start(0))?;
        let mut code = file.take(length.saturating_sub(END as u64));
        loop {
            match code.read(&mut buffer)? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        hasher.update(key.as_bytes());
        Ok(self.whole == hasher.finalize())
    }

    /// Returns the modification time of a file that was checked. No write sets this time, which is between 2001 and
    /// 2017.
    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + u64::from(self.whole % 500_000_000))
    }
}

/// Rejects a file or folder that others could have written.
#[cfg(unix)]
fn private(path: &Path, metadata: &fs::Metadata) -> Result<(), Unusable> {
    use std::os::unix::fs::MetadataExt;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    let others_write = metadata.mode() & 0o022 != 0;
    if own && !others_write && !metadata.is_symlink() { Ok(()) } else { Err(Unusable::NotPrivate(path.to_owned())) }
}

/// On systems where files have no owner, the cache keeps nothing.
#[cfg(not(unix))]
fn private(path: &Path, _: &fs::Metadata) -> Result<(), Unusable> {
    Err(Unusable::NotPrivate(path.to_owned()))
}
