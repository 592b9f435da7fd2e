//! The features of `serde_json` that this program was built with.

use serde_json::Value;

/// Returns whether a feature is detectable in the behaviour of `serde_json`.
type Probe = fn() -> bool;

/// The features that change how `serde_json` processes each document, each with a text that it then reads differently.
/// A package cannot query the features of its dependencies from Cargo.
const PROBES: [(&str, Probe); 4] = [
    ("arbitrary_precision", || serde_json::from_str::<Value>("1e400").is_ok()),
    ("float_roundtrip", || {
        // The default algorithm returns a wrong last digit.
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

/// Returns the names of the enabled features. A program with `serde_json = "1"` has none.
pub fn enabled() -> Vec<&'static str> {
    PROBES.iter().filter(|(_, probe)| probe()).map(|(name, _)| *name).collect()
}
