//! Tests which piece of an output is chosen. Each output consists of parts, each with its own number, and is compared
//! with a simple model.

use std::collections::BTreeMap;

use seamgate_checks::changes::changes_give_what_was_validated;
use seamgate_core::{Contract, Report, Request, Session, Span, validate};
use seamgate_tests::{PIECES, Random};
use serde_json::Value;

/// The number of outputs for each contract.
const OUTPUTS: usize = 20_000;

/// The kind of a part of an output. Each part contains one document with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Prose,
    /// Numbers in brackets.
    Citation,
    BlockQuote,
    /// A document between two tags.
    Reasoning,
    Marked,
    /// A block without its closing fence; a marked block follows.
    OpenDraft,
    /// A document with an unescaped quote.
    Unescaped,
    Untagged,
    OtherFence,
    Bare,
    /// A document that quotes other documents in its strings.
    Quoting,
    /// A document with an extra comma, and a document inside.
    Broken,
    /// A document in Python syntax, with a document inside and another one in a string.
    Python,
    /// A document with another one inside, after a comment.
    Commented,
}

use Kind::{
    Bare, BlockQuote, Broken, Citation, Commented, Marked, OpenDraft, OtherFence, Prose, Python, Quoting, Reasoning,
    Unescaped, Untagged,
};

/// The kinds of parts that can occur in prose.
const KINDS: [Kind; 13] = [
    Prose, Citation, BlockQuote, Reasoning, Marked, Unescaped, Untagged, OtherFence, Bare, Quoting, Broken, Python,
    Commented,
];

#[derive(Debug, Clone)]
struct Part {
    kind: Kind,
    number: usize,
    text: String,
}

