//! Asks and approvals: a person's decisions about one action with one key. They contain no text from a model.

use seamgate_core::kernel_api::{quote, short};

use crate::{
    above::{self, Above},
    call::Call,
    decision::{AskView, Reason},
    digest::Action,
    facts::{Ask, Decided, Facts, MAX_NUMBER, Verdict},
    profile::{Profile, asks},
    tool::Tool,
};

/// The maximum length of a person's reason that the model reads, in bytes.
const MAX_REASON: usize = 900;

/// Returns the action that an approval of this call refers to.
pub(crate) fn action<'a>(profile: &'a Profile, facts: &'a Facts, tool: &'a Tool, call: &'a Call) -> Action<'a> {
    Action {
        profile: &profile.digest,
        run: &facts.run,
        server: &tool.server,
        tool: &tool.name,
        definition: tool.definition.as_ref().map_or("", |definition| &definition.digest),
        arguments: &call.arguments,
        principal: &facts.principal,
        scope: facts.mode.as_deref().unwrap_or_default(),
        program: facts.program(&tool.server, &tool.name),
    }
}

/// The approvers that a call needs, and the reasons.
pub(crate) struct Needed {
    /// The principals who may approve. One approval is enough.
    pub(crate) by: Vec<String>,
    pub(crate) ttl_s: u64,
    /// The reasons; at least one.
    pub(crate) reasons: Vec<Reason>,
}

/// The state of the approval that a call needs.
pub(crate) enum State {
    /// Granted by the approval at this index in the facts.
    Granted(usize),
    Rejected(Reason),
    /// Asked, and not yet decided. Holds the reasons why existing approvals are invalid.
    Asked(Ask, Vec<Reason>),
}

/// Looks for approvals of one action with one key by all required approvers. A valid approval was given after the ask,
/// has not expired, and is unused. Returns the indices of the valid approvals, or the state of the first required
/// approval that is missing.
pub(crate) fn find_all<'n>(
    facts: &Facts,
    call: &Call,
    digest: &str,
    needed: &'n [Needed],
) -> Result<Vec<usize>, (State, &'n Needed)> {
    // If there are several, the shortest time applies.
    let ttl_s = needed.iter().map(|needed| needed.ttl_s).min().unwrap_or_default();
    let states: Vec<State> = needed.iter().map(|needed| find(facts, call, digest, &needed.by, ttl_s)).collect();
    let is_rejected = |state: &State| matches!(state, State::Rejected(_));
    let at = states.iter().position(is_rejected).or_else(|| {
        let is_granted = |state: &State| matches!(state, State::Granted(_));
        states.iter().position(|state| !is_granted(state))
    });
    let mut granted = Vec::new();
    for (index, (state, needed)) in states.into_iter().zip(needed).enumerate() {
        match state {
            State::Granted(place) => granted.push(place),
            state if at == Some(index) => return Err((state, needed)),
            _ => {}
        }
    }
    granted.dedup();
    Ok(granted)
}

fn find(facts: &Facts, call: &Call, digest: &str, by: &[String], ttl_s: u64) -> State {
    // A rule with a shorter time may apply now that did not apply when the person was asked. The ask then expires
    // earlier, counted from the time of the ask.
    let asked = facts
        .asks
        .iter()
        .rfind(|ask| ask.key == call.key && ask.digest == digest)
        .map(|ask| Ask { expires: ask.expires.min(lapses(ask.at, ttl_s)), ..ask.clone() });
    let asked = asked.as_ref();
    let mut reasons = Vec::new();
    let mut granted = None;
    for (index, decided) in facts.approvals.iter().enumerate().filter(|(_, decided)| decided.key == call.key) {
        let who = quote(&decided.principal, 64);
        if decided.digest != digest {
            reasons.push(Reason::new("digest", format!("{who} decided about another action: its digest differs")));
        } else if !by.contains(&decided.principal) {
            reasons.push(Reason::new("approver", format!("{who} may not approve this")));
        } else if decided.decision == Verdict::Rejected {
            let why = decided.reason.as_deref().filter(|reason| !reason.trim().is_empty());
            let why = why.map(|reason| format!(": {}", short(reason, MAX_REASON))).unwrap_or_default();
            return State::Rejected(Reason::new("rejected", format!("{who} rejected it{why}")));
        } else if let Some(reason) = lapsed(decided, asked, facts.at, &who) {
            reasons.push(reason);
        } else if !decided.spent {
            granted.get_or_insert(index);
        }
    }
    match (granted, asked) {
        (Some(index), _) => State::Granted(index),
        (None, Some(ask)) if facts.at < ask.expires => State::Asked(ask.clone(), reasons),
        (None, _) => {
            let expires = lapses(facts.at, ttl_s);
            let ask = Ask { key: call.key.clone(), digest: digest.to_owned(), at: facts.at, expires };
            State::Asked(ask, reasons)
        }
    }
}

