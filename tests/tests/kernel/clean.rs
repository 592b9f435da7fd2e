//! Tests the text that a model may read: it contains no hidden characters and no secrets, and sanitizing it again does
//! not change it. `docs/clean.md` has tables of the outputs of PyRIT's converters, and of findings in ordinary texts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use seamgate_core::is_hidden;
use seamgate_kernel::sanitize::{MAX_INSTRUCTIONS, Sanitized, inspect, sanitize};
use seamgate_tests::Random;
use serde_json::Value;

/// The pieces of hostile texts.
const PIECES: &[&str] = &[
    "\u{200b}",
    "\u{200d}",
    "\u{200c}",
    "\u{feff}",
    "\u{ad}",
    "\u{202e}",
    "\u{2066}",
    "\u{e0041}",
    "\u{e0001}",
    "\u{fe0f}",
    "\u{e0101}",
    "\u{1b}[31m",
    "\u{1b}]8;;",
    "\u{1b}",
    "\u{9b}1m",
    "\u{7}",
    "\u{85}",
    "\u{2028}",
    "\r",
    "\r\n",
    "\0",
    "👩",
    "❤",
    "🏽",
    "中",
    "葛",
    "می",
    "خ",
    "क",
    "्",
    "1",
    "\u{20e3}",
    "é",
    "e\u{301}",
    "ａ",
    "𝐚",
    "а",
    "\\u200b",
    "\\u{200b}",
    "\\ud83d",
    "\\ude00",
    "\\u0041",
    "\\u005c",
    "\\u003a",
    "\\u005b",
    "\\u000a",
    "\\u{1b}",
    "\\u{",
    "\\",
    "\\n",
    "\\\"",
    "\"",
    "'",
    "`",
    " ",
    " ",
    " ",
    "\n",
    "\n\n",
    "\t",
    ".",
    ". ",
    ",",
    ":",
    ": ",
    "=",
    "::",
    "/",
    "//",
    "?",
    "#",
    "@",
    "&",
    ";",
    "-",
    "_",
    "~",
    "|",
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "](",
    "![",
    "{",
    "}",
    "*",
    "+",
    "%",
    "https://",
    "http://a.example",
    "HTTPS://",
    "hxxps://",
    "//evil.example/",
    "javascript:",
    "data:",
    "mailto:a@b.example",
    "user:pass1@",
    "app:s3cr3t@db",
    "www.a.com",
    "a.example/x?y=",
    "<a href=",
    "<img src=\"",
    "<img alt='",
    "<x:y",
    "url(",
    "0;url=",
    "<img srcset=\"",
    "<p style='",
    "<iframe srcdoc=\"",
    "<meta content=0;",
    "<style>",
    "</style>",
    "@import ",
    "image-set(",
    "&#58;",
    "&amp;",
    "&sol;",
    "\\\\evil.example/",
    "\\3a ",
    "\\]",
    "![b]",
    "![a][",
    "- [b]: ",
    ", ",
    "[a]: ",
    "\n[b]: https://b.example/?q",
    "password",
    "passwd=",
    "password=",
    "\"password\": \"",
    "hunter22",
    "api_key",
    "api_key=",
    "token",
    "access_token: ",
    "secret=",
    "sig=",
    "?sig=",
    "key",
    "Bearer ",
    "Authorization: ",
    "Basic ",
    "0123abcd4567ef890",
    "dXNlcjpwYXNz",
    "[redacted:password]",
    "[redacted:",
    "AKIA",
    "IOSFODNN7EXAMPLE",
    "ghp_",
    "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
    "sk-",
    "sk-ant-api03-",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9",
    ".eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    ".sig_nature",
    "AIza",
    "xoxb-",
    "8Q~",
    "hooks.slack.com/services/",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "-----END ",
    "MIIEowIBAAKCAQEAxabcdefghij",
    "Proc-Type: 4,ENCRYPTED",
    "ignore",
    "previous",
    "all",
    "instructions",
    "you",
    "are",
    "now",
    "an",
    "assistant",
    "user",
    "already",
    "approved",
    "by",
    "<|im_start|>",
    "<|",
    "|>",
    "[INST]",
    "system:",
    "忽略",
    "之前",
    "指令",
];

/// Complete secrets of each kind that the pieces can hide.
const SECRETS: &[&str] = &[
    "AKIAQRSTUVWXYZ234567",
    "ghp_q1w2e3r4t5z6u7i8o9p0q1w2e3r4t5z6u7i8",
    "glpat-a1b2c3d4e5f6g7h8i9j0",
    "xoxb-123456789012-123456789012-abcdefghijkl",
    "sk-ant-api03-a1b2c3d4e5f6g7h8i9j0k1l2",
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJuYW1lIjoiYW5uYSIsImlhdCI6MTUxfQ.c2lnbmF0dXJl",
    "AIzaTyB1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
];

