//! Merges the reports of several attempts. Fills in missing items, and judges the merged document as a whole.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{
    allow,
    contract::{Contract, Items},
    evidence::check_evidence,
    extract::Candidate,
    fault::Fault,
    feedback,
    item_matching::{Before, Came, Fate, Fingerprint, ItemMatching, State, again},
    items::one_too_many,
    judgement::{Judgement, Outcome},
    location::{Location, Step},
    order::{by_place, sort},
    parse::{Document, Span, parse},
    pipeline::judge,
    report::Found,
    request::{NamedList, Observation, Request},
    types::{
        Change, ChangeKind, Disposition, MergeOutcome, MergeStep, Quarantined, Reason, Report, Source, Violation,
        Wanted,
    },
    violation::Details,
};

/// The maximum number of items that a note names.
const MAX_NAMED: usize = 20;

/// The parts of an attempt's report that a merge needs.
#[derive(Debug)]
pub struct Attempt {
    pub agent: String,
    pub contract: String,
    pub is_accepted: bool,
    pub output: Option<String>,
    /// The indices and values of the valid items. Used if the report has no output.
    pub items: Vec<(u32, String)>,
    pub quarantined: Vec<Quarantined>,
    pub changes: Vec<Change>,
    pub notes: Vec<String>,
}

impl From<&Report> for Attempt {
    fn from(report: &Report) -> Self {
        Attempt {
            agent: report.agent.clone(),
            contract: report.contract.clone(),
            is_accepted: report.disposition == Disposition::Accepted,
            output: report.output.clone(),
            items: report.items.iter().map(|item| (item.index, item.value.clone())).collect(),
            quarantined: report.quarantined.iter().map(elsewhere).collect(),
            changes: report.changes.iter().map(|change| Change { span: None, ..change.clone() }).collect(),
            notes: report.notes.clone(),
        }
    }
}

/// Returns an item without its spans, which refer to another text.
fn elsewhere(item: &Quarantined) -> Quarantined {
    let violations = item.violations.iter().map(|violation| Violation { span: None, ..violation.clone() });
    Quarantined { span: None, violations: violations.collect(), ..item.clone() }
}

/// The result of merging several reports.
#[derive(Debug)]
pub enum Merged {
    /// The report with this index, unchanged, because there is nothing to merge.
    Same(usize),
    New(Box<Report>),
}

/// Merges the results of several attempts in order, and judges the merged document by their contract.
///
/// The first report with a document is the base. Its valid items stay unchanged. Items of later reports are identified
/// by their content, never by number or order:
///
/// - By key, if the contract has `items.key`, and the key of the invalid item is readable and was not itself invalid.
/// - Without a key, an item matches the invalid item with which it shares the most members. Members that were invalid
///   do not count. All other members must be equal. Most of them are enough if each invalid item has its own match in
///   the answer and the answer has no further items.
/// - A tie is no match. An item is also no match if it shares as much with another item, or has the key of a valid one.
/// - If nothing is left to compare, an item matches by position if only one position is possible. Either all other
///   positions are filled and the answer has as many items as were requested, or the answer has all valid items at
///   their previous positions. An item that resembles another item is not matched by position.
///
/// An item without a match is not used, and a note says so. An invalid item without a match stays in quarantine.
///
/// An answer replaces the base if this loses nothing: the answer has every valid item unchanged, and all requested
/// items. If everything was requested again, an accepted answer may contain variants of the valid items.
///
/// The report describes the merged document. Items that are still in quarantine have no span, because they belong to
/// another text.
///
/// # Errors
///
/// Returns `bad_request` if there is no report, a report belongs to another contract, or the lists are not those that
/// the contract needs.
pub fn merge(
    contract: &Contract,
    reports: &[Attempt],
    lists: Vec<NamedList>,
    evidence: Option<Vec<Observation>>,
) -> Result<Merged, Fault> {
    for (index, report) in reports.iter().enumerate() {
        if report.agent != contract.agent() || report.contract != contract.digest() {
            return Err(wrong(index, contract.digest(), &report.contract, "must be of the contract that applies"));
        }
    }
    let Some(last) = reports.len().checked_sub(1) else {
        return Err(bad(&Location::root().name("reports"), "a report", "none", "must hold at least one report"));
    };
    allow::check_lists(contract.allow(), &lists)?;
    check_evidence(contract.evidence(), evidence.as_deref())?;
    let sent = Sent { lists, evidence };
    let Some(first) = reports.iter().position(|report| report.output.is_some()).filter(|_| last > 0) else {
        return Ok(Merged::Same(last));
    };
    let mut merged = Whole::of(contract, first, &reports[first])?;
    for (index, report) in reports.iter().enumerate().skip(first + 1) {
        merged.add(contract, index, report, &sent)?;
    }
    Ok(Merged::New(Box::new(merged.judged(contract, &sent))))
}

