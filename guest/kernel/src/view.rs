//! The text that a person reads before deciding about a call: who wants the call, why it asks, and exactly what would
//! be sent.

use seamgate_core::kernel_api::{
    Document, Json, Kind, NodeId, canonical, count, cut_at, is_hidden, push_json_string, quote, short, sort_by_key,
    visible,
};

use crate::{
    above::{self, Above},
    call::Call,
    covers::{self, Covered},
    document::CAPS,
    facts::Facts,
    profile::Profile,
    proof::{Place, Proof},
    tool::Tool,
};

/// The maximum size of the task and of the model's text in the view, in bytes.
const MAX_GIVEN: usize = 1000;

/// The maximum length of a string in the line of the arguments, in bytes. Longer strings, and strings with several
/// lines, are on separate lines.
const MAX_INLINE: usize = 200;

/// The note that an approval does not cover the server's later questions. It covers one call, however often the server
/// sends requests to the client in the meantime.
const NOT_COVERED: &str =
    "not covered: what the client answers when the server asks it for more during the call (inputResponses)\n";

/// Data of a run about a call that its facts do not contain.
#[derive(Default)]
pub(crate) struct Background {
    /// The text in the model's output that contains the call.
    pub(crate) said: String,
    /// Each label that the model has read, with the calls whose results have it.
    pub(crate) labels: Vec<(String, Vec<String>)>,
    /// Equal calls of the run, as lines of the view.
    pub(crate) equal_calls: String,
}

/// The maximum number of values of a call whose origins the view lists.
const MAX_ORIGINS: usize = 16;

/// Writes the view of a call. `why` contains the reasons why it needs approval, and `origins` the origins of its
/// values.
pub(crate) fn view<'r>(
    profile: &Profile,
    tool: &Tool,
    facts: &Facts,
    call: &Call,
    (why, origins): (impl Iterator<Item = &'r str>, &[Proof]),
    background: &Background,
) -> String {
    let above = facts.above.as_deref();
    let mut view = String::new();
    let mut line = |name: &str, text: &str| view.extend([name, ": ", text, "\n"]);
    line("agent", &visible(&profile.agent));
    line("tool", &tool.full_name());
    line("effect", &effect(tool, above));
    match facts.program(&tool.server, &tool.name) {
        "" => {}
        program => line("program", &visible(program)),
    }
    why.for_each(|why| line("why", &visible(why)));
    for (label, calls) in &background.labels {
        line("read", &format!("{}, {}", visible(label), origin(calls)));
    }
    for proof in origins.iter().take(MAX_ORIGINS) {
        line("from", &from(proof));
    }
    if origins.len() > MAX_ORIGINS {
        let more = &origins[MAX_ORIGINS..];
        let unproven = more.iter().filter(|proof| proof.place.is_none()).count();
        line("from", &format!("{} more, {unproven} of them without an origin", count(more.len(), "value")));
    }
    line("for", &visible(&facts.principal));
    line("run", &visible(&facts.run));
    if let Some(mode) = &facts.mode {
        line("mode", &visible(mode));
    }
    if let Some(task) = facts.task() {
        let mut text = String::new();
        push_sorted(&facts.document, task, &mut text);
        line("task", &visible(&cut_at(&text, MAX_GIVEN)));
    }
    if !background.said.is_empty() {
        line("model", &visible(&cut_at(&background.said, MAX_GIVEN)));
    }
    view.push_str(&background.equal_calls);
    push_arguments(&mut view, &call.arguments);
    push_covers(&mut view, &covers::of(tool, facts, call));
    if profile.may_ask(&tool.server) {
        view.push_str(NOT_COVERED);
    }
    view
}

fn effect(tool: &Tool, above: Option<&Above>) -> String {
    let egress = if above::sends_out(tool, above) { ", sends data out" } else { "" };
    format!("{}{egress}", above::effect(tool, above).as_str())
}

