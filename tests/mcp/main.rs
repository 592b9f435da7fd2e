//! Measures what the MCP gate adds to a call, and how it behaves under load: `mcp bench`, `mcp load`. `mcp server` is
//! the upstream server of both. `cargo xtask mcp` starts them.

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
    let load = fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    let cores = std::thread::available_parallelism()?;
    let table = match part.as_str() {
        "bench" => bench::bench()?,
        "load" => load::load()?,
        other => bail!("there is no part {other:?}; there are bench, load and server"),
    };
    // The other processes that ran at the same time, for readers of the figures.
    let load = load.split(' ').next().unwrap_or_default();
    let table = format!("{table}\n\n{cores} cores; the load before it was {load}.");
    println!("{table}");
    write(&part, &table)
}

/// Puts a result on the page, between the marks of its name.
fn write(mark: &str, text: &str) -> Result<()> {
    let path = Path::new(PAGE);
    let page = fs::read_to_string(path).context(PAGE)?;
    let (begin, end) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
    let (before, rest) = page.split_once(&begin).with_context(|| format!("{PAGE} has no {begin}"))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("{PAGE} has no {end}"))?;
    Ok(fs::write(path, format!("{before}{begin}\n\n{text}\n\n{end}{after}"))?)
}
