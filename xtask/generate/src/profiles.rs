//! The members of a profile in `docs/profiles.md`, from `schemas/profile.schema.json`.
//!
//! A line `<!-- members: /tools /deny -->` in the page stands before the list of these members and of all below them, up to the
//! next blank line. A member that another line names is listed there. Each member is listed once. A line `<!-- kinds -->` stands
//! before the list of the kinds of strings that members share.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, bail, ensure};

use crate::{limits::grouped, ordered::Node, text::wrap};

const DOCUMENT: &str = "docs/profiles.md";
const SCHEMA: &str = "schemas/profile.schema.json";

/// The width of a line of the page.
const WIDTH: usize = 100;

/// The longest pattern that the page shows. The description says what a longer one means.
const MAX_PATTERN: usize = 60;

/// A member of profiles, wherever it may stand.
#[derive(Debug)]
struct Member {
    /// A JSON Pointer. `*` stands for any index, and for any name that the author chooses.
    path: String,
    is_required: bool,
    kind: String,
    default: Option<String>,
    description: String,
    /// The place in the schema that states its members, if it has any. Equal ones share their members.
    members: Option<*const Node>,
}

/// Returns the page with its lists.
pub(super) fn document() -> Result<String> {
    let schema: Node = serde_json::from_str(&fs::read_to_string(SCHEMA).context(SCHEMA)?).context(SCHEMA)?;
    let page = fs::read_to_string(DOCUMENT).context(DOCUMENT)?;
    filled(&Schema(&schema), &page).context(DOCUMENT)
}

fn filled(schema: &Schema, page: &str) -> Result<String> {
    let members = schema.members()?;
    let roots: Vec<&str> = page.lines().filter_map(roots_of).flat_map(str::split_whitespace).collect();
    let mut listed = vec![false; members.len()];
    let mut first = BTreeMap::new();
    let mut lines = page.lines();
    let mut filled = String::new();
    while let Some(line) = lines.next() {
        filled.push_str(line);
        filled.push('\n');
        let list = match (line, roots_of(line)) {
            ("<!-- kinds -->", _) => schema.kinds()?,
            (_, Some(named)) => {
                let mut list = Vec::new();
                for root in named.split_whitespace() {
                    list.extend(below(&members, root, &roots, &mut listed, &mut first)?);
                }
                list
            }
            _ => continue,
        };
        for line in list {
            filled.push_str(&line);
            filled.push('\n');
        }
        filled.push('\n');
        // What was listed before ends at a blank line.
        lines.by_ref().find(|line| line.is_empty());
    }
    let missing = members.iter().zip(&listed).filter(|(_, is_listed)| !**is_listed);
    let missing: Vec<&str> = missing.map(|(member, _)| member.path.as_str()).collect();
    ensure!(missing.is_empty(), "no line '<!-- members: … -->' names {}", missing.join(", "));
    Ok(filled)
}

/// Returns the members that a line of the page names, with blanks between them.
fn roots_of(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- members: ")?.strip_suffix(" -->")
}

/// Returns the list of a member and those below it, without those that other lines name.
fn below(
    members: &[Member],
    root: &str,
    roots: &[&str],
    listed: &mut [bool],
    first: &mut BTreeMap<*const Node, String>,
) -> Result<Vec<String>> {
    ensure!(members.iter().any(|member| member.path == root), "{root} is not a member of profiles");
    let mut lines = Vec::new();
    // The member whose own members were listed elsewhere.
    let mut told: Option<&str> = None;
    for (member, is_listed) in members.iter().zip(listed) {
        let path = member.path.as_str();
        let is_elsewhere = roots.iter().any(|other| is_within(other, root) && *other != root && is_within(path, other));
        if !is_within(path, root) || is_elsewhere {
            continue;
        }
        ensure!(!*is_listed, "{path} is listed twice");
        *is_listed = true;
        if told.is_some_and(|told| is_within(path, told)) {
            continue;
        }
        let same = member.members.and_then(|members| first.get(&members));
        told = same.map(|_| path);
        lines.extend(member.lines(same.map(String::as_str)));
        if let (Some(members), None) = (member.members, same) {
            first.insert(members, path.to_owned());
        }
    }
    Ok(lines)
}

