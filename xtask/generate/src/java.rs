//! The types of the package for Java: a file for each, because Java wants that.

use std::{fs, path::Path};

use anyhow::{Result, ensure};

use super::{
    limits,
    model::{Definition, Kind, Model, Type},
    rust::is_document,
    table::HOST_FAULTS,
    text::{camel, commented, snake},
};

/// The sources that are derived, and nothing else.
pub(super) const FOLDER: &str = "host/java/src/generated/java/dev/seamgate";

/// All of them, as `.gitattributes` names them.
pub(super) const ALL: &str = "host/java/src/generated/java/dev/seamgate/*.java";

/// The documents that the package has types for.
const TYPES: [&str; 6] = ["report", "contract-info", "warning", "finish", "confidence", "progress"];

/// Names of members that are words of Java, of Kotlin or of records, and what they are called instead.
const RENAMED: [(&str, &str); 6] = [
    ("object", "value"),
    ("in", "input"),
    ("is", "isTrue"),
    ("when", "time"),
    ("class", "kind"),
    ("default", "otherwise"),
];

/// `malformed_json` -> `MALFORMED_JSON`.
fn constant(word: &str) -> String {
    word.to_uppercase()
}

/// The type of a component of a record.
#[derive(Clone, PartialEq)]
pub(super) enum Of {
    Bool,
    /// Integers: those of WIT have no sign, and more than `int` holds.
    Long,
    Text,
    /// JSON text, as it is.
    Json,
    /// Words.
    Word(String),
    Record(String),
    List(Box<Of>),
    Map(Box<Of>),
}

impl Of {
    /// Returns the type in Java; boxed where it may be missing, or stands in another.
    fn name(&self, is_boxed: bool) -> String {
        match self {
            Of::Bool if is_boxed => "Boolean".to_owned(),
            Of::Bool => "boolean".to_owned(),
            Of::Long if is_boxed => "Long".to_owned(),
            Of::Long => "long".to_owned(),
            Of::Text | Of::Json => "String".to_owned(),
            Of::Word(name) | Of::Record(name) => name.clone(),
            Of::List(of) => format!("List<{}>", of.name(true)),
            Of::Map(of) => format!("Map<String, {}>", of.name(true)),
        }
    }

    /// Returns the function that reads it of JSON.
    fn reader(&self) -> String {
        match self {
            Of::Bool => "Json::asBoolean".to_owned(),
            Of::Long => "Json::asLong".to_owned(),
            Of::Text => "Json::asText".to_owned(),
            Of::Json => "Json::raw".to_owned(),
            Of::Word(name) | Of::Record(name) => format!("{name}::read"),
            Of::List(of) => format!("Json.list({})", of.reader()),
            Of::Map(of) => format!("Json.map({})", of.reader()),
        }
    }

    /// Returns the function that writes it as JSON.
    fn writer(&self) -> String {
        match self {
            Of::Bool => "JsonWriter::bool".to_owned(),
            Of::Long => "JsonWriter::number".to_owned(),
            Of::Text => "JsonWriter::text".to_owned(),
            Of::Json => "JsonWriter::raw".to_owned(),
            Of::Word(_) => "JsonWriter::word".to_owned(),
            Of::Record(name) => format!("{name}::write"),
            Of::List(of) => format!("JsonWriter.list({})", of.writer()),
            Of::Map(of) => format!("JsonWriter.map({})", of.writer()),
        }
    }
}

/// A component of a record.
#[derive(Clone)]
pub(super) struct Component {
    /// As JSON has it.
    pub(super) name: String,
    pub(super) docs: String,
    pub(super) of: Of,
    pub(super) is_nullable: bool,
}

impl Component {
    fn java(&self) -> String {
        let name = camel(&self.name.replace('_', "-"));
        RENAMED.iter().find(|(word, _)| *word == name).map_or(name, |(_, other)| (*other).to_owned())
    }

