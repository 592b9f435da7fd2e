//! Puts the component where the library embeds it from, with the code made ahead of it if there is any.

use std::{env, fs, path::Path};

use sha2::{Digest, Sha256};

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let (component, out) = (Path::new(&manifest).join("component"), Path::new(&out));
    println!("cargo::rerun-if-changed={}", component.display());

    let wasm = component.join("validator.wasm");
    let (Ok(built), Ok(wasm)) = (fs::read(component.join("built.wasm")), fs::read(&wasm)) else {
        println!(
            "cargo::error=the component is not built yet: run `cargo xtask build` first (it makes {})",
            wasm.display()
        );
        return;
    };
    // Without it the library compiles the component when it starts, which takes seconds.
    let code = fs::read(component.join("validator.cwasm")).unwrap_or_default();
    let digest: String = Sha256::digest(&wasm).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(out.join("validator.digest"), format!("sha256:{digest}")).expect("OUT_DIR can be written");
    fs::write(out.join("built.wasm"), built).expect("OUT_DIR can be written");
    fs::write(out.join("validator.wasm"), wasm).expect("OUT_DIR can be written");
    fs::write(out.join("validator.cwasm"), code).expect("OUT_DIR can be written");
}
