//! `seamgate lint`: finds mistakes in contracts and profiles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Result, bail};
use seamgate::{ContractSource, FileError, Gate, contract_files, open_regular, profile_files, read_profile};
use seamgate_authoring::{
    Finding, Level, Location,
    contract_errors::{Places, of_fault, of_file_error, of_warning},
    examples::without_dot,
};
use seamgate_text::{count, escape_terminal, say};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    codes,
    console::{held, print},
    contracts::is_profile,
    format::{Checked, Format, written},
    input,
    status::Status,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Contracts, profiles (NAME.profile.json), or folders of them. A schema (NAME.schema.json) stands for the contracts
    /// and profiles that name it, and a lock file (NAME.lock.json) for its profile
    #[arg(required = true, value_name = "CONTRACT")]
    paths: Vec<PathBuf>,
    /// Also show hints about style, and fail for any finding
    #[arg(long)]
    strict: bool,
    /// Omit findings with this code. `seamgate explain` lists all codes
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// The format of the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    input::read_once(arguments.paths.iter().map(|path| (path.display().to_string(), path.as_path())))?;
    for code in &arguments.allow {
        if !codes::is_of_lint(code) {
            bail!("--allow {code}: `lint` finds nothing of that code; `seamgate explain` lists those it finds");
        }
    }
    let gate = Gate::new()?;
    let mut checked: Vec<Checked> = Vec::new();
    let ([mut contracts, mut profiles], mut hidden) = ([0, 0], 0);
    let mut seen = BTreeSet::new();
    for path in arguments.paths.iter().flat_map(|path| files(path)) {
        let start = Instant::now();
        // Several arguments can stand for one file.
        if let Ok((path, _)) = &path
            && !seen.insert(path.clone())
        {
            continue;
        }
        let (name, mut findings) = match path {
            Ok((path, of_folder)) if is_profile(&path) => {
                profiles += 1;
                (path.display().to_string(), of_profile(&gate, &path, of_folder))
            }
            Ok((path, of_folder)) => {
                contracts += 1;
                (path.display().to_string(), of_contract(&gate, &path, of_folder))
            }
            Err((path, error)) => (path.display().to_string(), vec![of_file_error(&error, &path)]),
        };
        findings.retain(|finding| !arguments.allow.contains(&finding.code));
        if !arguments.strict {
            let all = findings.len();
            findings.retain(|finding| finding.level != Level::Hint);
            hidden += all - findings.len();
        }
        // The most severe first. Findings of the same level stay in the order of the file.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        let fails = |finding: &Finding| arguments.strict || finding.level == Level::Error;
        let failed = findings.iter().any(fails);
        checked.push(Checked { name, findings, failed, elapsed: start.elapsed() });
    }
    let number = |level| checked.iter().flat_map(|one| &one.findings).filter(|finding| finding.level == level).count();
    let mut summary = format!(
        "{}, {}, {}",
        held(contracts, profiles),
        count(number(Level::Error), "error"),
        count(number(Level::Warning), "warning")
    );
    match (number(Level::Hint), hidden) {
        (0, 0) => {}
        (0, hidden) => summary.push_str(&format!(", {} that --strict shows", count(hidden, "hint"))),
        (shown, _) => summary.push_str(&format!(", {}", count(shown, "hint"))),
    }
    print(&written(arguments.format, "seamgate lint", &checked, &summary))?;
    Ok(if checked.iter().any(|one| one.failed) { Status::Usage } else { Status::Accepted })
}

