//! Compiles the built-in component ahead, for the next build of the library to embed. `cargo xtask build` runs it.

use std::{fs, path::Path};

use seamgate::{Component, Gate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("component");
    // Whose code the file holds: it is made anew for another component, compiler or machine.
    let key = format!("{} {}", Gate::new()?.inspect()?.digest, Component::compatibility()?);
    let (code, made_of) = (folder.join("validator.cwasm"), folder.join("validator.cwasm.key"));
    if code.exists() && fs::read_to_string(&made_of).is_ok_and(|old| old == key) {
        return Ok(());
    }
    fs::write(&code, Component::builtin().precompile()?)?;
    fs::write(&made_of, key)?;
    Ok(())
}
