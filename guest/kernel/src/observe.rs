//! Observations: results that are checked, truncated and sanitized for the model, with their source and completeness.

use std::collections::{BTreeMap, BTreeSet};

use seamgate_core::{
    Confidence, Disposition, Fault, FaultCode, Report, Request, Violation,
    kernel_api::{Document, Json, Kind, Location, MAX_QUARANTINED, NodeId, Path, count, short, sort},
    validate,
};

use memchr::memmem;
use serde_json::value::RawValue;

use crate::{
    base64,
    call::Call,
    cut::{TextsShown, Whole, json_shown, text_shown, texts_shown},
    digest::mark,
    document::CAPS,
    facts::{Changed, Facts},
    findings::{Findings, has_text},
    mcp_result::{Main, McpResult, Shown, Truncated, refused},
    observation::{ERROR, INVALID, Lag, OK, Observation, Provenance, marked},
    observed::{self, Observed, Value},
    profile::Profile,
    result::{Body, Given, ToolResult},
    sanitize::{Clean, inspect, inspect_as, sanitize, sanitize_as},
    stores, surface, time,
    tool::{COMPUTED_LABELS, Effect, ResultRule, Template, Tool},
    truncate::{Part, Room},
};

/// The length to which provenance from a document is truncated, in bytes.
const MAX_PROVENANCE: usize = 256;

/// The maximum number of violations of a result that are listed and reported to the model.
const MAX_VIOLATIONS: usize = 10;

/// The remark about a failed result. Omitted if the result itself says that it failed.
const SAYS_FAILED: &str = "The tool says that it failed.";

/// The message for a result that cannot be shown at all. The call itself has run.
const NOT_SHOWN: &str = "The call ran; its result cannot be shown";

/// The beginning of the message for a value that does not have the format declared by the server.
const NOT_AS_DECLARED: &str = "Not as the tool declares: ";

/// Creates an observation of the result of a call.
///
/// # Errors
///
/// Returns `bad_request` if the profile has no such tool, or if the facts have no nonce.
pub(crate) fn observe(
    profile: &Profile,
    facts: &Facts,
    call: &Call,
    result: &ToolResult,
) -> Result<Observation, Fault> {
    observe_as(profile, facts, call, result, true, |_| {})
}

/// Creates an observation like [`observe`]. `adjust` adds what the host knows about the result. `is_shown` says whether
/// anyone reads the text of a result that is passed on unchanged.
pub(crate) fn observe_as(
    profile: &Profile,
    facts: &Facts,
    call: &Call,
    result: &ToolResult,
    is_shown: bool,
    adjust: impl FnOnce(&mut Observation),
) -> Result<Observation, Fault> {
    let bad = |message: String| Fault::new(FaultCode::BadRequest, message);
    let tool = surface::known(profile, call).map_err(|reason| bad(format!("call: $.tool: {}", reason.message)))?;
    let nonce =
        facts.nonce.as_deref().ok_or_else(|| bad("facts: $.nonce must be there, random for each run".to_owned()))?;
    let id = short(format!("{}#{}", tool.name, call.key), 400);
    let mark = mark(nonce, &id);
    let (artifact, bytes) = result.artifact();
    let rule = &tool.result;

    // The strictest sanitizing of this agent and of the agents above it applies.
    let above = facts.rules().iter().filter_map(|rules| rules.tool(tool)).map(|tool| tool.result.clean);
    let clean = above.fold(rule.clean, Clean::max);
    let watched = watched(tool, facts);
    let mut read =
        Read { is_error: result.is_error, is_shown, clean, artifact: artifact.clone(), watched, ..Read::default() };
    let whole = match &result.body {
        Body::Json(text) => Some(text),
        // Schemas and items need JSON.
        Body::Text(text) if rule.contract.is_some() && !result.is_error => Some(text),
        Body::Text(_) | Body::Returned(_) | Body::Told(_) | Body::Pieces { .. } => None,
    };
    match (whole, &result.body) {
        (Some(text), _) => read.json(rule, text, &mark),
        (None, Body::Text(text) | Body::Told(text)) => {
            read.findings.add(inspect_as(text, clean).found, Location::root);
            read.texts(rule, &[text], &mark);
        }
        (None, Body::Pieces { head, tail, length, .. }) => read.pieces(rule, head, tail, *length, &mark),
        (None, Body::Returned(given)) => read.returned(rule, *given, &mark),
        (None, Body::Json(_)) => {}
    }
    let mut observation = read.observation(tool, call, facts);
    let (tool_name, call_key) = (tool.full_name(), call.key.clone());
    let seen = Observed { tool: tool_name, call: call_key, values: std::mem::take(&mut read.observed) };
    observation.facts.observed = observed::with(&facts.observed, seen);
    observation.labels.extend(stores::labels(facts, tool, call));
    label_by_those_above(&mut observation, profile, facts, tool, call, result)?;
    observation.id = id;
    observation.artifact.clone_from(&artifact);
    observation.bytes = bytes;
    adjust(&mut observation);
    let remarks = read.remarks(tool, &observation);
    observation.about = observation.about(&remarks);
    if let Body::Returned(given) = &result.body {
        observation.returned = read.handed_on(rule, *given, &observation.about, &remarks);
    }
    observation.message = match observation.status {
        INVALID => observation.about.clone(),
        _ if !is_shown => String::new(),
        _ => marked(&observation.about, &mark, &observation.text),
    };
    Ok(observation)
}

