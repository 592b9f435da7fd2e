//! Verifies a receipt: who signed it, that nothing in it was changed, and that each decision follows from the events.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

use data_encoding::BASE64URL_NOPAD;
use seamgate::{Derivation, Fault, Gate, JournalError, NotDerived, StepError};
use seamgate_runner::run_dir;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{
    envelope::{Envelope, Part},
    journal::{Broken, Change, ReadOnly, Step, changes, content, digests, object, steps},
    run::{About, Statement, VERSION, about},
    signed::Signed,
};

/// The most bytes of a line that a report shows.
const MAX_SHOWN: usize = 300;

/// The maximum number of earlier components that a report names.
const MAX_CHANGES: usize = 4;

/// The keys that may have signed a receipt.
#[derive(Debug, Clone)]
pub enum Trusted {
    /// Any key. The report names the one that signed.
    Any,
    /// One of these public keys.
    Keys(Vec<[u8; 32]>),
}

/// The requirements that a receipt must meet.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The permitted signers.
    pub keys: Trusted,
    /// The document of the profile that the run must have. Only its digest is compared.
    pub profile: Option<String>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// `encoding`, `signature`, `key`, `statement`, `lines`, `profile`, `component`, `steps`, `artifacts` or `approvals`. Of evidence
    /// from others: `time_stamp` or `witness`.
    pub check: &'static str,
    /// `true` if the check passed.
    pub ok: bool,
    /// The finding. It may contain text from the run, truncated.
    pub detail: String,
    /// The number of the step that fails, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// The number of the line that fails, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// A step with withheld lines, or a step that cannot be derived because of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Withheld {
    /// The number of the step, from 1.
    pub step: u64,
    /// The parts that can no longer be checked.
    pub unchecked: &'static str,
}

/// Counts for the lines that the receipt shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// The number of steps.
    pub steps: u64,
    /// The number of steps that were derived again, with the same lines.
    pub derived: u64,
    /// The number of decisions that allow a call.
    pub allowed: u64,
    /// The number of decisions that deny a call.
    pub denied: u64,
    /// The number of decisions that require a person's approval.
    pub asked: u64,
    /// The number of people's decisions whose signature was verified.
    pub signed_approvals: u64,
    /// The number of people's decisions for which the profile has no key. Only the signer of the receipt vouches for
    /// who decided.
    pub named_approvals: u64,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// `true` if every check passed.
    pub ok: bool,
    /// `true` if every step was derived again.
    pub whole: bool,
    /// The run's id.
    pub run: String,
    /// The agent of the run.
    pub agent: String,
    /// The digest of the run's profile.
    pub profile: String,
    /// The digest of the run's last component, which derives all steps again.
    pub component: String,
    /// The digest of the run's last line. Compare it with a digest that was kept elsewhere: a receipt with fewer steps
    /// has another one.
    pub head: String,
    /// The public key of the signer (base64url).
    pub key: String,
    /// The issuer, as the signer names it.
    pub issuer: String,
    /// The time of the signature, in seconds since 1970, according to the signer.
    pub issued_at: u64,
    /// The outcome of the run: the status of its action `finish`. `None` if the run has not ended, or if the outcome is
    /// withheld.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The counts of steps and decisions.
    pub counts: Counts,
    /// All checks that were made, in order. The first failed check ends them.
    pub checks: Vec<Check>,
    /// The parts that can no longer be checked, by step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
}

/// The parts of an event of the type `approval` that its signature covers.
#[derive(Deserialize)]
struct Approval {
    at: u64,
    key: String,
    digest: String,
    principal: String,
    decision: String,
    token: Option<String>,
}

/// A request for a person's approval: the call, and the public keys of those who may decide about it.
#[derive(Deserialize)]
struct Asked {
    key: String,
    digest: String,
    keys: Option<BTreeMap<String, Vec<String>>>,
}

impl Check {
    pub(crate) fn passed(check: &'static str, detail: &str) -> Self {
        Check { check, ok: true, detail: detail.to_owned(), step: None, line: None }
    }
}

/// A failed check.
pub(crate) struct Failed {
    check: &'static str,
    detail: String,
    step: Option<u64>,
    line: Option<u64>,
}

