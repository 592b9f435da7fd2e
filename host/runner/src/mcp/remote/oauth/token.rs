//! Requests tokens from a token endpoint (OAuth 2.1, section 3.2).
//!
//! The crate `oauth2` has these requests, but not the steps before them: metadata, registration, `iss` and `resource`.
//! The code that it would replace is smaller than its dependencies.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Deserializer, Serialize};
use ureq::http::{HeaderValue, StatusCode};

use super::{
    super::{
        net::{Failure, agent, read_all, shown},
        url::{Reach, Url},
    },
    discovery::LIMIT,
};

/// The largest answer, in bytes.
const MAX_ANSWER: u64 = 256 * 1024;
/// The longest token, in bytes.
const MAX_TOKEN: usize = 32 * 1024;
/// The characters that are not percent-encoded in a form.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A client, as the authorization server knows it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    /// The secret, if there is one outside of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    /// `true` if the secret is sent in the form instead of a header.
    #[serde(default)]
    pub(super) has_secret_in_form: bool,
}

/// The tokens that a token endpoint issued.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    /// The time when the access token expires, in seconds since 1970. `None` if the server does not specify it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}

/// The reason why there are no tokens.
pub(super) enum Refusal {
    /// The grant is no longer valid. Somebody has to log in.
    Invalid(String),
    /// The request failed, but the server may answer later.
    Failed(String),
}

impl Refusal {
    pub(super) fn message(self) -> String {
        match self {
            Refusal::Invalid(message) | Refusal::Failed(message) => message,
        }
    }
}

/// Requests tokens for a grant.
pub(super) fn request(
    endpoint: &Url,
    reach: Reach,
    client: &Client,
    secret: Option<&str>,
    form: &[(&str, &str)],
) -> Result<Tokens, Refusal> {
    let mut form = form.to_vec();
    let mut request = agent(endpoint, reach, Some(LIMIT)).post(endpoint.uri()).header("accept", "application/json");
    match secret {
        Some(secret) if !client.has_secret_in_form => {
            let pair = format!("{}:{}", encode(&client.id), encode(secret));
            let value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(pair.as_bytes())));
            let mut value = value.map_err(|_| Refusal::Failed("the client's secret cannot be sent".to_owned()))?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        secret => {
            form.push(("client_id", &client.id));
            form.extend(secret.map(|secret| ("client_secret", secret)));
        }
    }
    let body = form.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&");
    let answer = request.header("content-type", "application/x-www-form-urlencoded").send(&body);
    let response = answer.map_err(|error| Refusal::Failed(Failure::of(&error, endpoint).message))?;
    let status = response.status();
    let bytes = match read_all(response.into_body().into_reader(), MAX_ANSWER) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(Refusal::Failed(format!("{endpoint}: the answer has more than {} KiB", MAX_ANSWER / 1024)));
        }
        Err(error) => return Err(Refusal::Failed(format!("{endpoint}: the answer broke off: {error}"))),
    };
    if status == StatusCode::OK {
        return read(&bytes).map_err(|why| Refusal::Failed(format!("{endpoint}: {why}")));
    }
    #[derive(Default, Deserialize)]
    struct Problem {
        #[serde(default)]
        error: String,
        error_description: Option<String>,
    }
    let Problem { error, error_description } = serde_json::from_slice(&bytes).unwrap_or_default();
    let described = error_description.map(|text| format!(" ({})", shown(&text))).unwrap_or_default();
    let message = format!("{endpoint} answered with status {} {}{described}", status.as_u16(), shown(&error));
    match error.as_str() {
        "invalid_grant" | "invalid_client" | "unauthorized_client" | "invalid_target" | "invalid_scope" => {
            Err(Refusal::Invalid(message))
        }
        _ => Err(Refusal::Failed(message)),
    }
}

fn read(bytes: &[u8]) -> Result<Tokens, String> {
    #[derive(Deserialize)]
    struct Answer {
        access_token: String,
        token_type: String,
        refresh_token: Option<String>,
        #[serde(default, deserialize_with = "seconds")]
        expires_in: Option<u64>,
        scope: Option<String>,
    }
    // The error would contain the text at fault, which may be a token.
    let answer: Answer = serde_json::from_slice(bytes)
        .map_err(|_| "invalid answer: expected \"access_token\" and \"token_type\" as strings".to_owned())?;
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(format!("the token is of the type {}: expected Bearer", shown(&answer.token_type)));
    }
    let is_sendable = |token: &str| {
        !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|byte| matches!(byte, b'!'..=b'~'))
    };
    if !is_sendable(&answer.access_token) {
        return Err("the token cannot be sent as a header".to_owned());
    }
    Ok(Tokens {
        access_token: answer.access_token,
        refresh_token: answer.refresh_token.filter(|token| !token.is_empty() && token.len() <= MAX_TOKEN),
        expires_at: answer.expires_in.map(|seconds| now().saturating_add(seconds)),
        scope: answer.scope,
    })
}

/// Parses a number of seconds, which some servers write as a string.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let number = match &value {
        serde_json::Value::String(text) => text.parse::<f64>().ok(),
        value => value.as_f64(),
    };
    Ok(number.filter(|seconds| *seconds >= 0.0).map(|seconds| seconds as u64))
}

/// Returns the time in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map(|time| time.as_secs()).unwrap_or_default()
}

/// Percent-encodes a value for a form or a query.
pub(super) fn encode(value: &str) -> String {
    utf8_percent_encode(value, &PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_token_endpoints() {
        let tokens = read(br#"{"access_token":"a","token_type":"bearer","expires_in":"60","refresh_token":"r"}"#);
        let tokens = tokens.expect("tokens");
        assert!(tokens.expires_at.is_some_and(|at| at >= now() + 59 && at <= now() + 60));
        assert_eq!(tokens.refresh_token.as_deref(), Some("r"));
        assert!(
            read(br#"{"access_token":"a","token_type":"Bearer","expires_in":-1}"#)
                .expect("tokens")
                .expires_at
                .is_none()
        );
        for invalid in [
            &br#"{"access_token":"a"}"#[..],
            br#"{"access_token":"a","token_type":"mac"}"#,
            b"{\"access_token\":\"a\\r\\nb: c\",\"token_type\":\"Bearer\"}",
            br#"{"access_token":"","token_type":"Bearer"}"#,
            b"secret",
        ] {
            let why = read(invalid).err().expect("invalid");
            assert!(!why.contains("secret"), "{why}");
        }
    }
}
