//! Runs of the kernel, and their journals: in folders, or kept by JavaScript.

use std::{
    cell::{RefCell, RefMut},
    sync::Arc,
};

use napi::{
    Env,
    bindgen_prelude::{Either, FnArgs, Function, FunctionRef},
};
use napi_derive::napi;
use seamgate::{Blob, FileJournal, Gate, Journal, JournalError, Lines, Run};
use self_cell::self_cell;

use crate::error::{self, Result, usage};

type Kept<'g> = Run<'g, Box<dyn Journal>>;

self_cell!(
    struct Open {
        owner: Arc<Gate>,
        #[not_covariant]
        dependent: Kept,
    }
);

/// A call to a journal that JavaScript keeps: the name of a method and its arguments, as texts. Returns texts.
type Asked = FnArgs<(String, Vec<String>)>;

/// The folder of a journal, or a function that keeps the lines.
pub(crate) type Where<'env> = Either<String, Function<'env, Asked, Vec<String>>>;

/// See `Run` of `host/js/src/run.ts`.
// In a cell: a journal that JavaScript keeps may call the run that has called it.
#[napi]
pub struct NativeRun(RefCell<Open>);

/// A run that has started, and what to do first.
pub(crate) struct Begun {
    pub(crate) run: NativeRun,
    pub(crate) actions: Vec<String>,
}

impl NativeRun {
    /// Starts a run.
    pub(crate) fn start(env: Env, gate: Arc<Gate>, journal: Where, agent: &str, started: &str) -> Result<Begun> {
        let journal = keeper(env, journal, FileJournal::create)?;
        let mut first = Vec::new();
        let open = Open::try_new(gate, |gate| -> Result<_> {
            let (run, actions) = Run::start_json(gate, journal, agent, started).map_err(error::step)?;
            first = actions;
            Ok(run)
        })?;
        Ok(Begun { run: NativeRun(RefCell::new(open)), actions: first })
    }

    /// Continues a run.
    pub(crate) fn open(env: Env, gate: Arc<Gate>, journal: Where) -> Result<Self> {
        let journal = keeper(env, journal, FileJournal::open)?;
        let open = Open::try_new(gate, |gate| Run::open(gate, journal).map_err(error::step))?;
        Ok(NativeRun(RefCell::new(open)))
    }

    /// Continues a run from its snapshot.
    pub(crate) fn restore(env: Env, gate: Arc<Gate>, journal: Where, snapshot: &str) -> Result<Self> {
        let journal = keeper(env, journal, FileJournal::open)?;
        let open = Open::try_new(gate, |gate| Run::restore(gate, journal, snapshot).map_err(error::step))?;
        Ok(NativeRun(RefCell::new(open)))
    }

    fn idle(&self) -> Result<RefMut<'_, Open>> {
        self.0.try_borrow_mut().map_err(|_| usage("the run is at work: its journal cannot call it"))
    }
}

#[napi]
impl NativeRun {
    /// Returns the actions to perform after an event, each as JSON text.
    #[napi]
    pub fn send(&self, event: String) -> Result<Vec<String>> {
        self.idle()?.with_dependent_mut(|_, run| run.send_json(&event)).map_err(error::step)
    }

    /// Keeps a text beside the journal. Returns its digest.
    #[napi]
    pub fn keep(&self, text: String) -> Result<String> {
        self.idle()?.with_dependent_mut(|_, run| run.keep(&text)).map_err(error::journal)
    }

    #[napi(getter)]
    pub fn id(&self) -> Result<String> {
        Ok(self.idle()?.with_dependent(|_, run| run.id().to_owned()))
    }

    #[napi(getter)]
    pub fn agent(&self) -> Result<String> {
        Ok(self.idle()?.with_dependent(|_, run| run.agent().to_owned()))
    }

    #[napi(getter)]
    pub fn step(&self) -> Result<f64> {
        Ok(self.idle()?.with_dependent(|_, run| run.step() as f64))
    }

    /// Returns the state as JSON text.
    #[napi(getter)]
    pub fn state(&self) -> Result<String> {
        Ok(self.idle()?.with_dependent(|_, run| run.state().to_owned()))
    }

    /// Returns a snapshot for `restore`.
    #[napi(getter)]
    pub fn snapshot(&self) -> Result<String> {
        Ok(self.idle()?.with_dependent(|_, run| run.snapshot()))
    }

    /// Returns the records of the last step, each as JSON text.
    #[napi(getter)]
    pub fn records(&self) -> Result<Vec<String>> {
        Ok(self.idle()?.with_dependent(|_, run| run.records_json().to_vec()))
    }

    #[napi(getter)]
    pub fn wake_at(&self) -> Result<Option<f64>> {
        Ok(self.idle()?.with_dependent(|_, run| run.wake_at().map(|at| at as f64)))
    }
}

fn keeper(
    env: Env,
    journal: Where,
    in_folder: impl FnOnce(String) -> std::result::Result<FileJournal, JournalError>,
) -> Result<Box<dyn Journal>> {
    Ok(match journal {
        Either::A(folder) => Box::new(in_folder(folder).map_err(error::journal)?),
        Either::B(ask) => {
            let ask = ask.create_ref().map_err(|error| usage(error.reason.to_string()))?;
            Box::new(Object { env, ask })
        }
    })
}

/// A journal that JavaScript keeps.
struct Object {
    env: Env,
    ask: FunctionRef<Asked, Vec<String>>,
}

impl Object {
    /// Calls a method. What it throws, `host/js/src/run.ts` throws again.
    fn ask(&self, method: &str, arguments: Vec<String>) -> std::result::Result<Vec<String>, JournalError> {
        let ask = self.ask.borrow_back(&self.env);
        let answered = ask.and_then(|ask| ask.call((method.to_owned(), arguments).into()));
        answered.map_err(|error| JournalError::Failed(error.reason.to_string().into()))
    }
}

fn word(blob: Blob) -> String {
    match blob {
        Blob::Checkpoint => "checkpoint",
        _ => "artifact",
    }
    .to_owned()
}

impl Journal for Object {
    fn name(&self) -> String {
        "the journal".to_owned()
    }

    fn count(&self) -> u64 {
        // The trait has no error here. A run that begins on a wrong count ends in a conflict.
        let count = self.ask("count", Vec::new()).ok();
        count.and_then(|texts| texts.first()?.parse().ok()).unwrap_or_default()
    }

    fn lines(&self, from: u64) -> std::result::Result<Lines<'_>, JournalError> {
        Ok(Box::new(self.ask("lines", vec![from.to_string()])?.into_iter().map(Ok)))
    }

    fn append(&mut self, expected: u64, lines: &[String]) -> std::result::Result<(), JournalError> {
        let arguments = std::iter::once(expected.to_string()).chain(lines.iter().cloned()).collect();
        match self.ask("append", arguments)?.is_empty() {
            true => Err(JournalError::Conflict { journal: self.name(), lines: expected }),
            false => Ok(()),
        }
    }

    fn put(&mut self, blob: Blob, digest: &str, text: &str) -> std::result::Result<(), JournalError> {
        self.ask("put", vec![word(blob), digest.to_owned(), text.to_owned()]).map(drop)
    }

    fn get(&self, blob: Blob, digest: &str) -> std::result::Result<Option<String>, JournalError> {
        self.ask("get", vec![word(blob), digest.to_owned()]).map(|texts| texts.into_iter().next())
    }
}