impl Failed {
    pub(crate) fn of(check: &'static str, detail: impl Into<String>) -> Self {
        Failed { check, detail: detail.into(), step: None, line: None }
    }

    fn at(check: &'static str, step: u64, line: u64, detail: impl Into<String>) -> Self {
        Failed { check, detail: detail.into(), step: Some(step), line: Some(line) }
    }

    pub(crate) fn check(self) -> Check {
        let Failed { check, detail, step, line } = self;
        Check { check, ok: false, detail: cut(&detail), step, line }
    }
}

/// Verifies the file of a receipt. `gate` makes the decisions again. It must have the component that the receipt names,
/// and no profiles.
pub fn verify(file: &[u8], gate: Gate, expected: &Expected) -> Report {
    let mut report = Report {
        ok: false,
        whole: false,
        run: String::new(),
        agent: String::new(),
        profile: String::new(),
        component: String::new(),
        head: String::new(),
        key: String::new(),
        issuer: String::new(),
        issued_at: 0,
        ended: None,
        counts: Counts::default(),
        checks: Vec::new(),
        withheld: Vec::new(),
    };
    match all_checks(file, gate, expected, &mut report) {
        Ok(()) => report.ok = true,
        Err(failed) => report.checks.push(failed.check()),
    }
    report
}

fn all_checks(file: &[u8], gate: Gate, expected: &Expected, report: &mut Report) -> Result<(), Failed> {
    // Other hosts have other CBOR parsers, which may find another part wrong first.
    let envelope = Envelope::read(file).map_err(|_| {
        Failed::of(
            "encoding",
            "it is no receipt: it must be a tagged COSE_Sign1 message (RFC 9052, section 4.2) with the members of a receipt, \
             in one encoding",
        )
    })?;
    report.issuer = cut(&envelope.signed.issuer);
    report.issued_at = envelope.signed.issued_at;
    report.key = BASE64URL_NOPAD.encode(&envelope.signed.key);
    signer(&envelope.signed, expected, &mut report.checks)?;
    let Recorded { statement, steps: all, changes } = recorded(&envelope, report)?;
    profiles(&envelope, &statement, expected)?;
    let gate = registered(&envelope, &statement, &changes, gate, report)?;
    derived(&envelope, &gate, &all, report)?;
    approvals(&statement, &all, report)
}

/// Checks the signature and the key.
pub(crate) fn signer(signed: &Signed, expected: &Expected, checks: &mut Vec<Check>) -> Result<(), Failed> {
    let key = BASE64URL_NOPAD.encode(&signed.key);
    checks.push(Check::passed("encoding", "COSE_Sign1, in its one encoding"));
    if !signed.is_signed() {
        let detail = "the signature is wrong: what is signed was changed, or another key signed it";
        return Err(Failed::of("signature", detail));
    }
    checks.push(Check::passed("signature", "Ed25519"));
    checks.push(match &expected.keys {
        Trusted::Any => Check::passed("key", "any key was accepted: nothing says whose it is"),
        Trusted::Keys(keys) if keys.contains(&signed.key) => Check::passed("key", "it is one that was given"),
        Trusted::Keys(_) => return Err(Failed::of("key", format!("the key {key} signed it, and none that was given"))),
    });
    Ok(())
}

/// The run of a receipt.
struct Recorded<'e> {
    statement: Statement,
    steps: Vec<Step<'e>>,
    changes: Vec<Change>,
}

