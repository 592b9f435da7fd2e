//! From times to figures.

use crate::{
    engines::{AJV, CORE, ERRORS, Engine, FRESH, NATIVE, REGISTERED, WARM},
    measure::{Answer, Measured},
    plan::{ANSWER, Document, Plan, RECORDS, SMALL, TRIVIAL},
    size::Size,
    table::number,
};

/// Contracts above this, in bytes of schema, are large.
const LARGE: usize = 100_000;

/// All that the tables and the chart show.
pub(crate) struct Figures {
    pub(crate) headlines: Vec<Headline>,
    pub(crate) engines: Vec<EngineFigures>,
    /// For each document that grows: its name, its bytes, and the nanoseconds a byte by engine.
    pub(crate) growth: Vec<(String, usize, Vec<Option<f64>>)>,
    pub(crate) differences: Vec<Difference>,
}

/// Where two threads gain less than this natively, something else uses the second processor, and they decide nothing.
pub(crate) const TWO_PROCESSORS: f64 = 1.5;

/// Native's time for [`RECORDS`], in µs, on the quiet machine for which times are wanted. They are decided as ratios to native's time in
/// the same run, so that a slower machine is no miss.
pub(crate) const PEER_MICROS: f64 = 4.7;

/// One of the figures that the project holds itself to.
pub(crate) struct Headline {
    pub(crate) what: &'static str,
    value: Option<f64>,
    unit: Unit,
    /// The aim, and what is wanted at least.
    wanted: Option<[f64; 2]>,
    /// Whether more is better.
    more: bool,
}

#[derive(Clone, Copy)]
enum Unit {
    Times,
    Megabytes,
    /// Native's time for [`RECORDS`], which is so many µs in this run.
    Peer(Option<f64>),
}

impl Unit {
    fn text(self, value: f64, peer: Option<f64>) -> String {
        match (self, peer) {
            (Unit::Megabytes, _) => format!("{} MB", number(value)),
            (Unit::Peer(_), Some(micros)) => format!("{} × ({} µs)", number(value), number(value * micros)),
            _ => format!("{} ×", number(value)),
        }
    }
}

impl Headline {
    /// So many times something, and less is better.
    fn times(what: &'static str, value: Option<f64>, wanted: [f64; 2]) -> Self {
        Headline { what, value, unit: Unit::Times, wanted: Some(wanted), more: false }
    }

    /// The figure of this run.
    pub(crate) fn value(&self) -> String {
        let peer = if let Unit::Peer(micros) = self.unit { micros } else { None };
        self.value.map_or("–".to_owned(), |value| self.unit.text(value, peer))
    }

    /// The aim, and what is wanted at least.
    pub(crate) fn wanted(&self) -> [String; 2] {
        let sign = if self.more { "≥" } else { "≤" };
        let text = |value| format!("{sign} {}", self.unit.text(value, Some(PEER_MICROS)));
        self.wanted.map_or(["–", "–"].map(str::to_owned), |wanted| wanted.map(text))
    }

    /// Returns whether the figure misses its aim.
    pub(crate) fn misses_aim(&self) -> bool {
        self.value.zip(self.wanted).is_some_and(|(value, [aim, _])| !self.meets(value, aim))
    }

    fn meets(&self, value: f64, wanted: f64) -> bool {
        if self.more { value >= wanted } else { value <= wanted }
    }

    /// What is said where the figure is not what is wanted at least.
    pub(crate) fn miss(&self) -> Option<String> {
        let (value, [_, least]) = (self.value?, self.wanted?);
        (!self.meets(value, least)).then(|| format!("{}: {}, wanted {}", self.what, self.value(), self.wanted()[1]))
    }
}

/// One engine in the large.
pub(crate) struct EngineFigures {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) settings: &'static str,
    /// Geometric means of the ratio to native: all documents, small ones, others; valid ones, invalid ones.
    pub(crate) ratios: [Option<f64>; 5],
    /// How many documents these are about.
    pub(crate) judged: usize,
    pub(crate) first_millis: Option<f64>,
    pub(crate) peak_mb: f64,
}

/// A document on which an engine has another verdict than native, or none.
pub(crate) struct Difference {
    pub(crate) engine: &'static str,
    pub(crate) set: String,
    pub(crate) documents: Vec<String>,
    pub(crate) what: String,
}

impl Figures {
    pub(crate) fn of(engines: &[Engine], plan: &Plan, measured: &Measured, size: &Size) -> Self {
        let run = Run { engines, plan, measured, size };
        Figures {
            headlines: run.headlines(),
            engines: run.engines(),
            growth: run.growth(),
            differences: run.differences(),
        }
    }
}