/// Describes the origin of a value, or says that it has none.
fn from(proof: &Proof) -> String {
    let pointer = short(&proof.pointer, 256);
    let Some(place) = &proof.place else {
        return short(format!("{pointer} has no origin: looked for in {}", proof.sought.join("; ")), 1024);
    };
    let named = proof.named.as_ref().map(|named| format!(", which the {} names{}", named.origin, text_around(named)));
    let call = place.call.as_ref().map(|call| format!(" ({} {})", visible(call), at(place))).unwrap_or_default();
    let named = named.unwrap_or_default();
    short(format!("{pointer} is from {}{call}{}{named}", place.origin, text_around(place)), 1024)
}

fn at(place: &Place) -> &str {
    place.at.as_deref().unwrap_or_default()
}

/// Returns the text around a value: of a message or of the task.
fn text_around(place: &Place) -> String {
    if place.around.is_empty() { String::new() } else { format!(" ({})", quote(&place.around, 256)) }
}

fn origin(calls: &[String]) -> String {
    match calls {
        [] => "not from a call of this run".to_owned(),
        calls => format!("from {}", visible(&calls.join(", "))),
    }
}

/// Appends a value as JSON with sorted members and decimal numbers, because hosts rewrite the facts, which may change
/// the order of members and the notation of numbers.
fn push_sorted(document: &Document, at: NodeId, out: &mut String) {
    match document.kind(at) {
        Kind::Array => {
            out.push('[');
            for (index, item) in document.items(at).enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                push_sorted(document, item, out);
            }
            out.push(']');
        }
        Kind::Object => {
            let mut members: Vec<(&str, NodeId)> =
                document.members(at).map(|(name, value)| (document.string(name), value)).collect();
            sort_by_key(&mut members, |member| member.0);
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                push_json_string(out, name);
                out.push(':');
                push_sorted(document, value, out);
            }
            out.push('}');
        }
        Kind::String => push_json_string(out, document.string(at)),
        Kind::Number => push_decimal(&canonical(document, at), out),
        _ => out.push_str(document.source(at)),
    }
}

/// The maximum size of the values of a follow-up call on a line, in bytes.
const MAX_COVERED: usize = 200;

/// Writes a line for each follow-up call that the approval covers.
fn push_covers(view: &mut String, all: &[Covered]) {
    for Covered { cover, values } in all {
        let same = cover.same.iter().zip(values).map(|((path, _), values)| {
            let mut shown = String::new();
            for (index, value) in values.iter().enumerate() {
                shown.push_str(if index == 0 { "" } else { ", " });
                match value.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
                    true => push_decimal(value, &mut shown),
                    false => shown.push_str(value),
                }
            }
            format!("{} is {}", path.text, visible(&cut_at(&shown, MAX_COVERED)))
        });
        let same = same.collect::<Vec<_>>().join(" and ");
        view.push_str(&format!("covers: {}, once, within {} seconds, if its {same}\n", cover.tool, cover.ttl_s));
    }
}

/// The maximum number of zeros that [`push_decimal`] adds to a number's digits.
const MAX_ZEROS: usize = 20;

/// Appends a canonical number, which has digits and an exponent. Omits the exponent if this takes few zeros.
fn push_decimal(number: &str, out: &mut String) {
    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let (sign, digits) = digits.split_at(usize::from(digits.starts_with('-')));
    let zeros = |count: usize| "0".repeat(count);
    match exponent.parse::<isize>() {
        Ok(exponent @ 0..) if exponent.unsigned_abs() <= MAX_ZEROS => {
            let digits = if digits.is_empty() { "0" } else { digits };
            out.extend([sign, digits, &zeros(exponent.unsigned_abs())]);
        }
        Ok(exponent) if exponent < 0 && exponent.unsigned_abs() <= digits.len() + MAX_ZEROS => {
            let places = exponent.unsigned_abs();
            let digits = zeros((places + 1).saturating_sub(digits.len())) + digits;
            let (whole, fraction) = digits.split_at(digits.len() - places);
            out.extend([sign, whole, ".", fraction]);
        }
        _ => out.push_str(number),
    }
}

