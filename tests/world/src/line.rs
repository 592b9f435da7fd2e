//! Invariants of every line that the gate writes.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// Members whose values are data and may contain any names.
const DATA: [&str; 7] = ["arguments", "structuredContent", "inputSchema", "outputSchema", "text", "data", "blob"];

/// Checks a line: it is one JSON text, no object outside of data contains a name twice, and no program treats a
/// character in it as the end of a line.
///
/// # Panics
///
/// Panics if the line violates one of these rules.
pub(crate) fn check(line: &str) {
    let is_end = |text: &str| matches!(text, "\u{85}" | "\u{2028}" | "\u{2029}");
    let bytes = line.as_bytes();
    assert!(memchr::memchr2(b'\r', b'\n', bytes).is_none(), "a line end in {line:?}");
    if !line.is_ascii() {
        assert!(!line.chars().any(|next| is_end(next.encode_utf8(&mut [0; 4]))), "a line end in {line:?}");
    }
    let mut deserializer = serde_json::Deserializer::from_str(line);
    if let Err(error) = Once.deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        panic!("{error}: {line}");
    }
}

/// A value whose objects contain each name only once.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// The name of a member.
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

impl<'de> Visitor<'de> for Once {
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
        while items.next_element_seed(Once)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        const FEW: usize = 8;
        let (mut seen, mut more) = (Vec::new(), HashSet::new());
        while let Some(name) = members.next_key_seed(Name)? {
            let is_data = DATA.contains(&&*name);
            if seen.contains(&name) || more.contains(&name) {
                return Err(A::Error::custom(format_args!("the member {name:?} comes twice")));
            }
            match seen.len() < FEW {
                true => seen.push(name),
                false => drop(more.insert(name)),
            }
            match is_data {
                true => drop(members.next_value::<IgnoredAny>()?),
                false => members.next_value_seed(Once)?,
            }
        }
        Ok(())
    }
}
