//! Member names that two readers could mistake for each other. Decoders differ: Go's `encoding/json` matches names
//! regardless of case and keeps the last of several, while others keep the first or the exact one. A message in which
//! this matters could be judged as one thing and read as another.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Members whose values are data of tools and their users. The protocol does not define the names inside.
const DATA: [&str; 7] = ["arguments", "structuredContent", "inputSchema", "outputSchema", "text", "data", "blob"];

/// Rejects a value in which two members of one object, other than data, have the same name, or names that differ only
/// in case.
///
/// The error names both members. A value that is nested more than 128 levels deep is rejected as well.
pub(super) fn check(value: &RawValue) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    Names.deserialize(&mut deserializer).map_err(|error| {
        let told = error.to_string();
        // Positions would count from the beginning of the value.
        told.rsplit_once(" at line ").map_or(told.clone(), |(told, _)| told.to_owned())
    })
}

/// Returns two names of one object that readers could mistake for each other.
pub(super) fn alike<'n>(names: impl Iterator<Item = &'n str>) -> Option<(String, String)> {
    let mut seen = Seen::default();
    names.into_iter().find_map(|name| Some((seen.add(Cow::Borrowed(name))?.into_owned(), name.to_owned())))
}

/// The names of one object so far. Most objects have few members, whose names are compared one by one.
#[derive(Default)]
struct Seen<'n> {
    few: Vec<Cow<'n, str>>,
    many: HashMap<String, Cow<'n, str>>,
}

impl<'n> Seen<'n> {
    /// The most names that are compared one by one.
    const FEW: usize = 16;

    /// Adds a name. Returns an earlier name that readers could mistake for it.
    fn add(&mut self, name: Cow<'n, str>) -> Option<Cow<'n, str>> {
        if let Some(other) = self.few.iter().find(|other| is_alike(other, &name)) {
            return Some(other.clone());
        }
        if self.few.len() == Self::FEW {
            return self.many.insert(folded(&name), name);
        }
        self.few.push(name);
        None
    }
}

fn is_alike(one: &str, other: &str) -> bool {
    match one.is_ascii() && other.is_ascii() {
        true => one.eq_ignore_ascii_case(other),
        false => folded(one) == folded(other),
    }
}

/// Describes two such names.
pub(super) fn wrong(one: &str, other: &str) -> String {
    match one == other {
        true => format!("the member {one:?} stands twice in one object"),
        false => format!("the members {one:?} and {other:?} of one object differ only in case"),
    }
}

/// Folds a name as a decoder that ignores case does. U+017F and U+212A become `s` and `k`, as in Go.
pub(super) fn folded(name: &str) -> String {
    match name.is_ascii() {
        true => name.to_ascii_lowercase(),
        false => name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect(),
    }
}

/// Walks through a value once. Strings and data are skipped.
struct Names;

/// Reads the name of a member. Numbers appear as objects with one member, whose name is a plain string.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

impl<'de> DeserializeSeed<'de> for Names {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Names {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Names)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = Seen::default();
        while let Some(name) = members.next_key_seed(Name)? {
            if let Some(other) = seen.add(name.clone()) {
                return Err(Error::custom(wrong(&other, &name)));
            }
            match DATA.contains(&&*name) {
                true => drop(members.next_value::<IgnoredAny>()?),
                false => members.next_value_seed(Names)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(), String> {
        check(&RawValue::from_string(text.to_owned()).expect("JSON"))
    }

    #[test]
    fn names_that_a_reader_could_confuse_are_refused_at_any_depth() {
        let pairs = [
            ("name", "Name"),
            ("name", "name"),
            ("name", "\\u006eame"),
            ("params", "param\u{17f}"),
            ("k", "\u{212a}"),
            ("é", "É"),
        ];
        let around: [fn(String) -> String; 4] = [
            |inner| inner,
            |inner| format!(r#"{{"_meta":{inner}}}"#),
            |inner| format!(r#"{{"content":[1,true,null,"x",{inner}]}}"#),
            |inner| format!(r#"{{"a":1.5e3,"Arguments":{inner}}}"#),
        ];
        for (one, other) in pairs {
            for around in around {
                for text in [format!(r#"{{"{one}":1,"{other}":2}}"#), format!(r#"{{"{other}":1,"x":{{}},"{one}":2}}"#)]
                {
                    let text = around(text);
                    let wrong = read(&text).expect_err(&text);
                    assert!(wrong.ends_with("in one object") || wrong.ends_with("only in case"), "{text}: {wrong}");
                }
            }
        }
    }

    #[test]
    fn names_of_a_large_object_are_compared_with_all_before_them() {
        let object = |names: &[String]| {
            let members: Vec<String> = names.iter().map(|name| format!("\"{name}\":0")).collect();
            format!("{{{}}}", members.join(","))
        };
        let names: Vec<String> = (0..40).map(|number| format!("name{number}")).collect();
        assert_eq!(read(&object(&names)), Ok(()));
        for place in 0..names.len() {
            let with = [&names[..], &[names[place].to_uppercase()]].concat();
            assert!(read(&object(&with)).is_err(), "{place}");
        }
    }

    #[test]
    fn data_may_have_any_names() {
        for name in DATA {
            assert_eq!(read(&format!(r#"{{"{name}":{{"a":1,"A":{{"b":[],"B":0}}}}}}"#)), Ok(()), "{name}");
        }
        assert_eq!(read(r#"{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"B":1}]}"#), Ok(()));
        for other in ["1", "\"a\"", "null", "[]", "-1.5e300", "1e999"] {
            assert_eq!(read(other), Ok(()), "{other}");
        }
    }

    #[test]
    fn a_value_that_nests_deeply_is_refused_without_a_panic() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(read(&deep(100)), Ok(()));
        assert!(read(&deep(100_000)).is_err());
    }
}
