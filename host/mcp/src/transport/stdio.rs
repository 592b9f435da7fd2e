//! A gate for the client at standard input and output.

use std::{io, path::PathBuf, sync::mpsc::SyncSender, thread};

use seamgate_runner::{
    Error, Result,
    process::{LineWriter, Signals, read_lines},
};

use crate::{
    core::End,
    driver::{Downstream, Happened},
    session,
    setting::Setting,
};

/// Serves the client at standard input and output. `kept` receives the folder of the run, if the folder stays.
pub fn serve(setting: &Setting, signals: &Signals, kept: &mut Option<PathBuf>) -> Result<End> {
    let client = client().map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))?;
    session::serve(setting, client, signals, kept)
}

fn client() -> io::Result<Downstream> {
    let writer = LineWriter::start(io::stdout())?;
    let listen = |sender: SyncSender<Happened>| {
        let read = move || read_lines(io::stdin(), |wrote| sender.send(Happened::Client(wrote, None)).is_ok());
        let spawned = thread::Builder::new().spawn(read);
        spawned.map(drop).map_err(|error| Error::caused("cannot start a thread", error))
    };
    Ok(Downstream { writer, listen: Box::new(listen) })
}
