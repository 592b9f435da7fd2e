//! The gate's own tool: the client reads whole results by it that were cut.

use std::time::Instant;

use seamgate::Party;
use seamgate_runner::Result;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    calls::texts,
    filter::Judged,
    gate::Gate,
    message::{self, Answer},
};

/// The longest artifact that a client can read, and how many of them are remembered.
const MAX_ARTIFACT: usize = 8 * 1024 * 1024;
const MAX_ARTIFACTS: usize = 1024;
/// A piece of one, in bytes.
const PIECE: usize = 16 * 1024;

impl Gate<'_> {
    pub(super) fn remember(&mut self, artifact: String) {
        if !self.artifacts.contains(&artifact) {
            self.artifacts.push_back(artifact);
        }
        if self.artifacts.len() > MAX_ARTIFACTS {
            self.artifacts.pop_front();
        }
    }

    /// The gate's own tool: a piece of a whole result. It is cleaned as a whole before, so that no secret is cut in two.
    pub(super) fn read_artifact(&mut self, key: &str, arguments: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Arguments {
            artifact: String,
            #[serde(default)]
            offset: usize,
        }
        let begin = Instant::now();
        let piece = match serde_json::from_str(arguments) {
            Ok(Arguments { artifact, offset }) => self.piece(&artifact, offset)?,
            Err(wrong) => Err(format!("the arguments are not valid: {wrong}")),
        };
        let text = match piece {
            Ok(text) => message::succeeded(&text),
            Err(message) => message::failed(&message),
        };
        let result = RawValue::from_string(text)?;
        let answer = Answer::Result(&result);
        self.called(key, begin, answer)
    }

    pub(super) fn piece(&mut self, artifact: &str, offset: usize) -> Result<Result<String, String>> {
        if !self.artifacts.iter().any(|known| known == artifact) {
            return Ok(Err("no result that was cut has this artifact".to_owned()));
        }
        if self.last_artifact.as_ref().is_none_or(|(read, _)| read != artifact) {
            let whole = match self.run.artifact(artifact) {
                Ok(whole) => whole,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let text = texts(&whole);
            if text.len() > MAX_ARTIFACT {
                return Ok(Err(format!("the result has {} bytes; at most {MAX_ARTIFACT} can be read", text.len())));
            }
            let document = to_raw_value(&text)?;
            let text = match self.judge(0, "seamgate/read_artifact", Party::Server, Some(&document))? {
                Judged::Unchanged => text,
                Judged::Cleaned(cleaned) => serde_json::from_str(cleaned.as_str())?,
                Judged::Denied => return Ok(Err("the result cannot be judged".to_owned())),
            };
            self.last_artifact = Some((artifact.to_owned(), text));
        }
        let text = self.last_artifact.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
        let start = text.floor_char_boundary(offset);
        let mut end = text.floor_char_boundary(start + PIECE);
        if end < text.len()
            && let Some(line) = text[start..end].rfind('\n')
        {
            end = start + line + 1;
        }
        let next = match end < text.len() {
            true => format!("the next piece begins at offset {end}"),
            false => "this is the end".to_owned(),
        };
        Ok(Ok(format!("{}\n[bytes {start} to {end} of {}; {next}]", &text[start..end], text.len())))
    }
}
