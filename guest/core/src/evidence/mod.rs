//! Checks claims against evidence: each claim cites observations, and must not say more than they support.
//!
//! This proves that the claim cites its support, not that the inference is true. `docs/claims.md` states the rules.

mod compute;
mod decimal;
mod figures;
mod numerals;
mod quotes;
mod units;
mod values;

use std::collections::BTreeMap;

use crate::{
    contract::{Claims, Items},
    fault::Fault,
    location::{Location, Step},
    order::{by_place, sort},
    parse::{Document, Kind, NodeId},
    path::Path,
    request::{Confidence, Observation},
    scan,
    text::{self, quote},
    types::Violation,
    violation::{Details, MAX_VIOLATIONS, NO_MEMBER, Violations},
};
use compute::{Found, Refused, Source, Stated};
use figures::{Figure, Key, figures};
use values::{Differs, Values};

/// The most observations in a request.
const MAX_OBSERVATIONS: usize = 1_000;

/// The largest text of one observation, and the largest size of all observations together, in bytes.
const MAX_OBSERVATION: usize = 1024 * 1024;
const MAX_EVIDENCE: usize = 4 * 1024 * 1024;

/// The maximum length of an id, kind, label or limitation, in bytes, and the maximum number of kinds, labels or
/// limitations of an observation.
const MAX_WORD: usize = 256;
const MAX_WORDS: usize = 64;

/// The approximate number of findings that are kept for a claim. A report lists ten per item.
const MAX_FINDINGS: usize = 20;

/// The most ids that a message shows.
const MAX_SHOWN: usize = 16;

/// Words in a label which say that the observation covers only part of the result.
const PARTS: [&str; 3] = ["sampled", "partial", "truncated"];
const STALE: &str = "stale";
const EMPTY: &str = "empty";

/// Rejects a request whose evidence is missing or exceeds the limits.
pub(crate) fn check_evidence(claims: Option<&Claims>, evidence: Option<&[Observation]>) -> Result<(), Fault> {
    let root = || Location::root().name("evidence");
    let wrong = |place: Location, expected: &str, received: &str, message: &str| {
        let violation = Violation::new(&place, "request", Details { expected, received, message });
        Err(Fault::bad_request(vec![violation]))
    };
    let Some(evidence) = evidence else {
        if claims.is_none() {
            return Ok(());
        }
        let message = "must be there: the contract has 'evidence', so its claims are held to observations. Send them \
                       (--evidence FILE on the command line); an empty list if there are none";
        return wrong(root(), "a list of observations", "none", message);
    };
    if evidence.len() > MAX_OBSERVATIONS {
        let most = text::count(MAX_OBSERVATIONS, "observation");
        return wrong(root(), &most, &evidence.len().to_string(), &format!("must be at most {most}"));
    }
    let mut total = 0;
    let mut ids: Vec<&str> = Vec::with_capacity(evidence.len());
    for (index, observation) in evidence.iter().enumerate() {
        let mut place = root();
        place.push(Step::Index(index));
        let lists =
            [("kinds", &observation.kinds), ("labels", &observation.labels), ("limitations", &observation.limitations)];
        for (name, words) in lists {
            let most = format!("at most {MAX_WORDS} words of {MAX_WORD} bytes each");
            if words.len() > MAX_WORDS || words.iter().any(|word| word.len() > MAX_WORD) {
                return wrong(place.name(name), &most, "more", &format!("must hold {most}"));
            }
            total += words.iter().map(String::len).sum::<usize>();
        }
        if observation.id.is_empty() || observation.id.len() > MAX_WORD {
            let expected = format!("1 to {MAX_WORD} bytes");
            return wrong(place.name("id"), &expected, &observation.id, &format!("must have {expected}"));
        }
        total += observation.id.len() + observation.text.len();
        if observation.text.len() > MAX_OBSERVATION || total > MAX_EVIDENCE {
            let limit = format!(
                "at most {} in one observation, and {} in all",
                text::count(MAX_OBSERVATION, "byte"),
                text::count(MAX_EVIDENCE, "byte")
            );
            return wrong(place.name("text"), &limit, "more", &format!("must be {limit}"));
        }
        ids.push(&observation.id);
    }
    sort(&mut ids);
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => wrong(root(), "each id once", pair[0], "must have each id once"),
        None => Ok(()),
    }
}

impl Observation {
    fn has(&self, label: &str) -> bool {
        self.labels.iter().any(|given| given == label)
    }

    /// Returns the highest confidence that a claim based on this observation may state. Never exceeds the confidence
    /// that the source states.
    fn allows(&self) -> Confidence {
        if self.has(STALE) {
            Confidence::Low
        } else if PARTS.iter().any(|label| self.has(label)) {
            self.confidence.min(Confidence::Medium)
        } else {
            self.confidence
        }
    }

