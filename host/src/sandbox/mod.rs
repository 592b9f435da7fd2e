//! The sandbox: one component on one engine, fresh instances of it, and the limits that terminate them.

pub(crate) mod builtin_code;
pub(crate) mod cache;
pub(crate) mod code;
pub(crate) mod component;
pub(crate) mod engine;
pub(crate) mod exports;
pub(crate) mod faults;
pub(crate) mod limiter;
pub(crate) mod options;
pub(crate) mod same_code;
pub(crate) mod snapshot;
pub(crate) mod warm;

use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use wasmtime::{
    Engine, InstancePre, Linker, Store, Trap,
    component::{InstancePre as ComponentInstancePre, Linker as ComponentLinker},
};

use self::{
    cache::Cache,
    code::{Code, Loaded},
    component::Component,
    engine::{Clock, Full, LOOK, MOST_SEATS, STACK, Seat, Slot, Slots, Taken, TimedOut},
    exports::{
        Caller, Exports,
        component::{ComponentExports, Interfaces},
        module::{Functions, ModuleExports},
    },
    limiter::MemoryLimiter,
    options::Options,
    snapshot::MemorySnapshot,
    warm::{Baseline, NotReusable, PristinePages, WarmInstance, Watch},
};
use crate::{
    system,
    types::{
        fault::{Fault, FuelUse, LoadError},
        limits::{Limits, Usage},
    },
};

/// The number of large outputs after which a gate creates an engine for them. Creating one copies the machine code,
/// which takes as long as several calls, and many processes judge only a few large outputs.
const FEW_LARGE: usize = 8;

/// The parts from which instances are created.
pub(crate) struct Sandbox {
    component: Component,
    /// For instances that judge one output of ordinary size. The next instance overwrites at once what they leave in
    /// their slot.
    ordinary: Instances,
    /// For instances that judge one large output. They are separate, so that what they leave makes no later instance
    /// slower. Created for the call after the first [`FEW_LARGE`].
    large: OnceLock<Option<Instances>>,
    /// The number of large outputs that ordinary instances have judged.
    few_large: AtomicUsize,
    /// For instances that are held between calls. They are outside of all pools, so that no verdict waits for one.
    /// Created on first use.
    held: OnceLock<Option<Instances>>,
    /// `true` if large and held instances may have engines of their own.
    apart: bool,
    limits: Limits,
    slots: Slots<WarmInstance>,
    /// Pages of the module, for restoring instances that are reused.
    pristine: Mutex<Arc<PristinePages>>,
}

/// The instances of an engine.
struct Instances {
    engine: Engine,
    code: Code,
    kind: Kind,
}

enum Kind {
    Component(ComponentInstancePre<MemoryLimiter>, Box<Interfaces>),
    /// A module that is the built-in one with other data.
    Module(InstancePre<MemoryLimiter>, Box<Functions>),
}

/// An instance that has not trapped.
pub(crate) struct Live<'s> {
    store: Store<MemoryLimiter>,
    exports: Exports<'s>,
    place: Place<'s>,
    baseline: Baseline,
    /// The observation of the instance, if it may be kept.
    watch: Option<Watch>,
}

/// The slot or seat that an instance occupies.
enum Place<'s> {
    Slot(Slot<'s, WarmInstance>),
    Seat { _seat: Seat },
}

/// The reason why a call has no result.
pub(crate) enum Stopped {
    Fault(Fault),
    /// The call used up the fuel after which the clock must be checked, but the instance cannot yield for that.
    Look,
}

/// The kind of instance that a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// An instance that judges one output of ordinary size.
    Ordinary,
    /// An instance that judges one large output.
    Large,
    /// An instance that is held between calls.
    Held,
}

impl Size {
    /// The longest output of ordinary size, in bytes. A slot keeps the memory that such an output touches.
    const ORDINARY: usize = 16 * 1024;

    pub(crate) fn of(bytes: usize) -> Self {
        if bytes <= Size::ORDINARY { Size::Ordinary } else { Size::Large }
    }
}

