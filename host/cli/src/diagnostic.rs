//! Diagnostics: draws a text with its mistakes below their spans, and complete verdicts.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Renderer, Snippet, Title, renderer::DecorStyle};
use seamgate::{Change, Disposition, Quarantined, Report, Source, Span, Verdict, Violation};
use seamgate_text::{count, escape_terminal, without_hidden};

/// The maximum number of violations, quarantined items and changes that are shown. The report contains all of them.
const MAX_SHOWN: usize = 12;

/// The most bytes shown of a change, before and after.
const MAX_CHANGE: usize = 48;

/// The maximum number of items that get a mark.
const MAX_MARKS: usize = 200;

/// The maximum number of lines shown of a document.
const MAX_LINES: usize = 40;

/// The most bytes of a line that are shown on each side of a violation.
const AROUND: usize = 60;

/// Draws a verdict on `output`, which came from `name`.
pub(crate) fn verdict(verdict: &Verdict, output: &[u8], name: &str) -> String {
    let report = &verdict.report;
    // Spans are offsets into the raw bytes. If the bytes are not UTF-8, the only span ends before the first invalid
    // byte.
    let text = String::from_utf8_lossy(output);
    let mut picture = String::new();
    let violations = report.violations();
    for violation in violations.iter().take(MAX_SHOWN) {
        picture.push_str(&self::violation(violation, &text, name));
        picture.push_str("\n\n");
    }
    if violations.len() > MAX_SHOWN {
        let more = violations.len() - MAX_SHOWN;
        picture.push_str(&format!("… and {more} more; --json has them\n\n"));
    }
    for item in report.quarantined.iter().take(MAX_SHOWN) {
        picture.push_str(&quarantined(item, &text, name));
        picture.push_str("\n\n");
    }
    if report.quarantined.len() > MAX_SHOWN {
        let more = report.quarantined.len() - MAX_SHOWN;
        picture.push_str(&format!("… and {more} more items in quarantine; --json has them\n\n"));
    }
    if !report.changes.is_empty() {
        picture.push_str(&changes(&report.changes, &text));
        picture.push('\n');
    }
    if let Some(document) = &report.output {
        picture.push_str(&pretty(document));
        picture.push('\n');
    }
    if let Some(items) = items(report) {
        picture.push_str(&items);
        picture.push('\n');
    }
    picture.push_str(&summary(verdict));
    picture
}

/// Describes a quarantined item, with its reason and its first violation.
fn quarantined(item: &Quarantined, text: &str, name: &str) -> String {
    let title = format!("{} is in quarantine", item.path);
    let title = Level::WARNING.primary_title(escape_terminal(&title)).id(item.reason.as_str());
    let first = item.violations.first();
    let mut drawing = Drawing::default();
    if let Some(span) = first.and_then(|violation| violation.span).or(item.span) {
        let label = first.map(|violation| {
            let inside = violation.path.strip_prefix(item.path.as_str()).unwrap_or(&violation.path);
            format!("{inside} {}", violation.message).trim_start().to_owned()
        });
        drawing.mark(text, name, span, &label.unwrap_or_default());
    }
    if item.violations.len() > 1 {
        let more = format!("and {} more in this item; --json has them", item.violations.len() - 1);
        drawing.add(Level::NOTE.message(more));
    }
    drawing.under(title)
}

/// Describes the changes before the verdict, one per line.
fn changes(changes: &[Change], text: &str) -> String {
    let mut out = format!("\x1b[1;33m{}\x1b[0m before the verdict:\n", count(changes.len(), "change"));
    for change in changes.iter().take(MAX_SHOWN) {
        let line = change.span.map_or(0, |span| {
            let start = text.floor_char_boundary(span.start as usize);
            text[..start].matches('\n').count() + 1
        });
        let shown = |text: &str| quoted(text, MAX_CHANGE);
        let what = match (change.before.as_str(), change.after.as_str()) {
            ("", after) => format!("added {}", shown(after)),
            (before, "") => format!("removed {}", shown(before)),
            (before, after) => format!("replaced {} with {}", shown(before), shown(after)),
        };
        out.push_str(&format!("  line {line:<5} {:<14} {what}\n", change.kind.as_str()));
    }
    if changes.len() > MAX_SHOWN {
        out.push_str(&format!("  … and {} more; --json has them\n", changes.len() - MAX_SHOWN));
    }
    out
}

/// Returns the beginning of a text, quoted on one line.
fn quoted(text: &str, limit: usize) -> String {
    let end = text.floor_char_boundary(limit);
    let more = if end < text.len() { "…" } else { "" };
    escape_terminal(&format!("{:?}{more}", &text[..end]))
}

