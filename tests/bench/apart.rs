//! Two measurements that do not use the engines: the component's size, and a call from Python.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use seamgate::Component;
use serde_json::Value;

use crate::Extent;

pub(crate) struct Apart {
    pub(crate) size: Size,
    /// The time of a warm call from Python with its verdict and its document, divided by the time of `json.loads` and
    /// jsonschema-rs.
    pub(crate) python: Option<f64>,
}

pub(crate) struct Size {
    pub(crate) what: &'static str,
    pub(crate) bytes: usize,
    /// The target and the required limit, in MB.
    pub(crate) wanted: Option<[f64; 2]>,
}

impl Apart {
    /// Reads both measurements. Only for a complete run, `cargo xtask bench` builds the component without the kernel
    /// and measures the Python package.
    pub(crate) fn of(extent: Extent, target: &Path, installed: &Path) -> Result<Self> {
        if extent == Extent::Rust {
            let bytes = Component::builtin().as_bytes().len();
            return Ok(Apart { size: Size { what: "component, with the kernel", bytes, wanted: None }, python: None });
        }
        let path = target.join("validator/validator.wasm");
        let component = fs::metadata(&path).with_context(|| path.display().to_string())?;
        let bytes = usize::try_from(component.len())?;
        let size = Size { what: "component, without the kernel", bytes, wanted: Some([2.3, 2.6]) };
        // The file does not exist without Python.
        let answer = fs::read(installed.join("python-call.json")).ok();
        let answer: Option<Value> = answer.map(|answer| serde_json::from_slice(&answer)).transpose()?;
        Ok(Apart { size, python: answer.and_then(|answer| answer["ratio"].as_f64()) })
    }
}
