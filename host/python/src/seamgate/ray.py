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
    """Judge a column of outputs, each in a fresh sandbox, by actors that keep one gate each.

    Args:
        dataset: Rows with the column of outputs.
        contract: Its JSON text, the same as a dict, or a `pathlib.Path`. It is checked here, and travels with its
            digest.
        output: The column of outputs, of text or bytes.
        finish: A column that says why each producer stopped, in the words of `Gate.validate`.
        lists: Lists that the contract's `allow` names, the same for all rows.
        limits: What one verdict may use.
        workers: How many actors there are, with a processor each. Default: as many as Ray finds room and work for.

    Returns:
        The rows with `seamgate.archive.COLUMNS` after their own. A row that cannot be judged has a fault.

    Raises:
        SeamgateFault: `bad_contract`; or a limit was passed.
        ValueError: The dataset lacks a column, or has one that is added. Where Ray does not know its columns yet, the
            job ends with it.
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
    """How many rows have the same contract, disposition, fault, keyword and path: a small table, for
    `seamgate.archive.page` too.

    Args:
        judged: What `judge` returned, or what was read from where it was written.
    """
    counted = judged.map_batches(archive.counts, batch_format="pyarrow")
    return archive.summary(counted.iter_batches(batch_format="pyarrow"))
