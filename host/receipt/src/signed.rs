//! A signed statement: a `COSE_Sign1` message (RFC 9052, section 4.2) with the claims of SCITT (RFC 9943), in one encoding.

use ciborium::Value;
use coset::{
    CborSerializable, CoseSign1, Header, HeaderBuilder, Label, ProtectedHeader, TaggedCborSerializable,
    cwt::{ClaimsSetBuilder, Timestamp},
    iana,
};
use ring::signature::{ED25519, UnparsedPublicKey};

/// The header parameter for CWT claims (RFC 9597).
pub(crate) const CWT_CLAIMS: i64 = 15;

/// The claims `iss`, `sub` and `iat` (RFC 8392).
const ISSUER: i64 = 1;
const SUBJECT: i64 = 2;
const ISSUED_AT: i64 = 6;

/// The latest time, in seconds since 1970: the largest number that every reader of JSON represents exactly.
const MAX_TIME: u64 = (1 << 53) - 1;

/// The reason why a file is not a receipt.
#[derive(Debug, thiserror::Error)]
#[error("it is no receipt: {0}")]
pub struct NotAReceipt(pub(crate) String);

impl NotAReceipt {
    pub(crate) fn of(message: &str) -> Self {
        NotAReceipt(message.to_owned())
    }
}

/// A statement, its signer, and the signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The public key of the signer, which has 32 bytes. It is in the header parameter `kid`.
    pub key: [u8; 32],
    /// The media type of the statement.
    pub content_type: String,
    /// The issuer, in the claim `iss`.
    pub issuer: String,
    /// The subject, in the claim `sub`.
    pub subject: String,
    /// The time of the signature, in seconds since 1970, in the claim `iat`.
    pub issued_at: u64,
    /// The statement, as JSON text.
    pub statement: Vec<u8>,
    /// The signature, which has 64 bytes. Empty before it is signed.
    pub signature: Vec<u8>,
}

impl Signed {
    /// Signs the statement. `sign` returns the signature of a text.
    ///
    /// # Errors
    ///
    /// The error that `sign` returned.
    pub fn sign<E>(&mut self, sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>) -> Result<(), E> {
        self.signature = sign(&self.to_be_signed())?;
        Ok(())
    }

    /// Returns whether the signature is valid for the key in the message.
    pub(crate) fn is_signed(&self) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.key).verify(&self.to_be_signed(), &self.signature).is_ok()
    }

    /// Parses a message. Also returns its unprotected header. The caller encodes the parsed parts of both again, and
    /// compares all bytes.
    pub(crate) fn decode(file: &[u8]) -> Result<(Self, Vec<(Label, Value)>), NotAReceipt> {
        let wrong = NotAReceipt::of;
        let message = CoseSign1::from_tagged_slice(file)
            .map_err(|_| wrong("it is not a tagged COSE_Sign1 message (RFC 9052, section 4.2)"))?;
        let CoseSign1 { protected: ProtectedHeader { header, .. }, unprotected, payload, signature } = message;
        let text = |name| claim(&header, name).and_then(Value::as_text).map(str::to_owned);
        let (issuer, subject, issued_at) = (text(ISSUER), text(SUBJECT), issued_at(&header));
        let content_type = match header.content_type {
            Some(coset::ContentType::Text(text)) => text,
            _ => return Err(wrong("it has no content type")),
        };
        let signed = Signed {
            key: header.key_id.try_into().map_err(|_| wrong("it does not name the key that signed it"))?,
            content_type,
            issuer: issuer.ok_or_else(|| wrong("it has no issuer"))?,
            subject: subject.ok_or_else(|| wrong("it has no subject"))?,
            issued_at: issued_at.ok_or_else(|| wrong("it has no time"))?,
            statement: payload.ok_or_else(|| wrong("it has no payload"))?,
            signature,
        };
        Ok((signed, unprotected.rest))
    }

    /// Returns the message with an unprotected header.
    pub(crate) fn encode(&self, unprotected: Vec<(Label, Value)>) -> Vec<u8> {
        // Encoding it cannot fail.
        self.message(Header { rest: unprotected, ..Header::default() }).to_tagged_vec().unwrap_or_default()
    }

    fn to_be_signed(&self) -> Vec<u8> {
        self.message(Header::default()).tbs_data(&[])
    }

    fn message(&self, unprotected: Header) -> CoseSign1 {
        let header = HeaderBuilder::new()
            .algorithm(iana::Algorithm::EdDSA)
            .content_type(self.content_type.clone())
            .key_id(self.key.to_vec())
            .value(CWT_CLAIMS, claims(Some(&self.issuer), Some(&self.subject), self.issued_at))
            .build();
        CoseSign1 {
            protected: ProtectedHeader { original_data: None, header },
            unprotected,
            payload: Some(self.statement.clone()),
            signature: self.signature.clone(),
        }
    }
}

/// Returns CWT claims with an issuer, a subject and a time, as CBOR.
pub(crate) fn claims(issuer: Option<&str>, subject: Option<&str>, issued_at: u64) -> Value {
    let mut claims =
        ClaimsSetBuilder::new().issued_at(Timestamp::WholeSeconds(i64::try_from(issued_at).unwrap_or(i64::MAX)));
    if let Some(issuer) = issuer {
        claims = claims.issuer(issuer.to_owned());
    }
    if let Some(subject) = subject {
        claims = claims.subject(subject.to_owned());
    }
    claims.build().to_vec().ok().and_then(|bytes| Value::from_slice(&bytes).ok()).unwrap_or(Value::Null)
}

/// Returns a CWT claim in a header.
fn claim(header: &Header, name: i64) -> Option<&Value> {
    let (_, claims) = header.rest.iter().find(|(label, _)| *label == Label::Int(CWT_CLAIMS))?;
    claims.as_map()?.iter().find(|(key, _)| *key == Value::from(name)).map(|(_, value)| value)
}

/// Returns the claim `iat`: a time in whole seconds since 1970.
pub(crate) fn issued_at(header: &Header) -> Option<u64> {
    let time = u64::try_from(claim(header, ISSUED_AT)?.as_integer()?).ok()?;
    (time <= MAX_TIME).then_some(time)
}
