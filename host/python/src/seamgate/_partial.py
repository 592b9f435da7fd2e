"""The partial document of an output that is still being streamed.

The component finds it: the text so far is judged by a contract that extracts documents as the agent's contract does,
accepts any document, and repairs truncated text. So the partial document is at the place where the verdict will find
it.
"""

from __future__ import annotations

import functools
import hashlib
import re

from . import _json
from ._faults import SeamgateFault

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._report import Report
    from ._verdict import Verdict

# The members of a contract that control how its document is extracted.
_READING = ("extract", "caps")

# A possibly incomplete escape at the end of a text, or half a surrogate pair.
_CUT = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?\\?(?:(?<=\\)u[0-9a-fA-F]{0,3})?\Z")


class View:
    """Reads incomplete documents.

    Args:
        judge: Judges a truncated output by the contract that `contract_of` returns.
    """

    def __init__(self, judge: Callable[[bytes], Verdict]) -> None:
        self._judge = judge

    def read(self, output: bytes) -> Any:
        """Returns the object or array in the output so far, or `None` if there is none."""
        try:
            verdict = self._judge(output)
        except SeamgateFault:
            # A limit was exceeded. The verdict will report it.
            return None
        report = verdict.report
        if report.output_json is None:
            return None
        found = _with_open_string(report, output)
        document = report.output if found is None else found
        return document if isinstance(document, (dict, list)) else None


@functools.lru_cache(maxsize=256)
def contract_of(contract: str) -> tuple[str, str]:
    """Returns the contract of a view, as JSON text, and the name of its agent.

    Args:
        contract: The contract of the agent, as JSON text. Empty if it is unknown.
    """
    members = {name: source for name, _, source in _json.members(contract)} if contract else {}
    reading = "".join(f'"{name}":{members[name]},' for name in _READING if name in members)
    agent = f"partial-{hashlib.sha256(reading.encode()).hexdigest()[:16]}"
    return f'{{"agent":"{agent}",{reading}"repair":"syntax","schema":true}}', agent


def _with_open_string(report: Report, output: bytes) -> Any:
    """Returns the document including its last, incomplete string. Returns `None` if there is no such string."""
    if not report.changes or report.changes[-1].span is None:
        return None
    dropped = next((change for change in reversed(report.changes) if change.kind == "dropped"), None)
    chosen = next((each for each in report.candidates if each.chosen), None)
    if dropped is None or dropped.span is None or chosen is None:
        return None
    begun = output[slice(*dropped.span)].decode("utf-8", "ignore")
    if '"' not in begun:
        return None
    # The validated text before and after the dropped part.
    before: list[str] = []
    after: list[str] = []
    at = chosen.span[0]
    for change in report.changes:
        if change.span is None:
            return None
        part = before if change.span[0] < dropped.span[0] else after
        if change is dropped:
            before.append(output[at : change.span[0]].decode("utf-8", "replace"))
        else:
            part.append(output[at : change.span[0]].decode("utf-8", "replace"))
            part.append(change.after)
        at = change.span[1]
    after.append(output[at : chosen.span[1]].decode("utf-8", "replace"))
    for string in (_CUT.sub("", begun), begun):
        try:
            return _json.parse(f'{"".join(before)}{string}"{"".join(after)}')
        except ValueError:
            continue
    return None