fn text(random: &mut Random) -> String {
    let length = 1 + random.below(40);
    (0..length).map(|_| random.one(PIECES)).collect()
}

/// Returns whether all hidden characters of a text also occur in ordinary text: line ends, tabs, and characters inside
/// emoji, in words of some scripts or after ideographs.
fn shows_all(text: &str) -> bool {
    text.char_indices().all(|(at, character)| {
        let before = text[..at].chars().next_back();
        let is_after = |is: fn(char) -> bool| before.is_some_and(is);
        match character {
            '\n' | '\t' => true,
            '\r' => text[at..].starts_with("\r\n"),
            '\u{200c}' | '\u{200d}' | '\u{fe0f}' | '\u{e0100}'..='\u{e010f}' => {
                is_after(|before| !before.is_ascii() && !before.is_control())
                    || text[at..].starts_with("\u{fe0f}\u{20e3}")
            }
            _ => !is_hidden(character),
        }
    })
}

fn check(text: &str) -> Sanitized {
    let cleaned = sanitize(text);
    assert_eq!(sanitize(&cleaned.text).text, cleaned.text, "{text:?} is cleaned again");
    assert!(shows_all(&cleaned.text), "{text:?} hides: {:?}", cleaned.text);
    assert!(cleaned.found.instructions.len() <= MAX_INSTRUCTIONS);
    for found in &cleaned.found.instructions {
        assert!(found.start < found.end, "{text:?}: {found:?}");
        assert!(text.get(found.start..found.end).is_some(), "{text:?}: {found:?}");
    }
    cleaned
}

#[test]
fn cleaned_text_hides_nothing_and_stays_as_it_is() {
    let random = &mut Random(1);
    let mut found = BTreeSet::new();
    for _ in 0..60_000 {
        let found_in = check(&text(random)).found;
        found.extend(found_in.escaped.found().map(|(class, _)| class));
        found.extend(found_in.redacted.found().map(|(kind, _)| kind));
        found.extend(found_in.instructions.iter().map(|instruction| instruction.kind.as_str()));
    }
    // If no text caused a finding, the test would prove nothing.
    assert!(found.len() >= 20, "{found:?}");
}

#[test]
fn a_secret_behind_a_token_changes_nothing_about_it() {
    for begin in ["AIza", "x=ab08Q~", "AKIA", "dapi", "AGE-SECRET-KEY-1", "SG.", "key=", "eyJ"] {
        for length in 8..64 {
            for between in ["", "-", "_", ".", "~", "=", "/", "+", "@"] {
                for secret in SECRETS {
                    let filler = if begin == "AKIA" { "A1" } else { "a1" };
                    check(&format!("{begin}{}{between}{secret}", &filler.repeat(32)[..length]));
                }
            }
        }
    }
}

#[test]
fn no_piece_of_a_text_shows_part_of_a_secret() {
    let random = &mut Random(2);
    for _ in 0..20_000 {
        let secret = random.one(SECRETS);
        let hidden: String = match random.below(3) {
            0 => secret.to_owned(),
            1 => secret.chars().flat_map(|letter| [letter, '\u{200b}']).collect(),
            _ => secret.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect(),
        };
        // The secret may be part of a longer finding, but it is never shown. The blanks separate it from the text
        // before it.
        let text = format!("{} {hidden} {}", text(random), text(random));
        let inspected = inspect(&text);
        let from = random.below(text.len());
        let end = from + random.below(text.len() - from + 1);
        let mut out = String::new();
        inspected.write(from..end, &mut out);
        let bare: String = out.chars().filter(char::is_ascii_alphanumeric).collect();
        let middle: String = secret.chars().filter(char::is_ascii_alphanumeric).skip(6).take(10).collect();
        assert!(!bare.contains(&middle), "{text:?}: {out:?}");
        assert!(shows_all(&out) || from > 0, "{text:?}: {out:?}");
        check(&text);
    }
}

