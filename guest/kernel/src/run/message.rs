//! Messages between a client and a tool server other than calls: decides whether the method exists, and which part of
//! the message a model may read.

use seamgate_core::kernel_api::short;

use super::{Run, event::Event, raw, step::Record};
use crate::{
    decision::{ALLOW, DENY},
    findings::Findings,
    observe::united,
    render::{binary, sanitized_but},
    sanitize::Clean,
};

/// Methods with which a server describes itself. All other messages carry data from outside, including lists and
/// progress.
const DESCRIBES: [&str; 4] =
    ["initialize", "server/discover", "notifications/subscriptions/acknowledged", "subscriptions/listen"];

impl Run<'_> {
    pub(super) fn message(&mut self, event: &Event) {
        let text = |name: &str| event.text(name).unwrap_or_default();
        let (server, method) = (text("server"), text("method"));
        let from = if text("from") == "client" { "client" } else { "server" };
        let mut findings = Findings::default();
        let (mut permit, mut document) = (DENY, None);
        let above = self.above.iter().flat_map(|above| &above.rules).map(|rules| &rules.profile);
        if [self.profile].into_iter().chain(above).all(|profile| profile.has_method(server, method)) {
            permit = ALLOW;
            if let Some(at) = event.member("document") {
                let whole = event.document();
                let binary = binary(whole, at);
                findings.look_at(whole, at, &binary);
                if !findings.is_nothing() {
                    let sanitized = sanitized_but(whole, at, &binary, Clean::Full);
                    document = (sanitized != whole.source(at)).then(|| raw(sanitized));
                }
                if from == "server" && !DESCRIBES.contains(&method) {
                    let labels = &mut self.state.facts.labels;
                    if let Some(all) = united(labels, &["untrusted".to_owned()]) {
                        *labels = all;
                    }
                }
            }
        }
        self.records.push(Record::Message {
            server: short(server, 256),
            method: short(method, 256),
            from,
            permit,
            document,
            found: findings.to_value(),
        });
    }
}
