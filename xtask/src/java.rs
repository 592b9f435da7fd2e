//! The package for Java. Maven builds it from `host/java` and the module without vector instructions, using only files
//! whose digests are pinned.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{
    guest::SCALAR,
    inside,
    install::{done, installed, remove},
    run::{PACKAGES, command, output, root, run, say},
};

/// The sources of the package.
const SOURCES: &str = "host/java";

/// The digests of all files that Maven downloads from its registry, and the projects that need them.
const CHECKSUMS: &str = "host/java/checksums.txt";
const PROJECTS: [&str; 3] = ["host/java", "host/java/benchmarks", "docs/recipes/java"];

/// The folder where Maven keeps these files. It is separate from the user's, which may have other files.
const REPOSITORY: &str = "target/java/repository";

/// The oldest version of Java that runs the package.
const JAVA: u32 = 17;

/// Returns whether Maven and a recent enough Java are installed. If not, reports that.
fn has_java() -> bool {
    let version = output(command("javac").arg("-version")).unwrap_or_default();
    let major = version.trim_start_matches("javac ").split('.').next().and_then(|major| major.parse::<u32>().ok());
    let has = major.is_some_and(|major| major >= JAVA) && output(command("mvn").arg("--version")).is_some();
    if !has {
        say(&format!("skipping the package for Java: it needs javac {JAVA} or later, and mvn"));
    }
    has
}

/// Returns Maven in a folder, with files only from the pinned repository.
fn mvn(folder: &str, arguments: &[&str]) -> Command {
    let mut mvn = command("mvn");
    let repository = format!("-Dmaven.repo.local={}", root().join(REPOSITORY).display());
    mvn.args(["--batch-mode", "--no-transfer-progress", &repository]).args(arguments).current_dir(folder);
    mvn
}

/// Fetches the pinned files, and adds the files of the build to the sources. Returns `false` without Java.
fn prepare() -> Result<bool> {
    if !has_java() {
        return Ok(false);
    }
    ensure!(Path::new(SCALAR).exists(), "{SCALAR} is missing: run `cargo xtask build`");
    inside()?;
    let repository = Path::new(REPOSITORY);
    let poms: Vec<PathBuf> = PROJECTS.iter().map(|project| Path::new(project).join("pom.xml")).collect();
    let pinned: Vec<&Path> = [Path::new(CHECKSUMS)].into_iter().chain(poms.iter().map(PathBuf::as_path)).collect();
    if !installed(repository, &pinned)? {
        fetch()?;
        verify()?;
        done(repository, &pinned)?;
    }
    run(mvn(SOURCES, &["--offline", "--quiet", "install"]).env("MAVEN_OPTS", "-Xmx1g"))?;
    Ok(true)
}

/// Adds licences, and the list of contents, to the sources.
fn inside() -> Result<()> {
    let inside = Path::new(SOURCES).join("inside");
    inside::write(None, &inside)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(name, inside.join(name)).with_context(|| name.to_owned())?;
    }
    Ok(())
}

/// Fetches the files that all projects need. Maven fetches a plugin only when it runs it, so this builds the projects.
/// Everything that is built before all digests are verified is built again.
fn fetch() -> Result<()> {
    for project in PROJECTS {
        run(&mut mvn(project, &["--quiet", "--strict-checksums", "-DskipTests", "install"]))?;
    }
    Ok(())
}

/// Compares each file that Maven fetched with its pinned digest.
fn verify() -> Result<()> {
    let pinned = fs::read_to_string(CHECKSUMS).context(CHECKSUMS)?;
    let found = digests()?;
    let unknown: Vec<&str> = found.lines().filter(|line| !pinned.lines().any(|known| known == *line)).collect();
    if !unknown.is_empty() {
        remove(Path::new(REPOSITORY))?;
        bail!(
            "not pinned in {CHECKSUMS}, or with another digest (`cargo xtask java pin` pins):\n{}",
            unknown.join("\n")
        );
    }
    Ok(())
}

/// Returns a line for each file in the repository, with its digest and its path, sorted by path.
fn digests() -> Result<String> {
    let mut lines = Vec::new();
    let mut open = vec![PathBuf::from(REPOSITORY)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jar" || ending == "pom") {
                let name = path.strip_prefix(REPOSITORY)?.display().to_string();
                let digest = HEXLOWER.encode(&Sha256::digest(fs::read(&path)?));
                lines.push((name, digest));
            }
        }
    }
    lines.sort();
    lines.retain(|(name, _)| !name.starts_with("dev/seamgate/"));
    Ok(lines.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect())
}

