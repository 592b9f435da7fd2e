"""Contracts on disk: `NAME.contract.json`, and the schemas that it names by relative paths."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from . import _json
from ._faults import ContractError


def read_contract(path: str | os.PathLike[str]) -> str:
    """Read one contract and put in the schemas that it names by path (`schema`, `jtd`, and each of `resources`).

    A path leads to a file in the contract's own folder or below, never out of it, by `..` or by a link.

    Args:
        path: A file, `NAME.contract.json`.

    Returns:
        One whole JSON document, for `Gate.register`. Text that is no JSON comes back as it is, and is refused there.

    Raises:
        ContractError: A file cannot be read or is not UTF-8, or a path leads out of the folder.
    """
    path = Path(path)
    try:
        text = _read(path)
        try:
            members = list(_json.members(text, values=False))
        except ValueError:
            return text
        return _written([(name, _member(path.parent, name, value, source)) for name, value, source in members])
    except (OSError, ValueError) as error:
        raise ContractError(f"{path}: {_why(error)}") from error


def _member(folder: Path, name: str, value: object, source: str) -> str:
    if name in ("schema", "jtd"):
        return _put_in(folder, name, value, source)
    if name == "resources" and isinstance(value, dict):
        each = _json.members(source, values=False)
        return _written([(uri, _put_in(folder, f"resources.{uri}", of, text)) for uri, of, text in each])
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
        text = _read(path).lstrip("\ufeff").strip(" \t\n\r")
    except (OSError, RuntimeError, _NotUtf8) as error:
        raise _reference(member, value, f"cannot be read: {_why(error)}") from error
    if not _json.is_json(text):
        raise _reference(member, value, "is not JSON")
    return text


def _written(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{_json.quoted(name)}:{value}" for name, value in members) + "}"


class _NotUtf8(ValueError):
    pass


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise _NotUtf8(f"is not UTF-8: the byte at {error.start} is not") from None


def _reference(member: str, file: str, why: str) -> ValueError:
    return ValueError(f'`{member}` names "{file}", which {why}')


def _why(error: Exception) -> str:
    # Without the path, which the message has already.
    return (isinstance(error, OSError) and error.strerror) or str(error)
