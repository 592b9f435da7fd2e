//! Makes the component that the library embeds, and its machine code. `cargo xtask build` runs it.
//!
//! `precompile COMPONENT` takes the component as the guest's build made it. What it writes is the same with everything
//! made that any contract needs, so that no instance has to. With the name of a file, it writes only that, there.
//!
//! It is in this package so that the dependencies of the command line are compiled at the same time.

use std::{env, fs, path::Path};

use seamgate::Component;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let built = env::args().nth(1).ok_or("usage: precompile COMPONENT [FILE]")?;
    let built = Component::from_bytes(fs::read(built)?);
    if let Some(file) = env::args().nth(2) {
        fs::write(file, built.warmed()?.as_bytes())?;
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("component");
    // What the files were made of: they are made anew for another component, compiler or machine.
    let key = format!("warmed {} {}", built.digest(), Component::compatibility()?);
    let [wasm, code, made_of] = ["harness.wasm", "harness.cwasm", "harness.cwasm.key"].map(|name| folder.join(name));
    if code.exists() && fs::read_to_string(&made_of).is_ok_and(|old| old == key) {
        return Ok(());
    }
    let warmed = built.warmed()?;
    // Code of the component before must never be embedded beside another one, whenever this is stopped.
    if code.exists() {
        fs::remove_file(&code)?;
    }
    fs::write(&wasm, warmed.as_bytes())?;
    fs::write(&code, warmed.precompile()?)?;
    fs::write(&made_of, key)?;
    println!("{}: {} bytes", wasm.display(), warmed.as_bytes().len());
    Ok(())
}
