//! The interfaces of `seamgate:harness`: converts kernel types to WIT types.

use std::cell::RefCell;

use seamgate_exports::{
    bindings::exports::seamgate::{
        harness::{kernel, profiles},
        validator::types,
    },
    convert,
};
use seamgate_kernel::{OpenRun, Registry};
use seamgate_memory::{lasting, one_call};

use super::{Harness, PROFILES};

impl profiles::Guest for Harness {
    fn register(profile: String) -> Result<String, types::Fault> {
        let info = PROFILES.with_borrow_mut(|profiles| profiles.register(&profile));
        info.map(|info| info.to_json()).map_err(convert::fault)
    }

    fn has(agent: String) -> bool {
        PROFILES.with_borrow(|profiles| profiles.has(&agent))
    }

    fn names() -> Vec<String> {
        PROFILES.with_borrow(Registry::names)
    }

    fn profile(agent: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.profile(&agent)).map(|info| info.to_json()).map_err(convert::fault)
    }

    fn describe(agent: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.describe(&agent)).map_err(convert::fault)
    }

    fn lint(profile: String) -> Result<Vec<types::Warning>, types::Fault> {
        let warnings = PROFILES.with_borrow(|profiles| profiles.lint(&profile)).map_err(convert::fault)?;
        Ok(warnings.into_iter().map(convert::warning).collect())
    }
}

impl kernel::Guest for Harness {
    fn surface(agent: String, facts: String, listed: Option<String>) -> Result<String, types::Fault> {
        one_call(|| {
            PROFILES.with_borrow(|profiles| profiles.surface(&agent, &facts, listed.as_deref())).map_err(convert::fault)
        })
    }

    fn permit(agent: String, facts: String, call: String) -> Result<String, types::Fault> {
        one_call(|| PROFILES.with_borrow(|profiles| profiles.permit(&agent, &facts, &call)).map_err(convert::fault))
    }

    fn observe(agent: String, facts: String, call: String, outcome: String) -> Result<String, types::Fault> {
        one_call(|| {
            PROFILES.with_borrow(|profiles| profiles.observe(&agent, &facts, &call, &outcome)).map_err(convert::fault)
        })
    }

    fn advance(agent: String, state: Option<String>, event: String) -> Result<String, types::Fault> {
        one_call(|| {
            PROFILES.with_borrow(|profiles| profiles.advance(&agent, state.as_deref(), &event)).map_err(convert::fault)
        })
    }

    fn project(agent: String, line: String, audience: String) -> Result<String, types::Fault> {
        one_call(|| PROFILES.with_borrow(|profiles| profiles.project(&agent, &line, &audience)).map_err(convert::fault))
    }

    type Run = Run;
}

/// A run. Its state outlasts the calls that advance it.
pub(crate) struct Run(RefCell<OpenRun>);

impl kernel::GuestRun for Run {
    fn open(agent: String, state: Option<String>) -> Result<kernel::Run, types::Fault> {
        let run = lasting(|| {
            let run = PROFILES.with_borrow(|profiles| profiles.open_run(&agent, state.as_deref()));
            run.map(|run| kernel::Run::new(Run(RefCell::new(run))))
        });
        run.map_err(convert::fault)
    }

    fn advance(&self, event: String) -> Result<String, types::Fault> {
        let advance = || PROFILES.with_borrow(|profiles| profiles.advance_run(&mut self.0.borrow_mut(), &event));
        one_call(|| lasting(advance).map_err(convert::fault))
    }

    fn state(&self) -> Option<String> {
        self.0.borrow().state()
    }
}
