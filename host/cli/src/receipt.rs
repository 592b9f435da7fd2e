//! `seamgate receipt`: signed receipts of runs, and their verification.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, Options, read_profile, write_private};
use seamgate_receipt::{
    Check, Counts, Expected, MAX_RECEIPT, NoReceipt, Report, Signing, Trusted, Withhold, receipt_of, verify,
};
use seamgate_runner::run_dir::{Plan, SigningKey, public_key};
use seamgate_text::{count, escape_terminal, say, shell_word};

use crate::{contracts::read_component, error::Unwritten, input, status::Status};

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
    /// Verify a receipt: signature, lines, profile, and every decision
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
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
    /// Who makes the receipt, such as a URI [default: the public key]
    #[arg(long, value_name = "NAME")]
    issuer: Option<String>,
    /// Leave out the lines of a call, as c3, or of a step, as 12. Their digests stay. The steps after them can no longer be
    /// derived again
    #[arg(long, value_name = "CALL|STEP")]
    withhold: Vec<String>,
    /// The profile of a run that was made by your own code, and those that it delegates to
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
    /// The public key that must have signed it, as base64url or a line of OpenSSH; 'any' takes any key
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,
    /// The profile that the run must have
    #[arg(short, long, value_name = "PROFILE")]
    profile: Option<PathBuf>,
    /// The component that the receipt names [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    component: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    match (&arguments.command, &arguments.make) {
        (Some(Command::Verify(arguments)), _) => verify_file(arguments),
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
    if output.exists() {
        bail!("{}: the file exists: name a new one", output.display());
    }
    let key = SigningKey::read(key_file)?;
    let profiles = match profile.is_empty() {
        false => profile.iter().map(|path| Ok(read_profile(path)?.trim().to_owned())).collect::<Result<Vec<_>>>()?,
        true => of_plan(run)?,
    };
    let public = data_encoding::BASE64URL_NOPAD.encode(&key.public());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let signing = Signing {
        key: key.public(),
        sign: &|bytes: &[u8]| key.sign_bytes(bytes),
        issuer: issuer.as_deref().unwrap_or(&public),
        now,
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
    write_private(output, &receipt).with_context(|| format!("cannot write {}", output.display()))?;
    let name = shell_word(output);
    say(&format!(
        "seamgate: {name}: {}; verify it with: seamgate receipt verify {name} --key {public}",
        count(receipt.len(), "byte")
    ));
    Ok(Status::Accepted)
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
    let Verify { file, key, profile, component, json } = arguments;
    let keys = match key.iter().any(|key| key == "any") {
        true => Trusted::Any,
        false => Trusted::Keys(key.iter().map(|key| read_key(key)).collect::<Result<_>>()?),
    };
    let profile = profile.as_deref().map(read_profile).transpose()?;
    let bytes = input::named(file, MAX_RECEIPT).with_context(|| input::name(Some(file)))?;
    let report = verify(&bytes, gate(component.as_deref())?, &Expected { keys, profile });
    let text = match json {
        true => serde_json::to_string(&report)?,
        false => escape_terminal(&text(&report)),
    };
    writeln!(anstream::stdout().lock(), "{text}").map_err(Unwritten::from)?;
    Ok(match report {
        Report { ok: false, .. } => Status::Rejected,
        Report { whole: false, .. } => Status::Partial,
        _ => Status::Accepted,
    })
}

fn read_key(text: &str) -> Result<[u8; 32]> {
    public_key(text).with_context(|| {
        format!("--key {text}: expected the 32 bytes of an Ed25519 key as base64url, a line of OpenSSH, or any")
    })
}

fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    for Check { check, ok, detail, step, line, .. } in &report.checks {
        let word = if *ok { "ok" } else { "failed" };
        let place = match (step, line) {
            (Some(step), Some(line)) => format!("step {step}, line {line}: "),
            _ => String::new(),
        };
        lines.push(format!("{word:<9} {check:<10} {place}{detail}"));
    }
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
