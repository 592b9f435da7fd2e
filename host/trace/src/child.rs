//! The runs that a run starts.

use std::path::Path;

use crate::{steps::About, text::Started};

/// The deepest level at which children are shown.
pub(crate) const MAX_DEPTH: usize = 8;

/// The place of a child in the trace of its parent.
#[derive(Clone, Copy)]
pub(crate) struct Child<'c> {
    /// The time at which the whole trace begins.
    pub(crate) start: u64,
    pub(crate) depth: usize,
    /// The child as its parent names it.
    pub(crate) started: &'c Started,
}

impl Child<'_> {
    /// Describes the fault of a folder that holds another run.
    pub(crate) fn other(&self, folder: &Path, about: &About) -> Option<String> {
        let run = &self.started.run;
        (about.run != *run).then(|| format!("{}: it has the run {:?}, and not {run:?}", folder.display(), about.run))
    }
}