/// Returns the paths of a tool's results at which this profile, or an edit of it, looks for origins.
fn watched<'p>(tool: &'p Tool, facts: &'p Facts) -> Vec<&'p Path> {
    let mut paths: Vec<&Path> = tool.observed.iter().collect();
    let edited = facts.above.iter().flat_map(|above| &above.rules);
    let edited = edited.filter(|rules| facts.above.as_ref().is_some_and(|above| above.is_edit(rules)));
    let edited = edited.filter_map(|rules| rules.tool(tool)).flat_map(|tool| &tool.observed);
    observed::add_paths(&mut paths, edited);
    paths
}

/// Adds the labels that the observation would have for the agents above, because their flows depend on them.
fn label_by_those_above(
    observation: &mut Observation,
    profile: &Profile,
    facts: &Facts,
    tool: &Tool,
    call: &Call,
    result: &ToolResult,
) -> Result<(), Fault> {
    let read = surface::read(profile, facts);
    for rules in facts.rules().iter().filter(|rules| !rules.profile.flows.is_empty() && rules.tool(tool).is_some()) {
        let call = Call {
            key: call.key.clone(),
            server: Some(tool.server.clone()),
            tool: tool.name.clone(),
            arguments: call.arguments.clone(),
        };
        let theirs = observe_as(&rules.profile, &facts.by(rules, &read)?, &call, result, false, |_| {})?;
        observation.labels.extend(theirs.labels);
    }
    sort(&mut observation.labels);
    observation.labels.dedup();
    observation.facts.labels = united(&facts.labels, &observation.labels);
    Ok(())
}

/// The state of reading a result.
#[derive(Default)]
struct Read<'p> {
    /// The paths at which origins are sought, and the values of the whole result at these paths.
    watched: Vec<&'p Path>,
    observed: BTreeMap<String, Vec<Value>>,
    is_error: bool,
    is_shown: bool,
    clean: Clean,
    /// The digest of the whole result.
    artifact: String,
    /// The number of Base64 strings. None of them is shown.
    base64: usize,
    is_invalid: bool,
    violations: Vec<Violation>,
    /// The first value that does not have the format declared by the server.
    format: Option<Violation>,
    /// The number of items that do not match the schema: none of them is shown.
    invalid_items: usize,
    findings: Findings,
    text: String,
    /// The shown form of each text. `None` if the text is shown unchanged.
    texts: Vec<Option<String>>,
    shown: Option<Part>,
    is_unchecked: bool,
    kinds: Vec<String>,
    sampled: bool,
    partial: bool,
    /// `true` if the texts of the result contradict its structured content.
    is_contradictory: bool,
    /// `true` if the result has more text than the model reads.
    is_long: bool,
    /// `true` if the result is empty. Claims of absence can cite it.
    is_empty: bool,
    own_confidence: Option<Confidence>,
    cached: Option<bool>,
    /// The query in the result, if the arguments do not contain it.
    query: Option<String>,
    time_range: Option<String>,
    /// `None` if the profile does not ask for it. `Some(None)` if the result does not state it.
    until: Option<Option<u64>>,
}

