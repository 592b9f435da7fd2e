//! Writes findings in files for people, programs, editors and CI: `--format`.

use std::{fmt::Write, time::Duration};

use annotate_snippets::Level as Severity;
use seamgate_authoring::{Finding, Level};
use seamgate_text::escape_terminal;
use serde_json::{Value, json};

use crate::{codes, diagnostic::Drawing};

/// The format in which findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people: the lines with the findings marked
    Text,
    /// One JSON document
    Json,
    /// Workflow commands of GitHub Actions, which annotate the lines of a change
    Github,
    /// SARIF 2.1.0, for editors and code scanning
    Sarif,
    /// JUnit XML, for CI
    Junit,
}

/// One thing that was checked: a file, a case or an output.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) name: String,
    pub(crate) findings: Vec<Finding>,
    /// `true` if the check failed, which decides the exit status.
    pub(crate) failed: bool,
    pub(crate) elapsed: Duration,
}

/// Writes all findings in `format`. `suite` is the command that found them, such as `seamgate lint`. `summary` is the
/// last line for people.
pub(crate) fn written(format: Format, suite: &str, checked: &[Checked], summary: &str) -> String {
    match format {
        Format::Text => text(checked, summary),
        Format::Json => self::json(checked),
        Format::Github => github(checked),
        Format::Sarif => sarif(checked),
        Format::Junit => junit(suite, checked),
    }
}

fn findings(checked: &[Checked]) -> impl Iterator<Item = &Finding> {
    checked.iter().flat_map(|one| &one.findings)
}

/// Draws a finding with its line.
pub(crate) fn drawn(finding: &Finding) -> String {
    let level = match finding.level {
        Level::Error => Severity::ERROR,
        Level::Warning => Severity::WARNING,
        Level::Hint => Severity::HELP.with_name("hint"),
    };
    let title = sentence(finding);
    let mut drawing = Drawing::default();
    let title = match &finding.location.text {
        Some((text, span)) => {
            let label = match &finding.help {
                Some(help) if is_short(help) => help.as_str(),
                _ => "",
            };
            drawing.mark(text, &finding.location.file, *span, label);
            title
        }
        None => format!("{}: {title}", finding.location.file),
    };
    if let Some(help) = finding.help.as_ref().filter(|help| finding.location.text.is_none() || !is_short(help)) {
        drawing.add(Severity::HELP.message(escape_terminal(help)));
    }
    drawing.under(level.primary_title(escape_terminal(&title)).id(escape_terminal(&finding.code)))
}

/// Returns whether a text is short enough to be placed beside a mark.
fn is_short(text: &str) -> bool {
    text.chars().count() <= 60 && !text.contains('\n')
}

/// Returns the place of a finding, and the problem at this place.
fn sentence(finding: &Finding) -> String {
    match finding.path.as_str() {
        "" => finding.message.clone(),
        path => format!("{path} {}", finding.message),
    }
}

fn text(checked: &[Checked], summary: &str) -> String {
    let mut out = String::new();
    for finding in findings(checked) {
        out.push_str(&drawn(finding));
        out.push_str("\n\n");
    }
    out.push_str(summary);
    out
}

fn json(checked: &[Checked]) -> String {
    let count = |level| findings(checked).filter(|finding| finding.level == level).count();
    let findings: Vec<Value> = findings(checked)
        .map(|finding| {
            let lines = finding.location.lines();
            json!({
                "level": finding.level.as_str(),
                "code": finding.code,
                "file": finding.location.file,
                "line": lines.map(|lines| lines.line),
                "column": lines.map(|lines| lines.column),
                "end_line": lines.map(|lines| lines.end_line),
                "end_column": lines.map(|lines| lines.end_column),
                "path": finding.path,
                "message": finding.message,
                "help": finding.help,
            })
        })
        .collect();
    let failed = checked.iter().filter(|one| one.failed).count();
    json!({
        "checked": checked.len(),
        "failed": failed,
        "errors": count(Level::Error),
        "warnings": count(Level::Warning),
        "hints": count(Level::Hint),
        "findings": findings,
    })
    .to_string()
}

/// Writes workflow commands, `::error file=…,line=…::…`, one per line, with escaped values.
fn github(checked: &[Checked]) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = String::new();
    for finding in findings(checked) {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Hint => "notice",
        };
        let _ = write!(out, "::{command} file={}", property(&finding.location.file));
        if let Some(lines) = finding.location.lines() {
            let _ = write!(out, ",line={},endLine={},col={}", lines.line, lines.end_line, lines.column);
            if lines.line == lines.end_line {
                let _ = write!(out, ",endColumn={}", lines.end_column);
            }
        }
        let _ = writeln!(out, ",title={}::{}", property(&finding.code), data(&whole(finding)));
    }
    out
}

/// Returns the problem and how to fix it.
fn whole(finding: &Finding) -> String {
    match &finding.help {
        Some(help) => format!("{} ({help})", sentence(finding)),
        None => sentence(finding),
    }
}