/// Returns whether a path is a root or below it.
fn is_within(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Member {
    /// Returns the lines of its entry. `same`: the member under which the members below it are listed.
    fn lines(&self, same: Option<&str>) -> Vec<String> {
        let required = if self.is_required { " (required)" } else { "" };
        let default = self.default.as_ref().map(|value| format!("; default {value}")).unwrap_or_default();
        let same = same.map(|path| format!(" Its members are those of `{path}`.")).unwrap_or_default();
        let head = format!("- `{}`{required}: {}{default}.", self.path, self.kind);
        let indented = |text: &str| wrap(text, WIDTH - 2).into_iter().map(|line| format!("  {line}")).collect();
        let [head, text]: [Vec<String>; 2] = [indented(&head), indented(&format!("{}{same}", self.description))];
        let head =
            head.into_iter().enumerate().map(|(index, line)| if index == 0 { line[2..].to_owned() } else { line });
        head.chain(text).collect()
    }
}

/// The whole schema.
struct Schema<'s>(&'s Node);

/// A schema and the definition to which it refers. What it says itself counts.
#[derive(Clone, Copy)]
struct Resolved<'s> {
    own: &'s Node,
    definition: Option<&'s Node>,
}

impl<'s> Resolved<'s> {
    fn get(&self, name: &str) -> Option<&'s Node> {
        self.own.get(name).or_else(|| self.definition?.get(name))
    }

    fn text(&self, name: &str) -> Option<&'s str> {
        self.get(name)?.text()
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.count()
    }

    /// Returns the members that it describes; where there is a definition, those of the definition.
    fn properties(&self) -> &'s [(String, Node)] {
        let of = self.definition.unwrap_or(self.own);
        of.get("properties").map(Node::members).unwrap_or_default()
    }
}

impl<'s> Schema<'s> {
    fn resolve(&self, own: &'s Node) -> Result<Resolved<'s>> {
        let Some(name) = own.get("$ref").and_then(Node::text) else { return Ok(Resolved { own, definition: None }) };
        let name = name.strip_prefix("#/$defs/").with_context(|| format!("{name} is not a definition"))?;
        let definition =
            self.0.get("$defs").and_then(|all| all.get(name)).with_context(|| format!("no definition {name}"))?;
        Ok(Resolved { own, definition: Some(definition) })
    }

    /// Returns the list of the kinds of strings that have a title of their own.
    fn kinds(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for (_, node) in self.0.get("$defs").map(Node::members).unwrap_or_default() {
            let (Some(title), Some("string")) =
                (node.get("title").and_then(Node::text), node.get("type").and_then(Node::text))
            else {
                continue;
            };
            let bounds = self.kind(Resolved { own: node, definition: None }, false)?;
            let description = node.get("description").and_then(Node::text).map(|text| format!(" {text}"));
            let text = format!("- *{title}*: {bounds}.{}", description.unwrap_or_default());
            let wrapped = wrap(&text, WIDTH - 2).into_iter().enumerate();
            lines.extend(wrapped.map(|(index, line)| if index == 0 { line } else { format!("  {line}") }));
        }
        Ok(lines)
    }

    /// Returns all members, each before those below it.
    fn members(&self) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        self.below(Resolved { own: self.0, definition: None }, "", &mut members)?;
        Ok(members)
    }

