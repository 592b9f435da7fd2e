//! The shortest path to a verdict, for a host that calls the core module itself (`host/src/sandbox/exports/module.rs`).
//!
//! Most requests consist of an agent and an output, and most outputs have one valid document, alone or in a fenced
//! block. For those, the host passes one text and gets back a few words, because it already has the document. All other
//! answers are those of the interface, in the canonical ABI.

use std::{
    alloc::{Layout, alloc},
    cell::{Cell, RefCell},
};

use seamgate_core as core;
use seamgate_exports::{
    REGISTRY,
    bindings::exports::seamgate::validator::{types, validate},
    convert,
};
use seamgate_memory::{begin_call, one_call};

/// The result whose address [`fast_validate`] returns. The canonical ABI lays it out as `result<accepted, u32>`.
/// `accepted` is a record of an agent (`string`), a schema's id (`option<string>`), a contract (`string`), the
/// candidate's marker (`option<string>`), the notes (`list<string>`), and the document's `span` and `source`. If the
/// verdict is not of this kind, the number is the address of the result of the interface's `validate`.
type Answer = [usize; 16];

/// The maximum number of notes in an answer, and the maximum size of all its notes, in bytes. A report with more uses
/// the interface.
const MAX_NOTES: usize = 4;
const MAX_NOTE_BYTES: usize = 256;

thread_local! {
    static ANSWER: Cell<Answer> = const { Cell::new([0; 16]) };
    /// The notes of the answer, end to end, and the position of each. None of them is on the heap, because the host
    /// frees nothing.
    static NOTES: RefCell<[u8; MAX_NOTE_BYTES]> = const { RefCell::new([0; MAX_NOTE_BYTES]) };
    static PLACES: Cell<[[usize; 2]; MAX_NOTES]> = const { Cell::new([[0; 2]; MAX_NOTES]) };
    /// A verdict to return through the interface.
    static MADE: Cell<Option<Result<core::Report, core::Fault>>> = const { Cell::new(None) };
}

/// Reserves room for the request of the next [`fast_validate`], in bytes. Returns its address, or 0 if it does not fit.
#[unsafe(no_mangle)]
extern "C" fn fast_allocate(length: usize) -> *mut u8 {
    begin_call();
    match Layout::array::<u8>(length.max(1)) {
        // SAFETY: its size is not zero.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Judges an output. The first `agent` bytes of the request are the agent, and the remaining bytes, up to `length`, are
/// the output. The request has no lists and no evidence, and the output is unchanged from the producer.
///
/// # Safety
///
/// `request` must be the address that [`fast_allocate`] returned for this `length`. It must hold two UTF-8 texts, the
/// first of which has `agent` bytes. The caller gives up ownership. `finish` must be the number of a case of `finish`.
#[unsafe(no_mangle)]
unsafe extern "C" fn fast_validate(request: *mut u8, agent: usize, length: usize, finish: u32) -> *const Answer {
    // SAFETY: the caller's promise: an allocation of its own for this length, of initialised bytes. It has one byte where
    // the length is zero.
    let request = unsafe { Vec::from_raw_parts(request, length, length.max(1)) };
    let (agent, output) = request.split_at(agent);
    // SAFETY: the caller's promise.
    let (agent, output) = unsafe { (str::from_utf8_unchecked(agent), str::from_utf8_unchecked(output)) };
    // SAFETY: the caller's promise.
    let finish = unsafe { types::Finish::_lift(finish as u8) };
    let finish = convert::finish_back(finish);
    one_call(|| {
        let request = core::Request { output, finish, ..core::Request::default() };
        let other = REGISTRY.with_borrow(|registry| match registry.verdict(agent, &request) {
            Ok(core::Verdict::Accepted(accepted)) if accept(&accepted) => None,
            Ok(verdict) => Some(Ok(core::Report::from(verdict))),
            Err(fault) => Some(Err(fault)),
        });
        if let Some(other) = other {
            MADE.set(Some(other));
            // SAFETY: the texts and lists are empty: each has a dangling, aligned address and length zero.
            let made = unsafe {
                let (text, list) = (std::ptr::dangling_mut::<u8>(), std::ptr::dangling_mut::<usize>().cast());
                validate::_export_validate_cabi::<Made>(text, 0, text, 0, 0, list, 0, 0, list, 0, 0, 0)
            };
            let mut answer = [0; 16];
            answer[..2].copy_from_slice(&[1, made.addr()]);
            ANSWER.set(answer);
        }
    });
    ANSWER.with(Cell::as_ptr)
}

/// Creates the answer. Returns whether its notes fit.
fn accept(core::Accepted { contract, source, marker, notes, span, .. }: &core::Accepted) -> bool {
    let Some(places) = write_notes(notes) else { return false };
    let text = |text: &str| [text.as_ptr().addr(), text.len()];
    let optional = |optional: Option<&str>| {
        let [at, length] = optional.map_or([0; 2], text);
        [usize::from(optional.is_some()), at, length]
    };
    let ([agent, agent_length], [digest, digest_length]) = (text(contract.agent()), text(contract.digest()));
    let [has_id, id, id_length] = optional(contract.schema_id());
    let [has_marker, marker, marker_length] = optional(*marker);
    let (start, end, source) = (span.start as usize, span.end as usize, convert::source(*source) as usize);
    ANSWER.set([
        0,
        agent,
        agent_length,
        has_id,
        id,
        id_length,
        digest,
        digest_length,
        has_marker,
        marker,
        marker_length,
        places,
        notes.len(),
        start,
        end,
        source,
    ]);
    true
}

/// Writes notes to static memory. Returns the address of their positions, if they fit.
fn write_notes(notes: &[String]) -> Option<usize> {
    let at = PLACES.with(|places| places.as_ptr().addr());
    if notes.is_empty() {
        return Some(at);
    }
    NOTES.with_borrow_mut(|texts| {
        let mut places = [[0; 2]; MAX_NOTES];
        let mut from = 0;
        for (number, note) in notes.iter().enumerate() {
            let place = places.get_mut(number)?;
            let text = texts.get_mut(from..from + note.len())?;
            text.copy_from_slice(note.as_bytes());
            *place = [text.as_ptr().addr(), text.len()];
            from += note.len();
        }
        PLACES.set(places);
        Some(at)
    })
}

/// Returns a verdict that was already computed.
struct Made;

impl validate::Guest for Made {
    fn validate(_: types::Request) -> Result<types::Report, types::Fault> {
        match MADE.take() {
            Some(made) => made.map(convert::report).map_err(convert::fault),
            None => unreachable!("it was made"),
        }
    }

    fn validate_with(_: String, _: types::Request) -> Result<types::Report, types::Fault> {
        unreachable!("nobody calls it")
    }
}
