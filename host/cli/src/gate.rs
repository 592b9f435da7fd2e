//! `-c`: a contract, a folder of contracts, or a component that has them baked in.

use std::{fmt, fs, path::Path};

use anyhow::{Context, Result, bail};
use seamgate::{Component, Fault, Gate, Options, read_contract, read_contracts};

/// A gate with the contracts that `-c` names, and the agent that is meant where none is said.
pub(crate) fn open(contracts: &Path) -> Result<(Gate, Option<String>)> {
    let metadata = fs::metadata(contracts).with_context(|| format!("-c {}", contracts.display()))?;
    if metadata.is_dir() {
        let mut gate = Gate::new()?;
        for (path, contract) in read_contracts(contracts)? {
            register(&mut gate, &path, &contract)?;
        }
        let only = only(gate.contracts().map(|info| info.agent.clone()));
        return Ok((gate, only));
    }
    // What is not a file can be read only once.
    let wasm = metadata.is_file()
        && fs::File::open(contracts)
            .and_then(|mut file| {
                let mut magic = [0; 4];
                std::io::Read::read_exact(&mut file, &mut magic).map(|()| magic == *b"\0asm")
            })
            .unwrap_or(false);
    if wasm {
        let gate = component(contracts)?;
        let only = only(gate.inspect().map_err(Told)?.agents.into_iter().map(|info| info.agent));
        return Ok((gate, only));
    }
    let mut gate = Gate::new()?;
    let contract = read_contract(contracts)?;
    let agent = register(&mut gate, contracts, &contract)?;
    Ok((gate, Some(agent)))
}

/// A gate of the component in a file.
pub(crate) fn component(path: &Path) -> Result<Gate> {
    let wasm = fs::read(path).with_context(|| format!("{}", path.display()))?;
    Gate::with(Options { component: Component::from_bytes(wasm), ..Options::default() })
        .with_context(|| format!("{}", path.display()))
}

fn register(gate: &mut Gate, path: &Path, contract: &str) -> Result<String> {
    match gate.register(contract) {
        Ok(info) => Ok(info.agent),
        Err(fault) => Err(Told(fault)).with_context(|| format!("{}", path.display())),
    }
}

/// A fault, told with all that is wrong, a line each.
#[derive(Debug)]
pub(crate) struct Told(pub(crate) Fault);

impl fmt::Display for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.0)?;
        for violation in self.0.violations().iter().skip(1) {
            write!(formatter, "\n  also: {} {}", violation.path, violation.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Told {}

fn only(mut agents: impl Iterator<Item = String>) -> Option<String> {
    agents.next().filter(|_| agents.next().is_none())
}

/// The agent that is asked for, or the only one there is.
pub(crate) fn agent(named: Option<String>, only: Option<String>, contracts: &Path) -> Result<String> {
    match named.or(only) {
        Some(agent) => Ok(agent),
        None => bail!("{} holds several contracts: name one with --agent", contracts.display()),
    }
}