    /// Returns whether the observation is complete, so that anything it does not contain does not exist.
    fn is_complete(&self) -> bool {
        self.complete && !self.has(STALE) && !PARTS.iter().any(|label| self.has(label))
    }

    fn is_empty(&self) -> bool {
        self.has(EMPTY) || matches!(self.text.trim(), "" | "[]" | "{}" | "null" | "\"\"")
    }
}

/// The claims of a contract, with the observations of a request.
pub(crate) struct Support<'c> {
    claims: &'c Claims,
    observations: &'c [Observation],
    /// The observations by id.
    by_id: BTreeMap<&'c str, usize>,
}

/// The findings about claims that are items, by item.
pub(crate) struct OfItems<'c> {
    support: Option<&'c Support<'c>>,
    findings: Findings,
}

/// Findings in the order of their claims.
#[derive(Default)]
struct Findings {
    listed: Vec<Finding>,
    /// `true` if a claim had more findings than were kept.
    is_cut: bool,
}

impl Findings {
    fn add(&mut self, finding: Finding) {
        let before = self.listed.len().checked_sub(MAX_FINDINGS).and_then(|at| self.listed.get(at));
        if before.is_some_and(|before| before.claim == finding.claim) {
            self.is_cut = true;
        } else {
            self.listed.push(finding);
        }
    }
}

/// A claim, and whether it asserts an absence.
#[derive(Debug, Clone, Copy)]
struct Claim {
    at: NodeId,
    is_absence: bool,
}

/// A finding about a claim, at a value in it.
struct Finding {
    claim: NodeId,
    at: NodeId,
    wrong: Wrong,
}

/// The kinds of findings. Observations are identified by index.
enum Wrong {
    /// The value does not have the form of a claim. Holds the required form.
    Form(&'static str),
    /// The member with this name is invalid.
    Member {
        name: String,
        must: &'static str,
    },
    UnknownId,
    /// The observation is cited without a quote.
    NoQuote(usize),
    /// The observation does not contain the quote.
    Quote(usize),
    Value(usize, Differs),
    /// The computation with this name produces another result, or none.
    Computed(&'static str, Refused),
    /// The figure at these bytes of the claim's text does not occur in anything that the claim cites.
    Figure(usize, usize),
    NoConfidence,
    Confidence(usize),
    /// The claim lacks this limitation of the observation.
    Limitation(usize, usize),
    /// The claim asserts an absence, and the observation is incomplete.
    Absence(usize),
    /// The claim is based on an empty, incomplete observation.
    Empty(usize),
    /// Too few observations of this kind are cited. Holds the kind and the number that are cited.
    Kind(usize, usize),
}

/// One citation of a claim.
struct Cite<'d> {
    /// The index of the claim.
    claim: usize,
    at: NodeId,
    observation: usize,
    part: Part<'d>,
}

enum Part<'d> {
    Whole,
    Quote(&'d str),
    Value {
        pointer: &'d str,
        value: NodeId,
    },
    /// A source of a computation, by its index.
    Source(usize),
    /// The result of a computation, by its index.
    Result(usize),
}

/// The computations that claims cite.
#[derive(Default)]
struct Computations<'d> {
    stated: Vec<Stated>,
    sources: Vec<Source<'d>>,
}

impl<'c> Support<'c> {
    /// Returns `None` if the contract requires no evidence.
    pub(crate) fn of(claims: Option<&'c Claims>, evidence: Option<&'c [Observation]>) -> Option<Self> {
        let (claims, observations) = (claims?, evidence.unwrap_or_default());
        let mut by_id = BTreeMap::new();
        by_id.extend(observations.iter().enumerate().map(|(index, observation)| (observation.id.as_str(), index)));
        Some(Support { claims, observations, by_id })
    }

