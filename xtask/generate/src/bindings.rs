//! Generates what the macro of `wit-bindgen` would expand to in the guest, because compiling the macro takes as long as
//! a third of the guest.

use std::path::Path;

use anyhow::{Context, Result};
use wit_bindgen_core::{Files, WorldGenerator, wit_parser::Resolve};
use wit_bindgen_rust::Opts;

/// Returns the bindings of a world whose packages are in these folders. Other packages may export what is in it.
pub(super) fn of(folders: &[&str], world: &str) -> Result<String> {
    Ok(format!("// {}\n{}\n", super::HEAD, made(folders, world)?.join("\n")))
}

/// Only the macro that exports a world, with the description of that world inside. The interfaces of the world must be in other
/// bindings, which the macro is given.
pub(super) fn export(folders: &[&str], world: &str) -> Result<String> {
    let lines = made(folders, world)?;
    let name = format!("__export_{world}_impl");
    let position = |text: &str| {
        let found = lines.iter().position(|line| line.contains(text));
        found.with_context(|| format!("wit-bindgen made no line {text:?}"))
    };
    let first = position(&format!("macro_rules! {name}"))?;
    let last = position(&format!("use {name} as export;"))?;
    let body: Vec<&str> =
        lines[first..last].iter().map(String::as_str).filter(|line| *line != "#[doc(inline)]").collect();
    Ok(format!(
        "//! Exports the world `{world}`.\n//!\n//! {}\n\n{}\npub(crate) use {name} as export;\n",
        super::HEAD,
        body.join("\n")
    ))
}

/// Returns the lines of the bindings of a world.
fn made(folders: &[&str], world: &str) -> Result<Vec<String>> {
    let mut resolve = Resolve::default();
    let mut packages = Vec::new();
    for folder in folders {
        packages.push(resolve.push_dir(Path::new(folder))?.0);
    }
    let world = resolve.select_world(&packages, Some(world))?;
    let mut files = Files::default();
    let options = Opts { format: true, pub_export_macro: true, ..Opts::default() };
    options.build().generate(&mut resolve, world, &mut files)?;
    let (_, bindings) = files.iter().next().context("wit-bindgen made no file")?;
    // Nobody reads it, and more than half of its bytes would be indentation.
    Ok(std::str::from_utf8(bindings)?.lines().map(|line| line.trim_start().to_owned()).collect())
}
