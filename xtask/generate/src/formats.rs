//! The schemas that the guest has inside, without what only people read: it makes up most of their text.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::ordered::Node;

/// Schemas and the paths of their copies.
const FILES: [(&str, &str); 7] = [
    ("schemas/contract.schema.json", "guest/core/src/contract/format.json"),
    ("schemas/call.schema.json", "guest/kernel/src/formats/call.json"),
    ("schemas/event.schema.json", "guest/kernel/src/formats/event.json"),
    ("schemas/facts.schema.json", "guest/kernel/src/formats/facts.json"),
    ("schemas/lock.schema.json", "guest/kernel/src/formats/lock.json"),
    ("schemas/profile.schema.json", "guest/kernel/src/formats/profile.json"),
    ("schemas/result.schema.json", "guest/kernel/src/formats/result.json"),
];

/// Keywords that reject nothing.
const ANNOTATIONS: [&str; 5] = ["$comment", "default", "description", "examples", "title"];

/// Keywords whose members have names of their own, and schemas as values.
const MAPS: [&str; 4] = ["$defs", "dependentSchemas", "patternProperties", "properties"];

/// Keywords whose values are no schemas.
const VALUES: [&str; 2] = ["const", "enum"];

/// Returns the path and the text of each copy.
pub(super) fn all() -> Result<Vec<(String, String)>> {
    let copy = |(from, to): (&str, &str)| {
        let text = fs::read_to_string(from).with_context(|| from.to_owned())?;
        let schema: Node = serde_json::from_str(&text).with_context(|| from.to_owned())?;
        let mut copy = String::new();
        push(&shortened(schema), &mut copy).with_context(|| from.to_owned())?;
        Ok((to.to_owned(), copy + "\n"))
    };
    FILES.into_iter().map(copy).collect()
}

/// Returns a schema without the annotations that it and all below it have.
fn shortened(schema: Node) -> Node {
    let member = |(name, value): (String, Node)| {
        let value = match value {
            Node::Object(map) if MAPS.contains(&name.as_str()) => {
                Node::Object(map.into_iter().map(|(name, schema)| (name, shortened(schema))).collect())
            }
            value if VALUES.contains(&name.as_str()) => value,
            value => shortened(value),
        };
        (name, value)
    };
    match schema {
        Node::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !ANNOTATIONS.contains(&name.as_str()));
            Node::Object(kept.map(member).collect())
        }
        Node::List(items) => Node::List(items.into_iter().map(shortened).collect()),
        other => other,
    }
}

/// Writes JSON without white space.
fn push(node: &Node, out: &mut String) -> Result<()> {
    let string = |text: &str| serde_json::Value::from(text).to_string();
    match node {
        Node::Bool(value) => out.push_str(&value.to_string()),
        Node::Count(value) => out.push_str(&value.to_string()),
        Node::Text(text) => out.push_str(&string(text)),
        Node::Other => bail!("the copy of a schema cannot have null, or a number other than a count"),
        Node::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                push(item, out)?;
            }
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&string(name));
                out.push(':');
                push(value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_annotations_are_removed() {
        let schema = r#"{"title":"T","description":"D","default":{},"examples":[1],"$comment":"C","type":"object",
            "required":["description"],
            "properties":{"description":{"description":"D","enum":[{"title":1}]},"default":{"title":"T"}},
            "$defs":{"title":{"anyOf":[{"title":"T","const":{"default":1}},true]}}}"#;
        let mut copy = String::new();
        push(&shortened(serde_json::from_str(schema).expect("JSON")), &mut copy).expect("no other numbers");
        let expected = r#"{"type":"object","required":["description"],"#.to_owned()
            + r#""properties":{"description":{"enum":[{"title":1}]},"default":{}},"#
            + r#""$defs":{"title":{"anyOf":[{"const":{"default":1}},true]}}}"#;
        assert_eq!(copy, expected);
    }
}
