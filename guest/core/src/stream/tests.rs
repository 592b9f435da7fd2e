use super::*;
use crate::parse::{Document, Span, parse};

fn contract(rest: &str) -> Contract {
    Contract::compile(&format!("{{\"agent\":\"a\",\"schema\":{{}}{rest}}}")).unwrap_or_else(|fault| panic!("{fault:?}"))
}

const LIST: &str = ",\"items\":{\"path\":\"$.list[*]\",\"schema\":true}";

/// Returns the reports for a text that is pushed one byte at a time, without splitting characters, and the offset of
/// each report.
fn told(contract: &Contract, output: &str) -> (Vec<(usize, String)>, Progress) {
    let mut scan = Scan::default();
    let mut items = Vec::new();
    let mut last = scan.advance(contract, "");
    for (at, character) in output.char_indices() {
        last = scan.advance(contract, &output[at..at + character.len_utf8()]);
        items.extend(last.items.iter().map(|item| (at, item.span.of(output).to_owned())));
    }
    let whole = Scan::default().advance(contract, output);
    assert_eq!(
        whole.items.iter().map(|item| item.span.of(output)).collect::<Vec<_>>(),
        items.iter().map(|(_, text)| text).collect::<Vec<_>>()
    );
    assert_eq!((whole.completeness, &whole.dead_end), (last.completeness, &last.dead_end));
    (items, last)
}

#[test]
fn an_item_is_told_with_its_last_byte() {
    let contract = contract(LIST);
    let output =
        "Here:\n```json\n{\"date\":\"x\",\"l\\u0069st\":[{\"a\":[1]},\"é\\\"\", 12 ,null,[]],\"b\":[7]}\n```\ndone";
    let (items, last) = told(&contract, output);
    let texts: Vec<&str> = items.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["{\"a\":[1]}", "\"é\\\"\"", "12", "null", "[]"]);
    for (at, text) in &items {
        // A number is reported at the byte after its end.
        assert_eq!(output.find(text.as_str()).map(|start| start + text.len()), Some(at + usize::from(text != "12")));
    }
    assert_eq!(last.completeness, Completeness::SoftComplete);
}

#[test]
fn candidates_are_those_of_extract() {
    for (output, expected) in [
        ("{\"list\":[1,2]}", &["1", "2"][..]),
        ("\u{feff} \n{\"list\":[1,2", &["1"]),
        ("see ```json {\"list\":[1]}``` or\n~~~JSON x\n{\"list\":[2]}\n~~~", &["1", "2"]),
        ("```py\n{\"list\":[1]}\n```\n```json\n{\"list\":[2]}\n```", &["2"]),
        ("````json\n{\"list\":[\"```\",3]}\n````", &["\"```\"", "3"]),
        ("{\"list\":[1,x,3]} ```json\n{\"list\":[4]}\n```", &["1", "4"]),
        ("```json\n{\"list\":[1,x,\"\n```\n\"]}\n```", &["1"]),
        ("prose [1] {\"list\":[1]}", &[]),
        // Nothing is reported for reasoning or quoted text.
        ("<think>\n```json\n{\"list\":[1]}\n```\n</THINK> {\"list\":[2]}", &["2"]),
        ("<think> a < b <</think>{\"list\":[2]}", &["2"]),
        ("<thinking>```json\n{\"list\":[1]}\n```", &[]),
        ("<b> x ```json\n{\"list\":[1]}\n```", &["1"]),
        ("Hm.\n</think>\n{\"list\":[2]}", &["2"]),
        ("> ```json\n> {\"list\":[1]}\n> ```\n```json\n{\"list\":[2]}\n```", &["2"]),
        ("{\"list\":[\"<think>\",\"</think>\"]}", &["\"<think>\"", "\"</think>\""]),
        // An unfinished draft or a block of another kind hides nothing. A block without a marker counts.
        ("```json\n{\"list\":[x,\n```json\n{\"list\":[2]}\n```", &["2"]),
        ("```json\n{\"list\":[\"a\n```json\n{\"list\":[2]}\n```", &["2"]),
        ("```py\nx\n```json\n{\"list\":[2]}\n```", &["2"]),
        ("```\n{\"list\":[2]}\n```\n", &["2"]),
        ("```json\n{\"list\":[1]}\n```\n```\n{\"list\":[2]}\n```\n", &["1"]),
        ("{\"list\":{\"a\":[1]},\"b\":{\"list\":[2]}}", &[]),
    ] {
        let (items, _) = told(&contract(LIST), output);
        assert_eq!(items.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), expected, "{output}");
    }
    let embedded = contract(&format!("{LIST},\"extract\":{{\"embedded\":true}}"));
    // Values inside a broken value are part of it, and a block takes precedence over prose.
    for (output, expected) in [
        ("{\"a\": x, \"b\": {\"list\":[1,2]}} {\"list\":[3]}", &["3"][..]),
        ("12```[1] {\"list\":[4]}", &["4"]),
        ("```json\n{}\n``` {\"list\":[5]}", &[]),
        ("see {'a': 'it was \" {', 'b': {\"list\":[1]}} or {\"list\":[5]}", &["5"]),
        ("> {\"list\":[4]}\n{\"list\":[5]}", &["5"]),
        ("```py\n``` foo\n```json\n{\"list\":[6]}\n```\n", &["6"]),
    ] {
        let (items, _) = told(&embedded, output);
        assert_eq!(items.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), expected, "{output}");
    }
    let (items, last) = told(&embedded, "so [ see ] {not} this: { \"list\":[1]} and {\"list\":[2]}.");
    assert_eq!(items.len(), 2);
    assert_eq!(last.completeness, Completeness::SoftComplete);
}