impl Instances {
    fn new(engine: Engine, code: Code) -> Result<Self, LoadError> {
        code.make_image().map_err(LoadError::engine)?;
        let kind = match &code.loaded {
            Loaded::Component(component) => {
                if let Some((import, _)) = component.component_type().imports(&engine).next() {
                    return Err(LoadError::Imports { import: import.to_owned() });
                }
                let linker = ComponentLinker::new(&engine);
                let pre = linker.instantiate_pre(component).map_err(LoadError::not_a_validator)?;
                let interfaces = Interfaces::of(&pre).map_err(LoadError::not_a_validator)?;
                Kind::Component(pre, Box::new(interfaces))
            }
            Loaded::Module(module) => {
                let mut linker = Linker::new(&engine);
                for import in module.imports() {
                    // The imports with which a component manages its resources. Without a component, the guest's own
                    // number for a resource serves as its handle, and dropped resources are freed together with the
                    // instance.
                    let linked = match import.name().starts_with("[resource-drop]") {
                        true => linker.func_wrap(import.module(), import.name(), |_: u32| {}),
                        false => linker.func_wrap(import.module(), import.name(), |resource: u32| resource),
                    };
                    linked.map_err(LoadError::not_a_validator)?;
                }
                let pre = linker.instantiate_pre(module).map_err(LoadError::not_a_validator)?;
                let functions = Functions::of(module).map_err(LoadError::not_a_validator)?;
                Kind::Module(pre, Box::new(functions))
            }
        };
        Ok(Instances { engine, code, kind })
    }
}

impl Sandbox {
    /// Creates a sandbox on an engine whose pool has the slots of the options. `apart` allows engines of their own for
    /// large and held instances.
    pub(crate) fn new(engine: Engine, options: Options, apart: bool) -> Result<Self, LoadError> {
        let code = options.component.load(&engine, options.cache.map(Cache::new).as_ref())?;
        let sandbox = Sandbox {
            component: options.component,
            ordinary: Instances::new(engine, code)?,
            large: OnceLock::new(),
            few_large: AtomicUsize::new(0),
            held: OnceLock::new(),
            apart,
            limits: options.limits,
            // If held instances cannot have an engine of their own, and there are at least two slots, one slot is
            // reserved for verdicts.
            slots: Slots::new(options.slots, if apart { (options.slots - 1).max(1) } else { options.slots }),
            pristine: Mutex::default(),
        };
        // Only an instance reveals whether its functions have the right types.
        if !sandbox.component.is_builtin() {
            let mut live = sandbox.enter(Size::Ordinary, None)?;
            if let Exports::Component(exports) = &live.exports {
                exports.look_up_all(&mut live.store).map_err(LoadError::not_a_validator)?;
            }
        }
        Ok(sandbox)
    }

    pub(crate) fn component(&self) -> &Component {
        &self.component
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns whether the component includes the kernel.
    pub(crate) fn has_kernel(&self) -> bool {
        match &self.ordinary.kind {
            Kind::Component(_, interfaces) => interfaces.has_kernel(),
            Kind::Module(..) => true,
        }
    }

    /// Rejects an output that is longer than the limit, before it enters the sandbox.
    pub(crate) fn small_enough(&self, bytes: usize) -> Result<(), Fault> {
        let limit = self.limits.output_bytes;
        if bytes > limit {
            return Err(Fault::InputTooLarge { bytes, limit, more: false });
        }
        Ok(())
    }

    /// Returns the instances for one large output. The first few use the ordinary instances, and so do all others if
    /// large instances cannot have an engine of their own.
    fn large(&self) -> &Instances {
        let large = || self.on(&engine::second(&self.limits, self.slots.count())?);
        let is_early = || self.large.get().is_none() && self.few_large.fetch_add(1, Ordering::Relaxed) < FEW_LARGE;
        if !self.apart || is_early() {
            return &self.ordinary;
        }
        self.large.get_or_init(large).as_ref().unwrap_or(&self.ordinary)
    }

    /// Returns the instances that are held between calls. `None` if they cannot have an engine of their own.
    fn held(&self) -> Option<&Instances> {
        if !self.apart {
            return None;
        }
        self.held.get_or_init(|| self.on(&engine::unpooled()?)).as_ref()
    }

    /// Returns the same code on another engine.
    fn on(&self, engine: &Engine) -> Option<Instances> {
        let code = self.ordinary.code.on(engine).ok()?;
        Instances::new(engine.clone(), code).ok()
    }

    /// Returns an instance that behaves like a fresh one, once a slot is free. An instance of ordinary size begins from
    /// this snapshot, if an instance with it was kept.
    ///
    /// # Errors
    ///
    /// [`Fault::Busy`] if no slot becomes free within the limit on time, or at once if too many instances are held.
    pub(crate) fn enter(&self, size: Size, snapshot: Option<&Arc<MemorySnapshot>>) -> Result<Live<'_>, Fault> {
        let timeout = self.limits.timeout;
        if size == Size::Held {
            let Some(instances) = self.held() else {
                let Taken { slot, displaced, .. } = self.slots.hold(timeout).map_err(|full| self.busy(full))?;
                drop(displaced);
                return self.instantiate(&self.ordinary, None, Place::Slot(slot));
            };
            let seat = Seat::take().ok_or_else(|| Fault::too_many(MOST_SEATS))?;
            return self.instantiate(instances, None, Place::Seat { _seat: seat });
        }
        let is_wanted = |warm: &WarmInstance| size == Size::Ordinary && warm.begins_from(snapshot);
        let taken = self.slots.take(is_wanted, timeout).map_err(|full| self.busy(full))?;
        let Taken { slot, kept: warm, displaced } = taken;
        drop(displaced);
        match (warm, &self.ordinary.kind) {
            (Some(warm), Kind::Module(_, functions)) => {
                let (store, handles, baseline, watch) = warm.wake();
                let exports = Exports::Module(ModuleExports::again(functions, handles));
                Ok(Live { store, exports, place: Place::Slot(slot), baseline, watch })
            }
            _ if size == Size::Large => self.instantiate(self.large(), None, Place::Slot(slot)),
            _ => self.ordinary_one(slot),
        }
    }