impl Read<'_> {
    fn json(&mut self, rule: &ResultRule, text: &str, mark: &str) {
        let document = match Json::read(text, &CAPS) {
            Ok(document) => document,
            Err(violations) => return self.invalid(violations),
        };
        if self.clean > Clean::None {
            self.findings.look_at_all(&document);
        }
        match self.report(rule, text) {
            Some(Ok(report)) => self.judged(rule, report, &document, mark),
            Some(Err(fault)) => self.invalid(fault.violations),
            None => self.valid(rule, &document, mark),
        }
    }

    /// Validates a text against the schema of the result, if it has one.
    fn report(&mut self, rule: &ResultRule, text: &str) -> Option<Result<Report, Fault>> {
        let contract = rule.contract.as_ref().filter(|_| !self.is_error)?;
        let request = Request { agent: "result".to_owned(), output: text, ..Request::default() };
        let report = validate(&contract.asserting, &request);
        let (Ok(Report { disposition, quarantined, error, .. }), Some(annotating)) = (&report, &contract.annotating)
        else {
            return Some(report);
        };
        if *disposition != Disposition::Accepted {
            let wrong = error.iter().flat_map(|error| &error.violations);
            let wrong = wrong.chain(quarantined.iter().flat_map(|item| &item.violations));
            self.format = { wrong }.find(|violation| violation.keyword == "format").cloned();
            return Some(validate(annotating, &request));
        }
        Some(report)
    }

    /// Reads a document that needs no changes. If it does not match its schema, it is treated like any other document.
    fn json_as_it_is(&mut self, rule: &ResultRule, text: String) {
        let document = match Json::read(&text, &CAPS) {
            Ok(document) => document,
            Err(violations) => return self.invalid(violations),
        };
        match self.report(rule, &text) {
            Some(Ok(report)) if report.disposition != Disposition::Accepted => {
                self.judged(rule, report, &document, "\0")
            }
            Some(Err(fault)) => self.invalid(fault.violations),
            _ if base64::strings(&document, Document::ROOT).next().is_some() => self.valid(rule, &document, "\0"),
            _ => {
                self.facts_of(rule, &document);
                self.text = text;
            }
        }
    }

    fn judged(&mut self, rule: &ResultRule, report: Report, document: &Json, mark: &str) {
        match (report.disposition, report.output) {
            (Disposition::Accepted, _) => self.valid(rule, document, mark),
            (Disposition::Partial, Some(kept)) => {
                self.invalid_items = report.quarantined.len();
                let invalid = report.quarantined.iter().map(|item| item.pointer.clone()).collect::<BTreeSet<String>>();
                let wrong = report.quarantined.into_iter().flat_map(|item| item.violations);
                self.violations = wrong.take(MAX_VIOLATIONS).collect();
                // If there are more invalid items than the report lists, it is unknown which items are invalid.
                if self.invalid_items < MAX_QUARANTINED {
                    self.collect(document, &invalid);
                }
                match Json::read(&kept, &CAPS) {
                    Ok(kept) => self.valid(rule, &kept, mark),
                    Err(violations) => self.invalid(violations),
                }
            }
            _ => self.invalid(report.error.map(|error| error.violations).unwrap_or_default()),
        }
    }

    fn invalid(&mut self, mut violations: Vec<Violation>) {
        violations.truncate(MAX_VIOLATIONS);
        self.is_invalid = true;
        self.violations = violations;
    }

    /// Collects the values that can prove origins from a whole result, without its invalid items.
    fn collect(&mut self, document: &Json, invalid: &BTreeSet<String>) {
        if !self.is_error && !self.watched.is_empty() {
            self.observed = observed::collect(document, &self.watched, invalid);
        }
    }

    fn whole<'w>(&'w self, mark: &'w str) -> Whole<'w> {
        Whole { mark, artifact: &self.artifact, clean: self.clean }
    }

    /// Reads the metadata in a valid document, and the part of it that is shown.
    fn valid(&mut self, rule: &ResultRule, document: &Json, mark: &str) {
        self.facts_of(rule, document);
        self.base64 = base64::strings(document, Document::ROOT).count();
        (self.text, self.shown) = json_shown(document, rule.items.as_ref(), rule.room(), self.whole(mark));
    }

    /// Reads the metadata in a valid document.
    fn facts_of(&mut self, rule: &ResultRule, document: &Json) {
        let first = |path: &Option<Path>| {
            let path = path.as_ref()?;
            Path::select(&path.selectors, document, Document::ROOT).first().copied()
        };
        if self.invalid_items == 0 {
            self.collect(document, &BTreeSet::new());
        }
        if !self.is_error {
            let supports = rule.supports.iter();
            let supports = supports.filter(|support| support.when.as_ref().is_none_or(|when| when.is_valid(document)));
            self.kinds = supports.map(|support| support.kind.clone()).collect();
        }
        let items = first(&rule.items).or(Some(Document::ROOT));
        self.is_empty = items.is_some_and(|at| document.kind(at) == Kind::Array && document.count(at) == 0);
        self.sampled = first(&rule.sampled).is_some_and(|at| is_sampled(document, at));
        self.partial = first(&rule.partial).is_some_and(|at| document.kind(at) == Kind::True);
        self.cached = first(&rule.cached).map(|at| document.kind(at) == Kind::True);
        self.own_confidence = rule.confidence.as_ref().map(|_| {
            // If a source should state its confidence and does not, it counts as a source with low confidence.
            let said = first(&rule.confidence).filter(|&at| document.kind(at) == Kind::String);
            said.and_then(|at| Confidence::of(document.string(at))).unwrap_or(Confidence::Low)
        });
        self.until = rule.freshness.as_ref().map(|freshness| {
            let selected = Path::select(&freshness.path.selectors, document, Document::ROOT);
            // If there are several times, the oldest applies.
            selected.into_iter().map(|at| time::read(document, at)).min().flatten()
        });
        self.query = rule.query.as_ref().and_then(|template| in_document(template, document));
        self.time_range = rule.time_range.as_ref().and_then(|template| in_document(template, document));
    }

    /// Reads a result of the Model Context Protocol. Treats its main part like any other result, and inspects all of
    /// it.
    fn returned(&mut self, rule: &ResultRule, given: Given, mark: &str) {
        let document = given.document;
        let returned = McpResult::new(given);
        let is_json = rule.contract.is_some() && !self.is_error;
        let mut findings = Findings::default();
        if self.clean > Clean::None {
            findings.look_within(document, given.at, &returned.unread);
        }
        self.is_long = returned.text_bytes() > rule.max_bytes || returned.repeats_bytes();
        // A result that needs no changes is not serialized again. Most results need none, and some are large.
        let has_mark = || memmem::find(given.text.as_bytes(), mark.as_bytes()).is_some();
        let is_full = self.clean == Clean::Full;
        let is_as_it_is = (!is_full || findings.is_nothing()) && !self.is_long && !has_mark();
        match returned.main(is_json) {
            Main::Json(main) => {
                match is_as_it_is && main.len() <= rule.max_bytes && (!is_full || inspect(&main).found.is_nothing()) {
                    true => self.json_as_it_is(rule, main),
                    false => self.json(rule, &main, mark),
                }
            }
            Main::Texts(texts) if is_as_it_is => {
                self.text_facts(rule, &texts);
                if self.is_shown {
                    self.text = texts.join("\n");
                }
            }
            Main::Texts(texts) => self.texts(rule, &texts, mark),
        }
        self.findings = match findings.is_nothing() {
            true => findings,
            false => findings_once(&returned, given, findings),
        };
        self.is_contradictory = returned.is_contradictory();
        let large = returned.left_out(rule).iter().flatten().count();
        if self.shown.is_none() && large > 0 {
            let of = document.member(given.at, "content").map_or(0, |at| document.count(at));
            self.shown = Some(Part { unit: "parts", head: (of - large) as u64, tail: 0, of: of as u64 });
        }
    }

    /// Returns the result to pass on in place of a result of the Model Context Protocol. `None` if that result is
    /// passed on unchanged.
    fn handed_on(&self, rule: &ResultRule, given: Given, about: &str, remarks: &[String]) -> Option<Box<RawValue>> {
        if self.is_invalid {
            return Some(refused(about));
        }
        let returned = McpResult::new(given);
        let has_text_of_bytes = self.base64 > 0 && !returned.has_structured();
        let is_cut = self.shown.is_some_and(|part| part.unit != "parts")
            || self.invalid_items > 0
            || self.is_long
            || has_text_of_bytes;
        // A failed result says so itself, and the remark about formats is for the journal.
        let is_news = |remark: &&String| *remark != SAYS_FAILED && !remark.starts_with(NOT_AS_DECLARED);
        let remarks: Vec<String> =
            remarks.iter().filter(|remark| is_news(remark)).map(|remark| sanitize(remark).text).collect();
        if !is_cut && self.shown.is_none() && remarks.is_empty() {
            return None;
        }
        // A message of the protocol is a single line.
        let main = if returned.has_structured() { Json::read(&self.text, &CAPS).ok() } else { None };
        let main = main.filter(|main| main.kind(Document::ROOT) == Kind::Object).map(|main| main.minified());
        let own = [Some(self.text.clone())];
        let texts = if self.texts.is_empty() { &own } else { &self.texts[..] };
        let shown = match is_cut {
            true => Shown { texts: Some(texts), structured: main.as_deref(), is_structured_gone: main.is_none() },
            false => Shown::default(),
        };
        let truncated = self.shown.map(|part| Truncated { part, artifact: &self.artifact });
        Some(returned.handed_on(shown, truncated, &remarks, (rule, self.clean), &self.artifact))
    }

    fn text_facts(&mut self, rule: &ResultRule, texts: &[&str]) {
        self.is_empty = texts.iter().all(|text| text.is_empty()) && !self.is_error;
        if !self.is_error {
            // Without a schema, any text is valid. A kind with a condition requires JSON.
            let supports = rule.supports.iter().filter(|support| support.when.is_none());
            self.kinds = supports.map(|support| support.kind.clone()).collect();
        }
    }

    fn texts(&mut self, rule: &ResultRule, texts: &[&str], mark: &str) {
        self.text_facts(rule, texts);
        let shown = texts_shown(texts, rule.room(), self.whole(mark));
        TextsShown { texts: self.texts, part: self.shown, base64: self.base64 } = shown;
        let all: Vec<&str> = self.texts.iter().flatten().map(String::as_str).collect();
        self.text = match &all[..] {
            [only] => (*only).to_owned(),
            _ => sanitize_as(&all.join("\n"), self.clean),
        };
    }

    /// Reads the beginning and the end of a text that is too large. Its content is not validated.
    fn pieces(&mut self, rule: &ResultRule, head: &str, tail: &str, length: u64, mark: &str) {
        self.is_unchecked = true;
        // A truncated line may contain part of a secret.
        let head = head.rfind('\n').map_or(head, |end| &head[..end]);
        let tail = tail.find('\n').map_or(tail, |start| &tail[start + 1..]);
        let inspected = [head, tail].map(|piece| inspect_as(piece, self.clean));
        let half = Room { bytes: rule.max_bytes / 2 - 64, ..rule.room() };
        let whole = self.whole(mark);
        let (first, _) = text_shown(&inspected[0], Room { tail: 0, ..half }, whole);
        let (last, _) = text_shown(&inspected[1], Room { head: 0, ..half }, whole);
        self.text = format!("{first}\n… [of {length} bytes, the middle is left out]\n{last}");
        self.shown = Some(Part { unit: "bytes", head: head.len() as u64, tail: tail.len() as u64, of: length });
        for inspected in inspected {
            self.findings.add(inspected.found, Location::root);
        }
    }

    fn observation(&self, tool: &Tool, call: &Call, facts: &Facts) -> Observation {
        let lag = self.until.map(|until| {
            let lag_s = until.map_or(0, |until| facts.at.saturating_sub(until) / 1000);
            let most = tool.result.freshness.as_ref().map_or(u64::MAX, |freshness| freshness.max_lag_s);
            Lag { until, lag_s, stale: until.is_some() && lag_s > most }
        });
        let is_stale = lag.is_some_and(|lag| lag.stale);
        let is_undated = self.until == Some(None) && !self.is_invalid;
        let is_truncated = self.shown.is_some() || self.base64 > 0;
        let partial = self.partial || self.invalid_items > 0 || self.is_unchecked;
        let computed = [
            ("contradictory", self.is_contradictory),
            ("error", self.is_error),
            ("format", self.format.is_some() && !self.is_invalid),
            ("invalid", self.is_invalid),
            ("invalid_items", self.invalid_items > 0),
            ("partial", partial),
            ("sampled", self.sampled),
            ("stale", is_stale),
            ("truncated", is_truncated),
            ("undated", is_undated),
            ("unchecked", self.is_unchecked),
        ];
        let limitations: Vec<&'static str> =
            computed.into_iter().filter(|(_, holds)| *holds).map(|(code, _)| code).collect();
        let is_empty = self.is_empty && self.invalid_items == 0;
        let holds = |label: &&str| limitations.contains(label) || (*label == "empty" && is_empty);
        let computed = COMPUTED_LABELS.into_iter().filter(holds).map(str::to_owned);
        let mut labels: Vec<String> = tool.result.labels.iter().cloned().chain(computed).collect();
        sort(&mut labels);
        labels.dedup();
        let confidence = match () {
            () if self.is_invalid || self.is_error || is_stale => Confidence::Low,
            () if partial || self.is_contradictory || self.sampled || is_truncated || is_undated => Confidence::Medium,
            () => Confidence::High,
        };
        let (arguments, rule) = (call.document(tool.max_arguments_bytes).ok(), &tool.result);
        let of_call = |template: &Option<Template>| {
            let template = template.as_ref()?;
            arguments.as_ref().and_then(|arguments| in_document(template, arguments))
        };
        let asked = [("Query", of_call(&rule.query)), ("Time range", of_call(&rule.time_range))];
        let [query, time_range] = asked.clone().map(|(_, value)| value);
        Observation {
            id: String::new(),
            server: tool.server.clone(),
            tool: tool.name.clone(),
            status: match () {
                () if self.is_invalid => INVALID,
                () if self.is_error => ERROR,
                () => OK,
            },
            message: String::new(),
            about: String::new(),
            asked,
            text: self.text.clone(),
            kinds: self.kinds.clone(),
            confidence: self.own_confidence.map_or(confidence, |own| own.min(confidence)),
            complete: limitations.iter().all(|code| matches!(*code, "format" | "stale")),
            limitations,
            returned: None,
            artifact: String::new(),
            bytes: 0,
            shown: self.shown,
            provenance: Provenance {
                source: rule.source.clone(),
                query: query.or_else(|| self.query.clone()),
                time_range: time_range.or_else(|| self.time_range.clone()),
                cached: self.cached,
            },
            freshness: lag,
            found: self.findings.to_value(),
            violations: self.violations.clone(),
            facts: Changed { labels: united(&facts.labels, &labels), ..Changed::default() },
            labels,
        }
    }

    /// Returns the remarks about the result for the model, except its provenance.
    fn remarks(&self, tool: &Tool, observation: &Observation) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(part) = self.shown {
            let (unit, of, artifact) = (part.unit, part.of, &observation.artifact);
            let shown = part.head + part.tail;
            remarks.push(format!("Showing {shown} of {of} {unit}; whole result: artifact {artifact}"));
        }
        if self.base64 > 0 {
            let (strings, artifact) = (count(self.base64, "Base64 string"), &observation.artifact);
            remarks.push(format!("Left out: {strings} (bytes, not text); whole result: artifact {artifact}"));
        }
        if self.is_error {
            remarks.push(SAYS_FAILED.to_owned());
        }
        if self.is_contradictory {
            remarks.push("The text of the result and its structured content contradict each other.".to_owned());
        }
        if let Some(wrong) = &self.format
            && !self.is_invalid
        {
            remarks.push(format!("{NOT_AS_DECLARED}{}", told(wrong)));
        }
        if let Some(first) = self.violations.first() {
            let told = told(first);
            remarks.push(match self.is_invalid {
                true => format!("{NOT_SHOWN}: {told}."),
                false => {
                    format!("Left out, because invalid: {}; the first: {told}", count(self.invalid_items, "item"))
                }
            });
        } else if self.is_invalid {
            remarks.push(format!("{NOT_SHOWN}: it does not fit the schema for results."));
        }
        if self.is_invalid && tool.effect != Effect::Read {
            remarks.push("What the call does has happened: calling it again would do it again.".to_owned());
        }
        if let Some(lag) = observation.freshness {
            remarks.push(match lag.until {
                Some(_) => format!("The data ends {} s ago.", lag.lag_s),
                None => "The result does not say how old the data is.".to_owned(),
            });
        }
        remarks.extend(self.findings.remark(self.clean));
        remarks
    }
}

