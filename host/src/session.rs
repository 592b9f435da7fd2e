//! An output that is still coming, in an instance of its own.

use wasmtime::component::ResourceAny;

use crate::{
    fault::Fault,
    gate::{Gate, Instance, Verdict},
    limits::Usage,
    report::{Finish, Progress},
    request::Request,
};

/// An output that is still coming: chunks in, the verdict at the end. In flight nothing is judged but what can no longer
/// become right, and items are told as each completes.
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
    gate: &'g Gate,
    instance: Instance<'g>,
    session: ResourceAny,
    agent: String,
    /// Bytes that came.
    bytes: usize,
    /// The beginning of a character of which the rest has not come.
    pending: Vec<u8>,
    invalid_utf8: Option<u32>,
    usage: Usage,
}

impl<'g> Session<'g> {
    pub(crate) fn open(gate: &'g Gate, request: &Request) -> Result<Self, Fault> {
        let mut instance = gate.instance();
        let (session, usage) = instance.open(request)?;
        let agent = request.agent().to_owned();
        let mut session =
            Session { gate, instance, session, agent, bytes: 0, pending: Vec::new(), invalid_utf8: None, usage };
        session.push(request.output().as_bytes())?;
        Ok(session)
    }

    /// Take what came next: any bytes, cut anywhere.
    ///
    /// # Errors
    ///
    /// A limit was passed; [`Fault::InputTooLarge`] as soon as the output is longer than the gate takes. The session has
    /// ended then.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Progress, Fault> {
        let text = self.text(chunk)?;
        self.pass(&text)
    }

    /// The verdict, as [`Gate::validate`] gives it for all that came; its usage is that of all calls.
    ///
    /// # Errors
    ///
    /// As for [`Gate::validate`].
    pub fn finish(mut self, finish: Finish) -> Result<Verdict, Fault> {
        if !self.pending.is_empty() {
            self.invalid_utf8.get_or_insert(offset(self.bytes - self.pending.len()));
            self.pass("\u{fffd}")?;
        }
        let judged = self.instance.finish(self.session, self.bytes, (finish, self.invalid_utf8));
        let judged = judged.map(|(report, usage)| (report, self.usage.clone().and(usage)));
        self.gate.verdict(&self.agent, judged)
    }

    fn pass(&mut self, text: &str) -> Result<Progress, Fault> {
        let (progress, usage) = self.instance.push(self.session, text)?;
        self.usage = self.usage.clone().and(usage);
        Ok(progress)
    }

    /// The next chunk as text, replacements in it where it is not UTF-8: the same as in the whole output.
    fn text(&mut self, chunk: &[u8]) -> Result<String, Fault> {
        let before = self.bytes - self.pending.len();
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.gate.small_enough(self.bytes).map_err(Fault::so_far)?;
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

/// Outputs that are longer than an offset are refused for their size.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
