//! The shortest way to a candidate: the whole output is JSON, or one fenced block is all that could be taken from it.
//!
//! Most outputs are one or the other, and the scan would find the same.

use super::{
    Candidate, Read, Source, can_begin_json,
    fences::{Fence, Marks, Sought},
    prose::looks_like_json,
    surroundings::Surroundings,
    text, trimmed,
};
use crate::{
    contract::{Contract, Extract},
    parse::Span,
};
use memchr::memchr2;

/// A piece of the output, parsed: all of it, which may be no JSON, or the content of its only block, which is JSON.
#[derive(Debug)]
pub(crate) struct Lone<'t, 'c> {
    pub(crate) read: Read<'t>,
    pub(crate) around: Around<'c>,
}

/// What stands around such a piece.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Around<'c> {
    /// White space.
    Nothing,
    /// The fences of a block, and prose.
    Block { marker: Option<&'c str>, fences: [Span; 2] },
}

impl<'t, 'c> Lone<'t, 'c> {
    /// Reads the whole output, if it may be JSON, or else its only block, if that is JSON. None where the piece is too long.
    pub(crate) fn new(output: &'t str, contract: &'c Contract) -> Option<Self> {
        let (_, whole) = text(output);
        let is_raw = can_begin_json(whole.of(output));
        let (span, around) = if is_raw { (whole, Around::Nothing) } else { block(output, contract.extract())? };
        if span.of(output).len() > contract.caps().bytes {
            return None;
        }
        let read = Read::new(output, span, contract.caps());
        (is_raw || read.parsed.is_ok()).then_some(Lone { read, around })
    }

    pub(super) fn candidate(&self) -> Candidate {
        let marker = self.around.marker().map(str::to_owned);
        let candidate = Candidate { marker, ..Candidate::new(self.around.source(), self.read.span) };
        match self.around {
            Around::Block { fences, .. } => Candidate { fences, ..candidate },
            Around::Nothing => candidate,
        }
    }
}

impl<'c> Around<'c> {
    pub(crate) fn source(self) -> Source {
        match self {
            Around::Block { .. } => Source::Block,
            Around::Nothing => Source::Raw,
        }
    }

    pub(crate) fn marker(self) -> Option<&'c str> {
        match self {
            Around::Block { marker, .. } => marker,
            Around::Nothing => None,
        }
    }

    /// Returns a note for each piece of prose around a piece of the output.
    pub(crate) fn notes(self, output: &str, piece: Span) -> Vec<String> {
        let Around::Block { fences: [open, close], .. } = self else { return Vec::new() };
        let mut around = Surroundings::new(output, Vec::new());
        [open, piece, close].into_iter().for_each(|span| around.pass(span));
        around.notes()
    }
}

/// Returns the content of the only block of an output, if nothing else in it can be or hide a candidate.
///
/// That the content is JSON is for the caller to see. If it is, then no fence stands at the start of a line inside it, because a
/// string holds no line break, and a tag in it is data.
fn block<'c>(output: &str, options: &'c Extract) -> Option<(Span, Around<'c>)> {
    if options.within.is_some() {
        return None;
    }
    let bytes = output.as_bytes();
    let start = bytes.iter().position(|byte| matches!(byte, b'`' | b'~' | b'{' | b'['))?;
    let open = Fence::at(bytes, start).filter(|open| open.run.first)?;
    let (marker, begins, content) = match open.opens(output, &options.markers) {
        Some(opening) => (Some(opening.marker), opening.word, opening.content),
        None if options.untagged && open.last => (None, open.end, open.end + open.line(output).len()),
        None => return None,
    };
    let close = Marks::new(output, options).fence(Sought::Close(open.run.shortest_close()), content)?;
    let span = trimmed(output, content, close.start);
    let (json, behind) = (span.start as usize, &bytes[close.end..]);
    let is_marked_or_likely = marker.is_some() || looks_like_json(span.of(output)).is_some();
    let is_alone = options.ignore.next(&bytes[..json]).is_none()
        && options.ignore.tag_at(output, json).is_none()
        && options.ignore.next(behind).is_none()
        && memchr2(b'`', b'~', behind).is_none();
    let fences = [Span::new(open.start, begins), Span::new(close.start, close.end)];
    (is_marked_or_likely && is_alone).then_some((span, Around::Block { marker, fences }))
}

