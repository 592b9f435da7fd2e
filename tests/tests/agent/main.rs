//! `seamgate agent` with real processes: the example of `schemas/examples/sre`, which a person, a crash or a second process interrupts.
//!
//! The six acceptance tests stand in [`six`]. `tests/README.md` says which check of the kernel each of them needs.
#![cfg(unix)]

mod cuts;
mod example;
mod expiry;
mod going;
mod journal;
mod kills;
mod place;
mod several;
mod six;
