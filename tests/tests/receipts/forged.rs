//! Forgeries by the owner of the key: lines are changed, all digests are recomputed, and the receipt is signed again.

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use seamgate_receipt::{Envelope, Part, Statement, Withhold};
use seamgate_tests::Random;
use serde_json::Value;

use crate::{
    GATE,
    recorded::{KEY, Recorded},
};

/// The kind of a forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A denied call becomes an allowed call.
    DenyToAllow,
    /// A call that needed approval becomes an allowed call.
    AskToAllow,
    /// An approval is moved to another place.
    ApprovalMoved,
    /// An approval is repeated.
    ApprovalReplayed,
    /// An approval is added without the key of the approver.
    ApprovalAdded,
    /// A label of a result is removed.
    LabelDropped,
    /// A budget of the profile is increased.
    BudgetRaised,
    /// A step is removed.
    StepRemoved,
    /// Steps of another run are appended.
    Spliced,
    /// The profile is replaced.
    OtherProfile,
    /// The result of a tool or the output of the model is changed.
    EventChanged,
    /// The digest of a prompt is changed.
    PromptChanged,
    /// A change of the component is altered, moved, removed or added.
    ComponentChanged,
}

impl Kind {
    pub(crate) const ALL: [Kind; 13] = [
        Kind::DenyToAllow,
        Kind::AskToAllow,
        Kind::ApprovalMoved,
        Kind::ApprovalReplayed,
        Kind::ApprovalAdded,
        Kind::LabelDropped,
        Kind::BudgetRaised,
        Kind::StepRemoved,
        Kind::Spliced,
        Kind::OtherProfile,
        Kind::EventChanged,
        Kind::PromptChanged,
        Kind::ComponentChanged,
    ];
}

/// The beginning of a line that records a change of the component.
const CHANGE: &str = r#""component":"#;

/// Makes forgeries of all kinds in turn.
pub(crate) struct Forger {
    receipts: Vec<(String, Envelope)>,
    random: Random,
    kind: usize,
}

impl Forger {
    pub(crate) fn new(runs: &[Recorded], random: Random) -> Self {
        let read = |run: &Recorded| {
            let file = run.receipt(&Withhold::default());
            (run.name.clone(), Envelope::read(&file).expect("a receipt"))
        };
        Forger { receipts: runs.iter().map(read).collect(), random, kind: 0 }
    }

    /// Returns a forgery: its kind, the name of the run, and the file.
    pub(crate) fn next(&mut self) -> (Kind, String, Vec<u8>) {
        let kind = Kind::ALL[self.kind % Kind::ALL.len()];
        self.kind += 1;
        for _ in 0..100_000 {
            let at = self.random.below(self.receipts.len());
            let (name, honest) = self.receipts[at].clone();
            let mut forged = honest.clone();
            let mut steps = contents(&honest);
            if !self.forge(kind, &mut forged, &mut steps) {
                continue;
            }
            let lines = chained(&steps);
            if lines == honest.lines {
                continue;
            }
            forged.lines = lines;
            return (kind, name, signed(forged));
        }
        panic!("no run has something for {kind:?}")
    }

