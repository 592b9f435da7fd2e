"""Judges archives of outputs: takes batches of Arrow, and returns them with columns of verdicts.

`seamgate.ray`, `seamgate.spark` and `seamgate check --parquet` hand their batches to this module. It needs the package
`pyarrow`: `pip install 'seamgate[parquet]'`.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _json
from ._arguments import wrong
from ._defaults import OUTPUT_BYTES
from ._faults import LoadError, SeamgateFault
from ._gate import Gate
from ._limits import Limits
from ._records import dataclass, hints, members
from ._requests import Request, _contract_text, _lists
from ._types import Quarantined, Span
from ._verdict import Verdict

try:
    import pyarrow as pa
    import pyarrow.compute
except ModuleNotFoundError as missing:
    if missing.name != "pyarrow":
        raise
    message = "archives need the package pyarrow, which is not installed: pip install 'seamgate[parquet]'"
    raise ModuleNotFoundError(message, name="pyarrow") from missing

if TYPE_CHECKING:
    from ._aliases import Contract, Lists

# The module generates its functions at import, so type checkers do not know them.
pc: Any = pyarrow.compute

__all__ = ["COLUMNS", "SUMMARY", "Judge", "Sealed", "counts", "page", "seal", "summary"]


def __dir__() -> list[str]:
    return __all__


def _type(hint: Any) -> pa.DataType:
    """Returns the Arrow type for values of a type of this package, in their JSON form."""
    if hint == Span:
        return pa.list_(pa.int64())
    inner: tuple[Any, ...] = getattr(hint, "__args__", ())
    if getattr(hint, "__origin__", None) is tuple:
        return pa.list_(_type(inner[0]))
    if inner:
        # Optional: every column may be null.
        return _type(inner[0])
    if members(hint):
        return pa.struct([(name, _type(of)) for name, of in hints(hint).items()])
    return pa.int64() if hint is int else pa.string()


# The names and types of the columns, and what they hold: the page about archives has this table.
_COLUMNS: dict[str, tuple[pa.DataType, str]] = {
    "disposition": (pa.string(), "`accepted`, `partial`, `rejected` or `refused`; null where there is a fault"),
    "document": (pa.string(), "the validated document, as JSON text; null unless accepted or partial"),
    "error": (
        pa.string(),
        "why the output is rejected: `output_validation_failed`, `extraction_failed` or `malformed_json`",
    ),
    "violation_path": (pa.string(), "the place of the first violation; of a partial output, in its first bad item"),
    "violation_keyword": (pa.string(), "its keyword"),
    "quarantined": (pa.list_(_type(Quarantined)), "the items that were set aside, as the report lists them"),
    "fuel": (pa.int64(), "the fuel that the verdict took"),
    "report": (pa.string(), "the whole report as JSON text, the same bytes as everywhere"),
    "fault": (pa.string(), "why there is no verdict: the code of the fault"),
    "fault_message": (pa.string(), "the same in a sentence"),
    "contract": (pa.string(), "the digest of the contract that judged"),
}

COLUMNS: pa.Schema = pa.schema([(name, of) for name, (of, _) in _COLUMNS.items()])
"""The columns that judging adds."""

SUMMARY: pa.Schema = pa.schema(
    [
        ("contract", pa.string()),
        ("disposition", pa.string()),
        ("fault", pa.string()),
        ("keyword", pa.string()),
        ("path", pa.string()),
        ("rows", pa.int64()),
    ]
)
"""The columns of a summary."""

# The most rows that are judged and written at once. Their reports fit into one array of text, which holds 2 GiB.
_ROWS = 1024
_BYTES = 4 * OUTPUT_BYTES

# The most paths that are told apart, because a producer may use a different path in each output.
_MOST_PATHS = 10_000
_LONGEST_PATH = 120
_OTHER = "(other paths)"


@dataclass(frozen=True)
class Sealed:
    """A contract, and everything else that a verdict depends on. It is sent to each worker, which either judges by it
    or fails.

    Attributes:
        contract: The whole contract as JSON text.
        agent: Its agent.
        digest: The contract's digest, which is in each row of the result.
        component: The digest of the component that judges.
        output: The column of outputs.
        finish: The column that says why each producer stopped, or None.
        lists: The lists that the contract's `allow` names, the same for all rows.
        limits: The limits of each verdict.
    """

    contract: str
    agent: str
    digest: str
    component: str
    output: str
    finish: str | None
    lists: tuple[tuple[str, tuple[str, ...]], ...] | None
    limits: Limits

    def names(self, names: Iterable[str]) -> None:
        """Checks the names of the columns that are to be judged.

        Raises:
            ValueError: The column of outputs is missing, or a column has the name of one that judging adds.
        """
        names = list(names)
        for column in [self.output, *([] if self.finish is None else [self.finish])]:
            if names.count(column) != 1:
                there = ", ".join(map(repr, names))
                are = "no column" if column not in names else "several columns"
                raise ValueError(f"there is {are} {column!r}: the columns are {there}")
        # SQL engines ignore the case of names.
        taken = {name.lower() for name in COLUMNS.names}
        both = [name for name in names if name.lower() in taken]
        if both:
            raise ValueError(f"judging adds columns of these names: rename {', '.join(map(repr, both))} before")


def seal(
    contract: Contract,
    output: str = "text",
    *,
    finish: str | None = None,
    lists: Lists | None = None,
    limits: Limits | None = None,
) -> Sealed:
    """Check a contract once, before it is sent to workers.

    Args:
        contract: The contract as JSON text, as a dict, or as the `pathlib.Path` of its file.
        output: The column of outputs, of text or bytes.
        finish: A column that says why each producer stopped, in the words of `Gate.validate`.
        lists: The lists that the contract's `allow` names, the same for all rows.
        limits: The limits of each verdict.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was exceeded.
        FileError: A file cannot be read.
    """
    text = _contract_text(contract)
    limits = limits or Limits()
    gate = Gate(limits=limits)
    info = gate.register(text)
    held = None if lists is None else tuple((name, tuple(values)) for name, values in _lists(lists).items())
    return Sealed(text, info.agent, info.contract, gate._engine.digest, output, finish, held, limits)


class Judge:
    """A gate that judges batches. A worker creates one, which takes milliseconds, and keeps it.

    Args:
        sealed: The contract and the settings.
        threads: The number of outputs to judge in parallel.

    Raises:
        LoadError: The contract or the component differs from the one that the job was started with.
    """

    def __init__(self, sealed: Sealed, threads: int = 1) -> None:
        self._sealed = sealed
        self._threads = threads
        self._lists = None if sealed.lists is None else dict(sealed.lists)
        self._gate = Gate(limits=sealed.limits)
        digests = self._gate.register(sealed.contract).contract, self._gate._engine.digest
        for what, here, there in zip(
            ("contract", "component"), digests, (sealed.digest, sealed.component), strict=True
        ):
            if here != there:
                raise LoadError(
                    f"this worker would judge by the {what} {here}, and the job was begun with {there}: "
                    "install the same version of seamgate on all machines"
                )

    def judge(self, batch: pa.RecordBatch | pa.Table) -> Iterator[pa.RecordBatch]:
        """Judge a batch. Each row gets a verdict or a fault, regardless of its content.

        Args:
            batch: Rows with the column of outputs; or a table, whose batches are judged one by one.

        Returns:
            The same rows in the same order, with `COLUMNS` after their own columns, in batches that fit into memory.

        Raises:
            ValueError: The batch lacks a column, or already has one that judging adds.
        """
        if not isinstance(batch, (pa.RecordBatch, pa.Table)):
            raise wrong("batch", "a `pyarrow.RecordBatch` or a `pyarrow.Table`", batch)
        sealed = self._sealed
        sealed.names(batch.schema.names)
        if isinstance(batch, pa.Table):
            for each in batch.to_batches():
                yield from self.judge(each)
            return
        schema = pa.schema([*batch.schema, *COLUMNS], metadata=batch.schema.metadata)
        for piece in _pieces(batch, sealed.output):
            finishes: list[Any] = [None] * piece.num_rows
            if sealed.finish is not None:
                finishes = _values(piece.column(sealed.finish))
            rows = self._rows(_values(piece.column(sealed.output)), finishes)
            columns = [pa.array([row[at] for row in rows], of.type) for at, of in enumerate(COLUMNS)]
            yield pa.RecordBatch.from_arrays([*piece.columns, *columns], schema=schema)

    def _rows(self, outputs: list[Any], finishes: list[Any]) -> list[tuple[Any, ...]]:
        """Returns the values of the new columns for each output."""
        sealed = self._sealed
        rows: list[tuple[Any, ...] | None] = [None] * len(outputs)
        asked: list[Request] = []
        places: list[int] = []
        for at, (output, finish) in enumerate(zip(outputs, finishes, strict=True)):
            wrong = _wrong(output, finish)
            if wrong is not None:
                rows[at] = _fault(wrong, sealed.digest)
                continue
            word = "unknown" if finish is None else _word(finish)
            asked.append(Request(sealed.agent, output, word, self._lists))
            places.append(at)
        answers = self._gate.validate_all(asked, threads=self._threads) if asked else []
        for at, answer in zip(places, answers, strict=True):
            made = _fault if isinstance(answer, SeamgateFault) else _row
            rows[at] = made(answer, sealed.digest)  # type: ignore[arg-type]
        return [row for row in rows if row is not None]


def _wrong(output: object, finish: object) -> SeamgateFault | None:
    """Returns the reason why a row cannot be judged at all, if there is one."""
    if output is None:
        return SeamgateFault("bad_request", "output: is null")
    if not isinstance(output, (str, bytes)):
        return SeamgateFault("bad_request", f"output: must be text or bytes, not {type(output).__name__}")
    if not (finish is None or isinstance(finish, (str, bytes))):
        return SeamgateFault("bad_request", f"finish: must be a word, not {type(finish).__name__}")
    return None


def _word(finish: str | bytes) -> str:
    return finish if isinstance(finish, str) else finish.decode(errors="replace")


def _row(verdict: Verdict, contract: str) -> tuple[Any, ...]:
    """Returns the values of the new columns for a verdict."""
    report = verdict.report
    error: Any = None
    quarantined: Any = []
    if not report.success:
        read = _read(report.json)
        error, quarantined = read["error"], read["quarantined"]
    violations = [error] if error is not None else quarantined
    first: dict[str, Any] = next((violation for of in violations for violation in of["violations"]), {})
    return (
        report.disposition.value,
        report.output_json,
        None if error is None else error["error"],
        first.get("path"),
        first.get("keyword"),
        quarantined,
        verdict.usage.fuel,
        report.json,
        None,
        None,
        contract,
    )


def _read(report: str) -> dict[str, Any]:
    """Reads the members of a report that the columns need. Converting all of it to records takes longer than the
    verdict."""
    try:
        read: dict[str, Any] = _json.parse(report)
    except ValueError:
        # The document has a number with too many digits for Python.
        texts = {name: text for name, _, text in _json.members(report, values=False)}
        read = {name: _json.parse(texts[name]) for name in ("error", "quarantined")}
    return read


def _fault(fault: SeamgateFault, contract: str) -> tuple[Any, ...]:
    """Returns the values of the new columns for a fault."""
    return (*[None] * COLUMNS.names.index("fault"), fault.code, fault.message, contract)


def _plain(column: pa.Array) -> pa.Array:
    """Converts a column of text to bytes, so that values that are not UTF-8 are judged as well."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    for is_text, as_bytes in _AS_BYTES:
        if is_text(kind):
            return column.view(as_bytes)
    return column


