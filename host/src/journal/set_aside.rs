//! Large values: lines name them, and they are kept beside the lines.

use serde::Deserialize;

use super::JournalError;
use crate::{
    digest::digest,
    disk::Members,
    json::{json, minified},
};

/// Values of an event with more bytes than this are kept beside the lines.
const MAX_INLINE: usize = 1024;

/// The same for results of the Model Context Protocol, which come often: a file of its own takes two syncs more.
const MAX_RETURNED: usize = 16 * 1024;

/// The members of an event that may be large, with what they may have beside the others.
const LARGE: [(&str, usize); 4] =
    [("result", MAX_INLINE), ("returned", MAX_RETURNED), ("text", MAX_INLINE), ("document", MAX_INLINE)];

/// A text that is kept beside the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    pub(crate) digest: String,
    pub(crate) text: String,
}

/// What stands in a line in place of a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    artifact: String,
    /// Whether the artifact is the text of a string, and not JSON.
    #[serde(default)]
    text: bool,
}

/// An object written in the one way in which a journal has it: without optional white space, strings with the fewest
/// escapes. What is set aside comes back to the same bytes.
///
/// # Errors
///
/// Why the text is not an object.
pub(crate) fn write_normal(object: &str) -> Result<String, serde_json::Error> {
    let Members(_) = serde_json::from_str(object)?;
    Ok(minified(object))
}

/// The artifact with a digest, if a member of an event is that. What a tool says when it fails is one, too.
pub(crate) fn inline(event: &str, expected: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(event).ok()?;
    let mut texts = members.iter().map(|(_, value)| artifact_of(value.get()).0);
    texts.find(|text| digest(text.as_bytes()) == expected)
}

/// The text under which a value is kept, and whether that is the text of a string.
fn artifact_of(value: &str) -> (String, bool) {
    match serde_json::from_str::<String>(value) {
        Ok(text) => (text, true),
        Err(_) => (value.to_owned(), false),
    }
}

/// How many bytes a member of an event may have beside the others. None: any number.
fn max_inline(name: &str) -> Option<usize> {
    LARGE.iter().find(|(large, _)| *large == name).map(|&(_, max)| max)
}

