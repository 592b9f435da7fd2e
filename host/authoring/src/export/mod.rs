//! The part of a contract's schema that a provider or an engine enforces while it decodes.
//!
//! ```
//! use seamgate_authoring::export::{Effect, Target, export};
//!
//! let contract = r#"{"agent": "a", "schema": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}}"#;
//! let exported = export(contract, Target::Gemini)?;
//! assert_eq!(exported.schema.replace(char::is_whitespace, ""), r#"{"type":"array","items":{"type":"string"}}"#);
//! assert_eq!(exported.rules[0].pointer, "/schema/uniqueItems");
//! assert_eq!(exported.rules[0].effect, Effect::LeftOut);
//! # Ok::<(), seamgate_authoring::export::ExportError>(())
//! ```

mod graph;
mod json;
mod limits;
mod lower;
mod nested;
mod pattern;
mod source;
mod target;
mod typed;
mod types;

use serde_json::Value;

use self::{
    json::Json,
    lower::{Lowered, Lowering},
    source::Source,
    target::Recursion,
};

use crate::schema::{Order, jtd};

pub use self::target::{KEYWORDS, Support, Target};

/// The reason why a contract cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The contract is not JSON.
    #[error("the contract is not JSON")]
    NotJson(#[from] serde_json::Error),
    /// The dialect of the schema is unknown.
    #[error("the dialect of the schema is not known: expected a draft of JSON Schema, or JSON Type Definition")]
    Dialect,
}

/// The effect of an export on a rule of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// The export does not have the rule.
    LeftOut,
    /// The export has a weaker rule.
    Relaxed,
    /// The target requires a rule that the contract does not have, so an instance that the contract accepts may be
    /// rejected.
    Stronger,
    /// The export exceeds a limit of the target.
    Limit,
}

impl Effect {
    /// Returns the word for the effect: `left_out`, `relaxed`, `stronger` or `limit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::LeftOut => "left_out",
            Effect::Relaxed => "relaxed",
            Effect::Stronger => "stronger",
            Effect::Limit => "limit",
        }
    }
}

/// A rule of the contract that the export does not contain unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The place of the keyword in the contract, as a JSON Pointer. For a missing keyword, the place of its schema
    /// followed by the keyword's name.
    pub pointer: String,
    /// The keyword.
    pub keyword: String,
    /// The effect on the rule.
    pub effect: Effect,
    /// The reason.
    pub why: String,
}

/// A schema for a target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The schema as JSON. Members are in the order of the contract.
    pub schema: String,
    /// The same schema on one line.
    pub line: String,
    /// The rules of the contract that the schema does not contain unchanged, in the order of their places.
    pub rules: Vec<Rule>,
}

impl Exported {
    /// Returns the rules of the contract that cannot be exported without rejecting valid instances, and the limits that
    /// are exceeded.
    ///
    /// If there are none, every instance that is valid under the contract's schema is valid under the export.
    pub fn obstacles(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| matches!(rule.effect, Effect::Stronger | Effect::Limit))
    }
}

/// Writes the part of a contract's schema that a target enforces. The contract is one complete text that a gate
/// accepts.
///
/// # Errors
///
/// The contract is not JSON, or the dialect of its schema is unknown.
pub fn export(contract: &str, target: Target) -> Result<Exported, ExportError> {
    let order = Order::of(contract)?;
    let contract: Value = serde_json::from_str(contract)?;
    let formats = contract.get("formats").and_then(Value::as_str) != Some("annotate");
    let mut exported = match contract.get("jtd") {
        Some(_) => of_type_definition(&contract, &order, target)?,
        None => of_json_schema(&contract, order, target, formats)?,
    };
    for (pointer, keyword) in [("/allow", "allow"), ("/evidence", "evidence"), ("/items/schema", "schema")] {
        if contract.pointer(pointer).is_some() {
            let why = "it is no part of the schema: the gate alone holds outputs to it".to_owned();
            exported.rules.push(Rule {
                pointer: pointer.to_owned(),
                keyword: keyword.to_owned(),
                effect: Effect::LeftOut,
                why,
            });
        }
    }
    Ok(exported)
}

fn of_type_definition(contract: &Value, order: &Order, target: Target) -> Result<Exported, ExportError> {
    let mut translated = jtd::translated(contract, order).ok_or(ExportError::Dialect)?;
    let order = std::mem::take(&mut translated.order);
    // A timestamp is not a `format`: it is always asserted.
    let mut exported = of_json_schema(&translated.contract, order, target, true)?;
    for rule in &mut exported.rules {
        rule.pointer = translated.place(&rule.pointer);
    }
    Ok(exported)
}

fn of_json_schema(contract: &Value, order: Order, target: Target, formats: bool) -> Result<Exported, ExportError> {
    let source = Source::of(contract, order).ok_or(ExportError::Dialect)?;
    let mut lowering = Lowering::new(&source, target, formats);
    let Lowered { root, mut definitions } = lowering.run();
    let (effect, instead, why) = match target.recursion() {
        Recursion::None => {
            let why = "the target takes no schema that leads back to itself: arrays and objects end here";
            (Effect::Stronger, lower::scalars(), why)
        }
        _ => {
            let why = "the target takes a schema that leads back to itself only in members that are not required";
            (Effect::Relaxed, Json::Object(Vec::new()), why)
        }
    };
    for place in graph::cut(&mut definitions, target.recursion(), &instead) {
        lowering.state_at(place, "$ref", effect, why);
    }
    let definitions = graph::reached(&root, definitions);
    let is_object = matches!(root.get("type"), Some(Json::Value(Value::String(name))) if name == "object");
    if target == Target::OpenAi && !is_object {
        let why = "the whole must be an object that is no anyOf: put the value into a member of one";
        lowering.state_at("/schema".to_owned(), "type", Effect::Limit, why);
    }
    let exceeded = limits::exceeded(target, &root, &definitions);
    if !exceeded.is_empty() {
        lowering.state_at("/schema".to_owned(), "", Effect::Limit, exceeded.join("; "));
    }
    let root = match root {
        Json::Object(mut members) if !definitions.is_empty() => {
            let definitions = definitions.into_iter().map(|(name, _, schema)| (name, schema)).collect::<Vec<_>>();
            members.push(("$defs".to_owned(), definitions.into()));
            Json::Object(members)
        }
        root => root,
    };
    let [schema, line] = [serde_json::to_string_pretty(&root)?, serde_json::to_string(&root)?];
    Ok(Exported { schema, line, rules: lowering.rules() })
}
