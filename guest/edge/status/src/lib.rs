//! Chooses the status of an answer. The verdict is in the body: any verdict is a success.
//!
//! This is a separate crate because the component around it does not run natively, and its tests do
//! (`tests/tests/repository/edge.rs`).

/// The statuses, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// A report or a result.
    Ok = 200,
    /// An invalid request.
    BadRequest = 400,
    /// A change to the contracts of a sealed validator.
    Forbidden = 403,
    /// An unknown agent, or another path than `/`.
    NotFound = 404,
    /// Another method than GET and POST.
    MethodNotAllowed = 405,
    /// A body above the limit.
    ContentTooLarge = 413,
    /// An invalid contract or profile.
    UnprocessableContent = 422,
    /// An answer of the validator that is invalid, or a fault of its own.
    BadGateway = 502,
}

/// Returns the status of an answer of `wire.call`: a report, a result, or a fault by its word.
pub fn of(answer: &str) -> Status {
    let Some(rest) = answer.strip_prefix("{\"id\":").and_then(after_value) else {
        return Status::BadGateway;
    };
    if rest.starts_with(",\"report\":") || rest.starts_with(",\"result\":") {
        return Status::Ok;
    }
    let fault = rest.strip_prefix(",\"fault\":{\"fault\":\"").and_then(|rest| rest.split('"').next());
    match fault {
        Some("bad_request") => Status::BadRequest,
        Some("bad_contract" | "bad_profile") => Status::UnprocessableContent,
        Some("unknown_agent") => Status::NotFound,
        Some("sealed") => Status::Forbidden,
        _ => Status::BadGateway,
    }
}

/// Returns the text after the JSON value at the beginning of a text without optional white space, inside an object. The
/// value is the caller's `id`, which may be anything.
fn after_value(text: &str) -> Option<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b',' if depth == 0 => return Some(&text[at..]),
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}
