//! The component that a gate runs.

use std::{
    borrow::Cow,
    fmt,
    hash::{Hash, Hasher},
};

use wasmparser::{Parser, Payload};
use wasmtime::Engine;

use super::{
    builtin_code,
    cache::Cache,
    code::{Code, CodeKind},
    engine, same_code,
};
use crate::types::{
    ContractInfo,
    fault::LoadError,
    profile::ProfileInfo,
    wasm::{ComponentDigest, Wasm},
};

/// The component of this version. Empty if the build embeds none.
static WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/harness.wasm"));
/// The same component as the guest's build created it, before its snapshot. `bake` starts from this one, because each
/// snapshot of a snapshot adds thousands of data segments, and every instance would pay for them.
static BUILT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/built.wasm"));
/// The digest of `WASM`.
static DIGEST: &str = include_str!(concat!(env!("OUT_DIR"), "/harness.digest"));

/// A component of the world `seamgate:validator/validator`: the built-in one, or another from a file.
///
/// ```no_run
/// use seamgate::{Component, Gate, Options};
///
/// let baked = Component::from_bytes(std::fs::read("gate.wasm")?);
/// let gate = Gate::with(Options::default().component(baked))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Component {
    wasm: Wasm,
    builtin: bool,
    /// `true` if the library may call its core module directly.
    straight: bool,
    digest: ComponentDigest,
}

impl fmt::Debug for Component {
    /// Omits its megabytes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, digest) = (self.wasm.len(), self.digest());
        formatter.debug_struct("Component").field("bytes", &bytes).field("digest", &digest).finish()
    }
}

impl Component {
    /// The largest component that a gate compiles, in bytes: 32 MiB.
    ///
    /// No limit bounds the time to compile. A hostile component of 100 KB took eleven seconds, and one of 1 MB was not
    /// finished after 200 s. Create the gate of an untrusted component in a process that you can terminate.
    pub const MAX_BYTES: usize = 32 * 1024 * 1024;

    /// Returns the component of this version, precompiled. Loading it takes about a millisecond.
    pub fn builtin() -> Self {
        Component::new(Wasm::known(WASM, DIGEST), true)
    }

    /// Creates a component from WebAssembly's binary format. The first gate with it takes seconds to compile it. The
    /// code is cached for the next time (see [`Options::cache`](crate::Options::cache)).
    pub fn from_bytes(wasm: impl Into<Vec<u8>>) -> Self {
        let wasm = wasm.into();
        let builtin = wasm == WASM && !wasm.is_empty();
        Component::new(Wasm::new(Cow::Owned(wasm)), builtin)
    }

    fn new(wasm: Wasm, builtin: bool) -> Self {
        Component { digest: wasm.digest(), wasm, builtin, straight: true }
    }

    /// Returns the same component, but always called through the component model. Tests check that this makes no
    /// difference.
    #[doc(hidden)]
    #[must_use]
    pub fn as_component(mut self) -> Self {
        self.straight = false;
        self
    }

    /// Returns the machine code of the core module. The build calls this to embed the code.
    #[doc(hidden)]
    pub fn precompile(&self) -> Result<Vec<u8>, LoadError> {
        let engine = engine::compiler().map_err(LoadError::engine)?;
        let module = same_code::module(&self.wasm, &self.wasm);
        let module = module.ok_or_else(|| LoadError::not_a_component(wasmtime::Error::msg("it has no memory")))?;
        engine.precompile_module(module.wasm).map_err(LoadError::not_a_component)
    }

    /// Returns one word for the properties that precompiled code must share with this library and machine.
    #[doc(hidden)]
    pub fn compatibility() -> Result<String, LoadError> {
        let engine = engine::compiler().map_err(LoadError::engine)?;
        Ok(compatibility(&engine))
    }

    /// Returns the component in WebAssembly's binary format, for a file that any runtime can read.
    pub fn as_bytes(&self) -> &[u8] {
        &self.wasm
    }

