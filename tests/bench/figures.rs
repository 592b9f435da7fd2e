//! Computes figures from times.

use crate::{
    apart::Apart,
    engines::{BLAZE, CORE, ERRORS, Engine, FRESH, NATIVE, REGISTERED, WARM},
    measure::{Answer, Measured},
    plan::{ANSWER, Document, Plan, RECORDS, SMALL, TRIVIAL},
    table::number,
};

/// The size in bytes from which lists of records show the cost of a byte, because the fixed cost of a call is small.
const LONG: usize = 64_000;

/// All figures of the tables and the chart.
pub(crate) struct Figures {
    pub(crate) headlines: Vec<Headline>,
    pub(crate) engines: Vec<EngineFigures>,
    /// For each size of the growing document: its name, its bytes, and the nanoseconds for each byte by engine.
    pub(crate) growth: Vec<(String, usize, Vec<Option<f64>>)>,
    pub(crate) differences: Vec<Difference>,
    /// The count of the headline about faster verdicts, but without Blaze, whose time is a sum.
    pub(crate) ahead_of_whole: usize,
}

/// The minimum gain of two threads natively. Below it, another program uses the second processor, and the figure is not
/// judged.
pub(crate) const TWO_PROCESSORS: f64 = 1.5;

/// The time of the native engine for [`RECORDS`], in µs, on the quiet machine to which the required times refer. Times
/// are judged as ratios to the native time in the same run, so that a slower machine does not cause a failure.
pub(crate) const PEER_MICROS: f64 = 4.7;

/// The same for one byte, in ns.
pub(crate) const PEER_NANOS_A_BYTE: f64 = 4.65;

/// A figure with a target.
#[derive(Clone)]
pub(crate) struct Headline {
    pub(crate) what: &'static str,
    value: Option<f64>,
    unit: Unit,
    /// The target, and the required limit.
    wanted: Option<[f64; 2]>,
    /// `true` if a larger value is better.
    more: bool,
}

#[derive(Clone, Copy)]
enum Unit {
    Times,
    Megabytes,
    /// A number of documents out of this total.
    Count(usize),
    /// The native time for [`RECORDS`] in this run, in µs.
    Peer(Option<f64>),
    /// The native time for a byte of [`RECORDS`] in this run, in ns.
    PeerByte(Option<f64>),
}

impl Unit {
    /// Returns a value of a run as text.
    fn text(self, value: f64) -> String {
        match self {
            Unit::Megabytes => format!("{} MB", number(value)),
            Unit::Count(all) => format!("{value} of {all}"),
            Unit::Peer(Some(micros)) => format!("{} × ({} µs)", number(value), number(value * micros)),
            Unit::PeerByte(Some(nanos)) => format!("{} × ({} ns/B)", number(value), number(value * nanos)),
            Unit::Times | Unit::Peer(None) | Unit::PeerByte(None) => format!("{} ×", number(value)),
        }
    }

    /// Returns the required value, converted with the reference times to which it refers.
    fn wanted(self, value: f64) -> String {
        match self {
            Unit::Peer(_) => Unit::Peer(Some(PEER_MICROS)).text(value),
            Unit::PeerByte(_) => Unit::PeerByte(Some(PEER_NANOS_A_BYTE)).text(value),
            Unit::Count(_) => format!("{value}"),
            Unit::Times | Unit::Megabytes => self.text(value),
        }
    }
}

impl Headline {
    /// Creates a headline for a ratio that should be small.
    fn times(what: &'static str, value: Option<f64>, wanted: [f64; 2]) -> Self {
        Headline { what, value, unit: Unit::Times, wanted: Some(wanted), more: false }
    }

    /// Returns the figure as text.
    pub(crate) fn value(&self) -> String {
        self.value.map_or("–".to_owned(), |value| self.unit.text(value))
    }

