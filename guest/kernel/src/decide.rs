//! Decisions about single calls, of documents as JSON text.

use seamgate_core::Fault;

use crate::{
    call::{self, Call},
    facts::{self, Facts},
    listing,
    profile::Profile,
    result::{self, ToolResult},
    run,
    view::Background,
};

/// Compile the formats of the documents below, so that what is baked has them.
pub(crate) fn prepare() {
    for format in [&facts::FORMAT, &call::FORMAT, &result::FORMAT, &listing::FORMAT, &run::FORMAT] {
        format.schema();
    }
}

/// The tools that the model may see: of those that servers list, in the format of lock files, else of the profile's own.
///
/// # Errors
///
/// `bad_request`: facts or list are none, or the facts lack the mode.
pub fn surface(profile: &Profile, facts: &str, listed: Option<&str>) -> Result<String, Fault> {
    listing::list(profile, &Facts::read(facts)?, listed).map(|listing| listing.to_json())
}

/// Decide about a call.
///
/// # Errors
///
/// `bad_request`: facts or call are none, or the facts lack something.
pub fn permit(profile: &Profile, facts: &str, call: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    crate::permit::permit(profile, &facts, &call, Background::default).map(|decision| decision.to_json())
}

/// Make an observation of a result.
///
/// # Errors
///
/// `bad_request`: facts, call or result are none, or the facts have no nonce.
pub fn observe(profile: &Profile, facts: &str, call: &str, result: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    ToolResult::read(result, |result| {
        crate::observe::observe(profile, &facts, &call, &result).map(|observation| observation.to_json())
    })
}

/// Apply one event to a run: the state that the step before gave (none for the first event) and the event in, a step out.
///
/// # Errors
///
/// `bad_request`: the state is none of this profile and version, or the event is none. Such an event is no part of the run.
pub fn advance(profile: &Profile, state: Option<&str>, event: &str) -> Result<String, Fault> {
    run::advance(profile, state, event)
}

/// One line of a journal, as one audience sees it: `model`, `ui`, `user`, `audit` or `eval`.
///
/// # Errors
///
/// `bad_request`: the line is none, or there is no such audience.
pub fn project(profile: &Profile, line: &str, audience: &str) -> Result<String, Fault> {
    crate::project::project(profile, line, audience)
}
