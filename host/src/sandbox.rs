//! The sandbox: one component on one engine, fresh instances of it, and the limits that stop them.

use std::sync::Arc;

use wasmtime::{
    Engine, ResourceLimiter, Store, Trap,
    component::{InstancePre, Linker},
};

use crate::{
    bindings::exports::seamgate::validator::types,
    cache::Cache,
    component::Component,
    engine::{Clock, LOOK, STACK, Slot, Slots, TABLE, TimedOut},
    exports::{Exports, Interfaces},
    fault::{Fault, LoadError},
    limits::{Limits, Usage},
    options::Options,
};

/// What instances are made of.
pub(crate) struct Sandbox {
    engine: Engine,
    component: Component,
    pre: InstancePre<Memory>,
    interfaces: Interfaces,
    limits: Limits,
    slots: Slots,
}

/// An instance that has not trapped.
pub(crate) struct Live<'s> {
    pub(crate) store: Store<Memory>,
    pub(crate) exports: Exports<'s>,
    _slot: Slot<'s>,
}

impl Sandbox {
    /// A sandbox on an engine whose pool has the slots of the options.
    pub(crate) fn new(engine: Engine, options: Options) -> Result<Self, LoadError> {
        let component = options.component.load(&engine, options.cache.map(Cache::new).as_ref())?;
        if let Some((import, _)) = component.component_type().imports(&engine).next() {
            return Err(LoadError::Imports { import: import.to_owned() });
        }
        let pre = Linker::new(&engine).instantiate_pre(&component).map_err(LoadError::not_a_validator)?;
        let interfaces = Interfaces::of(&pre).map_err(LoadError::not_a_validator)?;
        let sandbox = Sandbox {
            engine,
            component: options.component,
            pre,
            interfaces,
            limits: options.limits,
            slots: Slots::new(options.slots),
        };
        // Only an instance shows whether its functions have the right types.
        if !sandbox.component.is_builtin() {
            let mut live = sandbox.enter()?;
            live.exports.look_up_all(&mut live.store).map_err(LoadError::not_a_validator)?;
        }
        Ok(sandbox)
    }

    pub(crate) fn component(&self) -> &Component {
        &self.component
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The names that the component imports, and those that it exports.
    pub(crate) fn names(&self) -> [Vec<String>; 2] {
        let world = self.pre.component().component_type();
        let imports = world.imports(&self.engine).map(|(name, _)| name.to_owned()).collect();
        let exports = world.exports(&self.engine).map(|(name, _)| name.to_owned()).collect();
        [imports, exports]
    }

    /// Whether the component has the kernel, too.
    pub(crate) fn has_kernel(&self) -> bool {
        self.interfaces.has_kernel()
    }

    /// Refuse an output that is longer than the limit, before it enters the sandbox.
    pub(crate) fn small_enough(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.output_bytes;
        if bytes > limit {
            return Err(Fault::InputTooLarge { bytes, limit, more: false });
        }
        Ok(())
    }

    /// A fresh instance, once a slot is free.
    pub(crate) fn enter(&self) -> Result<Live<'_>, Fault> {
        let slot = self.slots.take();
        let mut store = Store::new(&self.engine, Memory { limit: self.limits.memory, peak: 0, refused: false });
        store.limiter(|memory| memory);
        // Instantiation runs the component's start function: the built-in one has none, another may do anything within
        // the limits of a call. The call itself gets its own fuel.
        let fuel = self.limits.fuel;
        let clock = Clock::start(self.limits.timeout);
        let entered = store.set_fuel(fuel).and_then(|()| {
            store.fuel_async_yield_interval(Some(LOOK))?;
            clock.run(self.pre.instantiate_async(&mut store))
        });
        match entered {
            Ok(instance) => Ok(Live { store, exports: Exports::new(&self.interfaces, instance), _slot: slot }),
            Err(error) => Err(self.fault(&error, store.data(), fuel)),
        }
    }

    /// Call an instance within so much fuel, by a clock that already runs. Gives the instance back, unless it trapped.
    pub(crate) fn call<'s, T>(
        &'s self,
        mut live: Live<'s>,
        (fuel, clock): (u64, Clock),
        call: impl FnOnce(&Exports, &mut Store<Memory>, Clock) -> wasmtime::Result<T>,
    ) -> Result<(T, Usage, Live<'s>), Fault> {
        let store = &mut live.store;
        store.set_fuel(fuel).map_err(|error| Fault::Trap { message: format!("{error:#}") })?;
        let called = call(&live.exports, store, clock);
        let elapsed = clock.elapsed();
        match called {
            Ok(value) => {
                let usage = Usage {
                    fuel: fuel.saturating_sub(store.get_fuel().unwrap_or(0)),
                    memory: store.data().peak,
                    elapsed,
                    component: Arc::clone(self.component.shared_digest()),
                };
                Ok((value, usage, live))
            }
            // The store is poisoned: it is dropped here.
            Err(error) => Err(self.fault(&error, store.data(), fuel)),
        }
    }

    /// Why an instance stopped.
    fn fault(&self, error: &wasmtime::Error, memory: &Memory, fuel: u64) -> Fault {
        // A guest that gets no memory aborts, by whatever trap. So ask the limiter first.
        if memory.refused {
            return Fault::OutOfMemory { limit: self.limits.memory };
        }
        if error.is::<TimedOut>() {
            return Fault::Timeout { limit: self.limits.timeout };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Fault::OutOfFuel { limit: fuel },
            Some(Trap::StackOverflow) => Fault::StackOverflow { limit: STACK },
            Some(trap) => Fault::Trap { message: trap.to_string() },
            None => Fault::Trap { message: format!("{error:#}") },
        }
    }
}

/// The memory of an instance, as its limiter sees it.
pub(crate) struct Memory {
    limit: usize,
    peak: usize,
    /// The instance asked for more than the limit.
    refused: bool,
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.limit {
            self.refused = true;
            // The instance ends here: to ask again and again takes time, and hardly any fuel.
            return Err(wasmtime::Error::msg("the instance has no memory left"));
        }
        self.peak = self.peak.max(desired);
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        // The same bound as in the pool, for engines without one.
        Ok(desired <= TABLE)
    }
}

/// What an instance answered, as the library has it.
pub(crate) fn answered<W, T: From<W>>(answer: Result<W, types::Fault>) -> Result<T, Fault> {
    answer.map(T::from).map_err(Fault::from)
}

impl From<types::Fault> for Fault {
    fn from(fault: types::Fault) -> Self {
        let types::Fault { code, message, violations, agents } = fault;
        let listed = |violations: Vec<types::Violation>| violations.into_iter().map(Into::into).collect();
        match code {
            types::FaultCode::BadRequest => Fault::BadRequest { message, violations: listed(violations) },
            types::FaultCode::BadContract => Fault::BadContract { message, violations: listed(violations) },
            types::FaultCode::BadProfile => Fault::BadProfile { message, violations: listed(violations) },
            types::FaultCode::UnknownAgent => Fault::UnknownAgent { message, agents },
            types::FaultCode::Sealed => Fault::Sealed { message },
        }
    }
}
