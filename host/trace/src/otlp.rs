//! Converts a run to OTLP/JSON, with the names of OpenTelemetry's semantic conventions for generative AI. The result
//! has the same content as the audit view: names, digests, decisions and times, and no prompts, arguments or results.

use std::{collections::BTreeMap, path::Path};

use seamgate::{
    Action, DecisionRecord, DelegateAction, EventKind, ObservationRecord, ObservationStatus, Record, RunStatus, digest,
};
use seamgate_text::with_sources;
use serde_json::{Value, json};

use crate::{
    child::MAX_DEPTH,
    error::TraceError,
    format::cut,
    rendering::Rendering,
    steps::{Step, Steps, child_folder, prompt_of},
};

/// The version of the conventions that define the names.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// The protocol's numbers for the kinds of spans, and for the status of a span that failed.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// The longest untrusted name, in bytes. Longer names are truncated.
const MAX_NAME: usize = 256;

/// Converts a run with its children to the JSON of an `ExportTraceServiceRequest`.
///
/// The spans have the names of OpenTelemetry's semantic conventions for generative AI. They contain names, digests,
/// decisions and times, but no prompts, arguments or results.
///
/// # Errors
///
/// The folder holds no run that can be read.
pub fn otlp(folder: &Path) -> Result<Rendering, TraceError> {
    let mut steps = Steps::open(folder)?;
    let agent = steps.about.agent.clone();
    let mut trace = Trace { id: String::new(), spans: Vec::new(), faults: Vec::new() };
    trace.run(&mut steps, None, 0);
    let Trace { spans, faults, .. } = trace;
    let scope = json!({"name": "seamgate", "version": env!("CARGO_PKG_VERSION")});
    let request = json!({"resourceSpans": [{
        "resource": {"attributes": [text("service.name", &agent)]},
        "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA}],
    }]});
    Ok(Rendering { text: request.to_string(), faults })
}

struct Trace {
    /// The id of the trace: 32 hexadecimal digits.
    id: String,
    spans: Vec<Value>,
    faults: Vec<String>,
}

/// A span that has begun.
struct Open {
    /// The id of the span: 16 hexadecimal digits.
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    start: u64,
    is_sent: bool,
    attributes: Vec<Value>,
    events: Vec<Value>,
    error: Option<String>,
}

/// The spans of one run that have begun.
struct Run {
    name: String,
    root: Open,
    /// Open spans, by the key of the action or of the call.
    open: BTreeMap<String, Open>,
    input: u64,
    output: u64,
}

impl Trace {
    /// Adds the spans of a run under the span of its parent.
    fn run(&mut self, steps: &mut Steps, parent: Option<&str>, depth: usize) {
        let about = steps.about.clone();
        let mut run: Option<Run> = None;
        let mut last = 0;
        while let Some(step) = steps.next() {
            last = step.at;
            if self.id.is_empty() {
                // Names of runs can repeat, so the time of their beginning distinguishes them.
                self.id = hex(&["trace", &about.run, &step.at.to_string()], 32);
            }
            let run = run.get_or_insert_with(|| {
                let mut root = self.open(&about.run, "", parent, "invoke_agent", &about.agent, INTERNAL, step.at);
                root.attributes.extend([
                    text("gen_ai.agent.name", &about.agent),
                    text("seamgate.run", &about.run),
                    text("seamgate.profile", &about.profile),
                ]);
                Run { name: about.run.clone(), root, open: BTreeMap::new(), input: 0, output: 0 }
            });
            self.step(run, &step);
            for action in step.actions() {
                if let Action::Delegate(action) = action {
                    self.child(&steps.folder, action, run, depth);
                }
            }
        }
        if let Some(fault) = steps.fault() {
            self.faults.push(format!("{}: {fault}", steps.folder.display()));
        }
        if let Some(mut run) = run {
            for (_, mut open) in std::mem::take(&mut run.open) {
                open.attributes.push(flag("seamgate.unfinished"));
                self.close(open, last);
            }
            if run.input + run.output > 0 {
                run.root.attributes.extend([
                    number("gen_ai.usage.input_tokens", run.input),
                    number("gen_ai.usage.output_tokens", run.output),
                ]);
            }
            self.close(run.root, last);
        }
    }

    fn child(&mut self, folder: &Path, action: &DelegateAction, run: &Run, depth: usize) {
        let parent = run.open.get(&action.call).map(|open| open.id.clone());
        let Some(child) = child_folder(folder, &action.call).filter(|child| depth < MAX_DEPTH && child.is_dir()) else {
            return;
        };
        match Steps::open(&child) {
            Ok(mut steps) => self.run(&mut steps, parent.as_deref(), depth + 1),
            Err(error) => self.faults.push(with_sources(&error)),
        }
    }

