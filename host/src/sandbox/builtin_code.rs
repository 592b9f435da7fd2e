//! The machine code of the built-in component's core module, which the build embeds in this program.
//!
//! On Linux on x86-64, the first gate of a process runs the code in place. Copying its ten megabytes would take most of
//! the time until the first verdict. Wasmtime identifies code by its address, so further engines get copies.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::sync::Arc;

use wasmtime::{Config, Engine, Module, Result};

/// Bytes aligned to a page, as machine code must be.
#[repr(C, align(4096))]
struct Pages<B: ?Sized>(B);

static CODE: &Pages<[u8]> = &Pages(*include_bytes!(concat!(env!("OUT_DIR"), "/harness.cwasm")));

/// Returns whether this program embeds the code.
pub(crate) fn exists() -> bool {
    !CODE.0.is_empty()
}

/// Loads the code on an engine: in place for the first engine of a process, otherwise as a copy.
pub(crate) fn load(engine: &Engine) -> Result<Module> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if in_place::is_possible() {
        match in_place::load(engine) {
            Ok(module) => return Ok(module),
            Err(error) => tracing::debug!(%error, "the precompiled code cannot run in place"),
        }
    }
    copied(engine)
}

/// Loads a copy of the code.
pub(crate) fn copied(engine: &Engine) -> Result<Module> {
    // SAFETY: `CODE` is what Wasmtime made of the built-in component in `Component::precompile`, embedded by the build
    // of this program.
    unsafe { Module::deserialize(engine, &CODE.0) }
}

/// Lets an engine run code that is embedded in this program.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn allow_in_place(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(in_place::Protection)));
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn allow_in_place(_: &mut Config) {}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod in_place {
    use std::{
        ptr::NonNull,
        sync::atomic::{AtomicBool, Ordering},
    };

    use rustix::mm::{MprotectFlags, mprotect};
    use wasmtime::{CustomCodeMemory, Engine, Module, Result};

    use super::CODE;
    use crate::system;

    /// `true` if an engine of this process uses the code in place. It may keep the code longer than its gate lives, so
    /// no other engine gets it.
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);

    /// Claims the code in place. Returns `true` only for the first caller, and only if the code is aligned to a page.
    pub(super) fn is_possible() -> bool {
        let begins_page = CODE.0.as_ptr().addr().is_multiple_of(system::page_size());
        begins_page && !IS_TAKEN.swap(true, Ordering::Relaxed)
    }

    pub(super) fn load(engine: &Engine) -> Result<Module> {
        // SAFETY: `CODE` is what Wasmtime made of the built-in component in `Component::precompile`, embedded by the
        // build of this program. It is a constant, which lives as long as the process, and none of its pages is ever
        // writable.
        unsafe { Module::deserialize_raw(engine, NonNull::from(&CODE.0)) }
    }

    /// Protects pages with machine code, including those of [`CODE`], as Wasmtime does by default.
    pub(super) struct Protection;

    impl Protection {
        fn set(code: *const u8, length: usize, flags: MprotectFlags) -> Result<()> {
            // SAFETY: Wasmtime calls this for its own code, which nobody else reads or writes, or for `CODE`, which
            // stays readable. Both are aligned to a page, and the rest of the code's last page is not used.
            unsafe { mprotect(code.cast_mut().cast(), length, flags) }.map_err(wasmtime::Error::from)
        }
    }

    impl CustomCodeMemory for Protection {
        fn required_alignment(&self) -> usize {
            system::page_size()
        }

        fn publish_executable(&self, code: *const u8, length: usize) -> Result<()> {
            Protection::set(code, length, MprotectFlags::READ | MprotectFlags::EXEC)
        }

        fn unpublish_executable(&self, code: *const u8, length: usize) -> Result<()> {
            match CODE.0.as_ptr_range().contains(&code) {
                // The code is never written, and stays executable.
                true => Ok(()),
                false => Protection::set(code, length, MprotectFlags::READ | MprotectFlags::WRITE),
            }
        }
    }
}
