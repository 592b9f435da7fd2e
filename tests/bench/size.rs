//! How large the component is.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use seamgate::Component;

use crate::Extent;

pub(crate) struct Size {
    pub(crate) what: &'static str,
    pub(crate) bytes: usize,
    /// In MB, the aim and what is wanted at least.
    pub(crate) wanted: Option<[f64; 2]>,
}

impl Size {
    /// `cargo xtask bench` builds the component without the kernel for a whole run only.
    pub(crate) fn of(extent: Extent, target: &Path) -> Result<Self> {
        if extent == Extent::Rust {
            let bytes = Component::builtin().as_bytes().len();
            return Ok(Size { what: "component, with the kernel", bytes, wanted: None });
        }
        let path = target.join("validator/validator.wasm");
        let component = fs::metadata(&path).with_context(|| path.display().to_string())?;
        let bytes = usize::try_from(component.len())?;
        Ok(Size { what: "component, without the kernel", bytes, wanted: Some([2.3, 2.5]) })
    }
}
