//! The table of programs: which of them run others, and how. It is data, in `programs.json`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Folders whose programs are identified by their names alone.
    pub(super) folders: BTreeSet<String>,
    /// Devices that do not store what is written to them.
    pub(super) devices: BTreeSet<String>,
    /// Programs without an effect, which need no decision.
    pub(super) quiet: BTreeSet<String>,
    /// Programs that do the same harmless thing with any arguments.
    pub(super) any_arguments: BTreeSet<String>,
    /// Programs that only read, with any options.
    pub(super) any_options: BTreeSet<String>,
    /// Environment variables that do not change which program runs, or what it does.
    pub(super) variables: BTreeSet<String>,
    /// Variables in lower case that shells or programs read.
    pub(super) read_variables: BTreeSet<String>,
    /// Programs whose arguments are code, or that change the meaning of later commands.
    pub(super) doubtful: BTreeSet<String>,
    pub(super) shells: BTreeSet<String>,
    /// Options of shells that do not change the meaning of `-c`.
    pub(super) shell_flags: BTreeSet<String>,
    pub(super) interpreters: BTreeSet<String>,
    /// Options of Python that do not introduce code.
    pub(super) python_flags: BTreeSet<String>,
    /// Options of `make` that name no other file and set no variable.
    pub(super) make_flags: BTreeSet<String>,
    /// Programs that run the command in their arguments.
    pub(super) wrappers: BTreeMap<String, Wrapper>,
    /// Programs whose first operand is a command of their own, with the options that precede it.
    pub(super) commands: BTreeMap<String, Options>,
    /// Commands of such programs that run other programs.
    pub(super) running: BTreeMap<String, BTreeSet<String>>,
    /// Options that make a program run others, or write files.
    pub(super) runs: BTreeMap<String, Vec<String>>,
}

/// The options of a program before its first operand.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    #[serde(default)]
    pub(super) flags: BTreeSet<String>,
    /// Options that take the next word as their value.
    #[serde(default)]
    pub(super) values: BTreeSet<String>,
    /// `true` if `+NAME` may come first.
    #[serde(default)]
    pub(super) toolchain: bool,
}

/// The options of a program that runs the command in its arguments.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrapper {
    #[serde(default)]
    pub(super) flags: BTreeSet<String>,
    /// Options that take the next word, or the rest of their own word, as their value.
    #[serde(default)]
    pub(super) values: BTreeSet<String>,
    /// `true` if assignments may precede the command.
    #[serde(default)]
    pub(super) assignments: bool,
    /// `true` if `-N` is an option.
    #[serde(default)]
    pub(super) numbers: bool,
    /// The number of operands that precede the command.
    #[serde(default)]
    pub(super) operands: usize,
}

/// Returns the table.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| match serde_json::from_str(include_str!("programs.json")) {
        Ok(table) => table,
        // A test parses it.
        Err(error) => unreachable!("programs.json: {error}"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn table_can_be_read() {
        assert!(super::table().shells.contains("bash"));
    }
}
