//! The harnesses: how to read their messages, and the form of the answers.

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest message, in bytes.
pub(crate) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// A coding harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode. Its plugin sends messages in a format of its own.
    Opencode,
}

/// A message of a harness.
#[derive(Debug)]
pub(crate) struct Message {
    /// The id of the session.
    pub(crate) session: String,
    /// The working folder.
    pub(crate) folder: String,
    pub(crate) event: Event,
}

/// The event of a message.
#[derive(Debug)]
pub(crate) enum Event {
    /// A session starts or continues.
    Start,
    /// A session ends. It may be resumed.
    End,
    /// The user's prompt.
    Prompt(String),
    /// A tool is about to run.
    Before(Call),
    /// A tool ran, or failed with a text.
    After(Call, Result<Value, String>),
    /// Anything else.
    Other,
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct Call {
    /// The harness' id of the call, if it has one.
    pub(crate) id: Option<String>,
    /// The MCP server that provides the tool. Empty for the harness itself.
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
}

/// The decision about a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The hook has no objection or answer.
    Nothing,
    Allow,
    /// The user of the harness must approve the call.
    Ask(String),
    Deny(String),
    /// The result of a call must not be shown. This text replaces it.
    Rejected(String),
}

/// The members of all messages. Other members are ignored.
#[derive(Deserialize)]
struct Raw {
    #[serde(alias = "sessionID")]
    session_id: String,
    #[serde(default)]
    cwd: String,
    hook_event_name: String,
    #[serde(default, alias = "callID")]
    tool_use_id: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Value>,
    tool_response: Option<Value>,
    tool_result: Option<Value>,
    mcp_context: Option<McpContext>,
    error: Option<Value>,
    prompt: Option<String>,
}

#[derive(Deserialize)]
struct McpContext {
    server_name: Option<String>,
    tool_name: Option<String>,
}

impl Harness {
    /// All harnesses.
    pub const ALL: [Harness; 5] =
        [Harness::Claude, Harness::Codex, Harness::Gemini, Harness::Copilot, Harness::Opencode];

