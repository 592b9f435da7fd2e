//! Baking: contracts compiled once, and the component as it is then kept as a component of its own.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use wasmtime::{
    Store,
    component::{ComponentNamedList, Lift, WasmList},
};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

use crate::{
    component::Component,
    fault::{BakeError, Fault, LoadError},
    gate::{self, Exposed, Gate, Options},
    limits::Limits,
};

impl Component {
    /// This component with contracts inside, compiled: its instances begin with them, at no cost, and take no others.
    ///
    /// Each contract has the `limits` to itself. The same contracts give the same bytes, in whatever order they come;
    /// one that comes twice counts once. It takes seconds.
    ///
    /// # Errors
    ///
    /// One of the contracts is none, or not within the limits; two contracts have the same agent; or this component is
    /// not a validator that takes contracts.
    pub fn bake<T: AsRef<str>>(&self, contracts: &[T], limits: &Limits) -> Result<Self, BakeError> {
        let mut sorted: Vec<(&str, usize)> =
            contracts.iter().enumerate().map(|(index, contract)| (contract.as_ref(), index)).collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(contract, _)| *contract);
        self.snapshot(limits, |instance| {
            for (contract, index) in sorted {
                instance.register(contract).map_err(|fault| BakeError::Contract { index, fault })?;
            }
            instance.seal(contracts.iter().map(|contract| contract.as_ref().len()).sum()).map_err(LoadError::from)?;
            Ok(())
        })
    }

    /// This component with everything made that any contract needs, and no contract. For the build, which embeds it.
    #[doc(hidden)]
    pub fn warmed(&self) -> Result<Self, BakeError> {
        self.snapshot(&Limits::default(), |instance| {
            for dialect in DIALECTS {
                let contract = format!("{{\"agent\":\"a\",\"dialect\":\"{dialect}\",\"schema\":{{}}}}");
                instance.lint(&contract).map_err(LoadError::from)?;
            }
            Ok(())
        })
    }

    fn snapshot(
        &self,
        limits: &Limits,
        prepare: impl FnOnce(&mut Exposed) -> Result<(), BakeError>,
    ) -> Result<Self, BakeError> {
        if self.is_missing() {
            return Err(BakeError::Load(LoadError::NotBuilt));
        }
        let wizer = Wizer::new();
        let not_a_component =
            |error: wasmtime::Error| BakeError::Load(LoadError::NotAComponent { message: format!("{error:#}") });
        // With exports by which all of an instance's state can be read.
        let (context, readable) = wizer.instrument_component(self.to_bake()).map_err(not_a_component)?;
        let component = Component::from_bytes(readable);
        let gate = Gate::with(Options { component, limits: limits.clone(), slots: 1, cache: None })?;
        let mut instance = gate.exposed().map_err(LoadError::from)?;
        prepare(&mut instance)?;
        let mut state = State { instance, failed: None };
        let baked = at_once(wizer.snapshot_component(&context, &mut state));
        match (baked, state.failed) {
            (Some(Ok(baked)), None) => Ok(Component::from_bytes(baked)),
            (Some(Err(error)), None) => Err(not_a_component(error)),
            (_, Some(fault)) => Err(BakeError::Load(fault.into())),
            (None, None) => unreachable!("nothing here waits for anything"),
        }
    }
}

/// The dialects whose metaschemas are made ahead, as contracts name them.
const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// The result of a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// The state of an instance, as the snapshot reads it.
struct State<'g> {
    instance: Exposed<'g>,
    /// What went wrong first. Reading cannot fail in its own words; what it gave is not used then.
    failed: Option<Fault>,
}

impl State<'_> {
    fn read<R, T>(
        &mut self,
        interface: &str,
        function: &str,
        used: impl FnOnce(&Store<gate::State>, R) -> T,
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

impl ComponentInstanceState for State<'_> {
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
