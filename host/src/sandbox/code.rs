//! The machine code of a component: all of it, or that of its core module alone.

use std::path::Path;

use wasmtime::{Engine, Module, Result, component::Component};

/// How often the image of a memory is tried. For each, the kernel itself waits up to 150 ms for the pages in use.
const IMAGE_ATTEMPTS: usize = 8;

/// Machine code on an engine.
pub(crate) enum Code {
    Component(Component),
    /// Of the core module, which the library calls itself.
    Module(Module),
}

/// Which of both it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeKind {
    Component,
    Module,
}

impl CodeKind {
    /// The word for it in the names of files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CodeKind::Component => "component",
            CodeKind::Module => "module",
        }
    }
}

impl Code {
    /// Compile a component, or a core module.
    pub(crate) fn compile(engine: &Engine, wasm: &[u8], kind: CodeKind) -> Result<Self> {
        Ok(match kind {
            CodeKind::Component => Code::Component(Component::from_binary(engine, wasm)?),
            CodeKind::Module => Code::Module(Module::from_binary(engine, wasm)?),
        })
    }

    pub(crate) fn serialize(&self) -> Result<Vec<u8>> {
        match self {
            Code::Component(component) => component.serialize(),
            Code::Module(module) => module.serialize(),
        }
    }

    /// # Safety
    ///
    /// The bytes must be what [`serialize`](Code::serialize), or precompiling, gave.
    pub(crate) unsafe fn deserialize(engine: &Engine, code: &[u8], kind: CodeKind) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            Ok(match kind {
                CodeKind::Component => Code::Component(Component::deserialize(engine, code)?),
                CodeKind::Module => Code::Module(Module::deserialize(engine, code)?),
            })
        }
    }

    /// # Safety
    ///
    /// The file must hold what [`serialize`](Code::serialize) gave, and nobody may change it.
    pub(crate) unsafe fn deserialize_file(engine: &Engine, path: &Path, kind: CodeKind) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            Ok(match kind {
                CodeKind::Component => Code::Component(Component::deserialize_file(engine, path)?),
                CodeKind::Module => Code::Module(Module::deserialize_file(engine, path)?),
            })
        }
    }

    /// Make the image that every instance's memory begins as.
    ///
    /// On Linux it is a file in memory, sealed against writing. The kernel refuses the seal with `EBUSY` while a page of the file is
    /// in use elsewhere, which it can be for a moment on a busy machine, so a failure is tried again.
    pub(crate) fn make_image(&self) -> Result<()> {
        retry(IMAGE_ATTEMPTS, || match self {
            Code::Component(component) => component.initialize_copy_on_write_image(),
            Code::Module(module) => module.initialize_copy_on_write_image(),
        })
    }

    /// The same code on another engine with the same settings for code.
    pub(crate) fn on(&self, engine: &Engine) -> Result<Self> {
        let kind = match self {
            Code::Component(_) => CodeKind::Component,
            Code::Module(_) => CodeKind::Module,
        };
        // SAFETY: Wasmtime has just given these bytes.
        unsafe { Code::deserialize(engine, &self.serialize()?, kind) }
    }
}

/// Call a function until it succeeds, at most `attempts` times. Returns its last error.
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
