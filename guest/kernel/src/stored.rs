//! The labels of data in stores, as facts contain them.

use seamgate_core::kernel_api::{Document, NodeId, sort};
use serde::{Deserialize, Serialize};

use crate::document::{text_in, texts_in};

/// The maximum number of entries in facts. Above it, the keys of the store with the most entries are combined into one
/// entry for the whole store.
pub(crate) const MAX_ENTRIES: usize = 256;

/// The maximum length of a key, in bytes.
const MAX_KEY_BYTES: usize = 256;

/// The labels of the data below one key of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) store: String,
    /// The key in the form that all its spellings share. `None` for the whole store.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) key: Option<String>,
    pub(crate) labels: Vec<String>,
}

impl Entry {
    /// Reads an entry of facts or of an event.
    pub(crate) fn read(document: &Document, at: NodeId) -> Self {
        Entry {
            store: text_in(document, at, "store").unwrap_or_default().to_owned(),
            key: text_in(document, at, "key").and_then(key_of),
            labels: texts_in(document, at, "labels"),
        }
    }

    /// Returns an upper bound for the size as JSON, in bytes.
    pub(crate) fn most_bytes(&self) -> usize {
        let labels = self.labels.iter().map(|label| label.len() + 8).sum::<usize>();
        64 + self.store.len() + self.key.as_ref().map_or(0, String::len) + labels
    }

    /// Returns whether the entry's data and that below another key may overlap: one of them is the whole store, or one
    /// key is the end of the other, as a relative path is of an absolute one.
    pub(crate) fn meets(&self, store: &str, key: Option<&str>) -> bool {
        let is_end = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
        self.store == store
            && match (self.key.as_deref(), key) {
                (Some(one), Some(other)) => one == other || is_end(one, other) || is_end(other, one),
                _ => true,
            }
    }
}

/// Returns the form of a key that all its spellings share. `None` if a server could interpret it as another key.
pub(crate) fn key_of(text: &str) -> Option<String> {
    let is_odd =
        |character: char| !character.is_ascii() || character.is_ascii_control() || "%$~*?[{#".contains(character);
    if text.contains(is_odd) {
        return None;
    }
    let folded = text.to_ascii_lowercase().replace('\\', "/");
    if folded.split('/').any(|part| part.trim() == "..") {
        return None;
    }
    let parts = folded.split('/').map(|part| part.trim_start().trim_end_matches([' ', '.']));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let key = parts.join("/");
    (!key.is_empty() && key.len() <= MAX_KEY_BYTES).then_some(key)
}

/// Returns the entries combined with others. `None` if the others add no label.
pub(crate) fn with(entries: &[Entry], more: impl Iterator<Item = Entry>) -> Option<Vec<Entry>> {
    let mut all = entries.to_vec();
    more.for_each(|entry| add(&mut all, entry));
    bound(&mut all);
    (all != entries).then_some(all)
}

fn add(all: &mut Vec<Entry>, mut entry: Entry) {
    // Labels of the whole store need not be repeated for a key.
    let whole = all.iter().find(|one| one.key.is_none() && one.store == entry.store);
    entry.labels.retain(|label| whole.is_none_or(|whole| !whole.labels.contains(label)));
    match all.iter_mut().find(|one| one.store == entry.store && one.key == entry.key) {
        _ if entry.labels.is_empty() => {}
        Some(one) => one.labels.extend(entry.labels),
        None => all.push(entry),
    }
}

/// Sorts entries, and reduces them to the maximum number.
fn bound(all: &mut Vec<Entry>) {
    while all.len() > MAX_ENTRIES {
        let count = |store: &str| all.iter().filter(|entry| entry.store == store).count();
        let largest = all.iter().map(|entry| (count(&entry.store), entry.store.clone())).max();
        let Some((2.., store)) = largest else { break };
        let labels = all.iter().filter(|entry| entry.store == store).flat_map(|entry| entry.labels.clone()).collect();
        all.retain(|entry| entry.store != store);
        all.push(Entry { store, key: None, labels });
    }
    for entry in &mut *all {
        sort(&mut entry.labels);
        entry.labels.dedup();
    }
    sort(all);
}
