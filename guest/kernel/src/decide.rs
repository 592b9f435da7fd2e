//! Decisions about single calls, from documents in JSON text.

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

/// Compiles the formats of the documents below, so that a snapshot of the instance contains them.
pub(crate) fn prepare() {
    for format in [&facts::FORMAT, &call::FORMAT, &result::FORMAT, &listing::FORMAT, &run::FORMAT] {
        format.schema();
    }
}

/// Returns the tools that the model may see: among those that servers list, in the format of lock files, or else among
/// the profile's own.
///
/// # Errors
///
/// `bad_request`: the facts or the list are invalid, or the facts lack the mode.
pub fn surface(profile: &Profile, facts: &str, listed: Option<&str>) -> Result<String, Fault> {
    listing::list(profile, &Facts::read(facts)?, listed).map(|listing| listing.to_json())
}

/// Decides about a call.
///
/// # Errors
///
/// `bad_request`: the facts or the call are invalid, or the facts lack something.
pub fn permit(profile: &Profile, facts: &str, call: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    crate::permit::permit(profile, &facts, &call, Background::default).map(|decision| decision.to_json())
}

/// Makes an observation of a result.
///
/// # Errors
///
/// `bad_request`: the facts, the call or the result are invalid, or the facts have no nonce.
pub fn observe(profile: &Profile, facts: &str, call: &str, result: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    ToolResult::read(result, |result| {
        crate::observe::observe(profile, &facts, &call, &result).map(|observation| observation.to_json())
    })
}

/// Applies one event to a run. Takes the state that the previous step returned (`None` for the first event) and the
/// event, and returns a step.
///
/// # Errors
///
/// `bad_request`: the state does not belong to this profile and version, or the event is invalid. Such an event does
/// not become part of the run.
pub fn advance(profile: &Profile, state: Option<&str>, event: &str) -> Result<String, Fault> {
    run::advance(profile, state, event)
}

/// Returns one line of a journal as one audience sees it: `model`, `ui`, `user`, `audit` or `eval`.
///
/// # Errors
///
/// `bad_request`: the line is invalid, or there is no such audience.
pub fn project(profile: &Profile, line: &str, audience: &str) -> Result<String, Fault> {
    crate::project::project(profile, line, audience)
}
