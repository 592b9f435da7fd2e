//! Remote MCP servers: sessions, requests without a session, connections that break, and logins.

mod client;
mod login;
mod server;
mod session;
mod stateless;
mod trouble;