/// Take the large values out of an event, or the prompt out of an action, written in the normal way.
pub(crate) fn set_aside(object: &str, is_action: bool) -> (String, Vec<Artifact>) {
    let mut artifacts = Vec::new();
    let line = each(object, |name, value| {
        // A value that reads like a reference would come back as what it refers to.
        let is_large = max_inline(name).is_some_and(|max| value.len() > max || names_artifact(value));
        if !(if is_action { name == "prompt" } else { is_large }) {
            return Ok::<_, JournalError>(None);
        }
        let (text, is_text) = artifact_of(value);
        let digest = digest(text.as_bytes());
        let reference = format!(r#"{{"artifact":"{digest}"{}}}"#, if is_text { r#","text":true"# } else { "" });
        artifacts.push(Artifact { digest, text });
        Ok(Some(reference))
    });
    (line.unwrap_or_else(|_| object.to_owned()), artifacts)
}

/// Put back into an event what was taken out of it. `get` gives the artifact with a digest.
pub(crate) fn restore(
    object: &str,
    mut get: impl FnMut(&str) -> Result<String, JournalError>,
) -> Result<String, JournalError> {
    each(object, |name, value| match serde_json::from_str::<Reference>(value) {
        Ok(Reference { artifact, text }) if max_inline(name).is_some() => {
            let kept = get(&artifact)?;
            Ok(Some(if text { json(&kept) } else { kept }))
        }
        _ => Ok(None),
    })
}

fn names_artifact(value: &str) -> bool {
    serde_json::from_str::<Members>(value)
        .is_ok_and(|Members(members)| members.iter().any(|(name, _)| name == "artifact"))
}

/// An object in which some members have other values.
fn each<E>(object: &str, mut replace: impl FnMut(&str, &str) -> Result<Option<String>, E>) -> Result<String, E> {
    let Ok(Members(members)) = serde_json::from_str(object) else {
        return Ok(object.to_owned());
    };
    let mut whole = String::with_capacity(object.len().min(64 * 1024));
    for (name, value) in &members {
        whole.push(if whole.is_empty() { '{' } else { ',' });
        whole.push_str(&json(name));
        whole.push(':');
        match replace(name, value.get())? {
            Some(value) => whole.push_str(&value),
            None => whole.push_str(value.get()),
        }
    }
    if whole.is_empty() {
        whole.push('{');
    }
    whole.push('}');
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What an event comes back as, and how many of its values were set aside.
    fn there_and_back(event: &str) -> (String, usize) {
        let (line, artifacts) = set_aside(event, false);
        assert!(line.len() < event.len() + 200);
        let kept: BTreeMap<String, String> =
            artifacts.iter().map(|artifact| (artifact.digest.clone(), artifact.text.clone())).collect();
        (restore(&line, |digest| Ok(kept[digest].clone())).expect("restored"), artifacts.len())
    }

    #[test]
    fn what_is_set_aside_comes_back_to_the_byte() {
        let long = "x".repeat(MAX_RETURNED + 1);
        let reference = format!(r#"{{"artifact":"{}"}}"#, digest(b"secret"));
        for (value, is_set_aside) in [
            ("null".to_owned(), false),
            ("1.50e3".to_owned(), false),
            (format!("\"{long}\""), true),
            (format!("[1.0,\"{long}\",{{\"b\":1,\"a\":2,\"a\":3}}]"), true),
            (format!("\"\\\"\\n\\u0001é\u{200b}{long}\""), true),
            // A string that holds JSON stays a string.
            (json(&format!("[{}]", "1,".repeat(MAX_RETURNED))), true),
            // What a tool returns may read like a reference.
            (reference.clone(), true),
            (reference.replace('}', ",\"text\":true}"), true),
            ("{\"artifact\":1}".to_owned(), true),
            ("{\"a\":{\"artifact\":1}}".to_owned(), false),
        ] {
            for (name, _) in LARGE {
                let event = format!(r#"{{"type":"t","{name}":{value},"at":1}}"#);
                assert_eq!(there_and_back(&event), (event, usize::from(is_set_aside)));
            }
            let event = format!(r#"{{"type":"t","other":{value}}}"#);
            assert_eq!(there_and_back(&event), (event, 0));
        }
        let event = format!(r#"{{"text":"{long}","result":["{long}"]}}"#);
        assert_eq!(there_and_back(&event), (event, 2));
        assert_eq!(there_and_back("{}"), ("{}".to_owned(), 0));
    }

    #[test]
    fn an_event_is_written_in_one_way() {
        let event = "{ \"a\" : [ 1.50 , \"\\u0041\\/\\u00e9\\ud83d\\ude00\\u0007\" ] ,\r\n \"\\u0061\":\" \\\" x\\\\\" , \"b\": {}\t}";
        let normal = "{\"a\":[1.50,\"A/é😀\\u0007\"],\"a\":\" \\\" x\\\\\",\"b\":{}}";
        assert_eq!(write_normal(event).expect("an object"), normal);
        assert_eq!(write_normal(normal).expect("an object"), normal);
        // Half of a pair is no text: it stays as it is written.
        assert_eq!(write_normal("{\"a\": \"\\ud83d \"}").expect("an object"), "{\"a\":\"\\ud83d \"}");
        for not_an_object in ["", "1", "[]", "{", "{}{}", "{\"a\":}", "\u{feff}{}"] {
            write_normal(not_an_object).expect_err(not_an_object);
        }
    }

    #[test]
    fn a_prompt_is_always_set_aside() {
        let (line, artifacts) = set_aside(r#"{"type":"ask_model","key":"r/1/0","prompt":{}}"#, true);
        let digest = digest(b"{}");
        assert_eq!(line, format!(r#"{{"type":"ask_model","key":"r/1/0","prompt":{{"artifact":"{digest}"}}}}"#));
        assert_eq!(artifacts, [Artifact { digest, text: "{}".to_owned() }]);
    }
}
