"""Judges an archive on Ray, on Spark and on one machine, kills workers, and holds all of them to `seamgate check --ndjson`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import make
import page
import pyarrow as pa
import pyarrow.parquet as pq
import watch

HERE = Path(__file__).resolve().parent

# The group whose schema says most: other validators judge its rows.
BESIDE = "items"
WORKERS = 4


@dataclass
class Run:
    """A way of judging: where it wrote, and what it took."""

    name: str
    folder: Path
    seconds: float = 0.0
    killed: int = 0
    memory: list[int] = field(default_factory=list)
    rows: int = 0
    digest: str = ""


def main() -> None:
    """Make the archive, judge it in each way, compare, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seamgate", type=Path, required=True, help="the command line")
    parser.add_argument("--folder", type=Path, required=True, help="where the archive and the results go")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--write", type=Path, help="the page that gets the tables")
    parser.add_argument("--without", nargs="*", default=[], help="ways to leave out")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    shutil.rmtree(folder, ignore_errors=True)
    archive = folder / "archive"
    archive.mkdir(parents=True)
    say(f"making {arguments.rows:,} rows")
    make.make(archive, arguments.rows)
    runs = [ndjson(arguments.seamgate, archive)]
    for name, way in {"parquet": parquet, "ray": engine, "spark": engine}.items():
        if name not in arguments.without:
            run = way(name, archive, folder / name)
            held(run, runs[0], arguments.rows)
            runs.append(run)
    write(arguments.write, "archives", told(runs, arguments.rows))
    if "beside" not in arguments.without:
        write(arguments.write, "beside", told_beside(others(archive)))


def write(to: Path | None, mark: str, text: str) -> None:
    """Print a table, and put it into the page."""
    print(text)
    if to:
        page.write(to, mark, text)