    /// Changes the contents of lines, by steps. Returns `false` if there was nothing to change.
    fn forge(&mut self, kind: Kind, forged: &mut Envelope, steps: &mut Vec<Vec<String>>) -> bool {
        match kind {
            Kind::DenyToAllow => self.replace(steps, r#""record":{"#, r#""permit":"deny""#, r#""permit":"allow""#),
            Kind::AskToAllow => self.replace(steps, r#""record":{"#, r#""permit":"approval""#, r#""permit":"allow""#),
            Kind::LabelDropped => {
                let labels = [r#""labels":["untrusted"]"#, r#""labels":["private"]"#, r#""labels":["web"]"#];
                let label = labels[self.random.below(labels.len())];
                self.replace(steps, "", label, r#""labels":[]"#)
            }
            Kind::PromptChanged => self.replace(
                steps,
                r#""action":{"type":"ask_model""#,
                r#""artifact":"sha256:"#,
                r#""artifact":"sha257:"#,
            ),
            Kind::ComponentChanged => self.forge_change(steps),
            Kind::EventChanged => {
                let (from, to) = [
                    (r#""type":"tool_result""#, r#""type":"tool_failed""#),
                    (r#""decision":"rejected""#, r#""decision":"approved""#),
                    (r#""principal":""#, r#""principal":"x"#),
                    (r#""result":{"#, r#""result":{"more":1,"#),
                    (r#""arguments":{"#, r#""arguments":{"more":1,"#),
                    (r#""text":""#, r#""text":"x"#),
                ][self.random.below(6)];
                // No record depends on an ignored event. Only the signer testifies to it, so a change is not
                // detectable.
                let mut taken = steps.clone();
                taken
                    .iter_mut()
                    .filter(|step| step.iter().any(|line| line.contains(r#""type":"ignored""#)))
                    .for_each(Vec::clear);
                let is_changed = self.replace(&mut taken, r#""event":{"#, from, to);
                let changed = taken.into_iter().zip(steps.iter_mut()).filter(|(taken, _)| !taken.is_empty());
                changed.for_each(|(taken, step)| *step = taken);
                is_changed
            }
            Kind::ApprovalMoved | Kind::ApprovalReplayed => {
                let is_approval = |step: &Vec<String>| is_event(&step[0], "approval");
                let all: Vec<usize> = (1..steps.len()).filter(|at| is_approval(&steps[*at])).collect();
                if all.is_empty() || steps.len() < 3 {
                    return false;
                }
                let from = all[self.random.below(all.len())];
                let step = steps[from].clone();
                if kind == Kind::ApprovalMoved {
                    steps.remove(from);
                }
                let to = 1 + self.random.below(steps.len());
                steps.insert(to, step);
                true
            }
            Kind::ApprovalAdded => {
                // In a run whose approvers have keys, the decision is already there. The forgery needs its signature.
                let Some(at) = steps.iter().position(|step| step[0].contains(r#","token":""#)) else {
                    return self.replace(steps, r#""event":{"#, r#""decision":"rejected""#, r#""decision":"approved""#);
                };
                let (before, rest) = steps[at][0].split_once(r#","token":""#).expect("a token");
                let (token, after) = rest.split_once('"').expect("a string");
                let forged = match self.random.below(3) {
                    0 => format!("{before}{after}"),
                    1 => format!(r#"{before},"token":"x{token}"{after}"#),
                    _ => {
                        let (signed, _) = token.rsplit_once('.').expect("a token");
                        format!(r#"{before},"token":"{signed}.AAAA"{after}"#)
                    }
                };
                steps[at][0] = forged;
                true
            }
            Kind::StepRemoved => {
                // Without its last step, the run would be a shorter but valid run.
                if steps.len() < 4 {
                    return false;
                }
                let at = 1 + self.random.below(steps.len() - 2);
                steps.remove(at);
                true
            }
            Kind::Spliced => {
                let (_, other) = &self.receipts[self.random.below(self.receipts.len())];
                let theirs = contents(other);
                if theirs.len() < 3 {
                    return false;
                }
                let from = 1 + self.random.below(theirs.len() - 1);
                let cut = 1 + self.random.below(steps.len());
                // If the steps before are equal, the result is a run that really happened.
                if theirs[..from] == steps[..cut] || theirs.get(from) == steps.get(cut) {
                    return false;
                }
                steps.truncate(cut);
                steps.extend_from_slice(&theirs[from..]);
                true
            }
            Kind::BudgetRaised => {
                let Some(at) = forged.profiles[0].find("\"budget\"") else { return false };
                let rest = &forged.profiles[0][at..];
                let Some(digit) = rest.find(|is: char| is.is_ascii_digit()) else { return false };
                let text = forged.profiles[0].clone();
                forged.profiles[0] = format!("{}9{}", &text[..at + digit], &text[at + digit..]);
                names_profile(&mut steps[0][0], &forged.profiles[0])
            }
            Kind::OtherProfile => {
                let (_, other) = &self.receipts[self.random.below(self.receipts.len())];
                forged.profiles.clone_from(&other.profiles);
                names_profile(&mut steps[0][0], &forged.profiles[0])
            }
        }
    }

    /// Forges a change of the component so that the last component is still that of the gate.
    fn forge_change(&mut self, steps: &mut [Vec<String>]) -> bool {
        let own = GATE.component().digest();
        let places: Vec<usize> = (1..steps.len()).filter(|at| steps[*at][0].starts_with(CHANGE)).collect();
        if places.is_empty() {
            return false;
        }
        let at = places[self.random.below(places.len())];
        match self.random.below(7) {
            // Removes the change.
            0 => drop(steps[at].remove(0)),
            // Repeats the change.
            1 => {
                let change = steps[at][0].clone();
                steps[at].insert(0, change);
            }
            // Moves the change into a step.
            2 => {
                let change = steps[at].remove(0);
                let place = 1 + self.random.below(steps[at].len() - 1);
                steps[at].insert(place, change);
            }
            // Changes the component before the change.
            3 => return self.replace(&mut steps[..=at], CHANGE, r#""from":"sha256:"#, r#""from":"sha256:0"#),
            // Adds a change from a component to itself.
            4 => {
                let to = format!(r#"{CHANGE}{{"from":"{own}","to":"{own}"}}"#);
                steps.last_mut().expect("a step").insert(0, to);
            }
            // Adds a member.
            5 => return self.replace(steps, CHANGE, r#"{"from":"#, r#"{"more":1,"from":"#),
            // Changes the version of the component, so that the states do not match it.
            _ => return self.replace(steps, CHANGE, r#","version":""#, r#","version":"9"#),
        }
        true
    }

    /// Replaces one occurrence of a text in a line that contains another text.
    fn replace(&mut self, steps: &mut [Vec<String>], line: &str, from: &str, to: &str) -> bool {
        let mut places = Vec::new();
        for (step, lines) in steps.iter().enumerate().skip(1) {
            for (at, text) in lines.iter().enumerate().filter(|(_, text)| text.starts_with(line)) {
                places.extend(text.match_indices(from).map(|(index, _)| (step, at, index)));
            }
        }
        if places.is_empty() {
            return false;
        }
        let (step, at, index) = places[self.random.below(places.len())];
        let text = &mut steps[step][at];
        text.replace_range(index..index + from.len(), to);
        true
    }
}

/// Writes the digest and the agent of a profile into the first line. Returns `false` if the profile is invalid.
fn names_profile(first: &mut String, profile: &str) -> bool {
    let Ok(info) = GATE.clone().register_profile(profile) else { return false };
    let mut about: Value = serde_json::from_str(&format!("{{{first}}}")).expect("the first line");
    let about = about["run"].as_object_mut().expect("a run");
    // The members keep their order.
    let member = |name: &str| format!("\"{name}\":{}", about[name]);
    for (name, value) in [("agent", info.agent), ("profile", info.profile)] {
        *first = first.replace(&member(name), &format!("\"{name}\":{}", Value::from(value)));
    }
    true
}

fn is_event(line: &str, kind: &str) -> bool {
    line.starts_with(r#""event":"#) && line.contains(&format!(r#""type":"{kind}""#))
}

/// Returns the contents of the lines, by steps. The first entry is the description of the run.
fn contents(envelope: &Envelope) -> Vec<Vec<String>> {
    let mut steps = vec![Vec::new()];
    for part in &envelope.lines {
        let Part::Text(line) = part else { panic!("nothing is withheld") };
        let rest = line.splitn(3, ',').nth(2).expect("content").strip_suffix('}').expect("an object");
        let is_end = rest.starts_with(r#""state":"#) || steps.len() == 1;
        steps.last_mut().expect("a step").push(rest.to_owned());
        if is_end {
            steps.push(Vec::new());
        }
    }
    steps.pop();
    steps
}

/// Returns lines with consecutive numbers and chained digests.
fn chained(steps: &[Vec<String>]) -> Vec<Part> {
    let mut before = String::new();
    let mut lines = Vec::new();
    for (n, content) in steps.iter().flatten().enumerate() {
        let line = format!(r#"{{"n":{n},"before":"{before}",{content}}}"#);
        before = sha256(line.as_bytes());
        lines.push(Part::Text(line));
    }
    lines
}

fn sha256(text: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(digest(&SHA256, text).as_ref()))
}

/// Signs a receipt after adapting its statement to its lines and profiles.
fn signed(mut envelope: Envelope) -> Vec<u8> {
    let mut statement: Statement = serde_json::from_slice(&envelope.signed.statement).expect("a statement");
    statement.lines = envelope.lines.len() as u64;
    if let Some(Part::Text(first)) = envelope.lines.first() {
        let first: Value = serde_json::from_str(first).expect("the first line");
        let text = |name: &str| first["run"][name].as_str().expect("a text").to_owned();
        (statement.agent, statement.profile) = (text("agent"), text("profile"));
    }
    if let Some(Part::Text(last)) = envelope.lines.last() {
        statement.head = sha256(last.as_bytes());
    }
    statement.profiles = envelope.profiles.iter().map(|text| sha256(text.as_bytes())).collect();
    envelope.signed.statement = serde_json::to_vec(&statement).expect("JSON");
    envelope.signed.sign(|bytes| KEY.sign_bytes(bytes)).expect("a signature");
    envelope.encode()
}
