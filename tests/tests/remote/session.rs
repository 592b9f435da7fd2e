//! Versions with sessions: 2025-03-26 to 2025-11-25.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    client::Client,
    server::{Reply, Request, Server},
};

/// Answers the first messages of a session, and all other messages that expect no result. Returns whether it answered.
pub(crate) fn opens(request: &Request, reply: &mut Reply) -> bool {
    let message = request.json();
    match (request.method.as_str(), message["method"].as_str()) {
        ("POST", Some("initialize")) => {
            let result = json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "protocolVersion": "2025-06-18", "capabilities": {} } });
            reply.send(200, &[("Content-Type", "application/json"), ("Mcp-Session-Id", "s-1")], &result.to_string());
        }
        // A client first checks whether the server supports requests without sessions.
        ("POST", Some("server/discover")) => reply.send(400, &[], "no session"),
        ("POST", method) if method.is_none() || message["id"].is_null() => reply.send(202, &[], ""),
        ("GET", _) => reply.send(405, &[], ""),
        ("DELETE", _) => reply.send(200, &[], ""),
        _ => return false,
    }
    true
}

pub(crate) fn result(id: &Value, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

#[test]
fn messages_of_a_session_have_its_headers_and_its_end_is_reported() {
    let server = Server::start(|request, reply| {
        let message = request.json();
        match message["method"].as_str() {
            Some("tools/list") => {
                // Programs disagree about line ends, so a message must become a single line.
                let pretty = serde_json::to_string_pretty(
                    &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": [] } }),
                );
                let headers = [("Content-Type", "application/json; charset=utf-8")];
                reply.send(200, &headers, &pretty.expect("JSON").replace('\n', "\r\n"));
            }
            Some("tools/call") => {
                reply.stream(&[]);
                reply.event(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} }));
                reply.event(&json!({ "jsonrpc": "2.0", "id": "ask", "method": "elicitation/create", "params": {} }));
                reply.event(&result(&message["id"], "done"));
                reply.end();
            }
            _ => assert!(opens(request, reply), "{request:?}"),
        }
    });
    let client = Client::with_session(json!({ "url": server.url(), "headers": { "X-Plain": "a b" } }));
    client.ask(1, "tools/list", json!({}));
    assert_eq!(
        client.next().split_ascii_whitespace().collect::<String>(),
        r#"{"id":1,"jsonrpc":"2.0","result":{"tools":[]}}"#
    );
    client.ask(2, "tools/call", json!({ "name": "é" }));
    assert_eq!(client.line()["method"], "notifications/progress");
    assert_eq!(client.line()["method"], "elicitation/create");
    assert_eq!(client.line()["result"]["content"][0]["text"], "done");
    client.say(json!({ "jsonrpc": "2.0", "id": "ask", "result": {} }));
    client.connection.close();
    assert_eq!(client.next(), "end");
    assert!(client.connection.push("{}".to_owned()).is_err());

    let what = server.what();
    assert_eq!(what.first().map(String::as_str), Some("POST initialize"));
    assert_eq!(what.last().map(String::as_str), Some("DELETE"));
    assert!(what.contains(&"GET".to_owned()) && what.contains(&"POST".to_owned()), "{what:?}");
    for (place, request) in server.seen().iter().enumerate() {
        let version = if place == 0 { "" } else { "2025-06-18" };
        let session = if place == 0 { "" } else { "s-1" };
        assert_eq!((request.header("mcp-protocol-version"), request.header("mcp-session-id")), (version, session));
        assert_eq!((request.header("x-plain"), request.header("mcp-method")), ("a b", ""));
        assert_eq!(request.header("authorization"), "");
        if request.method == "POST" {
            let types = ("application/json, text/event-stream", "application/json");
            assert_eq!((request.header("accept"), request.header("content-type")), types);
        }
    }
}

#[test]
fn messages_keep_their_order() {
    let server = Server::start(|request, reply| {
        match request.json()["method"].as_str() {
            Some("notifications/slow") => thread::sleep(Duration::from_millis(300)),
            Some("tools/call") => return reply.json(200, &result(&request.json()["id"], "done")),
            _ => {}
        }
        assert!(opens(request, reply), "{request:?}");
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    client.say(json!({ "jsonrpc": "2.0", "method": "notifications/slow" }));
    client.ask(1, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.line()["id"], 1);
    let what = server.what();
    let place = |what_of: &str| what.iter().position(|own| own == what_of);
    assert!(place("POST notifications/slow") < place("POST tools/call"), "{what:?}");
}

#[test]
fn own_messages_of_the_server_come_by_a_stream_that_is_opened_again() {
    let opened = AtomicUsize::new(0);
    let server = Server::start(move |request, reply| {
        if request.method != "GET" {
            assert!(opens(request, reply), "{request:?}");
            return;
        }
        reply.stream(&[]);
        let number = opened.fetch_add(1, Ordering::SeqCst);
        reply.chunk(&format!(
            "retry: 10\nid: e{number}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/n{number}\"}}\n\n"
        ));
        if number > 0 {
            reply.is_closed(Duration::from_secs(30));
        }
        reply.hang_up();
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    assert_eq!(client.line()["method"], "notifications/n0");
    assert_eq!(client.line()["method"], "notifications/n1");
    let events: Vec<String> = server
        .seen()
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| request.header("last-event-id").to_owned())
        .collect();
    assert_eq!(events, ["", "e0"]);
    // The open stream does not prevent the end of the session.
    client.connection.close();
    assert_eq!(client.next(), "end");
}

#[test]
fn answer_that_breaks_off_is_resumed_after_its_last_event() {
    let server = Server::start(|request, reply| {
        let message = request.json();
        match (request.method.as_str(), message["method"].as_str()) {
            ("POST", Some("tools/call")) => {
                reply.stream(&[]);
                reply.chunk("id: first\nretry: 20\ndata:\n\n");
                reply.chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/pro");
                reply.hang_up();
            }
            ("GET", _) if request.header("last-event-id") == "first" => {
                reply.stream(&[]);
                reply.chunk("id: second\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n");
                reply.end();
            }
            ("GET", _) if request.header("last-event-id") == "second" => {
                reply.stream(&[]);
                reply.event(&result(&json!(7), "resumed"));
                reply.end();
            }
            _ => assert!(opens(request, reply), "{request:?}"),
        }
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    client.ask(7, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.line()["method"], "notifications/progress");
    assert_eq!(client.line()["result"]["content"][0]["text"], "resumed");
    assert!(client.is_quiet());
}

#[test]
fn session_that_the_server_forgot_is_the_end_of_the_server() {
    let server = Server::start(|request, reply| match request.json()["method"].as_str() {
        Some("tools/call") => reply.send(404, &[], "no such session"),
        _ => assert!(opens(request, reply), "{request:?}"),
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    client.ask(1, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.next(), "end");
    assert!(client.connection.push("{}".to_owned()).is_err());
    drop(client);
    assert!(!server.what().contains(&"DELETE".to_owned()), "there is nothing left to end");
}

#[test]
fn cancelling_tells_the_server_and_closes_the_stream() {
    let server = Server::start(|request, reply| match request.json()["method"].as_str() {
        Some("tools/call") => {
            reply.stream(&[]);
            assert!(reply.is_closed(Duration::from_secs(20)));
        }
        _ => assert!(opens(request, reply), "{request:?}"),
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    client.ask(1, "tools/call", json!({ "name": "a" }));
    assert!(server.wait_for("POST tools/call"));
    client.say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    assert!(server.wait_for("POST notifications/cancelled"));
    assert!(client.is_quiet());
    client.connection.close();
    assert_eq!(client.next(), "end");
}