_AS_BYTES = (
    (pa.types.is_string, pa.binary()),
    (pa.types.is_large_string, pa.large_binary()),
    (pa.types.is_string_view, pa.binary_view()),
)


def _values(column: pa.Array) -> list[Any]:
    """Returns the values of a column, with text as bytes."""
    column = _plain(column)
    try:
        values: list[Any] = column.to_pylist()
        return values
    except ValueError:
        # Python cannot represent all values of this type, so each is converted on its own.
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    try:
        return scalar.as_py()
    except ValueError:
        # The value is not text, which the row's fault will say.
        return scalar


def _pieces(batch: pa.RecordBatch, output: str) -> Iterator[pa.RecordBatch]:
    """Splits a batch into pieces of a bounded size, with at least one row each."""
    column = _plain(batch.column(output))
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        sizes = pc.fill_null(pc.binary_length(column), 0).to_pylist()
    else:
        sizes = [0] * batch.num_rows
    start = held = 0
    for at, size in enumerate(sizes):
        if at > start and (at - start == _ROWS or held + size > _BYTES):
            yield batch.slice(start, at - start)
            start, held = at, 0
        held += size
    # An empty batch gets the columns as well.
    yield batch.slice(start)


def counts(batch: pa.RecordBatch | pa.Table) -> pa.Table:
    """Count the rows of a batch that have the same contract, disposition, fault, keyword and path. Indices in paths are
    replaced with `[*]`, and a long path is truncated, with `…` at its end.

    Args:
        batch: Judged rows, or only the five columns that are counted.
    """
    path = pc.replace_substring_regex(batch.column("violation_path"), r"\[[0-9]+\]", "[*]")
    cut = pc.binary_join_element_wise(pc.utf8_slice_codeunits(path, 0, _LONGEST_PATH), "…", "")
    names = [name for name in SUMMARY.names if name != "rows"]
    values = [
        batch.column("contract"),
        batch.column("disposition"),
        batch.column("fault"),
        batch.column("violation_keyword"),
        pc.if_else(pc.greater(pc.utf8_length(path), _LONGEST_PATH), cut, path),
    ]
    grouped = pa.table(values, names).group_by(names).aggregate([([], "count_all")])
    return grouped.rename_columns([*names, "rows"]).select(SUMMARY.names).cast(SUMMARY)


