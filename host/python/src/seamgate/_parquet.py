"""Parquet for the command line.

`seamgate check --parquet` judges the outputs in a file, and writes its columns and those of the verdicts to another.
`seamgate runs export --parquet` writes the calls of runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from pathlib import Path

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import FrameType
    from typing import Any, NoReturn

    from . import archive

# The most bytes of a file that are held in memory, and the bytes of one row group that is written, uncompressed.
_READ = 64 * 1024 * 1024
_GROUP = 64 * 1024 * 1024
_MOST_ROWS = 8 * 1024

# From best to worst, in the order of the command line.
_KINDS = ("accepted", "refused", "partial", "rejected", None)


# The columns of a call, in their order.
_CALLS = (
    "folder",
    "run",
    "agent",
    "profile",
    "component",
    "principal",
    "call",
    "server",
    "tool",
    "effect",
    "decided_at",
    "decision",
    "last_decision",
    "reasons",
    "message",
    "arguments",
    "arguments_digest",
    "asked_at",
    "approver",
    "approved_at",
    "started_at",
    "ended_at",
    "outcome",
    "result_bytes",
    "duration_ms",
)


class _Failed(Exception):
    """An error with a message for people."""


def judge(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    contract: str,
    column: str,
    finish: str | None,
    lists: list[tuple[str, list[str]]],
    threads: int,
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Judge the outputs of a file. If this fails, the target is not created or not changed.

    Yields:
        The number of rows in the file, and the number of rows of each kind so far.

    Raises:
        Exception: The target cannot be written. The message says why.
        KeyboardInterrupt: A signal arrived. Its number is the argument.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    from . import archive

    sealed = archive.seal(contract, column, finish=finish, lists=dict(lists) or None)
    with _reading(source):
        opened = _opened(source)
    with opened as file:
        try:
            sealed.names(file.schema_arrow.names)
        except ValueError as error:
            raise _Failed(f"{os.fspath(source)}: {error}") from None
        yield from _written(source, target, file, archive.Judge(sealed, threads))


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _opened(source: str | os.PathLike[str]) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(source)


@contextlib.contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise _Failed(f"cannot read {os.fspath(path)}: {_why(error)}") from None


@contextlib.contextmanager
def _writing(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _Failed(f"cannot write {os.fspath(path)}: {_why(error)}") from None


def _why(error: Exception) -> str:
    """Returns the message of an error, without the path and the error number of the system."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return str(error)


def _written(
    source: str | os.PathLike[str], target: str | os.PathLike[str], file: Any, judge: archive.Judge
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Writes the judged rows to a file beside the target, which then replaces the target."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from .archive import COLUMNS

    target = _target(target)
    if target.exists() and target.samefile(source):
        raise _Failed(f"{target} is the file that is read: name another one with --out")
    rows = file.metadata.num_rows
    kinds = dict.fromkeys(_KINDS, 0)
    schema = pa.schema([*file.schema_arrow, *COLUMNS], metadata=file.schema_arrow.metadata)
    with _replacing(target) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        group: list[Any] = []
        held = 0
        yield rows, tuple(kinds.values())
        for batch in _batches(source, file):
            for judged in judge.judge(batch):
                group.append(judged)
                held += judged.nbytes
                for word in judged.column("disposition").to_pylist():
                    kinds[word] += 1
                if held > _GROUP:
                    writer.write_table(pa.Table.from_batches(group, schema))
                    group, held = [], 0
            yield rows, tuple(kinds.values())
        writer.write_table(pa.Table.from_batches(group, schema))


def _target(path: str | os.PathLike[str]) -> Path:
    """Returns the file that is written, with links resolved."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise _Failed(f"cannot write {target}: it is no file")
    return target


@contextlib.contextmanager
def _replacing(target: Path, mode: int = 0o666) -> Iterator[Any]:
    """Opens a file beside the target, which replaces the target once it is complete."""
    with _writing(target):
        descriptor, name = tempfile.mkstemp(prefix=".seamgate-", suffix=".parquet", dir=target.parent)
    beside = Path(name)
    try:
        with _writing(target), os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
            # Applies the usual mode of a new file. `mkstemp` makes it readable by the user only.
            mask = os.umask(0o077)
            os.umask(mask)
            os.fchmod(out.fileno(), mode & ~mask)
            beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_rows(target: str | os.PathLike[str]) -> Generator[None, str | None]:
    """Write rows of calls. Send them to the generator as NDJSON, then send None. If it is closed before that, no file
    is written.

    Raises:
        Exception: Its text says why there is no target.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise _Failed("pyarrow is not installed: pip install 'seamgate[parquet]'") from None

    from ._json import parse

    text, number, time = pa.string(), pa.int64(), pa.timestamp("ms", tz="UTC")
    types = {"reasons": pa.list_(text), "result_bytes": number, "duration_ms": number}
    types |= dict.fromkeys(("decided_at", "asked_at", "approved_at", "started_at", "ended_at"), time)
    schema = pa.schema([(name, types.get(name, text)) for name in _CALLS])
    target = _target(target)
    # The file holds arguments of calls, so only its owner may read it, as with journals.
    with _replacing(target, 0o600) as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        while (lines := (yield)) is not None:
            rows = [parse(line) for line in lines.split("\n") if line]
            writer.write_table(pa.Table.from_pylist(rows, schema))


def _batches(source: str | os.PathLike[str], file: Any) -> Iterator[Any]:
    """Yields the rows of a file in batches of a bounded size, as far as the file declares the sizes of its groups."""
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    longest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    batches = file.iter_batches(batch_size=min(max(_READ // max(longest, 1), 1), _MOST_ROWS))
    while True:
        with _reading(source):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch
