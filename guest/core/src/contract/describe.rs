//! Describes a contract as text for its agent's prompt. The text says what the output must be, using titles and
//! descriptions. It follows the order of the schema, because agents write in the order of their instructions.

use super::Extract;
use crate::{
    location::unescaped,
    misspelling::is_same_word,
    parse::{Document, Kind, NodeId},
    text::{count, cut, quote},
};

/// The maximum length of the text, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// The maximum number of values of a list that are shown.
const MAX_VALUES: usize = 32;

/// The depth below which only the type of a schema is shown.
const MAX_DEPTH: usize = 8;

/// Describes `contract`, which must compile.
pub(super) fn describe(contract: &Document, extract: &Extract) -> String {
    let root = Schema { document: contract, at: Document::ROOT };
    let mut out = String::new();
    if let Some(description) = root.text("description") {
        line(&mut out, 0, &sentence(description));
    }
    if let Some(within) = &extract.within {
        line(&mut out, 0, &format!("Answer with one JSON document between {}.", within.both()));
    } else {
        match extract.markers.iter().find(|marker| !marker.is_empty()) {
            Some(marker) => line(
                &mut out,
                0,
                &format!("Answer with one JSON document in a fenced block: ```{marker} before it, ``` after it."),
            ),
            None => line(&mut out, 0, "Answer with one JSON document and nothing else."),
        }
    }
    if let Some(schema) = root.get("schema") {
        out.push_str("\nThe document:\n");
        let mut describer = Describer { root: schema, out };
        describer.value("", schema, 0);
        out = describer.out;
    } else if let Some(jtd) = root.get("jtd") {
        out.push_str("\nThe document:\n");
        let mut describer = Describer { root: jtd, out };
        describer.form("", jtd, 0);
        out = describer.out;
    }
    if let Some(items) = root.get("items")
        && let (Some(path), Some(max)) = (items.text("path"), items.get("max"))
    {
        let max = max.document.source(max.at);
        out.push_str(&format!("\nOf the items at {path}, the first {max} that are valid are used.\n"));
    }
    for rule in root.get("allow").into_iter().flat_map(Schema::items) {
        if let (Some(path), Some(values)) = (rule.text("path"), rule.get("values")) {
            let shown: Vec<_> = values.items().take(MAX_VALUES).map(|value| value.document.source(value.at)).collect();
            let more = if values.items().count() > MAX_VALUES { ", …" } else { "" };
            out.push_str(&format!("\nValues at {path} must be one of {}{more}.\n", shown.join(", ")));
        }
    }
    if let Some(evidence) = root.get("evidence") {
        claims(&mut out, evidence);
    }
    if let Some(path) = root.text("refusal") {
        let names: Vec<&str> = path.trim_start_matches("$.").split('.').collect();
        let opening: String = names.iter().map(|name| format!("{{\"{name}\": ")).collect();
        let closing = "}".repeat(names.len());
        out.push_str(&format!("\nTo decline, answer with {opening}\"the reason\"{closing} instead.\n"));
    }
    cut(&out, MAX_TEXT)
}