    /// Returns the findings about claims that are items.
    pub(crate) fn items(&'c self, document: &Document, items: Option<&Items>) -> OfItems<'c> {
        let array = items.and_then(|items| items.path.array(document));
        let of_items = array.map_or_else(Vec::new, |array| self.claims_in(document, |claims| claims == Some(array)));
        OfItems { support: Some(self), findings: self.findings(document, &of_items) }
    }

    /// Returns the violations of a document: those of claims that are not items, and those of all claims together.
    pub(crate) fn document(&self, document: &Document, items: Option<&Items>) -> Violations {
        let array = items.and_then(|items| items.path.array(document));
        let others = self.claims_in(document, |claims| claims.is_none() || claims != array);
        let mut findings = self.findings(document, &others);
        self.kinds(document, &mut findings);
        let violations = self.violations(document, Document::ROOT, &Location::root(), &findings.listed, MAX_VIOLATIONS);
        Violations { incomplete: findings.is_cut, ..violations }
    }

    /// Returns the claims in the selected arrays, in document order. `is_asked` receives `None` for a claim outside any
    /// array.
    fn claims_in(&self, document: &Document, is_asked: impl Fn(Option<NodeId>) -> bool) -> Vec<Claim> {
        let mut claims = Vec::new();
        let array = self.claims.path.array(document);
        let inside = self.claims.absence.as_ref().and_then(|path| Some((path, self.claims.path.inside(path)?)));
        if let Some(array) = array.filter(|array| is_asked(Some(*array))) {
            let declared = |at: NodeId| match inside {
                Some((_, selectors)) => Path::select(selectors, document, at)
                    .into_iter()
                    .any(|at| !matches!(document.kind(at), Kind::False | Kind::Null)),
                None => false,
            };
            claims.extend(document.items(array).map(|at| Claim { at, is_absence: declared(at) }));
        }
        if let (Some(path), None) = (&self.claims.absence, inside) {
            for at in Path::select(&path.selectors, document, Document::ROOT) {
                let is_absence = true;
                match document.kind(at) {
                    Kind::Array if is_asked(Some(at)) => {
                        claims.extend(document.items(at).map(|at| Claim { at, is_absence }));
                    }
                    Kind::Array | Kind::Null => {}
                    _ if is_asked(None) => claims.push(Claim { at, is_absence }),
                    _ => {}
                }
            }
        }
        by_place(claims, |claim| (claim.at, 0))
    }

    /// Returns the findings about some claims, in document order.
    fn findings(&self, document: &Document, claims: &[Claim]) -> Findings {
        let mut findings = Findings::default();
        let mut cites = Vec::new();
        let mut computations = Computations::default();
        for (number, claim) in claims.iter().enumerate() {
            self.cites(document, number, *claim, (&mut cites, &mut computations), &mut findings);
        }
        let mut holds = vec![true; cites.len()];
        self.quotes(&cites, &mut holds);
        let differs = self.values(document, &cites, &mut holds);
        for (cite, differs) in cites.iter().zip(differs) {
            let (Some(differs), &Cite { claim, at, observation, .. }) = (differs, cite) else { continue };
            findings.add(Finding { claim: claims[claim].at, at, wrong: Wrong::Value(observation, differs) });
        }
        for (cite, _) in
            cites.iter().zip(&holds).filter(|(cite, holds)| matches!(cite.part, Part::Quote(_)) && !**holds)
        {
            let wrong = Wrong::Quote(cite.observation);
            findings.add(Finding { claim: claims[cite.claim].at, at: cite.at, wrong });
        }
        let mut refuse = |cite: &Cite, operation: &'static str, refused: Refused| {
            let wrong = Wrong::Computed(operation, refused);
            findings.add(Finding { claim: claims[cite.claim].at, at: cite.at, wrong });
        };
        let computed = self.computed(document, &computations, &cites, &mut refuse);
        if self.claims.numbers {
            self.numbers(document, claims, (&cites, &holds, &computed), &mut findings);
        }
        findings.listed = by_place(findings.listed, |finding| (finding.claim, finding.at));
        findings
    }

