//! Call tests: a test is a folder with a call that a model requests, and the decision about it.
//!
//! `tests/calls/GROUP/NAME/` contains:
//!
//! - `call.json`: the call. A case with `listed.json` has no call: it checks which of the listed tools the model may
//!   see.
//! - `result.json`: the tool's result. Such a case requests an observation instead of a decision.
//! - `facts.json`: members that replace those of the group's facts. Optional.
//! - `profile.json`: the profile.
//! - `must.txt`: the word that a person expects: `permit` of the decision, `status` of the observation, or the fault.
//! - `decision.json`, `observation.json`, `surface.json` or `fault.json`: the expected answer, which `cargo xtask
//!   bless` writes.
//!
//! A case without its own `call.json` or `profile.json` uses the file of this name in `tests/calls/GROUP`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{suite::folders, wire::ID};

/// One call, and the facts for its decision.
#[derive(Debug, Clone)]
pub struct CallCase {
    /// `GROUP/NAME`.
    pub name: String,
    /// The folder of its files.
    pub folder: PathBuf,
    /// `profile.json`.
    pub profile: String,
    /// The group's facts, merged with those of the case.
    pub facts: String,
    /// `call.json`. Empty if the surface is requested.
    pub call: String,
    /// `listed.json`.
    pub listed: Option<String>,
    /// `must.txt`.
    pub must: String,
    /// The tool's result, if an observation is requested.
    pub result: Option<String>,
}

impl CallCase {
    /// Returns the same request on the wire, with the profile.
    pub fn wire_request(&self) -> String {
        let (profile, facts, call) = (&self.profile, &self.facts, &self.call);
        match (&self.listed, &self.result) {
            (Some(listed), _) => format!(
                "{{\"id\":{ID},\"op\":\"surface\",\"profile\":{profile},\"facts\":{facts},\"listed\":{listed}}}"
            ),
            (None, None) => format!(
                "{{\"id\":{ID},\"op\":\"permit\",\"profile\":{profile},\"facts\":{facts},\"call\":{call}}}"
            ),
            (None, Some(result)) => format!(
                "{{\"id\":{ID},\"op\":\"observe\",\"profile\":{profile},\"facts\":{facts},\"call\":{call},\"result\":{result}}}"
            ),
        }
        .replace('\n', " ")
    }

    /// Returns the agent of the case's profile.
    pub fn agent(&self) -> String {
        let profile: Value = serde_json::from_str(&self.profile).unwrap_or_default();
        profile["agent"].as_str().unwrap_or_default().to_owned()
    }
}

/// Returns all cases, sorted by name.
///
/// # Errors
///
/// Returns an error if a file is missing or cannot be read.
pub fn call_cases() -> Result<Vec<CallCase>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("calls");
    let mut cases = Vec::new();
    for group in folders(&root)? {
        for folder in folders(&group)? {
            cases.push(read(&root, &group, folder)?);
        }
    }
    Ok(cases)
}

fn read(root: &Path, group: &Path, folder: PathBuf) -> Result<CallCase> {
    let own = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let shared = |name: &str| {
        let file = group.join(name);
        own(name).map_or_else(|| fs::read_to_string(&file).with_context(|| file.display().to_string()), Ok)
    };
    let name = folder.strip_prefix(root)?.to_string_lossy().into_owned();
    let case = || -> Result<CallCase> {
        Ok(CallCase {
            profile: shared("profile.json")?,
            facts: facts(group, own("facts.json"))?,
            call: own("listed.json").map_or_else(|| shared("call.json"), |_| Ok(String::new()))?,
            listed: own("listed.json"),
            must: own("must.txt").context("must.txt")?.trim().to_owned(),
            result: own("result.json"),
            name: name.clone(),
            folder: folder.clone(),
        })
    };
    case().with_context(|| name.clone())
}

/// Returns the group's facts. Members of the case replace them.
fn facts(group: &Path, own: Option<String>) -> Result<String> {
    let shared = fs::read_to_string(group.join("facts.json")).unwrap_or_else(|_| "{}".to_owned());
    let Some(own) = own else { return Ok(shared) };
    match (serde_json::from_str(&shared)?, serde_json::from_str(&own)) {
        (Value::Object(mut facts), Ok(Value::Object(members))) => {
            for (name, value) in members {
                // Null removes a member.
                match value {
                    Value::Null => facts.remove(&name),
                    value => facts.insert(name, value),
                };
            }
            Ok(Value::Object(facts).to_string())
        }
        _ => Ok(own),
    }
}
