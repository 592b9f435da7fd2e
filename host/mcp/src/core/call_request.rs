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
    /// The server that has it. `None` if the tool belongs to the gate itself, or to nobody.
    pub(super) upstream: Option<UpstreamId>,
    /// The tool, as its server calls it.
    pub(super) tool: String,
    /// Whether the client sees the tool.
    pub(super) is_visible: bool,
}

/// A request to call a tool. Of its parameters the gate reads these members, and passes on no others.
#[derive(Clone)]
pub(super) struct CallRequest {
    pub(super) id: Id,
    /// The tool, as the client calls it.
    pub(super) name: String,
    /// The arguments, if there are any. `null` counts as none.
    pub(super) arguments: Option<Raw>,
    pub(super) meta: Option<Raw>,
    /// The texts that the user wrote, if the client says so.
    pub(super) said: Vec<String>,
    /// The `requestState` with which the client comes back.
    pub(super) state: Option<Raw>,
    /// The `inputResponses` that it brings.
    pub(super) answers: Option<Raw>,
    pub(super) sender: Sender,
    pub(super) target: Target,
}

impl CallRequest {
    /// Reads the parameters of a call. `target` finds the tool of a name, and `has_forms` says whether the client of the session can show
    /// a form.
    ///
    /// # Errors
    ///
    /// The name is missing or not a string, or the words of the user are neither a text nor a list of texts.
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

    /// Returns the token under which the client wants to hear how far the call is, as it is written.
    pub(super) fn token(&self) -> Option<&str> {
        Members::of(self.meta.as_ref()?.get())?.get("progressToken").map(RawValue::get)
    }

    /// Returns whether another request calls the same tool with the same values. A client that comes back repeats its request.
    pub(super) fn repeats(&self, other: &CallRequest) -> bool {
        let value = |request: &CallRequest| serde_json::from_str::<Value>(request.arguments()).ok();
        self.name == other.name && (self.arguments() == other.arguments() || value(self) == value(other))
    }

    /// Keeps only the answers that were asked for.
    pub(super) fn keep_answers(&mut self, names: &[String]) {
        let Some(answers) = self.answers.as_ref().and_then(|answers| Members::of(answers.get())) else { return };
        let kept = answers.with(|name, _| match names.iter().any(|asked| asked == name) {
            true => super::message::Change::Keep,
            false => super::message::Change::Drop,
        });
        self.answers = Some(raw(kept));
    }
}
