//! Finds text that reads like an instruction to a model. Such text is reported and kept, because it may only quote an
//! instruction.
//!
//! Each rule is a sequence of words, each at most a number of steps after the previous one. Only the latest position of
//! each word of a rule is remembered, so the search takes linear time.

use super::{
    types::{Instruction, Reads},
    vocabulary::*,
    words::Word,
};

/// The maximum number of places that are reported with their spans.
pub const MAX_INSTRUCTIONS: usize = 64;

/// The most words of a rule.
const MOST: usize = 5;

struct Rule {
    kind: Reads,
    /// For each word, its possible roles, and the maximum number of steps after the previous word. A word counts as two
    /// steps.
    words: &'static [(u64, u32)],
}

const fn rule(kind: Reads, words: &'static [(u64, u32)]) -> Rule {
    assert!(words.len() <= MOST);
    Rule { kind, words }
}

static RULES: &[Rule] = &[
    rule(Reads::Override, &[(IGNORE, 0), (PRIOR | ALL | YOUR, 8), (OBJECT, 8)]),
    rule(Reads::Override, &[(IGNORE, 0), (OBJECT, 8), (PRIOR, 6)]),
    rule(Reads::Override, &[(BYPASS, 0), (PRIOR, 4), (OBJECT, 4)]),
    rule(Reads::Override, &[(BYPASS, 0), (ALL, 2), (YOUR, 2), (OBJECT, 6)]),
    rule(Reads::Override, &[(IGNORE, 0), (EVERYTHING, 4), (ABOVE, 8)]),
    rule(Reads::Override, &[(NOT, 0), (FOLLOW, 4), (PRIOR | YOUR, 6), (OBJECT, 6)]),
    rule(Reads::Override, &[(PRIOR, 0), (OBJECT, 6), (IGNORE_LAST, 8)]),
    rule(Reads::Override, &[(YOUR, 0), (NEW | REAL, 2), (TASK, 4), (IS, 3)]),
    rule(Reads::Override, &[(REAL | NEW, 0), (INSTRUCTION, 2), (IS, 3)]),
    rule(Reads::RoleChange, &[(YOU, 0), (ARE, 2), (NOW, 2), (PERSONA, 10)]),
    rule(Reads::RoleChange, &[(FROM, 0), (NOW, 2), (ON, 2), (YOU, 4), (MUST, 4)]),
    rule(Reads::RoleChange, &[(PRETEND, 0), (BE, 6)]),
    rule(Reads::RoleChange, &[(JAILBREAK, 0), (MODE, 2)]),
    rule(Reads::RoleChange, &[(YOU, 0), (ARE, 2), (NO, 2), (LONGER, 2), (BOUND, 4)]),
    rule(Reads::RoleChange, &[(YOU_FOREIGN, 0), (NOW_FOREIGN, 4), (PERSONA, 12)]),
    rule(Reads::RoleChange, &[(NOW_FOREIGN, 0), (YOU_FOREIGN, 4), (PERSONA, 12)]),
    rule(Reads::ApprovalClaim, &[(PERSON, 0), (APPROVED, 8)]),
    rule(Reads::ApprovalClaim, &[(PERSON, 0), (ALREADY, 6), (AGREED, 4)]),
    rule(Reads::ApprovalClaim, &[(ALREADY, 0), (APPROVED, 4)]),
    rule(Reads::ApprovalClaim, &[(APPROVED, 0), (BY, 3), (PERSON, 6)]),
    rule(Reads::ApprovalClaim, &[(APPROVAL, 0), (GRANTED, 8)]),
    rule(Reads::ApprovalClaim, &[(NO, 0), (APPROVAL, 4), (NEEDED, 6)]),
    rule(Reads::ApprovalClaim, &[(WITHOUT, 0), (ASKING, 2), (APPROVAL | PERSON, 6)]),
    rule(Reads::ToolDemand, &[(CALL, 0), (THE, 2), (TOOL, 8)]),
    rule(Reads::ToolDemand, &[(USE, 0), (YOUR, 4), (TOOL, 6)]),
    rule(Reads::Disclosure, &[(REVEAL, 0), (SYSTEM, 6), (PROMPT, 2)]),
    rule(Reads::Disclosure, &[(SEND, 0), (CONVERSATION, 8), (TO, 6)]),
    rule(Reads::Disclosure, &[(SEND, 0), (ALL | YOUR, 4), (SENSITIVE, 8), (TO, 6)]),
    rule(Reads::Concealment, &[(NOT, 0), (TELL, 2), (PERSON, 8)]),
    rule(Reads::Concealment, &[(WITHOUT, 0), (TELL, 2), (PERSON, 6)]),
    rule(Reads::Address, &[(IF, 0), (YOU, 2), (ARE, 2), (MODEL, 8)]),
    rule(Reads::Address, &[(NOTE, 0), (TO, 3), (MODEL, 6)]),
];