    /// Returns whether this is the built-in component, whose types and answers need no check.
    pub(crate) fn is_builtin(&self) -> bool {
        self.builtin
    }

    /// Returns whether this is the built-in component of a build that embeds none.
    pub(crate) fn is_missing(&self) -> bool {
        self.builtin && self.wasm.is_empty()
    }

    /// Returns the component to bake contracts into.
    pub(crate) fn to_bake(&self) -> &[u8] {
        if self.builtin { BUILT } else { &self.wasm }
    }

    /// Returns `sha256:` followed by the digest of the bytes.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub(crate) fn shared_digest(&self) -> &ComponentDigest {
        &self.digest
    }

    /// Loads the code on an engine. Uses precompiled code if that fits this machine.
    pub(crate) fn load(&self, engine: &Engine, cache: Option<&Cache>) -> Result<Code, LoadError> {
        if self.is_missing() {
            return Err(LoadError::NotBuilt);
        }
        if self.wasm.len() > Component::MAX_BYTES {
            return Err(LoadError::TooLarge { bytes: self.wasm.len(), limit: Component::MAX_BYTES });
        }
        if self.builtin && self.straight && builtin_code::exists() {
            match Code::builtin(engine) {
                Ok(code) => return Ok(code),
                Err(error) => {
                    tracing::warn!(%error, "the precompiled code does not fit this machine: compiling");
                }
            }
        }
        let module = if self.straight { same_code::module(&self.wasm, WASM) } else { None };
        let (wasm, kind) = match &module {
            Some(module) => (module.wasm, CodeKind::Module),
            None => (&*self.wasm, CodeKind::Component),
        };
        let key = || format!("{}-{}-{}", kind.as_str(), identity(&self.wasm, module.as_ref()), compatibility(engine));
        let cache = cache.map(|cache| (cache, key()));
        if let Some(code) = cache.as_ref().and_then(|(cache, key)| cache.load(engine, key, kind)) {
            return Ok(code);
        }
        let code = Code::compile(engine, wasm, kind).map_err(LoadError::not_a_component)?;
        if let Some((cache, key)) = cache {
            cache.keep(&key, &code);
        }
        Ok(code)
    }

    /// Returns the names that the component imports, and those that it exports.
    pub(crate) fn names(&self) -> [Vec<String>; 2] {
        let [mut imports, mut exports] = [Vec::new(), Vec::new()];
        // Nested components and modules have names of their own.
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(&self.wasm).flatten() {
            match payload {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    imports.extend(section.into_iter().flatten().map(|import| import.name.name.to_owned()));
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    exports.extend(section.into_iter().flatten().map(|export| export.name.name.to_owned()));
                }
                _ => {}
            }
        }
        [imports, exports]
    }
}

/// Returns a hash that identifies a component. It covers the component's bytes, or the parts that differ from the
/// built-in one.
// BLAKE3 instead of the public SHA-256, because each start computes this hash, and BLAKE3 is four times as fast.
fn identity(component: &[u8], module: Option<&same_code::Module>) -> blake3::Hash {
    let Some(module) = module else {
        return blake3::hash(component);
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(DIGEST.as_bytes());
    for section in &module.own {
        hasher.update(&(section.len() as u64).to_le_bytes());
        hasher.update(section);
    }
    hasher.finalize()
}

/// Returns one word for the properties that precompiled code must share with an engine.
fn compatibility(engine: &Engine) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The contents of a component.
#[derive(Debug, Clone, serde::Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The contracts baked into the component, sorted by agent.
    pub agents: Vec<ContractInfo>,
    /// The profiles baked into the component, sorted by agent.
    pub profiles: Vec<ProfileInfo>,
    /// The names that the component imports. Empty for a validator.
    pub imports: Vec<String>,
    /// The interfaces that the component exports.
    pub exports: Vec<String>,
    /// The size in bytes.
    pub bytes: usize,
    /// `sha256:` followed by the digest of the bytes.
    pub digest: String,
    /// `true` if the registry is sealed, so that the component accepts no further contracts.
    pub sealed: bool,
}
