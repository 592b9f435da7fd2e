//! The engine seamgate. Its additional argument is `fresh` (a new instance for each document), `warm` (one instance for
//! all documents), or `registered` (a new instance for each document, and a gate that registers all contracts instead
//! of having them baked in).
//!
//! It also answers `threads` (`../protocol/src/threads.rs`), in fresh instances of a gate that a warm instance has
//! used. It answers `after SMALL LARGE`, two numbers of documents, with the time and the page faults of a fresh call
//! for the small document, before and after the large one was judged. It answers `fenced DOCUMENT` with the time of a
//! call for the document alone, and for the document in a Markdown fence.

use std::{cell::RefCell, collections::HashMap, fs, hint::black_box, path::Path, time::Instant};

use anyhow::{Context, Result, bail, ensure};
use seamgate::{Component, Disposition, Gate, Instance, Options, Request, Verdict};
use seamgate_bench_protocol::{
    protocol::{self, Engine, Plan, Set},
    threads,
};
use serde_json::{Value, json};

fn main() -> Result<()> {
    let plan = protocol::plan()?;
    let how = std::env::args().nth(3).context("fresh, warm or registered?")?;
    let gates: Vec<Gate> = match how.as_str() {
        "registered" => vec![registered(&plan)?],
        _ => plan.components.iter().map(|path| baked(path)).collect::<Result<_>>()?,
    };
    let mut held = HashMap::new();
    for (index, gate) in gates.iter().enumerate() {
        let agents = gate.inspect()?.agents.into_iter().chain(gate.contracts().cloned());
        held.extend(agents.map(|info| (info.agent, index)));
    }
    let warm = (how == "warm").then(|| gates.iter().map(|gate| RefCell::new(gate.instance())).collect());
    protocol::serve(&plan, Seamgate { gates: &gates, held, warm })
}

fn baked(component: &Path) -> Result<Gate> {
    let wasm = fs::read(component).with_context(|| format!("{}", component.display()))?;
    Ok(Gate::with(Options::default().component(Component::from_bytes(wasm)))?)
}

fn registered(plan: &Plan) -> Result<Gate> {
    let mut gate = Gate::new()?;
    for set in plan.sets.iter().filter(|set| set.refused.is_none()) {
        gate.register(&fs::read_to_string(&set.contract)?).with_context(|| set.name.clone())?;
    }
    Ok(gate)
}

struct Seamgate<'g> {
    gates: &'g [Gate],
    /// For each agent, the index of the gate with its contract.
    held: HashMap<String, usize>,
    /// An instance of each gate, if instances are reused.
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

    /// Returns a new gate with the component that contains the contract of a set.
    fn another_gate(&self, plan: &Plan, set: &Set) -> Result<Gate> {
        let index = self.held.get(&set.name).context("no component holds it")?;
        baked(plan.components.get(*index).context("it is not baked")?)
    }
}

impl Engine for Seamgate<'_> {
    /// The agent's name, and the index of the gate with its compiled contract.
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

    fn answer(&mut self, line: &str, plan: &Plan, compiled: &[Result<Self::Compiled>]) -> Result<Value> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["threads"] => throughput(&baked(&plan.component)?, plan),
            ["after", small, large] => {
                let [small, large] =
                    [&plan.documents[small.parse::<usize>()?], &plan.documents[large.parse::<usize>()?]];
                let (small_set, large_set) = (&plan.sets[small.set], &plan.sets[large.set]);
                let gate = self.another_gate(plan, small_set)?;
                let (small, large) = (fs::read(&small.path)?, fs::read(&large.path)?);
                let small = Request::from_bytes(&small_set.name, &small);
                // The first calls of a gate allocate memory that later calls reuse.
                Calls::of(&gate, &small)?;
                let before = Calls::of(&gate, &small)?;
                let verdict = gate.validate(&Request::from_bytes(&large_set.name, &large))?;
                ensure!(verdict.report.disposition == Disposition::Accepted, "the large document is rejected");
                let after = Calls::of(&gate, &small)?;
                Ok(json!({
                    "nanos": [before.nanos, after.nanos], "page_faults": [before.page_faults, after.page_faults],
                }))
            }
            ["fenced", document] => {
                let document = &plan.documents[document.parse::<usize>()?];
                let Ok(compiled) = &compiled[document.set] else { bail!("its contract is refused") };
                let bare = fs::read(&document.path)?;
                let fenced = [b"```json\n", &bare[..], b"\n```\n"].concat();
                for text in [&bare, &fenced] {
                    let report = self.verdict(compiled, text)?.report;
                    ensure!(report.disposition == Disposition::Accepted, "the document is rejected");
                }
                let nanos = |text: &[u8]| protocol::nanos(|| self.verdict(compiled, black_box(text)).is_ok());
                Ok(json!({ "bare": nanos(&bare), "fenced": nanos(&fenced) }))
            }
            _ => bail!("nothing answers {line:?}"),
        }
    }
}

/// Judges documents in fresh instances of a gate that a warm instance has used.
fn throughput(gate: &Gate, plan: &Plan) -> Result<Value> {
    let mut warm = gate.instance();
    for (set, document) in threads::documents(plan, 64 * 1024)? {
        warm.validate(&Request::from_bytes(&plan.sets[set].name, &document))?;
    }
    drop(warm);
    Ok(threads::throughput(&threads::documents(plan, threads::SMALL)?, |set, document| {
        black_box(gate.validate(&Request::from_bytes(&plan.sets[set].name, document)).is_ok());
    }))
}

/// The cost of many calls in fresh instances.
struct Calls {
    /// The median time of a call.
    nanos: f64,
    /// The mean number of page faults of a call.
    page_faults: f64,
}

impl Calls {
    const COUNT: usize = 1_000;

    fn of(gate: &Gate, request: &Request) -> Result<Self> {
        let mut nanos = Vec::with_capacity(Self::COUNT);
        let page_faults = page_faults()?;
        for _ in 0..Self::COUNT {
            let start = Instant::now();
            black_box(gate.validate(black_box(request))?);
            nanos.push(start.elapsed().as_nanos() as f64);
        }
        let page_faults = (self::page_faults()? - page_faults) as f64 / Self::COUNT as f64;
        nanos.sort_by(f64::total_cmp);
        Ok(Calls { nanos: nanos[Self::COUNT / 2], page_faults })
    }
}

/// Returns the number of this process's page faults that read nothing from a disk.
fn page_faults() -> Result<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the program's name, in parentheses; the count is the tenth.
    let fields = stat.rsplit_once(')').context("no name")?.1;
    Ok(fields.split_whitespace().nth(7).context("no count of page faults")?.parse()?)
}
