//! One output to judge.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Serialize;

use super::{Confidence, Finish, NamedList, Observation};
use crate::{bindings::exports::seamgate::validator::types, json::json};

/// An output to judge, with the lists that its contract needs.
///
/// ```
/// use seamgate::{Finish, Request};
///
/// let request = Request::new("triage", "…").finish(Finish::Stop).list("teams", ["web", "data"]);
/// ```
#[derive(Debug, Clone)]
pub struct Request<'t> {
    agent: Cow<'t, str>,
    output: Cow<'t, str>,
    finish: Finish,
    lists: Vec<NamedList>,
    evidence: Option<Vec<Observation>>,
    invalid_utf8: Option<u32>,
}

impl<'t> Request<'t> {
    /// Creates a request for the raw text that `agent` produced, prose and fences included.
    pub fn new(agent: &'t str, output: &'t str) -> Self {
        Request {
            agent: Cow::Borrowed(agent),
            output: Cow::Borrowed(output),
            finish: Finish::Unknown,
            lists: Vec::new(),
            evidence: None,
            invalid_utf8: None,
        }
    }

    /// Creates a request for bytes that may not be UTF-8. If they are not, the verdict rejects the output, and reports
    /// where.
    pub fn from_bytes(agent: &'t str, output: &'t [u8]) -> Self {
        // Most text is valid, and is checked at once. Replacing invalid bytes requires reading byte by byte.
        let (output, invalid) = match std::str::from_utf8(output) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(error) => (String::from_utf8_lossy(output), Some(error.valid_up_to())),
        };
        Request {
            agent: Cow::Borrowed(agent),
            output,
            finish: Finish::Unknown,
            lists: Vec::new(),
            evidence: None,
            // The gate rejects an output whose offsets do not fit.
            invalid_utf8: invalid.map(|at| u32::try_from(at).unwrap_or(u32::MAX)),
        }
    }

    /// Sets why the producer stopped. Default: [`Finish::Unknown`]. [`Finish`] parses the words of the common APIs:
    /// `"end_turn".parse::<Finish>()`.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Adds a list that the contract's `allow` names; [`ContractInfo`](crate::ContractInfo) has the names. If a list is
    /// missing, there is no verdict ([`Fault::BadRequest`](crate::Fault::BadRequest)), unless the rule is optional.
    #[must_use]
    pub fn list(mut self, name: impl Into<String>, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.lists.push(NamedList { name: name.into(), values: values.into_iter().map(Into::into).collect() });
        self
    }

    /// Sets the observations that the producer saw, for claims to cite: at most 1,000 observations with 4 MiB in total.
    /// If the contract has `evidence` and the observations are missing, there is no verdict
    /// ([`Fault::BadRequest`](crate::Fault::BadRequest)). Default: none.
    ///
    /// ```
    /// use seamgate::{Confidence, Disposition, Gate, Observation, Request};
    ///
    /// let mut gate = Gate::new()?;
    /// gate.register(r#"{"agent": "a", "schema": {"type": "object"}, "evidence": {"claims": "$.claims[*]"}}"#)?;
    /// let seen = Observation::new("log#1", "matches: 128").confidence(Confidence::High).complete(true);
    /// let output = r#"{"claims": [{"text": "128 errors", "evidence": [{"id": "log#1", "quote": "matches: 128"}]}]}"#;
    /// let request = Request::new("a", output).evidence([seen]);
    /// assert_eq!(gate.validate(&request)?.report.disposition, Disposition::Accepted);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn evidence(mut self, observations: impl IntoIterator<Item = Observation>) -> Self {
        self.evidence = Some(observations.into_iter().collect());
        self
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// Returns the same request without its output.
    pub(crate) fn without_output(&self) -> Request<'static> {
        Request {
            agent: Cow::Owned(self.agent.clone().into_owned()),
            output: Cow::Borrowed(""),
            finish: Finish::Unknown,
            lists: self.lists.clone(),
            evidence: self.evidence.clone(),
            invalid_utf8: None,
        }
    }

    /// Returns the same request with another output.
    pub(crate) fn for_output<'o>(&'o self, output: &'o [u8]) -> Request<'o> {
        let (lists, evidence) = (self.lists.clone(), self.evidence.clone());
        Request { lists, evidence, ..Request::from_bytes(&self.agent, output) }
    }

    /// Returns whether the request has only an agent and an output.
    pub(crate) fn is_plain(&self) -> bool {
        self.lists.is_empty() && self.evidence.is_none() && self.invalid_utf8.is_none()
    }

    pub(crate) fn lists(&self) -> &[NamedList] {
        &self.lists
    }

    pub(crate) fn observations(&self) -> Option<&[Observation]> {
        self.evidence.as_deref()
    }

    pub(crate) fn why_finished(&self) -> Finish {
        self.finish
    }

    /// Returns the offset at which the output stops being UTF-8.
    pub(crate) fn first_invalid(&self) -> Option<u32> {
        self.invalid_utf8
    }

    /// Returns the size of the evidence in bytes.
    pub(crate) fn evidence_bytes(&self) -> usize {
        let words = |words: &[String]| words.iter().map(String::len).sum::<usize>();
        let bytes = |observation: &Observation| {
            let Observation { id, kinds, text, labels, limitations, .. } = observation;
            id.len() + text.len() + words(kinds) + words(labels) + words(limitations)
        };
        self.observations().unwrap_or_default().iter().map(bytes).sum()
    }

    pub(crate) fn evidence_to_wit(&self) -> Option<Vec<types::Observation>> {
        self.evidence.as_ref().map(|evidence| evidence.iter().cloned().map(Into::into).collect())
    }

    /// Returns the values of each list.
    pub(crate) fn lists_by_name(&self) -> BTreeMap<&str, &[String]> {
        self.lists.iter().map(|list| (list.name.as_str(), list.values.as_slice())).collect()
    }

    /// Returns the request as JSON text (`schemas/request.schema.json`).
    pub(crate) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'r> {
            agent: &'r str,
            output: &'r str,
            #[serde(skip_serializing_if = "is_unknown")]
            finish: Finish,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            lists: BTreeMap<&'r str, &'r [String]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            evidence: Option<&'r [Observation]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            invalid_utf8: Option<u32>,
        }
        let &Request { ref agent, ref output, finish, invalid_utf8, .. } = self;
        let (lists, evidence) = (self.lists_by_name(), self.observations());
        json(&Wire { agent, output, finish, lists, evidence, invalid_utf8 })
    }

    pub(crate) fn to_wit(&self) -> types::Request {
        types::Request {
            agent: self.agent.clone().into_owned(),
            output: self.output.clone().into_owned(),
            finish: self.finish.into(),
            lists: to_wit(&self.lists),
            evidence: self.evidence_to_wit(),
            invalid_utf8: self.invalid_utf8,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_unknown(finish: &Finish) -> bool {
    *finish == Finish::Unknown
}

/// Converts lists to the component's type.
pub(crate) fn to_wit(lists: &[NamedList]) -> Vec<types::NamedList> {
    lists.iter().cloned().map(Into::into).collect()
}

impl Observation {
    /// Creates an observation from the text that the producer saw, byte for byte. Claims cite it by `id`, which has 1
    /// to 256 bytes and is unique.
    ///
    /// By default, it allows only the weakest claims: low confidence, and no claim of absence.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Observation {
            id: id.into(),
            kinds: Vec::new(),
            text: text.into(),
            labels: Vec::new(),
            confidence: Confidence::Low,
            complete: false,
            limitations: Vec::new(),
        }
    }

    /// Adds a kind of evidence that the observation is.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kinds.push(kind.into());
        self
    }

    /// Adds a label. `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning; see
    /// [`labels`](Observation::labels).
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.labels.push(label.into());
        self
    }

    /// Sets the highest confidence that a claim may state on the basis of this source. Default: low.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }

    /// Sets whether the producer saw all of the result. Default: `false`.
    #[must_use]
    pub fn complete(mut self, complete: bool) -> Self {
        self.complete = complete;
        self
    }

    /// Adds the code of a limitation, which each claim that cites this observation must repeat.
    #[must_use]
    pub fn limitation(mut self, code: impl Into<String>) -> Self {
        self.limitations.push(code.into());
        self
    }
}
