//! Inclusion proofs in COSE headers (RFC 9942), of Merkle trees as in RFC 9162.

use ciborium::Value;
use coset::{CborSerializable, Label};

use crate::tree::Digest;

/// The header parameter for proofs, and the key of inclusion proofs in it.
const PROOFS: i64 = 396;
const INCLUSION: i64 = -1;

/// The maximum number of digests in a proof, which a tree with 2^64 leaves needs.
const MAX_PATH: usize = 64;

/// Returns the header parameter with one inclusion proof. `path` has the siblings of the nodes above the leaf, from the
/// bottom up.
pub(crate) fn header(size: u64, index: u64, path: &[Digest]) -> (Label, Value) {
    let path = Value::Array(path.iter().map(|node| Value::Bytes(node.to_vec())).collect());
    let proof = Value::Array(vec![Value::from(size), Value::from(index), path]);
    // Encoding it cannot fail.
    let proof = Value::Bytes(proof.to_vec().unwrap_or_default());
    let proofs = Value::Map(vec![(Value::from(INCLUSION), Value::Array(vec![proof]))]);
    (Label::Int(PROOFS), proofs)
}

/// Returns the size of the tree, the index of the leaf and the path of the first inclusion proof in a header parameter.
/// Ignores its label and further proofs: the caller encodes the proof again, and compares all bytes.
pub(crate) fn read(parameter: Value) -> Option<(u64, u64, Vec<Digest>)> {
    let (_, all) = parameter.into_map().ok()?.into_iter().next()?;
    let proof = all.into_array().ok()?.into_iter().next()?;
    let mut proof = Value::from_slice(&proof.into_bytes().ok()?).ok()?.into_array().ok()?.into_iter();
    let mut number = || u64::try_from(proof.next()?.as_integer()?).ok();
    let (size, index) = (number()?, number()?);
    let path = proof.next()?.into_array().ok()?;
    let path = path.into_iter().take(MAX_PATH).filter_map(|node| node.into_bytes().ok()?.try_into().ok());
    Some((size, index, path.collect()))
}
