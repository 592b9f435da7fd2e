//! An instance that is used again.

use std::{ffi::c_char, ptr, sync::Arc};

use self_cell::self_cell;

use crate::{
    border::{Given, Out, Turns, free, handle},
    failure::Failure,
    gate::Gate,
    request::Extras,
    status::Status,
    value::{Made, Text, Usage},
};

type Inner<'g> = seamgate::Instance<'g>;

self_cell!(
    struct Warm {
        owner: Arc<seamgate::Gate>,
        #[not_covariant]
        dependent: Inner,
    }
);

/// An instance for more than one call, for callers who trust all their producers alike: what one output did to it, the next one finds.
/// The reports are the same bytes. Threads that use one at once take turns.
pub struct Instance(Turns<Warm>);

impl Instance {
    fn with(&self, call: impl FnOnce(&mut Inner) -> Result<Made, Failure>) -> Result<Made, Failure> {
        // After a fault, the library begins with a fresh one.
        self.0.with(|mut warm| {
            let made = warm.with_dependent_mut(|_, instance| call(instance));
            (Some(warm), made)
        })
    }
}

/// Makes an instance. It knows what is registered in the gate by now, and nothing that is registered later.
///
/// `instance` receives it; free it with `seamgate_instance_free`. `fault` receives the fault, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_instance_new(
    gate: *const Gate,
    instance: *mut *mut Instance,
    fault: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe {
        let gate = handle("gate", gate);
        Out::optional(fault, ptr::null_mut()).handle(instance, || {
            let warm = Warm::new(gate?.now(), |gate| gate.instance());
            Ok(Instance(Turns::new("instance", warm)))
        })
    }
}

/// Judges one output in the instance, as `seamgate_validate` does in a fresh one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_instance_validate(
    instance: *const Instance,
    agent: *const c_char,
    agent_length: usize,
    output: *const c_char,
    output_length: usize,
    extras: *const c_char,
    extras_length: usize,
    report: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (instance, agent, output, extras, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let output = Given::new("output", output, output_length);
        let extras = Given::new("extras", extras, extras_length);
        (handle("instance", instance), agent, output, extras, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let request = Extras::request(&extras, agent.text()?, output.bytes()?)?;
        instance?.with(|instance| Ok(instance.validate(&request)?.into()))
    })
}

/// Answers one request in the instance, as `seamgate_call` does in a fresh one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_instance_call(
    instance: *const Instance,
    request: *const c_char,
    request_length: usize,
    answer: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (instance, request, out) = unsafe {
        let request = Given::new("request", request, request_length);
        (handle("instance", instance), request, Out::needed("answer", answer, usage))
    };
    out.answer(|| {
        let request = request.text()?;
        instance?.with(|instance| Ok(instance.answer(request)?.into()))
    })
}

/// Frees an instance. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_instance_free(instance: *mut Instance) {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe { free(instance) }
}
