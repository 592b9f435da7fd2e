//! `seamgate agent` with real processes: the example of `schemas/examples/sre`, which a person, a crash or a second process interrupts.
//!
//! The six acceptance tests are in [`acceptance`]. `tests/results/agent.md` says which check of the kernel each of them needs.
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