    /// Collects the citations of a claim, and reports errors that can be found without the observations.
    fn cites<'d>(
        &self,
        document: &'d Document,
        number: usize,
        claim: Claim,
        (cites, computations): (&mut Vec<Cite<'d>>, &mut Computations<'d>),
        findings: &mut Findings,
    ) {
        let Claims { text, cites: cited, confidence, limitations, quotes, .. } = self.claims;
        let mut wrong = |at: NodeId, wrong: Wrong| findings.add(Finding { claim: claim.at, at, wrong });
        if document.kind(claim.at) != Kind::Object {
            return wrong(claim.at, Wrong::Form("an object with its text and what it cites"));
        }
        let member =
            |at: NodeId, name: &str, kind: Kind| document.member(at, name).map(|at| (at, document.kind(at) == kind));
        match member(claim.at, text, Kind::String) {
            Some((_, true)) => {}
            Some((at, false)) => wrong(at, Wrong::Form("a string, the sentence of the claim")),
            None => wrong(claim.at, Wrong::Member { name: text.clone(), must: "the sentence of the claim" }),
        }
        let list = match member(claim.at, cited, Kind::Array) {
            Some((at, true)) if document.count(at) > 0 => at,
            Some((at, _)) => return wrong(at, Wrong::Form("a list that cites at least one observation")),
            None => {
                return wrong(claim.at, Wrong::Member { name: cited.clone(), must: "a list of what the claim cites" });
            }
        };
        let first = cites.len();
        for at in document.items(list) {
            if document.member(at, "compute").is_some() {
                let Computations { stated, sources } = &mut *computations;
                match compute::read(document, at, &self.by_id, sources) {
                    Ok(computation) => {
                        let (number_of, indices) = (stated.len(), computation.sources());
                        let mut cite = |at: NodeId, observation: usize, part: Part<'d>| {
                            cites.push(Cite { claim: number, at, observation, part });
                        };
                        indices.iter().for_each(|&index| {
                            cite(sources[index].at, sources[index].observation, Part::Source(index));
                        });
                        if let Some(&first) = indices.first() {
                            cite(computation.at, sources[first].observation, Part::Result(number_of));
                        }
                        stated.push(computation);
                    }
                    Err((at, what)) => wrong(at, what),
                }
                continue;
            }
            let id = match document.kind(at) {
                Kind::String => at,
                Kind::Object => match member(at, "id", Kind::String) {
                    Some((id, true)) => id,
                    _ => {
                        wrong(at, Wrong::Form("an object with the id of an observation"));
                        continue;
                    }
                },
                _ => {
                    wrong(at, Wrong::Form("the id of an observation, or an object with it"));
                    continue;
                }
            };
            let Some(&observation) = self.by_id.get(document.string(id)) else {
                wrong(id, Wrong::UnknownId);
                continue;
            };
            let (before, mut is_well_formed) = (cites.len(), true);
            let mut cite = |at: NodeId, part: Part<'d>| cites.push(Cite { claim: number, at, observation, part });
            match member(at, "quote", Kind::String) {
                Some((quote, true)) if !document.string(quote).trim().is_empty() => {
                    cite(quote, Part::Quote(document.string(quote)));
                }
                Some((quote, _)) => {
                    is_well_formed = false;
                    wrong(quote, Wrong::Form("a string with words of the observation"));
                }
                None => {}
            }
            match (member(at, "pointer", Kind::String), document.member(at, "value")) {
                (Some((pointer, true)), Some(value)) => {
                    cite(value, Part::Value { pointer: document.string(pointer), value });
                }
                (None, None) => {}
                _ => {
                    is_well_formed = false;
                    wrong(at, Wrong::Form("an object with a pointer, a string, and the value that stands there"));
                }
            }
            if cites.len() == before {
                if *quotes && is_well_formed && !self.observations[observation].is_empty() {
                    wrong(at, Wrong::NoQuote(observation));
                }
                cites.push(Cite { claim: number, at, observation, part: Part::Whole });
            }
        }
        let cited = &cites[first..];
        self.within(document, claim, cited, (confidence, limitations), &mut wrong);
    }

    /// Checks that a claim stays within what the cited observations allow.
    fn within(
        &self,
        document: &Document,
        claim: Claim,
        cites: &[Cite],
        (confidence, limitations): (&str, &str),
        wrong: &mut impl FnMut(NodeId, Wrong),
    ) {
        let mut seen = vec![false; self.observations.len()];
        let cited: Vec<&Cite> =
            cites.iter().filter(|cite| !std::mem::replace(&mut seen[cite.observation], true)).collect();
        if let Some(at) = document.member(claim.at, confidence).filter(|at| document.kind(*at) != Kind::Null) {
            let weakest = cited.iter().min_by_key(|cite| self.observations[cite.observation].allows());
            match (Confidence::ALL.into_iter().find(|word| document.is_string(at, word.as_str())), weakest) {
                (None, _) => wrong(at, Wrong::NoConfidence),
                (Some(stated), Some(cite)) if stated > self.observations[cite.observation].allows() => {
                    wrong(at, Wrong::Confidence(cite.observation));
                }
                _ => {}
            }
        }
        let stated = document.member(claim.at, limitations);
        let mut codes: Vec<&str> =
            stated.into_iter().flat_map(|at| document.items(at)).map(|at| code(document, at)).collect();
        sort(&mut codes);
        // Reports each code once, up to the limit on findings.
        let mut told: Vec<&str> = Vec::new();
        for cite in &cited {
            let observation = &self.observations[cite.observation];
            for (index, limitation) in observation.limitations.iter().map(String::as_str).enumerate() {
                let is_new = told.len() >= MAX_FINDINGS || !told.contains(&limitation);
                let is_missing = is_new && codes.binary_search(&limitation).is_err();
                if is_missing {
                    told.push(limitation);
                    wrong(stated.unwrap_or(claim.at), Wrong::Limitation(cite.observation, index));
                }
            }
            if claim.is_absence && !observation.is_complete() {
                wrong(cite.at, Wrong::Absence(cite.observation));
            } else if observation.is_empty() && !observation.is_complete() {
                wrong(cite.at, Wrong::Empty(cite.observation));
            }
        }
    }

    /// Groups the indices of citations by observation.
    fn by_observation(&self, cites: &[Cite]) -> Vec<Vec<usize>> {
        let mut of = vec![Vec::new(); self.observations.len()];
        cites.iter().enumerate().for_each(|(index, cite)| of[cite.observation].push(index));
        of
    }

    /// Searches for the quotes, one observation at a time.
    fn quotes(&self, cites: &[Cite], holds: &mut [bool]) {
        for (observation, of) in self.observations.iter().zip(self.by_observation(cites)) {
            let quote = |index: &usize| match cites[*index].part {
                Part::Quote(quote) => Some((*index, quote)),
                _ => None,
            };
            let of: Vec<(usize, &str)> = of.iter().filter_map(quote).collect();
            let mut quotes: Vec<&str> = of.iter().map(|(_, quote)| *quote).collect();
            sort(&mut quotes);
            quotes.dedup();
            let found = quotes::found(&observation.text, &quotes);
            for (cite, quote) in of {
                holds[cite] = quotes.binary_search(&quote).is_ok_and(|index| found[index]);
            }
        }
    }

    /// Looks up the values at pointers, one observation at a time. Returns each difference from the cited value.
    fn values(&self, document: &Document, cites: &[Cite], holds: &mut [bool]) -> Vec<Option<Differs>> {
        let mut differ: Vec<Option<Differs>> = (0..cites.len()).map(|_| None).collect();
        for (observation, of) in self.observations.iter().zip(self.by_observation(cites)) {
            let mut values = None;
            for index in of {
                let Part::Value { pointer, value } = cites[index].part else { continue };
                let values = values.get_or_insert_with(|| Values::new(&observation.text));
                let mut json = String::new();
                document.write(value, &mut json);
                let value = serde_json::from_str(&json).map_err(|_| Differs::Nowhere);
                if let Err(differs) = value.and_then(|value| values.is(pointer, &value)) {
                    holds[index] = false;
                    differ[index] = Some(differs);
                }
            }
        }
        differ
    }

    /// Evaluates the computations that claims cite. Returns the text with which each citation supports the sentence.
    fn computed(
        &self,
        document: &Document,
        computations: &Computations,
        cites: &[Cite],
        refuse: &mut dyn FnMut(&Cite, &'static str, Refused),
    ) -> Vec<Option<String>> {
        let Computations { stated, sources } = computations;
        let mut texts: Vec<Option<String>> = Vec::new();
        if stated.is_empty() {
            return texts;
        }
        texts.resize(cites.len(), None);
        let mut found: Vec<Option<Found>> = Vec::new();
        found.resize_with(sources.len(), || None);
        for (observation, of) in self.observations.iter().zip(self.by_observation(cites)) {
            let mut values = None;
            for cite in of.into_iter().map(|index| &cites[index]) {
                let Part::Source(index) = cite.part else { continue };
                let values = values.get_or_insert_with(|| Values::new(&observation.text));
                match sources[index].resolve(values, observation.is_complete()) {
                    Ok(one) => found[index] = Some(one),
                    Err(refused) => refuse(cite, sources[index].operation(), refused),
                }
            }
        }
        let mut first = 0;
        for (place, cite) in cites.iter().enumerate() {
            match cite.part {
                Part::Source(_) => continue,
                Part::Result(index) => {
                    let taken = |cite: &Cite| match cite.part {
                        Part::Source(source) => found[source].as_ref(),
                        _ => None,
                    };
                    let mut unsaid = None;
                    if cites[first..place].iter().all(|cite| taken(cite).is_some()) {
                        match stated[index].check(&found) {
                            Ok(unit) => unsaid = unit,
                            Err(refused) => refuse(cite, stated[index].operation(), refused),
                        }
                    }
                    // A rejected computation is reported once: its figures are not reported as well.
                    for (text, cite) in texts[first..place].iter_mut().zip(&cites[first..place]) {
                        *text = taken(cite).and_then(|found| found.shown.clone());
                    }
                    texts[place] = Some(stated[index].offered(document, unsaid));
                }
                Part::Whole | Part::Quote(_) | Part::Value { .. } => {}
            }
            first = place + 1;
        }
        texts
    }

    /// Searches for the figures of claims in what they cite: in quotes and values if there are any, and otherwise in
    /// the whole observation.
    fn numbers(
        &self,
        document: &Document,
        claims: &[Claim],
        (cites, holds, computed): (&[Cite], &[bool], &[Option<String>]),
        findings: &mut Findings,
    ) {
        // The figures that no quote or value of their claim contains, and the keys that would support them.
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        let mut asked: Vec<Key> = Vec::new();
        let mut cited = cites.iter().zip(holds).enumerate().peekable();
        for (number, claim) in claims.iter().enumerate() {
            let mut offered: Vec<Key> = Vec::new();
            while let Some((place, (cite, holds))) = cited.next_if(|(_, (cite, _))| cite.claim == number) {
                let mut offers =
                    |text: &str| figures(text, &mut |figure| figure.offers(&mut |key| offered.push(key.to_owned())));
                match cite.part {
                    Part::Quote(quote) if *holds => offers(quote),
                    Part::Value { pointer, value } if *holds => {
                        // The name before a number may state its unit.
                        let name = pointer.rsplit('/').next().unwrap_or_default();
                        offers(&format!("{name}: {}", document.source(value)));
                    }
                    Part::Source(_) | Part::Result(_) => {
                        computed.get(place).into_iter().flatten().for_each(|text| offers(text));
                    }
                    _ => {}
                }
            }
            sort(&mut offered);
            offered.dedup();
            let Some(text) = self.text(document, *claim) else { continue };
            let mut ids = Ids::default();
            figures(text, &mut |figure| {
                if !needs_any(&figure, &|key| find(&offered, key).is_ok()) && !ids.has(&self.by_id, text, &figure) {
                    open.push((number, figure.start, figure.end));
                    figure.needs(&mut |key| asked.push(key.to_owned()));
                }
            });
        }
        if open.is_empty() {
            return;
        }
        sort(&mut asked);
        asked.dedup();
        // Most keys are not among those. A bit set excludes them quickly.
        const BITS: usize = 1 << 16;
        let bit = |key: &str| scan::hash(key.as_bytes()) as usize % BITS;
        let mut may_be_asked = vec![false; BITS];
        asked.iter().for_each(|key| may_be_asked[bit(key)] = true);
        let mut is_whole = vec![false; self.observations.len()];
        for cite in cites.iter().filter(|cite| matches!(cite.part, Part::Whole)) {
            is_whole[cite.observation] = true;
        }
        // The keys found in each observation that is cited as a whole, without duplicates.
        let mut has: Vec<(u32, u32)> = Vec::new();
        let mut last = vec![u32::MAX; asked.len()];
        for (number, observation) in (0_u32..).zip(self.observations).filter(|(number, _)| is_whole[*number as usize]) {
            figures(&observation.text, &mut |figure| {
                figure.offers(&mut |key| {
                    if !may_be_asked[bit(key)] {
                        return;
                    }
                    let key = find(&asked, key).ok().filter(|key| last[*key] != number);
                    has.extend(key.map(|key| (key as u32, number)));
                    key.into_iter().for_each(|key| last[key] = number);
                });
            });
        }
        let has = by_place(has, |pair| *pair);
        let mut is_cited = vec![false; self.observations.len()];
        let mut cites = cites.iter().peekable();
        for open in open.chunk_by(|a, b| a.0 == b.0) {
            let claim = claims[open[0].0];
            while cites.next_if(|cite| cite.claim < open[0].0).is_some() {}
            is_cited.fill(false);
            while let Some(cite) = cites.next_if(|cite| cite.claim == open[0].0) {
                is_cited[cite.observation] |= matches!(cite.part, Part::Whole);
            }
            let Some(at) = document.member(claim.at, &self.claims.text) else { continue };
            let mut open = open.iter().peekable();
            // Reports the same figure only once.
            let text = document.string(at);
            let mut told: Vec<&str> = Vec::new();
            figures(text, &mut |figure| {
                let Some((_, start, end)) = open.next_if(|(_, start, _)| *start == figure.start) else { return };
                let is_there = needs_any(&figure, &|key| {
                    let Ok(key) = find(&asked, key) else { return false };
                    let from = has.partition_point(|(other, _)| (*other as usize) < key);
                    let of = has[from..].iter().take_while(|(other, _)| *other as usize == key);
                    of.into_iter().any(|(_, by)| is_cited[*by as usize])
                });
                let shown = text.get(*start..*end).unwrap_or_default();
                let is_new = told.len() >= MAX_FINDINGS || !told.contains(&shown);
                if !is_there && is_new {
                    told.push(shown);
                    findings.add(Finding { claim: claim.at, at, wrong: Wrong::Figure(*start, *end) });
                }
            });
        }
    }

    fn text<'d>(&self, document: &'d Document, claim: Claim) -> Option<&'d str> {
        document.member(claim.at, &self.claims.text).map(|at| document.string(at))
    }

    /// Checks that the required kinds of evidence are cited, or that their absence is explained.
    fn kinds(&self, document: &Document, findings: &mut Findings) {
        if self.claims.kinds.is_empty() {
            return;
        }
        let mut cited = vec![false; self.observations.len()];
        for claim in self.claims_in(document, |_| true) {
            let list = document.member(claim.at, &self.claims.cites);
            let mut open: Vec<NodeId> = list.into_iter().flat_map(|list| document.items(list)).collect();
            while let Some(cite) = open.pop() {
                if document.member(cite, "compute").is_some() {
                    open.extend(document.member(cite, "of").into_iter().flat_map(|of| document.items(of)));
                }
                let id = if document.kind(cite) == Kind::Object { document.member(cite, "id") } else { Some(cite) };
                if let Some(index) = id.and_then(|id| self.by_id.get(document.string(id))) {
                    cited[*index] = true;
                }
            }
        }
        for (number, kind) in self.claims.kinds.iter().enumerate() {
            let is_of =
                |(observation, cited): &(&Observation, &bool)| **cited && observation.kinds.contains(&kind.kind);
            let count = self.observations.iter().zip(&cited).filter(is_of).count();
            let explained = kind.or_explained.as_ref().is_some_and(|path| {
                let found = Path::select(&path.selectors, document, Document::ROOT);
                found.into_iter().any(|at| explains(document, at, &kind.kind))
            });
            if count < kind.min && !explained {
                let at = self.claims.path.array(document).unwrap_or(Document::ROOT);
                findings.listed.push(Finding { claim: Document::ROOT, at, wrong: Wrong::Kind(number, count) });
            }
        }
    }

    fn violations(
        &self,
        document: &Document,
        from: NodeId,
        place: &Location,
        findings: &[Finding],
        most: usize,
    ) -> Violations {
        let words = |finding: &Finding| {
            let place = document.location_within(from, place.clone(), finding.at);
            self.violation(document, place, finding).spanning(document.span(finding.at))
        };
        Violations { listed: findings.iter().take(most).map(words).collect(), total: findings.len(), incomplete: false }
    }

    fn violation(&self, document: &Document, place: Location, finding: &Finding) -> Violation {
        let observation = |index: usize| &self.observations[index];
        let id = |index: usize| quote(&observation(index).id, 64);
        let shown = document.shown(finding.at).into_owned();
        let (keyword, expected, received, message) = match &finding.wrong {
            Wrong::Form(must) => ("evidence.claim", (*must).to_owned(), shown, format!("must be {must}")),
            Wrong::Member { name, must } => {
                let name = format!("member {}", quote(name, 64));
                ("evidence.claim", name.clone(), NO_MEMBER.to_owned(), format!("must have {name}, {must}"))
            }
            Wrong::UnknownId => {
                let ids: Vec<String> = self.by_id.keys().take(MAX_SHOWN).map(|id| quote(id, 64)).collect();
                let more = if self.by_id.len() > MAX_SHOWN { ", …" } else { "" };
                let expected = match ids.as_slice() {
                    [] => "no observation, for none was given".to_owned(),
                    ids => format!("one of {}{more}", ids.join(", ")),
                };
                let message = format!("must be the id of an observation that was given: {expected}");
                ("evidence.id", expected, shown, message)
            }
            Wrong::NoQuote(index) => {
                let id = id(*index);
                let expected = format!("{{\"id\": {id}, \"quote\": …}}");
                let message =
                    format!("must quote the observation, as {expected} does, or have \"pointer\" and \"value\"");
                ("evidence.quote", expected, shown, message)
            }
            Wrong::Quote(index) => {
                let expected = format!("words of the observation {}", id(*index));
                let message = format!(
                    "must stand word for word in the observation {}, at one place and not cut in a word",
                    id(*index)
                );
                ("evidence.quote", expected, shown, message)
            }
            Wrong::Value(index, differs) => {
                let id = id(*index);
                let (expected, message) = match differs {
                    Differs::NotJson => {
                        let expected = "a quote".to_owned();
                        (
                            expected,
                            format!("must be a quote: the observation {id} is not JSON, so no pointer leads into it"),
                        )
                    }
                    Differs::Nowhere => {
                        let expected = "a pointer (RFC 6901) to a value".to_owned();
                        (expected, format!("must have a pointer (RFC 6901) to a value in the observation {id}"))
                    }
                    Differs::NotSought => {
                        let expected = "fewer pointers, or a quote".to_owned();
                        (
                            expected,
                            format!(
                                "must be a quote: the search for pointers in the observation {id} was ended at its limit"
                            ),
                        )
                    }
                    Differs::Is(value) => {
                        (value.clone(), format!("must be what stands at the pointer in the observation {id}: {value}"))
                    }
                };
                ("evidence.value", expected, shown, message)
            }
            Wrong::Computed(operation, refused) => {
                let (expected, message) = compute::told(refused, operation, id);
                ("evidence.compute", expected, shown, message)
            }
            Wrong::Figure(start, end) => {
                let figure = document.string(finding.at).get(*start..*end).unwrap_or_default();
                let message = format!(
                    "must not say {}: it stands in nothing that the claim cites. Cite what says it, or leave it out",
                    quote(figure, 64)
                );
                ("evidence.number", "figures that stand in what is cited".to_owned(), figure.to_owned(), message)
            }
            Wrong::NoConfidence => {
                let words = "\"low\", \"medium\" or \"high\"";
                ("evidence.confidence", words.to_owned(), shown, format!("must be {words}"))
            }
            Wrong::Confidence(index) => {
                let most = format!("at most \"{}\"", observation(*index).allows().as_str());
                let message = format!("must be {most}: the observation {} allows no more", id(*index));
                ("evidence.confidence", most, shown, message)
            }
            Wrong::Limitation(index, limitation) => {
                let limitation = observation(*index).limitations.get(*limitation).map_or("", String::as_str);
                let is_missing = finding.at == finding.claim;
                let received = if is_missing { NO_MEMBER.to_owned() } else { shown };
                let (limitation, member) = (quote(limitation, 64), quote(&self.claims.limitations, 64));
                let expected = format!("the limitation {limitation}");
                let message = format!("must have {expected} of the observation {} in its {member}", id(*index));
                ("evidence.limitations", expected, received, message)
            }
            Wrong::Absence(index) => {
                let message = format!(
                    "must not rest on the observation {}: it is not complete, so it cannot show that something is absent",
                    id(*index)
                );
                ("evidence.absence", "observations that are complete".to_owned(), shown, message)
            }
            Wrong::Empty(index) => {
                let message = format!(
                    "must not rest on the observation {}: it is empty and not complete, so it shows nothing",
                    id(*index)
                );
                ("evidence.absence", "observations that show something".to_owned(), shown, message)
            }
            Wrong::Kind(number, count) => {
                let (kind, least, or) = self
                    .claims
                    .kinds
                    .get(*number)
                    .map_or(("", 0, None), |kind| (kind.kind.as_str(), kind.min, kind.or_explained.as_ref()));
                let expected = format!("{} of the kind {}", text::count(least, "observation"), quote(kind, 64));
                let or = or.map_or(String::new(), |path| {
                    format!(", or say at {} why there is none", text::visible(&text::cut(&path.text, 128)))
                });
                let message = format!("must cite at least {expected}{or}");
                ("evidence.kind", expected, format!("{count} of that kind"), message)
            }
        };
        Violation::new(&place, keyword, Details { expected: &expected, received: &received, message: &message })
    }
}

