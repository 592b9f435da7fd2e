//! JSON Type Definition (RFC 8927).
//!
//! This is a separate implementation because the `jtd` crate depends on a calendar library. For WebAssembly, that
//! library imports JavaScript, and the component must have no imports.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    coerce::{Misfits, Reading, only_reading},
    format::date_time,
};
use crate::{
    caps::Caps,
    location::{Location, Step, Written, push_escaped},
    order::{sort, sort_by_key},
    parse::{Document, Kind, NodeId, Number},
    path::ItemsPath,
    repair::MAX_REPAIRS,
    text::{self, quote},
    types::Violation,
    violation::{Details, MAX_LIST, NO_MEMBER},
};

/// A compiled definition: the root, and the definitions that `ref` can name.
pub(super) struct Schema {
    root: Form,
    definitions: BTreeMap<String, Form>,
}

pub(super) struct Form {
    nullable: bool,
    shape: Shape,
}

/// The eight forms (RFC 8927, section 2.2).
enum Shape {
    Empty,
    Ref(String),
    Type(Type),
    Enum(Vec<String>),
    Elements(Box<Form>),
    Properties(Properties),
    Values(Box<Form>),
    Discriminator { tag: String, mapping: BTreeMap<String, Form> },
}

/// The properties form (RFC 8927, section 2.2.6).
struct Properties {
    required: BTreeMap<String, Form>,
    optional: BTreeMap<String, Form>,
    additional: bool,
    /// `true` if the form has `properties`. Errors about the form then name that keyword.
    has_required: bool,
}

/// The types (RFC 8927, section 2.2.3).
#[derive(Clone, Copy)]
enum Type {
    Boolean,
    Float,
    Integer { name: &'static str, min: i64, max: i64 },
    String,
    Timestamp,
}

impl Properties {
    fn get(&self, name: &str) -> Option<&Form> {
        self.required.get(name).or_else(|| self.optional.get(name))
    }
}

impl Type {
    fn of(name: &str) -> Option<(Self, &'static str)> {
        let integer = |name, min, max| (Type::Integer { name, min, max }, name);
        Some(match name {
            "boolean" => (Type::Boolean, "boolean"),
            "float32" => (Type::Float, "float32"),
            "float64" => (Type::Float, "float64"),
            "int8" => integer("int8", -128, 127),
            "uint8" => integer("uint8", 0, 255),
            "int16" => integer("int16", -32768, 32767),
            "uint16" => integer("uint16", 0, 65535),
            "int32" => integer("int32", -2147483648, 2147483647),
            "uint32" => integer("uint32", 0, 4294967295),
            "string" => (Type::String, "string"),
            "timestamp" => (Type::Timestamp, "timestamp"),
            _ => return None,
        })
    }

    fn expected(self) -> String {
        match self {
            Type::Boolean => "boolean".to_owned(),
            Type::Float => "number".to_owned(),
            Type::Integer { name, min, max } => format!("{name}, a whole number from {min} to {max}"),
            Type::String => "string".to_owned(),
            Type::Timestamp => {
                "timestamp, a string written YYYY-MM-DDThh:mm:ssZ or with an offset such as +01:00 instead of Z"
                    .to_owned()
            }
        }
    }

    /// Returns whether values of this type have the given kind.
    fn is_of(self, kind: Kind) -> bool {
        match self {
            Type::Boolean => matches!(kind, Kind::True | Kind::False),
            Type::Float | Type::Integer { .. } => kind == Kind::Number,
            Type::String | Type::Timestamp => kind == Kind::String,
        }
    }

