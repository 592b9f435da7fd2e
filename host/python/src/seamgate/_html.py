"""Renders results for notebooks. All text of a producer is escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

from ._types import Violation

# The most violations, and the most characters of a document, that are shown.
_MOST_ROWS = 20
_MOST_TEXT = 4000


def result_html(word: str, about: str, data: Any, violations: tuple[Violation, ...]) -> str:
    """Returns a result as HTML: its disposition, its violations, and the document."""
    parts = [f"<p><b>{_escaped(word)}</b> {_escaped(about)}</p>"]
    if violations:
        rows = [(each.path, each.keyword, each.message, each.received) for each in violations[:_MOST_ROWS]]
        parts.append(_table(("path", "keyword", "message", "received"), rows))
        if len(violations) > _MOST_ROWS:
            parts.append(f"<p>and {len(violations) - _MOST_ROWS} more</p>")
    if data is not None:
        parts.append(f"<pre>{_escaped(_shown(data))}</pre>")
    return "".join(parts)


def _shown(data: Any) -> str:
    try:
        return json.dumps(data, indent=2, ensure_ascii=False)
    except (TypeError, ValueError):
        return repr(data)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    named = "".join(f"<th>{_escaped(name)}</th>" for name in head)
    listed = "".join("<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{named}</tr></thead><tbody>{listed}</tbody></table>"


def _escaped(text: str) -> str:
    """Escapes a text for HTML, and truncates it."""
    cut = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…"
    seen = "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in cut)
    return html.escape(seen)
