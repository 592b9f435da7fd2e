//! Baking: compiles contracts in an instance, and builds a new component from a snapshot of that instance.

use std::{
    future::Future,
    path::PathBuf,
    pin::pin,
    task::{Context, Poll, Waker},
};

use wasmtime::{
    Store,
    component::{ComponentNamedList, Lift, WasmList},
};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

use super::{Gate, instance::Instance};
use crate::{
    sandbox::{cache::Cache, component::Component, limiter::MemoryLimiter, options::Options},
    types::{
        fault::{BakeError, Fault, LoadError},
        limits::Limits,
    },
};

impl Component {
    /// Returns this component with compiled contracts inside. Its instances start with them at no cost, and accept no
    /// others.
    ///
    /// The `limits` apply to each contract. The same contracts result in the same bytes, in any order; duplicates count
    /// once. Baking takes seconds the first time, and less if the user's cache folder has the machine code from that
    /// time.
    ///
    /// ```no_run
    /// use seamgate::{Component, Gate, Limits, Options, Request};
    ///
    /// let contract = r#"{"agent": "counter", "schema": {"type": "integer"}}"#;
    /// let baked = Component::builtin().bake(&[contract], &Limits::default())?;
    /// std::fs::write("gate.wasm", baked.as_bytes())?;
    /// let verdict = Gate::with(Options::default().component(baked))?.validate(&Request::new("counter", "4"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// One of the contracts is invalid, or exceeds the limits; two contracts have the same agent; or this component is
    /// not a validator that accepts contracts.
    pub fn bake<T: AsRef<str>>(&self, contracts: &[T], limits: &Limits) -> Result<Self, BakeError> {
        self.bake_with(contracts, &[] as &[&str], limits)
    }

    /// Bakes profiles as well as contracts.
    ///
    /// # Errors
    ///
    /// The errors of [`bake`](Component::bake), and the same errors for profiles.
    pub fn bake_with<C: AsRef<str>, P: AsRef<str>>(
        &self,
        contracts: &[C],
        profiles: &[P],
        limits: &Limits,
    ) -> Result<Self, BakeError> {
        // The code compiled here is the same for all contracts, so the cache has it the second time.
        self.snapshot(limits, Cache::users(), |instance| {
            let mut bytes = 0;
            for (contract, index) in in_order(contracts) {
                instance.register(contract).map_err(|fault| BakeError::Contract { index, fault })?;
                bytes += contract.len();
            }
            for (profile, index) in in_order(profiles) {
                instance.register_profile(profile).map_err(|fault| BakeError::Profile { index, fault })?;
                bytes += profile.len();
            }
            instance.seal(bytes).map_err(LoadError::from)?;
            Ok(())
        })
    }

    /// Returns this component with everything prepared that any contract or profile needs, and without any contract or
    /// profile. The build embeds it.
    #[doc(hidden)]
    pub fn warmed(&self) -> Result<Self, BakeError> {
        self.snapshot(&Limits::default(), None, |instance| {
            for dialect in DIALECTS {
                let contract = format!("{{\"agent\":\"a\",\"dialect\":\"{dialect}\",\"schema\":{{}}}}");
                instance.lint(&contract).map_err(LoadError::from)?;
            }
            if instance.has_kernel() {
                instance.lint_profile("{\"agent\":\"a\",\"tools\":[]}").map_err(LoadError::from)?;
            }
            Ok(())
        })
    }

    fn snapshot(
        &self,
        limits: &Limits,
        cache: Option<PathBuf>,
        prepare: impl FnOnce(&mut Instance) -> Result<(), BakeError>,
    ) -> Result<Self, BakeError> {
        if self.is_missing() {
            return Err(BakeError::Load(LoadError::NotBuilt));
        }
        let wizer = Wizer::new();
        let not_a_component = |error| BakeError::Load(LoadError::not_a_component(error));
        // The instrumented component has additional exports that read the whole state of an instance.
        let (context, readable) = wizer.instrument_component(self.to_bake()).map_err(not_a_component)?;
        let component = Component::from_bytes(readable);
        let gate = Gate::with(Options { component, limits: limits.clone(), slots: 1, cache })?;
        let mut instance = gate.instance();
        instance.begin(0).map_err(LoadError::from)?;
        prepare(&mut instance)?;
        let mut state = BakeState { instance, failed: None };
        let baked = at_once(wizer.snapshot_component(&context, &mut state));
        match (baked, state.failed) {
            (Some(Ok(baked)), None) => Ok(Component::from_bytes(baked)),
            (Some(Err(error)), None) => Err(not_a_component(error)),
            (_, Some(fault)) => Err(BakeError::Load(fault.into())),
            (None, None) => unreachable!("nothing here waits for anything"),
        }
    }
}

/// Returns the texts in ascending order and without duplicates, with their indices in the list.
fn in_order<T: AsRef<str>>(texts: &[T]) -> Vec<(&str, usize)> {
    let mut sorted: Vec<(&str, usize)> = texts.iter().enumerate().map(|(index, text)| (text.as_ref(), index)).collect();
    sorted.sort_unstable();
    sorted.dedup_by_key(|(text, _)| *text);
    sorted
}

/// The dialects whose metaschemas are compiled in advance, as contracts name them.
const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Returns the result of a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// The state of an instance, for the snapshot.
struct BakeState<'g> {
    instance: Instance<'g>,
    /// The first fault, because the trait's functions cannot return it. After a fault, the snapshot is discarded.
    failed: Option<Fault>,
}

impl BakeState<'_> {
    fn read<R, T>(
        &mut self,
        interface: &str,
        function: &str,
        used: impl FnOnce(&Store<MemoryLimiter>, R) -> T,
    ) -> Option<T>
    where
        R: Lift + 'static,
        (R,): ComponentNamedList + Lift,
    {
        match self.instance.read(interface, function, used) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.failed.get_or_insert(fault);
                None
            }
        }
    }
}

impl ComponentInstanceState for BakeState<'_> {
    async fn call_func_ret_list_u8(&mut self, interface: &str, function: &str, used: impl FnOnce(&[u8]) + Send) {
        self.read(interface, function, |store, list: WasmList<u8>| used(list.as_le_slice(store)));
    }

    async fn call_func_ret_s32(&mut self, interface: &str, function: &str) -> i32 {
        self.read(interface, function, |_, value| value).unwrap_or_default()
    }

    async fn call_func_ret_s64(&mut self, interface: &str, function: &str) -> i64 {
        self.read(interface, function, |_, value| value).unwrap_or_default()
    }

    async fn call_func_ret_f32(&mut self, interface: &str, function: &str) -> u32 {
        self.read(interface, function, |_, value: f32| value.to_bits()).unwrap_or_default()
    }

    async fn call_func_ret_f64(&mut self, interface: &str, function: &str) -> u64 {
        self.read(interface, function, |_, value: f64| value.to_bits()).unwrap_or_default()
    }
}
