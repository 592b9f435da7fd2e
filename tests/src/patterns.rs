//! Random regular expressions, with texts that almost match them, for comparisons with other engines.

use seamgate_core::{Contract, Disposition, Request, validate};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Random;

/// A pattern, and texts to match with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The pattern as a schema contains it.
    pub pattern: String,
    /// Short texts.
    pub texts: Vec<String>,
}

/// The answer of another engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// `u`, `annex-b`, `none` if neither grammar accepts the pattern, or `too-slow` if the engine did not finish.
    pub reading: String,
    /// The answer for each text.
    pub matches: Vec<bool>,
    /// The number of texts for which the engine first answered differently, contrary to the standard.
    #[serde(default)]
    pub faults: usize,
}

/// The words of a contract for the gate's engines.
pub const ENGINES: [&str; 2] = ["linear", "backtracking"];

/// Returns whether each text matches, using one of the gate's own engines. Returns `None` if the engine rejects the
/// pattern. The entry of a text is `None` if the engine exceeds its step limit.
pub fn matches(pattern: &str, engine: &str, texts: &[String]) -> Option<Vec<Option<bool>>> {
    let schema = json!({"pattern": pattern});
    let extract = json!({"markers": [], "ignore": []});
    let contract = json!({"agent": "a", "patterns": engine, "schema": schema, "extract": extract});
    let contract = Contract::compile(&contract.to_string()).ok()?;
    let of = |text: &String| {
        let output = json!(text).to_string();
        let report = validate(&contract, &Request { output: &output, ..Request::default() }).ok()?;
        let rejected = report.error.as_ref().and_then(|error| error.violations.first());
        match (report.disposition, rejected) {
            (Disposition::Accepted, _) => Some(true),
            (Disposition::Rejected, Some(why)) if why.message.contains(" steps") => None,
            (Disposition::Rejected, Some(why)) if why.keyword == "pattern" => Some(false),
            _ => panic!("{pattern:?} {text:?} is neither accepted nor rejected: {}", report.to_json()),
        }
    };
    Some(texts.iter().map(of).collect())
}

/// The characters of literals and texts: words, digits, white space and line ends of all kinds, and characters outside
/// of the Basic Multilingual Plane.
const CHARACTERS: [&str; 32] = [
    "a",
    "b",
    "c",
    "A",
    "B",
    "z",
    "k",
    "u",
    "d",
    "p",
    "0",
    "1",
    "2",
    "7",
    "_",
    "-",
    ",",
    "é",
    "ſ",
    "\u{212a}",
    "ж",
    "١",
    " ",
    "\t",
    "\n",
    "\r",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{1f600}",
];

/// The pieces that mutations insert, which are metacharacters of patterns.
const META: [&str; 36] = [
    "\\", "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "^", "$", ".", "-", ",", ":", "=", "!", "<", ">", "/", " ",
    "\\c", "\\u", "\\x", "\\k", "{2", "{ 2}", "(?", "(?<", "\\u{", "1", "a", "&&", "~~",
];

/// Escapes outside of classes, each with a text that it matches. The escapes that `u` accepts come first.
const ESCAPES: [(&str, &str); 38] = [
    ("\\d", "1"),
    ("\\D", "a"),
    ("\\w", "a"),
    ("\\W", "é"),
    ("\\s", "\u{feff}"),
    ("\\S", "\u{200b}"),
    ("\\t", "\t"),
    ("\\n", "\n"),
    ("\\r", "\r"),
    ("\\v", "\u{b}"),
    ("\\f", "\u{c}"),
    ("\\0", "\0"),
    ("\\cJ", "\n"),
    ("\\ca", "\u{1}"),
    ("\\x41", "A"),
    ("\\u0041", "A"),
    ("\\u{41}", "A"),
    ("\\u{1F600}", "\u{1f600}"),
    ("\\ud83d\\ude00", "\u{1f600}"),
    ("\\ud83d", "\u{1f600}"),
    ("\\/", "/"),
    ("\\.", "."),
    ("\\{", "{"),
    ("\\|", "|"),
    ("\\-", "-"),
    ("\\_", "_"),
    ("\\a", "a"),
    ("\\<", "<"),
    ("\\A", "A"),
    ("\\z", "z"),
    ("\\e", "e"),
    ("\\Q", "Q"),
    ("\\07", "\u{7}"),
    ("\\377", "ÿ"),
    ("\\8", "8"),
    ("\\c", "\\c"),
    ("\\x4", "x4"),
    ("\\u00", "u00"),
];
const STRICT_ESCAPES: usize = 24;

