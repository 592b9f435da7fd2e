//! An output that is still coming.

use std::{ffi::c_char, ptr, sync::Arc};

use self_cell::self_cell;

use crate::{
    border::{Given, Out, Turns, free, handle},
    failure::Failure,
    gate::Gate,
    request::{Extras, finish},
    status::Status,
    value::{Made, Text, Usage},
};

type Streaming<'g> = Option<seamgate::Session<'g>>;

self_cell!(
    struct Open {
        owner: Arc<seamgate::Gate>,
        #[not_covariant]
        dependent: Streaming,
    }
);

/// An output that is still coming: chunks in, the verdict at the end. Threads that use one at once take turns.
pub struct Session(Turns<Open>);

/// Begins an output that is still coming.
///
/// `extras` is as in `seamgate_validate`; its `finish` does not count. `session` receives the session; free it with
/// `seamgate_session_free`. `fault` receives the fault, and may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_session_new(
    gate: *const Gate,
    agent: *const c_char,
    agent_length: usize,
    extras: *const c_char,
    extras_length: usize,
    session: *mut *mut Session,
    fault: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe {
        let gate = handle("gate", gate);
        let agent = Given::new("agent", agent, agent_length);
        let extras = Given::new("extras", extras, extras_length);
        Out::optional(fault, ptr::null_mut()).handle(session, || {
            let request = Extras::request(&extras, agent.text()?, b"")?;
            let open = Open::try_new(gate?.now(), |gate| gate.session(&request).map(Some))?;
            Ok(Session(Turns::new("session", open)))
        })
    }
}

/// Adds the next bytes of the output, which may be cut anywhere.
///
/// `progress` receives what is known now, as JSON text, or the fault. It may be null. If its member `dead_end` is not null, no
/// further bytes can make the output right: stop the producer. A fault ends the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_session_push(
    session: *const Session,
    chunk: *const c_char,
    chunk_length: usize,
    progress: *mut Text,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (session, chunk, out) = unsafe {
        let chunk = Given::new("chunk", chunk, chunk_length);
        (handle("session", session), chunk, Out::optional(progress, ptr::null_mut()))
    };
    out.answer(|| {
        let chunk = chunk.bytes()?;
        session?.0.with(|mut open| {
            let pushed = open.with_dependent_mut(|_, session| session.as_mut().map(|session| session.push(chunk)));
            match pushed {
                Some(Ok(progress)) => (Some(open), Ok(Made::from(progress.to_json()))),
                Some(Err(fault)) => (None, Err(fault.into())),
                None => (None, Err(Failure::request("session", "it is over"))),
            }
        })
    })
}

/// Ends a session, and judges all that came: `report` receives what `seamgate_validate` gives for the whole output.
///
/// `finish` is the word for why the producer stopped, such as `stop` or `length`, and may be empty. `usage` may be null, and has the
/// sum of all calls. The session still has to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_session_finish(
    session: *const Session,
    finish: *const c_char,
    finish_length: usize,
    report: *mut Text,
    usage: *mut Usage,
) -> Status {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    let (session, word, out) = unsafe {
        let word = Given::new("finish", finish, finish_length);
        (handle("session", session), word, Out::needed("report", report, usage))
    };
    out.answer(|| {
        let finish = self::finish(&word)?;
        session?.0.with(|mut open| {
            let judged = open.with_dependent_mut(|_, session| session.take().map(|session| session.finish(finish)));
            let over = || Failure::request("session", "it is over");
            (None, judged.ok_or_else(over).and_then(|judged| Ok(Made::from(judged?))))
        })
    })
}

/// Frees a session, with or without a verdict. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seamgate_session_free(session: *mut Session) {
    // SAFETY: the caller keeps the rules in the crate's documentation.
    unsafe { free(session) }
}
