//! Mutations of a message: of its members and values, and of its bytes.

use seamgate_tests::Random;
use serde_json::{Value, json};

use crate::{
    make::any_name,
    node::{Node, escaped, plain},
};

/// Values that decoders read in different ways, as JSON text.
const VALUES: [&str; 44] = [
    "null",
    "true",
    "0",
    "-0",
    "-0.0",
    "1.0",
    "1.50",
    "1E5",
    "1e-7",
    "100000000000000000000",
    "123456789012345678901234567890",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.1000000000000000055511151231257827021181583404541015625",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "2e-324",
    "1e99999999999999999999",
    "8.98846567431158e307",
    "7.2057594037927933e16",
    "\"\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u0000\"",
    "\"a\u{2028}b\u{85}c\u{2029}\"",
    "\"\u{feff}\"",
    "\"\u{10ffff}\u{fffe}\"",
    "\"\\u2028\\/\\b\"",
    "\"1\"",
    "{}",
    "[]",
    "[null]",
    "{\"\":1}",
    "{\"__proto__\":{\"a\":1}}",
    "{\"$serde_json::private::Number\":\"7\"}",
];

/// Texts that are not valid JSON, or only to some decoders.
const INVALID: [&str; 26] = [
    "01",
    "-01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "0x10",
    "1_000",
    "NaN",
    "Infinity",
    "-Infinity",
    "nan",
    "undefined",
    "True",
    "None",
    "nul",
    "'a'",
    "\"\\x41\"",
    "\"\\u00g0\"",
    "\"a\tb\"",
    "\"a\u{0}b\"",
    "\"open",
    "[1,]",
    "{\"a\":1,}",
    "{a:1}",
];

/// Envelope members that the protocol does not know, and values that look like other members.
const UNKNOWN: [&str; 12] = [
    "x",
    "methods",
    "method ",
    " id",
    "",
    "__proto__",
    "constructor",
    "toString",
    "jsonrpc\u{0}",
    "params\u{200b}",
    "_meta",
    "then",
];

/// Returns a value for a place, by its name.
pub(crate) fn odd(random: &mut Random, place: &str) -> Value {
    // Some texts are no Unicode: those come by mutations.
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    match place {
        "name" => random.one(&[json!("Note"), json!("other"), json!("note\u{0}"), json!(""), json!(7), Value::Null]),
        "result" => random.one(&[json!([]), json!("text"), json!(1), json!(true), json!({}), Value::Null]),
        _ => read(random.one(&VALUES)),
    }
}

/// Changes something of a message.
pub(crate) fn once(random: &mut Random, message: &mut Node) {
    let chosen = random.below(12);
    // Most of what matters is near the top.
    let depth = random.one(&[0, 0, 1, 1, 2, 3, 4]);
    let Some(members) = object(random, message, depth) else { return };
    let place = random.below(members.len().max(1));
    match chosen {
        0 => {
            if let Some((name, _)) = members.get_mut(place) {
                *name = misspelt(random, name);
            }
        }
        1 => {
            if let Some((name, _)) = members.get_mut(place)
                && let Ok(text) = serde_json::from_str::<String>(name)
            {
                *name = escaped(random, &text, 60);
            }
        }
        2 | 3 => {
            if let Some((name, value)) = members.get(place).cloned() {
                let name = match random.below(3) {
                    0 => name,
                    1 => serde_json::from_str::<String>(&name).map_or(name, |text| escaped(random, &text, 40)),
                    _ => misspelt(random, &name),
                };
                let value = if random.chance(30) { value } else { value_of(random) };
                let at = random.below(members.len() + 1);
                members.insert(at, (name, value));
            }
        }
        4 => {
            let name = if random.chance(50) { plain(random.one(&UNKNOWN)) } else { any_name(random) };
            let at = random.below(members.len() + 1);
            let value = value_of(random);
            members.insert(at, (name, value));
        }
        5..8 => {
            if let Some((_, value)) = members.get_mut(place) {
                *value = value_of(random);
            }
        }
        8 => {
            if !members.is_empty() {
                members.remove(place);
            }
        }
        9 => members.reverse(),
        10 => {
            let named = |wanted: &str| members.iter().position(|(name, _)| name == wanted);
            let (name, value) = match (named("\"id\""), named("\"result\"")) {
                (_, Some(_)) => ("\"error\"", Node::Raw("null".to_owned())),
                (Some(at), None) => {
                    members.remove(at);
                    ("\"id\"", value_of(random))
                }
                _ => ("\"id\"", Node::Raw("null".to_owned())),
            };
            members.push((name.to_owned(), value));
        }
        _ => {
            if let Some((_, value)) = members.get_mut(place) {
                *value = nested(random);
            }
        }
    }
}

