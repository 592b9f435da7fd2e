//! The engine of a gate: with a pool of slots for instances, or without a pool if the process cannot reserve enough
//! addresses for one.

mod clock;
mod seat;
mod slots;

use std::sync::OnceLock;

use wasmtime::{Config, Enabled, Engine, Inlining, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::builtin_code;
use crate::{system, types::limits::Limits};
pub use clock::interrupt_when;
pub(crate) use clock::{Clock, LOOK, TimedOut};
pub(crate) use seat::{MOST_SEATS, Seat};
pub(crate) use slots::{Full, Slot, Slots, Taken};

/// The stack of an instance, in bytes. The guest limits its own depth to stay well within it.
pub(crate) const STACK: usize = 512 * 1024;

/// Returns the settings that change the machine code.
fn codegen() -> Config {
    let mut config = Config::new();
    config
        // Fuel bounds the work, and is the same on every machine. It also determines when to check the clock.
        .consume_fuel(true)
        .max_wasm_stack(STACK)
        // Ensures the same bytes everywhere: only one NaN, and no instruction whose result depends on the machine.
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_simd(true)
        // Components need none of these, and a disabled feature cannot be attacked.
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        // A trap becomes a typed fault without a backtrace, and code without unwind tables loads faster.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .native_unwind_info(cfg!(windows))
        // The code is half as large again, and documents of 1 KB and more take 5 % less time. This does not change
        // fuel.
        .compiler_inlining(Inlining::Yes);
    config
}

/// Returns the settings of every engine that runs code.
fn running() -> Config {
    let mut config = codegen();
    // The threads that compile belong to the process that compiled first. A forked child has none of them, and would
    // wait for them forever.
    config.parallel_compilation(!is_forked());
    builtin_code::allow_in_place(&mut config);
    config
}

/// Returns whether this process was forked from one that had an engine.
fn is_forked() -> bool {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let process = std::process::id();
    *FIRST.get_or_init(|| process) != process
}

/// Memory that a slot keeps between instances, in bytes: the parts of the stack, the statics, the arena and a contract
/// that an ordinary verdict touches. Pages beyond it are returned to the kernel after each call, and cost a page fault
/// in the next one. Pages within it are overwritten after each call, whoever touched them.
pub(crate) const KEEP_RESIDENT: usize = 512 * 1024;

/// The same for the tables of functions.
const KEEP_TABLES: usize = 64 * 1024;

/// The most elements that a table of an instance may have, with or without a pool.
pub(crate) const TABLE: usize = 20_000;

/// Addresses that the memory of an instance reserves, in bytes: the 4 GiB that precompiled code relies on, and guard
/// regions.
const ADDRESSES: u64 = (4 << 30) + (64 << 20);

/// Addresses for everything else: threads and their heaps, contracts, outputs.
const OTHER_ADDRESSES: u64 = 1 << 30;

/// Returns an engine that compiles for the engines of gates, and runs nothing. Its code runs on every processor of this
/// architecture, not only on those with all features of this one, because the code is embedded and runs on other
/// machines.
pub(crate) fn compiler() -> wasmtime::Result<Engine> {
    Engine::new(codegen().target(env!("SEAMGATE_TARGET"))?)
}

/// Returns the configuration of a gate's engine, and of its pool with `slots` slots.
pub(crate) fn config(limits: &Limits, slots: u32) -> (Config, PoolingAllocationConfig) {
    let mut pool = PoolingAllocationConfig::new();
    // If the kernel can list the pages that an instance wrote to, Wasmtime resets only those. But Wasmtime does not
    // reset a page that was swapped out (https://github.com/bytecodealliance/wasmtime/pull/14357). So on systems with
    // swap, all pages are returned to the kernel.
    let (scan, keep) = if system::has_swap() { (Enabled::No, 0) } else { (Enabled::Auto, KEEP_RESIDENT) };
    pool.total_component_instances(slots)
        // The module of the component, and the modules that the canonical ABI adds for the destructors of resources.
        .total_core_instances(slots.saturating_mul(4))
        .total_memories(slots)
        .total_stacks(slots)
        .total_tables(slots.saturating_mul(3))
        .max_memory_size(limits.memory)
        .table_elements(TABLE)
        .linear_memory_keep_resident(keep)
        .table_keep_resident(KEEP_TABLES)
        .pagemap_scan(scan);
    (running(), pool)
}

/// Returns an engine for a gate that requests this many slots, and the number of slots that the engine has.
///
/// A pool reserves the addresses of all its slots at once. If the process may not reserve that many (`ulimit -v`), each
/// instance reserves its own, and there are as many slots as fit. The machine code is the same, and so are all verdicts
/// and their fuel: the code depends only on how much each memory reserves.
pub(crate) fn engine(limits: &Limits, slots: u32) -> wasmtime::Result<(Engine, u32)> {
    let (mut config, pool) = config(limits, slots);
    let room = addresses();
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
    tracing::info!(slots, few, "the process lacks addresses for a pool of instances: fewer instances run at once");
    Ok((Engine::new(&config)?, few))
}

/// Opens the list of pages that instances write to (`/proc/self/pagemap` on Linux), and keeps it open. Does nothing on
/// other systems.
///
/// Call this before the process prevents other processes from inspecting it (`PR_SET_DUMPABLE` on Linux). After that,
/// only root can open the list, and calls without the list take twice as long. A process that stays inspectable need
/// not call this.
pub fn open_pagemap() {
    system::open_pagemap();
    if !system::has_swap() {
        // Wasmtime opens the list once, and keeps it open.
        let _ = PoolingAllocationConfig::is_pagemap_scan_available();
    }
}

/// Returns another engine like a gate's, with a pool of its own. `None` if the process may reserve only a limited
/// number of addresses, because the first engine has taken its share of them.
pub(crate) fn second(limits: &Limits, slots: u32) -> Option<Engine> {
    if addresses().is_some() {
        return None;
    }
    let (mut config, pool) = config(limits, slots);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config).ok()
}

/// Returns another engine like a gate's, without a pool, for instances that are held between calls. There may be many
/// of them. `None` for the same reason as [`second`].
pub(crate) fn unpooled() -> Option<Engine> {
    if addresses().is_some() {
        return None;
    }
    let mut config = running();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Engine::new(&config).ok()
}

/// Returns how many bytes of addresses this process may still reserve. `None` if there is no limit.
#[cfg(unix)]
fn addresses() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    // Only Linux reports how many addresses are in use.
    let taken = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = taken.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(pages.saturating_mul(system::page_size() as u64)))
}

#[cfg(not(unix))]
fn addresses() -> Option<u64> {
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
