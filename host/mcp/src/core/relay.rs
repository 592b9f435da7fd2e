//! Relays messages other than calls between the client and a server, if the profile names their methods.

use seamgate::{Fault, Party};
use serde_json::value::RawValue;

use super::{
    effects::UpstreamId,
    handshake::cut_answer,
    links::{Asker, ForClient, Judged, Judgment, Links, MAX_FOR_CLIENT, Place, Purpose, cut},
    message::{Answer, INTERNAL_ERROR, Id, METHOD_NOT_FOUND, Members, Message, Raw, json, result_type},
    meta,
    policy::Policy,
    round_trips::{Question, read_question},
    server::{Asked, Server},
};

/// The reason why a result that is not an object does not pass.
pub(super) const NO_OBJECT: &str = "the server's answer is no result: it must be an object";

/// Answers that the method does not exist.
pub(super) fn not_found(id: &Id, method: &str, links: &mut Links) {
    links.error(id, METHOD_NOT_FOUND, &format!("Method not found: {}", cut(method, 128)));
}

/// Handles a request of the client for a server. `task` is the task that the request is about.
pub(super) fn on_request(
    server: UpstreamId,
    id: &Id,
    method: String,
    params: Option<Raw>,
    task: Option<String>,
    links: &mut Links,
) {
    let judgment = Judgment { method: method.clone(), from: Party::Client, document: None };
    links.judge(server, [judgment], Purpose::Request { id: id.clone(), method, params, task });
}

/// Sends a server a request of the client that was judged.
pub(super) fn request(
    server: UpstreamId,
    id: &Id,
    method: &str,
    params: Option<&RawValue>,
    asked: Asked,
    policy: &Policy,
    links: &mut Links,
) {
    let name = links.name(server);
    let params = params.map(|params| meta::cut_params(policy, name, params));
    let params = match method {
        "subscriptions/listen" => params.map(|params| meta::cut_subscription(policy, name, &params)),
        _ => params,
    };
    match links.ask(server, method, params, asked) {
        Ok(own) => {
            if !links.put(id, Place::Server(server, own)) {
                links.take_back(server, own, None);
            }
        }
        Err(why) => links.error(id, INTERNAL_ERROR, &why),
    }
}

/// Pings a server for the client. The request contains only the sender.
pub(super) fn ping(server: UpstreamId, id: &Id, params: Option<&RawValue>, policy: &Policy, links: &mut Links) {
    let meta = params.and_then(|params| Members::of(params.get())?.get("_meta"));
    let params = meta.map(|meta| {
        let meta = meta::cut_meta(policy, links.name(server), meta.get());
        super::message::raw(format!("{{\"_meta\":{meta}}}"))
    });
    let asked = Asked::Relayed { id: id.clone(), method: "ping".to_owned() };
    request(server, id, "ping", params.as_deref(), asked, policy, links);
}

