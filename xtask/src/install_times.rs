//! Measures how long it takes to get from an empty container root to the end of `seamgate demo`: with pip, with npx,
//! with the command line as one file, and with the container image. All come from the folder of packages: the first
//! three through a server on loopback, which is the only package index that pip and npx know.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use data_encoding::BASE64;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use crate::{
    install::{has_node, has_python, remove},
    oci::{self, Layout},
    package::{DIGESTS, published},
    run::{PACKAGES, command, contained, output, root, say},
};

/// The page that gets the results.
const PAGE: &str = "tests/install/README.md";

/// The folder for the roots, and for the files that the server serves.
const FOLDER: &str = "target/install";

/// The longest permitted time from an empty root to the end of the first demo.
const ALL: Duration = Duration::from_secs(60);

/// The longest permitted time of a demo whose commands start the command line directly, without an interpreter.
const DEMO: Duration = Duration::from_secs(3);

/// The requirements on the system.
const NEEDED: &str = "user namespaces, python3 with venv, node with npm, and curl";

/// The number of runs of the demo in each root. The shortest time counts.
const DEMOS: usize = 3;

/// The home folder in a root.
const HOME: &str = "/home/user";

/// Measures every way, and fails if one takes longer than permitted.
pub(crate) fn check() -> Result<()> {
    measure().map(drop)
}

/// Measures every way, and writes the page.
pub(crate) fn write() -> Result<()> {
    let Some(rows) = measure()? else { bail!("{PAGE} needs {NEEDED}") };
    fs::create_dir_all("tests/install")?;
    fs::write(PAGE, page(&rows)).context(PAGE)?;
    say(&format!("wrote {PAGE}"));
    Ok(())
}

/// One way to install the command line, and how long it took.
struct Row {
    name: &'static str,
    /// The commands that a user types.
    typed: &'static str,
    /// The content of the root before the installation.
    before: &'static str,
    /// How many bytes were fetched or unpacked.
    bytes: u64,
    install: Duration,
    demo: Duration,
    /// `true` if each command of the demo first starts an interpreter.
    is_interpreted: bool,
}

impl Row {
    fn all(&self) -> Duration {
        self.install + self.demo
    }
}

/// Measures every way. Returns `None` if this system does not meet the requirements.
fn measure() -> Result<Option<Vec<Row>>> {
    let has_curl = output(command("curl").arg("--version")).is_some();
    if !has_python() || !has_node() || !has_curl || contained(Path::new("/"), &[]).is_none() {
        say(&format!("skipping the times from an empty root: they need {NEEDED}"));
        return Ok(None);
    }
    let folder = root().join(FOLDER);
    remove(&folder)?;
    let index = Index::serve(&folder.join("served"))?;
    let rows = vec![pip(&folder, &index)?, npx(&folder, &index)?, file(&folder, &index)?, image(&folder)?];
    for row in &rows {
        println!("{}", line(row));
    }
    if let Some(Row { name, demo, .. }) = rows.iter().find(|row| row.demo > DEMO && !row.is_interpreted) {
        bail!("{name}: the demo took {:.1} s, more than {} s", demo.as_secs_f64(), DEMO.as_secs());
    }
    if let Some(row) = rows.iter().find(|row| row.all() > ALL) {
        bail!("{}: {:.1} s to the end of the demo, more than {} s", row.name, row.all().as_secs_f64(), ALL.as_secs());
    }
    Ok(Some(rows))
}

/// Measures `pip install seamgate && seamgate demo`, in a virtual environment, as Debian's pip requires.
fn pip(folder: &Path, index: &Index) -> Result<Row> {
    let prefix =
        output(command("python3").args(["-c", "import sys; print(sys.base_prefix)"])).context("python3 fails")?;
    let root = System::new(&folder.join("pip"), Path::new(&prefix))?;
    let environment = format!("{HOME}/venv");
    let url = format!("{}/simple", index.address);
    let install =
        timed("pip: creating a virtual environment", root.run()?.args(["python3", "-m", "venv", &environment]))?
            + timed(
                "pip: installing",
                root.run()?.env("PIP_INDEX_URL", url).args([&format!("{environment}/bin/pip"), "install", "seamgate"]),
            )?;
    let seamgate = format!("{environment}/bin/seamgate");
    Ok(Row {
        name: "pip",
        typed: "`python3 -m venv venv`, `venv/bin/pip install seamgate`, `venv/bin/seamgate demo`",
        before: "`/usr` and Python of the machine",
        bytes: index.wheel,
        install,
        demo: demo("pip", || Ok(root.run()?.args([&seamgate, "demo"])))?,
        is_interpreted: true,
    })
}

