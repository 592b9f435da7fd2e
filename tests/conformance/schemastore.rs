//! SchemaStore: its schemas, with the documents that they must take and those that they must not.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use seamgate::Disposition;
use serde_json::Value;

use crate::{
    Test, entries,
    sandbox::{Contract, Said, Sandbox, with_each},
};

pub(crate) const NAME: &str = "SchemaStore";

/// The dialect with which the store itself reads schemas that name none.
const DIALECT: &str = "http://json-schema.org/draft-04/schema#";

/// The address of the store's schemas, for references between them.
const STORE: &str = "json.schemastore.org/";

struct Schema {
    text: String,
    value: Value,
}

/// All schemas by the names of their files, without the extension.
type Schemas = BTreeMap<String, Schema>;

pub(crate) fn run(sandbox: &Sandbox, store: &Path) -> Result<Vec<Test>> {
    let mut schemas = Schemas::new();
    for path in entries(&store.join("schemas/json"))? {
        let text = fs::read_to_string(&path)?;
        let value = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        schemas.insert(name(&path), Schema { text, value });
    }
    let all: Vec<_> = schemas.iter().collect();
    let tests = with_each(&all, |(name, schema)| tests(sandbox, store, &schemas, name, schema))?;
    Ok(tests.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns the tests of one schema: that it is one, and a verdict for each of its documents.
fn tests(sandbox: &Sandbox, store: &Path, schemas: &Schemas, name: &str, schema: &Schema) -> Result<Vec<Test>> {
    let resources = resources(schemas, schema);
    let contract = Contract {
        dialect: Some(DIALECT),
        resources: resources.iter().map(|(uri, text)| (uri.as_str(), *text)).collect(),
        ..Contract::of("schema", &schema.text)
    };
    let verdict = sandbox.judge(&contract, b"null");
    let taken = verdict.is_ok();
    let mut tests = vec![Test {
        group: "schemas".to_owned(),
        name: format!("schemas/{name}"),
        failure: (!taken).then(|| Said::by(&verdict)),
    }];
    for (folder, group, valid) in
        [("test", "documents that must be accepted", true), ("negative_test", "documents that must be rejected", false)]
    {
        let folder = store.join(folder).join(name);
        if !folder.exists() {
            continue;
        }
        for path in entries(&folder)? {
            let document = document(&path).with_context(|| path.display().to_string())?;
            let verdict = sandbox.judge(&contract, &document);
            let is = verdict.as_ref().is_ok_and(|report| report.disposition == Disposition::Accepted);
            let as_expected = verdict.is_ok() && is == valid;
            tests.push(Test {
                group: group.to_owned(),
                name: path.strip_prefix(store)?.display().to_string(),
                failure: (!as_expected).then(|| Said::by(&verdict)),
            });
        }
    }
    Ok(tests)
}

/// Returns the schemas of the store that a schema refers to, and those that they refer to, by the URIs they are called
/// by.
fn resources<'s>(schemas: &'s Schemas, schema: &'s Schema) -> BTreeMap<String, &'s str> {
    let mut found = BTreeMap::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let mut references = BTreeSet::new();
        collect(&schema.value, &mut references);
        for reference in references {
            let uri = reference.split('#').next().unwrap_or_default();
            // Relative ones are read against where the schema says that it is.
            let uri = match (uri, schema.id().rsplit_once('/')) {
                ("", _) => continue,
                (uri, Some((folder, _))) if !uri.contains(':') => format!("{folder}/{uri}"),
                (uri, _) => uri.to_owned(),
            };
            let file = uri.split_once(STORE).map(|(_, file)| file.trim_end_matches(".json"));
            let by_id = || schemas.values().find(|other| other.id() == uri);
            if let Some(other) = file.and_then(|file| schemas.get(file)).or_else(by_id)
                && found.insert(uri, other.text.as_str()).is_none()
            {
                open.push(other);
            }
        }
    }
    found
}

impl Schema {
    /// Its URI, as its draft has it.
    fn id(&self) -> &str {
        let id = ["$id", "id"].iter().find_map(|name| self.value.get(*name)?.as_str());
        id.unwrap_or_default().trim_end_matches('#')
    }
}

fn collect<'v>(value: &'v Value, references: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(members) => {
            references.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

/// Returns a document as JSON text: as it is, or made of YAML or TOML.
fn document(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => bytes,
        Some("yml" | "yaml") => {
            let text = String::from_utf8(bytes)?;
            let documents = Yaml::load_from_str(&text)?;
            documents.first().map_or(Ok(Value::Null), from_yaml)?.to_string().into_bytes()
        }
        Some("toml") => from_toml(toml::from_str(&String::from_utf8(bytes)?)?).to_string().into_bytes(),
        _ => bail!("neither JSON nor YAML nor TOML"),
    })
}

fn from_yaml(yaml: &Yaml) -> Result<Value> {
    Ok(match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => Value::Bool(*value),
        Yaml::Value(Scalar::Integer(value)) => Value::from(*value),
        Yaml::Value(Scalar::FloatingPoint(value)) => Value::from(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => Value::from(value.as_ref()),
        Yaml::Sequence(items) => items.iter().map(from_yaml).collect::<Result<_>>()?,
        Yaml::Mapping(members) => {
            let member = |(name, value): (&Yaml, &Yaml)| {
                let name = match from_yaml(name)? {
                    Value::String(name) => name,
                    name => name.to_string(),
                };
                anyhow::Ok((name, from_yaml(value)?))
            };
            Value::Object(members.iter().map(member).collect::<Result<_>>()?)
        }
        Yaml::Tagged(_, value) => from_yaml(value)?,
        other => bail!("what JSON has not: {other:?}"),
    })
}

fn from_toml(toml: toml::Value) -> Value {
    match toml {
        toml::Value::String(value) => Value::from(value),
        toml::Value::Integer(value) => Value::from(value),
        toml::Value::Float(value) => Value::from(value),
        toml::Value::Boolean(value) => Value::from(value),
        toml::Value::Datetime(value) => Value::from(value.to_string()),
        toml::Value::Array(items) => items.into_iter().map(from_toml).collect(),
        toml::Value::Table(members) => members.into_iter().map(|(name, value)| (name, from_toml(value))).collect(),
    }
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
