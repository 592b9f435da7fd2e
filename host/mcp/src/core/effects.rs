//! The inputs of a gate's core, and the effects that it requests.

use seamgate::{Action, EventKind, Fault, Record, Secret};

use super::{message::Message, policy::Policy};

/// A server of a gate, by its index in the list of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamId(pub usize);

/// Something that happened.
pub enum Input<'a> {
    /// The client wrote a line. If it came over HTTP without a session, the request's headers that repeat arguments
    /// come with it, by their names in lower case. `None` if clients send no such headers: over standard input, and in
    /// a session.
    Downstream(&'a str, Option<&'a [(String, String)]>),
    /// The client wrote a line that is not valid text. The text is the reason.
    DownstreamInvalid(&'a str),
    /// The client has ended the session.
    DownstreamEnded,
    /// A server wrote a line.
    Upstream(UpstreamId, &'a str),
    /// A server wrote a line that is not valid text. The texts are its beginning and the reason.
    UpstreamInvalid(UpstreamId, &'a str, &'a str),
    /// A server does not answer the request with this id. Contains the reason, and whether the server may have acted on
    /// the request.
    Unanswered(UpstreamId, &'a str, &'a str, bool),
    /// A server is running, and accepts messages.
    UpstreamStarted(UpstreamId),
    /// A server has ended, or cannot be started. The text is the reason.
    UpstreamEnded(UpstreamId, &'a str),
    /// The run has processed the oldest [`Effect::Send`] that has no outcome yet.
    Step(Outcome),
    /// Other processes appended to the run's journal.
    CaughtUp(Vec<Record>, Vec<Action>),
    /// The answer to the oldest [`Effect::ReadArtifact`] that has none yet.
    Artifact(Result<String, String>),
    /// The run now judges by an edited profile.
    ProfileEdited,
    /// Another run has begun for the same client, with this policy. The core must be [idle](super::Core::is_idle).
    RunBegan(Policy),
    /// Time has passed.
    Tick,
}

/// The outcome of an event.
pub enum Outcome {
    /// The run accepted the event.
    Done {
        /// The records of the step.
        records: Vec<Record>,
        /// The actions to perform.
        actions: Vec<Action>,
        /// After an event that lists tools: the tools that the model may see, according to the kernel.
        surface: Option<String>,
    },
    /// The run rejects the event.
    Refused(Fault),
}

/// An effect to perform, in the order in which [`Core::poll`](super::Core::poll) returns them.
#[derive(Debug)]
pub enum Effect {
    /// Write a message to the client.
    ToDownstream(Message),
    /// Write a message to a server, with the values of these secrets in the arguments of its call.
    ToUpstream(UpstreamId, Message, Vec<Secret>),
    /// Restart a server.
    Start(UpstreamId),
    /// Let a server end by itself. Nothing more is sent to it.
    Close(UpstreamId),
    /// Terminate a server now.
    Stop(UpstreamId),
    /// Send an event to the run. [`Input::Step`] has the outcome.
    Send(Box<EventKind>),
    /// Keep a text as an artifact of the run.
    KeepArtifact(String),
    /// Read an artifact of the run, by its digest. [`Input::Artifact`] has the answer.
    ReadArtifact(String),
    /// Report something to the person who reads standard error. The text is escaped.
    Warn(String),
    /// Ask a person to approve a call, given its key and its tool. The message explains how to do so.
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
    /// A signal asked this process to end.
    Signal(i32),
}
