//! Checks the layouts of `cargo xtask package`: a second build must have the same digests, and ORAS pushes each to a
//! registry on loopback and must pull the same bytes. `wkg` gets each component that ORAS pushed, and ORAS gets those
//! that `wkg` pushed. All programs are pinned by version and digest.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    go,
    install::{done, has_go, installed, remove},
    oci::{self, EXTENSION, Layout},
    package::{DIGESTS, published},
    run::{PACKAGES, command, output, root, rooted, run, say},
    source,
};

/// The folder of the files that pin both programs.
const PINNED: &str = "tests/oci";

/// The folder where `wkg` is installed.
const WKG: &str = "target/oci/wkg";

/// The folder where `wkg` is built. It is removed afterwards.
const BUILD: &str = "target/oci/build";

/// The folder for the programs, the registry and the pulled files.
const FOLDER: &str = "target/oci";

/// How long the registry may take to start.
const START: Duration = Duration::from_secs(30);

/// Checks every layout in the folder of packages, which `cargo xtask package` creates.
pub(crate) fn check() -> Result<()> {
    let packages = Path::new(PACKAGES);
    let files: Vec<PathBuf> = published(packages)?.into_iter().map(|(name, _)| packages.join(name)).collect();
    let layouts: Vec<&PathBuf> = files.iter().filter(|path| path.to_string_lossy().ends_with(EXTENSION)).collect();
    ensure!(!layouts.is_empty(), "{PACKAGES}/{DIGESTS} names no layout: run `cargo xtask package`");

    let again = Path::new(FOLDER).join("again");
    remove(&again)?;
    let again = oci::write(&files, &packages.join("inside"), &again)?;
    ensure!(again.len() == layouts.len(), "{} layouts, and {} in a second build", layouts.len(), again.len());
    for path in again {
        let first = packages.join(path.file_name().context("a file")?);
        ensure!(fs::read(&first)? == fs::read(&path)?, "a second build of {} has other bytes", first.display());
    }
    // Only a system that builds the command line as one file has an image.
    for image in layouts.iter().filter(|path| oci::is_image(path)) {
        health(image)?;
    }

    if !has_go() {
        say("skipping the registry: go is missing");
        return Ok(());
    }
    let folder = root().join(FOLDER);
    let (oras, registry) = (folder.join("oras"), folder.join("registry"));
    go::tool(PINNED, "oras.land/oras/cmd/oras", &oras)?;
    go::tool(PINNED, "github.com/distribution/distribution/v3/cmd/registry", &registry)?;
    let registry = Registry::start(&registry, &folder)?;
    let wkg = Wkg::install(&registry.address, &folder)?;
    let client = Client { oras, registry: &registry.address, folder };
    let mut components = 0;
    for layout in &layouts {
        client.round_trip(layout)?;
        if !oci::is_image(layout) {
            wkg.exchanges(&client, layout)?;
            components += 1;
        }
    }
    client.refuses_a_changed_byte(layouts[0])?;
    wkg.publishes_the_wit_package()?;
    say(&format!("{} layouts: the same digests in a second build and from a registry", layouts.len()));
    say(&format!("{components} components: exchanged between ORAS and wkg"));
    Ok(())
}

