//! Answers the requests of the page, of programs, and of Prometheus.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anstream::adapter::strip_str;
use percent_encoding::percent_decode_str;
use seamgate_http::{Broken, Connection, Guard, Handler, Refused, Request};
use seamgate_runner::{notice::Notice, run_dir::MAX_TOKEN, waiting::Waiting};
use seamgate_text::with_sources;
use serde::{Deserialize, Serialize};

use crate::runs::{Runs, Shown};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
/// OpenMetrics 1.0.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Permits the page to load only its own files and to connect only to its own server, and forbids other pages to frame
/// it.
const POLICY: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
                      X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n";

/// The longest trace that is shown, in bytes.
const MAX_TRACE: usize = 8 * 1024 * 1024;

/// The server of a folder of runs.
pub(crate) struct Site {
    pub(crate) guard: Guard,
    pub(crate) runs: Arc<Mutex<Runs>>,
}

/// An answer: the status, the media type and the body.
pub(crate) struct Answer(u16, &'static str, String);

impl From<Refused> for Answer {
    fn from(Refused(status, why): Refused) -> Self {
        error(status, &why)
    }
}

/// A waiting call, with the name of its run.
#[derive(Serialize)]
struct Entry<'w> {
    /// The name of the call's run on this server.
    name: String,
    #[serde(flatten)]
    notice: Notice<'w>,
    arguments: &'w str,
}

#[derive(Serialize)]
struct List<T> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<String>,
    all: Vec<T>,
}

/// A signed decision, and its run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    name: String,
    token: String,
}

impl Handler for Site {
    type Answer = Answer;

    fn answer(&self, connection: &mut Connection, request: &Request) -> Result<Answer, Broken> {
        self.guard.check_place(request)?;
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let is_get = request.method == "GET";
        // These contain nothing from runs.
        let page = match path {
            "/" => Some((HTML, include_str!("page/index.html"))),
            "/page.js" => Some((SCRIPT, include_str!("page/page.js"))),
            "/page.css" => Some((STYLE, include_str!("page/page.css"))),
            _ => None,
        };
        if let (Some((kind, body)), true) = (page, is_get) {
            return Ok(Answer(200, kind, body.to_owned()));
        }
        self.guard.check_token(request)?;
        match (path, is_get) {
            ("/metrics", true) => Ok(Answer(200, METRICS, self.runs().metrics())),
            ("/api/runs", true) => Ok(json(&List::<Shown> { faults: Vec::new(), all: self.runs().shown() })),
            ("/api/waiting", true) => Ok(self.waiting()),
            ("/api/trace", true) => Ok(self.trace(query)?),
            ("/api/decisions", false) if request.method == "POST" => {
                let body = connection.body(request)?;
                Ok(self.decide(&body))
            }
            ("/" | "/page.js" | "/page.css" | "/metrics" | "/api/runs" | "/api/waiting" | "/api/trace", false) => {
                Err(Refused(405, "use GET".to_owned()).into())
            }
            ("/api/decisions", _) => Err(Refused(405, "use POST".to_owned()).into()),
            _ => Err(Refused(404, "there is nothing here".to_owned()).into()),
        }
    }

    fn write(&self, connection: &mut Connection, Answer(status, kind, body): Answer) -> io::Result<()> {
        let allow = match status {
            401 => "WWW-Authenticate: Bearer\r\n",
            405 => "Allow: GET, POST\r\n",
            _ => "",
        };
        connection.answer(status, kind, &format!("{POLICY}{allow}"), &body)
    }
}

impl Site {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> Answer {
        let mut runs = self.runs();
        let (waiting, faults) = runs.waiting();
        let all = waiting.iter().map(|one| entry(&runs, one)).collect();
        json(&List { faults, all })
    }

    /// Returns a run as text.
    fn trace(&self, query: &str) -> Result<Answer, Refused> {
        let name = query.strip_prefix("run=");
        let name = name.and_then(|name| percent_decode_str(name).decode_utf8().ok());
        let name = name.ok_or_else(|| Refused(400, "name a run: /api/trace?run=NAME".to_owned()))?;
        let folder = {
            let mut runs = self.runs();
            runs.refresh();
            runs.folder(&name)
        };
        let folder = folder.ok_or_else(|| Refused(404, "there is no such run".to_owned()))?;
        let mut text = Vec::new();
        let faults =
            seamgate_trace::write_text(&mut text, &folder).map_err(|error| Refused(409, with_sources(&error)))?;
        let mut text = strip_str(&String::from_utf8_lossy(&text)).to_string();
        if text.len() > MAX_TRACE {
            let end = text.floor_char_boundary(MAX_TRACE);
            text.truncate(end);
            text.push_str("\n… cut here: 'seamgate trace' shows the rest\n");
        }
        faults.iter().for_each(|fault| text.push_str(&format!("{fault}\n")));
        Ok(Answer(200, TEXT, text))
    }

    /// Sends a signed decision to its run.
    fn decide(&self, body: &[u8]) -> Answer {
        if body.len() > 2 * MAX_TOKEN {
            return error(413, "a decision is shorter than this");
        }
        let Decided { name, token } = match serde_json::from_slice(body) {
            Ok(decided) => decided,
            Err(wrong) => return error(400, &format!("expected \"name\" and \"token\": {wrong}")),
        };
        let mut runs = self.runs();
        let (waiting, _) = runs.waiting();
        let of_run: Vec<&Waiting> = waiting.iter().filter(|one| runs.name(&one.folder) == name).collect();
        if of_run.is_empty() {
            return error(409, "no call of this run waits any more: somebody has decided, or nobody did in time");
        }
        // The token determines which of the calls it is for. Report what is wrong with it for the call that it names.
        let signed = of_run.iter().map(|one| (*one, one.signed(&token)));
        let mut wrong = None;
        for (one, event) in signed {
            match event {
                Ok(event) => {
                    let (decision, principal) = (event.decision.as_str(), event.principal.clone());
                    return match one.send(event) {
                        Ok(None) => json(&serde_json::json!({ "decision": decision, "principal": principal })),
                        Ok(Some(record)) => error(409, &format!("the run did not take it: {}", record.message)),
                        Err(failed) => error(500, &with_sources(&failed)),
                    };
                }
                Err(error) => wrong = Some(with_sources(&error)),
            }
        }
        error(403, &wrong.unwrap_or_default())
    }
}

fn entry<'w>(runs: &Runs, one: &'w Waiting) -> Entry<'w> {
    Entry { name: runs.name(&one.folder), notice: one.notice(), arguments: &one.arguments }
}

fn json(value: &impl Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => Answer(200, JSON, text),
        Err(wrong) => error(500, &wrong.to_string()),
    }
}

fn error(status: u16, why: &str) -> Answer {
    Answer(status, JSON, serde_json::json!({ "error": why }).to_string())
}
