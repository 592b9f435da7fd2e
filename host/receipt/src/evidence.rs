//! Evidence from others about a receipt, each in a separate file.

use crate::{
    time_stamp::{Authority, check_time_stamp},
    verify::{Check, Trusted},
    witness::check_witness,
};

/// Evidence from others: a time stamp and its authority, and a statement of a witness and the keys that may have signed
/// it.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The time stamp (RFC 3161).
    pub time_stamp: Option<(Vec<u8>, Authority)>,
    /// The statement of a witness (RFC 9942).
    pub witness: Option<(Vec<u8>, Trusted)>,
}

impl Evidence {
    /// Adds the checks of the evidence to those of a receipt, if all of these passed. The first failed check ends them.
    ///
    /// For a time stamp, the process must have installed a cryptography provider for Sigstore's library.
    pub fn check(&self, file: &[u8], is_ok: &mut bool, checks: &mut Vec<Check>) {
        let time_stamp = self.time_stamp.iter().map(|(stamp, authority)| check_time_stamp(file, stamp, authority));
        let witness = self.witness.iter().map(|(witness, keys)| check_witness(file, witness, keys));
        let mut evidence = time_stamp.chain(witness);
        while *is_ok && let Some(check) = evidence.next() {
            *is_ok = check.ok;
            checks.push(check);
        }
    }
}
