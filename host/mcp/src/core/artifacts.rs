//! Complete results that the gate truncated. The client reads them in pieces with the gate's own tool.

use std::collections::VecDeque;

use serde::Deserialize;

/// The longest artifact that a client can read, in bytes, and the maximum number of artifacts that are remembered.
const MAX_ARTIFACT: usize = 8 * 1024 * 1024;
const MAX_ARTIFACTS: usize = 1024;
/// The length of a piece, in bytes.
const PIECE: usize = 16 * 1024;

/// A piece that the client requested.
pub(super) struct Wanted {
    /// The key of the call that requested the piece, in the run.
    pub(super) key: String,
    pub(super) artifact: String,
    pub(super) offset: usize,
}

/// The artifacts that the client may read.
#[derive(Default)]
pub(super) struct Artifacts {
    /// Their digests, oldest first.
    known: VecDeque<String>,
    /// The artifact that was read last, sanitized.
    last: Option<(String, String)>,
    /// Reads in flight, oldest first.
    reading: VecDeque<Wanted>,
}

/// The next step of a read.
pub(super) enum Next {
    /// Answer with this piece, or with the reason why there is none.
    Answer(Result<String, String>),
    /// Read the artifact with this digest.
    Read(String),
    /// Have this complete text judged.
    Judge(Wanted, String),
}

impl Artifacts {
    /// Returns the number of artifacts that are remembered or being read.
    pub(super) fn len(&self) -> usize {
        self.known.len() + self.reading.len()
    }

    /// Lets the client read an artifact.
    pub(super) fn add(&mut self, artifact: String) {
        if !self.known.contains(&artifact) {
            self.known.push_back(artifact);
        }
        if self.known.len() > MAX_ARTIFACTS {
            self.known.pop_front();
        }
    }

    /// Begins a read, given the arguments of a call of the gate's own tool.
    pub(super) fn want(&mut self, key: &str, arguments: &str) -> Next {
        #[derive(Deserialize)]
        struct Arguments {
            artifact: String,
            #[serde(default)]
            offset: usize,
        }
        let Arguments { artifact, offset } = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(wrong) => return Next::Answer(Err(format!("the arguments are not valid: {wrong}"))),
        };
        if !self.known.contains(&artifact) {
            return Next::Answer(Err("no result that was cut has this artifact".to_owned()));
        }
        if let Some((last, text)) = &self.last
            && *last == artifact
        {
            return Next::Answer(Ok(piece(text, offset)));
        }
        self.reading.push_back(Wanted { key: key.to_owned(), artifact: artifact.clone(), offset });
        Next::Read(artifact)
    }

    /// Takes the complete text of the oldest read in flight. Returns the key of its call, and the next step.
    pub(super) fn read(&mut self, text: Result<String, String>) -> Option<(String, Next)> {
        let wanted = self.reading.pop_front()?;
        let key = wanted.key.clone();
        let next = match text.map(|whole| texts(&whole)) {
            Err(why) => Next::Answer(Err(why)),
            Ok(text) if text.len() > MAX_ARTIFACT => {
                Next::Answer(Err(format!("the result has {} bytes; at most {MAX_ARTIFACT} can be read", text.len())))
            }
            // The kernel sanitizes the text as a whole, so that no secret is split.
            Ok(text) => Next::Judge(wanted, text),
        };
        Some((key, next))
    }

    /// Takes the sanitized text of an artifact, and returns the piece that begins at `offset`.
    pub(super) fn judged(&mut self, artifact: String, offset: usize, text: String) -> String {
        let piece = piece(&text, offset);
        self.last = Some((artifact, text));
        piece
    }
}

fn piece(text: &str, offset: usize) -> String {
    let start = text.floor_char_boundary(offset);
    let mut end = text.floor_char_boundary(start.saturating_add(PIECE));
    if end < text.len()
        && let Some(line) = text[start..end].rfind('\n')
    {
        end = start + line + 1;
    }
    let next = match end < text.len() {
        true => format!("the next piece begins at offset {end}"),
        false => "this is the end".to_owned(),
    };
    format!("{}\n[bytes {start} to {end} of {}; {next}]", &text[start..end], text.len())
}

/// Returns the texts of a protocol result. If it has none, returns the complete result.
pub(super) fn texts(result: &str) -> String {
    #[derive(Deserialize)]
    struct Returned {
        content: Vec<Block>,
    }
    #[derive(Deserialize)]
    struct Block {
        text: Option<String>,
    }
    let read = serde_json::from_str::<Returned>(result);
    let texts: Vec<String> =
        read.map(|read| read.content.into_iter().filter_map(|block| block.text).collect()).unwrap_or_default();
    if texts.is_empty() { result.to_owned() } else { texts.join("\n") }
}