/// Fetches everything again, and pins it.
pub(crate) fn pin() -> Result<()> {
    if !has_java() {
        return Ok(());
    }
    remove(Path::new(REPOSITORY))?;
    inside()?;
    fetch()?;
    Ok(fs::write(CHECKSUMS, digests()?)?)
}

/// The plugin that fetches a single file, as `host/java/pom.xml` pins it.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// Fetches a file that no project needs from Maven's registry into an empty folder. Returns `None` without Java.
pub(crate) fn file(artifact: &str, digest: &str, folder: &Path) -> Result<Option<PathBuf>> {
    if !prepare()? {
        return Ok(None);
    }
    remove(folder)?;
    fs::create_dir_all(folder)?;
    let group = artifact.split(':').next().unwrap_or(artifact).replace('.', "/");
    let output = format!("-DoutputDirectory={}", std::path::absolute(folder)?.display());
    let copied =
        run(&mut mvn(".", &["--quiet", "--strict-checksums", COPY, &format!("-Dartifact={artifact}"), &output]));
    // Only files that the projects need stay in the repository, and all of these are pinned.
    remove(&Path::new(REPOSITORY).join(group))?;
    copied?;
    verify()?;
    let file = fs::read_dir(folder)?.next().context("Maven fetched nothing")??.path();
    let found = HEXLOWER.encode(&Sha256::digest(fs::read(&file)?));
    ensure!(found == digest, "{artifact} has the SHA-256 {found}, and not {digest}");
    Ok(Some(file))
}

/// Builds the package, checks lints, and runs all tests and recipes.
pub(crate) fn test() -> Result<()> {
    if !prepare()? {
        return Ok(());
    }
    run(&mut mvn("docs/recipes/java", &["--offline", "--quiet", "verify"]))?;
    let jar = jar();
    say(&format!("{}: {} bytes", jar.display(), fs::metadata(&jar)?.len()));
    Ok(())
}

fn jar() -> PathBuf {
    Path::new(SOURCES).join(format!("target/seamgate-{}.jar", env!("CARGO_PKG_VERSION")))
}

/// Compares calls with other validators.
pub(crate) fn bench() -> Result<()> {
    // HotSpot's second compiler would take longer than the run.
    benchmark(&["-XX:TieredStopAtLevel=1", "dev.seamgate.benchmarks.Bench"])
}

/// Judges a million outputs, and fails if the memory grows.
pub(crate) fn million() -> Result<()> {
    // The heap is fixed, so that the size of the process shows everything else. As above, only one compiler is used.
    benchmark(&["-Xms128m", "-Xmx128m", "-XX:TieredStopAtLevel=1", "dev.seamgate.benchmarks.Million"])
}

/// Runs a benchmark program in the way that the README describes.
fn benchmark(arguments: &[&str]) -> Result<()> {
    if !prepare()? {
        return Ok(());
    }
    run(&mut mvn("host/java/benchmarks", &["--offline", "--quiet", "verify"]))?;
    run(command("java")
        .args(["-XX:-DontCompileHugeMethods", "-cp", "target/classes:target/lib/*"])
        .args(arguments)
        .current_dir("host/java/benchmarks"))
}

/// Builds the classes that `cargo xtask runtimes` runs. Returns `false` without Java.
pub(crate) fn answers() -> Result<bool> {
    let classes = Path::new(SOURCES).join("target/lib");
    if !prepare()? {
        remove(&classes)?;
        return Ok(false);
    }
    Ok(true)
}

/// Copies the package to the published files, with the same bytes each time. Returns `None` without Java.
pub(crate) fn package() -> Result<Option<PathBuf>> {
    if !prepare()? {
        return Ok(None);
    }
    let first = fs::read(jar())?;
    remove(&Path::new(SOURCES).join("target"))?;
    run(&mut mvn(SOURCES, &["--offline", "--quiet", "-DskipTests", "package"]))?;
    ensure!(fs::read(jar())? == first, "{}: building again gives other bytes", jar().display());
    let to = Path::new(PACKAGES).join(format!("seamgate-java-{}.jar", env!("CARGO_PKG_VERSION")));
    fs::create_dir_all(PACKAGES)?;
    fs::write(&to, first)?;
    say(&format!("{}: {} bytes", to.display(), fs::metadata(&to)?.len()));
    Ok(Some(to))
}
