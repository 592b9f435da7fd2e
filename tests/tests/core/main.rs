//! Native tests of the core. They generate contracts and outputs, and compare the results with models and with other
//! programs.

mod accounting;
mod allow_lists;
mod claims;
mod computed;
mod extraction;
mod feedback;
mod finish;
mod keywords;
mod merging;
mod numbers;
mod patterns;
mod peers;
mod recovery;
mod repairs;
mod undecided;
