//! Everything as JSON text: one request in, one answer out.

use crate::{
    contract::{CONTRACT_CAPS, Caps, Contract},
    fault::{Fault, FaultCode},
    parse::{self, Document, Kind, NodeId, Number, Span},
    registry::Registry,
    report::json,
    request::{Finish, NamedList, Request},
    screen,
    text::quote,
    violation::Violation,
};

/// A request holds an output as a string, and may hold a contract: the caps of both together.
const REQUEST_CAPS: Caps = Caps {
    bytes: 64 * 1024 * 1024,
    string_bytes: 64 * 1024 * 1024,
    // A member of the request.
    depth: CONTRACT_CAPS.depth + 1,
    ..CONTRACT_CAPS
};

/// Answer one request. See `call` in `wit/wire.wit`.
pub fn call(registry: &mut Registry, request: &str) -> String {
    let mut id = "null".to_owned();
    let answer = read(request).and_then(|document| {
        let call = Call { document: &document };
        if let Some(at) = document.member(Document::ROOT, "id") {
            id.clear();
            document.write(at, &mut id);
        }
        call.answer(registry)
    });
    match answer {
        Ok(answer) => format!("{{\"id\":{id},{answer}}}"),
        Err(fault) => format!("{{\"id\":{id},\"fault\":{}}}", fault.to_json()),
    }
}

fn bad(violations: Vec<Violation>) -> Fault {
    Fault::wrong(FaultCode::BadRequest, "request", violations)
}

fn read(request: &str) -> Result<Document<'_>, Fault> {
    let span = Span::new(0, request.len().min(crate::MAX_TEXT));
    screen::screen_size(span, &REQUEST_CAPS).map_err(|violations| bad(violations.listed))?;
    let parsed =
        parse::parse(request, span, &REQUEST_CAPS).map_err(|broken| bad(vec![screen::malformed(request, &broken)]))?;
    screen::screen(parsed).into_document(&REQUEST_CAPS).map_err(|violations| bad(violations.listed))
}

/// A request that is being read.
struct Call<'d, 't> {
    document: &'d Document<'t>,
}

impl Call<'_, '_> {
    /// The rest of the answer, after its `id`.
    fn answer(&self, registry: &mut Registry) -> Result<String, Fault> {
        let document = self.document;
        if document.kind(Document::ROOT) != Kind::Object {
            return Err(self.wrong(Document::ROOT, "an object", "must be an object"));
        }
        let op = match document.member(Document::ROOT, "op") {
            Some(at) => self.string(at)?,
            None => "validate",
        };
        let result = |result: String| Ok(format!("\"result\":{result}"));
        match op {
            "validate" => {
                let report = self.validate(registry)?;
                Ok(format!("\"report\":{}", report.to_json()))
            }
            "register" => {
                self.only(&["contract"])?;
                result(json(&registry.register(&self.contract()?)?))
            }
            "has" => {
                self.only(&["agent"])?;
                result(json(&registry.has(self.agent()?)))
            }
            "names" => {
                self.only(&[])?;
                result(json(&registry.names()))
            }
            "contract" => {
                self.only(&["agent"])?;
                result(json(&registry.contract(self.agent()?)?))
            }
            "describe" => {
                self.only(&["agent"])?;
                result(json(&registry.describe(self.agent()?)?))
            }
            "lint" => {
                self.only(&["contract"])?;
                result(json(&registry.lint(&self.contract()?)?))
            }
            "seal" => {
                self.only(&[])?;
                registry.seal();
                result("null".to_owned())
            }
            _ => {
                let known = "validate, register, has, names, contract, describe, lint or seal";
                let at = document.member(Document::ROOT, "op").unwrap_or(Document::ROOT);
                Err(self.wrong(at, known, &format!("must be {known}")))
            }
        }
    }

    fn validate(&self, registry: &Registry) -> Result<crate::Report, Fault> {
        let document = self.document;
        self.only(&["agent", "contract", "output", "finish", "lists", "invalid_utf8"])?;
        let member = |name: &str| document.member(Document::ROOT, name);
        let output = self.required("output")?;
        let mut request = Request { output: self.string(output)?, ..Request::default() };
        if let Some(at) = member("agent") {
            request.agent = self.string(at)?.to_owned();
        }
        if let Some(at) = member("finish") {
            request.finish = self.finish(at)?;
        }
        if let Some(at) = member("lists") {
            request.lists = self.lists(at)?;
        }
        if let Some(at) = member("invalid_utf8").filter(|&at| document.kind(at) != Kind::Null) {
            let offset = (document.kind(at) == Kind::Number)
                .then(|| Number(document.source(at)).as_u64())
                .flatten()
                .and_then(|offset| u32::try_from(offset).ok());
            let expected = "a byte offset";
            request.invalid_utf8 =
                Some(offset.ok_or_else(|| self.wrong(at, expected, "must be a byte offset, an integer from 0"))?);
        }
        match (member("agent"), member("contract")) {
            (None, None) => {
                let message = "must have member \"agent\" or \"contract\"";
                Err(self.wrong(Document::ROOT, "\"agent\" or \"contract\"", message))
            }
            (Some(_), None) => registry.validate(&request),
            (_, Some(_)) => crate::validate(&Contract::compile(&self.contract()?)?, &request),
        }
    }

    fn wrong(&self, at: NodeId, expected: &str, message: &str) -> Fault {
        let document = self.document;
        let received = document.kind(at).name();
        let received = match document.kind(at) {
            Kind::Array | Kind::Object => received.to_owned(),
            _ => document.shown(at).into_owned(),
        };
        let violation = Violation::new(&document.place(at), "request", expected, &received, message);
        bad(vec![violation.spanning(document.span(at))])
    }

    /// Refuse members that this request does not have.
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
        self.document.member(Document::ROOT, name).ok_or_else(|| {
            let message = format!("must have member {}", quote(name, 64));
            self.wrong(Document::ROOT, &format!("member {}", quote(name, 64)), &message)
        })
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

    /// The contract as text of its own, so that its places are its own.
    fn contract(&self) -> Result<String, Fault> {
        let mut contract = String::new();
        self.document.write(self.required("contract")?, &mut contract);
        Ok(contract)
    }

    fn finish(&self, at: NodeId) -> Result<Finish, Fault> {
        let name = self.string(at)?;
        let found = Finish::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, finish)| *finish).ok_or_else(|| {
            let known = Finish::NAMES.map(|(name, _)| name).join(", ");
            self.wrong(at, &known, &format!("must be one of {known}"))
        })
    }

    fn lists(&self, at: NodeId) -> Result<Vec<NamedList>, Fault> {
        let document = self.document;
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