#[test]
fn what_can_no_longer_become_right_is_told_at_once() {
    let raw = ",\"extract\":{\"markers\":[]}";
    let caps = ",\"extract\":{\"markers\":[]},\"caps\":{\"bytes\":40,\"depth\":2,\"array_items\":3,\"string_bytes\":4,\"object_members\":2}";
    for (rest, output, keyword, at) in [
        (raw, "{\"a\":tru}", "json", 8),
        (raw, "[1,]", "json", 3),
        ("", "```json\n{\"a\":tru}", "json", 16),
        (caps, "[[[", "caps.depth", 2),
        (caps, "[1,2,3,4", "caps.array_items", 7),
        (caps, "[\"12345\"", "caps.string_bytes", 7),
        (caps, "{\"a\":1,\"b\":1,\"c", "caps.object_members", 13),
        (caps, &format!("[{}", " 1".to_owned() + &" ".repeat(60) + ",2"), "caps.bytes", 40),
        (",\"extract\":{\"markers\":[]}", "Sure!", "extract", 0),
        (",\"extract\":{\"markers\":[]}", " ```json\n{}\n```", "extract", 1),
    ] {
        let (_, last) = told(&contract(rest), output);
        let dead_end = last.dead_end.unwrap_or_else(|| panic!("{output} is a dead end"));
        assert_eq!((dead_end.keyword, dead_end.at), (keyword, at), "{output}: {}", dead_end.message);
        let session = || -> Report {
            let contract = contract(rest);
            let mut session = Session::open(&contract, Vec::new(), None).unwrap_or_else(|fault| panic!("{fault:?}"));
            session.push(&contract, output).unwrap_or_else(|fault| panic!("{fault:?}"));
            session.finish(&contract, Finish::Unknown, None).unwrap_or_else(|fault| panic!("{fault:?}"))
        };
        assert_eq!(session().disposition, crate::Disposition::Rejected, "{output}");
    }
    // There is no dead end if the error is inside an item, may be repaired, or if another candidate is possible.
    let embedded = ",\"extract\":{\"embedded\":true}";
    for (rest, output) in [
        (LIST, "```json\n{\"list\":[x"),
        (",\"repair\":\"syntax\"", "```json\n{a"),
        ("", "Sure!"),
        ("", "\"```json [1] ```\"x"),
        ("", "````````````````````json\n{x\n````````````````\n```json\n{}\n```"),
        (embedded, "{\"a\":1} Hope this helps!"),
        (embedded, "so {\"a\":1} as in [2, p. 4]."),
        (embedded, "```json\n{\"a\":1}\n```\nsee [\"x\" y]"),
        (",\"extract\":{\"select\":\"first\"}", "```json\n{}\n```\n```json\n{x}\n```"),
        (",\"caps\":{\"bytes\":10}", "```json\n            {}\n```"),
    ] {
        assert_eq!(told(&contract(rest), output).1.dead_end, None, "{output}");
    }
}

