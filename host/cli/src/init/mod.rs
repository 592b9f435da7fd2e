//! `seamgate init`: a contract to start from, with its schema and an example output that passes.

mod infer;
mod pydantic;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Disposition, Gate, MAX_FILE, Report, Request, read_named};
use seamgate_text::{count, escape_terminal};
use serde_json::{Map, Value, json};

use crate::{
    console::print,
    error::FaultError,
    examples::{self, Expected},
    schema::{Pool, Root, Sampler},
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder to put the files into. No file that is there is written over
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The agent, for which the files are named [default: by where the schema comes from]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// A JSON Schema to begin with
    #[arg(long, value_name = "FILE", group = "from")]
    from_schema: Option<PathBuf>,
    /// A folder of outputs; the schema takes all of them
    #[arg(long, value_name = "DIR", group = "from")]
    from_examples: Option<PathBuf>,
    /// A Pydantic model, as python3 imports it from the current folder. This runs the module
    #[arg(long, value_name = "MODULE:MODEL", group = "from")]
    pydantic: Option<String>,
}

/// What a contract begins with.
struct Start {
    agent: String,
    description: String,
    /// The text of the schema's file.
    schema: String,
    /// Members of the contract beside these.
    policy: Map<String, Value>,
    /// Outputs by their names. Where there are none, one is made.
    outputs: Vec<(String, Vec<u8>)>,
}

/// Documents to make in the search for one that passes.
const TRIES: u64 = 300;

/// How wild documents are, in turn: the first ones are ordinary.
const WILDNESS: [usize; 4] = [0, 10, 40, 100];

/// The schema that `init` without a source begins with.
const TEMPLATE: &str = include_str!("template.schema.json");

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let start = start(arguments)?;
    let agent = &start.agent;
    let folder = examples::plain(&arguments.folder);
    let named = |end: &str| folder.join(format!("{agent}.{end}"));
    let schema_name = format!("{agent}.schema.json");
    let schema: Value = serde_json::from_str(&start.schema).context("the schema is not JSON")?;
    let contract = |schema: Value| {
        let mut contract = start.policy.clone();
        contract.insert("agent".to_owned(), json!(agent));
        contract.insert("description".to_owned(), json!(start.description));
        contract.insert("schema".to_owned(), schema);
        Value::Object(contract)
    };
    let whole = contract(schema);
    let mut gate = Gate::new()?;
    gate.register(&whole.to_string()).map_err(FaultError)?;
    let outputs = match start.outputs.is_empty() {
        true => made(&gate, agent, &whole).into_iter().collect(),
        false => start.outputs,
    };

    let contract_file = named("contract.json");
    let mut files = vec![
        (contract_file.clone(), serde_json::to_string_pretty(&contract(json!(schema_name)))? + "\n"),
        (folder.join(&schema_name), start.schema.clone()),
    ];
    // A schema that already has the name and the place stays as it is.
    let is_there = arguments.from_schema.as_deref().is_some_and(|from| is_one_file(from, &files[1].0));
    if is_there {
        files.pop();
    }
    let folder = examples::folder(&contract_file);
    for (name, output) in &outputs {
        let output_file = folder.join(format!("{name}.txt"));
        let report = gate.validate(&Request::from_bytes(agent, output)).map_err(FaultError)?.report;
        files.push((examples::verdict(&output_file), Expected::of(&report).to_json()?));
        files.push((output_file, String::from_utf8_lossy(output).into_owned()));
    }
    if let Some((there, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        bail!("{} is there already; nothing was written", there.display());
    }
    for (path, text) in &files {
        write(path, text)?;
    }
    let mut said: Vec<String> = files.iter().map(|(path, _)| format!("made {}", path.display())).collect();
    if outputs.is_empty() {
        said.push(format!("no example that passes was found: write an output into {}", folder.display()));
    }
    let found = gate.lint(&whole.to_string()).map_err(FaultError)?.len();
    if found > 0 {
        said.push(format!("seamgate lint {} has {} for it", contract_file.display(), count(found, "remark")));
    }
    if !outputs.is_empty() {
        said.push(format!("next: seamgate test {}", arguments.folder.display()));
    }
    print(&escape_terminal(&said.join("\n")))?;
    Ok(Status::Accepted)
}

fn start(arguments: &Arguments) -> Result<Start> {
    let named = |default: &str| -> Result<String> {
        let agent = arguments.agent.clone().unwrap_or_else(|| as_agent(default));
        // What names files is checked before it does.
        match as_agent(&agent) == agent {
            true => Ok(agent),
            false => bail!(
                "--agent {agent:?}: must have small letters, digits, '.', '_' and '-' alone, begin with a letter or digit, and have at most 128 of them"
            ),
        }
    };
    if let Some(file) = &arguments.from_schema {
        let name = || format!("--from-schema {}", file.display());
        let bytes = read_named(file, MAX_FILE).with_context(name)?;
        let text = String::from_utf8(bytes).ok().with_context(|| format!("{} is not UTF-8", name()))?;
        let file_name = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = file_name.strip_suffix(".schema.json").or(file_name.strip_suffix(".json")).unwrap_or(&file_name);
        return of_schema(named(stem)?, text).with_context(name);
    }
    if let Some(model) = &arguments.pydantic {
        let class = model.rsplit([':', '.']).next().unwrap_or(model);
        let text = pydantic::schema(model).with_context(|| format!("--pydantic {model}"))?;
        return of_schema(named(class)?, text).with_context(|| format!("--pydantic {model}"));
    }
    if let Some(folder) = &arguments.from_examples {
        let folder_name =
            folder.canonicalize().ok().and_then(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()));
        let agent = named(folder_name.as_deref().unwrap_or("example"))?;
        return infer::start(agent, folder).with_context(|| format!("--from-examples {}", folder.display()));
    }
    Ok(Start {
        agent: named("order")?,
        description: "One order, as the customer wrote it".to_owned(),
        schema: TEMPLATE.to_owned(),
        policy: Map::new(),
        outputs: vec![
            ("good".to_owned(), b"Here is your order:\n```json\n{\"sku\": \"A-7\", \"count\": 2}\n```\n".to_vec()),
            ("none".to_owned(), b"```json\n{\"sku\": \"A-7\", \"count\": 0}\n```\n".to_vec()),
        ],
    })
}

/// A contract around a schema as it stands.
fn of_schema(agent: String, text: String) -> Result<Start> {
    let schema: Value = serde_json::from_str(&text).context("is not JSON")?;
    if schema.get("agent").is_some() && schema.get("schema").is_some() {
        bail!("is a contract already, not a schema");
    }
    let said = |name: &str| schema.get(name).and_then(Value::as_str).map(str::to_owned);
    let description =
        said("description").or_else(|| said("title")).unwrap_or_else(|| format!("What the agent {agent} answers"));
    Ok(Start { agent, description, schema: text, policy: Map::new(), outputs: Vec::new() })
}

/// A name as an agent may have it.
fn as_agent(name: &str) -> String {
    let mut agent = String::new();
    let mut before = ' ';
    for character in name.chars().take(128) {
        // `OrderLine` is `order-line`.
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

/// An output that a contract accepts, if one is found.
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

/// Whether two paths lead to one file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(one, other)| one == other)
}

/// Write a file that is not there.
fn write(path: &Path, text: &str) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(context)?;
    }
    let mut file = fs::File::options().write(true).create_new(true).open(path).with_context(context)?;
    file.write_all(text.as_bytes()).with_context(context)
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