def summary(batches: Iterable[pa.RecordBatch | pa.Table]) -> pa.Table:
    """Add up the results of `counts`, or judged batches themselves.

    Args:
        batches: Batches with the columns of `SUMMARY` or of `COLUMNS`.

    Returns:
        A table with the columns of `SUMMARY`, the most frequent rows first. It distinguishes 10,000 paths for each kind
        of verdict, and combines the rest.
    """
    total: Counter[tuple[Any, ...]] = Counter()
    paths: Counter[tuple[Any, ...]] = Counter()
    for batch in batches:
        counted = batch if "rows" in batch.schema.names else counts(batch)
        for row in counted.to_pylist():
            kind = row["contract"], row["disposition"], row["fault"], row["keyword"]
            key = (*kind, row["path"])
            if key not in total:
                if row["path"] is not None and paths[kind] == _MOST_PATHS:
                    key = (*kind, _OTHER)
                else:
                    paths[kind] += 1
            total[key] += row["rows"]
    ordered = sorted(total.items(), key=lambda of: (-of[1], [str(part) for part in of[0]]))
    rows = [dict(zip(SUMMARY.names, (*key, number), strict=True)) for key, number in ordered]
    return pa.Table.from_pylist(rows, SUMMARY)


# From best to worst.
_KINDS = ("accepted", "refused", "partial", "rejected", "fault")

