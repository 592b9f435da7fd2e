//! The first request of a session. Each server receives it with the capabilities that the profile permits the client,
//! and the client receives the capabilities that the profile permits the servers. A restarted server receives it again.

use seamgate_text::truncate;
use serde_json::value::RawValue;

use super::{
    effects::UpstreamId,
    links::{Links, Place},
    message::{Answer, Change, INTERNAL_ERROR, INVALID_REQUEST, Id, Members, Message, Raw, json, raw, with_member},
    meta,
    policy::Policy,
    server::Asked,
};

/// The longest part of a server's error that a message shows, in bytes.
const MAX_SHOWN: usize = 512;

/// The handshake of a session.
#[derive(Default)]
pub(super) struct Handshake {
    /// The client's request, while servers answer it.
    waiting: Option<Id>,
    /// The answers of the servers. `None` if a server has not answered or has ended.
    answers: Vec<Option<Answer>>,
    /// The parameters of the client's request.
    params: Option<Raw>,
    /// `true` if the client of the session can show a form.
    pub(super) has_forms: bool,
    /// `true` if the client has finished the handshake.
    is_finished: bool,
}

/// The tool capability that a server declares.
pub(super) struct ToolCapability {
    pub(super) has_tools: bool,
    pub(super) tells_changes: bool,
}

impl Handshake {
    /// Handles the client's first request.
    pub(super) fn on_request(&mut self, id: &Id, params: Option<&RawValue>, policy: &Policy, links: &mut Links) {
        if self.waiting.is_some() {
            links.error(id, INVALID_REQUEST, "the session is being initialized");
            return;
        }
        let capabilities = params.and_then(|params| Members::of(params.get())?.get("capabilities"));
        self.has_forms = meta::has_forms(capabilities);
        self.params = params.map(ToOwned::to_owned);
        self.is_finished = false;
        self.answers = links.all().map(|_| None).collect();
        self.waiting = Some(id.clone());
        links.put(id, Place::Handshake);
        let mut down = None;
        for server in links.all() {
            if let Err(why) = self.ask(server, policy, links) {
                down = Some(why);
            }
        }
        if let Some(why) = down {
            self.answer_if_complete(&why, links);
        }
    }

    /// Sends a server the first request, with the capabilities that the profile names for it.
    fn ask(&self, server: UpstreamId, policy: &Policy, links: &mut Links) -> Result<u64, String> {
        let params = self.params.as_ref().map(|params| {
            let members = Members::of(params.get());
            let cut = members.and_then(|members| {
                meta::cut_capabilities(policy, links.name(server), members.get("capabilities")?, |name| name)
            });
            cut.map_or_else(|| params.get().to_owned(), |cut| with_member(params.get(), "capabilities", &cut))
        });
        let since = links.now;
        links.ask(server, "initialize", params, Asked::Initialize { since })
    }

    /// Handles the restart of a server. Returns whether it gets the first request.
    pub(super) fn on_server_started(&mut self, server: UpstreamId, policy: &Policy, links: &mut Links) -> bool {
        self.params.is_some() && self.ask(server, policy, links).is_ok()
    }

    /// Handles a server's answer, which was judged. If it is a result, returns its tool capability.
    pub(super) fn on_answer(
        &mut self,
        server: UpstreamId,
        answer: Answer,
        policy: &Policy,
        links: &mut Links,
    ) -> Option<ToolCapability> {
        let (answer, capability) = match answer {
            Answer::Result(result) => {
                let (result, capability) = cut_answer(&result, policy, links.name(server));
                (Answer::Result(raw(result)), Some(capability))
            }
            error => (error, None),
        };
        let Some(own) = self.answers.get_mut(server.0) else { return capability };
        *own = Some(answer);
        match (&self.waiting, self.is_finished && capability.is_some()) {
            (Some(_), _) => self.answer_if_complete("", links),
            // The client has already finished its part of the handshake.
            (None, true) => links.tell(server, Message::notification("notifications/initialized", None)),
            (None, false) => {}
        }
        capability
    }

    /// Handles a server that does not answer. If no server answers, the client receives `why`.
    pub(super) fn on_server_ended(&mut self, why: &str, links: &mut Links) {
        self.answer_if_complete(why, links);
    }

    /// Handles the end of the client's handshake.
    pub(super) fn on_finished(&mut self, params: Option<&Raw>, links: &mut Links) {
        self.is_finished = true;
        for server in links.all() {
            let params = params.map(|params| params.get().to_owned());
            links.tell(server, Message::notification("notifications/initialized", params));
        }
    }