/// Measures `npx seamgate demo`. The first call installs the package.
fn npx(folder: &Path, index: &Index) -> Result<Row> {
    let prefix = output(command("node").args(["-p", "require('path').resolve(process.execPath, '../..')"]));
    let root = System::new(&folder.join("npx"), Path::new(&prefix.context("node fails")?))?;
    let npx = |command: &str| -> Result<Prepared> {
        Ok(root.run()?.env("npm_config_registry", &index.address).args(["npx", "--yes", "seamgate", command]))
    };
    let install = timed("npx: installing", npx("--version")?)?;
    Ok(Row {
        name: "npx",
        typed: "`npx --yes seamgate --version`, `npx --yes seamgate demo`",
        before: "`/usr` and Node of the machine",
        bytes: index.npm,
        install,
        demo: demo("npx", || npx("demo"))?,
        is_interpreted: true,
    })
}

/// Measures the command line as one file.
fn file(folder: &Path, index: &Index) -> Result<Row> {
    let to = folder.join("file");
    fs::create_dir_all(to.join("tmp"))?;
    let Index { address, program: (name, digest), .. } = index;
    // The root contains nothing that could download.
    let script = r#"curl --fail --silent --show-error --output seamgate "$1"
                    echo "$2  seamgate" | sha256sum --check --quiet
                    chmod +x seamgate"#;
    let mut download = command("sh");
    download.args(["-ec", script, "sh", &format!("{address}/files/{name}"), digest]).current_dir(&to);
    let install = timed("binary: downloading", Prepared(download))?;
    Ok(Row {
        name: "binary",
        typed: "`curl --output seamgate URL`, `sha256sum --check`, `chmod +x seamgate`, `./seamgate demo`",
        before: "nothing",
        bytes: fs::metadata(to.join("seamgate"))?.len(),
        install,
        demo: demo("binary", || Ok(inside(&to, &[])?.args(["/seamgate", "demo"])))?,
        is_interpreted: false,
    })
}

/// Measures the container image.
fn image(folder: &Path) -> Result<Row> {
    let to = folder.join("image");
    let layout =
        published(Path::new(PACKAGES))?.into_iter().map(|(name, _)| name).find(|name| oci::is_image(Path::new(name)));
    let layout = Path::new(PACKAGES).join(layout.context("there is no container image")?);
    let Layout { config, layer_digest, .. } = oci::read(&layout)?;
    let size = fs::metadata(&layout)?.len();
    fs::create_dir_all(to.join("layers"))?;
    let script = r#"tar --extract --file "$1" --directory layers
                    cd layers
                    echo "$2  $3" | sha256sum --check --quiet
                    tar --extract --gzip --file "$3" --directory ../root"#;
    let blob = oci::blob(&layer_digest)?;
    let digest = layer_digest.trim_start_matches("sha256:");
    let mut unpack = command("sh");
    unpack.args(["-ec", script, "sh"]).arg(std::path::absolute(layout)?).args([digest, &blob]).current_dir(&to);
    let to = to.join("root");
    fs::create_dir_all(&to)?;
    let install = timed("container: unpacking", Prepared(unpack))?;
    let config = &config["config"];
    let entry: Vec<&str> = config["Entrypoint"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ensure!(!entry.is_empty(), "the image has no entry point");
    Ok(Row {
        name: "container",
        typed: "unpack the image, and run its entry point with `demo`",
        before: "nothing",
        bytes: size,
        install,
        demo: demo("container", || Ok(inside(&to, &[])?.args(&entry).args(["demo"])))?,
        is_interpreted: false,
    })
}

/// A root with the `/usr` of this system and an interpreter, read-only, and an empty home folder.
struct System {
    root: PathBuf,
    folders: Vec<PathBuf>,
    path: String,
}

impl System {
    fn new(root: &Path, prefix: &Path) -> Result<Self> {
        for folder in ["etc", "tmp", &HOME[1..]] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::write(root.join("etc/passwd"), format!("root:x:0:0::{HOME}:/bin/sh\n"))?;
        let mut folders = vec![PathBuf::from("/usr")];
        for name in ["bin", "sbin", "lib", "lib64"] {
            let path = Path::new("/").join(name);
            match fs::read_link(&path) {
                Ok(link) => symlink(link, root.join(name))?,
                Err(_) if path.is_dir() => folders.push(path),
                Err(_) => {}
            }
        }
        if !prefix.starts_with("/usr") {
            folders.push(prefix.to_owned());
        }
        let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", prefix.join("bin").display());
        Ok(Self { root: root.to_owned(), folders, path })
    }

    /// Returns a command that runs a program in the root.
    fn run(&self) -> Result<Prepared> {
        Ok(inside(&self.root, &self.folders)?.env("PATH", &self.path).env("HOME", HOME))
    }
}

/// A command that owns its arguments.
struct Prepared(Command);

impl Prepared {
    fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(arguments);
        self
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }
}

