//! The gate: contracts and outputs in, verdicts out, each from a fresh instance.

use std::{ffi::c_char, sync::Arc};

use seamgate::SharedGate;

use crate::{
    border::{Given, Out, free, handle},
    request::{Extras, options, reports},
    status::Status,
    value::{Made, Text, Usage},
};

/// A gate. Any number of threads may use one at once, and register contracts while others judge by it.
pub struct Gate(SharedGate);

impl Gate {
    pub(crate) fn now(&self) -> Arc<seamgate::Gate> {
        self.0.current()
    }
}

/// Makes a gate.
///
/// `options` is JSON text, and may be empty. All members have defaults: `{"limits": {"fuel": 100000000, "fuel_per_byte": 500,
/// "contract_fuel": 500000000, "contract_fuel_per_byte": 2500, "memory": 67108864, "timeout_ms": 5000, "output_bytes": 8388608},
/// "slots": 8, "cache": "/a/folder"}`. `slots` is how many calls run at once. `cache` is where the machine code of components
/// other than the built-in one is kept, and null for nowhere.
///
/// `component` may be empty, for the built-in component. Otherwise it has the bytes of another one, such as `seamgate bake` makes
/// with contracts inside.
///
/// `gate` receives the gate; free it with `seamgate_gate_free`. `fault` receives the fault, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_gate_new(
    options: *const c_char,
    options_length: usize,
    component: *const c_char,
    component_length: usize,
    gate: *mut *mut Gate,
    fault: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe {
        let given = Given::new("options", options, options_length);
        let component = Given::new("component", component, component_length);
        Out::optional(fault, std::ptr::null_mut()).handle(gate, || {
            let gate = seamgate::Gate::with(self::options(&given, &component)?)?;
            Ok(Gate(SharedGate::new(gate)))
        })
    }
}

/// Frees a gate. Its sessions, instances and attempts keep what they need, and stay usable. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_gate_free(gate: *mut Gate) {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe { free(gate) }
}

/// Describes the gate's component as JSON text: contracts and profiles that were baked into it, its size, and its digest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_inspect(gate: *const Gate, inspection: *mut Text) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, out) = unsafe { (handle("gate", gate), Out::needed("inspection", inspection, std::ptr::null_mut())) };
    out.answer(|| Ok(Made::json(&gate?.now().inspect()?)))
}

/// Checks a contract and keeps it: from now on it judges the outputs of its agent. The same contract again changes nothing.
///
/// `contract` is one whole JSON document (`schemas/contract.schema.json`), with the schema inside; `seamgate_read_contract` reads
/// one from disk. `info` receives what it is, as JSON text, or the fault. It may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_register(
    gate: *const Gate,
    contract: *const c_char,
    contract_length: usize,
    info: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, contract, out) = unsafe {
        let contract = Given::new("contract", contract, contract_length);
        (handle("gate", gate), contract, Out::optional(info, std::ptr::null_mut()))
    };
    out.answer(|| {
        let contract = contract.text()?;
        Ok(Made::json(&gate?.0.register(|gate| gate.register(contract))?))
    })
}

/// Checks a profile (`schemas/profile.schema.json`) and keeps it: from now on it decides what its agent may do. `info` receives
/// what it is, as JSON text, or the fault. It may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_register_profile(
    gate: *const Gate,
    profile: *const c_char,
    profile_length: usize,
    info: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, profile, out) = unsafe {
        let profile = Given::new("profile", profile, profile_length);
        (handle("gate", gate), profile, Out::optional(info, std::ptr::null_mut()))
    };
    out.answer(|| {
        let profile = profile.text()?;
        Ok(Made::json(&gate?.0.register(|gate| gate.register_profile(profile))?))
    })
}

/// Reads a contract from a file, and puts in the schemas that it names by relative paths. `contract` receives one whole document
/// for `seamgate_register`, or the fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_read_contract(
    path: *const c_char,
    path_length: usize,
    contract: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (path, out) =
        unsafe { (Given::new("path", path, path_length), Out::needed("contract", contract, std::ptr::null_mut())) };
    out.answer(|| Ok(seamgate::read_contract(path.path()?)?.into()))
}

/// Reads a profile from a file, as `seamgate_read_contract` does a contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_read_profile(path: *const c_char, path_length: usize, profile: *mut Text) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (path, out) =
        unsafe { (Given::new("path", path, path_length), Out::needed("profile", profile, std::ptr::null_mut())) };
    out.answer(|| Ok(seamgate::read_profile(path.path()?)?.into()))
}

