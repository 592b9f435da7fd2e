//! Messages of both eras of the protocol: with sessions, and of 2026-07-28 without.

use seamgate::Party;
use seamgate_tests::Random;
use serde_json::{Map, Value, json};

use crate::{
    mutate::{self, bytes, odd},
    node::{Node, plain},
};

/// Makes a message from a side. Most have mutations.
pub(crate) fn message(random: &mut Random, from: Party, number: usize) -> Vec<u8> {
    let message = match (from, random.below(10)) {
        (Party::Client, 0..6) => call_of(random, number),
        (Party::Client, 6..8) => client_request(random, number),
        (Party::Client, 8) => client_notification(random),
        (Party::Client, _) => client_answer(random, number),
        (Party::Server, 0..2) => server_request(random, number),
        (Party::Server, 2..5) => server_notification(random),
        (Party::Server, _) => server_answer(random, number),
    };
    mutated(random, message, 4)
}

/// Makes a line for a server behind the gate: most of them call its tool.
pub(crate) fn call(random: &mut Random, number: usize) -> Vec<u8> {
    let message = match random.below(20) {
        0 => json!({ "jsonrpc": "2.0", "id": number, "method": "ping" }),
        1 => json!({ "jsonrpc": "2.0", "id": number, "method": "tools/list" }),
        _ => {
            let mut call = call_of(random, number);
            // Calls differ, so that each runs by itself.
            if let Some(arguments) = call["params"]["arguments"].as_object_mut() {
                arguments.insert("number".to_owned(), json!(number));
            }
            call
        }
    };
    mutated(random, message, 3)
}

fn mutated(random: &mut Random, message: Value, most: usize) -> Vec<u8> {
    let mut node = Node::read(&message);
    spell(random, &mut node);
    for _ in 0..random.below(most) {
        mutate::once(random, &mut node);
    }
    let text = node.write(random);
    // A line of its own for each message: a real line end inside would make two.
    let text = text.replace('\n', "\r");
    if random.chance(8) { bytes(random, text) } else { text.into_bytes() }
}

/// Escapes characters of some strings.
fn spell(random: &mut Random, node: &mut Node) {
    match node {
        Node::Raw(text) if text.starts_with('"') && random.chance(20) => {
            if let Ok(text) = serde_json::from_str::<String>(text) {
                *node = Node::text(random, &text);
            }
        }
        Node::Raw(_) => {}
        Node::List(items) => items.iter_mut().for_each(|item| spell(random, item)),
        Node::Object(members) => {
            for (name, value) in members {
                if random.chance(5)
                    && let Ok(text) = serde_json::from_str::<String>(name)
                {
                    *name = crate::node::escaped(random, &text, 30);
                }
                spell(random, value);
            }
        }
    }
}

/// Makes an id. Most are small numbers, as clients count.
fn id(random: &mut Random, number: usize) -> Value {
    match random.below(12) {
        0 => json!(format!("request-{number}")),
        1 => json!(format!("{number}")),
        2 => json!(number as i64 - 1_000_000),
        3 => json!(9_007_199_254_740_991_u64 - number as u64),
        4 => odd(random, "id"),
        _ => json!(number),
    }
}

/// Makes `_meta`, as each request of 2026-07-28 has it.
fn meta(random: &mut Random, number: usize) -> Value {
    let mut meta = Map::new();
    if random.chance(50) {
        meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2026-07-28"));
        meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), json!({ "name": "decoders", "version": "1" }));
        meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), json!({ "elicitation": { "form": {} } }));
    }
    if random.chance(50) {
        let token = random.one(&[json!(number), json!(format!("token {number}")), json!(1.5)]);
        meta.insert("progressToken".to_owned(), token);
    }
    Value::Object(meta)
}

fn request(random: &mut Random, number: usize, method: &str, params: Value) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id(random, number), "method": method });
    let mut params = params;
    if let Some(members) = params.as_object_mut()
        && random.chance(30)
    {
        members.insert("_meta".to_owned(), meta(random, number));
    }
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

fn call_of(random: &mut Random, number: usize) -> Value {
    let name = match random.below(20) {
        0 => odd(random, "name"),
        _ => json!("note"),
    };
    let mut params = json!({ "name": name });
    if random.chance(95) {
        params["arguments"] = arguments(random);
    }
    if random.chance(3) {
        params["task"] = json!({ "ttl": 60000 });
    }
    if random.chance(3) {
        params["requestState"] = json!("state");
        params["inputResponses"] = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    }
    request(random, number, "tools/call", params)
}

/// Makes the arguments of a call.
fn arguments(random: &mut Random) -> Value {
    let mut members = Map::new();
    for _ in 0..random.below(5) {
        members.insert(name(random), value(random, 3));
    }
    Value::Object(members)
}

