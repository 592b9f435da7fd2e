//! Reads a tool's `permit`: one decision, or a list of cases.

use seamgate_core::kernel_api::{Kind, NodeId, Path, Schema, quote};

use super::Reader;
use crate::{
    cases::{Case, Cases, Places},
    document::text_in,
    places::{Folder, Host},
    tool::Definition,
};

/// The requirements on folders and hosts of a profile.
pub(super) const FOLDERS: &str = "must be a folder without '..', '\\', ':' or '~' at its beginning";
pub(super) const HOSTS: &str = "must be a host in ASCII, without scheme and port, or '*.' and a host";

impl Reader<'_, '_> {
    /// Reads a tool's `permit`. The default is deny.
    pub(super) fn cases(
        &mut self,
        tool: NodeId,
        groups: &[&str],
        pinned: Option<&Definition>,
        own: Option<&Schema>,
    ) -> Cases {
        let document = self.document;
        let Some(at) = self.member(tool, "permit").filter(|&at| document.kind(at) == Kind::Array) else {
            return Cases::from(self.permit(tool, groups));
        };
        let mut cases: Vec<Case> = Vec::new();
        for at in document.items(at) {
            if cases.last().is_some_and(Case::is_for_all) {
                let message =
                    "can never be reached: the case before it has no condition, so that it decides about all calls";
                self.say(at, "no case behind one without a condition", message);
                break;
            }
            let case = self.case(at, groups);
            self.can_hold(tool, at, &case, pinned, own);
            cases.push(case);
        }
        Cases::list(cases)
    }

    fn case(&mut self, at: NodeId, groups: &[&str]) -> Case {
        let document = self.document;
        let mut places = Vec::new();
        for name in ["below", "hosts"] {
            for (path, list) in self.member(at, name).into_iter().flat_map(|at| document.members(at)) {
                let held = match name {
                    "below" => Places::Below(self.read_each(list, "a folder", FOLDERS, Folder::read)),
                    _ => Places::Hosts(self.read_each(list, "a host", HOSTS, Host::read)),
                };
                places.extend(self.path_at(path).map(|path| (path, held)));
            }
        }
        // A schema without rules is not a condition.
        let is_empty = |at| document.kind(at) == Kind::Object && document.count(at) == 0;
        let when = match self.member(at, "when") {
            Some(when) if is_empty(when) => None,
            Some(_) => self.schema(at, "when"),
            None => None,
        };
        Case { when, places, permit: self.permit(at, groups) }
    }

    /// Checks that the members that a case's conditions name exist in the tool's pinned definition.
    fn can_hold(&mut self, tool: NodeId, at: NodeId, case: &Case, pinned: Option<&Definition>, own: Option<&Schema>) {
        let document = self.document;
        if let Some(when) = self.member(at, "when") {
            let name = self.tool_name(tool);
            let of = format!("the pinned definition of {name}");
            let pinned = pinned.map(|definition| definition.arguments.as_ref().into_iter().collect::<Vec<_>>());
            if let (Some(schema), Some([pinned])) = (&case.when, pinned.as_deref()) {
                self.has_members(when, schema, &[pinned], &of);
            }
        }
        let conditions = ["below", "hosts"].into_iter().filter_map(|name| document.member(at, name));
        let names: Vec<NodeId> = conditions.flat_map(|at| document.members(at)).map(|(name, _)| name).collect();
        let is_path = |&&name: &&NodeId| Path::read(document.string(name)).is_some();
        for (&name, (path, _)) in names.iter().filter(is_path).zip(&case.places) {
            self.leads_to(name, path, &[Kind::String], tool, pinned, own);
        }
    }

    /// Returns the name of a tool for messages.
    pub(super) fn tool_name(&self, tool: NodeId) -> String {
        quote(text_in(self.document, tool, "name").unwrap_or_default(), 128)
    }
}
