//! Resumes a run after an interruption. Sends again what can safely be sent again, which never includes an effect.

use seamgate_core::Fault;

use super::{
    Run,
    state::{ModelCall, Phase},
    step::{Action, Record},
};
use crate::tool::Effect;

impl Run<'_> {
    pub(super) fn resumed(&mut self) -> Result<(), Fault> {
        // The loop asks the model again, and counts it as a step.
        if let Some(ModelCall { key, .. }) = self.state.model.take() {
            self.state.is_final_asked = false;
            let message = format!("the answer to {key} was lost");
            self.records.push(Record::Output { kind: "failure", message });
        }
        let key = self.key();
        if let Some(question) = &mut self.state.question {
            question.key.clone_from(&key);
            let (text, expires) = (question.text.clone(), question.expires);
            self.actions.push(Action::AskInput { key, question: text, call: None, expires });
        }
        for index in 0..self.state.calls.len() {
            let call = &self.state.calls[index];
            match (call.phase, call.effect) {
                // The host writes the start of a call to the journal before it sends the call, so this call was not
                // sent. Its approval may have expired.
                (Phase::Dispatched, _) => {
                    self.undo(index);
                    self.judge(index)?;
                }
                (Phase::Started, Effect::Effectful) => self.uncertain(index, "the run was interrupted while it ran"),
                (Phase::Started, _) if self.is_delegate(index) => self.delegate_again(index),
                (Phase::Started, _) if self.state.facts.approvals.iter().any(|approval| approval.key == call.key) => {
                    // The call is sent again only if its approval is still valid.
                    self.undo(index);
                    self.judge(index)?;
                    let call = &mut self.state.calls[index];
                    if call.phase == Phase::Dispatched {
                        // The call may have been sent before.
                        call.phase = Phase::Started;
                    }
                }
                // If the time of the run is up, nothing more is sent: the run and its calls end now.
                (Phase::Started, _) if self.ms_left() == Some(0) => {}
                (Phase::Started, _) => {
                    let expires = self.call_expires();
                    self.state.calls[index].expires = Some(expires);
                    self.execute(index, None);
                }
                (Phase::Asked, _) => {
                    // The person sees the ask again.
                    let by = std::mem::take(&mut self.state.calls[index].by);
                    self.judge(index)?;
                    // An approved call that waits for its turn is not shown again. Its approvers can still decide.
                    let call = &mut self.state.calls[index];
                    if call.phase == Phase::Asked && call.by.is_empty() {
                        call.by = by;
                    }
                }
                (Phase::Uncertain, _) => {
                    // Nobody resolved the call in time, and nobody waits for it anymore.
                    let Some(expires) = call.expires else { continue };
                    self.ask_what_became(index, expires);
                }
                (Phase::Held | Phase::Done | Phase::Denied | Phase::Cancelled, _) => {}
            }
        }
        Ok(())
    }
}
