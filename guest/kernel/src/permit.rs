//! Decides whether a call may run. The order of the checks is: surface, both schemas, deny rules, marks, secrets,
//! scope, origins, flows, budget, rate, permit. A denial by any check wins, and is the default.

use std::ops::Range;

use seamgate_core::{
    Fault,
    kernel_api::{Document, Json, Kind, Location, NodeId, quote, short},
};

use crate::{
    above,
    approval::{self, Needed, State},
    budget,
    call::{Call, NotArguments},
    cases::{Cases, Decided},
    covers,
    decision::{ALLOW, APPROVAL, DENY, Decision, Reason, Secret, Used},
    digest::same_call,
    facts::{Changed, Facts},
    fitting,
    flow::{self, Flowing},
    origins,
    profile::{Budget, Deny, Mode, Profile},
    proof::Proof,
    rate, remembered,
    sanitize::{Clean, mark_in},
    scope,
    secret::{self, References},
    stored::Entry,
    stores, surface,
    tool::{Effect, Tool},
    view::{Background, view},
};

/// The maximum length of the message to the model, in bytes.
const MAX_MESSAGE: usize = 2048;

/// Decides about one call. `background` is called only if a person must approve the call.
///
/// # Errors
///
/// Returns `bad_request` if the facts lack the mode, or a list that a scope names.
pub(crate) fn permit(
    profile: &Profile,
    facts: &Facts,
    call: &Call,
    background: impl FnOnce() -> Background,
) -> Result<Decision, Fault> {
    let mode = surface::mode(profile, facts)?;
    let mut origins = Vec::new();
    let (tool, checked) = match surface::find(profile, mode, facts, call) {
        Ok(tool) => (Some(tool), check(profile, facts, tool, call, &mut origins)?),
        Err(reason) => (None, Err(reason)),
    };
    let mut decision = Decision {
        permit: DENY,
        key: call.key.clone(),
        server: tool.map(|tool| tool.server.clone()).or_else(|| call.server.clone()).filter(|name| !name.is_empty()),
        tool: short(&call.tool, 256),
        effect: tool.map(|tool| above::effect(tool, facts.above.as_deref()).as_str()),
        arguments: None,
        digest: None,
        message: String::new(),
        reasons: Vec::new(),
        allowed: None,
        ask: None,
        approval: None,
        origins,
        secrets: Vec::new(),
        facts: Changed::default(),
    };
    match (tool, checked) {
        (Some(tool), Ok(Passed { same_call, needed, secrets })) => {
            decision.secrets = secrets;
            let stores = || stores::written(profile, facts, tool, call);
            let action = approval::action(profile, facts, tool, call);
            let digest = action.digest();
            let spend = || {
                let mut used = budget::spend(&facts.used, &same_call, above::class(tool, facts.above.as_deref()));
                let rates = above::rates(tool, facts.above.as_deref());
                rate::add_now(&mut used.recent, &tool.full_name(), &rates, facts.at);
                used
            };
            decision.digest = Some(digest.clone());
            match approval::find_all(facts, call, &digest, &needed) {
                Ok(places) => {
                    if let Some(by) = places.first().and_then(|&place| facts.approvals.get(place)) {
                        decision.approval =
                            Some(Used { principal: by.principal.clone(), at: by.at, remembered: false });
                        decision.facts.approvals = Some(approval::spend(&facts.approvals, &places));
                        let given = covers::given(profile, facts, tool, call, &by.principal);
                        if !given.is_empty() {
                            let mut all = facts.remembered.clone();
                            given.into_iter().for_each(|one| remembered::add(&mut all, one, facts.at));
                            decision.facts.remembered = Some(all);
                        }
                    }
                    decision.allow(call, spend(), stores());
                }
                Err((State::Asked(ask, why_not), Needed { by, reasons, .. })) => {
                    if let Some((used, remembered)) = remembered::find(facts, &action, call, &needed) {
                        decision.approval = Some(used);
                        decision.facts.remembered = Some(remembered);
                        decision.allow(call, spend(), stores());
                        return Ok(decision);
                    }
                    let why = needed.iter().flat_map(|needed| &needed.reasons).map(|reason| reason.message.as_str());
                    let view = view(profile, tool, facts, call, (why, &decision.origins), &background());
                    decision.permit = APPROVAL;
                    decision.arguments = Some(call.arguments.clone());
                    decision.ask = Some(approval::asked(profile, facts, &ask, by, view));
                    decision.message = short(reasons.first().map_or("", |first| &first.message), MAX_MESSAGE);
                    decision.reasons = [reasons.clone(), why_not].concat();
                    if !facts.asks.contains(&ask) {
                        // Earlier decisions do not answer this ask, even if they have the same millisecond.
                        let places = approval::about(&facts.approvals, &ask);
                        if !places.is_empty() && !approval::is_known(&facts.asks, &ask) {
                            decision.facts.approvals = Some(approval::spend(&facts.approvals, &places));
                        }
                        decision.facts.asks = Some(approval::with(&facts.asks, ask));
                    }
                }
                Err((State::Rejected(reason), _)) => decision.deny(profile, mode, facts, reason),
                Err((State::Granted(_), _)) => unreachable!("what is granted is no error"),
            }
        }
        (_, Err(reason)) => decision.deny(profile, mode, facts, reason),
        (None, Ok(_)) => unreachable!("only a tool's call is checked"),
    }
    Ok(decision)
}

