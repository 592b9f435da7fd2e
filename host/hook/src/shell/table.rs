//! The table of programs: which ones run others, and how. It is data, in `programs.json`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Folders whose programs are known by their names.
    pub(super) folders: BTreeSet<String>,
    /// Devices that keep nothing of what is written.
    pub(super) devices: BTreeSet<String>,
    /// Programs without an effect, about which nobody decides.
    pub(super) quiet: BTreeSet<String>,
    /// Programs that do the same harmless thing with whatever arguments.
    pub(super) any_arguments: BTreeSet<String>,
    /// Programs that only read, whatever their options are.
    pub(super) any_options: BTreeSet<String>,
    /// Variables of the environment that change no program into another one.
    pub(super) variables: BTreeSet<String>,
    /// Variables in lower case that shells or programs read.
    pub(super) read_variables: BTreeSet<String>,
    /// Programs whose arguments are code, or that change what later commands mean.
    pub(super) doubtful: BTreeSet<String>,
    pub(super) shells: BTreeSet<String>,
    /// Options of shells that leave the meaning of `-c` as it is.
    pub(super) shell_flags: BTreeSet<String>,
    pub(super) interpreters: BTreeSet<String>,
    /// Options of Python that bring no code.
    pub(super) python_flags: BTreeSet<String>,
    /// Options of `make` that name no other file and set nothing.
    pub(super) make_flags: BTreeSet<String>,
    /// Programs that run the command in their arguments.
    pub(super) wrappers: BTreeMap<String, Wrapper>,
    /// Programs whose first operand is a command of their own, with the options that stand before it.
    pub(super) commands: BTreeMap<String, Options>,
    /// Commands of such programs that run other programs.
    pub(super) running: BTreeMap<String, BTreeSet<String>>,
    /// Options with which a program runs others, or writes files.
    pub(super) runs: BTreeMap<String, Vec<String>>,
}

/// The options of a program before its first operand.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    #[serde(default)]
    pub(super) flags: BTreeSet<String>,
    /// Options that take the next word.
    #[serde(default)]
    pub(super) values: BTreeSet<String>,
    /// True if `+NAME` may stand first.
    #[serde(default)]
    pub(super) toolchain: bool,
}

/// The options of a program that runs the command in its arguments.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrapper {
    #[serde(default)]
    pub(super) flags: BTreeSet<String>,
    /// Options that take the next word, or the rest of theirs.
    #[serde(default)]
    pub(super) values: BTreeSet<String>,
    /// True if assignments may stand before the command.
    #[serde(default)]
    pub(super) assignments: bool,
    /// True if `-N` is an option.
    #[serde(default)]
    pub(super) numbers: bool,
    /// The number of operands before the command.
    #[serde(default)]
    pub(super) operands: usize,
}

/// Returns the table.
pub(super) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| match serde_json::from_str(include_str!("programs.json")) {
        Ok(table) => table,
        // A test reads it.
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
