"""Makes an archive of outputs: for each contract that many cases share, files of rows, and the same rows as requests."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests/cases"
HOSTILE = ROOT / "tests/hostile"

# The groups of cases whose contract is beside them. Claims would need evidence with each row.
GROUPS = ("extract", "finish", "items", "parse", "repair", "screen", "strip", "verdicts")

# One row in this many is hostile, and one in this many is not a valid request.
HOSTILE_EVERY = 100
BROKEN_EVERY = 1000

# A hostile output is used where it is no longer: some are of megabytes, and there are 10,000 of them.
LONGEST_HOSTILE = 100_000

# The longest output that is judged by default, in bytes.
LONGEST = 8 * 1024 * 1024

# The files of a job: engines read each apart.
FILES = 40

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string()), ("finish", pa.string())])


def contract(group: str) -> Path:
    """The contract of a group."""
    return CASES / group / "contract.json"


def make(folder: Path, rows: int) -> None:
    """Write `GROUP/NN.parquet` with the rows of each group, and `GROUP.ndjson` with all of them that are requests."""
    hostile = _hostile()
    each = rows // len(GROUPS)
    for at, group in enumerate(GROUPS):
        (folder / group).mkdir()
        begin = at * each
        ids = range(begin, rows if group == GROUPS[-1] else begin + each)
        made = _rows(group, ids, hostile)
        agent = json.loads(contract(group).read_text())["agent"]
        size = -(-len(ids) // FILES)
        with (folder / f"{group}.ndjson").open("w") as requests:
            for file in range(FILES):
                part = list(itertools.islice(made, size))
                if part:
                    _write(folder / group / f"{file:02}.parquet", part)
                    requests.writelines(_request(agent, row) for row in part if _is_request(row))


Row = tuple[int, bytes | None, str | None]


def _rows(group: str, ids: range, hostile: list[bytes]) -> Iterator[Row]:
    """The outputs of a group's cases, changed in one of two rows, with hostile ones among them. The same ones each time."""
    chance = random.Random(group)
    cases = _cases(group)
    for row in ids:
        if row % BROKEN_EVERY == 7:
            yield row, _broken(row // BROKEN_EVERY, chance), None
        elif row % HOSTILE_EVERY == 3:
            yield row, chance.choice(hostile), None
        else:
            output, finish = chance.choice(cases)
            yield row, _changed(output, chance) if chance.random() < 0.5 else output, finish


def _broken(number: int, chance: random.Random) -> bytes | None:
    """Returns outputs that are not text, not entirely text, or, in two rows, too large."""
    if number in (1, 3):
        return b'"' + b"a" * LONGEST + b'"'
    return None if number % 2 == 0 else b'{"date": "\xff' + bytes([chance.randrange(256)]) + b'"}'


def _changed(output: bytes, chance: random.Random) -> bytes:
    """An output that is cut off, has a piece twice, or another digit."""
    text = output.decode(errors="replace")
    at = chance.randrange(len(text) + 1)
    kind = chance.randrange(3)
    if kind == 0:
        return text[:at].encode()
    if kind == 1:
        return (text[: at + chance.randrange(20)] + text[at:]).encode()
    digits = [place for place, one in enumerate(text) if one.isascii() and one.isdigit()]
    if not digits:
        return output
    place = chance.choice(digits)
    return (text[:place] + str(chance.randrange(10)) + text[place + 1 :]).encode()


def _cases(group: str) -> list[tuple[bytes, str | None]]:
    """The outputs of the cases that have the contract of their group, and why they ended."""
    found = []
    for folder in sorted((CASES / group).iterdir()):
        if folder.is_dir() and not (folder / "contract.json").exists():
            output = _own_or_shared(folder, "output.txt")
            request = _own_or_shared(folder, "request.json")
            more: dict[str, Any] = json.loads(request.read_text()) if request.exists() else {}
            finish = more.get("finish")
            found.append((output.read_bytes(), finish if isinstance(finish, str) else None))
    return found


def _own_or_shared(case: Path, name: str) -> Path:
    """Returns a file of a case, or the one that its group shares. It may be missing."""
    own = case / name
    return own if own.exists() else case.parent / name


def _hostile() -> list[bytes]:
    """The hostile outputs that are short enough. What makes them hostile may be a contract, which is not here."""
    found = []
    for path in sorted(HOSTILE.glob("*/*.json")):
        output = json.loads(path.read_text()).get("output")
        if output is not None:
            text = _text(output)
            if text is not None:
                found.append(text.encode(errors="replace"))
    return found


def _text(pieces: Any) -> str | None:
    """A text that is written in pieces (`tests/hostile/README.md`); none where it is too long."""
    if isinstance(pieces, str):
        return pieces
    if isinstance(pieces, list):
        parts = [_text(piece) for piece in pieces]
        whole = None if None in parts else "".join(part or "" for part in parts)
        return whole if whole is not None and len(whole) <= LONGEST_HOSTILE else None
    if not isinstance(pieces, dict) or set(pieces) != {"repeat", "times"}:
        return None
    inner = _text(pieces["repeat"])
    if inner is None or len(inner) * pieces["times"] > LONGEST_HOSTILE:
        return None
    return "".join(
        inner.replace("{n}", str(number)).replace("{n+1}", str(number + 1)) for number in range(pieces["times"])
    )


def _write(path: Path, rows: list[Row]) -> None:
    ids, outputs, finishes = (list(column) for column in zip(*rows, strict=True))
    # Bytes that are no text stand in a column of texts, as careless writers leave them.
    texts = pa.array(outputs, pa.binary()).view(pa.string())
    pq.write_table(pa.table([ids, texts, finishes], schema=SCHEMA), path, compression="zstd")


def _is_request(row: Row) -> bool:
    return row[1] is not None and len(row[1]) <= LONGEST


def _request(agent: str, row: Row) -> str:
    number, output, finish = row
    assert output is not None
    request: dict[str, Any] = {"id": number, "agent": agent}
    try:
        request["output"] = output.decode()
    except UnicodeDecodeError as error:
        request |= {"output": output.decode(errors="replace"), "invalid_utf8": error.start}
    if finish is not None:
        request["finish"] = finish
    return json.dumps(request) + "\n"