/// Runs the health check of the container image in a folder that contains only the files of the image.
fn health(image: &Path) -> Result<()> {
    let folder = Path::new(FOLDER).join("image");
    remove(&folder)?;
    let config = oci::unpack(image, &folder)?;
    let test: Vec<&str> =
        config["Healthcheck"]["Test"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let ["CMD", program, arguments @ ..] = test.as_slice() else { bail!("the image has no health check") };
    let Some(mut rooted) = rooted(&folder) else {
        say("the health check of the image is not tried: this system allows no user namespaces");
        return Ok(());
    };
    run(rooted.arg(program).args(arguments))
}

/// A registry on loopback. Dropping this ends it.
struct Registry {
    child: Child,
    address: String,
}

impl Registry {
    /// Starts a registry with an empty folder, on a free port.
    fn start(program: &Path, folder: &Path) -> Result<Self> {
        let store = folder.join("store");
        remove(&store)?;
        fs::create_dir_all(&store)?;
        let (settings, log) = (folder.join("registry.json"), folder.join("registry.log"));
        // JSON is valid YAML.
        let text = serde_json::json!({
            "version": "0.1",
            "storage": { "filesystem": { "rootdirectory": store } },
            "http": { "addr": "127.0.0.1:0" },
        });
        fs::write(&settings, text.to_string())?;
        // Without tracing, because the registry would send traces to a collector.
        let child = command(program)
            .arg("serve")
            .arg(&settings)
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdout(File::create(folder.join("registry.out"))?)
            .stderr(File::create(&log)?)
            .spawn()
            .context("the registry does not start")?;
        let mut registry = Self { child, address: String::new() };
        let begin = Instant::now();
        while begin.elapsed() < START {
            let said = fs::read_to_string(&log)?;
            if let Some(address) =
                said.split("listening on ").nth(1).and_then(|rest| rest.split(['"', ' ', '\n']).next())
            {
                registry.address = address.to_owned();
                say(&format!("the registry listens on {address}"));
                return Ok(registry);
            }
            if registry.child.try_wait()?.is_some() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        bail!("the registry does not listen: see {}", log.display())
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// ORAS, and the registry that it uses.
struct Client<'a> {
    oras: PathBuf,
    registry: &'a str,
    folder: PathBuf,
}

impl Client<'_> {
    /// Returns ORAS with an empty folder for credentials, so that it sends none.
    fn oras(&self, verb: &str) -> Command {
        let mut oras = command(&self.oras);
        oras.args([verb, "--no-tty"]).env("DOCKER_CONFIG", self.folder.join("credentials"));
        oras
    }

    /// Pushes a layout and pulls it. Every blob must come back with the same bytes.
    fn round_trip(&self, path: &Path) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let name = path.file_name().and_then(|name| name.to_str()).context("a file")?.trim_end_matches(EXTENSION);
        let Layout { digest, blobs, .. } = oci::read(path)?;
        let pushed = format!("{}/{}:{version}", self.registry, repository(name));
        run(self.oras("cp").args(["--from-oci-layout", "--to-plain-http"]).arg(tagged(path)).arg(&pushed))?;
        let resolved = output(command(&self.oras).args(["resolve", "--plain-http", &pushed]));
        ensure!(resolved.as_ref() == Some(&digest), "{pushed} is {resolved:?}, not {digest}");

        let pulled = self.folder.join("pulled").join(name);
        remove(&pulled)?;
        run(self.oras("cp").args(["--from-plain-http", "--to-oci-layout", &pushed]).arg(tagged(&pulled)))?;
        let index: Value = serde_json::from_slice(&fs::read(pulled.join("index.json"))?)?;
        ensure!(index["manifests"][0]["digest"] == digest, "pulled {}, not {digest}", index["manifests"][0]["digest"]);
        for blob in &blobs {
            let bytes = fs::read(pulled.join(oci::blob(blob)?)).with_context(|| format!("{blob} was not pulled"))?;
            ensure!(oci::digest(&bytes) == *blob, "{blob} was pulled with other bytes");
        }

        // As a user gets a component.
        let component = Path::new(PACKAGES).join(format!("{name}.wasm"));
        if component.exists() {
            run(self.oras("pull").args(["--plain-http", &pushed, "--output"]).arg(&pulled))?;
            let file = pulled.join(format!("{name}.wasm"));
            ensure!(fs::read(&file)? == fs::read(&component)?, "{} differs from what was pushed", file.display());
        }
        Ok(())
    }

    /// Pushes a layout with one changed byte, which ORAS must reject.
    fn refuses_a_changed_byte(&self, path: &Path) -> Result<()> {
        let mut layout = fs::read(path)?;
        // The tar file ends with two empty blocks of 512 bytes, preceded by the last blob.
        let last = layout.iter().rposition(|byte| *byte != 0).context("an empty file")?;
        layout[last] ^= 1;
        let changed = self.folder.join(format!("changed{EXTENSION}"));
        fs::write(&changed, layout)?;
        let to = format!("{}/changed:{}", self.registry, env!("CARGO_PKG_VERSION"));
        let pushed = self.oras("cp").args(["--from-oci-layout", "--to-plain-http", &tagged(&changed), &to]).output()?;
        ensure!(!pushed.status.success(), "oras pushes {} in spite of a changed byte", changed.display());
        say(&format!("a changed byte: {}", String::from_utf8_lossy(&pushed.stderr).trim()));
        Ok(())
    }
}

/// `wkg`, and the registry that it uses.
struct Wkg<'a> {
    program: PathBuf,
    registry: &'a str,
    folder: PathBuf,
}