/// The lists and the evidence of the request.
struct Sent {
    lists: Vec<NamedList>,
    evidence: Option<Vec<Observation>>,
}

fn bad(place: &Location, expected: &str, received: &str, message: &str) -> Fault {
    let violation = Violation::new(place, "request", Details { expected, received, message });
    Fault::bad_request(vec![violation])
}

fn wrong(report: usize, expected: &str, received: &str, message: &str) -> Fault {
    let place = [Step::Name("reports".to_owned()), Step::Index(report)].into_iter().collect();
    bad(&place, expected, received, message)
}

/// An item of an attempt.
enum Entry<'r> {
    Kept(Cow<'r, str>),
    Quarantined(Cow<'r, Quarantined>),
}

impl Entry<'_> {
    fn kept(&self) -> Option<&str> {
        match self {
            Entry::Kept(value) => Some(value),
            Entry::Quarantined(_) => None,
        }
    }

    /// Returns the item's fingerprint.
    fn fingerprint(&self, items: &Items, contract: &Contract) -> Fingerprint {
        match self {
            Entry::Kept(value) => Fingerprint::of_value(value, items, contract.caps()),
            Entry::Quarantined(item) => Fingerprint::of_quarantined(item, items, contract.caps()),
        }
    }

    /// Returns whether the item is in quarantine because it is invalid. Items over the limit do not count.
    fn is_bad(&self) -> bool {
        matches!(self, Entry::Quarantined(item) if item.reason != Reason::OverLimit)
    }
}

/// The items of an attempt by number.
type Entries<'r> = BTreeMap<u32, Entry<'r>>;

fn entries<'r>(contract: &Contract, index: usize, report: &'r Attempt) -> Result<Entries<'r>, Fault> {
    let quarantined = report.quarantined.iter().map(|item| (item.index, Entry::Quarantined(Cow::Borrowed(item))));
    // Inserts entries one by one, because collecting into a map would add another copy of the sort to the component.
    let mut entries = Entries::new();
    entries.extend(quarantined);
    match (&report.output, contract.items()) {
        (Some(output), Some(items)) => {
            let document = document(contract, index, output)?;
            let mut number = 0;
            for at in items.path.array(&document).into_iter().flat_map(|array| document.items(array)) {
                // The kept items have the numbers that no quarantined item has.
                while entries.contains_key(&number) {
                    number += 1;
                }
                let mut value = String::new();
                document.write(at, &mut value);
                entries.insert(number, Entry::Kept(value.into()));
            }
        }
        (Some(_), None) => {}
        (None, _) => {
            entries.extend(report.items.iter().map(|(number, value)| (*number, Entry::Kept(value.into()))));
        }
    }
    Ok(entries)
}

/// Returns the items of an answer with their fingerprints.
fn came(contract: &Contract, brought: &Entries) -> Vec<Came> {
    let Some(items) = contract.items() else {
        return Vec::new();
    };
    let came = |(number, entry): (&u32, &Entry)| Came {
        number: *number,
        fingerprint: entry.fingerprint(items, contract),
        reason: match entry {
            Entry::Kept(_) => None,
            Entry::Quarantined(item) => Some(item.reason),
        },
    };
    brought.iter().map(came).collect()
}

/// Returns whether a change removed content, or added brackets to a text that may have been cut off.
fn loses(change: &Change) -> bool {
    change.kind == ChangeKind::Closed || change.kind.loses(&change.before)
}

