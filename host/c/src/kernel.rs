//! The kernel: decisions and observations, each from a fresh instance.

use std::ffi::c_char;

use crate::{
    border::{Given, Out, handle},
    gate::Gate,
    status::Status,
    value::{Text, Usage},
};

/// Lists the tools that the model may see now.
///
/// `facts` is JSON text (`schemas/facts.schema.json`). `listed` is what servers list (`schemas/lock.schema.json`), and may be empty.
/// `surface` receives the tools, or the fault. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_surface(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    facts: *const c_char,
    facts_length: usize,
    listed: *const c_char,
    listed_length: usize,
    surface: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, facts, listed, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let facts = Given::new("facts", facts, facts_length);
        let listed = Given::new("listed", listed, listed_length);
        (handle("gate", gate), agent, facts, listed, Out::needed("surface", surface, usage))
    };
    out.answer(|| Ok(gate?.now().surface(agent.text()?, facts.text()?, listed.optional_text()?)?.into()))
}

/// Decides whether a call of a tool may run. A denied call is a decision, and no fault.
///
/// `facts` and `call` are JSON texts (`schemas/facts.schema.json`, `schemas/call.schema.json`). `decision` receives the decision
/// (`schemas/decision.schema.json`), or the fault. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_permit(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    facts: *const c_char,
    facts_length: usize,
    call: *const c_char,
    call_length: usize,
    decision: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, facts, call, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let facts = Given::new("facts", facts, facts_length);
        let call = Given::new("call", call, call_length);
        (handle("gate", gate), agent, facts, call, Out::needed("decision", decision, usage))
    };
    out.answer(|| Ok(gate?.now().permit(agent.text()?, facts.text()?, call.text()?)?.into()))
}

/// Makes an observation of what a tool returned: what the model may read of it.
///
/// `facts`, `call` and `result` are JSON texts (`schemas/facts.schema.json`, `schemas/call.schema.json`,
/// `schemas/result.schema.json`). `observation` receives the observation (`schemas/observation.schema.json`), or the fault. `usage`
/// may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_observe(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    facts: *const c_char,
    facts_length: usize,
    call: *const c_char,
    call_length: usize,
    result: *const c_char,
    result_length: usize,
    observation: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, facts, call, result, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let facts = Given::new("facts", facts, facts_length);
        let call = Given::new("call", call, call_length);
        let result = Given::new("result", result, result_length);
        (handle("gate", gate), agent, facts, call, result, Out::needed("observation", observation, usage))
    };
    out.answer(|| {
        let gate = gate?.now();
        Ok(gate.observe(agent.text()?, facts.text()?, call.text()?, result.text()?)?.into())
    })
}

/// Applies one event to a run of an agent. The caller keeps the state and the journal, and causes the effects.
///
/// `state` is the state of the step before, and empty for the first event. `event` is JSON text (`schemas/event.schema.json`).
/// `step` receives the step (`schemas/step.schema.json`), or the fault. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_advance(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    state: *const c_char,
    state_length: usize,
    event: *const c_char,
    event_length: usize,
    step: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, state, event, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let state = Given::new("state", state, state_length);
        let event = Given::new("event", event, event_length);
        (handle("gate", gate), agent, state, event, Out::needed("step", step, usage))
    };
    out.answer(|| Ok(gate?.now().advance(agent.text()?, state.optional_text()?, event.text()?)?.into()))
}

/// Shows a line of a journal to an audience: `model`, `ui`, `user`, `audit` or `eval`. `view` receives JSON text, or the fault.
/// `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_project(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    line: *const c_char,
    line_length: usize,
    audience: *const c_char,
    audience_length: usize,
    view: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, line, audience, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let line = Given::new("line", line, line_length);
        let audience = Given::new("audience", audience, audience_length);
        (handle("gate", gate), agent, line, audience, Out::needed("view", view, usage))
    };
    out.answer(|| Ok(gate?.now().project(agent.text()?, line.text()?, audience.text()?)?.into()))
}
