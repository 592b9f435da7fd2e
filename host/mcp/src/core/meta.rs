//! `_meta` and capabilities: a request's description of its sender, reduced to what the profile names. In versions
//! without a session, 2026-07-28 and later, each request identifies its sender and the sender's capabilities.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta>

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{
    message::{Change, Id, Members},
    policy::Policy,
    table::Era,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The maximum number of user messages that the gate reads from a call. A run keeps no more.
pub(super) const MAX_SAID: usize = 64;

/// The extension that delivers results outside of calls. See [`super::tasks`].
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The member of a call's `_meta` with the texts that the user wrote to the client: one text or several. No server
/// receives it.
pub(super) const SAID: &str = "seamgate/said";

/// The sender of a request.
#[derive(Clone, Copy, Default)]
pub(super) struct Sender {
    /// `true` if the request itself identifies its sender, because there is no session.
    pub(super) is_stateless: bool,
    /// `true` if the sender's client can show a form.
    pub(super) has_forms: bool,
}

/// Returns the members in which a request describes its sender. `None` if there is a session.
fn meta(params: Option<&RawValue>) -> Option<Members<'_>> {
    let meta = Members::of(Members::of(params?.get())?.get("_meta")?.get())?;
    meta.get(VERSION).is_some().then_some(meta)
}

/// Returns the kind of version that a request belongs to.
pub(super) fn era(params: Option<&RawValue>) -> Era {
    if meta(params).is_some() { Era::Stateless } else { Era::Session }
}

/// Returns the version that a request names, if there is no session.
pub(crate) fn version(params: Option<&RawValue>) -> Option<String> {
    meta(params)?.text(VERSION).map(Cow::into_owned)
}

/// Returns whether a request names its client's capabilities.
pub(crate) fn has_capabilities(params: Option<&RawValue>) -> bool {
    let capabilities = meta(params).and_then(|meta| meta.get(CAPABILITIES));
    capabilities.is_some_and(|all| Members::of(all.get()).is_some())
}

/// Returns whether a client with these capabilities can show a form. An empty `elicitation` means that it can.
pub(super) fn has_forms(capabilities: Option<&RawValue>) -> bool {
    let elicitation = capabilities.and_then(|all| Members::of(all.get())?.get("elicitation"));
    elicitation.and_then(|own| Members::of(own.get())).is_some_and(|own| own.0.is_empty() || own.get("form").is_some())
}

/// Returns the subscription that a notification belongs to, as it is written.
pub(crate) fn subscription(params: Option<&RawValue>) -> Option<&str> {
    let meta = Members::of(Members::of(params?.get())?.get("_meta")?.get())?;
    meta.get(SUBSCRIPTION).map(RawValue::get)
}

/// Returns a result of the gate in the form that versions without a session require.
pub(super) fn complete(result: String) -> String {
    match Members::of(&result) {
        Some(members) if members.get("resultType").is_none() => members.set("resultType", "\"complete\""),
        _ => result,
    }
}

/// Returns the sender of a request. `has_forms` is `true` if the client of the session can show a form.
pub(super) fn sender(params: Option<&RawValue>, has_forms: bool) -> Sender {
    match meta(params) {
        Some(meta) => Sender { is_stateless: true, has_forms: self::has_forms(meta.get(CAPABILITIES)) },
        None => Sender { is_stateless: false, has_forms },
    }
}

/// Returns `_meta` for the gate's own requests, on behalf of the client. `None` if there is a session.
pub(super) fn own_meta(params: Option<&RawValue>) -> Option<String> {
    let kept = meta(params)?.with(|name, _| match name {
        VERSION | CAPABILITIES | CLIENT => Change::Keep,
        _ => Change::Drop,
    });
    Some(kept)
}

/// Returns the progress token of a request, as it is written.
pub(crate) fn progress_token(params: Option<&RawValue>) -> Option<String> {
    let meta = Members::of(Members::of(params?.get())?.get("_meta")?.get())?;
    meta.get("progressToken").map(|token| token.get().to_owned())
}

