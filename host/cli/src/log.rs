//! The log: `--log-format`, and `RUST_LOG`.

use std::fmt;

use anyhow::{Result, bail};
use seamgate_text::{Level, escape_terminal, hide_in_log, log, log_as_json, warn};
use serde_json::{Map, Value};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer, Registry,
    filter::Targets,
    layer::{Context, SubscriberExt},
    util::SubscriberInitExt,
};

/// The variable that sets the format if the option does not.
const VARIABLE: &str = "SEAMGATE_LOG_FORMAT";

/// The form of messages on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for people
    Text,
    /// One JSON object per line, with secrets redacted
    Json,
}

/// Starts the log of a command.
pub(crate) fn begin(format: Option<LogFormat>, command: &str) -> Result<()> {
    let format = match (format, std::env::var(VARIABLE).unwrap_or_default().as_str()) {
        (Some(format), _) => format,
        (None, "" | "text") => LogFormat::Text,
        (None, "json") => LogFormat::Json,
        (None, other) => bail!("the variable {VARIABLE} must be text or json, not {other:?}"),
    };
    if format == LogFormat::Json {
        log_as_json(command);
        hide_in_log(|text| seamgate_kernel::sanitize::redact(&text));
    }
    let filter = std::env::var("RUST_LOG").unwrap_or_default();
    if filter.trim().is_empty() {
        return Ok(());
    }
    let Ok(filter) = filter.parse::<Targets>() else {
        // The variable may be meant for another program.
        warn(&escape_terminal(&format!(
            "seamgate: RUST_LOG is ignored: it must be a level or TARGET=LEVEL,…, not {filter:?}"
        )));
        return Ok(());
    };
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Text => tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).boxed(),
        LogFormat::Json => Lines.boxed(),
    };
    // If a package calls the command line twice, it already has a log.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter)).try_init();
    Ok(())
}

/// Writes the events of libraries as lines of JSON.
struct Lines;

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = match *event.metadata().level() {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::INFO => Level::Info,
            tracing::Level::DEBUG => Level::Debug,
            tracing::Level::TRACE => Level::Trace,
        };
        log(level, Some(event.metadata().target()), &fields.message, fields.others);
    }
}

/// The message of an event, and its other fields.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        self.others.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" { self.message = text } else { self.add(field, text.into()) }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" { self.message = value.to_owned() } else { self.add(field, value.into()) }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}
