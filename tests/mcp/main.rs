//! What the gate for the Model Context Protocol costs a call, and what it does under load: `mcp bench`, `mcp load`. `mcp server` is the
//! server that both ask. `cargo xtask mcp` starts them.

mod bench;
mod client;
mod load;
mod server;

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

/// The page that gets the results.
const PAGE: &str = "tests/mcp/README.md";

fn main() -> Result<()> {
    let part = std::env::args().nth(1).unwrap_or_default();
    if part == "server" {
        return server::serve();
    }
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))?;
    let table = match part.as_str() {
        "bench" => bench::bench()?,
        "load" => load::load()?,
        other => bail!("there is no part {other:?}; there are bench, load and server"),
    };
    println!("{table}");
    write(&part, &table)
}

/// Put a result on the page, between the marks of its name.
fn write(mark: &str, text: &str) -> Result<()> {
    let path = Path::new(PAGE);
    let page = fs::read_to_string(path).context(PAGE)?;
    let (begin, end) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
    let (before, rest) = page.split_once(&begin).with_context(|| format!("{PAGE} has no {begin}"))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("{PAGE} has no {end}"))?;
    Ok(fs::write(path, format!("{before}{begin}\n\n{text}\n\n{end}{after}"))?)
}
