//! The agents above a child: the tools that they handed on to it, and the rules by which each of them judges its calls.
//!
//! A rule set is the part of an agent's profile that judges calls, with the values that its scopes name. The same code
//! judges the child's calls and the agent's own calls.
//! child's calls as it judges the agent's own calls, with the same code.

use std::collections::BTreeMap;

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{CONTRACT_CAPS, Json, json, quote},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    counts::{self, Calls, Class},
    observed::{Observed, bound, bound_said},
    profile::{self, Budget, Profile},
    rate::{self, Rate, Recent},
    tool::{Effect, Tool},
};

/// The call in the bounds of a run without a parent, after its profile was edited.
const EDITED: &str = "profile";

/// The bounds that a parent sets for a child: the member `parent` of the child's first event and facts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bounds {
    pub(crate) run: String,
    pub(crate) call: String,
    pub(crate) tools: Vec<String>,
    /// The rules of the parent, followed by those of the agents above the parent.
    pub(crate) rules: Vec<Handed>,
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    pub(crate) budget: Granted,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) deadline: Option<u64>,
    /// `true` if the last of the rules is the run's own profile after an edit. In a run without a parent, it is the
    /// only one.
    #[serde(skip_serializing_if = "std::ops::Not::not", default, rename = "edited")]
    pub(crate) is_edited: bool,
}

/// The rules of one agent above a child.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handed {
    /// The agent's profile, without the parts that judge no calls.
    pub(crate) profile: Box<RawValue>,
    /// The task, the context and the lists that the profile's scopes and origins name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) task: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) context: BTreeMap<String, Box<RawValue>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) lists: BTreeMap<String, Vec<String>>,
    /// Texts that people said to the agent, and values of its results, as far as its origin rules need them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) said: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) observed: Vec<Observed>,
    /// The number of times that each call was permitted, in the agent's run and in the runs below it, before the child
    /// started.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) calls: Calls,
    /// The times of the last permitted calls of tools with a rate, in the agent's run and in the runs below it, before
    /// the child started.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) recent: Recent,
    /// The number of times that other children, which run at the same time, may make each call that is not only a read.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(crate) reserved: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The budget that a child is granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Granted {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) tool_calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) same_call: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) state_bytes: Option<u64>,
}

/// The bounds of a child, compiled.
pub(crate) struct Above {
    pub(crate) bounds: Bounds,
    /// The compiled rules, in the order of the bounds.
    pub(crate) rules: Vec<Rules>,
}

/// The rules of one agent, compiled.
pub(crate) struct Rules {
    pub(crate) profile: Profile,
    /// The values that the scopes name, as facts in JSON text.
    pub(crate) given: String,
    pub(crate) said: Vec<String>,
    pub(crate) observed: Vec<Observed>,
    pub(crate) calls: Calls,
    pub(crate) recent: Recent,
    pub(crate) reserved: u64,
}

impl Above {
    /// Reads the bounds of a child.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the bounds, or a rule set in them, are invalid. A child without its parent's rules
    /// would be unrestricted.
    pub(crate) fn read(bounds: &str) -> Result<Self, Fault> {
        let bad = |message: String| Fault::new(FaultCode::BadRequest, format!("parent: {message}"));
        let bounds: Bounds = serde_json::from_str(bounds).map_err(|error| bad(quote(&error.to_string(), 256)))?;
        if bounds.rules.is_empty() {
            return Err(bad("$.rules must have the rules of the parent".to_owned()));
        }
        let rules = bounds.rules.iter().enumerate().map(|(index, handed)| {
            Rules::of(handed)
                .map_err(|fault| Fault { message: format!("parent: $.rules[{index}].{}", fault.message), ..fault })
        });
        Ok(Above { rules: rules.collect::<Result<_, _>>()?, bounds })
    }

