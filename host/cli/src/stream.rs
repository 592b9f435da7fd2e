//! `seamgate check --stream`: reports progress on an output that is still arriving.

use std::io::Read;

use anyhow::{Context, Result};
use seamgate::{Completeness, Fault, Progress, Session};
use seamgate_text::escape_terminal;

use crate::{
    console::{print, print_json},
    error::FaultError,
};

/// The maximum number of characters shown of an item.
const MAX_ITEM: usize = 100;

/// Reads an output to its end, and reports progress after each piece, in words or as lines of JSON. Appends the bytes
/// that the gate accepted to `output`.
pub(crate) fn follow(
    session: &mut Session,
    (mut input, length): (impl Read, Option<usize>),
    in_words: bool,
    output: &mut Vec<u8>,
) -> Result<()> {
    let mut reporter = Reporter { in_words, completeness: Completeness::InFlight, is_dead: false };
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = match input.read(&mut chunk) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.context("cannot read the output")?,
        };
        if read == 0 {
            break;
        }
        output.extend_from_slice(&chunk[..read]);
        let progress = session.push(&chunk[..read]).map_err(|fault| FaultError(whole(fault, length)))?;
        reporter.report(&progress, output)?;
    }
    if in_words {
        print("hard-complete: the producer has stopped\n")?;
    }
    Ok(())
}

/// Adds the length of the whole input to a fault, if it is known.
fn whole(fault: Fault, length: Option<usize>) -> Fault {
    match (fault, length) {
        (Fault::InputTooLarge { bytes, limit, .. }, Some(length)) => {
            Fault::InputTooLarge { bytes: length.max(bytes), limit, more: false }
        }
        (fault, _) => fault,
    }
}

struct Reporter {
    in_words: bool,
    completeness: Completeness,
    /// `true` if a dead end was reported.
    is_dead: bool,
}

impl Reporter {
    /// Reports the progress since the last report.
    fn report(&mut self, progress: &Progress, output: &[u8]) -> Result<()> {
        let changed = progress.completeness != self.completeness;
        let dead_end = progress.dead_end.as_ref().filter(|_| !self.is_dead);
        self.completeness = progress.completeness;
        self.is_dead = progress.dead_end.is_some();
        if !changed && dead_end.is_none() && progress.items.is_empty() {
            return Ok(());
        }
        if !self.in_words {
            return print_json(&format!("{{\"progress\":{}}}", progress.to_json()));
        }
        let mut lines = String::new();
        for item in &progress.items {
            let (start, end) = (item.span.start as usize, item.span.end as usize);
            let text = shown(output.get(start..end).unwrap_or_default());
            lines.push_str(&format!("item {} at bytes {start} to {end}: {text}\n", item.index));
        }
        if let Some(dead_end) = dead_end {
            lines.push_str(&format!("dead end at byte {}: {}\n", dead_end.at, escape_terminal(&dead_end.message)));
        }
        match self.completeness {
            Completeness::SoftComplete if changed => lines.push_str("soft-complete: this is a whole document\n"),
            _ if changed => lines.push_str("in flight\n"),
            _ => {}
        }
        print(&lines)
    }
}

/// Returns the beginning of an item on one line.
fn shown(item: &[u8]) -> String {
    // Pretty-printed text has a lot of white space, so first truncate it to more bytes than are shown.
    let text = String::from_utf8_lossy(&item[..item.len().min(16 * MAX_ITEM)]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(MAX_ITEM).collect();
    let more = if shown.len() < text.len() { " …" } else { "" };
    format!("{}{more}", escape_terminal(&shown))
}
