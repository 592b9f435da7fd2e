//! `seamgate export`: prints the part of a contract's schema that a provider's constrained decoding enforces.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use seamgate::Limits;
use seamgate_authoring::export::{Effect, Rule, Target, export};
use seamgate_text::{count, escape_terminal, say};
use serde_json::{json, value::RawValue};

use crate::{console::print_json, contracts, input, status::Status};

pub(crate) const HELP: &str = "\
Every instance that is valid by the contract's schema is valid by the export. What the export weakens or leaves out is listed
on standard error. The gate still judges by the whole contract.

OpenAI and Anthropic demand closed objects, and OpenAI demands every member. Where that would refuse a valid instance, nothing
is exported unless --close allows it.

Exit status: 0 exported, 1 not exported, 2 usage or contract error";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A contract, or a folder of contracts
    #[arg(required_unless_present = "schema")]
    contract: Option<PathBuf>,
    /// A JSON Schema in place of a contract
    #[arg(long, value_name = "FILE", conflicts_with_all = ["contract", "agent"])]
    schema: Option<PathBuf>,
    /// The agent whose contract to export, if CONTRACT has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The provider or engine that enforces the schema
    #[arg(long = "for", value_name = "TARGET")]
    target: For,
    /// Close objects and require members where the target demands it, even if this rejects some valid instances
    #[arg(long)]
    close: bool,
    /// Print the schema and the list of rules as one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum For {
    /// Structured Outputs of OpenAI, strict
    Openai,
    /// Structured outputs and strict tools of Anthropic
    Anthropic,
    /// responseJsonSchema of Gemini
    Gemini,
    /// The engine llguidance
    Llguidance,
}

impl From<For> for Target {
    fn from(target: For) -> Self {
        match target {
            For::Openai => Target::OpenAi,
            For::Anthropic => Target::Anthropic,
            For::Gemini => Target::Gemini,
            For::Llguidance => Target::Llguidance,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let text = match (&arguments.contract, &arguments.schema) {
        (_, Some(schema)) => {
            input::read_once([("--schema".to_owned(), schema.as_path())])?;
            contracts::read_schema(schema, &Limits::default())?.1.1
        }
        (Some(contract), None) => contracts::only(contract, arguments.agent.as_deref())?.1,
        (None, None) => bail!("name a contract, or a schema with --schema"),
    };
    let target = Target::from(arguments.target);
    let exported = export(&text, target)?;
    let is_allowed = |rule: &&Rule| arguments.close && rule.effect == Effect::Stronger;
    let obstacles: Vec<&Rule> = exported.obstacles().filter(|rule| !is_allowed(rule)).collect();
    let is_exported = obstacles.is_empty();
    if arguments.json {
        let rules = exported.rules.iter().map(|rule| {
            json!({ "pointer": rule.pointer, "keyword": rule.keyword, "effect": rule.effect.as_str(), "why": rule.why })
        });
        let schema = RawValue::from_string(exported.line.clone())?;
        let document = serde_json::to_string(&Document {
            target: target.as_str(),
            schema: is_exported.then_some(&*schema),
            rules: rules.collect(),
        })?;
        print_json(&document)?;
    } else {
        // If nothing is exported, only the reasons for that are shown.
        let shown: Vec<&Rule> = if is_exported { exported.rules.iter().collect() } else { obstacles.clone() };
        shown.iter().for_each(|rule| say(&told(rule)));
        if is_exported {
            print_json(&exported.schema)?;
        }
    }
    if is_exported {
        return Ok(Status::Accepted);
    }
    let closes = obstacles.iter().any(|rule| rule.effect == Effect::Stronger);
    let hint =
        if closes { "\nhint: --close exports it with these rules, which the contract does not have" } else { "" };
    say(&format!("seamgate: nothing exported for {}: {}{hint}", target.as_str(), count(obstacles.len(), "obstacle")));
    Ok(Status::Rejected)
}

/// The document that `--json` prints.
#[derive(serde::Serialize)]
struct Document<'e> {
    target: &'static str,
    /// `None` if nothing is exported.
    schema: Option<&'e RawValue>,
    rules: Vec<serde_json::Value>,
}

/// Describes a rule for a person, on one line. Names the keyword if the place does not end with it.
fn told(rule: &Rule) -> String {
    let effect = rule.effect.as_str().replace('_', " ");
    let keyword = match rule.keyword.is_empty() || rule.pointer.ends_with(&format!("/{}", rule.keyword)) {
        true => String::new(),
        false => format!(" ({})", rule.keyword),
    };
    escape_terminal(&format!("{effect}: {}{keyword}: {}", rule.pointer, rule.why))
}
