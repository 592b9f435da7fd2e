//! Sends one call to a tool, and returns the outcome.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use seamgate::{ExecuteAction, Json};

use crate::{
    jsonrpc::RpcError,
    mcp::{Client, Unanswered},
    process::{self, Ended, Inherited, Signals, Stop},
    run_dir::{Command, Servers},
    secrets::Secrets,
};

/// The longest result, in bytes. A journal can keep results up to this length.
const MAX_RESULT: usize = 64 * 1024 * 1024;

/// The outcome of a call.
pub(super) enum Outcome {
    /// The tool answered.
    Result { is_error: bool, body: Body },
    /// The tool returned no result.
    Failed {
        message: String,
        /// `true` if the call may have had an effect.
        may_have_run: bool,
    },
    /// The run cancelled the call.
    Cancelled,
    /// A signal ended this process.
    Interrupted,
}

/// The body of a result.
pub(super) enum Body {
    Json(Json),
    Text(String),
}

impl Body {
    /// Returns JSON if the bytes are JSON. Otherwise, returns text, with U+FFFD in place of invalid UTF-8.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match serde_json::from_slice::<Json>(bytes) {
            Ok(value) => Body::Json(value),
            Err(_) => Body::Text(String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// Returns the output of a tool with the values of secrets hidden.
    fn hidden(bytes: &[u8], secrets: &Secrets) -> Self {
        if secrets.is_empty() {
            return Body::of(bytes);
        }
        Body::of(secrets.hide(String::from_utf8_lossy(bytes).into_owned()).as_bytes())
    }
}

impl Outcome {
    pub(super) fn not_sent(message: String) -> Self {
        Outcome::Failed { message, may_have_run: false }
    }
}

/// Inserts the values of secrets into the arguments of a call. The run that sent the arguments does not have these
/// values.
pub(super) fn arguments(secrets: &Secrets, execute: &ExecuteAction) -> Result<String, Outcome> {
    let named = execute.secrets.as_deref().unwrap_or_default();
    secrets.fill(&execute.arguments, "", named).map_err(Outcome::not_sent)
}

/// Calls a tool of a server that speaks MCP.
pub(super) fn call(
    (server, timeout): (&Client, Duration),
    execute: &ExecuteAction,
    arguments: &str,
    now: u64,
    stop: &Stop,
) -> Outcome {
    let timeout = Duration::from_millis(execute.expires.saturating_sub(now)).min(timeout);
    match server.call(&execute.tool, arguments, &execute.idempotency_key, timeout, stop) {
        Ok(Ok(called)) => {
            let text = || Body::Text(called.text());
            let body = called.structured.clone().map_or_else(text, |value| Body::Json(value.into()));
            Outcome::Result { is_error: called.is_error, body }
        }
        Ok(Err(RpcError { code, message, .. })) => {
            Outcome::Result { is_error: true, body: Body::Text(format!("error {code}: {message}")) }
        }
        Err(Unanswered::NotSent) => Outcome::not_sent("the server has ended".to_owned()),
        Err(Unanswered::Ended) => {
            Outcome::Failed { message: format!("{} during the call", server.how_it_ended()), may_have_run: true }
        }
        Err(Unanswered::Late) => {
            let message = format!("the server gave no result within {} s", timeout.as_secs());
            Outcome::Failed { message, may_have_run: true }
        }
        Err(Unanswered::Failed { message, may_have_run }) => Outcome::Failed { message, may_have_run },
        Err(Unanswered::Stopped) => Outcome::Cancelled,
    }
}

/// Runs the command of a tool. The command reads the arguments from its standard input, and writes the result to its
/// standard output.
pub(super) fn run(
    (servers, tool): (&Servers, &Command),
    run: &str,
    (execute, arguments): (&ExecuteAction, &str),
    now: u64,
    (inherited, signals, stop): (&[String], &Signals, Stop),
) -> Outcome {
    let left = Duration::from_millis(execute.expires.saturating_sub(now));
    let timeout = Duration::from_secs(tool.timeout_s).min(left);
    let command: Vec<_> = tool.command.iter().map(Into::into).collect();
    let own = [
        ("SEAMGATE_RUN", run),
        ("SEAMGATE_CALL", &execute.call),
        ("SEAMGATE_SERVER", execute.server.as_deref().unwrap_or_default()),
        ("SEAMGATE_TOOL", &execute.tool),
        ("SEAMGATE_IDEMPOTENCY_KEY", &execute.idempotency_key),
    ];
    let environment: Vec<_> = tool
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.into()))
        .chain(own.map(|(name, value)| (name, value.into())))
        .collect();
    let run = process::Run {
        command: &command,
        inherited: Inherited::Only(inherited),
        environment: &environment,
        input: arguments.as_bytes(),
        timeout,
        limit: MAX_RESULT,
        folder: Some(&servers.folder),
        stop,
        told_as: Some(&execute.tool),
        paths: tool.paths.as_ref(),
        secrets: Arc::clone(&servers.secrets),
    };
    let start = Instant::now();
    let body = |output: &[u8]| Body::hidden(output, &servers.secrets);
    let failed = |message: String| Outcome::Failed { message, may_have_run: true };
    match process::run(&run, signals, &mut |_| {}) {
        Ok(Ended::Exited { output }) => Outcome::Result { is_error: false, body: body(&output) },
        // A tool that ends by itself has answered, even if its exit status reports a failure.
        Ok(Ended::Failed { status, output }) if status.code().is_some() => {
            let body = match output.trim_ascii() {
                b"" => Body::Text(format!("The tool failed: {status}")),
                _ => body(&output),
            };
            Outcome::Result { is_error: true, body }
        }
        Ok(Ended::Failed { status, .. }) => failed(format!("the tool was ended: {status}")),
        Ok(Ended::TimedOut { .. }) => failed(format!("the tool gave no result within {} s", start.elapsed().as_secs())),
        Ok(Ended::TooLong { .. }) => failed(format!("the tool wrote more than {MAX_RESULT} bytes")),
        Ok(Ended::NotStarted(error)) => {
            let program = tool.command.first().map(String::as_str).unwrap_or_default();
            Outcome::not_sent(format!("cannot run {program}: {error}"))
        }
        Ok(Ended::Stopped) => Outcome::Cancelled,
        Ok(Ended::Interrupted(_)) => Outcome::Interrupted,
        Err(error) => failed(format!("cannot watch the tool: {error}")),
    }
}
