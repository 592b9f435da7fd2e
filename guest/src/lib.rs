//! The seamgate component: [`seamgate_core`] and [`seamgate_kernel`] behind the WIT world `seamgate:harness/harness`.
//!
//! Nothing is decided here: words of WIT are turned into words of the core, and back.
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
mod abi;
#[cfg(target_arch = "wasm32")]
mod allocator;
mod convert;
#[cfg(target_arch = "wasm32")]
mod random;

use std::cell::RefCell;

use seamgate_core as core;
use seamgate_kernel as harness;

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wit_bindgen::generate!({ path: ["../wit", "../wit/harness"], world: "seamgate:harness/harness" });
}

use bindings::exports::seamgate::{
    harness::{kernel, profiles},
    validator::{merge, registry, stream, types, validate, wire},
};

thread_local! {
    // An instance has one thread, and lives as long as its contracts are wanted.
    static REGISTRY: RefCell<core::Registry> = const { RefCell::new(core::Registry::keeping(keep)) };
    static PROFILES: RefCell<harness::Registry> = const { RefCell::new(harness::Registry::keeping(keep)) };
}

#[cfg(target_arch = "wasm32")]
use allocator::lasting;

/// Elsewhere the system's allocator does it all.
#[cfg(not(target_arch = "wasm32"))]
fn lasting<T>(run: impl FnOnce() -> T) -> T {
    run()
}

fn keep(run: &mut dyn FnMut()) {
    lasting(run);
}

struct Validator;

bindings::export!(Validator with_types_in bindings);

impl validate::Guest for Validator {
    fn validate(request: types::Request) -> Result<types::Report, types::Fault> {
        let request = convert::request(&request);
        let verdict = REGISTRY.with_borrow(|registry| registry.validate(&request));
        verdict.map(convert::report).map_err(convert::fault)
    }

    fn validate_with(contract: String, request: types::Request) -> Result<types::Report, types::Fault> {
        let verdict = core::Contract::compile(&contract)
            .and_then(|contract| core::validate(&contract, &convert::request(&request)));
        verdict.map(convert::report).map_err(convert::fault)
    }
}

impl registry::Guest for Validator {
    fn register(contract: String) -> Result<types::ContractInfo, types::Fault> {
        let info = REGISTRY.with_borrow_mut(|registry| registry.register(&contract));
        info.map(convert::contract_info).map_err(convert::fault)
    }

    fn has(agent: String) -> bool {
        REGISTRY.with_borrow(|registry| registry.has(&agent))
    }

    fn names() -> Vec<String> {
        REGISTRY.with_borrow(core::Registry::names)
    }

    fn contract(agent: String) -> Result<types::ContractInfo, types::Fault> {
        let info = REGISTRY.with_borrow(|registry| registry.contract(&agent));
        info.map(convert::contract_info).map_err(convert::fault)
    }

    fn describe(agent: String) -> Result<String, types::Fault> {
        REGISTRY.with_borrow(|registry| registry.describe(&agent)).map_err(convert::fault)
    }

    fn lint(contract: String) -> Result<Vec<types::Warning>, types::Fault> {
        let warnings = REGISTRY.with_borrow(|registry| registry.lint(&contract)).map_err(convert::fault)?;
        Ok(warnings.into_iter().map(convert::warning).collect())
    }

    fn seal() {
        REGISTRY.with_borrow_mut(core::Registry::seal);
        PROFILES.with_borrow_mut(harness::Registry::seal);
    }

    fn is_sealed() -> bool {
        REGISTRY.with_borrow(core::Registry::is_sealed)
    }
}

impl merge::Guest for Validator {
    fn merge(
        reports: Vec<types::Report>,
        lists: Vec<types::NamedList>,
        evidence: Option<Vec<types::Observation>>,
    ) -> Result<types::Report, types::Fault> {
        let mut reports: Vec<core::Report> = reports.into_iter().map(convert::report_back).collect();
        let agent = reports.first().map(|report| report.agent.clone()).unwrap_or_default();
        let attempts: Vec<core::Attempt> = reports.iter().map(core::Attempt::from).collect();
        let merged = REGISTRY
            .with_borrow(|registry| registry.merge(&agent, &attempts, lists_back(lists), evidence_back(evidence)));
        match merged.map_err(convert::fault)? {
            core::Merged::Same(index) => Ok(convert::report(reports.swap_remove(index))),
            core::Merged::New(report) => Ok(convert::report(*report)),
        }
    }
}

