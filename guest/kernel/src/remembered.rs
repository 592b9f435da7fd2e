//! Approvals for further calls of a run. They cover the same tool with the same arguments, except for arguments that a
//! person left open.

use seamgate_core::kernel_api::{Document, Json, Kind, canonical, json, sort};

use crate::{
    approval::Needed,
    call::Call,
    covers,
    decision::{Reason, Used},
    digest::Action,
    document::CAPS,
    facts::{Facts, Remembered},
};

/// The maximum number of approvals that a run remembers. The oldest is dropped first.
pub(crate) const MAX_REMEMBERED: usize = 64;

/// Adds an approval. Replaces an approval for the same calls.
pub(crate) fn add(all: &mut Vec<Remembered>, one: Remembered, now: u64) {
    all.retain(|other| other.digest != one.digest && other.expires > now);
    if all.len() >= MAX_REMEMBERED {
        all.remove(0);
    }
    all.push(one);
}

/// Returns the digest of an action without the named arguments. `None` if the arguments are not an object.
pub(crate) fn digest(action: &Action, call: &Call, any: &[String]) -> Option<String> {
    let document = Json::read(&call.arguments, &CAPS).ok().filter(|it| it.kind(Document::ROOT) == Kind::Object)?;
    let is_held = |name: &str| !any.iter().any(|open| open == name);
    let members = document.members(Document::ROOT).map(|(name, value)| (document.string(name), value));
    let mut held: Vec<[String; 2]> = members
        .filter(|(name, _)| is_held(name))
        .map(|(name, value)| [name.to_owned(), canonical(&document, value)])
        .collect();
    sort(&mut held);
    // This prefix cannot collide with the text of arguments, which begin as an object.
    let pattern = format!("pattern {}", json(&(any, held)));
    Some(Action { arguments: &pattern, ..*action }.digest())
}

/// Finds the approval that covers a call. The approval must not be expired or used up, and its principal must be
/// allowed to approve everything that the call needs. It must cover all reasons why the call needs approval now.
/// An approval of a follow-up call covers all reasons, because the person saw the call that it covers. A call that a
/// person already decided about needs a separate new decision. Returns the approval as used, and the remaining
/// remembered approvals.
pub(crate) fn find(facts: &Facts, action: &Action, call: &Call, needed: &[Needed]) -> Option<(Used, Vec<Remembered>)> {
    let is_covered_by = |one: &Remembered| {
        let is_known = |reason: &Reason| !one.same.is_empty() || one.why.contains(&reason.identity());
        let digest = || match one.same.is_empty() {
            true => digest(action, call, &one.any),
            false if facts.above.is_some() => None,
            false => covers::digest(action, call, &one.same),
        };
        one.left > 0
            && facts.at < one.expires
            && needed.iter().all(|now| now.by.contains(&one.principal) && now.reasons.iter().all(is_known))
            && digest().as_ref() == Some(&one.digest)
    };
    if facts.approvals.iter().any(|decided| decided.key == call.key) {
        return None;
    }
    let place = facts.remembered.iter().position(is_covered_by)?;
    let mut remembered = facts.remembered.clone();
    let one = &mut remembered[place];
    let used = Used { principal: one.principal.clone(), at: one.at, remembered: true };
    one.left -= 1;
    remembered.retain(|one| one.left > 0);
    Some((used, remembered))
}
