//! Follow-up calls that an approval covers, so that a person is asked once for one intent. Each follow-up call is
//! covered once, with the same values, and for a limited time.

use seamgate_core::kernel_api::{Document, Json, Path, canonical, json};

use crate::{
    approval::action,
    call::Call,
    digest::Action,
    document::CAPS,
    facts::{Facts, Remembered},
    profile::Profile,
    tool::{Cover, Tool},
};

/// A follow-up call, and the values that it must have.
pub(crate) struct Covered<'p> {
    pub(crate) cover: &'p Cover,
    /// The values at each path, in canonical form.
    pub(crate) values: Vec<Vec<String>>,
}

/// Returns the follow-up calls that an approval of a call covers. Returns none in a child or under an edited profile,
/// because the rules of the others do not name follow-up calls. Also returns none if the call lacks a value.
pub(crate) fn of<'p>(tool: &'p Tool, facts: &Facts, call: &Call) -> Vec<Covered<'p>> {
    if facts.above.is_some() || tool.covers.is_empty() {
        return Vec::new();
    }
    let Ok(arguments) = Json::read(&call.arguments, &CAPS) else { return Vec::new() };
    let covered = |cover: &'p Cover| {
        let values: Option<Vec<Vec<String>>> = cover.same.iter().map(|(_, own)| values(own, &arguments)).collect();
        Some(Covered { cover, values: values? })
    };
    tool.covers.iter().filter_map(covered).collect()
}

/// Returns the values at a path, each in canonical form. `None` if the path leads to nothing.
fn values(path: &Path, arguments: &Document) -> Option<Vec<String>> {
    let found = Path::select(&path.selectors, arguments, Document::ROOT);
    (!found.is_empty()).then(|| found.into_iter().map(|at| canonical(arguments, at)).collect())
}

/// Returns the approvals of follow-up calls that result from a principal's approval of a call.
pub(crate) fn given(profile: &Profile, facts: &Facts, tool: &Tool, call: &Call, principal: &str) -> Vec<Remembered> {
    let given = |Covered { cover, values }: Covered| {
        let tool = profile.tools.iter().find(|tool| tool.full_name() == cover.tool)?;
        let paths: Vec<String> = cover.same.iter().map(|(path, _)| path.text.clone()).collect();
        Some(Remembered {
            digest: digest_of(&action(profile, facts, tool, call), &paths, &values),
            any: Vec::new(),
            same: paths,
            principal: principal.to_owned(),
            at: facts.at,
            expires: facts.at.saturating_add(cover.ttl_s.saturating_mul(1000)),
            left: 1,
            why: Vec::new(),
        })
    };
    of(tool, facts, call).into_iter().filter_map(given).collect()
}

/// Returns whether the approval of a call would cover another call.
pub(crate) fn would_cover(
    profile: &Profile,
    facts: &Facts,
    (tool, call): (&Tool, &Call),
    (other, later): (&Tool, &Call),
) -> bool {
    let action = action(profile, facts, other, later);
    let given = given(profile, facts, tool, call, "");
    given.iter().any(|one| digest(&action, later, &one.same).as_ref() == Some(&one.digest))
}

/// Returns the digest of a follow-up call. `None` if the call lacks a value that must be the same.
pub(crate) fn digest(action: &Action, call: &Call, paths: &[String]) -> Option<String> {
    let arguments = Json::read(&call.arguments, &CAPS).ok()?;
    let values: Option<Vec<_>> = paths.iter().map(|path| values(&Path::read(path)?, &arguments)).collect();
    Some(digest_of(action, paths, &values?))
}

fn digest_of(action: &Action, paths: &[String], values: &[Vec<String>]) -> String {
    // This prefix cannot collide with the text of arguments, which begin as an object.
    let same = format!("same {}", json(&(paths, values)));
    Action { arguments: &same, ..*action }.digest()
}
