//! Tool definitions from outside: decides which of them are usable, and why the others are not.
//!
//! One definition must not make a whole document unreadable. Before the document is read strictly, each unreadable
//! definition is replaced with an invalid one that contains the reason.

use seamgate_core::{
    Violation,
    kernel_api::{Caps, Document, Formats, Json, Kind, NodeId, Schema, canonical, digest, json, short, sort},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{document::text_in, sanitize::sanitize, tool::Effect};

/// The members of a definition that may contain the schema of the tool's arguments, depending on the server.
pub(crate) const ARGUMENTS: [&str; 3] = ["inputSchema", "parameters", "input_schema"];

/// The maximum length of the reason why a definition is invalid, in bytes.
const MAX_REASON: usize = 512;

/// The maximum length of a path in a reason, in bytes.
const MAX_PATH: usize = 200;

/// The beginning of the text that replaces the schema of an unreadable definition.
const LEFT_OUT: &str = "the definition cannot be read: ";

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 128;

/// A step on the path to definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Member(&'static str),
    /// Each member of an object, or each item of an array.
    Each,
}

/// The path to definitions in the lists of servers.
pub(crate) const LISTED: [Step; 4] = [Step::Member("servers"), Step::Each, Step::Member("tools"), Step::Each];

/// The path to definitions in an event.
pub(crate) const LISTED_BY_EVENT: [Step; 5] =
    [Step::Member("listed"), Step::Member("servers"), Step::Each, Step::Member("tools"), Step::Each];

/// The path to definitions in a line of a journal.
pub(crate) const LISTED_BY_LINE: [Step; 6] = [
    Step::Member("event"),
    Step::Member("listed"),
    Step::Member("servers"),
    Step::Each,
    Step::Member("tools"),
    Step::Each,
];

/// The path to definitions in a profile.
pub(crate) const PINNED: [Step; 3] = [Step::Member("tools"), Step::Each, Step::Member("definition")];

/// The path to definitions in an entry of a profile whose name is a pattern.
pub(crate) const PINNED_BY_PATTERN: [Step; 4] =
    [Step::Member("tools"), Step::Each, Step::Member("definitions"), Step::Each];

/// Returns the effect that a definition states for its tool: `read` if `readOnlyHint` is set, `idempotent` if
/// `idempotentHint` is set. A definition without hints, or with contradictory hints, states no effect. The tool is then
/// treated as effectful.
pub(crate) fn annotated(document: &Document, definition: NodeId) -> Effect {
    let annotations = document.member(definition, "annotations");
    let is = |name| annotations.and_then(|at| document.member(at, name)).map(|at| document.kind(at));
    let (reads, destroys) = (is("readOnlyHint"), is("destructiveHint") == Some(Kind::True));
    match () {
        () if reads == Some(Kind::True) && !destroys => Effect::Read,
        () if reads != Some(Kind::True) && is("idempotentHint") == Some(Kind::True) => Effect::Idempotent,
        () => Effect::Effectful,
    }
}

/// Compiles the schema of the arguments in a definition. `None` if it accepts everything.
///
/// # Errors
///
/// Returns the first reason why the definition is invalid.
pub(crate) fn arguments(document: &Document, definition: NodeId, formats: Formats) -> Result<Option<Schema>, String> {
    let given = ARGUMENTS.into_iter().find_map(|name| document.member(definition, name));
    given.map_or(Ok(None), |at| schema(document, definition, at, formats))
}

/// Compiles the schema of results in a definition's `outputSchema`.
///
/// # Errors
///
/// Returns the first reason why the definition is invalid.
pub(crate) fn results(document: &Document, definition: NodeId) -> Result<Option<Schema>, String> {
    let at = document.member(definition, "outputSchema");
    at.map_or(Ok(None), |at| schema(document, definition, at, Formats::Annotate))
}

