//! The retry loop, step by step: the caller asks its producer.

use std::{ffi::c_char, ptr, sync::Arc};

use seamgate::{Next, Produced, Report};
use self_cell::self_cell;
use serde::Serialize;

use crate::{
    border::{Given, Out, Turns, free, handle},
    failure::Failure,
    gate::Gate,
    request::{Extras, finish},
    status::Status,
    value::{Made, Text, Usage},
};

type Inner<'g> = seamgate::Attempts<'g>;

self_cell!(
    struct Begun {
        owner: Arc<seamgate::Gate>,
        #[not_covariant]
        dependent: Inner,
    }
);

/// The attempts of one run of the retry loop, and the verdict on all of them together. Threads that use it at once take turns.
pub struct Attempts(Turns<Begun>);

impl Attempts {
    fn with(&self, call: impl FnOnce(&mut Inner) -> Result<Made, Failure>) -> Result<Made, Failure> {
        self.0.with(|mut begun| {
            let made = begun.with_dependent_mut(|_, attempts| call(attempts));
            (Some(begun), made)
        })
    }
}

/// Begins the retry loop for an agent. The contract's `retry.limit` says how often to ask again.
///
/// `extras` is as in `seamgate_validate`; its `finish` does not count. If `allow_partial` is not 0, the loop may end with a partial
/// verdict. `attempts` receives the attempts; free them with `seamgate_attempts_free`. `fault` receives the fault, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_attempts_new(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    extras: *const c_char,
    extras_length: usize,
    allow_partial: i32,
    attempts: *mut *mut Attempts,
    fault: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe {
        let gate = handle("gate", gate);
        let agent = Given::new("agent", agent, agent_length);
        let extras = Given::new("extras", extras, extras_length);
        Out::optional(fault, ptr::null_mut()).handle(attempts, || {
            let request = Extras::request(&extras, agent.text()?, b"")?;
            let partial = allow_partial != 0;
            let begun = Begun::try_new(gate?.now(), |gate| {
                gate.attempts(&request).map(|attempts| attempts.allow_partial(partial)).map_err(Failure::from)
            });
            Ok(Attempts(Turns::new("attempts", begun?)))
        })
    }
}

/// Returns the next step as JSON text: `{"stop":null,"feedback":null,"attempt":1}`.
///
/// While `stop` is null, ask the producer, and send it `feedback`, which is null the first time. Otherwise `stop` says why the loop
/// is over: `accepted`, `partial`, `refused`, `not_retryable`, `repeated` or `limit`. `attempt` is the number of the attempt that
/// comes, or that was the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_attempts_next(attempts: *const Attempts, step: *mut Text) -> Status {
    #[derive(Serialize)]
    struct Step {
        stop: Option<&'static str>,
        feedback: Option<String>,
        attempt: u32,
    }
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (attempts, out) = unsafe { (handle("attempts", attempts), Out::needed("step", step, ptr::null_mut())) };
    out.answer(|| {
        attempts?.with(|attempts| {
            let count = attempts.count();
            let step = match attempts.next() {
                Next::Ask(feedback) => Step { stop: None, feedback, attempt: count + 1 },
                Next::Stop(stop) => Step { stop: Some(stop.as_str()), feedback: None, attempt: count },
                other => return Err(Failure::Here(Status::Internal, format!("unknown step {other:?}"))),
            };
            Ok(Made::json(&step))
        })
    })
}

/// Judges the next output of the producer. `report` receives the verdict on that output alone, or the fault; after a fault, the output
/// does not count as an attempt. `finish` is as in `seamgate_session_finish`. `usage` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_attempts_judge(
    attempts: *const Attempts,
    output: *const c_char,
    output_length: usize,
    finish: *const c_char,
    finish_length: usize,
    report: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (attempts, output, word, out) = unsafe {
        let output = Given::new("output", output, output_length);
        let word = Given::new("finish", finish, finish_length);
        (handle("attempts", attempts), output, word, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let produced = Produced::from(output.bytes()?).finish(self::finish(&word)?);
        attempts?.with(|attempts| Ok(attempts.judge(&produced)?.into()))
    })
}

/// Returns the verdict on all attempts together. Before the first attempt, that is a fault. Use its document only if the loop stopped
/// with `accepted` or `partial`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_attempts_report(attempts: *const Attempts, report: *mut Text) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (attempts, out) = unsafe { (handle("attempts", attempts), Out::needed("report", report, ptr::null_mut())) };
    out.answer(|| {
        attempts?.with(|attempts| {
            let report = attempts.report().map(Report::to_json);
            report.map(Made::from).ok_or_else(|| Failure::request("attempts", "there was no attempt yet"))
        })
    })
}

/// Frees attempts. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_attempts_free(attempts: *mut Attempts) {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe { free(attempts) }
}
