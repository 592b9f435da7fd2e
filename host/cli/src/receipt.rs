//! `seamgate receipt`: signed receipts of runs, and their verification.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};
use data_encoding::BASE64URL_NOPAD;
use seamgate::{Gate, Options, read_profile, write_private};
use seamgate_receipt::{
    Check, Counts, Expected, Kind, MAX_RECEIPT, NoReceipt, Report, Signing, Trusted, Withhold, kind_of, receipt_of,
    verify,
};
use seamgate_runner::run_dir::{Plan, SigningKey, public_key};
use seamgate_text::{count, escape_terminal, say, shell_word};
use seamgate_trace::has_journal;

use crate::{contracts::read_component, error::Unwritten, input, status::Status};

mod evidence;
mod verdicts;
mod witness;

pub(crate) const HELP: &str = "\
A receipt is one file: the events of a run, its profile, the artifacts that decisions need, and a signature. Whoever verifies it
makes every decision again, in the same component. docs/receipts.md says what that proves, and what it does not.

Make a key with 'seamgate approve --new-key FILE'. A folder that is named verify is written ./verify.

Exit status: 0 made, 2 usage error, 5 the run cannot be read, or its decisions do not follow from its events";

const VERIFY_HELP: &str = "\
Exit status: 0 verified, 1 a check failed, 2 usage error, 3 verified, but some steps are withheld, or follow one that is";

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
    /// Verify a receipt: signature, digests, and every decision or verdict
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
    /// Sign many verdicts at once: the requests of 'seamgate check --ndjson' and their answers
    Verdicts(verdicts::Make),
    /// Extract the receipt of one verdict from a batch
    Row(verdicts::Take),
    /// Enter a receipt in the log of a witness, and sign that it is there
    Witness(witness::Arguments),
}

#[derive(clap::Args)]
struct Make {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The private key to sign with: Ed25519, PKCS #8 in PEM
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The issuer, such as a URI [default: the public key]
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,
    /// Leave out the lines of a call, such as c3, or of a step, such as 12. Their digests are kept. The steps after
    /// them can no longer be derived again
    #[arg(long, value_name = "CALL|STEP")]
    withhold: Vec<String>,
    /// The profile of a run that your own code made, and the profiles that it delegates to
    #[arg(short, long, value_name = "PROFILE")]
    profile: Vec<PathBuf>,
    /// The component that the run names [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
}

#[derive(clap::Args)]
struct Verify {
    /// The receipt
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The public key that must have signed it, as base64url or a line of OpenSSH. 'any' accepts any key
    #[arg(long, value_name = "KEY", required = true, allow_hyphen_values = true)]
    key: Vec<String>,
    /// The profile that the run must have
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
    /// The component that the receipt names [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
    /// The requests of a batch, one per line
    #[arg(long, value_name = "FILE", requires = "answers")]
    requests: Option<PathBuf>,
    /// The answers of a batch, one per line
    #[arg(long, value_name = "FILE", requires = "requests")]
    answers: Option<PathBuf>,
    #[command(flatten)]
    evidence: evidence::Options,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match (&arguments.command, &arguments.make) {
        (Some(Command::Verify(arguments)), _) => verify_file(arguments),
        (Some(Command::Verdicts(arguments)), _) => verdicts::make(arguments),
        (Some(Command::Row(arguments)), _) => verdicts::take(arguments),
        (Some(Command::Witness(arguments)), _) => witness::run(arguments),
        (None, Some(make)) => made(make),
        (None, None) => bail!("name the folder of a run"),
    }
}

fn gate(component: Option<&Path>) -> Result<Gate> {
    Ok(match component {
        Some(path) => Gate::with(Options::default().component(read_component(path)?))?,
        None => Gate::new()?,
    })
}

fn made(arguments: &Make) -> Result<Status> {
    let Make { run, output, key_file, issuer, withhold, profile, component } = arguments;
    if !has_journal(run) {
        bail!("{}: it has no journal: name the folder of a run", run.display());
    }
    let key = key_for(output, key_file)?;
    let profiles = match profile.is_empty() {
        false => profile.iter().map(|path| Ok(read_profile(path)?.trim().to_owned())).collect::<Result<Vec<_>>>()?,
        true => of_plan(run)?,
    };
    let public = encoded(&key);
    let signing = Signing {
        key: key.public(),
        sign: &|bytes: &[u8]| key.sign_bytes(bytes),
        issuer: issuer.as_deref().unwrap_or(&public),
        now: now(),
    };
    let receipt = match receipt_of(run, gate(component.as_deref())?, profiles, &parts(withhold)?, &signing) {
        Ok(receipt) => receipt,
        Err(error @ (NoReceipt::NotThere(_) | NoReceipt::Profile(_))) => bail!("{}: {error}", run.display()),
        Err(error @ NoReceipt::Component { .. }) => {
            bail!("{}: {error}: give that component with --component FILE", run.display())
        }
        Err(error) => {
            say(&format!("seamgate: {}: no receipt: {}", run.display(), escape_terminal(&error.to_string())));
            return Ok(Status::Fault);
        }
    };
    let name = write(output, &receipt)?;
    say(&format!(
        "seamgate: {name}: {}; verify it with: seamgate receipt verify {name} --key {public}",
        count(receipt.len(), "byte")
    ));
    Ok(Status::Accepted)
}

