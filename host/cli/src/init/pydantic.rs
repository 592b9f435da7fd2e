//! `--pydantic MODULE:MODEL`: the JSON Schema of a model, by the Python of the user.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use seamgate::MAX_FILE;

/// What the module prints goes to standard error, so that only the schema is on standard output.
const PROGRAM: &str = r#"
import importlib, json, sys
out, sys.stdout = sys.stdout, sys.stderr
sys.path.insert(0, "")
module, _, name = sys.argv[1].partition(":")
try:
    model = importlib.import_module(module)
except ModuleNotFoundError as error:
    sys.exit(f"{error}; is it installed for {sys.executable}?")
for part in name.split("."):
    if not hasattr(model, part):
        sys.exit(f"{module} has no {name}")
    model = getattr(model, part)
if hasattr(model, "model_json_schema"):
    schema = model.model_json_schema()
else:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        sys.exit(f"{name} is no model of Pydantic 2")
    schema = TypeAdapter(model).json_schema()
schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
print(json.dumps(schema, indent=2, ensure_ascii=False), file=out)
"#;

pub(super) fn schema(model: &str) -> Result<String> {
    if !model.split_once(':').is_some_and(|(module, name)| !module.is_empty() && !name.is_empty()) {
        bail!("must be MODULE:MODEL, such as app.models:Order");
    }
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM, model])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run python3")?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    // Both are read at once: a program that fills one pipe would wait for ever.
    let errors = std::thread::spawn(move || text(err));
    let schema = text(out);
    let errors = errors.join().unwrap_or_default();
    let status = child.wait().context("cannot run python3")?;
    if !status.success() {
        // The last line of a traceback says what is wrong.
        bail!("{}", errors.trim_end().lines().last().unwrap_or("python3 failed"));
    }
    Ok(schema)
}

fn text(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // What cannot be read is missing, and what is cut is no JSON.
        let _ = from.take(MAX_FILE as u64).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
