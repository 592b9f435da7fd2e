//! The fast path to a candidate. It applies if the whole output is JSON, or if one fenced block is the only possible
//! candidate.
//!
//! Most outputs have one of these forms, and the full scan would return the same result.

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

/// A piece of the output: all of it, or the content of its only block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lone<'c> {
    pub(crate) span: Span,
    block: Option<Block<'c>>,
}

/// The marker of a block, and its fences.
#[derive(Debug, Clone, Copy)]
struct Block<'c> {
    marker: Option<&'c str>,
    fences: [Span; 2],
}

impl<'c> Lone<'c> {
    /// Returns the whole output if it may be JSON, and otherwise the content of its only block. Such a block is the
    /// only candidate if its content is JSON. `None` if the piece is too long.
    pub(crate) fn find(output: &str, contract: &'c Contract) -> Option<Self> {
        let (_, whole) = text(output);
        let lone = match can_begin_json(whole.of(output)) {
            true => Lone::whole(whole),
            false => block(output, contract.extract())?,
        };
        (lone.span.of(output).len() <= contract.caps().bytes).then_some(lone)
    }

    pub(super) fn whole(span: Span) -> Self {
        Lone { span, block: None }
    }

    /// Returns whether it is the whole output.
    pub(crate) fn is_whole(&self) -> bool {
        self.block.is_none()
    }

    pub(crate) fn read<'t>(&self, output: &'t str, contract: &Contract) -> Read<'t> {
        Read::new(output, self.span, contract.caps())
    }

    pub(crate) fn source(&self) -> Source {
        if self.is_whole() { Source::Raw } else { Source::Block }
    }

    pub(crate) fn marker(&self) -> Option<&'c str> {
        self.block.and_then(|block| block.marker)
    }

    /// Returns a note for each piece of prose around the block.
    pub(crate) fn notes(&self, output: &str) -> Vec<String> {
        let Some(Block { fences: [open, close], .. }) = self.block else { return Vec::new() };
        let mut around = Surroundings::new(output, Vec::new());
        [open, self.span, close].into_iter().for_each(|span| around.pass(span));
        around.notes()
    }

    pub(super) fn candidate(&self) -> Candidate {
        let candidate = Candidate::new(self.source(), self.span);
        match self.block {
            Some(Block { marker, fences }) => Candidate { marker: marker.map(str::to_owned), fences, ..candidate },
            None => candidate,
        }
    }
}

/// Returns the content of the only block of an output, if nothing else in the output can be or hide a candidate.
///
/// The caller checks that the content is JSON. JSON strings have no line breaks, so no fence inside JSON is at the
/// start of a line. A tag inside JSON is data.
fn block<'c>(output: &str, options: &'c Extract) -> Option<Lone<'c>> {
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
    (is_marked_or_likely && is_alone).then_some(Lone { span, block: Some(Block { marker, fences }) })
}

#[cfg(test)]
mod tests {
    use super::{super::extract, *};
    use crate::random::Random;

    /// Pieces of outputs, mostly a document and its fences.
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

    /// Contracts that accept blocks, prose or neither, with various markers and markup.
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
        let mut state = Random(1);
        let mut random = |below: usize| state.below(below);
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
            // Adds a complete block to half of the outputs.
            if random(2) == 0 {
                pieces(&mut output, 1, &mut random);
                output.push_str(&format!("```json\n{}\n```\n", PIECES[16 + random(6)]));
                pieces(&mut output, 1, &mut random);
            } else {
                pieces(&mut output, 6, &mut random);
            }
            let contract = &contracts[random(contracts.len())];
            let lone = Lone::find(&output, contract).map(|lone| (lone, lone.read(&output, contract)));
            blocks += usize::from(lone.as_ref().is_some_and(|(lone, read)| !lone.is_whole() && read.parsed.is_ok()));
            let found = |lone| {
                let found = extract(&output, contract, lone);
                (format!("{:?}", found.candidates), found.notes, found.several)
            };
            assert_eq!(found(lone), found(None), "{output:?} by {:?}", contract.extract());
        }
        assert!(blocks > 20_000, "{blocks}");
    }
}
