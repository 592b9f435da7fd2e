//! Counts the decisions of runs, from their journals. Labels contain names from profiles and words of the formats, and
//! never a value that a model, a tool or a user chose.
//!
//! Names that begin with `gen_ai` follow OpenTelemetry's conventions for generative AI, version 0.1.0, in the spelling
//! of Prometheus.

use std::collections::{BTreeMap, HashMap};

use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Metric, Registry, Unit},
};
use seamgate::{Action, DecisionRecord, EventKind, Permit, Record};
use seamgate_text::tool_name;

use crate::follow::{About, Step};

/// The bucket bounds of durations, in seconds, and of tokens, as the conventions define them.
const SECONDS: [f64; 14] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// The bucket bounds of the time that people take to decide, in seconds, up to a day.
const PATIENCE: [f64; 9] = [5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0];

/// Replaces the name of a tool that is in no profile, because the model chose that name.
const UNKNOWN: &str = "(unknown)";

type Labels = Vec<(&'static str, String)>;
type Counters = Family<Labels, Counter>;
type Gauges = Family<Labels, Gauge>;
type Histograms = Family<Labels, Histogram, fn() -> Histogram>;

/// The label with the name of an agent.
const AGENT: &str = "gen_ai_agent_name";
const TOOL: &str = "gen_ai_tool_name";

/// All metrics. They only increase, except for the gauges.
pub(crate) struct Metrics {
    registry: Registry,
    decisions: Counters,
    reasons: Counters,
    results: Counters,
    approvals: Counters,
    outputs: Counters,
    ended: Counters,
    durations: Histograms,
    tokens: Histograms,
    patience: Histograms,
    under_way: Gauges,
    waiting: Gauges,
    oldest: Gauges,
    journals: Gauge,
    broken: Gauge,
}

/// The progress of a run.
#[derive(Default)]
pub(crate) struct Progress {
    /// The tools of calls, by the calls' keys.
    tools: HashMap<String, String>,
    /// The calls that wait for a person, by their keys.
    waits: BTreeMap<String, Wait>,
    /// The time when the run began, and the time of its last event, in milliseconds since 1970.
    pub(crate) began: u64,
    pub(crate) last: u64,
    pub(crate) steps: u64,
    pub(crate) calls: u64,
    /// The word for the outcome of the run.
    pub(crate) ended: Option<&'static str>,
}

/// A call that waits for a person: the time since when it waits, and the time when it expires, in milliseconds since
/// 1970.
#[derive(Clone, Copy)]
struct Wait {
    since: u64,
    until: u64,
}

impl Progress {
    /// Returns since when each call waits. Ignores expired calls, because a run that nobody continues does not record
    /// that they have expired.
    pub(crate) fn waits(&self, now: u64) -> impl Iterator<Item = u64> {
        self.waits.values().filter(move |wait| wait.until > now).map(|wait| wait.since)
    }

    /// Returns whether the call with this key waits.
    pub(crate) fn has_wait(&self, key: &str) -> bool {
        self.waits.contains_key(key)
    }

    /// Returns the keys of the calls that wait.
    pub(crate) fn keys(&self, now: u64) -> impl Iterator<Item = &str> {
        self.waits.iter().filter(move |(_, wait)| wait.until > now).map(|(key, _)| key.as_str())
    }
}

/// A registry to which metrics are added.
struct Registering(Registry);

impl Registering {
    /// Adds a metric, and returns it.
    fn add<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }

    /// Adds a metric in seconds, whose name gets this unit, and returns it.
    fn add_seconds<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register_with_unit(name, help, Unit::Seconds, metric.clone());
        metric
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut all = Registering(Registry::default());
        let [seconds, tokens, patience]: [fn() -> Histogram; 3] =
            [|| Histogram::new(SECONDS), || Histogram::new(TOKENS), || Histogram::new(PATIENCE)];
        Metrics {
            decisions: all.add("seamgate_decisions", "Decisions about calls, by what they permit", Family::default()),
            reasons: all.add("seamgate_decision_reasons", "Reasons of decisions, by their codes", Family::default()),
            results: all.add("seamgate_results", "Ends of calls, by status or code", Family::default()),
            approvals: all.add(
                "seamgate_approvals",
                "Decisions of people, and calls that nobody decided in time",
                Family::default(),
            ),
            outputs: all.add("seamgate_model_outputs", "Outputs of models, by what they are", Family::default()),
            ended: all.add("seamgate_runs_ended", "Runs that ended, by how", Family::default()),
            durations: all.add_seconds(
                "gen_ai_execute_tool_duration",
                "Time from when a call may run until its result",
                Family::new_with_constructor(seconds),
            ),
            tokens: all.add(
                "gen_ai_client_token_usage",
                "Tokens of an output, as the model says",
                Family::new_with_constructor(tokens),
            ),
            patience: all.add_seconds(
                "seamgate_approval_wait",
                "Time from when a person is asked until the decision",
                Family::new_with_constructor(patience),
            ),
            under_way: all.add("seamgate_runs_under_way", "Runs that have not ended", Family::default()),
            waiting: all.add("seamgate_approvals_waiting", "Calls that wait for approval", Family::default()),
            oldest: all.add_seconds(
                "seamgate_approvals_oldest",
                "How long the first of the calls that wait has waited",
                Family::default(),
            ),
            journals: all.add("seamgate_journals", "Journals that were found", Gauge::default()),
            broken: all.add("seamgate_journals_broken", "Journals that cannot be read to their ends", Gauge::default()),
            registry: all.0,
        }
    }

    /// Counts a step of a run.
    pub(crate) fn step(&self, about: &About, run: &mut Progress, step: &Step) {
        let agent = (AGENT, about.agent.clone());
        let at = step.event.as_ref().map_or(run.last, |event| event.at.max(run.last));
        if run.steps == 0 {
            run.began = at;
        }
        (run.steps, run.last) = (run.steps + 1, at);
        let is_ignored = step.records.iter().any(|record| matches!(record, Record::Ignored(_)));
        if let (Some(event), false) = (&step.event, is_ignored) {
            self.event(&agent, run, &event.kind);
        }
        for record in &step.records {
            match record {
                Record::Decision(record) => self.decided(&agent, run, record),
                Record::Observation(record) => {
                    run.waits.remove(&record.call);
                    self.result(&agent, run, &record.call, record.status.as_str());
                    if let Some(ms) = record.duration_ms {
                        let labels = vec![agent.clone(), tool_of(run, &record.call)];
                        self.durations.get_or_create(&labels).observe(ms as f64 / 1000.0);
                    }
                }
                Record::Settled(record) => {
                    if run.waits.remove(&record.call).is_some() && record.code.as_str() == "expired" {
                        self.approvals.get_or_create(&vec![agent.clone(), ("decision", "expired".to_owned())]).inc();
                    }
                    self.result(&agent, run, &record.call, record.code.as_str());
                }
                Record::Output(record) => {
                    let labels = vec![agent.clone(), ("kind", record.kind.as_str().to_owned())];
                    self.outputs.get_or_create(&labels).inc();
                }
                _ => {}
            }
        }
        for action in &step.actions {
            match action {
                Action::AskApproval(action) => {
                    run.waits.insert(action.call.clone(), Wait { since: at, until: action.ask.expires });
                }
                Action::Finish(action) if run.ended.is_none() => {
                    let word = action.status.as_str();
                    (run.ended, run.waits) = (Some(word), BTreeMap::new());
                    self.ended.get_or_create(&vec![agent.clone(), ("status", word.to_owned())]).inc();
                }
                _ => {}
            }
        }
    }

    fn event(&self, agent: &(&'static str, String), run: &Progress, event: &EventKind) {
        match event {
            EventKind::Approval(event) => {
                let labels = vec![agent.clone(), ("decision", event.decision.as_str().to_owned())];
                self.approvals.get_or_create(&labels).inc();
                if let Some(wait) = run.waits.get(&event.key) {
                    let seconds = run.last.saturating_sub(wait.since) as f64 / 1000.0;
                    self.patience.get_or_create(&vec![agent.clone()]).observe(seconds);
                }
            }
            EventKind::ModelOutput(event) => {
                let usage = event.usage.as_ref();
                let used =
                    [("input", usage.and_then(|usage| usage.input)), ("output", usage.and_then(|usage| usage.output))];
                for (kind, tokens) in used {
                    let Some(tokens) = tokens else { continue };
                    let labels = vec![agent.clone(), ("gen_ai_token_type", kind.to_owned())];
                    self.tokens.get_or_create(&labels).observe(tokens as f64);
                }
            }
            _ => {}
        }
    }

    fn decided(&self, agent: &(&'static str, String), run: &mut Progress, record: &DecisionRecord) {
        // A call of a profile's tool has an effect.
        let tool = match record.effect {
            Some(_) => tool_name(record.server.as_deref().unwrap_or_default(), &record.tool),
            None => UNKNOWN.to_owned(),
        };
        if run.tools.insert(record.call.clone(), tool.clone()).is_none() {
            run.calls += 1;
        }
        // The action that requests approval of a call follows its decision.
        if record.permit != Permit::Approval {
            run.waits.remove(&record.call);
        }
        let permit = ("permit", record.permit.as_str().to_owned());
        self.decisions.get_or_create(&vec![agent.clone(), (TOOL, tool), permit.clone()]).inc();
        for reason in &record.reasons {
            let labels = vec![agent.clone(), ("code", reason.code.as_str().to_owned()), permit.clone()];
            self.reasons.get_or_create(&labels).inc();
        }
    }

    fn result(&self, agent: &(&'static str, String), run: &Progress, call: &str, status: &str) {
        let labels = vec![agent.clone(), tool_of(run, call), ("status", status.to_owned())];
        self.results.get_or_create(&labels).inc();
    }

    /// Sets the gauges to the state of the runs at a time, in milliseconds since 1970. `journals` has the number of
    /// journals, and how many of them are damaged.
    pub(crate) fn gauge<'r>(
        &self,
        now: u64,
        journals: [usize; 2],
        runs: impl Iterator<Item = (&'r About, &'r Progress)>,
    ) {
        let mut agents: BTreeMap<&str, (i64, i64, u64)> = BTreeMap::new();
        for (about, run) in runs {
            let (under_way, waiting, oldest) = agents.entry(&about.agent).or_default();
            *under_way += i64::from(run.ended.is_none());
            for since in run.waits(now) {
                *waiting += 1;
                *oldest = now.saturating_sub(since).max(*oldest);
            }
        }
        // An agent whose runs were all removed has no gauges.
        [&self.under_way, &self.waiting, &self.oldest].into_iter().for_each(Family::clear);
        for (agent, (under_way, waiting, oldest)) in agents {
            let labels = vec![(AGENT, agent.to_owned())];
            self.under_way.get_or_create(&labels).set(under_way);
            self.waiting.get_or_create(&labels).set(waiting);
            self.oldest.get_or_create(&labels).set(i64::try_from(oldest / 1000).unwrap_or(i64::MAX));
        }
        for (gauge, count) in [&self.journals, &self.broken].into_iter().zip(journals) {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Returns all metrics in the format OpenMetrics 1.0.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn tool_of(run: &Progress, call: &str) -> (&'static str, String) {
    (TOOL, run.tools.get(call).cloned().unwrap_or_else(|| UNKNOWN.to_owned()))
}