struct Run<'r> {
    engines: &'r [Engine],
    plan: &'r Plan,
    measured: &'r Measured,
    size: &'r Size,
}

impl Run<'_> {
    fn headlines(&self) -> Vec<Headline> {
        let first = |name| self.engine(name).and_then(|engine| self.measured.engines[engine].first_millis);
        let of = |one: Option<f64>, other: Option<f64>| Some(one? / other?);
        let grown = self.growth();
        let warm = self.engine(WARM);
        let per_byte = |row: Option<&(String, usize, Vec<Option<f64>>)>| row?.2[warm?];
        let valid = |document| self.engine(NATIVE).and_then(|native| self.valid(native, document)) == Some(true);
        let large = |document| valid(document) && self.bytes(document) >= SMALL;
        let peer = self.micros(NATIVE, RECORDS);
        let in_peers = |what, micros, wanted: [f64; 2]| Headline {
            what,
            value: of(micros, peer),
            unit: Unit::Peer(peer),
            wanted: Some(wanted.map(|micros| micros / PEER_MICROS)),
            more: false,
        };
        let fixed = || Some(self.micros(WARM, TRIVIAL)? - self.micros(CORE, TRIVIAL)?);
        let [seamgate, native] = self.measured.gains;
        vec![
            Headline::times(
                "seamgate warm / native, valid, 4 KB and more",
                self.ratio(WARM, NATIVE, large).0,
                [0.75, 1.2],
            ),
            Headline::times("seamgate warm / native, valid, all", self.ratio(WARM, NATIVE, valid).0, [1.2, 1.6]),
            in_peers("a warm call for `{}`, beyond the core's own time", fixed(), [0.4, 0.6]),
            in_peers("fresh − warm, baked, documents under 4 KB", self.instantiation(0), [5.0, 8.0]),
            in_peers("fresh − warm, baked, contracts over 100 KB", self.instantiation(LARGE), [30.0, 80.0]),
            Headline::times("seamgate fresh / Ajv, valid, 4 KB and more", self.ratio(FRESH, AJV, large).0, [0.8, 1.0]),
            in_peers("fresh, registered and not baked, 500 bytes", self.micros(REGISTERED, ANSWER), [20.0, 30.0]),
            Headline::times(
                "seamgate warm / native with the text of all errors, invalid",
                self.ratio(WARM, ERRORS, |document| !valid(document)).0,
                [3.0, 4.7],
            ),
            Headline::times(
                "a fresh call for `{}` after an output of 150 KB / before",
                Some(self.measured.large_output.ratio),
                [1.05, 1.2],
            ),
            Headline {
                what: "two threads / one, fresh, after warm use, beside native's two threads / one",
                value: Some(seamgate / native),
                unit: Unit::Times,
                // Of the 2 that two threads give at best.
                wanted: (native >= TWO_PROCESSORS).then_some([1.95 / 2.0, 1.9 / 2.0]),
                more: true,
            },
            Headline::times(
                "process start to first verdict, seamgate baked / smallest native command line",
                of(first(FRESH), first(NATIVE)),
                [1.5, 3.0],
            ),
            // What grows as n log n would come to 2.3.
            Headline::times(
                "growth, seamgate warm: cost of a byte at 8 MB / at 1 KB",
                of(per_byte(grown.last()), per_byte(grown.first())),
                [1.2, 2.0],
            ),
            Headline {
                what: self.size.what,
                value: Some(self.size.bytes as f64 / 1e6),
                unit: Unit::Megabytes,
                wanted: self.size.wanted,
                more: false,
            },
        ]
    }

    fn engines(&self) -> Vec<EngineFigures> {
        let figures = |(index, engine): (usize, &Engine)| {
            let ratio = |wanted: &dyn Fn(usize) -> bool| self.ratio(engine.name, NATIVE, wanted);
            let (all, judged) = ratio(&|_| true);
            let (small, _) = ratio(&|document| self.bytes(document) < SMALL);
            let (large, _) = ratio(&|document| self.bytes(document) >= SMALL);
            let (valid, _) = ratio(&|document| self.valid(index, document) == Some(true));
            let (invalid, _) = ratio(&|document| self.valid(index, document) == Some(false));
            // Of an engine that judges only small documents, the other means would be of other documents.
            let [all, valid, invalid] = [all, valid, invalid].map(|mean| large.and(mean));
            let answers = &self.measured.engines[index];
            EngineFigures {
                name: engine.name,
                version: engine.version.clone(),
                settings: engine.settings,
                ratios: [all, small, large, valid, invalid],
                judged,
                first_millis: answers.first_millis,
                peak_mb: answers.peak_kb / 1e3,
            }
        };
        self.engines.iter().enumerate().map(figures).collect()
    }

    fn growth(&self) -> Vec<(String, usize, Vec<Option<f64>>)> {
        let row = |index: usize| {
            let document = &self.plan.documents[index];
            let per_byte = |engine| Some(self.nanos(engine, index)? / document.bytes as f64);
            (document.name.clone(), document.bytes, (0..self.engines.len()).map(per_byte).collect())
        };
        self.plan.growing().map(row).collect()
    }

    /// The geometric mean of the ratio of two engines' times, and over how many documents: those on which both have
    /// the same verdict.
    fn ratio(&self, one: &str, other: &str, wanted: impl Fn(usize) -> bool) -> (Option<f64>, usize) {
        let (Some(one), Some(other)) = (self.engine(one), self.engine(other)) else {
            return (None, 0);
        };
        let alike = |document: &usize| self.valid(one, *document) == self.valid(other, *document);
        let logarithms: Vec<f64> = self
            .plan
            .stored()
            .filter(|document| wanted(*document))
            .filter(alike)
            .filter_map(|document| Some((self.nanos(one, document)? / self.nanos(other, document)?).ln()))
            .collect();
        let count = logarithms.len();
        let mean = (count > 0).then(|| (logarithms.iter().sum::<f64>() / count as f64).exp());
        (mean, count)
    }

    /// What an engine takes for one document.
    fn micros(&self, engine: &str, document: &str) -> Option<f64> {
        Some(self.nanos(self.engine(engine)?, self.plan.document(document).ok()?)? / 1e3)
    }

    /// What a fresh instance takes beside a warm one, in µs: the median over contracts from so many bytes of the median
    /// over their small documents.
    fn instantiation(&self, from: usize) -> Option<f64> {
        let (fresh, warm) = (self.engine(FRESH)?, self.engine(WARM)?);
        let sets = (0..self.plan.stored_sets).filter(|set| self.plan.sets[*set].bytes >= from);
        median(
            sets.filter_map(|set| {
                let small = self.plan.stored().filter(|document| {
                    let document = &self.plan.documents[*document];
                    document.set == set && document.bytes < SMALL
                });
                let extra = small
                    .filter_map(|document| Some((self.nanos(fresh, document)? - self.nanos(warm, document)?) / 1e3));
                median(extra.collect())
            })
            .collect(),
        )
    }

    fn differences(&self) -> Vec<Difference> {
        let native = self.engine(NATIVE);
        let mut differences: Vec<Difference> = Vec::new();
        for (index, engine) in self.engines.iter().enumerate() {
            for document in 0..self.plan.documents.len() {
                let what = match (self.answer(index, document), native.and_then(|native| self.valid(native, document)))
                {
                    (Some(Answer::Verdict { valid, reason, .. }), expected) if Some(*valid) != expected => {
                        let verdict = if *valid { "valid" } else { "invalid" };
                        let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                        let native = match expected {
                            Some(true) => "valid",
                            Some(false) => "invalid",
                            None => "without a verdict",
                        };
                        format!("{verdict}{reason}, native: {native}")
                    }
                    (Some(Answer::None { error }), _) => format!("no verdict: {error}"),
                    _ => continue,
                };
                let Document { set, name, .. } = &self.plan.documents[document];
                let set = &self.plan.sets[*set].name;
                // One line for all documents of a set that go the same way.
                match differences.last_mut() {
                    Some(last) if last.engine == engine.name && last.set == *set && last.what == what => {
                        last.documents.push(name.clone());
                    }
                    _ => differences.push(Difference {
                        engine: engine.name,
                        set: set.clone(),
                        documents: vec![name.clone()],
                        what,
                    }),
                }
            }
        }
        differences
    }

    fn bytes(&self, document: usize) -> usize {
        self.plan.documents[document].bytes
    }

    fn engine(&self, name: &str) -> Option<usize> {
        self.engines.iter().position(|engine| engine.name == name)
    }

    fn answer(&self, engine: usize, document: usize) -> Option<&Answer> {
        self.measured.engines[engine].documents[document].as_ref()
    }

    fn nanos(&self, engine: usize, document: usize) -> Option<f64> {
        self.answer(engine, document)?.nanos()
    }

    fn valid(&self, engine: usize, document: usize) -> Option<bool> {
        self.answer(engine, document)?.valid()
    }
}

/// The middle of these, the upper one of two.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
