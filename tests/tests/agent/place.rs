//! A folder for one run: a copy of the example, the files of its service, and the journal.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{LazyLock, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::journal::Lines;

/// The timeout of an operation.
const LONG: Duration = Duration::from_secs(60);

/// A stand-in for the real restart, for tests that run often. It writes the metric that the real service would write,
/// then the line that records the effect.
pub(super) const STAND_IN: &str = r#"cat >/dev/null
printf '{"at": %s, "requests": 0, "errors": 0, "db_pool_in_use": 0, "db_pool_max": 8}\n' $(date +%s) >>"$SRE_HOME/metrics.ndjson"
printf '{"key": "%s"}\n' "$SEAMGATE_IDEMPOTENCY_KEY" >>"$SRE_HOME/ledger.ndjson"
echo '{"service": "payment-api", "restarted": true}'
"#;

/// The folder of `python3`. The `python3` in `PATH` can be a script that searches for the real binary, which takes
/// longer than the tools do.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3");
    let path = PathBuf::from(String::from_utf8(asked.stdout).expect("UTF-8").trim());
    path.parent().expect("a folder").to_owned()
});

/// The files that the real service wrote under real load, and the time at which it wrote them. The agent rejects old
/// files.
static WRITTEN: Mutex<Option<(Instant, PathBuf)>> = Mutex::new(None);

/// The time for which these files can be used. The agent looks back 10 minutes.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// The files of the service, without the files of its processes.
const FILES: [&str; 3] = ["service.log", "metrics.ndjson", "deployments.ndjson"];

pub(super) struct Place {
    pub(super) folder: PathBuf,
    service: Option<Child>,
}

/// How a process ended.
pub(super) struct Done {
    pub(super) status: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Done {
    #[track_caller]
    pub(super) fn is(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub(super) fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "{words}: {}", self.err);
        self
    }

    /// Returns the document that was printed.
    #[track_caller]
    pub(super) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Done { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Place {
    /// Creates a copy of the example, without a service.
    pub(super) fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("seamgate-agent-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let place = Place { folder, service: None };
        fs::create_dir_all(place.home()).expect("a folder");
        copy(&example(), &place.path("sre"));
        place
    }

    /// Creates a place with the real service, whose connection pool is exhausted.
    pub(super) fn with_service(name: &str) -> Self {
        let mut place = Place::new(name);
        let mut service = place.python(&["service.py"]);
        place.service = Some(service.arg(place.home()).stdin(Stdio::null()).spawn().expect("the service"));
        place.load();
        place
    }

    /// Creates a place with files that the real service wrote, and a stand-in for its restart.
    pub(super) fn with_stand_in(name: &str) -> Self {
        let place = Place::new(name);
        let written = written();
        for file in FILES {
            fs::copy(written.join(file), place.home().join(file)).expect(file);
        }
        place.restarts_by(STAND_IN);
        place
    }

    fn load(&self) {
        let done: Done = self.python(&["load.py"]).arg(self.home()).output().expect("the load").into();
        assert!(done.out.contains("500: 12"), "{}{}", done.out, done.err);
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the path of `SRE_HOME`.
    pub(super) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Returns the folder of the run.
    pub(super) fn run(&self) -> PathBuf {
        self.path("run")
    }

    pub(super) fn journal(&self) -> Lines {
        Lines::read(&self.run())
    }

    /// Returns the lines of a file in `SRE_HOME`.
    pub(super) fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.home().join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Returns the keys of the restarts that took place.
    pub(super) fn restarts(&self) -> Vec<String> {
        self.lines("ledger.ndjson").iter().map(|line| line["key"].as_str().expect("a key").to_owned()).collect()
    }

    /// Changes a JSON file of the example.
    pub(super) fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.path("sre").join(name);
        let mut value = serde_json::from_slice(&fs::read(&path).expect(name)).expect("JSON");
        change(&mut value);
        fs::write(path, value.to_string()).expect(name);
    }

    /// Replaces the tool `restart_service` by a shell script.
    pub(super) fn restarts_by(&self, script: &str) {
        self.edit("sre.servers.json", |file| {
            file["servers"]["ops"]["tools"]["restart_service"]["command"] = json!(["sh", "-c", script]);
        });
    }

    fn python(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("python3");
        command.arg("-IS").args(arguments).current_dir(self.path("sre")).env("PATH", search_path());
        command
    }

    /// Returns `seamgate` with these arguments, which must not contain spaces.
    pub(super) fn seamgate(&self, arguments: &str) -> Command {
        // The binary of this build is beside the folder of the tests.
        let test = env::current_exe().expect("this test");
        let binary = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
        let mut command = Command::new(binary);
        command.args(arguments.split_whitespace()).current_dir(self.path("sre"));
        command.env("SRE_HOME", self.home()).env("PATH", search_path()).env_remove("RUST_LOG");
        command.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the command that starts a run whose model follows a script.
    pub(super) fn start(&self, script: &str) -> Command {
        self.start_in(&self.run(), script)
    }

    /// Returns the command that starts a run with its journal in `run`.
    pub(super) fn start_in(&self, run: &Path, script: &str) -> Command {
        let mut command = self.seamgate(
            "agent -p sre.profile.json -p log-reader.profile.json --servers sre.servers.json --mode operate --as joe \
             --list services=services.txt --context dependencies=dependencies.json",
        );
        let task = fs::read_to_string(self.path("sre/task.json")).expect("a task");
        command.args(["--task", &task]).arg("--journal").arg(run);
        command.args(["--", "python3", "-IS", "model.py", "--script", script]);
        command
    }

    pub(super) fn resume(&self, arguments: &str) -> Command {
        let mut command = self.seamgate("agent --resume");
        command.arg(self.run()).args(arguments.split_whitespace());
        command
    }

    /// Returns the command with which a principal decides about the pending call.
    pub(super) fn approve(&self, principal: &str, arguments: &str) -> Command {
        let mut command = self.seamgate("approve --yes --as");
        command.arg(principal).arg(self.run()).args(arguments.split_whitespace());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            // SIGTERM, so that the service ends its worker.
            let _ = Command::new("kill").arg(service.id().to_string()).status();
            let _ = service.wait();
        }
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Waits for the end of a process. Kills it after the timeout.
#[track_caller]
pub(super) fn done(mut command: Command) -> Done {
    let child = command.spawn().expect("seamgate");
    let id = child.id().to_string();
    let (sender, over) = std::sync::mpsc::channel::<()>();
    let guard = thread::spawn(move || {
        if over.recv_timeout(LONG) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-9", &id]).status();
        }
    });
    let done = child.wait_with_output().expect("its end").into();
    drop(sender);
    guard.join().expect("the guard");
    done
}

/// Waits until a condition is true.
#[track_caller]
pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what} does not come");
        thread::sleep(Duration::from_millis(2));
    }
}

pub(super) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/examples/sre")
}

fn search_path() -> String {
    format!("{}:{}", PYTHON.display(), env::var("PATH").unwrap_or_default())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the example") {
        let entry = entry.expect("a file");
        if entry.file_type().expect("a type").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
}

/// Returns a folder with the files that the real service wrote under real load.
fn written() -> PathBuf {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, folder)) = written.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
        return folder.clone();
    }
    let place = Place::with_service("written");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sre-home-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for file in FILES {
        // A rename keeps the earlier file complete for a process that reads it.
        let part = folder.join(format!("{file}.part"));
        fs::copy(place.home().join(file), &part).expect(file);
        fs::rename(part, folder.join(file)).expect(file);
    }
    *written = Some((Instant::now(), folder.clone()));
    folder
}
