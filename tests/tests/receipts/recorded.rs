//! Runs with journals in folders: the runs of `tests/runs`, and one in which people sign their decisions.

use std::sync::LazyLock;

use anyhow::{Context, Result};
use seamgate::{FileJournal, Gate, JournalReader, LineKind, Run};
use seamgate_receipt::{Signing, Withhold, receipt_of};
use seamgate_runner::run_dir::{Decision, SigningKey};
use seamgate_tests::{
    other::other_gate,
    runs::{RunCase, run_cases},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The key that signs receipts.
pub(crate) static KEY: LazyLock<SigningKey> = LazyLock::new(key);

/// The key of the approver.
pub(crate) static APPROVER: LazyLock<SigningKey> = LazyLock::new(key);

/// A run and its folder.
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) profile: String,
    pub(crate) steps: u64,
    /// The number of times that the run continued under another component.
    pub(crate) changes: usize,
    folder: TempDir,
}

fn key() -> SigningKey {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("key.pem");
    SigningKey::create(&file).expect("a key");
    SigningKey::read(&file).expect("the key")
}

impl Recorded {
    /// Returns the receipt of the run, with a fixed time and key.
    pub(crate) fn receipt(&self, withhold: &Withhold) -> Vec<u8> {
        let signing = Signing {
            key: KEY.public(),
            sign: &|bytes: &[u8]| KEY.sign_bytes(bytes),
            issuer: "https://operator.example",
            now: 1_790_000_000,
        };
        let profiles = vec![self.profile.clone()];
        receipt_of(&self.folder.path().join("run"), crate::GATE.clone(), profiles, withhold, &signing)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// Records all cases of `tests/runs` that begin like a run. Recording stops at the first event that the run rejects.
pub(crate) fn all(gate: &Gate) -> Result<Vec<Recorded>> {
    let mut recorded = Vec::new();
    for case in run_cases()? {
        // The tokens in the cases have no valid signature.
        if case.events.iter().all(|event| !event.to_string().contains("\"token\"")) {
            recorded.extend(record(gate, &case).with_context(|| case.name.clone())?);
        }
    }
    Ok(recorded)
}

fn record(gate: &Gate, case: &RunCase) -> Result<Option<Recorded>> {
    let mut gate = gate.clone();
    let Ok(info) = gate.register_profile(&case.profile) else { return Ok(None) };
    let mut is_a_run = true;
    let played = case.play(|state, event| {
        gate.advance(&info.agent, state, event).map(|answer| answer.json).map_err(|fault| fault.to_json())
    })?;
    let mut expected: Option<String> = None;
    let mut events = Vec::new();
    for one in &played {
        // A case may change the state between two events, which a run never does.
        is_a_run &= one.state == expected;
        let Ok(step) = &one.step else { continue };
        let step: Value = serde_json::from_str(step)?;
        if step.get("need").is_none() && is_a_run {
            events.push(one.event.clone());
        }
        expected = seamgate_tests::runs::member(one.step.as_deref().unwrap_or_default(), "state").ok();
    }
    if events.is_empty() || !is_a_run {
        return Ok(None);
    }
    sent(&gate, &info.agent, &case.profile, case.name.clone(), &events)
}

/// Sends events to a run in a new folder.
fn sent(gate: &Gate, agent: &str, profile: &str, name: String, events: &[String]) -> Result<Option<Recorded>> {
    let folder = tempfile::tempdir()?;
    let journal = FileJournal::create(folder.path().join("run"))?;
    let Some((first, rest)) = events.split_first() else { return Ok(None) };
    let Ok((mut run, _)) = Run::start_json(gate, journal, agent, first) else { return Ok(None) };
    for event in rest {
        // A journal cannot contain a result that a case supplies separately from its events.
        if run.send_json(event).is_err() {
            break;
        }
    }
    let steps = run.step();
    drop(run);
    Ok(Some(Recorded { name, profile: profile.to_owned(), steps, changes: 0, folder }))
}

/// Records every tenth of these runs again, with one or several changes of the component. The last component is the
/// gate's.
pub(crate) fn changed(gate: &Gate, runs: &[Recorded]) -> Result<Vec<Recorded>> {
    let other = other_gate();
    let mut changed = Vec::new();
    for (number, run) in runs.iter().filter(|run| run.steps > 3).step_by(10).enumerate() {
        // The component changes before the last step, before the second half, or before every step.
        let is_own = |step: u64| match number % 3 {
            0 => step == run.steps,
            1 => 2 * step > run.steps,
            _ => (run.steps - step).is_multiple_of(2),
        };
        changed.push(again(run, [&other, gate], is_own).with_context(|| run.name.clone())?);
    }
    Ok(changed)
}

/// Records a run again. `is_own` returns `true` for the steps of the second gate, and `false` for those of the first
/// gate.
fn again(run: &Recorded, gates: [&Gate; 2], is_own: impl Fn(u64) -> bool) -> Result<Recorded> {
    let gates = gates.map(|gate| {
        let mut gate = gate.clone();
        gate.register_profile(&run.profile).map(|_| gate)
    });
    let [other, own] = gates;
    let (other, own) = (other?, own?);
    let mut events = Vec::new();
    let mut reader = JournalReader::open(&run.folder.path().join("run"))?;
    while let Some(step) = reader.next() {
        for line in step?.iter().filter(|line| line.kind == LineKind::Event) {
            events.push(reader.whole(&line.json)?);
        }
    }
    let folder = tempfile::tempdir()?;
    let place = folder.path().join("run");
    let agent = &own.profiles().next().context("a profile")?.agent;
    let mut changes = 0;
    for (step, event) in (1..).zip(&events) {
        let gate = if is_own(step) { &own } else { &other };
        if step == 1 {
            Run::start_json(gate, FileJournal::create(&place)?, agent, event)?;
        } else {
            let mut run = Run::open(gate, FileJournal::open(&place)?.without_sync())?;
            changes += usize::from(run.changed_from().is_some());
            run.send_json(event)?;
        }
    }
    let Recorded { name, profile, steps, .. } = run;
    Ok(Recorded { name: format!("{name}, changed"), profile: profile.clone(), steps: *steps, changes, folder })
}

/// Records a run in which anna signs her decisions about three calls.
pub(crate) fn signed_approvals(gate: &Gate) -> Result<Recorded> {
    let public = data_encoding::BASE64URL_NOPAD.encode(&APPROVER.public());
    let profile = json!({
        "agent": "payer",
        "tools": [
            {"name": "pay", "effect": "effectful", "permit": {"approval": {"by": ["people"]}}},
        ],
        "approvers": {"people": [{"principal": "anna", "key": public}]},
    })
    .to_string();
    let mut gate = gate.clone();
    let info = gate.register_profile(&profile)?;
    let folder = tempfile::tempdir()?;
    let journal = FileJournal::create(folder.path().join("run"))?;
    let mut at = 1_790_000_000_000_u64;
    let started = json!({"type": "started", "at": at, "run": "r1", "principal": "ben", "nonce": "c0ffee00c0ffee00"});
    let (mut run, _) = Run::start_json(&gate, journal, &info.agent, &started.to_string())?;
    for (number, decision) in [(1, "approved"), (2, "rejected"), (3, "approved")] {
        at += 1000;
        let call =
            json!({"type": "call", "at": at, "tool": "pay", "arguments": {"order": format!("secret-order-{number}")}});
        let actions = run.send_json(&call.to_string())?;
        let action: Value = serde_json::from_str(actions.first().context("an action")?)?;
        let (key, digest) = (&action["ask"]["key"], &action["ask"]["digest"]);
        let (key, digest) = (key.as_str().context("a key")?, digest.as_str().context("a digest")?);
        let exp = at / 1000 + 600;
        let token = APPROVER.sign(&Decision { run: "r1", key, digest, decision, principal: "anna", exp })?;
        at += 1000;
        let event = json!({"type": "approval", "at": at, "key": key, "digest": digest, "decision": decision,
            "principal": "anna", "token": token});
        let actions = run.send_json(&event.to_string())?;
        if decision == "approved" {
            anyhow::ensure!(actions.iter().any(|action| action.contains("\"execute\"")), "{actions:?}");
            for event in [
                json!({"type": "tool_started", "at": at, "call": key}),
                json!({"type": "tool_result", "at": at + 1, "call": key, "result": {"paid": true}}),
            ] {
                run.send_json(&event.to_string())?;
            }
        }
    }
    let steps = run.step();
    drop(run);
    Ok(Recorded { name: "signed approvals".to_owned(), profile, steps, changes: 0, folder })
}
