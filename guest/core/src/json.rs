//! Values of ours -> JSON text.

use serde::Serialize;

/// A value of ours as JSON. Strings, numbers, lists and records: nothing in them can fail to be written.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