/// Properties, each with a character that has it.
const PROPERTIES: [(&str, &str); 16] = [
    ("L", "é"),
    ("Lu", "A"),
    ("Letter", "ж"),
    ("gc=Nd", "١"),
    ("General_Category=Decimal_Number", "1"),
    ("Script=Cyrillic", "ж"),
    ("sc=Latn", "a"),
    ("scx=Greek", "α"),
    ("Alphabetic", "b"),
    ("White_Space", "\u{85}"),
    ("Emoji", "\u{1f600}"),
    ("ASCII", "z"),
    ("Any", "k"),
    ("Assigned", "u"),
    ("ID_Start", "c"),
    ("Uppercase", "B"),
];
/// Names of properties that exist in no edition of the standard.
const NO_PROPERTIES: [&str; 8] = ["letter", "lu", "IsAlpha", "Greek", "Script=greek", "L&", "^L", ""];

/// Returns a pattern, and texts, the first of which was generated with it.
pub fn made(random: &mut Random, texts: usize) -> Made {
    let loose = random.chance(45);
    let mut maker = Maker { random, loose, groups: Vec::new(), names: 0 };
    let (mut pattern, sample) = maker.disjunction(3);
    if loose {
        for _ in 0..random.below(3) {
            pattern = mutated(random, &pattern, &META);
        }
    }
    let mut all = vec![sample.clone()];
    while all.len() < texts {
        let text = match random.below(4) {
            0 => mutated(random, &sample, &CHARACTERS),
            1 => format!("{}{sample}{}", random.one(&CHARACTERS), random.one(&CHARACTERS)),
            2 => (0..random.below(6)).map(|_| random.one(&CHARACTERS)).collect(),
            _ => {
                let once = mutated(random, &sample, &CHARACTERS);
                mutated(random, &once, &CHARACTERS)
            }
        };
        all.push(text);
    }
    // On longer texts, backtracking engines may never finish.
    all.iter_mut().for_each(|text| *text = text.chars().take(16).collect());
    Made { pattern, texts: all }
}

/// Returns a text with one character inserted, removed or replaced.
fn mutated(random: &mut Random, text: &str, with: &[&str]) -> String {
    let mut characters: Vec<String> = text.chars().map(String::from).collect();
    let at = random.below(characters.len() + 1);
    match random.below(3) {
        0 if at < characters.len() => drop(characters.remove(at)),
        1 if at < characters.len() => characters[at] = random.one(with).to_owned(),
        _ => characters.insert(at, random.one(with).to_owned()),
    }
    characters.concat()
}

struct Maker<'r> {
    random: &'r mut Random,
    /// `true` to also generate patterns that `u` rejects.
    loose: bool,
    /// The text that each group matched, with its name.
    groups: Vec<(Option<String>, String)>,
    names: usize,
}

/// A piece of a pattern, and a text that approximately matches it.
type Piece = (String, String);

