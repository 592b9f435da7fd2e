//! Derives the steps of a run again, for readers who do not trust the journal's writer.

use super::{
    About, CHANGED_CHANGE, Change, EventLine, Gate, Journal, JournalError, Kernel, Line, Now, Run, StepError,
    difference,
    journal::{Checked, restore},
    step::Written,
    version_of, with_version,
};
use crate::digest::digest;

/// Derives the steps of a run again from its events. The caller supplies the lines, and has checked that each follows
/// the line before it. Artifacts, and event lines that contain them, are read from the journal. Prompts are derived,
/// and may be missing.
///
/// A run can continue under another component. Then the gate's component must derive the steps of each component with
/// the same lines, except for the version of the kernel that states name.
pub struct Derivation<'g, J> {
    run: Run<'g, J>,
    /// The number of the line that names the run's present component.
    named_at: u64,
}

/// The reason why a step cannot be derived again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotDerived {
    /// The event leads to a result other than the recorded lines.
    #[error("line {line} does not follow from the events: it is {recorded}, and {derived} follows")]
    Differs {
        /// The number of the first line that differs.
        line: u64,
        /// The recorded line. Empty if there is none.
        recorded: String,
        /// The line that follows from the events. Empty if there is none.
        derived: String,
    },
    /// A line names the gate's component with another version of the kernel.
    #[error("it names {} of the kernel, and its component has {own}", named.as_deref().unwrap_or("no version"))]
    Version {
        /// The number of the line.
        line: u64,
        /// The version that it names.
        named: Option<String>,
        /// The version in the states of the component.
        own: String,
    },
    /// The kernel does not accept the event, or an artifact is missing or changed.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl<'g, J: Journal> Derivation<'g, J> {
    /// Begins with the first line of a run.
    ///
    /// # Errors
    ///
    /// The line does not describe a run, or the gate has no profile with the digest in the line. The component may
    /// differ.
    pub fn begin(gate: &'g Gate, journal: J, first: &str) -> Result<Self, StepError> {
        Derivation::begin_on(gate, journal, first)
    }

    pub(super) fn begin_on(kernel: &'g dyn Kernel, journal: J, first: &str) -> Result<Self, StepError> {
        let name = journal.name();
        let mut checked = Checked::default();
        let Line::Run(value) = checked.take(&name, first, || None)? else {
            return Err(JournalError::NotAJournal { journal: name, message: "it describes no run".to_owned() }.into());
        };
        let about = About::read(value).ok_or_else(|| JournalError::Line {
            journal: name.clone(),
            line: 0,
            message: "it is changed: it names no run".to_owned(),
        })?;
        about.has_profile_of(kernel, &name)?;
        let run = Run { kernel, journal, about, chain: checked.chain, now: Now::default(), change: None };
        Ok(Derivation { run, named_at: 0 })
    }

    /// Derives the next step from its event, and compares all its lines. A change of the component can be before the
    /// event.
    ///
    /// # Errors
    ///
    /// The first line that differs, or the reason why the event cannot be taken. The steps after it cannot be derived.
    pub fn step<'l>(&mut self, lines: &'l [String]) -> Result<(), NotDerived> {
        let run = &mut self.run;
        let name = run.journal.name();
        let (mut chain, mut about, mut named_at) = (run.chain.clone(), run.about.clone(), self.named_at);
        let mut lines = lines;
        let first_of = |lines: &'l [String]| lines.first().map(String::as_str).unwrap_or_default();
        let mut checked = Checked::from(chain.clone());
        let mut first = checked.take(&name, first_of(lines), || None).map_err(StepError::from)?;
        if let Line::Component(value) = first {
            let change = Change::read(value).filter(|change| change.from == about.component);
            about.take(change.ok_or_else(|| StepError::from(run.wrong(chain.n, CHANGED_CHANGE.to_owned())))?);
            (named_at, chain, lines) = (chain.n, checked.chain.clone(), &lines[1..]);
            first = checked.take(&name, first_of(lines), || None).map_err(StepError::from)?;
        }
        let Line::Event(value) = first else {
            return Err(StepError::from(run.wrong(chain.n, "a step begins with an event".to_owned())).into());
        };
        let restored = restore(value, |digest| run.artifact(digest)).map_err(StepError::from)?;
        let event = EventLine::of(restored);
        let mut step = run.advance(&run.now, &event)?;
        let own = version_of(&step.state);
        if about.component != run.kernel.component() {
            if let Some(state) = with_version(&step.state, own.as_ref(), about.version.as_ref()) {
                step.digest = digest(state.as_bytes());
            }
        } else if let Some(own) = own.filter(|own| about.version.as_ref() != Some(own)) {
            return Err(NotDerived::Version { line: named_at, named: about.version, own });
        }
        let at = chain.n;
        let Written { lines: derived, .. } = step.write(&event, &mut chain);
        if let Some(place) = difference::first(&derived, lines) {
            let of = |lines: &[String]| lines.get(place).cloned().unwrap_or_default();
            return Err(NotDerived::Differs { line: at + place as u64, recorded: of(lines), derived: of(&derived) });
        }
        run.now = Now { step: step.number, state: step.state, wake_at: step.wake_at, records: Vec::new() };
        (run.chain, run.about, self.named_at) = (chain, about, named_at);
        Ok(())
    }

    /// Returns the number of steps that were derived.
    pub fn steps(&self) -> u64 {
        self.run.now.step
    }
}