impl Decision {
    fn allow(&mut self, call: &Call, used: crate::facts::Used, stores: Option<Vec<Entry>>) {
        self.permit = ALLOW;
        self.arguments = Some(call.arguments.clone());
        self.facts.used = Some(used);
        // A call with an unknown outcome may have written.
        self.facts.stores = stores;
    }

    fn deny(&mut self, profile: &Profile, mode: Option<&Mode>, facts: &Facts, reason: Reason) {
        let allowed = surface::allowed(profile, mode, facts);
        let some = fitting::sentence(&allowed, &self.tool, self.effect.map(Effect::of));
        self.message = short(format!("Call denied: {}. {some}", short(&reason.message, MAX_MESSAGE / 2)), MAX_MESSAGE);
        self.reasons = vec![reason];
        self.secrets.clear();
        self.allowed = Some(allowed.into_iter().map(Tool::full_name).collect());
    }
}

/// A call that no rule denies.
struct Passed {
    same_call: String,
    /// The secrets that the call takes.
    secrets: Vec<Secret>,
    /// The approvers, all of whom must approve, and the reasons.
    needed: Vec<Needed>,
}

/// Checks a call against the rules of the agent and of all agents above it. Each of them can only add denials and
/// approvers, so a child can never do what an agent above it must not do.
///
/// `origins` receives the origins of the call's values under the agent's own rules.
fn check(
    profile: &Profile,
    facts: &Facts,
    tool: &Tool,
    call: &Call,
    origins: &mut Vec<Proof>,
) -> Result<Result<Passed, Reason>, Fault> {
    let mut passed = match judge(profile, facts, (tool, Some(&tool.permit)), 0, call, origins)? {
        Ok(passed) => passed,
        Err(reason) => return Ok(Err(reason)),
    };
    let (read, effect) = (surface::read(profile, facts), above::effect(tool, facts.above.as_deref()));
    for rules in facts.rules() {
        let agent = quote(&rules.profile.agent, 128);
        let is_edit = facts.above.as_ref().is_some_and(|above| above.is_edit(rules));
        let by = |reason: Reason| {
            let message = match is_edit {
                true => format!("{} (a rule of the edited profile)", reason.message),
                false => format!("{} (a rule of the delegating agent {agent})", reason.message),
            };
            Reason { message, ..reason }
        };
        let (theirs, permit) = match rules.tool(tool) {
            Some(theirs) => (theirs, Some(&theirs.permit)),
            // The agent above has no such delegate, so its rules for all tools apply.
            None if tool.is_delegate => (tool, None),
            // The tool is not a delegate, and is not on the surface.
            None => return Ok(Err(by(Reason::new("parent", "the tool was not handed on")))),
        };
        let reserved = if effect == Effect::Read { 0 } else { rules.reserved };
        match judge(&rules.profile, &facts.by(rules, &read)?, (theirs, permit), reserved, call, &mut Vec::new())? {
            Ok(more) => {
                if let Some(reason) = secret::withheld(&passed.secrets, &more.secrets) {
                    return Ok(Err(by(reason)));
                }
                passed.needed.extend(more.needed.into_iter().map(|one| {
                    let theirs = |reason| match is_edit {
                        true => by(reason),
                        false => Reason { code: "parent", ..by(reason) },
                    };
                    Needed { reasons: one.reasons.into_iter().map(theirs).collect(), ..one }
                }));
            }
            Err(reason) => return Ok(Err(by(reason))),
        }
    }
    let mut needed: Vec<Needed> = Vec::new();
    for one in passed.needed {
        match needed.iter_mut().find(|other| other.by == one.by && other.ttl_s == one.ttl_s) {
            Some(other) => {
                let is_new = |reason: &Reason| !other.reasons.contains(reason);
                let new: Vec<Reason> = one.reasons.into_iter().filter(is_new).collect();
                other.reasons.extend(new);
            }
            None => needed.push(one),
        }
    }
    Ok(Ok(Passed { needed, ..passed }))
}

