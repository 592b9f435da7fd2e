//! Decisions about single calls. Arguments and results are documents as JSON text.

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

/// Compiles the formats of the documents that this module reads, so that a snapshot of the instance contains them.
pub(crate) fn prepare() {
    for format in [&facts::FORMAT, &call::FORMAT, &result::FORMAT, &listing::FORMAT, &run::FORMAT] {
        format.schema();
    }
}

/// Returns the tools that the model may see. These are tools from `listed`, which has the format of lock files, or else
/// tools with a definition in the profile.
///
/// # Errors
///
/// Returns `bad_request` if the facts or the list are invalid, or if the facts lack the mode.
pub fn surface(profile: &Profile, facts: &str, listed: Option<&str>) -> Result<String, Fault> {
    listing::list(profile, &Facts::read(facts)?, listed).map(|listing| listing.to_json())
}

/// Decides about a call.
///
/// # Errors
///
/// Returns `bad_request` if the facts or the call are invalid, or if the facts are incomplete.
pub fn permit(profile: &Profile, facts: &str, call: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    crate::permit::permit(profile, &facts, &call, Background::default).map(|decision| decision.to_json())
}

/// Creates an observation of a result.
///
/// # Errors
///
/// Returns `bad_request` if the facts, the call or the result are invalid, or if the facts have no nonce.
pub fn observe(profile: &Profile, facts: &str, call: &str, result: &str) -> Result<String, Fault> {
    let (facts, call) = (Facts::read(facts)?, Call::read(call)?);
    ToolResult::read(result, |result| {
        crate::observe::observe(profile, &facts, &call, &result).map(|observation| observation.to_json())
    })
}

/// Applies one event to a run. Takes the event, and the state that the previous step returned, which is `None` for the
/// first event. Returns a step.
///
/// # Errors
///
/// Returns `bad_request` if the state does not belong to this profile and version, or if the event is invalid. Such an
/// event does not become part of the run.
pub fn advance(profile: &Profile, state: Option<&str>, event: &str) -> Result<String, Fault> {
    run::advance(profile, state, event)
}

/// Returns one line of a journal as one audience sees it: `model`, `ui`, `user`, `audit` or `eval`.
///
/// # Errors
///
/// Returns `bad_request` if the line is invalid, or if there is no such audience.
pub fn project(profile: &Profile, line: &str, audience: &str) -> Result<String, Fault> {
    crate::project::project(profile, line, audience)
}
