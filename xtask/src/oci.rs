//! Writes OCI image layouts of the published files: each component and the WIT package as a Wasm OCI artifact, and the
//! command line as a container image. A layout is one tar file, whose bytes depend only on its contents.
//!
//! - Layouts: the OCI image specification 1.1.
//! - Artifacts: [Wasm OCI Artifact layout](https://tag-runtime.cncf.io/wgs/wasm/deliverables/wasm-oci-artifact/) of CNCF's
//!   TAG Runtime, with the annotations that `wkg publish` writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use data_encoding::HEXLOWER;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::{
    guest,
    inside::NOTICES,
    python::EPOCH,
    run::{root, say},
};

/// The suffix of a layout's file name.
pub(crate) const EXTENSION: &str = ".oci.tar";

/// The suffix of the name of the command line for the container image. It needs no other files.
const PROGRAM: &str = "-x86_64-linux";

/// [`EPOCH`], the time of all files, in the notation of JSON documents.
const CREATED: &str = "1980-01-01T00:00:00Z";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const IMAGE_LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";
const WASM_LAYER: &str = "application/wasm";

const TITLE: &str = "org.opencontainers.image.title";

/// The first bytes of a component. A core module has another version.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Writes the layouts of all components and of the command line among these files. The notices are in the folder
/// `inside`.
pub(crate) fn write(files: &[PathBuf], inside: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(to)?;
    let mut made = Vec::new();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str()).context("a file")?;
        let bytes = || fs::read(path).with_context(|| path.display().to_string());
        let (name, layout) = if name.ends_with(".wasm") {
            let bytes = bytes()?;
            if !bytes.starts_with(COMPONENT) {
                continue;
            }
            (name.trim_end_matches(".wasm").to_owned(), artifact(name, bytes, &guest::world(path)?)?)
        } else if name.ends_with(PROGRAM) {
            (name.to_owned(), image(&bytes()?, &inside.join(NOTICES))?)
        } else {
            continue;
        };
        let path = to.join(name + EXTENSION);
        fs::write(&path, layout).with_context(|| path.display().to_string())?;
        say(&format!("{}: {} bytes, {}", path.display(), fs::metadata(&path)?.len(), read(&path)?.digest));
        made.push(path);
    }
    Ok(made)
}

/// Returns the layout of a component.
fn artifact(name: &str, component: Vec<u8>, world: &guest::World) -> Result<Vec<u8>> {
    let mut blobs = Blobs::default();
    let mut layer = blobs.add(WASM_LAYER, component);
    let config = json!({
        "created": CREATED,
        "architecture": "wasm",
        "os": "wasip2",
        "layerDigests": [layer["digest"]],
        "component": { "exports": world.exports, "imports": world.imports },
    });
    // `oras pull` gives the file this name.
    layer["annotations"] = json!({ TITLE: name });
    let config = blobs.add(WASM_CONFIG, serde_json::to_vec(&config)?);
    let title = name.trim_end_matches(&format!("-{}.wasm", env!("CARGO_PKG_VERSION")));
    blobs.layout(&config, &layer, &annotations(title)?, None)
}

/// Returns the layout of the container image. It has the command line, its licences, and a folder for temporary files.
fn image(program: &[u8], notices: &Path) -> Result<Vec<u8>> {
    let mut layer = Tar::default();
    layer.file("seamgate", 0o755, program)?;
    layer.folder("licenses/", 0o755)?;
    for path in [root().join("LICENSE-APACHE"), root().join("LICENSE-MIT"), notices.to_owned()] {
        let name = path.file_name().and_then(|name| name.to_str()).context("a file")?;
        let text = fs::read(&path).with_context(|| path.display().to_string())?;
        layer.file(&format!("licenses/{name}"), 0o644, &text)?;
    }
    layer.folder("tmp/", 0o1777)?;
    let layer = layer.finish()?;
    let unpacked = digest(&layer);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&layer)?;

    let annotations = annotations("seamgate")?;
    let seconds = 1_000_000_000_u64;
    let config = json!({
        "created": CREATED,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": "65532:65532",
            "Entrypoint": ["/seamgate"],
            "WorkingDir": "/",
            "Labels": annotations,
            // An extension of Docker. `inspect` runs the built-in component in its sandbox, as each verdict does. It
            // does not contact a gate that runs in the container, because the command line has no client for that.
            "Healthcheck": { "Test": ["CMD", "/seamgate", "inspect"], "Interval": 30 * seconds, "Timeout": 10 * seconds },
        },
        "rootfs": { "type": "layers", "diff_ids": [unpacked] },
        "history": [{ "created": CREATED, "created_by": "cargo xtask package" }],
    });
    let mut blobs = Blobs::default();
    let layer = blobs.add(IMAGE_LAYER, packed.finish()?);
    let config = blobs.add(IMAGE_CONFIG, serde_json::to_vec(&config)?);
    blobs.layout(&config, &layer, &annotations, Some(json!({ "architecture": "amd64", "os": "linux" })))
}

