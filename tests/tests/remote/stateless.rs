//! The version without sessions: 2026-07-28.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use seamgate_runner::mcp;
use serde_json::{Value, json};

use crate::{
    client::{Client, endpoint},
    server::Server,
    session::result,
};

/// Returns the requests that a server received, each with the version in its header.
fn seen(server: &Server) -> Vec<String> {
    let seen = server.seen();
    let posts = seen.iter().filter(|request| request.method == "POST");
    posts.map(|request| format!("{} {}", request.what(), request.header("mcp-protocol-version"))).collect()
}

fn tools(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [{ "name": "peek", "inputSchema": { "type": "object" } }] } })
}

#[test]
fn server_without_sessions_is_asked_in_its_version_only() {
    let is_first = AtomicBool::new(true);
    let server = Server::start(move |request, reply| {
        let message = request.json();
        let discovered = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": { "listChanged": true } } } });
        let unsupported = json!({ "jsonrpc": "2.0", "id": message["id"],
            "error": { "code": -32022, "message": "Unsupported", "data": { "supported": ["2026-07-28"], "requested": "" } } });
        match message["method"].as_str() {
            // Some servers reject the first request, although they list its version as supported.
            _ if is_first.swap(false, Ordering::SeqCst) => reply.json(400, &unsupported),
            Some("server/discover") => reply.json(200, &discovered),
            Some("tools/list") => reply.json(200, &tools(&message["id"])),
            Some("subscriptions/listen") => {
                reply.stream(&[]);
                reply.event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                reply.is_closed(Duration::from_secs(20));
            }
            _ => reply.send(500, &[], ""),
        }
    });
    let client = mcp::Client::connect(&endpoint(json!({ "url": server.url() }))).expect("a client");
    assert!(server.wait_for("POST subscriptions/listen"));
    assert!((0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        client.generation() > 0
    }));
    assert_eq!(client.tools().expect("tools").len(), 1);
    let methods = ["server/discover", "server/discover", "subscriptions/listen", "tools/list"];
    assert_eq!(seen(&server), methods.map(|method| format!("POST {method} 2026-07-28")));
}

#[test]
fn server_with_sessions_may_answer_anything_to_a_method_that_it_does_not_know() {
    for status in [200, 400, 404, 405, 500] {
        let server = Server::start(move |request, reply| {
            let message = request.json();
            match message["method"].as_str() {
                Some("server/discover") if status == 200 => {
                    reply.json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }));
                }
                Some("server/discover") => reply.send(status, &[("Content-Type", "text/html")], "<p>what?"),
                Some("tools/list") => reply.json(200, &tools(&message["id"])),
                _ => assert!(crate::session::opens(request, reply), "{request:?}"),
            }
        });
        let client = mcp::Client::connect(&endpoint(json!({ "url": server.url() }))).expect("a client");
        assert_eq!(client.tools().expect("tools").len(), 1);
        let seen = seen(&server);
        assert_eq!(seen.last().map(String::as_str), Some("POST tools/list 2025-06-18"), "{status}: {seen:?}");
    }
}

#[test]
fn requests_repeat_in_headers_what_they_ask() {
    let server = Server::start(|request, reply| {
        let message = request.json();
        match message["method"].as_str() {
            Some("tools/list") => {
                let schema = |header: &str| json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": header } } });
                let tools = json!([
                    { "name": "sql", "inputSchema": schema("Region") },
                    { "name": "bad", "inputSchema": schema("not a token") },
                ]);
                reply.json(
                    200,
                    &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": tools, "ttlMs": 1 } }),
                );
            }
            _ => {
                reply.stream(&[]);
                reply.event(&result(&message["id"], "done"));
                reply.end();
            }
        }
    });
    let client = Client::start(json!({ "url": server.url() }));
    client.ask_stateless(1, "tools/list", json!({}));
    let listed = client.line();
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(1), "the invalid tool is left out");
    assert_eq!(listed["result"]["ttlMs"], 1);
    client.ask_stateless(2, "tools/call", json!({ "name": "sql", "arguments": { "region": "köln" } }));
    assert_eq!(client.line()["id"], 2);
    client.ask_stateless(3, "resources/read", json!({ "uri": "file:///a" }));
    assert_eq!(client.line()["id"], 3);
    client.connection.close();
    assert_eq!(client.next(), "end");

    let headers = |number: usize| {
        let request = server.seen()[number].clone();
        ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "mcp-session-id"]
            .map(|name| request.header(name).to_owned())
    };
    assert_eq!(headers(0), ["2026-07-28", "tools/list", "", "", ""]);
    assert_eq!(headers(1), ["2026-07-28", "tools/call", "sql", "=?base64?a8O2bG4=?=", ""]);
    assert_eq!(headers(2), ["2026-07-28", "resources/read", "file:///a", "", ""]);
    assert_eq!(server.what().len(), 3, "nothing else is sent, and there is no session to end");
}

#[test]
fn closing_the_stream_cancels() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&is_closed);
    let server = Server::start(move |_, reply| {
        // Some servers send the head of an answer only together with the result.
        noted.store(reply.is_closed(Duration::from_secs(20)), Ordering::SeqCst);
    });
    let client = Client::start(json!({ "url": server.url() }));
    client.ask_stateless(1, "tools/call", json!({ "name": "slow" }));
    assert!(server.wait_for("POST tools/call"));
    client.say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    assert!(client.is_quiet());
    assert!(is_closed.load(Ordering::SeqCst));
    assert_eq!(server.what(), ["POST tools/call"]);
}

#[test]
fn subscription_outlasts_the_time_that_others_have() {
    let server = Server::start(|_, reply| {
        reply.stream(&[]);
        reply.event(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged" }));
        std::thread::sleep(Duration::from_millis(1800));
        reply.event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        reply.is_closed(Duration::from_secs(20));
    });
    let client = Client::start(json!({ "url": server.url(), "timeout_s": 1 }));
    client.ask_stateless(1, "subscriptions/listen", json!({ "notifications": {} }));
    assert_eq!(client.line()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(client.line()["method"], "notifications/tools/list_changed");
    client.connection.close();
    assert_eq!(client.next(), "end");
}

#[test]
fn errors_with_a_status_are_answers() {
    let server = Server::start(|request, reply| match request.json()["id"].as_u64() {
        // An error about the headers has no id.
        Some(1) => reply.json(
            400,
            &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32020, "message": "Header mismatch" } }),
        ),
        Some(2) => reply.json(
            404,
            &json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32601, "message": "Method not found" } }),
        ),
        _ => reply.send(400, &[("Content-Type", "text/plain")], "what\u{1b}[2J?"),
    });
    let client = Client::start(json!({ "url": server.url() }));
    client.ask_stateless(1, "tools/list", json!({}));
    let error = client.line();
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(1), &json!(-32020)));
    client.ask_stateless(2, "tools/list", json!({}));
    assert_eq!(client.line()["error"]["code"], -32601);
    client.ask_stateless(3, "tools/list", json!({}));
    let refused = client.next();
    assert!(refused.starts_with("3 refused: ") && refused.contains("status 400: what"), "{refused}");
    assert!(!refused.contains('\u{1b}'));
}