    /// Returns the medians of the figures of several runs.
    pub(crate) fn medians<'r>(runs: impl Iterator<Item = &'r [Headline]>) -> Vec<Headline> {
        let runs: Vec<&[Headline]> = runs.collect();
        let count = runs.first().map_or(0, |headlines| headlines.len());
        let middle = |index: usize| {
            let mut values: Vec<&Headline> = runs.iter().map(|headlines| &headlines[index]).collect();
            let key = |headline: &Headline| headline.value.unwrap_or(f64::INFINITY);
            values.sort_by(|one, other| key(one).total_cmp(&key(other)));
            values[values.len() / 2].clone()
        };
        (0..count).map(middle).collect()
    }

    /// Returns the target and the required limit.
    pub(crate) fn wanted(&self) -> [String; 2] {
        let sign = if self.more { "≥" } else { "≤" };
        let text = |value| format!("{sign} {}", self.unit.wanted(value));
        self.wanted.map_or(["–", "–"].map(str::to_owned), |wanted| wanted.map(text))
    }

    /// Returns whether the figure misses its target.
    pub(crate) fn misses_aim(&self) -> bool {
        self.value.zip(self.wanted).is_some_and(|(value, [aim, _])| !self.meets(value, aim))
    }

    fn meets(&self, value: f64, wanted: f64) -> bool {
        if self.more { value >= wanted } else { value <= wanted }
    }

    /// Returns a message if the figure misses its required limit.
    pub(crate) fn miss(&self) -> Option<String> {
        let (value, [_, least]) = (self.value?, self.wanted?);
        (!self.meets(value, least)).then(|| format!("{}: {}, wanted {}", self.what, self.value(), self.wanted()[1]))
    }
}

/// The figures of one engine over all documents.
pub(crate) struct EngineFigures {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) settings: &'static str,
    pub(crate) ratios: Ratios,
    /// The number of documents from which these figures are computed.
    pub(crate) judged: usize,
    pub(crate) first_millis: Option<f64>,
    pub(crate) peak_mb: Option<f64>,
}

/// Geometric means of the ratio to native.
#[derive(Clone, Copy)]
pub(crate) struct Ratios {
    /// Over all documents.
    pub(crate) all: Option<f64>,
    /// Over the documents smaller than [`SMALL`].
    pub(crate) small: Option<f64>,
    /// Over the other documents.
    pub(crate) large: Option<f64>,
    pub(crate) valid: Option<f64>,
    pub(crate) invalid: Option<f64>,
}

/// A document for which an engine has no verdict, or another verdict than the native engine.
pub(crate) struct Difference {
    pub(crate) engine: &'static str,
    pub(crate) set: String,
    pub(crate) documents: Vec<String>,
    pub(crate) what: String,
}

impl Figures {
    pub(crate) fn of(engines: &[Engine], plan: &Plan, measured: &Measured, apart: &Apart) -> Self {
        let run = Run { engines, plan, measured, apart };
        Figures {
            headlines: run.headlines(),
            engines: run.engines(),
            growth: run.growth(),
            differences: run.differences(),
            ahead_of_whole: run.ahead(|engine| engine.name != BLAZE).0,
        }
    }

    /// Returns the first figure, which sorts runs.
    pub(crate) fn order(&self) -> f64 {
        self.headlines.first().and_then(|headline| headline.value).unwrap_or_default()
    }
}

struct Run<'r> {
    engines: &'r [Engine],
    plan: &'r Plan,
    measured: &'r Measured,
    apart: &'r Apart,
}

