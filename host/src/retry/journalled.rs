//! Attempts that are recorded in a journal before the run continues.

use std::{error::Error, time::Instant};

use super::{
    Attempts, Next, Outcome, Produced, RunError,
    journal::{Identity, OpenJournal},
    settings::{RetryJournal, RetryNotice},
};
use crate::{digest::digest, gate::verdict::Verdict, json::json};

/// The attempts of one run, each recorded in a journal before the run continues. [`Attempts::journalled`] has an example.
///
/// If it was converted from [`Attempts`] with `From`, it records nothing.
pub struct JournalledAttempts<'g> {
    attempts: Attempts<'g>,
    journal: Option<OpenJournal>,
    /// The time of the last request to the producer.
    asked: Instant,
}

impl<'g> From<Attempts<'g>> for JournalledAttempts<'g> {
    fn from(attempts: Attempts<'g>) -> Self {
        JournalledAttempts { attempts, journal: None, asked: Instant::now() }
    }
}

impl<'g> Attempts<'g> {
    /// Records these attempts in a journal. If the journal is to be resumed, the attempts of its last run are not
    /// repeated: their verdicts are checked again, and their outputs are not requested again.
    ///
    /// ```
    /// use seamgate::{Gate, Next, Produced, Request, RetryJournal, Stop};
    ///
    /// let mut gate = Gate::new()?;
    /// gate.register(r#"{"agent": "counter", "schema": {"type": "integer"}}"#)?;
    /// let request = Request::new("counter", "");
    /// # let folder = std::env::temp_dir().join(format!("seamgate-journalled-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let file = folder.join("journal.ndjson");
    /// let journal = RetryJournal::new(&file).producer(["a model"]).prompt("Count to four.").resume(true);
    ///
    /// // The process stops after one attempt.
    /// let mut attempts = gate.attempts(&request)?.journalled(&journal)?;
    /// assert_eq!(attempts.next_step()?, Next::Ask(None));
    /// attempts.judge(&Produced::from("four"))?;
    /// drop(attempts);
    ///
    /// // The next process continues with the second one.
    /// let mut attempts = gate.attempts(&request)?.journalled(&journal)?;
    /// assert_eq!(attempts.attempts().count(), 1);
    /// let outcome = attempts.retry(|_feedback| Ok::<_, std::io::Error>(Produced::from("4")))?;
    /// assert_eq!((outcome.stop, outcome.attempts), (Stop::Accepted, 2));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Journal`] if the journal cannot be read or written, or holds another run; [`RunError::Fault`] if the journal
    /// holds an invalid output.
    pub fn journalled(mut self, journal: &RetryJournal) -> Result<JournalledAttempts<'g>, RunError> {
        let identity = Identity {
            agent: self.contract.agent.clone(),
            contract: self.contract.contract.clone(),
            component: self.gate.component().digest().to_owned(),
            command: journal.producer.clone(),
            prompt: digest(&journal.prompt),
            lists: digest(json(&self.lists()).as_bytes()),
            evidence: self.evidence().map(|evidence| digest(json(&evidence).as_bytes())),
        };
        let (opened, reports) = OpenJournal::open(journal, &identity)?;
        if !reports.is_empty() {
            let (path, attempts, most) = (journal.path.clone(), reports.len(), self.most());
            journal.notify(&RetryNotice::Resumed { path, attempts, most });
        }
        for report in reports {
            self.replay(report)?;
        }
        Ok(JournalledAttempts { attempts: self, journal: Some(opened), asked: Instant::now() })
    }
}

