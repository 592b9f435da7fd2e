//! Accounts for every byte of an output by its report alone. Shares no code with extraction.

use seamgate_core::{ChangeKind, Disposition, JudgedCandidate, Report, Source, Span};

/// Checks that every byte of an output that is not white space is in a candidate, a change, a quarantined item, or a
/// note with its span. Fences belong to their blocks. An accepted output leaves out only what its source permits.
///
/// # Errors
///
/// Returns an error if something is left out without a trace, or without asking for a review.
pub fn every_byte_is_accounted_for(output: &str, report: &Report) -> Result<(), String> {
    let Some(chosen) = report.candidates.iter().find(|candidate| candidate.chosen) else {
        let is_nothing_taken = report.output.is_none() && report.items.is_empty() && report.changes.is_empty();
        return is_nothing_taken
            .then_some(())
            .ok_or_else(|| "something is taken, and no candidate was chosen".to_owned());
    };
    let mut accounted: Vec<(usize, usize)> = report.candidates.iter().map(|candidate| place(candidate.span)).collect();
    accounted.extend(report.changes.iter().filter_map(|change| change.span.map(place)));
    accounted.extend(report.quarantined.iter().filter_map(|item| item.span.map(place)));
    accounted.extend(report.notes.iter().filter_map(|note| noted(note)));
    accounted.sort_unstable();
    let mut at = 0;
    for (start, end) in accounted.into_iter().chain([(output.len(), output.len())]) {
        if at < start {
            is_fences(output, (at, start), &report.candidates)?;
        }
        at = at.max(end);
    }
    if report.disposition == Disposition::Accepted { permits(output, report, chosen) } else { Ok(()) }
}

/// Checks that an accepted candidate is JSON without changes, and that the text left out around it is prose or another
/// candidate that the contract's `select` did not choose.
fn permits(output: &str, report: &Report, chosen: &JudgedCandidate) -> Result<(), String> {
    let (start, end) = place(chosen.span);
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&output[start..end]) {
        return Err(format!("accepted, and what was chosen is not JSON: {error}"));
    }
    if let Some(change) = report.changes.iter().find(|change| !is_asked_for(change.kind)) {
        return Err(format!("accepted with a change: {change:?}"));
    }
    if !report.quarantined.is_empty() {
        return Err("accepted with items in quarantine".to_owned());
    }
    if chosen.source == Source::Raw {
        if report.candidates.len() > 1 {
            return Err("accepted, and other documents were left out".to_owned());
        }
        if let Some(note) = report.notes.iter().find(|note| noted(note).is_some() && !is_permitted(output, note)) {
            return Err(format!("accepted as the whole output: {note}"));
        }
    }
    for pair in report.candidates.windows(2) {
        let between = &output[pair[0].span.end as usize..pair[1].span.start as usize];
        if chosen.source == Source::Block && !between.contains("```") && !between.contains("~~~") {
            return Err("accepted, and another document of the block was left out".to_owned());
        }
    }
    Ok(())
}

/// Returns whether only contracts that ask for such a change have it.
fn is_asked_for(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Stripped | ChangeKind::Coerced | ChangeKind::Unwrapped)
}

/// Returns whether a note is about text outside the tag that the contract names, or about reasoning: a tag begins or
/// ends it.
fn is_permitted(output: &str, note: &str) -> bool {
    note.contains("were left out as text outside of <")
        || noted(note).is_some_and(|(start, end)| {
            let text = &output[start..end];
            let begins = ["<", "[THINK]", "◁think▷"].iter().any(|begin| text.starts_with(begin));
            let ends = (text.ends_with('>') && text.contains("</"))
                || ["[/THINK]", "◁/think▷"].iter().any(|end| text.ends_with(end));
            begins || (start == 0 && ends)
        })
}

/// Checks that the bytes outside all spans are fences of blocks or white space.
fn is_fences(output: &str, (start, end): (usize, usize), candidates: &[JudgedCandidate]) -> Result<(), String> {
    let white = |character: char| character.is_whitespace() || character == '\u{feff}';
    let text = output[start..end].trim_matches(white);
    let text = text[opening_tag(text).map_or(0, str::len)..].trim_start_matches(white);
    let last = text.rfind('<').map_or("", |at| &text[at..]);
    let is_tag = opening_tag(last).is_some_and(|tag| tag.len() == last.len());
    let text = if is_tag { text[..text.len() - last.len()].trim_end_matches(white) } else { text };
    let before = candidates.iter().rev().find(|candidate| place(candidate.span).1 <= start);
    let after = candidates.iter().find(|candidate| place(candidate.span).0 >= end);
    let closes = before.is_some_and(|block| {
        block.source == Source::Block && output[place(block.span).1..start].trim_matches(white).is_empty()
    });
    let opens = |text: &str| {
        let Some(block) = after.filter(|block| block.source == Source::Block) else { return false };
        let marker = block.marker.as_deref().unwrap_or_default();
        let at = text.len().saturating_sub(marker.len());
        let marks = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
        text.get(at..).is_some_and(|word| word.eq_ignore_ascii_case(marker))
            && marks.len() >= 3
            && without_marks(marks).is_empty()
    };
    let rest = without_marks(text).trim_start_matches(white);
    let is_fences = text.is_empty() || opens(text) || (closes && (rest.is_empty() || opens(rest)));
    if is_fences { Ok(()) } else { Err(format!("{text:?} is left out without a trace")) }
}

/// Returns the tag at the beginning of a text, if it is one that `extract.within` names in these tests: `<answer>`,
/// `</answer>`.
fn opening_tag(text: &str) -> Option<&str> {
    let tag = &text[..=text.find('>')?];
    let name = tag.strip_prefix("</").or_else(|| tag.strip_prefix('<'))?;
    let behind = name.get(.."answer".len()).filter(|name| name.eq_ignore_ascii_case("answer"))?;
    name[behind.len()..].starts_with([' ', '\t', '>']).then_some(tag)
}

/// Returns a text without a leading run of backticks or tildes.
fn without_marks(text: &str) -> &str {
    match text.chars().next() {
        Some(mark @ ('`' | '~')) => text.trim_start_matches(mark),
        _ => text,
    }
}

/// Returns the span in a note about text that was left out: `bytes 3 to 14`.
fn noted(note: &str) -> Option<(usize, usize)> {
    if note.starts_with("suspicious_escape: ") || note.contains("was cut off") {
        return None;
    }
    let (_, rest) = note.split_once("bytes ")?;
    let (start, rest) = rest.split_once(" to ")?;
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    Some((start.parse().ok()?, rest[..digits].parse().ok()?))
}

fn place(span: Span) -> (usize, usize) {
    (span.start as usize, span.end as usize)
}
