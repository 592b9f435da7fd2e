//! `compose EDGE VALIDATOR SERVED` plugs a validator into the component that answers HTTP requests.
//!
//! It is a program of its own, so that `cargo xtask` need not be compiled with what it needs.

use std::{env, fs, path::Path};

use anyhow::{Context, Result};
use wasm_compose::{composer::ComponentComposer, config::Config};

fn main() -> Result<()> {
    let names: Vec<String> = env::args().skip(1).collect();
    let [edge, validator, served] = names.as_slice() else {
        anyhow::bail!("usage: compose EDGE VALIDATOR SERVED");
    };
    let config = Config { definitions: vec![validator.into()], ..Config::default() };
    let composed = ComponentComposer::new(Path::new(edge), &config)
        .compose()
        .with_context(|| format!("{edge} and {validator} cannot be composed"))?;
    fs::write(served, composed).with_context(|| format!("cannot write {served}"))
}
