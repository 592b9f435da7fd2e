//! The JSON interface: each request gets one answer.

use crate::{
    caps::{CONTRACT_CAPS, Caps},
    caps_check::{self, Json},
    contract::Contract,
    fault::Fault,
    finish::UnknownFinish,
    json::json,
    merge::{Attempt, Merged},
    parse::{Document, Kind, NodeId, Number},
    pipeline,
    registry::Registry,
    request::{Confidence, Finish, NamedList, Observation, Request},
    stream::Scan,
    text::quote,
    types::{Change, ChangeKind, Quarantined, Reason, Report, Violation},
};

/// The caps of a request, which contains an output as a string and possibly a contract.
const REQUEST_CAPS: Caps = Caps {
    bytes: 64 * 1024 * 1024,
    string_bytes: 64 * 1024 * 1024,
    // A report contains documents as deep as a contract allows, which is deeper than contracts themselves. Contracts
    // have their own limits.
    depth: 128 + 8,
    ..CONTRACT_CAPS
};

/// The operation of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Validate,
    Merge,
    Push,
    Register,
    Has,
    Names,
    Contract,
    Describe,
    Lint,
    Seal,
    IsSealed,
}

/// The operations. Each has a name, and its members besides `id` and `op`. `schemas/request.schema.json` describes
/// them.
const OPERATIONS: [(&str, Operation, &[&str]); 11] = [
    ("validate", Operation::Validate, &["agent", "contract", "output", "finish", "lists", "evidence", "invalid_utf8"]),
    ("merge", Operation::Merge, &["agent", "lists", "evidence", "reports"]),
    ("push", Operation::Push, &["agent", "chunk", "state"]),
    ("register", Operation::Register, &["contract"]),
    ("has", Operation::Has, &["agent"]),
    ("names", Operation::Names, &[]),
    ("contract", Operation::Contract, &["agent"]),
    ("describe", Operation::Describe, &["agent"]),
    ("lint", Operation::Lint, &["contract"]),
    ("seal", Operation::Seal, &[]),
    ("is_sealed", Operation::IsSealed, &[]),
];

/// Operations in addition to those of the validator.
pub trait Operations {
    /// Returns their names, and the members of each besides `id` and `op`.
    fn operations(&self) -> &'static [(&'static str, &'static [&'static str])];

    /// Performs one of the operations, and returns the answer as JSON text.
    ///
    /// # Errors
    ///
    /// Returns a fault if a member is missing, or if the operation itself fails.
    fn answer(&mut self, operation: &str, members: &Members) -> Result<String, Fault>;

    /// Seals what these operations register, when the validator's registry is sealed.
    fn seal(&mut self);
}

/// No further operations.
impl Operations for () {
    fn operations(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[]
    }

    fn answer(&mut self, _: &str, _: &Members) -> Result<String, Fault> {
        Err(bad(Vec::new()))
    }

    fn seal(&mut self) {}
}

/// The members of a request.
pub struct Members<'c, 'd, 't>(&'c Call<'d, 't>);

impl Members<'_, '_, '_> {
    /// Returns a required string.
    pub fn string(&self, name: &str) -> Result<&str, Fault> {
        self.0.string(self.0.required(name)?)
    }

    /// Returns whether a member is present.
    pub fn has(&self, name: &str) -> bool {
        self.0.document.member(Document::ROOT, name).is_some()
    }

    /// Returns a required member as JSON text without insignificant white space. Locations are relative to it.
    pub fn json(&self, name: &str) -> Result<String, Fault> {
        self.0.source(Document::ROOT, name)
    }
}

/// Returns the names of the validator's operations.
pub fn operations() -> impl Iterator<Item = &'static str> {
    OPERATIONS.into_iter().map(|(name, ..)| name)
}

/// Answers one request. See `call` in `wit/wire.wit`.
pub fn call(registry: &mut Registry, request: &str) -> String {
    call_with(registry, &mut (), request)
}