    /// Returns the fault for a missing slot.
    fn busy(&self, full: Full) -> Fault {
        match full {
            Full::Waited => Fault::all_at_work(self.slots.count(), self.limits.timeout),
            Full::Held { most } => Fault::too_many(usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }

    /// Returns an instance after a call that ended normally. The sandbox may keep the instance.
    pub(crate) fn leave(&self, live: Live<'_>) {
        let Live { store, exports, place, baseline, watch } = live;
        match (exports, watch, place) {
            (Exports::Module(exports), Some(watch), Place::Slot(slot)) if !store.data().yields => {
                match WarmInstance::rest(store, exports.into_handles(), baseline, watch, || self.pristine().clone()) {
                    Ok(warm) => slot.keep(warm),
                    Err(NotReusable::Unknown(pages)) => {
                        drop(slot);
                        self.learn(&pages);
                    }
                    Err(NotReusable::Other) => {}
                }
            }
            (_, _, place) => {
                // Drop the store before its slot becomes free.
                drop(store);
                drop(place);
            }
        }
    }

    fn pristine(&self) -> MutexGuard<'_, Arc<PristinePages>> {
        self.pristine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the content of pages in a fresh instance, if there is a slot for one.
    fn learn(&self, pages: &[usize]) {
        let Some(Taken { slot, displaced, .. }) = self.slots.try_take() else {
            return;
        };
        drop(displaced);
        let fresh = self.ordinary_one(slot);
        if let Some(memory) = fresh.as_ref().ok().and_then(Live::memory) {
            Arc::make_mut(&mut self.pristine()).learn(pages, memory);
        }
    }

    /// Returns a fresh instance for one output of ordinary size.
    fn ordinary_one<'s>(&'s self, slot: Slot<'s, WarmInstance>) -> Result<Live<'s>, Fault> {
        // The call may write to what the instance begins with before anything else, so observe it from the start.
        self.instantiate(&self.ordinary, Watch::new(), Place::Slot(slot))
    }

    /// Creates a fresh instance. Dropping the instance releases its place.
    fn instantiate<'s>(
        &'s self,
        instances: &'s Instances,
        watch: Option<Watch>,
        place: Place<'s>,
    ) -> Result<Live<'s>, Fault> {
        let mut store = Store::new(&instances.engine, MemoryLimiter::new(self.limits.memory));
        store.limiter(|memory| memory);
        // Instantiation runs the component's start function. The built-in component has none; another may do anything
        // within the limits of a call. The call itself gets its own fuel.
        let fuel = self.limits.fuel;
        let entered = store.set_fuel(fuel).and_then(|()| match &instances.kind {
            Kind::Component(pre, interfaces) => {
                yielding(&mut store)?;
                let instance = Clock::start(self.limits.timeout).run(pre.instantiate_async(&mut store))?;
                Ok(Exports::Component(Box::new(ComponentExports::new(interfaces, instance))))
            }
            Kind::Module(pre, functions) => {
                let instance = pre.instantiate(&mut store)?;
                Ok(Exports::Module(ModuleExports::new(functions, instance, &mut store)?))
            }
        });
        match entered {
            Ok(exports) => {
                let mut live = Live { store, exports, place, baseline: Baseline { snapshot: None, size: 0 }, watch };
                live.baseline.size = live.memory().map_or(0, <[u8]>::len);
                Ok(live)
            }
            Err(error) => Err(self.fault(&error, store.data(), fuel)),
        }
    }

