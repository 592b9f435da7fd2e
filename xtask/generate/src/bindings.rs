//! What the macro of `wit-bindgen` would expand to in the guest. What makes it compiles for as long as a third of the guest.

use std::path::Path;

use anyhow::{Context, Result};
use wit_bindgen_core::{Files, WorldGenerator, wit_parser::Resolve};
use wit_bindgen_rust::Opts;

/// The bindings of a world, the packages of which are in these folders.
pub(super) fn of(folders: &[&str], world: &str) -> Result<String> {
    let mut resolve = Resolve::default();
    let mut packages = Vec::new();
    for folder in folders {
        packages.push(resolve.push_dir(Path::new(folder))?.0);
    }
    let world = resolve.select_world(&packages, Some(world))?;
    let mut files = Files::default();
    Opts { format: true, ..Opts::default() }.build().generate(&mut resolve, world, &mut files)?;
    let (_, bindings) = files.iter().next().context("wit-bindgen made no file")?;
    // Nobody reads it, and more than half of its bytes would be indentation.
    let lines = std::str::from_utf8(bindings)?.lines().map(str::trim_start);
    Ok(format!("// {}\n{}\n", super::HEAD, lines.collect::<Vec<_>>().join("\n")))
}
