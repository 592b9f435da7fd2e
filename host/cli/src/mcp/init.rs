//! `seamgate mcp init` and `seamgate mcp check`: what a server lists, and what a person has seen of it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::read_profile;
use seamgate_text::{escape_terminal, say, truncate};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Document, READ_ARTIFACT, listing::name_of};
use crate::{
    agent::principal,
    console::print,
    error::NoVerdict,
    mcp_client::Server,
    process::{Inherited, Program},
    status::Status,
};

/// What most programs need to start, as clients of the protocol hand it on.
const COMMON: [&str; 9] = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// A difference is shown so long.
const MAX_SHOWN: usize = 300;

#[derive(clap::Args)]
pub(crate) struct Init {
    /// The profile to write: NAME.profile.json. NAME.lock.json is written beside it
    #[arg(short, long, value_name = "FILE", default_value = "mcp.profile.json")]
    output: PathBuf,
    /// A variable of the environment that the server needs, beside HOME, PATH and the like
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Who may approve calls. Default: the user who is logged in
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct Check {
    /// The profile, with its lock file beside it
    #[arg(short, long, value_name = "PROFILE")]
    profile: PathBuf,
    /// Several servers, from a servers file
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    servers: Option<PathBuf>,
    /// The server and its arguments
    #[arg(last = true, required_unless_present = "servers", value_name = "SERVER")]
    server: Vec<String>,
}

/// What a server lists of a tool, as far as a person decides by it.
#[derive(Deserialize)]
struct Listed {
    description: Option<String>,
    annotations: Option<BTreeMap<String, Value>>,
}

pub(super) fn init(arguments: &Init) -> Result<Status> {
    let (profile, lock) = files(&arguments.output)?;
    for path in [&profile, &lock] {
        if path.exists() {
            bail!("{}: it is there already: name another file with -o, or remove it", path.display());
        }
    }
    let mut names: Vec<String> = COMMON.iter().map(|name| (*name).to_owned()).chain(arguments.env.clone()).collect();
    names.retain(|name| std::env::var_os(name).is_some());
    let folder = std::env::current_dir().context("cannot find the working folder")?;
    let server = start("server", &arguments.server, &BTreeMap::new(), &names, &folder)?;
    let listed = server.tools().map_err(NoVerdict)?;
    let said = server.said();
    drop(server);
    let stem = profile.file_name().unwrap_or_default().to_string_lossy();
    let agent = agent(stem.trim_end_matches(".profile.json"));
    let owner = principal(arguments.principal.as_deref())?;
    let mut tools: Vec<String> = listed
        .iter()
        .filter_map(|tool| {
            let (name, comment) = (json!(name_of(tool.get())?), json!(comment(tool)));
            Some(format!(
                r#"    {{
      "$comment": {comment},
      "name": {name},
      "server": {server},
      "effect": "effectful",
      "permit": {{ "approval": {{ "by": ["owner"], "ttl_s": 600 }} }}
    }}"#,
                server = json!(agent)
            ))
        })
        .collect();
    tools.push(format!(
        r#"    {{
      "$comment": "seamgate's own: the client reads whole results by it that were cut.",
      "name": {},
      "effect": "read",
      "permit": "allow"
    }}"#,
        json!(READ_ARTIFACT)
    ));
    let kinds: Vec<&str> = [
        ("resources", "resources/*"),
        ("prompts", "prompts/*"),
        ("completions", "completion/*"),
        ("logging", "logging/*"),
    ]
    .into_iter()
    .filter(|(kind, _)| said.capabilities.contains_key(*kind))
    .map(|(_, methods)| methods)
    .collect();
    let methods = match kinds.is_empty() {
        true => "The server has tools only.".to_owned(),
        false => format!("The server also has: {}. Name in 'methods' what the client needs.", kinds.join(", ")),
    };
    let names: Vec<String> = names.iter().map(|name| json!(name).to_string()).collect();
    let text = format!(
        r#"{{
  "$comment": "Made by 'seamgate mcp init'. Decide for each tool: 'effect' (read, idempotent, effectful), 'permit' (allow, deny, approval), what its 'arguments' may be, and 'labels' of its result.",
  "agent": {agent},
  "version": "0.1.0",
  "approvers": {{
    "owner": [
      {{ "principal": {owner} }}
    ]
  }},
  "servers": {{
    {agent}: {{
      "$comment": {methods},
      "methods": [],
      "environment": [{names}]
    }}
  }},
  "tools": [
{tools}
  ],
  "budget": {{ "tool_calls": 10000 }}
}}
"#,
        agent = json!(agent),
        owner = json!(owner),
        methods = json!(methods),
        names = names.join(", "),
        tools = tools.join(",\n")
    );
    write(&profile, &text)?;
    let definitions: Vec<&str> = listed.iter().map(|tool| tool.get()).collect();
    let text = format!(
        "{{\n  \"servers\": {{\n    {}: {{\n      \"tools\": [\n        {}\n      ]\n    }}\n  }}\n}}\n",
        json!(agent),
        definitions.join(",\n        ")
    );
    write(&lock, &text)?;
    // A profile that cannot be used would be our mistake, or a definition that is none.
    let mut gate = seamgate::Gate::new()?;
    if let Err(fault) = gate.register_profile(&read_profile(&profile)?) {
        say(&format!(
            "seamgate: {}: edit it before you use it: {}",
            profile.display(),
            escape_terminal(&fault.to_string())
        ));
    }
    print(&format!(
        "{}: {} of {}, each with approval\n{}: their definitions, as they are now\n\nSet 'effect' and 'permit' of each tool. Then put this line into the configuration of your client:\n\n  seamgate mcp -p {} -- {}",
        profile.display(),
        seamgate_text::count(listed.len(), "tool"),
        escape_terminal(said.name.as_deref().unwrap_or("the server")),
        lock.display(),
        profile.display(),
        escape_terminal(&arguments.server.join(" ")),
    ))?;
    Ok(Status::Accepted)
}

