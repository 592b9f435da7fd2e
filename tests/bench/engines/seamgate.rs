//! The engine seamgate, with one more argument: `fresh`, an instance for each document, or `warm`, one for all.
//!
//! It answers `threads N` too: how many documents a second it judges in fresh instances, one gate used by N threads.

use std::{
    cell::RefCell,
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use seamgate::{Component, Disposition, Gate, Instance, Options, Request, Verdict};
use serde_json::{Value, json};

mod protocol;

use protocol::{Engine, Plan, Set};

fn main() -> Result<()> {
    let plan = protocol::plan()?;
    let component = fs::read(&plan.component).with_context(|| format!("{}", plan.component.display()))?;
    let gate = Gate::with(Options { component: Component::from_bytes(component), ..Options::default() })?;
    let held = gate.inspect()?.agents.into_iter().map(|info| info.agent).collect();
    let warm = std::env::args().nth(3).is_some_and(|word| word == "warm");
    let warm = warm.then(|| RefCell::new(gate.instance()));
    protocol::serve(&plan, Seamgate { gate: &gate, held, warm })
}

struct Seamgate<'g> {
    gate: &'g Gate,
    /// The agents whose contracts the component holds.
    held: Vec<String>,
    warm: Option<RefCell<Instance<'g>>>,
}

impl Seamgate<'_> {
    fn verdict(&self, agent: &str, document: &[u8]) -> Result<Verdict> {
        let request = Request::from_bytes(agent, document);
        Ok(match &self.warm {
            Some(instance) => instance.borrow_mut().validate(&request)?,
            None => self.gate.validate(&request)?,
        })
    }
}

impl Engine for Seamgate<'_> {
    /// The agent's name: the component holds its contract, compiled.
    type Compiled = String;

    fn compile(&mut self, set: &Set) -> Result<String> {
        ensure!(self.held.contains(&set.name), "{}", set.refused.as_deref().unwrap_or("the component lacks it"));
        Ok(set.name.clone())
    }

    fn is_valid(&mut self, agent: &String, document: &[u8]) -> Result<bool> {
        Ok(self.verdict(agent, document)?.report.disposition == Disposition::Accepted)
    }

    fn reason(&mut self, agent: &String, document: &[u8]) -> Option<String> {
        let report = self.verdict(agent, document).ok()?.report;
        report.violations().first().map(|violation| violation.keyword.clone())
    }

    fn answer(&mut self, line: &str, plan: &Plan) -> Result<Value> {
        let threads = line.strip_prefix("threads ").context("what is asked?")?.parse()?;
        Ok(json!({ "per_second": throughput(self.gate, plan, threads)? }))
    }
}

/// Judge documents of ordinary size for half a second.
fn throughput(gate: &Gate, plan: &Plan, threads: usize) -> Result<f64> {
    let mut documents = Vec::new();
    for document in &plan.documents {
        let bytes = fs::read(&document.path)?;
        let set = &plan.sets[document.set];
        if bytes.len() < 64 * 1024 && set.refused.is_none() {
            documents.push((set.name.as_str(), bytes));
        }
    }
    let judged = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for first in 0..threads {
            let (documents, judged) = (&documents, &judged);
            scope.spawn(move || {
                // Each thread begins at its own place.
                let from = documents.len() * first / threads;
                let mut count = 0;
                for (agent, bytes) in documents.iter().cycle().skip(from) {
                    if start.elapsed() > Duration::from_millis(500) {
                        break;
                    }
                    count += usize::from(gate.validate(&Request::from_bytes(agent, bytes)).is_ok());
                }
                judged.fetch_add(count, Ordering::Relaxed);
            });
        }
    });
    Ok(judged.into_inner() as f64 / start.elapsed().as_secs_f64())
}