/// Removes the capabilities that the profile does not name for a server. Returns `None` if it names all of them. `kind`
/// returns the kind of methods that a capability covers.
pub(super) fn cut_capabilities(
    policy: &Policy,
    server: &str,
    capabilities: &RawValue,
    kind: impl Fn(&str) -> &str,
) -> Option<String> {
    let members = Members::of(capabilities.get())?;
    let keep = |is_kept: bool| if is_kept { Change::Keep } else { Change::Drop };
    let is_extension_kept = |name: &str| match name {
        TASKS => policy.has_kind(server, "tasks"),
        _ => policy.has_all(server),
    };
    let change = |name: &str, value: &RawValue| match kind(name) {
        "tools" => Change::Keep,
        // In the versions that have this capability, results are delivered outside of calls, where they cannot be
        // judged.
        "tasks" => Change::Drop,
        kind @ ("resources" | "prompts" | "completion" | "logging" | "roots" | "sampling" | "elicitation") => {
            keep(policy.has_kind(server, kind))
        }
        "extensions" => match Members::of(value.get()) {
            Some(all) if all.0.iter().all(|(name, _)| is_extension_kept(name)) => Change::Keep,
            Some(all) => Change::To(all.with(|name, _| keep(is_extension_kept(name)))),
            None => Change::Drop,
        },
        _ => keep(policy.has_all(server)),
    };
    if members.0.iter().all(|(name, value)| matches!(change(name, value), Change::Keep)) {
        return None;
    }
    Some(members.with(change))
}

/// Returns `_meta` of a request without the user's messages, and without the capabilities that the profile does not
/// name for a server.
pub(super) fn cut_meta(policy: &Policy, server: &str, meta: &str) -> String {
    let Some(members) = Members::of(meta) else { return meta.to_owned() };
    members.with(|name, value| match name {
        SAID => Change::Drop,
        CAPABILITIES => cut_capabilities(policy, server, value, |name| name).map_or(Change::Keep, Change::To),
        _ => Change::Keep,
    })
}

/// Returns the last [`MAX_SAID`] texts that a call reports as the user's.
///
/// # Errors
///
/// The member is neither a text nor a list of texts.
pub(super) fn said(meta: Option<&RawValue>) -> Result<Vec<String>, String> {
    let Some(said) = meta.and_then(|meta| Members::of(meta.get())?.get(SAID)) else { return Ok(Vec::new()) };
    let texts = match serde_json::from_str(said.get()) {
        Ok(OneOrMore::One(text)) => vec![text],
        Ok(OneOrMore::More(texts)) => texts,
        Err(_) => return Err(format!("{SAID:?} of \"_meta\" must be a text or a list of texts")),
    };
    Ok(texts.into_iter().rev().take(MAX_SAID).rev().collect())
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// Applies [`cut_meta`] to the parameters of a request.
pub(super) fn cut_params(policy: &Policy, server: &str, params: &RawValue) -> String {
    let members = Members::of(params.get());
    let cut = members.as_ref().and_then(|members| {
        let meta = members.get("_meta")?;
        Some(members.set("_meta", &cut_meta(policy, server, meta.get())))
    });
    cut.unwrap_or_else(|| params.get().to_owned())
}

/// Returns the parameters of `subscriptions/listen` without the changes that the profile hides from the client.
pub(super) fn cut_subscription(policy: &Policy, server: &str, params: &str) -> String {
    let is_kept = |name: &str| match name {
        "toolsListChanged" => true,
        "promptsListChanged" => policy.has_kind(server, "prompts"),
        "resourcesListChanged" | "resourceSubscriptions" => policy.has_kind(server, "resources"),
        // The client asks for the outcome of a task instead.
        "taskIds" => false,
        _ => policy.has_all(server),
    };
    let cut = Members::of(params).and_then(|params| {
        let filter = Members::of(params.get("notifications")?.get())?;
        let filter = filter.with(|name, _| if is_kept(name) { Change::Keep } else { Change::Drop });
        Some(params.set("notifications", &filter))
    });
    cut.unwrap_or_else(|| params.to_owned())
}

/// Returns parameters or a result with this id as the subscription.
pub(super) fn with_subscription(object: &str, id: &Id) -> String {
    let named = Members::of(object).and_then(|members| {
        let meta = Members::of(members.get("_meta")?.get())?;
        meta.get(SUBSCRIPTION)?;
        Some(members.set("_meta", &meta.set(SUBSCRIPTION, id.as_str())))
    });
    named.unwrap_or_else(|| object.to_owned())
}
