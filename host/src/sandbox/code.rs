//! The machine code of a component, or that of only its core module.

use std::{fs::File, path::Path};

use wasmtime::{Engine, Module, Result, component::Component};

use super::builtin_code;

/// The number of attempts to create the image of a memory. In each attempt, the kernel itself waits up to 150 ms for
/// pages in use.
const IMAGE_ATTEMPTS: usize = 8;

/// Machine code on an engine.
pub(crate) struct Code {
    pub(crate) loaded: Loaded,
    source: Source,
}

/// Machine code that can run.
pub(crate) enum Loaded {
    Component(Component),
    /// The code of the core module, which the library calls itself.
    Module(Module),
}

/// The source from which another engine loads the same code.
enum Source {
    /// The code is embedded in this program.
    Builtin,
    /// The code is in a file that nobody changes.
    File(File),
    /// The code exists only where it is loaded.
    Memory,
}

/// The kind of the code: that of a component or of a core module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    Component,
    Module,
}

impl CodeKind {
    /// Returns the word for this kind in file names.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CodeKind::Component => "component",
            CodeKind::Module => "module",
        }
    }
}

impl Code {
    /// Returns the code of the built-in component, which this program embeds.
    pub(crate) fn builtin(engine: &Engine) -> Result<Self> {
        Ok(Code { loaded: Loaded::Module(builtin_code::load(engine)?), source: Source::Builtin })
    }

    /// Compiles a component, or a core module.
    pub(crate) fn compile(engine: &Engine, wasm: &[u8], kind: CodeKind) -> Result<Self> {
        let loaded = match kind {
            CodeKind::Component => Loaded::Component(Component::from_binary(engine, wasm)?),
            CodeKind::Module => Loaded::Module(Module::from_binary(engine, wasm)?),
        };
        Ok(Code { loaded, source: Source::Memory })
    }

    pub(crate) fn serialize(&self) -> Result<Vec<u8>> {
        match &self.loaded {
            Loaded::Component(component) => component.serialize(),
            Loaded::Module(module) => module.serialize(),
        }
    }

    /// # Safety
    ///
    /// The bytes must be what [`serialize`](Code::serialize) or precompiling returned.
    pub(crate) unsafe fn deserialize(engine: &Engine, code: &[u8], kind: CodeKind) -> Result<Self> {
        // SAFETY: the caller's promise.
        let loaded = unsafe {
            match kind {
                CodeKind::Component => Loaded::Component(Component::deserialize(engine, code)?),
                CodeKind::Module => Loaded::Module(Module::deserialize(engine, code)?),
            }
        };
        Ok(Code { loaded, source: Source::Memory })
    }

    /// Maps the code in an open file, which is at this path.
    ///
    /// # Safety
    ///
    /// The file must begin with what [`serialize`](Code::serialize) returned, and must not change.
    pub(crate) unsafe fn map(engine: &Engine, (file, path): (File, &Path), kind: CodeKind) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            Ok(match kind {
                // Wasmtime cannot map an open file for a component.
                CodeKind::Component => {
                    let component = Component::deserialize_file(engine, path)?;
                    Code { loaded: Loaded::Component(component), source: Source::Memory }
                }
                CodeKind::Module => {
                    let module = Module::deserialize_open_file(engine, file.try_clone()?)?;
                    Code { loaded: Loaded::Module(module), source: Source::File(file) }
                }
            })
        }
    }

    /// Creates the image from which every instance's memory begins.
    ///
    /// On Linux, the image is a file in memory, sealed against writing. The kernel refuses the seal with `EBUSY` while
    /// a page of the file is in use elsewhere, which can happen for a moment on a busy machine, so failures are
    /// retried.
    pub(crate) fn make_image(&self) -> Result<()> {
        retry(IMAGE_ATTEMPTS, || match &self.loaded {
            Loaded::Component(component) => component.initialize_copy_on_write_image(),
            Loaded::Module(module) => module.initialize_copy_on_write_image(),
        })
    }

    /// Returns the same code on another engine with the same settings for code.
    pub(crate) fn on(&self, engine: &Engine) -> Result<Self> {
        let kind = match self.loaded {
            Loaded::Component(_) => CodeKind::Component,
            Loaded::Module(_) => CodeKind::Module,
        };
        match &self.source {
            Source::Builtin => {
                Ok(Code { loaded: Loaded::Module(builtin_code::copied(engine)?), source: Source::Builtin })
            }
            Source::File(file) => {
                let mapped = file.try_clone()?;
                // SAFETY: this file was mapped before, and nobody changes it.
                let module = unsafe { Module::deserialize_open_file(engine, mapped)? };
                Ok(Code { loaded: Loaded::Module(module), source: Source::File(file.try_clone()?) })
            }
            // SAFETY: Wasmtime has just returned these bytes.
            Source::Memory => unsafe { Code::deserialize(engine, &self.serialize()?, kind) },
        }
    }
}

/// Calls a function until it succeeds, at most `attempts` times. Returns the last error.
fn retry<T>(attempts: usize, mut call: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..attempts {
        if let Ok(value) = call() {
            return Ok(value);
        }
    }
    call()
}

#[cfg(test)]
mod tests {
    use super::{IMAGE_ATTEMPTS, retry};

    #[test]
    fn a_refused_seal_is_tried_again() {
        for refused in 0..IMAGE_ATTEMPTS {
            let mut calls = 0;
            let result = retry(IMAGE_ATTEMPTS, || {
                calls += 1;
                if calls > refused { Ok(calls) } else { wasmtime::bail!("EBUSY") }
            });
            assert_eq!(result.ok(), Some(refused + 1));
        }
    }

    #[test]
    fn what_fails_each_time_is_an_error() {
        let mut calls = 0;
        let result = retry::<()>(IMAGE_ATTEMPTS, || {
            calls += 1;
            wasmtime::bail!("attempt {calls}")
        });
        assert_eq!(result.unwrap_err().to_string(), "attempt 8");
    }
}
