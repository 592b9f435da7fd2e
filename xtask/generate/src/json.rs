//! JSON for people: members in the order given, on one line where they fit.

use super::text::WIDTH;

pub(super) enum Json {
    /// JSON text that stands as it is; its lines have the indentation of the place it is for.
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn string(text: &str) -> Self {
        Json::Text(serde_json::Value::from(text).to_string())
    }

    pub(super) fn strings<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Json::List(texts.into_iter().map(Json::string).collect())
    }

    pub(super) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Json)>) -> Self {
        Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns the value on one line.
    fn inline(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Json::Text(text) => text.clone(),
            Json::List(items) => format!("[{}]", joined(items.iter().map(Json::inline).collect())),
            Json::Object(members) if members.is_empty() => "{}".to_owned(),
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| format!("\"{name}\": {}", value.inline());
                format!("{{ {} }}", joined(members.iter().map(member).collect()))
            }
        }
    }

    /// `before`: the characters of the line that are taken.
    pub(super) fn print(&self, indent: usize, before: usize) -> String {
        let inline = self.inline();
        if !inline.contains('\n') && before + inline.chars().count() < WIDTH {
            return inline;
        }
        let inner = " ".repeat(indent + 2);
        let outer = " ".repeat(indent);
        match self {
            Json::Text(text) => text.clone(),
            Json::List(items) if items.iter().all(|item| matches!(item, Json::Text(_))) => {
                let words: Vec<String> = items.iter().map(Json::inline).collect();
                let mut lines: Vec<String> = Vec::new();
                for (index, word) in words.iter().enumerate() {
                    let word = format!("{word}{}", if index + 1 < words.len() { "," } else { "" });
                    match lines.last_mut() {
                        Some(line) if line.len() + 1 + word.len() <= WIDTH => line.push_str(&format!(" {word}")),
                        _ => lines.push(format!("{inner}{word}")),
                    }
                }
                format!("[\n{}\n{outer}]", lines.join("\n"))
            }
            Json::List(items) => {
                let items: Vec<String> =
                    items.iter().map(|item| format!("{inner}{}", item.print(indent + 2, indent + 2))).collect();
                format!("[\n{}\n{outer}]", items.join(",\n"))
            }
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| {
                    let head = format!("{inner}\"{name}\": ");
                    format!("{head}{}", value.print(indent + 2, head.len()))
                };
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{\n{}\n{outer}}}", members.join(",\n"))
            }
        }
    }
}