/// Describes how the gate checks claims against evidence. The defaults are those of `schemas/contract.schema.json`.
fn claims(out: &mut String, evidence: Schema) {
    let member = |name: &str, default: &'static str| quote(evidence.text(name).unwrap_or(default), 64);
    let (text, cites) = (member("text", "text"), member("cites", "evidence"));
    let (confidence, limitations) = (member("confidence", "confidence"), member("limitations", "limitations"));
    let path = evidence.text("claims").unwrap_or_default();
    out.push_str(&format!(
        "\nEach claim at {path} must rest on the observations that you were given:\n- {cites} is a list of what supports \
         it: {{\"id\": the observation's id, \"quote\": words of it, copied exactly from one place}}, or {{\"id\": …, \
         \"pointer\": a JSON Pointer into it, \"value\": what stands there}}.{}\n",
        match evidence.text("quotes") {
            Some("optional") => " The id alone cites all of it.",
            _ => " Only of an empty observation the id alone is enough.",
        }
    ));
    if evidence.text("numbers") != Some("ignore") {
        out.push_str(&format!(
            "- Each number, date, time and word with digits in {text} must stand in what the claim quotes or cites. Do not \
             round, estimate or add up. A figure that follows from others is cited with its computation: {{\"compute\": \
             \"sum\", \"of\": [{{\"id\": …, \"pointer\": …}}, …], \"value\": the figure, rounded as you write it}}. sum, count, \
             min and max take numbers and lists; difference, share and rate take two numbers, the whole or the time second.\n"
        ));
    }
    out.push_str(&format!(
        "- {confidence}, where you state it, is \"low\", \"medium\" or \"high\": no more than the weakest of those \
         observations allows.\n- {limitations} lists the codes of all their limitations.\n"
    ));
    if let Some(path) = evidence.text("absence") {
        out.push_str(&format!(
            "- A claim that something is absent is declared at {path}, and rests on complete observations only.\n"
        ));
    }
    for rule in evidence.get("kinds").into_iter().flat_map(Schema::items) {
        let kind = quote(rule.text("kind").unwrap_or_default(), 64);
        let least = rule.get("min").map_or_else(|| "1".to_owned(), Schema::shown);
        let noun = if least == "1" { "observation" } else { "observations" };
        let or =
            rule.text("or_explained").map_or(String::new(), |path| format!(", or say at {path} why there is none"));
        out.push_str(&format!("- Together they cite at least {least} {noun} of the kind {kind}{or}.\n"));
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

/// A schema inside its contract.
#[derive(Clone, Copy)]
struct Schema<'d> {
    document: &'d Document<'d>,
    at: NodeId,
}

impl<'d> Schema<'d> {
    fn get(self, keyword: &str) -> Option<Self> {
        self.document.member(self.at, keyword).map(|at| Schema { at, ..self })
    }

    fn text(self, keyword: &str) -> Option<&'d str> {
        self.get(keyword).filter(|value| value.is(Kind::String)).map(|value| value.document.string(value.at))
    }

    fn is(self, kind: Kind) -> bool {
        self.document.kind(self.at) == kind
    }

    /// Returns whether a keyword's value has the given kind.
    fn has(self, keyword: &str, kind: Kind) -> bool {
        self.get(keyword).is_some_and(|value| value.is(kind))
    }

    /// Returns the value as written in the schema. Strings have no quotes.
    fn shown(self) -> String {
        cut(&self.document.shown(self.at), 256)
    }

    /// Returns the values of a list, as JSON.
    fn list(self) -> String {
        let values: Vec<&str> = self.document.items(self.at).map(|at| self.document.source(at)).collect();
        cut(&values.join(", "), 1024)
    }

    fn items(self) -> impl Iterator<Item = Self> {
        self.document.items(self.at).map(move |at| Schema { at, ..self })
    }

    fn members(self) -> impl Iterator<Item = (&'d str, Self)> {
        let document = self.document;
        document.members(self.at).map(move |(name, at)| (document.string(name), Schema { at, ..self }))
    }

    /// Returns the type, with the bounds that an agent can follow.
    fn kind(self) -> String {
        if let Some(options) = self.get("enum") {
            return format!("one of {}", options.list());
        }
        if let Some(value) = self.get("const") {
            return cut(self.document.source(value.at), 1024);
        }
        let mut kind = match self.get("type") {
            Some(name) if name.is(Kind::String) => name.shown(),
            Some(names) => names.items().map(Self::shown).collect::<Vec<_>>().join(" or "),
            None if self.get("properties").is_some() => "object".to_owned(),
            None => "any value".to_owned(),
        };
        for (keyword, says) in [
            ("format", "format"),
            ("pattern", "matching"),
            ("minimum", "at least"),
            ("exclusiveMinimum", "more than"),
            ("maximum", "at most"),
            ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"),
        ] {
            // A format already says what a long pattern beside it spells out.
            let is_said = keyword == "pattern" && self.get("format").is_some();
            if let Some(value) = self.get(keyword).filter(|_| !is_said) {
                kind.push_str(&format!(", {says} {}", value.shown()));
            }
        }
        for (least, most, noun) in [
            ("minLength", "maxLength", "character"),
            ("minItems", "maxItems", "item"),
            ("minProperties", "maxProperties", "member"),
        ] {
            let bound = |keyword: &str| self.get(keyword).map(Self::shown);
            let counted = |bound: &str| bound.parse().map_or_else(|_| format!("{bound} {noun}s"), |n| count(n, noun));
            match (bound(least), bound(most)) {
                (Some(least), Some(most)) => kind.push_str(&format!(", {least} to {}", counted(&most))),
                (Some(least), None) => kind.push_str(&format!(", at least {}", counted(&least))),
                (None, Some(most)) => kind.push_str(&format!(", at most {}", counted(&most))),
                (None, None) => {}
            }
        }
        kind
    }
}