impl OfItems<'_> {
    /// Returns no findings, for a contract that requires no evidence.
    pub(crate) fn none() -> Self {
        OfItems { support: None, findings: Findings::default() }
    }

    /// Returns the violations of an item.
    pub(crate) fn item(
        &self,
        document: &Document,
        at: NodeId,
        place: impl FnOnce() -> Location,
        most: usize,
    ) -> Violations {
        let findings = &self.findings.listed;
        let findings = &findings[findings.partition_point(|finding| finding.claim < at)..];
        let findings = &findings[..findings.partition_point(|finding| finding.claim == at)];
        match self.support.filter(|_| !findings.is_empty()) {
            Some(support) => support.violations(document, at, &place(), findings, most),
            None => Violations::default(),
        }
    }
}

/// Returns whether any of the keys that a figure needs is present.
fn needs_any(figure: &Figure, is_there: &dyn Fn(&str) -> bool) -> bool {
    let mut any = false;
    figure.needs(&mut |key| any = any || is_there(key));
    any
}

/// Searches for a key in a list of keys in ascending order.
fn find(keys: &[Key], key: &str) -> Result<usize, usize> {
    keys.binary_search_by(|other| other.as_str().cmp(key))
}

/// The ids of observations that a sentence names.
#[derive(Default)]
struct Ids {
    /// The last word that was examined, and whether it is an id.
    start: usize,
    end: usize,
    is_id: bool,
}

