//! Serves a folder of runs to people and to Prometheus, on this machine: a page with the runs and the calls that wait
//! for approval, and metrics about the decisions of the runs.
//!
//! Everything is read from the journals. So the runs need no changes, the metrics agree with the journals, and
//! short-lived commands, such as hooks, are counted too.

mod follow;
mod metrics;
mod otlp;
mod push;
mod runs;
mod site;

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use seamgate_http::Guard;
use seamgate_runner::{Error, Result, process::Signals};
use seamgate_text::{is_log_json, say, warn};

use self::{push::Push, runs::Runs, site::Site};
pub use push::Outbound;

/// Serves a folder of runs until a signal comes, and returns the signal. `variable` is the environment variable with
/// the token that clients must send. `None` for a new token, which is printed once. `outbound` names servers that
/// receive metrics, traces and notices.
///
/// # Errors
///
/// The server cannot listen at the address, a variable has no valid token or secret, the folder cannot be read, or the
/// address of another server is invalid.
pub fn serve(
    folder: &Path,
    address: SocketAddr,
    variable: Option<&str>,
    outbound: &Outbound,
    signals: &Signals,
) -> Result<i32> {
    std::fs::read_dir(folder).map_err(|error| Error::caused(format!("--runs {}", folder.display()), error))?;
    let failed = |error| Error::NoVerdict(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (guard, new) = Guard::new(address.port(), variable)?;
    let push = Push::new(outbound, format!("http://{address}/"))?;
    match new {
        // Logs are kept, and whoever reads them must not learn the token.
        Some(_) if is_log_json() => {
            say(&format!("seamgate: serves http://{address}/"));
            warn("seamgate: a new token is not written to a log: name a variable with --token-env");
        }
        // A browser never sends the part after #.
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
    let runs = Arc::new(Mutex::new(Runs::new(folder)));
    push.start(&runs, folder)?;
    let site = Site { guard, runs };
    thread::Builder::new()
        .spawn(move || seamgate_http::serve(&listener, site))
        .map_err(|error| Error::NoVerdict(format!("cannot start a thread: {error}")))?;
    signalled.recv().map_err(|_| Error::NoVerdict("signals cannot be waited for".to_owned()))
}