/// Lists likely mistakes in a contract as a JSON list. The contract need not be registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_lint(
    gate: *const Gate,
    contract: *const c_char,
    contract_length: usize,
    warnings: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, contract, out) = unsafe {
        let contract = Given::new("contract", contract, contract_length);
        (handle("gate", gate), contract, Out::needed("warnings", warnings, std::ptr::null_mut()))
    };
    out.answer(|| Ok(Made::json(&gate?.now().lint(contract.text()?)?)))
}

/// Lists likely mistakes in a profile, as `seamgate_lint` does for a contract.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_lint_profile(
    gate: *const Gate,
    profile: *const c_char,
    profile_length: usize,
    warnings: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, profile, out) = unsafe {
        let profile = Given::new("profile", profile, profile_length);
        (handle("gate", gate), profile, Out::needed("warnings", warnings, std::ptr::null_mut()))
    };
    out.answer(|| Ok(Made::json(&gate?.now().lint_profile(profile.text()?)?)))
}

/// Describes for an agent's prompt what its output must be. `description` receives plain text, or the fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_describe(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    description: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        (handle("gate", gate), agent, Out::needed("description", description, std::ptr::null_mut()))
    };
    out.answer(|| Ok(gate?.now().describe(agent.text()?)?.into()))
}

/// Describes for an agent's prompt what it may do, by its profile. `description` receives plain text, or the fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_describe_profile(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    description: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, agent, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        (handle("gate", gate), agent, Out::needed("description", description, std::ptr::null_mut()))
    };
    out.answer(|| Ok(gate?.now().describe_profile(agent.text()?)?.into()))
}

/// Judges one output, in a fresh instance.
///
/// `output` has the raw bytes that the agent produced; they need not be UTF-8. `extras` is JSON text, and may be empty:
/// `{"finish": "stop", "lists": {"teams": ["web"]}, "evidence": [{"id": "log#1", "text": "…"}]}`, as in
/// `schemas/request.schema.json`.
///
/// `report` receives the report (`schemas/report.schema.json`), or the fault. A rejected output has a report, and the status
/// `SEAMGATE_STATUS_OK`: read `disposition`. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_validate(
    gate: *const Gate,
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
    let (gate, agent, output, extras, out) = unsafe {
        let agent = Given::new("agent", agent, agent_length);
        let output = Given::new("output", output, output_length);
        let extras = Given::new("extras", extras, extras_length);
        (handle("gate", gate), agent, output, extras, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let request = Extras::request(&extras, agent.text()?, output.bytes()?)?;
        Ok(gate?.now().validate(&request)?.into())
    })
}

/// Judges one output by a contract that need not be registered, in a fresh instance. The rest is as in `seamgate_validate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_validate_with(
    gate: *const Gate,
    contract: *const c_char,
    contract_length: usize,
    output: *const c_char,
    output_length: usize,
    extras: *const c_char,
    extras_length: usize,
    report: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, contract, output, extras, out) = unsafe {
        let contract = Given::new("contract", contract, contract_length);
        let output = Given::new("output", output, output_length);
        let extras = Given::new("extras", extras, extras_length);
        (handle("gate", gate), contract, output, extras, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let request = Extras::request(&extras, "", output.bytes()?)?;
        Ok(gate?.now().validate_with(contract.text()?, &request)?.into())
    })
}

/// Puts together the reports of several attempts of one agent, in their order, and judges the result as a whole.
///
/// `reports` is a JSON list of reports. `extras` has the lists and the evidence, as in `seamgate_validate`. `report` receives the
/// report on all of them, or the fault. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_merge(
    gate: *const Gate,
    reports: *const c_char,
    reports_length: usize,
    extras: *const c_char,
    extras_length: usize,
    report: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, given, extras, out) = unsafe {
        let given = Given::new("reports", reports, reports_length);
        let extras = Given::new("extras", extras, extras_length);
        (handle("gate", gate), given, extras, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let request = Extras::request(&extras, "", b"")?;
        Ok(gate?.now().merge(&self::reports(&given)?, &request)?.into())
    })
}

/// Answers one request that is JSON text (`schemas/request.schema.json`), in a fresh instance. Every operation of the component is
/// such a request, those of runs of agents included.
///
/// `answer` receives one line of JSON: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`. A fault of the
/// request itself is such an answer, with the status `SEAMGATE_STATUS_OK`. Any other status says that the call passed a limit. `usage` may
/// be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_call(
    gate: *const Gate,
    request: *const c_char,
    request_length: usize,
    answer: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (gate, request, out) = unsafe {
        let request = Given::new("request", request, request_length);
        (handle("gate", gate), request, Out::needed("answer", answer, usage))
    };
    out.answer(|| Ok(gate?.now().call(request.text()?)?.into()))
}
