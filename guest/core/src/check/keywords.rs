//! The keywords of JSON Schema: the drafts that define each one, and the positions of schemas in its value.

use referencing::Draft;

/// The positions of schemas inside a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// The value contains no schemas.
    Nothing,
    /// The value is a schema.
    Schema,
    /// The value is a list of schemas.
    List,
    /// The value is a schema, or a list of schemas.
    SchemaOrList,
    /// The value is an object whose members may be schemas.
    Named,
}

/// A keyword.
#[derive(Debug)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    since: Draft,
    /// The last draft that has the keyword. `None` if all later drafts have it.
    until: Option<Draft>,
    pub(crate) inside: Inside,
}

impl Keyword {
    /// Returns whether a draft has the keyword. A custom dialect has the keywords of the latest draft.
    pub(crate) fn is_in(&self, draft: Draft) -> bool {
        match draft {
            Draft::Unknown => self.until.is_none(),
            draft => draft >= self.since && self.until.is_none_or(|last| draft <= last),
        }
    }
}

/// Returns the keyword with this name.
pub(crate) fn named(name: &str) -> Option<&'static Keyword> {
    ALL.binary_search_by_key(&name, |keyword| keyword.name).ok().map(|at| ALL[at])
}

/// Returns the names of a draft's keywords.
pub(crate) fn names(draft: Draft) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |keyword| keyword.is_in(draft)).map(|keyword| keyword.name)
}

macro_rules! keywords {
    ($($constant:ident $name:literal $inside:ident $since:ident $(to $until:ident)?;)*) => {
        $(
            pub(crate) const $constant: &Keyword = &Keyword {
                name: $name,
                since: Draft::$since,
                until: keywords!(@last $($until)?),
                inside: Inside::$inside,
            };
        )*

        const ALL: &[&Keyword] = &[$($constant),*];
    };
    (@last) => { None };
    (@last $until:ident) => { Some(Draft::$until) };
}

// Sorted by name, for `named`. Annotations belong to every draft, because validators ignore them in all drafts.
keywords! {
    ANCHOR "$anchor" Nothing Draft201909;
    COMMENT "$comment" Nothing Draft4;
    DEFS "$defs" Named Draft4;
    DYNAMIC_ANCHOR "$dynamicAnchor" Nothing Draft202012;
    DYNAMIC_REF "$dynamicRef" Nothing Draft202012;
    DOLLAR_ID "$id" Nothing Draft6;
    RECURSIVE_ANCHOR "$recursiveAnchor" Nothing Draft201909 to Draft201909;
    RECURSIVE_REF "$recursiveRef" Nothing Draft201909 to Draft201909;
    REF "$ref" Nothing Draft4;
    DOLLAR_SCHEMA "$schema" Nothing Draft4;
    VOCABULARY "$vocabulary" Nothing Draft201909;
    ADDITIONAL_ITEMS "additionalItems" Schema Draft4 to Draft201909;
    ADDITIONAL_PROPERTIES "additionalProperties" Schema Draft4;
    ALL_OF "allOf" List Draft4;
    ANY_OF "anyOf" List Draft4;
    CONST "const" Nothing Draft6;
    CONTAINS "contains" Schema Draft6;
    CONTENT_ENCODING "contentEncoding" Nothing Draft4;
    CONTENT_MEDIA_TYPE "contentMediaType" Nothing Draft4;
    CONTENT_SCHEMA "contentSchema" Schema Draft4;
    DEFAULT "default" Nothing Draft4;
    DEFINITIONS "definitions" Named Draft4;
    DEPENDENCIES "dependencies" Named Draft4;
    DEPENDENT_REQUIRED "dependentRequired" Nothing Draft201909;
    DEPENDENT_SCHEMAS "dependentSchemas" Named Draft201909;
    DEPRECATED "deprecated" Nothing Draft4;
    DESCRIPTION "description" Nothing Draft4;
    ELSE "else" Schema Draft7;
    ENUM "enum" Nothing Draft4;
    EXAMPLES "examples" Nothing Draft4;
    EXCLUSIVE_MAXIMUM "exclusiveMaximum" Nothing Draft4;
    EXCLUSIVE_MINIMUM "exclusiveMinimum" Nothing Draft4;
    FORMAT "format" Nothing Draft4;
    ID "id" Nothing Draft4 to Draft4;
    IF "if" Schema Draft7;
    ITEMS "items" SchemaOrList Draft4;
    MAX_CONTAINS "maxContains" Nothing Draft201909;
    MAX_ITEMS "maxItems" Nothing Draft4;
    MAX_LENGTH "maxLength" Nothing Draft4;
    MAX_PROPERTIES "maxProperties" Nothing Draft4;
    MAXIMUM "maximum" Nothing Draft4;
    MIN_CONTAINS "minContains" Nothing Draft201909;
    MIN_ITEMS "minItems" Nothing Draft4;
    MIN_LENGTH "minLength" Nothing Draft4;
    MIN_PROPERTIES "minProperties" Nothing Draft4;
    MINIMUM "minimum" Nothing Draft4;
    MULTIPLE_OF "multipleOf" Nothing Draft4;
    NOT "not" Schema Draft4;
    ONE_OF "oneOf" List Draft4;
    PATTERN "pattern" Nothing Draft4;
    PATTERN_PROPERTIES "patternProperties" Named Draft4;
    PREFIX_ITEMS "prefixItems" List Draft202012;
    PROPERTIES "properties" Named Draft4;
    PROPERTY_NAMES "propertyNames" Schema Draft6;
    READ_ONLY "readOnly" Nothing Draft4;
    REQUIRED "required" Nothing Draft4;
    THEN "then" Schema Draft7;
    TITLE "title" Nothing Draft4;
    TYPE "type" Nothing Draft4;
    UNEVALUATED_ITEMS "unevaluatedItems" Schema Draft201909;
    UNEVALUATED_PROPERTIES "unevaluatedProperties" Schema Draft201909;
    UNIQUE_ITEMS "uniqueItems" Nothing Draft4;
    WRITE_ONLY "writeOnly" Nothing Draft4;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_stand_in_order() {
        assert!(ALL.is_sorted_by_key(|keyword| keyword.name));
    }

    #[test]
    fn each_draft_has_the_keywords_of_its_metaschema() {
        // These keywords allow any value.
        let is_any = |name: &str| matches!(name, "const" | "default");
        for (draft, source) in [
            (Draft::Draft201909, include_str!("metaschema/draft-2019-09.json")),
            (Draft::Draft202012, include_str!("metaschema/draft-2020-12.json")),
        ] {
            let metaschema: serde_json::Value = serde_json::from_str(source).expect("JSON");
            let properties = metaschema["properties"].as_object().expect("keywords");
            for name in properties.keys().filter(|name| !is_any(name)) {
                assert!(named(name).is_some_and(|keyword| keyword.is_in(draft)), "{draft:?} has {name}");
            }
            for keyword in ALL.iter().filter(|keyword| keyword.is_in(draft) && !is_any(keyword.name)) {
                assert!(properties.contains_key(keyword.name), "{draft:?} does not have {}", keyword.name);
            }
        }
    }
}
