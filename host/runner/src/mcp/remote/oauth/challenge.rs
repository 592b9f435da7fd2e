//! Reads the header `WWW-Authenticate` (RFC 9110, section 11.6.1).

/// The parameters in the answer to a rejected request that describe how to log in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The address of the resource's metadata (RFC 9728, section 5.1).
    pub(super) resource_metadata: Option<String>,
    /// The scopes that the request needs.
    pub(super) scope: Option<String>,
}

/// Reads the challenge with the scheme `Bearer` from the header's values.
pub(super) fn read<'v>(values: impl Iterator<Item = &'v str>) -> Challenge {
    let mut challenge = Challenge::default();
    for value in values {
        let mut is_bearer = false;
        for item in items(value) {
            let (name, text) = match item.split_once('=') {
                Some((name, text)) => (name.trim(), unquoted(text.trim())),
                None => (item, String::new()),
            };
            // The first parameter of a challenge follows its scheme.
            let name = match name.rsplit_once([' ', '\t']) {
                Some((scheme, name)) => {
                    is_bearer = scheme.trim().eq_ignore_ascii_case("bearer");
                    name
                }
                None if !item.contains('=') => {
                    is_bearer = name.eq_ignore_ascii_case("bearer");
                    continue;
                }
                None => name,
            };
            let member = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                _ => continue,
            };
            if is_bearer && !text.is_empty() {
                member.get_or_insert(text);
            }
        }
    }
    challenge
}

/// Splits a value at the commas that are outside of quotes.
fn items(value: &str) -> Vec<&str> {
    let (mut items, mut start, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (place, character) in value.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                items.push(value.get(start..place).unwrap_or_default().trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    items.push(value.get(start..).unwrap_or_default().trim());
    items.retain(|item| !item.is_empty());
    items
}

fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return text.to_owned() };
    let mut out = String::new();
    let mut is_escaped = false;
    for character in inner.chars() {
        match character {
            '\\' if !is_escaped => is_escaped = true,
            _ => {
                is_escaped = false;
                out.push(character);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_bearer_are_found_among_other_schemes() {
        let challenge = |metadata: &str, scope: &str| Challenge {
            resource_metadata: Some(metadata.to_owned()).filter(|text| !text.is_empty()),
            scope: Some(scope.to_owned()).filter(|text| !text.is_empty()),
        };
        for (value, expected) in [
            (r#"Bearer resource_metadata="https://a/b", scope="x y""#, challenge("https://a/b", "x y")),
            (r#"bearer realm="a, b=\"c", SCOPE=x"#, challenge("", "x")),
            (r#"Basic realm="x", Bearer scope="a", resource_metadata="https://c""#, challenge("https://c", "a")),
            (r#"Bearer scope="a", Digest scope="b", resource_metadata="https://evil""#, challenge("", "a")),
            ("Bearer", challenge("", "")),
            (r#"Bearer scope="unended"#, challenge("", "\"unended")),
            ("", challenge("", "")),
            (",=,\"", challenge("", "")),
        ] {
            assert_eq!(read([value].into_iter()), expected, "{value}");
        }
    }
}
