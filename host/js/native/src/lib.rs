//! The native addon of the npm package: the gate of the Rust library, with its sandbox, and the command line. `host/js/src/native.ts`
//! calls it, and nothing else does.

#![cfg_attr(test, allow(dead_code, reason = "what Node calls is registered in no build for tests"))]

mod component;
mod error;
mod gate;
mod harness;
mod instance;
mod later;
mod options;
mod run;
mod session;
mod verdict;

use napi_derive::napi;

/// Runs the command line. The first argument is its name. Returns the exit status; where the arguments are invalid or
/// ask for help, the process ends here.
#[napi]
pub(crate) fn main(arguments: Vec<String>) -> u32 {
    u32::from(seamgate_cli::status(arguments.into_iter().map(Into::into)))
}

/// Returns the version of this addon.
#[napi]
pub(crate) fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
