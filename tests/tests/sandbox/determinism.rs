//! The same bytes and the same fuel for all engine settings, and for any number of threads and processes.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use seamgate::{Component, Gate, Limits, Options, Request};
use seamgate_core::Contract;
use seamgate_tests::{Case, Random, cases, fixture::unknown, thorough};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

/// A function that changes the settings of an engine.
type SetUp = fn(&mut Config, PoolingAllocationConfig);

fn pooling(config: &mut Config, pool: PoolingAllocationConfig) {
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
}

/// Engine settings whose results must equal those of the shipped engine.
const ENGINES: [(&str, SetUp); 5] = [
    ("Cranelift, without optimising", |config, pool| pooling(config.cranelift_opt_level(OptLevel::None), pool)),
    ("Cranelift, optimising for speed", |config, pool| pooling(config.cranelift_opt_level(OptLevel::Speed), pool)),
    ("Cranelift, and for size", |config, pool| pooling(config.cranelift_opt_level(OptLevel::SpeedAndSize), pool)),
    ("instances made on demand, without a pool", |config, _| {
        config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    }),
    ("Pulley, the interpreter", |config, pool| pooling(config.target("pulley64").expect("Pulley"), pool)),
];

/// A verdict or a fault as JSON text, and the fuel of a verdict.
type Answer = (String, Option<u64>);

/// Returns every attempt of every case, each with the contract of its case.
fn attempts() -> Vec<Case> {
    cases().expect("cases").iter().flat_map(Case::attempts).collect()
}

fn answer(gate: &Gate, case: &Case) -> Answer {
    match gate.validate_with(&case.contract, &case.request(case.agent())) {
        Ok(verdict) => (verdict.report.to_json(), Some(verdict.usage.fuel)),
        Err(fault) => (fault.to_json(), None),
    }
}

fn answers(gate: &Gate, cases: &[Case]) -> Vec<Answer> {
    cases.iter().map(|case| answer(gate, case)).collect()
}

/// Prints how many answers are equal, and the first different one. Returns whether all are equal.
fn same(what: &str, cases: &[Case], expected: &[Answer], answers: &[Answer]) -> bool {
    assert_eq!(expected.len(), answers.len());
    let pairs = || expected.iter().zip(answers);
    let bytes = pairs().filter(|(expected, answer)| expected.0 == answer.0).count();
    let fuel = pairs().filter(|(expected, answer)| expected.1 == answer.1).count();
    println!("{what:45} {bytes:>7} of {0} {fuel:>10} of {0}", cases.len());
    let differs = cases.iter().zip(pairs()).find(|(_, (expected, answer))| expected != answer);
    if let Some((case, (expected, answer))) = differs {
        println!("{}:\n  {expected:?}\n  {answer:?}", case.name);
    }
    differs.is_none()
}

#[test]
fn engines_do_not_differ() {
    let cases = attempts();
    let shipped = Gate::new().expect("a gate");
    let expected = answers(&shipped, &cases);
    let judged = expected.iter().filter(|(_, fuel)| fuel.is_some()).count();
    println!("{} requests, {judged} of them with a verdict and so with fuel", cases.len());
    assert!(judged >= 400, "only {judged} requests have a verdict");
    println!("{:45} {:>14} {:>17}", "", "same bytes", "same fuel");
    let mut differ = Vec::new();
    let mut compare = |what, cases: &[Case], expected: &[Answer], answers: &[Answer]| {
        if !same(what, cases, expected, answers) {
            differ.push(what);
        }
    };
    compare("as shipped, again", &cases, &expected, &answers(&shipped, &cases));
    compare("as shipped, 8 threads", &cases, &expected, &from_threads(&shipped, &cases, 8));
    for (number, (what, set_up)) in ENGINES.into_iter().enumerate() {
        // Each engine judges different cases.
        let is_chosen = |index: &usize| thorough() || index % ENGINES.len() == number;
        let chosen = (0..cases.len()).filter(is_chosen);
        let (some, expected): (Vec<Case>, Vec<Answer>) =
            chosen.map(|index| (cases[index].clone(), expected[index].clone())).unzip();
        let limits = Limits::default();
        let (mut config, pool) = Gate::engine(&limits, 8);
        set_up(&mut config, pool);
        let engine = Engine::new(&config).expect("an engine");
        let component = Component::from_bytes(unknown(Component::builtin().as_bytes()));
        let options = Options::default().component(component).limits(limits).slots(8).cache(None);
        compare(what, &some, &expected, &answers(&Gate::on(engine, options).expect("a gate"), &some));
    }
    assert!(differ.is_empty(), "not the same: {differ:?}");
}