    fn step(&mut self, run: &mut Run, step: &Step) {
        let at = step.at;
        // The span of the request to the model contains everything that the model's output led to.
        let mut asked = step.event().and_then(|event| self.event(run, event, at));
        for record in step.records() {
            match record {
                Record::Decision(record) => {
                    let events = asked.as_mut().map_or(&mut run.root.events, |open| &mut open.events);
                    events.push(decision(record, at));
                }
                Record::Observation(record) => self.observed(run, record, step.event(), at),
                Record::Settled(record) => {
                    if let Some(mut open) = run.open.remove(&record.call) {
                        open.error = Some(record.code.to_string());
                        self.close(open, at);
                    }
                }
                Record::Stop(record) => {
                    let code = text("seamgate.code", record.code.as_str());
                    run.root.events.push(happened("seamgate.stop", at, vec![code]));
                }
                _ => {}
            }
        }
        if let Some(open) = asked {
            self.close(open, at);
        }
        for action in step.actions() {
            self.action(run, action, at);
        }
    }

    /// Ends the span that an event belongs to. Returns the span of the model's output.
    fn event(&mut self, run: &mut Run, event: &EventKind, at: u64) -> Option<Open> {
        match event {
            EventKind::Started(event) => {
                let session = event.session.as_ref().filter(|session| !session.is_empty());
                run.root.attributes.push(text("gen_ai.conversation.id", session.unwrap_or(&event.run)));
            }
            EventKind::ModelOutput(event) => {
                let mut open = run.open.remove(&event.key)?;
                if let Some(usage) = &event.usage {
                    let [input, output] = [usage.input, usage.output].map(Option::unwrap_or_default);
                    run.input = run.input.saturating_add(input);
                    run.output = run.output.saturating_add(output);
                    open.attributes.extend([
                        number("gen_ai.usage.input_tokens", input),
                        number("gen_ai.usage.output_tokens", output),
                    ]);
                }
                if let Some(finish) = event.finish {
                    let reasons = json!({"arrayValue": {"values": [{"stringValue": finish}]}});
                    open.attributes.push(json!({"key": "gen_ai.response.finish_reasons", "value": reasons}));
                }
                return Some(open);
            }
            EventKind::ModelFailed(event) => {
                let mut open = run.open.remove(&event.key)?;
                open.error = Some("model_failed".to_owned());
                return Some(open);
            }
            EventKind::Approval(event) => {
                let decision = text("seamgate.decision", event.decision.as_str());
                self.answered(run, &event.key, [decision, text("seamgate.principal", &event.principal)], at);
            }
            EventKind::Input(event) => {
                let principal = event.principal.as_deref().unwrap_or_default();
                self.answered(run, &event.key, [text("seamgate.principal", principal)], at);
            }
            EventKind::ToolStarted(event) => {
                let open = run.open.get_mut(&event.call)?;
                if !open.is_sent {
                    (open.is_sent, open.start) = (true, at);
                }
            }
            _ => {}
        }
        None
    }

    /// Ends the span of a question to a person.
    fn answered(&mut self, run: &mut Run, key: &str, attributes: impl IntoIterator<Item = Value>, at: u64) {
        if let Some(mut open) = run.open.remove(&format!("ask {key}")) {
            open.attributes.extend(attributes);
            self.close(open, at);
        }
    }

    fn observed(&mut self, run: &mut Run, record: &ObservationRecord, event: Option<&EventKind>, at: u64) {
        let Some(mut open) = run.open.remove(&record.call) else {
            return;
        };
        open.attributes.extend([
            text("seamgate.observation", &record.id),
            text("seamgate.status", record.status.as_str()),
            text("seamgate.result.digest", &record.artifact),
            number("seamgate.result.bytes", record.bytes),
        ]);
        if matches!(event, Some(EventKind::ToolResult(event)) if event.returned.is_some()) {
            let sent = if record.returned.is_some() { "changed" } else { "unchanged" };
            open.attributes.push(text("seamgate.client.result", sent));
        }
        if record.status != ObservationStatus::Ok {
            open.error = Some(record.status.to_string());
        }
        self.close(open, at);
    }

