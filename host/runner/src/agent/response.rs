//! Reads responses in the chat-completions form. Servers differ in details, so every known form of the same content is
//! accepted.

use seamgate::{Finish, ModelCall, TokenUsage};
use seamgate_text::shorten;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::event::{Answer, arguments};

/// The longest text of a server in a message, in characters.
const MAX_SHOWN: usize = 300;

/// The reason why a response has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoCompletion {
    /// The model wrote something invalid, which the run reports to it.
    Invalid(String),
    /// The server failed. `status` is the HTTP status in its error, if it has one.
    Failed { status: Option<u16>, message: String },
}

/// Returns the server and the tool that a name in a response represents.
pub(super) type Named<'r> = &'r dyn Fn(&str) -> (Option<String>, String);

/// Reads a response. `named` returns the server and the tool that a name represents.
///
/// # Errors
///
/// The response is an error, or not a chat completion with a choice; or the model's calls cannot be read.
pub(super) fn read(response: &str, named: Named) -> Result<Answer, NoCompletion> {
    #[derive(Deserialize)]
    struct Response {
        #[serde(default)]
        choices: Option<Vec<Choice>>,
        #[serde(default)]
        usage: Value,
        #[serde(default)]
        error: Value,
    }
    #[derive(Deserialize)]
    struct Choice {
        message: Option<Box<RawValue>>,
        #[serde(default)]
        finish_reason: Value,
        #[serde(default)]
        error: Value,
    }
    let wrong = |why: &dyn std::fmt::Display| NoCompletion::Failed {
        status: None,
        message: format!("expected a chat completion: {why}: {}", shown(response)),
    };
    let Response { choices, usage, error } = serde_json::from_str(response).map_err(|error| wrong(&error))?;
    if !error.is_null() {
        return Err(failed(&error));
    }
    let Some(Choice { message, finish_reason, error }) = choices.into_iter().flatten().next() else {
        return Err(wrong(&"it has no choice"));
    };
    if !error.is_null() {
        return Err(failed(&error));
    }
    let Some(message) = message else { return Err(wrong(&"its choice has no message")) };
    let said: Value = serde_json::from_str(message.get()).map_err(|error| wrong(&error))?;
    if !said.is_object() {
        return Err(wrong(&"its message must be an object"));
    }
    let refusal = said["refusal"].as_str().map(str::to_owned).or_else(|| parts(&said["content"], "refusal"));
    let text = parts(&said["content"], "text").or_else(|| refusal.clone());
    let calls = calls(&said, named)?;
    let finish = match (finish_reason.as_str(), &refusal) {
        (_, Some(_)) => Finish::Refusal,
        (Some("stop"), _) => Finish::Stop,
        (Some("length"), _) => Finish::Length,
        (Some("content_filter"), _) => Finish::ContentFilter,
        (Some("tool_calls" | "function_call"), _) => Finish::ToolCall,
        _ => Finish::Unknown,
    };
    Ok(Answer {
        text,
        // The server needs its own message back if the message has more than text.
        message: (!calls.is_empty()).then(|| message.into()),
        calls: Some(calls).filter(|calls| !calls.is_empty()),
        finish: Some(finish),
        usage: tokens(&usage),
    })
}

/// Reads an error that a server sends instead of a completion, or inside one.
fn failed(error: &Value) -> NoCompletion {
    let number = |value: &Value| match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_u64(),
    };
    let status = ["code", "status", "status_code", "http_status"].into_iter().find_map(|name| number(&error[name]));
    let status = status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status));
    let words = error.as_str().or_else(|| error["message"].as_str());
    let message = words.map_or_else(|| shown(&error.to_string()), shown);
    NoCompletion::Failed { status, message: format!("the server says: {message}") }
}

/// Returns a server's text on one line.
pub(super) fn shown(text: &str) -> String {
    // This is enough text, no matter how long a server's page is.
    let start = &text[..text.floor_char_boundary(16 * MAX_SHOWN)];
    shorten(&start.split_whitespace().collect::<Vec<_>>().join(" "), MAX_SHOWN)
}