/// Answers one request, with further operations.
pub fn call_with(registry: &mut Registry, more: &mut dyn Operations, request: &str) -> String {
    let mut id = "null".to_owned();
    let answer = Json::read(request, &REQUEST_CAPS).map_err(bad).and_then(|document| {
        let call = Call { document: &document };
        if let Some(at) = document.member(Document::ROOT, "id") {
            id.clear();
            document.write(at, &mut id);
        }
        call.answer(registry, more)
    });
    match answer {
        Ok(answer) => format!("{{\"id\":{id},{answer}}}"),
        Err(fault) => format!("{{\"id\":{id},\"fault\":{}}}", fault.to_json()),
    }
}

/// Answers one request given as bytes, with further operations.
pub fn call_bytes_with(registry: &mut Registry, more: &mut dyn Operations, request: &[u8]) -> String {
    match std::str::from_utf8(request) {
        Ok(request) => call_with(registry, more, request),
        Err(_) => {
            let before = request.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            let at = u32::try_from(before.len()).unwrap_or(u32::MAX);
            format!("{{\"id\":null,\"fault\":{}}}", bad(vec![caps_check::not_utf8(before, at)]).to_json())
        }
    }
}

fn bad(violations: Vec<Violation>) -> Fault {
    Fault::bad_request(violations)
}