const TAGS: [[&str; 2]; 11] = [
    ["<think>", "</think>"],
    ["<Thinking>", "</thinking>"],
    ["<reasoning >", "</reasoning>"],
    ["<scratchpad>", "</SCRATCHPAD >"],
    ["<think time=\"3s\">", "</think>"],
    ["<thought>", "</thought>"],
    ["<seed:think>", "</seed:think>"],
    ["[THINK]", "[/THINK]"],
    ["◁think▷", "◁/think▷"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|channel|>analysis<|message|>", "<|end|>"],
];

fn document(random: &mut Random, number: usize) -> String {
    match random.below(4) {
        0 => format!("{{\"n\":{number}}}"),
        1 => format!("{{\n  \"n\": {number},\n  \"list\": [1, {{\"a\": \"b\"}}]\n}}"),
        2 => format!("{{\"t\": \"it's {{text}} [1]\", \"n\": {number}}}"),
        _ => format!("{{\"n\": {number}, \"t\": \"a\\\\ \\\"b\\\"\"}}"),
    }
}

/// Returns the number of the document that is nested or quoted in another one.
fn inner(number: usize) -> usize {
    number + 100_000
}

fn part(random: &mut Random, kind: Kind, number: usize) -> Part {
    let own = document(random, number);
    let inside = inner(number);
    let text = match kind {
        Prose => random
            .one(&["Let me see.", "It's done - I think so.", "Sorry, corrected:", "5\" pipes, {not} JSON."])
            .to_owned(),
        Citation => random.one(&["See [1].", "As in [2, 3]:", "[12]"]).to_owned(),
        BlockQuote => match random.below(2) {
            0 => format!("> {}", own.replace('\n', "\n> ")),
            _ => format!("> ```json\n> {}\n> ```", own.replace('\n', "\n> ")),
        },
        Reasoning => {
            let [begin, end] = random.one(&TAGS);
            let draft = match random.below(5) {
                0 => format!("```json\n{own}\n```"),
                1 => format!("```json\n{own}"),
                2 => format!("{{\"n\": {number}, \"t\": \"never ends"),
                3 => format!("Maybe {own}?"),
                _ => format!("```\n{own}\n```"),
            };
            format!("{begin}\n{draft}\n{end}")
        }
        Marked => match random.below(4) {
            3 => format!("```json\n<think>Or {own}?</think>\n{own}\n```"),
            0 => format!("```JSON\n{own}\n```"),
            1 => format!("````json\n{own}\n````"),
            _ => format!("```json\n{own}\n```"),
        },
        OpenDraft => match random.below(3) {
            0 => format!("```json\n{{\"n\": {number}, \"list\": [\n"),
            1 => format!("```json\n{{\"n\": {number}, \"t\": \"cut"),
            _ => format!("```json\n{{\"n\": {number},\nNo, wait."),
        },
        Unescaped => format!("```json\n{{\"n\": {number}, \"t\": \"a 5\" pipe, \"x\": 1}}\n```"),
        Untagged => format!("```\n{own}\n```"),
        OtherFence => format!("```js\n{own}\n```"),
        Bare => own,
        Quoting => match random.below(3) {
            0 => format!("{{\"n\": {number}, \"t\": \"say ```json\\n{{\\\"n\\\": {inside}}}\\n```\"}}"),
            1 => format!("{{\"n\": {number}, \"t\": \"<think> {{'n': {inside}}} \"}}"),
            _ => format!("{{\"t\": \"</think> ```json {{\\\"n\\\": {inside}}} ```\", \"n\": {number}}}"),
        },
        Broken => match random.below(2) {
            0 => format!("{{\"n\": {number}, \"was\": {{\"n\": {inside}}},}}"),
            _ => format!("{{\"n\": {number}, \"was\": [{{\"n\": {inside}}},]}}"),
        },
        Python => match random.below(2) {
            0 => format!("{{'n': {number}, 'ok': True, 'was': {{\"n\": {inside}}}}}"),
            _ => format!("{{'n': {number}, 'was': 'it was {{\"n\": {inside}}} then'}}"),
        },
        Commented => format!("{{\"n\": {number}, // it's old\n \"was\": {{\"n\": {inside}}}}}"),
    };
    Part { kind, number, text }
}

/// The parts in order, and the positions of unpaired tags.
struct Output {
    parts: Vec<Part>,
    /// The index of the part before which an unpaired closing tag is placed.
    closed_before: usize,
    /// The index of the part before which an unpaired opening tag is placed.
    opened_before: usize,
}

fn output(random: &mut Random) -> Output {
    let mut parts: Vec<Part> = Vec::new();
    // Only a few kinds for each output, so that each source is chosen in some outputs.
    let kinds: Vec<Kind> = (0..1 + random.below(4)).map(|_| random.one(&KINDS)).collect();
    for _ in 0..1 + random.below(5) {
        let number = 1_000 + parts.len();
        let kind = random.one(&kinds);
        if kind == Marked && random.chance(30) {
            parts.push(part(random, OpenDraft, number));
        }
        parts.push(part(random, kind, 1_000 + parts.len()));
    }
    let count = parts.len();
    let closed_before = if random.chance(15) { random.below(count + 1) } else { 0 };
    let opened_before = if random.chance(8) { random.below(count + 1) } else { count };
    // No later part contains the closing tag.
    let is_closed = parts[opened_before..].iter().any(|part| part.text.contains("</"));
    let opened_before = if is_closed { count } else { opened_before };
    Output { parts, closed_before, opened_before: opened_before.max(closed_before) }
}

impl Output {
    fn text(&self) -> String {
        let mut out = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                out.push_str("\n\n");
            }
            if index == self.closed_before && index > 0 {
                out.push_str("</think>\n");
            }
            if index == self.opened_before {
                out.push_str("<think>\n");
            }
            out.push_str(&part.text);
        }
        if self.closed_before == self.parts.len() {
            out.push_str("\n</think>");
        }
        out
    }

    /// Returns the parts that extraction considers.
    fn seen(&self) -> Vec<&Part> {
        self.parts[self.closed_before..self.opened_before].iter().filter(|part| part.kind != Reasoning).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Embedded {
    None,
    Single,
    Each,
}

struct By {
    contract: Option<Contract>,
    members: &'static str,
    untagged: bool,
    embedded: Embedded,
    repairs: bool,
    select: &'static str,
}

/// All forms of a contract's `extract`.
const CONTRACTS: [(&str, bool, Embedded, bool, &str); 9] = [
    (r#""extract":{}"#, true, Embedded::None, false, "last"),
    (r#""extract":{"markers":["json"],"select":"first"}"#, false, Embedded::None, false, "first"),
    (r#""extract":{"untagged":true,"markers":["json"],"select":"only"}"#, true, Embedded::None, false, "only"),
    (r#""extract":{"embedded":true}"#, true, Embedded::Each, false, "last"),
    (r#""extract":{"embedded":"single","untagged":false}"#, false, Embedded::Single, false, "last"),
    (r#""extract":{"embedded":true,"select":"first"},"repair":"syntax""#, true, Embedded::Each, true, "first"),
    (r#""repair":"syntax""#, true, Embedded::None, true, "last"),
    (r#""extract":{"markers":["json"]},"repair":"syntax""#, false, Embedded::None, true, "last"),
    (r#""extract":{"embedded":"single"},"repair":"syntax""#, true, Embedded::Single, true, "last"),
];

fn contracts() -> Vec<By> {
    let compiled = |members: &str| {
        let text = format!(r#"{{"agent":"a","schema":{{"type":"object","required":["n"]}},{members}}}"#);
        Contract::compile(&text).ok()
    };
    let by = |(members, untagged, embedded, repairs, select)| By {
        contract: compiled(members),
        members,
        untagged,
        embedded,
        repairs,
        select,
    };
    CONTRACTS.into_iter().map(by).collect()
}

/// The expected result of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// The document with this number.
    Number(usize),
    /// This document or none. Other tests check whether it is repaired.
    AtMost(usize),
    Nothing,
}

/// Returns the result that the rules require for an output.
fn wanted(output: &Output, by: &By) -> Wanted {
    let parts = output.seen();
    let of =
        |kinds: &[Kind]| -> Vec<&Part> { parts.iter().copied().filter(|part| kinds.contains(&part.kind)).collect() };
    let values = of(&[Bare, Quoting, Broken, Python, Commented]);
    let with_citations = of(&[Bare, Quoting, Broken, Python, Commented, Citation]);
    let alone = parts.len() == 1;
    let marked = of(&[Marked, OpenDraft, Unescaped]);
    let untagged = of(&[Untagged]);
    // The only document has no other text around it, except white space.
    let candidates = if alone && matches!(parts[0].kind, Bare | Quoting) {
        values
    } else if !marked.is_empty() {
        marked
    } else if by.untagged && !untagged.is_empty() {
        untagged
    } else if by.embedded == Embedded::Each && !with_citations.is_empty() {
        with_citations
    } else if by.embedded == Embedded::Single && values.len() > 1 {
        Vec::new()
    } else if by.embedded == Embedded::Single || by.repairs {
        if values.is_empty() {
            // A block of another kind, if nothing else contains JSON.
            let others = of(if by.untagged { &[OtherFence] } else { &[OtherFence, Untagged] });
            return match others[..] {
                [other] if by.repairs => Wanted::AtMost(other.number),
                _ => Wanted::Nothing,
            };
        }
        values
    } else {
        Vec::new()
    };
    let chosen = match (by.select, candidates.len()) {
        (_, 0) => return Wanted::Nothing,
        ("first", _) => candidates[0],
        ("only", 2..) => return Wanted::Nothing,
        (_, count) => candidates[count - 1],
    };
    match chosen.kind {
        Citation => Wanted::Nothing,
        OpenDraft | Unescaped | Broken | Python | Commented if by.repairs => Wanted::AtMost(chosen.number),
        OpenDraft | Unescaped | Broken | Python | Commented => Wanted::Nothing,
        // If the text around it contains an unpaired quote, the document may be part of a string.
        _ if by.repairs && output.parts.iter().any(|part| part.text.contains("5\" pipes")) => {
            Wanted::AtMost(chosen.number)
        }
        _ => Wanted::Number(chosen.number),
    }
}

fn is_wanted(output: &Output, report: &Report, wanted: &Wanted) -> Result<(), String> {
    let Some(text) = &report.output else {
        return match wanted {
            Wanted::Number(number) => Err(format!("{number} is wanted, nothing came")),
            _ => Ok(()),
        };
    };
    let came = serde_json::from_str::<Value>(text).ok().and_then(|value| value["n"].as_u64());
    match wanted {
        Wanted::Number(number) | Wanted::AtMost(number) if came == Some(*number as u64) => {
            // No part contains the content of another part.
            let other = |part: &&Part| part.number != *number && text.contains(&part.number.to_string());
            output.parts.iter().find(other).map_or(Ok(()), |part| Err(format!("{} is in it", part.number)))
        }
        _ => Err(format!("{wanted:?} is wanted, {text} came")),
    }
}

#[test]
fn what_is_taken_is_what_the_model_takes() {
    let mut by_kind: BTreeMap<Kind, usize> = BTreeMap::new();
    let (mut agreed, mut total, mut taken) = (0, 0, 0);
    for by in contracts() {
        let mut random = Random(16);
        let (mut here, mut first) = (0, None);
        for _ in 0..OUTPUTS {
            let output = output(&mut random);
            let text = output.text();
            let wanted = wanted(&output, &by);
            taken += usize::from(matches!(wanted, Wanted::Number(_)));
            let request = Request { output: &text, ..Request::default() };
            let outcome = match &by.contract {
                Some(contract) => is_wanted(&output, &validate(contract, &request).expect("a report"), &wanted),
                None => Err("the contract is not one".to_owned()),
            };
            match outcome {
                Ok(()) => here += 1,
                Err(why) => {
                    output.parts.iter().for_each(|part| *by_kind.entry(part.kind).or_default() += 1);
                    let size = output.parts.len();
                    if first.as_ref().is_none_or(|(least, _)| size < *least) {
                        first = Some((size, format!("{why}, by {}:\n{text}", by.members)));
                    }
                }
            }
        }
        println!("{here} of {OUTPUTS} by {}", by.members);
        if let Some((_, first)) = first {
            println!("{first}");
        }
        agreed += here;
        total += OUTPUTS;
    }
    println!("{agreed} of {total} outputs are judged as the model does; in {taken} there is a document to take");
    println!("parts of those that are not: {by_kind:?}");
    assert!(taken * 5 > total, "{taken} of {total}");
    assert_eq!(agreed, total);
}

/// Items that are reported in flight never come from reasoning or quotes, if these are recognizable at that time.
#[test]
fn nothing_is_told_of_reasoning() {
    let text = r#"{"agent":"a","schema":true,"extract":{"embedded":true},"items":{"path":"$.list[*]","schema":true}}"#;
    let contract = Contract::compile(text).expect("a contract");
    let mut random = Random(17);
    let (mut told, mut hidden) = (0, 0);
    for _ in 0..OUTPUTS {
        let output = Output { closed_before: 0, ..output(&mut random) };
        let text = output.text();
        let mut session = Session::open(&contract, Vec::new(), None).expect("no list is asked for");
        let items = session.push(&contract, &text).expect("taken").items;
        told += items.len();
        let mut from = 0;
        for (index, part) in output.parts.iter().enumerate() {
            let start = from + text[from..].find(&part.text).expect("a part");
            from = start + part.text.len();
            if index < output.opened_before && !matches!(part.kind, Reasoning | BlockQuote) {
                continue;
            }
            hidden += 1;
            let inside = items.iter().find(|item| (start..from).contains(&(item.span.start as usize)));
            assert!(inside.is_none(), "{inside:?} is told of {:?}:\n{text}", part.text);
        }
    }
    println!("{told} items were told, none of {hidden} parts that are left out");
    assert!(told > 1_000 && hidden > 1_000, "{told} {hidden}");
}

#[test]
fn candidates_of_any_text_are_pieces_of_it() {
    let contracts = contracts();
    let mut random = Random(18);
    let (mut several, mut used) = (0, 0);
    for round in 0..10 * OUTPUTS {
        let text: String = (0..random.below(20)).map(|_| random.one(&PIECES)).collect();
        let Some(contract) = &contracts[round % contracts.len()].contract else { continue };
        let report = validate(contract, &Request { output: &text, ..Request::default() }).expect("a report");
        several += usize::from(report.candidates.len() > 1);
        used += usize::from(report.output.is_some());
        let inside = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
        assert!(report.candidates.iter().all(|candidate| inside(candidate.span)), "{text:?}: {:?}", report.candidates);
        for pair in report.candidates.windows(2) {
            assert!(pair[0].span.end <= pair[1].span.start, "{text:?}: {:?}", report.candidates);
            assert_eq!(pair[0].source, pair[1].source, "{text:?}");
        }
        let report: Value = serde_json::from_str(&report.to_json()).expect("a report");
        if let Err(error) = changes_give_what_was_validated(&report, &text, None) {
            panic!("{error:#}\n{text:?}\n{report}");
        }
    }
    println!("{several} texts have several candidates, {used} gave a document");
    assert!(several > 1_000 && used > 1_000, "{several} {used}");
}
