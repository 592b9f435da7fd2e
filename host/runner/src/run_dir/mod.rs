//! The folder of a run, besides its journal: the plan to continue the run, the lock of its process, and how its tools
//! are reached.

mod approval_token;
mod lock;
mod plan;
mod profile_copy;
mod profiles;
mod program_text;
mod servers;
mod signing;
mod ssh_agent;
mod ssh_wire;
mod stores;

pub use self::{
    approval_token::{Claims, MAX_TOKEN, verify},
    lock::Lock,
    plan::{ModelPlan, ModelSettings, Plan},
    profile_copy::ProfileCopy,
    profiles::{Pinned, Profiles, Registered},
    servers::{Command, Server, Servers},
    signing::{Decision, SigningKey, public_key},
    stores::Stores,
};