impl Ids {
    /// Returns whether a figure is part of an id. The figures of a text must be passed in order, so that each word is
    /// examined once.
    fn has(&mut self, ids: &BTreeMap<&str, usize>, text: &str, figure: &Figure) -> bool {
        let is_space = |character: char| character.is_whitespace() || matches!(character, '(' | ')' | '"' | '`');
        if figure.start >= self.end {
            let before = &text[self.end..figure.start];
            let space = before.char_indices().rev().find(|(_, character)| is_space(*character));
            self.start = self.end + space.map_or(0, |(at, character)| at + character.len_utf8());
            self.end = figure.end + text[figure.end..].find(is_space).unwrap_or(text.len() - figure.end);
            let word = text[self.start..self.end].trim_matches(|character| "[]{},.;:!?'".contains(character));
            self.is_id = ids.contains_key(word);
        }
        self.is_id
    }
}

/// Returns the code of a limitation: a string up to its colon, or the member `code` of an object.
fn code<'d>(document: &'d Document, at: NodeId) -> &'d str {
    let at = if document.kind(at) == Kind::Object { document.member(at, "code") } else { Some(at) };
    let text = at.map_or("", |at| document.string(at));
    text.split_once(": ").map_or(text, |(code, _)| code).trim()
}

/// Returns whether a value explains the lack of evidence of a kind. The value is a string or, for several kinds, an
/// object or list with an entry for this kind.
fn explains(document: &Document, at: NodeId, kind: &str) -> bool {
    let says = |at: NodeId| !document.string(at).trim().is_empty();
    match document.kind(at) {
        Kind::String => says(at),
        Kind::Object => document.member(at, kind).is_some_and(says),
        Kind::Array => document.items(at).any(|item| {
            let is_of = document.member(item, "kind").is_some_and(|at| document.is_string(at, kind));
            is_of && document.members(item).any(|(name, value)| !document.is_string(name, "kind") && says(value))
        }),
        _ => false,
    }
}
