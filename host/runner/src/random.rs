//! Random bytes from the system.

use crate::error::{Error, Result};

/// Returns random bytes.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut random = [0; N];
    fill(&mut random)?;
    Ok(random)
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| Error::NoVerdict(format!("the system gives no random bytes: {error}")))
}

/// Returns random bytes, as hexadecimal digits.
pub fn random(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    fill(&mut random)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns a nonce for a new run.
pub fn new_nonce() -> Result<String> {
    random(16)
}