impl<'a> Wkg<'a> {
    /// Builds `wkg` from its crate, once. `tests/sources` pins the crate and all its dependencies.
    fn install(registry: &'a str, folder: &Path) -> Result<Self> {
        let pinned = [Path::new("tests/sources/wkg/Cargo.lock")];
        if !installed(Path::new(WKG), &pinned)? {
            let source = source::program("wkg", "loading the source of wkg")?;
            say(&format!("building wkg into {WKG}: this takes four minutes or more, once"));
            // Not optimised, because it runs only for seconds.
            run(command("cargo")
                .args(["install", "--locked", "--no-track", "--debug", "--path"])
                .arg(&source)
                .args(["--root", WKG, "--target-dir", BUILD])
                .env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
            remove(Path::new(BUILD))?;
            done(Path::new(WKG), &pinned)?;
        }
        let wkg = Self { program: root().join(WKG).join("bin/wkg"), registry, folder: folder.join("wkg-home") };
        remove(&wkg.folder)?;
        fs::create_dir_all(&wkg.folder)?;
        Ok(wkg)
    }

    /// Returns `wkg` in a separate folder, with an empty cache and without credentials.
    fn wkg(&self, arguments: &[&str]) -> Command {
        let mut wkg = command(&self.program);
        wkg.args(arguments)
            .current_dir(&self.folder)
            .env("DOCKER_CONFIG", self.folder.join("credentials"))
            .env("WKG_CACHE_DIR", self.folder.join("cache"))
            .env("WKG_OCI_INSECURE", self.registry)
            .env("RUST_BACKTRACE", "0");
        wkg
    }

    /// Writes a configuration in which the packages `seamgate:NAME` are in the repositories `PREFIXseamgate/NAME`.
    fn configure(&self, prefix: &str) -> Result<PathBuf> {
        let registry = self.registry;
        let to = self.folder.join("config.toml");
        let text = format!(
            "[namespace_registries]\n\
             seamgate = {{ registry = \"{registry}\", metadata = {{ preferredProtocol = \"oci\", \
             oci = {{ registry = \"{registry}\", namespacePrefix = \"{prefix}\" }} }} }}\n\
             [registry.\"{registry}\"]\ntype = \"oci\"\n[registry.\"{registry}\".oci]\nprotocol = \"http\"\n"
        );
        fs::write(&to, text)?;
        Ok(to)
    }

    /// Gets a package by its name and version. It must have the bytes of a file.
    fn gets(&self, prefix: &str, name: &str, wanted: &Path) -> Result<()> {
        let to = self.folder.join("got.wasm");
        let package = format!("seamgate:{name}@{}", env!("CARGO_PKG_VERSION"));
        run(self
            .wkg(&["get", &package, "--overwrite", "--format", "wasm", "--config"])
            .arg(self.configure(prefix)?)
            .arg("--output")
            .arg(&to))?;
        ensure!(fs::read(&to)? == fs::read(wanted)?, "wkg got {package} with other bytes");
        Ok(())
    }

    /// Gets the component that ORAS pushed, by its reference and by its name. Then pushes the file, and pulls it with
    /// ORAS. Both tools must describe the same layer, and the same imports and exports.
    fn exchanges(&self, client: &Client<'_>, layout: &Path) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let name = layout.file_name().and_then(|name| name.to_str()).context("a file")?.trim_end_matches(EXTENSION);
        let component = root().join(PACKAGES).join(format!("{name}.wasm"));
        let repository = repository(name);
        let by_oras = format!("{}/{repository}:{version}", self.registry);
        let to = self.folder.join("pulled.wasm");
        run(self.wkg(&["oci", "pull", &by_oras, "--output"]).arg(&to))?;
        ensure!(fs::read(&to)? == fs::read(&component)?, "wkg pulled {by_oras} with other bytes");
        self.gets("", repository.trim_start_matches("seamgate/"), &component)?;

        let by_wkg = format!("{}/by-wkg/{repository}:{version}", self.registry);
        run(self.wkg(&["oci", "push", &by_wkg]).arg(&component))?;
        let pulled = self.folder.join("pulled");
        remove(&pulled)?;
        run(client.oras("pull").args(["--plain-http", &by_wkg, "--output"]).arg(&pulled))?;
        let file = pulled.join(format!("{name}.wasm"));
        ensure!(fs::read(&file)? == fs::read(&component)?, "ORAS pulled {by_wkg} with other bytes");
        // wkg writes the time into the configuration, so the digests of the manifests differ.
        let described = [&by_oras, &by_wkg].map(|reference| client.describes(reference));
        let [ours, theirs] = described;
        let (ours, theirs) = (ours?, theirs?);
        ensure!(ours == theirs, "{by_oras} is {ours:?}, and {by_wkg} is {theirs:?}");
        Ok(())
    }

    /// Publishes the WIT package under the name that it contains, and gets the same bytes back.
    fn publishes_the_wit_package(&self) -> Result<()> {
        let package = root().join(PACKAGES).join(format!("seamgate-wit-{}.wasm", env!("CARGO_PKG_VERSION")));
        // The cache has the component with the same name, which comes from another repository.
        remove(&self.folder.join("cache"))?;
        // This file has the description and the licences.
        fs::copy("wkg.toml", self.folder.join("wkg.toml"))?;
        run(self.wkg(&["publish", "--config"]).arg(self.configure("wit/")?).arg(&package))?;
        self.gets("wit/", "validator", &package)
    }
}

/// A component in a registry: its layers, imports and exports.
type Description = (Value, [BTreeSet<String>; 2]);

impl Client<'_> {
    /// Returns the registry's description of a component.
    fn describes(&self, reference: &str) -> Result<Description> {
        let fetch = |verb: &[&str]| -> Result<Value> {
            let text = output(command(&self.oras).args(verb).args(["--plain-http", reference]));
            Ok(serde_json::from_str(&text.with_context(|| format!("ORAS cannot read {reference}"))?)?)
        };
        let manifest = fetch(&["manifest", "fetch"])?;
        let config = fetch(&["manifest", "fetch-config"])?;
        let names = |which: &str| {
            let names = config["component"][which].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Ok((manifest["layers"].clone(), [names("imports"), names("exports")]))
    }
}

/// Returns the name of the repository for a layout, without the version and everything after it.
fn repository(name: &str) -> String {
    let (before, _) = name.split_once(&format!("-{}", env!("CARGO_PKG_VERSION"))).unwrap_or((name, ""));
    before.replacen('-', "/", 1)
}

/// Returns the reference of a layout with the tag that all layouts have.
fn tagged(layout: &Path) -> String {
    format!("{}:{}", layout.display(), env!("CARGO_PKG_VERSION"))
}
