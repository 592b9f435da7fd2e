"""Reads contracts from disk: `NAME.contract.json`, and the schemas that it names by relative paths."""

from __future__ import annotations

import os
from pathlib import Path

from . import _disk
from ._arguments import wrong
from ._faults import FileError


def read_contract(path: str | os.PathLike[str]) -> str:
    """Read one contract and embed the schemas that it names by path (`schema`, `jtd`, and each of `resources`).

    Each path must lead to a regular file in the contract's folder or below it. Neither `..` nor a link may lead out of
    the folder. Each file may have at most 8 MiB, and all of them together 32 MiB.

    Args:
        path: A file, `NAME.contract.json`; it may be a pipe.

    Returns:
        The complete contract as JSON text, for `Gate.register`. Text that is not JSON is returned unchanged, and
        `Gate.register` rejects it.

    Raises:
        FileError: A file cannot be read, is too large or not UTF-8; or a path leads out of the folder or not to a
            regular file.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong("path", "the path of a file", path)
    path = Path(path)
    try:
        return whole(path, _disk.read(path, regular=False))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {_disk.why(error)}") from error


def whole(path: Path, contract: str) -> str:
    """Returns a contract with the schemas that it names embedded, given its path and its text."""

    def member(name: str, source: str) -> str:
        if name in ("schema", "jtd"):
            return _disk.put_in(path.parent, name, source)
        if name == "resources":
            return _disk.each_member(source, lambda uri, text: _disk.put_in(path.parent, f"resources.{uri}", text))
        return source

    return _disk.each_member(contract, member)