    /// Returns whether any server has yet to answer the client's request.
    pub(super) fn is_open(&self) -> bool {
        self.waiting.is_some()
    }

    /// Answers the client when each server has answered or ended.
    fn answer_if_complete(&mut self, why: &str, links: &mut Links) {
        let is_asked =
            |own: &super::server::Server| own.asked.values().any(|asked| matches!(asked, Asked::Initialize { .. }));
        if self.waiting.is_none() || links.servers.iter().any(is_asked) {
            return;
        }
        let Some(id) = self.waiting.take() else { return };
        if let [answer] = &self.answers[..] {
            match answer {
                Some(Answer::Result(result)) => links.result(&id, result.get().to_owned()),
                Some(Answer::Error(error)) => links.failure(&id, error.get().to_owned()),
                None => links.error(&id, INTERNAL_ERROR, why),
            }
            return;
        }
        let results: Vec<(&str, &RawValue)> = links
            .servers
            .iter()
            .zip(&self.answers)
            .filter_map(|(server, answer)| match answer {
                Some(Answer::Result(result)) => Some((server.name.as_str(), &**result)),
                Some(Answer::Error(_)) | None => None,
            })
            .collect();
        match merged(&results) {
            Ok(result) => links.result(&id, result),
            Err(_) if results.is_empty() => links.error(&id, INTERNAL_ERROR, why),
            Err(why) => links.error(&id, INTERNAL_ERROR, &why),
        }
    }
}

/// Removes the capabilities that the profile does not name from a server's answer.
pub(super) fn cut_answer(result: &RawValue, policy: &Policy, server: &str) -> (String, ToolCapability) {
    let nothing = ToolCapability { has_tools: false, tells_changes: false };
    let capabilities = Members::of(result.get()).and_then(|members| members.get("capabilities"));
    let Some(capabilities) = capabilities else { return (result.get().to_owned(), nothing) };
    let tools = Members::of(capabilities.get()).and_then(|members| members.get("tools"));
    let changes = tools.and_then(|tools| Members::of(tools.get())?.get("listChanged")).map(RawValue::get);
    let capability = ToolCapability { has_tools: tools.is_some(), tells_changes: changes == Some("true") };
    let mut kept = match meta::cut_capabilities(policy, server, capabilities, kind_of) {
        Some(cut) => cut,
        None => capabilities.get().to_owned(),
    };
    // The gate reports changes of tools itself, because the tools of a server disappear when it ends.
    if tools.is_some()
        && let Some(members) = Members::of(&kept)
        && let Some(tools) = members.get("tools").and_then(|tools| Members::of(tools.get()))
    {
        kept = members.with(|name, _| match name {
            "tools" => Change::To(tools.set("listChanged", "true")),
            _ => Change::Keep,
        });
    }
    (with_member(result.get(), "capabilities", &kept), capability)
}

/// Merges the answers of several servers into one.
fn merged(results: &[(&str, &RawValue)]) -> Result<String, String> {
    let text = |answer: &RawValue, name: &str| Some(Members::of(answer.get())?.text(name)?.into_owned());
    let mut versions: Vec<String> = results.iter().filter_map(|(_, answer)| text(answer, "protocolVersion")).collect();
    versions.sort_unstable();
    versions.dedup();
    let [version] = &versions[..] else {
        return Err(format!("the servers speak different versions of the protocol: {}", versions.join(", ")));
    };
    let instructions: Vec<String> = results
        .iter()
        .filter_map(|(name, answer)| Some(format!("{name}:\n{}", text(answer, "instructions")?)))
        .collect();
    let instructions = match instructions.is_empty() {
        true => String::new(),
        false => format!(",\"instructions\":{}", json(&instructions.join("\n\n"))),
    };
    Ok(format!(
        r#"{{"protocolVersion":{},"capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"seamgate","version":{}}}{instructions}}}"#,
        json(version),
        json(env!("CARGO_PKG_VERSION")),
    ))
}

/// Returns the part of a server's error that messages show.
pub(super) fn shown(error: &RawValue) -> String {
    truncate(error.get(), MAX_SHOWN)
}

/// Returns the kind of methods that a server's capability covers.
fn kind_of(capability: &str) -> &str {
    if capability == "completions" { "completion" } else { capability }
}
