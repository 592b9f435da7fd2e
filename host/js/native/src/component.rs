//! Components: those that are baked, and what they are baked of.

use std::path::Path;

use napi::bindgen_prelude::{AsyncTask, Uint8Array};
use napi_derive::napi;
use seamgate::{Component, read_contract, read_contracts, read_profile, read_profiles};

use crate::{
    error::{self, Result},
    gate::other,
    later::Later,
    options::NativeLimits,
};

/// Compiles contracts and profiles, and returns a component that has them inside, off the thread of JavaScript. The user's cache then has
/// its machine code.
#[napi]
pub(crate) fn bake(
    contracts: Vec<String>,
    profiles: Vec<String>,
    limits: NativeLimits,
) -> AsyncTask<Later<Uint8Array>> {
    let limits = limits.limits();
    Later::new(move || {
        let baked = Component::builtin().bake_with(&contracts, &profiles, &limits).map_err(error::bake)?;
        // Its first gate finds the machine code in the cache.
        other(limits, baked.clone()).map_err(error::load)?;
        Ok(baked.as_bytes().to_vec())
    })
}

/// Returns the contract in a file, or those in a folder, each as one whole document.
#[napi]
pub(crate) fn contracts(path: String) -> Result<Vec<String>> {
    read(Path::new(&path), read_contract, read_contracts)
}

/// Returns the profile in a file, or those in a folder, each as one whole document.
#[napi]
pub(crate) fn profiles(path: String) -> Result<Vec<String>> {
    read(Path::new(&path), read_profile, read_profiles)
}

fn read<P>(
    path: &Path,
    one: impl Fn(&Path) -> std::result::Result<String, seamgate::FileError>,
    all: impl Fn(&Path) -> std::result::Result<Vec<(P, String)>, seamgate::FileError>,
) -> Result<Vec<String>> {
    let read = match path.is_dir() {
        true => all(path).map(|read| read.into_iter().map(|(_, text)| text).collect()),
        false => one(path).map(|text| vec![text]),
    };
    read.map_err(error::file)
}
