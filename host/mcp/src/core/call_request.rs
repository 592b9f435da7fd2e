//! The client's request to call a tool.

use serde_json::{Value, value::RawValue};

use super::{
    effects::UpstreamId,
    message::{Id, Members, Raw, raw},
    meta::{self, Sender},
};

/// The tool that a request names.
#[derive(Clone)]
pub(super) struct Target {
    /// The server that provides the tool. `None` if the tool belongs to the gate itself, or does not exist.
    pub(super) upstream: Option<UpstreamId>,
    /// The name of the tool at its server.
    pub(super) tool: String,
    /// `true` if the client sees the tool.
    pub(super) is_visible: bool,
}

/// A request to call a tool. The gate reads only these members of the parameters, and passes on no others.
#[derive(Clone)]
pub(super) struct CallRequest {
    pub(super) id: Id,
    /// The name that the client uses for the tool.
    pub(super) name: String,
    /// The arguments, if there are any. `null` counts as missing.
    pub(super) arguments: Option<Raw>,
    pub(super) meta: Option<Raw>,
    /// The texts that the user wrote, if the client reports them.
    pub(super) said: Vec<String>,
    /// The `requestState` with which the client returns.
    pub(super) state: Option<Raw>,
    /// The `inputResponses` with which the client returns.
    pub(super) answers: Option<Raw>,
    pub(super) sender: Sender,
    pub(super) target: Target,
}

impl CallRequest {
    /// Reads the parameters of a call. `target` finds the tool with a name, and `has_forms` is `true` if the client of
    /// the session can show a form.
    ///
    /// # Errors
    ///
    /// The name is missing or not a string, or the user's messages are neither a text nor a list of texts.
    pub(super) fn read(
        id: &Id,
        params: Option<&RawValue>,
        has_forms: bool,
        target: impl FnOnce(&str) -> Target,
    ) -> Result<Self, String> {
        let members = params.and_then(|params| Members::of(params.get())).unwrap_or(Members(Vec::new()));
        let name = match (members.get("name"), members.text("name")) {
            (_, Some(name)) => name.into_owned(),
            (Some(_), None) => return Err("\"name\" must be a string".to_owned()),
            (None, None) => return Err("\"name\" is missing".to_owned()),
        };
        let given = |name: &str| members.get(name).filter(|value| value.get() != "null").map(ToOwned::to_owned);
        let meta = given("_meta");
        Ok(CallRequest {
            id: id.clone(),
            said: meta::said(meta.as_deref())?,
            target: target(&name),
            name,
            arguments: given("arguments"),
            meta,
            state: given("requestState"),
            answers: given("inputResponses"),
            sender: meta::sender(params, has_forms),
        })
    }

    /// Returns the text of the arguments.
    pub(super) fn arguments(&self) -> &str {
        self.arguments.as_deref().map_or("{}", RawValue::get)
    }

    /// Returns the token for progress notifications that the client requests, as it is written.
    pub(super) fn token(&self) -> Option<&str> {
        Members::of(self.meta.as_ref()?.get())?.get("progressToken").map(RawValue::get)
    }

    /// Returns whether another request calls the same tool with the same values. A returning client repeats its
    /// request.
    pub(super) fn repeats(&self, other: &CallRequest) -> bool {
        let value = |request: &CallRequest| serde_json::from_str::<Value>(request.arguments()).ok();
        self.name == other.name && (self.arguments() == other.arguments() || value(self) == value(other))
    }

    /// Keeps only the answers to what was asked.
    pub(super) fn keep_answers(&mut self, names: &[String]) {
        let Some(answers) = self.answers.as_ref().and_then(|answers| Members::of(answers.get())) else { return };
        let kept = answers.with(|name, _| match names.iter().any(|asked| asked == name) {
            true => super::message::Change::Keep,
            false => super::message::Change::Drop,
        });
        self.answers = Some(raw(kept));
    }
}
