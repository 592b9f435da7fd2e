//! `-c`: a contract, a folder of contracts, or a component with contracts baked in.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{
    Component, ContractInfo, ContractSource, FileError, Gate, Limits, MAX_FILE, Options, contract_files,
    read_contracts, read_named, read_profiles,
};

use crate::{
    error::{FaultError, unreadable, unusable},
    input,
};

/// The complete texts of contracts by their agents.
pub(crate) type Texts = BTreeMap<String, String>;

/// Returns a gate with the contracts that `-c` names.
pub(crate) fn open(contracts: &Path) -> Result<Gate> {
    Ok(read(contracts, &Limits::default())?.0)
}

/// Returns a gate with only one contract and its complete text: the contract of the agent that `--agent` names, or the
/// only contract.
pub(crate) fn only(contracts: &Path, named: Option<&str>) -> Result<(Gate, String)> {
    let (gate, mut texts) = read(contracts, &Limits::default())?;
    let agent = agent(named, &gate, contracts)?;
    match texts.remove(&agent) {
        Some(text) => Ok((gate, text)),
        None if texts.is_empty() => {
            bail!("{} is a component: name a contract that was baked into it", contracts.display())
        }
        None => bail!("{} has no contract of the agent {agent:?}", contracts.display()),
    }
}

/// Returns a gate with the contracts that `-c` names, and, unless it names a component, their texts.
pub(crate) fn read(contracts: &Path, limits: &Limits) -> Result<(Gate, Texts)> {
    let is_standard = input::is_standard(contracts);
    if !is_standard
        && fs::metadata(contracts).with_context(|| format!("cannot read -c {}", contracts.display()))?.is_dir()
    {
        let mut gate = within(limits)?;
        let mut texts = Texts::new();
        for path in contract_files(contracts)? {
            let source = ContractSource::read_regular(&path).map_err(|error| unreadable(error, &path))?;
            texts.extend([register(&mut gate, &path, &source)?]);
        }
        return Ok((gate, texts));
    }
    // A pipe can be read only once, so its first bytes determine its kind.
    let bytes = input::named_by_magic(contracts, WASM, [MAX_FILE, Component::MAX_BYTES]);
    let path = if is_standard { Path::new("standard input") } else { contracts };
    match bytes {
        Ok(bytes) if bytes.starts_with(WASM) => Ok((with_component(path, bytes, limits)?, Texts::new())),
        bytes => {
            let source = ContractSource::of_bytes(path, bytes).map_err(|error| unreadable(error, path))?;
            let mut gate = within(limits)?;
            let text = register(&mut gate, path, &source)?;
            Ok((gate, Texts::from([text])))
        }
    }
}

/// The bytes that every component begins with.
const WASM: &[u8] = b"\0asm";

/// Returns a gate with the built-in component.
fn within(limits: &Limits) -> Result<Gate> {
    Ok(Gate::with(Options::default().limits(limits.clone()))?)
}

fn with_component(path: &Path, wasm: Vec<u8>, limits: &Limits) -> Result<Gate> {
    let options = Options::default().limits(limits.clone());
    Gate::with(options.component(Component::from_bytes(wasm))).with_context(|| cannot_load(path))
}

/// Returns a gate with a contract that consists only of the schema in a file, with the contract's agent and text.
pub(crate) fn read_schema(path: &Path, limits: &Limits) -> Result<(Gate, (String, String))> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.split('.').next().unwrap_or_default();
    let named: String =
        name.chars().filter(|one| one.is_ascii_alphanumeric() || "_-".contains(*one)).take(100).collect();
    let agent = match named.trim_start_matches(['_', '-']) {
        "" => "schema",
        agent => agent,
    };
    let bytes = input::named(path, MAX_FILE);
    let path = if input::is_standard(path) { Path::new("standard input") } else { path };
    let source = ContractSource::of_schema_bytes(path, agent, bytes).map_err(|error| unreadable(error, path))?;
    let mut gate = within(limits)?;
    let text = register(&mut gate, path, &source)?;
    Ok((gate, text))
}

/// Returns a gate with the component in a file.
pub(crate) fn component(path: &Path) -> Result<Gate> {
    let wasm = read_named(path, Component::MAX_BYTES).with_context(|| cannot_load(path))?;
    with_component(path, wasm, &Limits::default())
}

/// Returns the component in a file.
pub(crate) fn read_component(path: &Path) -> Result<Component> {
    let wasm = read_named(path, Component::MAX_BYTES).with_context(|| cannot_load(path))?;
    Ok(Component::from_bytes(wasm))
}

fn cannot_load(path: &Path) -> String {
    format!("cannot load {}", path.display())
}

/// Registers a contract. Returns its agent, and its complete text.
fn register(gate: &mut Gate, path: &Path, source: &ContractSource) -> Result<(String, String)> {
    let info = gate.register(source.text()).map_err(|fault| unusable(fault, source, path))?;
    Ok((info.agent, source.text().to_owned()))
}

/// Returns whether a file is a profile, judging by its name.
pub(crate) fn is_profile(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".profile.json")
}

/// Returns the contracts and the profiles of a folder. Fails if there is neither.
pub(crate) fn of_folder(folder: &Path) -> Result<(Documents, Documents), FileError> {
    let profiles = read_profiles(folder)?;
    match read_contracts(folder) {
        Err(error) if !profiles.is_empty() && error.is_empty_folder() => Ok((Vec::new(), profiles)),
        contracts => Ok((contracts?, profiles)),
    }
}

/// Documents, with the files that they come from.
type Documents = Vec<(PathBuf, String)>;

/// Returns the contracts of a gate: those from disk, or those in the component.
pub(crate) fn all(gate: &Gate) -> Result<Vec<ContractInfo>> {
    let registered: Vec<ContractInfo> = gate.contracts().cloned().collect();
    match registered.is_empty() {
        true => Ok(gate.baked_contracts().map_err(FaultError)?),
        false => Ok(registered),
    }
}

/// Returns the agent that `--agent` names, or the only one.
pub(crate) fn agent(named: Option<&str>, gate: &Gate, contracts: &Path) -> Result<String> {
    if let Some(agent) = named {
        return Ok(agent.to_owned());
    }
    let agents: Vec<String> = all(gate)?.into_iter().map(|info| info.agent).collect();
    match agents.as_slice() {
        [only] => Ok(only.clone()),
        [] => bail!("{} has no contracts", contracts.display()),
        several => {
            bail!("{} has several contracts: name one with --agent ({})", contracts.display(), several.join(", "))
        }
    }
}
