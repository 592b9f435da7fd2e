use super::*;
use crate::random::Random;

fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

fn parsed(text: &str) -> Parsed<'_> {
    parse(text, whole(text), &Caps::default()).expect(text)
}

fn broken(text: &str) -> Broken {
    parse(text, whole(text), &Caps::default()).expect_err(text)
}

#[test]
fn a_document_is_written_back_with_its_digits() {
    for (text, minified) in [
        (" [1.50 , -0, 1e+2,\n12345678901234567890 ]", "[1.50,-0,1e+2,12345678901234567890]"),
        (r#"{"b":{},"a":[[],[null]],"":true}"#, r#"{"b":{},"a":[[],[null]],"":true}"#),
        (r#""\u0041\/\u00e9\ud83d\ude00\u0000""#, "\"A/é😀\\u0000\""),
        ("false", "false"),
    ] {
        assert_eq!(parsed(text).document.minified(), minified);
        assert_eq!(super::minified(text), minified);
    }
}

#[test]
fn a_text_that_is_minified_is_borrowed_and_any_other_is_written_anew() {
    let pieces = [
        "a",
        "é",
        " ",
        "\\n",
        "\\t",
        "\\r",
        "\\b",
        "\\f",
        "\\\"",
        "\\\\",
        "\\/",
        "\\u0001",
        "\\u000a",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud83d",
    ];
    let mut borrowed = 0;
    for one in pieces {
        for other in pieces {
            for around in ["[\"#\"]", "[\"#\" ]", "{\"#\":\"#\"}", "{\"#\":[1,\"x\"]}"] {
                let text = around.replace('#', &format!("{one}{other}"));
                let document = parsed(&text).document;
                let (minified, at) = (document.minified(), document.minified_at(Document::ROOT));
                assert_eq!(at, minified, "{text}");
                assert_eq!(matches!(at, std::borrow::Cow::Borrowed(_)), minified == text, "{text}");
                borrowed += usize::from(minified == text);
            }
        }
    }
    assert!(borrowed > 200, "{borrowed}");
}

#[test]
fn a_long_string_with_escapes_is_decoded_whole() {
    for length in [LARGE - 1, LARGE, LARGE + 1, 3 * LARGE, 20 * LARGE] {
        let line = "a line of a log, as long as lines of logs are\\n";
        let string = format!("{}{}", line.repeat(length / line.len()), "é".repeat(length % line.len()));
        let text = format!("[\"{string}\",\"\\n\"]");
        let document = parsed(&text).document;
        let strings: Vec<&str> = document.items(Document::ROOT).map(|at| document.string(at)).collect();
        assert_eq!(strings, [string.replace("\\n", "\n").as_str(), "\n"]);
    }
}

#[test]
fn counts_and_places_are_those_of_the_text() {
    let text = r#"{"a":[1,[2,3],{}],"b":"x"}"#;
    let document = parsed(text).document;
    let array = document.member(Document::ROOT, "a").expect("a");
    assert_eq!((document.count(Document::ROOT), document.count(array)), (2, 3));
    let three = document.items(document.items(array).nth(1).expect("[2,3]")).nth(1).expect("3");
    assert_eq!(document.source(three), "3");
    assert_eq!(document.location(three).path(), "$.a[1][1]");
    let (name, _) = document.members(Document::ROOT).nth(1).expect("b");
    assert_eq!(document.location(name).path(), "$.b");
}

#[test]
fn what_the_gate_does_not_allow_is_found() {
    let findings = |text: &str| -> Vec<(FindingKind, String)> {
        let parsed = parsed(text);
        let place = |finding: &Finding| parsed.document.location(finding.node).path();
        parsed.findings.iter().map(|finding| (finding.kind, place(finding))).collect()
    };
    assert_eq!(
        findings(r#"{"a":1,"b":{"c":1,"c":2},"\u0061":3}"#),
        [(FindingKind::DuplicateMember, "$.b.c".to_owned()), (FindingKind::DuplicateMember, "$.a".to_owned()),]
    );
    assert_eq!(
        findings(r#"["\ud800","\udc00\ud800","\ud800\ud83d\ude00"]"#),
        [
            (FindingKind::LoneSurrogate, "$[0]".to_owned()),
            (FindingKind::LoneSurrogate, "$[1]".to_owned()),
            (FindingKind::LoneSurrogate, "$[2]".to_owned()),
        ]
    );
    assert_eq!(findings("[1e999]"), [(FindingKind::NumberRange, "$[0]".to_owned())]);

    // More than 24 names are sorted instead.
    let mut wide: Vec<String> = (0..40).map(|n| format!("\"n{n}\":0")).collect();
    wide.push("\"n7\":1".to_owned());
    let wide = format!("{{{}}}", wide.join(","));
    assert_eq!(findings(&wide), [(FindingKind::DuplicateMember, "$.n7".to_owned())]);
}

#[test]
fn a_deep_document_is_read_to_its_end_and_kept_to_the_cap() {
    let text = format!("[0,{}1{},2]", "[".repeat(10_000), "]".repeat(10_000));
    let parsed = parsed(&text);
    assert_eq!(parsed.findings.len(), 1);
    assert_eq!(parsed.findings[0].kind, FindingKind::Depth);
    assert_eq!(parsed.document.nodes.len(), 2 + 64 + 1);
    assert_eq!(parsed.document.count(Document::ROOT), 3);
}

#[test]
fn a_text_that_breaks_says_where_and_what_was_expected() {
    for (text, at, expected, place) in [
        ("", 0, "a value", "$"),
        ("[1,]", 3, "a value", "$"),
        ("[1 2]", 3, "',' or ']'", "$"),
        ("[1}", 2, "',' or ']'", "$"),
        ("{\"a\" 1}", 5, "':'", "$.a"),
        ("{\"a\":}", 5, "a value", "$.a"),
        ("{\"a\":1,}", 7, "a member name", "$"),
        ("{,}", 1, "a member name or '}'", "$"),
        ("{\"a\":[1,{\"b\":nul", 16, "the literal 'null'", "$.a[1].b"),
        ("[\"a\nb\"]", 3, "an escape for this control character", "$"),
        ("[\"a", 3, "'\"' to end the string", "$"),
        ("[\"\\x\"]", 3, "an escape (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX)", "$"),
        ("[\"\\u12g4\"]", 6, "four hexadecimal digits", "$"),
        ("1 1", 2, "nothing after the value", "$"),
        ("[]]", 2, "nothing after the value", "$"),
        ("truth", 3, "the literal 'true'", "$"),
        ("\u{feff}1", 0, "a value", "$"),
    ] {
        let broken = broken(text);
        assert_eq!((broken.at, broken.expected), (at, expected), "{text}");
        assert_eq!(broken.place.path(), place, "{text}");
        assert_eq!(broken.cut_off, at == text.len(), "{text}");
    }
}

#[test]
fn a_text_is_json_as_far_as_the_parser_reads_it() {
    const BYTES: &[u8] = b"{}[]\",:\\u0a1.e-+ tfn\nx\x01/";
    let seed = r#"{"a":[1,-2.5e+3,{"b":null,"c":[]}],"\u00e9\n":[true,false,"x\"y",{}], "d" : [ [0] ] } rest"#;
    let mut random = Random(1);
    let mut below = |bound: usize| random.below(bound);
    for _ in 0..200_000 {
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..below(4) {
            let at = below(bytes.len());
            match below(3) {
                0 if bytes.len() > 1 => drop(bytes.remove(at)),
                0 | 1 => bytes.insert(at, BYTES[below(BYTES.len())]),
                _ => bytes.truncate(at + 1),
            }
        }
        let text = String::from_utf8(bytes).expect("ASCII");
        let read = parse(&text, whole(&text), &Caps::default());
        match strict_end(&text, (0, text.len())) {
            Ok(end) => {
                let rest = text.len() - text[end..].trim_ascii_start().len();
                assert_eq!(
                    read.err().map(|broken| (broken.is_after_value(), broken.at)),
                    (rest < text.len()).then_some((true, rest)),
                    "{text}"
                );
            }
            Err(at) => {
                assert_eq!(read.err().map(|broken| (broken.is_after_value(), broken.at)), Some((false, at)), "{text}")
            }
        }
    }
    for depth in [63, 64, 65, 128, 129, 200] {
        let text = format!("{}1{}]", "[{\"a\":".repeat(depth), "}]".repeat(depth));
        assert_eq!(strict_end(&text, (0, text.len())), Ok(text.len() - 1));
    }
    assert_eq!(strict_end(&"[".repeat(MAX_LEVELS + 9), (0, MAX_LEVELS + 9)), Err(MAX_LEVELS + 1));
}
