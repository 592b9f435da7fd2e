//! Options of an output, and of a gate.

use std::{collections::BTreeMap, time::Duration};

use napi_derive::napi;
use seamgate::{Finish, Limits, Observation, Request};
use serde::Deserialize;

use crate::error::{Result, usage};

/// Limits on one call. What is missing has its default.
#[napi(object)]
#[derive(Default)]
pub struct NativeLimits {
    pub fuel: Option<i64>,
    pub fuel_per_byte: Option<i64>,
    pub contract_fuel: Option<i64>,
    pub contract_fuel_per_byte: Option<i64>,
    pub output_bytes: Option<i64>,
    /// In milliseconds.
    pub deadline: Option<f64>,
}

impl NativeLimits {
    pub(crate) fn limits(&self) -> Limits {
        let limit = |given: Option<i64>| given.map(|given| u64::try_from(given).unwrap_or(0));
        let mut limits = Limits::default();
        limits.fuel = limit(self.fuel).unwrap_or(limits.fuel);
        limits.fuel_per_byte = limit(self.fuel_per_byte).unwrap_or(limits.fuel_per_byte);
        limits.contract_fuel = limit(self.contract_fuel).unwrap_or(limits.contract_fuel);
        limits.contract_fuel_per_byte = limit(self.contract_fuel_per_byte).unwrap_or(limits.contract_fuel_per_byte);
        limits.output_bytes =
            limit(self.output_bytes).map_or(limits.output_bytes, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        limits.timeout =
            self.deadline.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()).unwrap_or(limits.timeout);
        limits
    }
}

/// Everything that comes with an output, as in `schemas/request.schema.json`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extras {
    finish: Option<String>,
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<Observation>>,
}

impl Extras {
    /// Reads JSON text. What is wrong with it, the component says better: its caller then asks it by `wire`.
    pub(crate) fn read(text: Option<&str>) -> Result<(Finish, Self)> {
        let Some(text) = text else {
            return Ok((Finish::Unknown, Extras::default()));
        };
        let extras: Extras = serde_json::from_str(text).map_err(|error| usage(error.to_string()))?;
        let finish = finish(extras.finish.as_deref())?;
        Ok((finish, extras))
    }

    pub(crate) fn add<'t>(self, mut request: Request<'t>) -> Request<'t> {
        for (name, values) in self.lists {
            request = request.list(name, values);
        }
        match self.evidence {
            Some(evidence) => request.evidence(evidence),
            None => request,
        }
    }
}

/// Returns a request for an output with what comes with it.
pub(crate) fn request<'t>(agent: &'t str, output: &'t [u8], extras: Option<&str>) -> Result<Request<'t>> {
    let (finish, extras) = Extras::read(extras)?;
    Ok(extras.add(Request::from_bytes(agent, output).finish(finish)))
}

/// Returns why a producer stopped.
pub(crate) fn finish(word: Option<&str>) -> Result<Finish> {
    word.map_or(Ok(Finish::Unknown), |word| {
        word.parse().map_err(|error: seamgate::UnknownFinish| usage(format!("finish: {error}")))
    })
}
