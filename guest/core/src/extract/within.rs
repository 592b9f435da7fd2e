//! Extracts candidates only from inside a tag that the contract names.

use super::{Candidate, Extracted, Read, Select, Source, in_piece, is_json, text, trimmed};
use crate::{
    contract::{Contract, Markup, Reasoning},
    parse::{Span, strict_end},
};

/// A piece of the output between two tags.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The opening and the closing tag. The closing tag is empty if the output ends without it.
    tags: [Span; 2],
    /// The span without white space at either end.
    text: Span,
}

/// Returns the candidates in the selected piece.
pub(super) fn extract<'t>(output: &'t str, contract: &Contract, markup: &Reasoning) -> Extracted<'t> {
    let options = contract.extract();
    let pieces = pieces(output, &options.ignore, markup);
    let piece = match options.select {
        Select::Only if pieces.len() > 1 => {
            let all = pieces.iter().map(|piece| Candidate::new(Source::Raw, piece.text));
            return Extracted { candidates: all.collect(), ..Extracted::default() };
        }
        Select::First | Select::FirstValid => pieces.first(),
        _ => pieces.last(),
    };
    let Some(&Piece { tags, text }) = piece else { return Extracted::default() };
    let mut extracted = if is_json(output, text) && options.raw_json {
        let whole = Candidate::new(Source::Raw, text);
        Extracted { candidates: [whole].into_iter().collect(), ..Extracted::default() }
    } else {
        let read = Some(Read::new(output, text, contract.caps()));
        in_piece(&output[..text.end as usize], contract, text.start as usize, read)
    };
    extracted.tags = Some(tags);
    let [open, close] = tags;
    let markup = || format!("text outside of {}", markup.shown(Markup::Tag(0)));
    let (_, whole) = super::text(output);
    let before = trimmed(output, whole.start as usize, open.start as usize);
    if before.start < before.end {
        extracted.left_out.add_first(before, markup());
    }
    let behind = trimmed(output, close.end as usize, output.len());
    if behind.start < behind.end {
        extracted.left_out.add(behind, markup);
    }
    extracted.account(output);
    extracted
}

/// Returns the pieces inside the tag and outside reasoning, in the order of the output.
fn pieces(output: &str, ignore: &Reasoning, markup: &Reasoning) -> Vec<Piece> {
    let (_, whole) = text(output);
    let mut pieces = Vec::new();
    if is_json(output, whole) {
        // In JSON, a tag can only be inside a string, where it is data.
        return pieces;
    }
    // The number of bytes that may be read ahead to find a document with a closing tag in a string.
    let mut ahead = output.len();
    let mut at = 0;
    while at < output.len() {
        if let Some(tag) = ignore.tag_at(output, at) {
            let after = at + tag.length;
            if tag.closes {
                // The tag ends reasoning that began with the output.
                pieces.clear();
            }
            let end = || ignore.end(output, after, tag.markup).unwrap_or(output.len());
            at = if tag.closes { after } else { end() };
            continue;
        }
        let Some(tag) = markup.tag_at(output, at).filter(|tag| !tag.closes) else {
            at += 1;
            continue;
        };
        let after = at + tag.length;
        // In a JSON string, a closing tag is data.
        let start = trimmed(output, after, output.len()).start as usize;
        let limit = output.floor_char_boundary(start.saturating_add(ahead));
        let read = strict_end(output, (start, limit));
        ahead -= read.unwrap_or_else(|at| at).saturating_sub(start).min(ahead);
        let from = read.unwrap_or(after);
        let close = markup.end_tag(output, from, tag.markup).unwrap_or(output.len()..output.len());
        pieces.push(Piece {
            tags: [Span::new(at, after), Span::new(close.start, close.end)],
            text: trimmed(output, after, close.start),
        });
        at = close.end.max(after);
    }
    pieces
}