/// Returns all answers. Each comes from the next free thread.
fn from_threads(gate: &Gate, cases: &[Case], threads: usize) -> Vec<Answer> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((case, answer(gate, case)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("answers")).collect::<Vec<_>>()
    });
    done.sort_by_key(|(case, _)| std::ptr::from_ref(*case));
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// A registered contract gives the same report. The fuel differs because the contract is compiled in a separate call.
/// `bake.rs` tests baked contracts.
#[test]
fn a_registered_contract_gives_the_same_bytes() {
    let inline = Gate::new().expect("a gate");
    let mut compared = 0;
    for case in attempts().into_iter().step_by(if thorough() { 1 } else { 2 }) {
        let mut gate = Gate::with(Options::default().slots(1)).expect("a gate");
        let Ok(info) = gate.register(&case.contract) else {
            continue;
        };
        let request = case.request(&info.agent);
        let json = |verdict: Result<seamgate::Verdict, seamgate::Fault>| match verdict {
            Ok(verdict) => verdict.report.to_json(),
            Err(fault) => fault.to_json(),
        };
        let expected = json(inline.validate_with(&case.contract, &request));
        assert_eq!(json(gate.validate(&request)), expected, "{}", case.name);
        compared += 1;
    }
    println!("{compared} requests have the same report by a registered contract");
    assert!(compared >= 400, "only {compared} requests were compared");
}

/// Compares whole processes, one after another: with more threads, and with an address space (`ulimit -v`, in KiB) that
/// is too small for the pool. All print the same lines, with the same fuel and memory.
#[test]
fn processes_do_not_differ() {
    let test = std::env::current_exe().expect("this test");
    let seamgate = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
    let requests: Vec<String> = attempts().iter().map(Case::wire_request).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("determinism.ndjson");
    fs::write(&file, requests.join("\n")).expect("written");
    let run = |jobs: &str, addresses: &str| {
        let mut command = match addresses {
            "unlimited" => Command::new(&seamgate),
            _ => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -v {addresses} && exec \"$0\" \"$@\"")]).arg(&seamgate);
                shell
            }
        };
        command.args(["check", "--ndjson", "-j", jobs]).arg(&file).env_remove("RUST_LOG");
        let output = command.stderr(Stdio::inherit()).output().expect("seamgate, built by `cargo xtask build`");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let first = run("1", "unlimited");
    let with_fuel = first.lines().filter(|line| line.contains(",\"usage\":{\"fuel\":")).count();
    assert_eq!(first.lines().count(), requests.len());
    assert!(with_fuel >= 400, "only {with_fuel} answers say their fuel");
    let mut runs = vec![("1", "unlimited"), ("1", "unlimited"), ("8", "unlimited")];
    if cfg!(target_os = "linux") {
        // One instance fits into 8 GiB, three instances fit into 16 GiB, and the pool needs 33 GiB.
        runs.extend([("1", "8388608"), ("8", "8388608"), ("8", "16777216")]);
    }
    for (jobs, addresses) in runs {
        let again = run(jobs, addresses);
        let same = first.lines().zip(again.lines()).filter(|(first, again)| first == again).count();
        println!(
            "another process, -j {jobs}, {addresses} KiB: {same} of {} lines are the same, {with_fuel} with fuel",
            requests.len()
        );
        assert!(again == first);
    }
    let gate = Gate::new().expect("a gate");
    for (request, line) in requests.iter().zip(first.lines()) {
        let answer = gate.call(request).expect("an answer");
        let (usage, digest) = (&answer.usage, gate.component().digest());
        assert_eq!(*usage.component, *digest);
        let (fuel, memory) = (usage.fuel, usage.memory);
        let told = format!(",\"usage\":{{\"fuel\":{fuel},\"memory\":{memory},\"component\":\"{digest}\"}}}}");
        let expected = answer.json.strip_suffix('}').expect("an object").to_owned() + &told;
        assert!(line == expected || line == answer.json, "{line}\n{expected}");
    }
}

