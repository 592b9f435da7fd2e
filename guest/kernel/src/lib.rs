//! The harness kernel of seamgate: decides what an agent may do, with pure functions.
//!
//! This library has no I/O, clock or randomness: the same profile and the same facts produce the same decision,
//! natively and in the sandbox. Each module is one layer. The gate does not depend on this crate.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the words are documented once, in schemas/")]

mod above;
mod approval;
mod base64;
mod budget;
mod call;
mod cases;
mod counts;
mod covers;
mod cut;
mod decide;
mod decision;
mod definition;
mod digest;
mod document;
mod examples;
mod facts;
mod findings;
mod fitting;
mod flow;
mod known;
mod listing;
mod load;
mod mcp_result;
mod names;
mod observation;
mod observe;
mod observed;
mod origins;
mod pattern;
mod permit;
mod places;
mod profile;
mod project;
mod proof;
mod rate;
mod reached;
mod registry;
mod remembered;
mod render;
mod result;
mod run;
pub mod sanitize;
mod scope;
mod secret;
mod secret_text;
mod stored;
mod stores;
mod surface;
mod time;
mod tool;
mod truncate;
mod view;
mod wire;
mod words;

pub use decide::{advance, observe, permit, project, surface};
pub use profile::Profile;
pub use registry::{ProfileInfo, Registry};
pub use run::OpenRun;
