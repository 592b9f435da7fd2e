//! Creates a contract to start from, with its schema and an example output that passes.

mod infer;
mod pydantic;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use seamgate::{Disposition, Fault, Gate, LoadError, MAX_FILE, Report, Request, read_named};
use serde_json::{Map, Value, json};

use crate::{
    examples::{self, Expected},
    schema::{Pool, Root, Sampler},
};

/// The reason why a contract cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// The text is not a valid name of an agent.
    #[error(
        "{0:?}: must have small letters, digits, '.', '_' and '-' alone, begin with a letter or digit, and have at most 128 of them"
    )]
    AgentName(String),
    /// The file of the schema, or the folder of examples, cannot be read.
    #[error(transparent)]
    Read(io::Error),
    /// The file of the schema is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The schema is not JSON.
    #[error("is not JSON")]
    NotJson(#[source] serde_json::Error),
    /// The file contains a contract.
    #[error("is a contract already, not a schema")]
    IsContract,
    /// The name of a Pydantic model is not `MODULE:MODEL`.
    #[error("must be MODULE:MODEL, such as app.models:Order")]
    ModelName,
    /// The command `python3` cannot be run.
    #[error("cannot run python3")]
    Python(#[source] io::Error),
    /// Python did not write the schema of the model.
    #[error("{message}")]
    #[non_exhaustive]
    PythonFailed {
        /// The last line that Python wrote to standard error.
        message: String,
    },
    /// The folder of examples has no files.
    #[error("has no files; put outputs into it, one a file")]
    NoFiles,
    /// The folder of examples has too many files.
    #[error("has {files} files; at most {limit} are read")]
    #[non_exhaustive]
    TooManyFiles {
        /// The number of files.
        files: usize,
        /// The limit.
        limit: usize,
    },
    /// An output cannot be read.
    #[error("{}", path.display())]
    #[non_exhaustive]
    Output {
        /// The file of the output.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is no verdict on an output.
    #[error("{}: {fault}", path.display())]
    #[non_exhaustive]
    Judging {
        /// The file of the output.
        path: PathBuf,
        /// The reason.
        fault: Fault,
    },
    /// An output contains no JSON.
    #[error("{}: no JSON to begin with: {why}", path.display())]
    #[non_exhaustive]
    NoJson {
        /// The file of the output.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The document that the gate found in an output cannot be read.
    #[error("{}", path.display())]
    #[non_exhaustive]
    Document {
        /// The file of the output.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The gate does not accept the contract, or has no verdict on an example.
    #[error(transparent)]
    Gate(Fault),
    /// A file to write already exists.
    #[error("{} is there already; nothing was written", path.display())]
    #[non_exhaustive]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The contract or a verdict cannot be written as JSON.
    #[error(transparent)]
    Write(serde_json::Error),
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    #[non_exhaustive]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A contract that has not been written yet.
pub struct Starter {
    agent: String,
    description: String,
    /// The schema, and the text of its file.
    schema: Value,
    text: String,
    /// The file that the schema was read from.
    from: Option<PathBuf>,
    /// Further members of the contract.
    policy: Map<String, Value>,
    /// Outputs by their names. If there are none, one is generated.
    outputs: Vec<(String, Vec<u8>)>,
}

/// The files of a contract that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Started {
    /// All files that were written, in this order.
    pub files: Vec<PathBuf>,
    /// The file of the contract.
    pub contract: PathBuf,
    /// The folder of the examples.
    pub examples: PathBuf,
    /// `true` if there are examples. `false` if no document was found that the contract accepts.
    pub has_examples: bool,
    /// The number of warnings and hints of `lint` about the contract.
    pub remarks: usize,
}

/// The number of documents that are generated in the search for one that passes.
const TRIES: u64 = 300;

/// The wildness of successive documents. The first ones are ordinary.
const WILDNESS: [usize; 4] = [0, 10, 40, 100];

/// The schema that a contract without a source begins with.
const TEMPLATE: &str = include_str!("template.schema.json");

impl Starter {
    /// Starts a contract with a small schema and two outputs, one of which passes.
    ///
    /// # Errors
    ///
    /// `agent` is not a valid name of an agent. The default is `order`.
    pub fn template(agent: Option<&str>) -> Result<Self, InitError> {
        let agent = agent_name(agent, "order")?;
        let description = "One order, as the customer wrote it".to_owned();
        let outputs = vec![
            ("good".to_owned(), b"Here is your order:\n```json\n{\"sku\": \"A-7\", \"count\": 2}\n```\n".to_vec()),
            ("none".to_owned(), b"```json\n{\"sku\": \"A-7\", \"count\": 0}\n```\n".to_vec()),
        ];
        Ok(Starter { description, outputs, ..Starter::of_schema(agent, TEMPLATE.to_owned())? })
    }

    /// Starts a contract from the file of a JSON Schema. By default, the agent is named after the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or does not contain JSON, it contains a contract, or `agent` is not a valid name of an
    /// agent.
    pub fn from_schema(agent: Option<&str>, file: &Path) -> Result<Self, InitError> {
        let bytes = read_named(file, MAX_FILE).map_err(InitError::Read)?;
        let text = String::from_utf8(bytes).map_err(|_| InitError::NotUtf8)?;
        let file_name = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = file_name.strip_suffix(".schema.json").or(file_name.strip_suffix(".json")).unwrap_or(&file_name);
        let starter = Starter::of_schema(agent_name(agent, stem)?, text)?;
        Ok(Starter { from: Some(file.to_owned()), ..starter })
    }

    /// Starts a contract from a folder of outputs. The schema accepts all of them. By default, the agent is named after the folder.
    ///
    /// # Errors
    ///
    /// The folder has no files or more than 1,000, a file cannot be read or does not contain JSON, or `agent` is not a
    /// valid name of an agent.
    pub fn from_examples(agent: Option<&str>, folder: &Path) -> Result<Self, InitError> {
        let folder_name =
            folder.canonicalize().ok().and_then(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
        infer::starter(agent_name(agent, folder_name.as_deref().unwrap_or("example"))?, folder)
    }

    /// Starts a contract from a Pydantic model, `MODULE:MODEL`. By default, the agent is named after the model.
    ///
    /// `python3` imports the module from the current folder, which runs it.
    ///
    /// # Errors
    ///
    /// Python cannot be run or does not find the model, or `agent` is not a valid name of an agent.
    pub fn from_pydantic(agent: Option<&str>, model: &str) -> Result<Self, InitError> {
        let class = model.rsplit([':', '.']).next().unwrap_or(model);
        let text = pydantic::schema(model)?;
        Starter::of_schema(agent_name(agent, class)?, text)
    }

    /// Starts a contract with an unchanged schema.
    fn of_schema(agent: String, text: String) -> Result<Self, InitError> {
        let schema: Value = serde_json::from_str(&text).map_err(InitError::NotJson)?;
        if schema.get("agent").is_some() && schema.get("schema").is_some() {
            return Err(InitError::IsContract);
        }
        let stated = |name: &str| schema.get(name).and_then(Value::as_str).map(str::to_owned);
        let description = stated("description")
            .or_else(|| stated("title"))
            .unwrap_or_else(|| format!("What the agent {agent} answers"));
        Ok(Starter { agent, description, schema, text, from: None, policy: Map::new(), outputs: Vec::new() })
    }

    /// Returns the contract with this schema, or with this path to one.
    fn contract(&self, schema: Value) -> Value {
        let mut contract = self.policy.clone();
        contract.insert("agent".to_owned(), json!(self.agent));
        contract.insert("description".to_owned(), json!(self.description));
        contract.insert("schema".to_owned(), schema);
        Value::Object(contract)
    }

    /// Writes the contract, its schema, and its examples with their verdicts into a folder. Overwrites no file.
    ///
    /// If the schema was read from the file that would be written, that file is not changed.
    ///
    /// # Errors
    ///
    /// The gate does not accept the contract, or has no verdict on an example; or a file exists, or cannot be written.
    /// Before writing anything, checks that no file exists.
    pub fn write(self, folder: &Path) -> Result<Started, InitError> {
        let agent = &self.agent;
        let folder = examples::without_dot(folder);
        let named = |end: &str| folder.join(format!("{agent}.{end}"));
        let schema_name = format!("{agent}.schema.json");
        let whole = self.contract(self.schema.clone());
        let mut gate = Gate::new()?;
        gate.register(&whole.to_string()).map_err(InitError::Gate)?;
        let made: Vec<_> = match self.outputs.is_empty() {
            true => made(&gate, agent, &whole).into_iter().collect(),
            false => Vec::new(),
        };
        let outputs = if made.is_empty() { &self.outputs } else { &made };

        let contract = named("contract.json");
        let text = serde_json::to_string_pretty(&self.contract(json!(schema_name))).map_err(InitError::Write)?;
        let mut files = vec![(contract.clone(), text + "\n"), (folder.join(&schema_name), self.text.clone())];
        // A schema that already has the right name and place is not changed.
        if self.from.as_deref().is_some_and(|from| is_one_file(from, &files[1].0)) {
            files.pop();
        }
        let examples = examples::folder(&contract);
        for (name, output) in outputs {
            let file = examples.join(format!("{name}.txt"));
            let report = gate.validate(&Request::from_bytes(agent, output)).map_err(InitError::Gate)?.report;
            let verdict = Expected::of(&report).to_json().map_err(InitError::Write)?;
            files.push((examples::verdict(&file), verdict));
            files.push((file, String::from_utf8_lossy(output).into_owned()));
        }
        if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
            return Err(InitError::Exists { path: path.clone() });
        }
        for (path, text) in &files {
            write(path, text).map_err(|source| InitError::File { path: path.clone(), source })?;
        }
        let remarks = gate.lint(&whole.to_string()).map_err(InitError::Gate)?.len();
        let has_examples = !outputs.is_empty();
        let files = files.into_iter().map(|(path, _)| path).collect();
        Ok(Started { files, contract, examples, has_examples, remarks })
    }
}

/// Returns the name of the agent: the given one, which is checked because files are named after it, or one derived from
/// a default.
fn agent_name(given: Option<&str>, default: &str) -> Result<String, InitError> {
    let agent = given.map_or_else(|| as_agent(default), str::to_owned);
    if as_agent(&agent) == agent { Ok(agent) } else { Err(InitError::AgentName(agent)) }
}

/// Converts a text to a valid name of an agent.
fn as_agent(name: &str) -> String {
    let mut agent = String::new();
    let mut before = ' ';
    for character in name.chars().take(128) {
        // `OrderLine` becomes `order-line`.
        if character.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            agent.push('-');
        }
        match character.to_ascii_lowercase() {
            kept @ ('a'..='z' | '0'..='9' | '.' | '_' | '-') => agent.push(kept),
            _ => agent.push('-'),
        }
        before = character;
    }
    let agent = agent.trim_start_matches(['.', '_', '-']).to_owned();
    if agent.is_empty() { "agent".to_owned() } else { agent.chars().take(128).collect() }
}

/// Generates an output that a contract accepts, if one is found.
fn made(gate: &Gate, agent: &str, contract: &Value) -> Option<(String, Vec<u8>)> {
    let root = Root::of_contract(contract)?;
    let pool = Pool::of([&root]);
    let mut instance = gate.instance();
    (0..TRIES).find_map(|seed| {
        let document = Sampler::new(&pool, seed, WILDNESS[(seed % 4) as usize]).document(root.node());
        let output = format!("```json\n{}\n```\n", serde_json::to_string_pretty(&document).ok()?);
        let report = instance.validate(&Request::new(agent, &output)).ok()?.report;
        is_accepted(&report).then(|| ("good".to_owned(), output.into_bytes()))
    })
}

fn is_accepted(report: &Report) -> bool {
    report.disposition == Disposition::Accepted
}

/// Returns whether two paths lead to the same file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// Writes a file that does not exist yet.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::options().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::as_agent;

    #[test]
    fn names_become_names_of_agents() {
        for (name, agent) in [
            ("Order", "order"),
            ("OrderLine", "order-line"),
            ("my order", "my-order"),
            ("_x.Y", "x.y"),
            ("é", "agent"),
            ("a-b_c", "a-b_c"),
        ] {
            assert_eq!(as_agent(name), agent);
        }
    }
}
