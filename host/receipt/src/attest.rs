//! in-toto statements (version 1) that a run made files, in a DSSE envelope (version 1), signed with Ed25519.

use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::{
    journal::sha256,
    run::Signing,
    verify::{Counts, Report, Trusted},
};

/// The type of the payload in the envelope.
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The types of a statement, and of its predicate.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "https://seamgate.dev/attestation/run/v1";

/// The largest attestation that is read, in bytes: 1 MiB.
pub const MAX_ATTESTATION: usize = 1024 * 1024;

/// A file, and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The name of the file.
    pub name: String,
    /// The digests of the file.
    pub digest: Sha256,
}

/// A SHA-256 digest, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sha256 {
    /// 64 hexadecimal digits.
    pub sha256: String,
}

/// The predicate about the files: the run that made them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// The digest of the receipt's file.
    pub receipt: Sha256,
    /// The public key that signed the receipt (base64url).
    pub key: String,
    /// The run's id.
    pub run: String,
    /// The agent of the run.
    pub agent: String,
    /// The digest of the run's profile.
    pub profile: String,
    /// The digest of the run's component.
    pub component: String,
    /// The outcome of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// `true` if every step was derived again.
    pub whole: bool,
    /// The number of decisions about calls, by kind.
    pub calls: Calls,
}

/// The number of decisions about calls, by kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// The number of decisions that allow a call.
    pub allowed: u64,
    /// The number of decisions that deny a call.
    pub denied: u64,
    /// The number of decisions that require a person's approval.
    pub asked: u64,
}

/// An in-toto statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attested {
    #[serde(rename = "_type")]
    kind: String,
    /// The files.
    pub subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_kind: String,
    /// The predicate about the files.
    pub predicate: Predicate,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dsse {
    payload: String,
    #[serde(rename = "payloadType")]
    payload_type: String,
    signatures: Vec<DsseSignature>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DsseSignature {
    keyid: String,
    sig: String,
}

/// The reason why an attestation is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAttested(String);

/// Returns a file as the subject of a statement.
pub fn subject(name: &str, bytes: &[u8]) -> Subject {
    Subject { name: name.to_owned(), digest: hex(bytes) }
}

fn hex(bytes: &[u8]) -> Sha256 {
    Sha256 { sha256: HEXLOWER.encode(&sha256(bytes)) }
}

/// Returns an envelope, as JSON text, which states that the run of a receipt made these files. `report` is the
/// receipt's report from [`verify`](crate::verify).
///
/// # Errors
///
/// The receipt did not pass, or the key does not sign.
pub fn attest<E: std::fmt::Display>(
    receipt: &[u8],
    report: &Report,
    subject: Vec<Subject>,
    signing: &Signing<'_, E>,
) -> Result<String, NotAttested> {
    if !report.ok {
        return Err(NotAttested("the receipt does not verify".to_owned()));
    }
    let Counts { allowed, denied, asked, .. } = report.counts;
    let statement = Attested {
        kind: STATEMENT.to_owned(),
        subject,
        predicate_kind: PREDICATE.to_owned(),
        predicate: Predicate {
            receipt: hex(receipt),
            key: report.key.clone(),
            run: report.run.clone(),
            agent: report.agent.clone(),
            profile: report.profile.clone(),
            component: report.component.clone(),
            ended: report.ended.clone(),
            whole: report.whole,
            calls: Calls { allowed, denied, asked },
        },
    };
    let failed = |error: &dyn std::fmt::Display| NotAttested(error.to_string());
    let payload = serde_json::to_vec(&statement).map_err(|error| failed(&error))?;
    let sig = (signing.sign)(&to_be_signed(PAYLOAD_TYPE, &payload)).map_err(|error| failed(&error))?;
    let envelope = Dsse {
        payload: BASE64.encode(&payload),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![DsseSignature { keyid: BASE64URL_NOPAD.encode(&signing.key), sig: BASE64.encode(&sig) }],
    };
    serde_json::to_string(&envelope).map_err(|error| failed(&error))
}

/// Parses an envelope, and checks that a trusted key signed it, and that it is about the run of this receipt. Returns
/// the statement. Compare the digests of its subjects with those of the files.
///
/// # Errors
///
/// The envelope is malformed, another key signed it, or it is about another receipt.
pub fn read_attestation(text: &str, receipt: &[u8], keys: &Trusted) -> Result<Attested, NotAttested> {
    let wrong = |message: &str| NotAttested(message.to_owned());
    let malformed = "it is no DSSE envelope with a statement about a run";
    let envelope: Dsse = serde_json::from_str(text).map_err(|_| wrong(malformed))?;
    let payload = BASE64.decode(envelope.payload.as_bytes()).map_err(|_| wrong(malformed))?;
    let [DsseSignature { keyid, sig }] = &envelope.signatures[..] else {
        return Err(wrong("it has no signature, or several"));
    };
    let key: [u8; 32] = BASE64URL_NOPAD
        .decode(keyid.as_bytes())
        .ok()
        .and_then(|key| key.try_into().ok())
        .ok_or_else(|| wrong("its keyid is no Ed25519 key as base64url"))?;
    if matches!(keys, Trusted::Keys(keys) if !keys.contains(&key)) {
        return Err(NotAttested(format!("the key {keyid} signed it, and none that was given")));
    }
    let signature = BASE64.decode(sig.as_bytes()).map_err(|_| wrong(malformed))?;
    let signed = to_be_signed(&envelope.payload_type, &payload);
    if envelope.payload_type != PAYLOAD_TYPE
        || UnparsedPublicKey::new(&ED25519, &key).verify(&signed, &signature).is_err()
    {
        return Err(wrong("its signature is wrong"));
    }
    let statement: Attested = serde_json::from_slice(&payload).map_err(|_| wrong(malformed))?;
    if statement.kind != STATEMENT || statement.predicate_kind != PREDICATE {
        return Err(wrong(malformed));
    }
    match statement.predicate.receipt == hex(receipt) {
        true => Ok(statement),
        false => Err(wrong("it is about another receipt")),
    }
}

/// Returns the bytes that are signed: the pre-authentication encoding of DSSE.
fn to_be_signed(kind: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}