    /// Calls an instance within this much fuel, on a clock that is already running. Drop the instance if it stopped.
    pub(crate) fn call<T>(
        &self,
        live: &mut Live,
        (fuel, clock): (u64, Clock),
        call: impl FnOnce(&mut Caller) -> wasmtime::Result<T>,
    ) -> Result<(T, Usage), Stopped> {
        let store = &mut live.store;
        // Without a stack of its own, the guest cannot yield to check the clock. So it gets only the fuel that it may
        // use before the next check.
        let given = if store.data().yields { fuel } else { fuel.min(LOOK) };
        store.set_fuel(given).map_err(|error| Stopped::Fault(Fault::Trap { message: format!("{error:#}") }))?;
        let called = call(&mut Caller::new(&live.exports, store, clock));
        let elapsed = clock.elapsed();
        match called {
            Ok(value) => {
                let usage = Usage {
                    fuel: given.saturating_sub(store.get_fuel().unwrap_or(0)),
                    memory: store.data().peak,
                    elapsed,
                    component: self.component.shared_digest().clone(),
                };
                Ok((value, usage))
            }
            Err(error) if given < fuel && is_out_of_fuel(&error) && !store.data().refused => Err(Stopped::Look),
            Err(error) => Err(Stopped::Fault(self.fault(&error, store.data(), fuel))),
        }
    }

    /// Returns why an instance stopped.
    fn fault(&self, error: &wasmtime::Error, memory: &MemoryLimiter, fuel: u64) -> Fault {
        // A guest that is denied memory aborts with an arbitrary trap. So ask the limiter first.
        if memory.refused {
            return Fault::OutOfMemory { limit: self.limits.memory };
        }
        if error.is::<TimedOut>() {
            return Fault::Timeout { limit: self.limits.timeout };
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) => Fault::OutOfFuel { limit: fuel, used_by: FuelUse::Judging },
            Some(Trap::StackOverflow) => Fault::StackOverflow { limit: STACK },
            Some(trap) => Fault::Trap { message: trap.to_string() },
            None => Fault::Trap { message: format!("{error:#}") },
        }
    }
}

fn is_out_of_fuel(error: &wasmtime::Error) -> bool {
    error.downcast_ref::<Trap>() == Some(&Trap::OutOfFuel)
}

/// Makes the guest run on a stack of its own from now on, and yield to check the clock.
fn yielding(store: &mut Store<MemoryLimiter>) -> wasmtime::Result<()> {
    if !store.data().yields {
        store.fuel_async_yield_interval(Some(LOOK))?;
        store.data_mut().yields = true;
    }
    Ok(())
}

impl Live<'_> {
    /// Ensures that the clock is checked no matter how long a call takes.
    pub(crate) fn yielding(&mut self) -> Result<(), Fault> {
        yielding(&mut self.store).map_err(|error| Fault::Trap { message: format!("{error:#}") })
    }

    /// Drops the instance and empties its slot.
    pub(crate) fn forget(mut self) {
        if let Exports::Module(exports) = &self.exports {
            let _ = system::forget(exports.memory().data_mut(&mut self.store));
        }
    }

    /// Returns whether the instance was kept from an earlier call.
    #[cfg(test)]
    pub(crate) fn was_kept(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_known)
    }

    /// Returns the contents of the memory. `None` if the instance cannot begin from a snapshot.
    pub(crate) fn memory(&self) -> Option<&[u8]> {
        match &self.exports {
            Exports::Component(_) => None,
            Exports::Module(exports) => Some(exports.memory().data(&self.store)),
        }
    }

    /// Begins from a snapshot if the instance is unused. Returns whether it does.
    pub(crate) fn begin_from(&mut self, snapshot: &Arc<MemorySnapshot>) -> bool {
        let Exports::Module(exports) = &self.exports else {
            return false;
        };
        if let Some(held) = &self.baseline.snapshot {
            return Arc::ptr_eq(held, snapshot);
        }
        let is_restored = snapshot.restore(exports.memory(), &mut self.store).is_ok();
        if is_restored {
            let size = exports.memory().data_size(&self.store);
            self.baseline = Baseline { snapshot: Some(snapshot.clone()), size };
        }
        is_restored
    }
}
