//! The context that all runs of a process share.

use std::ffi::OsString;

use super::{model::Model, model_server::ModelServer, person::Person};
use crate::{
    error::{Error, Result, bail},
    process::Signals,
    run_dir::{ModelPlan, Plan, Profiles, Servers},
    variables::variables,
};

/// The context that all runs of a process share: profiles, servers, the model, and the person at the terminal.
pub struct Context {
    /// The profiles, registered in a gate.
    pub profiles: Profiles,
    /// The servers. They are terminated when this is dropped.
    pub servers: Servers,
    pub(super) model: Model,
    pub(super) signals: Signals,
    pub(super) person: Person,
}

impl Context {
    /// Reads the files that a plan names, and starts its servers. `principal` answers on the terminal.
    pub fn new(plan: &Plan, principal: String) -> Result<Self> {
        let mut servers = plan.servers.as_deref().map(Servers::read).transpose()?.unwrap_or_default();
        let signals = Signals::install()?;
        let (model, secret) = match &plan.model {
            ModelPlan::Command(words) => {
                let command = words.iter().map(OsString::from).collect();
                (Model::Command { command, folder: plan.folder.clone() }, Vec::new())
            }
            ModelPlan::Url { url, name, key_env, settings } => {
                let key = std::env::var(key_env).ok().filter(|key| !key.is_empty());
                let server = ModelServer::new(url, name, key, settings).map_err(Error::invalid)?;
                let named = settings.headers.values().flat_map(|value| variables(value));
                (Model::Server(server), std::iter::once(key_env.clone()).chain(named).collect())
            }
            ModelPlan::Client => bail!("the run is of 'seamgate mcp', and ends with it: it cannot be resumed"),
        };
        let profiles = Profiles::read(&plan.profiles)?;
        servers.read_secrets(&profiles.secrets())?;
        servers.start(profiles.environment(), &secret)?;
        Ok(Context { profiles, servers, model, signals, person: Person::new(principal) })
    }

    /// Returns whether a request to the model may still be in flight when its answer is no longer needed.
    pub fn is_slow_to_end(&self) -> bool {
        self.model.is_slow_to_end()
    }
}
