"""Reads documents from disk, with the files that they name by relative paths."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath

from . import _json

# The most bytes of a document, and the most bytes of a document with all the files that it names.
_MOST = 8 * 1024 * 1024
_MOST_WHOLE = 4 * _MOST

# Flags for opening a file that a document names. Opening a pipe must not block.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def read(path: Path, *, regular: bool) -> str:
    """Returns the text of a file.

    Args:
        path: The file.
        regular: Whether it must be a regular file, and not a pipe.

    Raises:
        OSError: It cannot be read.
        ValueError: It is too large, not UTF-8, or not a regular file although it must be.
    """
    data = _bounded(path, regular=regular)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _Unread(f"is not UTF-8 at byte {error.start}") from None


def each_member(source: str, write: Callable[[str, str], str]) -> str:
    """Rewrites each member of a JSON object, given its name and its JSON text. Returns any other value unchanged."""
    try:
        members = list(_json.members(source, values=False))
    except ValueError:
        return source
    return "{" + _joined(f"{_json.quoted(name)}:{write(name, value)}" for name, _, value in members) + "}"


def each_item(source: str, write: Callable[[int, str], str]) -> str:
    """Rewrites each item of a JSON list, likewise."""
    try:
        items = list(_json.items(source))
    except ValueError:
        return source
    return "[" + _joined(write(index, item) for index, item in enumerate(items)) + "]"


def put_in(folder: Path, member: str, source: str, made: Callable[[Path, str], str] = lambda path, text: text) -> str:
    """Returns a value's JSON text, or the content of the file that the value names.

    Args:
        folder: The folder of the document that names it.
        member: The value's place in the document, for errors.
        source: The value.
        made: Converts the file, given its path and its JSON text, to the text that is embedded.

    Raises:
        ValueError: The path leads out of the folder, or names a file that cannot be read.
    """
    if not source.startswith('"'):
        return source
    value = str(_json.parse(source))
    relative = PurePath(value)
    if not value or relative.anchor or ".." in relative.parts or "\0" in value:
        raise _reference(member, value, "is not a path of a file in the folder of the file that names it")
    try:
        path = (folder / relative).resolve(strict=True)
        if not path.is_relative_to(folder.resolve(strict=True)):
            raise _reference(member, value, "leads out of the folder of the file that names it")
        text = read(path, regular=True).lstrip("\ufeff").strip(" \t\n\r")
    except (OSError, RuntimeError, _Unread) as error:
        raise _reference(member, value, f"cannot be read: {why(error)}") from error
    if not _json.is_json(text):
        raise _reference(member, value, "is not JSON")
    return made(path, text)


def why(error: Exception) -> str:
    """Returns the reason why a file cannot be read, without the path, which the message already has."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _joined(pieces: Iterable[str]) -> str:
    written = []
    length = 0
    for piece in pieces:
        written.append(piece)
        # A document may name one file many times.
        length += len(piece)
        if length > _MOST_WHOLE:
            raise ValueError(f"has more than {_MOST_WHOLE} bytes with the files that it names")
    return ",".join(written)


class _Unread(ValueError):
    pass


def _bounded(path: Path, *, regular: bool) -> bytes:
    flags = _NO_WAIT if regular else 0
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        status = os.fstat(file.fileno())
        is_file = stat.S_ISREG(status.st_mode)
        if regular and not is_file:
            raise _Unread("must be a regular file")
        # One byte more than the limit shows that the file is too large or endless.
        data = b"" if is_file and status.st_size > _MOST else file.read(_MOST + 1)
        if len(data) > _MOST or (is_file and status.st_size > _MOST):
            size = status.st_size if is_file else f"more than {_MOST}"
            raise _Unread(f"has {size} bytes; the limit is {_MOST}")
        return data


def _reference(member: str, file: str, why: str) -> ValueError:
    return ValueError(f'`{member}` names "{file}", which {why}')
