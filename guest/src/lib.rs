//! The seamgate component: [`seamgate_core`] behind the WIT world `seamgate:validator/validator`.
//!
//! Nothing is decided here: words of WIT are turned into words of the core, and back.
#![allow(missing_docs, reason = "the exports are documented in wit/")]

#[cfg(target_arch = "wasm32")]
mod allocator;
mod convert;
#[cfg(target_arch = "wasm32")]
mod random;

use std::cell::RefCell;

use seamgate_core as core;

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated; documented in wit/")]
    wit_bindgen::generate!({ path: "../wit", world: "validator" });
}

use bindings::exports::seamgate::validator::{registry, types, validate, wire};

thread_local! {
    // An instance has one thread, and lives as long as its contracts are wanted.
    static REGISTRY: RefCell<core::Registry> = const { RefCell::new(core::Registry::new()) };
}

#[cfg(target_arch = "wasm32")]
use allocator::lasting;

/// Elsewhere the system's allocator does it all.
#[cfg(not(target_arch = "wasm32"))]
fn lasting<T>(run: impl FnOnce() -> T) -> T {
    run()
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
        let info = lasting(|| REGISTRY.with_borrow_mut(|registry| registry.register(&contract)));
        info.map(convert::info).map_err(convert::fault)
    }

    fn has(agent: String) -> bool {
        REGISTRY.with_borrow(|registry| registry.has(&agent))
    }

    fn names() -> Vec<String> {
        REGISTRY.with_borrow(core::Registry::names)
    }

    fn contract(agent: String) -> Result<types::ContractInfo, types::Fault> {
        let info = REGISTRY.with_borrow(|registry| registry.contract(&agent));
        info.map(convert::info).map_err(convert::fault)
    }

    fn describe(agent: String) -> Result<String, types::Fault> {
        REGISTRY.with_borrow(|registry| registry.describe(&agent)).map_err(convert::fault)
    }

    fn lint(contract: String) -> Result<Vec<types::Warning>, types::Fault> {
        // What it makes on its way to a compiled contract serves the contracts after it.
        let warnings = lasting(|| REGISTRY.with_borrow(|registry| registry.lint(&contract))).map_err(convert::fault)?;
        Ok(warnings.into_iter().map(convert::warning).collect())
    }

    fn seal() {
        lasting(|| REGISTRY.with_borrow_mut(core::Registry::seal));
    }
}

impl wire::Guest for Validator {
    fn call(request: String) -> String {
        REGISTRY.with_borrow_mut(|registry| core::call(registry, &request))
    }
}