# The most rows on a page.
_MOST_SHOWN = 200
_MOST_BARS = 25

_STYLE = """
:root { color-scheme: light dark; --back: #f6f6f3; --card: #fff; --text: #1d2125; --soft: #5f6770; --line: #dcdcd6;
  --accepted: #2f9e62; --refused: #6f8fb8; --partial: #d99a26; --rejected: #cf4a43; --fault: #7b4fa3; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --card: #1c2024; --text: #e4e6e8; --soft: #98a1aa;
  --line: #333a41;
  --accepted: #3fae74; --refused: #7f9cc2; --partial: #dda23b; --rejected: #dc645c; --fault: #9a72c0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .2rem 0 .8rem; color: var(--soft); }
code { font: .83rem ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); }
th, td { text-align: left; padding: .3rem .6rem; border: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bars td { border-width: 0 0 1px; vertical-align: middle; }
.bars code { overflow-wrap: normal; word-break: break-word; }
.bars td:last-child { width: 45%; min-width: 12rem; vertical-align: middle; }
.bar { display: flex; height: 1.1rem; border-radius: .2rem; overflow: hidden; background: var(--line); }
.bar i { display: block; height: 100%; min-width: 1px; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .6rem 0; list-style: none; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; }
.accepted { background: var(--accepted); } .refused { background: var(--refused); }
.partial { background: var(--partial); }
.rejected { background: var(--rejected); } .fault { background: var(--fault); }
"""


