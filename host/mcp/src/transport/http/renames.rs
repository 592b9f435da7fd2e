//! Renames requests without a session. Ids and progress tokens of two clients may be the same, so the gate sees unique
//! names, and each client gets its own back.

use serde_json::value::RawValue;

use crate::core::{
    Id, Message,
    message::{Answer, Members, raw},
    meta::{SUBSCRIPTION, progress_token},
};

/// A request as the client sent it.
#[derive(Clone)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) method: String,
    /// The progress token of the request, as it is written.
    pub(super) token: Option<String>,
}

/// Records a request as the client sent it.
pub(super) fn asked(id: &Id, method: &str, params: Option<&RawValue>) -> Asked {
    Asked { id: id.clone(), method: method.to_owned(), token: progress_token(params) }
}

/// Returns a request with another id, which also replaces its progress token.
pub(super) fn renamed(message: Message, id: &Id) -> Message {
    let Message::Request { method, params, .. } = message else { return message };
    let own = params.as_ref().and_then(|params| {
        let members = Members::of(params.get())?;
        let meta = Members::of(members.get("_meta")?.get())?;
        meta.get("progressToken")?;
        Some(members.set("_meta", &meta.set("progressToken", id.as_str())))
    });
    Message::Request { id: id.clone(), method, params: own.map(raw).or(params) }
}

/// Returns an answer with the client's own id, also in the place where the answer names the subscription that it ends.
pub(super) fn own_answer(message: &Message, asked: &Asked) -> Message {
    let Message::Answer { id: Some(id), answer } = message else { return message.clone() };
    let answer = match answer {
        Answer::Result(result) if asked.method == "subscriptions/listen" => {
            Answer::Result(raw(own_names(result, id, asked)))
        }
        other => other.clone(),
    };
    Message::Answer { id: Some(asked.id.clone()), answer }
}

/// Returns a notification about a request with the client's own id and token.
pub(super) fn own_notification(message: &Message, named: &Id, asked: &Asked) -> Message {
    let Message::Notification { method, params: Some(params) } = message else { return message.clone() };
    Message::Notification { method: method.clone(), params: Some(raw(own_names(params, named, asked))) }
}

fn own_names(object: &RawValue, named: &Id, asked: &Asked) -> String {
    let Some(members) = Members::of(object.get()) else { return object.get().to_owned() };
    let is_it = |value: Option<&RawValue>| value.map(RawValue::get) == Some(named.as_str());
    if let Some(token) = asked.token.as_ref().filter(|_| is_it(members.get("progressToken"))) {
        return members.set("progressToken", token);
    }
    match members.get("_meta").and_then(|meta| Members::of(meta.get())) {
        Some(meta) if is_it(meta.get(SUBSCRIPTION)) => members.set("_meta", &meta.set(SUBSCRIPTION, asked.id.as_str())),
        _ => object.get().to_owned(),
    }
}

/// Returns the token of a progress notification, as it is written.
pub(super) fn token_of(params: Option<&RawValue>) -> Option<&str> {
    Members::of(params?.get())?.get("progressToken").map(RawValue::get)
}
