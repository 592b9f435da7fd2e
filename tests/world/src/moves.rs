//! The moves of a world, from its beginning to its end.

use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::{Effect, Input};

use crate::{
    Kernel,
    setting::{Prelude, Setting},
    world::World,
};

/// The most wake-ups after the client's end before the session must be over.
const LAST_WAKES: usize = 256;

impl<K: Kernel> World<K> {
    /// Performs the events of the setting that happen before the first move.
    pub fn begin(&mut self, setting: Setting, choices: &mut impl Choices) {
        let is_stateless = match setting.prelude {
            Prelude::Nothing => return,
            Prelude::Session => false,
            Prelude::Stateless => true,
        };
        if !is_stateless {
            self.client_initializes(choices);
            self.servers_answer(choices);
        }
        self.client_lists(is_stateless, choices);
        self.servers_answer(choices);
    }

    /// Makes one move.
    pub fn make_move(&mut self, choices: &mut impl Choices) {
        if self.is_over {
            return;
        }
        self.now += [0, 1, 20, 500][choices.below(4)];
        match choices.below(64) {
            0..=27 => self.client_moves(choices),
            28..=53 => self.server_moves(choices),
            54..=57 => self.pass_time(choices),
            58..=60 => {
                let is_approved = choices.below(4) > 0;
                if let Some(step) = self.kernel.decide(self.now, is_approved) {
                    self.catch_up(step, choices);
                }
            }
            61 | 62 => self.server_ends(choices),
            _ if choices.below(4) == 0 && !self.is_long => {
                self.client.has_ended = true;
                self.handle(Input::DownstreamEnded, choices);
            }
            _ => self.servers_answer(choices),
        }
    }

    /// Makes one move, which does not end the client.
    pub fn make_long_move(&mut self, choices: &mut impl Choices) {
        self.is_long = true;
        self.make_move(choices);
    }

    /// Ends the session. The session must be over after the wake-ups that the core requests, and each request must be
    /// answered.
    pub fn finish(&mut self, choices: &mut impl Choices) {
        if !self.is_over {
            self.check_sizes();
        }
        if !self.is_over && !self.client.has_ended {
            self.client.has_ended = true;
            self.handle(Input::DownstreamEnded, choices);
        }
        let answers = choices.below(4) == 0;
        for _ in 0..LAST_WAKES {
            if answers && !self.is_over {
                self.servers_answer(choices);
            }
            if self.is_over {
                break;
            }
            let due = [self.core.wake_at(), self.kernel.wake_at()].into_iter().flatten().min();
            self.now = self.now.max(due.unwrap_or_else(|| panic!("the session has no end")));
            self.handle(Input::Tick, choices);
        }
        assert!(self.is_over, "the session is not over after {LAST_WAKES} wake-ups");
        self.core.fail_all("the session ends");
        while let Some(effect) = self.core.poll() {
            if let Effect::ToDownstream(message) = effect {
                self.write_to_client(&message);
            }
        }
        self.client.check_answered();
    }

    fn pass_time(&mut self, choices: &mut impl Choices) {
        let due = [self.core.wake_at(), self.kernel.wake_at()];
        match choices.below(4) {
            0 => self.now += choices.one(&[10, 1_000, 10_000, 61_000, 301_000, 1_201_000]),
            1 => self.now = self.now.max(due[1].unwrap_or_default()),
            _ => self.now = self.now.max(due[0].unwrap_or_default()),
        }
        match choices.below(8) {
            7 => self.handle(Input::ProfileEdited, choices),
            _ => self.handle(Input::Tick, choices),
        }
    }
}
