//! Receipts of verdicts: signs the lines of `seamgate check --ndjson` as rows of one tree.

use std::{
    fs::File,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::Gate;
use seamgate_receipt::{
    Batch, Evidence, Expected, Kind, Row, Rows, VerdictsReport, VerdictsStatement, verify_batch, verify_row,
};
use seamgate_text::{count, say};

use super::{check_line, encoded, is_new, key_for, now, print, read, write};
use crate::{contracts, ndjson, status::Status};

/// The requests and the answers of a batch: the same number of lines.
#[derive(clap::Args)]
pub(super) struct Files {
    /// The requests, one per line
    #[arg(long, value_name = "FILE")]
    requests: PathBuf,
    /// The output of 'seamgate check --ndjson' for them
    #[arg(long, value_name = "FILE")]
    answers: PathBuf,
}

/// An archive of verdicts, and the contracts of its agents.
#[derive(clap::Args)]
struct Archive {
    /// The contract or the folder of contracts that the answers were judged by
    #[arg(short, long, value_name = "CONTRACT")]
    contract: PathBuf,
    #[command(flatten)]
    lines: Files,
}

#[derive(clap::Args)]
pub(super) struct Make {
    #[command(flatten)]
    archive: Archive,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The private key to sign with: Ed25519, PKCS #8 in PEM
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The issuer, such as a URI [default: the public key]
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct Take {
    /// The receipt of the batch
    #[arg(value_name = "BATCH")]
    batch: PathBuf,
    /// The number of the line, from 1
    #[arg(value_name = "ROW", value_parser = clap::value_parser!(u64).range(1..))]
    row: u64,
    #[command(flatten)]
    archive: Archive,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The lines of a batch, in pairs.
struct Pairs {
    requests: Lines<BufReader<File>>,
    answers: Lines<BufReader<File>>,
    files: [String; 2],
}

impl Files {
    pub(super) fn of(requests: &Path, answers: &Path) -> Self {
        Files { requests: requests.to_owned(), answers: answers.to_owned() }
    }

    fn open(&self) -> Result<Pairs> {
        let open = |path: &Path| {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok::<_, anyhow::Error>(BufReader::new(file).lines())
        };
        let files = [&self.requests, &self.answers].map(|path| path.display().to_string());
        Ok(Pairs { requests: open(&self.requests)?, answers: open(&self.answers)?, files })
    }

    /// Returns all rows, and the row with a number from 1.
    fn rows(&self, wanted: Option<u64>) -> Result<(Rows, Option<(String, String)>)> {
        let mut rows = Rows::default();
        let mut found = None;
        for pair in self.open()? {
            let (request, answer) = pair?;
            rows.push(request.as_bytes(), answer.as_bytes());
            if Some(rows.count()) == wanted {
                found = Some((request, answer));
            }
        }
        Ok((rows, found))
    }
}

impl Iterator for Pairs {
    type Item = Result<(String, String)>;

    fn next(&mut self) -> Option<Self::Item> {
        let [requests, answers] = &self.files;
        match (self.requests.next(), self.answers.next()) {
            (None, None) => None,
            (Some(Ok(request)), Some(Ok(answer))) => Some(Ok((request, answer))),
            (Some(Err(error)), _) => Some(Err(error).with_context(|| format!("cannot read {requests}"))),
            (_, Some(Err(error))) => Some(Err(error).with_context(|| format!("cannot read {answers}"))),
            (Some(_), None) => Some(Err(anyhow::anyhow!("{answers} has fewer lines than {requests}"))),
            (None, Some(_)) => Some(Err(anyhow::anyhow!("{requests} has fewer lines than {answers}"))),
        }
    }
}

/// Returns the digest of the component, and the texts of the contracts in the order in which they are registered.
fn judged_by(path: &Path) -> Result<(String, Vec<String>)> {
    let (gate, texts) = contracts::read(path, &seamgate::Limits::default())?;
    if texts.is_empty() {
        bail!("-c {}: name the contracts that were baked into it, so that the receipt can have them", path.display());
    }
    Ok((gate.component().digest().to_owned(), texts.into_values().collect()))
}

pub(super) fn make(arguments: &Make) -> Result<Status> {
    let Make { archive: Archive { contract, lines }, output, key_file, issuer } = arguments;
    let key = key_for(output, key_file)?;
    let (component, contracts) = judged_by(contract)?;
    let (rows, _) = lines.rows(None)?;
    let tree = rows.tree();
    let statement = tree.statement(&component, &contracts);
    let public = encoded(&key);
    let mut batch = Batch::new(&statement, key.public(), issuer.as_deref().unwrap_or(&public), now());
    batch.signed.sign(|bytes| key.sign_bytes(bytes))?;
    let name = write(output, &batch.encode())?;
    let rows = count(usize::try_from(tree.count()).unwrap_or(usize::MAX), "row");
    say(&format!("seamgate: {name}: {rows}; take one with: seamgate receipt row {name} 1 -c … -o ROW"));
    Ok(Status::Accepted)
}

pub(super) fn take(arguments: &Take) -> Result<Status> {
    let Take { batch, row, archive: Archive { contract, lines }, output } = arguments;
    is_new(output)?;
    let Batch { signed } = Batch::read(&read(batch)?).with_context(|| batch.display().to_string())?;
    let (_, contracts) = judged_by(contract)?;
    let (rows, found) = lines.rows(Some(*row))?;
    let statement: VerdictsStatement =
        serde_json::from_slice(&signed.statement).with_context(|| batch.display().to_string())?;
    let tree = rows.tree();
    if tree.statement(&statement.component, &contracts) != statement {
        bail!("{}: it was made of other requests, answers or contracts than these", batch.display());
    }
    let Some((request, answer)) = found else {
        bail!("{}: it has {} rows, and no row {row}", batch.display(), tree.count());
    };
    let index = row - 1;
    let path = tree.path(usize::try_from(index).unwrap_or(usize::MAX));
    let taken = Row { signed, index, size: tree.count(), path, request, answer, contracts };
    let name = write(output, &taken.encode())?;
    say(&format!("seamgate: {name}; verify it with: seamgate receipt verify {name} --key KEY"));
    Ok(Status::Accepted)
}

pub(super) fn verify(
    kind: Kind,
    file: &[u8],
    gate: Gate,
    lines: Option<&Files>,
    expected: &Expected,
    evidence: &Evidence,
    is_json: bool,
) -> Result<Status> {
    let mut report = match (kind, lines) {
        (Kind::Row, None) => verify_row(file, gate, ndjson::line, expected),
        (Kind::Row, Some(_)) => bail!("the receipt of one row has its request and its answer: leave out --requests"),
        (_, Some(lines)) => verify_batch(file, &lines.rows(None)?.0.tree(), expected),
        (_, None) => bail!("the receipt of a batch needs its rows: --requests FILE --answers FILE"),
    };
    evidence.check(file, &mut report.ok, &mut report.checks);
    print(&report, is_json, text)?;
    Ok(if report.ok { Status::Accepted } else { Status::Rejected })
}

fn text(report: &VerdictsReport) -> String {
    let mut lines: Vec<String> = report.checks.iter().map(check_line).collect();
    lines.push(match (report.ok, report.row) {
        (false, _) => "a check failed: do not rely on this receipt".to_owned(),
        (true, Some(row)) => format!("verified row {row} of {}", report.rows),
        (true, None) => format!("verified {} rows", report.rows),
    });
    lines.join("\n")
}
