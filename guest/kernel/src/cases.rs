//! A tool's `permit`: cases with conditions on the arguments of a call. The first case whose conditions hold decides.
//!
//! A condition leaves its case open if it meets a value of an unexpected type, or a value that programs could interpret
//! in different ways. The decision is then the strictest of all open cases and of the decision after them. Such a value
//! therefore never permits more than any case that might hold.

use seamgate_core::kernel_api::{Document, Json, Kind, Location, Path, Schema, Selector, quote, short, sort};

use crate::{
    places::{Folder, Host, Verdict},
    reached::Reached,
};

/// The decision about a call that passed all other checks, in ascending order of strictness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Permit {
    Allow,
    Approval(Approval),
    Deny,
}

/// The approvers of a call, and the time for which their approval is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Approval {
    /// Groups of the profile's approvers.
    pub(crate) by: Vec<String>,
    pub(crate) ttl_s: u64,
}

/// The rules that decide about a tool's calls after all other checks have passed. If no case holds, the call is denied.
pub(crate) struct Cases {
    cases: Vec<Case>,
    /// `true` if the profile lists cases.
    is_list: bool,
}

/// A case. All of its conditions must hold.
pub(crate) struct Case {
    pub(crate) when: Option<Schema>,
    pub(crate) places: Vec<(Path, Places)>,
    pub(crate) permit: Permit,
}

/// The locations that all values at a path must be in.
pub(crate) enum Places {
    Below(Vec<Folder>),
    Hosts(Vec<Host>),
}

/// The decision of cases about one call.
pub(crate) enum Decided {
    /// Denied, with the reason.
    Denied(String),
    /// All of these must approve. If the list is empty, the call is allowed.
    Approvals(Vec<(Approval, String)>),
}

impl Decided {
    /// Returns the first required approval.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        match self {
            Decided::Denied(_) => None,
            Decided::Approvals(approvals) => approvals.first().map(|(approval, _)| approval),
        }
    }
}

impl From<Permit> for Cases {
    fn from(permit: Permit) -> Self {
        Cases { cases: vec![Case { when: None, places: Vec::new(), permit }], is_list: false }
    }
}

impl Cases {
    pub(crate) fn list(cases: Vec<Case>) -> Self {
        Cases { cases, is_list: true }
    }

    /// Returns whether all calls are denied.
    pub(crate) fn is_never(&self) -> bool {
        self.cases.iter().all(|case| case.permit == Permit::Deny)
    }

    /// Returns whether some calls run without an approval.
    pub(crate) fn may_allow(&self) -> bool {
        self.cases.iter().any(|case| case.permit == Permit::Allow)
    }

    /// Returns whether a case without conditions allows calls without approval.
    pub(crate) fn allows_the_rest(&self) -> bool {
        self.cases.iter().any(|case| case.is_for_all() && case.permit == Permit::Allow)
    }

    /// Returns whether some calls need an approval.
    pub(crate) fn may_ask(&self) -> bool {
        self.approval().is_some()
    }

    /// Returns whether the decision depends on the arguments.
    pub(crate) fn depends(&self) -> bool {
        !self.cases.first().is_some_and(Case::is_for_all)
    }

    /// Returns the first approval that a case requires.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.cases.iter().find_map(|case| match &case.permit {
            Permit::Approval(approval) => Some(approval),
            _ => None,
        })
    }

    /// Returns the paths of the arguments that conditions refer to.
    pub(crate) fn paths(&self) -> Vec<Vec<Selector>> {
        let whens = self.cases.iter().filter_map(|case| case.when.as_ref()).flat_map(Schema::paths);
        let places = self.cases.iter().flat_map(|case| &case.places).map(|(path, _)| path.selectors.clone());
        whens.chain(places).collect()
    }

    /// Decides about a call. `tool` is the full name of the tool.
    pub(crate) fn decide(&self, tool: &str, arguments: &Json) -> Decided {
        let name = quote(tool, 128);
        let mut approvals: Vec<(Approval, String)> = Vec::new();
        for (number, case) in self.cases.iter().enumerate() {
            let verdict = case.verdict(arguments);
            if verdict == Verdict::Fails {
                continue;
            }
            let by = if self.is_list { format!(", by case {} of its 'permit'", number + 1) } else { String::new() };
            let open = match verdict {
                Verdict::Open => case.left_open(arguments),
                _ => String::new(),
            };
            match &case.permit {
                Permit::Allow => {}
                Permit::Approval(approval) => {
                    let reason = format!("{name} needs approval{by}{open}");
                    approvals.push((approval.clone(), reason));
                }
                Permit::Deny if self.is_list => {
                    let message = format!("{name} is not permitted with these arguments{by}{open}");
                    return Decided::Denied(message);
                }
                Permit::Deny => {
                    return Decided::Denied(format!("{name} is never permitted"));
                }
            }
            if verdict == Verdict::Holds {
                return Decided::Approvals(approvals);
            }
        }
        let message = format!("{name} is not permitted with these arguments: no case of its 'permit' matches");
        Decided::Denied(message)
    }
}

