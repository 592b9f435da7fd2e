//! A client of one server that speaks the Model Context Protocol, either over its standard input and output or at an
//! address. It lists tools and calls them. It offers the server nothing else: no sampling, no roots, no elicitation.
//!
//! <https://modelcontextprotocol.io/specification/2025-06-18>, and 2026-07-28 with servers that have no session

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use super::{
    connection::{Connection, Input, Target},
    remote::{Endpoint, Received},
};
use crate::{
    jsonrpc::{INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR, RpcError, one_line},
    process::{GRACE, Program, Stop, Wrote},
};

const PROTOCOL: &str = "2025-06-18";
/// The version for servers without sessions. Each request names it.
const STATELESS: &str = "2026-07-28";
/// The error code of a server that does not support the version of a request. The error names the versions that it
/// supports.
const UNSUPPORTED_VERSION: i64 = -32022;

/// The interval at which a call checks whether it was stopped.
const TICK: Duration = Duration::from_millis(50);
/// The longest time for a server to start and to list its tools.
pub const START: Duration = Duration::from_secs(30);
/// The most pages of a list.
pub const MAX_PAGES: usize = 100;
/// The most tools of a list.
pub const MAX_TOOLS: usize = 4096;

/// Returns this client's description of itself.
fn client() -> Value {
    json!({ "name": "seamgate", "version": env!("CARGO_PKG_VERSION") })
}

/// A client of one server. Dropping it terminates the server.
pub struct Client {
    connection: Connection,
    shared: Arc<Shared>,
    info: ServerInfo,
    /// `true` if the server has no sessions.
    is_stateless: bool,
}

/// A server's description of itself.
#[derive(Clone, Default)]
pub struct ServerInfo {
    /// Its name.
    pub name: Option<String>,
    /// Its capabilities, by name.
    pub capabilities: BTreeMap<String, Box<RawValue>>,
}

#[derive(Default)]
struct Shared {
    last: AtomicU64,
    /// Increases each time the server's tools may have changed, and when the server ends.
    generation: AtomicU64,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    has_ended: bool,
    /// The senders of answers, by the ids of requests in flight.
    waiting: HashMap<u64, Sender<Result<RpcAnswer, Unanswered>>>,
}

/// The answer to a request, which is a result or an error of the protocol.
type RpcAnswer = Result<Box<RawValue>, RpcError>;

/// The reason why a request has no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// The server ended before the request was sent.
    NotSent,
    /// The server ended.
    Ended,
    /// The answer took too long.
    Late,
    /// The caller stopped the request.
    Stopped,
    /// The server cannot be reached, or the connection broke off.
    Failed {
        /// A description.
        message: String,
        /// `true` if the server may have acted on the request.
        may_have_run: bool,
    },
}

/// The result of a call.
#[derive(Deserialize)]
pub struct CallResult {
    /// The parts of the result.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// The result as JSON.
    #[serde(rename = "structuredContent")]
    pub structured: Option<Box<RawValue>>,
    /// `true` if the tool reports that it failed.
    #[serde(rename = "isError", default)]
    pub is_error: bool,
    #[serde(rename = "resultType")]
    kind: Option<String>,
}

/// A part of a result.
#[derive(Deserialize)]
pub struct ContentBlock {
    r#type: String,
    text: Option<String>,
    data: Option<String>,
    uri: Option<String>,
    #[serde(rename = "mimeType")]
    mime: Option<String>,
    resource: Option<Box<Resource>>,
}

/// The resource inside a block.
#[derive(Deserialize)]
struct Resource {
    text: Option<String>,
    uri: Option<String>,
}

impl CallResult {
    /// Returns the text of all parts. A part that is not text is only named.
    pub fn text(&self) -> String {
        let part = |block: &ContentBlock| match (block.r#type.as_str(), &block.text, &block.resource) {
            ("text", Some(text), _) => text.clone(),
            ("resource", _, Some(resource)) => match &resource.text {
                Some(text) => text.clone(),
                None => format!("[resource {}]", resource.uri.as_deref().unwrap_or_default()),
            },
            (other, ..) => {
                let bytes =
                    block.data.as_ref().map(|data| format!(", {} bytes of Base64", data.len())).unwrap_or_default();
                let name = block.mime.as_deref().or(block.uri.as_deref()).unwrap_or_default();
                format!("[{other} {name}{bytes}]")
            }
        };
        self.content.iter().map(part).collect::<Vec<_>>().join("\n")
    }
}