/// The automaton accepts the same texts as the parser, and stops at the same positions.
#[test]
fn it_reads_as_the_parser_does() {
    let caps = Caps::default();
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\u00e9\\n\"",
        "1",
        "-0",
        "0.5e+3",
        "01",
        "tru",
        "true",
        "null",
        " ",
        "\n",
        "\"",
        "\\",
        "é",
        "\u{1}",
        "{}",
        "[]",
        "-",
        "1e",
        "2.",
    ];
    let (mut whole, mut broken) = (0, 0);
    let mut state = 7_u64;
    for _ in 0..200_000 {
        let mut text = String::new();
        for _ in 0..1 + state % 9 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let rules = Rules { steps: None, caps: &caps, stop: None };
        let mut json = Json::new();
        let stop = text.bytes().enumerate().find_map(|(at, byte)| {
            loop {
                match json.read(at as u32, &[byte], rules) {
                    (_, Some(Event::Broken)) => return Some(at),
                    (0, Some(_)) => {}
                    _ => return None,
                }
            }
        });
        let mut whole_text = Json::new();
        let (mut at, mut broken_at) = (0, None);
        while broken_at.is_none() && at < text.len() {
            let (read, event) = whole_text.read(at as u32, &text.as_bytes()[at..], rules);
            at += read;
            broken_at = matches!(event, Some(Event::Broken)).then_some(at);
        }
        assert_eq!((broken_at, whole_text.is_complete()), (stop, json.is_complete()), "{text}");
        match parse(&text, Span::new(0, text.len()), &caps) {
            Ok(parsed) => {
                assert_eq!((stop, json.is_complete()), (None, true), "{text}");
                assert!(parsed.document.count(Document::ROOT) < 100);
                whole += 1;
            }
            Err(error) if error.cut_off => assert_eq!((stop, json.is_complete()), (None, false), "{text}"),
            Err(error) => {
                assert_eq!(stop, Some(error.at), "{text}");
                broken += 1;
            }
        }
    }
    assert!(whole > 5_000 && broken > 50_000, "{whole} {broken}");
}

#[test]
fn a_state_of_others_does_no_harm() {
    let contract = contract(LIST);
    let mut scan = Scan::default();
    scan.advance(&contract, "```json\n{\"list\":[{\"a\":[1");
    let state = scan.to_text();
    assert!(state.len() < 64, "{state}");
    let mut other = Scan::of_text(&state).unwrap_or_default();
    assert_eq!(other.advance(&contract, "]}]}").items, scan.advance(&contract, "]}]}").items);
    let mut taken = 0;
    for at in 0..state.len() {
        for byte in b'A'..=b'z' {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = byte;
            if let Some(mut other) = Scan::of_text(&String::from_utf8_lossy(&bytes)) {
                other.advance(&contract, "]}]}\n```\n```json\n{\"list\":[1, true]}");
                taken += 1;
            }
        }
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn what_breaks_is_told_alike_however_it_is_cut() {
    let contract = contract(",\"extract\":{\"embedded\":true}");
    for output in ["{\"\"R'}[]", "{\"\" R ' } [] ' }", "{\"a\\n\"x\\\"'{}'}", "{\"a\": 'b\\'}', x}{}"] {
        told(&contract, output);
    }
}
