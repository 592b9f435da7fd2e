//! After an interruption: what can be sent again is, and an effect never runs twice.

use seamgate_core::Fault;

use super::{
    Run,
    state::{ModelCall, Phase},
    step::{Action, Record},
};
use crate::{surface, tool::Effect};

impl Run<'_> {
    pub(super) fn resumed(&mut self) -> Result<(), Fault> {
        // The loop asks the model again, and counts it as a step.
        if let Some(ModelCall { key, .. }) = self.state.model.take() {
            let message = format!("the answer to {key} was lost");
            self.records.push(Record::Output { kind: "failure", message });
        }
        if let Some(question) = self.state.question.clone() {
            let key = self.key();
            let (text, expires) = (question.text, question.expires);
            self.state.question = Some(super::state::Question { key: key.clone(), text: text.clone(), expires });
            self.actions.push(Action::AskInput { key, question: text, call: None, expires });
        }
        for index in 0..self.state.calls.len() {
            let call = &self.state.calls[index];
            match (call.phase, call.effect) {
                // The host journals that it starts before it sends: this was not sent. What allowed it may have lapsed.
                (Phase::Dispatched, _) => {
                    self.undo(index);
                    self.judge(index)?;
                }
                (Phase::Started, Effect::Effectful) => self.uncertain(index, "the run was interrupted while it ran"),
                (Phase::Started, _) => {
                    let expires = self.call_expires();
                    self.state.calls[index].expires = Some(expires);
                    let is_delegate =
                        surface::known(self.profile, &self.as_call(index)).is_ok_and(|tool| tool.is_delegate);
                    if is_delegate { self.delegate_again(index) } else { self.execute(index, None) }
                }
                (Phase::Asked, _) => {
                    // The person is shown it again.
                    self.state.calls[index].by.clear();
                    self.judge(index)?;
                }
                (Phase::Uncertain, _) => {
                    let call = &self.state.calls[index];
                    let question = format!(
                        "Did the call {} of {} have its effect? Look there, and say: done or not_done.",
                        call.key, call.tool
                    );
                    let (key, call, expires) = (self.key(), call.key.clone(), call.expires.unwrap_or_default());
                    self.actions.push(Action::AskInput { key, question, call: Some(call), expires });
                }
                (Phase::Done | Phase::Denied | Phase::Cancelled, _) => {}
            }
        }
        Ok(())
    }
}
