//! A client of one server, straight or through the gate.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// The command line that was built beside this program.
const SEAMGATE: &str = "target/release/seamgate";

/// The profile of the gate.
const PROFILE: &str = "tests/mcp/load.profile.json";

/// A server, or the gate in front of it, and the pipes to it.
pub(crate) struct Session {
    process: Process,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

/// A process that ends with what started it.
pub(crate) struct Process(Child);

impl Session {
    /// Starts the server, behind the gate if there is a folder for its journal, and agrees on the protocol.
    pub(crate) fn start(journal: Option<&Path>) -> Result<Self> {
        let server = std::env::current_exe()?;
        let mut command = match journal {
            Some(journal) => {
                let mut gate = Command::new(SEAMGATE);
                gate.args(["mcp", "-p", PROFILE, "--journal"]).arg(journal).arg("--").arg(server);
                gate
            }
            None => Command::new(server),
        };
        command.arg("server").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let stdin = process.stdin.take().context("its input is piped")?;
        let stdout = BufReader::new(process.stdout.take().context("its output is piped")?);
        let mut session = Session { process: Process(process), stdin, stdout };
        let client = json!({ "name": "load", "version": "1.0.0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        session.ask(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello }))?;
        say(&mut session.stdin, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        session.ask(&json!({ "jsonrpc": "2.0", "id": "tools", "method": "tools/list" }))?;
        Ok(session)
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value> {
        say(&mut self.stdin, request)?;
        loop {
            let mut line = String::new();
            ensure!(self.stdout.read_line(&mut line)? > 0, "the server ended before it answered {request}");
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id") == request.get("id") {
                ensure!(message.get("result").is_some(), "{request} was answered with {message}");
                return Ok(message);
            }
        }
    }

    /// Returns the processor time that the process which we started has taken, in seconds: the gate's, where there is
    /// one.
    pub(crate) fn processor(&self) -> Result<f64> {
        self.process.processor()
    }

    /// Its parts, for who reads and writes at the same time.
    pub(crate) fn split(self) -> (Process, ChildStdin, BufReader<ChildStdout>) {
        (self.process, self.stdin, self.stdout)
    }
}

impl Process {
    /// Returns the processor time that it has taken, in seconds. Linux counts in hundredths.
    pub(crate) fn processor(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        // The name of the program stands in parentheses, and may have any character.
        let (_, rest) = stat.rsplit_once(") ").context("no name")?;
        let ticks: Vec<u64> = rest.split(' ').skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
        Ok(ticks.iter().sum::<u64>() as f64 / 100.0)
    }

    /// Ends the process.
    pub(crate) fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Returns the memory that it occupies, in KiB.
    pub(crate) fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Sends a message.
pub(crate) fn say(stdin: &mut ChildStdin, message: &Value) -> Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stdin.write_all(&line)?;
    Ok(stdin.flush()?)
}

/// Returns a call of a tool.
pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Returns the text of an answer.
pub(crate) fn text(answer: &Value) -> &str {
    answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default()
}
