//! Suggests replacements for keywords of unsupported or older drafts, and of OpenAPI.

/// Returns the replacement for a keyword's value that only older drafts accept. `received` is the kind of the value, or
/// the value itself.
pub(super) fn value(keyword: &str, received: &str) -> Option<&'static str> {
    Some(match (keyword, received) {
        ("items", "array") => {
            "drafts up to 2019-09 have a list here: name it \"prefixItems\", or name that draft in \"$schema\""
        }
        ("exclusiveMinimum" | "exclusiveMaximum", "boolean") => {
            "draft 4 has a boolean here: write the limit itself, or name that draft in \"$schema\""
        }
        ("required", "boolean") => "draft 3 has a boolean here: list the required names in the object around",
        ("type", "any") => "draft 3 has \"any\": leave \"type\" out",
        _ => return None,
    })
}

/// Returns the origin of an ignored keyword, and its replacement.
pub(crate) fn keyword(name: &str) -> Option<&'static str> {
    Some(match name {
        "nullable" => "OpenAPI 3.0 has it: write \"type\": [\"string\", \"null\"]",
        "example" => "OpenAPI 3.0 has it: write \"examples\", a list",
        "id" => "draft 4 has it: write \"$id\"",
        "divisibleBy" => "draft 3 has it: write \"multipleOf\"",
        "extends" => "draft 3 has it: write \"allOf\"",
        "disallow" => "draft 3 has it: write \"not\"",
        _ => return None,
    })
}