    fn declared(&self) -> String {
        let nullable = if self.is_nullable { "@Nullable " } else { "" };
        format!("{nullable}{} {}", self.of.name(self.is_nullable), self.java())
    }

    /// Returns the name of a method that sets it.
    fn with(&self) -> String {
        let name = self.java();
        let (first, rest) = name.split_at(1);
        format!("with{}{rest}", first.to_uppercase())
    }
}

/// A record.
pub(super) struct Record {
    pub(super) name: String,
    pub(super) docs: Vec<String>,
    pub(super) components: Vec<Component>,
    /// The interface that it implements.
    pub(super) implements: Option<String>,
    /// The value of its member `type`, which is written.
    pub(super) word: Option<String>,
    /// `true` if callers construct it, so that it is serialized and has setters for optional members.
    pub(super) is_made: bool,
    /// `true` if its last component is the text from which it was parsed.
    pub(super) has_text: bool,
    /// Additional methods.
    pub(super) methods: String,
}

/// Returns a source file: its path and its text.
pub(super) fn file(name: &str, head: &str, text: &str) -> (String, String) {
    let used = |word: &str, of: &str| if text.contains(word) { format!("import {of};\n") } else { String::new() };
    let imports = [
        used("List<", "java.util.List"),
        used("Map<", "java.util.Map"),
        used("@Nullable", "org.jspecify.annotations.Nullable"),
    ]
    .concat();
    let gap = if imports.is_empty() { "" } else { "\n" };
    (format!("{FOLDER}/{name}.java"), format!("// {head}\n\npackage dev.seamgate;\n\n{imports}{gap}{text}"))
}

/// Returns documentation. There is none if it is empty.
pub(super) fn docs(paragraphs: &[String], parameters: &[(String, String)], indent: &str) -> String {
    let html =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace("*/", "*&#47;");
    let code = |text: &str| {
        // `code` -> {@code code}, in which nothing is escaped but braces that have no partner.
        let parts: Vec<&str> = text.split('`').collect();
        let mut out = String::new();
        for (index, part) in parts.iter().enumerate() {
            let is_code = index % 2 == 1 && index + 1 < parts.len();
            let is_balanced = part.matches('{').count() == part.matches('}').count();
            match (is_code, is_balanced) {
                (true, true) => out.push_str(&format!("{{@code {part}}}")),
                (true, false) => out.push_str(&format!("<code>{}</code>", html(part))),
                (false, _) => out.push_str(&html(part).replace('@', "&#64;")),
            }
        }
        out
    };
    let mut texts: Vec<String> = paragraphs.iter().filter(|text| !text.is_empty()).map(|text| code(text)).collect();
    for text in texts.iter_mut().skip(1) {
        *text = format!("<p>{text}");
    }
    let mut lines = commented(&texts, &format!("{indent} * "));
    let parameters: Vec<_> = parameters.iter().filter(|(_, about)| !about.is_empty()).collect();
    if !lines.is_empty() && !parameters.is_empty() {
        lines.push(format!("{indent} *"));
    }
    for (name, about) in parameters {
        lines.extend(commented(&[format!("@param {name} {}", code(about))], &format!("{indent} * ")));
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n")),
    }
}

/// Returns words as an enumeration.
pub(super) fn words_of(head: &str, name: &str, about: &[String], words: &[(String, String)]) -> (String, String) {
    let constants: Vec<String> = words
        .iter()
        .map(|(word, about)| {
            format!("{}  {}(\"{word}\")", docs(std::slice::from_ref(about), &[], "  "), constant(word))
        })
        .collect();
    let text = format!(
        "{}public enum {name} implements Word {{\n{};\n\n  private final String word;\n\n  {name}(String word) {{\n    \
         this.word = word;\n  }}\n\n  @Override\n  public String word() {{\n    return word;\n  }}\n\n  \
         /** Returns the constant of a word. */\n  public static {name} of(String word) {{\n    \
         return Word.of(values(), word);\n  }}\n\n  static {name} read(Json json) {{\n    \
         return of(json.asText());\n  }}\n}}\n",
        docs(about, &[], ""),
        constants.join(",\n\n"),
    );
    file(name, head, &text)
}

