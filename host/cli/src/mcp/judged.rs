//! What a client and a server tell each other beside calls: whether it may pass, and as what.

use anyhow::Result;
use seamgate::Fault;
use serde_json::value::RawValue;

use super::{
    gate::{Gate, Record, cut_to},
    message::INTERNAL_ERROR,
};
use crate::agent::Event;

/// A message after the kernel has looked at it.
pub(super) enum Judged {
    /// It does not exist.
    Denied,
    /// It passes as it is.
    AsItIs,
    /// This document takes the place of its own.
    Cleaned(Box<RawValue>),
}

impl Gate<'_> {
    /// Whether a message may pass, and as what. What cannot be judged does not pass.
    pub(super) fn judge(
        &mut self,
        number: usize,
        method: &str,
        from: &str,
        document: Option<&RawValue>,
    ) -> Result<Judged> {
        Ok(self.try_judge(number, method, from, document)?.unwrap_or(Judged::Denied))
    }

    pub(super) fn try_judge(
        &mut self,
        number: usize,
        method: &str,
        from: &str,
        document: Option<&RawValue>,
    ) -> Result<Result<Judged, Fault>> {
        let id = self.event_id();
        let server = self.peers.get(number).map(|peer| peer.name.clone()).unwrap_or_default();
        // What a client says goes to servers, and no model reads it.
        let document = document.filter(|_| from == "server");
        let event = Event::Message { id: &id, server: &server, method: cut_to(method, 256), from, document };
        let records = match self.send(&event, None)? {
            Ok(records) => records,
            Err(fault) => return Ok(Err(fault)),
        };
        let record = records.into_iter().find(|record| record.r#type == "message");
        Ok(Ok(match record {
            Some(Record { permit, document: Some(document), .. }) if permit == "allow" => Judged::Cleaned(document),
            Some(Record { permit, .. }) if permit == "allow" => Judged::AsItIs,
            _ => Judged::Denied,
        }))
    }

    /// An error of the protocol that a server gave, cleaned.
    pub(super) fn cleaned(&mut self, number: usize, method: &str, error: &RawValue) -> Result<String> {
        Ok(match self.judge(number, method, "server", Some(error))? {
            Judged::Cleaned(cleaned) => cleaned.get().to_owned(),
            Judged::AsItIs => error.get().to_owned(),
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
        from: &str,
        params: Option<&RawValue>,
    ) -> Result<Judged> {
        let key = (number, format!("{from} {}", cut_to(method, 256)));
        if self.denied.contains(&key) {
            return Ok(Judged::Denied);
        }
        let judged = self.judge(number, method, from, params)?;
        if matches!(judged, Judged::Denied) && self.denied.len() < 1024 {
            self.denied.insert(key);
        }
        Ok(judged)
    }
}
