//! Defaults of limits.
//!
//! Made by `cargo xtask generate` from `wit/` and `xtask/generate/`. Do not edit: run it again.

pub(crate) const FUEL: u64 = 100_000_000;
pub(crate) const FUEL_PER_BYTE: u64 = 500;
pub(crate) const CONTRACT_FUEL: u64 = 500_000_000;
pub(crate) const CONTRACT_FUEL_PER_BYTE: u64 = 2_500;
pub(crate) const MEMORY: usize = 67_108_864;
pub(crate) const TIMEOUT: u64 = 5;
pub(crate) const OUTPUT_BYTES: usize = 8_388_608;