impl Client {
    /// Starts a program, and negotiates the protocol.
    pub fn start(program: &Program) -> Result<Self, String> {
        Self::start_at(Target::Program(program))
    }

    /// Connects to a server at an address, and negotiates the protocol.
    pub fn connect(endpoint: &Endpoint) -> Result<Self, String> {
        Self::start_at(Target::Address(endpoint))
    }

    fn start_at(target: Target) -> Result<Self, String> {
        let shared = Arc::<Shared>::default();
        let reader = Arc::clone(&shared);
        let input = Arc::<OnceLock<Input>>::default();
        let own = Arc::clone(&input);
        let connection = Connection::start(target, move |received| {
            match received {
                Received::Wrote(Wrote::Line(line)) => reader.take(&line, own.get()),
                Received::Wrote(Wrote::NotText(_)) => tracing::warn!("a server wrote a line that is no message"),
                Received::Wrote(Wrote::Unended(_) | Wrote::TooLong | Wrote::End) => {
                    reader.end();
                    return false;
                }
                Received::Unanswered { id, message, may_have_run } => {
                    reader.answer(&id, Err(Unanswered::Failed { message, may_have_run }));
                }
            }
            true
        })?;
        let _ = input.set(connection.input());
        let mut server = Client { connection, shared, info: ServerInfo::default(), is_stateless: false };
        #[derive(Deserialize)]
        struct Hello {
            #[serde(default)]
            capabilities: BTreeMap<String, Box<RawValue>>,
            #[serde(rename = "serverInfo")]
            server: Option<Named>,
            #[serde(rename = "_meta", default)]
            meta: Meta,
        }
        #[derive(Default, Deserialize)]
        struct Meta {
            #[serde(rename = "io.modelcontextprotocol/serverInfo")]
            server: Option<Named>,
        }
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        // A server that is a program may fail on a request before `initialize`. A server at an address has a status for
        // each request, and if it has no sessions, it rejects requests that name no version.
        let said = match target {
            Target::Program(_) => server.initialize().or_else(|why| server.discover().map_err(|_| why)),
            Target::Address(_) => server.discover().or_else(|first| {
                let initialized = server.initialize();
                // Either error can be the helpful one, for example the one that says that the server requires a login.
                initialized
                    .map_err(|second| if why(&first) == why(&second) { second } else { format!("{first}; {second}") })
            }),
        }?;
        if let Ok(Hello { capabilities, server: named, meta }) = serde_json::from_str(said.get()) {
            server.info = ServerInfo { name: named.or(meta.server).map(|named| named.name), capabilities };
        }
        if !server.is_stateless {
            server.write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        } else if server.tells_changes() {
            // Nobody waits for this answer, which comes when the server ends.
            let id = server.shared.last.fetch_add(1, Ordering::SeqCst) + 1;
            let params = json!({ "_meta": server.meta(), "notifications": { "toolsListChanged": true } });
            let listen = json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
            server.write(listen.to_string());
        }
        Ok(server)
    }

