//! The command line with real processes, from the viewpoint of scripts, agents, servers and people at a terminal.

mod commands;
mod demo;
mod diff;
mod edited_profile;
mod export;
mod large_results;
mod mcp_files;
mod mistakes;
mod push;
mod release;
mod replay;
mod run;
mod runs;
mod secrets;
mod serve;
mod served;
mod servers;
mod stores;
mod terminal;
mod trace;
mod type_schemas;
mod types;
mod upgrade;
