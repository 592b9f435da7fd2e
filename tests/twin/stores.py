"""Labels that outlive a run: docs/permissions.md, the section of that name."""

from __future__ import annotations

import re
from typing import Any

from values import Number, canonical, path_of, select

COMPUTED = {"empty", "partial", "sampled", "stale", "truncated"}
"""Labels that describe one result. Stores do not keep them."""


def key_form(value: Any) -> str | None:
    """The form that all spellings of a key share. None if the call concerns the whole store."""
    text = canonical(value).removeprefix("0") if isinstance(value, Number) else value
    if not isinstance(text, str) or not text or len(text.encode()) > 256 or not text.isascii():
        return None
    names = text.lower().replace("\\", "/").split("/")
    if ".." in names or re.search(r"[%$~#*?\[{\x00-\x1f\x7f]", text):
        return None
    names = [name.strip(" ").rstrip(" .") for name in names]
    return "/".join(name for name in names if name) or None


def keys_of(store: dict[str, Any], arguments: Any) -> list[str | None]:
    """The keys that a call concerns: `None` is the whole store."""
    if "key" not in store:
        return [None]
    found = [key_form(item) for _, item in select(arguments, path_of(store["key"]) or ())]
    return [None] if not found or None in found else sorted(set(map(str, found)))


def related(one: str | None, other: str | None) -> bool:
    """Whether two keys may name the same data: a path and its end are one key."""
    if one is None or other is None or one == other:
        return True
    long, short = (one, other) if len(one) > len(other) else (other, one)
    return long.endswith("/" + short)


def labels_at(stores: list[dict[str, Any]], name: str, keys: list[str | None]) -> set[str]:
    found: set[str] = set()
    for one in stores:
        if one["store"] == name and any(related(one.get("key"), key) for key in keys):
            found |= set(one["labels"])
    return found


def add_labels(
    stores: list[dict[str, Any]], name: str, keys: list[str | None], labels: list[str]
) -> list[dict[str, Any]]:
    """The stores after a write. Each key gets the labels of all keys that the call concerns, too."""
    labels = sorted((set(labels) | labels_at(stores, name, keys)) - COMPUTED)
    made = [dict(one) for one in stores]
    for key in keys:
        entry = next((one for one in made if one["store"] == name and one.get("key") == key), None)
        if entry is None and labels:
            entry = {"store": name, **({"key": key} if key is not None else {}), "labels": []}
            made.append(entry)
        if entry is not None:
            entry["labels"] = sorted(set(entry["labels"]) | set(labels))
    while len(made) > 256:
        counts: dict[str, int] = {}
        for one in made:
            counts[one["store"]] = counts.get(one["store"], 0) + ("key" in one)
        most = max(counts, key=lambda store: counts[store])
        union = sorted({label for one in made if one["store"] == most for label in one["labels"]})
        made = [one for one in made if one["store"] != most] + [{"store": most, "labels": union}]
    return sorted(made, key=lambda one: (one["store"], one.get("key", "")))
