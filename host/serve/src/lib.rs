//! Serves a folder of runs to people and to Prometheus, on this machine: a page with the runs and the calls that wait for
//! approval, and metrics of what the runs decided.
//!
//! All is read from the journals. So the runs do nothing for it, the metrics are what the journals say, and commands that end soon,
//! such as hooks, are counted too.

mod follow;
mod metrics;
mod runs;
mod site;

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::{Mutex, mpsc},
    thread,
};

use seamgate_http::Guard;
use seamgate_runner::{Error, Result, process::Signals};
use seamgate_text::{is_log_json, say, warn};

use self::{runs::Runs, site::Site};

/// Serves a folder of runs until a signal comes, and returns that. `variable` is the environment variable with the token that
/// clients must send. `None`: a new token, which is said once.
///
/// # Errors
///
/// The address cannot be listened at, the variable has no such token, or the folder cannot be read.
pub fn serve(folder: &Path, address: SocketAddr, variable: Option<&str>, signals: &Signals) -> Result<i32> {
    std::fs::read_dir(folder).map_err(|error| Error::caused(format!("--runs {}", folder.display()), error))?;
    let failed = |error| Error::NoVerdict(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (guard, new) = Guard::new(address.port(), variable)?;
    match new {
        // A log is kept, and a token is not for whoever reads it.
        Some(_) if is_log_json() => {
            say(&format!("seamgate: serves http://{address}/"));
            warn("seamgate: a new token is not written to a log: name a variable with --token-env");
        }
        // What stands behind # is never sent.
        Some(token) => {
            say(&format!("seamgate: serves http://{address}/#{token}"));
            say(&format!("seamgate: programs must send this header: Authorization: Bearer {token}"));
        }
        None => {
            let name = variable.unwrap_or_default();
            say(&format!("seamgate: serves http://{address}/"));
            say(&format!("seamgate: the page asks for the token of {name}; programs send it: Authorization: Bearer"));
        }
    }
    let (sender, signalled) = mpsc::channel();
    let _listening = signals.listen(move |signal| sender.send(signal).is_ok());
    let site = Site { guard, runs: Mutex::new(Runs::new(folder)) };
    thread::Builder::new()
        .spawn(move || seamgate_http::serve(&listener, site))
        .map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))?;
    signalled.recv().map_err(|_| Error::NoVerdict("signals cannot be waited for".to_owned()))
}