fn schema(document: &Document, definition: NodeId, at: NodeId, formats: Formats) -> Result<Option<Schema>, String> {
    match document.kind(at) {
        Kind::True => Ok(None),
        Kind::False | Kind::Object => {
            let schema = Schema::with_formats(document, at, formats);
            schema.map(Some).map_err(|found| reason(document, definition, &found))
        }
        kind => {
            let left_out = (kind == Kind::String).then(|| document.string(at).strip_prefix(LEFT_OUT)).flatten();
            Err(left_out.map_or_else(
                || {
                    let message = "must be a JSON Schema: an object or a boolean";
                    reason(document, definition, &[Violation::of(document, at, "schema", "a JSON Schema", message)])
                },
                said,
            ))
        }
    }
}

/// Describes the first of several violations, with its place in the definition.
pub(crate) fn reason(document: &Document, definition: NodeId, found: &[Violation]) -> String {
    let Some(first) = found.first() else { return "it is invalid".to_owned() };
    let place = document.location(definition).path();
    let path = first.path.strip_prefix(&place).map_or(first.path.clone(), |rest| format!("${rest}"));
    of_place(&path, &first.message)
}

/// Describes an error at a path.
fn of_place(path: &str, message: &str) -> String {
    said(&format!("{} {message}", short(path, MAX_PATH)))
}

/// Keywords whose lists are sets, so that the order of their items does not matter.
const SETS: [&str; 3] = ["required", "enum", "type"];

/// Members whose values are not schemas.
const VALUES: [&str; 4] = ["const", "default", "examples", "enum"];

/// Returns the digest that equal definitions share, however they are written.
pub(crate) fn equal(document: &Document, definition: NodeId) -> String {
    let mut out = String::new();
    write_equal(document, definition, true, &mut out);
    digest(&out)
}

/// Writes a value with sorted members. If `is_schema` is set, also sorts the items of lists that are sets.
fn write_equal(document: &Document, at: NodeId, is_schema: bool, out: &mut String) {
    match document.kind(at) {
        Kind::Object if is_schema => {
            let mut members: Vec<(&str, NodeId)> =
                document.members(at).map(|(name, value)| (document.string(name), value)).collect();
            sort(&mut members);
            out.push('{');
            for (name, value) in members {
                out.push_str(&format!("{}:", json(&name)));
                if SETS.contains(&name) && document.kind(value) == Kind::Array {
                    let mut items: Vec<String> = document.items(value).map(|item| canonical(document, item)).collect();
                    sort(&mut items);
                    out.push_str(&format!("[{}]", items.join(",")));
                } else {
                    write_equal(document, value, !VALUES.contains(&name), out);
                }
                out.push(',');
            }
            out.push('}');
        }
        Kind::Array if is_schema => {
            out.push('[');
            for item in document.items(at) {
                write_equal(document, item, true, out);
                out.push(',');
            }
            out.push(']');
        }
        _ => out.push_str(&canonical(document, at)),
    }
}

/// Sanitizes and truncates a reason, parts of which may come from a server.
fn said(reason: &str) -> String {
    short(&sanitize(reason).text, MAX_REASON)
}

/// Returns the error in a name that a server lists, if no profile can name the tool.
pub(crate) fn wrong_name(name: &str) -> Option<&'static str> {
    let is_first = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_later = |byte: &u8| is_first(byte) || b".-".contains(byte);
    let is_name = name.as_bytes().first().is_some_and(is_first) && name.as_bytes().iter().all(is_later);
    (!is_name || name.len() > MAX_NAME)
        .then_some("$.name must have 1 to 128 letters, digits, '_', '.' and '-', and begin with none of '.' and '-'")
}

