//! `seamgate`: checks the output of an agent before strict code reads it.

use std::process::ExitCode;

fn main() -> ExitCode {
    seamgate_cli::main(std::env::args_os())
}
