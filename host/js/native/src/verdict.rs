//! Verdicts and answers as JavaScript reads them.

use napi::{Env, JsString};
use napi_derive::napi;
use seamgate::{Answer, Usage, Verdict};

use crate::error::{self, Result};

/// A report or an answer as JSON text, and what it took.
#[napi(object)]
pub struct Judged {
    pub json: String,
    pub fuel: f64,
    pub memory: f64,
    /// In milliseconds.
    pub elapsed: f64,
}

impl Judged {
    pub(crate) fn of(verdict: Verdict) -> Self {
        Judged::new(verdict.report.to_json(), &verdict.usage)
    }

    pub(crate) fn answer(answer: Answer) -> Self {
        Judged::new(answer.json, &answer.usage)
    }

    fn new(json: String, usage: &Usage) -> Self {
        let elapsed = usage.elapsed.as_secs_f64() * 1000.0;
        // JavaScript's numbers hold them up to 2^53.
        Judged { json, fuel: usage.fuel as f64, memory: usage.memory as f64, elapsed }
    }
}

/// The outcome of one output of several: a verdict, or the text of the error.
#[napi(object)]
pub struct NativeOutcome {
    pub judged: Option<Judged>,
    pub error: Option<String>,
}

impl NativeOutcome {
    pub(crate) fn of(judged: Result<Judged>) -> Self {
        match judged {
            Ok(judged) => NativeOutcome { judged: Some(judged), error: None },
            Err(error) => NativeOutcome { judged: None, error: Some(error::told(error).reason.to_string()) },
        }
    }
}

/// A report as a tuple, which is faster to make than an object: its JSON text, the fuel, the memory in bytes, the milliseconds, and the
/// length of the document in the text, in UTF-16 units (negative if there is no document).
pub(crate) type Reported<'env> = (JsString<'env>, f64, f64, f64, f64);

/// Returns a verdict as JavaScript reads it.
pub(crate) fn report<'env>(env: &'env Env, verdict: Verdict) -> Result<Reported<'env>> {
    let Verdict { report, usage, .. } = verdict;
    let json = report.to_json();
    let is_ascii = json.is_ascii();
    // To count units takes forty times as long as to see that each byte is one.
    let units = |text: &str| if is_ascii { text.len() } else { text.encode_utf16().count() };
    let length = report.output.as_deref().map_or(-1.0, |document| units(document) as f64);
    let elapsed = usage.elapsed.as_secs_f64() * 1000.0;
    let made = match is_ascii {
        true => env.create_string_latin1(json.as_bytes()),
        false => env.create_string(&json),
    };
    let text = made.map_err(|error| error::usage(error.reason.to_string()))?;
    Ok((text, usage.fuel as f64, usage.memory as f64, elapsed, length))
}