/// Returns a mark for each item: kept, or the reason for its quarantine.
fn items(report: &Report) -> Option<String> {
    let quarantined = &report.quarantined;
    let (kept, word) = match &report.output {
        Some(output) => (kept(output, &quarantined.first()?.pointer)?, "kept"),
        None if quarantined.is_empty() && report.items.is_empty() => return None,
        None => (report.items.len(), "valid, but not in a document"),
    };
    let total = kept + quarantined.len();
    let marks = (0..total.min(MAX_MARKS) as u32).map(|index| {
        match quarantined.binary_search_by_key(&index, |item| item.index) {
            Ok(at) => format!("\x1b[31m{}\x1b[0m", letter(&quarantined[at])),
            Err(_) => "\x1b[32m+\x1b[0m".to_owned(),
        }
    });
    let marks: String = marks.collect();
    let mut counts: Vec<(char, &str, usize)> = vec![('+', word, kept)];
    for item in quarantined {
        match counts.iter_mut().find(|(_, word, _)| *word == item.reason.as_str()) {
            Some((.., count)) => *count += 1,
            None => counts.push((letter(item), item.reason.as_str(), 1)),
        }
    }
    let counts =
        counts.iter().map(|(mark, word, count)| format!("{mark} {count} {word}")).collect::<Vec<_>>().join(", ");
    let more = if total > MAX_MARKS { "…" } else { "" };
    Some(format!("items {marks}{more}  {counts}\n"))
}

/// Returns the number of items in the part of a document that contained another item at `pointer`.
fn kept(document: &str, pointer: &str) -> Option<usize> {
    let document: serde_json::Value = serde_json::from_str(document).ok()?;
    let (list, _) = pointer.rsplit_once('/')?;
    document.pointer(list)?.as_array().map(Vec::len)
}

/// Returns the mark of a quarantined item.
fn letter(item: &Quarantined) -> char {
    item.reason.as_str().chars().next().unwrap_or('?').to_ascii_uppercase()
}

fn violation(violation: &Violation, text: &str, name: &str) -> String {
    let title = format!("{} {}", violation.path, violation.message);
    let title = Level::ERROR.primary_title(escape_terminal(&title)).id(escape_terminal(&violation.keyword));
    let mut drawing = Drawing::default();
    if let Some(span) = violation.span {
        drawing.mark(text, name, span, &format!("expected {}", violation.expected));
    } else {
        drawing.add(Level::NOTE.message(format!("expected {}", escape_terminal(&violation.expected))));
        drawing.add(Level::NOTE.message(format!("received {}", escape_terminal(&violation.received))));
    }
    if !violation.schema_path.is_empty() {
        let says = format!("the schema requires it at {}", violation.schema_path);
        drawing.add(Level::NOTE.message(escape_terminal(&says)));
    }
    drawing.under(title)
}

/// The elements under one title.
#[derive(Default)]
pub(crate) struct Drawing {
    elements: Vec<Element<'static>>,
    /// The place as the renderer writes it, and the actual place. They differ if the beginning of a line is not shown.
    place: Option<[String; 2]>,
}

impl Drawing {
    /// Draws the text around a span, with the span marked.
    pub(crate) fn mark(&mut self, text: &str, name: &str, span: Span, label: &str) {
        let window = Window::around(text, span);
        let name = escape_terminal(name);
        if let Some(column) = window.column {
            let shown = window.source[..window.mark.start].chars().count() + 1;
            self.place = Some([shown, column].map(|column| format!("{name}:{}:{column}", window.line)));
        }
        let annotation = AnnotationKind::Primary.span(window.mark).label(escape_terminal(label));
        let snippet = Snippet::source(window.source).path(name).line_start(window.line).annotation(annotation);
        self.elements.push(snippet.into());
    }

    /// Adds an element below the others.
    pub(crate) fn add(&mut self, element: impl Into<Element<'static>>) {
        self.elements.push(element.into());
    }

    /// Renders all elements under a title.
    pub(crate) fn under(self, title: Title) -> String {
        let group = title.elements(self.elements);
        let drawn = Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group]);
        match self.place {
            Some([shown, place]) => drawn.replacen(&shown, &place, 1),
            None => drawn,
        }
    }
}

/// The part of the text around a span that is shown.
struct Window {
    source: String,
    /// The place of the span in `source`.
    mark: Range<usize>,
    /// The number of the first line.
    line: usize,
    /// The column of the span in its line, in characters from 1, if `source` lacks the beginning of the line.
    column: Option<usize>,
}

