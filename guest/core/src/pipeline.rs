//! The order of the stages that turn an output into a report.

use crate::{
    allow::{self, Allow},
    caps::MAX_TEXT,
    caps_check::{self, CapsCheck, check_caps, check_size},
    change::changes,
    check::Fused,
    coerce::coerce,
    contract::{Contract, Embedded, Select},
    evidence::{self, OfItems, Support},
    extract::{self, Candidate, Candidates, Extracted, Lone, MAX_KEPT, Read, Seen},
    fault::Fault,
    items,
    judgement::{Judgement, Outcome, Rejection},
    location::Location,
    parse::{Document, Edit, NodeId, Span, apply, followed_by, parse_edited, strict_end},
    path::Path,
    recover::{Malformed, Repairs, Unrecovered, recover},
    repair::{MAX_REPAIRS, Tail, marks, repair},
    report::{Accepted, Found, Verdict},
    request::{Finish, Request},
    text,
    types::{ChangeKind, ErrorKind, JudgedCandidate, Report, Violation},
    unwrap::envelopes,
    violation::{Details, Violations},
};

/// The maximum number of candidates that are tried for a partly usable one, if the contract selects a valid candidate
/// and none is valid.
const MAX_TRIED: usize = 8;

/// The maximum length of the text that says where JSON is expected, in bytes. It leaves room for the JSON that was
/// seen.
const MAX_PLACES: usize = 200;

/// Judges one output by a contract.
///
/// The verdict on any output is a report. The stages are: extract the candidates, select one, parse or repair it, check
/// its caps, check its items, and validate it against the schema.
///
/// # Errors
///
/// Returns `bad_request` if the request contradicts the contract or itself, or lacks a list that the contract requires.
pub fn validate(contract: &Contract, request: &Request) -> Result<Report, Fault> {
    verdict(contract, request).map(Report::from)
}

/// Judges one output like [`validate`], but builds no report for a simple verdict.
pub(crate) fn verdict<'v>(contract: &'v Contract, request: &Request<'v>) -> Result<Verdict<'v>, Fault> {
    request.check(contract)?;
    let output = request.output;
    let lone = match request.invalid_utf8 {
        Some(_) => None,
        None => Lone::find(output, contract),
    };
    let Some(lone) = lone else { return Ok(Verdict::Report(Box::new(report(contract, request, None)))) };
    let fused = fused(contract, request, lone);
    if fused != Fused::Valid {
        let mut read = lone.read(output, contract);
        read.valid = (fused == Fused::Wrong).then_some(false);
        if !accepts(contract, request, lone, &mut read) {
            let rejected = rejected(contract, request, lone, &read);
            return Ok(Verdict::Report(match rejected {
                Some(rejected) => rejected,
                None => Box::new(report(contract, request, Some((lone, read)))),
            }));
        }
    }
    let (source, marker, notes) = (lone.source(), lone.marker(), lone.notes(output));
    Ok(Verdict::Accepted(Accepted { contract, source, marker, notes, output, span: lone.span }))
}

/// Returns whether the contract or the request requires more than one valid document.
fn asks_more(contract: &Contract, request: &Request, lone: Lone) -> bool {
    let options = contract.extract();
    let asks_more = match lone.is_whole() {
        true => !options.raw_json,
        // The text after the block may have been cut off.
        false => request.finish == Finish::Length,
    };
    asks_more
        || options.within.is_some()
        || request.finish == Finish::Refusal
        || request.evidence.is_some()
        || !contract.is_simple()
}

/// Returns the verdict of one pass over a piece of the output. `Unknown` if the contract or the request requires more.
fn fused(contract: &Contract, request: &Request, lone: Lone) -> Fused {
    if asks_more(contract, request, lone) || contract.may_be_refusal(lone.span.of(request.output)) {
        return Fused::Unknown;
    }
    let fused = contract.checker().fused(request.output, lone.span, contract.caps());
    debug_assert!(agrees(contract, request, lone, fused), "{fused:?} of {:?} by {}", request.output, contract.digest());
    fused
}

/// Returns whether the parser and the judge agree with one pass. Fuzz targets enable assertions, and so compare every
/// verdict.
fn agrees(contract: &Contract, request: &Request, lone: Lone, fused: Fused) -> bool {
    let mut read = lone.read(request.output, contract);
    match fused {
        Fused::Valid => accepts(contract, request, lone, &mut read),
        Fused::Wrong => !accepts(contract, request, lone, &mut read),
        Fused::Unknown => true,
    }
}