pub(super) fn check(arguments: &Check) -> Result<Status> {
    #[derive(Deserialize)]
    struct Whole {
        tools: Vec<Pinned>,
    }
    #[derive(Deserialize)]
    struct Pinned {
        name: String,
        #[serde(default)]
        server: String,
        definition: Option<Value>,
    }
    let text = read_profile(&arguments.profile)?;
    let document = Document::of(&arguments.profile, &text)?;
    let whole: Whole = serde_json::from_str(&text).with_context(|| arguments.profile.display().to_string())?;
    let launches = match &arguments.servers {
        Some(file) => document.launches(file)?,
        None => vec![document.launch(&arguments.server)?],
    };
    let mut lines = Vec::new();
    let mut total = 0;
    for launch in &launches {
        let told = if launch.name.is_empty() { "server" } else { &launch.name };
        let server = start(told, &launch.command, &launch.environment, &launch.inherited, &launch.folder)?;
        let listed = server.tools().map_err(NoVerdict)?;
        drop(server);
        total += listed.len();
        let listed: BTreeMap<String, Value> = listed
            .iter()
            .filter_map(|tool| Some((name_of(tool.get())?, serde_json::from_str(tool.get()).ok()?)))
            .collect();
        let full =
            |name: &str| if launch.name.is_empty() { name.to_owned() } else { format!("{}/{name}", launch.name) };
        let pinned: Vec<&Pinned> = whole.tools.iter().filter(|tool| tool.server == launch.name).collect();
        for tool in &pinned {
            let own = launch.name.is_empty() && tool.name == READ_ARTIFACT;
            match (listed.get(&tool.name), &tool.definition) {
                (None, _) if own => {}
                (None, _) => lines.push(format!("missing  {}: the server does not list it", full(&tool.name))),
                (Some(_), None) => lines.push(format!("unpinned {}: the lock file lacks it", full(&tool.name))),
                (Some(now), Some(then)) if now == then => {}
                (Some(now), Some(then)) => {
                    lines.push(format!("changed  {}", full(&tool.name)));
                    differences("", then, now, &mut lines);
                }
            }
        }
        for (name, definition) in &listed {
            if !pinned.iter().any(|tool| tool.name == *name) {
                let description = definition["description"].as_str().unwrap_or_default();
                lines.push(format!("new      {}: {}", full(name), truncate(description, MAX_SHOWN)));
            }
        }
    }
    if lines.is_empty() {
        print(&format!(
            "{}: {}, as the profile pins them",
            arguments.profile.display(),
            seamgate_text::count(total, "tool")
        ))?;
        return Ok(Status::Accepted);
    }
    print(&escape_terminal(&lines.join("\n")))?;
    Ok(Status::Rejected)
}

/// Where two definitions differ, a line each.
fn differences(path: &str, then: &Value, now: &Value, lines: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            let names: std::collections::BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            for name in names {
                let path = format!("{path}/{name}");
                match (then.get(name), now.get(name)) {
                    (Some(then), Some(now)) if then == now => {}
                    (Some(then), Some(now)) => differences(&path, then, now, lines),
                    (Some(then), None) => lines.push(format!("         {path}: was {}, and is gone", short(then))),
                    (None, Some(now)) => lines.push(format!("         {path}: new: {}", short(now))),
                    (None, None) => {}
                }
            }
        }
        _ => lines.push(format!("         {path}: was {}\n         {path}: is  {}", short(then), short(now))),
    }
}

fn short(value: &Value) -> String {
    truncate(&value.to_string(), MAX_SHOWN)
}

/// Start a server as the gate would.
fn start(
    told_as: &str,
    command: &[String],
    environment: &BTreeMap<String, String>,
    inherited: &[String],
    folder: &Path,
) -> Result<Server> {
    let inherited = Inherited::Only(inherited);
    let program = Program { command, environment, inherited, folder, told_as, paths: None };
    Server::start(&program).map_err(|message| NoVerdict(message).into())
}

/// What a person should know of a tool before they decide. The server says it, so it proves nothing.
fn comment(definition: &RawValue) -> String {
    let Ok(Listed { description, annotations }) = serde_json::from_str(definition.get()) else {
        return "The server's definition is none.".to_owned();
    };
    let first = description.as_deref().unwrap_or_default().lines().next().unwrap_or_default().trim().to_owned();
    let hints: Vec<String> = annotations
        .unwrap_or_default()
        .into_iter()
        .filter(|(name, value)| name.ends_with("Hint") && value.is_boolean())
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let hints = if hints.is_empty() { String::new() } else { format!(" The server says {}.", hints.join(", ")) };
    escape_terminal(&format!("{}{hints}", truncate(&first, MAX_SHOWN)))
}

/// The files of a profile.
fn files(profile: &Path) -> Result<(PathBuf, PathBuf)> {
    let name = profile.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(stem) = name.strip_suffix(".profile.json").filter(|stem| !stem.is_empty()) else {
        bail!("-o {}: the name must end in .profile.json, for its lock file is found by that", profile.display());
    };
    Ok((profile.to_owned(), profile.with_file_name(format!("{stem}.lock.json"))))
}

/// A file's name as that of an agent and of a server.
fn agent(stem: &str) -> String {
    let is_known = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let name: String = stem.chars().map(|next| if is_known(next) { next.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.trim_start_matches(['.', '_', '-']).chars().take(64).collect::<String>();
    if name.is_empty() { "mcp".to_owned() } else { name }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| NoVerdict(format!("cannot write {}: {error}", path.display())).into())
}
