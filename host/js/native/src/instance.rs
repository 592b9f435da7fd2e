//! Instances that are used again.

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::{Rc, Weak},
    sync::Arc,
};

use napi::{Env, bindgen_prelude::Uint8Array};
use napi_derive::napi;
use seamgate::{Answer, Fault, Gate, Instance, Request, SharedGate};
use self_cell::self_cell;

use crate::{
    error::{Result, fault, usage},
    options,
    verdict::{Judged, Reported, report},
};

self_cell!(
    /// An instance, and the gate that it is of.
    struct Warm {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Instance,
    }
);

type Slot = RefCell<Option<Warm>>;

thread_local! {
    /// The instances of this thread that hold memory. JavaScript does not know how much that is, and collects them late: the one that was
    /// begun first is emptied. It begins again when it is called.
    static WARMED: RefCell<VecDeque<Weak<Slot>>> = const { RefCell::new(VecDeque::new()) };
}

/// The most instances that keep what they hold.
const MOST: usize = 16;

/// Makes room for an instance that is to hold memory.
fn warm(slot: &Rc<Slot>) {
    WARMED.with_borrow_mut(|held| {
        held.retain(|slot| slot.upgrade().is_some_and(|slot| slot.borrow().is_some()));
        while held.len() >= MOST {
            if let Some(slot) = held.pop_front().and_then(|oldest| oldest.upgrade()) {
                slot.take();
            }
        }
        held.push_back(Rc::downgrade(slot));
    });
}

/// An instance for more than one call.
#[napi]
pub struct NativeInstance {
    gate: Rc<SharedGate>,
    slot: Rc<Slot>,
}

impl NativeInstance {
    pub(crate) fn new(gate: Rc<SharedGate>) -> Self {
        NativeInstance { gate, slot: Rc::default() }
    }

    fn with<T>(&self, call: impl FnOnce(&mut Instance) -> std::result::Result<T, Fault>) -> Result<T> {
        // What was registered after it was made, it does not have.
        let gate = self.gate.current();
        let is_of = |warm: &Warm| Arc::ptr_eq(warm.borrow_owner(), &gate);
        if !self.slot.borrow().as_ref().is_some_and(is_of) {
            self.slot.take();
            warm(&self.slot);
            self.slot.replace(Some(Warm::new(gate, |gate| gate.instance())));
        }
        let mut slot = self.slot.borrow_mut();
        let Some(warm) = slot.as_mut() else {
            return Err(usage("there is no instance"));
        };
        warm.with_dependent_mut(|_, instance| call(instance)).map_err(fault)
    }
}

#[napi]
impl NativeInstance {
    #[napi]
    pub fn validate<'env>(
        &self,
        env: &'env Env,
        agent: String,
        output: String,
        extras: Option<String>,
    ) -> Result<Reported<'env>> {
        self.judge(env, &options::request(&agent, output.as_bytes(), extras.as_deref())?)
    }

    #[napi]
    pub fn validate_bytes<'env>(
        &self,
        env: &'env Env,
        agent: String,
        output: Uint8Array,
        extras: Option<String>,
    ) -> Result<Reported<'env>> {
        self.judge(env, &options::request(&agent, &output, extras.as_deref())?)
    }

    fn judge<'env>(&self, env: &'env Env, request: &Request) -> Result<Reported<'env>> {
        report(env, self.with(|instance| instance.validate(request))?)
    }

    #[napi]
    pub fn call(&self, request: String) -> Result<Judged> {
        self.with(|instance| instance.answer(&request)).map(Judged::answer)
    }

    #[napi]
    pub fn surface(&self, agent: String, facts: String, listed: Option<String>) -> Result<Judged> {
        self.decide(|instance| instance.surface(&agent, &facts, listed.as_deref()))
    }

    #[napi]
    pub fn permit(&self, agent: String, facts: String, call: String) -> Result<Judged> {
        self.decide(|instance| instance.permit(&agent, &facts, &call))
    }

    #[napi]
    pub fn observe(&self, agent: String, facts: String, call: String, result: String) -> Result<Judged> {
        self.decide(|instance| instance.observe(&agent, &facts, &call, &result))
    }

    #[napi]
    pub fn advance(&self, agent: String, state: Option<String>, event: String) -> Result<Judged> {
        self.decide(|instance| instance.advance(&agent, state.as_deref(), &event))
    }

    #[napi]
    pub fn project(&self, agent: String, line: String, audience: String) -> Result<Judged> {
        self.decide(|instance| instance.project(&agent, &line, &audience))
    }

    fn decide(&self, call: impl FnOnce(&mut Instance) -> std::result::Result<Answer, Fault>) -> Result<Judged> {
        self.with(call).map(Judged::answer)
    }
}