/// The rules that contain each role.
static RULES_OF: [u64; 64] = {
    assert!(RULES.len() <= 64);
    let mut rules = [0; 64];
    let mut index = 0;
    while index < RULES.len() {
        let mut word = 0;
        while word < RULES[index].words.len() {
            let mut bits = RULES[index].words[word].0;
            while bits != 0 {
                rules[bits.trailing_zeros() as usize] |= 1 << index;
                bits &= bits - 1;
            }
            word += 1;
        }
        index += 1;
    }
    rules
};

/// The rules that begin with each role.
static BEGIN_WITH: [u64; 64] = {
    let mut rules = [0; 64];
    let mut index = 0;
    while index < RULES.len() {
        let mut bits = RULES[index].words[0].0;
        while bits != 0 {
            rules[bits.trailing_zeros() as usize] |= 1 << index;
            bits &= bits - 1;
        }
        index += 1;
    }
    rules
};

// The words that rules begin with are reported in any case.
const _: () = {
    let mut index = 0;
    while index < RULES.len() {
        assert!(RULES[index].words[0].0 & !LEADS == 0);
        index += 1;
    }
};

/// The most steps between two words of any rule.
const MOST_STEPS: u32 = {
    let (mut most, mut index) = (0, 0);
    while index < RULES.len() {
        let mut word = 0;
        while word < RULES[index].words.len() {
            let steps = RULES[index].words[word].1;
            most = if steps > most { steps } else { most };
            word += 1;
        }
        index += 1;
    }
    most
};

/// The last occurrence of a rule's words up to a certain word: the position of that word, or 0 if there was none, and
/// the first byte of the first word.
#[derive(Clone, Copy, Default)]
struct Reached {
    place: u32,
    start: usize,
}

/// The places of a view that read like an instruction.
pub(super) struct Instructions {
    found: Vec<Instruction>,
    left_out: u32,
    /// The state of each rule. Allocated when a word of any rule occurs, because most texts are short and contain none.
    reached: Vec<[Reached; MOST]>,
    /// The rules that have begun, and the position of the last matched word. Beyond a distance from it, none of them
    /// continues.
    begun: u64,
    last: u32,
    /// The last word that forbids something, and the last one that states a condition: the position and first byte of
    /// each.
    forbids: (u32, usize),
    condition: (u32, usize),
}

impl Instructions {
    pub(super) fn new() -> Self {
        Instructions {
            found: Vec::new(),
            left_out: 0,
            reached: Vec::new(),
            begun: 0,
            last: 0,
            forbids: (0, 0),
            condition: (0, 0),
        }
    }

    /// Returns the places in order, and the number of further ones.
    pub(super) fn found(self) -> (Vec<Instruction>, u32) {
        (self.found, self.left_out)
    }