    fn takes(self, document: &Document, at: NodeId) -> bool {
        match (self, document.kind(at)) {
            (Type::Boolean, Kind::True | Kind::False) | (Type::Float, Kind::Number) | (Type::String, Kind::String) => {
                true
            }
            (Type::Integer { min, max, .. }, Kind::Number) => Number(document.source(at))
                .as_f64()
                .is_some_and(|float| float.fract() == 0.0 && (min as f64..=max as f64).contains(&float)),
            (Type::Timestamp, Kind::String) => date_time(document.string(at)),
            _ => false,
        }
    }
}

impl Schema {
    /// Compiles a definition. The location of a violation refers to the definition.
    pub(super) fn compile(schema: &Value) -> Result<Self, Violation> {
        let wrong = |place: Location, expected: &str, message: &str| {
            Violation::new(&place, "jtd", Details { expected, received: "", message })
        };
        let mut compiler = Compiler { definitions: Vec::new(), refs: Vec::new() };
        let mut definitions = BTreeMap::new();
        if let Some(named) = schema.get("definitions") {
            let place = Location::root().name("definitions");
            let named = named
                .as_object()
                .ok_or_else(|| wrong(place.clone(), "an object of definitions", "must be an object"))?;
            compiler.definitions = named.keys().cloned().collect();
            for (name, schema) in named {
                let form = compiler.form(schema, place.clone().name(name), false)?;
                definitions.insert(name.clone(), form);
            }
        }
        let root = compiler.form(schema, Location::root(), true)?;
        for (name, place) in compiler.refs {
            if !definitions.contains_key(&name) {
                let message = format!("must name one of the definitions, there is no {}", quote(&name, 128));
                return Err(wrong(place.name("ref"), "the name of a definition", &message));
            }
        }
        for name in definitions.keys() {
            if chain(&definitions, name) > MAX_CHAIN {
                let place = Location::root().name("definitions").name(name);
                let message = format!("must lead to another form within {MAX_CHAIN} references");
                return Err(wrong(
                    place.name("ref"),
                    "a definition that does not refer to itself without end",
                    &message,
                ));
            }
        }
        Ok(Schema { root, definitions })
    }

    /// Returns the violations of a document, at most `limit`.
    pub(super) fn violations(&self, document: &Document, limit: usize) -> Vec<(NodeId, Violation)> {
        self.violations_by(&self.root, document, (Document::ROOT, Location::root()), limit)
    }

    /// Returns at most `limit` violations of a value at a location under one of the forms.
    pub(super) fn violations_by(
        &self,
        form: &Form,
        document: &Document,
        (at, place): (NodeId, Location),
        limit: usize,
    ) -> Vec<(NodeId, Violation)> {
        let mut run = Run::new(self, document, place, limit);
        run.check(form, at, None);
        run.found
    }

    /// Returns the members declared for the document: the name of each, whether it is required, and whether it may be
    /// an array.
    pub(super) fn declared(&self) -> Vec<(&str, bool, bool)> {
        let Some(Shape::Properties(Properties { required, optional, .. })) =
            self.target(&self.root).map(|form| &form.shape)
        else {
            return Vec::new();
        };
        let is_list =
            |form| self.target(form).is_some_and(|form| matches!(form.shape, Shape::Elements(_) | Shape::Empty));
        let members = required.iter().map(|member| (member, true));
        let members = members.chain(optional.iter().map(|member| (member, false)));
        members.map(|((name, form), required)| (name.as_str(), required, is_list(form))).collect()
    }

    /// Returns the failures of some values, and replacements that the definition accepts.
    pub(super) fn misfits(&self, document: &Document, values: &[NodeId], caps: &Caps) -> Option<Misfits> {
        let mut run = Run::new(self, document, Location::root(), MAX_REPAIRS);
        run.listed = Some(BTreeMap::new());
        values.iter().for_each(|at| run.check(&self.root, *at, None));
        let (mut found, listed) = (run.found, run.listed.unwrap_or_default());
        sort_by_key(&mut found, |(at, _)| *at);
        let members = document.member_values();
        let mut misfits = Misfits::default();
        for (at, violation) in found.iter().filter(|(_, violation)| violation.keyword != "additionalProperties") {
            misfits.wrong.push(*at);
            if violation.received != NO_MEMBER {
                misfits.broken.push(*at);
            }
            let listed = || listed.get(at).into_iter().flatten().map(String::as_str);
            match document.kind(*at) {
                Kind::Null if members.binary_search(at).is_ok() => misfits.readings.push((*at, Reading::Absent)),
                Kind::String => {
                    let text = only_reading(document.string(*at), listed(), caps, |_| true);
                    misfits.readings.extend(text.map(|text| (*at, Reading::Text(text))));
                }
                Kind::Object => misfits.lacking.extend(listed().map(|name| (*at, name.to_owned()))),
                _ => {}
            }
        }
        (found.len() < MAX_REPAIRS).then_some(misfits)
    }

