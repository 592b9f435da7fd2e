//! The engines: their names, their settings, and their programs.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{Extent, plan::Plan};

// The figures use these names as keys.
pub(crate) const FRESH: &str = "seamgate, fresh instances";
pub(crate) const WARM: &str = "seamgate, warm instance";
pub(crate) const REGISTERED: &str = "seamgate, registered";
pub(crate) const CORE: &str = "seamgate's core, no sandbox";
pub(crate) const NATIVE: &str = "jsonschema (Rust)";
pub(crate) const ERRORS: &str = "jsonschema (Rust), all errors";
pub(crate) const GENERATED: &str = "jsonschema (Rust), generated";
pub(crate) const SIMD: &str = "jsonschema (Rust), simd-json";
pub(crate) const BOTH: &str = "generated, simd-json (Rust)";
pub(crate) const BLAZE: &str = "Blaze (C++), simd-json";
pub(crate) const AJV: &str = "Ajv (JavaScript)";
pub(crate) const PYTHON: &str = "jsonschema (Python)";
const BOON: &str = "boon (Rust)";

/// Returns the folder of the peers in Rust. `cargo xtask bench` builds each of them separately.
pub(crate) fn peers(installed: &Path) -> PathBuf {
    installed.join("peers/peers")
}

/// Returns the features of `serde_json` that a peer enables itself, and that all of its users therefore have. The peer
/// must not have any other features, because a build together with seamgate enables features that make it slower.
fn own_features(name: &str) -> Option<&'static [&'static str]> {
    match name {
        NATIVE | ERRORS | GENERATED | SIMD | BOTH => Some(&["float_roundtrip"]),
        BOON | BLAZE => Some(&[]),
        _ => None,
    }
}

/// Returns the path of Blaze's command line, which a package on PyPI contains for several systems.
fn blaze(installed: &Path) -> Option<PathBuf> {
    let mut programs = fs::read_dir(installed.join("python/lib")).ok()?.filter_map(|version| {
        let name = format!("jsonschema-{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        Some(version.ok()?.path().join("site-packages/sourcemeta_jsonschema").join(name))
    });
    programs.find(|program| program.exists())
}

/// An engine and its running program.
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    /// A description of its settings.
    pub(crate) settings: &'static str,
    process: RefCell<Process>,
    /// A program that returns one verdict, for a schema and a document.
    pub(crate) first: Option<Program>,
}

struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// A program with its arguments, and the folder in which it runs.
pub(crate) struct Program {
    words: Vec<PathBuf>,
    folder: PathBuf,
}

impl Program {
    fn of(words: &[&Path], folder: &Path) -> Self {
        Program { words: words.iter().map(|word| word.to_path_buf()).collect(), folder: folder.to_owned() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).current_dir(&self.folder);
        // seamgate caches the code of the baked component in this folder, not in the user's.
        command.env("XDG_CACHE_HOME", self.folder.join("cache"));
        command
    }

    /// Returns the time from the program's start to its end, in milliseconds. Fails unless the program accepts the
    /// document.
    pub(crate) fn millis(&self) -> Result<f64> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status()?;
        let elapsed = start.elapsed();
        ensure!(status.success(), "{command:?}: {status}");
        Ok(elapsed.as_secs_f64() * 1e3)
    }
}

/// The engines to measure.
pub(crate) struct Engines {
    pub(crate) all: Vec<Engine>,
    /// Descriptions of the engines whose programs are missing.
    pub(crate) skipped: Vec<String>,
    /// seamgate's command line with the component that contains all contracts.
    pub(crate) with_all_contracts: Program,
}