impl Schema<'_> {
    /// Returns the type of a value under a JSON Type Definition form.
    fn form_kind(self) -> String {
        if let Some(values) = self.get("enum") {
            return format!("one of {}", values.list());
        }
        match self.text("type") {
            Some("timestamp") => "timestamp, written YYYY-MM-DDThh:mm:ssZ or with an offset".to_owned(),
            Some(name @ ("boolean" | "string")) => name.to_owned(),
            Some(name) if name.starts_with("float") => "number".to_owned(),
            Some(name) => format!("integer ({name})"),
            None if self.get("elements").is_some() => "array".to_owned(),
            None => {
                let is_object = |keyword: &&str| self.get(keyword).is_some();
                let keywords = ["properties", "optionalProperties", "values", "discriminator"];
                if keywords.iter().any(is_object) { "object" } else { "any value" }.to_owned()
            }
        }
    }
}

/// Returns whether a title only repeats a member's name, as schema generators produce: `Order Id` for `order_id`.
fn repeats(title: &str, called: &str) -> bool {
    let name = called.strip_prefix('"').and_then(|rest| rest.rsplit_once('"'));
    name.is_some_and(|(name, _)| is_same_word(name, title))
}

struct Describer<'d> {
    root: Schema<'d>,
    out: String,
}

impl<'d> Describer<'d> {
    /// Describes one value: its name, its type, its purpose, and then its contents.
    fn value(&mut self, called: &str, schema: Schema<'d>, depth: usize) {
        let resolved = self.resolve(schema);
        let (chosen, kind) = self.alternatives(resolved).unwrap_or_else(|| (resolved, resolved.kind()));
        let about = |keyword: &str| [schema, resolved, chosen].iter().find_map(|schema| schema.text(keyword));
        let title = about("title").filter(|title| !repeats(title, called));
        if self.tell(called, &kind, about("description").or(title), depth) {
            self.inside(chosen, depth + 1);
        }
    }

    /// Describes alternatives that fit on one line: plain types, or one type beside `null`. Returns the type of the
    /// value, and the schema whose contents are described next.
    fn alternatives(&self, schema: Schema<'d>) -> Option<(Schema<'d>, String)> {
        const OTHERS: [&str; 7] = ["type", "enum", "const", "properties", "items", "prefixItems", "allOf"];
        const UNIONS: [&str; 2] = ["anyOf", "oneOf"];
        let has = |schema: Schema, keywords: &[&str]| keywords.iter().any(|keyword| schema.get(keyword).is_some());
        let mut unions = UNIONS.iter().filter_map(|keyword| schema.get(keyword));
        let (Some(union), None, false) = (unions.next(), unions.next(), has(schema, &OTHERS)) else { return None };
        let (nulls, others): (Vec<Schema>, Vec<Schema>) =
            union.items().map(|option| self.resolve(option)).partition(|option| option.text("type") == Some("null"));
        let is_plain = |option: &Schema| {
            !has(*option, &["properties", "items", "prefixItems", "allOf", "title", "description"])
                && !has(*option, &UNIONS)
        };
        let first = *others.first()?;
        let fits = if others.len() == 1 { !has(first, &UNIONS) } else { others.iter().all(is_plain) };
        let kinds: Vec<String> = others.iter().chain(nulls.first()).map(|option| option.kind()).collect();
        let or = if kinds.iter().any(|kind| kind.contains(", ")) { ", or " } else { " or " };
        fits.then(|| (first, kinds.join(or)))
    }

    /// Appends a line for a value. Returns whether its contents still fit.
    #[inline(never)]
    fn tell(&mut self, called: &str, kind: &str, about: Option<&str>, depth: usize) -> bool {
        let mut text = format!("- {called}{kind}.");
        if let Some(about) = about {
            text.push(' ');
            text.push_str(&sentence(about));
        }
        line(&mut self.out, depth, &text);
        depth < MAX_DEPTH && self.out.len() < MAX_TEXT
    }

