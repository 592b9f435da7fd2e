//! Work of the library on a thread of Python: other threads continue, Ctrl-C ends it, and no thread waits for another
//! without a clock.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::fault;

/// The interval at which a waiting thread checks for Ctrl-C.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The events that may interrupt the work of a thread.
#[derive(Clone, Default)]
enum Ends {
    #[default]
    Nothing,
    /// A signal whose handler raises an exception.
    Signals,
    /// Another thread, which sets this flag.
    Flag(Arc<AtomicBool>),
}

thread_local! {
    static ENDS: RefCell<Ends> = const { RefCell::new(Ends::Nothing) };
    /// The exception that a signal handler raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// `true` if this is the thread whose signals Python handles; `None` while that is unknown.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Sets what may interrupt the work of this thread, until it is dropped.
struct Ending(Ends);

impl Ending {
    fn by(ends: Ends) -> Self {
        // A handler of a signal may call the library again.
        Ending(ENDS.replace(ends))
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        ENDS.set(std::mem::take(&mut self.0));
    }
}

/// Has the library ask this module whether a call is to end early.
pub(crate) fn install() {
    seamgate::interrupt_when(is_interrupted);
}

fn is_interrupted() -> bool {
    match ENDS.with_borrow(Ends::clone) {
        Ends::Nothing => false,
        Ends::Flag(flag) => flag.load(Ordering::Relaxed),
        Ends::Signals if IS_MAIN.get() == Some(false) => false,
        Ends::Signals => Python::attach(|py| {
            if IS_MAIN.get().is_none() {
                // Where Python cannot say it, it is asked for signals: it does nothing on other threads.
                IS_MAIN.set(Some(is_main_thread(py).unwrap_or(true)));
            }
            match py.check_signals() {
                Ok(()) => false,
                Err(error) => {
                    RAISED.set(Some(error));
                    true
                }
            }
        }),
    }
}

fn is_main_thread(py: Python) -> PyResult<bool> {
    let threading = py.import("threading")?;
    Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
}

/// Runs work that needs no Python while other threads of Python continue.
///
/// # Errors
///
/// Returns the exception that the handler of a signal raised meanwhile: `KeyboardInterrupt` for Ctrl-C.
pub(crate) fn detached<T: Send>(py: Python, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let made = py.detach(|| {
        let _ending = Ending::by(Ends::Signals);
        work()
    });
    match RAISED.take() {
        Some(error) => Err(error),
        None => Ok(made),
    }
}

/// Does the same for work that may end in a fault, which is raised.
pub(crate) fn apart<T: Send>(py: Python, work: impl FnOnce() -> Result<T, seamgate::Fault> + Send) -> PyResult<T> {
    detached(py, work)?.map_err(|fault| fault::raised(&fault))
}

/// Runs work on a thread that Python does not know. It ends early when the flag is set.
pub(crate) fn until<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let _ending = Ending::by(Ends::Flag(Arc::clone(flag)));
    work()
}

/// A value that threads use in turn.
pub(crate) struct Turns<T> {
    /// The name of the value, for messages.
    name: &'static str,
    /// The longest time that a thread waits for its turn.
    most: Duration,
    line: Mutex<Line>,
    over: Condvar,
    /// Locked only by that thread.
    value: Mutex<T>,
}

/// The threads that use a value or wait for it.
#[derive(Default)]
struct Line {
    /// The thread whose turn it is.
    user: Option<ThreadId>,
    /// The number of threads that wait for their turn.
    waiting: usize,
}

/// Ends a turn when it is dropped.
struct Turn<'t, T>(&'t Turns<T>);

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        line.user = None;
        let is_awaited = line.waiting > 0;
        drop(line);
        // A system call, also where no thread waits.
        if is_awaited {
            self.0.over.notify_one();
        }
    }
}

/// The reason why a thread has no turn.
enum NoTurn {
    /// It has one already, and was called back.
    Again,
    /// Another thread's turn took too long.
    Waited,
}

impl<T> Turns<T> {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> Turns<T> {
    pub(crate) fn new(name: &'static str, most: Duration, value: T) -> Self {
        Turns { name, most, line: Mutex::default(), over: Condvar::new(), value: Mutex::new(value) }
    }

    /// Runs work with the value, when it is this thread's turn.
    ///
    /// # Errors
    ///
    /// The fault `busy` if other threads use it for too long; `RuntimeError` if this thread is using it already; or what the
    /// handler of a signal raised.
    pub(crate) fn with<R: Send>(&self, py: Python, work: impl FnOnce(&mut T) -> R + Send) -> PyResult<R> {
        let made = detached(py, || {
            let _turn = self.turn()?;
            Ok(work(&mut self.value.lock().unwrap_or_else(PoisonError::into_inner)))
        })?;
        made.map_err(|none| match none {
            NoTurn::Again => {
                PyRuntimeError::new_err(format!("the {} is at work: it cannot be called from inside", self.name))
            }
            NoTurn::Waited => fault::busy(&format!(
                "another thread has used the {} for {} ms: give each thread its own",
                self.name,
                self.most.as_millis()
            )),
        })
    }

    /// Does the same for work that may end in a fault, which is raised.
    pub(crate) fn apart<R: Send>(
        &self,
        py: Python,
        work: impl FnOnce(&mut T) -> Result<R, seamgate::Fault> + Send,
    ) -> PyResult<R> {
        self.with(py, work)?.map_err(|fault| fault::raised(&fault))
    }

    fn turn(&self) -> Result<Turn<'_, T>, NoTurn> {
        let me = thread::current().id();
        let mut line = self.line();
        if line.user.is_some() {
            line = self.wait(line, me)?;
        }
        line.user = Some(me);
        Ok(Turn(self))
    }

    /// Waits until no thread has its turn.
    fn wait<'t>(&'t self, mut line: MutexGuard<'t, Line>, me: ThreadId) -> Result<MutexGuard<'t, Line>, NoTurn> {
        let begin = Instant::now();
        while let Some(other) = line.user {
            if other == me {
                return Err(NoTurn::Again);
            }
            let left = self.most.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Err(NoTurn::Waited);
            }
            line.waiting += 1;
            let (again, waited) = self.over.wait_timeout(line, left.min(LOOK)).unwrap_or_else(PoisonError::into_inner);
            line = again;
            line.waiting -= 1;
            if waited.timed_out() {
                // Without the lock: another thread may need it to give Python back.
                drop(line);
                if is_interrupted() {
                    // What was raised takes the place of this.
                    return Err(NoTurn::Waited);
                }
                line = self.line();
            }
        }
        Ok(line)
    }
}
