//! `seamgate verify-release`: checks the files of a release without a network.

use std::{io::Write, path::PathBuf};

use anyhow::{Context, Result, anyhow};
use seamgate_release::{Expected, MAX_TRUST_ROOT, Report, Trust, verify};
use seamgate_text::escape_terminal;

use crate::{error::Unwritten, input, status::Status};

pub(crate) const HELP: &str = "\
DIR holds files of one release: SHA256SUMS, every file that ends with .sigstore.json, and any of the others.
Files that are not there are listed as unchecked. Without --release, an old release passes too.

Exit status: 0 all checks passed, 1 a check failed, 2 usage error";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the release's files
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The repository on GitHub whose release workflow must have built and signed the files
    #[arg(long, value_name = "OWNER/NAME")]
    repo: String,
    /// The version that the release must have [default: the one that the files name]
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The trust root of another instance of Sigstore, a trusted_root.json [default: the public-good instance]
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Status> {
    let trust = match &arguments.trust {
        None => Trust::public_good().map_err(|error| anyhow!("the built-in trust root: {error}"))?,
        Some(file) => {
            let name = || format!("--trust {}", input::name(Some(file)));
            let bytes = input::named(file, MAX_TRUST_ROOT).with_context(name)?;
            let text = std::str::from_utf8(&bytes).with_context(name)?;
            Trust::from_json(text).map_err(|error| anyhow!("{}: is no trust root of Sigstore: {error}", name()))?
        }
    };
    let expected = Expected { repository: &arguments.repo, version: arguments.release.as_deref() };
    let report = verify(&arguments.dir, &expected, &trust).with_context(|| arguments.dir.display().to_string())?;
    let text = match arguments.json {
        true => serde_json::to_string(&report)?,
        false => escape_terminal(&text(&report)),
    };
    writeln!(anstream::stdout().lock(), "{text}").map_err(Unwritten::from)?;
    Ok(if report.ok { Status::Accepted } else { Status::Rejected })
}

fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    for check in &report.checks {
        let word = if check.ok { "ok" } else { "failed" };
        lines.push(format!("{word:<9} {:<10} {}: {}", check.check, check.file, check.detail));
    }
    for unchecked in &report.unchecked {
        lines.push(format!("{:<9} {:<10} {}: {}", "unchecked", unchecked.check, unchecked.file, unchecked.why));
    }
    let failed = report.checks.iter().filter(|check| !check.ok).count();
    let version = report.version.as_deref().unwrap_or("unknown");
    lines.push(match failed {
        0 => format!("verified version {version} of {}", report.repository),
        1 => "1 check failed: do not use these files".to_owned(),
        _ => format!("{failed} checks failed: do not use these files"),
    });
    lines.join("\n")
}
