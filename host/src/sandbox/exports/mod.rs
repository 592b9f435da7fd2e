//! The exports of an instance, as functions of the library's own types, called through a component or directly in its
//! core module. Both return the same answers for the same fuel.

pub(crate) mod component;
pub(crate) mod module;

use wasmtime::{Store, component::ResourceAny};

use crate::{
    sandbox::{engine::Clock, limiter::MemoryLimiter},
    types::{
        self, ContractInfo, Finish, Progress, Report, Warning,
        fault::Fault,
        request::{Request, to_wit},
    },
};
use module::{Guest, optional};

/// The exports of an instance.
pub(crate) enum Exports<'i> {
    Component(Box<component::ComponentExports<'i>>),
    Module(module::ModuleExports<'i>),
}

/// The instance's handle of an output that is still arriving.
#[derive(Clone, Copy)]
pub(crate) enum SessionHandle {
    Component(ResourceAny),
    Module(u32),
}

/// The answer of a function. If there is an outer error, the instance was terminated.
pub(crate) type Returned<T> = wasmtime::Result<Result<T, Fault>>;

/// A call into an instance: its exports, and the running clock.
pub(crate) struct Caller<'c, 'i> {
    exports: &'c Exports<'i>,
    store: &'c mut Store<MemoryLimiter>,
    clock: Clock,
}

/// Calls one function, in either way.
macro_rules! either {
    ($caller:ident, $component:ident => $through_component:expr, ($guest:ident, $functions:ident) => $straight:expr) => {
        match $caller.exports {
            Exports::Component($component) => $through_component,
            Exports::Module(exports) => {
                let $functions = exports.functions();
                let mut $guest = Guest::new(exports, $caller.store, $caller.clock);
                $straight
            }
        }
    };
}

impl<'c, 'i> Caller<'c, 'i> {
    pub(crate) fn new(exports: &'c Exports<'i>, store: &'c mut Store<MemoryLimiter>, clock: Clock) -> Self {
        Caller { exports, store, clock }
    }

    pub(crate) fn validate(&mut self, request: &Request) -> Returned<Box<Report>> {
        either!(self,
            component => {
                let validate = component.validate(&mut *self.store)?;
                reported(self.clock.run(validate.call_validate(&mut *self.store, &request.to_wit()))?)
            },
            (guest, _functions) => straight(guest.validate(request)?)
        )
    }

    pub(crate) fn validate_with(&mut self, contract: &str, request: &Request) -> Returned<Box<Report>> {
        either!(self,
            component => {
                let validate = component.validate(&mut *self.store)?;
                reported(self.clock.run(validate.call_validate_with(&mut *self.store, contract, &request.to_wit()))?)
            },
            (guest, functions) => {
                let [at, length] = guest.text(contract)?;
                let [a, b, c, d, e, f, g, h, i, j, k, l] = guest.request(request)?;
                straight(guest.call(&functions.validate_with, [at, length, a, b, c, d, e, f, g, h, i, j, k, l])?)
            }
        )
    }

    pub(crate) fn merge(&mut self, reports: &[Report], request: &Request) -> Returned<Box<Report>> {
        either!(self,
            component => {
                let reports: Vec<_> = reports.iter().cloned().map(Into::into).collect();
                let (lists, evidence) = (to_wit(request.lists()), request.evidence_to_wit());
                let merge = component.merge(&mut *self.store)?;
                let merged = merge.call_merge(&mut *self.store, &reports, &lists, evidence.as_deref());
                reported(self.clock.run(merged)?)
            },
            (guest, functions) => {
                let [reports, reports_length] = guest.list(reports)?;
                let [lists, lists_length] = guest.list(request.lists())?;
                let [is_some, evidence, length] = guest.evidence(request.observations())?;
                let params = [reports, reports_length, lists, lists_length, is_some, evidence, length];
                straight(guest.call(&functions.merge, params)?)
            }
        )
    }

    pub(crate) fn open(&mut self, request: &Request) -> Returned<SessionHandle> {
        either!(self,
            component => {
                let (lists, evidence) = (to_wit(request.lists()), request.evidence_to_wit());
                let session = component.stream(&mut *self.store)?.session();
                let opened = session.call_open(&mut *self.store, request.agent(), &lists, evidence.as_deref());
                Ok(self.clock.run(opened)?.map(SessionHandle::Component).map_err(from_bindings))
            },
            (guest, functions) => {
                let [agent, agent_length] = guest.text(request.agent())?;
                let [lists, lists_length] = guest.list(request.lists())?;
                let [is_some, evidence, length] = guest.evidence(request.observations())?;
                let params = [agent, agent_length, lists, lists_length, is_some, evidence, length];
                let opened: Result<u32, types::WitFault> = guest.call(&functions.open, params)?;
                Ok(opened.map(SessionHandle::Module).map_err(Fault::from))
            }
        )
    }

    pub(crate) fn push(&mut self, session: SessionHandle, text: &str) -> Returned<Progress> {
        either!(self,
            component => {
                let push = component.stream(&mut *self.store)?.session();
                answered(self.clock.run(push.call_push(&mut *self.store, session.resource()?, text))?)
            },
            (guest, functions) => {
                let [text, length] = guest.text(text)?;
                straight(guest.call(&functions.push, [session.number()?, text, length])?)
            }
        )
    }

    pub(crate) fn finish(
        &mut self,
        session: SessionHandle,
        finish: Finish,
        invalid_utf8: Option<u32>,
    ) -> Returned<Box<Report>> {
        either!(self,
            component => {
                let session_type = component.stream(&mut *self.store)?.session();
                let session = session.resource()?;
                let finished = session_type.call_finish(&mut *self.store, session, finish.into(), invalid_utf8);
                reported(self.clock.run(finished)?)
            },
            (guest, functions) => {
                let [is_some, at] = optional(invalid_utf8);
                straight(guest.call(&functions.finish, [session.number()?, finish as u32, is_some, at])?)
            }
        )
    }

    pub(crate) fn register(&mut self, contract: &str) -> Returned<ContractInfo> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                answered(self.clock.run(registry.call_register(&mut *self.store, contract))?)
            },
            (guest, functions) => {
                let contract = guest.text(contract)?;
                straight(guest.call(&functions.register, contract)?)
            }
        )
    }

    pub(crate) fn names(&mut self) -> wasmtime::Result<Vec<String>> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                self.clock.run(registry.call_names(&mut *self.store))
            },
            (guest, functions) => guest.call(&functions.names, [])
        )
    }

    pub(crate) fn contract(&mut self, agent: &str) -> Returned<ContractInfo> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                answered(self.clock.run(registry.call_contract(&mut *self.store, agent))?)
            },
            (guest, functions) => {
                let agent = guest.text(agent)?;
                straight(guest.call(&functions.contract, agent)?)
            }
        )
    }

    pub(crate) fn describe(&mut self, agent: &str) -> Returned<String> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                answered(self.clock.run(registry.call_describe(&mut *self.store, agent))?)
            },
            (guest, functions) => {
                let agent = guest.text(agent)?;
                straight(guest.call(&functions.describe, agent)?)
            }
        )
    }

    pub(crate) fn lint(&mut self, contract: &str) -> Returned<Vec<Warning>> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                listed(self.clock.run(registry.call_lint(&mut *self.store, contract))?)
            },
            (guest, functions) => {
                let contract = guest.text(contract)?;
                straight(guest.call(&functions.lint, contract)?)
            }
        )
    }

    pub(crate) fn seal(&mut self) -> wasmtime::Result<()> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                self.clock.run(registry.call_seal(&mut *self.store))
            },
            (guest, functions) => guest.simple(&functions.seal, [])
        )
    }

    pub(crate) fn is_sealed(&mut self) -> wasmtime::Result<bool> {
        either!(self,
            component => {
                let registry = component.registry(&mut *self.store)?;
                self.clock.run(registry.call_is_sealed(&mut *self.store))
            },
            (guest, functions) => Ok(guest.simple::<_, u32>(&functions.is_sealed, [])? != 0)
        )
    }

    /// Answers one request that is JSON text.
    pub(crate) fn call(&mut self, request: &str) -> wasmtime::Result<String> {
        either!(self,
            component => {
                let wire = component.wire(&mut *self.store)?;
                self.clock.run(wire.call_call(&mut *self.store, request))
            },
            (guest, functions) => {
                let request = guest.text(request)?;
                guest.call(&functions.call, request)
            }
        )
    }

    pub(crate) fn register_profile(&mut self, profile: &str) -> Returned<String> {
        either!(self,
            component => {
                let profiles = component.profiles(&mut *self.store)?;
                answered(self.clock.run(profiles.call_register(&mut *self.store, profile))?)
            },
            (guest, functions) => {
                let profile = guest.text(profile)?;
                straight(guest.call(&functions.register_profile, profile)?)
            }
        )
    }

    pub(crate) fn profile_names(&mut self) -> wasmtime::Result<Vec<String>> {
        either!(self,
            component => {
                let profiles = component.profiles(&mut *self.store)?;
                self.clock.run(profiles.call_names(&mut *self.store))
            },
            (guest, functions) => guest.call(&functions.profile_names, [])
        )
    }

    pub(crate) fn profile(&mut self, agent: &str) -> Returned<String> {
        either!(self,
            component => {
                let profiles = component.profiles(&mut *self.store)?;
                answered(self.clock.run(profiles.call_profile(&mut *self.store, agent))?)
            },
            (guest, functions) => {
                let agent = guest.text(agent)?;
                straight(guest.call(&functions.profile, agent)?)
            }
        )
    }

    pub(crate) fn describe_profile(&mut self, agent: &str) -> Returned<String> {
        either!(self,
            component => {
                let profiles = component.profiles(&mut *self.store)?;
                answered(self.clock.run(profiles.call_describe(&mut *self.store, agent))?)
            },
            (guest, functions) => {
                let agent = guest.text(agent)?;
                straight(guest.call(&functions.describe_profile, agent)?)
            }
        )
    }

    pub(crate) fn lint_profile(&mut self, profile: &str) -> Returned<Vec<Warning>> {
        either!(self,
            component => {
                let profiles = component.profiles(&mut *self.store)?;
                listed(self.clock.run(profiles.call_lint(&mut *self.store, profile))?)
            },
            (guest, functions) => {
                let profile = guest.text(profile)?;
                straight(guest.call(&functions.lint_profile, profile)?)
            }
        )
    }

    pub(crate) fn surface(&mut self, agent: &str, facts: &str, listed: Option<&str>) -> Returned<String> {
        either!(self,
            component => {
                let kernel = component.kernel(&mut *self.store)?;
                answered(self.clock.run(kernel.call_surface(&mut *self.store, agent, facts, listed))?)
            },
            (guest, functions) => {
                let [a, b] = guest.text(agent)?;
                let [c, d] = guest.text(facts)?;
                let [e, f, g] = guest.optional_text(listed)?;
                straight(guest.call(&functions.surface, [a, b, c, d, e, f, g])?)
            }
        )
    }

    pub(crate) fn permit(&mut self, agent: &str, facts: &str, call: &str) -> Returned<String> {
        either!(self,
            component => {
                let kernel = component.kernel(&mut *self.store)?;
                answered(self.clock.run(kernel.call_permit(&mut *self.store, agent, facts, call))?)
            },
            (guest, functions) => {
                let [a, b] = guest.text(agent)?;
                let [c, d] = guest.text(facts)?;
                let [e, f] = guest.text(call)?;
                straight(guest.call(&functions.permit, [a, b, c, d, e, f])?)
            }
        )
    }

    pub(crate) fn observe(&mut self, agent: &str, facts: &str, call: &str, result: &str) -> Returned<String> {
        either!(self,
            component => {
                let kernel = component.kernel(&mut *self.store)?;
                answered(self.clock.run(kernel.call_observe(&mut *self.store, agent, facts, call, result))?)
            },
            (guest, functions) => {
                let [a, b] = guest.text(agent)?;
                let [c, d] = guest.text(facts)?;
                let [e, f] = guest.text(call)?;
                let [g, h] = guest.text(result)?;
                straight(guest.call(&functions.observe, [a, b, c, d, e, f, g, h])?)
            }
        )
    }

    pub(crate) fn advance(&mut self, agent: &str, state: Option<&str>, event: &str) -> Returned<String> {
        either!(self,
            component => {
                let kernel = component.kernel(&mut *self.store)?;
                answered(self.clock.run(kernel.call_advance(&mut *self.store, agent, state, event))?)
            },
            (guest, functions) => {
                let [a, b] = guest.text(agent)?;
                let [c, d, e] = guest.optional_text(state)?;
                let [f, g] = guest.text(event)?;
                straight(guest.call(&functions.advance, [a, b, c, d, e, f, g])?)
            }
        )
    }

    pub(crate) fn project(&mut self, agent: &str, line: &str, audience: &str) -> Returned<String> {
        either!(self,
            component => {
                let kernel = component.kernel(&mut *self.store)?;
                answered(self.clock.run(kernel.call_project(&mut *self.store, agent, line, audience))?)
            },
            (guest, functions) => {
                let [a, b] = guest.text(agent)?;
                let [c, d] = guest.text(line)?;
                let [e, f] = guest.text(audience)?;
                straight(guest.call(&functions.project, [a, b, c, d, e, f])?)
            }
        )
    }

    /// Calls an export of a component that is not in the world, and uses its result.
    pub(crate) fn read<R, T>(
        &mut self,
        (interface, function): (&str, &str),
        used: impl FnOnce(&Store<MemoryLimiter>, R) -> T,
    ) -> wasmtime::Result<T>
    where
        R: wasmtime::component::Lift + 'static,
        (R,): wasmtime::component::ComponentNamedList + wasmtime::component::Lift,
    {
        let missing = || wasmtime::Error::msg(format!("no export {interface}.{function}"));
        let Exports::Component(exports) = self.exports else {
            return Err(missing());
        };
        let (instance, store) = (exports.instance(), &mut *self.store);
        let index = instance.get_export_index(&mut *store, None, interface).ok_or_else(missing)?;
        let index = instance.get_export_index(&mut *store, Some(&index), function).ok_or_else(missing)?;
        let function = instance.get_typed_func::<(), (R,)>(&mut *store, index)?;
        let (value,) = self.clock.run(function.call_async(&mut *store, ()))?;
        Ok(used(store, value))
    }
}