/// Returns the findings, except those in texts that repeat the structured content.
fn findings_once(returned: &McpResult, given: Given, all: Findings) -> Findings {
    let repeated = returned.repeated();
    if repeated.is_empty() {
        return all;
    }
    let mut unread = [returned.unread.clone(), repeated].concat();
    sort(&mut unread);
    let mut once = Findings::default();
    once.look_within(given.document, given.at, &unread);
    if once.is_nothing() { all } else { once }
}

/// Describes a violation without quoting text from the server.
fn told(wrong: &Violation) -> String {
    match wrong.keyword.as_str() {
        // The message for invalid JSON quotes no part of it.
        "json" => "it is not JSON".to_owned(),
        _ if has_text(&wrong.path) => {
            "a member does not fit: its name, or one on the way to it, is not shown".to_owned()
        }
        _ => format!("{} {}", wrong.path, wrong.message),
    }
}

/// Returns the labels combined with others. `None` if the others add nothing.
pub(crate) fn united(labels: &[String], more: &[String]) -> Option<Vec<String>> {
    let mut all: Vec<String> = labels.iter().chain(more).cloned().collect();
    sort(&mut all);
    all.dedup();
    (all.len() > labels.len()).then_some(all)
}

/// Returns whether a value states that a result is a sample. The value is `true`, or a rate below 1.
fn is_sampled(document: &Document, at: NodeId) -> bool {
    match document.kind(at) {
        Kind::True => true,
        Kind::Number => document.source(at).parse::<f64>().is_ok_and(|rate| rate < 1.0),
        _ => false,
    }
}

/// Returns a text of the profile, or the value in a document that its path leads to, sanitized and truncated.
fn in_document(template: &Template, document: &Document) -> Option<String> {
    match template {
        Template::Text(text) => Some(short(text, MAX_PROVENANCE)),
        Template::Path(path) => {
            let at = *Path::select(&path.selectors, document, Document::ROOT).first()?;
            Some(short(&sanitize(&document.shown(at)).text, MAX_PROVENANCE))
        }
    }
}