    /// Returns the name of the harness in commands.
    pub fn word(self) -> &'static str {
        match self {
            Harness::Claude => "claude",
            Harness::Codex => "codex",
            Harness::Gemini => "gemini",
            Harness::Copilot => "copilot",
            Harness::Opencode => "opencode",
        }
    }

    /// Returns whether a hook can make the harness ask its user.
    pub(crate) fn can_ask(self) -> bool {
        matches!(self, Harness::Claude | Harness::Copilot)
    }

    /// Parses a message. The error describes what is wrong.
    pub(crate) fn read(self, input: &[u8]) -> Result<Message, String> {
        if input.len() > MAX_MESSAGE {
            return Err(format!("invalid hook message: it is longer than {MAX_MESSAGE} bytes"));
        }
        let named =
            "expected the JSON object that the harness gives a hook, with \"hook_event_name\" and \"session_id\"";
        // serde would read a list as the members in their order.
        if input.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err(format!("invalid hook message: {named}"));
        }
        let raw: Raw =
            serde_json::from_slice(input).map_err(|error| format!("invalid hook message: {error}; {named}"))?;
        let is_after = matches!(raw.hook_event_name.as_str(), "PostToolUse" | "AfterTool" | "PostToolUseFailure");
        let event = match raw.hook_event_name.as_str() {
            "SessionStart" => Event::Start,
            "SessionEnd" => Event::End,
            "UserPromptSubmit" | "BeforeAgent" => Event::Prompt(raw.prompt.unwrap_or_default()),
            "PreToolUse" | "BeforeTool" | "PostToolUse" | "AfterTool" | "PostToolUseFailure" => {
                let name = raw.tool_name.ok_or("invalid hook message: a call of a tool must have \"tool_name\"")?;
                let (server, tool) = match raw.mcp_context {
                    Some(McpContext { server_name: Some(server), tool_name: Some(tool) }) => (server, tool),
                    _ => parts(&name),
                };
                let input = raw.tool_input.unwrap_or_else(|| json!({}));
                let call = Call { id: raw.tool_use_id, server, tool, input };
                match is_after {
                    false => Event::Before(call),
                    true => Event::After(call, self.result(raw.tool_response, raw.tool_result, raw.error)),
                }
            }
            _ => Event::Other,
        };
        if raw.session_id.is_empty() {
            return Err("invalid hook message: \"session_id\" is empty".to_owned());
        }
        Ok(Message { session: raw.session_id, folder: raw.cwd, event })
    }

    /// Returns the result of a tool.
    fn result(self, response: Option<Value>, result: Option<Value>, error: Option<Value>) -> Result<Value, String> {
        if let Some(error) = error.filter(|error| !error.is_null()) {
            return Err(text_of(error));
        }
        let mut response = response.or(result).unwrap_or(Value::Null);
        if self == Harness::Gemini {
            if let Some(error) = response.get_mut("error").map(Value::take).filter(|error| !error.is_null()) {
                return Err(text_of(error));
            }
            response = response.get_mut("llmContent").map(Value::take).unwrap_or(response);
        }
        if self == Harness::Copilot {
            response = response.get_mut("text_result_for_llm").map(Value::take).unwrap_or(response);
        }
        Ok(response)
    }

    /// Returns the answer in the form that the harness expects.
    pub(crate) fn answer(self, message: &Message, verdict: &Verdict) -> String {
        let answer = match (&message.event, verdict) {
            (_, Verdict::Nothing) => return String::new(),
            (Event::Before(_), verdict) => self.decision(verdict),
            (Event::After(..), Verdict::Rejected(text) | Verdict::Deny(text)) => Some(match self {
                Harness::Claude | Harness::Codex => json!({"decision": "block", "reason": text}),
                Harness::Gemini => json!({"decision": "deny", "reason": text}),
                Harness::Copilot => {
                    json!({"modifiedResult": {"resultType": "success", "textResultForLlm": text}})
                }
                Harness::Opencode => json!({"output": text}),
            }),
            (Event::Prompt(_), Verdict::Deny(why)) => Some(match self {
                Harness::Gemini => json!({"decision": "deny", "reason": why}),
                _ => json!({"decision": "block", "reason": why}),
            }),
            // A session starts in any case, and its first call is denied.
            (_, Verdict::Deny(why)) => Some(json!({"systemMessage": why})),
            _ => None,
        };
        answer.map(|answer| answer.to_string()).unwrap_or_default()
    }

    /// Returns the answer to a message before a call.
    fn decision(self, verdict: &Verdict) -> Option<Value> {
        let (word, reason) = match verdict {
            Verdict::Nothing => return None,
            Verdict::Allow => ("allow", ""),
            Verdict::Ask(why) if self.can_ask() => ("ask", why.as_str()),
            Verdict::Ask(why) | Verdict::Deny(why) | Verdict::Rejected(why) => ("deny", why.as_str()),
        };
        match self {
            // The harness accepts no other word.
            Harness::Codex if word != "deny" => None,
            Harness::Claude | Harness::Codex if reason.is_empty() => {
                Some(json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word}}))
            }
            Harness::Claude | Harness::Codex => Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason
            }})),
            Harness::Copilot if reason.is_empty() => Some(json!({"permissionDecision": word})),
            Harness::Copilot => Some(json!({"permissionDecision": word, "permissionDecisionReason": reason})),
            Harness::Gemini | Harness::Opencode if reason.is_empty() => Some(json!({"decision": word})),
            Harness::Gemini | Harness::Opencode => Some(json!({"decision": word, "reason": reason})),
        }
    }
}

/// Splits the name of a tool into its server and its name: `mcp__SERVER__TOOL`, or a tool of the harness.
fn parts(name: &str) -> (String, String) {
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => (server.to_owned(), tool.to_owned()),
        _ => (String::new(), name.to_owned()),
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