fn sarif(checked: &[Checked]) -> String {
    let mut codes: Vec<&str> = findings(checked).map(|finding| finding.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<Value> = findings(checked)
        .map(|finding| {
            let level = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Hint => "note",
            };
            let mut place = json!({ "artifactLocation": { "uri": uri(&finding.location.file) } });
            if let Some(lines) = finding.location.lines() {
                place["region"] = json!({
                    "startLine": lines.line,
                    "startColumn": lines.column,
                    "endLine": lines.end_line,
                    "endColumn": lines.end_column,
                });
            }
            json!({
                "ruleId": finding.code,
                "ruleIndex": codes.binary_search(&finding.code.as_str()).ok(),
                "level": level,
                "message": { "text": whole(finding) },
                "locations": [{ "physicalLocation": place }],
            })
        })
        .collect();
    let all = codes::all();
    let rules: Vec<Value> = codes
        .iter()
        .map(|code| match codes::explained(code, &all) {
            Some((short, whole)) => json!({
                "id": code,
                "shortDescription": { "text": short },
                "fullDescription": { "text": whole },
                "help": { "text": whole },
            }),
            None => json!({ "id": code }),
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "seamgate", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
    .to_string()
}

/// Returns a path as a URI reference (RFC 3986).
fn uri(file: &str) -> String {
    let mut uri = String::new();
    for byte in file.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

fn junit(suite: &str, checked: &[Checked]) -> String {
    let seconds = |elapsed: Duration| format!("{:.3}", elapsed.as_secs_f64());
    let failed = checked.iter().filter(|one| one.failed).count();
    let all: Duration = checked.iter().map(|one| one.elapsed).sum();
    let counts = format!("tests=\"{}\" failures=\"{failed}\" time=\"{}\"", checked.len(), seconds(all));
    let suite = escaped(suite);
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{suite}\" {counts}>\n");
    let _ = writeln!(out, "  <testsuite name=\"{suite}\" {counts}>");
    for one in checked {
        let name = escaped(&one.name);
        let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{}\"", seconds(one.elapsed));
        if one.findings.is_empty() && !one.failed {
            out.push_str("/>\n");
            continue;
        }
        out.push_str(">\n");
        let lines: String = one.findings.iter().map(line).collect::<Vec<_>>().join("\n");
        if one.failed {
            // A table of failures shows the most severe finding.
            let worst = one.findings.iter().rev().max_by_key(|finding| finding.level);
            let (message, code) = worst.map_or((String::new(), ""), |worst| (sentence(worst), &worst.code));
            let (message, code) = (escaped(&message), escaped(code));
            let _ = writeln!(out, "      <failure message=\"{message}\" type=\"{code}\">{}</failure>", escaped(&lines));
        } else {
            let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(&lines));
        }
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>");
    out
}

/// Returns a finding on one line, in the style of compilers.
fn line(finding: &Finding) -> String {
    let place = match finding.location.lines() {
        Some(lines) => format!("{}:{}:{}", finding.location.file, lines.line, lines.column),
        None => finding.location.file.clone(),
    };
    format!("{place}: {}[{}]: {}", finding.level.as_str(), finding.code, whole(finding))
}

/// Escapes a text for XML 1.0, and removes the characters that XML does not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use seamgate::Span;
    use seamgate_authoring::Location;

    use super::*;

    fn checked() -> Vec<Checked> {
        let text: Arc<str> = "{\n  \"é\": 1, \"extrct\": {}\n}\n".into();
        let location = Location { file: "a b.json".to_owned(), text: Some((text, Span { start: 13, end: 21 })) };
        let finding = Finding {
            level: Level::Error,
            code: "additionalProperties".to_owned(),
            location,
            path: "$.extrct".to_owned(),
            message: "is <not> a member, 100%".to_owned(),
            help: Some("did you mean \"extract\"?".to_owned()),
        };
        let whole = Finding {
            location: Location::file("b"),
            level: Level::Hint,
            path: String::new(),
            help: None,
            ..finding.clone()
        };
        let none = Checked { name: "c".to_owned(), findings: Vec::new(), failed: false, elapsed: Duration::ZERO };
        vec![
            Checked {
                name: "a b.json".to_owned(),
                findings: vec![finding, whole],
                failed: true,
                elapsed: Duration::ZERO,
            },
            none,
        ]
    }

    #[test]
    fn each_format_has_all_that_was_found_and_escapes_it() {
        let of = |format| written(format, "seamgate lint", &checked(), "2 files");
        let text = anstream::adapter::strip_str(&of(Format::Text)).to_string();
        assert!(text.contains("error[additionalProperties]: $.extrct is <not> a member"), "{text}");
        assert!(text.contains("--> a b.json:2:11") && text.contains("^^^^^^^^ did you mean"), "{text}");
        assert!(text.contains("hint[additionalProperties]: b: is") && text.ends_with("2 files"), "{text}");
        let json: Value = serde_json::from_str(&of(Format::Json)).expect("JSON");
        assert_eq!((&json["errors"], &json["findings"][0]["column"]), (&json!(1), &json!(11)));
        assert_eq!(json["findings"][1]["line"], Value::Null);
        let github = of(Format::Github);
        assert!(github.starts_with("::error file=a b.json,line=2,endLine=2,col=11,endColumn=19,title="), "{github}");
        assert!(github.contains("100%25") && github.contains("\n::notice file=b,title="), "{github}");
        let sarif: Value = serde_json::from_str(&of(Format::Sarif)).expect("JSON");
        let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "a%20b.json");
        assert_eq!(location["region"]["startColumn"], 11);
        let junit = of(Format::Junit);
        assert!(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("is &lt;not&gt; a member"), "{junit}");
        assert!(junit.contains("<testcase name=\"c\" classname=\"seamgate lint\" time=\"0.000\"/>"), "{junit}");
    }
}
