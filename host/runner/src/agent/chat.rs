//! Translates prompts into the chat-completions form that most model servers speak.

use std::collections::BTreeMap;

use seamgate::{AskModelAction, Json, PromptMessage, RequestedCall};
use serde::{Deserialize, Serialize, de::Error as _};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    event::Answer,
    response::{self, NoCompletion},
};

/// The members of a tool's definition that a model needs.
#[derive(Default, Deserialize)]
struct Definition {
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    input: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Body<'b> {
    model: &'b str,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool>,
    /// Further members from the user.
    #[serde(flatten)]
    more: &'b BTreeMap<String, Json>,
}

/// The members of a request that only the run sets. `stream` is one of them because the response is read as a whole.
pub const OWN_MEMBERS: [&str; 4] = ["messages", "model", "stream", "tools"];

#[derive(Serialize)]
struct Message<'m> {
    role: &'m str,
    content: &'m str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'m>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'m str>,
}

#[derive(Serialize)]
struct ToolCall<'m> {
    id: &'m str,
    r#type: &'m str,
    function: FunctionCall<'m>,
}

#[derive(Serialize)]
struct FunctionCall<'m> {
    name: String,
    arguments: &'m str,
}

#[derive(Serialize)]
struct Tool {
    r#type: &'static str,
    function: Function,
}

#[derive(Serialize)]
struct Function {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    parameters: Box<RawValue>,
}

/// A request in the chat-completions form, with the tool that each of its names represents.
pub(super) struct Chat {
    pub(super) body: String,
    names: Names,
}

/// Tools by the names that the model's server uses. These names have only letters, digits, `_` and `-`.
#[derive(Default)]
struct Names(BTreeMap<String, (String, String)>);

impl Names {
    /// Adds a tool and returns a unique name for it.
    fn add(&mut self, server: &str, tool: &str) -> String {
        let plain = |text: &str| {
            let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
            text.chars().map(|character| if is_plain(character) { character } else { '_' }).collect::<String>()
        };
        let short = plain(tool);
        let mut name: String = match self.0.contains_key(&short) {
            true => format!("{}__{short}", plain(server)),
            false => short,
        };
        name.truncate(60);
        let first = name.clone();
        for number in 2.. {
            if !self.0.contains_key(&name) {
                break;
            }
            name = format!("{first}_{number}");
        }
        self.0.insert(name.clone(), (server.to_owned(), tool.to_owned()));
        name
    }

    fn of(&self, server: &str, tool: &str) -> String {
        let is_it = |known: &&(String, String)| known.1 == tool && (server.is_empty() || known.0 == server);
        let found = self.0.iter().find(|(_, known)| is_it(known));
        found.map_or_else(|| tool.to_owned(), |(name, _)| name.clone())
    }
}

