//! Approvals for further calls of a run: the same tool with the same arguments, except for those that a person left
//! open.

use seamgate_core::kernel_api::{Document, Json, Kind, canonical, json, sort};

use crate::{
    approval::Needed,
    call::Call,
    decision::Used,
    digest::Action,
    document::CAPS,
    facts::{Facts, Remembered},
};

/// The most approvals that a run remembers. The oldest is forgotten first.
pub(crate) const MAX_REMEMBERED: usize = 64;

/// Returns the digest of an action without the arguments with some names. `None` if the arguments are not an object.
pub(crate) fn digest(action: &Action, call: &Call, any: &[String]) -> Option<String> {
    let document = Json::read(&call.arguments, &CAPS).ok().filter(|it| it.kind(Document::ROOT) == Kind::Object)?;
    let is_held = |name: &str| !any.iter().any(|open| open == name);
    let members = document.members(Document::ROOT).map(|(name, value)| (document.string(name), value));
    let mut held: Vec<[String; 2]> = members
        .filter(|(name, _)| is_held(name))
        .map(|(name, value)| [name.to_owned(), canonical(&document, value)])
        .collect();
    sort(&mut held);
    // No text of arguments begins like this, because they are an object.
    let pattern = format!("pattern {}", json(&(any, held)));
    Some(Action { arguments: &pattern, ..*action }.digest())
}

/// Finds the approval that covers a call: it is not expired or used up, its principal may approve everything that the
/// call needs, and it covers all reasons for which the call needs approval now. A call about which a person decided
/// needs a new decision of its own. Returns the approval as used, and those that are remembered afterwards.
pub(crate) fn find(facts: &Facts, action: &Action, call: &Call, needed: &[Needed]) -> Option<(Used, Vec<Remembered>)> {
    let covers = |one: &Remembered| {
        one.left > 0
            && facts.at < one.expires
            && needed.iter().all(|now| {
                now.by.contains(&one.principal) && now.reasons.iter().all(|reason| one.why.contains(&reason.identity()))
            })
            && digest(action, call, &one.any).as_ref() == Some(&one.digest)
    };
    if facts.approvals.iter().any(|decided| decided.key == call.key) {
        return None;
    }
    let place = facts.remembered.iter().position(covers)?;
    let mut remembered = facts.remembered.clone();
    let one = &mut remembered[place];
    let used = Used { principal: one.principal.clone(), at: one.at, remembered: true };
    one.left -= 1;
    remembered.retain(|one| one.left > 0);
    Some((used, remembered))
}
