"""Marks that stand for text which the model was not shown: docs/clean.md, "Text that is written back"."""

from __future__ import annotations

import re
from typing import Any

from values import strings

LEFT_OUT = re.compile(r"… \[\d+ (items?|lines?|parts?|bytes) left out\]")
KINDS = (
    "private_key|bearer_token|jwt|(aws|gcp|azure|stripe|openai|anthropic)_key|(github|gitlab|slack|service)_token"
    "|password|secret"
)
REDACTED = re.compile(rf"\[redacted:({KINDS})\]")
DEFANGED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\[:\]//|\[/\]/[A-Za-z0-9]|\[&\]#")
ESCAPED = re.compile(r"\\u\{([0-9a-f]{1,6})\}")
HIDDEN = [
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0xE0000, 0xE0FFF),
]  # fmt: skip


def hidden(code: int) -> bool:
    return any(first <= code <= last for first, last in HIDDEN)


def _has_mark(text: str, full: bool) -> bool:
    if LEFT_OUT.search(text):
        return True
    if not full:
        return False
    if REDACTED.search(text) or DEFANGED.search(text):
        return True
    return any(hidden(int(found[1], 16)) for found in ESCAPED.finditer(text))


def strictest(words: list[str]) -> str:
    return next((word for word in ("full", "mark", "none") if word in words), "full")


def clean_of(entry: dict[str, Any]) -> str:
    """What is done to the texts of the results of a tool."""
    result = entry.get("result", {})
    clean = result.get("clean", "full")
    if isinstance(clean, str):
        return clean
    labels = result.get("labels", ["untrusted"])
    return strictest([word for label, word in clean.items() if label in labels])


def marked(value: Any, tool: Any) -> bool:
    full = clean_of(tool.entry) != "none"
    names = list(_names(value))
    return any(
        _has_mark(text, full) for text in [*names, *(item for _, item in strings(value) if isinstance(item, str))]
    )


def _names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for item in value.values() for name in _names(item))]
    if isinstance(value, list):
        return [name for item in value for name in _names(item)]
    return []
