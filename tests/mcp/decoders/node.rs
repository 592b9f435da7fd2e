//! JSON that may be invalid. Members keep their order, and a name can stand twice.

use seamgate_tests::Random;

/// A value of JSON, or text in its place.
#[derive(Clone)]
pub(crate) enum Node {
    /// Text that is written as it is.
    Raw(String),
    List(Vec<Node>),
    /// Names are JSON texts, with their quotes.
    Object(Vec<(String, Node)>),
}

/// White space that may stand between values, and white space that may not.
const SPACES: [&str; 5] = [" ", "\t", "\r", "  ", "\r "];
const ODD_SPACES: [&str; 6] = ["\u{a0}", "\u{2028}", "\u{85}", "\u{feff}", "\u{c}", "\u{b}"];

impl Node {
    /// Returns a string, some of whose characters are escaped.
    pub(crate) fn text(random: &mut Random, text: &str) -> Self {
        Node::Raw(quoted(random, text))
    }

    /// Reads valid JSON.
    pub(crate) fn read(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Array(items) => Node::List(items.iter().map(Node::read).collect()),
            serde_json::Value::Object(members) => {
                Node::Object(members.iter().map(|(name, value)| (plain(name), Node::read(value))).collect())
            }
            other => Node::Raw(other.to_string()),
        }
    }

    /// Writes the value, in a style of its own.
    pub(crate) fn write(&self, random: &mut Random) -> String {
        let style = random.below(100);
        let spaces: &[&str] = match style {
            0..70 => &[],
            70..97 => &SPACES,
            _ => &ODD_SPACES,
        };
        let mut out = String::new();
        self.push(&mut out, &mut |out| {
            if !spaces.is_empty() && random.chance(30) {
                out.push_str(random.one(spaces));
            }
        });
        out
    }

    fn push(&self, out: &mut String, space: &mut impl FnMut(&mut String)) {
        space(out);
        match self {
            Node::Raw(text) => out.push_str(text),
            Node::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.push(out, space);
                }
                out.push(']');
            }
            Node::Object(members) => {
                out.push('{');
                for (place, (name, value)) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    space(out);
                    out.push_str(name);
                    space(out);
                    out.push(':');
                    value.push(out, space);
                }
                out.push('}');
            }
        }
        space(out);
    }
}

/// Returns a text as JSON with the fewest escapes.
pub(crate) fn plain(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a text as JSON. In some, characters have escapes that they do not need.
pub(crate) fn quoted(random: &mut Random, text: &str) -> String {
    match random.chance(20) {
        true => escaped(random, text, 30),
        false => plain(text),
    }
}

/// Returns a text as JSON, with escapes for this share of its characters.
pub(crate) fn escaped(random: &mut Random, text: &str, in_a_hundred: usize) -> String {
    let mut out = String::from("\"");
    for next in text.chars() {
        if random.chance(in_a_hundred) {
            if next == '/' && random.chance(50) {
                out.push_str("\\/");
                continue;
            }
            for unit in next.encode_utf16(&mut [0; 2]) {
                match random.chance(50) {
                    true => out.push_str(&format!("\\u{unit:04x}")),
                    false => out.push_str(&format!("\\u{unit:04X}")),
                }
            }
        } else {
            let one = plain(next.encode_utf8(&mut [0; 4]));
            out.push_str(&one[1..one.len() - 1]);
        }
    }
    out.push('"');
    out
}