    /// Returns the reason why the child may not use a tool under the bounds that were handed on.
    pub(crate) fn withholds(&self, tool: &Tool) -> Option<String> {
        let name = quote(&tool.full_name(), 128);
        if !self.bounds.tools.iter().any(|word| tool.is_named(word)) {
            return Some(format!("{name} was not handed on by the parent"));
        }
        if tool.is_delegate {
            // Only a host that wrote the bounds itself hands on a delegate, and no rule set contains one. A tool with
            // the same name in a rule set is a different tool.
            let is_another = self.rules.iter().any(|rules| rules.tool(tool).is_some());
            return is_another.then(|| format!("{name} was not handed on by the parent"));
        }
        self.rules.iter().find_map(|rules| {
            let agent = quote(&rules.profile.agent, 128);
            let allowed = rules.tool(tool).filter(|theirs| !theirs.permit.is_never());
            if self.is_edit(rules) {
                return allowed.is_none().then(|| format!("{name} is denied by the profile since it was edited"));
            }
            let Some(theirs) = allowed else {
                return Some(format!("{name} was not handed on by the parent: {agent} may not use it"));
            };
            if theirs.disabled().is_some() {
                return Some(format!(
                    "{name} was not handed on by the parent: the definition that {agent} pinned is invalid"
                ));
            }
            match (&tool.definition, &theirs.definition) {
                (Some(own), Some(pinned)) if own.canonical != pinned.canonical => {
                    Some(format!("{name} has another definition than {agent} pinned, which delegated"))
                }
                _ => None,
            }
        })
    }

    /// Returns the same tool in the profile of each agent above.
    pub(crate) fn tools<'a>(&'a self, tool: &'a Tool) -> impl Iterator<Item = &'a Tool> {
        self.rules.iter().filter_map(|rules| rules.tool(tool))
    }

    /// Returns the limits that apply. The strictest of these counts: the profile's own limits, the granted limits, and
    /// those of an edited profile.
    pub(crate) fn budget(&self, own: &Budget) -> Budget {
        let Budget { steps, tool_calls, tokens, ms, same_call, state_bytes } = own.clone();
        let Granted {
            steps: most_steps,
            tool_calls: most_tool_calls,
            tokens: most_tokens,
            ms: most_ms,
            same_call: most_same_call,
            state_bytes: most_state_bytes,
        } = self.bounds.budget.clone();
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let edited = self.edited().map(|edited| edited.profile.budget.clone()).unwrap_or_default();
        Budget {
            steps: least(least(steps, most_steps), edited.steps),
            tool_calls: least(least(tool_calls, most_tool_calls), edited.tool_calls),
            tokens: least(least(tokens, most_tokens), edited.tokens),
            ms: least(least(ms, most_ms), edited.ms),
            same_call: least(same_call, most_same_call),
            state_bytes: most_state_bytes
                .and_then(|most| usize::try_from(most).ok())
                .map_or(state_bytes, |most| state_bytes.min(most)),
        }
    }

    /// Returns the bounds of a run after its profile was edited: the previous bounds, if any, with the new edit in
    /// place of an earlier one.
    ///
    /// # Errors
    ///
    /// Returns `bad_request` if the edited profile is invalid.
    pub(crate) fn with_edit(
        before: Option<&Above>,
        run: &str,
        tools: Vec<String>,
        edited: Handed,
    ) -> Result<Bounds, Fault> {
        Rules::of(&edited)?;
        let mut bounds = match before {
            Some(above) => above.bounds.clone(),
            None => Bounds {
                run: run.to_owned(),
                call: EDITED.to_owned(),
                tools,
                rules: Vec::new(),
                labels: Vec::new(),
                budget: Granted::default(),
                deadline: None,
                is_edited: false,
            },
        };
        if bounds.is_edited {
            bounds.rules.pop();
        }
        bounds.rules.push(edited);
        bounds.is_edited = true;
        Ok(bounds)
    }

    /// Returns the rules of the run's own profile after an edit.
    fn edited(&self) -> Option<&Rules> {
        self.rules.last().filter(|_| self.bounds.is_edited)
    }

    /// Returns whether these rules are those of the run's own profile after an edit.
    pub(crate) fn is_edit(&self, rules: &Rules) -> bool {
        self.edited().is_some_and(|edited| std::ptr::eq(edited, rules))
    }

    /// Returns whether there is an agent above this one.
    pub(crate) fn has_parent(&self) -> bool {
        self.rules.len() > usize::from(self.bounds.is_edited)
    }

    /// Returns whether equal calls must be counted for any agent above.
    pub(crate) fn counts_calls(&self) -> bool {
        self.rules.iter().any(|rules| rules.profile.limits_equal_calls())
    }