    /// Returns the values of undeclared members.
    pub(super) fn undeclared(&self, document: &Document) -> Vec<NodeId> {
        let mut run = Run::new(self, document, Location::root(), usize::MAX);
        run.undeclared = Some(Vec::new());
        run.check(&self.root, Document::ROOT, None);
        run.undeclared.unwrap_or_default()
    }

    pub(super) fn root(&self) -> &Form {
        &self.root
    }

    /// Returns the form of each item of the array at a path, if every document has the same form there.
    pub(super) fn of_items(&self, path: &ItemsPath) -> Option<&Form> {
        let array = path.steps.iter().try_fold(&self.root, |form, step| match (&self.target(form)?.shape, step) {
            (Shape::Properties(properties), Step::Name(name)) => properties.get(name),
            (Shape::Values(form), Step::Name(_)) | (Shape::Elements(form), Step::Index(_)) => Some(&**form),
            _ => None,
        })?;
        match &self.target(array)?.shape {
            Shape::Elements(form) => Some(form),
            _ => None,
        }
    }

    /// Resolves references to a form.
    fn target<'s>(&'s self, mut form: &'s Form) -> Option<&'s Form> {
        while let Shape::Ref(name) = &form.shape {
            form = self.definitions.get(name)?;
        }
        Some(form)
    }
}

/// The members of a definition, except those of the root (RFC 8927, section 2.2).
const KEYWORDS: [&str; 12] = [
    "nullable",
    "metadata",
    "ref",
    "type",
    "enum",
    "elements",
    "properties",
    "optionalProperties",
    "additionalProperties",
    "values",
    "discriminator",
    "mapping",
];

struct Compiler {
    definitions: Vec<String>,
    /// The names that `ref` uses, with their locations.
    refs: Vec<(String, Location)>,
}

impl Compiler {
    fn form(&mut self, schema: &Value, place: Location, root: bool) -> Result<Form, Violation> {
        let wrong = |place: Location, expected: &str, message: String| {
            Err(Violation::new(&place, "jtd", Details { expected, received: "", message: &message }))
        };
        let Value::Object(members) = schema else {
            return wrong(place, "an object", "must be an object".to_owned());
        };
        for name in members.keys() {
            let known = KEYWORDS.contains(&name.as_str());
            let of_root = root && name == "definitions";
            if !known && !of_root {
                let message = format!("must not have member {}: RFC 8927 does not allow it here", quote(name, 128));
                return wrong(place, "the members that RFC 8927 defines", message);
            }
        }
        let flag = |name: &str| match members.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => {
                let place = place.clone().name(name);
                Err(Violation::new(
                    &place,
                    "jtd",
                    Details { expected: "true or false", received: "", message: "must be a boolean" },
                ))
            }
        };
        let nullable = flag("nullable")?;
        let additional = flag("additionalProperties")?;
        if members.get("metadata").is_some_and(|metadata| !metadata.is_object()) {
            return wrong(place.name("metadata"), "an object", "must be an object".to_owned());
        }
        // Section 2.2: exactly one form is allowed.
        let mut forms: Vec<&str> = ["ref", "type", "enum", "elements", "properties", "values", "discriminator"]
            .into_iter()
            .filter(|form| members.contains_key(*form))
            .collect();
        if members.contains_key("optionalProperties") && !forms.contains(&"properties") {
            forms.push("properties");
        }
        if let [first, second, ..] = forms[..] {
            let message = format!("must have one form, has '{first}' and '{second}'");
            return wrong(place, "one of the eight forms", message);
        }
        let form = forms.first().copied().unwrap_or_default();
        for (name, with) in [("additionalProperties", "properties"), ("mapping", "discriminator")] {
            if members.contains_key(name) && form != with {
                return wrong(place, "one of the eight forms", format!("must have '{with}' beside '{name}'"));
            }
        }
        let shape = self.shape(form, members, &place, additional)?;
        Ok(Form { nullable, shape })
    }

