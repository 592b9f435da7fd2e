//! Several processes: in parallel, and on one journal.

use std::fs;

use super::place::{Place, STAND_IN, done, until};

/// Two runs in one directory of journals do not affect each other.
#[test]
fn two_runs_in_one_directory_end_as_one_does() {
    let place = Place::with_stand_in("beside");
    let folders = ["a", "b"].map(|name| place.path("runs").join(name));
    fs::create_dir_all(place.path("runs")).expect("a folder");
    let both = folders.each_ref().map(|run| place.start_in(run, "delegate").spawn().expect("seamgate"));
    let documents = both.map(|agent| {
        let output = agent.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    });
    assert_eq!(documents[0], documents[1]);
    let runs = folders.map(|run| super::journal::Lines::read(&run).0.remove(0)["run"]["run"].clone());
    assert_ne!(runs[0], runs[1]);
}

/// The second process is rejected for every command, and changes nothing.
#[test]
fn a_second_process_on_a_journal_is_refused() {
    let place = Place::with_stand_in("second");
    let waits = ": >\"$SRE_HOME/begun\"; until [ -e \"$SRE_HOME/go\" ]; do sleep 0.02; done";
    place.restarts_by(&format!("{waits}; {STAND_IN}"));
    done(place.start("straight")).is(6);
    done(place.approve("anna", "")).is(0);
    let first = place.resume("").spawn().expect("seamgate");
    until("the restart", || place.home().join("begun").exists());

    let before = fs::read(place.run().join("journal.ndjson")).expect("the journal");
    done(place.resume("")).is(5).says("another process goes on with the run");
    done(place.start("straight")).is(2);
    assert_eq!(fs::read(place.run().join("journal.ndjson")).expect("the journal"), before);

    fs::write(place.home().join("go"), "").expect("a word");
    let output = first.wait_with_output().expect("its end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The run has ended: resuming it returns the same document.
    assert_eq!(done(place.resume("")).is(0).out.into_bytes(), output.stdout);
}
