//! The words of a run in Python.

use super::model::Words;

pub(super) fn words(_: &Words) -> String {
    String::new()
}