/// Starts all engines whose programs are installed.
pub(crate) fn start(release: &Path, installed: &Path, plan: &Plan, extent: Extent) -> Result<Engines> {
    let (set, document) = plan.first()?;
    let program = |words: &[&Path]| Program::of(words, installed);
    let example = |name: &str| release.join("examples").join(name);
    let peer = |name: &str| peers(installed).join(name);
    let (word_plan, word_first) = (Path::new("plan"), Path::new("first"));
    let mut engines = Vec::new();

    let seamgate = |how: &str| program(&[&example("bench-seamgate"), word_plan, &plan.path, how.as_ref()]);
    let [check, contract, agent] = ["check", "--contract", "--agent"].map(Path::new);
    let (cli, name) = (release.join("seamgate"), Path::new(&set.name));
    let first = |component: &Path| program(&[&cli, check, contract, component, agent, name, &document.path]);
    let own = env!("CARGO_PKG_VERSION").to_owned();
    engines.push(Engine::start(
        WARM,
        own.clone(),
        "`Gate::instance`, one for all documents; contracts baked, eight to a component; `\"formats\": \"annotate\"`",
        &seamgate("warm"),
        None,
    )?);
    engines.push(Engine::start(
        FRESH,
        own.clone(),
        "`Gate::validate`, an instance for each document; the same components",
        &seamgate("fresh"),
        Some(first(&plan.first_component)),
    )?);
    engines.push(Engine::start(
        REGISTERED,
        own.clone(),
        "`Gate::register` for all contracts, `Gate::validate`; nothing baked; documents under 4 KB only",
        &seamgate("registered"),
        None,
    )?);
    engines.push(Engine::start(
        CORE,
        own,
        "the same contracts, compiled once; `seamgate_core::validate`",
        &program(&[&example("bench-core"), word_plan, &plan.path]),
        None,
    )?);
    engines.push(Engine::start(
        NATIVE,
        locked("jsonschema"),
        "`serde_json::from_slice`, `Validator::is_valid`; `PatternOptions::regex()` where it takes all patterns",
        &program(&[&peer("bench-native"), word_plan, &plan.path]),
        Some(program(&[&peer("bench-native-cli"), &set.schema, &document.path])),
    )?);
    engines.push(Engine::start(
        ERRORS,
        locked("jsonschema"),
        "the same validators; `Validator::iter_errors`, the text and the instance path of every error",
        &program(&[&peer("bench-native"), word_plan, &plan.path, Path::new("errors")]),
        None,
    )?);
    engines.push(Engine::start(
        GENERATED,
        locked("jsonschema-macros"),
        "`serde_json::from_slice`, `is_valid` of the macro `jsonschema::validator`; the same options, methods and patterns",
        &program(&[&peer("bench-generated"), word_plan, &plan.path]),
        None,
    )?);
    engines.push(Engine::start(
        SIMD,
        locked("simd-json"),
        "`simd_json::to_tape_with_buffers`, buffers used again, a `serde_json::Value` made of the tape; the validators of jsonschema (Rust)",
        &program(&[&peer("bench-simd-json"), word_plan, &plan.path]),
        None,
    )?);
    engines.push(Engine::start(
        BOTH,
        locked("simd-json"),
        "the same reading; the generated validators",
        &program(&[&peer("bench-generated"), word_plan, &plan.path, Path::new("simd")]),
        None,
    )?);
    engines.push(Engine::start(
        BOON,
        locked("boon"),
        "`serde_json::from_slice`, `Schemas::validate`; formats but `regex` replaced by ones that pass",
        &program(&[&peer("bench-boon"), word_plan, &plan.path]),
        Some(program(&[&peer("bench-boon"), word_first, &set.schema, &document.path])),
    )?);

    let started = Engines { all: engines, skipped: Vec::new(), with_all_contracts: first(&plan.component) };
    match extent {
        Extent::All => with_other_languages(started, installed, plan),
        Extent::Rust => Ok(started),
    }
}