/// The number of random documents, and a contract that accepts all of them.
const DOCUMENTS: u64 = 4_000;
const CONTRACT: &str = r#"{"agent": "a", "schema": true}"#;

/// A writer of documents with unusual formatting.
struct Writer {
    random: Random,
    text: String,
}

impl Writer {
    fn document(random: Random) -> Self {
        let mut writer = Writer { random, text: String::new() };
        writer.value(5);
        writer
    }

    fn space(&mut self) {
        for _ in 0..self.random.below(4).saturating_sub(1) {
            self.text.push_str(self.random.one(&[" ", "\n", "\r\n", "\t", "            ", "\n        "]));
        }
    }

    fn value(&mut self, levels: usize) {
        self.space();
        match self.random.below(if levels == 0 { 4 } else { 7 }) {
            0 => self.text.push_str(self.random.one(&["true", "false", "null"])),
            1 => self.text.push_str(self.random.one(&["0", "-0", "1.50", "1E+2", "-12e-3", "18446744073709551615"])),
            2 | 3 => self.string(""),
            4 => self.list(('[', ']'), |writer, _| writer.value(levels - 1)),
            _ => self.list(('{', '}'), |writer, index| {
                writer.space();
                writer.string(&index.to_string());
                writer.space();
                writer.text.push(':');
                writer.value(levels - 1);
            }),
        }
        self.space();
    }

    fn list(&mut self, (open, close): (char, char), each: impl Fn(&mut Self, usize)) {
        self.text.push(open);
        let count = self.random.below(5);
        if count == 0 {
            self.space();
        }
        for index in 0..count {
            if index > 0 {
                self.text.push(',');
            }
            each(self, index);
        }
        self.text.push(close);
    }

    /// Writes a string with a prefix that is unique in its object.
    fn string(&mut self, begins: &str) {
        const PLAIN: [&str; 8] = ["a", "words of some length", " ", "{}[],:", "é", "日本", "😀", "\u{7f}\u{2028}"];
        const ESCAPES: [&str; 16] = [
            "\\\"",
            "\\\\",
            "\\/",
            "\\b",
            "\\f",
            "\\n",
            "\\r",
            "\\t",
            "\\u0000",
            "\\u001F",
            "\\u0022",
            "\\u005c",
            "\\u00e9",
            "\\ud83d\\uDE00",
            "\\u2028",
            "\\uFFFF",
        ];
        self.text.push('"');
        self.text.push_str(begins);
        for _ in 0..self.random.below(6) {
            let piece = if self.random.chance(30) { self.random.one(&ESCAPES) } else { self.random.one(&PLAIN) };
            self.text.push_str(piece);
        }
        self.text.push('"');
    }
}

/// If the output consists only of the document, the library derives the document from the output.
#[test]
fn a_document_is_written_as_the_core_writes_it() {
    let core = Contract::compile(CONTRACT).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let mut gate = Gate::new().expect("a gate");
    gate.register(CONTRACT).expect("a contract");
    let mut gate = gate.instance();
    for seed in 0..DOCUMENTS {
        let Writer { text, .. } = Writer::document(Random(seed));
        let request = seamgate_core::Request { output: &text, ..Default::default() };
        let expected = seamgate_core::validate(&core, &request).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        assert!(expected.output.is_some(), "it is not valid: {text}");
        let report = gate.validate(&Request::new("a", &text)).expect("a verdict").report;
        assert_eq!(report.to_json(), expected.to_json(), "{text}");
    }
}