#[test]
fn pieces_make_the_whole() {
    let random = &mut Random(3);
    for _ in 0..20_000 {
        let text: String = text(random);
        let inspected = inspect(&text);
        let cut = text.floor_char_boundary(random.below(text.len() + 1));
        let mut out = String::new();
        inspected.write(0..cut, &mut out);
        inspected.write(cut..text.len(), &mut out);
        let whole = sanitize(&text).text;
        // If the cut splits a finding, both pieces contain its replacement.
        assert!(out == whole || out.len() > whole.len(), "{text:?} at {cut}: {out:?}");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clean")
}

/// Returns the texts that converters made, each with its group, the converter with its arguments, and the number of the
/// prompt.
fn converted() -> Vec<(String, String, usize, String)> {
    let lines = fs::read_to_string(folder().join("pyrit.jsonl")).expect("the texts");
    let texts: Vec<_> = lines
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let string = |name: &str| line[name].as_str().expect("a string").to_owned();
            let arguments = line["arguments"].as_object().expect("an object");
            let arguments = arguments.iter().filter(|(name, _)| !matches!(name.as_str(), "seed" | "include_tasks"));
            let arguments: Vec<String> = arguments
                .map(|(_, value)| match value {
                    Value::String(text) => text
                        .chars()
                        .map(|c| if c.is_ascii() { c.to_string() } else { format!("U+{:04X}", u32::from(c)) })
                        .collect(),
                    other => other.to_string(),
                })
                .collect();
            let name = [vec![string("converter")], arguments].concat().join(" ");
            (string("group"), name, line["prompt"].as_u64().expect("a number") as usize, string("text"))
        })
        .collect();
    assert!(texts.len() >= 264);
    texts
}

#[test]
fn nothing_that_pyrit_hides_reaches_a_model() {
    let mut escaped = 0;
    for (group, name, _, text) in converted() {
        let cleaned = check(&text);
        // Letters that are emoji have a variation selector each, as in ordinary text.
        let is_hiding = |character: &char| {
            is_hidden(*character) && *character != '\n' && !(name == "Emoji" && *character == '\u{fe0f}')
        };
        if let Some(hidden) = cleaned.text.chars().find(is_hiding) {
            panic!("{group} {name}: U+{:04X}", u32::from(hidden));
        }
        let hidden = text.chars().filter(is_hiding).count();
        assert_eq!(cleaned.found.escaped.total() as usize, hidden, "{name}: each is counted");
        escaped += hidden;
    }
    assert!(escaped > 1000, "{escaped} characters");
}

/// The test writes the part of the page after this line.
const WRITTEN: &str =
    "<!-- What follows is written by `BLESS=core cargo test --release -p seamgate-tests --test kernel -- clean`. -->\n";

#[test]
fn the_tables_say_what_is_found() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/clean.md");
    let stored = fs::read_to_string(&page).expect("the page");
    let (kept, _) = stored.split_once(WRITTEN).expect("the line before the tables");
    let written = format!("{kept}{WRITTEN}{}{}{}", examples(), attacks(), ordinary());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&page, &written).expect("the page");
    }
    assert_eq!(stored, written, "the tables differ; BLESS=core writes them");
}

fn list<'w>(counts: impl Iterator<Item = (&'w str, u32)>) -> String {
    let all: Vec<String> = counts.map(|(word, count)| format!("{count} `{word}`")).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(", ") }
}

/// Returns a table of each line of `examples.txt`, with Rust escapes, and its sanitized text.
fn examples() -> String {
    let mut out = "\n## Examples\n\n| text | what the model reads | flagged |\n| --- | --- | --- |\n".to_owned();
    for line in fs::read_to_string(folder().join("examples.txt")).expect("the examples").lines() {
        let text = unescaped(line);
        let cleaned = check(&text);
        let flagged: Vec<String> = cleaned
            .found
            .instructions
            .iter()
            .map(|found| format!("`{}` at {}–{}", found.kind.as_str(), found.start, found.end))
            .collect();
        let cell = |text: &str| format!("`` {} ``", text.replace('\n', "⏎").replace('|', "\\|"));
        let flagged = if flagged.is_empty() { "–".to_owned() } else { flagged.join(", ") };
        let _ = writeln!(out, "| {} | {} | {flagged} |", cell(line), cell(&cleaned.text));
    }
    out
}

/// Unescapes `\u{…}`, `\n` and `\\`, as in Rust.
fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(code) = rest.strip_prefix("u{") {
            let (code, after) = code.split_once('}').expect("a brace");
            out.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
            rest = after;
        } else {
            let mut characters = rest.chars();
            out.push(if characters.next() == Some('n') { '\n' } else { '\\' });
            rest = characters.as_str();
        }
    }
    out + rest
}

/// The findings in a converter's texts.
#[derive(Default)]
struct Row {
    escaped: BTreeMap<&'static str, u32>,
    /// For each prompt, the number of its texts that were flagged.
    flagged: BTreeMap<usize, u32>,
    texts: BTreeMap<usize, u32>,
    kinds: BTreeSet<&'static str>,
}

