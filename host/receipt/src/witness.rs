//! Witnesses of receipts. A witness keeps a log of receipts, and signs that a file is an entry of this log.
//!
//! The entries of a log are the leaves of a Merkle tree (RFC 9162, section 2.1). The file that a witness returns is a
//! receipt in the sense of RFC 9942: a `COSE_Sign1` message with an inclusion proof, whose detached payload is the root.

use std::time::{Duration, UNIX_EPOCH};

use ciborium::Value;
use coset::{CoseSign1, Header, HeaderBuilder, ProtectedHeader, TaggedCborSerializable, iana};
use data_encoding::HEXLOWER;
use humantime::format_rfc3339_seconds;
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::{
    inclusion,
    journal::{sha256, written},
    signed::{CWT_CLAIMS, NotAReceipt, claims, issued_at},
    tree::{Digest, Tree, leaf, root_of},
    verify::{Check, Failed, Trusted},
};

/// The largest file of a witness, in bytes.
pub const MAX_WITNESS: usize = 64 * 1024;

/// The header parameter for the kind of tree (RFC 9942), and the value for the trees of RFC 9162 with SHA-256.
const TREE: i64 = 395;
const RFC9162_SHA256: i64 = 1;

/// The claim with the number of entries.
const ENTRIES: &str = "entries";

/// The prefix of a line in a log.
const PREFIX: &str = "sha256:";

/// The latest time that RFC 3339 can express, in seconds since 1970: the end of the year 9999.
const MAX_DATE: u64 = 253_402_300_799;

/// The name of the check.
const NAME: &str = "witness";

/// The log of a witness: the digests of files, one per line, in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log(Vec<Digest>);

/// The number of a line that is not a digest, from 1.
#[derive(Debug, thiserror::Error)]
#[error("line {0} is not a digest, such as sha256:b5c7…")]
pub struct NotALog(usize);

/// A statement of a witness: a file is an entry of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The public key of the witness.
    pub key: [u8; 32],
    /// The time of the signature, in seconds since 1970.
    pub issued_at: u64,
    /// The number of the entry, from 0.
    pub index: u64,
    /// The number of entries.
    pub size: u64,
    /// The siblings of the nodes above the entry, from the bottom up.
    pub path: Vec<[u8; 32]>,
    /// The signature, which has 64 bytes. Empty before it is signed.
    pub signature: Vec<u8>,
}

impl Log {
    /// Parses a log. A last line without a line end is not an entry, because a program may be writing it.
    ///
    /// # Errors
    ///
    /// A line is not a digest.
    pub fn read(text: &str) -> Result<Self, NotALog> {
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let digest = |(index, line): (usize, &str)| {
            let hex = line.trim_end().strip_prefix(PREFIX);
            let bytes = hex.and_then(|hex| HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok());
            bytes.ok_or(NotALog(index + 1))
        };
        lines.enumerate().map(digest).collect::<Result<_, _>>().map(Log)
    }

    /// Adds a file, and returns its line, with its line end. Returns `None` if the log already has the file.
    pub fn add(&mut self, file: &[u8]) -> Option<String> {
        let entry = sha256(file);
        (!self.0.contains(&entry)).then(|| {
            self.0.push(entry);
            format!("{}\n", written(&entry))
        })
    }

