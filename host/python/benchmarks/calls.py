"""Measures calls next to other validators in the same process: `cargo xtask python bench` prints three sizes.

Each figure is the median of one run, in which all take turns. The others are handed the JSON text alone: they do not
look for it in an output, run in no sandbox, and give no report. A call of seamgate ends when its disposition and its
document are read. Start is measured in processes of their own, with nothing in any cache.

With the path of a file, it writes there only the ratio that `cargo xtask bench` holds to a bound.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import fastjsonschema
import jsonschema_rs
import msgspec
from jsonschema.validators import validator_for
from pydantic import BaseModel, ConfigDict, Field

import seamgate
from seamgate import Gate, Limits, Request, ResultParser

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["answer", "citations"],
    "properties": {
        "answer": {"type": "string", "minLength": 1, "maxLength": 4000},
        "citations": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10000,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["source", "page", "quote"],
                "properties": {
                    "source": {"type": "string", "pattern": "^[a-z]+-[0-9]+$"},
                    "page": {"type": "integer", "minimum": 0},
                    "quote": {"type": "string", "minLength": 1, "maxLength": 500},
                },
            },
        },
    },
}
CONTRACT = {"agent": "cited", "schema": SCHEMA, "caps": {"array_items": 10000}}


class Citation(BaseModel):
    """One passage, as the schema has it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    source: str = Field(pattern="^[a-z]+-[0-9]+$")
    page: int = Field(ge=0)
    quote: str = Field(min_length=1, max_length=500)


class Cited(BaseModel):
    """The schema."""

    model_config = ConfigDict(extra="forbid", strict=True)
    answer: str = Field(min_length=1, max_length=4000)
    citations: list[Citation] = Field(min_length=1, max_length=10000)


class CitationStruct(msgspec.Struct, forbid_unknown_fields=True):
    """One passage, as msgspec has it."""

    source: Annotated[str, msgspec.Meta(pattern="^[a-z]+-[0-9]+$")]
    page: Annotated[int, msgspec.Meta(ge=0)]
    quote: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


class CitedStruct(msgspec.Struct, forbid_unknown_fields=True):
    """The schema, as msgspec has it."""

    answer: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    citations: Annotated[list[CitationStruct], msgspec.Meta(min_length=1, max_length=10000)]


def document(size: int) -> str:
    """A document of about so many bytes."""
    cited: dict[str, Any] = {"answer": "The pump stops when the tank is full, and not before.", "citations": []}
    length = len(json.dumps(cited))
    while length < size or not cited["citations"]:
        number = len(cited["citations"])
        one = {"source": f"manual-{number}", "page": number, "quote": "It stops by itself when the float is up."}
        cited["citations"].append(one)
        length += len(json.dumps(one)) + 2
    return json.dumps(cited)


def start(what: str) -> float:
    """Milliseconds that a fresh process takes, with nothing cached, beyond what Python itself does."""
    script = f"import time; start = time.perf_counter(); {what}; print(time.perf_counter() - start)"

    def once() -> float:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "XDG_CACHE_HOME": cache}
            command = [sys.executable, "-c", script]
            ran = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
            return float(ran.stdout) * 1e3

    return median(once() for _ in range(9 if seamgate.backend == "native" else 2))


def costs(calls: dict[str, Callable[[], object]], seconds: float = 1.0) -> dict[str, float]:
    """The median of each, in microseconds. They take turns, so that what else runs here slows all alike."""
    times: dict[str, list[float]] = {what: [] for what in calls}
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for what, call in calls.items():
            for _ in range(5):
                begin = time.perf_counter()
                call()
                times[what].append(time.perf_counter() - begin)
    return {what: median(of) * 1e6 for what, of in times.items()}


def read(verdict: seamgate.Verdict) -> object:
    """Reads the members of a verdict that a caller usually reads."""
    report = verdict.report
    assert report.success
    return report.output