/// Writes the arguments as they are sent. Long strings, and strings with several lines, follow on separate lines.
fn push_arguments(view: &mut String, arguments: &str) {
    let document = Json::read(arguments, &CAPS).ok();
    let mut blocks = Vec::new();
    if let Some(document) = &document {
        find_blocks(document, Document::ROOT, &mut String::new(), &mut blocks);
    }
    view.push_str("arguments: ");
    let mut written = 0;
    for (sent, text, _) in &blocks {
        let start = sent.as_ptr().addr() - arguments.as_ptr().addr();
        push_visible(view, &arguments[written..start], false);
        view.push_str(&format!("<{}, below>", size(text)));
        written = start + sent.len();
    }
    push_visible(view, &arguments[written..], false);
    view.push('\n');
    for (_, text, pointer) in &blocks {
        let is_plain = !text.chars().any(|character| character != '\n' && is_unseen(character));
        let how = if is_plain { "" } else { ", escaped as in JSON" };
        view.push_str(&format!("  {}, {}{how}:\n", visible(pointer), size(text)));
        for line in text.split('\n') {
            view.push_str("    | ");
            push_visible(view, line, !is_plain);
            view.push('\n');
        }
    }
}

fn size(text: &str) -> String {
    format!("{}, {}", count(text.split('\n').count(), "line"), count(text.len(), "byte"))
}

/// A string on separate lines: as it is sent, as it reads, and its JSON Pointer.
type Block<'d> = (&'d str, &'d str, String);

/// Finds these strings, in the order in which they are sent. `pointer` leads to `at`.
fn find_blocks<'d>(document: &'d Document, at: NodeId, pointer: &mut String, blocks: &mut Vec<Block<'d>>) {
    let here = pointer.len();
    match document.kind(at) {
        Kind::String => {
            let text = document.string(at);
            if text.contains('\n') || text.len() > MAX_INLINE {
                blocks.push((document.source(at), text, pointer.clone()));
            }
        }
        Kind::Array => {
            for (index, item) in document.items(at).enumerate() {
                pointer.push_str(&format!("/{index}"));
                find_blocks(document, item, pointer, blocks);
                pointer.truncate(here);
            }
        }
        Kind::Object => {
            for (name, value) in document.members(at) {
                pointer.push_str(&format!("/{}", document.string(name).replace('~', "~0").replace('/', "~1")));
                find_blocks(document, value, pointer, blocks);
                pointer.truncate(here);
            }
        }
        _ => {}
    }
}

