//! Approvals that were signed elsewhere, as a JWS in its compact form (RFC 7515, section 7.1), signed with Ed25519 (RFC
//! 8037).

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::Deserialize;

use super::signing::public_key;
use crate::error::{Result, bail};

/// The longest token that an event may contain, in bytes.
pub const MAX_TOKEN: usize = 16 * 1024;

/// The claims of a token. All are required, so that the token is valid for only one call of one run.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The run's id.
    pub run: String,
    /// The call's key.
    pub key: String,
    /// The digest of the action that the decision is about.
    pub digest: String,
    /// `approved` or `rejected`.
    pub decision: String,
    /// The principal who decided.
    pub principal: String,
    /// The time of the signature, in seconds since 1970. Nothing depends on it.
    #[serde(default, rename = "iat")]
    _issued: Option<u64>,
    /// The time until which the token is valid, in seconds since 1970.
    pub exp: Option<u64>,
}

/// Parses a token, and verifies that its principal signed it. `keys` returns the public keys of a principal; `now` is
/// in milliseconds since 1970.
pub fn verify<'k>(token: &str, keys: impl Fn(&str) -> &'k [String], now: u64) -> Result<Claims> {
    #[derive(Deserialize)]
    struct Header {
        alg: String,
        crit: Option<serde_json::Value>,
    }
    if token.len() > MAX_TOKEN {
        bail!("Invalid token: it has {} bytes; the limit is {MAX_TOKEN}", token.len());
    }
    let parts: Vec<&str> = token.split('.').collect();
    let [header, payload, signature] = parts[..] else {
        bail!("Invalid token: expected three parts with dots between them (JWS)");
    };
    let decode = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes());
    let (Ok(header), Ok(claims), Ok(signature)) = (decode(header), decode(payload), decode(signature)) else {
        bail!("Invalid token: its parts must be base64url without padding");
    };
    match serde_json::from_slice(&header) {
        Ok(Header { alg, crit: None }) if alg == "EdDSA" => {}
        _ => bail!("Invalid token: its header must have \"alg\": \"EdDSA\", and no \"crit\""),
    }
    let claims: Claims = match serde_json::from_slice(&claims) {
        Ok(claims) => claims,
        Err(error) => bail!("Invalid token: {error}"),
    };
    let signed = &token.as_bytes()[..token.rfind('.').unwrap_or_default()];
    let is_by = |key: &String| {
        public_key(key).is_some_and(|key| UnparsedPublicKey::new(&ED25519, key).verify(signed, &signature).is_ok())
    };
    let keys = keys(&claims.principal);
    if keys.is_empty() {
        bail!("Invalid token: the profile has no key of {:?}", claims.principal);
    }
    if !keys.iter().any(is_by) {
        bail!("Invalid token: {:?} did not sign it", claims.principal);
    }
    if claims.exp.is_some_and(|exp| exp.saturating_mul(1000) <= now) {
        bail!("Invalid token: it has expired");
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    const CLAIMS: &str =
        r#"{"run":"r1","key":"c1","digest":"sha256:0","decision":"approved","principal":"anna","exp":100}"#;

    fn pair() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key")
    }

    fn token(header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", encode(header.as_bytes()), encode(claims.as_bytes()));
        let signature = encode(pair().sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }

    fn encode(bytes: &[u8]) -> String {
        BASE64URL_NOPAD.encode(bytes)
    }

    fn verified(token: &str, now: u64) -> Result<Claims> {
        let own = encode(pair().public_key().as_ref());
        let other = encode(&[9; 32]);
        let keys = [other, own];
        verify(token, |principal| if principal == "anna" { &keys } else { &[] }, now)
    }

    #[test]
    fn a_token_holds_for_what_its_principal_signed() {
        let token = token(r#"{"alg":"EdDSA"}"#, CLAIMS);
        let claims = verified(&token, 99_999).expect("a token");
        assert_eq!((claims.principal.as_str(), claims.decision.as_str()), ("anna", "approved"));
        assert!(verified(&token, 100_000).is_err_and(|error| error.to_string().contains("expired")));
        // Changing any byte must invalidate the token.
        for at in 0..token.len() {
            for bit in 0..7 {
                let mut bytes = token.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let changed = String::from_utf8(bytes).expect("ASCII");
                assert!(verified(&changed, 0).is_err(), "{changed}");
            }
        }
    }

    #[test]
    fn other_tokens_are_none() {
        let claims = |from: &str, to: &str| token(r#"{"alg":"EdDSA"}"#, &CLAIMS.replace(from, to));
        for (token, expected) in [
            (token(r#"{"alg":"none"}"#, CLAIMS), "\"alg\""),
            (token(r#"{"alg":"HS256"}"#, CLAIMS), "\"alg\""),
            (token(r#"{"alg":"EdDSA","crit":["b64"]}"#, CLAIMS), "\"crit\""),
            (claims("anna", "ben"), "no key of"),
            (claims("\"run\":\"r1\",", ""), "missing field `run`"),
            (claims("\"exp\"", "\"scope\""), "unknown field"),
            ("a.b".to_owned(), "three parts"),
            (String::new(), "three parts"),
            ("a.b.c.d".to_owned(), "three parts"),
            ("=.=.=".to_owned(), "base64url"),
            ("x".repeat(MAX_TOKEN + 1), "the limit"),
        ] {
            let error = verified(&token, 0).expect_err("no token").to_string();
            assert!(error.contains(expected), "{error}");
        }
        let unsigned = token(r#"{"alg":"EdDSA"}"#, CLAIMS);
        let (signed, _) = unsigned.rsplit_once('.').expect("three parts");
        assert!(verified(&format!("{signed}."), 0).is_err_and(|error| error.to_string().contains("did not sign")));
    }
}