    /// Returns the rules that a child of the child gets. Their counts include the calls that were made since, and the
    /// calls that other children may make. An edited profile judges by what people said and the model read in its own
    /// run.
    pub(crate) fn handed(
        &self,
        calls: &Calls,
        recent: &Recent,
        reserved: u64,
        heard: (&[String], &[Observed]),
    ) -> Vec<Handed> {
        let handed = self.bounds.rules.iter().cloned();
        let more = |one: Handed| Handed {
            calls: counts::then(&one.calls, calls),
            recent: rate::merged(&one.recent, recent),
            reserved: one.reserved.saturating_add(reserved),
            ..one
        };
        let mut handed: Vec<Handed> = handed.map(more).collect();
        if let (Some(edited), Some(last)) = (self.edited(), handed.last_mut())
            && edited.profile.has_origins()
        {
            (last.said, last.observed) = (heard.0.to_vec(), heard.1.to_vec());
        }
        handed
    }
}

impl Rules {
    /// # Errors
    ///
    /// Returns `bad_request` if the profile is invalid.
    fn of(handed: &Handed) -> Result<Self, Fault> {
        #[derive(Serialize)]
        struct Given<'h> {
            #[serde(skip_serializing_if = "Option::is_none")]
            task: &'h Option<Box<RawValue>>,
            context: &'h BTreeMap<String, Box<RawValue>>,
            lists: &'h BTreeMap<String, Vec<String>>,
        }
        let Handed { profile, task, context, lists, said, observed, calls, recent, reserved } = handed;
        let (mut said, mut observed) = (said.clone(), observed.clone());
        bound_said(&mut said);
        bound(&mut observed);
        let wrong = |violations| Fault::wrong(FaultCode::BadRequest, "profile", violations);
        let document = Json::read(profile.get(), &CONTRACT_CAPS).map_err(wrong)?;
        let violations = profile::FORMAT.schema().violations(&document);
        if !violations.is_empty() {
            return Err(wrong(violations));
        }
        Ok(Rules {
            profile: profile::read_part(&document).map_err(wrong)?,
            given: json(&Given { task, context, lists }),
            said,
            observed,
            calls: calls.clone(),
            recent: recent.clone(),
            reserved: *reserved,
        })
    }

    /// Returns the same tool in this agent's profile.
    pub(crate) fn tool(&self, tool: &Tool) -> Option<&Tool> {
        self.profile.tools.iter().find(|theirs| theirs.name == tool.name && theirs.server == tool.server)
    }
}

/// Returns the effect of a tool's calls under all profiles that judge it: the child's profile and those above it.
pub(crate) fn effect(tool: &Tool, above: Option<&Above>) -> Effect {
    let theirs = above.into_iter().flat_map(|above| above.tools(tool)).map(|theirs| theirs.effect);
    theirs.fold(tool.effect, Effect::max)
}

/// Returns the class of a call under all profiles that judge it.
pub(crate) fn class(tool: &Tool, above: Option<&Above>) -> Class {
    let theirs = above.into_iter().flat_map(|above| above.tools(tool));
    let reads: Vec<bool> = [tool].into_iter().chain(theirs).map(|tool| tool.effect == Effect::Read).collect();
    match (reads.contains(&true), reads.contains(&false)) {
        (true, false) => Class::Read,
        (false, true) if !tool.is_delegate => Class::Effect,
        _ => Class::Either,
    }
}

/// Returns the rates of a tool under all profiles that judge its calls.
pub(crate) fn rates<'a>(tool: &'a Tool, above: Option<&'a Above>) -> Vec<&'a Rate> {
    let theirs = above.into_iter().flat_map(|above| above.tools(tool));
    [tool].into_iter().chain(theirs).filter_map(|tool| tool.rate.as_ref()).collect()
}

/// Returns whether a tool sends data out, according to any profile that judges its calls.
pub(crate) fn sends_out(tool: &Tool, above: Option<&Above>) -> bool {
    tool.egress || above.is_some_and(|above| above.tools(tool).any(|theirs| theirs.egress))
}

/// Returns the keys with which a principal must sign decisions, under all profiles that judge a call. `None` if no
/// profile requires a key. Empty if several profiles list keys for the principal and have none in common.
pub(crate) fn keys(profile: &Profile, above: Option<&Above>, principal: &str) -> Option<Vec<String>> {
    let profiles = [profile].into_iter().chain(above.iter().flat_map(|above| &above.rules).map(|rules| &rules.profile));
    let keys = profiles.map(|profile| profile.keys(principal)).filter(|keys| !keys.is_empty());
    keys.reduce(|all, keys| all.into_iter().filter(|key| keys.contains(key)).collect())
}
