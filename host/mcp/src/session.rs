//! A session: one client, with its own servers and runs.

use std::path::PathBuf;

use seamgate_runner::{Result, process::Signals, run_dir::Plan};

use crate::{
    core::End,
    driver::{Downstream, Driver},
    setting::Setting,
};

/// Serves one client. `kept` receives the folder of the last run, if the folder stays.
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
    // The run has ended, so approvals no longer have an effect.
    Plan::put_aside(&folder);
    *kept = setting.journal.is_some().then_some(folder);
    end
}