/// Returns whether the output has one valid document, no other candidate, and no need for further checks or notes. Most
/// outputs do. If this returns `false`, `read` keeps the schema's verdict.
fn accepts(contract: &Contract, request: &Request, lone: Lone, read: &mut Read) -> bool {
    if read.valid == Some(false) {
        return false;
    }
    let Some((parsed, within_caps)) =
        read.parsed.as_ref().ok().and_then(|parsed| Some((parsed, caps_check::passed(parsed)?)))
    else {
        return false;
    };
    if asks_more(contract, request, lone) || parsed.document.is_suspicious() || contract.is_refusal(&parsed.document) {
        return false;
    }
    let valid = contract.checker().is_valid(within_caps);
    read.valid = Some(valid);
    valid
}

/// Returns the report on an output whose only candidate the schema rejects. The result equals that of [`report`],
/// without its intermediate results. `None` if the contract or the request requires more, or if a note is needed.
fn rejected(contract: &Contract, request: &Request, lone: Lone, read: &Read) -> Option<Box<Report>> {
    let parsed = read.parsed.as_ref().ok()?;
    let within_caps = caps_check::passed(parsed)?;
    let adapts = contract.unwraps() || contract.coerces() || contract.strips();
    let asks_more = adapts || asks_more(contract, request, lone);
    if read.valid != Some(false)
        || asks_more
        || parsed.document.is_suspicious()
        || contract.is_refusal(&parsed.document)
    {
        return None;
    }
    let rejection = refused_by_gate(contract.checker().violations(within_caps));
    let (source, marker) = (lone.source(), lone.marker().map(str::to_owned));
    let candidate = JudgedCandidate { source, marker, span: lone.span, chosen: true };
    let found = (vec![candidate], lone.notes(request.output));
    Some(Box::new(Report::rejected(contract, request, rejection, found, &[])))
}

/// Returns the report on an output. `lone` is the parsed piece that [`Lone::find`] returned.
#[inline(never)]
fn report<'t>(contract: &Contract, request: &Request<'t>, lone: Option<(Lone, Read<'t>)>) -> Report {
    let mut several = false;
    let (mut found, mut read, choice) = match request.invalid_utf8 {
        Some(at) => {
            // A single replacement character at the very end shows that the text was cut inside a character.
            let cut_off = request.output.get(at as usize..) == Some("\u{fffd}");
            (Found::default(), None, Err(malformed(caps_check::not_utf8(request.output, at), cut_off)))
        }
        None => {
            let Extracted { candidates, mut read, mut notes, seen, several: is_several, .. } =
                extract::extract(request.output, contract, lone);
            several = is_several;
            if candidates.len() == 0 {
                notes.extend(seen.notes(contract));
            }
            let choice = choose(contract, request, &candidates, &seen, &mut read);
            notes.extend(not_judged(contract, &candidates));
            (Found { chosen: choice.as_ref().ok().map(|(index, _)| *index), candidates, notes }, read, choice)
        }
    };
    if request.evidence.is_some() && contract.evidence().is_none() {
        found.notes.push("evidence: no claim was held to it: the contract has no 'evidence'".to_owned());
    }
    if let Some(note) = cut_off_behind(request, &found.candidates) {
        found.notes.push(note);
    }
    if request.finish == Finish::Refusal {
        return Report::refused(contract, found);
    }
    let mut judgement = match choice {
        Ok((_, Some(judgement))) => judgement,
        Ok((index, None)) => match found.candidates.get(index) {
            Some(candidate) => judge_read(contract, request, candidate, &mut read),
            None => none_found(request.output, contract, &Seen::default()).into(),
        },
        Err(rejection) => rejection.into(),
    };
    add_hints(contract, request, &mut judgement, &found);
    if several && matches!(judgement.outcome, Outcome::Document(_)) && judgement.broken.is_none() {
        judgement.broken = one_of_several(&found);
    }
    Report::of(contract, request, judgement, found)
}

/// The maximum number of other candidates that are searched for a valid one.
const MAX_OTHERS: usize = 8;

