//! A journal that a crash truncated: at each line end, and at each byte of a line.

use std::{fs, path::PathBuf};

use seamgate::{FileJournal, Gate, Run, read_profile};
use serde_json::Value;

use super::{
    journal::Lines,
    lifecycle::{nothing_is_unapproved, same, to_its_end_at_once},
    place::{Place, done, example},
};

/// The files of the service that a restart changes, or that record restarts.
const FILES: [&str; 2] = ["ledger.ndjson", "metrics.ndjson"];

/// A run that has ended, and the files of the service before and after its effect.
struct Ended {
    place: Place,
    document: Value,
    journal: Vec<u8>,
    before: [Vec<u8>; 2],
    after: [Vec<u8>; 2],
}

impl Ended {
    fn new(name: &str) -> Self {
        let place = Place::with_stand_in(name);
        let files = |place: &Place| FILES.map(|file| fs::read(place.home().join(file)).unwrap_or_default());
        let before = files(&place);
        let document = to_its_end_at_once(&place, "sre");
        let journal = fs::read(place.run().join("journal.ndjson")).expect("the journal");
        Ended { document, journal, before, after: files(&place), place }
    }

    /// Truncates the journal and restores the files of that time: the effect took place if the journal contains its
    /// start.
    fn cut(&self, bytes: usize) {
        fs::write(self.path(), &self.journal[..bytes]).expect("the journal");
        let is_started = self.place.journal().whole().calls("tool_started").any(|call| call == "c8");
        for (file, bytes) in FILES.iter().zip(if is_started { &self.after } else { &self.before }) {
            fs::write(self.place.home().join(file), bytes).expect(file);
        }
    }

    fn path(&self) -> PathBuf {
        self.place.run().join("journal.ndjson")
    }

    /// Returns the ends of the lines.
    fn line_ends(&self) -> Vec<usize> {
        let ends = self.journal.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        ends.map(|(at, _)| at + 1).collect()
    }

    #[track_caller]
    fn comes_to_its_end(&self, bytes: usize) {
        self.cut(bytes);
        let document = to_its_end_at_once(&self.place, "sre");
        same(&self.place, &document, &self.document);
        assert_eq!(self.place.restarts().len(), 1, "cut at {bytes}");
        nothing_is_unapproved(&self.place);
    }
}

#[test]
fn a_journal_cut_at_a_line_end_goes_on() {
    let ended = Ended::new("cut-lines");
    let first_step = ended.place.journal().0.iter().position(|line| line.get("state").is_some()).expect("a step");
    for (line, end) in ended.line_ends().into_iter().enumerate() {
        if line < first_step {
            // There is no run yet.
            ended.cut(end);
            done(ended.place.resume("")).is(5).says("journal");
            continue;
        }
        ended.comes_to_its_end(end);
    }
}

/// Only complete steps count: if a line is incomplete, the state is that of the step before.
#[test]
fn a_journal_cut_inside_a_line_goes_on() {
    let ended = Ended::new("cut-bytes");
    let lines = ended.place.journal();
    let ends = ended.line_ends();
    let mut gate = Gate::new().expect("a gate");
    for name in ["log-reader.profile.json", "sre.profile.json"] {
        gate.register_profile(&read_profile(&example().join(name)).expect(name)).expect(name);
    }
    let mut cuts = 0;
    for kind in ["event", "record", "action", "state"] {
        // Not the first step, and the shortest line of its kind, because the test cuts at each byte.
        let of_kind = (5..lines.0.len()).filter(|&line| lines.0[line].get(kind).is_some());
        let line = of_kind.min_by_key(|&line| ends[line] - ends[line - 1]).expect("a line of this kind");
        let whole = Lines(lines.0[..line].to_vec()).whole().0.len();
        let expected = state(&gate, &ended, ends[whole - 1]);
        for bytes in ends[line - 1]..ends[line] {
            assert_eq!(state(&gate, &ended, bytes), expected, "{kind} cut at {bytes}");
            cuts += 1;
        }
        let middle = ends[line - 1].midpoint(ends[line]);
        for bytes in [ends[line - 1] + 1, middle, ends[line] - 1] {
            ended.comes_to_its_end(bytes);
        }
    }
    println!("{cuts} cuts");
    // The first line.
    for bytes in 0..ends[0] {
        ended.cut(bytes);
        let opened = FileJournal::open(ended.place.run()).map(|journal| Run::open(&gate, journal).is_err());
        assert!(opened.unwrap_or(true), "the first line, cut at {bytes}");
    }
}

fn state(gate: &Gate, ended: &Ended, bytes: usize) -> String {
    fs::write(ended.path(), &ended.journal[..bytes]).expect("the journal");
    let journal = FileJournal::open(ended.place.run()).expect("a journal");
    Run::open(gate, journal).expect("a run").state().to_owned()
}
