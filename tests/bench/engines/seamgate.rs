//! The engine seamgate, with one more argument: `fresh`, an instance for each document, or `warm`, one for all.
//!
//! It answers `threads N` too: how many documents a second it judges in fresh instances, one gate used by N threads.

use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use seamgate::{Component, Disposition, Gate, Instance, Options, Request, Verdict};
use serde_json::{Value, json};

mod protocol;

use protocol::{Engine, Plan, Set};

fn main() -> Result<()> {
    let plan = protocol::plan()?;
    let gates: Vec<Gate> = plan.components.iter().map(|path| gate(path)).collect::<Result<_>>()?;
    let mut held = HashMap::new();
    for (index, gate) in gates.iter().enumerate() {
        held.extend(gate.inspect()?.agents.into_iter().map(|info| (info.agent, index)));
    }
    let warm = std::env::args().nth(3).is_some_and(|word| word == "warm");
    let warm = warm.then(|| gates.iter().map(|gate| RefCell::new(gate.instance())).collect());
    protocol::serve(&plan, Seamgate { gates: &gates, held, warm })
}

fn gate(component: &Path) -> Result<Gate> {
    let wasm = fs::read(component).with_context(|| format!("{}", component.display()))?;
    Ok(Gate::with(Options::default().component(Component::from_bytes(wasm)))?)
}

struct Seamgate<'g> {
    gates: &'g [Gate],
    /// Which gate's component holds an agent's contract.
    held: HashMap<String, usize>,
    /// An instance of each gate, where they are used again.
    warm: Option<Vec<RefCell<Instance<'g>>>>,
}

impl Seamgate<'_> {
    fn verdict(&self, (agent, gate): &(String, usize), document: &[u8]) -> Result<Verdict> {
        let request = Request::from_bytes(agent, document);
        Ok(match &self.warm {
            Some(instances) => instances[*gate].borrow_mut().validate(&request)?,
            None => self.gates[*gate].validate(&request)?,
        })
    }
}

impl Engine for Seamgate<'_> {
    /// The agent's name, and which gate's component holds its contract, compiled.
    type Compiled = (String, usize);

    fn compile(&mut self, set: &Set) -> Result<Self::Compiled> {
        match self.held.get(&set.name) {
            Some(gate) => Ok((set.name.clone(), *gate)),
            None => bail!("{}", set.refused.as_deref().unwrap_or("no component holds it")),
        }
    }

    fn is_valid(&mut self, compiled: &Self::Compiled, document: &[u8]) -> Result<bool> {
        Ok(self.verdict(compiled, document)?.report.disposition == Disposition::Accepted)
    }

    fn reason(&mut self, compiled: &Self::Compiled, document: &[u8]) -> Option<String> {
        let report = self.verdict(compiled, document).ok()?.report;
        report.violations().first().map(|violation| violation.keyword.clone())
    }

    fn answer(&mut self, line: &str, plan: &Plan) -> Result<Value> {
        let threads = line.strip_prefix("threads ").context("what is asked?")?.parse()?;
        Ok(json!({ "per_second": throughput(&gate(&plan.component)?, plan, threads)? }))
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
