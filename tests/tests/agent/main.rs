//! `seamgate agent` with real processes. A person, a crash or a second process interrupts the example of
//! `schemas/examples/sre`.
//!
//! The six acceptance tests are in [`acceptance`]. `tests/results/agent.md` lists the kernel check that each of them
//! needs.
#![cfg(unix)]

mod acceptance;
mod example;
mod expiry;
mod journal;
mod kills;
mod lifecycle;
mod place;
mod several;
mod torn_journal;
