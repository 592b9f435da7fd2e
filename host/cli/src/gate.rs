//! `-c`: a contract, a folder of contracts, or a component that has them baked in.

use std::{fmt, fs, io::Read, path::Path};

use anyhow::{Context, Result, bail};
use seamgate::{Component, ContractInfo, Fault, Gate, Options, read_contract, read_contracts, read_named};

/// A gate with the contracts that `-c` names.
pub(crate) fn open(contracts: &Path) -> Result<Gate> {
    let metadata = fs::metadata(contracts).with_context(|| format!("-c {}", contracts.display()))?;
    if metadata.is_dir() {
        let mut gate = Gate::new()?;
        for (path, contract) in read_contracts(contracts)? {
            register(&mut gate, &path, &contract)?;
        }
        return Ok(gate);
    }
    // What is not a file can be read only once.
    let wasm = metadata.is_file()
        && fs::File::open(contracts)
            .and_then(|mut file| {
                let mut magic = [0; 4];
                file.read_exact(&mut magic).map(|()| magic == *b"\0asm")
            })
            .unwrap_or(false);
    if wasm {
        return component(contracts);
    }
    let mut gate = Gate::new()?;
    register(&mut gate, contracts, &read_contract(contracts)?)?;
    Ok(gate)
}

/// A gate of the component in a file.
pub(crate) fn component(path: &Path) -> Result<Gate> {
    let wasm = read_named(path, Component::MAX_BYTES).with_context(|| format!("{}", path.display()))?;
    Gate::with(Options { component: Component::from_bytes(wasm), ..Options::default() })
        .with_context(|| format!("{}", path.display()))
}

fn register(gate: &mut Gate, path: &Path, contract: &str) -> Result<()> {
    match gate.register(contract) {
        Ok(_) => Ok(()),
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

/// The contracts that were loaded: those on disk, or those in the component.
pub(crate) fn contracts(gate: &Gate) -> Result<Vec<ContractInfo>> {
    let registered: Vec<ContractInfo> = gate.contracts().cloned().collect();
    match registered.is_empty() {
        true => Ok(gate.inspect().map_err(Told)?.agents),
        false => Ok(registered),
    }
}

/// The agent that is asked for, or the only one there is.
pub(crate) fn agent(named: Option<&str>, gate: &Gate, contracts: &Path) -> Result<String> {
    if let Some(agent) = named {
        return Ok(agent.to_owned());
    }
    let agents: Vec<String> = self::contracts(gate)?.into_iter().map(|info| info.agent).collect();
    match agents.as_slice() {
        [only] => Ok(only.clone()),
        [] => bail!("{} holds no contracts", contracts.display()),
        several => {
            let several = several.join(", ");
            bail!("{} holds several contracts: name one with --agent ({several})", contracts.display())
        }
    }
}
