//! Outputs that are still coming.

use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use seamgate::{Gate, Session};
use self_cell::self_cell;

use crate::{
    error::{Result, fault, usage},
    options,
    verdict::Judged,
};

type Open<'g> = Option<Session<'g>>;

self_cell!(
    struct Kept {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Open,
    }
);

/// See `Session` of `host/js/src/session.ts`.
#[napi]
pub struct NativeSession {
    kept: Option<Kept>,
}

impl NativeSession {
    pub(crate) fn open(gate: Arc<Gate>, agent: &str, extras: Option<&str>) -> Result<Self> {
        let request = options::request(agent, b"", extras)?;
        let kept = Kept::try_new(gate, |gate| gate.session(&request).map(Some)).map_err(fault)?;
        Ok(NativeSession { kept: Some(kept) })
    }
}

#[napi]
impl NativeSession {
    /// Returns what is known after another chunk, as JSON text.
    #[napi]
    pub fn push(&mut self, chunk: Uint8Array) -> Result<String> {
        let Some(kept) = &mut self.kept else {
            return Err(over());
        };
        let pushed = kept.with_dependent_mut(|_, session| session.as_mut().map(|session| session.push(&chunk)));
        match pushed {
            Some(Ok(progress)) => Ok(progress.to_json()),
            Some(Err(error)) => {
                self.kept = None;
                Err(fault(error))
            }
            None => Err(over()),
        }
    }

    /// Returns the verdict.
    #[napi]
    pub fn finish(&mut self, word: Option<String>) -> Result<Judged> {
        let finish = options::finish(word.as_deref())?;
        let session = self.kept.as_mut().and_then(|kept| {
            kept.with_dependent_mut(|_, session| session.take().map(|session| session.finish(finish)))
        });
        self.kept = None;
        session.ok_or_else(over)?.map(Judged::of).map_err(fault)
    }

    /// Ends the session without a verdict.
    #[napi]
    pub fn close(&mut self) {
        self.kept = None;
    }
}

fn over() -> napi::Error<&'static str> {
    usage("the session is over: it was finished, closed, or ended by a fault")
}
