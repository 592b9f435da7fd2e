//! The client side of the Model Context Protocol.

mod client;
mod connection;
mod remote;

pub(crate) use self::remote::{Reach, Url, client_of, shown};
pub use self::{
    client::{CallResult, Client, ContentBlock, MAX_PAGES, MAX_TOOLS, START, ServerInfo, Unanswered},
    connection::{Connection, Input, Target},
    remote::{Endpoint, LoggedIn, Login, OAuth, Received, Remote, RemoteInput},
};
