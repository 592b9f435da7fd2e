//! Servers that disconnect, are slow, or send invalid answers.

use std::{
    thread,
    time::{Duration, Instant},
};

use seamgate_runner::mcp::{Connection, Target};
use serde_json::json;

use crate::{
    client::{Client, endpoint},
    server::{Reply, Server},
    session::{opens, result},
};

type Answer = fn(&mut Reply);

/// Sends one request to a server without sessions, and returns the outcome.
fn outcome(answer: impl Fn(&mut Reply) + Send + Sync + 'static) -> String {
    let server = Server::start(move |_, reply| answer(reply));
    let client = Client::start(json!({ "url": server.url(), "timeout_s": 1 }));
    client.ask_stateless(1, "tools/call", json!({ "name": "a" }));
    loop {
        let came = client.next();
        // Answers to other requests are also forwarded.
        if !came.starts_with('{') {
            return came;
        }
    }
}

#[test]
fn invalid_answers_leave_the_effect_unknown() {
    let cases: [(&str, Answer); 9] = [
        ("the connection closes", |reply| reply.hang_up()),
        ("a stream without the answer", |reply| {
            reply.stream(&[]);
            reply.event(&json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
            reply.end();
        }),
        ("a stream that breaks off", |reply| {
            reply.stream(&[]);
            reply.chunk("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
            reply.hang_up();
        }),
        ("text", |reply| reply.send(200, &[("Content-Type", "text/html")], "<h1>hello</h1>")),
        ("nothing", |reply| reply.send(202, &[], "")),
        ("not JSON", |reply| reply.send(200, &[("Content-Type", "application/json")], "{")),
        ("a batch", |reply| reply.json(200, &json!([result(&json!(1), "a")]))),
        ("silence", |reply| {
            reply.is_closed(Duration::from_secs(20));
        }),
        ("a failure", |reply| reply.send(502, &[], "bad gateway")),
    ];
    for (name, answer) in cases {
        let came = outcome(answer);
        assert!(came.starts_with("1 unknown: "), "{name}: {came}");
    }
}

#[test]
fn nothing_is_sent_to_an_address_that_cannot_be_reached() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let client = Client::start(json!({ "url": format!("http://127.0.0.1:{port}/mcp") }));
    client.ask_stateless(1, "tools/call", json!({ "name": "a" }));
    let came = client.next();
    assert!(came.starts_with("1 refused: cannot reach http://127.0.0.1:"), "{came}");
}

#[test]
fn addresses_that_may_not_be_asked_are_refused_at_the_start() {
    for (url, why) in [
        ("https://169.254.169.254/mcp", "link-local"),
        ("https://[fe80::1]/mcp", "link-local"),
        ("http://192.0.2.1/mcp", "use https"),
    ] {
        let endpoint = endpoint(json!({ "url": url }));
        let error = Connection::start(Target::Address(&endpoint), |_| true).err().unwrap_or_default();
        assert!(error.contains(why), "{url}: {error}");
    }
}

#[test]
fn redirects_stay_at_the_same_origin() {
    let other = Server::start(|_, reply| reply.send(200, &[], ""));
    let away = other.url();
    let server = Server::start(move |request, reply| match (request.path.as_str(), request.json()["id"].as_u64()) {
        ("/mcp", Some(1)) => reply.send(307, &[("Location", "/mcp/")], ""),
        ("/mcp/", Some(1)) => reply.json(200, &result(&json!(1), "here")),
        (_, Some(2)) => reply.send(308, &[("Location", &away)], ""),
        _ => reply.send(302, &[("Location", "/mcp/")], ""),
    });
    let client = Client::start(json!({ "url": server.url(), "headers": { "X-Api-Key": "secret" } }));
    client.ask_stateless(1, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.line()["result"]["content"][0]["text"], "here");
    client.ask_stateless(2, "tools/call", json!({ "name": "a" }));
    let came = client.next();
    assert!(came.starts_with("2 refused: ") && came.contains("another origin"), "{came}");
    client.ask_stateless(3, "tools/call", json!({ "name": "a" }));
    assert!(client.next().starts_with("3 refused: "));
    assert!(other.what().is_empty(), "the key went to another origin");
}

#[test]
fn message_that_is_too_long_is_not_kept() {
    let came = outcome(|reply| {
        reply.stream(&[]);
        reply.chunk("data: ");
        let piece = "x".repeat(1024 * 1024);
        for _ in 0..66 {
            reply.chunk(&piece);
        }
        reply.end();
    });
    assert!(came.starts_with("1 unknown: ") && came.contains("more than 64 MiB"), "{came}");
    let came = outcome(|reply| {
        reply.raw("HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n");
        reply.raw(&"x".repeat(66 * 1024 * 1024));
        reply.is_closed(Duration::from_secs(20));
    });
    assert!(came.starts_with("1 unknown: ") && came.contains("more than 64 MiB"), "{came}");
}

#[test]
fn person_who_takes_time_to_answer_is_not_the_servers_silence() {
    let server = Server::start(|request, reply| match request.json()["method"].as_str() {
        Some("tools/call") => {
            reply.stream(&[]);
            reply.event(&json!({ "jsonrpc": "2.0", "id": 5, "method": "elicitation/create" }));
            thread::sleep(Duration::from_millis(2500));
            reply.event(&result(&json!(1), "done"));
            reply.end();
        }
        _ => assert!(opens(request, reply), "{request:?}"),
    });
    let client = Client::with_session(json!({ "url": server.url(), "timeout_s": 1 }));
    client.ask(1, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.line()["method"], "elicitation/create");
    thread::sleep(Duration::from_millis(2000));
    client.say(json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    assert_eq!(client.line()["result"]["content"][0]["text"], "done");
}

#[test]
fn stream_that_goes_on_after_its_answer_is_closed() {
    let server = Server::start(|request, reply| {
        reply.stream(&[]);
        reply.event(&result(&request.json()["id"], "done"));
        assert!(reply.is_closed(Duration::from_secs(20)));
    });
    let client = Client::start(json!({ "url": server.url() }));
    client.ask_stateless(1, "tools/call", json!({ "name": "a" }));
    assert_eq!(client.line()["id"], 1);
    let start = Instant::now();
    client.connection.close();
    assert_eq!(client.next(), "end");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn more_requests_than_connections_are_all_answered() {
    let server = Server::start(|request, reply| {
        thread::sleep(Duration::from_millis(5));
        reply.json(200, &result(&request.json()["id"], "done"));
    });
    let client = Client::start(json!({ "url": server.url() }));
    for id in 0..300 {
        client.ask_stateless(id, "tools/call", json!({ "name": "a" }));
    }
    let mut ids: Vec<u64> = (0..300).filter_map(|_| client.line()["id"].as_u64()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..300));
}

#[test]
fn ending_does_not_wait_for_a_server_that_hangs() {
    let server = Server::start(|request, reply| {
        if request.json()["method"] == "initialize" {
            opens(request, reply);
            return;
        }
        reply.is_closed(Duration::from_secs(60));
    });
    let client = Client::with_session(json!({ "url": server.url() }));
    client.ask(1, "tools/call", json!({ "name": "a" }));
    let start = Instant::now();
    client.connection.end_after(Duration::from_millis(200));
    drop(client);
    assert!(start.elapsed() < Duration::from_secs(5));
}