#[cfg(test)]
mod tests {
    use super::{super::extract, *};

    /// Pieces of outputs, of which a document and its fences are the most frequent.
    const PIECES: [&str; 40] = [
        "```json\n",
        "```json\n",
        "```JSON \r\n",
        "```\n",
        "```\n",
        "\n```",
        "\n```\n",
        "\n```\n",
        "\n  ``` \t\n",
        "~~~json\n",
        "\n~~~\n",
        "````json\n",
        "\n````\n",
        "```js\n",
        "```json {",
        "}```",
        "{\"a\": 1}",
        "{\"a\": 1}",
        "{\"a\": \"```\"}",
        "{\"a\": \"```json\\n</think>\"}",
        "[1, \"`\"]",
        "[{\"a\":\n1}]",
        "7",
        "\"text\"",
        "{\"a\": 1",
        "{'a': 1}",
        "{}{}",
        "Here it is:\n",
        "\nThat is all.",
        "the `name` of it",
        "\n> ",
        "<think>",
        "</think>",
        "\n",
        " ",
        "\u{feff}",
        "\u{a0}",
        " see [1] ",
        "[THINK]",
        "a < b\n",
    ];

    /// Contracts that take blocks, prose or neither, and have markers and markup of their own.
    const EXTRACTS: [&str; 8] = [
        "{}",
        r#"{"untagged":false}"#,
        r#"{"raw_json":false}"#,
        r#"{"embedded":true}"#,
        r#"{"embedded":"single","select":"first_valid"}"#,
        r#"{"markers":["js","json"],"select":"last_valid"}"#,
        r#"{"ignore":["plan"],"select":"last"}"#,
        r#"{"ignore":[],"select":"first"}"#,
    ];

    #[test]
    fn the_scan_finds_the_same() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let rest = ["", r#","repair":"syntax""#, r#","items":{"path":"$[*]","schema":true}"#];
        let contracts: Vec<Contract> = (0..EXTRACTS.len() * rest.len())
            .map(|number| {
                let (options, rest) = (EXTRACTS[number / rest.len()], rest[number % rest.len()]);
                let source = format!(r#"{{"agent":"a","schema":true,"extract":{options}{rest}}}"#);
                Contract::compile(&source).unwrap_or_else(|fault| panic!("{source}: {fault:?}"))
            })
            .collect();
        let mut blocks = 0;
        for _ in 0..200_000 {
            let mut output = String::new();
            let pieces = |output: &mut String, most: usize, random: &mut dyn FnMut(usize) -> usize| {
                (0..random(most + 1)).for_each(|_| output.push_str(PIECES[random(PIECES.len())]));
            };
            // Half of them have a whole block.
            if random(2) == 0 {
                pieces(&mut output, 1, &mut random);
                output.push_str(&format!("```json\n{}\n```\n", PIECES[16 + random(6)]));
                pieces(&mut output, 1, &mut random);
            } else {
                pieces(&mut output, 6, &mut random);
            }
            let contract = &contracts[random(contracts.len())];
            let lone = Lone::new(&output, contract);
            blocks += usize::from(lone.as_ref().is_some_and(|lone| lone.around.source() == Source::Block));
            let found = |lone| {
                let found = extract(&output, contract, lone);
                (format!("{:?}", found.candidates), found.notes, found.several)
            };
            assert_eq!(found(lone), found(None), "{output:?} by {:?}", contract.extract());
        }
        assert!(blocks > 20_000, "{blocks}");
    }
}
