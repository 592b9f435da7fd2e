//! From times to figures.

use seamgate::Component;

use crate::{
    engines::{AJV, Engine, FRESH, NATIVE, WARM},
    measure::{Answer, Measured},
    plan::{Document, GROWTH, Plan},
};

/// Documents from here on are not small.
const SMALL: usize = 4096;

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

/// One of the figures that the project holds itself to.
pub(crate) struct Headline {
    pub(crate) what: &'static str,
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
    pub(crate) aim: &'static str,
    pub(crate) least: &'static str,
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
    pub(crate) fn of(engines: &[Engine], plan: &Plan, measured: &Measured) -> Self {
        let run = Run { engines, plan, measured };
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
}

impl Run<'_> {
    fn headlines(&self) -> Vec<Headline> {
        let first = |name| self.engine(name).and_then(|engine| self.measured.engines[engine].first_millis);
        let of = |one: Option<f64>, other: Option<f64>| Some(one? / other?);
        let grown = self.growth();
        let warm = self.engine(WARM);
        let per_byte = |row: Option<&(String, usize, Vec<Option<f64>>)>| row?.2[warm?];
        let [one, two] = self.measured.threads;
        let headline = |what, value, unit, aim, least| Headline { what, value, unit, aim, least };
        vec![
            headline(
                "seamgate warm / native, bytes to verdict",
                self.ratio(WARM, NATIVE, |_| true).0,
                "×",
                "≤ 0.5",
                "≤ 0.8",
            ),
            headline("a fresh instance, documents under 4 KB", self.instantiation(0), "µs", "≤ 10", "≤ 20"),
            headline("the same, contracts over 100 KB", self.instantiation(LARGE), "µs", "≤ 30", "≤ 80"),
            headline(
                "seamgate fresh / Ajv, documents of 4 KB and more",
                self.ratio(FRESH, AJV, |document| self.bytes(document) >= SMALL).0,
                "×",
                "≤ 1.0",
                "≤ 1.5",
            ),
            headline(
                "process start to first verdict, seamgate baked / smallest native command line",
                of(first(FRESH), first(NATIVE)),
                "×",
                "≤ 1.5",
                "≤ 3",
            ),
            headline(
                "growth, seamgate warm: cost of a byte at 8 MB / at 1 KB",
                of(per_byte(grown.last()), per_byte(grown.first())),
                "×",
                "≤ 1.2",
                "linear",
            ),
            headline("throughput, two threads / one", Some(two / one), "×", "≥ 1.9", "≥ 1.7"),
            headline(
                "component, no contracts",
                Some(Component::builtin().as_bytes().len() as f64 / 1e6),
                "MB",
                "≤ 1.5",
                "≤ 2.5",
            ),
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

    /// What a fresh instance takes beside a warm one, in µs: the median over contracts from so many bytes of the median
    /// over their small documents.
    fn instantiation(&self, from: usize) -> Option<f64> {
        let (fresh, warm) = (self.engine(FRESH)?, self.engine(WARM)?);
        let sets = (0..self.plan.sets.len())
            .filter(|set| self.plan.sets[*set].bytes >= from && self.plan.sets[*set].name != GROWTH);
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
