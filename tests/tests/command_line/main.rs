//! The command line with real processes: what scripts, agents, servers and people at a terminal see of it.

mod commands;
mod diff;
mod edited_profile;
mod mcp_files;
mod mistakes;
mod run;
mod servers;
mod terminal;
mod trace;