/// Adds hints about the likely place of the intended candidate to the violations of a rejected one.
fn add_hints(contract: &Contract, request: &Request, judgement: &mut Judgement, found: &Found) {
    let Outcome::Rejection(rejection) = &mut judgement.outcome else { return };
    let Some(candidate) = found.chosen.and_then(|index| found.candidates.get(index)) else { return };
    let others = (0..found.candidates.len()).filter(|index| Some(*index) != found.chosen).take(MAX_OTHERS);
    let mut others = others.filter_map(|index| found.candidates.get(index));
    let output = request.output;
    let hint = match others.find(|other| valid(contract, output, other, &mut None).is_some()) {
        Some(other) => {
            let line = extract::line_at(output, other.span.start as usize);
            Some(format!("; valid JSON begins at line {line}: send that alone"))
        }
        None if rejection.error == ErrorKind::MalformedJson => {
            let (start, end) = (candidate.span.start as usize, candidate.span.end as usize);
            let is_document = strict_end(output, (start, end)).is_ok();
            let line = extract::line_of_json(&output[start..end]).filter(|_| !is_document);
            line.map(|line| {
                format!("; JSON begins at line {}: send that alone", extract::line_at(output, start) + line - 1)
            })
        }
        None => None,
    };
    if let (Some(hint), Some(first)) = (hint, rejection.violations.listed.first_mut()) {
        first.message.push_str(&hint);
    }
}

/// Returns a note if the output was cut off in text after its last candidate: another answer may have followed.
fn cut_off_behind(request: &Request, candidates: &Candidates) -> Option<String> {
    let last = candidates.get(candidates.len().checked_sub(1)?)?;
    let start = last.inside.end as usize;
    let behind = request.output.get(start..)?;
    let is_cut_off = request.finish == Finish::Length && behind.contains(char::is_alphanumeric);
    is_cut_off.then(|| {
        let end = request.output.trim_end().len();
        format!("extract: the output was cut off in bytes {start} to {end}, behind its last JSON: more may have been to come")
    })
}

/// The candidate to judge, and its judgement if the selection already needed it.
type Choice = (usize, Option<Judgement>);

/// Selects the candidate to judge, by the contract's `select`.
fn choose<'t>(
    contract: &Contract,
    request: &Request<'t>,
    candidates: &Candidates,
    seen: &Seen,
    read: &mut Option<Read<'t>>,
) -> Result<Choice, Rejection> {
    let last = candidates.len().checked_sub(1).ok_or_else(|| none_found(request.output, contract, seen))?;
    match contract.extract().select {
        Select::First => Ok((0, None)),
        Select::Last => Ok((last, None)),
        Select::Only if last == 0 => Ok((0, None)),
        Select::Only => Err(several_found(candidates)),
        Select::FirstValid => Ok(choose_valid(contract, request, candidates, 0..=last.min(MAX_KEPT - 1), read)),
        Select::LastValid => {
            Ok(choose_valid(contract, request, candidates, ((last + 1).saturating_sub(MAX_KEPT)..=last).rev(), read))
        }
    }
}

/// Returns a note if a valid candidate is requested and not all candidates are tried.
fn not_judged(contract: &Contract, candidates: &Candidates) -> Option<String> {
    let which = match contract.extract().select {
        Select::FirstValid => "first",
        Select::LastValid => "last",
        _ => return None,
    };
    let total = candidates.len();
    (total > MAX_KEPT).then(|| format!("candidates: only the {which} {MAX_KEPT} of {total} were tried"))
}

/// Returns the first candidate, in the given order, that is valid without changes. Otherwise, returns the first
/// partly usable candidate, or else the first candidate.
fn choose_valid<'t>(
    contract: &Contract,
    request: &Request<'t>,
    candidates: &Candidates,
    mut order: impl Iterator<Item = usize> + Clone,
    read: &mut Option<Read<'t>>,
) -> Choice {
    let usable = |(_, judged): &(usize, Judgement)| matches!(judged.outcome, Outcome::Document(_) | Outcome::Refusal);
    let (mut first, tried) = (order.clone(), order.clone().take(MAX_TRIED));
    let valid = order.find_map(|index| Some((index, valid(contract, request.output, candidates.get(index)?, read)?)));
    let valid = valid.map(|(index, caps_check)| (index, judge_valid(contract, request, caps_check)));
    let judged = |index: usize| Some((index, judge(contract, request, candidates.get(index)?)));
    match valid.filter(usable).or_else(|| tried.filter_map(judged).find(usable)) {
        Some((index, judgement)) => (index, Some(judgement)),
        None => (first.next().unwrap_or_default(), None),
    }
}

