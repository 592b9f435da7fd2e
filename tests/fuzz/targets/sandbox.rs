//! The whole pipeline, natively and in its sandbox, which is a separate process: both give the same bytes.
//!
//! `SEAMGATE` names the command line, which bakes the contracts first.
#![no_main]

use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::LazyLock,
};

use libfuzzer_sys::fuzz_target;
use seamgate_core::Contract;
use seamgate_fuzz::{contracts, judge, split};
use serde_json::{Value, json};

/// The contracts, each with a separate agent.
static CONTRACTS: LazyLock<Vec<(String, Contract)>> = LazyLock::new(|| {
    let renamed = |(number, pair): (usize, &contracts::Pair)| {
        let text = pair.text.replacen(r#""agent":"a""#, &format!(r#""agent":"a{number}""#), 1);
        let contract = Contract::compile(&text).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
        (text, contract)
    };
    contracts::all().into_iter().enumerate().map(renamed).collect()
});

struct Sandbox {
    _process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Sandbox {
    fn start() -> Self {
        let seamgate = std::env::var_os("SEAMGATE").expect("SEAMGATE names the command line");
        let folder = std::env::temp_dir().join(format!("seamgate-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for (text, contract) in CONTRACTS.iter() {
            fs::write(folder.join(format!("{}.contract.json", contract.agent())), text).expect("a contract");
        }
        let baked = folder.join("baked.wasm");
        let bake = Command::new(&seamgate).arg("bake").arg(&folder).arg("-o").arg(&baked).status();
        assert!(bake.is_ok_and(|status| status.success()), "the contracts cannot be baked");
        let mut process = Command::new(&seamgate)
            .args(["check", "--ndjson", "-c"])
            .arg(&baked)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command line");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut sandbox = Sandbox { _process: process, requests, answers };
        // It has read the component when it answers.
        sandbox.ask(&json!({ "agent": "a0", "output": "" }));
        fs::remove_dir_all(&folder).expect("the folder");
        sandbox
    }

    fn ask(&mut self, request: &Value) -> String {
        writeln!(self.requests, "{request}").and_then(|()| self.requests.flush()).expect("the sandbox takes it");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the sandbox answers");
        answer
    }
}

thread_local! {
    static SANDBOX: RefCell<Option<Sandbox>> = const { RefCell::new(None) };
}

// Bakes before the first input, because baking takes longer than an input may take.
fuzz_target!(init: SANDBOX.set(Some(Sandbox::start())), |input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let contract = &CONTRACTS[choice % CONTRACTS.len()].1;
    let request = json!({ "id": 0, "agent": contract.agent(), "output": text });
    let answer = SANDBOX.with_borrow_mut(|sandbox| sandbox.as_mut().expect("it was started").ask(&request));
    let native = format!(r#"{{"id":0,"report":{},"#, judge(contract, &text).to_json());
    assert!(answer.starts_with(&native), "natively {native}, in the sandbox {answer}");
});