/// Returns the step of a report that contributed nothing.
fn step(index: usize, outcome: MergeOutcome) -> MergeStep {
    let report = u32::try_from(index).unwrap_or(u32::MAX);
    MergeStep { report, outcome, items: Vec::new(), unknown: Vec::new() }
}

/// Formats numbers for a note.
fn listed(numbers: &[u32]) -> String {
    let more = numbers.len().saturating_sub(MAX_NAMED);
    let mut named: Vec<String> = numbers.iter().take(MAX_NAMED).map(u32::to_string).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

fn document<'r>(contract: &Contract, index: usize, output: &'r str) -> Result<Document<'r>, Fault> {
    let parsed = parse(output, Span::new(0, output.len()), contract.caps());
    let not_json =
        |_| wrong(index, "a document that was validated", "something else", "must hold the output it came with");
    parsed.map(|parsed| parsed.document).map_err(not_json)
}

/// The state of a merge.
struct Whole<'r> {
    /// The attempt that is the base.
    base: &'r Attempt,
    entries: Entries<'r>,
    /// The changes of all attempts that the merged document uses.
    changes: Vec<&'r Change>,
    /// The feedback on the last answer, if the merge could not use it.
    unusable: Option<(Wanted, String)>,
    /// The outcome of each report after the base, and the same outcomes in words.
    steps: Vec<MergeStep>,
    notes: Vec<String>,
}

impl<'r> Whole<'r> {
    fn of(contract: &Contract, index: usize, base: &'r Attempt) -> Result<Self, Fault> {
        Ok(Whole {
            base,
            entries: entries(contract, index, base)?,
            changes: base.changes.iter().collect(),
            unusable: None,
            steps: Vec::new(),
            notes: Vec::new(),
        })
    }

    fn kept(&self) -> Vec<&str> {
        self.entries.values().filter_map(Entry::kept).collect()
    }

    /// Returns the numbers of the requested items: the invalid items, if there is room for one.
    fn wanted(&self, contract: &Contract) -> Vec<u32> {
        let (kept, listed) = (self.kept().len(), self.base.quarantined.len());
        let wants = contract.items().is_some_and(|items| items.wants(kept, listed));
        let bad = self.entries.iter().filter(|(_, entry)| wants && entry.is_bad());
        bad.map(|(number, _)| *number).collect()
    }

    /// Returns whether the document is complete and was not repaired.
    fn is_whole(&self) -> bool {
        let is_kept = |entry: &Entry| entry.kept().is_some();
        let was_repaired = self.changes.iter().any(|change| change.kind.is_repair());
        self.base.is_accepted || (self.entries.values().all(is_kept) && !was_repaired)
    }

    /// Returns the current items with their fingerprints.
    fn before(&self, contract: &Contract, wanted: &[u32]) -> Vec<Before> {
        let Some(items) = contract.items() else {
            return Vec::new();
        };
        let before = |(number, entry): (&u32, &Entry)| Before {
            number: *number,
            fingerprint: entry.fingerprint(items, contract),
            state: match entry {
                Entry::Kept(_) => State::Kept,
                Entry::Quarantined(_) if wanted.binary_search(number).is_ok() => State::Wanted,
                Entry::Quarantined(_) => State::Out,
            },
        };
        self.entries.iter().map(before).collect()
    }

