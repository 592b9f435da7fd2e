//! The limits of a call: one table for the host, the packages and `docs/limits.md`.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use super::text::pascal;

/// Constants and their values: bytes, units of fuel, seconds.
const LIMITS: [(&str, u64); 8] = [
    ("FUEL", 100_000_000),
    ("FUEL_PER_BYTE", 500),
    ("CONTRACT_FUEL", 500_000_000),
    ("CONTRACT_FUEL_PER_BYTE", 2_500),
    ("MEMORY", 64 << 20),
    ("TIMEOUT", 5),
    ("OUTPUT_BYTES", 8 << 20),
    ("STACK", 512 << 10),
];

/// The limits that the host's library takes as `usize`. The stack is the engine's there.
const SIZES: [&str; 2] = ["MEMORY", "OUTPUT_BYTES"];

/// The limits that JavaScript cannot set, or has elsewhere.
const NOT_IN_JAVASCRIPT: [&str; 2] = ["TIMEOUT", "STACK"];

const DOCUMENT: &str = "docs/limits.md";
const BEGIN: &str = "<!-- `cargo xtask generate` writes this table. -->\n";

pub(super) fn host() -> String {
    let constants = LIMITS.iter().filter(|(name, _)| *name != "STACK").map(|(name, value)| {
        let of = if SIZES.contains(name) { "usize" } else { "u64" };
        format!("pub(crate) const {name}: {of} = {};\n", grouped(*value, "_"))
    });
    format!("//! Defaults of limits.\n//!\n//! {}\n\n{}", super::HEAD, constants.collect::<String>())
}

pub(super) fn typescript() -> String {
    let limits = LIMITS.iter().filter(|(name, _)| !NOT_IN_JAVASCRIPT.contains(name));
    let constants = limits.map(|(name, value)| format!("export const {name} = {};\n", grouped(*value, "_")));
    format!("// {}\n\n{}", super::HEAD, constants.collect::<String>())
}

pub(super) fn python() -> String {
    let constants = LIMITS.iter().map(|(name, value)| format!("{name} = {}\n", grouped(*value, "_")));
    format!("\"\"\"Defaults of limits.\n\n{}\n\"\"\"\n\n{}", super::HEAD, constants.collect::<String>())
}

/// Returns the constants of the module for Go, and their values. The stack is the runtime's there.
pub(super) fn golang() -> impl Iterator<Item = (String, String)> {
    let limits = LIMITS.iter().filter(|(name, _)| *name != "STACK");
    limits.map(|(name, value)| {
        (format!("default{}", pascal(&name.to_lowercase().replace('_', "-"))), grouped(*value, "_"))
    })
}

/// Returns the constants of the package for Java, and their values. The stack is the runtime's there.
pub(super) fn java() -> impl Iterator<Item = (&'static str, String)> {
    let limits = LIMITS.iter().filter(|(name, _)| *name != "STACK");
    limits.map(|(name, value)| (*name, grouped(*value, "_")))
}

/// Returns the page with its table. The caps of documents are those of `contract.schema.json`.
pub(super) fn document() -> Result<String> {
    let page = fs::read_to_string(DOCUMENT).context(DOCUMENT)?;
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("{DOCUMENT} lacks {BEGIN:?}"))?;
    let (_, after) = rest.split_once("\n\n").with_context(|| format!("{DOCUMENT}: nothing after its table"))?;
    let schema: Value = serde_json::from_str(&fs::read_to_string("schemas/contract.schema.json")?)?;
    let cap = |name: &str| schema["properties"]["caps"]["properties"][name]["default"].as_u64().context("a cap");
    let limit =
        |name: &str| LIMITS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).context("a limit");
    let fuel = |name: &str| Ok::<_, anyhow::Error>(grouped(limit(name)?, ","));
    let rows = [
        ("limit", "default".to_owned(), "when passed"),
        ("---", "---".to_owned(), "---"),
        (
            "fuel",
            format!("{} + {} for each byte of output and contract", fuel("FUEL")?, fuel("FUEL_PER_BYTE")?),
            "fault `out_of_fuel`",
        ),
        (
            "fuel for compiling a registered contract",
            format!("{} + {} for each of its bytes", fuel("CONTRACT_FUEL")?, fuel("CONTRACT_FUEL_PER_BYTE")?),
            "fault `out_of_fuel`",
        ),
        ("memory", format!("{} for each instance", bytes(limit("MEMORY")?)), "fault `out_of_memory`"),
        ("wall clock", format!("{} s for each call", limit("TIMEOUT")?), "fault `timeout`"),
        ("waiting for a free instance", "as long as a call may take".to_owned(), "fault `busy`"),
        ("open sessions and instances", "4,096 in a process".to_owned(), "fault `busy`"),
        ("output", bytes(limit("OUTPUT_BYTES")?), "fault `input_too_large`, before the sandbox is entered"),
        ("stack", bytes(limit("STACK")?), "fault `stack_overflow`"),
        (
            "document (`caps` in the contract)",
            format!(
                "{}, {} levels, strings of {}, {} items, {} members",
                bytes(cap("bytes")?),
                cap("depth")?,
                bytes(cap("string_bytes")?),
                grouped(cap("array_items")?, ","),
                grouped(cap("object_members")?, ",")
            ),
            "rejected, with the place",
        ),
        ("contract", "8 MiB, 96 levels".to_owned(), "fault `bad_contract`"),
    ];
    let rows = rows.map(|(limit, default, passed)| format!("| {limit} | {default} | {passed} |"));
    Ok(format!("{before}{BEGIN}{}\n\n{after}", rows.join("\n")))
}

fn bytes(value: u64) -> String {
    match value {
        _ if value.is_multiple_of(1 << 20) => format!("{} MiB", value >> 20),
        _ => format!("{} KiB", value >> 10),
    }
}

pub(super) fn grouped(value: u64, mark: &str) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push_str(mark);
        }
        out.push(digit);
    }
    out
}
