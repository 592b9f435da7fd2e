//! The C package: libraries, a header, and files for pkg-config and CMake. It is built from `host/c`, and tested in its
//! packed form.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    inside,
    install::remove,
    paths,
    run::{PACKAGES, cargo, command, output, root, run, say},
};

/// The sources of the package.
const SOURCES: &str = "host/c";

/// The folder with the package's files as they are installed.
const PREFIX: &str = "target/c";

/// The subfolders that are packed.
const PACKED: [&str; 3] = ["include", "lib", "share"];

/// The folder for programs that use the package.
const PROGRAMS: &str = "target/c/programs";

/// The names of the libraries as Cargo builds them, and in the package.
const LIBRARIES: [(&str, &str); 2] = [
    ("target/release/libseamgate_c.so", concat!("libseamgate.so.", env!("CARGO_PKG_VERSION"))),
    ("target/release/libseamgate_c.a", "libseamgate.a"),
];

/// The name of the shared library in programs that are linked with it. `host/c/build.rs` states it, too.
const SONAME: &str = "libseamgate.so.0";

/// The system libraries that Rust's standard library needs. Programs that are linked with the static library must name
/// them.
const SYSTEM: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// The options that turn on all warnings, and turn them into errors.
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

/// Options that end a program at each memory error, and at undefined behaviour.
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The number of rounds of the benchmark.
const ROUNDS: usize = 12;

/// Builds the package, runs its tests and its examples, and packs it.
pub(crate) fn test() -> Result<()> {
    if !prepare()? {
        return Ok(());
    }
    tests()?;
    builds()?;
    languages()?;
    let packed = pack()?;
    let first = fs::read(&packed)?;
    ensure!(fs::read(pack()?)? == first, "{}: packing again gives other bytes", packed.display());
    Ok(())
}

/// Packs the package, with the same bytes each time. Returns `None` without a C compiler.
pub(crate) fn package() -> Result<Option<PathBuf>> {
    match prepare()? {
        true => pack().map(Some),
        false => Ok(None),
    }
}

/// Builds the program that `cargo xtask runtimes` runs.
pub(crate) fn answers() -> Result<()> {
    match prepare()? {
        true => Program::c("tests/answers.c").build("answers").map(drop),
        false => remove(Path::new(PROGRAMS)),
    }
}

/// Judges a million outputs, and fails if the memory grows.
pub(crate) fn million() -> Result<()> {
    match prepare()? {
        true => run(&mut command(Program::c("benchmarks/million.c").with(&["-O2"]).build("million")?)),
        false => Ok(()),
    }
}

/// Compares calls with the C++ validators that Debian has, and prints a table with the minimum and the median of all
/// rounds.
pub(crate) fn bench() -> Result<()> {
    if !prepare()? {
        return Ok(());
    }
    let calls = Program::c("benchmarks/calls.c").with(&["-O2"]).build("calls")?;
    let peers =
        match compiles("c++", &[], "#include <rapidjson/schema.h>\n#include <valijson/validator.hpp>\nint main() {}") {
            true => Some(
                Program::cpp("benchmarks/peers.cpp", "-std=c++17")
                    .with(&["-O2", "-DNDEBUG"])
                    .lenient()
                    .build("peers")?,
            ),
            false => {
                say("no other validators: install libvalijson-dev and rapidjson-dev");
                None
            }
        };
    // A component with another digest, whose machine code is not in the library.
    let baked = Path::new(PREFIX).join("baked.wasm");
    let contracts = Path::new(PREFIX).join("contracts");
    fs::create_dir_all(&contracts)?;
    let contract = output(command(&calls).arg("--contract")).context("the program has no contract")?;
    fs::write(contracts.join("tickets.contract.json"), contract)?;
    run(command("target/release/seamgate").arg("bake").arg(&contracts).arg("-o").arg(&baked))?;
    let cache = root().join(PREFIX).join("cache");
    remove(&cache)?;
    let cached = format!("{{\"cache\": \"{}\"}}", cache.display());
    let baked = baked.display().to_string();
    let firsts = [
        ("first verdict, built-in component", "", ""),
        ("first verdict, baked component, machine code in the cache", baked.as_str(), cached.as_str()),
        ("first verdict, baked component, compiled", baked.as_str(), "{\"cache\": null}"),
    ];
    let mut figures = Figures::default();
    for round in 0..=ROUNDS {
        // The round before the first one fills the cache.
        let is_counted = round > 0;
        for program in [Some(&calls), peers.as_ref()].into_iter().flatten().filter(|_| is_counted) {
            figures.read(None, &output(&mut command(program)).with_context(|| program.display().to_string())?)?;
        }
        for (name, component, options) in firsts {
            let said = output(command(&calls).args([component, options])).context("no first verdict")?;
            if is_counted {
                figures.read(Some(name), &said)?;
            }
        }
    }
    figures.print();
    Ok(())
}

