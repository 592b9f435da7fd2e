//! Puts the component where the library embeds it from, with its precompiled code if there is any.
//!
//! A fresh clone has no component. The build then embeds nothing, so that `cargo check` and rust-analyzer work, and
//! `Gate::new` answers `LoadError::NotBuilt`. What makes the component is built with `SEAMGATE_EMBED=nothing`, so that it is not
//! built again for what it made. For another platform, `SEAMGATE_EMBED` is the absolute path of a folder with its machine code.

use std::{env, fs, path::Path};

#[path = "src/digest.rs"]
#[expect(unreachable_pub, reason = "the library exports it")]
mod digest;

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-env-changed=SEAMGATE_EMBED");
    let folder = env::var_os("SEAMGATE_EMBED").unwrap_or_else(|| "component".into());
    let wanted = folder != "nothing";
    let (component, out) = (Path::new(&manifest).join(folder), Path::new(&out));
    if wanted {
        println!("cargo::rerun-if-changed={}", component.display());
    }

    // Without the code, the library compiles the component when it starts, which takes seconds.
    let read = |name| if wanted { fs::read(component.join(name)).unwrap_or_default() } else { Vec::new() };
    let mut files = ["built.wasm", "harness.wasm", "harness.cwasm"].map(|name| (name, read(name)));
    if wanted && files[..2].iter().any(|(_, bytes)| bytes.is_empty()) {
        println!("cargo::warning=this build embeds no component: run `cargo xtask build`");
        files = files.map(|(name, _)| (name, Vec::new()));
    }
    println!("cargo::rustc-env=SEAMGATE_TARGET={}", env::var("TARGET").expect("cargo sets it"));
    fs::write(out.join("harness.digest"), digest::digest(&files[1].1)).expect("OUT_DIR can be written");
    for (name, bytes) in files {
        fs::write(out.join(name), bytes).expect("OUT_DIR can be written");
    }
}
