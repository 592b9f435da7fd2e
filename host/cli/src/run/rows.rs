//! Rows for a receipt: the attempts of a run, as requests of `seamgate check --ndjson` and their answers.

use std::{
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{Gate, Limits, open_regular};
use seamgate_text::{count, escape_terminal, warn};

use crate::{error::NoVerdict, ndjson};

/// The files that rows are appended to. The line of a request has the number of the line of its answer.
pub(super) struct Rows<'g> {
    gate: &'g Gate,
    requests: Lines,
    answers: Lines,
}

struct Lines {
    path: PathBuf,
    file: File,
}

impl<'g> Rows<'g> {
    /// Opens the files, which may have rows of earlier runs: as many requests as answers.
    pub(super) fn open(gate: &'g Gate, requests: &Path, answers: &Path) -> Result<Self> {
        let (requests, answers) = (Lines::open(requests)?, Lines::open(answers)?);
        let same = |path: &Path| path.canonicalize().ok();
        if same(&requests.path) == same(&answers.path) {
            bail!("--requests and --answers must be two files, not {}", requests.path.display());
        }
        let (asked, answered) = (requests.count()?, answers.count()?);
        if asked != answered {
            let [asked, answered] = [asked, answered].map(|lines| count(lines, "line"));
            let [requests, answers] = [&requests, &answers].map(|lines| lines.path.display());
            bail!(
                "{requests} has {asked}, and {answers} has {answered}: each request needs its answer; name new files"
            );
        }
        Ok(Rows { gate, requests, answers })
    }

    /// Appends a request and the gate's answer to it.
    pub(super) fn append(&mut self, request: &str) -> Result<()> {
        let limit = Limits::default().output_bytes;
        if request.len() > limit {
            let path = escape_terminal(&self.requests.path.display().to_string());
            let bytes = request.len();
            warn(&format!(
                "seamgate: {path}: an attempt gets no row: its request has {bytes} bytes; the limit is {limit}"
            ));
            return Ok(());
        }
        // The usage of a run's verdict also counts the merge, so the row is judged alone.
        let answer = ndjson::line(self.gate, request);
        self.requests.append(request)?;
        self.answers.append(&answer)
    }
}

impl Lines {
    fn open(path: &Path) -> Result<Self> {
        let file = open_regular(File::options().read(true).append(true).create(true), path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Lines { path: path.to_owned(), file })
    }

    /// Returns the number of lines. Fails if the last line is incomplete.
    fn count(&self) -> Result<usize> {
        let mut lines = 0;
        let mut file = BufReader::new(&self.file);
        loop {
            let mut line = Vec::new();
            file.read_until(b'\n', &mut line).with_context(|| format!("cannot read {}", self.path.display()))?;
            match line.last() {
                None => return Ok(lines),
                Some(b'\n') => lines += 1,
                Some(_) => bail!("{}: its last line is incomplete; name a new file", self.path.display()),
            }
        }
    }

    fn append(&mut self, line: &str) -> Result<()> {
        self.file
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|error| NoVerdict(format!("cannot write {}: {error}", self.path.display())).into())
    }
}
