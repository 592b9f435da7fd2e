//! A server of the gate: a process that is not trusted, and what was asked of it.

use std::{
    collections::BTreeMap,
    sync::mpsc::SyncSender,
    time::{Duration, Instant},
};

use seamgate_runner::process::{Refused, Service, Wrote};

use super::{catalog::Listed, gate::Input, launch::Launch};

/// The most messages that a server may send unasked at once, and the further ones for each second.
const MAX_UNASKED: f64 = 10_000.0;
const UNASKED_PER_SECOND: f64 = 1_000.0;

/// The most invalid lines of a server that are skipped.
const MAX_MALFORMED: usize = 100;

/// A request that a server has not answered.
pub(super) enum Asked {
    /// A call, by the run's key.
    Call { key: String, since: Instant },
    /// A request of the client, which gets the answer.
    Forwarded { method: String },
    /// The first request, of our own: there are several servers.
    Initialize,
    /// A page of its tools.
    List,
    /// To say when its tools change.
    Listen,
    /// A question about a task, by its id.
    Task { task: String },
}

/// A running server.
pub(super) struct Upstream {
    pub(super) name: String,
    service: Service,
    /// By ids, as they are written.
    pub(super) asked: BTreeMap<String, Asked>,
    /// True if the server says that it has tools. `None` before it was asked.
    pub(super) has_tools: Option<bool>,
    /// True if it may report changes of its tools, and was asked to; the id of that subscription.
    pub(super) tells_changes: bool,
    pub(super) is_subscribed: bool,
    pub(super) subscription: Option<String>,
    pub(super) listed: Listed,
    /// Why it gives no more answers.
    pub(super) ended: Option<String>,
    malformed: usize,
    unasked: f64,
    unasked_at: Instant,
}

impl Upstream {
    /// Start a server. What it writes comes to the gate.
    pub(super) fn start(launch: &Launch, number: usize, sender: SyncSender<Input>) -> Result<Self, String> {
        let program = launch.program();
        // The channel has a bound: a server that floods us waits.
        let service = Service::start(&program, move |wrote| {
            let is_last = matches!(wrote, Wrote::End);
            sender.send(Input::Server(number, wrote)).is_ok() && !is_last
        });
        let service = service.map_err(|error| format!("cannot run {}: {error}", program.name()))?;
        Ok(Upstream {
            name: launch.name.clone(),
            service,
            asked: BTreeMap::new(),
            has_tools: None,
            tells_changes: true,
            is_subscribed: false,
            subscription: None,
            listed: Listed::default(),
            ended: None,
            malformed: 0,
            unasked: 0.0,
            unasked_at: Instant::now(),
        })
    }

    /// Returns the server's name for messages.
    pub(super) fn told(&self) -> String {
        if self.name.is_empty() { "the server".to_owned() } else { format!("the server {:?}", self.name) }
    }

    /// Send it a line. An error says why it gets none.
    pub(super) fn write(&self, line: String) -> Result<(), String> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        self.service.input().push(line).map_err(|refused| match refused {
            Refused::Full => format!("{} does not read what it is sent", self.told()),
            Refused::Broken => format!("{} has closed its input", self.told()),
        })
    }

    /// Ask it something under an id.
    pub(super) fn ask(&mut self, id: &str, line: String, asked: Asked) -> Result<(), String> {
        self.write(line)?;
        self.asked.insert(id.to_owned(), asked);
        Ok(())
    }

    /// Nothing is sent to it any more, so that it ends by itself.
    pub(super) fn close(&self) {
        self.service.input().close();
    }

    /// End its process.
    pub(super) fn end(&self, grace: Duration) {
        self.service.end_after(grace);
    }

    /// Count a message that answers nothing. An error says that there are too many.
    pub(super) fn count_unasked(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let passed = now.duration_since(self.unasked_at).as_secs_f64();
        self.unasked_at = now;
        self.unasked = (self.unasked - passed * UNASKED_PER_SECOND).max(0.0) + 1.0;
        if self.unasked > MAX_UNASKED {
            return Err(format!("{} floods the client with messages that nobody asked for", self.told()));
        }
        Ok(())
    }

    /// Count a line that is no message. An error says that there are too many.
    pub(super) fn count_malformed(&mut self) -> Result<(), String> {
        self.malformed += 1;
        if self.malformed > MAX_MALFORMED {
            return Err(format!("{} writes lines that are no messages", self.told()));
        }
        Ok(())
    }
}
