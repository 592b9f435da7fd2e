//! `seamgate attest`: statements that files were made by the run of a receipt.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use seamgate::Gate;
use seamgate_receipt::{
    Attested, Expected, MAX_ATTESTATION, Report, Signing, Subject, Trusted, attest, read_attestation, subject, verify,
};
use seamgate_text::{escape_terminal, say};

use crate::{
    console::print,
    input,
    receipt::{encoded, key_for, now, read, trusted, write},
    status::Status,
};

pub(crate) const HELP: &str = "\
The statement is one of in-toto, in a DSSE envelope. Its subjects are the files by their digests; it says which run made them, under
which profile, and what was decided. The receipt is verified first.

Exit status: 0 made or verified, 1 the receipt or the statement does not hold, 2 usage error";

/// The largest file that is a subject, in bytes: 4 GiB.
const MAX_FILE: usize = u32::MAX as usize;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    make: Option<Make>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Verify a statement, the receipt that it names, and the files
    Verify(Verify),
}

#[derive(clap::Args)]
struct Make {
    /// The receipt of the run
    #[arg(value_name = "RECEIPT")]
    receipt: PathBuf,
    /// The files that the run made
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The private key to sign with: Ed25519, PKCS #8 in PEM
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
}

#[derive(clap::Args)]
struct Verify {
    /// The statement
    #[arg(value_name = "STATEMENT")]
    statement: PathBuf,
    /// The files that it must cover
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The receipt of the run
    #[arg(long, value_name = "FILE")]
    receipt: PathBuf,
    /// The public key that must have signed both, as base64url or a line of OpenSSH. 'any' accepts any key
    #[arg(long, value_name = "KEY", required = true, allow_hyphen_values = true)]
    key: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match (&arguments.command, &arguments.make) {
        (Some(Command::Verify(arguments)), _) => verify_statement(arguments),
        (None, Some(make)) => made(make),
        (None, None) => bail!("name a receipt and the files that its run made"),
    }
}

fn subjects(files: &[PathBuf]) -> Result<Vec<Subject>> {
    let one = |file: &PathBuf| {
        let bytes = input::named(file, MAX_FILE).with_context(|| file.display().to_string())?;
        let name = file.file_name().with_context(|| format!("{}: it has no name", file.display()))?;
        Ok(subject(&name.to_string_lossy(), &bytes))
    };
    files.iter().map(one).collect()
}

/// Verifies the receipt. If it is invalid, reports that and returns `None`.
fn verified(file: &Path, keys: Trusted) -> Result<Option<(Vec<u8>, Report)>> {
    let receipt = read(file)?;
    let report = verify(&receipt, Gate::new()?, &Expected { keys, profile: None });
    if let Some(failed) = report.checks.iter().find(|check| !check.ok) {
        let detail = escape_terminal(&failed.detail);
        say(&format!("seamgate: {}: the receipt does not verify: {}: {detail}", file.display(), failed.check));
        return Ok(None);
    }
    Ok(Some((receipt, report)))
}

fn made(arguments: &Make) -> Result<Status> {
    let Make { receipt, files, output, key_file } = arguments;
    let key = key_for(output, key_file)?;
    let Some((receipt, report)) = verified(receipt, Trusted::Any)? else { return Ok(Status::Rejected) };
    let issuer = encoded(&key);
    let sign = |bytes: &[u8]| key.sign_bytes(bytes);
    let signing = Signing { key: key.public(), sign: &sign, issuer: &issuer, now: now() };
    let statement = attest(&receipt, &report, subjects(files)?, &signing)?;
    let name = write(output, format!("{statement}\n").as_bytes())?;
    say(&format!("seamgate: {name}: signed by {issuer}"));
    Ok(Status::Accepted)
}

fn verify_statement(arguments: &Verify) -> Result<Status> {
    let Verify { statement, files, receipt, key } = arguments;
    let keys = trusted("--key", key)?;
    let text = input::named(statement, MAX_ATTESTATION).with_context(|| statement.display().to_string())?;
    let Some((receipt, _)) = verified(receipt, keys.clone())? else { return Ok(Status::Rejected) };
    let Attested { subject, predicate, .. } = match read_attestation(&String::from_utf8_lossy(&text), &receipt, &keys) {
        Ok(attested) => attested,
        Err(error) => {
            say(&format!("seamgate: {}: {}", statement.display(), escape_terminal(&error.to_string())));
            return Ok(Status::Rejected);
        }
    };
    for own in subjects(files)? {
        if !subject.iter().any(|subject| subject.digest == own.digest) {
            let name = escape_terminal(&own.name);
            say(&format!("seamgate: {name}: the statement is not about this file: no subject has its digest"));
            return Ok(Status::Rejected);
        }
    }
    let (run, agent) = (escape_terminal(&predicate.run), escape_terminal(&predicate.agent));
    print(&format!("verified: the run {run} of {agent} made them"))?;
    Ok(Status::Accepted)
}
