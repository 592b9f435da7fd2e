//! Artifacts: large values that are stored beside the lines. The lines hold their digests.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::JournalError;
use crate::{
    digest::digest,
    gate::references::ObjectMembers,
    json::{json, minified},
};

/// Values of an event with more bytes than this are stored beside the lines.
const MAX_INLINE: usize = 1024;

/// The same limit for results of the Model Context Protocol. They are frequent, and a separate file costs two more
/// syncs.
const MAX_RETURNED: usize = 16 * 1024;

/// The members of an event that may be large, and the most bytes of each that the line may contain.
const LARGE: [(&str, usize); 4] =
    [("result", MAX_INLINE), (RETURNED, MAX_RETURNED), ("text", MAX_INLINE), ("document", MAX_INLINE)];

/// The member that holds a result of the Model Context Protocol.
const RETURNED: &str = "returned";

/// A text that is stored beside the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Artifact {
    pub(crate) digest: String,
    pub(crate) text: String,
}

/// The reference that a line holds in place of a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reference {
    pub(crate) artifact: String,
    /// `true` if the artifact is the text of a string, and not JSON.
    #[serde(default)]
    text: bool,
}

impl Reference {
    /// Reads a reference. Rejects a list of its values, which serde would accept.
    pub(crate) fn read(text: &str) -> Option<Self> {
        text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
    }
}

/// An event, as the journal stores it and as the kernel receives it.
#[derive(Debug)]
pub(crate) struct EventLine {
    /// The complete event. If it has the digest of a large result, the host has computed that digest, because the
    /// kernel takes longer to do so.
    pub(crate) whole: String,
    /// The event in its line.
    pub(crate) line: String,
    /// The artifacts that the line references.
    pub(crate) artifacts: Vec<Artifact>,
}

impl EventLine {
    /// Reads an object, and writes it in the normal form of journals: without optional white space, and with the fewest
    /// escapes in strings. Restoring extracted values results in the same bytes.
    ///
    /// # Errors
    ///
    /// The text is not an object.
    pub(crate) fn read(object: &str) -> Result<Self, serde_json::Error> {
        let ObjectMembers(_) = serde_json::from_str(object)?;
        Ok(EventLine::write(object.to_owned()))
    }

    /// Writes an event, which is JSON, in the normal form of journals.
    pub(crate) fn write(event: String) -> Self {
        EventLine::of(match minified(&event) {
            Cow::Borrowed(_) => event,
            Cow::Owned(minified) => minified,
        })
    }

    /// Creates an event that is already in this form.
    pub(crate) fn of(event: String) -> Self {
        let Ok(ObjectMembers(members)) = serde_json::from_str(&event) else {
            return EventLine { line: event.clone(), whole: event, artifacts: Vec::new() };
        };
        let mut artifacts = Vec::new();
        let mut returned = None;
        let line = each(&members, |name, value| {
            // A value that looks like a reference must be extracted too, or it would be restored as the artifact that
            // it references.
            let is_large = max_inline(name).is_some_and(|max| value.len() > max || names_artifact(value));
            is_large.then(|| {
                let (artifact, reference) = extract(value);
                if name == RETURNED {
                    returned = Some(artifact.digest.clone());
                }
                artifacts.push(artifact);
                reference
            })
        });
        let is_result = members.iter().any(|(name, value)| name == "type" && value.get() == "\"tool_result\"");
        let returned = returned.filter(|_| is_result && members.iter().all(|(name, _)| name != "digest"));
        let mut whole = event;
        if let Some(digest) = returned {
            whole.truncate(whole.len() - 1);
            whole.push_str(&format!(",\"digest\":\"{digest}\"}}"));
        }
        EventLine { whole, line, artifacts }
    }

    /// Returns whether the event has a member.
    pub(crate) fn has(&self, member: &str) -> bool {
        serde_json::from_str::<ObjectMembers>(&self.line)
            .is_ok_and(|ObjectMembers(all)| all.iter().any(|(name, _)| name == member))
    }
}

/// Returns the artifact with a digest, if a member of an event is that artifact. The message of a failed tool can be
/// one.
pub(crate) fn inline(event: &str, expected: &str) -> Option<String> {
    let ObjectMembers(members) = serde_json::from_str(event).ok()?;
    let mut texts = members.iter().map(|(_, value)| artifact_of(value.get()).0);
    texts.find(|text| digest(text.as_bytes()) == expected)
}

/// Returns the text that is stored for a value, and whether the value is a string with that text.
fn artifact_of(value: &str) -> (String, bool) {
    match serde_json::from_str::<String>(value) {
        Ok(text) => (text, true),
        Err(_) => (value.to_owned(), false),
    }
}

/// Returns the most bytes of an event's member that the line may contain. `None` if there is no limit.
fn max_inline(name: &str) -> Option<usize> {
    LARGE.iter().find(|(large, _)| *large == name).map(|&(_, max)| max)
}

/// Extracts the prompt from an action.
pub(crate) fn without_prompt(action: &str) -> (String, Option<Artifact>) {
    let Ok(ObjectMembers(members)) = serde_json::from_str(action) else {
        return (action.to_owned(), None);
    };
    let mut prompt = None;
    let line = each(&members, |name, value| {
        (name == "prompt").then(|| {
            let (artifact, reference) = extract(value);
            prompt = Some(artifact);
            reference
        })
    });
    (line, prompt)
}

