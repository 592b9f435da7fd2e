//! Versions of the protocol without a session, 2026-07-28 and later: each request says who asks, and what they can.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta>

use std::borrow::Cow;

use seamgate_runner::Result;
use serde_json::value::RawValue;

use super::{
    gate::Gate,
    message::{self, Change, METHOD_NOT_FOUND, Members},
    upstream::Asked,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The extension by which results come outside of calls. See [`super::tasks`].
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The sender of a request.
#[derive(Clone, Copy, Default)]
pub(super) struct Sender {
    /// It says so itself: there is no session.
    pub(super) is_stateless: bool,
    /// Their client can show a form.
    pub(super) has_forms: bool,
}

/// Returns the members by which a request describes its sender. `None` if there is a session.
fn meta(params: Option<&RawValue>) -> Option<Members<'_>> {
    let meta = Members::of(Members::of(params?.get())?.get("_meta")?.get())?;
    meta.get(VERSION).is_some().then_some(meta)
}

/// The version that a request says, if there is no session.
pub(super) fn version(params: Option<&RawValue>) -> Option<String> {
    meta(params)?.text(VERSION).map(Cow::into_owned)
}

/// Returns whether a request names its client's capabilities.
pub(super) fn has_capabilities(params: Option<&RawValue>) -> bool {
    let capabilities = meta(params).and_then(|meta| meta.get(CAPABILITIES));
    capabilities.is_some_and(|all| Members::of(all.get()).is_some())
}

/// Returns whether a client with these capabilities can show a form. An empty `elicitation` means that it can.
pub(super) fn has_forms(capabilities: Option<&RawValue>) -> bool {
    let elicitation = capabilities.and_then(|all| Members::of(all.get())?.get("elicitation"));
    elicitation.and_then(|own| Members::of(own.get())).is_some_and(|own| own.0.is_empty() || own.get("form").is_some())
}

/// The subscription that a notification belongs to, as it is written.
pub(super) fn subscription(params: Option<&RawValue>) -> Option<&str> {
    let meta = Members::of(Members::of(params?.get())?.get("_meta")?.get())?;
    meta.get(SUBSCRIPTION).map(RawValue::get)
}

/// A result of our own, as versions without a session have it.
pub(super) fn complete(result: String) -> String {
    match Members::of(&result) {
        Some(members) if members.get("resultType").is_none() => members.set("resultType", "\"complete\""),
        _ => result,
    }
}

impl Gate<'_> {
    /// Returns the sender of a request.
    pub(super) fn sender(&self, params: Option<&RawValue>) -> Sender {
        match meta(params) {
            Some(meta) => Sender { is_stateless: true, has_forms: has_forms(meta.get(CAPABILITIES)) },
            None => Sender { is_stateless: false, has_forms: self.has_forms },
        }
    }

    /// Returns `_meta` for the gate's own requests, on behalf of the client. `None` if there is a session.
    pub(super) fn own_meta(params: Option<&RawValue>) -> Option<String> {
        let meta = meta(params)?;
        let kept = meta.with(|name, _| match name {
            VERSION | CAPABILITIES | CLIENT => Change::Keep,
            _ => Change::Drop,
        });
        Some(kept)
    }

    /// Returns `_meta` of a request without the capabilities that the profile denies a server. `None` if nothing changes.
    pub(super) fn cut_meta(&self, number: usize, meta: &str) -> Option<String> {
        let meta = Members::of(meta)?;
        let cut = self.cut(&self.upstreams[number].name, meta.get(CAPABILITIES)?, |name| name)?;
        Some(meta.set(CAPABILITIES, &cut))
    }

    /// Returns the parameters of a request without the capabilities that the profile denies a server. `None` if nothing changes.
    pub(super) fn cut_params(&self, number: usize, params: Option<&RawValue>) -> Option<String> {
        let params = Members::of(params?.get())?;
        let cut = self.cut_meta(number, params.get("_meta")?.get())?;
        Some(params.set("_meta", &cut))
    }

    /// `_meta` of our own requests to a server, as a member.
    pub(super) fn meta_for(&self, number: usize) -> Option<String> {
        let meta = self.own_meta.as_ref()?;
        let meta = self.cut_meta(number, meta).unwrap_or_else(|| meta.clone());
        Some(format!("\"_meta\":{meta}"))
    }

    /// Removes the changes that a client may not hear of from its subscription. `None` if nothing changes.
    pub(super) fn cut_subscription(&self, number: usize, params: &str) -> Option<String> {
        let params = Members::of(params)?;
        let filter = Members::of(params.get("notifications")?.get())?;
        let server = &self.upstreams[number].name;
        let is_kept = |name: &str| match name {
            "toolsListChanged" => true,
            "promptsListChanged" => self.document.has_kind(server, "prompts"),
            "resourcesListChanged" | "resourceSubscriptions" => self.document.has_kind(server, "resources"),
            // What a task came to is told when it is asked for.
            "taskIds" => false,
            _ => self.document.has_all(server),
        };
        if filter.0.iter().all(|(name, _)| is_kept(name)) {
            return None;
        }
        let cut = filter.with(|name, _| if is_kept(name) { Change::Keep } else { Change::Drop });
        Some(params.set("notifications", &cut))
    }

    /// Ask a server to say when its tools change: without a session, it does so for who subscribes.
    pub(super) fn subscribe(&mut self, number: usize) {
        let Some(meta) = self.meta_for(number) else { return };
        let upstream = &mut self.upstreams[number];
        if std::mem::replace(&mut upstream.is_subscribed, true) || !upstream.tells_changes {
            return;
        }
        let own = self.own_id();
        let params = format!("{{{meta},\"notifications\":{{\"toolsListChanged\":true}}}}");
        let line = message::request(&own, "subscriptions/listen", Some(&params));
        // Who does not take it is seen by the loop, or when it is asked next.
        if self.upstreams[number].ask(&own, line, Asked::Listen).is_ok() {
            self.upstreams[number].subscription = Some(own);
        }
    }

    /// Passes a server's refusal to list its tools to stateless clients unchanged. Returns whether any client was waiting.
    pub(super) fn refused_to_list(&mut self, number: usize, error: &RawValue) -> Result<bool> {
        if self.own_meta.is_none() || self.upstreams.len() > 1 {
            return Ok(false);
        }
        let code = Members::of(error.get()).and_then(|members| members.get("code")).map(RawValue::get);
        if code == Some(&METHOD_NOT_FOUND.to_string()) {
            // It has no tools.
            return Ok(false);
        }
        let error = self.cleaned(number, "tools/list", error)?;
        self.list_error = Some(error);
        Ok(true)
    }
}