/// Returns a record.
pub(super) fn record(head: &str, one: &Record) -> (String, String) {
    let Record { name, components, .. } = one;
    let parameters: Vec<(String, String)> =
        components.iter().map(|component| (component.java(), component.docs.clone())).collect();
    let declared: Vec<String> = components.iter().map(|component| format!("\n    {}", component.declared())).collect();
    let implements = one.implements.as_ref().map(|of| format!(" implements {of}")).unwrap_or_default();
    let mut about: Vec<String> = one.docs.iter().filter(|text| !text.is_empty()).cloned().collect();
    if about.is_empty() {
        about.push(format!("A `{name}`, as `schemas/` has it."));
    }
    let mut text =
        format!("{}public record {name}({}){implements} {{\n", docs(&about, &parameters, ""), declared.join(","));
    let copies: String = components
        .iter()
        .filter(|component| matches!(component.of, Of::List(_) | Of::Map(_)))
        .map(|component| {
            let (name, of) = (component.java(), if matches!(component.of, Of::List(_)) { "List" } else { "Map" });
            match component.is_nullable {
                true => format!("    {name} = {name} == null ? null : {of}.copyOf({name});\n"),
                false => format!("    {name} = {of}.copyOf({name});\n"),
            }
        })
        .collect();
    if !copies.is_empty() {
        text.push_str(&format!("  /** Copies what could change. */\n  public {name} {{\n{copies}  }}\n\n"));
    }
    if one.is_made {
        text.push_str(&made(one));
    }
    let read: Vec<String> = components
        .iter()
        .enumerate()
        .map(|(index, component)| {
            if one.has_text && index + 1 == components.len() {
                return "\n        json.raw()".to_owned();
            }
            let how = if component.is_nullable { "find" } else { "need" };
            format!("\n        json.{how}(\"{}\", {})", component.name, component.of.reader())
        })
        .collect();
    text.push_str(&format!("  static {name} read(Json json) {{\n    return new {name}({});\n  }}\n", read.join(",")));
    if one.is_made {
        text.push_str(&written(one));
    }
    text.push_str(&one.methods);
    text.push_str("}\n");
    file(name, head, &text)
}

/// Returns a method that makes a record of what it must have, and one for each other component.
fn made(one: &Record) -> String {
    let Record { name, components, .. } = one;
    let optional: Vec<&Component> = components.iter().filter(|component| component.is_nullable).collect();
    if optional.is_empty() {
        return String::new();
    }
    let needed: Vec<String> =
        components.iter().filter(|component| !component.is_nullable).map(Component::declared).collect();
    let given: Vec<String> = components
        .iter()
        .map(|component| if component.is_nullable { "null".to_owned() } else { component.java() })
        .collect();
    let mut text = format!(
        "  /** Returns one with what it must have. */\n  public static {name} of({}) {{\n    return new {name}({});\n  }}\n\n",
        needed.join(", "),
        given.join(", ")
    );
    let all: Vec<String> = components.iter().map(Component::java).collect();
    for component in optional {
        let of = component.of.name(true);
        let java = component.java();
        text.push_str(&format!(
            "  /** Returns the same with another {{@code {java}}}. */\n  public {name} {}({of} {java}) {{\n    \
             return new {name}({});\n  }}\n\n",
            component.with(),
            all.join(", ")
        ));
    }
    text
}

/// Returns the methods that write a record.
fn written(one: &Record) -> String {
    let members: String = one
        .components
        .iter()
        .map(|component| {
            format!("    to.member(\"{}\", {}, {});\n", component.name, component.java(), component.of.writer())
        })
        .collect();
    let word = one.word.as_ref().map(|word| format!("    to.member(\"type\", \"{word}\", JsonWriter::text);\n"));
    let json = match one.implements {
        Some(_) => "\n  @Override\n  public String toJson() {\n    return JsonWriter.written(this::members);\n  }\n",
        None => "\n  static void write(JsonWriter to, {} value) {\n    to.object(value::members);\n  }\n",
    };
    format!(
        "{}\n  private void members(JsonWriter to) {{\n{}{members}  }}\n",
        json.replace("{}", &one.name),
        word.unwrap_or_default()
    )
}