/// Handles a server's answer to a request of the client.
pub(super) fn on_answer(
    server: UpstreamId,
    id: Id,
    method: String,
    answer: Answer,
    is_stateless: bool,
    links: &mut Links,
) {
    let document = match &answer {
        // The answer only confirms that the server is running.
        Answer::Result(_) if method == "ping" => {
            let result = if is_stateless { r#"{"resultType":"complete"}"# } else { "{}" };
            return links.result(&id, result.to_owned());
        }
        Answer::Result(result) if !result.get().starts_with('{') => {
            return links.error(&id, INTERNAL_ERROR, NO_OBJECT);
        }
        Answer::Result(result) if result_type(result.get()).as_deref() == Some("input_required") => {
            let asker = Asker::Request { id: id.clone(), method };
            if let Err((_, why)) = on_question(server, result.get(), asker, links) {
                let why = format!("{} {why}", links.told(server));
                links.error(&id, INTERNAL_ERROR, &why);
            }
            return;
        }
        Answer::Result(document) | Answer::Error(document) => document.clone(),
    };
    let judgment = Judgment { method: method.clone(), from: Party::Server, document: Some(document) };
    links.judge(server, [judgment], Purpose::Answer { id, method, answer });
}

/// Sends the client a server's answer that was judged.
pub(super) fn answer(
    server: UpstreamId,
    id: &Id,
    method: &str,
    answer: &Answer,
    judged: Judged,
    policy: &Policy,
    links: &mut Links,
) {
    let (is_result, document) = match answer {
        Answer::Result(result) => (true, result.get()),
        Answer::Error(error) => (false, error.get()),
    };
    if let Judged::Refused(fault) = &judged {
        return links.error(id, INTERNAL_ERROR, &cannot_be_judged(fault));
    }
    let Some(document) = judged.passed(document) else {
        return links.error(id, METHOD_NOT_FOUND, "Method not found");
    };
    match (is_result, method) {
        (true, "server/discover") => {
            let result = super::message::raw(document);
            links.result(id, cut_answer(&result, policy, links.name(server)).0);
        }
        (true, "subscriptions/listen") => links.result(id, meta::with_subscription(&document, id)),
        (true, _) => links.result(id, document),
        (false, _) => links.failure(id, document),
    }
}

/// Handles a result with which a server asks the client for input.
///
/// # Errors
///
/// The result is malformed or too long, or asks for something that no server may request.
pub(super) fn on_question(
    server: UpstreamId,
    result: &str,
    asker: Asker,
    links: &mut Links,
) -> Result<(), (Asker, String)> {
    let Question { text, state, methods } = match read_question(result) {
        Ok(question) => question,
        Err(why) => return Err((asker, why)),
    };
    let question = super::message::raw(text);
    let method = match &asker {
        Asker::Call(_) => "tools/call".to_owned(),
        Asker::Request { method, .. } => method.clone(),
        Asker::Task { .. } => "tasks/get".to_owned(),
    };
    let asks = methods.into_iter().map(|method| Judgment { method, from: Party::Server, document: None });
    let whole = Judgment { method, from: Party::Server, document: Some(question.clone()) };
    let judgments: Vec<Judgment> = asks.chain([whole]).collect();
    links.judge(server, judgments, Purpose::Question { asker, question, state });
    Ok(())
}

/// Handles a server's notification about changes or logs. It passes if the profile names its method, after it was
/// judged.
pub(super) fn on_notification(server: UpstreamId, method: String, params: Option<Raw>, links: &mut Links) {
    let judgment = Judgment { method: method.clone(), from: Party::Server, document: params.clone() };
    links.judge(server, [judgment], Purpose::ToClient { method, params });
}

/// Sends the client a notification that was judged. If it belongs to a subscription, it gets the client's name for that
/// subscription. If the client has no such subscription, the gate drops it.
pub(super) fn notify(server: UpstreamId, method: &str, params: Option<&RawValue>, judged: Judged, links: &mut Links) {
    let Some(params) = params else {
        if matches!(judged, Judged::Unchanged | Judged::Cleaned(_)) {
            links.tell_client(Message::notification(method, None));
        }
        return;
    };
    let subscription = meta::subscription(Some(params)).map(str::to_owned);
    let Some(mut text) = judged.passed(params.get()) else { return };
    if let Some(subscription) = subscription {
        let Some(id) = subscriber(server, &subscription, links) else { return };
        text = meta::with_subscription(&text, &id);
    }
    links.tell_client(Message::notification(method, Some(text)));
}

/// Returns the client's request that a server's subscription belongs to.
pub(super) fn subscriber(server: UpstreamId, subscription: &str, links: &Links) -> Option<Id> {
    let id = Id::read(subscription)?.as_number()?;
    match links.servers.get(server.0)?.asked.get(&id)? {
        Asked::Relayed { id, method } if method == "subscriptions/listen" => Some(id.clone()),
        _ => None,
    }
}

/// Handles a server's progress notification for a request. The client receives the numbers, and a message that was
/// judged, if it chose the token.
pub(super) fn on_progress(server: UpstreamId, params: Option<&RawValue>, links: &mut Links) {
    let Some(members) = params.and_then(|params| Members::of(params.get())) else { return };
    let is_number = |value: &&RawValue| value.get().starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let token = members.get("progressToken").filter(|token| links.has_token(token.get()));
    let (Some(token), Some(progress)) = (token, members.get("progress").filter(is_number)) else { return };
    let mut told = format!("{{\"progressToken\":{},\"progress\":{}", token.get(), progress.get());
    if let Some(total) = members.get("total").filter(is_number) {
        told.push_str(&format!(",\"total\":{}", total.get()));
    }
    match members.text("message") {
        Some(message) => {
            let document = super::message::raw(json(&message));
            let message = document.get().to_owned();
            let method = "notifications/progress".to_owned();
            let judgment = Judgment { method, from: Party::Server, document: Some(document) };
            links.judge(server, [judgment], Purpose::Progress { told, message });
        }
        None => tell_progress(told, None, links),
    }
}

/// Sends the client a server's progress, with a message that passed.
pub(super) fn tell_progress(mut told: String, message: Option<&str>, links: &mut Links) {
    if let Some(message) = message {
        told.push_str(&format!(",\"message\":{message}"));
    }
    told.push('}');
    links.tell_client(Message::notification("notifications/progress", Some(told)));
}

/// Passes on the client's progress notification for a server's request: the numbers and the message.
pub(super) fn on_client_progress(params: Option<&Raw>, links: &mut Links) {
    if let [server] = links.all().collect::<Vec<_>>()[..] {
        let params = params.map(|params| params.get().to_owned());
        links.tell(server, Message::notification("notifications/progress", params));
    }
}

/// Handles a server's request to the client. It passes if the profile names its method, after it was judged.
pub(super) fn on_server_request(server: UpstreamId, id: Id, method: String, params: Option<Raw>, links: &mut Links) {
    let judgment = Judgment { method: method.clone(), from: Party::Server, document: params.clone() };
    links.judge(server, [judgment], Purpose::AskClient { id, method, params });
}

/// Sends the client a server's request that was judged.
pub(super) fn ask_client(
    server: UpstreamId,
    id: Id,
    method: &str,
    params: Option<&RawValue>,
    judged: Judged,
    links: &mut Links,
) {
    // The process that sent the request may have ended meanwhile. Its successor did not send it.
    if !links.servers.get(server.0).is_some_and(Server::is_up) {
        return;
    }
    if !matches!(judged, Judged::Unchanged | Judged::Cleaned(_)) {
        return links.tell(server, Message::error(Some(id), METHOD_NOT_FOUND, "Method not found"));
    }
    let is_own = |asked: &ForClient| matches!(asked, ForClient::Server(other, own) if *other == server && *own == id);
    if links.for_client.values().any(is_own) {
        let why = "another request has this id, and waits";
        return links.tell(server, Message::error(Some(id), super::message::INVALID_REQUEST, why));
    }
    if links.for_client.len() >= MAX_FOR_CLIENT {
        let why = "too many requests wait for the client";
        return links.tell(server, Message::error(Some(id), INTERNAL_ERROR, why));
    }
    let params = params.and_then(|params| judged.passed(params.get()));
    links.ask_client(method, params, ForClient::Server(server, id));
}

/// Returns the message for an answer that the kernel cannot judge.
pub(super) fn cannot_be_judged(fault: &Fault) -> String {
    format!("the answer cannot be judged: {fault}")
}