    fn shape(
        &mut self,
        form: &str,
        members: &Map<String, Value>,
        place: &Location,
        additional: bool,
    ) -> Result<Shape, Violation> {
        let value = members.get(form).unwrap_or(&Value::Null);
        let here = || place.clone().name(form);
        let wrong = |expected: &str, message: &str| {
            Err(Violation::new(&here(), "jtd", Details { expected, received: "", message }))
        };
        Ok(match form {
            "ref" => {
                let Some(name) = value.as_str() else {
                    return wrong("the name of a definition", "must be a string");
                };
                self.refs.push((name.to_owned(), place.clone()));
                Shape::Ref(name.to_owned())
            }
            "type" => match value.as_str().and_then(Type::of) {
                Some((kind, _)) => Shape::Type(kind),
                None => {
                    return wrong(
                        "a type",
                        "must be boolean, float32, float64, int8, uint8, int16, uint16, int32, uint32, string or timestamp",
                    );
                }
            },
            "enum" => {
                let values: Option<Vec<String>> = value
                    .as_array()
                    .map(|values| values.iter().map(|value| value.as_str().map(str::to_owned)).collect())
                    .unwrap_or_default();
                let Some(values) = values.filter(|values| !values.is_empty()) else {
                    return wrong("a list of strings", "must be a non-empty list of strings");
                };
                let mut sorted = values.clone();
                sort(&mut sorted);
                if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                    return wrong("a list of different strings", "must not name the same value twice");
                }
                Shape::Enum(values)
            }
            "elements" => Shape::Elements(Box::new(self.form(value, here(), false)?)),
            "values" => Shape::Values(Box::new(self.form(value, here(), false)?)),
            "properties" => {
                let required = self.forms(members.get("properties"), place.clone().name("properties"))?;
                let optional =
                    self.forms(members.get("optionalProperties"), place.clone().name("optionalProperties"))?;
                if let Some(name) = optional.keys().find(|name| required.contains_key(*name)) {
                    let message =
                        format!("must not name {} in both 'properties' and 'optionalProperties'", quote(name, 128));
                    return wrong("a name in one of the two", &message);
                }
                let has_required = members.contains_key("properties");
                Shape::Properties(Properties { required, optional, additional, has_required })
            }
            "discriminator" => {
                let Some(tag) = value.as_str() else {
                    return wrong("the name of a member", "must be a string");
                };
                let at = place.clone().name("mapping");
                let mapping = match members.get("mapping") {
                    Some(mapping) => self.forms(Some(mapping), at.clone())?,
                    None => return wrong("'mapping' beside it", "must have 'mapping' beside it"),
                };
                for (name, form) in &mapping {
                    let fits = matches!(&form.shape, Shape::Properties(properties) if properties.get(tag).is_none());
                    if !fits || form.nullable {
                        return Err(Violation::new(
                            &at.name(name),
                            "jtd",
                            Details {
                                expected: "'properties' that do not name the tag",
                                received: "",
                                message: "must be a definition with 'properties', not nullable, that does not name the discriminator's own member",
                            },
                        ));
                    }
                }
                Shape::Discriminator { tag: tag.to_owned(), mapping }
            }
            _ => Shape::Empty,
        })
    }

    fn forms(&mut self, members: Option<&Value>, place: Location) -> Result<BTreeMap<String, Form>, Violation> {
        let Some(members) = members else {
            return Ok(BTreeMap::new());
        };
        let Value::Object(members) = members else {
            return Err(Violation::new(
                &place,
                "jtd",
                Details { expected: "an object", received: "", message: "must be an object" },
            ));
        };
        members
            .iter()
            .map(|(name, schema)| Ok((name.clone(), self.form(schema, place.clone().name(name), false)?)))
            .collect()
    }
}

/// The maximum number of consecutive definitions that are only references. This limit also ends cycles.
const MAX_CHAIN: usize = 32;

/// Returns the number of references between a definition and a form that is not a reference.
fn chain(definitions: &BTreeMap<String, Form>, name: &str) -> usize {
    let next = |name: &String| match &definitions.get(name)?.shape {
        Shape::Ref(next) => Some(next.clone()),
        _ => None,
    };
    std::iter::successors(Some(name.to_owned()), next).take(MAX_CHAIN + 2).count() - 1
}