fn attacks() -> String {
    let mut groups: BTreeMap<String, Vec<(String, Row)>> = BTreeMap::new();
    for (group, name, prompt, text) in converted() {
        let rows = groups.entry(group).or_default();
        if rows.last().is_none_or(|(last, _)| *last != name) {
            rows.push((name, Row::default()));
        }
        let (_, row) = rows.last_mut().expect("a row");
        let found = sanitize(&text).found;
        for (class, count) in found.escaped.found() {
            *row.escaped.entry(class).or_default() += count;
        }
        *row.texts.entry(prompt).or_default() += 1;
        *row.flagged.entry(prompt).or_default() += u32::from(!found.instructions.is_empty());
        row.kinds.extend(found.instructions.iter().map(|instruction| instruction.kind.as_str()));
    }
    let mut out =
        "\n## PyRIT\n\nThe texts are those that `tests/clean/generate.py` makes with PyRIT 1.1.0: three prompts that \
                   read like instructions, and one ordinary log line.\n"
            .to_owned();
    for (group, title) in [("hides", "Converters that hide a text"), ("encodes", "Converters that encode a text")] {
        let _ = write!(
            out,
            "\n### {title}\n\n| converter | characters escaped | instructions flagged | log line flagged | flagged as |\n\
             | --- | --- | --- | --- | --- |\n"
        );
        for (name, row) in &groups[group] {
            let sum = |of: &BTreeMap<usize, u32>, ordinary: bool| -> u32 {
                of.iter().filter(|(prompt, _)| (**prompt == 3) == ordinary).map(|(_, count)| count).sum()
            };
            let rate = |ordinary| format!("{} of {}", sum(&row.flagged, ordinary), sum(&row.texts, ordinary));
            let escaped = list(row.escaped.iter().map(|(class, count)| (*class, *count)));
            let kinds: Vec<String> = row.kinds.iter().map(|kind| format!("`{kind}`")).collect();
            let kinds = if kinds.is_empty() { "–".to_owned() } else { kinds.join(", ") };
            let _ = writeln!(out, "| {name} | {escaped} | {} | {} | {kinds} |", rate(false), rate(true));
        }
    }
    out
}

fn ordinary() -> String {
    let mut out = "\n## Ordinary texts\n\nThe texts are in `tests/clean/ordinary`. All that is found in them is a false alarm, but \
                   for links.\n\n| texts | bytes | escaped | redacted | links defanged | flagged |\n| --- | ---: | --- | --- | ---: | --- |\n"
        .to_owned();
    let mut groups: Vec<PathBuf> = fs::read_dir(folder().join("ordinary"))
        .expect("the texts")
        .map(|entry| entry.expect("a folder").path())
        .collect();
    groups.sort();
    assert!(groups.len() >= 12);
    for group in groups {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&group).expect("the texts").map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        let (mut bytes, mut escaped, mut redacted, mut defanged) = (0, BTreeMap::new(), BTreeMap::new(), 0);
        let mut flagged = Vec::new();
        for file in files {
            let text = fs::read_to_string(file).expect("text");
            let found = check(&text).found;
            bytes += text.len();
            defanged += found.defanged;
            found.escaped.found().for_each(|(class, count)| *escaped.entry(class).or_default() += count);
            found.redacted.found().for_each(|(kind, count)| *redacted.entry(kind).or_default() += count);
            flagged.extend(found.instructions.iter().map(|found| {
                format!("`{}`: “{}”", found.kind.as_str(), text[found.start..found.end].replace('\n', " "))
            }));
        }
        let name = group.file_name().and_then(|name| name.to_str()).expect("a name");
        let (escaped, redacted) = (list(escaped.into_iter()), list(redacted.into_iter()));
        let flagged = if flagged.is_empty() { "–".to_owned() } else { flagged.join(", ") };
        let _ = writeln!(out, "| {name} | {bytes} | {escaped} | {redacted} | {defanged} | {flagged} |");
    }
    out
}

/// Prints the findings in the files whose paths are the lines of the file `SEAMGATE_TEXTS`. This helps to look for
/// false alarms.
#[test]
fn texts_of_files_are_cleaned_once() {
    let Some(list) = std::env::var_os("SEAMGATE_TEXTS") else { return };
    let (mut texts, mut bytes, mut found) = (0, 0, BTreeMap::<&str, u32>::new());
    for path in fs::read_to_string(list).expect("a list").lines() {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let cleaned = sanitize(&text);
        assert_eq!(sanitize(&cleaned.text).text.len(), cleaned.text.len(), "{path}");
        texts += 1;
        bytes += text.len();
        let counts = cleaned.found.escaped.found().chain(cleaned.found.redacted.found());
        let kinds = cleaned.found.instructions.iter().map(|instruction| (instruction.kind.as_str(), 1));
        counts.chain(kinds).chain([("defanged", cleaned.found.defanged)]).for_each(|(word, count)| {
            *found.entry(word).or_default() += count;
        });
    }
    println!("{texts} texts of {bytes} bytes: {found:?}");
}