/// Extracts a value: returns its artifact, and the reference that replaces it.
fn extract(value: &str) -> (Artifact, String) {
    let (text, is_text) = artifact_of(value);
    let digest = digest(text.as_bytes());
    let reference = format!(r#"{{"artifact":"{digest}"{}}}"#, if is_text { r#","text":true"# } else { "" });
    (Artifact { digest, text }, reference)
}

/// Restores extracted values in an event. `get` returns the artifact with a digest.
pub(crate) fn restore(
    object: &str,
    mut get: impl FnMut(&str) -> Result<String, JournalError>,
) -> Result<String, JournalError> {
    let Ok(ObjectMembers(members)) = serde_json::from_str(object) else {
        return Ok(object.to_owned());
    };
    let mut kept = Vec::with_capacity(members.len());
    for (name, value) in &members {
        kept.push(match Reference::read(value.get()) {
            Some(Reference { artifact, text }) if max_inline(name).is_some() => {
                let kept = get(&artifact)?;
                Some(if text { json(&kept) } else { kept })
            }
            _ => None,
        });
    }
    let mut kept = kept.into_iter();
    Ok(each(&members, |_, _| kept.next().flatten()))
}

fn names_artifact(value: &str) -> bool {
    serde_json::from_str::<ObjectMembers>(value)
        .is_ok_and(|ObjectMembers(members)| members.iter().any(|(name, _)| name == "artifact"))
}

/// Returns an object in which some members have other values.
fn each(members: &[(String, &RawValue)], mut replace: impl FnMut(&str, &str) -> Option<String>) -> String {
    let mut whole = String::new();
    for (name, value) in members {
        whole.push(if whole.is_empty() { '{' } else { ',' });
        whole.push_str(&json(name));
        whole.push(':');
        match replace(name, value.get()) {
            Some(value) => whole.push_str(&value),
            None => whole.push_str(value.get()),
        }
    }
    if whole.is_empty() {
        whole.push('{');
    }
    whole.push('}');
    whole
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns the restored event, and how many of its values were extracted.
    fn there_and_back(event: &str) -> (String, usize) {
        let EventLine { line, artifacts, .. } = EventLine::read(event).expect("an object");
        assert!(line.len() < event.len() + 200);
        let kept: BTreeMap<String, String> =
            artifacts.iter().map(|artifact| (artifact.digest.clone(), artifact.text.clone())).collect();
        (restore(&line, |digest| Ok(kept[digest].clone())).expect("restored"), artifacts.len())
    }

    #[test]
    fn extracted_values_come_back_to_the_byte() {
        let long = "x".repeat(MAX_RETURNED + 1);
        let reference = format!(r#"{{"artifact":"{}"}}"#, digest(b"secret"));
        for (value, is_extracted) in [
            ("null".to_owned(), false),
            (r#"["abc"]"#.to_owned(), false),
            (r#"["abc",true]"#.to_owned(), false),
            ("1.50e3".to_owned(), false),
            (format!("\"{long}\""), true),
            (format!("[1.0,\"{long}\",{{\"b\":1,\"a\":2,\"a\":3}}]"), true),
            (format!("\"\\\"\\n\\u0001é\u{200b}{long}\""), true),
            // A string that holds JSON stays a string.
            (json(&format!("[{}]", "1,".repeat(MAX_RETURNED))), true),
            // A tool's result may look like a reference.
            (reference.clone(), true),
            (reference.replace('}', ",\"text\":true}"), true),
            ("{\"artifact\":1}".to_owned(), true),
            ("{\"a\":{\"artifact\":1}}".to_owned(), false),
        ] {
            for (name, _) in LARGE {
                let event = format!(r#"{{"type":"t","{name}":{value},"at":1}}"#);
                assert_eq!(there_and_back(&event), (event, usize::from(is_extracted)));
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
        let written = |event: &str| EventLine::read(event).map(|event| event.whole);
        assert_eq!(written(event).expect("an object"), normal);
        assert_eq!(written(normal).expect("an object"), normal);
        // Half of a surrogate pair is not text, and stays as it is written.
        assert_eq!(written("{\"a\": \"\\ud83d \"}").expect("an object"), "{\"a\":\"\\ud83d \"}");
        for not_an_object in ["", "1", "[]", "{", "{}{}", "{\"a\":}", "\u{feff}{}"] {
            written(not_an_object).expect_err(not_an_object);
        }
    }

    #[test]
    fn a_prompt_is_always_extracted() {
        let (line, prompt) = without_prompt(r#"{"type":"ask_model","key":"r/1/0","prompt":{}}"#);
        let digest = digest(b"{}");
        assert_eq!(line, format!(r#"{{"type":"ask_model","key":"r/1/0","prompt":{{"artifact":"{digest}"}}}}"#));
        assert_eq!(prompt, Some(Artifact { digest, text: "{}".to_owned() }));
    }

    #[test]
    fn the_kernel_is_told_the_digest_of_a_large_result() {
        let returned = format!(r#"{{"content":[],"more":"{}"}}"#, "x".repeat(MAX_RETURNED));
        let event = format!(r#"{{"type":"tool_result","at":1,"call":"c","returned":{returned}}}"#);
        let told = EventLine::read(&event).expect("an object");
        let begin = event.strip_suffix('}').expect("an object");
        assert_eq!(told.whole, format!(r#"{begin},"digest":"{}"}}"#, digest(returned.as_bytes())));
        // The line has it once, and an event with a digest of its own keeps that digest.
        assert!(!told.line.contains("\"digest\"") && told.artifacts.len() == 1);
        let own = format!(r#"{begin},"digest":"sha256:0"}}"#);
        assert_eq!(EventLine::read(&own).expect("an object").whole, own);
        let small = r#"{"type":"tool_result","at":1,"call":"c","returned":{}}"#;
        assert_eq!(EventLine::read(small).expect("an object").whole, small);
    }
}