/// Returns the annotations that a registry shows. The description and the licences are those in `wkg.toml`.
fn annotations(title: &str) -> Result<Value> {
    let metadata = fs::read_to_string(root().join("wkg.toml")).context("wkg.toml")?;
    let value = |name: &str| -> Result<String> {
        let line = metadata.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        Ok(line.with_context(|| format!("wkg.toml has no {name}"))?.trim_matches('"').to_owned())
    };
    let mut annotations = json!({
        TITLE: title,
        "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
        "org.opencontainers.image.description": value("description")?,
        "org.opencontainers.image.licenses": value("licenses")?,
    });
    // `Cargo.toml` may name no repository.
    let source = env!("CARGO_PKG_REPOSITORY");
    if !source.is_empty() {
        annotations["org.opencontainers.image.source"] = source.into();
    }
    Ok(annotations)
}

/// Returns the digest of bytes in the form for descriptors.
pub(crate) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)))
}

/// The contents of a layout, by digest.
#[derive(Default)]
struct Blobs(BTreeMap<String, Vec<u8>>);

impl Blobs {
    /// Adds a blob, and returns its descriptor.
    fn add(&mut self, media_type: &str, bytes: Vec<u8>) -> Value {
        let digest = digest(&bytes);
        let descriptor = json!({ "mediaType": media_type, "digest": digest, "size": bytes.len() });
        self.0.insert(digest, bytes);
        descriptor
    }

    /// Returns the layout: a manifest of one layer, tagged with the version.
    fn layout(
        mut self,
        config: &Value,
        layer: &Value,
        annotations: &Value,
        platform: Option<Value>,
    ) -> Result<Vec<u8>> {
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config,
            "layers": [layer],
            "annotations": annotations,
        });
        let mut manifest = self.add(MANIFEST, serde_json::to_vec(&manifest)?);
        manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": env!("CARGO_PKG_VERSION") });
        if let Some(platform) = platform {
            manifest["platform"] = platform;
        }
        let index = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [manifest],
        });
        let mut tar = Tar::default();
        tar.file("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        tar.file("index.json", 0o644, &serde_json::to_vec(&index)?)?;
        tar.folder("blobs/", 0o755)?;
        tar.folder("blobs/sha256/", 0o755)?;
        for (digest, bytes) in &self.0 {
            tar.file(&blob(digest)?, 0o644, bytes)?;
        }
        tar.finish()
    }
}

/// Returns the path of a blob in a layout.
pub(crate) fn blob(digest: &str) -> Result<String> {
    Ok(format!("blobs/sha256/{}", digest.strip_prefix("sha256:").context("a digest by SHA-256")?))
}

/// A tar file whose entries belong to root and have the time [`EPOCH`].
struct Tar(Builder<Vec<u8>>);

impl Default for Tar {
    fn default() -> Self {
        Self(Builder::new(Vec::new()))
    }
}

impl Tar {
    fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        self.entry(EntryType::Regular, path, mode, bytes)
    }

    fn folder(&mut self, path: &str, mode: u32) -> Result<()> {
        self.entry(EntryType::Directory, path, mode, &[])
    }

    fn entry(&mut self, kind: EntryType, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(EPOCH.parse()?);
        header.set_size(bytes.len() as u64);
        self.0.append_data(&mut header, path, bytes).with_context(|| path.to_owned())
    }

    fn finish(self) -> Result<Vec<u8>> {
        Ok(self.0.into_inner()?)
    }
}

/// Returns whether a layout is the container image, judging by its name.
pub(crate) fn is_image(layout: &Path) -> bool {
    layout.to_string_lossy().ends_with(&format!("{PROGRAM}{EXTENSION}"))
}

/// Unpacks the layer of the container image into a folder. Returns the configuration with which its containers run.
pub(crate) fn unpack(layout: &Path, folder: &Path) -> Result<Value> {
    let bytes = fs::read(layout).with_context(|| layout.display().to_string())?;
    let Layout { layer, mut config, .. } = parse(&bytes)?;
    fs::create_dir_all(folder)?;
    tar::Archive::new(GzDecoder::new(layer.as_slice())).unpack(folder)?;
    Ok(config["config"].take())
}

/// A layout that was read.
pub(crate) struct Layout {
    /// The digest of its manifest.
    pub(crate) digest: String,
    /// The digests of its blobs.
    pub(crate) blobs: BTreeSet<String>,
    pub(crate) config: Value,
    /// The digest of its layer.
    pub(crate) layer_digest: String,
    layer: Vec<u8>,
}