impl Maker<'_> {
    fn disjunction(&mut self, depth: usize) -> Piece {
        let count = if self.random.chance(20) { 2 + self.random.below(2) } else { 1 };
        let alternatives: Vec<Piece> = (0..count).map(|_| self.alternative(depth)).collect();
        let sample = self.random.one(&alternatives).1;
        (alternatives.into_iter().map(|(pattern, _)| pattern).collect::<Vec<_>>().join("|"), sample)
    }

    fn alternative(&mut self, depth: usize) -> Piece {
        let mut all = (String::new(), String::new());
        let length = self.random.below(if depth == 3 { 5 } else { 3 }) + usize::from(self.random.chance(90));
        if depth == 3 && self.random.chance(25) {
            all.0.push('^');
        }
        for _ in 0..length {
            let (pattern, sample) = self.term(depth);
            all.0.push_str(&pattern);
            all.1.push_str(&sample);
        }
        if depth == 3 && self.random.chance(25) {
            all.0.push('$');
        }
        all
    }

    fn term(&mut self, depth: usize) -> Piece {
        if self.random.chance(6) {
            return (self.random.one(&["\\b", "\\B", "^", "$"]).to_owned(), String::new());
        }
        if depth > 0 && self.random.chance(7) {
            return self.look(depth);
        }
        let (pattern, sample) = self.atom(depth);
        if !self.random.chance(35) {
            return (pattern, sample);
        }
        let (quantifier, count) = self.quantifier();
        (format!("{pattern}{quantifier}"), sample.repeat(count))
    }

    fn look(&mut self, depth: usize) -> Piece {
        let kind = self.random.one(&["(?=", "(?!", "(?<=", "(?<!"]);
        let (inside, _) = self.disjunction(depth - 1);
        let quantifier = match kind {
            "(?=" | "(?!" if self.loose && self.random.chance(20) => self.quantifier().0,
            _ => String::new(),
        };
        (format!("{kind}{inside}){quantifier}"), String::new())
    }

    fn quantifier(&mut self) -> (String, usize) {
        let (mut text, count) = match self.random.below(9) {
            0 | 1 => ("*".to_owned(), self.random.below(3)),
            2 | 3 => ("+".to_owned(), 1 + self.random.below(3)),
            4 | 5 => ("?".to_owned(), self.random.below(2)),
            6 => {
                let count = self.random.below(4);
                (format!("{{{count}}}"), count)
            }
            7 => {
                let count = self.random.below(3);
                (format!("{{{count},}}"), count + self.random.below(2))
            }
            _ => {
                let (least, more) = (self.random.below(3), self.random.below(3));
                (format!("{{{least},{}}}", least + more), least + self.random.below(more + 1))
            }
        };
        if self.random.chance(20) {
            text.push('?');
        }
        if self.loose && self.random.chance(15) {
            let broken = ["{", "}", "{,2}", "{a}", "{ 2}", "{2", "{2,", "{1 }", "{2,1}"];
            return (self.random.one(&broken).to_owned(), 1);
        }
        (text, count)
    }

    fn atom(&mut self, depth: usize) -> Piece {
        match self.random.below(if depth == 0 { 16 } else { 20 }) {
            0..=4 => self.literal(),
            5 | 6 => (".".to_owned(), self.character()),
            7..=9 => self.escape(),
            10..=12 => self.class(),
            13 => self.property(),
            14 => self.back_reference(),
            15 if self.loose => (self.random.one(&["]", "{", "}", "\\", "{,5}", "a{ 2}"]).to_owned(), String::new()),
            15 => self.literal(),
            16 | 17 => {
                let (inside, sample) = self.disjunction(depth - 1);
                (format!("(?:{inside})"), sample)
            }
            _ => self.group(depth),
        }
    }

    fn character(&mut self) -> String {
        self.random.one(&CHARACTERS).to_owned()
    }

    fn literal(&mut self) -> Piece {
        let character = self.character();
        (character.clone(), character)
    }

    fn escape(&mut self) -> Piece {
        let escapes = if self.loose { &ESCAPES[..] } else { &ESCAPES[..STRICT_ESCAPES] };
        let (pattern, sample) = self.random.one(escapes);
        (pattern.to_owned(), sample.to_owned())
    }

    fn property(&mut self) -> Piece {
        let (name, sample) = self.random.one(&PROPERTIES);
        let name = if self.loose && self.random.chance(30) { self.random.one(&NO_PROPERTIES) } else { name };
        match self.random.chance(25) {
            true => (format!("\\P{{{name}}}"), self.character()),
            false => (format!("\\p{{{name}}}"), sample.to_owned()),
        }
    }

    fn group(&mut self, depth: usize) -> Piece {
        let number = self.groups.len();
        let name = self.random.chance(25).then(|| {
            self.names += 1;
            format!("{}{}", self.random.one(&["n", "$", "é"]), self.names)
        });
        self.groups.push((name.clone(), String::new()));
        let (inside, sample) = self.disjunction(depth - 1);
        self.groups[number].1.clone_from(&sample);
        let begin = name.map_or_else(|| "(".to_owned(), |name| format!("(?<{name}>"));
        (format!("{begin}{inside})"), sample)
    }

    fn back_reference(&mut self) -> Piece {
        if self.groups.is_empty() && !self.loose {
            return self.literal();
        }
        let number = self.random.below(self.groups.len() + usize::from(self.loose));
        let (name, sample) = self.groups.get(number).cloned().unwrap_or_default();
        match name {
            Some(name) if self.random.chance(60) => (format!("\\k<{name}>"), sample),
            None if self.loose && self.random.chance(10) => (self.random.one(&["\\k<n>", "\\k"]).to_owned(), sample),
            _ => (format!("\\{}", number + 1), sample),
        }
    }

    fn class(&mut self) -> Piece {
        let mut pattern = "[".to_owned();
        let mut samples = vec![String::new()];
        let negated = self.random.chance(25);
        if negated {
            pattern.push('^');
        }
        for _ in 0..self.random.below(4) {
            let (first, sample) = self.class_atom();
            pattern.push_str(&first);
            samples.push(sample);
            if self.random.chance(25) {
                let ranges =
                    [("0-9", "7"), ("a-c", "b"), ("A-Z", "B"), (" -~", "{"), ("а-я", "ж"), ("\\x30-\\u{39}", "1")];
                let (range, sample) = self.random.one(&ranges);
                pattern.push_str(range);
                samples.push(sample.to_owned());
            }
            if self.loose && self.random.chance(15) {
                pattern.push('-');
                pattern.push_str(&self.class_atom().0);
            }
        }
        pattern.push(']');
        let sample = if negated { self.character() } else { self.random.one(&samples) };
        (pattern, sample)
    }

    fn class_atom(&mut self) -> Piece {
        match self.random.below(12) {
            0..=5 => self.literal(),
            6..=7 => self.escape(),
            8 => self.property(),
            9 => ("\\b".to_owned(), "\u{8}".to_owned()),
            10 if self.loose => {
                let odd =
                    ["[", "[:alpha:]", "&&", "--", "~~", "\\B", "\\c_", "\\c0", "\\-", "^", "\\k", "\\1", "\\ud83d"];
                (self.random.one(&odd).to_owned(), self.character())
            }
            10 => (self.random.one(&["[", "&&", "~~", "\\-", "$", "(", "|"]).to_owned(), self.character()),
            _ => (".".to_owned(), ".".to_owned()),
        }
    }
}
