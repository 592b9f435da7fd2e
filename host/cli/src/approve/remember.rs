//! Approvals for further calls of a run.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use seamgate::{ApprovalRemember, Json};
use seamgate_runner::waiting::Waiting;
use seamgate_text::{count, escape_terminal};

/// The calls that an approval covers in addition to its own.
#[derive(clap::Args)]
pub(super) struct Remember {
    /// Also approve further calls of this run: those of the same tool with the same arguments, as long as they need
    /// approval for no other reason
    #[arg(long, conflicts_with_all = ["reject", "token", "json"])]
    for_run: bool,
    /// An argument that may differ in these calls. Repeat the option for each argument
    #[arg(long, value_name = "ARGUMENT", requires = "for_run")]
    any: Vec<String>,
    /// The number of further calls
    #[arg(long, value_name = "NUMBER", requires = "for_run", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100))]
    times: u64,
    /// The time for which the approval is valid
    #[arg(long, value_name = "SECONDS", requires = "for_run", default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

impl Remember {
    /// Returns the member for the event, and its description for the person. `None` if the approval covers only its own
    /// call.
    ///
    /// # Errors
    ///
    /// The call has no argument with the name of one that may differ.
    pub(super) fn of(&self, one: &Waiting) -> Result<Option<(ApprovalRemember, String)>> {
        if !self.for_run {
            return Ok(None);
        }
        let arguments: BTreeMap<String, Json> =
            serde_json::from_str(&one.arguments).context("the arguments of the call")?;
        if let Some(missing) = self.any.iter().find(|name| !arguments.contains_key(*name)) {
            let known = arguments.keys().cloned().collect::<Vec<_>>().join(", ");
            bail!(
                "--any {}: the call has no such argument; it has: {}",
                escape_terminal(missing),
                escape_terminal(&known)
            );
        }
        let pattern = arguments.iter().map(|(name, value)| match self.any.contains(name) {
            true => format!("{name}: any"),
            false => format!("{name}: {value}"),
        });
        let pattern = pattern.collect::<Vec<_>>().join(", ");
        let calls = count(usize::try_from(self.times).unwrap_or(usize::MAX), "further call");
        let about = format!(
            "{calls} of {} with {}, for {} s",
            escape_terminal(&one.tool),
            escape_terminal(if pattern.is_empty() { "no arguments" } else { &pattern }),
            self.seconds
        );
        let remember =
            ApprovalRemember { any: Some(self.any.clone()), times: Some(self.times), ttl_s: Some(self.seconds) };
        Ok(Some((remember, about)))
    }
}
