//! `seamgate receipt witness`: the log of a witness.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::PathBuf,
};

use anyhow::{Context, Result, bail};
use seamgate_receipt::{Log, kind_of};
use seamgate_text::say;

use super::{encoded, key_for, now, read, write};
use crate::status::Status;

/// The largest log, in bytes: 10 million entries.
const MAX_LOG: u64 = 10_000_000 * 72;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The receipt
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The log of the witness, which is created if it does not exist
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// The file to write: the statement of the witness
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The private key of the witness: Ed25519, PKCS #8 in PEM
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

/// Opens the log, locks it until it is closed, and reads it.
fn open(path: &PathBuf) -> Result<(File, Log)> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    file.lock()?;
    if file.metadata()?.len() > MAX_LOG {
        bail!("it has more than {MAX_LOG} bytes: begin a new log");
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if !text.is_empty() && !text.ends_with('\n') {
        bail!("its last line is incomplete: remove that line");
    }
    let log = Log::read(&text)?;
    Ok((file, log))
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let Arguments { file, log: path, output, key_file } = arguments;
    let key = key_for(output, key_file)?;
    let receipt = read(file)?;
    kind_of(&receipt).with_context(|| file.display().to_string())?;
    let (mut kept, mut log) = open(path).with_context(|| path.display().to_string())?;
    if let Some(line) = log.add(&receipt) {
        // The entry must be on the disk before anybody can have a statement about it.
        kept.write_all(line.as_bytes()).and_then(|()| kept.sync_all()).with_context(|| path.display().to_string())?;
    }
    let witness = log.witness(&receipt, key.public(), now(), |bytes| key.sign_bytes(bytes))?;
    let Some(witness) = witness else { bail!("{}: it has no such entry", path.display()) };
    let name = write(output, &witness.encode())?;
    let (entry, of, public) = (witness.index + 1, witness.size, encoded(&key));
    say(&format!(
        "seamgate: {name}: entry {entry} of {of}; verify it with: seamgate receipt verify FILE --key KEY --witness {name} \
         --witness-key {public}"
    ));
    Ok(Status::Accepted)
}