/// Returns whether a person cannot see a character, or could mistake it for another. In addition to hidden characters,
/// these are blanks that are not spaces, the Braille blank, and private-use characters, which have no defined meaning.
fn is_unseen(character: char) -> bool {
    is_hidden(character)
        || (!character.is_ascii() && character.is_whitespace())
        || matches!(character, '\u{2800}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// The maximum number of consecutive spaces that the view shows unchanged. More spaces could push the text after them
/// out of sight.
const MAX_SPACES: usize = 40;

/// Appends a text. Escapes characters that a person cannot see, as in JSON. Doubles backslashes if `is_string` is set.
fn push_visible(out: &mut String, text: &str, is_string: bool) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        if spaces > MAX_SPACES {
            out.push_str(&format!("<{spaces} spaces>"));
            rest = &rest[spaces..];
            continue;
        }
        if spaces > 0 {
            out.push_str(&rest[..spaces]);
            rest = &rest[spaces..];
            continue;
        }
        rest = &rest[character.len_utf8()..];
        match character {
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' if is_string => out.push_str("\\\\"),
            character if is_unseen(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            character => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> String {
        let mut view = String::new();
        push_arguments(&mut view, text);
        view
    }

    #[test]
    fn equal_tasks_look_alike() {
        for (task, shown) in [
            (r#"{"b":[1.0,{"z":null,"y":"\u0041"}],"a":0.50}"#, r#"{"a":0.5,"b":[1,{"y":"A","z":null}]}"#),
            (r#"{ "b": [10e-1, {"y": "A", "z": null} ], "a": 5E-1 }"#, r#"{"a":0.5,"b":[1,{"y":"A","z":null}]}"#),
            ("[]", "[]"),
            ("[{},0,-0.0,1200,-0.012,12.5]", "[{},0,0,1200,-0.012,12.5]"),
            ("[1e20,1e21,1e-21,1e-22]", "[100000000000000000000,1e21,0.000000000000000000001,1e-22]"),
        ] {
            let document = Json::read(task, &CAPS).expect("JSON");
            let mut text = String::new();
            push_sorted(&document, Document::ROOT, &mut text);
            assert_eq!(text, shown, "{task}");
        }
    }

    #[test]
    fn short_arguments_stand_as_they_are_sent() {
        for text in [r#"{"name":"old.log"}"#, r#"{ "a":[1, "\/", "x\\y"] }"#, "{}", "not json"] {
            assert_eq!(arguments(text), format!("arguments: {text}\n"));
        }
    }

    #[test]
    fn strings_of_several_lines_have_lines_of_their_own() {
        let sent = r#"{"cwd":"/srv","steps":[{"run/it":"set -e\nrm -- \"$f\"\n"}],"last":true}"#;
        let shown = "arguments: {\"cwd\":\"/srv\",\"steps\":[{\"run/it\":<3 lines, 18 bytes, below>}],\"last\":true}\n  \
                     /steps/0/run~1it, 3 lines, 18 bytes:\n    | set -e\n    | rm -- \"$f\"\n    | \n";
        assert_eq!(arguments(sent), shown);
    }

    #[test]
    fn long_strings_are_whole() {
        let long = format!("{}; rm -rf /", "ls a ".repeat(60));
        let shown = arguments(&format!("{{\"command\":\"{long}\"}}"));
        assert!(shown.ends_with(&format!("  /command, 1 line, 310 bytes:\n    | {long}\n")), "{shown}");
    }

    #[test]
    fn spaces_push_nothing_out_of_sight() {
        let padded = format!("ls{}; rm -rf /", " ".repeat(300));
        let shown = arguments(&format!("{{\"command\":\"{padded}\"}}{}", " ".repeat(5000)));
        assert!(shown.starts_with("arguments: {\"command\":<1 line, 312 bytes, below>}<5000 spaces>\n"), "{shown}");
        assert!(shown.ends_with("    | ls<300 spaces>; rm -rf /\n"), "{shown}");
        assert_eq!(arguments(&format!("{{{}}}", " ".repeat(40))), format!("arguments: {{{}}}\n", " ".repeat(40)));
    }

    #[test]
    fn what_a_person_cannot_see_is_escaped() {
        for (sent, shown) in [
            ("\u{2800}", "\\u2800"),
            ("\u{e001}", "\\ue001"),
            ("\u{f0001}", "\\udb80\\udc01"),
            ("\u{a0}", "\\u00a0"),
            ("\u{3000}", "\\u3000"),
            ("\u{202e}", "\\u202e"),
            ("\u{200b}", "\\u200b"),
            ("é 表 😀", "é 表 😀"),
        ] {
            assert_eq!(arguments(&format!("{{\"a\":\"{sent}\"}}")), format!("arguments: {{\"a\":\"{shown}\"}}\n"));
            let lines = arguments(&format!("{{\"a\":\"x\\n{sent}\\\\\"}}"));
            let doubled = if sent == shown { "\\" } else { "\\\\" };
            assert!(lines.contains(&format!("    | {shown}{doubled}\n")), "{lines}");
            assert_eq!(lines.contains("escaped as in JSON"), sent != shown, "{lines}");
        }
    }

    #[test]
    fn a_line_of_a_string_never_looks_like_a_line_of_the_view() {
        let lines = arguments(r#"{"a":"x\ntool: other\nfor: root\r\nwhy: \u2028run: r2"}"#);
        assert!(lines.lines().skip(2).all(|line| line.starts_with("    | ")), "{lines}");
        assert_eq!(lines.lines().count(), 6, "{lines}");
    }
}
