//! The gate as the suites ask it: one contract for each schema, and the whole text as the document.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use anyhow::{Result, anyhow};
use seamgate::{ErrorKind, Fault, Gate, Report, Request};
use serde_json::Value;

/// Judges documents with the limits that are the host's defaults.
pub(crate) struct Sandbox {
    gate: Gate,
    /// The number of patterns that the linear engine rejected.
    backtracked: AtomicUsize,
}

/// A contract around a schema.
pub(crate) struct Contract<'s> {
    /// `schema` or `jtd`.
    pub(crate) kind: &'static str,
    /// The schema as it is written: numbers keep their digits.
    pub(crate) schema: &'s str,
    /// The dialect of a schema that names none.
    pub(crate) dialect: Option<&'s str>,
    pub(crate) assert_formats: bool,
    /// Other schemas by their URIs.
    pub(crate) resources: Vec<(&'s str, &'s str)>,
}

impl<'s> Contract<'s> {
    /// Returns one that asks nothing but what its schema does.
    pub(crate) fn of(kind: &'static str, schema: &'s str) -> Self {
        Contract { kind, schema, dialect: None, assert_formats: true, resources: Vec::new() }
    }

    /// Caps are at their most, and no part of the text is looked for.
    fn text(&self, patterns: &str) -> String {
        let resources: Vec<String> =
            self.resources.iter().map(|(uri, schema)| format!("{}:{schema}", Value::from(*uri))).collect();
        let dialect = self.dialect.map(|dialect| format!("\"dialect\":{},", Value::from(dialect)));
        format!(
            "{{\"agent\":\"suite\",\"{}\":{},\"resources\":{{{}}},{}\"formats\":\"{}\",\"patterns\":\"{patterns}\",\
             \"extract\":{{\"markers\":[]}},\"caps\":{{\"bytes\":67108864,\"depth\":128,\"string_bytes\":67108864,\
             \"array_items\":10000000,\"object_members\":10000000}}}}",
            self.kind,
            self.schema,
            resources.join(","),
            dialect.unwrap_or_default(),
            if self.assert_formats { "assert" } else { "annotate" },
        )
    }
}

impl Sandbox {
    pub(crate) fn new() -> Result<Self> {
        Ok(Sandbox { gate: Gate::new()?, backtracked: AtomicUsize::new(0) })
    }

    /// Returns a verdict by a contract, in a fresh instance. Patterns that the linear engine does not take get the
    /// other one, as the fault says.
    pub(crate) fn judge(&self, contract: &Contract, document: &[u8]) -> Result<Report, Fault> {
        let request = Request::from_bytes("", document);
        let judged =
            |patterns| self.gate.validate_with(&contract.text(patterns), &request).map(|verdict| verdict.report);
        judged("linear").or_else(|fault| match &fault {
            Fault::BadContract { violations, .. }
                if violations.iter().any(|wrong| matches!(wrong.keyword.as_str(), "pattern" | "patternProperties")) =>
            {
                self.backtracked.fetch_add(1, Ordering::Relaxed);
                judged("backtracking")
            }
            _ => Err(fault),
        })
    }

    /// Returns the number of tests judged with the backtracking engine for patterns.
    pub(crate) fn backtracked(&self) -> usize {
        self.backtracked.load(Ordering::Relaxed)
    }
}

/// Returns whether a report treats the text as JSON, whatever else is wrong with it.
pub(crate) fn is_json(report: &Report) -> bool {
    report.error.as_ref().is_none_or(|error| error.error == ErrorKind::OutputValidationFailed)
}

/// The summary of a verdict.
pub(crate) struct Said {
    /// `accepted`, the keyword of the first violation, or the code of the fault.
    pub(crate) word: String,
    /// The summary for a person.
    pub(crate) line: String,
}

pub(crate) const ACCEPTED: &str = "accepted";

impl Said {
    pub(crate) fn by(verdict: &Result<Report, Fault>) -> Self {
        match verdict {
            Ok(report) => match report.violations().first() {
                None => Said { word: ACCEPTED.to_owned(), line: report.disposition.as_str().to_owned() },
                Some(first) => {
                    let line = format!("rejected: {} {} ({})", first.path, first.message, first.keyword);
                    Said { word: first.keyword.clone(), line }
                }
            },
            Err(fault) => Said { word: fault.code().to_owned(), line: format!("fault {}: {fault}", fault.code()) },
        }
    }
}

/// Applies a function to each, on all processors. Returns the results in their order.
pub(crate) fn with_each<T: Sync, R: Send>(all: &[T], run: impl Fn(&T) -> R + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else {
                return done;
            };
            done.push((index, run(one)));
        }
    };
    let mut done = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..thread::available_parallelism().map_or(1, usize::from)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
    })
    .map_err(|_| anyhow!("a thread panicked"))?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}