    pub(super) fn add(&mut self, kind: Reads, start: usize, end: usize) {
        // A place that overlaps the last place of its kind extends it.
        if let Some(last) = self.found.iter_mut().rev().take(4).find(|last| last.kind == kind)
            && start < last.end
        {
            last.start = last.start.min(start);
            last.end = last.end.max(end);
        } else if self.found.len() < MAX_INSTRUCTIONS {
            self.found.push(Instruction { kind, start, end });
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    pub(super) fn word(&mut self, text: &[u8], word: Word) {
        let mark = if opens_mark(text, word.start) { bar(text, word.start) } else { None };
        let mark = mark.or_else(|| (word.roles & MARK != 0).then(|| mark_of(text, word.start, word.end)).flatten());
        if let Some((start, end)) = mark {
            self.add(Reads::RoleMarker, start, end);
        }
        if word.place.saturating_sub(self.last) > MOST_STEPS {
            self.begun = 0;
        }
        if word.roles & NOT != 0 {
            self.forbids = (word.place, word.start);
        }
        if word.roles & CONDITION != 0 {
            self.condition = (word.place, word.start);
        }
        let (mut rules, mut begin) = (0, 0);
        let mut bits = word.roles;
        while bits != 0 {
            let role = bits.trailing_zeros() as usize;
            rules |= RULES_OF[role];
            begin |= BEGIN_WITH[role];
            bits &= bits - 1;
        }
        rules &= begin | self.begun;
        while rules != 0 {
            let index = rules.trailing_zeros() as usize;
            rules &= rules - 1;
            self.follow(text, index, word);
        }
    }

    /// Returns the place up to which a word may continue a rule that has begun.
    pub(super) fn upto(&self) -> u32 {
        if self.begun == 0 { 0 } else { self.last.saturating_add(MOST_STEPS) }
    }

    /// Returns whether the text belongs to a procedure: "do not pay without asking the user", "if it was already
    /// approved", "call the tool".
    fn is_procedure(&self, text: &[u8], rule: &Rule, start: usize, word: Word) -> bool {
        let is_before = |(place, at): (u32, usize), steps: u32| {
            let ends = |pair: &[u8]| {
                matches!(pair[0], b'.' | b'!' | b'?' | b';' | b',' | b':') && pair[1].is_ascii_whitespace()
            };
            place > 0
                && at < start
                && word.place - place <= steps
                && !text[at..start].windows(2).any(|pair| ends(pair) || pair == b"\n\n")
        };
        match rule.kind {
            Reads::ApprovalClaim if rule.words[0].0 == WITHOUT => is_before(self.forbids, 24),
            Reads::ApprovalClaim => is_before(self.condition, 20),
            // It names no tool.
            Reads::ToolDemand => {
                rule.words[0].0 == CALL && text[start..word.end].split(|byte| *byte == b' ').count() <= 3
            }
            _ => false,
        }
    }

    fn follow(&mut self, text: &[u8], index: usize, word: Word) {
        if self.reached.is_empty() {
            self.reached.resize(RULES.len(), [Reached::default(); MOST]);
        }
        let (rule, reached) = (&RULES[index], &mut self.reached[index]);
        // Starts from the last word, so that one word does not match two words of the rule.
        for (at, (roles, steps)) in rule.words.iter().enumerate().rev() {
            if word.roles & roles == 0 {
                continue;
            }
            let start = match at.checked_sub(1) {
                None => word.start,
                Some(before) => match reached[before] {
                    before if before.place > 0 && word.place - before.place <= *steps => before.start,
                    _ => continue,
                },
            };
            self.begun |= 1 << index;
            self.last = word.place;
            if at + 1 == rule.words.len() {
                *reached = [Reached::default(); MOST];
                if self.is_procedure(text, rule, start, word) {
                    return;
                }
                self.add(rule.kind, start, word.end);
                return;
            }
            reached[at] = Reached { place: word.place, start };
        }
    }
}

/// Returns whether the bytes before a word open a mark.
pub(super) fn opens_mark(text: &[u8], start: usize) -> bool {
    start >= 2 && text[start - 1] == b'|' && text[start - 2] == b'<'
}

/// Returns the span of a mark such as `<|im_start|>`.
fn bar(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let is_inside = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ');
    let end = start + text[start..].iter().take(40).take_while(is_inside).count();
    text[end..].starts_with(b"|>").then_some((start - 2, end + 2))
}

/// Returns the span of a mark around one of its words: `[INST]`, `<<SYS>>`, `<start_of_turn>`, `<tool_call>`, `###
/// Instruction:`, or `system:` at the start of a line, if the text after it addresses a model.
fn mark_of(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let (before, word, after) = (&text[..start], &text[start..end], &text[end..]);
    let is = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    let length = |pieces: &[&str]| pieces.iter().find(|piece| after.starts_with(piece.as_bytes())).map(|p| p.len());
    let opens = |pieces: &[&str]| pieces.iter().find(|piece| before.ends_with(piece.as_bytes())).map(|p| p.len());
    if word == b"INST" {
        return Some((start - opens(&["[/", "["])?, end + length(&["]"])?));
    }
    if word == b"SYS" {
        return Some((start - opens(&["<</", "<<"])?, end + length(&[">>"])?));
    }
    if let Some(open) = opens(&["</", "<"]) {
        let names: &[&str] = match word {
            b"start" | b"end" => &["_of_turn>"],
            b"tool" => &["_call>", "_calls>", "_use>"],
            b"function" => &["_call>", "_calls>"],
            b"invoke" => &[" name=\""],
            b"system" => &["_prompt>", "-reminder>", "-prompt>", "_message>"],
            _ => &[],
        };
        if let Some(length) = length(names) {
            return Some((start - open, end + length));
        }
    }
    let line = before.iter().rposition(|&byte| !matches!(byte, b' ' | b'\t' | b'#' | b'*' | b'<' | b'['));
    let is_line_start = line.is_none_or(|at| matches!(before[at], b'\n' | b'"' | b'\'' | b'`'));
    if !is_line_start {
        return None;
    }
    let opened = &before[line.map_or(0, |at| at + 1)..];
    if opened.trim_ascii().starts_with(b"###") && is(&["instruction", "response", "system", "human", "assistant"]) {
        let is_end = after.first().is_none_or(|byte| *byte == b'\n');
        return (is_end && is(&["instruction"]) || after.starts_with(b":"))
            .then_some((start, end + usize::from(!is_end)));
    }
    if !is(&["system", "assistant", "developer", "human"]) {
        return None;
    }
    let rest = match after {
        [b']' | b'>' | b'*', b':', rest @ ..] | [b'*', b'*', b':', rest @ ..] | [b':' | b']' | b'>', rest @ ..] => rest,
        _ => return None,
    };
    let begin = rest.iter().take(8).take_while(|byte| !byte.is_ascii_alphanumeric()).count();
    let length = rest[begin..].iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let next = &rest[begin..begin + length];
    let is_meant = super::words::roles_of(next) & NEXT != 0;
    is_meant.then(|| (start, text.len() - rest.len() + begin + length))
}