struct Run<'r, 't> {
    schema: &'r Schema,
    document: &'r Document<'t>,
    found: Vec<(NodeId, Violation)>,
    limit: usize,
    /// The undeclared members. Set if the search is only for those.
    undeclared: Option<Vec<NodeId>>,
    /// If requested, the listed values for each string that is not in its list, and the names of missing members.
    listed: Option<BTreeMap<NodeId, Vec<String>>>,
    place: Vec<Step>,
    path: Vec<String>,
}

impl<'r, 't> Run<'r, 't> {
    fn new(schema: &'r Schema, document: &'r Document<'t>, place: Location, limit: usize) -> Self {
        let place = place.steps().to_vec();
        Run { schema, document, found: Vec::new(), limit, undeclared: None, listed: None, place, path: Vec::new() }
    }
}

impl Run<'_, '_> {
    fn wrong(&mut self, at: NodeId, keyword: &[&str], expected: String, message: String) -> Option<&mut Violation> {
        if self.found.len() >= self.limit || self.undeclared.is_some() {
            return None;
        }
        let mut schema_path = String::new();
        for step in self.path.iter().map(String::as_str).chain(keyword.iter().copied()) {
            schema_path.push('/');
            push_escaped(&mut schema_path, step);
        }
        let name = keyword.first().copied().unwrap_or("additionalProperties");
        let details = [expected.into(), self.document.shown(at), message.into()];
        let violation =
            Violation::told(Written::new(&self.place), name, details).spanning(self.document.span(at)).by(schema_path);
        self.found.push((at, violation));
        self.found.last_mut().map(|(_, violation)| violation)
    }

    fn inside(&mut self, step: Option<Step>, path: &[&str], check: impl FnOnce(&mut Self)) {
        let steps = self.place.len();
        self.place.extend(step);
        self.path.extend(path.iter().map(|step| (*step).to_owned()));
        check(self);
        self.path.truncate(self.path.len() - path.len());
        self.place.truncate(steps);
    }

    /// Checks a value (RFC 8927, section 3.3). `tag` is the member that a discriminator has already checked.
    fn check(&mut self, form: &Form, at: NodeId, tag: Option<&str>) {
        let document = self.document;
        let kind = document.kind(at);
        let nullable = form.nullable;
        if self.found.len() >= self.limit || (nullable && kind == Kind::Null) {
            return;
        }
        match &form.shape {
            Shape::Empty => {}
            Shape::Ref(name) => {
                // The definition exists: the compiler checked it.
                let Some(form) = self.schema.definitions.get(name) else {
                    return;
                };
                // The schema path of a reference's target begins at the definition.
                let path = std::mem::take(&mut self.path);
                self.inside(None, &["definitions", name], |run| run.check(form, at, None));
                self.path = path;
            }
            Shape::Type(expected) => {
                if !expected.takes(document, at) {
                    let other = if expected.is_of(kind) { String::new() } else { format!(", not {}", kind.name()) };
                    let expected = or_null(expected.expected(), nullable);
                    let message = format!("must be {expected}{other}");
                    self.wrong(at, &["type"], expected, message);
                }
            }
            Shape::Enum(values) => {
                if kind != Kind::String || !values.iter().any(|value| value == document.string(at)) {
                    self.list(at, values.iter());
                    let expected = or_null(one_of(values.iter()), nullable);
                    let message = format!("must be {expected}");
                    self.wrong(at, &["enum"], expected, message);
                }
            }
            Shape::Elements(form) => {
                if self.is(Kind::Array, nullable, at, &["elements"]) {
                    for (index, item) in document.items(at).enumerate() {
                        self.inside(Some(Step::Index(index)), &["elements"], |run| run.check(form, item, None));
                    }
                }
            }
            Shape::Values(form) => {
                if self.is(Kind::Object, nullable, at, &["values"]) {
                    for (name, value) in document.members(at) {
                        let step = Step::Name(document.string(name).to_owned());
                        self.inside(Some(step), &["values"], |run| run.check(form, value, None));
                    }
                }
            }
            Shape::Properties(properties) => {
                let keyword = if properties.has_required { "properties" } else { "optionalProperties" };
                if self.is(Kind::Object, nullable, at, &[keyword]) {
                    self.properties(properties, at, tag);
                }
            }
            Shape::Discriminator { tag, mapping } => {
                if self.is(Kind::Object, nullable, at, &["discriminator"]) {
                    self.discriminator(tag, mapping, at);
                }
            }
        }
    }