    /// Opens a session.
    fn initialize(&mut self) -> Result<Box<RawValue>, String> {
        self.is_stateless = false;
        let hello = json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client() });
        self.ask("initialize", &hello)
    }

    /// Asks a server without sessions for its description.
    fn discover(&mut self) -> Result<Box<RawValue>, String> {
        #[derive(Deserialize)]
        struct Discovered {
            #[serde(rename = "supportedVersions", default)]
            versions: Vec<String>,
        }
        self.is_stateless = true;
        let said = self.ask("server/discover", &json!({}))?;
        // Some servers with sessions answer unknown requests with an empty result.
        match serde_json::from_str(said.get()) {
            Ok(Discovered { versions }) if versions.iter().any(|version| version == STATELESS) => Ok(said),
            _ => Err(format!("server/discover: the server does not say that it speaks {STATELESS}")),
        }
    }

    /// Returns whether the server declares that it reports changes of its tools.
    fn tells_changes(&self) -> bool {
        #[derive(Default, Deserialize)]
        struct Tools {
            #[serde(rename = "listChanged", default)]
            tells_changes: bool,
        }
        let tools = self.info.capabilities.get("tools");
        let tools: Tools = tools.and_then(|tools| serde_json::from_str(tools.get()).ok()).unwrap_or_default();
        tools.tells_changes
    }

    /// Returns `_meta` for each request. Without a session, it describes this client.
    fn meta(&self) -> serde_json::Map<String, Value> {
        let mut meta = serde_json::Map::new();
        if self.is_stateless {
            for (name, value) in
                [("protocolVersion", json!(STATELESS)), ("clientInfo", client()), ("clientCapabilities", json!({}))]
            {
                meta.insert(format!("io.modelcontextprotocol/{name}"), value);
            }
        }
        meta
    }

    /// Returns the server's description of itself.
    pub fn info(&self) -> ServerInfo {
        self.info.clone()
    }

    /// Terminates several servers at once. They share one [`GRACE`] to end by themselves.
    pub fn end_all<'c>(clients: impl IntoIterator<Item = &'c Client>) {
        let connections: Vec<&Connection> = clients.into_iter().map(|client| &client.connection).collect();
        Connection::end_all(&connections, GRACE);
    }

    /// Returns a message that the server ended, and how, if that is known.
    pub fn how_it_ended(&self) -> String {
        format!("the server {}", self.connection.exit().as_deref().unwrap_or("ended"))
    }

    /// Sends a message. The message is lost if the server has ended or does not read.
    fn write(&self, line: String) {
        let _ = self.connection.push(line);
    }

    /// Returns a number that increases when the tools may have changed.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::SeqCst)
    }

    /// Returns the definitions of the server's tools, as the server lists them.
    pub fn tools(&self) -> Result<Vec<Box<RawValue>>, String> {
        #[derive(Deserialize)]
        struct Page {
            tools: Vec<Box<RawValue>>,
            #[serde(rename = "nextCursor")]
            next: Option<String>,
        }
        let (mut tools, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let page = self.ask("tools/list", &params)?;
            let page: Page = serde_json::from_str(page.get()).map_err(|error| format!("tools/list: {error}"))?;
            tools.extend(page.tools);
            if tools.len() > MAX_TOOLS {
                return Err(format!("tools/list: it has more than {MAX_TOOLS} tools"));
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(format!("tools/list: it has more than {MAX_PAGES} pages"))
    }

    /// Calls a tool with exactly these arguments. Line ends between values become spaces, because a line end would end
    /// the message.
    pub fn call(
        &self,
        tool: &str,
        arguments: &str,
        idempotency_key: &str,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<Result<CallResult, RpcError>, Unanswered> {
        #[derive(Serialize)]
        struct Params<'p> {
            name: &'p str,
            arguments: &'p RawValue,
            #[serde(rename = "_meta")]
            meta: serde_json::Map<String, Value>,
        }
        let invalid = |message: String| Ok(Err(RpcError::new(PARSE_ERROR, message)));
        let arguments = one_line(arguments.to_owned());
        let Ok(arguments) = serde_json::from_str::<&RawValue>(&arguments) else {
            return invalid("the arguments are not JSON".to_owned());
        };
        let mut meta = self.meta();
        meta.insert("seamgate.dev/idempotency-key".to_owned(), json!(idempotency_key));
        let answer = self.request("tools/call", &Params { name: tool, arguments, meta }, timeout, stop)?;
        match answer.map(|result| serde_json::from_str(result.get())) {
            // The server knows that this client cannot answer requests.
            Ok(Ok(CallResult { kind: Some(kind), .. })) if kind != "complete" => {
                invalid(format!("the server's answer is of the type {kind:?}, which nobody asked for"))
            }
            Ok(Ok(called)) => Ok(Ok(called)),
            Ok(Err(error)) => invalid(format!("the server's answer is no result of a tool: {error}")),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Sends a request that every server must answer.
    fn ask(&self, method: &str, params: &Value) -> Result<Box<RawValue>, String> {
        let mut params = params.clone();
        if self.is_stateless {
            params["_meta"] = self.meta().into();
        }
        let mut answer = self.request(method, &params, START, &Stop::default());
        if self.is_stateless && matches!(&answer, Ok(Err(error)) if supports_version(error)) {
            answer = self.request(method, &params, START, &Stop::default());
        }
        match answer {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(RpcError { code, message, .. })) => Err(format!("{method}: error {code}: {message}")),
            Err(Unanswered::Late) => Err(format!("{method}: no answer within {} s", START.as_secs())),
            Err(Unanswered::Failed { message, .. }) => Err(format!("{method}: {message}")),
            Err(_) => Err(format!("{method}: {}", self.how_it_ended())),
        }
    }

    fn request(
        &self,
        method: &str,
        params: &impl Serialize,
        timeout: Duration,
        stop: &Stop,
    ) -> Result<RpcAnswer, Unanswered> {
        #[derive(Serialize)]
        struct Request<'r, P> {
            jsonrpc: &'r str,
            id: u64,
            method: &'r str,
            params: &'r P,
        }
        let id = self.shared.last.fetch_add(1, Ordering::SeqCst) + 1;
        let line = serde_json::to_string(&Request { jsonrpc: "2.0", id, method, params }).unwrap_or_default();
        let (sender, answer) = mpsc::channel();
        {
            let mut pending = self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner);
            if pending.has_ended {
                return Err(Unanswered::NotSent);
            }
            pending.waiting.insert(id, sender);
        }
        self.write(line);
        let start = Instant::now();
        let why = loop {
            let left = timeout.saturating_sub(start.elapsed());
            match answer.recv_timeout(left.min(TICK)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Ended),
                Err(RecvTimeoutError::Timeout) if stop.is_asked() => break Unanswered::Stopped,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => break Unanswered::Late,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        self.shared.pending.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
        let params = json!({ "requestId": id, "reason": "the run ended the call" });
        self.write(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
        Err(why)
    }
}

/// Returns an error message without the method that it begins with.
fn why(error: &str) -> &str {
    error.split_once(": ").map_or(error, |(_, why)| why)
}

/// Returns whether a server rejects the version of a request, but names that version as supported. Some of these
/// servers then accept the request.
fn supports_version(error: &RpcError) -> bool {
    #[derive(Default, Deserialize)]
    struct Data {
        #[serde(default)]
        supported: Vec<String>,
    }
    let data = error.data.as_ref().filter(|_| error.code == UNSUPPORTED_VERSION);
    let data: Data = data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
    data.supported.iter().any(|version| version == STATELESS)
}

impl Shared {
    /// Processes a line of the server. Skips lines that are not messages, because some servers write logs to the same
    /// stream.
    fn take(&self, line: &str, input: Option<&Input>) {
        #[derive(Deserialize)]
        struct Message {
            id: Option<Box<RawValue>>,
            method: Option<String>,
            result: Option<Box<RawValue>>,
            error: Option<RpcError>,
        }
        let Ok(Message { id, method, result, error }) = serde_json::from_str(line) else {
            tracing::warn!("a server wrote a line that is no message");
            return;
        };
        match (method, id) {
            (Some(method), Some(id)) => {
                let id = id.get();
                let answer = match method.as_str() {
                    "ping" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
                    _ => format!(
                        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{METHOD_NOT_FOUND},"message":"Method not found"}}}}"#
                    ),
                };
                // There is no input if the server has ended, or if it sends a request before it has received anything.
                let _ = input.map(|input| input.push(answer));
            }
            (Some(method), None) => {
                if method == "notifications/tools/list_changed" {
                    self.generation.fetch_add(1, Ordering::SeqCst);
                }
            }
            (None, Some(id)) => {
                let answer = match (result, error) {
                    (_, Some(error)) => Err(error),
                    (Some(result), None) => Ok(result),
                    (None, None) => Err(RpcError::new(INTERNAL_ERROR, "neither result nor error")),
                };
                self.answer(id.get(), Ok(answer));
            }
            (None, None) => {}
        }
    }

    /// Passes an answer to the thread that waits for it.
    fn answer(&self, id: &str, answer: Result<RpcAnswer, Unanswered>) {
        let Ok(id) = id.parse::<u64>() else { return };
        let waiting = self.pending.lock().unwrap_or_else(PoisonError::into_inner).waiting.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    }

    /// Ends all waits, because the server has ended.
    fn end(&self) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.has_ended = true;
        pending.waiting.clear();
        self.generation.fetch_add(1, Ordering::SeqCst);
    }
}