/// Checks that the signed statement describes the lines.
fn recorded<'e>(envelope: &'e Envelope, report: &mut Report) -> Result<Recorded<'e>, Failed> {
    let wrong = |detail: &str| Failed::of("statement", detail);
    let begin = format!(r#"{{"receipt":{VERSION},"#);
    if !envelope.signed.statement.starts_with(begin.as_bytes()) {
        return Err(wrong(&format!(
            "its format is another one: this version reads statements that begin with {begin}"
        )));
    }
    let read = serde_json::from_slice::<Statement>(&envelope.signed.statement).ok();
    let is_canonical = |one: &Statement| serde_json::to_vec(one).is_ok_and(|text| text == envelope.signed.statement);
    let statement = read
        .filter(is_canonical)
        .ok_or_else(|| wrong("it is no statement of a receipt, or not in the one form of statements"))?;
    report.run.clone_from(&statement.run);
    report.agent.clone_from(&statement.agent);
    report.profile.clone_from(&statement.profile);
    report.component.clone_from(&statement.component);
    report.head.clone_from(&statement.head);
    let (all, head) = steps(&envelope.lines).map_err(|Broken { step, line }| {
        Failed::at(
            "lines",
            step,
            line,
            "it, or the line before it, is changed, moved or missing: the digests do not follow",
        )
    })?;
    let About { run, agent, profile, component } =
        about(&envelope.lines).ok_or_else(|| Failed::at("lines", 0, 0, "it describes no run"))?;
    let count = envelope.lines.len() as u64;
    if (count, &head) != (statement.lines, &statement.head) {
        let last = all.last().map_or(0, |step| step.number);
        let Statement { lines, head: signed, .. } = &statement;
        let detail = format!("{count} lines that end with {head}; what is signed has {lines} and {signed}");
        return Err(Failed::at("lines", last, count.saturating_sub(1), detail));
    }
    let (changes, component) = changes(&all, &component).map_err(|Broken { step, line }| {
        Failed::at("lines", step, line, "it names no change from the component that the run has")
    })?;
    if component != statement.component {
        let (step, line) = changes.last().map_or((0, 0), |change| (change.step, change.line));
        let signed = &statement.component;
        let detail = format!("from it on the run has the component {component}, and what is signed has {signed}");
        return Err(Failed::at("lines", step, line, detail));
    }
    let same = [
        (&run, &statement.run),
        (&agent, &statement.agent),
        (&profile, &statement.profile),
        (&envelope.signed.subject, &statement.run),
    ];
    if same.iter().any(|(one, other)| one != other) {
        return Err(wrong("the first line describes another run, agent or profile"));
    }
    report.counts.steps = all.len() as u64 - 1;
    report.passed("lines", &format!("{count}, each with the digest of the line before it"));
    Ok(Recorded { statement, steps: all, changes })
}

/// Checks the documents of the profiles, and finds the expected one.
fn profiles(envelope: &Envelope, statement: &Statement, expected: &Expected) -> Result<(), Failed> {
    if digests(&envelope.profiles) != statement.profiles {
        return Err(Failed::of("profile", "the document of a profile was changed, added or removed"));
    }
    match &expected.profile {
        Some(wanted) if envelope.profiles.iter().all(|text| text.trim() != wanted.trim()) => {
            Err(Failed::of("profile", "the run has another profile than the one that was given"))
        }
        _ => Ok(()),
    }
}

/// Registers the profiles in the component that the receipt names.
fn registered(
    envelope: &Envelope,
    statement: &Statement,
    changes: &[Change],
    mut gate: Gate,
    report: &mut Report,
) -> Result<Gate, Failed> {
    let found = gate.component().digest().to_owned();
    if found != statement.component {
        let needed = &statement.component;
        return Err(Failed::of(
            "component",
            format!("the run has {needed}, and this one is {found}: verify it with the run's"),
        ));
    }
    for text in &envelope.profiles {
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return Err(Failed::of("profile", "its document is not JSON"));
        }
        gate.register_profile(text).map_err(|fault| {
            let why = match fault {
                Fault::BadProfile { message, .. } => message,
                fault => fault.code().to_owned(),
            };
            Failed::of("profile", format!("the component does not take it: {why}"))
        })?;
    }
    if !gate.profiles().any(|info| info.agent == statement.agent && info.profile == statement.profile) {
        return Err(Failed::of("profile", "its document has another digest than the run names"));
    }
    report.passed("profile", &statement.profile);
    report.passed("component", &with_changes(&statement.component, changes));
    Ok(gate)
}

/// Describes the component of a run, and those that it had before.
fn with_changes(component: &str, changes: &[Change]) -> String {
    let mut text = component.to_owned();
    for Change { step, from, .. } in changes.iter().take(MAX_CHANGES) {
        text.push_str(&format!("; before step {step}: {from}"));
    }
    if changes.len() > MAX_CHANGES {
        text.push_str(&format!("; and {} changes more", changes.len() - MAX_CHANGES));
    }
    cut(&text)
}