/// Returns a candidate that is a valid document without changes.
fn valid<'t>(
    contract: &Contract,
    output: &'t str,
    candidate: &Candidate,
    read: &mut Option<Read<'t>>,
) -> Option<CapsCheck<'t>> {
    check_size(candidate.span, contract.caps()).ok()?;
    let Read { parsed, valid, .. } = read_candidate(contract, output, candidate, read);
    let caps_check = check_caps(parsed.ok()?);
    is_valid(contract, &caps_check, valid).then_some(caps_check)
}

/// Returns whether a document is within its caps and the schema accepts it. `known` is the schema's verdict, if known.
fn is_valid(contract: &Contract, caps_check: &CapsCheck, known: Option<bool>) -> bool {
    known.unwrap_or_else(|| caps_check.passed().is_some_and(|within_caps| contract.checker().is_valid(within_caps)))
}

/// Parses a candidate, unless it is already parsed.
fn read_candidate<'t>(
    contract: &Contract,
    output: &'t str,
    candidate: &Candidate,
    read: &mut Option<Read<'t>>,
) -> Read<'t> {
    match read.take_if(|read| read.span == candidate.span) {
        Some(read) => read,
        None => Read::new(output, candidate.span, contract.caps()),
    }
}

/// Judges one candidate.
pub(crate) fn judge(contract: &Contract, request: &Request, candidate: &Candidate) -> Judgement {
    judge_read(contract, request, candidate, &mut None)
}

/// Judges one candidate, which may already be parsed.
fn judge_read<'t>(
    contract: &Contract,
    request: &Request<'t>,
    candidate: &Candidate,
    read: &mut Option<Read<'t>>,
) -> Judgement {
    let (output, caps) = (request.output, contract.caps());
    if let Err(violations) = check_size(candidate.span, caps) {
        return refused_by_gate(violations).into();
    }
    let Read { parsed, valid, .. } = read_candidate(contract, output, candidate, read);
    let broken = match parsed {
        Ok(parsed) => {
            return judge_unwrapped(
                contract,
                request,
                check_caps(parsed),
                valid,
                candidate.span,
                Vec::new(),
                Vec::new(),
            );
        }
        Err(broken) => broken,
    };
    // A closed block was not cut off, even if its content ends too early.
    let cut_off = broken.cut_off && Tail::of(output, candidate.span.end as usize) != Tail::Ended;
    let violation = caps_check::malformed(output, &broken);
    let mended = mend(contract, output, candidate, !contract.keeps().is_empty());
    let mended = mended.and_then(|(edits, items)| match keeps_what_it_must_not(contract, output, candidate, &edits) {
        true => mend(contract, output, candidate, false),
        false => Some((edits, items)),
    });
    let Some((edits, items)) = mended else {
        return malformed(violation, cut_off).into();
    };
    let (text, origin) = apply(output, candidate.span, &edits);
    let Ok(parsed) = parse_edited(&text, origin, caps) else {
        return malformed(violation, cut_off).into();
    };
    let whole = is_whole(output, candidate.inside, &edits);
    let mut judgement = judge_unwrapped(contract, request, check_caps(parsed), None, candidate.span, edits, items);
    judgement.repaired = true;
    judgement.broken = (!whole).then_some(violation);
    if let Outcome::Rejection(rejection) = &mut judgement.outcome {
        rejection.cut_off = cut_off;
    }
    judgement
}

/// Returns whether edits keep a string that was cut off although the contract does not name its path. Only brackets
/// follow such a string, so it is the last value of the document.
fn keeps_what_it_must_not(contract: &Contract, output: &str, candidate: &Candidate, edits: &[Edit]) -> bool {
    if !edits.iter().any(|edit| edit.kind == ChangeKind::ClosedString) {
        return false;
    }
    let (text, origin) = apply(output, candidate.span, edits);
    let Ok(parsed) = parse_edited(&text, origin, contract.caps()) else { return true };
    let document = &parsed.document;
    let kept = contract.keeps().iter().flat_map(|path| Path::select(&path.selectors, document, Document::ROOT));
    kept.max() != Some(document.last())
}

/// Returns whether the document is complete after the edits: they omit nothing, and the text does not end before its
/// brackets.
fn is_whole(output: &str, span: Span, edits: &[Edit]) -> bool {
    let end = span.start as usize + span.of(output).trim_end().len();
    let is_cut_off = |edit: &Edit| edit.kind == ChangeKind::Closed && edit.span.start as usize >= end;
    !edits.iter().any(|edit| edit.kind.loses(edit.span.of(output)) || is_cut_off(edit))
}

