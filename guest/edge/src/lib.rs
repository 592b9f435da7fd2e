//! The gate over HTTP: a component that answers `wasi:http` requests with a validator's answer to the same text.
//! `README.md` lists the statuses, and says how to compose the component with a validator and serve it.
//!
//! The component keeps no state, and accesses only the request and the validator. The server limits the size and the
//! time of a request. This component only limits the size of the body that it reads.
#![allow(missing_docs, reason = "the export is documented by wasi:http")]

use std::io::Write as _;

use seamgate_edge_status::{self as status, Status};
use wasip2::{
    exports::http::incoming_handler::Guest,
    http::types::{Fields, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam},
    io::streams::StreamError,
};

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wit_bindgen::generate!({
        path: "../../wit",
        inline: "
            package seamgate:edge;

            world edge {
                import seamgate:validator/wire@0.1.0;
            }
        ",
        generate_all,
    });
}

use bindings::seamgate::validator::wire;

/// The maximum size of a body, in bytes. Equals the maximum size of a request in the host's library.
const MAX_BODY: u64 = 8 * 1024 * 1024;

/// The number of bytes of a body that are requested at a time.
const PIECE: u64 = 64 * 1024;

struct Edge;

wasip2::http::proxy::export!(Edge);

impl Guest for Edge {
    fn handle(request: IncomingRequest, response: ResponseOutparam) {
        let answer = answer(&request);
        respond(response, &answer);
    }
}

/// The response: one answer as `wire.call` returns it.
struct Answer {
    status: Status,
    json: String,
}

fn answer(request: &IncomingRequest) -> Answer {
    let path = request.path_with_query().unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    if path != "/" {
        return fault(Status::NotFound, "bad_request", "path: must be \"/\", which takes GET and POST", "");
    }
    // A server may reuse an instance for further requests, so no request may leave a contract behind. If contracts were
    // baked into the validator, this changes nothing.
    wire::call("{\"op\":\"seal\"}");
    match request.method() {
        Method::Get => call("{\"op\":\"names\"}"),
        Method::Post => match body(request) {
            Ok(body) => call(&body),
            Err(answer) => answer,
        },
        _ => {
            let message = "method: must be POST, with a request as its body, or GET, for the agents";
            fault(Status::MethodNotAllowed, "bad_request", message, "")
        }
    }
}

fn call(request: &str) -> Answer {
    let json = wire::call(request);
    Answer { status: status::of(&json), json }
}

/// Returns the body of a request as text, or the answer to a body that cannot be read.
fn body(request: &IncomingRequest) -> Result<String, Answer> {
    let declared = request.headers().get("content-length");
    let declared = declared.first().and_then(|value| std::str::from_utf8(value).ok()?.trim().parse::<u64>().ok());
    if declared.is_some_and(|bytes| bytes > MAX_BODY) {
        return Err(too_large());
    }
    let broken = |_| fault(Status::BadRequest, "bad_request", "request: the body cannot be read", "");
    // The stream must be dropped before the body that it belongs to.
    let incoming = request.consume().map_err(broken)?;
    let stream = incoming.stream().map_err(broken)?;
    let mut body = Vec::with_capacity(declared.unwrap_or_default() as usize);
    loop {
        match stream.blocking_read(PIECE) {
            Ok(piece) => body.extend(piece),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(_)) => {
                let message = format!("request: the body broke off after {} bytes", body.len());
                return Err(fault(Status::BadRequest, "bad_request", &message, ""));
            }
        }
        if body.len() as u64 > MAX_BODY {
            return Err(too_large());
        }
    }
    String::from_utf8(body).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("the request is not UTF-8 at byte {at}");
        fault(Status::BadRequest, "bad_request", &message, "")
    })
}

fn too_large() -> Answer {
    let message = format!("the request has more than {MAX_BODY} bytes");
    fault(Status::ContentTooLarge, "input_too_large", &message, &format!("\"limit\":{MAX_BODY}"))
}

/// Returns a fault of this component in the validator's form. The texts are constants, and contain no control
/// characters.
fn fault(status: Status, code: &str, message: &str, detail: &str) -> Answer {
    let message = message.replace('"', "\\\"");
    let fault = format!("{{\"fault\":\"{code}\",\"message\":\"{message}\",\"detail\":{{{detail}}}}}");
    Answer { status, json: format!("{{\"id\":null,\"fault\":{fault}}}") }
}

fn respond(response: ResponseOutparam, answer: &Answer) {
    let headers = Fields::new();
    let length = answer.json.len().to_string();
    let mut entries = vec![("content-type", "application/json"), ("content-length", length.as_str())];
    if let Status::MethodNotAllowed = answer.status {
        entries.push(("allow", "GET, POST"));
    }
    for (name, value) in entries {
        // If a server rejects this header, it still gets the answer.
        let _ = headers.append(name, value.as_bytes());
    }
    let outgoing = OutgoingResponse::new(headers);
    let _ = outgoing.set_status_code(answer.status as u16);
    let body = outgoing.body();
    ResponseOutparam::set(response, Ok(outgoing));
    // From here on, the only possible failure is that the client has disconnected.
    let Ok(body) = body else { return };
    if let Ok(mut stream) = body.write() {
        let written = stream.write_all(answer.json.as_bytes()).is_ok() && stream.blocking_flush().is_ok();
        drop(stream);
        if written {
            let _ = OutgoingBody::finish(body, None);
        }
    }
}