/// Returns the files of a path, each with whether it was found in a folder. Returns an error for a folder that cannot
/// be read.
fn files(path: &Path) -> Vec<Result<(PathBuf, bool), (PathBuf, FileError)>> {
    let name = path.to_string_lossy();
    let of_part = match (name.strip_suffix(".lock.json"), name.ends_with(".schema.json")) {
        (Some(name), _) => Some(vec![PathBuf::from(format!("{name}.profile.json"))]),
        (None, true) => Some(naming(path)),
        (None, false) => None,
    };
    if let Some(mut of_part) = of_part.filter(|_| path.is_file()) {
        of_part.retain(|path| path.is_file());
        if of_part.is_empty() {
            say(&format!("seamgate: no contract or profile uses {}", escape_terminal(&name)));
        }
        return of_part.into_iter().map(|path| Ok((path, true))).collect();
    }
    if !path.is_dir() {
        return vec![Ok((path.to_owned(), false))];
    }
    let profiles = profile_files(path).unwrap_or_default();
    let contracts = match contract_files(path) {
        Ok(contracts) => contracts,
        Err(error) if !profiles.is_empty() && error.is_empty_folder() => Vec::new(),
        Err(error) => return vec![Err((path.to_owned(), error))],
    };
    contracts.into_iter().chain(profiles).map(|path| Ok((without_dot(&path).to_owned(), true))).collect()
}

/// The maximum number of folders above a file that are searched for contracts and profiles that name it.
const MAX_ABOVE: usize = 4;

/// Returns the contracts and profiles that name a file. A document can only name files in its folder, and in folders
/// below it.
fn naming(file: &Path) -> Vec<PathBuf> {
    let mut naming = Vec::new();
    let mut inside = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for folder in file.ancestors().skip(1).take(MAX_ABOVE) {
        let searched = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let all = contract_files(searched).unwrap_or_default().into_iter();
        let all = all.chain(profile_files(searched).unwrap_or_default());
        let names = [format!("\"{inside}\""), format!("\"./{inside}\"")];
        let is_naming = |path: &PathBuf| {
            let text = open_regular(OpenOptions::new().read(true), path).and_then(io::read_to_string);
            text.is_ok_and(|text| names.iter().any(|name| text.contains(name)))
        };
        naming.extend(all.filter(is_naming).map(|path| without_dot(&path).to_owned()));
        match folder.file_name() {
            Some(name) => inside = format!("{}/{inside}", name.to_string_lossy()),
            None => break,
        }
    }
    naming
}

fn of_contract(gate: &Gate, path: &Path, of_folder: bool) -> Vec<Finding> {
    let read = if of_folder { ContractSource::read_regular(path) } else { ContractSource::read(path) };
    let source = match read {
        Ok(source) => source,
        Err(error) => return vec![of_file_error(&error, path)],
    };
    let mut places = Places::new(&source, path);
    match gate.lint(source.text()) {
        Ok(warnings) => warnings.iter().map(|warning| of_warning(warning, &mut places)).collect(),
        Err(fault) => of_fault(&fault, &mut places),
    }
}

fn of_profile(gate: &Gate, path: &Path, of_folder: bool) -> Vec<Finding> {
    // A file that the user names may be a pipe.
    if of_folder && let Err(error) = open_regular(OpenOptions::new().read(true), path) {
        let (code, location) = ("unreadable".to_owned(), Location::file(path.display().to_string()));
        let message = error.to_string();
        return vec![Finding { level: Level::Error, code, location, path: String::new(), message, help: None }];
    }
    let text = match read_profile(path) {
        Ok(text) => text,
        Err(error) => return vec![of_file_error(&error, path)],
    };
    let mut places = Places::of_profile(path);
    let mut findings = match gate.lint_profile(&text) {
        Ok(warnings) => warnings.iter().map(|warning| of_warning(warning, &mut places)).collect(),
        Err(fault) => of_fault(&fault, &mut places),
    };
    if is_of_mcp_gate(&text) {
        // Most servers answer with text, which no schema can describe.
        let is_loose = |finding: &&mut Finding| finding.code == "no_result_schema";
        findings.iter_mut().filter(is_loose).for_each(|finding| finding.level = Level::Hint);
    }
    findings
}

/// Returns whether a profile is meant for `seamgate mcp`: it names servers, and the client asks the model.
fn is_of_mcp_gate(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Profile {
        #[serde(default)]
        servers: BTreeMap<String, IgnoredAny>,
        prompt: Option<IgnoredAny>,
        r#final: Option<IgnoredAny>,
    }
    let profile: Result<Profile, _> = serde_json::from_str(text);
    profile.is_ok_and(|profile| !profile.servers.is_empty() && profile.prompt.is_none() && profile.r#final.is_none())
}