/// Returns the edits that turn a text into JSON, and the items that they lose. If `keeps` is set, a string that was cut
/// off is kept up to that point.
fn mend(contract: &Contract, output: &str, candidate: &Candidate, keeps: bool) -> Option<(Vec<Edit>, Vec<Malformed>)> {
    let Candidate { span, inside, .. } = candidate;
    let (mut edits, items) = mend_inside(contract, output, *inside, keeps)?;
    if span.start < inside.start {
        edits.insert(0, Edit::new(ChangeKind::Around, (span.start as usize, inside.start as usize), ""));
    }
    if inside.end < span.end {
        edits.push(Edit::new(ChangeKind::Around, (inside.end as usize, span.end as usize), ""));
    }
    Some((edits, items))
}

/// Like [`mend`], for a text that must consist only of JSON. If content would be lost, tries to read other marks as
/// JSON marks.
fn mend_inside(contract: &Contract, output: &str, span: Span, keeps: bool) -> Option<(Vec<Edit>, Vec<Malformed>)> {
    let mended = mend_tokens(contract, output, span, keeps);
    let losses = |mended: &Option<(Vec<Edit>, Vec<Malformed>)>| match mended {
        None => (true, 0, false),
        Some((edits, malformed)) => (false, malformed.len(), !is_whole(output, span, edits)),
    };
    if !contract.repairs() || losses(&mended) == (false, 0, false) {
        return mended;
    }
    let otherwise = || {
        let marks = marks(output, (span.start as usize, span.end as usize))?;
        let whole = Span::new(0, output.len());
        let (text, origin) = apply(output, whole, &marks);
        let end = span.end as usize + text.len() - output.len();
        let (edits, malformed) = mend_tokens(contract, &text, Span::new(span.start as usize, end), keeps)?;
        let at = |broken: Malformed| Malformed { span: origin.of(broken.span), ..broken };
        let malformed: Vec<Malformed> = malformed.into_iter().map(at).collect();
        // White space between items does not belong to the removed items.
        let is_apart = |kind: ChangeKind, span: Span| {
            let before = malformed.partition_point(|broken| broken.span.start <= span.start);
            let inside = before.checked_sub(1).is_some_and(|last| span.start < malformed[last].span.end);
            kind == ChangeKind::Space && !inside
        };
        let edits = followed_by(marks, (&text, &origin), edits, is_apart);
        (edits.len() <= MAX_REPAIRS).then_some((edits, malformed))
    };
    let otherwise = otherwise();
    if losses(&otherwise) < losses(&mended) { otherwise } else { mended }
}

/// Like [`mend_inside`], for a text with JSON marks.
fn mend_tokens(contract: &Contract, output: &str, span: Span, keeps: bool) -> Option<(Vec<Edit>, Vec<Malformed>)> {
    // The text around the JSON may be the only problem.
    let (start, end) = (span.start as usize, span.end as usize);
    if strict_end(output, (start, end)) == Ok(end) {
        return Some((Vec::new(), Vec::new()));
    }
    if let Some(items) = contract.items() {
        let repairs = match contract.repairs() {
            false => Repairs::None,
            true if keeps => Repairs::Keeping,
            true => Repairs::Syntax,
        };
        match recover(output, span, &items.path, repairs, contract.caps()) {
            Ok(recovered) if recovered.edits.len() > MAX_REPAIRS => return None,
            Ok(recovered) => return Some((recovered.edits, recovered.malformed)),
            Err(Unrecovered::NoItems) => return None,
            Err(Unrecovered::NoArray) => {}
        }
    }
    if !contract.repairs() {
        return None;
    }
    repair(output, span, contract.is_list(), keeps).map(|edits| (edits, Vec::new()))
}

/// Judges a document that is known to be valid.
fn judge_valid(contract: &Contract, request: &Request, caps_check: CapsCheck) -> Judgement {
    judge_document(contract, request, caps_check, Some(true), Vec::new(), Vec::new())
}