/// Prepares the package's files. Returns `false` without a C compiler.
fn prepare() -> Result<bool> {
    let has_c = has("cc");
    match has_c {
        true => prefix()?,
        false => say("skipping the C package: cc, a C compiler, is missing"),
    }
    Ok(has_c)
}

fn has(program: &str) -> bool {
    output(command(program).arg("--version")).is_some()
}

/// Builds the libraries, and prepares the package's files. Always builds the same packages, so that Wasmtime is not
/// compiled again with other features.
fn prefix() -> Result<()> {
    cargo(["build", "--release", "--locked", "--lib"])?;
    for folder in PACKED {
        remove(&Path::new(PREFIX).join(folder))?;
    }
    let [include, lib, share] = PACKED.map(|folder| Path::new(PREFIX).join(folder));
    let [pkgconfig, cmake] = ["pkgconfig", "cmake/seamgate"].map(|folder| lib.join(folder));
    let documents = share.join("doc/seamgate");
    for folder in [&include, &pkgconfig, &cmake, &documents] {
        fs::create_dir_all(folder)?;
    }
    for (made, name) in LIBRARIES.map(|(made, name)| (Path::new(made), name)) {
        ensure!(made.exists(), "{} is missing: the C package is built on Linux alone so far", made.display());
        paths::write_without(made, &lib.join(name))?;
    }
    for (name, to) in [(SONAME, LIBRARIES[0].1), ("libseamgate.so", SONAME)] {
        std::os::unix::fs::symlink(to, lib.join(name))?;
    }
    let files = [
        ("include/seamgate.h", include.join("seamgate.h")),
        ("seamgate.pc.in", pkgconfig.join("seamgate.pc")),
        ("seamgate-config.cmake.in", cmake.join("seamgate-config.cmake")),
        ("seamgate-config-version.cmake.in", cmake.join("seamgate-config-version.cmake")),
    ];
    for (from, to) in files {
        let from = Path::new(SOURCES).join(from);
        let text = fs::read_to_string(&from).with_context(|| from.display().to_string())?;
        fs::write(to, text.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@SYSTEM@", SYSTEM))?;
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(licence, documents.join(licence)).with_context(|| licence.to_owned())?;
    }
    inside::write(Some(("seamgate-c", &inside::host()?)), &documents)
}

/// A program of one source file that uses the package.
struct Program<'p> {
    compiler: &'static str,
    source: &'p str,
    options: Vec<&'static str>,
    is_static: bool,
}

impl<'p> Program<'p> {
    fn c(source: &'p str) -> Self {
        Program { compiler: "cc", source, options: [["-std=c11"].as_slice(), &STRICT].concat(), is_static: false }
    }

    /// Creates a program in C++. A C file can be compiled as C++, too.
    fn cpp(source: &'p str, standard: &'static str) -> Self {
        Program { compiler: "c++", source, options: [[standard].as_slice(), &STRICT].concat(), is_static: false }
    }