/// Makes a value of any kind, with this many levels below it.
fn value(random: &mut Random, levels: usize) -> Value {
    match random.below(if levels == 0 { 8 } else { 11 }) {
        0 => json!(null),
        1 => json!(random.chance(50)),
        2 => json!(random.below(1000)),
        3 => json!(random.below(1 << 40) as f64 / 1024.0 - 1e8),
        4 => json!("a text"),
        5 => json!("naïve \u{2028}text\u{85} 𝒳 \u{0} \u{7f} \u{feff}"),
        6 => json!(random.one(&["\t\"\\/\u{8}\u{c}", "<script>&", "é", "e\u{301}", "ſK", "\u{fffd}", ""])),
        7 => odd(random, "value"),
        8 => (0..random.below(4)).map(|_| value(random, levels - 1)).collect(),
        _ => {
            let members = (0..random.below(4)).map(|_| (name(random), value(random, levels - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Makes the name of a member.
fn name(random: &mut Random) -> String {
    random.one(&NAMES).to_owned()
}

/// Names that somebody could treat in a way of their own.
const NAMES: [&str; 24] = [
    "path",
    "Path",
    "PATH",
    "a",
    "A",
    "number",
    "text",
    "data",
    "name",
    "arguments",
    "method",
    "id",
    "jsonrpc",
    "",
    "__proto__",
    "constructor",
    "toString",
    "$ref",
    "$serde_json::private::Number",
    "é",
    "\u{17f}ize",
    "\u{212a}ey",
    "a.b",
    "\u{0}",
];

fn client_request(random: &mut Random, number: usize) -> Value {
    let client = json!({ "name": "decoders", "version": "1.0.0" });
    let (method, params) = random.one(&[
        (
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": {} }, "clientInfo": client }),
        ),
        ("server/discover", json!({})),
        ("ping", Value::Null),
        ("tools/list", json!({})),
        ("tools/list", json!({ "cursor": "2" })),
        ("resources/list", Value::Null),
        ("resources/templates/list", Value::Null),
        ("resources/read", json!({ "uri": "file:///a b" })),
        ("resources/subscribe", json!({ "uri": "file:///a" })),
        ("prompts/get", json!({ "name": "plan", "arguments": { "place": "Oslo" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "plan" }, "argument": { "name": "place", "value": "O" } }),
        ),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })),
        ("tasks/get", json!({ "taskId": "task-1" })),
        ("tasks/cancel", json!({ "taskId": "task-1" })),
        ("vendor/method", json!({ "any": [1, 2.5, "x"] })),
    ]);
    request(random, number, method, params)
}

fn notification(method: &str, params: Value) -> Value {
    match params.is_null() {
        true => json!({ "jsonrpc": "2.0", "method": method }),
        false => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
    }
}

fn client_notification(random: &mut Random) -> Value {
    let (method, params) = random.one(&[
        ("notifications/initialized", Value::Null),
        ("notifications/cancelled", json!({ "requestId": 7, "reason": "too slow" })),
        ("notifications/progress", json!({ "progressToken": "token", "progress": 0.5, "total": 1 })),
        ("notifications/roots/list_changed", json!({ "_meta": {} })),
        ("notifications/vendor", json!({ "any": null })),
    ]);
    notification(method, params)
}

fn client_answer(random: &mut Random, number: usize) -> Value {
    let text = json!({ "type": "text", "text": "a text" });
    let result = random.one(&[
        json!({}),
        json!({ "roots": [{ "uri": "file:///data", "name": "data" }] }),
        json!({ "role": "assistant", "content": text, "model": "m", "stopReason": "endTurn" }),
        json!({ "action": "accept", "content": { "name": "Ada", "age": 36 } }),
    ]);
    answer(random, number, result)
}

fn answer(random: &mut Random, number: usize, result: Value) -> Value {
    let id = id(random, number);
    match random.below(6) {
        0 => {
            let code = random.one(&[json!(-32601), json!(-32602), json!(-32042)]);
            let data = value(random, 2);
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no", "data": data } })
        }
        1 => {
            let result = odd(random, "result");
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        }
        _ => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
    }
}

fn server_request(random: &mut Random, number: usize) -> Value {
    let text = json!({ "type": "text", "text": "Which?" });
    let message = json!({ "role": "user", "content": text });
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let (method, params) = random.one(&[
        ("ping", Value::Null),
        ("roots/list", Value::Null),
        ("sampling/createMessage", json!({ "messages": [message], "maxTokens": 100, "temperature": 0.25 })),
        ("elicitation/create", json!({ "message": "Who?", "requestedSchema": schema })),
    ]);
    request(random, number, method, params)
}

fn server_notification(random: &mut Random) -> Value {
    let data = value(random, 2);
    let (method, params) = random.one(&[
        ("notifications/message", json!({ "level": "info", "logger": "l", "data": data })),
        ("notifications/progress", json!({ "progressToken": 3, "progress": 1e2, "total": 200, "message": "half" })),
        ("notifications/tools/list_changed", Value::Null),
        ("notifications/resources/updated", json!({ "uri": "file:///a" })),
        ("notifications/cancelled", json!({ "requestId": "request-1" })),
    ]);
    notification(method, params)
}

fn server_answer(random: &mut Random, number: usize) -> Value {
    let content = json!([{ "type": "text", "text": "a text\u{2028}" }]);
    let structured = value(random, 2);
    let info = json!({ "name": "server", "version": "1" });
    let tool = json!({ "name": "note", "inputSchema": { "type": "object", "properties": { "a": {}, "A": {} } } });
    let asks = json!({ "who": { "method": "elicitation/create", "params": { "message": "Who?" } } });
    let result = random.one(&[
        json!({ "content": content, "structuredContent": structured, "isError": false }),
        json!({ "resultType": "complete", "content": content }),
        json!({ "resultType": "input_required", "inputRequests": asks, "requestState": "s" }),
        json!({ "resultType": "task", "task": { "taskId": "t", "status": "working" } }),
        json!({ "tools": [tool], "nextCursor": "2" }),
        json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": info }),
        json!({ "contents": [{ "uri": "file:///a", "blob": "AAEC" }] }),
    ]);
    answer(random, number, result)
}

/// Returns the name of a member as JSON.
pub(crate) fn any_name(random: &mut Random) -> String {
    plain(random.one(&NAMES))
}
