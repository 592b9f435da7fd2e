//! The limits of one call, and its usage.

use std::time::Duration;

use super::{defaults, wasm::ComponentDigest};

/// The limits of one call into the sandbox. A call that exceeds one ends in a [`Fault`](crate::Fault), never in a
/// verdict. Each method changes one limit.
///
/// Two limits cannot be set here: the stack of an instance, which is 512 KiB, and each contract's caps on documents.
///
/// ```
/// use std::time::Duration;
/// use seamgate::Limits;
///
/// let limits = Limits::default().memory(32 * 1024 * 1024).timeout(Duration::from_secs(1));
/// assert_eq!(limits.fuel, 100_000_000);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Fuel for each call, about one unit for each WebAssembly instruction. Fuel is deterministic: the same request
    /// takes the same fuel on every machine. Default: 100,000,000.
    pub fuel: u64,
    /// Further fuel for each byte of output and contract. Default: 500.
    pub fuel_per_byte: u64,
    /// Further fuel to compile a registered contract, because its author is trusted more than the producer. A contract
    /// that comes with a request gets none. Default: 500,000,000.
    pub contract_fuel: u64,
    /// Further fuel for each byte of a registered contract. Default: 2,500.
    pub contract_fuel_per_byte: u64,
    /// Linear memory of one instance, in bytes. Default: 64 MiB.
    pub memory: usize,
    /// Wall-clock time of each call, accurate to 10 ms. It is a safety net in addition to fuel, and never affects a
    /// verdict. Default: 5 s.
    pub timeout: Duration,
    /// The longest output, in bytes. The gate checks it before the output enters the sandbox. Default: 8 MiB.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: defaults::FUEL,
            fuel_per_byte: defaults::FUEL_PER_BYTE,
            contract_fuel: defaults::CONTRACT_FUEL,
            contract_fuel_per_byte: defaults::CONTRACT_FUEL_PER_BYTE,
            memory: defaults::MEMORY,
            timeout: Duration::from_secs(defaults::TIMEOUT),
            output_bytes: defaults::OUTPUT_BYTES,
        }
    }
}

/// Defines a setter for each limit.
macro_rules! setters {
    ($($name:ident: $type:ty),* $(,)?) => {
        impl Limits {
            $(
                #[doc = concat!("Set [`", stringify!($name), "`](Limits::", stringify!($name), ").")]
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $name;
                    self
                }
            )*
        }
    };
}

setters! {
    fuel: u64,
    fuel_per_byte: u64,
    contract_fuel: u64,
    contract_fuel_per_byte: u64,
    memory: usize,
    timeout: Duration,
    output_bytes: usize,
}

impl Limits {
    pub(crate) fn fuel_for(&self, bytes: usize) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.fuel.saturating_add(self.fuel_per_byte.saturating_mul(bytes))
    }

    /// Returns the fuel to compile a contract of this many bytes.
    pub(crate) fn fuel_for_contract(&self, bytes: usize) -> u64 {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.contract_fuel.saturating_add(self.contract_fuel_per_byte.saturating_mul(bytes))
    }
}

impl Usage {
    /// Returns the combined usage of this and another call in the same instance.
    pub(crate) fn and(self, other: Usage) -> Usage {
        Usage {
            fuel: self.fuel.saturating_add(other.fuel),
            memory: self.memory.max(other.memory),
            elapsed: self.elapsed + other.elapsed,
            component: self.component,
        }
    }
}

/// The resources that one call used. They are never part of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The fuel that the call used.
    pub fuel: u64,
    /// The peak of the instance's linear memory, in bytes.
    pub memory: usize,
    /// Wall-clock time inside the sandbox.
    pub elapsed: Duration,
    /// The component that used the resources: `sha256:` followed by the digest of its bytes. Fuel is comparable only
    /// between calls of the same component.
    pub component: ComponentDigest,
}