    fn with(mut self, options: &[&'static str]) -> Self {
        self.options.extend(options);
        self
    }

    /// Turns warnings off, because third-party headers cause some.
    fn lenient(mut self) -> Self {
        self.options.retain(|option| !STRICT.contains(option));
        self
    }

    fn linked_statically(mut self) -> Self {
        self.is_static = true;
        self
    }

    /// Compiles the program. At run time, it finds the library in the prepared folder.
    fn build(self, name: &str) -> Result<PathBuf> {
        fs::create_dir_all(PROGRAMS)?;
        let program = Path::new(PROGRAMS).join(name);
        let lib = root().join(PREFIX).join("lib");
        let language = if self.compiler == "c++" { "c++" } else { "c" };
        let mut command = command(self.compiler);
        command.args(&self.options).arg("-I").arg(Path::new(PREFIX).join("include"));
        command.args(["-x", language]).arg(Path::new(SOURCES).join(self.source)).args(["-x", "none", "-pthread"]);
        match self.is_static {
            true => command.arg(lib.join("libseamgate.a")).args(SYSTEM.split(' ')),
            false => command.arg("-L").arg(&lib).arg("-lseamgate").arg(format!("-Wl,-rpath,{}", lib.display())),
        };
        run(command.arg("-o").arg(&program))?;
        Ok(program)
    }
}

/// Returns whether a compiler can compile a text to a program.
fn compiles(compiler: &str, options: &[&str], text: &str) -> bool {
    let source = Path::new(PROGRAMS).join("probe.c");
    let written = fs::create_dir_all(PROGRAMS).and_then(|()| fs::write(&source, text));
    let mut command = command(compiler);
    command.args(options).args(["-x", if compiler == "c++" { "c++" } else { "c" }]).arg(source);
    written.is_ok() && output(command.arg("-o").arg(Path::new(PROGRAMS).join("probe"))).is_some()
}

/// Runs the tests: in C under valgrind, in C with sanitizers, and in C++.
fn tests() -> Result<()> {
    const TESTS: &str = "tests/test.c";
    run(command(Program::c(TESTS).with(&["-O1"]).build("test")?).arg(root()))?;
    if has("valgrind") {
        // The static library has function names, which the suppressions need.
        let program = Program::c(TESTS).with(&["-O1"]).linked_statically().build("test-static")?;
        let leaks = "--errors-for-leak-kinds=definite,indirect,possible";
        let suppressions = format!("--suppressions={SOURCES}/tests/valgrind.supp");
        let valgrind = ["--quiet", "--error-exitcode=1", "--leak-check=full", leaks, &suppressions];
        run(command("valgrind").args(valgrind).arg(program).arg(root()))?;
    } else {
        say("skipping the tests under valgrind, which is missing");
    }
    match compiles("cc", &SANITIZERS, "int main(void) { return 0; }") {
        true => run(command(Program::c(TESTS).with(&["-O1"]).with(&SANITIZERS).build("test-sanitized")?).arg(root()))?,
        false => say("skipping the tests with sanitizers: this C compiler has no library for them"),
    }
    cases()?;
    match has("c++") {
        true => run(command(Program::cpp(TESTS, "-std=c++17").linked_statically().build("test-c++")?).arg(root())),
        false => {
            say("skipping the tests as C++: c++ is missing");
            Ok(())
        }
    }
}

/// Passes all cases and attacks of the repository through the functions, in a program with sanitizers if the compiler
/// supports them.
fn cases() -> Result<()> {
    if !has("python3") {
        say("skipping the cases: python3, which reads their files, is missing");
        return Ok(());
    }
    let driver = Program::c("tests/driver.c").with(&["-O1"]);
    let driver = match compiles("cc", &SANITIZERS, "int main(void) { return 0; }") {
        true => driver.with(&SANITIZERS),
        false => driver,
    };
    run(command("python3").arg(Path::new(SOURCES).join("tests/cases.py")).arg(driver.build("driver")?).arg(root()))
}

/// Builds the program of the README as users do, with pkg-config and with CMake.
fn builds() -> Result<()> {
    let readme = fs::read_to_string(Path::new(SOURCES).join("README.md"))?;
    // The program contains a fence inside a string, which is not at the beginning of a line.
    let block = |language: &str| {
        let rest = readme.split(&format!("```{language}\n")).nth(1).unwrap_or_default();
        rest.split("\n```").next().unwrap_or_default().to_owned() + "\n"
    };
    let source = Path::new(SOURCES).join("examples/order.c");
    ensure!(block("c") == fs::read_to_string(&source)?, "the README shows another program than {}", source.display());
    let expect = |program: &mut Command, by: &str| {
        let said = output(program).with_context(|| format!("the example that {by} built fails"))?;
        ensure!(
            said == block("text").trim(),
            "the README says that its program prints\n{}\nand it prints\n{said}",
            block("text")
        );
        Ok(())
    };
    let lib = root().join(PREFIX).join("lib");
    match has("pkg-config") {
        true => {
            for (options, name) in
                [(["--cflags", "--libs"].as_slice(), "order"), (&["--cflags", "--libs", "--static"], "order-all")]
            {
                let flags = output(
                    command("pkg-config").args(options).arg("seamgate").env("PKG_CONFIG_PATH", lib.join("pkgconfig")),
                );
                let flags = flags.context("pkg-config does not find the package")?;
                let to = Path::new(PROGRAMS).join(name);
                run(command("cc").arg(&source).args(flags.split_whitespace()).arg("-o").arg(&to))?;
                expect(command(to).env("LD_LIBRARY_PATH", &lib), "pkg-config")?;
            }
        }
        false => say("skipping pkg-config: it is missing"),
    }
    match has("cmake") {
        true => {
            let build = Path::new(PROGRAMS).join("cmake");
            remove(&build)?;
            let prefix = format!("-DCMAKE_PREFIX_PATH={}", root().join(PREFIX).display());
            run(command("cmake")
                .arg("-S")
                .arg(Path::new(SOURCES).join("tests/cmake"))
                .arg("-B")
                .arg(&build)
                .arg(prefix))?;
            run(command("cmake").arg("--build").arg(&build))?;
            for name in ["shared", "static"] {
                expect(&mut command(build.join(name)), "CMake")?;
            }
        }
        false => say("skipping CMake: it is missing"),
    }
    Ok(())
}

/// Runs the examples in other languages that call C, if their interpreters are installed.
fn languages() -> Result<()> {
    let examples = Path::new(SOURCES).join("examples");
    let library = Path::new(PREFIX).join("lib/libseamgate.so");
    let probes = [
        ("Ruby", "ruby", ["-e", "require 'fiddle'"], "order.rb"),
        ("PHP", "php", ["-r", "exit(extension_loaded('ffi') ? 0 : 1);"], "order.php"),
        ("LuaJIT", "luajit", ["-e", "require('ffi')"], "order-luajit.lua"),
    ];
    for (language, program, probe, example) in probes {
        match output(command(program).args(probe)).is_some() {
            true => judged(command(program).arg(examples.join(example)).arg(&library), language)?,
            false => say(&format!("skipping {language}: {program} with its foreign functions is missing")),
        }
    }
    let flags = output(command("pkg-config").args(["--cflags", "lua5.4"]));
    match flags.filter(|_| output(command("lua5.4").arg("-v")).is_some()) {
        Some(flags) => {
            // Lua finds a module by its name.
            let flags = flags.split_whitespace().chain(["-std=c11", "-fPIC", "-shared", "-O2"]).chain(STRICT);
            let lib = root().join(PREFIX).join("lib");
            let include = Path::new(PREFIX).join("include");
            let mut cc = command("cc");
            cc.args(flags)
                .arg("-I")
                .arg(include)
                .arg(examples.join("lua-seamgate.c"))
                .arg("-L")
                .arg(&lib)
                .arg("-lseamgate");
            run(cc
                .arg(format!("-Wl,-rpath,{}", lib.display()))
                .arg("-o")
                .arg(Path::new(PROGRAMS).join("seamgate.so")))?;
            judged(command("lua5.4").arg(examples.join("order.lua")).arg(PROGRAMS), "Lua")?;
        }
        None => say("skipping Lua: lua5.4 with its headers is missing"),
    }
    Ok(())
}

/// Runs an example, which must print the report of an accepted output, followed by a fault.
fn judged(example: &mut Command, language: &str) -> Result<()> {
    let said = output(example).with_context(|| format!("the example for {language} fails"))?;
    let lines: Vec<&str> = said.lines().collect();
    let is_right = |report: &str, fault: &str| {
        report.starts_with("{\"disposition\":\"accepted\"") && report.ends_with('}') && fault.contains("unknown_agent")
    };
    ensure!(
        matches!(lines[..], [report, fault] if is_right(report, fault)),
        "the example for {language} prints\n{said}"
    );
    say(&format!("the example for {language} judges"));
    Ok(())
}

/// Packs the folders of the package, with the same bytes each time.
fn pack() -> Result<PathBuf> {
    let name = format!("seamgate-c-{}-{}", env!("CARGO_PKG_VERSION"), inside::host()?);
    let packed = Path::new(PACKAGES).join(format!("{name}.tar"));
    fs::create_dir_all(PACKAGES)?;
    // Without the metadata that differs between machines. The targets of links are unchanged.
    let same = [
        "--sort=name",
        "--format=ustar",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "--mode=u=rwX,go=rX",
    ];
    let below = format!("--transform=flags=rh;s,^,{name}/,");
    run(command("tar").args(same).arg(below).arg("-C").arg(PREFIX).arg("-cf").arg(&packed).args(PACKED))?;
    run(command("gzip").args(["--force", "--no-name", "-6"]).arg(&packed))?;
    let packed = packed.with_extension("tar.gz");
    say(&format!("{}: {} bytes", packed.display(), fs::metadata(&packed)?.len()));
    Ok(packed)
}

/// The microseconds of all rounds, by name and size.
#[derive(Default)]
struct Figures {
    names: Vec<String>,
    figures: BTreeMap<(String, usize), Vec<f64>>,
}

impl Figures {
    /// Reads the lines of one round, under their own names or under another name.
    fn read(&mut self, name: Option<&str>, lines: &str) -> Result<()> {
        for line in lines.lines() {
            let mut cells = line.split('\t');
            let own = cells.next().unwrap_or_default();
            let name = name.unwrap_or(own).to_owned();
            let (size, figure) = cells.next().zip(cells.next()).with_context(|| format!("no figure: {line}"))?;
            if !self.names.contains(&name) {
                self.names.push(name.clone());
            }
            self.figures.entry((name, size.parse()?)).or_default().push(figure.parse()?);
        }
        Ok(())
    }

    fn print(mut self) {
        println!("\n| µs a call: the least, and the middle | 500 B | 5 KB | 500 KB |\n| --- | ---: | ---: | ---: |");
        for name in &self.names {
            let cells = [500, 5_000, 500_000].map(|size| match self.figures.get_mut(&(name.clone(), size)) {
                Some(figures) => {
                    figures.sort_by(f64::total_cmp);
                    let digits = |figure: f64| format!("{figure:.*}", if figure < 20.0 { 1 } else { 0 });
                    format!("{} ({})", digits(figures[0]), digits(figures[figures.len() / 2]))
                }
                None => "–".to_owned(),
            });
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
}