/// Returns a command that runs a program in a root, without any variables of this environment except the path.
fn inside(root: &Path, system: &[PathBuf]) -> Result<Prepared> {
    let mut inside = contained(root, system).context("this system allows no user namespaces")?;
    inside.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").current_dir("/");
    Ok(Prepared(inside))
}

/// Runs a command to its end, and returns how long it took. Shows its output only if it fails.
fn timed(what: &str, Prepared(mut command): Prepared) -> Result<Duration> {
    say(what);
    let start = Instant::now();
    let done = command.output().with_context(|| what.to_owned())?;
    let time = start.elapsed();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ensure!(done.status.success(), "{what}: {}\n{}{}", done.status, text(&done.stdout), text(&done.stderr));
    Ok(time)
}

/// Runs the demo several times, and returns the shortest time, because other work on this machine can only make it
/// longer.
fn demo(name: &str, prepare: impl Fn() -> Result<Prepared>) -> Result<Duration> {
    say(&format!("{name}: the demo, {DEMOS} times"));
    let mut shortest = Duration::MAX;
    for _ in 0..DEMOS {
        let mut command = prepare()?.0;
        let start = Instant::now();
        let shown = command.output()?;
        shortest = shortest.min(start.elapsed());
        let text = String::from_utf8_lossy(&shown.stdout);
        let is_whole = shown.status.success() && text.contains("All files of the demo are in ");
        ensure!(is_whole, "{name}, the demo: {}\n{text}{}", shown.status, String::from_utf8_lossy(&shown.stderr));
    }
    Ok(shortest)
}

/// A Python package index, an npm registry, and the command line as a file, on loopback. Dropping this ends the server.
struct Index {
    server: Child,
    address: String,
    /// The name and the digest of the command line.
    program: (String, String),
    /// The size of the native wheel.
    wheel: u64,
    /// The size of the two npm packages.
    npm: u64,
}