impl SessionHandle {
    fn resource(self) -> wasmtime::Result<ResourceAny> {
        match self {
            SessionHandle::Component(resource) => Ok(resource),
            SessionHandle::Module(_) => Err(wasmtime::Error::msg("the session is another instance's")),
        }
    }

    fn number(self) -> wasmtime::Result<u32> {
        match self {
            SessionHandle::Module(number) => Ok(number),
            SessionHandle::Component(_) => Err(wasmtime::Error::msg("the session is another instance's")),
        }
    }
}

type BindingsFault = crate::bindings::exports::seamgate::validator::types::Fault;

fn from_bindings(fault: BindingsFault) -> Fault {
    types::WitFault::from(fault).into()
}

/// Returns the report in a box, because a report is moved often, and a box moves without its members.
fn reported<W: Into<Report>>(answer: Result<W, BindingsFault>) -> Returned<Box<Report>> {
    Ok(answer.map(|report| Box::new(report.into())).map_err(from_bindings))
}

fn answered<W, T: From<W>>(answer: Result<W, BindingsFault>) -> Returned<T> {
    Ok(answer.map(T::from).map_err(from_bindings))
}

fn listed<W, T: From<W>>(answer: Result<Vec<W>, BindingsFault>) -> Returned<Vec<T>> {
    Ok(answer.map(|all| all.into_iter().map(T::from).collect()).map_err(from_bindings))
}

fn straight<T>(answer: Result<T, types::WitFault>) -> Returned<T> {
    Ok(answer.map_err(Fault::from))
}
