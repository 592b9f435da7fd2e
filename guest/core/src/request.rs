//! One output to judge, and everything that came with it.

/// Why the producer stopped, as its API said; `finish.rs` has the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Finish {
    Stop,
    Length,
    Refusal,
    ContentFilter,
    ToolCall,
    #[default]
    Unknown,
}

/// The values that one named list allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedList {
    pub name: String,
    pub values: Vec<String>,
}

/// One output to judge. See `request` in `wit/types.wit`.
#[derive(Debug, Clone, Default)]
pub struct Request<'t> {
    pub agent: String,
    pub output: &'t str,
    pub finish: Finish,
    pub lists: Vec<NamedList>,
    /// Where the producer's bytes first were not UTF-8: the output holds replacements from there on.
    pub invalid_utf8: Option<u32>,
}