/// Reads a layout from a file.
pub(crate) fn read(path: &Path) -> Result<Layout> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    parse(&bytes).with_context(|| path.display().to_string())
}

/// Parses a layout. Fails unless every descriptor has the size and the digest of its blob, and every blob has a
/// descriptor.
fn parse(layout: &[u8]) -> Result<Layout> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(layout);
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type() == EntryType::Regular {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            let path = entry.path()?.to_str().context("a path in UTF-8")?.to_owned();
            files.insert(path, bytes);
        }
    }
    let json = |bytes: &[u8]| -> Result<Value> { Ok(serde_json::from_slice(bytes)?) };
    let found = |descriptor: &Value| -> Result<(String, &Vec<u8>)> {
        let named = descriptor["digest"].as_str().context("a descriptor has a digest")?.to_owned();
        let bytes = files.get(&blob(&named)?).with_context(|| format!("{named} is missing"))?;
        ensure!(digest(bytes) == named, "{named} names a blob with the digest {}", digest(bytes));
        ensure!(descriptor["size"] == bytes.len(), "{named} has {} bytes", bytes.len());
        Ok((named, bytes))
    };
    let file = |name: &str| json(files.get(name).with_context(|| format!("{name} is missing"))?);
    ensure!(file("oci-layout")?["imageLayoutVersion"] == "1.0.0", "another version of the layout");
    let index = file("index.json")?;
    let [manifest] = index["manifests"].as_array().map_or(&[][..], Vec::as_slice) else {
        bail!("expected one manifest")
    };
    let (digest_of_manifest, manifest) = found(manifest)?;
    let manifest = json(manifest)?;
    let (digest_of_config, config) = found(&manifest["config"])?;
    let config = json(config)?;
    let [layer] = manifest["layers"].as_array().map_or(&[][..], Vec::as_slice) else { bail!("expected one layer") };
    let (digest_of_layer, bytes) = found(layer)?;
    let (wanted, digest_inside) = match layer["mediaType"].as_str() {
        Some(WASM_LAYER) => (&config["layerDigests"], digest_of_layer.clone()),
        Some(IMAGE_LAYER) => {
            let mut unpacked = Vec::new();
            GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
            (&config["rootfs"]["diff_ids"], digest(&unpacked))
        }
        _ => bail!("a layer of type {}", layer["mediaType"]),
    };
    ensure!(*wanted == json!([digest_inside]), "the configuration names {wanted}, and the layer is {digest_inside}");
    let blobs = BTreeSet::from([digest_of_manifest.clone(), digest_of_config, digest_of_layer.clone()]);
    ensure!(files.len() == blobs.len() + 2, "files that no descriptor names");
    Ok(Layout { digest: digest_of_manifest, blobs, config, layer_digest: digest_of_layer, layer: bytes.clone() })
}

#[cfg(test)]
mod tests {
    use super::{COMPONENT, artifact, image, parse};
    use crate::{guest::World, run::root};

    /// Returns a layout of each kind.
    fn layouts() -> [Vec<u8>; 2] {
        let world = World { imports: Vec::new(), exports: vec!["a:b/c@0.1.0".to_owned()] };
        [
            artifact("seamgate-harness-0.1.0.wasm", COMPONENT.to_vec(), &world).expect("a layout"),
            image(b"program", &root().join("README.md")).expect("a layout"),
        ]
    }

    #[test]
    fn layouts_are_sound_and_the_same_each_time() {
        for (once, again) in layouts().iter().zip(&layouts()) {
            assert_eq!(once, again);
            assert_eq!(parse(once).expect("a sound layout").blobs.len(), 3);
        }
    }

    #[test]
    fn a_changed_byte_of_a_blob_is_found() {
        let mut count = 0;
        for layout in layouts() {
            let mut archive = tar::Archive::new(layout.as_slice());
            let entries = archive.entries().expect("entries").map(|entry| entry.expect("an entry"));
            let blobs: Vec<(u64, u64)> = entries
                .filter(|entry| entry.path_bytes().starts_with(b"blobs/sha256/"))
                .map(|entry| (entry.raw_file_position(), entry.size()))
                .filter(|(_, size)| *size > 0)
                .collect();
            for (position, size) in blobs {
                for offset in [0, size / 2, size - 1] {
                    let mut changed = layout.clone();
                    changed[usize::try_from(position + offset).expect("small")] ^= 1;
                    let error = parse(&changed).err().expect("a changed byte").to_string();
                    assert!(error.contains("names a blob with the digest"), "{error}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, 18);
    }
}