/// Returns the text of a content, which is a string, or a list with parts of one type.
fn parts(content: &Value, kind: &str) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()).filter(|_| kind == "text"),
        Value::Array(parts) => {
            let part = |part: &Value| match part {
                Value::String(text) if kind == "text" => Some(text.clone()),
                // Some servers use another name for the type, such as "output_text".
                part if part["type"].as_str().is_none_or(|named| named.ends_with(kind)) => {
                    part[kind].as_str().map(str::to_owned)
                }
                _ => None,
            };
            let parts: Vec<String> = parts.iter().filter_map(part).collect();
            (!parts.is_empty()).then(|| parts.concat())
        }
        part => part[kind].as_str().map(str::to_owned),
    }
}

/// Returns the calls in a message, from `tool_calls` or the older `function_call`.
fn calls(said: &Value, named: Named) -> Result<Vec<ModelCall>, NoCompletion> {
    let listed = said["tool_calls"].as_array().into_iter().flatten();
    let calls = listed.map(|call| (&call["id"], if call["function"].is_object() { &call["function"] } else { call }));
    let older = Some((&Value::Null, &said["function_call"])).filter(|(_, function)| function.is_object());
    calls
        .chain(older)
        .map(|(id, function)| {
            let Some(name) = function["name"].as_str() else {
                return Err(NoCompletion::Invalid("invalid answer: a tool call must have a name".to_owned()));
            };
            let (server, tool) = named(name);
            let id = match id {
                Value::Null => None,
                Value::String(id) => Some(id.clone()),
                other => Some(other.to_string()),
            };
            let given = arguments(function.get("arguments"));
            let arguments = given.map_err(|error| NoCompletion::Invalid(format!("invalid answer: {error}")))?;
            Ok(ModelCall { id, server, tool, arguments })
        })
        .collect()
}

