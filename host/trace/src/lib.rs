//! Shows a run of an agent, using only its folder: the journal, the artifacts, and the folders of its children.
//!
//! [`write_text`] writes a run for a terminal, [`html()`] renders it as a page for a browser, and [`otlp()`] converts
//! it to the JSON that collectors of OpenTelemetry read. [`why()`] follows a claim of the final document back to the
//! observations that it cites, and to the results, calls, permissions and prompts behind them.
//!
//! [`replay()`] plays a run again under another profile, and compares the decisions about its calls.
//!
//! [`find_runs`] finds the runs in a folder, and [`facts()`] returns the progress and the size of each. [`calls()`]
//! lists the calls of a run with their outcomes, and [`rows()`] returns them as rows of a table.
//!
//! A damaged journal is not an error: everything before the damage is shown, and the [`Rendering`] lists the faults.
//!
//! ```no_run
//! use std::path::Path;
//!
//! let folder = Path::new("runs/r1");
//! let page = seamgate_trace::html(folder, None)?;
//! std::fs::write("trace.html", &page.text)?;
//! for fault in &page.faults {
//!     eprintln!("{fault}");
//! }
//!
//! let chain = seamgate_trace::why(folder, "the disk was full", None)?;
//! println!("{}", chain.text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attempts;
mod calls;
mod child;
mod claims;
mod client;
mod error;
mod facts;
mod find;
mod format;
mod html;
mod otlp;
mod profile;
mod rendering;
mod replay;
mod rows;
mod runs;
mod steps;
mod terminal;
mod text;
mod why;

pub use calls::{CallOutcome, calls};
pub use error::TraceError;
pub use facts::{RunFacts, RunSize, RunState, facts};
pub use find::{FoundRuns, find_runs};
pub use format::when;
pub use html::html;
pub use otlp::otlp;
pub use profile::{ENDED_PLAN, PLAN};
pub use rendering::Rendering;
pub use replay::{NotReplayed, Replay, ReplayedCall, replay};
pub use rows::{CallRow, rows};
pub use runs::{JOURNAL, PRUNED, has_journal, runs_in};
pub use terminal::write_text;
pub use why::{Chain, why};
