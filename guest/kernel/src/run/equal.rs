//! Earlier equal calls, which a person sees when asked to approve a call.

use seamgate_core::kernel_api::count;

use super::{
    Run,
    state::{Outcome, Phase, Ran},
};
use crate::{approval::may_be_asked, surface};

/// The maximum number of different calls whose outcome the run remembers. The call that ended first is dropped first.
const MAX_RAN: usize = 64;

impl Run<'_> {
    /// Remembers the outcome of a call, if an equal one may need approval.
    pub(super) fn ended(&mut self, index: usize, outcome: Outcome) {
        let call = &self.state.calls[index];
        let tool = surface::known(self.profile, &call.as_call());
        if !tool.is_ok_and(|tool| may_be_asked(self.profile, self.above.as_deref(), tool)) {
            return;
        }
        let (same, key, at) = (self.same(call), call.key.clone(), self.now());
        let was_uncertain = call.phase == Phase::Uncertain;
        let ran = &mut self.state.ran;
        match ran.get_mut(&same) {
            Some(last) if last.call == key => *last = Ran { at, outcome, ..last.clone() },
            // A later call ended in the meantime, and this one was already counted.
            Some(_) if was_uncertain => {}
            Some(last) => *last = Ran { call: key, at, outcome, times: last.times.saturating_add(1) },
            None => {
                if ran.len() >= MAX_RAN
                    && let Some(first) = ran.iter().min_by_key(|(_, ran)| ran.at).map(|(same, _)| same.clone())
                {
                    ran.remove(&first);
                }
                ran.insert(same, Ran { call: key, at, outcome, times: 1 });
            }
        }
    }

    /// Describes the earlier calls that equal this one, as lines of the view that a person sees.
    pub(super) fn equal_calls(&self, index: usize) -> String {
        let calls = &self.state.calls;
        let call = &calls[index];
        let may_equal =
            |other: usize| other != index && calls[other].phase.is_under_way() && calls[other].tool == call.tool;
        if self.state.ran.is_empty() && !(0..calls.len()).any(may_equal) {
            return String::new();
        }
        let same = self.same(call);
        let under_way = (0..calls.len()).rev().find(|&other| may_equal(other) && self.same(&calls[other]) == same);
        let mut lines = String::new();
        if let Some(other) = under_way {
            lines.push_str(&format!("before: an equal call, {}, is under way\n", calls[other].key));
        }
        if let Some(Ran { call, at, outcome, times }) = self.state.ran.get(&same) {
            let ago = span(self.now().saturating_sub(*at));
            let (times, outcome) = (*times, outcome.as_str());
            lines.push_str(&match times {
                1 => format!("before: an equal call, {call}, ran {ago} before this ask and {outcome}\n"),
                _ => format!("before: {times} equal calls ran; the last, {call}, {ago} before this ask, {outcome}\n"),
            });
        }
        lines
    }
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Outcome::Result => "returned a result",
            Outcome::Invalid => "returned an invalid result",
            Outcome::Error => "failed",
            Outcome::Uncertain => "may have had its effect",
            Outcome::Confirmed => "had its effect, as a person said",
            Outcome::Cancelled => "was cancelled",
        }
    }
}

/// Writes a time span in its largest unit.
fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    let (number, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    count(usize::try_from(number).unwrap_or(usize::MAX), unit)
}
