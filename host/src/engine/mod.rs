//! The engine: one for each gate, with a pool of slots for instances.

mod clock;

use std::sync::{Condvar, Mutex, PoisonError};

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limits::Limits;
pub(crate) use clock::{Clock, LOOK, TimedOut};

/// The stack of an instance, in bytes. The guest's own caps on depth keep it well inside.
pub(crate) const STACK: usize = 512 * 1024;

/// How components are compiled: everything that changes the code that is made.
fn codegen() -> Config {
    let mut config = Config::new();
    config
        // The bound on work, the same on every machine; and when to look at the clock.
        .consume_fuel(true)
        .max_wasm_stack(STACK)
        // The same bytes everywhere: one NaN, and no instruction whose result is the machine's choice.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_simd(true)
        // A component needs none of these; what is off cannot be attacked.
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        // A trap is a typed fault: its frames are shown to nobody, and code without what tells them loads faster.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows));
    config
}

/// Memory that a slot keeps between instances, in bytes: what an ordinary verdict touches, its stack and its arena.
const KEEP_RESIDENT: usize = 256 * 1024;

/// The same for its tables of functions: all that there are.
const KEEP_TABLES: usize = 64 * 1024;

/// An engine that compiles for those of gates, and runs nothing.
pub(crate) fn compiler() -> wasmtime::Result<Engine> {
    Engine::new(&codegen())
}

/// How the engine of a gate is set up, and its pool, which has `slots` slots.
pub(crate) fn config(limits: &Limits, slots: u32) -> (Config, PoolingAllocationConfig) {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        // Its module, and those by which the canonical ABI ties a resource to its destructor.
        .total_core_instances(slots.saturating_mul(4))
        .total_memories(slots)
        .total_stacks(slots)
        .total_tables(slots.saturating_mul(3))
        .max_memory_size(limits.memory)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_TABLES)
        // Where the kernel can say which pages were written to, only those are reset: without it, every page that an
        // instance so much as reads costs a fault.
        .pagemap_scan(Enabled::Auto);
    (codegen(), pool)
}

/// An engine for a gate.
pub(crate) fn engine(limits: &Limits, slots: u32) -> wasmtime::Result<Engine> {
    let (mut config, pool) = config(limits, slots);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// The slots that are free. Who finds none waits: a full pool is backpressure, not an error.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<u32>,
    freed: Condvar,
}

/// One slot, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<'s>(&'s Slots);

impl Slots {
    pub(crate) fn new(slots: u32) -> Self {
        Slots { free: Mutex::new(slots), freed: Condvar::new() }
    }

    /// Take a slot, waiting for one.
    pub(crate) fn take(&self) -> Slot<'_> {
        // A counter cannot be left half changed, so a panic elsewhere does not spoil it.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
