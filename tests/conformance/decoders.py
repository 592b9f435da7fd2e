"""Measures `seamgate export --for llguidance` with the engine itself.

The first 1,000 schemas are taken that the gate takes: those of SchemaStore, then those of JSON-Schema-Test-Suite, each with
the documents that the store or the suite has for it. The script counts how many schemas the engine takes, as they are and as
exports, and whether documents that are valid by the schema are valid by the export: for the gate, and for the engine's own
matcher, which reads them byte by byte.

    python tests/conformance/decoders.py target/release/seamgate target/conformance/jsonschema/json \
        target/bench/schemastore/vendor/schemastore/src
"""

import collections
import concurrent.futures
import importlib.metadata
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import llguidance

COUNT = 1_000
STORE = re.compile(r"^https?://(?:json|www)\.schemastore\.org/(?:schemas/json/)?([^#]+?)(?:\.json)?(?:#.*)?$")
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DIALECTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}
# The most orders of members that are tried for one document.
ORDERS = 64
# The time limit for one schema in the engine, in seconds.
TIME = 20


def references(value):
    """Yields each reference of a schema."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def resources(schema, schemas):
    """Returns the other schemas of the store that a schema leads to."""
    found, todo = {}, [schema]
    while todo:
        for reference in references(todo.pop()):
            match = STORE.match(reference)
            uri = reference.split("#")[0]
            if match and uri not in found and match[1] in schemas:
                found[uri] = schemas[match[1]]
                todo.append(schemas[match[1]])
    return found


def of_store(store):
    """Yields each schema of SchemaStore as a contract, with its documents in JSON."""
    schemas = {path.stem: json.loads(path.read_text()) for path in sorted((store / "schemas/json").glob("*.json"))}
    for name, schema in schemas.items():
        documents = []
        for path in sorted((store / "test" / name).glob("*.json")):
            try:
                documents.append(json.loads(path.read_text("utf-8-sig")))
            except ValueError:
                continue
        contract = {"agent": "a", "schema": schema, "resources": resources(schema, schemas), "patterns": "backtracking"}
        if "$schema" not in schema:
            contract["dialect"] = DRAFT_4
        yield f"schemastore/{name}", contract, documents


def of_suite(suite):
    """Yields each schema of JSON-Schema-Test-Suite as a contract, with its documents."""
    for draft in ["draft2020-12", "draft7"]:
        tests = suite / "tests" / draft
        for path in sorted(tests.glob("*.json")) + sorted((tests / "optional/format").glob("*.json")):
            for group in json.loads(path.read_text()):
                contract = {"agent": "a", "schema": group["schema"], "dialect": DIALECTS[draft], "patterns": "backtracking"}
                documents = [test["data"] for test in group["tests"]]
                yield f"suite/{draft}/{path.stem}/{group['description']}", contract, documents


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def valid(seamgate, contract, documents, folder):
    """Returns whether each document is valid, in the judgement of the gate. `None` if it does not take the contract."""
    path = pathlib.Path(folder) / "a.contract.json"
    path.write_text(json.dumps(contract))
    requests = pathlib.Path(folder) / "requests.ndjson"
    lines = [{"id": at, "agent": "a", "output": json.dumps(document)} for at, document in enumerate([*documents, None])]
    requests.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run(seamgate, "check", "--ndjson", "--warm", "-c", str(path), str(requests))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if not answers:
        return None
    return [answer.get("report", {}).get("disposition") == "accepted" for answer in answers][: len(documents)]


def plain(value):
    """Writes numbers without a fraction as integers. A decoder fixes the spelling of a value, and a schema does not."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return value


def orders(value, schema, definitions, depth=0):
    """Yields a document with its members in the order of the schema: one for each way through alternatives."""
    if not isinstance(schema, dict) or depth > 60:
        yield value
        return
    if "$ref" in schema:
        yield from orders(value, definitions.get(schema["$ref"].removeprefix("#/$defs/")), definitions, depth + 1)
    elif "anyOf" in schema:
        for branch in schema["anyOf"]:
            yield from itertools.islice(orders(value, branch, definitions, depth + 1), ORDERS)
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        names = [name for name in [*properties, *schema.get("required", [])] if name in value]
        names = list(dict.fromkeys([*names, *value]))
        others = schema.get("additionalProperties")
        inner = [list(itertools.islice(orders(value[name], properties.get(name, others), definitions, depth + 1), 8)) for name in names]
        for values in itertools.islice(itertools.product(*inner), ORDERS):
            yield dict(zip(names, values))
    elif isinstance(value, list):
        first, others = schema.get("prefixItems", []), schema.get("items")
        schemas = [first[at] if at < len(first) else others for at in range(len(value))]
        inner = [list(itertools.islice(orders(item, of, definitions, depth + 1), 8)) for item, of in zip(value, schemas)]
        for values in itertools.islice(itertools.product(*inner), ORDERS):
            yield list(values)
    else:
        yield value


