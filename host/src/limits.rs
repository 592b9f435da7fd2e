//! What one call may use.

use std::{sync::Arc, time::Duration};

/// Bounds on one call into the sandbox. Passing one is a typed [`Fault`](crate::Fault), never a verdict.
///
/// Not here: the stack of an instance, 512 KiB, and a contract's own caps on documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Fuel for each call, about one unit for each WebAssembly instruction. Deterministic: the same request takes the
    /// same fuel on every machine. Default: 100,000,000.
    pub fuel: u64,
    /// Further fuel for each byte of output and contract. Default: 500.
    pub fuel_per_byte: u64,
    /// Fuel for compiling one contract that is registered, beside that for the call: whoever wrote it is trusted more
    /// than who wrote the output. Not for one that comes with a request. Default: 500,000,000.
    pub contract_fuel: u64,
    /// Further fuel for each byte of that contract. Default: 2,500.
    pub contract_fuel_per_byte: u64,
    /// Linear memory of one instance, in bytes. Default: 64 MiB.
    pub memory: usize,
    /// Wall clock for each call, kept to 10 ms. The net under the fuel, not a part of the verdict. Default: 5 s.
    pub timeout: Duration,
    /// Longest output, in bytes; looked at before the sandbox is entered. Default: 8 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: 100_000_000,
            fuel_per_byte: 500,
            contract_fuel: 500_000_000,
            contract_fuel_per_byte: 2_500,
            memory: 64 * 1024 * 1024,
            timeout: Duration::from_secs(5),
            output_bytes: 8 * 1024 * 1024,
        }
    }
}

impl Limits {
    pub(crate) fn fuel_for(&self, bytes: usize) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.fuel.saturating_add(self.fuel_per_byte.saturating_mul(bytes))
    }

    /// For compiling a contract of so many bytes.
    pub(crate) fn fuel_for_contract(&self, bytes: usize) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.contract_fuel.saturating_add(self.contract_fuel_per_byte.saturating_mul(bytes))
    }
}

impl Usage {
    /// What this and another call in the same instance used.
    pub(crate) fn and(self, other: Usage) -> Usage {
        Usage {
            fuel: self.fuel.saturating_add(other.fuel),
            memory: self.memory.max(other.memory),
            elapsed: self.elapsed + other.elapsed,
            component: self.component,
        }
    }
}

/// What one call used. Beside the report, never inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Fuel used.
    pub fuel: u64,
    /// The most linear memory that the instance had, in bytes.
    pub memory: usize,
    /// Wall clock from entering the sandbox to leaving it.
    pub elapsed: Duration,
    /// Which component used it: `sha256:` and the digest of its bytes. Fuel is comparable only under the same one.
    pub component: Arc<str>,
}
