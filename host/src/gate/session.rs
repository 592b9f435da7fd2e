//! An output that is still arriving, in an instance of its own.

use super::{instance::Instance, verdict::Verdict};
use crate::{
    sandbox::exports::SessionHandle,
    types::{Finish, Progress, fault::Fault, limits::Usage, request::Request},
};

/// An output that is still arriving: it takes chunks, and returns the verdict at the end. Until then, the session
/// reports each item as it completes, and reports a dead end: a violation that no further text can repair.
///
/// A session holds an instance, about 350 KB, until it is finished or dropped. It takes no slot of the gate, so no
/// verdict waits for it. A process can hold 4,096 of them; one more fails at once with [`Fault::Busy`].
///
/// ```
/// use seamgate::{Completeness, Finish, Gate, Request};
///
/// let mut gate = Gate::new()?;
/// gate.register(r#"{"agent": "a", "schema": {"items": {"type": "integer"}}, "items": {"path": "$[*]"}}"#)?;
/// let mut session = gate.session(&Request::new("a", ""))?;
/// assert_eq!(session.push(b"[1, 2")?.items.len(), 1);
/// assert_eq!(session.push(b"2]")?.completeness, Completeness::SoftComplete);
/// assert_eq!(session.finish(Finish::Stop)?.report.output.as_deref(), Some("[1,22]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session<'g> {
    instance: Instance<'g>,
    session: SessionHandle,
    agent: String,
    /// The bytes so far.
    bytes: usize,
    /// The bytes of the evidence.
    evidence: usize,
    /// The first bytes of a character that is not complete yet.
    pending: Vec<u8>,
    invalid_utf8: Option<u32>,
    usage: Usage,
}

impl<'g> Session<'g> {
    pub(crate) fn open(mut instance: Instance<'g>, request: &Request) -> Result<Self, Fault> {
        let (session, usage) = instance.open(request)?;
        let agent = request.agent().to_owned();
        let evidence = request.evidence_bytes();
        let mut session =
            Session { instance, session, agent, bytes: 0, evidence, pending: Vec::new(), invalid_utf8: None, usage };
        session.push(request.output().as_bytes())?;
        Ok(session)
    }

    /// Adds the next bytes. A chunk may end anywhere, even within a character.
    ///
    /// # Errors
    ///
    /// A fault for a limit, such as [`Fault::InputTooLarge`] as soon as the output is longer than its limit. It ends the
    /// session.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Progress, Fault> {
        let text = self.text(chunk)?;
        self.pass(&text)
    }

    /// Returns the verdict. It is the same as that of [`Gate::validate`](crate::Gate::validate) on the whole output.
    /// Its usage is the sum of all calls.
    ///
    /// # Errors
    ///
    /// The faults of [`Gate::validate`](crate::Gate::validate).
    pub fn finish(mut self, finish: Finish) -> Result<Verdict, Fault> {
        if !self.pending.is_empty() {
            self.invalid_utf8.get_or_insert(offset(self.bytes - self.pending.len()));
            self.pass("\u{fffd}")?;
        }
        let judged = self.instance.finish(self.session, self.bytes + self.evidence, (finish, self.invalid_utf8));
        let judged = judged.map(|(report, usage)| (report, self.usage.clone().and(usage)));
        self.instance.verdict(&self.agent, judged)
    }

    fn pass(&mut self, text: &str) -> Result<Progress, Fault> {
        let (progress, usage) = self.instance.push(self.session, text)?;
        self.usage = self.usage.clone().and(usage);
        Ok(progress)
    }

    /// Returns the next chunk as text. Invalid UTF-8 is replaced exactly as in the whole output.
    fn text(&mut self, chunk: &[u8]) -> Result<String, Fault> {
        let before = self.bytes - self.pending.len();
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.instance.small_enough(self.bytes + self.evidence).map_err(Fault::so_far)?;
        let mut bytes = std::mem::take(&mut self.pending);
        bytes.extend_from_slice(chunk);
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    return Ok(text);
                }
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            let Some(length) = error.error_len() else {
                self.pending = after.to_vec();
                return Ok(text);
            };
            self.invalid_utf8.get_or_insert(offset(before + bytes.len() - after.len()));
            text.push('\u{fffd}');
            rest = &after[length..];
        }
    }
}

/// Returns an offset as `u32`. The gate rejects outputs whose offsets do not fit.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
