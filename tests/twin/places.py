"""Paths below folders, and addresses at hosts: docs/profiles.md, `scope/*/below` and `scope/*/hosts`."""

from __future__ import annotations

import re
import unicodedata

INSIDE, OUTSIDE, UNCLEAR = "inside", "outside", "unclear"
"""`UNCLEAR` is outside for a scope, and leaves a case open: programs could read the value in different ways."""

EXPANDED, GLOB = set("{$%"), set("*?[")
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def folder(text: str) -> tuple[bool, list[str]] | None:
    """Whether a path is absolute, and its names. None if it has a form that is always outside."""
    names = [name for name in text.split("/") if name not in ("", ".")]
    if not text or ".." in names or "\\" in text or ":" in text or CONTROLS.search(text) or text.startswith("~"):
        return None
    return text.startswith("/"), names


def loose(name: str) -> str:
    """A name as a file system could read it that tells no letters apart."""
    return unicodedata.normalize("NFKC", name).casefold().rstrip(" .")


def below(text: str, folders: list[str]) -> str:
    path = folder(text)
    if path is None:
        return UNCLEAR
    unclear = False
    for other in folders:
        absolute, names = folder(other) or (False, [".."])
        if absolute == path[0] and path[1][: len(names)] == names:
            return INSIDE
        unclear |= any(GLOB & set(name) for name in path[1][: len(names)])
        if absolute != path[0] or list(map(loose, path[1][: len(names)])) == list(map(loose, names)):
            unclear = True
    if not path[0] and any(other.startswith("/") for other in folders):
        unclear = True
    return UNCLEAR if unclear or EXPANDED & set(text) else OUTSIDE


HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")


def host_of(text: str) -> str | None:
    """The host of an address in lower case. None if the address has a form that is always outside."""
    found = re.fullmatch(r"(?:(https?)://)?([A-Za-z0-9_.-]+)(?::[0-9]{1,5})?([/?#].*)?", text, re.ASCII | re.IGNORECASE)
    if not found or re.search(r"[\\\s\x00-\x1f\x7f]", text) or (found[3] and not found[1]):
        return None
    host = found[2].lower()
    if not HOST.fullmatch(host):
        return None
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", host.rsplit(".", 1)[-1]):
        numbers = host.split(".")
        if len(numbers) != 4 or not all(re.fullmatch(r"0|[1-9][0-9]{0,2}", one) and int(one) < 256 for one in numbers):
            return None
    return host


def at_host(text: str, hosts: list[str]) -> str:
    host = host_of(text)
    if host is None:
        return UNCLEAR
    for other in hosts:
        other = other.lower()
        if host == other or (other.startswith("*.") and host.endswith(other[1:])):
            return INSIDE
    return OUTSIDE
