//! Notices about the journal of a run of attempts, on standard error.

use seamgate::RetryNotice;
use seamgate_text::{escape_terminal, warn};

/// Prints a journal's warning to standard error, with the paths and texts in it escaped. Prints nothing if the run
/// merely continues.
pub fn print_warning(notice: &RetryNotice) {
    let name = |path: &std::path::Path| format!("the journal {}", path.display());
    let text = match notice {
        RetryNotice::Resumed { .. } => return,
        RetryNotice::Restricted { path, .. } => {
            let name = escape_terminal(&name(path));
            format!("other users could read or write {name}; now only its owner can")
        }
        RetryNotice::Changed { path, expected, found, .. } => {
            let path = escape_terminal(&path.display().to_string());
            format!(
                "another program changed the journal {path} from {expected} to {found} bytes; the run continues after that"
            )
        }
        RetryNotice::SkippedLine { path, line, text, .. } => {
            format!("{}: line {line} belongs to no run, and is skipped: {:?}", name(path), escape_terminal(text))
        }
        RetryNotice::IncompleteLine { path, line, text, .. } => {
            format!("{}: line {line} is incomplete, and removed: {:?}", name(path), escape_terminal(text))
        }
        other => other.to_string(),
    };
    warn(&format!("seamgate: {text}"));
}