impl Chat {
    /// Writes the request for an action `ask_model`, with further members such as `temperature`.
    pub(super) fn new(
        action: &AskModelAction,
        model: &str,
        more: &BTreeMap<String, Json>,
    ) -> Result<Self, serde_json::Error> {
        let prompt = action.prompt.whole().ok_or_else(|| serde_json::Error::custom("it is an artifact"))?;
        let mut names = Names::default();
        let any = || RawValue::from_string(r#"{"type":"object"}"#.to_owned());
        let tools: Vec<Tool> = prompt
            .tools
            .iter()
            .map(|tool| {
                let name = names.add(tool.server.as_deref().unwrap_or_default(), &tool.tool);
                let definition: Option<Definition> = tool.definition.as_ref().map(Json::read).transpose()?;
                let Definition { description, input } = definition.unwrap_or_default();
                let parameters = input.map_or_else(any, Ok)?;
                Ok(Tool { r#type: "function", function: Function { name, description, parameters } })
            })
            .collect::<Result<_, serde_json::Error>>()?;
        let messages = prompt.messages.iter().map(|message| match &message.message {
            Some(own) => to_raw_value(own),
            None => to_raw_value(&Message::of(message, &names)),
        });
        let messages = messages.collect::<Result<_, _>>()?;
        Ok(Chat { body: serde_json::to_string(&Body { model, messages, tools, more })?, names })
    }

    /// Reads a response to this request.
    ///
    /// # Errors
    ///
    /// The errors of [`response::read`].
    pub(super) fn answer(&self, response: &str) -> Result<Answer, NoCompletion> {
        response::read(response, &|name| match self.names.0.get(name) {
            Some((server, tool)) => (Some(server.clone()).filter(|server| !server.is_empty()), tool.clone()),
            // The request has no such name, so the run denies the call.
            None => (None, name.to_owned()),
        })
    }
}

impl<'m> Message<'m> {
    fn of(told: &'m PromptMessage, names: &Names) -> Self {
        let id = |id: &'m Option<String>, call: &'m str| id.as_deref().unwrap_or(call);
        let call = |call: &'m RequestedCall| ToolCall {
            id: id(&call.id, &call.call),
            r#type: "function",
            function: FunctionCall {
                name: names.of(call.server.as_deref().unwrap_or_default(), &call.tool),
                arguments: &call.arguments,
            },
        };
        Message {
            role: told.role.as_str(),
            content: &told.text,
            tool_calls: told.calls.iter().flatten().map(call).collect(),
            tool_call_id: told.call.as_deref().map(|call| id(&told.id, call)),
        }
    }
}

#[cfg(test)]
mod tests {
    use seamgate::{Finish, TokenUsage};

    use super::*;

    const ASKED: &str = r#"{"type":"ask_model","key":"r/1/0","purpose":"step","expires":1,"prompt":{
        "messages":[
          {"role":"system","text":"You look after services."},
          {"role":"assistant","text":"","calls":[{"call":"c1","id":"x","server":"a","tool":"find","arguments":"{\"q\":1}"}]},
          {"role":"tool","text":"nothing","call":"c1","id":"x"},
          {"role":"assistant","text":"","message":{"role":"assistant","content":null,"own":true}}],
        "tools":[
          {"server":"a","tool":"find","effect":"read","permit":"allow","definition":{"name":"find","description":"Finds.","inputSchema":{"type":"object","required":["q"]}}},
          {"server":"b.c","tool":"find","effect":"read","permit":"allow"}]}}"#;

    fn asked() -> AskModelAction {
        serde_json::from_str(ASKED).expect("an action")
    }

    #[test]
    fn a_prompt_becomes_a_request() {
        let chat = Chat::new(&asked(), "m", &BTreeMap::new()).expect("a request");
        let expected = concat!(
            r#"{"model":"m","messages":["#,
            r#"{"role":"system","content":"You look after services."},"#,
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"find","arguments":"{\"q\":1}"}}]},"#,
            r#"{"role":"tool","content":"nothing","tool_call_id":"x"},"#,
            r#"{"role":"assistant","content":null,"own":true}],"tools":["#,
            r#"{"type":"function","function":{"name":"find","description":"Finds.","parameters":{"type":"object","required":["q"]}}},"#,
            r#"{"type":"function","function":{"name":"b_c__find","parameters":{"type":"object"}}}]}"#,
        );
        assert_eq!(chat.body, expected);
        let number = |text: &str| Json::parse(text).expect("JSON");
        let more =
            BTreeMap::from([("max_tokens".to_owned(), number("64")), ("temperature".to_owned(), number("0.10"))]);
        let chat = Chat::new(&asked(), "m", &more).expect("a request");
        let members = r#","max_tokens":64,"temperature":0.10}"#;
        assert_eq!(chat.body, format!("{}{members}", &expected[..expected.len() - 1]));
    }

    #[test]
    fn a_response_becomes_an_answer() {
        let chat = Chat::new(&asked(), "m", &BTreeMap::new()).expect("a request");
        let response = r#"{"id":"1","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,
            "tool_calls":[{"id":"y","type":"function","function":{"name":"b_c__find","arguments":"{}"}},
                          {"id":"z","type":"function","function":{"name":"other","arguments":"{"}}]}}],
            "usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}"#;
        let answer = chat.answer(response).expect("an answer");
        let calls =
            r#"[{"id":"y","server":"b.c","tool":"find","arguments":"{}"},{"id":"z","tool":"other","arguments":"{"}]"#;
        assert_eq!(Json::of(&answer.calls).expect("JSON").as_str(), calls);
        assert_eq!(answer.usage, Some(TokenUsage { input: Some(12), output: Some(3) }));
        assert_eq!(answer.finish, Some(Finish::ToolCall));
        assert!(answer.message.is_some());
    }
}
