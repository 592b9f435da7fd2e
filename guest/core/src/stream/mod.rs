//! Follows an output as it arrives. While it is in flight, the session detects when it can no longer become valid, and
//! reports each item as soon as it is complete. After the producer has stopped, `validate` judges the whole text.
//!
//! Reports in flight follow the text as `extract` and the strict parser read it, as far as that is possible before the
//! end: blocks, the whole output, or JSON in prose. They exclude the results of recovery and repair.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

use crate::{
    allow,
    caps::{Caps, MAX_TEXT},
    contract::{Contract, Embedded, Markup, Reading, Select},
    evidence::check_evidence,
    extract::{Brackets, Run, begins_content, ends_word, is_likely, is_mark, marker},
    fault::Fault,
    location::Location,
    parse::follow::{Cap, Event, Json, Rules},
    pipeline::validate,
    request::{Finish, NamedList, Observation, Request},
    scan::white_space,
    types::{Completed, Completeness, DeadEnd, Progress, Report, Violation},
    violation::Details,
};

/// An output in flight.
#[derive(Debug)]
pub struct Session {
    agent: String,
    lists: Vec<NamedList>,
    evidence: Option<Vec<Observation>>,
    output: String,
    scan: Scan,
    /// `true` once the producer has stopped.
    finished: bool,
}

