//! Values in the form in which origins compare them: a sought value, and the values that it may equal as a whole.

use std::collections::BTreeMap;

use seamgate_core::kernel_api::{Document, Kind, NodeId, canonical};

use crate::words::{Word, decimal, whole_number};

/// A value of the arguments, in the form in which the search compares it.
pub(crate) enum Sought<'d> {
    Text {
        raw: &'d str,
        word: Word<'d>,
    },
    /// The canonical form that equal numbers share.
    Number(String),
    Truth(&'static str),
}

impl<'d> Sought<'d> {
    /// Reads a single value. Returns `None` for values that can have no origin.
    pub(crate) fn of(document: &'d Document, at: NodeId) -> Option<Self> {
        match document.kind(at) {
            Kind::String => {
                let raw = document.string(at);
                Word::of(raw).map(|word| Sought::Text { raw, word })
            }
            Kind::Number => Some(Sought::Number(canonical(document, at))),
            Kind::True => Some(Sought::Truth("true")),
            Kind::False => Some(Sought::Truth("false")),
            Kind::Null | Kind::Array | Kind::Object => None,
        }
    }
}

/// Values that a sought value may equal as a whole, indexed by the forms that equal values share.
#[derive(Default)]
pub(crate) struct Known {
    texts: BTreeMap<String, Vec<usize>>,
    numbers: BTreeMap<String, Vec<usize>>,
    count: usize,
}

impl Known {
    pub(crate) fn text(&mut self, text: &str) {
        if let Some(word) = Word::of(text) {
            self.texts.entry(word.key()).or_default().push(self.count);
        }
        if let Some(number) = whole_number(text) {
            self.numbers.entry(number).or_default().push(self.count);
        }
        self.count += 1;
    }

    /// Adds a number in JSON notation. A text equals it only if the text is written in the same way.
    pub(crate) fn number(&mut self, source: &str) {
        self.texts.entry(source.to_owned()).or_default().push(self.count);
        if let Some(number) = decimal(source) {
            self.numbers.entry(number).or_default().push(self.count);
        }
        self.count += 1;
    }

    pub(crate) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut known = Known::default();
        texts.into_iter().for_each(|text| known.text(text));
        known
    }

    /// Returns the places of a value, in their order.
    pub(crate) fn find(&self, value: &Sought) -> &[usize] {
        let found = match value {
            Sought::Text { word, .. } => self.texts.get(&word.key()),
            Sought::Number(number) => self.numbers.get(number),
            Sought::Truth(truth) => self.texts.get(*truth),
        };
        found.map_or(&[], Vec::as_slice)
    }
}
