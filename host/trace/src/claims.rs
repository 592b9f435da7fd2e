//! The claims of a final document, and their citations. The profile's contract determines where they are.

use seamgate::Json;
use seamgate_text::escaped;
use serde::Deserialize;
use serde_json::Value;

/// The places of claims, according to `evidence` in the final contract.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    claims: String,
    #[serde(default = "text")]
    text: String,
    #[serde(default = "evidence")]
    cites: String,
    #[serde(default = "confidence")]
    confidence: String,
    #[serde(default)]
    absence: Option<String>,
}

fn text() -> String {
    "text".to_owned()
}

fn evidence() -> String {
    "evidence".to_owned()
}

fn confidence() -> String {
    "confidence".to_owned()
}

#[derive(Debug)]
pub(crate) struct Claim {
    /// A JSON Pointer into the document.
    pub(crate) pointer: String,
    pub(crate) text: String,
    pub(crate) confidence: String,
    pub(crate) cites: Vec<Cite>,
}

/// A citation of an observation, with a quotation from it or a value in it.
#[derive(Debug, Default)]
pub(crate) struct Cite {
    pub(crate) id: String,
    pub(crate) quote: Option<String>,
    pub(crate) pointer: Option<String>,
    pub(crate) value: Option<String>,
}

impl Claims {
    /// Parses a complete profile. `None` if its answers make no claims.
    pub(crate) fn of(profile: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Profile {
            r#final: Final,
        }
        #[derive(Deserialize)]
        struct Final {
            contract: Contract,
        }
        #[derive(Deserialize)]
        struct Contract {
            evidence: Json,
        }
        let profile: Profile = serde_json::from_str(profile).ok()?;
        profile.r#final.contract.evidence.read().ok()
    }

    /// Returns the claims of a document: those in the list of claims, followed by those in a separate list of absences.
    pub(crate) fn read(&self, document: &str) -> Vec<Claim> {
        let document: Value = serde_json::from_str(document).unwrap_or_default();
        let mut places = select(&self.claims, &document);
        // A member of each claim can declare absence, and is not a claim itself.
        if let Some(absence) = self.absence.as_ref().filter(|path| !path.starts_with(&self.claims)) {
            for (pointer, value) in select(absence, &document) {
                match value {
                    Value::Array(items) => {
                        places.extend(items.iter().enumerate().map(|(n, item)| (format!("{pointer}/{n}"), item)));
                    }
                    Value::Null => {}
                    value => places.push((pointer, value)),
                }
            }
        }
        places.into_iter().map(|(pointer, value)| self.claim(pointer, value)).collect()
    }

    fn claim(&self, pointer: String, value: &Value) -> Claim {
        let text = value.get(&self.text).map_or_else(|| shown(value), shown);
        let cites = value.get(&self.cites).and_then(Value::as_array).into_iter().flatten().map(|cite| match cite {
            Value::String(id) => Cite { id: id.clone(), ..Cite::default() },
            cite => {
                let member = |name: &str| cite.get(name).map(shown);
                Cite {
                    id: member("id").unwrap_or_default(),
                    quote: member("quote"),
                    pointer: member("pointer"),
                    value: cite.get("value").map(Value::to_string),
                }
            }
        });
        let confidence = value.get(&self.confidence).map(shown).unwrap_or_default();
        Claim { pointer, text, confidence, cites: cites.collect() }
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the values that a path leads to, with their JSON Pointers. The path consists of names, indices and `[*]`,
/// the subset of RFC 9535 that a contract accepts.
fn select<'v>(path: &str, document: &'v Value) -> Vec<(String, &'v Value)> {
    let Some(mut rest) = path.strip_prefix('$') else {
        return Vec::new();
    };
    let mut at = vec![(String::new(), document)];
    while let Some((selector, after)) = selector(rest) {
        rest = after;
        at = at
            .into_iter()
            .flat_map(|(pointer, value)| match (&selector, value) {
                (Selector::Name(name), Value::Object(members)) => {
                    let token = escaped(name);
                    members.get(name).map(|value| (format!("{pointer}/{token}"), value)).into_iter().collect()
                }
                (Selector::Index(index), Value::Array(items)) => {
                    items.get(*index).map(|value| (format!("{pointer}/{index}"), value)).into_iter().collect()
                }
                (Selector::Each, Value::Array(items)) => {
                    items.iter().enumerate().map(|(n, value)| (format!("{pointer}/{n}"), value)).collect()
                }
                _ => Vec::new(),
            })
            .collect();
    }
    // A path that cannot be parsed to its end leads nowhere.
    if rest.is_empty() { at } else { Vec::new() }
}

enum Selector {
    Name(String),
    Index(usize),
    Each,
}

fn selector(rest: &str) -> Option<(Selector, &str)> {
    if let Some(rest) = rest.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        return Some((Selector::Name(rest[..end].to_owned()), &rest[end..]));
    }
    let rest = rest.strip_prefix('[')?;
    if let Some(after) = rest.strip_prefix("*]") {
        return Some((Selector::Each, after));
    }
    for quote in ['\'', '"'] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (name, after) = rest.split_once(&format!("{quote}]"))?;
            return Some((Selector::Name(name.to_owned()), after));
        }
    }
    let (digits, after) = rest.split_once(']')?;
    Some((Selector::Index(digits.parse().ok()?), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_stand_where_the_contract_says() {
        let profile =
            r#"{"final":{"contract":{"evidence":{"claims":"$['a b'].claims[*]","text":"says","absence":"$.none"}}}}"#;
        let claims = Claims::of(profile).expect("claims");
        let document = r#"{"a b":{"claims":[{"says":"x","evidence":["t#c1",{"id":"t#c2","pointer":"/v","value":1}]},"bare"]},"none":[{"says":"y"}]}"#;
        let read = claims.read(document);
        let places: Vec<_> = read.iter().map(|claim| (claim.pointer.as_str(), claim.text.as_str())).collect();
        assert_eq!(places, [("/a b/claims/0", "x"), ("/a b/claims/1", "bare"), ("/none/0", "y")]);
        assert_eq!(read[0].cites[0].id, "t#c1");
        assert_eq!(read[0].cites[1].value.as_deref(), Some("1"));
        for nowhere in ["$x", "$[", "$['a b'", "$.none[1]", ""] {
            let document: Value = serde_json::from_str(document).expect("JSON");
            let found = select(nowhere, &document);
            assert!(found.is_empty(), "{nowhere}");
        }
        assert!(Claims::of(r#"{"final":{"contract":{}}}"#).is_none());
    }
}