pub(super) fn types(model: &Model) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for definition in model.reachable(&TYPES)? {
        let name = name(&definition.name);
        match &definition.kind {
            Kind::Enum(cases) => {
                let words: Vec<(String, String)> =
                    cases.iter().map(|case| (snake(&case.name), case.docs.join(" "))).collect();
                files.push(words_of(super::HEAD, &name, &definition.docs, &words));
            }
            // It is an array in JSON: `Span.java` reads it.
            Kind::Record(_) if definition.name == "span" => {}
            Kind::Record(members) => {
                let component = |member: &super::model::Member<Type>| {
                    let (of, is_nullable) = component_type(model, definition, &member.name, &member.ty);
                    Component { name: snake(&member.name), docs: member.docs.join(" "), of, is_nullable }
                };
                files.push(record(
                    super::HEAD,
                    &Record {
                        name,
                        docs: definition.docs.clone(),
                        components: members.iter().map(component).collect(),
                        implements: None,
                        word: None,
                        is_made: false,
                        has_text: false,
                        methods: String::new(),
                    },
                ));
            }
        }
    }
    if let Kind::Enum(cases) = &model.get("fault-code")?.kind {
        let words = cases.iter().map(|case| snake(&case.name)).chain(HOST_FAULTS.map(str::to_owned));
        let about = ["The word for a fault, the same in every language.".to_owned()];
        let words: Vec<(String, String)> = words.map(|word| (word, String::new())).collect();
        files.push(words_of(super::HEAD, "FaultCode", &about, &words));
    }
    files.push(defaults());
    Ok(files)
}

/// Returns the defaults of limits.
fn defaults() -> (String, String) {
    let constants: String =
        limits::java().map(|(name, value)| format!("  static final long {name} = {value}L;\n\n")).collect();
    let text =
        format!("/** Defaults of limits. */\nfinal class Defaults {{\n{constants}  private Defaults() {{}}\n}}\n");
    file("Defaults", super::HEAD, &text)
}

/// Fails if the folder has a file that nothing derives any more.
pub(super) fn only(files: &[(String, String)]) -> Result<()> {
    if !Path::new(FOLDER).exists() {
        return Ok(fs::create_dir_all(FOLDER)?);
    }
    for entry in fs::read_dir(FOLDER)? {
        let path = format!("{FOLDER}/{}", entry?.file_name().to_string_lossy());
        ensure!(files.iter().any(|(of, _)| *of == path), "{path}: nothing derives it any more: remove it");
    }
    Ok(())
}

fn component_type(model: &Model, definition: &Definition, member: &str, of: &Type) -> (Of, bool) {
    let (of, is_nullable) = match of {
        Type::Option(of) => (&**of, true),
        of => (of, false),
    };
    if is_document(definition, member) { (Of::Json, is_nullable) } else { (ty(model, of), is_nullable) }
}

fn ty(model: &Model, of: &Type) -> Of {
    match of {
        Type::Bool => Of::Bool,
        Type::U32 => Of::Long,
        Type::Text => Of::Text,
        Type::Named(of) if model.is_enum(of) => Of::Word(name(of)),
        Type::Named(of) => Of::Record(name(of)),
        Type::Option(of) => ty(model, of),
        Type::List(of) => Of::List(Box::new(ty(model, of))),
    }
}

/// Returns the name of a type. A report that has been read is `ReportDocument`; the package's own `Report` reads it on
/// demand. `Error` is a class of Java's.
fn name(of: &str) -> String {
    if of == "report" { "ReportDocument".to_owned() } else { super::text::pascal(of) }
}
