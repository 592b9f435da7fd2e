//! Runs of the kernel, and their journals in folders.

use std::sync::Arc;

use napi_derive::napi;
use seamgate::{Action, FileJournal, Gate, Run};
use self_cell::self_cell;

use crate::error::{self, Result};

type Kept<'g> = Run<'g, FileJournal>;

self_cell!(
    struct Open {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Kept,
    }
);

/// See `Run` of `host/js/src/run.ts`.
#[napi]
pub struct NativeRun(Open);

/// A run that has started, and what to do first.
pub(crate) struct Begun {
    pub(crate) run: NativeRun,
    pub(crate) actions: Vec<String>,
}

impl NativeRun {
    /// Start one in a folder.
    pub(crate) fn start(gate: Arc<Gate>, folder: &str, agent: &str, started: &str) -> Result<Begun> {
        let journal = FileJournal::create(folder).map_err(error::journal)?;
        let mut first = Vec::new();
        let open = Open::try_new(gate, |gate| -> Result<_> {
            let (run, actions) = Run::start(gate, journal, agent, started).map_err(error::step)?;
            first = texts(actions);
            Ok(run)
        })?;
        Ok(Begun { run: NativeRun(open), actions: first })
    }

    /// Go on with the one in a folder.
    pub(crate) fn open(gate: Arc<Gate>, folder: &str) -> Result<Self> {
        let journal = FileJournal::open(folder).map_err(error::journal)?;
        let open = Open::try_new(gate, |gate| Run::open(gate, journal).map_err(error::step))?;
        Ok(NativeRun(open))
    }
}

#[napi]
impl NativeRun {
    /// What to do after an event, each as JSON text.
    #[napi]
    pub fn send(&mut self, event: String) -> Result<Vec<String>> {
        self.0.with_dependent_mut(|_, run| run.send(&event)).map(texts).map_err(error::step)
    }

    /// Keep a text beside the journal. Gives its digest.
    #[napi]
    pub fn keep(&mut self, text: String) -> Result<String> {
        self.0.with_dependent_mut(|_, run| run.keep(&text)).map_err(error::journal)
    }

    #[napi(getter)]
    pub fn id(&self) -> String {
        self.0.with_dependent(|_, run| run.id().to_owned())
    }

    #[napi(getter)]
    pub fn agent(&self) -> String {
        self.0.with_dependent(|_, run| run.agent().to_owned())
    }

    #[napi(getter)]
    pub fn step(&self) -> f64 {
        self.0.with_dependent(|_, run| run.step() as f64)
    }

    /// As JSON text.
    #[napi(getter)]
    pub fn state(&self) -> String {
        self.0.with_dependent(|_, run| run.state().to_owned())
    }

    /// Of the last step, each as JSON text.
    #[napi(getter)]
    pub fn records(&self) -> Vec<String> {
        self.0.with_dependent(|_, run| run.records().to_vec())
    }

    #[napi(getter)]
    pub fn wake_at(&self) -> Option<f64> {
        self.0.with_dependent(|_, run| run.wake_at().map(|at| at as f64))
    }
}

fn texts(actions: Vec<Action>) -> Vec<String> {
    actions.into_iter().map(|action| action.json).collect()
}