/// Returns the time at which an ask expires.
fn lapses(at: u64, ttl_s: u64) -> u64 {
    at.saturating_add(ttl_s.saturating_mul(1000)).min(MAX_NUMBER)
}

/// Returns the reason why an approval is invalid for the ask that it answers.
fn lapsed(decided: &Decided, asked: Option<&Ask>, now: u64, who: &str) -> Option<Reason> {
    let Some(ask) = asked else {
        return Some(Reason::new("before_ask", format!("{who} approved what nobody asked")));
    };
    if decided.at < ask.at {
        return Some(Reason::new("before_ask", format!("{who} approved before it was asked")));
    }
    if decided.at >= ask.expires || now >= ask.expires {
        return Some(Reason::new("expired", format!("the approval by {who} has expired")));
    }
    None
}

/// Returns whether the same ask already existed, with the same or a longer time.
pub(crate) fn is_known(asks: &[Ask], ask: &Ask) -> bool {
    asks.iter().any(|known| known.key == ask.key && known.digest == ask.digest && known.at == ask.at)
}

/// Returns the asks with another one added. Removes older asks about the same action.
pub(crate) fn with(asks: &[Ask], ask: Ask) -> Vec<Ask> {
    let is_other = |other: &&Ask| other.key != ask.key || other.digest != ask.digest;
    asks.iter().filter(is_other).cloned().chain([ask.clone()]).collect()
}

/// Returns the indices of the unused approvals that answer an ask.
pub(crate) fn about(approvals: &[Decided], ask: &Ask) -> Vec<usize> {
    let is_about = |approval: &Decided| !approval.spent && approval.key == ask.key && approval.digest == ask.digest;
    approvals.iter().enumerate().filter(|(_, approval)| is_about(approval)).map(|(place, _)| place).collect()
}

/// Returns the approvals, with those at some indices marked as used.
pub(crate) fn spend(approvals: &[Decided], places: &[usize]) -> Vec<Decided> {
    let spent = |(place, approval): (usize, &Decided)| Decided {
        spent: approval.spent || places.contains(&place),
        ..approval.clone()
    };
    approvals.iter().enumerate().map(spent).collect()
}

/// Returns whether a person may be asked about calls of a tool, under any profile that judges them.
pub(crate) fn may_be_asked(profile: &Profile, above: Option<&Above>, tool: &Tool) -> bool {
    let rules = above.iter().flat_map(|above| &above.rules);
    let judges = rules.filter_map(|rules| Some((&rules.profile, rules.tool(tool)?)));
    [(profile, tool)].into_iter().chain(judges).any(|(profile, tool)| asks(tool, &profile.flows))
}

/// Builds the request that a person sees. `view` is its text.
pub(crate) fn asked(profile: &Profile, facts: &Facts, ask: &Ask, by: &[String], view: String) -> AskView {
    let above = facts.above.as_deref();
    let keys = by.iter().filter_map(|who| Some((who.clone(), above::keys(profile, above, who)?))).collect();
    AskView { key: ask.key.clone(), digest: ask.digest.clone(), by: by.to_vec(), keys, expires: ask.expires, view }
}