def calls(size: int) -> dict[str, float]:
    """Measures each validator with a document of this size."""
    text = document(size)
    output = f"Here it is:\n```json\n{text}\n```\n"
    gate = Gate(limits=Limits(timeout_seconds=30))
    agent = gate.register(CONTRACT).agent
    warm = gate.instance()
    # The same contract in both.
    members = {"agent": "model", "schema": Cited, "caps": CONTRACT["caps"], "patterns": "backtracking"}
    cited, parser = gate.register(members).agent, ResultParser(gate)
    ours: dict[str, Callable[[], object]] = {
        "seamgate, fresh": lambda: read(gate.validate(agent, output)),
        "seamgate, warm": lambda: read(warm.validate(agent, output)),
        "verdict, then Pydantic": lambda: Cited.model_validate_json(
            str(gate.validate(cited, output).report.output_json)
        ),
        "parse_with_schema of Pydantic": lambda: parser.parse_with_schema(Cited, output).unwrap(),
    }
    if seamgate.backend == "native":
        baked = Gate(component=seamgate.bake([CONTRACT]), limits=Limits(timeout_seconds=30))
        baked_warm = baked.instance()
        ours["seamgate, baked, fresh"] = lambda: read(baked.validate(agent, output))
        ours["seamgate, baked, warm"] = lambda: read(baked_warm.validate(agent, output))
        ours["the same, disposition alone"] = lambda: baked_warm.validate(agent, output).report.disposition
    validator = validator_for(SCHEMA)(SCHEMA)
    in_rust = jsonschema_rs.validator_for(SCHEMA)
    fast = fastjsonschema.compile(SCHEMA)
    decoder = msgspec.json.Decoder(CitedStruct)
    others: dict[str, Callable[[], object]] = {
        "json.loads, jsonschema": lambda: validator.is_valid(json.loads(text)),
        "json.loads, jsonschema-rs": lambda: in_rust.is_valid(json.loads(text)),
        "json.loads, fastjsonschema": lambda: fast(json.loads(text)),
        "Pydantic, model_validate_json": lambda: Cited.model_validate_json(text),
        "msgspec, Decoder.decode": lambda: decoder.decode(text),
    }
    return costs({**ours, **others}, 0.5 if size < 100_000 else 2.0)


def threads() -> tuple[float, float]:
    """How many times faster two threads are than one, for 5,000 outputs: by `validate_all`, and by Python's threads."""
    gate = Gate()
    agent = gate.register(CONTRACT).agent
    requests = [Request(agent, document(500))] * 5000

    def timed(work: Callable[[], object]) -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    def pooled(count: int) -> list[object]:
        with ThreadPoolExecutor(count) as pool:
            parts = [requests[at::count] for at in range(count)]
            return list(pool.map(lambda part: [gate.validate(one.contract, one.output) for one in part], parts))

    def ratio(work: Callable[[int], object]) -> float:
        # The best of each: another process may have had a processor.
        one, two = ([timed(lambda: work(count)) for _ in range(5)] for count in (1, 2))  # noqa: B023
        return min(one) / min(two)

    return ratio(lambda count: gate.validate_all(requests, threads=count)), ratio(pooled)


def ratio() -> float:
    """A warm call for 500 bytes, divided by `json.loads` and jsonschema-rs: the median of three runs."""
    runs = [calls(500) for _ in range(3)]
    return median(run["seamgate, warm"] / run["json.loads, jsonschema-rs"] for run in runs)


def main() -> None:
    """Print all figures, as docs/benchmarks.md has them."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps({"ratio": ratio()}))
        return
    print(f"Backend {seamgate.backend}, Python {sys.version.split()[0]}\n")
    print(f"- `import seamgate`: {start('import seamgate'):.1f} ms")
    print(f"- import and first gate, nothing cached: {start('import seamgate; seamgate.Gate()'):.1f} ms")
    batch, pool = threads()
    print(
        f"- 5,000 outputs of 500 bytes, two threads to one: {batch:.2f} by `validate_all`, {pool:.2f} by own threads\n"
    )
    sizes = {"500 B": 500, "5 KB": 5_000, "500 KB": 500_000}
    columns = [calls(size) for size in sizes.values()]
    print(f"| µs a call | {' | '.join(sizes)} |\n| --- | ---: | ---: | ---: |")
    for what in columns[0]:
        print(f"| {what} | {' | '.join(f'{column[what]:,.1f}' for column in columns)} |")


if __name__ == "__main__":
    main()
