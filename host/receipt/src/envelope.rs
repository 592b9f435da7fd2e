//! The envelope: a `COSE_Sign1` message in one encoding. Nothing in the file is outside of what is checked.

use ciborium::Value;
use coset::{
    CborSerializable, CoseSign1, Header, HeaderBuilder, Label, ProtectedHeader, TaggedCborSerializable,
    cwt::{ClaimsSetBuilder, Timestamp},
    iana,
};
use ring::signature::{ED25519, UnparsedPublicKey};

/// The largest receipt that is read, in bytes: 512 MiB.
pub const MAX_RECEIPT: usize = 512 * 1024 * 1024;

/// The media type of what is signed.
const CONTENT_TYPE: &str = "application/vnd.seamgate.receipt+json";

/// The latest time, in seconds since 1970: a number that every reader of JSON keeps whole.
const MAX_TIME: u64 = (1 << 53) - 1;

/// The header parameter for CWT claims (RFC 9597).
const CWT_CLAIMS: i64 = 15;

/// The name of the header parameter for what is bound by digests.
const BODY: &str = "seamgate";

/// The members of the body, in their order.
const LINES: &str = "lines";
const ARTIFACTS: &str = "artifacts";
const PROFILES: &str = "profiles";

/// The reason why a file is no receipt.
#[derive(Debug, thiserror::Error)]
#[error("it is no receipt: {0}")]
pub struct NotAReceipt(pub(crate) String);

/// A text of the body, or its SHA-256 digest in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The text.
    Text(String),
    /// Its digest.
    Withheld([u8; 32]),
}

/// A receipt as it is read and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The public key that signed it, 32 bytes. The header parameter `kid`.
    pub key: [u8; 32],
    /// Who says so: the claim `iss`.
    pub issuer: String,
    /// The run's id: the claim `sub`.
    pub subject: String,
    /// The time when it was signed, in seconds since 1970: the claim `iat`.
    pub issued_at: u64,
    /// What is signed: JSON text.
    pub statement: Vec<u8>,
    /// The lines of the journal, without their ends.
    pub lines: Vec<Part>,
    /// The artifacts that deriving the steps asks for, in the order of the first time.
    pub artifacts: Vec<String>,
    /// The documents of the profiles, in the order in which they are registered.
    pub profiles: Vec<String>,
    /// 64 bytes.
    pub signature: Vec<u8>,
}

impl Envelope {
    /// Returns the bytes of the file. `sign` returns the signature of a text.
    ///
    /// # Errors
    ///
    /// That of `sign`.
    pub fn signed<E>(mut self, sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let bytes = self.to_be_signed();
        self.signature = sign(&bytes)?;
        Ok(self.encode())
    }

    /// Reads a file in the one encoding that [`signed`](Self::signed) writes.
    ///
    /// # Errors
    ///
    /// It is no `COSE_Sign1` message, lacks a member, or has another encoding.
    pub fn read(file: &[u8]) -> Result<Self, NotAReceipt> {
        let wrong = |message: &str| NotAReceipt(message.to_owned());
        let message = CoseSign1::from_tagged_slice(file)
            .map_err(|_| wrong("it is not a tagged COSE_Sign1 message (RFC 9052, section 4.2)"))?;
        let CoseSign1 { protected, unprotected, payload, signature } = message;
        let header = protected.header;
        let claims = header.rest.iter().find(|(label, _)| *label == Label::Int(CWT_CLAIMS));
        let claims = claims.and_then(|(_, claims)| claims.as_map()).ok_or_else(|| wrong("it has no CWT claims"))?;
        let claim = |name: i64| claims.iter().find(|(key, _)| *key == Value::from(name)).map(|(_, value)| value);
        let text = |name| claim(name).and_then(Value::as_text).map(str::to_owned);
        let issued_at = claim(6).and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok());
        let issued_at = issued_at.filter(|time| *time <= MAX_TIME);
        let body = unprotected.rest.into_iter().find(|(label, _)| *label == Label::Text(BODY.to_owned()));
        let body = body.and_then(|(_, body)| body.into_map().ok()).ok_or_else(|| wrong("it has no lines"))?;
        let mut parts = body.into_iter().map(|(_, parts)| parts.into_array().unwrap_or_default());
        let (Some(lines), Some(artifacts), Some(profiles)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong("it lacks lines, artifacts or profiles"));
        };
        let texts = |values: Vec<Value>| values.into_iter().filter_map(|value| value.into_text().ok()).collect();
        let envelope = Envelope {
            key: header.key_id.try_into().map_err(|_| wrong("it does not name the key that signed it"))?,
            issuer: text(1).ok_or_else(|| wrong("it has no issuer"))?,
            subject: text(2).ok_or_else(|| wrong("it has no subject"))?,
            issued_at: issued_at.ok_or_else(|| wrong("it has no time"))?,
            statement: payload.ok_or_else(|| wrong("it has no payload"))?,
            lines: lines.into_iter().filter_map(part).collect(),
            artifacts: texts(artifacts),
            profiles: texts(profiles),
            signature,
        };
        // Whatever was dropped or changed above makes other bytes.
        match envelope.encode() == file {
            true => Ok(envelope),
            false => Err(wrong("it has members that no receipt has, or another encoding")),
        }
    }

    /// Returns whether the key that it names signed it.
    pub(crate) fn is_signed(&self) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.key).verify(&self.to_be_signed(), &self.signature).is_ok()
    }

    fn to_be_signed(&self) -> Vec<u8> {
        self.message(Header::default()).tbs_data(&[])
    }

    fn encode(&self) -> Vec<u8> {
        let texts = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::Text).collect());
        let lines = self.lines.iter().map(|line| match line {
            Part::Text(text) => Value::Text(text.clone()),
            Part::Withheld(digest) => Value::Bytes(digest.to_vec()),
        });
        let body = Value::Map(vec![
            (Value::from(LINES), Value::Array(lines.collect())),
            (Value::from(ARTIFACTS), texts(&self.artifacts)),
            (Value::from(PROFILES), texts(&self.profiles)),
        ]);
        let unprotected = HeaderBuilder::new().text_value(BODY.to_owned(), body).build();
        // Nothing in it fails to encode.
        self.message(unprotected).to_tagged_vec().unwrap_or_default()
    }

    fn message(&self, unprotected: Header) -> CoseSign1 {
        let claims = ClaimsSetBuilder::new()
            .issuer(self.issuer.clone())
            .subject(self.subject.clone())
            .issued_at(Timestamp::WholeSeconds(i64::try_from(self.issued_at).unwrap_or(i64::MAX)))
            .build();
        let claims = claims.to_vec().ok().and_then(|bytes| Value::from_slice(&bytes).ok()).unwrap_or(Value::Null);
        let header = HeaderBuilder::new()
            .algorithm(iana::Algorithm::EdDSA)
            .content_type(CONTENT_TYPE.to_owned())
            .key_id(self.key.to_vec())
            .value(CWT_CLAIMS, claims)
            .build();
        CoseSign1 {
            protected: ProtectedHeader { original_data: None, header },
            unprotected,
            payload: Some(self.statement.clone()),
            signature: self.signature.clone(),
        }
    }
}

fn part(value: Value) -> Option<Part> {
    match value {
        Value::Text(text) => Some(Part::Text(text)),
        Value::Bytes(digest) => Some(Part::Withheld(digest.try_into().ok()?)),
        _ => None,
    }
}