/// Derives the steps again, up to the first step with withheld lines.
fn derived(envelope: &Envelope, gate: &Gate, all: &[Step<'_>], report: &mut Report) -> Result<(), Failed> {
    let whole: Vec<Vec<String>> = all.iter().map_while(Step::lines).collect();
    let texts = whole.concat();
    let texts_of_artifacts = envelope.artifacts.iter().map(String::as_str);
    let artifacts: HashMap<String, &str> = digests(&envelope.artifacts).into_iter().zip(texts_of_artifacts).collect();
    let used = RefCell::new(Vec::new());
    let read =
        ReadOnly { name: "the receipt", lines: &texts, artifacts: &artifacts, used: &used, seen: RefCell::default() };
    let first = texts.first().map(String::as_str).unwrap_or_default();
    let mut derivation = Derivation::begin(gate, read, first)
        .map_err(|_| Failed::at("steps", 0, 0, "the first line is not one that this version reads"))?;
    for (step, lines) in all.iter().zip(&whole).skip(1) {
        let failed = |line, detail: String| Err(Failed::at("steps", step.number, line, detail));
        match derivation.step(lines) {
            Ok(()) => report.counts.derived += 1,
            Err(NotDerived::Differs { line, recorded, derived }) => {
                let (recorded, derived) = around(&recorded, &derived);
                return failed(line, format!("the receipt has {recorded}, and from the events follows {derived}"));
            }
            Err(error @ NotDerived::Version { line, .. }) => return failed(line, error.to_string()),
            Err(NotDerived::Step(error)) => return failed(step.line, underivable(error)),
            Err(error) => return failed(step.line, error.to_string()),
        }
    }
    if *used.borrow() != envelope.artifacts {
        return Err(Failed::of("artifacts", "it has artifacts that no derived step asks for, or in another order"));
    }
    report.whole = report.counts.derived == report.counts.steps;
    for step in &all[whole.len()..] {
        let unchecked = match step.lines() {
            None => "what happened, and what follows from it",
            Some(_) => "whether these lines follow from the events",
        };
        report.withheld.push(Withheld { step: step.number, unchecked });
    }
    let Counts { derived, steps, .. } = report.counts;
    report.passed("steps", &format!("{derived} of {steps} derived again, with the same lines"));
    Ok(())
}

/// Describes why an event is not accepted, in words that do not depend on the JSON parser or the WebAssembly runtime.
fn underivable(error: StepError) -> String {
    match error {
        StepError::Fault(Fault::BadRequest { message, .. }) => {
            format!("the component does not take the event: {message}")
        }
        StepError::Fault(fault) => format!("the component makes no decision: {}", fault.code()),
        StepError::Journal(JournalError::Artifact { digest, .. }) => format!("the artifact {digest} is missing"),
        StepError::Journal(JournalError::Line { line, .. }) => format!("line {line} is not the next one of a journal"),
        error => error.to_string(),
    }
}

/// Verifies the signatures of people, and counts decisions.
fn approvals(statement: &Statement, all: &[Step<'_>], report: &mut Report) -> Result<(), Failed> {
    let mut asks: BTreeMap<(String, String), Asked> = BTreeMap::new();
    for step in all.iter().skip(1) {
        // `Some(None)` for an approval that cannot be parsed.
        let mut approval: Option<Option<Approval>> = None;
        let mut is_ignored = false;
        for part in step.parts {
            let Part::Text(text) = part else { continue };
            let Some(content) = content(text) else { continue };
            if let Some(event) = content.event
                && word(event).as_deref() == Some("approval")
            {
                approval = Some(object(event));
            }
            if let Some(record) = content.record {
                is_ignored |= word(record).as_deref() == Some("ignored");
                match permit(record).as_deref() {
                    Some("allow") => report.counts.allowed += 1,
                    Some("deny") => report.counts.denied += 1,
                    Some(_) => report.counts.asked += 1,
                    None => {}
                }
            }
            if let Some(action) = content.action {
                if let Some(asked) = asked(action) {
                    asks.insert((asked.key.clone(), asked.digest.clone()), asked);
                }
                if let Some(status) = finished(action) {
                    report.ended = Some(cut(&status));
                }
            }
        }
        let (Some(approval), false) = (approval, is_ignored) else { continue };
        let failed = |detail: String| Failed::at("approvals", step.number, step.line, detail);
        let approval = approval.ok_or_else(|| failed("an approval cannot be read".to_owned()))?;
        let asked = asks.get(&(approval.key.clone(), approval.digest.clone()));
        match asked.map(|asked| asked.keys.as_ref().and_then(|keys| keys.get(&approval.principal))) {
            // The request for approval is in a step whose lines are withheld.
            None => {}
            Some(None) => report.counts.named_approvals += 1,
            Some(Some(keys)) => {
                is_theirs(statement, &approval, keys).map_err(failed)?;
                report.counts.signed_approvals += 1;
            }
        }
    }
    let Counts { signed_approvals, named_approvals, .. } = report.counts;
    report.passed("approvals", &format!("{signed_approvals} signed, {named_approvals} by a name alone"));
    Ok(())
}

/// Returns the type of an event, a record or an action.
fn word(text: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    object(text).map(|Typed { r#type }| r#type)
}

/// Returns the permit in a decision.
fn permit(record: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Decision {
        permit: String,
    }
    word(record).filter(|word| word == "decision")?;
    object(record).map(|Decision { permit }| permit)
}

/// Returns the request for approval in an action.
fn asked(action: &RawValue) -> Option<Asked> {
    #[derive(Deserialize)]
    struct AskApproval<'l> {
        #[serde(borrow)]
        ask: &'l RawValue,
    }
    word(action).filter(|word| word == "ask_approval")?;
    object(object::<AskApproval<'_>>(action)?.ask)
}

/// Returns the outcome of a run.
fn finished(action: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Finish {
        status: String,
    }
    word(action).filter(|word| word == "finish")?;
    object(action).map(|Finish { status }| status)
}

/// Checks that a principal signed a decision about this call of this run.
fn is_theirs(statement: &Statement, approval: &Approval, keys: &[String]) -> Result<(), String> {
    let Approval { at, key, digest, principal, decision, token } = approval;
    let who = format!("the decision of {principal} about {key}");
    let token = token.as_deref().ok_or_else(|| format!("{who} is not signed, and the profile has a key"))?;
    let claims = run_dir::verify(token, |name| if name == principal { keys } else { &[] }, *at).ok();
    let claims = claims
        .filter(|_| has_objects(token))
        .ok_or_else(|| format!("{who}: its token is malformed, has expired, or has another signature"))?;
    if !["approved", "rejected"].contains(&decision.as_str()) {
        return Err(format!("{who}: an edited call has no signed decision"));
    }
    let signed = (&claims.run, &claims.key, &claims.digest, &claims.decision, &claims.principal);
    match signed == (&statement.run, key, digest, decision, principal) {
        true => Ok(()),
        false => Err(format!("{who}: what is signed is another decision, or about another call")),
    }
}

/// Returns whether the header and the claims of a token are JSON objects, because the parser of tokens also accepts
/// lists of the values.
fn has_objects(token: &str) -> bool {
    token.split('.').take(2).all(|part| {
        let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).unwrap_or_default();
        str::from_utf8(&bytes).is_ok_and(|text| text.starts_with('{'))
    })
}

impl Report {
    fn passed(&mut self, check: &'static str, detail: &str) {
        self.checks.push(Check::passed(check, detail));
    }
}

pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(4 * MAX_SHOWN) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

/// Returns the parts of two lines around their first difference.
pub(crate) fn around(one: &str, other: &str) -> (String, String) {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| {
        if text.is_empty() {
            return "no line".to_owned();
        }
        let begin =
            (0..=same.saturating_sub(60).min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let end =
            (begin..=(begin + MAX_SHOWN).min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(begin);
        let dots = |is: bool| if is { "…" } else { "" };
        format!("{}{}{}", dots(begin > 0), &text[begin..end], dots(end < text.len()))
    };
    (part(one), part(other))
}
