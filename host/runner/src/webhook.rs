//! Webhooks, signed according to the specification Standard Webhooks 1.0: <https://www.standardwebhooks.com/>.

use std::env;

use data_encoding::BASE64;
use ring::hmac;

use crate::{
    error::{Error, Result},
    post::{NotTaken, Receiver},
};

/// The prefix of a secret, and the permitted lengths of its key in bytes.
const PREFIX: &str = "whsec_";
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// A receiver of webhooks, with the shared key.
pub struct Webhook {
    receiver: Receiver,
    key: hmac::Key,
}

impl Webhook {
    /// Creates a receiver. `variable` is the environment variable with the secret.
    ///
    /// # Errors
    ///
    /// The address is invalid, or the variable does not contain such a secret.
    pub fn new(url: &str, variable: &str) -> Result<Self> {
        let receiver = Receiver::new("--webhook", url, &[])?;
        let key = env::var(variable).ok().and_then(|secret| key_of(&secret)).ok_or_else(|| {
            Error::invalid(format!(
                "--webhook: the variable {variable} must have the secret: {PREFIX} and {} to {} bytes in base64, as \
                 `echo {PREFIX}$(openssl rand -base64 32)` prints it",
                LENGTHS.start(),
                LENGTHS.end()
            ))
        })?;
        Ok(Webhook { receiver, key })
    }

    /// Sends a JSON document once. `id` is the same for each attempt, and `at` is the time of this one, in seconds
    /// since 1970.
    ///
    /// # Errors
    ///
    /// The receiver did not accept the document.
    pub fn post(&self, id: &str, at: u64, json: &str) -> Result<(), NotTaken> {
        let (at, signature) = (at.to_string(), signature(&self.key, id, at, json));
        let headers = [("webhook-id", id), ("webhook-timestamp", &at), ("webhook-signature", &signature)];
        self.receiver.post(json, &headers)
    }
}

fn key_of(secret: &str) -> Option<hmac::Key> {
    let bytes = BASE64.decode(secret.trim().strip_prefix(PREFIX)?.as_bytes()).ok()?;
    LENGTHS.contains(&bytes.len()).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn signature(key: &hmac::Key, id: &str, at: u64, json: &str) -> String {
    let tag = hmac::sign(key, format!("{id}.{at}.{json}").as_bytes());
    format!("v1,{}", BASE64.encode(tag.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_the_specification() {
        // The example of the specification's libraries.
        let key = key_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a key");
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_must_be_long_enough() {
        for secret in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%%%%"] {
            assert!(key_of(secret).is_none(), "{secret}");
        }
    }
}