def say(what: str) -> None:
    """Tell a person how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


class Digest:
    """All answers as one digest: reports, or the codes of faults, in the order of the rows."""

    def __init__(self) -> None:
        self._of: dict[int, bytes] = {}

    def add(self, row: int, report: bytes | None, fault: str | None) -> None:
        """Add the answer to a row, which must have no other."""
        if row in self._of:
            raise SystemExit(f"row {row} is answered twice")
        if (report is None) == (fault is None):
            raise SystemExit(f"row {row} must have either a report or a fault")
        self._of[row] = hashlib.sha256(report if report is not None else str(fault).encode()).digest()

    def into(self, run: Run) -> None:
        """Write down the digest of the digests."""
        run.rows = len(self._of)
        run.digest = hashlib.sha256(b"".join(self._of[row] for row in sorted(self._of))).hexdigest()


def ndjson(seamgate: Path, archive: Path) -> Run:
    """Judge the requests by the command line."""
    run, digest = Run("`check --ndjson`", archive), Digest()
    for group in make.GROUPS:
        say(f"ndjson: {group}")
        answers = archive / f"{group}.answers"
        command = [seamgate, "check", "--ndjson", "-c", make.contract(group), archive / f"{group}.ndjson"]
        start = time.monotonic()
        with answers.open("wb") as out:
            status = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False)
        run.seconds += time.monotonic() - start
        if status.returncode not in (1, 5):
            raise SystemExit(f"{command} ended with {status.returncode}: {status.stderr!r}")
        with answers.open("rb") as lines:
            for line in lines:
                head, _, rest = line.partition(b',"')
                row = int(head.removeprefix(b'{"id":'))
                if rest.startswith(b'report":'):
                    digest.add(row, rest.removeprefix(b'report":').rpartition(b',"usage":{')[0], None)
                else:
                    digest.add(row, None, json.loads(line)["fault"]["fault"])
        answers.unlink()
        for batch in _batches(archive / group):
            # Rows that are not valid requests. Their faults are known.
            for row, text in zip(batch["id"].to_pylist(), batch["text"].view("binary").to_pylist(), strict=True):
                if text is None:
                    digest.add(row, None, "bad_request")
                elif len(text) > make.LONGEST:
                    digest.add(row, None, "input_too_large")
    digest.into(run)
    return run


def engine(name: str, archive: Path, to: Path) -> Run:
    """Judge by Ray or Spark in a separate process. One of its workers is killed in the middle of each job."""
    run = Run(name.capitalize(), to)
    to.mkdir()
    with watch.Watch(name) as watched:
        variable, mark = watched.mark.split("=")
        environment = os.environ | {variable: mark, "PYTHONWARNINGS": "ignore", "PYSPARK_PYTHON": sys.executable}
        command = [sys.executable, "-B", HERE / f"on_{name}.py", archive, to, str(WORKERS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            for line in process.stdout:
                match line.split():
                    case ["begin", group]:
                        say(f"{name}: {group}")
                        watched.begin(to / group)
                    case ["end", seconds]:
                        watched.end()
                        run.seconds += float(seconds)
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
    if not watched.killed:
        raise SystemExit(f"{name}: no worker was killed: the jobs were too short")
    run.killed, run.memory = watched.killed, sorted(watched.memory.values())
    return run


def parquet(name: str, archive: Path, to: Path) -> Run:
    """Judge by `check --parquet` of the Python package, one file for each contract."""
    run = Run("`check --parquet`", to)
    to.mkdir()
    seamgate = Path(sys.executable).with_name("seamgate")
    for group in make.GROUPS:
        say(f"{name}: {group}")
        (to / group).mkdir()
        whole = archive / f"{group}.parquet"
        with pq.ParquetWriter(whole, make.SCHEMA) as writer:
            for batch in _batches(archive / group):
                writer.write_batch(batch)
        out = to / group / "judged.parquet"
        command = [seamgate, "check", "--parquet", whole, "--out", out, "-c", make.contract(group)]
        command += ["--finish-column", "finish"]
        start = time.monotonic()
        status = subprocess.run(command, capture_output=True, check=False)
        run.seconds += time.monotonic() - start
        whole.unlink()
        if status.returncode not in (1, 5):
            raise SystemExit(f"{command} ended with {status.returncode}: {status.stderr!r}")
    return run


def held(run: Run, wanted: Run, rows: int) -> None:
    """Hold a run to the one of the command line: each row once, and the same reports."""
    digest = Digest()
    for group in make.GROUPS:
        for batch in _batches(run.folder / group):
            reports = batch["report"].view("binary").to_pylist()
            for row, report, fault in zip(batch["id"].to_pylist(), reports, batch["fault"].to_pylist(), strict=True):
                digest.add(row, report, fault)
    digest.into(run)
    if (run.rows, run.digest) != (rows, wanted.digest):
        raise SystemExit(f"{run.name}: {run.rows} rows, {run.digest}; wanted {rows}, {wanted.digest}")


def _batches(folder: Path) -> Iterator[pa.RecordBatch]:
    for file in sorted(folder.glob("*.parquet")):
        yield from pq.ParquetFile(file).iter_batches(1024)


def others(archive: Path) -> list[tuple[str, float, float]]:
    """The rows a second of each validator on the rows of one contract, and those a second of a worker's processor."""
    say("beside other validators")
    command = [sys.executable, "-B", HERE / "beside.py", archive / BESIDE, str(WORKERS)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    # Ray also writes there.
    answers = [json.loads(line) for line in answer.stdout.splitlines() if line.startswith('["')]
    return [(str(name), float(wall), float(cpu)) for name, wall, cpu in answers]


def told(runs: list[Run], rows: int) -> str:
    """Returns the times of the ways of judging, for a page."""
    head = ["way", "rows", "workers killed", "rows a second", "most memory of each worker, MiB", "digest"]
    lines = [head, ["---", "--:", "--:", "--:", "---", "---"]]
    for run in runs:
        memory = _between([one / 1024**2 for one in run.memory])
        speed = f"{run.rows / run.seconds:,.0f}"
        lines.append([run.name, f"{run.rows:,}", str(run.killed), speed, memory, f"`{run.digest[:16]}`"])
    about = f"{rows:,} rows, {len(make.GROUPS)} contracts, {WORKERS} workers of each engine, {machine()}."
    return f"{about}\n\n{page.table(lines)}"


def _between(figures: list[float]) -> str:
    """Figures as a range with the median."""
    if not figures:
        return ""
    ordered = sorted(figures)
    low, middle, high = ordered[0], ordered[len(ordered) // 2], ordered[-1]
    return f"{low:.0f} to {high:.0f}, median {middle:.0f} ({len(ordered)} processes)"


def told_beside(beside: list[tuple[str, float, float]]) -> str:
    """The same for validators in one job."""
    base = next(cpu for name, _, cpu in beside if name == "seamgate")
    head = ["validator", "rows a second", "rows a second of a worker's processor", "times seamgate"]
    lines = [[name, f"{wall:,.0f}", f"{cpu:,.0f}", f"{cpu / base:.2f}"] for name, wall, cpu in beside]
    return page.table([head, ["---", "--:", "--:", "--:"], *lines])


def machine() -> str:
    """The processors of this machine."""
    names = [
        line.partition(": ")[2] for line in Path("/proc/cpuinfo").read_text().splitlines() if line[:10] == "model name"
    ]
    return f"{len(names)} processors ({names[0] if names else 'unknown'})"


if __name__ == "__main__":
    main()