/// Judges the document of a piece of the output. If the document is invalid and the contract allows it, first removes
/// or adds an envelope, provided that exactly one envelope makes the document valid. `edits` produced the document's
/// text, and removed the `malformed` items.
fn judge_unwrapped(
    contract: &Contract,
    request: &Request,
    caps_check: CapsCheck,
    valid: Option<bool>,
    span: Span,
    edits: Vec<Edit>,
    malformed: Vec<Malformed>,
) -> Judgement {
    if !contract.unwraps() || !malformed.is_empty() {
        return judge_adapted(contract, request, caps_check, valid, span, edits, malformed);
    }
    let document = &caps_check.document;
    let valid = is_valid(contract, &caps_check, valid);
    let is_done = valid || (caps_check.passed().is_some() && contract.is_refusal(document));
    let envelopes = if is_done { Vec::new() } else { envelopes(contract.checker(), document) };
    let judged = |more: Vec<Edit>| {
        let edits = document.edits(edits.clone(), more);
        let (text, origin) = apply(request.output, span, &edits);
        let parsed = parse_edited(&text, origin, contract.caps()).ok()?;
        let judgement = judge_adapted(contract, request, check_caps(parsed), None, span, edits, Vec::new());
        matches!(judgement.outcome, Outcome::Document(_)).then_some(judgement)
    };
    let mut usable = envelopes.into_iter().filter_map(judged);
    match (usable.next(), usable.next()) {
        (Some(judgement), None) => judgement,
        _ => judge_adapted(contract, request, caps_check, Some(valid), span, edits.clone(), Vec::new()),
    }
}

/// Judges the document of a piece of the output. If the document is invalid and the contract allows it, first coerces
/// its values to the schema. `edits` produced the document's text, and removed the `malformed` items.
fn judge_adapted(
    contract: &Contract,
    request: &Request,
    caps_check: CapsCheck,
    valid: Option<bool>,
    span: Span,
    edits: Vec<Edit>,
    malformed: Vec<Malformed>,
) -> Judgement {
    if !contract.coerces() {
        return judge_document(contract, request, caps_check, valid, edits, malformed);
    }
    let document = &caps_check.document;
    let is_refusal = caps_check.passed().is_some() && malformed.is_empty() && contract.is_refusal(document);
    let valid = is_valid(contract, &caps_check, valid);
    // The items of a valid document may be invalid under a separate schema for items.
    let has_own = contract.items().is_some_and(|items| items.schema.is_some());
    let more = match (valid && !has_own) || is_refusal {
        true => None,
        false => coerce(contract, document.text()),
    };
    let Some(more) = more.filter(|more| edits.len() + more.len() <= MAX_REPAIRS) else {
        return judge_document(contract, request, caps_check, Some(valid), edits, malformed);
    };
    let more = document.edits(edits.clone(), more);
    let (text, origin) = apply(request.output, span, &more);
    match parse_edited(&text, origin, contract.caps()) {
        Ok(parsed) => judge_document(contract, request, check_caps(parsed), None, more, malformed),
        Err(_) => judge_document(contract, request, caps_check, Some(valid), edits, malformed),
    }
}

/// Judges a document whose validity may already be known. `edits` produced the document's text, and removed the
/// `malformed` items.
fn judge_document(
    contract: &Contract,
    request: &Request,
    caps_check: CapsCheck,
    valid: Option<bool>,
    edits: Vec<Edit>,
    malformed: Vec<Malformed>,
) -> Judgement {
    let output = request.output;
    let checker = contract.checker();
    let document = &caps_check.document;
    if caps_check.passed().is_some() && malformed.is_empty() && contract.is_refusal(document) {
        return Outcome::Refusal.into();
    }
    let mut valid = is_valid(contract, &caps_check, valid);
    // Most documents need no further checks.
    if valid && edits.is_empty() && contract.is_simple() {
        return Judgement { notes: document.suspicious_notes(), ..Outcome::Document(document.minified()).into() };
    }
    let suspicious = document.suspicious_notes();
    // A valid document has no forbidden members. The name of a member is directly before its value.
    let stripped: Vec<NodeId> = match contract.strips() && !valid {
        true => checker.undeclared(document).into_iter().map(|value| value - 1).collect(),
        false => Vec::new(),
    };
    let stripped = match stripped.len() {
        0..=MAX_REPAIRS => document.pieces(&stripped),
        // There are too many to review, so they reject the document as usual.
        _ => Vec::new(),
    };
    let changes = changes(output, document, edits, &stripped);
    let caps_check = caps_check.without(&stripped);
    if !stripped.is_empty() {
        valid = caps_check.passed().is_some_and(|within_caps| checker.is_valid(within_caps));
    }
    let allow = Allow::of(contract.allow(), contract.items(), request);
    let support = Support::of(contract.evidence(), request.evidence.as_deref());
    let unsupported =
        support.as_ref().map_or_else(OfItems::none, |support| support.items(&caps_check.document, contract.items()));
    let sorted = items::sort(contract, output, &caps_check, malformed, (&allow, &unsupported), valid);

    // If anything was removed, judges the rest without the quarantined items as a whole.
    let known = sorted.removed.is_empty().then_some(valid);
    let caps_check = caps_check.without(&sorted.removed);
    let mut violations = match caps_check.passed() {
        None => caps_check.violations(contract.caps()),
        Some(within_caps) if is_valid(contract, &caps_check, known) => {
            let mut violations = allow.document(within_caps.document());
            if let Some(support) = &support {
                violations.append(support.document(within_caps.document(), contract.items()));
            }
            violations
        }
        Some(within_caps) => checker.violations(within_caps),
    };
    if sorted.all_bad() {
        violations.add_first(sorted.nothing_kept());
    }
    let (outcome, items) = match violations.total {
        0 => (Outcome::Document(caps_check.document.minified()), Vec::new()),
        _ => (Outcome::Rejection(refused_by_gate(violations)), sorted.kept(&caps_check.document)),
    };
    let wanting = sorted.wanting();
    let notes = [suspicious, allow.notes, sorted.notes].concat();
    Judgement {
        outcome,
        repaired: false,
        broken: None,
        items,
        quarantined: sorted.quarantined,
        wanting,
        changes,
        notes,
    }
}

