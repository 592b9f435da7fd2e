//! A verdict as a person sees it: the source, with what is wrong under the spans.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet, renderer::DecorStyle};
use seamgate::{Disposition, Report, Source, Span, Verdict, Violation};

/// Violations that are shown; the report has more.
const MAX_SHOWN: usize = 12;

/// Lines of a document that are shown.
const MAX_LINES: usize = 40;

/// Bytes of a line that are shown before and after what is wrong in it.
const AROUND: usize = 60;

/// Text of others, made safe for a terminal: nothing in it moves the cursor, hides, or turns the direction of writing.
pub(crate) fn safe(text: &str) -> String {
    text.split('\n').map(safe_line).collect::<Vec<_>>().join("\n")
}

fn safe_line(line: &str) -> String {
    annotate_snippets::normalize_untrusted_str(&replaced(line))
}

/// The picture of a verdict. `output` is what was judged, `name` where it came from.
pub(crate) fn verdict(verdict: &Verdict, output: &[u8], name: &str) -> String {
    let report = &verdict.report;
    // Spans are offsets into the bytes as they were; where those were not UTF-8, the one span is before that.
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
    if let Some(document) = &report.output {
        picture.push_str(&pretty(document));
        picture.push('\n');
    }
    picture.push_str(&summary(verdict));
    picture
}

fn violation(violation: &Violation, text: &str, name: &str) -> String {
    let title = format!("{} {}", violation.path, violation.message);
    let title = Level::ERROR.primary_title(safe(&title)).id(safe(&violation.keyword));
    let mut elements: Vec<Element> = Vec::new();
    if let Some(span) = violation.span {
        let window = Window::around(text, span);
        let label = format!("expected {}", violation.expected);
        let annotation = AnnotationKind::Primary.span(window.mark.clone()).label(safe(&label));
        elements.push(
            Snippet::source(window.source).path(safe(name)).line_start(window.line).annotation(annotation).into(),
        );
    } else {
        elements.push(Level::NOTE.message(format!("expected {}", safe(&violation.expected))).into());
        elements.push(Level::NOTE.message(format!("received {}", safe(&violation.received))).into());
    }
    if !violation.schema_path.is_empty() {
        let says = format!("the schema says so at {}", violation.schema_path);
        elements.push(Level::NOTE.message(safe(&says)).into());
    }
    let group: Group = title.elements(elements);
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}

/// The part of the text around a span that is worth showing.
struct Window {
    source: String,
    /// Where in `source` the span is.
    mark: Range<usize>,
    /// The number of the first line.
    line: usize,
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
        // Of a value that goes on for lines, the first line shows where it is.
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
        source.push_str(&replaced(&text[from..start]));
        let mark = source.len();
        source.push_str(&replaced(&text[start..end]));
        let mark = mark..source.len();
        source.push_str(&replaced(&text[end..to]));
        if to < line_end {
            source.push('…');
        }
        Window { source, mark, line: text[..start].matches('\n').count() + 1 }
    }
}

/// What has no width, replaced; the renderer makes safe what else there is.
fn replaced(text: &str) -> String {
    text.trim_end_matches('\r')
        .chars()
        .map(|character| match character {
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{80}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// JSON without optional white space, with indentation, cut to what fits a screen. Strings are left as they are.
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
    let mut out = safe(out.trim_end());
    out.push('\n');
    if lines > MAX_LINES {
        out.push_str("… cut here; --json has the whole document\n");
    }
    out
}

/// The last line: what became of the output.
fn summary(verdict: &Verdict) -> String {
    let report = &verdict.report;
    let style = match report.disposition {
        Disposition::Accepted => "\x1b[1;32m",
        Disposition::Rejected => "\x1b[1;31m",
        Disposition::Partial | Disposition::Refused => "\x1b[1;33m",
    };
    let mut line = format!("{style}{}\x1b[0m {}", report.disposition.word(), report.agent);
    for word in [violations(report), chosen(report)].into_iter().flatten() {
        line.push_str(", ");
        line.push_str(&word);
    }
    for note in &report.notes {
        line.push_str(&format!("\nnote: {}", safe(note)));
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
    let number = error.violations.len();
    let plural = if number == 1 { "" } else { "s" };
    let retry = if error.retryable { "another attempt can help" } else { "another attempt cannot help" };
    Some(format!("{number} violation{plural} ({}), {retry}", error.error.word()))
}

fn chosen(report: &Report) -> Option<String> {
    let chosen = report.candidates.iter().find(|candidate| candidate.chosen)?;
    let marker = chosen.marker.as_ref().map(|marker| format!(" '{}'", safe(marker))).unwrap_or_default();
    let of = match report.candidates.len() {
        1 => String::new(),
        number => format!(", one of {number}"),
    };
    let Span { start, end } = chosen.span;
    let source = match chosen.source {
        Source::Block => "the block",
        Source::Raw => "the whole output",
        Source::Embedded => "the prose",
    };
    Some(format!("from {source}{marker} at bytes {start} to {end}{of}"))
}
