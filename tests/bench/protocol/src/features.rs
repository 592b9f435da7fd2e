//! The features of `serde_json` that this program was built with.

use serde_json::Value;

/// Returns whether a feature shows in how `serde_json` reads.
type Probe = fn() -> bool;

/// The features that change what `serde_json` does for each document, each with a text that it reads differently. A package
/// cannot ask Cargo for the features of its dependencies.
const PROBES: [(&str, Probe); 4] = [
    ("arbitrary_precision", || serde_json::from_str::<Value>("1e400").is_ok()),
    ("float_roundtrip", || {
        // The default algorithm gets the last digit wrong.
        let number = "121.48791951161945";
        serde_json::from_str::<f64>(number).ok() == number.parse().ok()
    }),
    ("preserve_order", || {
        let read = serde_json::from_str::<Value>(r#"{"b":0,"a":0}"#);
        read.is_ok_and(|value| value.to_string().starts_with(r#"{"b""#))
    }),
    ("raw_value", || {
        let read = serde_json::from_str::<Value>(r#"{"$serde_json::private::RawValue":"0"}"#);
        read.is_ok_and(|value| value.is_number())
    }),
];

/// Returns the names of the enabled ones. A program whose author writes `serde_json = "1"` has none.
pub fn enabled() -> Vec<&'static str> {
    PROBES.iter().filter(|(_, probe)| probe()).map(|(name, _)| *name).collect()
}
