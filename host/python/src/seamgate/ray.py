"""Archives of outputs on Ray Data: `pip install 'seamgate[ray]'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import pyarrow as pa
    import ray.data
except ModuleNotFoundError as missing:
    message = f"seamgate.ray needs Ray Data, and {missing.name} is not installed: pip install 'seamgate[ray]'"
    raise ModuleNotFoundError(message, name=missing.name) from missing

from . import archive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._aliases import Contract, Lists
    from ._limits import Limits

__all__ = ["judge", "summary"]


class _Worker:
    """The actor of a worker: it keeps one gate."""

    def __init__(self, sealed: archive.Sealed) -> None:
        self._judge = archive.Judge(sealed)

    def __call__(self, table: pa.Table) -> Iterator[pa.Table]:
        for batch in table.to_batches():
            for judged in self._judge.judge(batch):
                yield pa.Table.from_batches([judged])


def judge(
    dataset: ray.data.Dataset,
    contract: Contract,
    output: str = "text",
    *,
    finish: str | None = None,
    lists: Lists | None = None,
    limits: Limits | None = None,
    workers: int | None = None,
) -> ray.data.Dataset:
    """Judge a column of outputs, each in a fresh sandbox, in actors that keep one gate each.

    Args:
        dataset: Rows with the column of outputs.
        contract: The contract as JSON text, as a dict, or as the `pathlib.Path` of its file. It is checked here, and
            sent to the workers with its digest.
        output: The column of outputs, of text or bytes.
        finish: A column that says why each producer stopped, in the words of `Gate.validate`.
        lists: The lists that the contract's `allow` names, the same for all rows.
        limits: The limits of each verdict.
        workers: The number of actors, each with one processor. Default: Ray chooses it by the available resources and
            the amount of work.

    Returns:
        The rows with `seamgate.archive.COLUMNS` after their own columns. A row that cannot be judged has a fault.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was exceeded.
        ValueError: The dataset lacks a column, or already has one that judging adds. If Ray does not know the columns
            yet, the job fails with this error later.
        FileError: A file cannot be read.
    """
    sealed = archive.seal(contract, output, finish=finish, lists=lists, limits=limits)
    known = dataset.schema(fetch_if_missing=False)
    if known is not None:
        sealed.names(known.names)
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(sealed,),
        batch_format="pyarrow",
        compute=None if workers is None else ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
    )


def summary(judged: ray.data.Dataset) -> pa.Table:
    """Count the rows that have the same contract, disposition, fault, keyword and path. Returns a small table, which
    `seamgate.archive.page` can render.

    Args:
        judged: The result of `judge`, or the same rows read back from storage.
    """
    counted = judged.map_batches(archive.counts, batch_format="pyarrow")
    return archive.summary(counted.iter_batches(batch_format="pyarrow"))
