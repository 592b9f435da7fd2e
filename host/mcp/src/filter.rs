//! What a client and a server tell each other beside calls: whether it may pass, and as what.

use seamgate::{Fault, Json, MessageEvent, MessageRecord, Party, Permit, Record};
use seamgate_runner::{Error, Result};
use seamgate_text::{escape_terminal, say};
use serde_json::value::RawValue;

use super::{
    gate::{Gate, cut_to},
    message::INTERNAL_ERROR,
    methods::{Kind, Side},
};

/// The journal's methods for an invalid line, and for a message that its sender may not send.
pub(super) const MALFORMED: &str = "seamgate/malformed";
const MISDIRECTED: &str = "seamgate/misdirected";

/// The most methods that are remembered as denied.
const MAX_DENIED: usize = 1024;

/// A message after the kernel has looked at it.
pub(super) enum Judged {
    /// It does not exist.
    Denied,
    /// It passes as it is.
    Unchanged,
    /// This document takes the place of its own.
    Cleaned(Json),
}

impl Gate<'_> {
    /// Returns whether a message may pass, and in which form. A message that cannot be judged does not pass.
    pub(super) fn judge(
        &mut self,
        number: usize,
        method: &str,
        from: Party,
        document: Option<&RawValue>,
    ) -> Result<Judged> {
        Ok(self.try_judge(number, method, from, document)?.unwrap_or(Judged::Denied))
    }

    pub(super) fn try_judge(
        &mut self,
        number: usize,
        method: &str,
        from: Party,
        document: Option<&RawValue>,
    ) -> Result<Result<Judged, Fault>> {
        let id = self.event_id();
        let server = self.upstreams.get(number).map(|upstream| upstream.name.clone()).unwrap_or_default();
        // What a client says goes to servers, and no model reads it.
        let document = document.filter(|_| from == Party::Server);
        let mut event = MessageEvent::new(cut_to(method, 256), from);
        (event.id, event.server) = (Some(id), Some(server));
        event.document = document.map(|document| document.to_owned().into());
        let records = match self.send(event, None)? {
            Ok(records) => records,
            Err(fault) => return Ok(Err(fault)),
        };
        let message = records.into_iter().find_map(|record| match record {
            Record::Message(message) => Some(message),
            _ => None,
        });
        Ok(Ok(match message.filter(|message| message.permit == Permit::Allow) {
            Some(MessageRecord { document: Some(document), .. }) => Judged::Cleaned(document),
            Some(_) => Judged::Unchanged,
            None => Judged::Denied,
        }))
    }

    /// Records that a message went nowhere, and why.
    pub(super) fn record_refusal(&mut self, number: usize, method: &str, from: Side, why: &str) -> Result<()> {
        let document = Json::of(why)?;
        let id = self.event_id();
        let server = self.upstreams.get(number).map(|upstream| upstream.name.clone()).unwrap_or_default();
        let mut event = MessageEvent::new(method, from.party());
        (event.id, event.server, event.document) = (Some(id), Some(server), Some(document));
        self.send(event, None)?.map_err(Error::Fault)?;
        Ok(())
    }

    /// Records a method that its sender may not send in this way, once.
    pub(super) fn misdirected(&mut self, number: usize, from: Side, kind: Kind, method: &str) -> Result<()> {
        let method = cut_to(method, 256);
        let key = (number, format!("{} {kind:?} {method}", from.name()));
        if self.denied.contains(&key) || self.denied.len() >= MAX_DENIED {
            return Ok(());
        }
        self.denied.insert(key);
        let (sender, kind) = (from.name(), kind.name());
        say(&format!("seamgate: not passed on: the {sender} sent {:?} as a {kind}", escape_terminal(method)));
        self.record_refusal(number, MISDIRECTED, from, &format!("{method} as a {kind}"))
    }

    /// An error of the protocol that a server gave, cleaned.
    pub(super) fn cleaned(&mut self, number: usize, method: &str, error: &RawValue) -> Result<String> {
        Ok(match self.judge(number, method, Party::Server, Some(error))? {
            Judged::Cleaned(cleaned) => cleaned.as_str().to_owned(),
            Judged::Unchanged => error.get().to_owned(),
            Judged::Denied => {
                format!(
                    "{{\"code\":{INTERNAL_ERROR},\"message\":\"the server answered with an error that cannot be judged\"}}"
                )
            }
        })
    }

    /// The same for notifications: what does not exist is recorded once.
    pub(super) fn judge_once(
        &mut self,
        number: usize,
        method: &str,
        from: Party,
        params: Option<&RawValue>,
    ) -> Result<Judged> {
        let key = (number, format!("{from} {}", cut_to(method, 256)));
        if self.denied.contains(&key) {
            return Ok(Judged::Denied);
        }
        let judged = self.judge(number, method, from, params)?;
        if matches!(judged, Judged::Denied) && self.denied.len() < MAX_DENIED {
            self.denied.insert(key);
        }
        Ok(judged)
    }
}