/// Returns who must approve a call, and why. Empty if the call is denied.
///
/// # Errors
///
/// Returns the errors of [`permit`].
pub(crate) fn needed(profile: &Profile, facts: &Facts, tool: &Tool, call: &Call) -> Result<Vec<Needed>, Fault> {
    Ok(check(profile, facts, tool, call, &mut Vec::new())?.map(|passed| passed.needed).unwrap_or_default())
}

/// Checks a call against the rules of one agent. Without `permit`, the agent's rules for all tools decide. `reserved`
/// is the number of equal calls that other runs may be permitted in the meantime.
fn judge(
    profile: &Profile,
    facts: &Facts,
    (tool, permit): (&Tool, Option<&Cases>),
    reserved: u64,
    call: &Call,
    origins: &mut Vec<Proof>,
) -> Result<Result<Passed, Reason>, Fault> {
    let arguments = match arguments(profile, tool, call) {
        Ok(arguments) => arguments,
        Err(reason) => return Ok(Err(reason)),
    };
    let references = match References::find(tool, &arguments) {
        Ok(references) => references,
        Err(reason) => return Ok(Err(reason)),
    };
    if let Err(reason) = scope::check(tool, &arguments, &references, Some(facts))? {
        return Ok(Err(reason));
    }
    let proofs = origins::prove(tool, &arguments, &references, facts)?;
    *origins = proofs.listed;
    let decided = permit.map(|permit| permit.decide(&tool.full_name(), &arguments));
    let own = decided.as_ref().and_then(Decided::approval);
    let by_origins = match origins::decide(profile, tool, own, proofs.unproven) {
        Ok(approvals) => approvals,
        Err(reason) => return Ok(Err(reason)),
    };
    let by_flows = match flow::check(profile, facts, tool, own, proofs.is_proven) {
        Flowing::Denied(reason) => return Ok(Err(reason)),
        Flowing::Approvals(approvals) => approvals,
    };
    let same_call = same_call(&tool.server, &tool.name, &arguments);
    let own = Budget { same_call: tool.same_call.or(profile.budget.same_call), ..profile.budget.clone() };
    if let Err(reason) = budget::check(&facts.budget(&own), &facts.used, &same_call, reserved) {
        return Ok(Err(reason));
    }
    if let Some(rate) = &tool.rate
        && let Err(message) = rate.check(&tool.full_name(), &facts.used.recent, facts.at)
    {
        return Ok(Err(Reason::new("rate", message)));
    }
    let own = match decided {
        Some(Decided::Denied(reason)) => return Ok(Err(Reason::new("permit", reason))),
        Some(Decided::Approvals(approvals)) => approvals,
        None => Vec::new(),
    };
    let own = own.into_iter().map(|(approval, reason)| (approval, Reason::new("permit", reason)));
    let needed = own.chain(by_origins).chain(by_flows).map(|(approval, reason)| Needed {
        by: profile.principals(&approval.by),
        ttl_s: approval.ttl_s,
        reasons: vec![reason],
    });
    Ok(Ok(Passed { same_call, needed: needed.collect(), secrets: references.listed(&arguments) }))
}

