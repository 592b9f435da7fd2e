//! The documents that come with a call: the extras of an output, and the options of a gate.

use std::{collections::BTreeMap, fmt, marker::PhantomData, path::PathBuf, time::Duration};

use seamgate::{Component, Confidence, Finish, Limits, Observation, Options, Report, Request};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;

use crate::{border::Given, failure::Failure};

/// A record that is a JSON object. `serde` alone would take a list of its members, too.
#[derive(Default)]
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }
        from.deserialize_map(Members(PhantomData))
    }
}

/// Reads a JSON object, where there is any.
fn read<T: for<'de> Deserialize<'de> + Default>(given: &Given) -> Result<T, Failure> {
    match given.optional_text()? {
        Some(text) => {
            let read = serde_json::from_str(text).map(|Object(read)| read);
            read.map_err(|error| Failure::request(given.name(), error))
        }
        None => Ok(T::default()),
    }
}

/// The extras of an output, as `schemas/request.schema.json` has it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extras {
    finish: Option<String>,
    #[serde(default)]
    lists: BTreeMap<String, Vec<String>>,
    evidence: Option<Vec<Object<Seen>>>,
}

/// An observation. All but two of its members have defaults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    id: String,
    text: String,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    labels: Vec<String>,
    confidence: Option<Confidence>,
    #[serde(default)]
    complete: bool,
    #[serde(default)]
    limitations: Vec<String>,
}

impl From<Seen> for Observation {
    fn from(seen: Seen) -> Self {
        let mut observation = Observation::new(seen.id, seen.text).complete(seen.complete);
        observation.kinds = seen.kinds;
        observation.labels = seen.labels;
        observation.limitations = seen.limitations;
        observation.confidence = seen.confidence.unwrap_or(observation.confidence);
        observation
    }
}

impl Extras {
    /// Returns the request for an output, with its extras.
    pub(crate) fn request<'t>(given: &Given, agent: &'t str, output: &'t [u8]) -> Result<Request<'t>, Failure> {
        let Extras { finish, lists, evidence } = read(given)?;
        let finish = finish.as_deref().map_or(Ok(Finish::Unknown), |word| parse(given, word))?;
        let mut request = Request::from_bytes(agent, output).finish(finish);
        for (name, values) in lists {
            request = request.list(name, values);
        }
        Ok(match evidence {
            Some(evidence) => request.evidence(evidence.into_iter().map(|Object(seen)| Observation::from(seen))),
            None => request,
        })
    }
}

fn parse(given: &Given, word: &str) -> Result<Finish, Failure> {
    word.parse().map_err(|error: seamgate::UnknownFinish| Failure::request(given.name(), format!("finish: {error}")))
}

/// Reads why a producer stopped: a word, or nothing.
pub(crate) fn finish(given: &Given) -> Result<Finish, Failure> {
    let word = given.optional_text()?;
    let parsed = word.map_or(Ok(Finish::Unknown), str::parse);
    parsed.map_err(|error: seamgate::UnknownFinish| Failure::request(given.name(), error))
}

/// Reads a list of reports.
pub(crate) fn reports(given: &Given) -> Result<Vec<Report>, Failure> {
    let failed = |error: serde_json::Error| Failure::request(given.name(), error);
    let reports: Vec<&RawValue> = serde_json::from_str(given.text()?).map_err(failed)?;
    if reports.is_empty() {
        return Err(Failure::request(given.name(), "there must be one at least to merge"));
    }
    reports.into_iter().map(|report| Report::from_json(report.get()).map_err(failed)).collect()
}

/// The options of a gate. A missing one has its default.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Setup {
    limits: Object<Bounds>,
    slots: Option<u32>,
    /// Null for no cache, which is something else than no member.
    #[serde(deserialize_with = "present")]
    cache: Option<Option<PathBuf>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Bounds {
    fuel: Option<u64>,
    fuel_per_byte: Option<u64>,
    contract_fuel: Option<u64>,
    contract_fuel_per_byte: Option<u64>,
    memory: Option<usize>,
    timeout_ms: Option<u64>,
    output_bytes: Option<usize>,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<PathBuf>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Reads the options of a gate, and the component if it is not the built-in one.
pub(crate) fn options(given: &Given, component: &Given) -> Result<Options, Failure> {
    let Setup { limits: Object(bounds), slots, cache } = read(given)?;
    let mut limits = Limits::default();
    limits.fuel = bounds.fuel.unwrap_or(limits.fuel);
    limits.fuel_per_byte = bounds.fuel_per_byte.unwrap_or(limits.fuel_per_byte);
    limits.contract_fuel = bounds.contract_fuel.unwrap_or(limits.contract_fuel);
    limits.contract_fuel_per_byte = bounds.contract_fuel_per_byte.unwrap_or(limits.contract_fuel_per_byte);
    limits.memory = bounds.memory.unwrap_or(limits.memory);
    limits.timeout = bounds.timeout_ms.map_or(limits.timeout, Duration::from_millis);
    limits.output_bytes = bounds.output_bytes.unwrap_or(limits.output_bytes);
    let mut options = Options::default().limits(limits);
    if let Some(slots) = slots {
        options = options.slots(slots);
    }
    if let Some(folder) = cache {
        options = options.cache(folder);
    }
    let component = component.bytes()?;
    if !component.is_empty() {
        options = options.component(Component::from_bytes(component));
    }
    Ok(options)
}
