//! The core of the gate in a world without processes: choices play the client, the servers, the clock and, if wanted, the kernel. What must
//! hold is checked after every effect.
//!
//! A choice comes from a seed or from the bytes of a fuzz target. The same choices make the same world.

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

/// Records and actions of a step.
pub type Step = (Vec<Record>, Vec<Action>);

/// The kernel of a world, with its run.
pub trait Kernel {
    /// Takes an event.
    fn step(&mut self, now: u64, event: &EventKind, choices: &mut impl Choices) -> Outcome;

    /// Returns when [`tick`](Kernel::tick) is due.
    fn wake_at(&self) -> Option<u64>;

    /// Lets the run see the time.
    fn tick(&mut self, now: u64) -> Step;

    /// Lets a person decide about the oldest call that waits for one. `None` if there is none.
    fn decide(&mut self, now: u64, is_approved: bool) -> Option<Step>;

    /// Keeps an artifact.
    fn keep(&mut self, text: &str);

    /// Returns an artifact by its digest.
    ///
    /// # Errors
    ///
    /// There is no artifact with this digest.
    fn artifact(&self, digest: &str) -> Result<String, String>;
}
