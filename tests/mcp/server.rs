//! A server whose behaviour the calls control. Its tools are those of the lock file.

use std::{
    collections::BTreeMap,
    io::{BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

const LOCK: &str = include_str!("load.lock.json");

/// The number of times that a slow call reports its progress.
const STEPS: u64 = 4;

/// The number of times that the call of each number ran.
type Ran = Arc<Mutex<BTreeMap<i64, u64>>>;

/// Answers until the client disconnects.
pub(crate) fn serve() -> Result<()> {
    let lock: Value = serde_json::from_str(LOCK)?;
    let tools = lock.pointer("/servers//tools").context("the lock file has tools")?;
    let ran = Ran::default();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id").cloned() else { continue };
        let params = message.get("params").cloned().unwrap_or_default();
        match message.get("method").and_then(Value::as_str) {
            Some("initialize") => {
                let info = json!({ "name": "load", "version": "1.0.0" });
                let hello =
                    json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": info });
                say(&json!({ "jsonrpc": "2.0", "id": id, "result": hello }))?;
            }
            Some("tools/list") => say(&json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } }))?,
            Some("tools/call") => call(id, params, &ran)?,
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
            }
        }
    }
    Ok(())
}

fn call(id: Value, params: Value, ran: &Ran) -> Result<()> {
    let number = integer(&params, "/arguments/number");
    let lock = || ran.lock().unwrap_or_else(PoisonError::into_inner);
    match params.get("name").and_then(Value::as_str) {
        Some("ran") => return answer(&id, &serde_json::to_string(&*lock())?),
        Some("echo") => {
            *lock().entry(number).or_default() += 1;
            let bytes = usize::try_from(integer(&params, "/arguments/bytes"))?;
            return answer(&id, &text(number, bytes));
        }
        _ => *lock().entry(number).or_default() += 1,
    }
    thread::spawn(move || slow(&id, &params, number));
    Ok(())
}

fn slow(id: &Value, params: &Value, number: i64) -> Result<()> {
    let ms = integer(params, "/arguments/ms").unsigned_abs();
    for step in 1..=STEPS {
        thread::sleep(Duration::from_millis(ms) / STEPS as u32);
        if let Some(token) = params.pointer("/_meta/progressToken") {
            let params = json!({ "progressToken": token, "progress": step, "total": STEPS });
            say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))?;
        }
    }
    answer(id, &text(number, 0))
}

fn integer(params: &Value, pointer: &str) -> i64 {
    params.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

/// Returns a text of this many bytes in lines, or a little more. It begins with its number.
pub(crate) fn text(number: i64, bytes: usize) -> String {
    let mut text = format!("number {number}\n");
    while text.len() < bytes {
        text.push_str("a line of a log, as long as lines of logs are, and no longer than that: ok\n");
    }
    text
}

fn answer(id: &Value, text: &str) -> Result<()> {
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn say(message: &Value) -> Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line)?;
    Ok(stdout.flush()?)
}
