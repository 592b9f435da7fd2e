//! Stores tokens in files that only their owner can read.

use std::{
    env,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use seamgate::{open_regular, write_private};
use serde::{Deserialize, Serialize};

use super::{
    super::{net::read_all, url::Url},
    token::{Client, Tokens},
};
use crate::random;

/// The largest file, in bytes.
const MAX_FILE: u64 = 256 * 1024;
/// The longest time that another process may hold the lock, which is as long as a refresh takes.
const LOCKED: Duration = Duration::from_secs(45);
const TICK: Duration = Duration::from_millis(20);

/// The tokens of one server, and where to refresh them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    /// The server's address. Its tokens are sent nowhere else.
    pub(super) server: String,
    /// The resource that the tokens are for.
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) client: Client,
    pub(super) tokens: Tokens,
    /// The scopes that a request lacked. The next login requests them, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lacked: Option<String>,
}

/// The file of one server.
pub(super) struct Store {
    folder: PathBuf,
    path: PathBuf,
    server: String,
}

/// Prevents other processes from refreshing the same tokens until this is dropped.
pub(super) struct Lock(#[expect(dead_code, reason = "it is held")] File);

impl Store {
    pub(super) fn of(server: &Url) -> Result<Self, String> {
        Ok(Self::in_folder(folder()?, server))
    }

    fn in_folder(folder: PathBuf, server: &Url) -> Self {
        let server = server.canonical();
        let name = HEXLOWER.encode(digest(&SHA256, server.as_bytes()).as_ref());
        let path = folder.join(format!("{}.json", name.get(..32).unwrap_or(&name)));
        Store { folder, path, server }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the tokens. Returns `None` if there are none.
    pub(super) fn read(&self) -> Result<Option<Stored>, String> {
        let wrong = |why: String| format!("{}: {why}", self.path.display());
        let file = match open_regular(File::options().read(true), &self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let folder = fs::metadata(&self.folder).map_err(|error| wrong(error.to_string()))?;
        check_private(&folder, &self.folder)?;
        check_private(&file.metadata().map_err(|error| wrong(error.to_string()))?, &self.path)?;
        let bytes = read_all(file, MAX_FILE).map_err(|error| wrong(error.to_string()))?;
        // The error would contain the text at fault, which may be a token.
        let stored = bytes.and_then(|bytes| serde_json::from_slice::<Stored>(&bytes).ok());
        match stored {
            Some(stored) if stored.server == self.server => Ok(Some(stored)),
            _ => Err(wrong("it is not a file of tokens for this server: remove it, and log in again".to_owned())),
        }
    }

    /// Writes the tokens. Replaces the file as a whole.
    pub(super) fn write(&self, stored: &Stored) -> Result<(), String> {
        let wrong = |error: io::Error| format!("cannot write {}: {error}", self.path.display());
        self.make_folder()?;
        let text = serde_json::to_string_pretty(stored).map_err(|error| wrong(error.into()))?;
        let other = self.path.with_extension(format!("{}.tmp", random(8).map_err(|error| error.report())?));
        write_private(&other, text.as_bytes()).map_err(wrong)?;
        fs::rename(&other, &self.path).map_err(|error| {
            let _ = fs::remove_file(&other);
            wrong(error)
        })
    }

    /// Waits until no other process is refreshing the same tokens.
    pub(super) fn lock(&self) -> Result<Lock, String> {
        self.make_folder()?;
        let path = self.path.with_extension("lock");
        let wrong = |error: io::Error| format!("cannot lock {}: {error}", path.display());
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = open_regular(&mut options, &path).map_err(wrong)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCKED => thread::sleep(TICK),
                Err(TryLockError::WouldBlock) => return Err(format!("another process holds {}", path.display())),
                // On a file system without locks, two processes may refresh at the same time. One of them then has to
                // log in again.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(Lock(file)),
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
            }
        }
    }

    fn make_folder(&self) -> Result<(), String> {
        let wrong = |error: io::Error| format!("cannot make the folder {}: {error}", self.folder.display());
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder).map_err(wrong)?;
        check_private(&fs::metadata(&self.folder).map_err(wrong)?, &self.folder)
    }
}

/// Returns the folder for all tokens.
fn folder() -> Result<PathBuf, String> {
    let named = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let own = || if cfg!(windows) { dirs::data_local_dir() } else { Some(dirs::home_dir()?.join(".local/state")) };
    let folder = named.or_else(own).ok_or("there is no home folder to keep tokens in: set XDG_STATE_HOME")?;
    Ok(folder.join("seamgate").join("tokens"))
}

/// Rejects a file or folder that others can read or own.
fn check_private(metadata: &fs::Metadata, path: &Path) -> Result<(), String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!("{}: it belongs to another user: tokens in it are not used", path.display()));
        }
        if metadata.mode() & 0o077 != 0 {
            let rights = if metadata.is_dir() { "700" } else { "600" };
            return Err(format!(
                "{}: other users can read it: tokens in it are not used. Run `chmod {rights}` on it, or remove it and log in again",
                path.display()
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = (metadata, path);
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{super::super::url::Reach, *};

    fn stored(server: &str) -> Stored {
        Stored {
            server: server.to_owned(),
            resource: server.to_owned(),
            issuer: "https://auth.example".to_owned(),
            token_endpoint: "https://auth.example/token".to_owned(),
            client: Client { id: "me".to_owned(), secret: None, has_secret_in_form: false },
            tokens: Tokens { access_token: "a".to_owned(), refresh_token: None, expires_at: None, scope: None },
            lacked: None,
        }
    }

    #[test]
    fn tokens_are_private_and_belong_to_one_server() {
        let folder = tempfile::tempdir().expect("a folder");
        let url = Url::parse("https://a.example/mcp", Reach::Named).expect("an address");
        let store = Store::in_folder(folder.path().join("state/tokens"), &url);
        assert!(store.read().expect("no file").is_none());
        drop(store.lock().expect("a lock"));
        store.write(&stored("https://a.example/mcp")).expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(store.path()), mode(&store.folder)), (0o600, 0o700));
        assert_eq!(store.read().expect("readable").map(|stored| stored.tokens.access_token).as_deref(), Some("a"));
        let files = fs::read_dir(&store.folder).expect("a folder").count();
        assert_eq!(files, 2, "the file and its lock");

        fs::set_permissions(store.path(), fs::Permissions::from_mode(0o640)).expect("rights");
        assert!(store.read().err().is_some_and(|why| why.contains("other users can read it")));
        fs::set_permissions(store.path(), fs::Permissions::from_mode(0o600)).expect("rights");
        fs::set_permissions(&store.folder, fs::Permissions::from_mode(0o755)).expect("rights");
        assert!(store.read().err().is_some_and(|why| why.contains("chmod 700")));
        fs::set_permissions(&store.folder, fs::Permissions::from_mode(0o700)).expect("rights");

        store.write(&stored("https://b.example/mcp")).expect("written");
        assert!(store.read().is_err(), "tokens of another server");
        fs::write(store.path(), "secret").expect("written");
        assert!(store.read().err().is_some_and(|why| !why.contains("secret")));
    }
}
