//! Digests as reports and journals show them. `build.rs` has this file, too.

use sha2::{Digest, Sha256};

/// `sha256:` and the digest of some bytes, as in reports and journals.
///
/// ```
/// let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(seamgate::digest(b""), empty);
/// ```
pub fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
