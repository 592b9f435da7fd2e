//! The inputs of a gate's core, and the effects that it requests.

use seamgate::{Action, EventKind, Fault, Record, Secret};

use super::{message::Message, policy::Policy};

/// A server of a gate, by its place in the list of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamId(pub usize);

/// Something that happened.
pub enum Input<'a> {
    /// The client wrote a line. The headers of the request that repeat arguments come with it, by their names in lower case. `None` where
    /// clients send no such headers: over standard input, and in a session.
    Downstream(&'a str, Option<&'a [(String, String)]>),
    /// The client wrote an invalid line of text, and why.
    DownstreamInvalid(&'a str),
    /// The client has ended the session.
    DownstreamEnded,
    /// A server wrote a line.
    Upstream(UpstreamId, &'a str),
    /// A server wrote an invalid line of text: its beginning, and why.
    UpstreamInvalid(UpstreamId, &'a str, &'a str),
    /// A server does not answer the request with this id: the reason, and whether the server may have acted on it.
    Unanswered(UpstreamId, &'a str, &'a str, bool),
    /// A server is up, and takes messages.
    UpstreamStarted(UpstreamId),
    /// A server has ended, or cannot be started, and why.
    UpstreamEnded(UpstreamId, &'a str),
    /// The run has taken the oldest [`Effect::Send`] without an outcome.
    Step(Outcome),
    /// Others appended to the run's journal.
    CaughtUp(Vec<Record>, Vec<Action>),
    /// The answer to the oldest [`Effect::ReadArtifact`] without one.
    Artifact(Result<String, String>),
    /// The run judges by another profile than before.
    ProfileEdited,
    /// Another run has begun for the same client, with this policy. The core must be [idle](super::Core::is_idle).
    RunBegan(Policy),
    /// Time has passed.
    Tick,
}

/// The outcome of an event.
pub enum Outcome {
    /// The run took it.
    Done {
        /// Its records.
        records: Vec<Record>,
        /// The actions to perform.
        actions: Vec<Action>,
        /// After an event that lists tools: the tools that the model may see, according to the kernel.
        surface: Option<String>,
    },
    /// The run rejects the event.
    Refused(Fault),
}

/// Something to do, in the order in which [`Core::poll`](super::Core::poll) returns it.
#[derive(Debug)]
pub enum Effect {
    /// Write a message to the client.
    ToDownstream(Message),
    /// Write a message to a server, with the values of these secrets in the arguments of its call.
    ToUpstream(UpstreamId, Message, Vec<Secret>),
    /// Start a server again.
    Start(UpstreamId),
    /// Let a server end by itself: nothing is sent to it any more.
    Close(UpstreamId),
    /// End a server now.
    Stop(UpstreamId),
    /// Send an event to the run. [`Input::Step`] has the outcome.
    Send(Box<EventKind>),
    /// Keep a text as an artifact of the run.
    KeepArtifact(String),
    /// Read an artifact of the run, by its digest. [`Input::Artifact`] has the answer.
    ReadArtifact(String),
    /// Report something to the person who reads standard error. The text is escaped.
    Warn(String),
    /// Ask for approval of a call of this tool, by its key: the person reads how.
    AskPerson(String, String),
    /// End the session.
    End(End),
}

/// The reason why a session ended.
#[derive(Debug)]
pub enum End {
    /// The client ended it.
    Client,
    /// The servers ended, or broke the protocol.
    Server(String),
    /// A signal told this process to end.
    Signal(i32),
}
