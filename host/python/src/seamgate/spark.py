"""Archives of outputs on Apache Spark: `pip install 'seamgate[spark]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType
except ModuleNotFoundError as missing:
    message = f"seamgate.spark needs PySpark, and {missing.name} is not installed: pip install 'seamgate[spark]'"
    raise ModuleNotFoundError(message, name=missing.name) from missing

from . import archive

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ._aliases import Contract, Lists
    from ._limits import Limits

__all__ = ["judge", "summary"]

# A Spark worker outlives its tasks, so it keeps its gates, by contract and settings.
_gates: dict[archive.Sealed, archive.Judge] = {}
_MOST_GATES = 8


def _judge(sealed: archive.Sealed) -> archive.Judge:
    if sealed not in _gates:
        if len(_gates) == _MOST_GATES:
            _gates.clear()
        _gates[sealed] = archive.Judge(sealed)
    return _gates[sealed]


def judge(
    frame: DataFrame,
    contract: Contract,
    output: str = "text",
    *,
    finish: str | None = None,
    lists: Lists | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """Judge a column of outputs, each in a fresh sandbox, in Python workers that keep one gate each.

    Args:
        frame: Rows with the column of outputs.
        contract: The contract as JSON text, as a dict, or as the `pathlib.Path` of its file. It is checked here, and
            sent to the workers with its digest.
        output: The column of outputs, of text or bytes.
        finish: A column that says why each producer stopped, in the words of `Gate.validate`.
        lists: The lists that the contract's `allow` names, the same for all rows.
        limits: The limits of each verdict.

    Returns:
        The rows with `seamgate.archive.COLUMNS` after their own columns. A row that cannot be judged has a fault.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was exceeded.
        ValueError: The frame lacks a column, or already has one that judging adds.
        FileError: A file cannot be read.
    """
    sealed = archive.seal(contract, output, finish=finish, lists=lists, limits=limits)
    sealed.names(frame.columns)

    def judged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gate = _judge(sealed)
        for batch in batches:
            yield from gate.judge(batch)

    added = from_arrow_schema(archive.COLUMNS)
    return frame.mapInArrow(judged, StructType([*frame.schema.fields, *added.fields]))


def summary(judged: DataFrame) -> pa.Table:
    """Count the rows that have the same contract, disposition, fault, keyword and path. Returns a small table, which
    `seamgate.archive.page` can render.

    Args:
        judged: The result of `judge`, or the same rows read back from storage.
    """

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from archive.counts(batch).to_batches()

    columns = judged.select("contract", "disposition", "fault", "violation_keyword", "violation_path")
    rows = columns.mapInArrow(counted, from_arrow_schema(archive.SUMMARY)).toArrow()
    return archive.summary(rows.to_batches())
