//! The engine: one for each gate, with a pool of slots for instances; where there are no addresses for a pool, without.

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

/// Elements of an instance's largest table. The pool has no room for more, and without a pool no more are given.
pub(crate) const TABLE: usize = 20_000;

/// Addresses that the memory of an instance takes, in bytes: the 4 GiB that code compiled ahead counts on, and guards.
const ADDRESSES: u64 = (4 << 30) + (64 << 20);

/// Addresses that everything else takes: threads and their heaps, contracts, outputs.
const OTHER_ADDRESSES: u64 = 1 << 30;

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
        .table_elements(TABLE)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_TABLES)
        // Where the kernel can say which pages were written to, only those are reset: without it, every page that an
        // instance so much as reads costs a fault.
        .pagemap_scan(Enabled::Auto);
    (codegen(), pool)
}

/// An engine for a gate that asks for so many slots, and how many it has.
///
/// A pool takes the addresses of all its slots at once. Where they cannot be had (`ulimit -v`), each instance takes its own
/// when it is made, and there are as many slots as fit. The code is the same, and with it all verdicts and their fuel: it
/// depends on how much each memory reserves, not on who reserves it.
pub(crate) fn engine(limits: &Limits, slots: u32) -> wasmtime::Result<(Engine, u32)> {
    let (mut config, pool) = config(limits, slots);
    let room = room();
    let fits = room.is_none_or(|room| room > ADDRESSES.saturating_mul(slots.into()).saturating_add(OTHER_ADDRESSES));
    if fits {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        match Engine::new(&config) {
            Err(error) if is_out_of_addresses(&error) => {}
            made => return Ok((made?, slots)),
        }
    }
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let few = room.map_or(0, |room| room.saturating_sub(OTHER_ADDRESSES) / ADDRESSES);
    let few = u32::try_from(few).unwrap_or(u32::MAX).clamp(1, slots.max(1));
    tracing::info!(slots, few, "there are no addresses for a pool: instances are made one by one, and fewer at once");
    Ok((Engine::new(&config)?, few))
}

/// The addresses that this process may still take, in bytes, where they are limited.
#[cfg(unix)]
fn room() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    // Elsewhere than on Linux it is not told how many are taken.
    let taken = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = taken.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(pages.saturating_mul(rustix::param::page_size() as u64)))
}

#[cfg(not(unix))]
fn room() -> Option<u64> {
    None
}

#[cfg(unix)]
fn is_out_of_addresses(error: &wasmtime::Error) -> bool {
    error.downcast_ref::<rustix::io::Errno>() == Some(&rustix::io::Errno::NOMEM)
}

#[cfg(not(unix))]
fn is_out_of_addresses(_: &wasmtime::Error) -> bool {
    false
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