impl Window {
    fn around(text: &str, span: Span) -> Self {
        let boundary = |at: usize, up: bool| {
            let mut at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at = if up { at + 1 } else { at - 1 };
            }
            at
        };
        let start = boundary(span.start as usize, false);
        let mut end = boundary(span.end as usize, true).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        // Show only the first line of a value with several lines.
        if let Some(at) = text[start..end].find('\n') {
            end = start + at;
        }
        let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
        end = boundary(end.min(start + 2 * AROUND), true);
        let from = boundary(line_start.max(start.saturating_sub(AROUND)), true).min(start);
        let to = boundary(line_end.min(end + AROUND), false).max(end);
        let mut source = String::new();
        if from > line_start {
            source.push('…');
        }
        source.push_str(&without_hidden(&text[from..start]));
        let mark = source.len();
        source.push_str(&without_hidden(&text[start..end]));
        let mark = mark..source.len();
        source.push_str(&without_hidden(&text[end..to]));
        if to < line_end {
            source.push('…');
        }
        let column = (from > line_start).then(|| text[line_start..start].chars().count() + 1);
        Window { source, mark, line: text[..start].matches('\n').count() + 1, column }
    }
}

/// Indents JSON, and truncates it to the size of a screen. The input has no optional white space. Strings are
/// unchanged.
fn pretty(document: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    let mut previous = ' ';
    let mut lines = 1;
    for character in document.chars() {
        if quoted {
            out.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else {
            let closing = matches!(character, '}' | ']');
            depth = if closing { depth.saturating_sub(1) } else { depth };
            let empty = closing && matches!(previous, '{' | '[');
            if (matches!(previous, '{' | '[' | ',') || closing) && !empty {
                out.push('\n');
                out.push_str(&"  ".repeat(depth));
                lines += 1;
                if lines > MAX_LINES {
                    break;
                }
            }
            out.push(character);
            match character {
                '{' | '[' => depth += 1,
                ':' => out.push(' '),
                '"' => quoted = true,
                _ => {}
            }
        }
        previous = character;
    }
    let mut out = escape_terminal(out.trim_end());
    out.push('\n');
    if lines > MAX_LINES {
        out.push_str("… and more lines; --json has the whole document\n");
    }
    out
}

/// Returns the last lines: the disposition, the notes, and the usage.
fn summary(verdict: &Verdict) -> String {
    let report = &verdict.report;
    let style = match report.disposition {
        Disposition::Accepted => "\x1b[1;32m",
        Disposition::Rejected => "\x1b[1;31m",
        _ => "\x1b[1;33m",
    };
    let mut line = format!("{style}{}\x1b[0m {}", report.disposition.as_str(), escape_terminal(&report.agent));
    for word in [violations(report), partly(report), chosen(report)].into_iter().flatten() {
        line.push_str(", ");
        line.push_str(&word);
    }
    for note in &report.notes {
        line.push_str(&format!("\nnote: {}", escape_terminal(note)));
    }
    line.push_str(&format!(
        "\n{} fuel, {} KiB, {:.1} ms",
        verdict.usage.fuel,
        verdict.usage.memory / 1024,
        verdict.usage.elapsed.as_secs_f64() * 1000.0
    ));
    line
}

fn violations(report: &Report) -> Option<String> {
    let error = report.error.as_ref()?;
    let retry = if error.retryable { "another attempt can help" } else { "another attempt cannot help" };
    Some(format!("{} ({}), {retry}", count(error.violations.len(), "violation"), error.error.as_str()))
}

fn partly(report: &Report) -> Option<String> {
    let number = report.quarantined.len();
    let look = if report.review_required { ", review before use" } else { "" };
    match number {
        0 if report.review_required => Some("repaired, review before use".to_owned()),
        0 => None,
        _ => Some(format!("{} in quarantine{look}", count(number, "item"))),
    }
}

fn chosen(report: &Report) -> Option<String> {
    let chosen = report.candidates.iter().find(|candidate| candidate.chosen)?;
    let marker = chosen.marker.as_ref().map(|marker| format!(" '{}'", escape_terminal(marker))).unwrap_or_default();
    let of = match report.candidates.len() {
        1 => String::new(),
        number => format!(", one of {number}"),
    };
    let Span { start, end } = chosen.span;
    let source = match chosen.source {
        Source::Block => "the block",
        Source::Raw => "the whole output",
        _ => "the prose",
    };
    Some(format!("from {source}{marker} at bytes {start} to {end}{of}"))
}
