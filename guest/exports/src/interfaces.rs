//! The interfaces of `seamgate:validator`: converts WIT types to core types, and back. Both components use them.

use std::cell::RefCell;

use seamgate_core as core;
use seamgate_memory::{lasting, one_call, together};

use crate::{
    bindings::exports::seamgate::validator::{merge, registry, stream, types, validate, wire},
    convert,
};

/// The parts of a component other than these interfaces.
pub trait Component {
    /// The operations of `wire` in addition to those of the gate.
    type Operations: core::Operations;

    /// Runs a closure with these operations.
    fn with_operations<T>(run: impl FnOnce(&mut Self::Operations) -> T) -> T;
}

/// Runs a closure that allocates data for a registry.
pub fn keep(run: &mut dyn FnMut()) {
    lasting(run);
}

/// Runs a closure that allocates the registry data that a verdict reads.
fn settle(run: &mut dyn FnMut()) {
    together(run);
}

thread_local! {
    // An instance has a single thread, and lives as long as its contracts are needed.
    pub static REGISTRY: RefCell<core::Registry> = const { RefCell::new(core::Registry::keeping(keep, settle)) };
}

impl<C: Component> validate::Guest for C {
    fn validate(request: types::Request) -> Result<types::Report, types::Fault> {
        one_call(|| {
            let verdict = REGISTRY.with_borrow(|registry| registry.validate(&convert::request(&request)));
            verdict.map(convert::report).map_err(convert::fault)
        })
    }

    fn validate_with(contract: String, request: types::Request) -> Result<types::Report, types::Fault> {
        one_call(|| {
            let verdict = core::Contract::compile(&contract)
                .and_then(|contract| core::validate(&contract, &convert::request(&request)));
            verdict.map(convert::report).map_err(convert::fault)
        })
    }
}

impl<C: Component> registry::Guest for C {
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
        C::with_operations(core::Operations::seal);
    }

    fn is_sealed() -> bool {
        REGISTRY.with_borrow(core::Registry::is_sealed)
    }
}

impl<C: Component> merge::Guest for C {
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

#[inline]
fn lists_back(lists: Vec<types::NamedList>) -> Vec<core::NamedList> {
    lists.into_iter().map(convert::named_list_back).collect()
}

#[inline]
fn evidence_back(evidence: Option<Vec<types::Observation>>) -> Option<Vec<core::Observation>> {
    evidence.map(|all| all.into_iter().map(convert::observation_back).collect())
}

/// An output that is still arriving. It outlasts the calls that deliver it.
pub struct Session(RefCell<core::Session>);

impl<C: Component> stream::Guest for C {
    type Session = Session;
}

impl stream::GuestSession for Session {
    #[inline]
    fn open(
        agent: String,
        lists: Vec<types::NamedList>,
        evidence: Option<Vec<types::Observation>>,
    ) -> Result<stream::Session, types::Fault> {
        // The caller's data is in the call's arena, so copies are needed to outlast it.
        let session = lasting(|| {
            let (lists, evidence) = (lists_back(lists.clone()), evidence_back(evidence.clone()));
            let session = REGISTRY.with_borrow(|registry| registry.session(&agent, lists, evidence));
            session.map(|session| stream::Session::new(Session(RefCell::new(session))))
        });
        session.map_err(convert::fault)
    }

    #[inline]
    fn push(&self, chunk: String) -> Result<stream::Progress, types::Fault> {
        one_call(|| {
            let progress = lasting(|| REGISTRY.with_borrow(|registry| registry.push(&mut self.0.borrow_mut(), &chunk)));
            progress.map(convert::progress).map_err(convert::fault)
        })
    }

    #[inline]
    fn completeness(&self) -> stream::Completeness {
        convert::completeness(self.0.borrow().completeness())
    }

    #[inline]
    fn finish(&self, finish: types::Finish, invalid_utf8: Option<u32>) -> Result<types::Report, types::Fault> {
        let finish = convert::finish_back(finish);
        one_call(|| {
            let mut session = self.0.borrow_mut();
            let verdict = REGISTRY.with_borrow(|registry| registry.finish(&mut session, finish, invalid_utf8));
            verdict.map(convert::report).map_err(convert::fault)
        })
    }
}

impl<C: Component> wire::Guest for C {
    fn call(request: String) -> String {
        one_call(|| {
            REGISTRY.with_borrow_mut(|registry| {
                C::with_operations(|operations| core::call_with(registry, operations, &request))
            })
        })
    }
}