/// The requested operation, and the members that it may have.
enum Asked {
    Own(Operation, &'static [&'static str]),
    More(&'static str, &'static [&'static str]),
}

/// A request that is being read.
struct Call<'d, 't> {
    document: &'d Document<'t>,
}

impl Call<'_, '_> {
    /// Returns the rest of the answer, after its `id`.
    fn answer(&self, registry: &mut Registry, more: &mut dyn Operations) -> Result<String, Fault> {
        let document = self.document;
        if document.kind(Document::ROOT) != Kind::Object {
            return Err(self.wrong(Document::ROOT, "an object", "must be an object"));
        }
        let result = |result: String| Ok(format!("\"result\":{result}"));
        let (operation, members) = match self.operation(more.operations())? {
            Asked::Own(operation, members) => (operation, members),
            Asked::More(name, members) => {
                self.only(members)?;
                return result(more.answer(name, &Members(self))?);
            }
        };
        self.only(members)?;
        match operation {
            Operation::Validate => Ok(format!("\"report\":{}", self.validate(registry)?.to_json())),
            Operation::Merge => {
                let (reports, lists, evidence) = (self.reports()?, self.named_lists()?, self.evidence()?);
                let report = match registry.merge(self.agent()?, &reports, lists, evidence)? {
                    Merged::Same(index) => {
                        let at = self.list(self.required("reports")?)?.nth(index).unwrap_or(Document::ROOT);
                        let mut report = String::new();
                        document.write(at, &mut report);
                        report
                    }
                    Merged::New(report) => report.to_json(),
                };
                Ok(format!("\"report\":{report}"))
            }
            Operation::Push => {
                let mut scan = self.state()?;
                let progress = registry.advance(self.agent()?, &mut scan, self.string(self.required("chunk")?)?)?;
                result(format!("{{\"state\":{},\"progress\":{}}}", json(&scan.to_text()), json(&progress)))
            }
            Operation::Register => result(json(&registry.register(&self.contract()?)?)),
            Operation::Has => result(json(&registry.has(self.agent()?))),
            Operation::Names => result(json(&registry.names())),
            Operation::Contract => result(json(&registry.contract(self.agent()?)?)),
            Operation::Describe => result(json(&registry.describe(self.agent()?)?)),
            Operation::Lint => result(json(&registry.lint(&self.contract()?)?)),
            Operation::Seal => {
                registry.seal();
                more.seal();
                result("null".to_owned())
            }
            Operation::IsSealed => result(json(&registry.is_sealed())),
        }
    }

    /// Returns the operation, and the members that its requests may have besides `id` and `op`. The default is
    /// `validate`.
    fn operation(&self, more: &[(&'static str, &'static [&'static str])]) -> Result<Asked, Fault> {
        let at = self.document.member(Document::ROOT, "op");
        let name = at.map_or(Ok("validate"), |at| self.string(at))?;
        if let Some(&(_, operation, members)) = OPERATIONS.iter().find(|(known, ..)| *known == name) {
            return Ok(Asked::Own(operation, members));
        }
        if let Some(&(name, members)) = more.iter().find(|(known, _)| *known == name) {
            return Ok(Asked::More(name, members));
        }
        let known: Vec<&str> = operations().chain(more.iter().map(|(name, _)| *name)).collect();
        let known = known.join(", ");
        Err(self.wrong(at.unwrap_or(Document::ROOT), &known, &format!("must be one of {known}")))
    }

    fn validate(&self, registry: &Registry) -> Result<Report, Fault> {
        let document = self.document;
        let member = |name: &str| document.member(Document::ROOT, name);
        let output = self.required("output")?;
        let mut request = Request { output: self.string(output)?, ..Request::default() };
        if let Some(at) = member("agent") {
            request.agent = self.string(at)?.to_owned();
        }
        if let Some(at) = member("finish") {
            request.finish = self.finish(at)?;
        }
        request.lists = self.named_lists()?;
        request.evidence = self.evidence()?.map(Into::into);
        if let Some(at) = member("invalid_utf8").filter(|&at| document.kind(at) != Kind::Null) {
            let expected = "a byte offset";
            request.invalid_utf8 = Some(
                self.offset(at).ok_or_else(|| self.wrong(at, expected, "must be a byte offset, an integer from 0"))?,
            );
        }
        match (member("agent"), member("contract")) {
            (None, None) => {
                let message = "must have member \"agent\" or \"contract\"";
                Err(self.wrong(Document::ROOT, "\"agent\" or \"contract\"", message))
            }
            (Some(_), None) => registry.validate(&request),
            (_, Some(_)) => pipeline::validate(&Contract::compile(&self.contract()?)?, &request),
        }
    }

    fn wrong(&self, at: NodeId, expected: &str, message: &str) -> Fault {
        bad(vec![Violation::of(self.document, at, "request", expected, message)])
    }

    /// Rejects members that this request must not have.
    fn only(&self, known: &[&str]) -> Result<(), Fault> {
        let mut members = vec!["id", "op"];
        members.extend(known);
        match self.document.unknown_member(Document::ROOT, &members) {
            None => Ok(()),
            Some(name) => {
                let known = members.join(", ");
                let message = format!("must not be there: such a request has the members {known}");
                Err(self.wrong(name, &known, &message))
            }
        }
    }

    fn required(&self, name: &str) -> Result<NodeId, Fault> {
        self.part(Document::ROOT, name)
    }

    fn string(&self, at: NodeId) -> Result<&str, Fault> {
        match self.document.kind(at) {
            Kind::String => Ok(self.document.string(at)),
            _ => Err(self.wrong(at, "string", "must be a string")),
        }
    }

    fn agent(&self) -> Result<&str, Fault> {
        self.string(self.required("agent")?)
    }

    /// Returns the contract as a separate text, so that locations are relative to it.
    fn contract(&self) -> Result<String, Fault> {
        let mut contract = String::new();
        self.document.write(self.required("contract")?, &mut contract);
        Ok(contract)
    }

    fn finish(&self, at: NodeId) -> Result<Finish, Fault> {
        let word = self.string(at)?;
        word.parse().map_err(|error: UnknownFinish| self.wrong(at, "why the producer stopped", &error.to_string()))
    }

    /// Returns the state of an output that is still arriving. Empty before the first chunk.
    fn state(&self) -> Result<Scan, Fault> {
        let document = self.document;
        let state = document.member(Document::ROOT, "state").filter(|&at| document.kind(at) != Kind::Null);
        let Some(at) = state else {
            return Ok(Scan::default());
        };
        Scan::of_text(self.string(at)?)
            .ok_or_else(|| self.wrong(at, "a state", "must be the state from the answer to the previous chunk"))
    }

    fn reports(&self) -> Result<Vec<Attempt>, Fault> {
        self.list(self.required("reports")?)?.map(|at| self.report(at)).collect()
    }

    /// Reads the parts of a report that a merge needs.
    fn report(&self, at: NodeId) -> Result<Attempt, Fault> {
        let disposition = self.text(at, "disposition")?;
        let has_output = matches!(disposition.as_str(), "accepted" | "partial");
        Ok(Attempt {
            agent: self.text(at, "agent")?,
            contract: self.text(at, "contract")?,
            is_accepted: disposition == "accepted",
            output: if has_output { Some(self.source(at, "output")?) } else { None },
            items: self.each(at, "items", |item| Ok((self.number(item, "index")?, self.source(item, "value")?)))?,
            quarantined: self.each(at, "quarantined", |item| self.quarantined(item))?,
            changes: self.each(at, "changes", |change| self.change(change))?,
            notes: self.each(at, "notes", |note| Ok(self.string(note)?.to_owned()))?,
        })
    }

    fn quarantined(&self, at: NodeId) -> Result<Quarantined, Fault> {
        Ok(Quarantined {
            index: self.number(at, "index")?,
            path: self.text(at, "path")?,
            pointer: self.text(at, "pointer")?,
            reason: self.word(at, "reason", &Reason::ALL, Reason::as_str)?,
            span: None,
            snippet: self.text(at, "snippet")?,
            violations: self.each(at, "violations", |violation| self.violation(violation))?,
        })
    }

    fn violation(&self, at: NodeId) -> Result<Violation, Fault> {
        Ok(Violation {
            path: self.text(at, "path")?,
            keyword: self.text(at, "keyword")?,
            expected: self.text(at, "expected")?,
            received: self.text(at, "received")?,
            message: self.text(at, "message")?,
            pointer: self.text(at, "pointer")?,
            schema_path: self.text(at, "schema_path")?,
            span: None,
        })
    }

    fn change(&self, at: NodeId) -> Result<Change, Fault> {
        Ok(Change {
            kind: self.word(at, "kind", &ChangeKind::ALL, ChangeKind::as_str)?,
            path: self.text(at, "path")?,
            span: None,
            before: self.text(at, "before")?,
            after: self.text(at, "after")?,
        })
    }

    /// Returns a required member.
    fn part(&self, at: NodeId, name: &str) -> Result<NodeId, Fault> {
        self.document.member(at, name).ok_or_else(|| {
            let message = format!("must have member {}", quote(name, 64));
            self.wrong(at, &format!("member {}", quote(name, 64)), &message)
        })
    }

    fn text(&self, at: NodeId, name: &str) -> Result<String, Fault> {
        self.string(self.part(at, name)?).map(str::to_owned)
    }

    /// Returns a member whose value is one of the gate's words.
    fn word<T: Copy>(&self, at: NodeId, name: &str, all: &[T], word: fn(T) -> &'static str) -> Result<T, Fault> {
        let at = self.part(at, name)?;
        let text = self.string(at)?;
        all.iter().copied().find(|known| word(*known) == text).ok_or_else(|| {
            let known = all.iter().map(|known| word(*known)).collect::<Vec<_>>().join(", ");
            self.wrong(at, &known, &format!("must be one of {known}"))
        })
    }

    /// Returns a member as JSON text.
    fn source(&self, at: NodeId, name: &str) -> Result<String, Fault> {
        let mut text = String::new();
        self.document.write(self.part(at, name)?, &mut text);
        Ok(text)
    }

    fn number(&self, at: NodeId, name: &str) -> Result<u32, Fault> {
        let at = self.part(at, name)?;
        self.offset(at).ok_or_else(|| self.wrong(at, "an index", "must be an index, an integer from 0"))
    }

    /// Returns an integer that fits 32 bits.
    fn offset(&self, at: NodeId) -> Option<u32> {
        let is_number = self.document.kind(at) == Kind::Number;
        is_number.then(|| Number(self.document.source(at)).as_u64()).flatten()?.try_into().ok()
    }

    fn list(&self, at: NodeId) -> Result<impl Iterator<Item = NodeId>, Fault> {
        match self.document.kind(at) {
            Kind::Array => Ok(self.document.items(at)),
            _ => Err(self.wrong(at, "array", "must be a list")),
        }
    }

    /// Reads the items of a required list.
    fn each<T>(&self, at: NodeId, name: &str, read: impl Fn(NodeId) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        self.list(self.part(at, name)?)?.map(read).collect()
    }

    fn named_lists(&self) -> Result<Vec<NamedList>, Fault> {
        let document = self.document;
        let Some(at) = document.member(Document::ROOT, "lists") else {
            return Ok(Vec::new());
        };
        if document.kind(at) != Kind::Object {
            return Err(self.wrong(at, "object", "must be an object of lists by their names"));
        }
        let mut lists = Vec::new();
        for (name, values) in document.members(at) {
            if document.kind(values) != Kind::Array {
                return Err(self.wrong(values, "array", "must be a list of strings"));
            }
            let values = document.items(values).map(|value| self.string(value).map(str::to_owned));
            lists.push(NamedList { name: document.string(name).to_owned(), values: values.collect::<Result<_, _>>()? });
        }
        Ok(lists)
    }
}

impl Call<'_, '_> {
    /// Reads the evidence, if the request has any.
    fn evidence(&self) -> Result<Option<Vec<Observation>>, Fault> {
        let at = self.document.member(Document::ROOT, "evidence").filter(|&at| self.document.kind(at) != Kind::Null);
        at.map(|at| self.list(at)?.map(|at| self.observation(at)).collect()).transpose()
    }

    /// Reads an observation. A missing member has the most restrictive value.
    fn observation(&self, at: NodeId) -> Result<Observation, Fault> {
        const MEMBERS: [&str; 7] = ["id", "kinds", "text", "labels", "confidence", "complete", "limitations"];
        let document = self.document;
        if document.kind(at) != Kind::Object {
            return Err(self.wrong(at, "an observation", "must be an observation, an object"));
        }
        if let Some(name) = document.unknown_member(at, &MEMBERS) {
            let known = MEMBERS.join(", ");
            return Err(self.wrong(
                name,
                &known,
                &format!("must not be there: an observation has the members {known}"),
            ));
        }
        let words = |name: &str| match document.member(at, name) {
            Some(words) => self.list(words)?.map(|word| self.string(word).map(str::to_owned)).collect(),
            None => Ok(Vec::new()),
        };
        let complete = match document.member(at, "complete").map(|at| (at, document.kind(at))) {
            Some((_, Kind::True)) => true,
            None | Some((_, Kind::False)) => false,
            Some((at, _)) => return Err(self.wrong(at, "boolean", "must be true or false")),
        };
        let confidence = match document.member(at, "confidence") {
            Some(_) => self.word(at, "confidence", &Confidence::ALL, Confidence::as_str)?,
            None => Confidence::Low,
        };
        Ok(Observation {
            id: self.text(at, "id")?,
            kinds: words("kinds")?,
            text: self.text(at, "text")?,
            labels: words("labels")?,
            confidence,
            complete,
            limitations: words("limitations")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::Value;

    use super::*;

    /// Returns the operations in the schema of requests, and the members of each.
    fn described() -> BTreeMap<String, BTreeSet<String>> {
        let schema = include_str!("../../../schemas/request.schema.json");
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        let mut described = BTreeMap::new();
        for request in schema["$defs"].as_object().expect("definitions").values() {
            let Some(op) = request["properties"].get("op") else { continue };
            let names = op["enum"].as_array().cloned().unwrap_or_else(|| vec![op["const"].clone()]);
            let members = request["properties"].as_object().expect("members").keys();
            let members: BTreeSet<String> =
                members.filter(|name| !["id", "op"].contains(&name.as_str())).cloned().collect();
            described.extend(names.iter().map(|name| (name.as_str().expect("a name").to_owned(), members.clone())));
        }
        described
    }

    #[test]
    fn the_operations_are_those_that_the_schema_describes() {
        let owned = |members: &[&str]| members.iter().map(|member| (*member).to_owned()).collect();
        let ours: BTreeMap<String, BTreeSet<String>> =
            OPERATIONS.iter().map(|(name, _, members)| ((*name).to_owned(), owned(members))).collect();
        // The kernel has further operations, and a test of the kernel compares them with the same schema.
        let described: BTreeMap<_, _> = described().into_iter().filter(|(name, _)| ours.contains_key(name)).collect();
        assert_eq!(ours, described);
    }
}
