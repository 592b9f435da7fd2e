//! Creates the receipt of a run.

use std::{cell::RefCell, collections::BTreeSet, path::Path};

use seamgate::{Blob, Derivation, Fault, FileJournal, Gate, Journal, JournalError, NotDerived, StepError};
use serde::{Deserialize, Serialize};

use crate::{
    envelope::{CONTENT_TYPE, Envelope, Part},
    journal::{Artifacts, Broken, ReadOnly, Step, changes, content, digests, is_change, object, sha256, steps},
    signed::Signed,
};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The statement that is signed, as compact JSON with its members in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The version of the format.
    pub receipt: u64,
    /// The run's id.
    pub run: String,
    /// The agent whose profile applies.
    pub agent: String,
    /// The digest of the profile, as in the journal.
    pub profile: String,
    /// The digest of the component that derives the decisions again: the last one of the run.
    pub component: String,
    /// The number of lines.
    pub lines: u64,
    /// The digest of the last line.
    pub head: String,
    /// The digests of the profiles' documents, in the order in which they are registered.
    pub profiles: Vec<String>,
}

/// The parts of a journal's first line that a receipt needs.
#[derive(Deserialize)]
pub(crate) struct About {
    pub(crate) run: String,
    pub(crate) agent: String,
    pub(crate) profile: String,
    pub(crate) component: String,
}

/// Returns the signature of a text.
pub type Sign<'s, E> = dyn Fn(&[u8]) -> Result<Vec<u8>, E> + 's;

/// The signer, and the time of the signature.
pub struct Signing<'s, E> {
    /// The public key.
    pub key: [u8; 32],
    /// The function that signs.
    pub sign: &'s Sign<'s, E>,
    /// The issuer, as the signer names it.
    pub issuer: &'s str,
    /// The time of the signature, in seconds since 1970.
    pub now: u64,
}

/// The parts that a receipt omits. The digests of omitted lines stay, and so do changes of the component.
#[derive(Debug, Clone, Default)]
pub struct Withhold {
    /// Keys of calls. All lines of steps that name one of them are omitted.
    pub calls: BTreeSet<String>,
    /// Numbers of steps, from 1. All their lines are omitted.
    pub steps: BTreeSet<u64>,
}

/// The reason why there is no receipt for a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoReceipt {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A profile cannot be used.
    #[error("the profile cannot be used: {0}")]
    Profile(Fault),
    /// The run has another profile or component.
    #[error(transparent)]
    Run(#[from] StepError),
    /// The decisions do not follow from the events.
    #[error("step {step} is not derived again: {cause}")]
    Step {
        /// The number of the step, from 1.
        step: u64,
        /// The difference.
        cause: NotDerived,
    },
    /// The run has another component than the gate.
    #[error("the run has the component {run}, and the gate has {gate}")]
    Component {
        /// The digest in the journal.
        run: String,
        /// The digest of the gate's component.
        gate: String,
    },
    /// A line does not follow the line before it.
    #[error("line {0} of the journal does not follow the line before it")]
    Line(u64),
    /// A call or a step to withhold does not exist.
    #[error("the run has no {0}")]
    NotThere(String),
    /// The key does not sign.
    #[error("{0}")]
    Sign(String),
}

impl Artifacts for FileJournal {
    fn artifact(&self, digest: &str) -> Result<Option<String>, JournalError> {
        self.get(Blob::Artifact, digest)
    }
}

impl Withhold {
    fn takes(&self, step: &Step<'_>) -> bool {
        let names = |part: &Part| match part {
            Part::Text(line) => self.calls.iter().any(|call| line.contains(&format!("\"{call}\""))),
            Part::Withheld(_) => false,
        };
        self.steps.contains(&step.number) || step.parts.iter().any(names)
    }