    /// Merges the next attempt, and records the outcome.
    fn add(&mut self, contract: &Contract, index: usize, report: &'r Attempt, sent: &Sent) -> Result<(), Fault> {
        let number = index + 1;
        let wanted = self.wanted(contract);
        self.unusable = None;
        let brought = entries(contract, index, report)?;
        let before = self.before(contract, &wanted);
        let came: Vec<Came> = came(contract, &brought);
        let matching = ItemMatching::new(&before);
        let fates = matching.fates(&came);
        if self.is_worse(report, wanted.len(), &matching, (&came, &fates)) {
            let (steps, notes) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.notes));
            *self = Whole { steps, notes, ..Whole::of(contract, index, report)? };
            self.noted(step(index, MergeOutcome::Replaced), "replaces the reports before it");
            return Ok(());
        }
        if wanted.is_empty() || brought.is_empty() {
            self.noted(step(index, MergeOutcome::Unused), "was not used");
            return Ok(());
        }
        let place = |fate: &Fate| if let Fate::Wanted(at) = fate { Some(before[*at].number) } else { None };
        let places: Vec<Option<u32>> = fates.iter().map(place).collect();
        let unknown = came.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Unknown).map(|(item, _)| item.number);
        let unknown: Vec<u32> = unknown.collect();
        let (outcome, given, words) = match self.fill(contract, brought, &places, sent) {
            Ok(given) if given.is_empty() => (MergeOutcome::GaveNone, given, "gave no item".to_owned()),
            Ok(given) => {
                self.changes.extend(&report.changes);
                let words = format!("gave the items {}", listed(&given));
                (MergeOutcome::GaveItems, given, words)
            }
            Err(unusable) => {
                self.unusable = Some(unusable);
                (MergeOutcome::Invalid, Vec::new(), "was not used: the document is not valid with it".to_owned())
            }
        };
        self.noted(MergeStep { items: given, unknown: unknown.clone(), ..step(index, outcome) }, &words);
        if !unknown.is_empty() {
            let listed = listed(&unknown);
            self.notes.push(format!(
                "merge: the items {listed} of report {number} were not used: they match no requested item"
            ));
        }
        Ok(())
    }

    /// Records the outcome of a report.
    fn noted(&mut self, step: MergeStep, words: &str) {
        self.notes.push(format!("merge: report {} {words}", step.report.saturating_add(1)));
        self.steps.push(step);
    }

    /// Returns whether an answer replaces the current state: it must contain all current items and all requested ones.
    fn is_worse(
        &self,
        report: &Attempt,
        wanted: usize,
        matching: &ItemMatching,
        (came, fates): (&[Came], &[Fate]),
    ) -> bool {
        if report.output.is_none() || self.is_whole() {
            return false;
        }
        // Everything was requested again.
        if wanted == 0 {
            return report.is_accepted && matching.has_forms_of_all(came, fates);
        }
        let is_filled = |(item, fate): (&Came, &Fate)| item.reason.is_none() && matches!(fate, Fate::Wanted(_));
        if came.iter().zip(fates).filter(|pair| is_filled(*pair)).count() < wanted || !matching.has_all(fates) {
            return false;
        }
        let more: Vec<&Came> =
            came.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Unknown).map(|(item, _)| item).collect();
        let was_repaired = self.changes.iter().any(|change| change.kind.is_repair());
        let again = again(fates);
        match more.is_empty() {
            true => report.is_accepted && was_repaired,
            false => !more.iter().any(|item| matching.resembles(&item.fingerprint, &again)),
        }
    }

    /// Fills in as many items as there is room for. If the current document would become invalid, returns feedback for
    /// the producer.
    fn fill(
        &mut self,
        contract: &Contract,
        brought: Entries<'r>,
        places: &[Option<u32>],
        sent: &Sent,
    ) -> Result<Vec<u32>, (Wanted, String)> {
        let (mut given, mut before) = (Vec::new(), Vec::new());
        let max = contract.items().and_then(|items| items.max).unwrap_or(usize::MAX);
        let room = max.saturating_sub(self.kept().len());
        let placed = brought.into_values().zip(places).filter_map(|(entry, to)| Some(((*to)?, entry)));
        for (to, entry) in by_place(placed.collect(), |(to, _)| (*to, 0)) {
            let entry = match (entry, contract.items()) {
                (Entry::Quarantined(item), Some(items)) => {
                    Entry::Quarantined(Cow::Owned(moved(item.into_owned(), items, to)))
                }
                (Entry::Kept(value), Some(items)) if given.len() >= room => {
                    Entry::Quarantined(Cow::Owned(one_too_many(items, to, &value)))
                }
                (entry, _) => {
                    given.push(to);
                    entry
                }
            };
            before.extend(self.entries.insert(to, entry).map(|entry| (to, entry)));
        }
        if given.is_empty() {
            return Ok(given);
        }
        let text = self.text(contract);
        let judgement = judged(contract, &text, sent);
        if !matches!(judgement.outcome, Outcome::Document(_)) {
            self.entries.extend(before);
            let report = Report::of(contract, &request(contract, &text, sent), judgement, Found::default());
            return Err((report.wanted, report.feedback));
        }
        sort(&mut given);
        Ok(given)
    }

    /// Returns the document with all kept items.
    fn text(&self, contract: &Contract) -> String {
        let base = self.base.output.as_deref().unwrap_or("null");
        let array = contract.items().and_then(|items| {
            let document = document(contract, 0, base).ok()?;
            items.path.array(&document).map(|array| document.span(array))
        });
        match array {
            None => base.to_owned(),
            Some(Span { start, end }) => {
                format!("{}[{}]{}", &base[..start as usize], self.kept().join(","), &base[end as usize..])
            }
        }
    }

    fn judged(self, contract: &Contract, sent: &Sent) -> Report {
        let text = self.text(contract);
        let mut judgement = judged(contract, &text, sent);

        // The numbers are those of the base attempt.
        judgement.wanting |= !self.wanted(contract).is_empty();
        let (mut numbers, mut quarantined) = (Vec::new(), Vec::new());
        for (number, entry) in self.entries {
            match entry {
                Entry::Kept(_) => numbers.push(number),
                Entry::Quarantined(item) => quarantined.push(item.into_owned()),
            }
        }
        if let Some(items) = contract.items() {
            let number = |position: u32| numbers.get(position as usize).copied().unwrap_or(position);
            for item in std::mem::take(&mut judgement.quarantined) {
                let number = number(item.index);
                quarantined.push(moved(item, items, number));
            }
            for item in &mut judgement.items {
                item.index = number(item.index);
                item.path = items.path.item(item.index as usize).path();
            }
        }
        judgement.quarantined = by_place(quarantined, |item| (item.index, 0));
        judgement.changes = self.changes.into_iter().cloned().chain(judgement.changes).collect();
        judgement.notes = [&self.base.notes[..], &self.notes, &judgement.notes].concat();
        let repairs = || judgement.changes.iter().filter(|change| change.kind.is_repair());
        let repaired = repairs().next().is_some();
        // Missing brackets may be a sign that the text was cut off.
        let whole = !repairs().any(loses);

        let mut report = Report::of(contract, &request(contract, &text, sent), judgement, Found::default());
        if repaired && report.disposition == Disposition::Accepted {
            report.disposition = Disposition::Partial;
            report.review_required = true;
            let repairs = report.changes.iter().filter(|change| change.kind.is_repair());
            (report.wanted, report.feedback) = if whole { feedback::repaired(repairs) } else { feedback::mended() };
        }
        if let Some(unusable) = self.unusable {
            (report.wanted, report.feedback) = unusable;
        }
        report.merged = self.steps;
        report
    }
}

