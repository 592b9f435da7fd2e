"""Judges the rows of one contract on Ray by seamgate and by other validators: `beside.py FOLDER WORKERS`. Prints a line for each: its name,
rows a second of the whole job, and rows a second of a worker's processor."""

import json
import logging
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import jsonschema_rs
import make
import pyarrow as pa
import ray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from seamgate import archive

GROUP = "items"

# They do not look for JSON in an output: this finds what seamgate finds in most of these.
BLOCK = re.compile(rb"```json\s*\n(.*?)```", re.DOTALL)


class Recommendation(BaseModel):
    """An item of the contract's documents, as its schema has it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    id: Annotated[str, Field(pattern=r"^[A-Z]+-[0-9]+$")]
    severity: Literal["critical", "high", "low"]
    rationale: str = ""
    candidate: str = ""
    labels: list[str] = []
    children: list[dict[str, Any]] = []


class Triage(BaseModel):
    """A document of the contract, as its schema has it."""

    model_config = ConfigDict(strict=True)
    date: date
    summary: str = ""
    recommendations: list[Recommendation]


def _document(output: bytes) -> bytes:
    block = BLOCK.search(output)
    return block[1] if block else output


def _by(is_valid: Callable[[Any], bool]) -> Callable[[bytes], bool]:
    def judge(output: bytes) -> bool:
        try:
            return is_valid(json.loads(_document(output)))
        except (ValueError, RecursionError):
            return False

    return judge


def _by_jsonschema() -> Callable[[bytes], bool]:
    schema = json.loads(make.contract(GROUP).read_text())["schema"]
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return _by(jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid)


def _by_jsonschema_rs() -> Callable[[bytes], bool]:
    schema = json.loads(make.contract(GROUP).read_text())["schema"]
    return _by(jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid)


def _by_pydantic() -> Callable[[bytes], bool]:
    def judge(output: bytes) -> bool:
        try:
            Triage.model_validate_json(_document(output))
            return True
        except ValidationError:
            return False

    return judge


VALIDATORS: dict[str, Callable[[], Callable[[bytes], bool]]] = {
    "jsonschema": _by_jsonschema,
    "jsonschema-rs": _by_jsonschema_rs,
    "Pydantic": _by_pydantic,
    "nothing": lambda: lambda output: bool(output),
}


class Worker:
    """An actor: it judges batches, and says how long its processor took."""

    def __init__(self, name: str) -> None:
        if name == "seamgate":
            self._gate = archive.Judge(archive.seal(make.contract(GROUP), finish="finish"))
            self._judge = self._by_gate
        else:
            self._is_valid = VALIDATORS[name]()
            self._judge = self._by_validator

    def __call__(self, table: pa.Table) -> Iterator[pa.Table]:
        for batch in table.to_batches():
            start = time.process_time()
            judged = self._judge(batch)
            took = time.process_time() - start
            yield judged.append_column("took", pa.array([took] + [0.0] * (judged.num_rows - 1)))

    def _by_gate(self, batch: pa.RecordBatch) -> pa.Table:
        return pa.Table.from_batches(self._gate.judge(batch))

    def _by_validator(self, batch: pa.RecordBatch) -> pa.Table:
        outputs = batch.column("text").view(pa.binary()).to_pylist()
        valid = [output is not None and self._is_valid(output) for output in outputs]
        return pa.Table.from_batches([batch]).append_column("valid", pa.array(valid))


def main(folder: Path, workers: int) -> None:
    """Judge the folder's rows by each, one after the other."""
    ray.init(
        num_cpus=workers + 1,
        object_store_memory=1024**3,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    for name in ["seamgate", *VALIDATORS]:
        dataset = ray.data.read_parquet(str(folder), override_num_blocks=make.FILES)
        pool = ray.data.ActorPoolStrategy(size=workers)
        start = time.monotonic()
        judged = dataset.map_batches(
            Worker, fn_constructor_args=(name,), batch_format="pyarrow", compute=pool, num_cpus=1
        )
        rows, took = 0, 0.0
        for batch in judged.iter_batches(batch_format="pyarrow", batch_size=None):
            rows += batch.num_rows
            took += sum(batch.column("took").to_pylist())
        print(json.dumps([name, rows / (time.monotonic() - start), rows / took]), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