impl Run<'_> {
    fn headlines(&self) -> Vec<Headline> {
        let first = |name| self.engine(name).and_then(|engine| self.measured.engines[engine].first_millis);
        let of = |one: Option<f64>, other: Option<f64>| Some(one? / other?);
        let grown = self.growth();
        let warm = self.engine(WARM);
        let per_byte = |row: Option<&(String, usize, Vec<Option<f64>>)>| row?.2[warm?];
        let valid = |document| self.is_valid(document);
        let large = |document| valid(document) && self.bytes(document) >= SMALL;
        let peer = self.micros(NATIVE, RECORDS);
        let in_peers = |what, micros, wanted: [f64; 2]| Headline {
            what,
            value: of(micros, peer),
            unit: Unit::Peer(peer),
            wanted: Some(wanted.map(|micros| micros / PEER_MICROS)),
            more: false,
        };
        let peer_per_byte = self.per_byte_of_records();
        let fixed = || Some(self.micros(WARM, TRIVIAL)? - self.micros(CORE, TRIVIAL)?);
        let long: Option<Vec<f64>> =
            grown.iter().filter(|(_, bytes, _)| *bytes >= LONG).map(|row| per_byte(Some(row))).collect();
        let (ahead, judged) = self.ahead(|_| true);
        let [seamgate, native] = self.measured.gains;
        vec![
            Headline::times(
                "seamgate warm / native, valid, 4 KB and more",
                self.ratio(WARM, NATIVE, large).0,
                [0.55, 0.7],
            ),
            Headline::times("seamgate warm / native, valid, all", self.ratio(WARM, NATIVE, valid).0, [0.8, 1.0]),
            Headline::times("seamgate fresh / native, valid, all", self.ratio(FRESH, NATIVE, valid).0, [1.0, 1.25]),
            Headline::times(
                "seamgate warm / native with the text of all errors, invalid",
                self.ratio(WARM, ERRORS, |document| !valid(document)).0,
                [2.5, 3.3],
            ),
            Headline {
                what: "a warm call for a list of records, 64 KB and more",
                value: of(long.and_then(geometric_mean), peer_per_byte),
                unit: Unit::PeerByte(peer_per_byte),
                wanted: Some([1.2, 1.6].map(|nanos| nanos / PEER_NANOS_A_BYTE)),
                more: false,
            },
            in_peers("fresh − warm, baked, documents under 4 KB", self.instantiation(), [0.6, 1.0]),
            in_peers("in a fence − alone, warm, 500 bytes", Some(self.measured.fence / 1e3), [0.3, 0.6]),
            in_peers("a warm call for `{}`, beyond the core's own time", fixed(), [0.4, 0.6]),
            in_peers("fresh, registered and not baked, 500 bytes", self.micros(REGISTERED, ANSWER), [20.0, 30.0]),
            Headline::times(
                "process start to first verdict, seamgate baked / smallest native command line",
                of(first(FRESH), first(NATIVE)),
                [1.3, 1.8],
            ),
            Headline::times(
                "Python, warm, 500 bytes, verdict and document / `json.loads` and jsonschema-rs",
                self.apart.python,
                [1.3, 1.7],
            ),
            Headline {
                what: "valid documents on which a warm verdict is faster than every other validator",
                value: Some(ahead as f64),
                unit: Unit::Count(judged),
                wanted: Some([100.0, 60.0]),
                more: true,
            },
            Headline::times(
                "a fresh call for `{}` after an output of 150 KB / before",
                Some(self.measured.large_output.ratio),
                [1.05, 1.2],
            ),
            Headline {
                what: "two threads / one, fresh, after warm use, beside native's two threads / one",
                value: Some(seamgate / native),
                unit: Unit::Times,
                // Two threads give at most a factor of 2.
                wanted: (native >= TWO_PROCESSORS).then_some([1.95 / 2.0, 1.9 / 2.0]),
                more: true,
            },
            // A growth of n log n would give 2.3.
            Headline::times(
                "growth, seamgate warm: cost of a byte at 8 MB / at 1 KB",
                of(per_byte(grown.last()), per_byte(grown.first())),
                [1.2, 2.0],
            ),
            Headline {
                what: self.apart.size.what,
                value: Some(self.apart.size.bytes as f64 / 1e6),
                unit: Unit::Megabytes,
                wanted: self.apart.size.wanted,
                more: false,
            },
        ]
    }

    /// Returns the native time in nanoseconds for a byte of [`RECORDS`].
    fn per_byte_of_records(&self) -> Option<f64> {
        let document = self.plan.document(RECORDS).ok()?;
        Some(self.nanos(self.engine(NATIVE)?, document)? / self.bytes(document) as f64)
    }

    /// Returns the number of valid documents for which a warm verdict is faster than each counted peer with the same
    /// verdict, and the total number of valid documents.
    fn ahead(&self, counts: impl Fn(&Engine) -> bool) -> (usize, usize) {
        let is_peer = |engine: &usize| self.engines[*engine].is_peer() && counts(&self.engines[*engine]);
        let peers: Vec<usize> = (0..self.engines.len()).filter(is_peer).collect();
        let is_ahead = |document: &usize| {
            let own = self.engine(WARM).and_then(|warm| self.nanos(warm, *document));
            let judges = |engine: &&usize| self.valid(**engine, *document) == Some(true);
            let nanos = peers.iter().filter(judges).filter_map(|engine| self.nanos(*engine, *document));
            let best = nanos.fold(f64::INFINITY, f64::min);
            self.engine(WARM).and_then(|warm| self.valid(warm, *document)) == Some(true) && own < Some(best)
        };
        let valid: Vec<usize> = self.plan.stored().filter(|document| self.is_valid(*document)).collect();
        (valid.iter().filter(|document| is_ahead(document)).count(), valid.len())
    }

    /// Returns whether a document is valid, according to the native verdict.
    fn is_valid(&self, document: usize) -> bool {
        self.engine(NATIVE).and_then(|native| self.valid(native, document)) == Some(true)
    }

    fn engines(&self) -> Vec<EngineFigures> {
        let figures = |(index, engine): (usize, &Engine)| {
            let ratio = |wanted: &dyn Fn(usize) -> bool| self.ratio(engine.name, NATIVE, wanted);
            let (all, judged) = ratio(&|_| true);
            let (small, _) = ratio(&|document| self.bytes(document) < SMALL);
            let (large, _) = ratio(&|document| self.bytes(document) >= SMALL);
            let (valid, _) = ratio(&|document| self.valid(index, document) == Some(true));
            let (invalid, _) = ratio(&|document| self.valid(index, document) == Some(false));
            // If an engine judges only small documents, its other means would be about other documents.
            let [all, valid, invalid] = [all, valid, invalid].map(|mean| large.and(mean));
            let answers = &self.measured.engines[index];
            EngineFigures {
                name: engine.name,
                version: engine.version.clone(),
                settings: engine.settings,
                ratios: Ratios { all, small, large, valid, invalid },
                judged,
                first_millis: answers.first_millis,
                peak_mb: answers.peak_kb.map(|peak| peak / 1e3),
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

    /// Returns the geometric mean of the ratio of two engines' times, and the number of documents: those on which both
    /// engines have the same verdict.
    fn ratio(&self, one: &str, other: &str, wanted: impl Fn(usize) -> bool) -> (Option<f64>, usize) {
        let (Some(one), Some(other)) = (self.engine(one), self.engine(other)) else {
            return (None, 0);
        };
        let alike = |document: &usize| self.valid(one, *document) == self.valid(other, *document);
        let ratios: Vec<f64> = self
            .plan
            .stored()
            .filter(|document| wanted(*document))
            .filter(alike)
            .filter_map(|document| Some(self.nanos(one, document)? / self.nanos(other, document)?))
            .collect();
        let count = ratios.len();
        (geometric_mean(ratios), count)
    }

    /// Returns the time of an engine for one document, in µs.
    fn micros(&self, engine: &str, document: &str) -> Option<f64> {
        Some(self.nanos(self.engine(engine)?, self.plan.document(document).ok()?)? / 1e3)
    }

    /// Returns the additional time of a fresh instance compared with a warm one, in µs: the median over contracts of
    /// the median over their small documents.
    fn instantiation(&self) -> Option<f64> {
        let (fresh, warm) = (self.engine(FRESH)?, self.engine(WARM)?);
        let sets = 0..self.plan.stored_sets;
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
                // One line for all documents of a set with the same difference.
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

fn geometric_mean(values: Vec<f64>) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// Returns the median of these values. Of two middle values, returns the upper one.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