impl Case {
    /// Returns whether the case has no conditions, so that it holds for all arguments.
    pub(crate) fn is_for_all(&self) -> bool {
        self.when.is_none() && self.places.is_empty()
    }

    /// Describes the arguments that leave the case open, so that the model can write them differently.
    fn left_open(&self, arguments: &Json) -> String {
        let mut names: Vec<String> = Vec::new();
        if self.when(arguments) == Some(Verdict::Open) {
            let first = |path: Vec<Selector>| match path.into_iter().next() {
                Some(Selector::Name(name)) => Some(Location::root().name(&name).path()),
                _ => None,
            };
            names.extend(self.when.iter().flat_map(Schema::paths).filter_map(first));
        }
        let open = self.places.iter().filter(|(path, places)| places.verdict(path, arguments) == Verdict::Open);
        names.extend(open.map(|(path, _)| short(&path.text, 128)));
        sort(&mut names);
        names.dedup();
        let arguments = if names.is_empty() { "the arguments".to_owned() } else { names.join(" and ") };
        format!(
            ", whose conditions do not decide: write {arguments} in a plain form, of the type that the case is about"
        )
    }

    fn when(&self, arguments: &Json) -> Option<Verdict> {
        self.when.as_ref().map(|when| match () {
            () if when.must_be_valid(arguments) => Verdict::Holds,
            () if when.is_valid(arguments) || when.may_be_valid(arguments) => Verdict::Open,
            () => Verdict::Fails,
        })
    }

    fn verdict(&self, arguments: &Json) -> Verdict {
        let when = self.when(arguments);
        let places = self.places.iter().map(|(path, places)| places.verdict(path, arguments));
        all(when.into_iter().chain(places))
    }
}

/// Returns the verdict on whether all conditions hold.
fn all(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.fold(Verdict::Holds, |so_far, one| match (so_far, one) {
        (Verdict::Fails, _) | (_, Verdict::Fails) => Verdict::Fails,
        (Verdict::Open, _) | (_, Verdict::Open) => Verdict::Open,
        _ => Verdict::Holds,
    })
}

impl Places {
    /// Returns the verdict on whether all values at the path are in these locations. Fails if none of them is, or if
    /// the path leads to no value.
    fn verdict(&self, path: &Path, arguments: &Document) -> Verdict {
        let Reached { ends, stopped, beside, is_absent, .. } = Reached::of(&path.selectors, arguments, Document::ROOT);
        if !stopped.is_empty() || !beside.is_empty() || (is_absent && !ends.is_empty()) {
            return Verdict::Open;
        }
        let is_at = |text: &str| match self {
            Places::Below(folders) => any(folders.iter().map(|folder| folder.verdict(text))),
            Places::Hosts(hosts) => any(hosts.iter().map(|host| host.verdict(text))),
        };
        let one = |at| match arguments.kind(at) {
            Kind::String => is_at(arguments.string(at)),
            _ => Verdict::Open,
        };
        let mut verdicts = ends.into_iter().map(one);
        let Some(first) = verdicts.next() else { return Verdict::Fails };
        verdicts.fold(first, |so_far, one| if one == so_far { one } else { Verdict::Open })
    }
}

/// Returns the verdict on whether any of the locations contains a value.
fn any(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.fold(Verdict::Fails, |so_far, one| match (so_far, one) {
        (Verdict::Holds, _) | (_, Verdict::Holds) => Verdict::Holds,
        (Verdict::Open, _) | (_, Verdict::Open) => Verdict::Open,
        _ => Verdict::Fails,
    })
}
