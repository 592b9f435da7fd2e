//! The core of the gate in a world without processes. Choices control the client, the servers, the clock and,
//! optionally, the kernel. The invariants are checked after every effect.
//!
//! A choice comes from a seed or from the bytes of a fuzz target. The same choices produce the same world.

mod client;
mod client_moves;
mod fake;
mod journal;
mod line;
mod moves;
mod nonces;
mod real;
mod server_moves;
mod servers;
mod setting;
mod world;

pub use self::{
    fake::Fake,
    real::Real,
    setting::{PROFILE, Prelude, Setting},
    world::World,
};

use seamgate::{Action, EventKind, Record};
use seamgate_checks::schemas::Choices;
use seamgate_mcp::core::Outcome;

/// The records and actions of a step.
pub type Step = (Vec<Record>, Vec<Action>);

/// The kernel of a world, with its run.
pub trait Kernel {
    /// Processes an event.
    fn step(&mut self, now: u64, event: &EventKind, choices: &mut impl Choices) -> Outcome;

    /// Returns the time at which [`tick`](Kernel::tick) is due.
    fn wake_at(&self) -> Option<u64>;

    /// Tells the run the current time.
    fn tick(&mut self, now: u64) -> Step;

    /// Decides, as a person would, about the oldest call that waits for approval. Returns `None` if no call waits.
    fn decide(&mut self, now: u64, is_approved: bool) -> Option<Step>;

    /// Stores an artifact.
    fn keep(&mut self, text: &str);

    /// Returns an artifact by its digest.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no artifact with this digest.
    fn artifact(&self, digest: &str) -> Result<String, String>;
}