/// Also starts the engines in JavaScript and Python.
fn with_other_languages(mut started: Engines, installed: &Path, plan: &Plan) -> Result<Engines> {
    let Engines { all: engines, skipped, .. } = &mut started;
    let (set, document) = plan.first()?;
    let program = |words: &[&Path]| Program::of(words, installed);
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/engines");
    let (word_plan, word_first) = (Path::new("plan"), Path::new("first"));
    let node = Path::new("node");
    let in_node = [
        (
            AJV,
            "ajv",
            "`JSON.parse`, compiled function; `strict: false, validateFormats: false`; `ajv-draft-04` for draft 4; heeds what stands beside `$ref` in all drafts",
        ),
        (
            "ata-validator (JavaScript)",
            "ata-validator",
            "`JSON.parse`, `isValidObject`; `assertFormat: false, abortEarly: true`; without its native addon",
        ),
    ];
    for (name, package, settings) in in_node {
        if !installed.join("node").exists() {
            skipped.push(format!("{name}: there is no `node` or no `npm`"));
            continue;
        }
        let (script, package_word) = (scripts.join("node.mjs"), Path::new(package));
        engines.push(Engine::start(
            name,
            node_package(package),
            settings,
            &program(&[node, &script, package_word, word_plan, &plan.path]),
            Some(program(&[node, &script, package_word, word_first, &set.schema, &document.path])),
        )?);
    }

    let python = installed.join("python/bin/python");
    match blaze(installed) {
        Some(blaze) => {
            let [validate, fast] = ["validate", "--fast"].map(Path::new);
            engines.push(Engine::start(
                BLAZE,
                python_package("sourcemeta-jsonschema"),
                "the time of `validate --fast --benchmark`, which is without reading, and that of `simd-json` to read its own borrowed value",
                &program(&[&peers(installed).join("bench-blaze"), word_plan, &plan.path, &blaze]),
                Some(program(&[&blaze, validate, fast, &set.schema, &document.path])),
            )?);
        }
        None => skipped
            .push(format!("{BLAZE}: its package has no program for this system, or there is no `python3` with `venv`")),
    }
    let in_python = [
        (
            "jsonschema-rs (Python)",
            "jsonschema-rs",
            "`json.loads`, `is_valid`; `validate_formats=False`, `RegexOptions()` where it takes all patterns",
        ),
        (
            "fastjsonschema (Python)",
            "fastjsonschema",
            "`json.loads`, compiled function; `use_formats=False, use_default=False`",
        ),
        (PYTHON, "jsonschema", "`json.loads`, `is_valid`; no format checker"),
    ];
    for (name, package, settings) in in_python {
        if !python.exists() {
            skipped.push(format!("{name}: there is no `python3` with `venv`"));
            continue;
        }
        let (script, package_word) = (scripts.join("python.py"), Path::new(package));
        engines.push(Engine::start(
            name,
            python_package(package),
            settings,
            &program(&[&python, &script, package_word, word_plan, &plan.path]),
            Some(program(&[&python, &script, package_word, word_first, &set.schema, &document.path])),
        )?);
    }
    Ok(started)
}

impl Engine {
    /// Returns whether the engine is another validator that only returns whether a document is valid.
    pub(crate) fn is_peer(&self) -> bool {
        !self.name.starts_with("seamgate") && self.name != ERRORS
    }

    /// Starts the program, and waits until it has compiled all schemas.
    fn start(
        name: &'static str,
        version: String,
        settings: &'static str,
        program: &Program,
        first: Option<Program>,
    ) -> Result<Self> {
        eprintln!("bench: {name} compiles the schemas");
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{name} cannot be started"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no output")?);
        let engine = Engine { name, version, settings, process: RefCell::new(Process { child, input, output }), first };
        let ready = engine.answer()?;
        if let Some(own) = own_features(name) {
            ensure!(
                ready["serde_json"] == json!(own),
                "{name} was built with the features {} of `serde_json`; its users get {own:?}. \
                 `cargo xtask bench` builds it by itself",
                ready["serde_json"]
            );
        }
        Ok(engine)
    }

    /// Sends a question of one line, and returns the answer.
    pub(crate) fn ask(&self, question: &str) -> Result<Value> {
        let mut process = self.process.borrow_mut();
        let input = process.input.as_mut().context("it was stopped")?;
        writeln!(input, "{question}").with_context(|| format!("{} has ended", self.name))?;
        drop(process);
        self.answer()
    }

    fn answer(&self) -> Result<Value> {
        let mut line = String::new();
        self.process.borrow_mut().output.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("{} answered {line:?}", self.name))
    }

    /// Ends the program.
    pub(crate) fn stop(&self) -> Result<()> {
        let mut process = self.process.borrow_mut();
        process.input = None;
        process.child.wait()?;
        Ok(())
    }
}

/// Returns the version of a crate in `Cargo.lock`.
fn locked(name: &str) -> String {
    let lock = include_str!("../../Cargo.lock").replace('\r', "");
    let entry = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).map(|(_, rest)| rest);
    entry.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

fn node_package(name: &str) -> String {
    let lock: Value = serde_json::from_str(include_str!("node/package-lock.json")).unwrap_or_default();
    lock["packages"][format!("node_modules/{name}")]["version"].as_str().unwrap_or_default().to_owned()
}

fn python_package(name: &str) -> String {
    let pins = include_str!("python/requirements.txt");
    let pin = pins.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("=="));
    pin.unwrap_or_default().trim_end_matches(['\\', ' ']).to_owned()
}