def reads(tokenizer, grammar, document):
    """Returns whether the engine takes a document to its end, and what it had read where it stopped."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    count = matcher.try_consume_tokens(list(text))
    if count == len(text) and matcher.is_accepting():
        return True, ""
    return False, f"{text[max(0, count - 40):count].decode(errors='replace')} <here> {text[count:count + 20].decode(errors='replace')}"


def engine(schema, documents):
    """Runs one schema in the engine, in a process of its own. Returns the error, and for each document how it was taken."""
    done = subprocess.run(
        [sys.executable, __file__, "--one"], input=json.dumps([schema, documents]), capture_output=True, text=True, timeout=TIME
    )
    if done.returncode != 0:
        return f"the engine ended with status {done.returncode}", []
    return json.loads(done.stdout)


def one():
    """Reads a schema and documents from standard input, and prints what the engine says."""
    schema, documents = json.load(sys.stdin)
    tokenizer = llguidance.LLTokenizer("byte")
    grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
    error = llguidance.LLMatcher.validate_grammar(grammar, tokenizer)
    taken = []
    definitions = schema.get("$defs", {}) if isinstance(schema, dict) else {}
    for document in documents if not error else []:
        document = plain(document)
        is_taken, why = reads(tokenizer, grammar, document)
        how = "as it is" if is_taken else why
        if not is_taken:
            ways = itertools.islice(orders(document, schema, definitions), ORDERS)
            if any(reads(tokenizer, grammar, way)[0] for way in ways):
                how = "in the order of the schema"
        taken.append(how)
    print(json.dumps([error, taken]))


def tried(schema, documents):
    try:
        return engine(schema, documents)
    except subprocess.TimeoutExpired:
        return f"more than {TIME} s", []


def measured(seamgate, name, contract, documents):
    """Returns what was measured of one schema. `None` if the gate does not take it."""
    with tempfile.TemporaryDirectory() as folder:
        judged = valid(seamgate, contract, documents, folder)
        if judged is None:
            return None
        done = run(seamgate, "export", str(pathlib.Path(folder) / "a.contract.json"), "--for", "llguidance")
        if done.returncode != 0:
            return {"name": name, "raw": "", "export": done.stderr.strip(), "kept": [], "taken": []}
        exported = json.loads(done.stdout)
        documents = [document for document, is_valid in zip(documents, judged) if is_valid]
        kept = valid(seamgate, {"agent": "a", "schema": exported}, documents, folder)
    raw, _ = tried(contract["schema"], [])
    error, taken = tried(exported, documents)
    return {"name": name, "raw": raw, "export": error, "kept": kept or [False] * len(documents), "taken": taken}


def cause(error):
    """Returns the kind of an error: its first line without what differs from schema to schema."""
    line = next((line for line in error.splitlines() if line.strip()), "")
    line = re.split(r"\n|  while|\bat line\b", line)[0]
    return re.sub(r"\"[^\"]*\"|'[^']*'|\d+|https?://\S+|[#$/][\w$/#.%-]+", "…", line)[:90]


def main():
    seamgate, suite, store = sys.argv[1:4]
    candidates = itertools.chain(of_store(pathlib.Path(store)), of_suite(pathlib.Path(suite)))
    results = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(results) < COUNT:
            chunk = list(itertools.islice(candidates, 100))
            if not chunk:
                break
            results += [one for one in pool.map(lambda it: measured(seamgate, *it), chunk) if one]
    results = results[:COUNT]
    taken = [how for result in results for how in result["taken"]]
    kept = [is_kept for result in results for is_kept in result["kept"]]
    refused = [(result["name"], how) for result in results for how in result["taken"] if how not in WAYS]
    print(f"llguidance {importlib.metadata.version('llguidance')}")
    print(f"schemas: {len(results)}")
    print(f"taken as they are: {sum(not result['raw'] for result in results)}")
    print(f"taken as exports: {sum(not result['export'] for result in results)}")
    print(f"valid documents: {len(kept)}, of which the gate takes {sum(kept)} by the export")
    print(f"read by the engine: {len(taken)}, as they are {taken.count(WAYS[0])}, in the order of the schema {taken.count(WAYS[1])}")
    for word in ["raw", "export"]:
        print(f"errors ({word}):")
        causes = collections.Counter(cause(result[word]) for result in results if result[word])
        for what, count in causes.most_common(12):
            print(f"  {count} {what}")
    print("exports that the engine does not take:")
    for result in results:
        if result["export"]:
            print(f"  {result['name']}: {result['export'].splitlines()[0][:160]}")
    print("documents that the engine refuses:")
    for name, how in refused:
        print(f"  {name}: {how!r}")
    for result in results:
        if not all(result["kept"]):
            print(f"not valid by the export: {result['name']}")


WAYS = ["as it is", "in the order of the schema"]

if __name__ == "__main__":
    one() if sys.argv[1:] == ["--one"] else main()
