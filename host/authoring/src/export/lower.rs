//! Rewrites schemas for a target: merges conjunctions, and extracts alternatives from them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::{
    Effect, Rule,
    json::Json,
    source::{Key, Located, Source},
    target::{KEYWORDS, Support, Target},
};
use crate::schema::Draft;

/// The maximum number of schemas that are written. Further schemas are omitted.
const MAX_SCHEMAS: usize = 100_000;

/// The maximum number of combinations of alternatives with each other and with the keywords beside them.
const MAX_COMBINATIONS: usize = 128;

/// A schema that was written for a target.
#[derive(Clone, PartialEq)]
pub(super) enum Out {
    /// Every value is valid.
    Any,
    /// No value is valid.
    Never,
    Schema(Json),
}

/// Schemas that all apply to one value.
#[derive(Clone, Default)]
struct Conjunction<'s> {
    /// The parts that have keywords of their own.
    parts: Vec<Located<'s>>,
    /// The `anyOf` and `oneOf` whose alternatives have not been written yet.
    groups: VecDeque<Group<'s>>,
    seen: HashSet<Key>,
    is_never: bool,
    notes: Vec<(String, Json)>,
    combinations: usize,
}

#[derive(Clone)]
struct Group<'s> {
    node: Located<'s>,
    keyword: &'static str,
    branches: Vec<Located<'s>>,
}

pub(super) struct Lowering<'s> {
    pub(super) source: &'s Source<'s>,
    pub(super) target: Target,
    /// `true` if the contract asserts formats.
    pub(super) formats: bool,
    rules: BTreeMap<(String, String, Effect), String>,
    names: HashMap<Vec<Key>, String>,
    taken: HashSet<String>,
    queue: VecDeque<(String, Vec<Located<'s>>)>,
    schemas: usize,
}

/// The result: the schema, and its definitions with their places in the contract.
pub(super) struct Lowered {
    pub(super) root: Json,
    pub(super) definitions: Vec<(String, String, Json)>,
}

impl<'s> Lowering<'s> {
    pub(super) fn new(source: &'s Source<'s>, target: Target, formats: bool) -> Self {
        Lowering {
            source,
            target,
            formats,
            rules: BTreeMap::new(),
            names: HashMap::new(),
            taken: HashSet::new(),
            queue: VecDeque::new(),
            schemas: 0,
        }
    }

    pub(super) fn run(&mut self) -> Lowered {
        let root = self.source.root();
        let pointer = root.pointer.clone();
        let out = self.conjoined(vec![root]);
        let root = self.placed(out, &pointer, "type");
        let mut definitions = Vec::new();
        while let Some((name, nodes)) = self.queue.pop_front() {
            let pointer = nodes[0].pointer.clone();
            let out = self.conjoined(nodes);
            definitions.push((name, pointer.clone(), self.placed(out, &pointer, "type")));
        }
        Lowered { root, definitions }
    }

    pub(super) fn rules(self) -> Vec<Rule> {
        let rules = self.rules.into_iter();
        rules.map(|((pointer, keyword, effect), why)| Rule { pointer, keyword, effect, why }).collect()
    }

    /// Records that the export does not contain a rule of the contract unchanged.
    pub(super) fn state(&mut self, node: &Located, keyword: &str, effect: Effect, why: impl Into<String>) {
        self.state_at(node.at(keyword), keyword, effect, why);
    }

    pub(super) fn state_at(&mut self, pointer: String, keyword: &str, effect: Effect, why: impl Into<String>) {
        self.rules.entry((pointer, keyword.to_owned(), effect)).or_insert_with(|| why.into());
    }

    /// Writes schemas that all apply to one value inside the value that is being written.
    pub(super) fn child(&mut self, mut nodes: Vec<Located<'s>>) -> Out {
        let mut seen = HashSet::new();
        nodes.retain(|node| seen.insert(node.key()) && *node.value != Value::Bool(true));
        if nodes.iter().any(|node| *node.value == Value::Bool(false)) {
            return Out::Never;
        }
        match nodes.len() {
            0 => Out::Any,
            1 => match self.alone(&nodes[0]) {
                Some(target) => self.child_at(target),
                // The reference may be circular.
                None if self.follows(&nodes[0]) => Out::Schema(self.named(nodes)),
                None => self.conjoined(nodes),
            },
            _ => Out::Schema(self.named(nodes)),
        }
    }

    /// Writes a schema that a reference leads to.
    fn child_at(&mut self, target: Located<'s>) -> Out {
        match target.value {
            Value::Bool(true) => Out::Any,
            Value::Bool(false) => Out::Never,
            _ => Out::Schema(self.named(vec![target])),
        }
    }