/// Reads a document that defines tools. An unreadable definition hides only its own tool: the document is then read
/// with a replacement for that definition.
///
/// `replaced` stores the text that was read in place of `text`.
///
/// # Errors
///
/// Returns the errors of `read`. If the document has an error elsewhere, they refer to the original document.
pub(crate) fn read_each<'t, T, E>(
    text: &'t str,
    replaced: &'t mut Option<String>,
    (way, caps): (&[Step], &Caps),
    read: impl Fn(&'t str) -> Result<T, E>,
) -> Result<T, E> {
    match read(text) {
        Ok(document) => Ok(document),
        Err(error) => match readable(text, way, caps) {
            Some(other) => read(replaced.insert(other)),
            None => Err(error),
        },
    }
}

/// Returns a text. If it is unreadable, returns the text with replacements for its unreadable definitions.
pub(crate) fn readable_text<'t>(
    text: &'t str,
    replaced: &'t mut Option<String>,
    (way, caps): (&[Step], &Caps),
) -> &'t str {
    match Json::read(text, caps).is_err().then(|| readable(text, way, caps)).flatten() {
        Some(other) => replaced.insert(other),
        None => text,
    }
}

/// Replaces the unreadable definitions in a document. Each replacement has the same name, and a text with the reason as
/// its schema. `None` if all definitions are readable, or if the document has an error elsewhere.
#[inline(never)]
fn readable(text: &str, way: &[Step], caps: &Caps) -> Option<String> {
    let caps = Caps { depth: caps.depth.saturating_sub(way.len()), ..*caps };
    replaced(text, way, &|definition| unreadable(definition, &caps))
}

/// Returns the replacement of an unreadable definition.
fn unreadable(definition: &str, caps: &Caps) -> Option<String> {
    let (name, why) = match Json::read(definition, caps) {
        Ok(document) => {
            let is_definition =
                document.kind(Document::ROOT) == Kind::Object && text_in(&document, Document::ROOT, "name").is_some();
            if is_definition {
                return None;
            }
            (String::new(), "must be an object with a text as its 'name'".to_owned())
        }
        Err(found) => {
            let why = found.first().map(|first| of_place(&first.path, &first.message)).unwrap_or_default();
            let members = serde_json::from_str::<Members>(definition).map(|Members(members)| members);
            let name = members.ok().and_then(|members| members.into_iter().rev().find(|(name, _)| name == "name"));
            let name = name.and_then(|(_, name)| serde_json::from_str(name.get()).ok()).unwrap_or_default();
            (name, why)
        }
    };
    let left_out = format!("{LEFT_OUT}{why}");
    Some(format!("{{\"name\":{},\"{}\":{}}}", json(&name), ARGUMENTS[0], json(&left_out)))
}

/// Returns JSON text in which the values at the end of a path are replaced.
fn replaced(text: &str, way: &[Step], with: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let Some((step, rest)) = way.split_first() else { return with(text) };
    let one = |is_on_the_way: bool, value: &RawValue| {
        let other = is_on_the_way.then(|| replaced(value.get(), rest, with)).flatten();
        (other.is_some(), other.unwrap_or_else(|| value.get().to_owned()))
    };
    let mut is_changed = false;
    let mut all = Vec::new();
    if text.trim_start().starts_with('[') {
        for item in serde_json::from_str::<Vec<Box<RawValue>>>(text).ok()? {
            let (is_other, item) = one(*step == Step::Each, &item);
            is_changed |= is_other;
            all.push(item);
        }
        return is_changed.then(|| format!("[{}]", all.join(",")));
    }
    for (name, value) in serde_json::from_str::<Members>(text).ok()?.0 {
        let (is_other, value) = one(*step == Step::Each || matches!(step, Step::Member(on) if *on == name), &value);
        is_changed |= is_other;
        all.push(format!("{}:{value}", json(&name)));
    }
    is_changed.then(|| format!("{{{}}}", all.join(",")))
}

