//! The keywords that each provider or engine enforces. These facts are stated only here.

/// A provider or an engine whose constrained decoding accepts a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Structured Outputs of OpenAI, with `strict`.
    OpenAi,
    /// Structured outputs and strict tools of Anthropic.
    Anthropic,
    /// `responseJsonSchema` of Gemini.
    Gemini,
    /// The engine llguidance, which vLLM, SGLang, llama.cpp and others use.
    Llguidance,
}

impl Target {
    /// All targets, in the order of [`KEYWORDS`].
    pub const ALL: [Target; 4] = [Target::OpenAi, Target::Anthropic, Target::Gemini, Target::Llguidance];

    /// Returns the name of the target on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Target::OpenAi => "openai",
            Target::Anthropic => "anthropic",
            Target::Gemini => "gemini",
            Target::Llguidance => "llguidance",
        }
    }

    /// Returns the support of the target for a keyword. `None` if no rule depends on the keyword.
    pub fn support(self, keyword: &str) -> Option<Support> {
        let (_, support) = KEYWORDS.iter().find(|(name, _)| *name == keyword)?;
        Target::ALL.iter().position(|target| *target == self).map(|at| support[at])
    }

    pub(super) fn keeps(self, keyword: &str) -> bool {
        self.support(keyword) == Some(Support::Kept)
    }

    /// Returns the formats that the target enforces.
    pub fn formats(self) -> &'static [&'static str] {
        match self {
            Target::OpenAi => &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
            Target::Anthropic => {
                &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]
            }
            Target::Gemini => &["date-time", "date", "time"],
            // It also has `email`, `hostname` and `uri`, but rejects some texts of these formats that a contract
            // accepts.
            Target::Llguidance => &["date-time", "time", "date", "duration", "ipv4", "uuid"],
        }
    }

    /// Returns whether each object must forbid members that it does not declare.
    pub(super) fn closes_objects(self) -> bool {
        matches!(self, Target::OpenAi | Target::Anthropic)
    }

    /// Returns whether each declared member must be required.
    pub(super) fn requires_members(self) -> bool {
        self == Target::OpenAi
    }

    /// Returns whether `false` may be used as a schema.
    pub(super) fn has_boolean_schemas(self) -> bool {
        self == Target::Llguidance
    }

    /// Returns the references that may be circular.
    pub(super) fn recursion(self) -> Recursion {
        match self {
            Target::OpenAi | Target::Llguidance => Recursion::Any,
            Target::Anthropic => Recursion::None,
            Target::Gemini => Recursion::Optional,
        }
    }
}

/// The support of a target for a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// Enforces the keyword. A value that the target cannot enforce is still omitted, and listed.
    Kept,
    /// Enforces a weaker rule, which the export contains instead.
    Relaxed,
    /// Does not enforce the keyword.
    LeftOut,
}

/// References that may be circular.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursion {
    Any,
    /// References in members that are not required.
    Optional,
    None,
}

use Support::{Kept as K, LeftOut as N, Relaxed as R};

/// The keywords about the members of objects.
pub(super) const OF_OBJECTS: [&str; 9] = [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "propertyNames",
    "unevaluatedProperties",
];

/// The keywords about the items of arrays.
pub(super) const OF_ARRAYS: [&str; 8] =
    ["items", "additionalItems", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems", "unevaluatedItems"];

/// Each keyword on which a rule depends, with the support of the targets, in the order of [`Target::ALL`].
pub const KEYWORDS: [(&str, [Support; 4]); 41] = [
    ("type", [K, K, K, K]),
    ("enum", [K, K, K, K]),
    ("const", [K, K, R, K]),
    ("properties", [K, K, K, K]),
    ("required", [K, K, K, K]),
    ("additionalProperties", [K, K, K, K]),
    ("items", [K, K, K, K]),
    ("additionalItems", [R, R, K, K]),
    ("prefixItems", [R, R, K, K]),
    ("minItems", [K, R, K, K]),
    ("maxItems", [K, N, K, K]),
    ("minimum", [K, N, K, K]),
    ("maximum", [K, N, K, K]),
    ("exclusiveMinimum", [K, N, R, K]),
    ("exclusiveMaximum", [K, N, R, K]),
    ("multipleOf", [K, N, N, K]),
    ("minLength", [N, N, N, K]),
    ("maxLength", [N, N, N, K]),
    ("pattern", [K, N, N, K]),
    ("format", [K, K, K, K]),
    ("$ref", [K, K, K, K]),
    ("allOf", [K, K, K, K]),
    ("anyOf", [K, K, K, K]),
    ("oneOf", [R, R, R, R]),
    ("patternProperties", [N, N, N, K]),
    ("minProperties", [N, N, N, K]),
    ("maxProperties", [N, N, N, K]),
    ("not", [N, N, N, N]),
    ("if", [N, N, N, N]),
    ("propertyNames", [N, N, N, N]),
    ("dependencies", [N, N, N, N]),
    ("dependentRequired", [N, N, N, N]),
    ("dependentSchemas", [N, N, N, N]),
    ("unevaluatedProperties", [R, R, R, R]),
    ("unevaluatedItems", [R, R, R, R]),
    ("contains", [N, N, N, N]),
    ("uniqueItems", [N, N, N, N]),
    ("$dynamicRef", [N, N, N, N]),
    ("$recursiveRef", [N, N, N, N]),
    ("contentEncoding", [N, N, N, N]),
    ("contentMediaType", [N, N, N, N]),
];
