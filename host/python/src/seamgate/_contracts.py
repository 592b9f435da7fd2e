"""Contracts on disk: `NAME.contract.json`, and the schemas that it names by relative paths."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePath

from . import _json
from ._faults import ContractError

# The longest contract or schema that is read, in bytes, and the longest contract with all that it names.
_MOST = 8 * 1024 * 1024
_MOST_WHOLE = 4 * _MOST

# How what a contract names is opened: a pipe is not waited for.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def read_contract(path: str | os.PathLike[str]) -> str:
    """Read one contract and put in the schemas that it names by path (`schema`, `jtd`, and each of `resources`).

    A path leads to a regular file in the contract's own folder or below, never out of it, by `..` or by a link. Each is
    read to 8 MiB, and all of them together to 32 MiB.

    Args:
        path: A file, `NAME.contract.json`; it may be a pipe.

    Returns:
        One whole JSON document, for `Gate.register`. Text that is no JSON comes back as it is, and is refused there.

    Raises:
        ContractError: A file cannot be read, is too large or not UTF-8, or a path leads out of the folder or to what is
            no file.
    """
    path = Path(path)
    try:
        text = _text(_bounded(path, regular=False))
        try:
            members = list(_json.members(text, values=False))
        except ValueError:
            return text
        return _written((name, _member(path.parent, name, value, source)) for name, value, source in members)
    except (OSError, ValueError) as error:
        raise ContractError(f"{path}: {_why(error)}") from error


def _member(folder: Path, name: str, value: object, source: str) -> str:
    if name in ("schema", "jtd"):
        return _put_in(folder, name, value, source)
    if name == "resources" and isinstance(value, dict):
        each = _json.members(source, values=False)
        return _written((uri, _put_in(folder, f"resources.{uri}", of, text)) for uri, of, text in each)
    return source


def _put_in(folder: Path, member: str, value: object, source: str) -> str:
    """A schema, or what the file holds that it names."""
    # Numbers are texts here too, but no string begins as they do.
    if not (isinstance(value, str) and source.startswith('"')):
        return source
    relative = PurePath(value)
    if not value or relative.anchor or ".." in relative.parts or "\0" in value:
        raise _reference(member, value, "is not a path of a file in the contract's own folder")
    try:
        path = (folder / relative).resolve(strict=True)
        if not path.is_relative_to(folder.resolve(strict=True)):
            raise _reference(member, value, "leads out of the contract's folder")
        text = _text(_bounded(path, regular=True)).lstrip("\ufeff").strip(" \t\n\r")
    except (OSError, RuntimeError, _Unread) as error:
        raise _reference(member, value, f"cannot be read: {_why(error)}") from error
    if not _json.is_json(text):
        raise _reference(member, value, "is not JSON")
    return text


def _written(members: Iterable[tuple[str, str]]) -> str:
    written = []
    length = 0
    for name, value in members:
        written.append(f"{_json.quoted(name)}:{value}")
        # It may name one file many times.
        length += len(written[-1])
        if length > _MOST_WHOLE:
            raise ValueError(f"has more than {_MOST_WHOLE} bytes with the files that it names")
    return "{" + ",".join(written) + "}"


class _Unread(ValueError):
    pass


def _bounded(path: Path, *, regular: bool) -> bytes:
    flags = _NO_WAIT if regular else 0
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        is_file = stat.S_ISREG(status.st_mode)
        if regular and not is_file:
            raise _Unread("must be a regular file")
        # One byte more than is taken shows that it is too large, or without end.
        data = b"" if is_file and status.st_size > _MOST else file.read(_MOST + 1)
        if len(data) > _MOST or (is_file and status.st_size > _MOST):
            size = status.st_size if is_file else f"more than {_MOST}"
            raise _Unread(f"has {size} bytes; the limit is {_MOST}")
        return data


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _Unread(f"is not UTF-8 at byte {error.start}") from None


def _reference(member: str, file: str, why: str) -> ValueError:
    return ValueError(f'`{member}` names "{file}", which {why}')


def _why(error: Exception) -> str:
    # Without the path, which the message has already.
    return (isinstance(error, OSError) and error.strerror) or str(error)
