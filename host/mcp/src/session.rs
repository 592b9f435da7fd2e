//! A session: one client, with servers and runs of its own.

use std::path::PathBuf;

use seamgate_runner::{Result, process::Signals, run_dir::Plan};

use crate::{
    core::End,
    driver::{Downstream, Driver},
    setting::Setting,
};

/// Serves one client. `kept` gets the folder of the last run, if it stays.
pub(crate) fn serve(
    setting: &Setting,
    client: Downstream,
    signals: &Signals,
    kept: &mut Option<PathBuf>,
) -> Result<End> {
    let folders = setting.folders()?;
    let Downstream { writer, listen } = client;
    let mut driver = Driver::start(setting, &folders, writer)?;
    let end = driver.serve(listen, signals);
    let folder = driver.folder().to_owned();
    drop(driver);
    // The run has ended, so approvals have no effect any more.
    Plan::put_aside(&folder);
    *kept = setting.journal.is_some().then_some(folder);
    end
}
