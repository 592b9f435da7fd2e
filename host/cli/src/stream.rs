//! `seamgate check --stream`: what is known of an output while it is still coming.

use std::{io::Read, path::Path};

use anyhow::{Context, Result};
use seamgate::{Completeness, Fault, Finish, Gate, Progress, Request, Verdict};

use crate::{
    check::{open, print},
    picture,
};

/// Characters of an item that are shown.
const MAX_ITEM: usize = 100;

/// Judge an output as it comes, and tell what is known after each piece of it: in words, or as lines of JSON. What came is
/// added to `output`, as far as the gate takes it.
pub(crate) fn judge(
    gate: &Gate,
    request: &Request,
    (file, finish, words): (Option<&Path>, Finish, bool),
    output: &mut Vec<u8>,
) -> Result<Result<Verdict, Fault>> {
    // The size of a file is known, however much of it is read.
    let (mut input, length) = open(file)?;
    let mut session = match gate.session(request) {
        Ok(session) => session,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut teller = Teller { words, completeness: Completeness::InFlight, is_dead: false };
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = match input.read(&mut chunk) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read.context("the output")?,
        };
        if read == 0 {
            break;
        }
        output.extend_from_slice(&chunk[..read]);
        match session.push(&chunk[..read]) {
            Ok(progress) => teller.tell(&progress, output)?,
            Err(Fault::InputTooLarge { bytes, limit, .. }) => {
                let more = length.is_none();
                let bytes = length.unwrap_or(0).max(bytes);
                return Ok(Err(Fault::InputTooLarge { bytes, limit, more }));
            }
            Err(fault) => return Ok(Err(fault)),
        }
    }
    if words {
        print("hard-complete: the producer has stopped\n")?;
    }
    Ok(session.finish(finish))
}

struct Teller {
    words: bool,
    completeness: Completeness,
    /// A dead end was told.
    is_dead: bool,
}

impl Teller {
    /// Tell what is new.
    fn tell(&mut self, progress: &Progress, output: &[u8]) -> Result<()> {
        let changed = progress.completeness != self.completeness;
        let dead_end = progress.dead_end.as_ref().filter(|_| !self.is_dead);
        self.completeness = progress.completeness;
        self.is_dead = progress.dead_end.is_some();
        if !changed && dead_end.is_none() && progress.items.is_empty() {
            return Ok(());
        }
        if !self.words {
            return print(&format!("{{\"progress\":{}}}", progress.to_json()));
        }
        let mut lines = String::new();
        for item in &progress.items {
            let (start, end) = (item.span.start as usize, item.span.end as usize);
            let text = output.get(start..end).unwrap_or_default();
            // More than is shown, however much of it is white space in pretty-printed text.
            let text = String::from_utf8_lossy(&text[..text.len().min(16 * MAX_ITEM)]);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown: String = text.chars().take(MAX_ITEM).collect();
            let more = if shown.len() < text.len() { " …" } else { "" };
            let shown = picture::safe(&shown);
            lines.push_str(&format!("item {} at bytes {start} to {end}: {shown}{more}\n", item.index));
        }
        if let Some(dead_end) = dead_end {
            lines.push_str(&format!("dead end at byte {}: {}\n", dead_end.at, picture::safe(&dead_end.message)));
        }
        match self.completeness {
            Completeness::SoftComplete if changed => lines.push_str("soft-complete: this is a whole document\n"),
            _ if changed => lines.push_str("in flight\n"),
            _ => {}
        }
        print(&lines)
    }
}