/// Returns the token counts, if the server reports both.
fn tokens(usage: &Value) -> Option<TokenUsage> {
    let number = |name: &str| {
        let value = &usage[name];
        let whole = |number: f64| (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
        value.as_u64().or_else(|| value.as_f64().and_then(whole))
    };
    Some(TokenUsage {
        input: Some(number("prompt_tokens").or_else(|| number("input_tokens"))?),
        output: Some(number("completion_tokens").or_else(|| number("output_tokens")).unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_value(response: &Value) -> Result<Answer, NoCompletion> {
        read(&response.to_string(), &|name| (Some("s".to_owned()), name.to_owned()))
    }

    fn said(message: &Value) -> Answer {
        read_value(&json!({ "choices": [{ "message": message, "finish_reason": "stop" }] })).expect("an answer")
    }

    #[test]
    fn every_shape_of_arguments_is_taken() {
        for (arguments, expected) in [
            (json!(""), "{}"),
            (json!(" \n"), "{}"),
            (json!(null), "{}"),
            (json!({}), "{}"),
            (json!({ "q": 1 }), r#"{"q":1}"#),
            (json!("{\"q\": 1}"), r#""{\"q\": 1}""#),
            (json!("{\"q\": 1"), r#""{\"q\": 1""#),
            (json!([1]), r#""[1]""#),
            (json!(3), r#""3""#),
        ] {
            let function = json!({ "name": "look", "arguments": arguments });
            let calls =
                json!([{ "id": "a", "function": function }, { "id": 7, "name": "look", "arguments": arguments }]);
            for (message, ids) in [
                (json!({ "content": null, "tool_calls": calls }), &[Some("a"), Some("7")][..]),
                (json!({ "content": null, "tool_calls": null, "function_call": function }), &[None]),
            ] {
                let calls = said(&message).calls.expect("calls");
                assert_eq!(calls.iter().map(|call| call.id.as_deref()).collect::<Vec<_>>(), ids);
                assert!(calls.iter().all(|call| call.arguments.as_str() == expected), "{arguments}: {calls:?}");
            }
        }
        let missing = said(&json!({ "tool_calls": [{ "function": { "name": "look" } }] }));
        assert_eq!(missing.calls.expect("calls")[0].arguments.as_str(), "{}");
        let nameless = json!({ "choices": [{ "message": { "tool_calls": [{ "function": {} }] } }] });
        assert!(matches!(read_value(&nameless), Err(NoCompletion::Invalid(_))));
    }

    #[test]
    fn every_shape_of_content_is_taken() {
        for (content, expected) in [
            (json!("a"), Some("a")),
            (json!(""), Some("")),
            (json!(null), None),
            (json!([]), None),
            (json!([{ "type": "text", "text": "a" }, { "type": "image_url", "image_url": {} }]), Some("a")),
            (json!([{ "type": "output_text", "text": "a" }, "b", { "text": "c" }]), Some("abc")),
            (json!([{ "type": "thinking", "thinking": "x" }]), None),
            (json!({ "type": "text", "text": "a" }), Some("a")),
        ] {
            assert_eq!(said(&json!({ "content": content })).text.as_deref(), expected, "{content}");
        }
        for refused in [
            json!({ "content": null, "refusal": "No." }),
            json!({ "content": [{ "type": "refusal", "refusal": "No." }] }),
        ] {
            let answer = said(&refused);
            assert_eq!((answer.text.as_deref(), answer.finish), (Some("No."), Some(Finish::Refusal)));
        }
    }

    #[test]
    fn an_error_is_the_servers_wherever_it_stands() {
        let (limit, words) = ("Rate limit exceeded", "the server says: Rate limit exceeded");
        for (error, status, message) in [
            (json!({ "message": limit, "code": 429 }), Some(429), words),
            (json!({ "message": limit, "code": "429" }), Some(429), words),
            (json!({ "message": limit, "code": "rate_limit_exceeded", "status": 503 }), Some(503), words),
            (json!({ "message": limit, "code": 1302 }), None, words),
            (json!({ "message": limit, "code": null }), None, words),
            (json!(limit), None, words),
            (json!({ "detail": "x" }), None, "the server says: {\"detail\":\"x\"}"),
        ] {
            let expected = Err(NoCompletion::Failed { status, message: message.to_owned() });
            for response in [
                json!({ "error": error }),
                json!({ "error": error, "choices": [] }),
                json!({ "error": error, "choices": [{ "message": { "content": "" } }] }),
                json!({ "choices": [{ "finish_reason": "error", "error": error }] }),
                json!({ "choices": [{ "message": { "content": "half" }, "error": error }] }),
            ] {
                assert_eq!(read_value(&response).map(|_| ()), expected, "{response}");
            }
        }
        let answered = json!({ "error": null, "choices": [{ "error": null, "message": { "content": "a" } }] });
        assert!(read_value(&answered).is_ok());
    }

    #[test]
    fn what_is_no_completion_is_shown() {
        for wrong in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"choices":[]}"#,
            r#"{"choices":null}"#,
            r#"{"choices":[{"message":3}]}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[null]}"#,
            "<html>\n<h1>Bad gateway</h1>",
            "data: {\"choices\":[]}\n\n",
        ] {
            match read(wrong, &|name| (None, name.to_owned())) {
                Err(NoCompletion::Failed { status: None, message }) => {
                    assert!(message.contains(&shown(wrong)), "{message}");
                }
                other => panic!("{wrong}: {other:?}"),
            }
        }
        assert!(shown(&"a ".repeat(100_000)).len() < 2 * MAX_SHOWN);
    }

    #[test]
    fn tokens_are_counted_where_the_server_counts() {
        let both = Some(TokenUsage { input: Some(10), output: Some(2) });
        for (usage, expected) in [
            (json!({ "prompt_tokens": 10, "completion_tokens": 2 }), both.clone()),
            (json!({ "prompt_tokens": 10.0, "completion_tokens": 2.0 }), both.clone()),
            (json!({ "input_tokens": 10, "output_tokens": 2 }), both),
            (json!({ "prompt_tokens": 10 }), Some(TokenUsage { input: Some(10), output: Some(0) })),
            (json!({ "completion_tokens": 2 }), None),
            (json!({ "prompt_tokens": -1 }), None),
            (json!({ "prompt_tokens": 1.5 }), None),
            (json!(null), None),
            (json!("many"), None),
        ] {
            assert_eq!(tokens(&usage), expected, "{usage}");
        }
    }
}