impl Session {
    /// Opens a session for an output under this contract, with the lists that its `allow` refers to.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the lists are not those that the contract requires. This is checked before anything is
    /// read.
    pub fn open(contract: &Contract, lists: Vec<NamedList>, evidence: Option<Vec<Observation>>) -> Result<Self, Fault> {
        allow::check_lists(contract.allow(), &lists)?;
        check_evidence(contract.evidence(), evidence.as_deref())?;
        let agent = contract.agent().to_owned();
        Ok(Session { agent, lists, evidence, output: String::new(), scan: Scan::default(), finished: false })
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Reads the next chunk.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` after the end, or if the output is too long for offsets.
    pub fn push(&mut self, contract: &Contract, chunk: &str) -> Result<Progress, Fault> {
        if self.finished {
            return Err(wrong("chunk", "nothing", "must not come after the producer has stopped"));
        }
        if self.output.len().saturating_add(chunk.len()) > MAX_TEXT {
            return Err(wrong("chunk", "a shorter output", "must not make the output longer than 4 GiB"));
        }
        self.output.push_str(chunk);
        Ok(self.scan.advance(contract, chunk))
    }

    /// Returns the verdict on the whole output, as `validate` does.
    ///
    /// # Errors
    ///
    /// The same as for [`validate`].
    pub fn finish(&mut self, contract: &Contract, finish: Finish, invalid_utf8: Option<u32>) -> Result<Report, Fault> {
        self.finished = true;
        let (agent, lists) = (self.agent.clone(), self.lists.clone());
        let evidence = self.evidence.as_deref().map(Cow::Borrowed);
        validate(contract, &Request { agent, output: &self.output, finish, lists, evidence, invalid_utf8 })
    }

    pub fn completeness(&self) -> Completeness {
        if self.finished { Completeness::HardComplete } else { self.scan.completeness() }
    }
}

fn wrong(name: &str, expected: &str, message: &str) -> Fault {
    let violation =
        Violation::new(&Location::root().name(name), "request", Details { expected, received: "more", message });
    Fault::bad_request(vec![violation])
}

/// The state at the next byte of the output.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Position {
    /// Only white space has arrived.
    Beginning,
    Prose,
    /// After a fence, in the word that names the content.
    Marker(Run, Vec<u8>, Before),
    /// Directly after a marker, on its line.
    Behind(Run),
    /// On the rest of the line after a marker.
    Line(Run),
    /// In a block of another kind.
    Other(Run),
    /// On a quoted line.
    Quote,
    /// After what may be the beginning of a reasoning tag.
    Tag(Word, Outside),
    /// In reasoning, after a possible beginning of the end tag.
    Reasoning(Markup, Word, Outside),
    /// After a bracket in prose, which may begin an object or array.
    Bracket(u8, u32),
    Candidate(Candidate),
}

/// The bytes of a possible tag.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Word {
    bytes: Vec<u8>,
    /// `true` if one or two backticks precede it.
    is_behind_quote: bool,
}

/// The context before a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Before {
    Prose,
    /// A candidate that it ends.
    Block,
    /// A block of another kind that it may end.
    Other(Run),
}

/// The context around a tag.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Outside {
    /// Only white space and reasoning have arrived.
    Beginning,
    Prose,
    /// At the beginning of a block of this kind.
    Block(Kind),
    /// After a document, where another one of this kind may begin.
    Row(Kind),
    /// In an invalid candidate, which ends at the tag.
    Candidate(Candidate),
}

/// A piece of the output that may be the requested JSON.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Candidate {
    /// The start of the candidate. Excludes leading white space once anything else has arrived.
    start: u32,
    begun: bool,
    kind: Kind,
    /// `true` while it is valid JSON so far.
    is_json: bool,
    /// Tracks brackets once it is not valid JSON.
    brackets: Brackets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Block(Run),
    /// A block without a marker.
    Untagged(Run),
    Raw,
    Embedded,
}

impl Kind {
    /// Returns the fence that opened it.
    fn fence(self) -> Option<Run> {
        match self {
            Kind::Block(fence) | Kind::Untagged(fence) => Some(fence),
            _ => None,
        }
    }
}

/// The reason why a candidate can no longer become valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stuck {
    Json,
    Extract,
    Bytes,
    Cap(Cap),
}

impl Stuck {
    fn words(self, at: u32, caps: &Caps) -> DeadEnd {
        let (keyword, message) = match self {
            Stuck::Json => ("json", format!("it is not JSON: unexpected byte at {at}")),
            Stuck::Extract => ("extract", format!("it must be JSON alone: other text starts at byte {at}")),
            Stuck::Bytes => ("caps.bytes", format!("it has more than {} bytes of JSON", caps.bytes)),
            Stuck::Cap(Cap::Depth) => ("caps.depth", format!("it is nested deeper than {} levels", caps.depth)),
            Stuck::Cap(Cap::StringBytes) => {
                ("caps.string_bytes", format!("a string has more than {} bytes", caps.string_bytes))
            }
            Stuck::Cap(Cap::ArrayItems) => {
                ("caps.array_items", format!("an array has more than {} items", caps.array_items))
            }
            Stuck::Cap(Cap::ObjectMembers) => {
                ("caps.object_members", format!("an object has more than {} members", caps.object_members))
            }
        };
        DeadEnd { keyword, message, at }
    }
}

/// The state of scanning an output. It contains none of the output's text, and can be stored between chunks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Scan {
    at: u32,
    place: Position,
    /// `true` if this line has only contained blanks so far.
    blank: bool,
    /// A run of marks that has not ended.
    run: Option<Run>,
    /// The number of backticks before the next byte, at most three.
    quotes: u8,
    /// The byte after the current one, if it has arrived.
    #[serde(skip)]
    next: Option<u8>,
    /// `true` if the candidate before the current one was a complete document.
    complete: bool,
    /// The number of blocks with a marker.
    blocks: u32,
    /// `true` if there was a block without a marker.
    untagged: bool,
    /// The reason why the candidate can no longer become valid, and the offset at which this became clear.
    stuck: Option<(Stuck, u32)>,
    /// The candidate while it is valid JSON so far.
    json: Json,
}

impl Default for Scan {
    fn default() -> Self {
        Scan {
            at: 0,
            place: Position::Beginning,
            blank: true,
            run: None,
            quotes: 0,
            next: None,
            complete: false,
            blocks: 0,
            untagged: false,
            stuck: None,
            json: Json::new(),
        }
    }
}

impl Scan {
    /// Serializes the state to a short opaque text.
    pub(crate) fn to_text(&self) -> String {
        // The state consists of numbers, words and lists, so serializing it cannot fail.
        BASE64URL_NOPAD.encode(&postcard::to_allocvec(self).unwrap_or_default())
    }

    /// Parses the text that `to_text` returned.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (scan, rest) = postcard::take_from_bytes(&bytes).ok()?;
        rest.is_empty().then_some(scan)
    }

    /// Reads the next chunk.
    pub(crate) fn advance(&mut self, contract: &Contract, chunk: &str) -> Progress {
        let bytes = chunk.as_bytes();
        if contract.extract().within.is_some() {
            // Only the end of the output shows which of several tags counts.
            self.at = start_of(self.at, bytes.len());
            return Progress { completeness: Completeness::InFlight, items: Vec::new(), dead_end: None };
        }
        let mut items = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            self.next = None;
            let read = self.quickly(contract, start_of(self.at, at), &bytes[at..], &mut items);
            if read > 0 {
                self.note_line(&bytes[at..at + read]);
                self.count_quotes(&bytes[at..at + read]);
                at += read;
                continue;
            }
            self.next = bytes.get(at + 1).copied();
            self.byte(contract, start_of(self.at, at), bytes[at], &mut items);
            self.count_quotes(&bytes[at..=at]);
            at += 1;
        }
        self.at = start_of(self.at, at);
        let dead_end = self.stuck.map(|(stuck, at)| stuck.words(at, contract.caps()));
        Progress { completeness: self.completeness(), items, dead_end }
    }

    /// Reads bytes that neither begin nor end a candidate. Returns their number.
    fn quickly(&mut self, contract: &Contract, at: u32, bytes: &[u8], items: &mut Vec<Completed>) -> usize {
        if self.run.is_some() {
            return 0;
        }
        let blank = self.blank;
        let markup = &contract.extract().ignore;
        let embedded = contract.extract().embedded != Embedded::None;
        // A line, a fence, a tag or a quote may begin or end here.
        let is_mark = |at: usize| match bytes[at] {
            b'\n' | b'`' | b'~' => true,
            byte if blank && (is_white(byte) || byte == b'>') => true,
            byte => markup.may_begin_with(byte, bytes.get(at + 1).copied()),
        };
        match &mut self.place {
            Position::Candidate(Candidate { is_json: true, .. }) => self.json(contract, at, bytes, items),
            Position::Candidate(Candidate { brackets, .. }) => {
                let is_inside = |byte: u8| matches!(byte, b'{' | b'[' | b'"' | b'\'' | b'\\' | b',' | b':');
                // A closing bracket may end the candidate.
                let may_end = |at: usize| matches!(bytes[at], b'}' | b']') || is_mark(at);
                let mut read = 0;
                while read < bytes.len() && !may_end(read) {
                    let is_plain = |at: &usize| !is_inside(bytes[*at]) && !may_end(*at);
                    let plain = (read..bytes.len()).take_while(is_plain).count();
                    match plain {
                        0 => {
                            brackets.pass(bytes[read]);
                        }
                        _ => brackets.pass_over(&bytes[read..read + plain]),
                    }
                    read += plain.max(1);
                }
                read
            }
            &mut Position::Bracket(bracket, start) => self.bracket(contract, (bracket, start), at, bytes, items),
            Position::Prose | Position::Other(_) | Position::Line(_) => {
                let may_end = |at: &usize| (embedded && matches!(bytes[*at], b'{' | b'[')) || is_mark(*at);
                (0..bytes.len()).find(may_end).unwrap_or(bytes.len())
            }
            _ => 0,
        }
    }

    /// Counts the backticks at the end of the text so far.
    fn count_quotes(&mut self, bytes: &[u8]) {
        // Most text ends otherwise.
        if bytes.last().is_some_and(|last| *last != b'`') {
            self.quotes = 0;
            return;
        }
        let more = bytes.iter().rev().take(3).take_while(|byte| **byte == b'`').count();
        let before = if more == bytes.len() { self.quotes } else { 0 };
        self.quotes = before.saturating_add(more as u8).min(3);
    }

    /// After these bytes, updates whether the line has only contained blanks.
    fn note_line(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.iter().rev().find(|byte| !is_white(**byte) || **byte == b'\n') {
            self.blank = *last == b'\n';
        }
    }

    pub(crate) fn completeness(&self) -> Completeness {
        let complete = match &self.place {
            Position::Candidate(candidate) => candidate.is_json && self.json.is_complete(),
            _ => self.complete,
        };
        if complete { Completeness::SoftComplete } else { Completeness::InFlight }
    }

    fn byte(&mut self, contract: &Contract, at: u32, byte: u8, items: &mut Vec<Completed>) {
        // Handles runs of marks first, because the meaning of a fence is known only when the run has ended.
        if let Some(run) = self.run.take() {
            if byte == run.mark {
                self.run = Some(run.longer());
                return;
            }
            self.fence(run);
        }
        let is_mark = is_mark(byte);
        let starts_run = match &self.place {
            Position::Beginning | Position::Prose | Position::Other(_) => is_mark,
            Position::Candidate(Candidate { kind, is_json, brackets, .. }) => kind.fence().is_some_and(|open| {
                let in_string = if *is_json { self.json.is_in_string() } else { brackets.is_quoted() };
                byte == open.mark && (!in_string || (!is_json && self.blank))
            }),
            _ => false,
        };
        if starts_run {
            self.run = Some(Run::new(byte, 1, self.blank));
            self.blank = false;
            if matches!(self.place, Position::Beginning) {
                self.begin_prose(contract, at);
            }
            return;
        }
        self.read(contract, at, byte, items);
        self.note_line(&[byte]);
    }

    /// Handles the end of a run of marks.
    fn fence(&mut self, fence: Run) {
        match &mut self.place {
            Position::Prose if fence.can_open() => {
                self.place = Position::Marker(fence, Vec::new(), Before::Prose);
            }
            Position::Other(open) if fence.can_close(*open) => {
                self.place = Position::Marker(fence, Vec::new(), Before::Other(*open));
            }
            Position::Candidate(candidate) => {
                let Some(open) = candidate.kind.fence() else {
                    return;
                };
                if fence.reaches(open) {
                    self.complete = candidate.is_json && self.json.is_complete();
                    self.place = Position::Prose;
                    if fence.first {
                        self.place = Position::Marker(fence, Vec::new(), Before::Block);
                    }
                } else {
                    candidate.is_json = false;
                }
            }
            _ => {}
        }
    }

    /// Reads a byte that is not part of a fence.
    fn read(&mut self, contract: &Contract, at: u32, byte: u8, items: &mut Vec<Completed>) {
        let white = is_white(byte);
        let may_be_tag = contract.extract().ignore.may_begin_with(byte, self.next);
        match &mut self.place {
            Position::Beginning => {
                // A byte order mark is three bytes.
                let mark = at < 3 && [0xef, 0xbb, 0xbf].get(at as usize) == Some(&byte);
                if white || mark {
                    return;
                }
                if may_be_tag {
                    return self.may_be_tag(contract, at, byte, Outside::Beginning, items);
                }
                if contract.extract().raw_json && begins_json(byte) {
                    self.begin(at, Kind::Raw);
                    return self.read(contract, at, byte, items);
                }
                self.begin_prose(contract, at);
                self.read(contract, at, byte, items);
            }
            Position::Prose => {
                if may_be_tag {
                    return self.may_be_tag(contract, at, byte, Outside::Prose, items);
                }
                self.prose(contract, at, byte);
            }
            Position::Quote => {
                if byte == b'\n' {
                    self.place = Position::Prose;
                }
            }
            Position::Tag(..) => self.tag(contract, at, byte, items),
            Position::Reasoning(..) => self.reasoning(contract, at, byte, items),
            Position::Marker(fence, word, before) => {
                let (fence, before) = (*fence, *before);
                if !ends_word(byte) && byte != b'\n' {
                    // A word longer than the longest marker is not a marker.
                    if word.len() <= 64 {
                        word.push(byte);
                    }
                    return;
                }
                if matches!(byte, b' ' | b'\t') && word.is_empty() {
                    return;
                }
                let known = marker(&contract.extract().markers, word).is_some();
                let ends = before != Before::Prose && word.is_empty() && matches!(byte, b'\r' | b'\n');
                if known && !ends {
                    self.place = Position::Behind(fence);
                    return self.read(contract, at, byte, items);
                }
                let untagged = word.is_empty() && byte == b'\n' && contract.extract().untagged && self.blocks == 0;
                match before {
                    _ if ends => self.place = Position::Prose,
                    Before::Other(open) => self.place = Position::Other(open),
                    _ if !fence.first => self.place = Position::Prose,
                    Before::Prose if untagged => {
                        self.begin(start_of(at, 1), Kind::Untagged(fence));
                        self.untagged = true;
                    }
                    _ => self.place = Position::Other(fence),
                }
            }
            Position::Behind(fence) => {
                let fence = *fence;
                match byte {
                    b'\n' => self.begin(start_of(at, 1), Kind::Block(fence)),
                    _ if begins_content(byte) => {
                        self.begin(at, Kind::Block(fence));
                        self.read(contract, at, byte, items);
                    }
                    b' ' | b'\t' | b'\r' => {}
                    _ if fence.first => self.place = Position::Line(fence),
                    _ => {
                        self.place = Position::Prose;
                        self.byte(contract, at, byte, items);
                    }
                }
            }
            Position::Line(fence) => {
                let fence = *fence;
                if byte == b'\n' {
                    self.begin(start_of(at, 1), Kind::Block(fence));
                }
            }
            Position::Other(_) => {}
            Position::Bracket(bracket, start) => {
                let (bracket, start) = (*bracket, *start);
                if white {
                    return;
                }
                self.place = Position::Prose;
                if is_likely(bracket, byte).is_some() || byte == b'\'' {
                    self.begin(start, Kind::Embedded);
                    self.read(contract, start, bracket, items);
                }
                self.byte(contract, at, byte, items);
            }
            Position::Candidate(candidate) => match candidate.is_json {
                true => {
                    // If the byte ended the candidate, the new state reads it again.
                    if self.json(contract, at, &[byte], items) == 0 {
                        self.byte(contract, at, byte, items);
                    }
                }
                false if may_be_tag => {
                    let outside = Outside::Candidate(*candidate);
                    self.may_be_tag(contract, at, byte, outside, items);
                }
                false => {
                    if candidate.brackets.pass(byte) && candidate.kind == Kind::Embedded {
                        self.place = Position::Prose;
                    }
                }
            },
        }
    }

    /// Continues a candidate that is valid JSON so far. Returns the number of bytes read.
    fn json(&mut self, contract: &Contract, at: u32, bytes: &[u8], items: &mut Vec<Completed>) -> usize {
        let Position::Candidate(candidate) = &mut self.place else {
            return 0;
        };
        if !candidate.is_json {
            return 0;
        }
        let json = &mut self.json;
        if !candidate.begun {
            let white = white_space(bytes);
            candidate.start = start_of(at, white);
            if white > 0 {
                return white;
            }
            // Reasoning at the beginning of a block is not part of its content.
            if candidate.kind.fence().is_some()
                && bytes.first().is_some_and(|&byte| {
                    contract.extract().ignore.may_begin_with(byte, bytes.get(1).copied().or(self.next))
                })
            {
                self.place = Position::Tag(Word::default(), Outside::Block(candidate.kind));
                return 0;
            }
            candidate.begun = true;
        }
        let (start, kind, caps) = (candidate.start, candidate.kind, contract.caps());
        let steps = contract.items().map(|items| items.path.steps.as_slice());
        let stop = kind.fence().map(|open| open.mark);
        let (read, event) = json.read(at, bytes, Rules { steps, caps, stop });
        let (quoted, open, end) = (json.is_in_string(), json.depth(), json.end());
        let here = start_of(at, read);
        // Consecutive documents are separate candidates.
        if matches!(event, Some(Event::Broken)) && json.is_complete() && steps.is_some() && is_row(&bytes[read..]) {
            let next = bytes.get(read + 1).copied().or(self.next);
            if contract.extract().ignore.may_begin_with(bytes[read], next) {
                self.place = Position::Tag(Word::default(), Outside::Row(kind));
                return read;
            }
            self.follow(here, kind);
            return read + self.json(contract, here, &bytes[read..], items);
        }
        let most = start_of(start, caps.bytes);
        let mut is_over = false;
        let stuck = match event {
            Some(Event::Item { index, span }) => {
                items.push(Completed { candidate: start, index, span });
                None
            }
            Some(Event::Over(cap)) => {
                is_over = cap == Cap::Depth;
                Some((Stuck::Cap(cap), here.saturating_sub(1)))
            }
            Some(Event::TooDeep) => {
                is_over = true;
                None
            }
            Some(Event::Broken) => {
                is_over = true;
                (!contract.repairs() && steps.is_none()).then_some((Stuck::Json, here))
            }
            Some(Event::End) if kind == Kind::Embedded => {
                self.complete = true;
                self.place = Position::Prose;
                None
            }
            Some(Event::End) | None => None,
        };
        if end > most && stuck.is_none_or(|(_, at)| most < at) {
            self.is_stuck(contract, kind, (Stuck::Bytes, most));
        }
        if let Some(stuck) = stuck {
            self.is_stuck(contract, kind, stuck);
        }
        if is_over {
            let embedded = (contract.extract().embedded != Embedded::None) && open > 0;
            match &mut self.place {
                // A block continues to its fence, and a value in prose continues to its last bracket.
                Position::Candidate(candidate) if kind != Kind::Raw || embedded => {
                    candidate.is_json = false;
                    candidate.brackets = Brackets::inside(open, quoted);
                    if kind == Kind::Raw {
                        candidate.kind = Kind::Embedded;
                    }
                }
                _ => self.place = Position::Prose,
            }
        }
        read
    }

    /// Continues after a bracket in prose, if it begins an object or array of JSON. Returns the number of bytes read.
    fn bracket(
        &mut self,
        contract: &Contract,
        (bracket, start): (u8, u32),
        at: u32,
        bytes: &[u8],
        items: &mut Vec<Completed>,
    ) -> usize {
        match bytes.first() {
            // The container is empty. The code of a closing bracket is its opening bracket's code plus two.
            Some(&byte) if byte == bracket + 2 => {
                (self.place, self.complete, self.stuck) = (Position::Prose, true, None);
                1
            }
            Some(&byte) if is_likely(bracket, byte).is_some() => {
                self.begin(start, Kind::Embedded);
                self.json(contract, start, &[bracket], items);
                self.json(contract, at, bytes, items)
            }
            _ => 0,
        }
    }

    /// Reads a byte of prose that does not begin a tag.
    fn prose(&mut self, contract: &Contract, at: u32, byte: u8) {
        // Blocks take precedence: after a block, prose is ignored.
        let embedded = contract.extract().embedded != Embedded::None && self.blocks == 0 && !self.untagged;
        match byte {
            b'{' | b'[' if embedded => self.place = Position::Bracket(byte, at),
            b'>' if self.blank => self.place = Position::Quote,
            _ => self.place = Position::Prose,
        }
    }

    /// Reads a byte that may begin a reasoning tag.
    fn may_be_tag(&mut self, contract: &Contract, at: u32, byte: u8, outside: Outside, items: &mut Vec<Completed>) {
        let is_behind_quote = matches!(self.quotes, 1 | 2);
        self.place = Position::Tag(Word { bytes: Vec::new(), is_behind_quote }, outside);
        self.tag(contract, at, byte, items);
    }

    /// Reads a byte of what may be a reasoning tag.
    fn tag(&mut self, contract: &Contract, at: u32, byte: u8, items: &mut Vec<Completed>) {
        let Position::Tag(word, outside) = &mut self.place else {
            return;
        };
        word.bytes.push(byte);
        let tag = match contract.extract().ignore.read(&word.bytes, word.is_behind_quote) {
            Reading::Partial => return,
            Reading::Tag(tag) => Some(tag),
            Reading::Other => None,
        };
        let (word, outside) = (std::mem::take(&mut word.bytes), outside.clone());
        // The bytes after the tag. If there is no tag, the bytes after the first one.
        let beyond = match tag {
            Some(tag) if tag.closes => {
                // Reasoning that began with the output includes everything before this.
                self.outside(start_of(at, 1), &Outside::Beginning);
                (self.blocks, self.untagged, self.complete, self.stuck) = (0, false, false, None);
                tag.length
            }
            Some(tag) => {
                self.place = Position::Reasoning(tag.markup, Word::default(), outside);
                tag.length
            }
            None => {
                let start = (at + 1).saturating_sub(word.len() as u32);
                self.begins_no_tag(contract, start, word[0], &outside, items);
                1
            }
        };
        self.again(contract, at, &word[beyond..], items);
    }

    /// Reads bytes again that are not a tag after all. Only the last of them can be a backtick.
    fn again(&mut self, contract: &Contract, at: u32, bytes: &[u8], items: &mut Vec<Completed>) {
        self.quotes = 0;
        let behind = self.next;
        for (index, (&byte, left)) in bytes.iter().zip((0..bytes.len() as u32).rev()).enumerate() {
            self.next = bytes.get(index + 1).copied().or(behind);
            self.byte(contract, at.saturating_sub(left), byte, items);
        }
    }

    /// Reads the first byte of text that is not a tag after all.
    fn begins_no_tag(&mut self, contract: &Contract, at: u32, byte: u8, outside: &Outside, items: &mut Vec<Completed>) {
        match outside {
            Outside::Beginning if contract.extract().raw_json && begins_json(byte) => {
                self.begin(at, Kind::Raw);
                self.read(contract, at, byte, items);
            }
            Outside::Beginning => {
                self.begin_prose(contract, at);
                self.prose(contract, at, byte);
            }
            Outside::Prose => self.prose(contract, at, byte),
            Outside::Block(kind) | Outside::Row(kind) => {
                self.follow(at, *kind);
                if let Position::Candidate(candidate) = &mut self.place {
                    candidate.begun = true;
                }
                self.read(contract, at, byte, items);
            }
            Outside::Candidate(candidate) => {
                let mut candidate = *candidate;
                let is_over = candidate.brackets.pass(byte) && candidate.kind == Kind::Embedded;
                self.place = if is_over { Position::Prose } else { Position::Candidate(candidate) };
            }
        }
        self.note_line(&[byte]);
    }

    /// Reads a byte of reasoning.
    fn reasoning(&mut self, contract: &Contract, at: u32, byte: u8, items: &mut Vec<Completed>) {
        let quotes = self.quotes;
        let Position::Reasoning(markup, word, outside) = &mut self.place else {
            return;
        };
        if word.bytes.is_empty() {
            if !contract.extract().ignore.may_begin(byte) {
                return;
            }
            word.is_behind_quote = matches!(quotes, 1 | 2);
        }
        word.bytes.push(byte);
        // Drops bytes from the front until the rest may be the beginning of an end tag.
        loop {
            match contract.extract().ignore.read_end(&word.bytes, *markup, word.is_behind_quote) {
                Reading::Partial => return,
                Reading::Tag(tag) => {
                    let beyond = word.bytes.split_off(tag.length);
                    let outside = outside.clone();
                    self.outside(start_of(at, 1).saturating_sub(beyond.len() as u32), &outside);
                    return self.again(contract, at, &beyond, items);
                }
                Reading::Other => {
                    word.is_behind_quote = false;
                    word.bytes.remove(0);
                    if word.bytes.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// Continues after reasoning, which ends before `at`.
    fn outside(&mut self, at: u32, outside: &Outside) {
        match outside {
            Outside::Beginning => self.place = Position::Beginning,
            Outside::Block(kind) => self.follow(at, *kind),
            Outside::Prose | Outside::Row(_) | Outside::Candidate(_) => self.place = Position::Prose,
        }
        self.blank = true;
    }

    /// Handles an output that does not begin with JSON.
    fn begin_prose(&mut self, contract: &Contract, at: u32) {
        self.place = Position::Prose;
        let only_raw = contract.extract().markers.is_empty() && contract.extract().embedded == Embedded::None;
        if only_raw && !contract.repairs() {
            self.stuck.get_or_insert((Stuck::Extract, at));
        }
    }

    fn begin(&mut self, start: u32, kind: Kind) {
        self.blocks = self.blocks.saturating_add(u32::from(matches!(kind, Kind::Block(_))));
        self.follow(start, kind);
    }

    /// Begins a document.
    fn follow(&mut self, start: u32, kind: Kind) {
        self.complete = false;
        self.stuck = None;
        self.json.again();
        let brackets = Brackets::default();
        self.place = Position::Candidate(Candidate { start, begun: false, kind, is_json: true, brackets });
    }

    /// Records the reason why the candidate can no longer become valid, unless another part of the output could
    /// still become the candidate.
    fn is_stuck(&mut self, contract: &Contract, kind: Kind, stuck: (Stuck, u32)) {
        let extract = contract.extract();
        let is_alone = match kind {
            Kind::Block(_) => self.blocks <= 1 || matches!(extract.select, Select::Last | Select::Only),
            // If a raw text is not JSON, its strings may contain blocks or JSON in prose.
            Kind::Raw => extract.markers.is_empty() && extract.embedded == Embedded::None,
            Kind::Embedded | Kind::Untagged(_) => false,
        };
        if is_alone {
            self.stuck.get_or_insert(stuck);
        }
    }
}

fn start_of(at: u32, more: usize) -> u32 {
    at.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Returns whether another document begins here.
fn is_row(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(b'{' | b'['))
}

fn begins_json(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}