/// Returns the public key as base64url.
pub(crate) fn encoded(key: &SigningKey) -> String {
    BASE64URL_NOPAD.encode(&key.public())
}

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Reads the key that signs a new file.
pub(crate) fn key_for(output: &Path, key_file: &Path) -> Result<SigningKey> {
    is_new(output)?;
    Ok(SigningKey::read(key_file)?)
}

/// Writes a file that only its owner can read. Returns its name for a shell.
pub(crate) fn write(output: &Path, bytes: &[u8]) -> Result<String> {
    write_private(output, bytes).with_context(|| format!("cannot write {}", output.display()))?;
    Ok(shell_word(output))
}

/// Checks that a file does not exist, so that it is not replaced.
fn is_new(output: &Path) -> Result<()> {
    match output.exists() {
        true => bail!("{}: the file exists: name a new one", output.display()),
        false => Ok(()),
    }
}

/// Returns the documents of the profiles that a run registered.
fn of_plan(run: &Path) -> Result<Vec<String>> {
    let Some(plan) = Plan::of_any(run)? else {
        bail!("{}: it has no agent.json, so name its profile with -p PROFILE", run.display());
    };
    let document = |copy: &seamgate_runner::run_dir::ProfileCopy| {
        let text = copy.document().map(str::to_owned);
        text.with_context(|| format!("{}: it has no copy of its profiles: name them with -p PROFILE", run.display()))
    };
    plan.profiles.iter().map(document).collect()
}

fn parts(withhold: &[String]) -> Result<Withhold> {
    let (mut calls, mut steps) = (BTreeSet::new(), BTreeSet::new());
    for part in withhold {
        match part.parse() {
            Ok(step) => steps.insert(step),
            Err(_) if part.strip_prefix('c').is_some_and(|number| number.parse::<u64>().is_ok()) => {
                calls.insert(part.clone())
            }
            Err(_) => bail!("--withhold {part}: expected a call, such as c3, or the number of a step"),
        };
    }
    Ok(Withhold { calls, steps })
}

fn verify_file(arguments: &Verify) -> Result<Status> {
    let Verify { file, key, profile, component, requests, answers, evidence, json } = arguments;
    let lines =
        requests.as_ref().zip(answers.as_ref()).map(|(requests, answers)| verdicts::Files::of(requests, answers));
    let profile = profile.as_deref().map(read_profile).transpose()?;
    let expected = Expected { keys: trusted("--key", key)?, profile };
    let evidence = evidence.read()?;
    let bytes = read(file)?;
    match (kind_of(&bytes), lines) {
        (Ok(kind @ (Kind::Batch | Kind::Row)), lines) => {
            let gate = gate(component.as_deref())?;
            return verdicts::verify(kind, &bytes, gate, lines.as_ref(), &expected, &evidence, *json);
        }
        (_, Some(_)) => bail!("{}: it is not the receipt of a batch, so it has no --requests", file.display()),
        _ => {}
    }
    let mut report = verify(&bytes, gate(component.as_deref())?, &expected);
    evidence.check(&bytes, &mut report.ok, &mut report.checks);
    print(&report, *json, text)?;
    Ok(match report {
        Report { ok: false, .. } => Status::Rejected,
        Report { whole: false, .. } => Status::Partial,
        _ => Status::Accepted,
    })
}

/// Prints a report as JSON or as text.
fn print<R: serde::Serialize>(report: &R, is_json: bool, text: impl Fn(&R) -> String) -> Result<()> {
    let text = match is_json {
        true => serde_json::to_string(report)?,
        false => escape_terminal(&text(report)),
    };
    writeln!(anstream::stdout().lock(), "{text}").map_err(Unwritten::from)?;
    Ok(())
}

/// Reads a receipt.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    input::named(file, MAX_RECEIPT).with_context(|| input::name(Some(file)))
}

/// Parses the keys that an option names.
pub(crate) fn trusted(option: &str, keys: &[String]) -> Result<Trusted> {
    match keys.iter().any(|key| key == "any") {
        true => Ok(Trusted::Any),
        false => Ok(Trusted::Keys(keys.iter().map(|key| read_key(option, key)).collect::<Result<_>>()?)),
    }
}

fn read_key(option: &str, text: &str) -> Result<[u8; 32]> {
    public_key(text).with_context(|| {
        format!("{option} {text}: expected the 32 bytes of an Ed25519 key as base64url, a line of OpenSSH, or any")
    })
}

fn check_line(Check { check, ok, detail, step, line, .. }: &Check) -> String {
    let word = if *ok { "ok" } else { "failed" };
    let place = match (step, line) {
        (Some(step), Some(line)) => format!("step {step}, line {line}: "),
        _ => String::new(),
    };
    format!("{word:<9} {check:<10} {place}{detail}")
}

fn text(report: &Report) -> String {
    let mut lines: Vec<String> = report.checks.iter().map(check_line).collect();
    for withheld in &report.withheld {
        lines.push(format!("{:<9} step {:<5} {}", "unchecked", withheld.step, withheld.unchecked));
    }
    let Counts { steps, allowed, denied, asked, .. } = report.counts;
    if report.ok {
        let ended = report.ended.as_deref().unwrap_or("not ended");
        lines.push(format!(
            "run {} of {}: {steps} steps; {allowed} calls allowed, {denied} denied, {asked} asked about; {ended}",
            report.run, report.agent
        ));
    }
    lines.push(match report {
        Report { ok: false, .. } => "a check failed: do not rely on this receipt".to_owned(),
        Report { whole: false, .. } => "verified, but for the steps that are unchecked".to_owned(),
        _ => "verified".to_owned(),
    });
    lines.join("\n")
}
