//! Tests the reasons why a producer stopped. There is one table of words, and every interface uses it.

use seamgate_core::{Finish, Registry, call};
use seamgate_tests::Random;
use serde_json::{Value, json};

/// Returns the words of `request.schema.json`, each with the finish reason that it maps to.
fn documented() -> Vec<(String, String)> {
    let schema: Value = serde_json::from_str(include_str!("../../../schemas/request.schema.json")).expect("JSON");
    let groups = schema["$defs"]["validate"]["properties"]["finish"]["oneOf"].as_array().expect("groups").clone();
    let words = |group: &Value| {
        let ours = group["title"].as_str().expect("a title").to_owned();
        let words = group["enum"].as_array().expect("words").clone();
        words.into_iter().map(move |word| (word.as_str().expect("a word").to_owned(), ours.clone())).collect()
    };
    groups.iter().flat_map(|group| -> Vec<_> { words(group) }).collect()
}

/// Returns a word in another case, and with other separators.
fn respelled(random: &mut Random, word: &str) -> String {
    let other = |character: char| match character {
        '_' => random.one(&['_', '-', ' ']),
        letter if random.chance(50) => letter.to_ascii_uppercase(),
        letter => letter,
    };
    word.chars().map(other).collect()
}

#[test]
fn the_table_is_the_one_that_is_documented() {
    let documented = documented();
    for (word, ours) in &documented {
        assert_eq!(word.parse().map(Finish::as_str), Ok(ours.as_str()), "{word}");
    }
    for (word, finish) in Finish::words() {
        let folded = |word: &str| word.to_ascii_lowercase().replace('-', "_");
        let is = |(listed, ours): &(String, String)| folded(listed) == word && *ours == finish.as_str();
        assert!(documented.iter().any(is), "{word} is not in request.schema.json");
    }
}

/// The library of the host uses the same file.
#[test]
fn the_host_reads_the_same_words() {
    let mut random = Random(7);
    for (word, finish) in Finish::words() {
        for _ in 0..10 {
            let word = respelled(&mut random, word);
            assert_eq!(word.parse().map(seamgate::Finish::as_str), Ok(finish.as_str()), "{word}");
            let read: seamgate::Finish = serde_json::from_value(Value::from(word)).expect("a word");
            assert_eq!(json!(read), finish.as_str());
        }
    }
    assert_eq!("tired".parse::<seamgate::Finish>(), Err(seamgate::UnknownFinish));
}

/// The report on a truncated text depends on the finish reason, so this test distinguishes the words.
#[test]
fn the_wire_judges_by_a_word_as_by_ours() {
    let mut random = Random(1);
    let mut registry = Registry::new();
    registry.register(r#"{"agent":"a","schema":{"type":"object"}}"#).expect("a contract");
    let mut judged = |finish: &str, output: &str| {
        call(&mut registry, &json!({"agent": "a", "output": output, "finish": finish}).to_string())
    };
    for (word, finish) in Finish::words() {
        for output in ["{}", "{\"a\":", "I would rather not."] {
            let expected = judged(finish.as_str(), output);
            assert!(expected.contains("\"report\":"), "{expected}");
            assert_eq!(judged(word, output), expected, "{word}");
            assert_eq!(judged(&respelled(&mut random, word), output), expected, "{word}");
        }
    }
    let cut_off = |judged: &str| judged.contains("\"retryable\":true");
    let retryable: Vec<(&str, bool)> = ["stop", "length", "content_filter", "tool_call", "unknown"]
        .map(|finish| (finish, cut_off(&judged(finish, "{\"a\":"))))
        .to_vec();
    let expected =
        [("stop", true), ("length", false), ("content_filter", false), ("tool_call", true), ("unknown", true)];
    assert_eq!(retryable, expected);
    for word in ["", "done", "tool__call", "stop\u{0}", "stop\n"] {
        let answer = judged(word, "{}");
        assert!(answer.contains("\"fault\":\"bad_request\""), "{answer}");
        assert!(answer.contains("must be stop, length, refusal, content_filter, tool_call, unknown, or"), "{answer}");
        assert!(answer.contains("pass unknown for any other word"), "{answer}");
    }
}
