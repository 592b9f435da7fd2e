"""Reads profiles from disk: `NAME.profile.json`, the files that it names, and `NAME.lock.json` beside it."""

from __future__ import annotations

import os
from pathlib import Path

from . import _contracts, _disk, _json
from ._arguments import wrong
from ._faults import FileError

_END = ".profile.json"


def read_profile(path: str | os.PathLike[str]) -> str:
    """Read one profile and embed the files that it names by path, and the definitions of its tools from the lock file.

    The lock file of `NAME.profile.json` is `NAME.lock.json` in the same folder (`schemas/lock.schema.json`). A tool
    that is not in the lock file has no definition, which `Gate.lint_profile` reports. The rules of `read_contract`
    apply to paths and sizes.

    Args:
        path: A file, `NAME.profile.json`; it may be a pipe.

    Returns:
        The complete profile as JSON text, for `Gate.register_profile`. Text that is not JSON is returned unchanged, and
        `Gate.register_profile` rejects it.

    Raises:
        FileError: A file cannot be read, is too large or not UTF-8; a path leads out of the folder or not to a regular
            file; or the lock file is invalid.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong("path", "the path of a file", path)
    path = Path(path)
    try:
        profile = _disk.read(path, regular=False)
        return _whole(path.parent, profile, _lock(path))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {_disk.why(error)}") from error


_Lock = dict[tuple[str, str], str]
"""The JSON text of each definition, by the names of its server and its tool. The host's own tools have an empty server
name."""


def _lock(profile: Path) -> _Lock:
    """Reads the definitions in the lock file, which the servers listed when a person last reviewed them."""
    if not profile.name.endswith(_END):
        return {}
    path = profile.with_name(profile.name[: -len(_END)] + ".lock.json")
    try:
        return _definitions(_disk.read(path, regular=True))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {_disk.why(error)}") from error


def _definitions(lock: str) -> _Lock:
    definitions: _Lock = {}
    members = _members(lock, "a lock file", {"$schema", "servers"}, {"servers"})
    if "$schema" in members and not members["$schema"].startswith('"'):
        raise ValueError("`$schema` must be a string")
    for server, value in _json_members(members["servers"], "`servers`"):
        where = f"`servers.{server}`"
        listed = _members(value, where, {"tools"}, {"tools"})["tools"]
        try:
            tools = list(_json.items(listed))
        except ValueError as error:
            raise ValueError(f"{where}: `tools` must be a list: {error}") from None
        for tool in tools:
            name = _name(tool)
            if name is not None:
                # The first definition with a name counts.
                definitions.setdefault((server, name), tool)
    return definitions


def _json_members(source: str, what: str) -> list[tuple[str, str]]:
    try:
        return [(name, text) for name, _, text in _json.members(source, values=False)]
    except ValueError as error:
        raise ValueError(f"{what} must be an object: {error}") from None


def _members(source: str, what: str, known: set[str], required: set[str]) -> dict[str, str]:
    listed = _json_members(source, what)
    members = dict(listed)
    if len(members) < len(listed) or not required <= members.keys() <= known:
        raise ValueError(f"{what} has the members {', '.join(sorted(known))}")
    return members


def _name(source: str, member: str = "name") -> str | None:
    """Returns a string member of an object: empty if it is missing, None if it or the object has another type."""
    try:
        members = {name: (value, text) for name, value, text in _json.members(source, values=False)}
    except ValueError:
        return None
    value, text = members.get(member, ("", '"'))
    # Numbers are read as text here, but do not begin with a quote.
    return str(value) if text.startswith('"') else None


def _matching(lock: _Lock, server: str, pattern: str) -> list[str]:
    """Returns the definitions of a server's tools that a pattern matches, in which `*` matches any text."""
    return [text for (of, name), text in lock.items() if of == server and _matches(pattern, name)]


def _matches(pattern: str, name: str) -> bool:
    """Returns whether a pattern matches a whole name, in time linear in both."""
    first, *parts = pattern.split("*")
    if not parts:
        return name == pattern
    *parts, last = parts
    if not name.startswith(first):
        return False
    at = len(first)
    for part in parts:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(name) - at >= len(last) and name.endswith(last)


def _whole(folder: Path, profile: str, lock: _Lock) -> str:
    def schema(source: str, where: str) -> str:
        """Embeds the schema of an object whose member `schema` may be a path."""
        return _disk.each_member(
            source, lambda name, text: _disk.put_in(folder, f"{where}.{name}", text) if name == "schema" else text
        )

    def final(name: str, source: str) -> str:
        return _disk.put_in(folder, "final.contract", source, _contracts.whole) if name == "contract" else source

    def tool(index: int, source: str) -> str:
        def member(name: str, text: str) -> str:
            if name == "arguments":
                return _disk.put_in(folder, f"tools[{index}].arguments", text)
            return schema(text, f"tools[{index}].result") if name == "result" else text

        whole = _disk.each_member(source, member)
        server, name = _name(source, "server"), _name(source)
        own = {"definition", "definitions"}
        if server is None or name is None or any(name in own for name, _, _ in _json.members(source, values=False)):
            return whole
        if "*" in name:
            return f'{{"definitions":[{",".join(_matching(lock, server, name))}],{whole[1:]}'
        definition = lock.get((server, name))
        return whole if definition is None else f'{{"definition":{definition},{whole[1:]}'

    def member(name: str, source: str) -> str:
        if name == "task":
            return schema(source, "task")
        if name == "context":
            return _disk.each_item(source, lambda index, text: schema(text, f"context[{index}]"))
        if name == "final":
            return _disk.each_member(source, final)
        return _disk.each_item(source, tool) if name == "tools" else source

    return _disk.each_member(profile, member)