    /// Checks the properties form (RFC 8927, section 3.3.6).
    fn properties(&mut self, properties: &Properties, at: NodeId, tag: Option<&str>) {
        let document = self.document;
        let Properties { required, optional, additional, .. } = properties;
        for name in required.keys().filter(|name| document.member(at, name).is_none()) {
            let message = format!("must have member {}", quote(name, 128));
            self.missing(at, &["properties", name], name, message);
        }
        for (name, value) in document.members(at) {
            let name = document.string(name);
            let step = Some(Step::Name(name.to_owned()));
            if let Some(form) = required.get(name) {
                self.inside(step, &["properties", name], |run| run.check(form, value, None));
            } else if let Some(form) = optional.get(name) {
                self.inside(step, &["optionalProperties", name], |run| run.check(form, value, None));
            } else if !additional && tag != Some(name) {
                if let Some(undeclared) = &mut self.undeclared {
                    undeclared.push(value);
                }
                let message = format!("must not be there: member {} is not declared", quote(name, 128));
                self.inside(step, &[], |run| {
                    run.wrong(value, &[], "no such member".to_owned(), message);
                });
            }
        }
    }

    /// Checks the discriminator form (RFC 8927, section 3.3.8).
    fn discriminator(&mut self, tag: &str, mapping: &BTreeMap<String, Form>, at: NodeId) {
        let document = self.document;
        let Some(value) = document.member(at, tag) else {
            let message = format!("must have member {}, {}", quote(tag, 128), one_of(mapping.keys()));
            self.missing(at, &["discriminator"], tag, message);
            return;
        };
        let step = Some(Step::Name(tag.to_owned()));
        if document.kind(value) != Kind::String {
            let expected = one_of(mapping.keys());
            let message = format!("must be {expected}, not {}", document.kind(value).name());
            self.inside(step, &[], |run| {
                run.wrong(value, &["discriminator"], expected, message);
            });
            return;
        }
        match mapping.get_key_value(document.string(value)) {
            Some((name, form)) => {
                self.path.extend(["mapping".to_owned(), name.clone()]);
                self.check(form, at, Some(tag));
                self.path.truncate(self.path.len() - 2);
            }
            None => {
                self.list(value, mapping.keys());
                let expected = one_of(mapping.keys());
                let message = format!("must be {expected}");
                self.inside(step, &[], |run| {
                    run.wrong(value, &["mapping"], expected, message);
                });
            }
        }
    }

    /// Records the listed values for a value, if requested.
    fn list<'s>(&mut self, at: NodeId, names: impl Iterator<Item = &'s String>) {
        if let Some(listed) = &mut self.listed {
            listed.entry(at).or_default().extend(names.cloned());
        }
    }

    /// Records a missing member.
    fn missing(&mut self, at: NodeId, keyword: &[&str], name: &str, message: String) {
        self.list(at, std::iter::once(&name.to_owned()));
        let expected = format!("member {}", quote(name, 128));
        if let Some(violation) = self.wrong(at, keyword, expected, message) {
            NO_MEMBER.clone_into(&mut violation.received);
        }
    }

    fn is(&mut self, kind: Kind, nullable: bool, at: NodeId, keyword: &[&str]) -> bool {
        let is = self.document.kind(at);
        if is != kind {
            let (expected, is) = (or_null(kind.name().to_owned(), nullable), is.name());
            let message = format!("must be {expected}, not {is}");
            if let Some(violation) = self.wrong(at, keyword, expected, message) {
                is.clone_into(&mut violation.received);
            }
        }
        is == kind
    }
}

fn or_null(expected: String, nullable: bool) -> String {
    match nullable {
        true if expected.contains(", ") => format!("{expected}, or null"),
        true => format!("{expected} or null"),
        false => expected,
    }
}

fn one_of<'s>(values: impl ExactSizeIterator<Item = &'s String>) -> String {
    let mut out = "one of ".to_owned();
    text::push_list(&mut out, values, MAX_LIST, |out, value| text::push_quoted(out, value, 128));
    out
}
