//! Findings in files, with their places.

use std::sync::Arc;

use seamgate::Span;

/// The severity of a finding, from the least severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The text works, but could be better.
    Hint,
    /// The text works, but is likely a mistake.
    Warning,
    /// The text does not work.
    Error,
}

impl Level {
    /// Returns the word for the level: `hint`, `warning` or `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Hint => "hint",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A place in a file, or a file as a whole.
#[derive(Debug, Clone)]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// The text of the file, and the span in it. `None` for the file as a whole.
    pub text: Option<(Arc<str>, Span)>,
}

/// The lines and columns of a place, both from 1. Columns are counted in characters. The end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first line.
    pub line: usize,
    /// The column in the first line at which the place begins.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The column in the last line before which the place ends.
    pub end_column: usize,
}

impl Location {
    /// Returns the location of a file as a whole.
    pub fn file(file: impl Into<String>) -> Self {
        Location { file: file.into(), text: None }
    }

    /// Returns the lines and columns, or `None` for a file as a whole.
    pub fn lines(&self) -> Option<Lines> {
        let (text, span) = self.text.as_ref()?;
        let position = |at: u32| {
            let before = &text[..text.floor_char_boundary(at as usize)];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
        };
        let ((line, column), (end_line, end_column)) = (position(span.start), position(span.end));
        Some(Lines { line, column, end_line, end_column })
    }
}

/// A finding in a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The severity of the finding.
    pub level: Level,
    /// A code that `seamgate explain` knows.
    pub code: String,
    /// The place of the finding.
    pub location: Location,
    /// The place in the document, as a JSONPath. Empty if the finding has no place in a document.
    pub path: String,
    /// A description of the problem.
    pub message: String,
    /// A correction, or the next step.
    pub help: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let text: Arc<str> = "{\n  \"é\": 1, \"extrct\": {}\n}\n".into();
        let location = Location { file: "a.json".to_owned(), text: Some((text, Span { start: 13, end: 21 })) };
        assert_eq!(location.lines(), Some(Lines { line: 2, column: 11, end_line: 2, end_column: 19 }));
        assert_eq!(Location::file("b.json").lines(), None);
    }
}