/// Parses the arguments of a call, and checks them against both schemas and the deny rules.
pub(crate) fn arguments<'c>(profile: &Profile, tool: &Tool, call: &'c Call) -> Result<Json<'c>, Reason> {
    let limit = tool.max_arguments_bytes;
    let arguments = call.document(limit).map_err(|not| match not {
        NotArguments::TooLarge(bytes) => {
            let message =
                format!("the arguments have {bytes} bytes; the limit is {limit}, the tool's 'max_arguments_bytes'");
            Reason::new("too_large", message)
        }
        NotArguments::Malformed(found) => Reason::wrong("malformed", "the arguments are not JSON", found),
        NotArguments::NoObject => Reason::new("malformed", "the arguments must be an object"),
    })?;
    if let Some(why) = tool.names.mistaken(&arguments) {
        return Err(Reason::new("malformed", why));
    }
    let definition = tool.definition.as_ref().and_then(|definition| definition.arguments.as_ref());
    let schemas = [("definition", definition), ("arguments", tool.arguments.as_ref())].into_iter().filter_map(
        |(code, schema)| {
            let found = schema?.violations(&arguments);
            (!found.is_empty()).then_some((code, found))
        },
    );
    if let Some((code, mut found)) = { schemas }.next() {
        found.truncate(MAX_VIOLATIONS);
        return Err(Reason::wrong(code, "the arguments are not valid", found));
    }
    match profile.deny.iter().find_map(|rule| denied(rule, tool, &arguments)).or_else(|| marked(tool, &arguments)) {
        Some(reason) => Err(reason),
        None => Ok(arguments),
    }
}

/// Returns the reason why a call is denied that would write one of the kernel's marks instead of the text that
/// the mark replaced.
fn marked(tool: &Tool, arguments: &Json) -> Option<Reason> {
    if tool.effect == Effect::Read {
        return None;
    }
    let is_all = tool.result.clean != Clean::None;
    let strings = (Document::ROOT..arguments.next(Document::ROOT)).filter(|&at| arguments.kind(at) == Kind::String);
    let found = strings.filter_map(|at| Some((at, mark_in(arguments.string(at), is_all)?)));
    let wrong = |(at, mark): (NodeId, Range<usize>)| {
        let text = arguments.string(at);
        let place = arguments.location_within(Document::ROOT, Location::root(), at).pointer();
        let message = format!(
            "{place} has {}, which stands for a text that you were not shown: the call would write it in place of that text. Change \
             only other parts of the text; or the profile lets 'result.clean' of the tool that reads it be \"mark\" or \"none\"",
            quote(&text[mark], 64)
        );
        Reason::new("mark", message)
    };
    { found }.next().map(wrong)
}

/// Returns the reason why a rule denies a call. A rule that cannot decide because an argument has another type
/// also denies the call.
fn denied(rule: &Deny, tool: &Tool, arguments: &Json) -> Option<Reason> {
    if !tool.is_named(&rule.tool) {
        return None;
    }
    let reason = &rule.reason;
    match &rule.when {
        Some(when) if !when.is_valid(arguments) => when
            .may_be_valid(arguments)
            .then(|| Reason::new("deny", format!("{reason} (an argument is of another type than this rule is about)"))),
        _ => Some(Reason::new("deny", reason.clone())),
    }
}

/// The maximum number of violations that a reason lists.
const MAX_VIOLATIONS: usize = 10;