/// Finds an object at this depth at most.
fn object<'n>(random: &mut Random, node: &'n mut Node, depth: usize) -> Option<&'n mut Vec<(String, Node)>> {
    match node {
        Node::Raw(_) => None,
        Node::List(items) => {
            let place = random.below(items.len().max(1));
            object(random, items.get_mut(place)?, depth)
        }
        Node::Object(members) => {
            let inner: Vec<usize> = members
                .iter()
                .enumerate()
                .filter(|(_, (_, value))| matches!(value, Node::Object(members) if !members.is_empty()))
                .map(|(place, _)| place)
                .collect();
            if depth == 0 || inner.is_empty() {
                return Some(members);
            }
            let place = random.one(&inner);
            object(random, &mut members.get_mut(place)?.1, depth - 1)
        }
    }
}

/// Returns a name that differs in case, or by a letter that folds to the same.
fn misspelt(random: &mut Random, name: &str) -> String {
    match random.below(6) {
        0 => name.to_uppercase(),
        1 => name.replacen(['s', 'S'], "\u{17f}", 1),
        2 => name.replacen(['k', 'K'], "\u{212a}", 1),
        3 => name.replacen('i', "\u{130}", 1),
        4 => name.replacen('"', "\" ", 1),
        _ => {
            let at = name.char_indices().filter(|(_, next)| next.is_alphabetic()).map(|(at, _)| at);
            let places: Vec<usize> = at.collect();
            if places.is_empty() {
                return name.to_owned();
            }
            let at = random.one(&places);
            let length = name[at..].chars().next().map_or(0, char::len_utf8);
            format!("{}{}{}", &name[..at], name[at..at + length].to_uppercase(), &name[at + length..])
        }
    }
}

fn value_of(random: &mut Random) -> Node {
    match random.below(60) {
        0..2 => Node::Raw(random.one(&INVALID).to_owned()),
        2 => Node::Raw(format!("\"{}\"", "long ".repeat(1 + random.below(20_000)))),
        3 => Node::Raw("7".repeat(1 + random.below(6000))),
        4 => Node::Raw(format!("0.{}1", "0".repeat(random.below(2000)))),
        5 => nested(random),
        6 => {
            let at = random.below(4096);
            Node::Raw(format!("\"\\u{at:04x}\""))
        }
        10..20 => digits(random),
        _ => Node::Raw(random.one(&VALUES).to_owned()),
    }
}

/// Makes a number with many digits, between doubles.
fn digits(random: &mut Random) -> Node {
    let mut text = String::from(random.one(&["", "-"]));
    text.push_str(&(1 + random.below(9)).to_string());
    for _ in 0..random.below(25) {
        text.push_str(&random.below(10).to_string());
    }
    if random.chance(60) {
        text.push('.');
        for _ in 0..1 + random.below(25) {
            text.push_str(&random.below(10).to_string());
        }
    }
    if random.chance(50) {
        let exponent = random.below(640) as i64 - 325;
        text.push_str(&format!("{}{exponent}", random.one(&["e", "E"])));
    }
    Node::Raw(text)
}

fn nested(random: &mut Random) -> Node {
    let levels = random.one(&[5, 60, 100, 126, 130, 600, 1100, 11_000]);
    match random.chance(50) {
        true => Node::Raw(format!("{}{}", "[".repeat(levels), "]".repeat(levels))),
        false => Node::Raw(format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))),
    }
}

/// Changes the bytes of a line.
pub(crate) fn bytes(random: &mut Random, text: String) -> Vec<u8> {
    match random.below(12) {
        0 => format!("\u{feff}{text}").into_bytes(),
        1 => format!("[{text}]").into_bytes(),
        2 => format!("{text} {text}").into_bytes(),
        3 => format!("{text},").into_bytes(),
        4 => format!("{text}{}", random.one(&["\r", " ", "\t", "\u{0}", "\u{85}", "// note", "}"])).into_bytes(),
        5 => replaced(random, &text, ":", "=").into_bytes(),
        6 => replaced(random, &text, ",", "/* note */,").into_bytes(),
        7 => text.replace('"', "'").into_bytes(),
        8 => replaced(random, &text, "}", ",}").into_bytes(),
        9 => {
            let mut bytes = text.into_bytes();
            let at = random.below(bytes.len().max(1));
            let wrong = random.one(&[&b"\xff"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]);
            bytes.splice(at..at, wrong.iter().copied());
            bytes
        }
        10 => {
            let mut bytes = text.into_bytes();
            bytes.truncate(random.below(bytes.len().max(1)));
            bytes
        }
        _ => {
            let mut bytes = text.into_bytes();
            let at = random.below(bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.one(&[b'0', b'"', b'\\', b'{', b'}', b',', b' ', 0, 0x1f, 0x7f]);
            }
            bytes
        }
    }
}

/// Replaces one of the places where a text stands.
fn replaced(random: &mut Random, text: &str, from: &str, to: &str) -> String {
    let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let at = random.one(&places);
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}