impl JournalledAttempts<'_> {
    /// Returns the attempts so far.
    pub fn attempts(&self) -> &Attempts<'_> {
        &self.attempts
    }

    /// Returns the next step, after recording it: the decision on the last attempt, and the start of the next one. After
    /// [`Next::Stop`] the journal is closed, and other runs may write to it.
    ///
    /// # Errors
    ///
    /// [`RunError::Journal`] if the journal cannot be written.
    pub fn next_step(&mut self) -> Result<Next, RunError> {
        let count = self.attempts.count();
        let next = self.attempts.next();
        if let Some(journal) = &mut self.journal {
            let (decision, status) = match &next {
                Next::Ask(_) => ("ask_again", None),
                Next::Stop(stop) => (stop.as_str(), Some(self.attempts.exit_status(*stop))),
            };
            if count > 0 {
                journal.decided(count, decision, status)?;
            }
            match &next {
                Next::Ask(_) => journal.start(count.saturating_add(1))?,
                Next::Stop(_) => self.journal = None,
            }
        }
        self.asked = Instant::now();
        Ok(next)
    }

    /// Judges the next output, and records the verdict, which is on that output alone.
    ///
    /// # Errors
    ///
    /// The faults of [`Gate::validate`](crate::Gate::validate), or [`RunError::Journal`] if the journal cannot be written.
    /// After an error nothing more is recorded.
    pub fn judge(&mut self, produced: &Produced) -> Result<Verdict, RunError> {
        let elapsed = self.asked.elapsed();
        let judged = self.attempts.judge(produced);
        let count = self.attempts.count();
        if let Some(mut journal) = self.journal.take() {
            match &judged {
                Ok(verdict) => {
                    journal.judged(count, produced, elapsed, verdict)?;
                    self.journal = Some(journal);
                }
                Err(fault) => {
                    journal.failed(count + 1, &produced.output, elapsed, (Some(0), &fault.to_string()))?;
                }
            }
        }
        Ok(judged?)
    }

    /// Records that the producer failed: the reason, its output until then, and its exit status if it is a program that
    /// exited. The run then ends, and can be resumed.
    ///
    /// # Errors
    ///
    /// [`RunError::Journal`] if the journal cannot be written.
    pub fn failed(&mut self, message: &str, output: &[u8], exit: Option<i32>) -> Result<(), RunError> {
        let recorded = self.failed_for_now(message, output, exit);
        self.journal = None;
        recorded
    }

    /// Records that the producer failed, as [`failed`](Self::failed) does, but continues the run: the next step asks
    /// for the same attempt again.
    ///
    /// # Errors
    ///
    /// [`RunError::Journal`] if the journal cannot be written. After an error nothing more is recorded.
    pub fn failed_for_now(&mut self, message: &str, output: &[u8], exit: Option<i32>) -> Result<(), RunError> {
        let elapsed = self.asked.elapsed();
        let attempt = self.attempts.count().saturating_add(1);
        if let Some(mut journal) = self.journal.take() {
            journal.failed(attempt, output, elapsed, (exit, message))?;
            self.journal = Some(journal);
        }
        Ok(())
    }

    /// Asks a producer until its output is accepted or there is a reason to stop. Does the same as
    /// [`Gate::retry`](crate::Gate::retry) with these attempts, and records each step.
    ///
    /// # Errors
    ///
    /// A fault, an error of the journal, or the error that `produce` returned. In the last case, the journal holds the
    /// reason.
    pub fn retry<E>(
        &mut self,
        mut produce: impl FnMut(Option<&str>) -> Result<Produced, E>,
    ) -> Result<Outcome, RunError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        loop {
            let feedback = match (self.next_step()?, self.attempts.report()) {
                (Next::Stop(stop), Some(report)) => {
                    return Ok(Outcome { report: report.clone(), attempts: self.attempts.count(), stop });
                }
                (Next::Ask(feedback), _) => feedback,
                (Next::Stop(_), None) => None,
            };
            match produce(feedback.as_deref()) {
                Ok(produced) => drop(self.judge(&produced)?),
                Err(error) => {
                    let error = error.into();
                    self.failed(&error.to_string(), b"", None)?;
                    return Err(RunError::Producer(error));
                }
            }
        }
    }
}
