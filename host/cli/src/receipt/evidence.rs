//! Evidence from others about a receipt, each in a separate file: time stamps and statements of witnesses.

use std::path::PathBuf;

use anyhow::{Context, Result};
use seamgate_receipt::{Authority, Evidence, MAX_TIME_STAMP, MAX_WITNESS};

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

impl Options {
    /// Reads the files.
    pub(super) fn read(&self) -> Result<Evidence> {
        let file = |path: &PathBuf, most| input::named(path, most).with_context(|| input::name(Some(path)));
        let time_stamp = match (&self.time_stamp, &self.authority) {
            (Some(stamp), Some(authority)) => {
                seamgate_release::install_cryptography();
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
        Ok(Evidence { time_stamp, witness })
    }
}
