//! One output to judge.

use std::borrow::Cow;

use crate::{
    bindings::exports::seamgate::validator::types,
    types::{Finish, NamedList},
};

/// One output to judge, with the lists that its contract needs.
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
    invalid_utf8: Option<u32>,
}

impl<'t> Request<'t> {
    /// The raw text that `agent` produced, prose and fences included.
    pub fn new(agent: &'t str, output: &'t str) -> Self {
        Request {
            agent: Cow::Borrowed(agent),
            output: Cow::Borrowed(output),
            finish: Finish::Unknown,
            lists: Vec::new(),
            invalid_utf8: None,
        }
    }

    /// The same for bytes that may not be UTF-8. If they are not, the verdict rejects the output, and says where.
    pub fn from_bytes(agent: &'t str, output: &'t [u8]) -> Self {
        let invalid = std::str::from_utf8(output).err();
        Request {
            agent: Cow::Borrowed(agent),
            output: String::from_utf8_lossy(output),
            finish: Finish::Unknown,
            lists: Vec::new(),
            // The gate refuses an output whose offsets do not fit.
            invalid_utf8: invalid.map(|error| u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX)),
        }
    }

    /// Why the producer stopped. Default: [`Finish::Unknown`]. [`Finish`] parses the words of the common APIs:
    /// `"end_turn".parse::<Finish>()`.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Add a list that the contract's `allow` names; [`ContractInfo`](crate::ContractInfo) has the names. Without a list
    /// there is no verdict ([`Fault::BadRequest`](crate::Fault::BadRequest)), unless the rule is optional.
    #[must_use]
    pub fn list(mut self, name: impl Into<String>, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.lists.push(NamedList { name: name.into(), values: values.into_iter().map(Into::into).collect() });
        self
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    pub(crate) fn lists(&self) -> &[NamedList] {
        &self.lists
    }

    pub(crate) fn to_wit(&self) -> types::Request {
        types::Request {
            agent: self.agent.clone().into_owned(),
            output: self.output.clone().into_owned(),
            finish: self.finish.into(),
            lists: to_wit(&self.lists),
            invalid_utf8: self.invalid_utf8,
        }
    }
}

/// Lists as the component takes them.
pub(crate) fn to_wit(lists: &[NamedList]) -> Vec<types::NamedList> {
    lists.iter().cloned().map(Into::into).collect()
}