    /// Adds the members below a place.
    fn below(&self, of: Resolved<'s>, place: &str, members: &mut Vec<Member>) -> Result<()> {
        let required = of.get("required").map(Node::texts).unwrap_or_default();
        for (name, node) in of.properties() {
            let path = format!("{place}/{name}");
            let resolved = self.resolve(node)?;
            // The place that refers to a definition may say more of its members.
            let nearer = of.definition.and_then(|_| of.own.get("properties")?.get(name));
            let default = nearer.and_then(|nearer| nearer.get("default")).or_else(|| resolved.get("default"));
            let description = resolved.text("description");
            let at = members.len();
            members.push(Member {
                is_required: required.contains(name),
                kind: self.kind(resolved, false)?,
                default: default.map(shown).transpose()?,
                description: description.with_context(|| format!("{path} has no description"))?.to_owned(),
                members: None,
                path: path.clone(),
            });
            self.inside(resolved, &path, members)?;
            if members.len() > at + 1 {
                members[at].members = Some(resolved.definition.unwrap_or(resolved.own));
            }
        }
        Ok(())
    }

    /// Adds the members below a value: its own, those of its items, and those of its alternatives.
    fn inside(&self, of: Resolved<'s>, place: &str, members: &mut Vec<Member>) -> Result<()> {
        self.below(of, place, members)?;
        let each = of.get("items").into_iter().chain(of.get("additionalProperties").filter(|node| is_schema(node)));
        for node in each {
            self.inside(self.resolve(node)?, &format!("{place}/*"), members)?;
        }
        for node in of.get("anyOf").map(Node::items).unwrap_or_default() {
            let first = members.len();
            self.inside(self.resolve(node)?, place, members)?;
            // A member that one alternative requires is missing in another.
            for member in &mut members[first..] {
                member.is_required &= member.path.rfind('/') != Some(place.len());
            }
        }
        Ok(())
    }

    /// Returns the type of a value, with its bounds. `plural`: of several values.
    fn kind(&self, of: Resolved<'s>, plural: bool) -> Result<String> {
        let s = if plural { "s" } else { "" };
        if let Some(title) = of.definition.and_then(|_| of.text("title")).filter(|_| of.text("type") == Some("string"))
        {
            return Ok(format!("*{title}*{s}"));
        }
        let named = words(of);
        if !named.is_empty() {
            return Ok(alternatives(named));
        }
        if let Some(any) = of.get("anyOf") {
            let mut kinds = Vec::new();
            for node in any.items() {
                let one = self.resolve(node)?;
                let named = words(one);
                kinds.extend(if named.is_empty() { vec![self.kind(one, plural)?] } else { named });
            }
            return Ok(alternatives(kinds));
        }
        let Some(kind) = of.get("type") else { return Ok("any JSON".to_owned()) };
        let range = |least: &str, most: &str| bounds(of.count(least), of.count(most));
        Ok(match kind.text() {
            None => format!("JSON Schema{s}"),
            Some("string") => {
                let length = range("minLength", "maxLength").map(|range| format!(" of {range} characters"));
                let pattern = of.text("pattern").filter(|pattern| pattern.len() <= MAX_PATTERN);
                let pattern = pattern.map(|pattern| format!(" (`{pattern}`)"));
                format!("string{s}{}{}", length.unwrap_or_default(), pattern.unwrap_or_default())
            }
            Some("integer") => {
                let range = range("minimum", "maximum").map(|range| format!(", {range}"));
                format!("integer{s}{}", range.unwrap_or_default())
            }
            Some("array") => {
                let range = range("minItems", "maxItems").map(|range| format!("{range} "));
                let once = if of.get("uniqueItems").is_some() { ", each once" } else { "" };
                let items = match of.get("items") {
                    Some(items) => self.kind(self.resolve(items)?, true)?,
                    None => "values".to_owned(),
                };
                format!("list{s} of {}{items}{once}", range.unwrap_or_default())
            }
            Some("object") if of.properties().is_empty() => {
                let Some(each) = of.get("additionalProperties").filter(|node| is_schema(node)) else {
                    return Ok(format!("object{s}"));
                };
                let range = range("minProperties", "maxProperties").map(|range| format!(" of {range} members"));
                let names = match of.get("propertyNames") {
                    Some(names) => self.kind(self.resolve(names)?, true)?,
                    None => "strings".to_owned(),
                };
                let each = self.kind(self.resolve(each)?, true)?;
                format!("object{s}{}, from {names} to {each}", range.unwrap_or_default())
            }
            Some("object") => format!("object{s}"),
            Some("boolean") => format!("boolean{s}"),
            Some(other) => bail!("the type {other:?} has no name on the page"),
        })
    }
}

