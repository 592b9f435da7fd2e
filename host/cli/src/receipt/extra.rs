//! Evidence from others about a receipt, each in a separate file: time stamps and statements of witnesses.

use std::path::PathBuf;

use anyhow::{Context, Result};
use seamgate_receipt::{Authority, Check, MAX_TIME_STAMP, MAX_WITNESS, Trusted, check_time_stamp, check_witness};

use super::trusted;
use crate::input;

#[derive(clap::Args)]
pub(super) struct Options {
    /// A time stamp of the receipt (RFC 3161)
    #[arg(long, value_name = "FILE", requires = "authority")]
    time_stamp: Option<PathBuf>,
    /// The certificates of the time stamp's authority, in PEM: its own first, the root last
    #[arg(long, value_name = "FILE", requires = "time_stamp")]
    authority: Option<PathBuf>,
    /// A statement of 'seamgate receipt witness' about the receipt
    #[arg(long, value_name = "FILE", requires = "witness_key")]
    witness: Option<PathBuf>,
    /// The public key that must have signed the statement; 'any' accepts any key
    #[arg(long, value_name = "KEY", requires = "witness", allow_hyphen_values = true)]
    witness_key: Vec<String>,
}

/// The evidence, read from its files.
pub(super) struct Extra {
    time_stamp: Option<(Vec<u8>, Authority)>,
    witness: Option<(Vec<u8>, Trusted)>,
}

impl Options {
    /// Reads the files.
    pub(super) fn read(&self) -> Result<Extra> {
        let file = |path: &PathBuf, most| input::named(path, most).with_context(|| input::name(Some(path)));
        let time_stamp = match (&self.time_stamp, &self.authority) {
            (Some(stamp), Some(authority)) => {
                let certificates = file(authority, MAX_TIME_STAMP)?;
                let read = Authority::read(&certificates).with_context(|| input::name(Some(authority)))?;
                Some((file(stamp, MAX_TIME_STAMP)?, read))
            }
            _ => None,
        };
        let witness = match &self.witness {
            Some(path) => Some((file(path, MAX_WITNESS)?, trusted("--witness-key", &self.witness_key)?)),
            None => None,
        };
        Ok(Extra { time_stamp, witness })
    }
}

impl Extra {
    /// Adds the checks of the evidence, if all checks before passed. The first failed check ends them.
    pub(super) fn check(&self, file: &[u8], is_ok: &mut bool, checks: &mut Vec<Check>) {
        let time_stamp = self.time_stamp.iter().map(|(stamp, authority)| {
            seamgate_release::install_cryptography();
            check_time_stamp(file, stamp, authority)
        });
        let witness = self.witness.iter().map(|(witness, keys)| check_witness(file, witness, keys));
        let mut evidence = time_stamp.chain(witness);
        while *is_ok && let Some(check) = evidence.next() {
            *is_ok = check.ok;
            checks.push(check);
        }
    }
}
