//! Derives the steps of a run again, for readers who do not trust the journal's writer.

use super::{
    About, EventLine, Gate, Journal, JournalError, Line, Now, Run, StepError, difference,
    journal::{Checked, restore},
    step::Written,
};

/// Derives the steps of a run again from its events. The caller supplies the lines, and has checked that each follows
/// the line before it. Artifacts, and event lines that contain them, are read from the journal. Prompts are derived,
/// and may be missing.
pub struct Derivation<'g, J> {
    run: Run<'g, J>,
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
        about.has_profile_of(gate, &name)?;
        Ok(Derivation {
            run: Run { kernel: gate, journal, about, chain: checked.chain, now: Now::default(), change: None },
        })
    }

    /// Derives the next step from its first line, and compares all its lines.
    ///
    /// # Errors
    ///
    /// The first line that differs, or the reason why the event cannot be taken. The steps after it cannot be derived.
    pub fn step(&mut self, lines: &[String]) -> Result<(), NotDerived> {
        let run = &mut self.run;
        let name = run.journal.name();
        let first = lines.first().map(String::as_str).unwrap_or_default();
        let mut chain = run.chain.clone();
        let value = match Checked::from(chain.clone()).take(&name, first, || None).map_err(StepError::from)? {
            Line::Event(value) => value,
            _ => return Err(StepError::from(run.wrong(chain.n, "a step begins with an event".to_owned())).into()),
        };
        let restored = restore(value, |digest| run.artifact(digest)).map_err(StepError::from)?;
        let event = EventLine::of(restored);
        let step = run.advance(&run.now, &event)?;
        let at = chain.n;
        let Written { lines: derived, .. } = step.write(&event, &mut chain);
        if let Some(place) = difference::first(&derived, lines) {
            let of = |lines: &[String]| lines.get(place).cloned().unwrap_or_default();
            return Err(NotDerived::Differs { line: at + place as u64, recorded: of(lines), derived: of(&derived) });
        }
        run.chain = chain;
        run.now = Now { step: step.number, state: step.state, wake_at: step.wake_at, records: Vec::new() };
        Ok(())
    }

    /// Returns the number of steps that were derived.
    pub fn steps(&self) -> u64 {
        self.run.now.step
    }
}
