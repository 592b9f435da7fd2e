//! The machine code of a component: all of it, or that of its core module alone.

use std::path::Path;

use wasmtime::{Engine, Module, Result, component::Component};

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