/// Returns whether `additionalProperties` describes members.
fn is_schema(node: &Node) -> bool {
    !node.members().is_empty()
}

/// Returns the words of an enumeration.
fn words(of: Resolved) -> Vec<String> {
    of.get("enum").map(Node::texts).unwrap_or_default().iter().map(|word| format!("`\"{word}\"`")).collect()
}

fn alternatives(mut words: Vec<String>) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

fn bounds(least: Option<u64>, most: Option<u64>) -> Option<String> {
    let least = least.filter(|&least| least > 0);
    Some(match (least, most.map(|most| grouped(most, ","))) {
        (Some(least), Some(most)) => format!("{} to {most}", grouped(least, ",")),
        (Some(least), None) => format!("at least {}", grouped(least, ",")),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => return None,
    })
}

/// Returns a default as the page shows it.
fn shown(value: &Node) -> Result<String> {
    Ok(match value {
        Node::Count(value) => grouped(*value, ","),
        value => format!("`{}`", json(value)?),
    })
}

fn json(value: &Node) -> Result<String> {
    Ok(match value {
        Node::Bool(value) => value.to_string(),
        Node::Count(value) => value.to_string(),
        Node::Text(text) => format!("\"{text}\""),
        Node::List(items) => format!("[{}]", items.iter().map(json).collect::<Result<Vec<_>>>()?.join(", ")),
        Node::Object(members) if members.is_empty() => "{}".to_owned(),
        Node::Object(_) | Node::Other => bail!("a default of this type has no form on the page"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROFILE: &str = r##"{
        "type": "object", "required": ["a"], "properties": {
            "a": { "description": "One.", "type": "array", "maxItems": 3, "items": { "type": "object", "properties": {
                "b": { "description": "Two.", "$ref": "#/$defs/limits", "properties": { "c": { "default": 7 } } } } } },
            "d": { "description": "Three.", "$ref": "#/$defs/limits" } },
        "$defs": { "limits": { "type": "object", "properties": { "c": { "description": "Four.", "type": "integer", "minimum": 1 } } } }
    }"##;

    fn page(page: &str) -> Result<String> {
        filled(&Schema(&serde_json::from_str(PROFILE)?), page)
    }

    #[test]
    fn each_member_is_listed_once_where_the_page_names_it() -> Result<()> {
        let is = page("# Title\n\n<!-- members: /a -->\nold\n\nText.\n\n<!-- members: /d -->\n\n")?;
        let first = "- `/a` (required): list of at most 3 objects.\n  One.\n- `/a/*/b`: object.\n  Two.\n\
                     - `/a/*/b/c`: integer, at least 1; default 7.\n  Four.\n";
        let last = "- `/d`: object.\n  Three. Its members are those of `/a/*/b`.\n";
        assert_eq!(is, format!("# Title\n\n<!-- members: /a -->\n{first}\nText.\n\n<!-- members: /d -->\n{last}\n"));
        assert_eq!(page(&is)?, is);
        Ok(())
    }

    #[test]
    fn pages_that_lack_a_member_or_list_one_twice_are_refused() {
        for (wrong, why) in [
            ("<!-- members: /a -->\n\n", "names /d"),
            ("<!-- members: /a /d /d -->\n\n", "listed twice"),
            ("<!-- members: /a /e -->\n\n", "/e is not a member"),
        ] {
            let error = page(wrong).expect_err(wrong);
            assert!(error.to_string().contains(why), "{wrong}: {error}");
        }
    }
}