fn lists_back(lists: Vec<types::NamedList>) -> Vec<core::NamedList> {
    lists.into_iter().map(convert::named_list_back).collect()
}

fn evidence_back(evidence: Option<Vec<types::Observation>>) -> Option<Vec<core::Observation>> {
    evidence.map(|all| all.into_iter().map(convert::observation_back).collect())
}

/// An output that is still coming. It outlasts the calls that it is made of.
struct Session(RefCell<core::Session>);

impl stream::Guest for Validator {
    type Session = Session;
}

impl stream::GuestSession for Session {
    fn open(
        agent: String,
        lists: Vec<types::NamedList>,
        evidence: Option<Vec<types::Observation>>,
    ) -> Result<stream::Session, types::Fault> {
        let session = lasting(|| {
            let (lists, evidence) = (lists_back(lists), evidence_back(evidence));
            REGISTRY.with_borrow(|registry| registry.session(&agent, lists, evidence))
        });
        session.map(|session| stream::Session::new(Session(RefCell::new(session)))).map_err(convert::fault)
    }

    fn push(&self, chunk: String) -> Result<stream::Progress, types::Fault> {
        let progress = lasting(|| REGISTRY.with_borrow(|registry| registry.push(&mut self.0.borrow_mut(), &chunk)));
        progress.map(convert::progress).map_err(convert::fault)
    }

    fn completeness(&self) -> stream::Completeness {
        convert::completeness(self.0.borrow().completeness())
    }

    fn finish(&self, finish: types::Finish, invalid_utf8: Option<u32>) -> Result<types::Report, types::Fault> {
        let finish = convert::finish_back(finish);
        let verdict = REGISTRY.with_borrow(|registry| registry.finish(&mut self.0.borrow_mut(), finish, invalid_utf8));
        verdict.map(convert::report).map_err(convert::fault)
    }
}

impl wire::Guest for Validator {
    fn call(request: String) -> String {
        REGISTRY.with_borrow_mut(|registry| {
            PROFILES.with_borrow_mut(|profiles| core::call_with(registry, profiles, &request))
        })
    }
}

impl profiles::Guest for Validator {
    fn register(profile: String) -> Result<String, types::Fault> {
        let info = PROFILES.with_borrow_mut(|profiles| profiles.register(&profile));
        info.map(|info| info.to_json()).map_err(convert::fault)
    }

    fn has(agent: String) -> bool {
        PROFILES.with_borrow(|profiles| profiles.has(&agent))
    }

    fn names() -> Vec<String> {
        PROFILES.with_borrow(harness::Registry::names)
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

impl kernel::Guest for Validator {
    fn surface(agent: String, facts: String, listed: Option<String>) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.surface(&agent, &facts, listed.as_deref())).map_err(convert::fault)
    }

    fn permit(agent: String, facts: String, call: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.permit(&agent, &facts, &call)).map_err(convert::fault)
    }

    fn observe(agent: String, facts: String, call: String, outcome: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.observe(&agent, &facts, &call, &outcome)).map_err(convert::fault)
    }

    fn advance(agent: String, state: Option<String>, event: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.advance(&agent, state.as_deref(), &event)).map_err(convert::fault)
    }

    fn project(agent: String, line: String, audience: String) -> Result<String, types::Fault> {
        PROFILES.with_borrow(|profiles| profiles.project(&agent, &line, &audience)).map_err(convert::fault)
    }

    type Run = Run;
}

/// A run. Its state outlasts the calls that it is made of.
struct Run(RefCell<harness::OpenRun>);

impl kernel::GuestRun for Run {
    fn open(agent: String, state: Option<String>) -> Result<kernel::Run, types::Fault> {
        let run = lasting(|| PROFILES.with_borrow(|profiles| profiles.open_run(&agent, state.as_deref())));
        run.map(|run| kernel::Run::new(Run(RefCell::new(run)))).map_err(convert::fault)
    }

    fn advance(&self, event: String) -> Result<String, types::Fault> {
        let step = lasting(|| PROFILES.with_borrow(|profiles| profiles.advance_run(&mut self.0.borrow_mut(), &event)));
        step.map_err(convert::fault)
    }

    fn state(&self) -> Option<String> {
        self.0.borrow().state()
    }
}