    /// Returns the target of a schema that consists only of a reference.
    fn alone(&self, node: &Located<'s>) -> Option<Located<'s>> {
        let rules = node.value.as_object()?.keys().filter(|name| is_asserted(node, name));
        match (&rules.map(String::as_str).collect::<Vec<_>>()[..], &self.source.list(node, "allOf")[..]) {
            (["$ref"], _) => self.source.target(node),
            (["allOf"], [only]) => self.alone(only),
            _ => None,
        }
    }

    /// Returns whether a schema consists of other keywords and the content that a reference leads to.
    fn follows(&self, node: &Located<'s>) -> bool {
        let has_reference = |node: &Located<'s>| node.value.get("$ref").is_some();
        if has_reference(node)
            || self.source.list(node, "allOf").iter().any(|node| has_reference(node) || self.follows(node))
        {
            return true;
        }
        let groups = ["anyOf", "oneOf"].map(|keyword| self.source.list(node, keyword));
        let rules = node
            .value
            .as_object()
            .into_iter()
            .flat_map(|members| members.keys().filter(|name| is_asserted(node, name)));
        let is_alone = rules.count() == 1;
        groups.iter().flatten().any(|branch| match self.alone(branch) {
            Some(_) => !is_alone,
            None => self.follows(branch),
        })
    }

    /// Returns a reference to a definition for schemas that all apply to one value. The definition is written later.
    fn named(&mut self, nodes: Vec<Located<'s>>) -> Json {
        let mut key: Vec<Key> = nodes.iter().map(Located::key).collect();
        key.sort_unstable();
        if let Some(name) = self.names.get(&key) {
            return Json::reference(name);
        }
        let wanted = nodes[0].pointer.rsplit('/').find(|step| step.parse::<u64>().is_err()).unwrap_or_default();
        let wanted: String =
            wanted.chars().filter(|one| one.is_ascii_alphanumeric() || "_-".contains(*one)).take(60).collect();
        let wanted = if wanted.is_empty() { "schema".to_owned() } else { wanted };
        let name = (1..).map(|number| if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") });
        let name = name.into_iter().find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        self.names.insert(key, name.clone());
        self.queue.push_back((name.clone(), nodes));
        Json::reference(&name)
    }

    /// Writes schemas that all apply to one value.
    fn conjoined(&mut self, nodes: Vec<Located<'s>>) -> Out {
        let mut conjunction = Conjunction { combinations: 1, ..Conjunction::default() };
        for node in nodes {
            self.add(node, &mut conjunction);
        }
        self.written(conjunction)
    }

    /// Adds a schema to a conjunction, together with the schemas that it references in place.
    fn add(&mut self, node: Located<'s>, conjunction: &mut Conjunction<'s>) {
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            match node.value {
                Value::Bool(false) => conjunction.is_never = true,
                Value::Object(members) if conjunction.seen.insert(node.key()) => {
                    if conjunction.notes.is_empty() {
                        let notes = ["title", "description"].into_iter();
                        let notes =
                            notes.filter_map(|name| Some((name, members.get(name).filter(|text| text.is_string())?)));
                        conjunction.notes = notes.map(|(name, text)| (name.to_owned(), text.clone().into())).collect();
                    }
                    let mut inside = self.source.list(&node, "allOf");
                    if members.get("$ref").is_some_and(Value::is_string) {
                        match self.source.target(&node) {
                            Some(target) => inside.push(target),
                            None => {
                                self.state(&node, "$ref", Effect::LeftOut, "the export cannot follow this reference")
                            }
                        }
                    }
                    todo.extend(inside.into_iter().rev());
                    for keyword in ["anyOf", "oneOf"] {
                        let branches = self.source.list(&node, keyword);
                        if !branches.is_empty() {
                            conjunction.groups.push_back(Group { node: node.clone(), keyword, branches });
                        }
                    }
                    for (keyword, _) in KEYWORDS {
                        if self.target.support(keyword) == Some(Support::LeftOut) && is_asserted(&node, keyword) {
                            self.left_out(&node, keyword);
                        }
                    }
                    if members.keys().any(|name| is_own(name) && is_asserted(&node, name)) {
                        conjunction.parts.push(node);
                    }
                }
                _ => {}
            }
        }
    }

    /// Records that the target does not enforce a keyword.
    fn left_out(&mut self, node: &Located<'s>, keyword: &str) {
        let is_content = keyword.starts_with("content");
        if is_content && (node.draft != Draft::Draft7 || !self.formats) {
            return;
        }
        self.state(node, keyword, Effect::LeftOut, format!("{} does not enforce it", self.target.as_str()));
    }

    /// Writes a conjunction. Extracts one group of alternatives at a time.
    fn written(&mut self, mut conjunction: Conjunction<'s>) -> Out {
        self.schemas += 1;
        if conjunction.is_never {
            return Out::Never;
        }
        if self.schemas > MAX_SCHEMAS {
            let places: Vec<Located> =
                conjunction.parts.iter().chain(conjunction.groups.iter().map(|group| &group.node)).cloned().collect();
            for node in places {
                self.state_at(
                    node.pointer,
                    "",
                    Effect::LeftOut,
                    format!("the export has more than {MAX_SCHEMAS} schemas"),
                );
            }
            return Out::Any;
        }
        let notes = std::mem::take(&mut conjunction.notes);
        let Some(group) = conjunction.groups.pop_front() else {
            return match conjunction.parts.is_empty() {
                true => Out::Any,
                false => noted(self.typed(&conjunction.parts), notes),
            };
        };
        if group.keyword == "oneOf" && group.branches.len() > 1 {
            let why = "written as anyOf, so that a value may match more than one";
            self.state(&group.node, "oneOf", Effect::Relaxed, why);
        }
        let is_alone = conjunction.parts.is_empty() && conjunction.groups.is_empty();
        let combinations = conjunction.combinations.saturating_mul(group.branches.len());
        if !is_alone && combinations > MAX_COMBINATIONS {
            let why = format!("with the keywords beside it, it has more than {MAX_COMBINATIONS} combinations");
            self.state(&group.node, group.keyword, Effect::LeftOut, why);
            conjunction.notes = notes;
            return self.written(conjunction);
        }
        let mut outs = Vec::new();
        for branch in group.branches {
            outs.push(match is_alone {
                true if !conjunction.seen.contains(&branch.key()) => self.child(vec![branch]),
                _ => {
                    let mut variant = conjunction.clone();
                    variant.combinations = combinations;
                    // Annotations of the whole schema are placed beside the alternatives.
                    variant.notes = notes.clone();
                    self.add(branch, &mut variant);
                    variant.notes.retain(|note| !notes.contains(note));
                    self.written(variant)
                }
            });
        }
        noted(union(outs), notes)
    }

    /// Returns a substitute for a boolean schema if the target does not support those.
    pub(super) fn placed(&mut self, out: Out, pointer: &str, keyword: &str) -> Json {
        match out {
            Out::Schema(json) => json,
            Out::Never if self.target.has_boolean_schemas() => Json::Value(Value::Bool(false)),
            Out::Never => {
                let why = "no value is valid here, which the target cannot say: null is written";
                self.state_at(pointer.to_owned(), keyword, Effect::Relaxed, why);
                Json::object("type", Value::from("null"))
            }
            Out::Any if self.target.closes_objects() => {
                let why = "arrays and objects cannot be written here, because the target needs to know their members";
                self.state_at(pointer.to_owned(), keyword, Effect::Stronger, why);
                scalars()
            }
            Out::Any => Json::Object(Vec::new()),
        }
    }
}

/// Returns a schema for every value that is neither an array nor an object.
pub(super) fn scalars() -> Json {
    Json::object("type", Value::from(vec!["string", "number", "boolean", "null"]))
}

/// Returns whether a keyword is a rule in the draft of a schema.
pub(super) fn is_asserted(node: &Located, keyword: &str) -> bool {
    let is_of_draft = match keyword {
        "dependencies" => node.draft < Draft::Draft2019,
        "$dynamicRef" => node.draft == Draft::Draft2020,
        "$recursiveRef" => node.draft == Draft::Draft2019,
        // Without them, `if` has no effect.
        "if" => node.get("then").is_some() || node.get("else").is_some(),
        _ => KEYWORDS.iter().any(|(name, _)| *name == keyword),
    };
    is_of_draft && node.get(keyword).is_some()
}

/// Returns whether a keyword is a rule about the value itself, and not a reference.
fn is_own(keyword: &str) -> bool {
    !matches!(keyword, "$ref" | "allOf" | "anyOf" | "oneOf" | "not" | "if" | "$dynamicRef" | "$recursiveRef")
}

/// Writes annotations before the keywords of a schema. A reference cannot have keywords beside it.
fn noted(out: Out, notes: Vec<(String, Json)>) -> Out {
    match out {
        Out::Schema(Json::Object(members)) if !members.iter().any(|(name, _)| name == "$ref") => {
            let is_new = |name: &str| !members.iter().any(|(other, _)| other == name);
            let mut all: Vec<_> = notes.into_iter().filter(|(name, _)| is_new(name)).collect();
            all.extend(members);
            Out::Schema(Json::Object(all))
        }
        out => out,
    }
}

/// Writes alternatives.
pub(super) fn union(outs: Vec<Out>) -> Out {
    let mut schemas: Vec<Json> = Vec::new();
    for out in outs {
        match out {
            Out::Any => return Out::Any,
            Out::Never => {}
            Out::Schema(Json::Object(mut members)) if members.len() == 1 && members[0].0 == "anyOf" => {
                if let Some((_, Json::Array(inner))) = members.pop() {
                    for schema in inner {
                        if !schemas.contains(&schema) {
                            schemas.push(schema);
                        }
                    }
                }
            }
            Out::Schema(schema) => {
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
        }
    }
    match schemas.len() {
        0 => Out::Never,
        1 => Out::Schema(schemas.remove(0)),
        _ => Out::Schema(Json::object("anyOf", schemas)),
    }
}
