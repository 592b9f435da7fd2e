//! Digests, written as in reports and journals. `build.rs` includes this file.

use sha2::{Digest, Sha256};

/// Returns `sha256:` followed by the digest of some bytes, as in reports and journals.
///
/// ```
/// let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(seamgate::digest(b""), empty);
/// ```
pub fn digest(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    let mut digest = String::with_capacity(7 + 64);
    digest.push_str("sha256:");
    digest.extend(digits.filter_map(|digit| char::from_digit(digit.into(), 16)));
    digest
}
