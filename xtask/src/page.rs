//! The page that judges outputs in a browser: `host/js/browser`, with the npm package and examples, as a folder of
//! files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    install::remove,
    run::{command, run, say},
};

/// The sources of the page, and its server.
const SOURCES: &str = "host/js/browser";

/// The page, which any static file server can serve.
const PAGE: &str = "target/page";

/// Contracts, schemas and outputs.
const EXAMPLES: &str = "schemas/examples";

struct Example {
    title: &'static str,
    contract: &'static str,
    /// The file with the output. Without one, the output is an empty object.
    output: Option<&'static str>,
}

const SHOWN: [Example; 8] = [
    Example::of("Some items bad", "triage", "triage.partial-one-broken"),
    Example::of("Accepted", "triage", "triage.good"),
    Example::of("Cut off", "triage", "triage.partial-cut-off"),
    Example::of("No valid item", "triage", "triage.bad-severity"),
    Example::of("Not a URL", "cited-answer", "cited-answer.bad-url"),
    Example::of("Refused", "cited-answer", "cited-answer.refused"),
    Example::of("Prose around JSON", "tool-result", "tool-result.bad-prose"),
    Example { title: "Endless schema", contract: "hostile/doubling", output: None },
];

impl Example {
    const fn of(title: &'static str, contract: &'static str, output: &'static str) -> Self {
        Self { title, contract, output: Some(output) }
    }

    fn read(&self) -> Result<Value> {
        let output = match self.output {
            Some(name) => text(&format!("outputs/{name}.txt"))?,
            None => "{}".to_owned(),
        };
        Ok(json!({ "title": self.title, "contract": contract(self.contract)?, "output": output }))
    }
}

/// Writes the page, with the package that is installed in a folder, and serves it on this machine until interrupted.
pub(crate) fn serve(installed: &Path) -> Result<()> {
    write(installed, Path::new(PAGE))?;
    say(&format!("{PAGE} can be copied to any server of files"));
    run(command("node").arg(Path::new(SOURCES).join("serve.mjs")).arg(PAGE))
}

/// Writes the page into a folder, with the package that is installed in another one.
pub(crate) fn write(installed: &Path, page: &Path) -> Result<()> {
    remove(page)?;
    copy(Path::new(SOURCES), page, &["html", "css", "js"])?;
    copy(&installed.join("node_modules/seamgate/dist"), &page.join("seamgate/dist"), &["js", "wasm"])?;
    let examples: Vec<Value> = SHOWN.iter().map(Example::read).collect::<Result<_>>()?;
    let examples = serde_json::to_string_pretty(&examples)?;
    fs::write(page.join("examples.js"), format!("export default {examples};\n"))?;
    Ok(())
}

/// Returns a contract with its schema inside. Each line is as in its file.
fn contract(name: &str) -> Result<String> {
    let contract = text(&format!("{name}.contract.json"))?;
    let parsed: Value = serde_json::from_str(&contract).with_context(|| name.to_owned())?;
    let Some(file) = parsed["schema"].as_str() else {
        return Ok(contract);
    };
    let schema = text(file)?.trim_end().replace('\n', "\n  ");
    Ok(contract.replace(&format!("\"schema\": \"{file}\""), &format!("\"schema\": {schema}")))
}

fn text(name: &str) -> Result<String> {
    let path = Path::new(EXAMPLES).join(name);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Copies the files of a folder and its subfolders that have one of these extensions.
fn copy(from: &Path, to: &Path, extensions: &[&str]) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().context("a file has a name")?;
        if path.is_dir() {
            copy(&path, &to.join(name), extensions)?;
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|one| extension == *one)) {
            fs::copy(&path, to.join(name)).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::SHOWN;

    #[test]
    fn examples_are_whole_contracts() {
        std::env::set_current_dir(crate::run::root()).expect("the root of the repository");
        for example in SHOWN {
            let read = example.read().expect(example.title);
            let contract: Value =
                serde_json::from_str(read["contract"].as_str().expect("a text")).expect(example.title);
            assert!(contract["schema"].is_object(), "{}: its schema is not inside", example.title);
        }
    }
}