fn refused_by_gate(violations: Violations) -> Rejection {
    Rejection { error: ErrorKind::OutputValidationFailed, violations, cut_off: false }
}

fn malformed(violation: Violation, cut_off: bool) -> Rejection {
    Rejection { error: ErrorKind::MalformedJson, violations: violation.into(), cut_off }
}

fn extraction_failed(expected: &str, received: &str, message: &str, span: Option<Span>) -> Rejection {
    let mut violation = Violation::new(&Location::root(), "extract", Details { expected, received, message });
    violation.span = span;
    Rejection {
        error: ErrorKind::ExtractionFailed,
        violations: Violations::from(violation),
        // If the text was cut off, the JSON may not have begun.
        cut_off: span.is_none(),
    }
}

fn none_found(output: &str, contract: &Contract, seen: &Seen) -> Rejection {
    let options = contract.extract();
    let mut places: Vec<String> =
        options.markers.iter().map(|marker| format!("a fenced block marked {}", text::quote(marker, 64))).collect();
    if options.raw_json {
        places.push("JSON and nothing else".to_owned());
    }
    match options.embedded {
        Embedded::None => {}
        Embedded::Single => places.push("one object or array in prose".to_owned()),
        Embedded::Each => places.push("an object or array in prose".to_owned()),
    }
    let mut expected = places.join(", or ");
    if let Some(within) = &options.within {
        expected = format!("JSON between {}", within.both());
    }
    let mut message = format!("must contain JSON: expected {}", text::cut(&expected, MAX_PLACES));
    let seen = seen.words(output);
    if !seen.is_empty() {
        message.push_str(&format!("; seen: {seen}"));
    }
    let is_string = |quote: char| output.trim().strip_prefix(quote).is_some_and(|text| text.starts_with(['{', '[']));
    if ['\'', '"', '`', '“'].into_iter().any(is_string) {
        message.push_str("; the JSON stands in a string: send it without the quotes around it");
    }
    let received = match output.trim() {
        "" => "nothing".to_owned(),
        text => text::quote(text, 64),
    };
    extraction_failed(&expected, &received, &message, None)
}

fn several_found(candidates: &Candidates) -> Rejection {
    let found = text::count(candidates.len(), "candidate");
    let message = format!("must contain one piece of JSON, contains {}", candidates.len());
    extraction_failed("one piece of JSON", &found, &message, candidates.get(1).map(|candidate| candidate.span))
}

/// Returns a violation if a document is not the whole answer because another document was left out.
fn one_of_several(found: &Found) -> Option<Violation> {
    let count = found.candidates.len();
    let other = if found.chosen == Some(0) { 1 } else { 0 };
    let other = found.candidates.get(other)?;
    let message = format!("must be one document: there are {count}, and this one was left out");
    let details = Details { expected: "one document", received: &format!("{count} documents"), message: &message };
    let violation = Violation::new(&Location::root(), "extract", details);
    Some(Violation { span: Some(other.inside), ..violation })
}

