//! Names of types.

use std::collections::BTreeSet;

/// The longest name of a type, in bytes.
const MAX_NAME: usize = 64;

/// Names that have another meaning in generated code, in one of the languages.
const TAKEN: [&str; 43] = [
    "Any",
    "Annotated",
    "Array",
    "BaseModel",
    "Boolean",
    "Box",
    "ConfigDict",
    "Date",
    "Default",
    "Deserialize",
    "Dict",
    "Enum",
    "Error",
    "Err",
    "False",
    "Field",
    "Float",
    "From",
    "Function",
    "HashMap",
    "Int",
    "Into",
    "List",
    "Literal",
    "Mapping",
    "None",
    "Number",
    "Object",
    "Ok",
    "Option",
    "Optional",
    "Promise",
    "Record",
    "Result",
    "RootModel",
    "Self",
    "Serialize",
    "Some",
    "String",
    "Symbol",
    "True",
    "Union",
    "Vec",
];

/// Returns whether a text is a valid name of a type in every language: a capital ASCII letter, followed by letters and
/// digits.
pub fn is_type_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|each| each.is_ascii_alphanumeric())
        && !TAKEN.contains(&text)
}

/// Derives the name of a type from the words of a text, such as an agent's name: `order-items` becomes `OrderItems`.
pub fn type_name(text: &str) -> String {
    let mut name = String::new();
    for word in text.split(|each: char| !each.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name.truncate(MAX_NAME - 4);
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert_str(0, "Type");
    }
    if TAKEN.contains(&name.as_str()) {
        name.push_str("Type");
    }
    name
}

/// Names of types that are unique, even if case is ignored.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// Returns this name. If another type has it, returns the name with a number.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = 1;
        while !self.0.insert(unique.to_ascii_lowercase()) {
            number += 1;
            // A digit before the number would result in another number.
            let between = if name.ends_with(|last: char| last.is_ascii_digit()) { "N" } else { "" };
            unique = format!("{name}{between}{number}");
        }
        unique
    }
}
