//! Checks the text that a model may read: it hides nothing, sanitizing it again changes nothing, spans are pieces of
//! the text, and no piece shows part of a secret.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seamgate_core::is_hidden;
use seamgate_fuzz::split;
use seamgate_kernel::sanitize::{inspect, sanitize};

const SECRET: &str = "glpat-q1w2e3r4t5z6u7i8o9p0";

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = split(input) else { return };
    let cleaned = sanitize(&text);
    assert_eq!(sanitize(&cleaned.text).text, cleaned.text, "cleaned again");
    // Hidden text in ASCII is never ordinary.
    if cleaned.text.is_ascii() {
        let hides = |(at, character): (usize, char)| match character {
            '\n' | '\t' => false,
            '\r' => !cleaned.text[at..].starts_with("\r\n"),
            _ => is_hidden(character),
        };
        assert!(!cleaned.text.char_indices().any(hides), "{:?}", cleaned.text);
    }
    for found in &cleaned.found.instructions {
        assert!(found.start < found.end && text.get(found.start..found.end).is_some(), "{found:?}");
    }
    // A secret between blanks is found in any surroundings, unless its end also occurs on its own.
    if text.contains(&SECRET[12..]) {
        return;
    }
    let cut = text.floor_char_boundary(choice * text.len() / 255);
    let text = format!("{} {SECRET} {}", &text[..cut], &text[cut..]);
    let inspected = inspect(&text);
    let mut out = String::new();
    inspected.write(0..text.len(), &mut out);
    assert!(!out.contains(&SECRET[8..]), "{out:?}");
    out.clear();
    inspected.write(cut + 10..text.len(), &mut out);
    assert!(!out.contains(&SECRET[12..]), "{out:?}");
});