fn request<'t>(contract: &Contract, text: &'t str, sent: &'t Sent) -> Request<'t> {
    let evidence = sent.evidence.as_deref().map(Cow::Borrowed);
    let lists = sent.lists.clone();
    Request { agent: contract.agent().to_owned(), output: text, lists, evidence, ..Request::default() }
}

/// Judges a text that is entirely JSON.
fn judged(contract: &Contract, text: &str, sent: &Sent) -> Judgement {
    let candidate = Candidate::new(Source::Raw, Span::new(0, text.len()));
    judge(contract, &request(contract, text, sent), &candidate)
}

/// Returns an item with another number.
fn moved(mut item: Quarantined, items: &Items, number: u32) -> Quarantined {
    let (from, to) = (items.path.item(item.index as usize), items.path.item(number as usize));
    for violation in &mut item.violations {
        let renamed = |text: &str, from: &str, to: &str| text.strip_prefix(from).map(|rest| format!("{to}{rest}"));
        if let Some(path) = renamed(&violation.path, &from.path(), &to.path()) {
            violation.path = path;
        }
        if let Some(pointer) = renamed(&violation.pointer, &from.pointer(), &to.pointer()) {
            violation.pointer = pointer;
        }
    }
    item.path = to.path();
    item.pointer = to.pointer();
    item.index = number;
    item
}