    fn action(&mut self, run: &mut Run, action: &Action, at: u64) {
        let root = Some(run.root.id.clone());
        let mut begin = |key: &str, operation: &str, name: &str, kind, more: Vec<Value>| {
            let mut open = self.open(&run.name, action.key(), root.as_deref(), operation, name, kind, at);
            open.attributes.extend(more);
            // A call that is sent again keeps its span.
            run.open.entry(key.to_owned()).or_insert(open);
        };
        match action {
            Action::AskModel(action) => {
                let asks = run.open.extract_if(.., |key, open| open.kind == CLIENT && *key != action.key);
                let asks: Vec<Open> = asks.map(|(_, open)| open).collect();
                for mut open in asks {
                    open.error = Some("given_up".to_owned());
                    self.close(open, at);
                }
                let mut open = self.open(&run.name, &action.key, root.as_deref(), "chat", "", CLIENT, at);
                open.attributes.extend([
                    text("seamgate.purpose", action.purpose.as_str()),
                    text("seamgate.prompt.digest", prompt_of(action).unwrap_or_default()),
                ]);
                run.open.insert(action.key.clone(), open);
            }
            Action::Execute(action) => {
                let mut more = vec![
                    text("gen_ai.tool.name", &action.tool),
                    text("seamgate.server", action.server.as_deref().unwrap_or_default()),
                    text("gen_ai.tool.call.id", &action.call),
                    text("gen_ai.tool.type", "function"),
                    text("seamgate.effect", action.effect.as_str()),
                ];
                more.extend(action.approval.iter().map(|approval| text("seamgate.principal", &approval.principal)));
                begin(&action.call, "execute_tool", &action.tool, INTERNAL, more);
            }
            Action::Delegate(action) => {
                let tool = format!("delegate_{}", action.agent);
                let more = vec![
                    text("gen_ai.tool.name", &tool),
                    text("gen_ai.tool.call.id", &action.call),
                    text("gen_ai.tool.type", "function"),
                    text("seamgate.child", &action.run),
                ];
                begin(&action.call, "execute_tool", &tool, INTERNAL, more);
            }
            Action::AskApproval(action) => {
                let more = vec![text("gen_ai.tool.call.id", &action.call)];
                begin(&format!("ask {}", action.call), "seamgate.approval", &action.call, INTERNAL, more);
            }
            Action::AskInput(action) => {
                begin(&format!("ask {}", action.key), "seamgate.input", "", INTERNAL, Vec::new());
            }
            Action::Finish(action) => {
                run.root.attributes.push(text("seamgate.status", action.status.as_str()));
                if matches!(action.status, RunStatus::Failed | RunStatus::Cancelled) {
                    let code = action.reasons.first().map_or("_OTHER", |reason| reason.code.as_str());
                    run.root.error = Some(code.to_owned());
                }
            }
            Action::Cancel(_) => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what each span has")]
    fn open(
        &self,
        run: &str,
        key: &str,
        parent: Option<&str>,
        operation: &str,
        name: &str,
        kind: u8,
        start: u64,
    ) -> Open {
        Open {
            id: hex(&["span", &self.id, run, key], 16),
            parent: parent.map(str::to_owned),
            name: cut(format!("{operation} {name}").trim_end(), MAX_NAME),
            kind,
            start,
            is_sent: false,
            attributes: vec![text("gen_ai.operation.name", operation)],
            events: Vec::new(),
            error: None,
        }
    }

    fn close(&mut self, open: Open, end: u64) {
        let mut span = json!({
            "traceId": self.id,
            "spanId": open.id,
            "name": open.name,
            "kind": open.kind,
            "startTimeUnixNano": nanos(open.start),
            "endTimeUnixNano": nanos(end.max(open.start)),
            "attributes": open.attributes,
            "events": open.events,
        });
        if let Some(parent) = open.parent {
            span["parentSpanId"] = parent.into();
        }
        if let Some(error) = open.error {
            span["status"] = json!({"code": ERROR});
            if let Some(attributes) = span["attributes"].as_array_mut() {
                attributes.push(text("error.type", &error));
            }
        }
        self.spans.push(span);
    }
}

/// Returns the decision on a call, with the codes of its reasons.
fn decision(record: &DecisionRecord, at: u64) -> Value {
    let codes: Vec<Value> = record.reasons.iter().map(|reason| json!({"stringValue": reason.code})).collect();
    let mut attributes = vec![
        text("gen_ai.tool.name", &record.tool),
        text("seamgate.server", record.server.as_deref().unwrap_or_default()),
        text("gen_ai.tool.call.id", &record.call),
        text("seamgate.permit", record.permit.as_str()),
        text("seamgate.arguments.digest", &record.arguments_digest),
    ];
    if !codes.is_empty() {
        attributes.push(json!({"key": "seamgate.reasons", "value": {"arrayValue": {"values": codes}}}));
    }
    happened("seamgate.decision", at, attributes)
}

fn happened(name: &str, at: u64, attributes: Vec<Value>) -> Value {
    json!({"name": name, "timeUnixNano": nanos(at), "attributes": attributes})
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": cut(value, MAX_NAME)}})
}

/// Returns a numeric attribute. The protocol's JSON represents 64-bit numbers as strings.
fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": i64::try_from(value).unwrap_or(i64::MAX).to_string()}})
}

fn flag(key: &str) -> Value {
    json!({"key": key, "value": {"boolValue": true}})
}

fn nanos(ms: u64) -> String {
    ms.saturating_mul(1_000_000).to_string()
}

/// Returns the first digits of a digest of these parts.
fn hex(parts: &[&str], digits: usize) -> String {
    let digest = digest(json!(parts).to_string().as_bytes());
    digest.trim_start_matches("sha256:").chars().take(digits).collect()
}