    /// Signs that the log has a file. `sign` returns the signature of a text. Returns `None` if the log does not have it.
    ///
    /// # Errors
    ///
    /// The error that `sign` returned.
    pub fn witness<E>(
        &self,
        file: &[u8],
        key: [u8; 32],
        now: u64,
        sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Option<Witness>, E> {
        let entry = sha256(file);
        let Some(index) = self.0.iter().position(|one| *one == entry) else { return Ok(None) };
        let tree = Tree::of(self.0.iter().map(|entry| leaf(entry)).collect());
        let (index_of, size) = (index as u64, tree.leaves() as u64);
        let path = tree.path(index);
        let mut witness = Witness { key, issued_at: now, index: index_of, size, path, signature: Vec::new() };
        witness.signature = sign(&witness.to_be_signed(&tree.root()))?;
        Ok(Some(witness))
    }
}

impl Witness {
    /// Reads a file in the only encoding that [`encode`](Self::encode) writes.
    ///
    /// # Errors
    ///
    /// The file is not the statement of a witness, or has another encoding.
    pub fn read(file: &[u8]) -> Result<Self, NotAReceipt> {
        let wrong = NotAReceipt::of;
        let message = CoseSign1::from_tagged_slice(file)
            .map_err(|_| wrong("it is not a tagged COSE_Sign1 message (RFC 9052, section 4.2)"))?;
        let CoseSign1 { protected: ProtectedHeader { header, .. }, unprotected, signature, .. } = message;
        let issued_at = issued_at(&header).ok_or_else(|| wrong("it has no time"))?;
        let key = header.key_id.try_into().map_err(|_| wrong("it does not name the key that signed it"))?;
        let proof = unprotected.rest.into_iter().next().and_then(|(_, proof)| inclusion::read(proof));
        let (size, index, path) = proof.ok_or_else(|| wrong("its proof is malformed"))?;
        let witness = Witness { key, issued_at, index, size, path, signature };
        match witness.encode() == file {
            true => Ok(witness),
            false => Err(wrong("it has members that no statement of a witness has, or another encoding")),
        }
    }

    /// Returns the bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let proof = inclusion::header(self.size, self.index, &self.path);
        // Encoding it cannot fail.
        self.message(Header { rest: vec![proof], ..Header::default() }).to_tagged_vec().unwrap_or_default()
    }

    fn message(&self, unprotected: Header) -> CoseSign1 {
        let mut claims = claims(None, None, self.issued_at);
        // An inclusion proof does not bind the size of the tree.
        if let Value::Map(claims) = &mut claims {
            claims.push((Value::from(ENTRIES), Value::from(self.size)));
        }
        let header = HeaderBuilder::new()
            .algorithm(iana::Algorithm::EdDSA)
            .key_id(self.key.to_vec())
            .value(CWT_CLAIMS, claims)
            .value(TREE, Value::from(RFC9162_SHA256))
            .build();
        let protected = ProtectedHeader { original_data: None, header };
        CoseSign1 { protected, unprotected, payload: None, signature: self.signature.clone() }
    }

    fn to_be_signed(&self, root: &Digest) -> Vec<u8> {
        self.message(Header::default()).tbs_detached_data(root, &[])
    }
}

/// The finding about a file that no witness wrote.
const NOT_A_STATEMENT: &str = "it is no statement of a witness: it must be a tagged COSE_Sign1 message (RFC 9052, \
                               section 4.2) with an inclusion proof, in one encoding";

/// Formats a time in seconds since 1970 as in RFC 3339.
fn written_time(seconds: u64) -> String {
    UNIX_EPOCH
        .checked_add(Duration::from_secs(seconds.min(MAX_DATE)))
        .map_or_else(String::new, |time| format_rfc3339_seconds(time).to_string())
}

/// Checks that a trusted witness signed that the file is an entry of its log.
pub fn check_witness(file: &[u8], witness: &[u8], keys: &Trusted) -> Check {
    let checked = || {
        // Other hosts have other CBOR parsers, which may find another part wrong first.
        let witness = Witness::read(witness).map_err(|_| NOT_A_STATEMENT)?;
        let Witness { key, index, size, path, issued_at, signature } = &witness;
        if let Trusted::Keys(keys) = keys
            && !keys.contains(key)
        {
            return Err("a key signed it that was not given");
        }
        let root = root_of(leaf(&sha256(file)), *index, *size, path).ok_or("its proof fits no log of this size")?;
        let is_signed = UnparsedPublicKey::new(&ED25519, key).verify(&witness.to_be_signed(&root), signature).is_ok();
        match is_signed {
            true => {
                Ok(format!("entry {} of {size} in its log at {}, by its clock", index + 1, written_time(*issued_at)))
            }
            false => Err("it is about another file, or the signature is wrong"),
        }
    };
    match checked() {
        Ok(detail) => Check::passed(NAME, &detail),
        Err(detail) => Failed::of(NAME, detail).check(),
    }
}