impl Request<'_> {
    /// Rejects a request that contradicts itself or the contract.
    fn check(&self, contract: &Contract) -> Result<(), Fault> {
        let wrong = |name: &str, expected: &str, received: &str, message: &str| {
            let violation =
                Violation::new(&Location::root().name(name), "request", Details { expected, received, message });
            Err(Fault::bad_request(vec![violation]))
        };
        if !self.agent.is_empty() && self.agent != contract.agent() {
            let message = format!("must be the contract's agent, {}", text::quote(contract.agent(), 128));
            return wrong("agent", contract.agent(), &self.agent, &message);
        }
        if self.output.len() > MAX_TEXT {
            let limit = text::count(MAX_TEXT, "byte");
            return wrong(
                "output",
                &limit,
                &text::count(self.output.len(), "byte"),
                &format!("must be at most {limit}"),
            );
        }
        allow::check_lists(contract.allow(), &self.lists)?;
        evidence::check_evidence(contract.evidence(), self.evidence.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract options besides the schema. Any of them may disable the fast paths.
    const OPTIONS: [&str; 14] = [
        r#""extract":{"untagged":true}"#,
        r#""extract":{"raw_json":false}"#,
        r#""extract":{"select":"first_valid"}"#,
        r#""extract":{"select":"last_valid","embedded":true}"#,
        r#""extract":{"within":"a"}"#,
        r#""repair":"syntax""#,
        r#""unwrap":true"#,
        r#""coerce":"lossless""#,
        r#""unknown_members":"strip""#,
        r#""caps":{"array_items":1}"#,
        r#""allow":[{"path":"$.a","list":"names","optional":true}]"#,
        r#""items":{"path":"$.a[*]","schema":true}"#,
        r#""refusal":"$.a""#,
        r#""evidence":{"claims":"$.a[*]"}"#,
    ];

    const OUTPUTS: [&str; 20] = [
        "{\"a\": 1}",
        "```json\n{\"a\": 1}\n```",
        "Here:\n\n```JSON\n{\"a\": 1}\n```\nThat is all.",
        "```\n{}\n```\n",
        "~~~json {\"a\":\n\"```\"}\n~~~",
        "```json\n[]\n```",
        "```json\n{\"a\": 1, \"a\": 2}\n```",
        " {\"a\": \"x\"} ",
        "\u{feff}{\"a\": \"1\", \"b\": [1, 2]}",
        "{\"a\": {\"a\": 1}, \"b\": null}",
        "{\"a\": true, \"A\": \"C:\\temp\"}",
        "[{\"a\": 1}]",
        "[]",
        "null",
        "{\"a\": 1.5,}",
        "Here:\n\n```json\n{\"a\": null, \"\\u202e\": 0}\n```\nThat is all.",
        "```json\n{\"a\": []}\n```\n\n```json\n{\"a\": 1}\n```",
        "<a>{\"a\": \"\"}</a>",
        "{\"result\": {\"a\": \"x\"}}",
        "{\"a\": 1, \"a\": \"x\"}",
    ];

    #[test]
    fn the_short_ways_give_the_same_report() {
        let schema =
            r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}"#;
        let (mut accepted, mut rejections) = (0, 0);
        for options in OPTIONS {
            let mut compiled = 0;
            for schema in [r#"{"type":"object"}"#, schema] {
                // Some options do not fit every schema.
                let source = format!(r#"{{"agent":"a","schema":{schema},{options}}}"#);
                let Ok(contract) = Contract::compile(&source) else { continue };
                compiled += 1;
                for output in OUTPUTS {
                    for finish in [Finish::Stop, Finish::Length, Finish::ContentFilter, Finish::Refusal] {
                        let evidence = contract.evidence().map(|_| Vec::new().into());
                        let request = Request { output, finish, evidence, ..Request::default() };
                        let Ok(short) = verdict(&contract, &request) else { continue };
                        accepted += usize::from(matches!(short, Verdict::Accepted(_)));
                        if let Some(lone) = Lone::find(output, &contract) {
                            let mut read = lone.read(output, &contract);
                            let is_rejected = !accepts(&contract, &request, lone, &mut read)
                                && rejected(&contract, &request, lone, &read).is_some();
                            rejections += usize::from(is_rejected);
                        }
                        let long = report(&contract, &request, None);
                        assert_eq!(Report::from(short), long, "{output:?}, {finish:?} by {source}");
                    }
                }
            }
            assert!(compiled > 0, "{options}");
        }
        assert!(accepted > 100 && rejections > 100, "{accepted}, {rejections}");
    }
}