impl Index {
    /// Serves the packages from a folder, on a free port.
    fn serve(folder: &Path) -> Result<Self> {
        let files = folder.join("files");
        fs::create_dir_all(&files)?;
        let mut served = Vec::new();
        for (name, digest) in published(Path::new(PACKAGES))? {
            let is_program = name.ends_with("-linux");
            if is_program || name.ends_with(".whl") || name.ends_with(".tgz") {
                fs::copy(Path::new(PACKAGES).join(&name), files.join(&name)).with_context(|| name.clone())?;
                served.push((name, digest));
            }
        }
        let size = |name: &str| -> Result<u64> { Ok(fs::metadata(files.join(name))?.len()) };
        let found = |end: &str| -> Result<(String, String)> {
            let found = served.iter().find(|(name, _)| name.ends_with(end));
            found.cloned().with_context(|| format!("{PACKAGES}/{DIGESTS} names no file that ends with {end}"))
        };
        let program = found("-x86_64-linux")?;
        let wheel = size(&found("_x86_64.whl")?.0)?;

        // Follows PEP 503. pip compares downloads with the digests.
        let wheels = served.iter().filter(|(name, _)| name.ends_with(".whl"));
        let links: String =
            wheels.map(|(name, digest)| format!("<a href=\"/files/{name}#sha256={digest}\">{name}</a>\n")).collect();
        let simple = folder.join("simple/seamgate");
        fs::create_dir_all(&simple)?;
        fs::write(simple.join("index.html"), format!("<!DOCTYPE html>\n{links}"))?;

        let (server, address) = start(folder)?;
        let mut index = Self { server, address, program, wheel, npm: 0 };
        for (name, _) in served.iter().filter(|(name, _)| name.ends_with(".tgz")) {
            index.npm += size(name)?;
            packument(folder, &index.address, name)?;
        }
        Ok(index)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Starts a server for the files in a folder, and returns its address.
fn start(folder: &Path) -> Result<(Child, String)> {
    let mut server = command("python3")
        .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory"])
        .arg(folder)
        .arg("0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the server does not start")?;
    let mut said = String::new();
    if let Some(output) = server.stdout.take() {
        BufReader::new(output).read_line(&mut said)?;
    }
    let address = said.split('(').nth(1).and_then(|rest| rest.split("/)").next());
    let address = address.with_context(|| format!("the server does not say where it listens: {said}"))?.to_owned();
    Ok((server, address))
}

/// Writes a registry's answer about an npm package that is one of the served files.
fn packument(folder: &Path, address: &str, file: &str) -> Result<()> {
    let archive = folder.join("files").join(file);
    let manifest =
        output(command("tar").args(["--extract", "--to-stdout", "package/package.json", "--file"]).arg(&archive));
    let mut manifest: Value = serde_json::from_str(&manifest.with_context(|| format!("cannot read {file}"))?)?;
    let name = manifest["name"].as_str().context("a package has a name")?.to_owned();
    let version = manifest["version"].as_str().context("a package has a version")?.to_owned();
    let integrity = format!("sha512-{}", BASE64.encode(&Sha512::digest(fs::read(&archive)?)));
    manifest["dist"] = json!({ "tarball": format!("{address}/files/{file}"), "integrity": integrity });
    let packument = json!({ "name": name, "dist-tags": { "latest": version }, "versions": { &version: manifest } });
    let to = folder.join(&name);
    fs::create_dir_all(to.parent().unwrap_or(folder))?;
    Ok(fs::write(to, packument.to_string())?)
}

fn line(row: &Row) -> String {
    let seconds = |time: Duration| format!("{:.1}", time.as_secs_f64());
    format!(
        "| {} | {} | {:.1} | {} | {} | {} |",
        row.name,
        row.before,
        row.bytes as f64 / f64::from(1 << 20),
        seconds(row.install),
        seconds(row.demo),
        seconds(row.all()),
    )
}

fn page(rows: &[Row]) -> String {
    let version = |program: &str| output(command(program).arg("--version")).unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let lines: Vec<String> = rows.iter().map(line).collect();
    let typed: Vec<String> = rows.iter().map(|row| format!("- {}: {}", row.name, row.typed)).collect();
    format!(
        "# From nothing to the demo

`cargo xtask install-times` writes this page, after `cargo xtask package`. It installs the packages
of `target/package` into an empty container root, and runs `seamgate demo` there to its end.
`cargo xtask ci install` fails if a way takes more than {} s in all, or if the demo takes more than
{} s with the binary or the container. With pip and npx, each of the demo's twelve commands also
starts Python or Node.

Each way has a root of its own, in a user namespace with `/proc`, `/dev` and an empty `/tmp`. For
pip and npx, the root also has `/usr` of the machine with Python or Node, read-only, an empty home
folder and empty caches. For the binary and the container, it has nothing else.

pip and npx know only one index: a server on loopback, which has nothing but the built packages,
with their digests. The binary comes from the same server, through curl outside the root. The
container's root is the unpacked layer of the image.

| way | the root before | size, MiB | install, s | demo, s | in all, s |
| --- | --- | ---: | ---: | ---: | ---: |
{}

The size is that of the files that are downloaded or unpacked. The time of the demo is the shortest
of {DEMOS} runs. {}, Node {}, npm {}. {processors} × {}, load {}.

Each way runs these commands:

{}
",
        ALL.as_secs(),
        DEMO.as_secs(),
        lines.join("\n"),
        version("python3"),
        version("node"),
        version("npm"),
        model.map_or("an unknown processor", |(_, name)| name),
        load.split(' ').next().unwrap_or_default(),
        typed.join("\n"),
    )
}
