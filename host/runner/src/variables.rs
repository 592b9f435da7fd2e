//! Environment variables in values of files and options: `${NAME}`.

use std::env;

/// A part of a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'v> {
    Text(&'v str),
    /// An environment variable, by its name.
    Variable(&'v str),
}

/// Splits a value into text and variables.
pub(crate) fn parts(value: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let named = after.split_once('}').filter(|(name, _)| is_variable(name));
        let Some((name, after)) = named else {
            return Err("\"${\" must be followed by the name of a variable and \"}\"".to_owned());
        };
        if !before.is_empty() {
            parts.push(Part::Text(before));
        }
        parts.push(Part::Variable(name));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

/// Returns the names of the variables in a value.
pub(crate) fn variables(value: &str) -> impl Iterator<Item = String> {
    parts(value).unwrap_or_default().into_iter().filter_map(|part| match part {
        Part::Variable(name) => Some(name.to_owned()),
        Part::Text(_) => None,
    })
}

/// Replaces the variables in a value by their values.
pub(crate) fn expand(value: &str) -> Result<String, String> {
    let part = |part| match part {
        Part::Text(text) => Ok(text.to_owned()),
        Part::Variable(name) => match env::var(name) {
            Ok(value) if !value.is_empty() => Ok(value.trim().to_owned()),
            _ => Err(format!("set the variable {name}: it is empty or not set")),
        },
    };
    parts(value)?.into_iter().map(part).collect()
}

/// Returns whether a text is a valid variable name.
fn is_variable(name: &str) -> bool {
    let is_of_it = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.chars().all(is_of_it) && name.starts_with(|first: char| !first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_in_values() {
        assert_eq!(
            parts("Bearer ${A_1}-${b}!").expect("valid"),
            [Part::Text("Bearer "), Part::Variable("A_1"), Part::Text("-"), Part::Variable("b"), Part::Text("!")]
        );
        assert_eq!(parts("$5 {a}").expect("valid"), [Part::Text("$5 {a}")]);
        for value in ["${", "${}", "${1}", "${A", "${A:-b}", "${A B}"] {
            assert!(parts(value).is_err(), "{value}");
        }
    }
}
