//! Random bytes of the system.

use crate::error::{Error, Result};

/// Returns random bytes, as hexadecimal digits.
pub fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)
        .map_err(|error| Error::NoVerdict(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns a nonce for a new run.
pub fn new_nonce() -> Result<String> {
    random(16)
}