def page(summary: pa.Table) -> str:
    """Render a summary as one self-contained HTML page.

    Args:
        summary: As `summary` makes it.
    """
    rows = summary.to_pylist()
    total = sum(row["rows"] for row in rows)
    by_contract: dict[str, Counter[str]] = {}
    for row in rows:
        by_contract.setdefault(row["contract"], Counter())[_kind(row)] += row["rows"]
    wrong = [row for row in rows if row["keyword"] is not None or row["fault"] is not None]
    return f"""<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Verdicts on {total:,} outputs</title>
<style>{_STYLE}</style>
<main>
<h1>Verdicts on {total:,} outputs</h1>
<h2>By contract</h2>
{_legend(by_contract, total)}
{_by_contract(by_contract)}
<h2>What was wrong</h2>
{_wrongs(wrong, total)}
<h2>All of it</h2>
{_table(rows, total)}
</main>
</html>
"""


def _kind(row: dict[str, Any]) -> str:
    kind: str = row["disposition"] or "fault"
    return kind


def _legend(by_contract: dict[str, Counter[str]], total: int) -> str:
    sums = sum(by_contract.values(), Counter())
    entries = (f'<li><i class="{kind}"></i>{kind}: {_share(sums[kind], total)}</li>' for kind in _KINDS)
    return f'<ul class="legend">{"".join(entries)}</ul>'


def _by_contract(by_contract: dict[str, Counter[str]]) -> str:
    rows = []
    for contract, kinds in sorted(by_contract.items(), key=lambda of: -of[1].total()):
        parts = [(kind, kinds[kind]) for kind in _KINDS if kinds[kind]]
        rows.append(
            f"<tr><td><code>{_shown(contract[:19])}</code></td>"
            f'<td class="number">{kinds.total():,}</td><td>{_bar(parts, kinds.total())}</td></tr>'
        )
    return f'<table class="bars"><tr><th>Contract<th class="number">Outputs<th>Share</tr>{"".join(rows)}</table>'


def _wrongs(wrong: list[dict[str, Any]], total: int) -> str:
    """Bars of keywords at paths, and of faults, over all contracts."""
    places: dict[tuple[str, str], Counter[str]] = {}
    for row in wrong:
        place = row["keyword"] or row["fault"], row["path"] or ""
        places.setdefault(place, Counter())[_kind(row)] += row["rows"]
    if not places:
        return "<p>Nothing.</p>"
    ordered = sorted(places.items(), key=lambda of: (-of[1].total(), of[0]))
    most = ordered[0][1].total()
    rows = []
    for (word, path), kinds in ordered[:_MOST_BARS]:
        parts = [(kind, kinds[kind]) for kind in _KINDS if kinds[kind]]
        rows.append(
            f"<tr><td><code>{_shown(word)}</code></td><td><code>{_shown(path)}</code></td>"
            f'<td class="number">{_share(kinds.total(), total)}</td><td>{_bar(parts, most)}</td></tr>'
        )
    head = '<tr><th>First violation, or fault<th>Where<th class="number">Outputs<th></tr>'
    return f'<table class="bars">{head}{"".join(rows)}</table>{_more(len(ordered), _MOST_BARS)}'


def _table(rows: list[dict[str, Any]], total: int) -> str:
    names = [name for name in SUMMARY.names if name != "rows"]
    head = "".join(f"<th>{name}" for name in names)
    lines = []
    for row in rows[:_MOST_SHOWN]:
        cells = "".join(f"<td><code>{_shown(row[name] or '')}</code></td>" for name in names)
        lines.append(f'<tr>{cells}<td class="number">{_share(row["rows"], total)}</td></tr>')
    whole = f'<table><tr>{head}<th class="number">outputs</tr>{"".join(lines)}</table>'
    return f'<div class="scroll">{whole}</div>{_more(len(rows), _MOST_SHOWN)}'


def _more(there: int, shown: int) -> str:
    return f"<p>{there - shown:,} more rows of the table are not shown.</p>" if there > shown else ""


def _bar(parts: list[tuple[str, int]], whole: int) -> str:
    pieces = (f'<i class="{kind}" style="width:{100 * number / whole:.3f}%"></i>' for kind, number in parts)
    told = ", ".join(f"{kind} {number:,}" for kind, number in parts)
    return f'<div class="bar" role="img" aria-label="{told}" title="{told}">{"".join(pieces)}</div>'


def _share(number: int, total: int) -> str:
    return f"{number:,} ({100 * number / total:.1f} %)" if total else "0"


def _shown(text: str) -> str:
    """Escapes a producer's text for a page, including invisible characters."""
    return html.escape("".join(one if one.isprintable() else f"\\u{{{ord(one):x}}}" for one in text))
