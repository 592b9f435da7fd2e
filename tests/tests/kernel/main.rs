//! Native tests of the kernel: the permitted actions of agents in any order of events, and the text that models may
//! read.

mod cases;
mod children;
mod clean;
mod covers;
mod defaults;
mod equal;
mod media;
mod model;
mod odd_definitions;
mod origins;
mod patterns;
mod permits;
mod polls;
mod private;
mod rates;
mod search;
mod secrets;
mod stores;
mod truncation;
