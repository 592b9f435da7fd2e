//! The bytes of a component, and their digest.

use std::{
    borrow::Cow,
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::digest::digest;

/// The bytes of a component. A clone shares them.
#[derive(Clone)]
pub(crate) struct Wasm(Arc<Shared>);

struct Shared {
    bytes: Cow<'static, [u8]>,
    digest: OnceLock<String>,
}

impl Wasm {
    pub(crate) fn new(bytes: Cow<'static, [u8]>) -> Self {
        Wasm(Arc::new(Shared { bytes, digest: OnceLock::new() }))
    }

    /// Creates the bytes with the digest that the build has computed.
    pub(crate) fn known(bytes: &'static [u8], digest: &str) -> Self {
        Wasm(Arc::new(Shared { bytes: Cow::Borrowed(bytes), digest: OnceLock::from(digest.to_owned()) }))
    }

    pub(crate) fn digest(&self) -> ComponentDigest {
        ComponentDigest(self.clone())
    }
}

impl Deref for Wasm {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// `sha256:` followed by the digest of a component's bytes, as text. It is computed when it is first read, because that
/// takes milliseconds.
#[derive(Clone)]
pub struct ComponentDigest(Wasm);

impl Deref for ComponentDigest {
    type Target = str;

    fn deref(&self) -> &str {
        let Shared { bytes, digest: computed } = &*self.0.0;
        computed.get_or_init(|| digest(bytes))
    }
}

impl fmt::Display for ComponentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

impl fmt::Debug for ComponentDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}

impl PartialEq for ComponentDigest {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.0, &other.0.0) || **self == **other
    }
}

impl Eq for ComponentDigest {}