/// The members of an object as JSON text, in order. A name may occur twice.
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use seamgate_core::kernel_api::CONTRACT_CAPS;

    use super::*;

    #[test]
    fn definitions_that_cannot_be_read_are_replaced_and_no_others() {
        let deep = format!(r#"{{"name":"deep","x":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        let listed = format!(
            r#"{{"servers":{{"s":{{"tools":[{{"name":"good","x": 1.50}},{deep},{{"name":"twice","x":1,"x":2}},{{"name":"half","x":"\ud800"}},null,{{"title":"t"}}]}}}}}}"#
        );
        assert!(Json::read(&listed, &CONTRACT_CAPS).is_err());
        let readable = readable(&listed, &LISTED, &CONTRACT_CAPS).expect("replaced");
        let document = Json::read(&readable, &CONTRACT_CAPS).unwrap_or_else(|_| panic!("JSON: {readable}"));
        assert!(readable.contains(r#"[{"name":"good","x": 1.50},{"name":"deep","inputSchema":"#), "{readable}");
        assert!(readable.contains(r#"{"name":"twice","inputSchema":"#), "{readable}");
        assert!(readable.contains(r#"{"name":"half","inputSchema":"#), "{readable}");
        assert!(document.kind(Document::ROOT) == Kind::Object);
        assert!(super::readable(r#"{"servers":{"s":{"tools":[{"name":"good"}]}}}"#, &LISTED, &CONTRACT_CAPS).is_none());
    }

    #[test]
    fn the_order_of_sets_is_no_change_and_that_of_values_is() {
        let equal = |text: &str| {
            let document = Json::read(text, &CONTRACT_CAPS).unwrap_or_else(|_| panic!("JSON: {text}"));
            super::equal(&document, Document::ROOT)
        };
        let same = [
            (r#"{"name":"a","x":1}"#, r#"{"x":1.0,"name":"a"}"#),
            (r#"{"inputSchema":{"required":["a","b"]}}"#, r#"{"inputSchema":{"required":["b","a"]}}"#),
            (
                r#"{"inputSchema":{"anyOf":[{"enum":[1,"a",{"b":[1,2]}]}]}}"#,
                r#"{"inputSchema":{"anyOf":[{"enum":[{"b":[1,2]},1,"a"]}]}}"#,
            ),
            (r#"{"inputSchema":{"type":["string","null"]}}"#, r#"{"inputSchema":{"type":["null","string"]}}"#),
        ];
        for (one, other) in same {
            assert_eq!(equal(one), equal(other), "{one} {other}");
        }
        let different = [
            (r#"{"inputSchema":{"required":["a"]}}"#, r#"{"inputSchema":{"required":["a","b"]}}"#),
            (
                r#"{"inputSchema":{"prefixItems":[{"type":"string"},{}]}}"#,
                r#"{"inputSchema":{"prefixItems":[{},{"type":"string"}]}}"#,
            ),
            (r#"{"inputSchema":{"default":{"enum":[1,2]}}}"#, r#"{"inputSchema":{"default":{"enum":[2,1]}}}"#),
            (r#"{"inputSchema":{"enum":[[1,2]]}}"#, r#"{"inputSchema":{"enum":[[2,1]]}}"#),
            (r#"{"inputSchema":{"examples":[1,2]}}"#, r#"{"inputSchema":{"examples":[2,1]}}"#),
            (r#"{"description":"a"}"#, r#"{"description":"b"}"#),
        ];
        for (one, other) in different {
            assert_ne!(equal(one), equal(other), "{one} {other}");
        }
    }

    #[test]
    fn names_that_no_profile_can_have_are_wrong() {
        for (name, is_wrong) in
            [("a", false), ("_a.b-c", false), ("-x", true), (".x", true), ("a/b", true), ("", true), ("a b", true)]
        {
            assert_eq!(wrong_name(name).is_some(), is_wrong, "{name}");
        }
        assert!(wrong_name(&"a".repeat(129)).is_some());
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../schemas/profile.schema.json")).expect("JSON");
        let name = &schema["$defs"]["tool"]["properties"]["name"];
        // A profile can also contain patterns.
        assert_eq!(name["pattern"], "^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$");
        assert_eq!(name["maxLength"], MAX_NAME);
    }
}
