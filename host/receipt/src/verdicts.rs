//! Receipts of verdicts: one signature for many verdicts, and a proof for each.
//!
//! A row is a request of `seamgate check --ndjson` and its answer. The rows are the leaves of a Merkle tree (RFC 9162,
//! section 2.1), whose root is signed. The receipt of one row has the inclusion proof in the header parameter for
//! proofs of such trees, and can be verified without the other rows.

use ciborium::Value;
use coset::Label;
use seamgate::digest;
use serde::{Deserialize, Serialize};

use crate::{
    envelope::{BODY, texts, values},
    inclusion,
    journal::{digests, written},
    signed::{NotAReceipt, Signed},
    tree::{Digest, Tree, leaf, root_of},
};

/// The media type of the signed statement.
pub(crate) const CONTENT_TYPE: &str = "application/vnd.seamgate.verdicts+json";

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The statement that is signed, as compact JSON with its members in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictsStatement {
    /// The version of the format.
    pub verdicts: u64,
    /// The digest of the component that judged.
    pub component: String,
    /// The digests of the contracts' complete texts, in the order in which they are registered.
    pub contracts: Vec<String>,
    /// The number of rows.
    pub rows: u64,
    /// The root of the tree: a SHA-256 digest in hexadecimal digits.
    pub root: String,
}

/// The rows of a batch, as leaves of a tree that is not yet built.
#[derive(Default)]
pub struct Rows(Vec<Digest>);

/// The tree over the rows of a batch.
pub struct RowTree(Tree);

/// The receipt of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The signed statement.
    pub signed: Signed,
}

/// The receipt of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The signed statement, which is the same for all rows of a batch.
    pub signed: Signed,
    /// The number of the row, from 0.
    pub index: u64,
    /// The number of rows.
    pub size: u64,
    /// The siblings of the nodes above the row, from the bottom up.
    pub path: Vec<[u8; 32]>,
    /// The line of the request, without its line end.
    pub request: String,
    /// The line of the answer, without its line end.
    pub answer: String,
    /// The contracts, in the order in which they are registered.
    pub contracts: Vec<String>,
}

impl Rows {
    /// Adds a row: the lines of a request and of its answer, without their line ends.
    pub fn push(&mut self, request: &[u8], answer: &[u8]) {
        self.0.push(row(request, answer));
    }

    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Builds the tree over the rows.
    pub fn tree(self) -> RowTree {
        RowTree(Tree::of(self.0))
    }
}

impl RowTree {
    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.0.leaves() as u64
    }

    /// Returns the root.
    pub fn root(&self) -> String {
        written(&self.0.root())
    }

    /// Returns the statement about the rows.
    pub fn statement(&self, component: &str, contracts: &[String]) -> VerdictsStatement {
        VerdictsStatement {
            verdicts: VERSION,
            component: component.to_owned(),
            contracts: digests(contracts),
            rows: self.count(),
            root: self.root(),
        }
    }

    /// Returns the siblings of the nodes above a row, from the bottom up.
    pub fn path(&self, index: usize) -> Vec<[u8; 32]> {
        self.0.path(index)
    }
}

impl Batch {
    /// Creates a batch that is not yet signed.
    pub fn new(statement: &VerdictsStatement, key: [u8; 32], issuer: &str, now: u64) -> Self {
        Batch {
            signed: Signed {
                key,
                content_type: CONTENT_TYPE.to_owned(),
                issuer: issuer.to_owned(),
                subject: statement.root.clone(),
                issued_at: now,
                statement: serde_json::to_vec(statement).unwrap_or_default(),
                signature: Vec::new(),
            },
        }
    }

    /// Reads a file in the only encoding that [`encode`](Self::encode) writes.
    ///
    /// # Errors
    ///
    /// The file is not the receipt of a batch, or has another encoding.
    pub fn read(file: &[u8]) -> Result<Self, NotAReceipt> {
        let (signed, _) = Signed::decode(file)?;
        let batch = Batch { signed };
        match batch.signed.content_type == CONTENT_TYPE && batch.encode() == file {
            true => Ok(batch),
            false => Err(NotAReceipt::of("it has members that no receipt of a batch has, or another encoding")),
        }
    }

    /// Returns the bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        self.signed.encode(Vec::new())
    }
}

impl Row {
    /// Reads a file in the only encoding that [`encode`](Self::encode) writes.
    ///
    /// # Errors
    ///
    /// The file is not the receipt of a row, or has another encoding.
    pub fn read(file: &[u8]) -> Result<Self, NotAReceipt> {
        let wrong = NotAReceipt::of;
        let (signed, unprotected) = Signed::decode(file)?;
        let mut parts = unprotected.into_iter().map(|(_, value)| value);
        let (Some(proof), Some(body)) = (parts.next(), parts.next()) else {
            return Err(wrong("it lacks the proof or the row"));
        };
        let (size, index, path) = inclusion::read(proof).ok_or_else(|| wrong("its proof is malformed"))?;
        let mut body = body.into_map().unwrap_or_default().into_iter().map(|(_, value)| value);
        let mut text = || body.next().and_then(|value| value.into_text().ok()).unwrap_or_default();
        let (request, answer) = (text(), text());
        let contracts = body.next().and_then(|value| value.into_array().ok()).unwrap_or_default();
        let row = Row { signed, index, size, path, request, answer, contracts: texts(contracts) };
        match row.signed.content_type == CONTENT_TYPE && row.encode() == file {
            true => Ok(row),
            false => Err(wrong("it has members that no receipt of a row has, or another encoding")),
        }
    }

    /// Returns the bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let body = Value::Map(vec![
            (Value::from("request"), Value::Text(self.request.clone())),
            (Value::from("answer"), Value::Text(self.answer.clone())),
            (Value::from("contracts"), values(&self.contracts)),
        ]);
        self.signed
            .encode(vec![inclusion::header(self.size, self.index, &self.path), (Label::Text(BODY.to_owned()), body)])
    }

    /// Returns the root that follows from the row and its proof. `None` if the proof does not fit.
    pub(crate) fn root(&self) -> Option<String> {
        let own = row(self.request.as_bytes(), self.answer.as_bytes());
        Some(written(&root_of(own, self.index, self.size, &self.path)?))
    }
}

/// Returns the leaf of a row.
fn row(request: &[u8], answer: &[u8]) -> Digest {
    let [request, answer] = [request, answer].map(digest);
    leaf(format!(r#"{{"request":"{request}","answer":"{answer}"}}"#).as_bytes())
}
