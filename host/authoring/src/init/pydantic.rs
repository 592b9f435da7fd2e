//! The JSON Schema of a Pydantic model, written by the user's Python.

use std::{
    io::Read,
    process::{Command, Stdio},
};

use seamgate::MAX_FILE;

use super::InitError;

/// Prints the schema. The module's own output is redirected to standard error, so that standard output contains only
/// the schema.
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

/// Returns the schema of `MODULE:MODEL`.
pub(super) fn schema(model: &str) -> Result<String, InitError> {
    if !model.split_once(':').is_some_and(|(module, name)| !module.is_empty() && !name.is_empty()) {
        return Err(InitError::ModelName);
    }
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM, model])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(InitError::Python)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    // Both pipes are read at the same time, because a program that fills one of them would otherwise wait forever.
    let errors = std::thread::spawn(move || text(err));
    let schema = text(out);
    let errors = errors.join().unwrap_or_default();
    let status = child.wait().map_err(InitError::Python)?;
    if !status.success() {
        // The last line of a traceback describes the error.
        let message = errors.trim_end().lines().last().unwrap_or("python3 failed").to_owned();
        return Err(InitError::PythonFailed { message });
    }
    Ok(schema)
}

fn text(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // If the text cannot be read, it is missing, and if it is truncated, it is not JSON.
        let _ = from.take(MAX_FILE as u64).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