    fn inside(&mut self, schema: Schema<'d>, depth: usize) {
        let required = |name: &str| {
            let names = schema.get("required");
            names.is_some_and(|names| names.items().any(|required| required.document.string(required.at) == name))
        };
        for (name, property) in schema.get("properties").into_iter().flat_map(Schema::members) {
            let optional = if required(name) { "" } else { " (optional)" };
            self.value(&format!("\"{name}\"{optional}: "), property, depth);
        }
        self.items(schema, depth);
        for (keyword, says) in
            [("allOf", "and all of these"), ("anyOf", "at least one of these"), ("oneOf", "exactly one of these")]
        {
            if let Some(schemas) = schema.get(keyword) {
                line(&mut self.out, depth, &format!("{says}:"));
                for schema in schemas.items() {
                    self.value("", schema, depth);
                }
            }
        }
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some_and(|value| value.is(Kind::False)));
        if closed {
            line(&mut self.out, depth, "- no other members.");
        }
    }

    /// Describes the items of an array: first the items that have their own schemas, then the others.
    fn items(&mut self, schema: Schema<'d>, depth: usize) {
        let list = |keyword: &str| schema.get(keyword).filter(|value| value.is(Kind::Array));
        // Before 2020-12, `items` itself is that list, and `additionalItems` is the schema of the other items.
        let (front, others) = match list("prefixItems") {
            Some(front) => (Some(front), "items"),
            None => (list("items"), if list("items").is_some() { "additionalItems" } else { "items" }),
        };
        for (index, item) in front.into_iter().flat_map(Schema::items).enumerate() {
            self.value(&format!("item {index}: "), item, depth);
        }
        let called = if front.is_some() { "each further item: " } else { "each item: " };
        match schema.get(others) {
            Some(items) if items.is(Kind::Object) => self.value(called, items, depth),
            Some(items) if items.is(Kind::False) && front.is_some() => {
                line(&mut self.out, depth, "- no further items.");
            }
            _ => {}
        }
    }

    /// Describes a value under a JSON Type Definition form (RFC 8927).
    fn form(&mut self, called: &str, form: Schema<'d>, depth: usize) {
        let definition = |name: &str| self.root.get("definitions")?.get(name);
        let resolved = form.text("ref").and_then(definition).unwrap_or(form);
        let mut kind = resolved.form_kind();
        if [form, resolved].iter().any(|form| form.has("nullable", Kind::True)) {
            kind.push_str(" or null");
        }
        let about = |form: Schema<'d>| form.get("metadata")?.text("description");
        if self.tell(called, &kind, about(form).or(about(resolved)), depth) {
            self.inside_form(resolved, depth + 1);
        }
    }

    fn inside_form(&mut self, form: Schema<'d>, depth: usize) {
        let mut is_object = false;
        for (keyword, inside) in form.members() {
            match keyword {
                "properties" | "optionalProperties" => {
                    is_object = true;
                    let optional = if keyword == "properties" { "" } else { " (optional)" };
                    for (name, property) in inside.members() {
                        self.form(&format!("\"{name}\"{optional}: "), property, depth);
                    }
                }
                "elements" => self.form("each item: ", inside, depth),
                "values" => self.form("each member: ", inside, depth),
                "mapping" => {
                    let tag = form.text("discriminator").unwrap_or_default();
                    for (value, mapped) in inside.members() {
                        self.form(&format!("where \"{tag}\" is \"{value}\": "), mapped, depth);
                    }
                }
                _ => {}
            }
        }
        if is_object && !form.has("additionalProperties", Kind::True) {
            line(&mut self.out, depth, "- no other members.");
        }
    }

    /// Resolves a reference into the same schema.
    fn resolve(&self, schema: Schema<'d>) -> Schema<'d> {
        let target = schema.text("$ref").and_then(|target| target.strip_prefix("#/"));
        let step = |at: Schema<'d>, name: &str| at.get(&unescaped(name));
        target.and_then(|target| target.split('/').try_fold(self.root, step)).unwrap_or(schema)
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::Contract;

    fn described(members: &str) -> String {
        let contract = Contract::compile(&format!("{{\"agent\":\"a\",{members}}}"));
        let text = contract.unwrap_or_else(|fault| panic!("{fault:?}")).describe();
        text.split_once("The document:\n").expect("the document").1.to_owned()
    }

    #[test]
    fn definitions_are_told_in_words() {
        let text = described(
            r#""jtd":{"definitions":{"when":{"type":"timestamp"}},"properties":{
            "list":{"elements":{"discriminator":"kind","mapping":{"x":{"properties":{"n":{"type":"uint8"}}}}}},
            "at":{"ref":"when","nullable":true,"metadata":{"description":"When it was"}}},
            "optionalProperties":{"words":{"enum":["a","b"]},"more":{"values":{}}}}"#,
        );
        let expected = "- object.\n  \
            - \"list\": array.\n    \
              - each item: object.\n      \
                - where \"kind\" is \"x\": object.\n        \
                  - \"n\": integer (uint8).\n        \
                  - no other members.\n  \
            - \"at\": timestamp, written YYYY-MM-DDThh:mm:ssZ or with an offset or null. When it was.\n  \
            - \"words\" (optional): one of \"a\", \"b\".\n  \
            - \"more\" (optional): object.\n    \
              - each member: any value.\n  \
            - no other members.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn schemas_of_generators_are_told_as_people_would_write_them() {
        for (schema, told) in [
            (
                r#"{"properties":{"order_id":{"type":"string","title":"Order Id"}}}"#,
                r#""order_id" (optional): string."#,
            ),
            (r#"{"properties":{"orderId":{"type":"string","title":"Order ID"}}}"#, r#""orderId" (optional): string."#),
            (r#"{"properties":{"id":{"type":"string","title":"The ERP's number"}}}"#, "string. The ERP's number."),
            (r#"{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"N"}"#, "- integer or null. N.\n"),
            (r#"{"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]}"#, "- integer or string or null.\n"),
            (r#"{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}]}"#, "- integer, at least 1, or null.\n"),
            (r#"{"oneOf":[{"enum":["a","b"]},{"type":"null"}]}"#, "- one of \"a\", \"b\", or null.\n"),
            (
                r##"{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":{"type":"object","properties":{"x":{}}}}}"##,
                "- object or null.\n  - \"x\" (optional): any value.\n",
            ),
            (
                r#"{"anyOf":[{"type":"integer","description":"cents"},{"type":"string"}]}"#,
                "- any value.\n  at least one of these:\n  - integer. cents.\n  - string.\n",
            ),
            (r#"{"type":"string","format":"date","pattern":"^\\d{4}-\\d\\d-\\d\\d$"}"#, "- string, format date.\n"),
            (r#"{"type":"string","pattern":"^a$"}"#, "- string, matching ^a$.\n"),
        ] {
            let text = described(&format!(r#""schema":{schema}"#));
            assert!(text.contains(told), "{schema}\n{text}");
        }
    }

    #[test]
    fn claims_are_told_what_they_are_held_to() {
        let text = described(
            r#""schema":true,"evidence":{"claims":"$.c[*]","cites":"by","absence":"$.none","kinds":[{"kind":"log"},
            {"kind":"deploy","min":2,"or_explained":"$.why"}]}"#,
        );
        for told in [
            "Each claim at $.c[*] must rest on",
            "- \"by\" is a list of what supports it: {\"id\": the observation's id, \"quote\":",
            "Only of an empty observation the id alone is enough.",
            "word with digits in \"text\" must stand",
            "- \"confidence\", where you state it,",
            "- \"limitations\" lists",
            "declared at $.none,",
            "- Together they cite at least 1 observation of the kind \"log\".",
            "- Together they cite at least 2 observations of the kind \"deploy\", or say at $.why why there is none.",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
    }

    #[test]
    fn items_at_the_front_are_told_by_their_places() {
        for (schema, others) in [
            (r#"{"prefixItems":[{"type":"string"},{}],"items":{"type":"null"}}"#, "- each further item: null."),
            (r#"{"prefixItems":[{"type":"string"},{}],"items":false}"#, "- no further items."),
            (
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{}],
                "additionalItems":false}"#,
                "- no further items.",
            ),
        ] {
            let text = described(&format!("\"schema\":{schema}"));
            assert_eq!(
                text,
                format!("- any value.\n  - item 0: string.\n  - item 1: any value.\n  {others}\n"),
                "{schema}"
            );
        }
    }
}