    fn missing(&self, all: &[Step<'_>]) -> Option<String> {
        let last = all.last().map_or(0, |step| step.number);
        let step = self.steps.iter().find(|step| !(1..=last).contains(*step)).map(|step| format!("step {step}"));
        let is_there = |call: &&String| {
            let one = Withhold { calls: BTreeSet::from([(*call).clone()]), steps: BTreeSet::new() };
            !all.iter().skip(1).any(|step| one.takes(step))
        };
        step.or_else(|| self.calls.iter().find(is_there).map(|call| format!("call {call}")))
    }
}

/// Returns the receipt of the run in a folder, as the bytes of its file. First derives all steps again with `gate`,
/// which must not have profiles yet. `profiles` are the documents of the run's profiles, in the order in which they are
/// registered.
///
/// # Errors
///
/// The run cannot be read or derived again; a part to withhold does not exist; or the key does not sign.
pub fn receipt_of<E: std::fmt::Display>(
    folder: &Path,
    mut gate: Gate,
    profiles: Vec<String>,
    withhold: &Withhold,
    signing: &Signing<'_, E>,
) -> Result<Vec<u8>, NoReceipt> {
    for profile in &profiles {
        gate.register_profile(profile).map_err(NoReceipt::Profile)?;
    }
    let journal = FileJournal::open(folder)?;
    let lines = journal.lines(0)?.map(|line| line.map(Part::Text)).collect::<Result<Vec<_>, _>>()?;
    let (all, head) = steps(&lines).map_err(|Broken { line, .. }| NoReceipt::Line(line))?;
    let About { run, agent, profile, component } = about(&lines).ok_or(NoReceipt::Line(0))?;
    let (_, component) = changes(&all, &component).map_err(|Broken { line, .. }| NoReceipt::Line(line))?;
    if gate.component().digest() != component {
        return Err(NoReceipt::Component { run: component, gate: gate.component().digest().to_owned() });
    }
    if let Some(missing) = withhold.missing(&all) {
        return Err(NoReceipt::NotThere(missing));
    }
    let used = RefCell::new(Vec::new());
    let name = folder.display().to_string();
    let texts: Vec<String> = all.iter().filter_map(Step::lines).flatten().collect();
    let read = ReadOnly { name: &name, lines: &texts, artifacts: &journal, used: &used, seen: RefCell::default() };
    let mut derivation = Derivation::begin(&gate, read, texts.first().map(String::as_str).unwrap_or_default())?;
    let mut kept = Vec::with_capacity(lines.len());
    let mut is_whole = true;
    let mut artifacts = None;
    for step in &all {
        if step.number > 0 {
            let takes = withhold.takes(step);
            if takes && is_whole {
                artifacts = Some(used.borrow().clone());
                is_whole = false;
            }
            let lines = step.lines().unwrap_or_default();
            derivation.step(&lines).map_err(|cause| NoReceipt::Step { step: step.number, cause })?;
            if takes {
                let last = step.parts.len() - 1;
                kept.extend(step.parts.iter().enumerate().map(|(index, part)| match part {
                    Part::Text(line) if index < last && !is_change(line) => Part::Withheld(sha256(line.as_bytes())),
                    part => part.clone(),
                }));
                continue;
            }
        }
        kept.extend_from_slice(step.parts);
    }
    let count = lines.len() as u64;
    let statement = Statement {
        receipt: VERSION,
        run: run.clone(),
        agent,
        profile,
        component,
        lines: count,
        head,
        profiles: digests(&profiles),
    };
    let mut envelope = Envelope {
        signed: Signed {
            key: signing.key,
            content_type: CONTENT_TYPE.to_owned(),
            issuer: signing.issuer.to_owned(),
            subject: run,
            issued_at: signing.now,
            statement: serde_json::to_vec(&statement).map_err(|error| NoReceipt::Sign(error.to_string()))?,
            signature: Vec::new(),
        },
        lines: kept,
        artifacts: artifacts.unwrap_or_else(|| used.take()),
        profiles,
    };
    envelope.signed.sign(signing.sign).map_err(|error| NoReceipt::Sign(error.to_string()))?;
    Ok(envelope.encode())
}

/// Parses the first line.
pub(crate) fn about(lines: &[Part]) -> Option<About> {
    let Some(Part::Text(first)) = lines.first() else { return None };
    object(content(first)?.run?)
}
