"""The harness step: ask a producer, judge its output, send back what is wrong, ask again up to a limit."""

from __future__ import annotations

import datetime
import hashlib
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _json
from ._aliases import Evidence, Lists, Output
from ._raising import unfit_is_a_fault
from ._report import Report
from ._requests import _bytes_of, _evidence, _lists
from ._types import Disposition, Finish
from ._verdict import Verdict, of_native

if TYPE_CHECKING:
    from ._native_engine import NativeEngine


@dataclass(frozen=True)
class Produced:
    """The output of a producer, and why the producer stopped."""

    output: Output
    finish: Finish | str = Finish.UNKNOWN


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        report: The verdict on all attempts together.
        attempts: How many there were.
        stop: Why there were no more: `accepted`; `partial`, which the caller allows; `refused`; `not_retryable`,
            another attempt cannot help; `repeated`, two attempts had the same violations; `limit`, the contract's
            `retry.limit`.
    """

    report: Report
    attempts: int
    stop: Literal["accepted", "partial", "refused", "not_retryable", "repeated", "limit"]

    @property
    def success(self) -> bool:
        """Whether the document may be used: it is accepted, or partial where the caller allows that."""
        return self.stop in ("accepted", "partial")

    @property
    def data(self) -> Any:
        """The validated document. None where it must not be used."""
        return self.report.output if self.success else None

    def __bool__(self) -> bool:
        return self.success


Produce = Callable[[str | None], "Produced | str | bytes"]
"""Asks the producer. It gets the feedback on the last output, and None at first."""

ProduceLater = Callable[[str | None], Awaitable["Produced | str | bytes"]]
"""The same for producers that are awaited."""

# The exit statuses that journals have, by why a run stopped.
_STATUS = {Disposition.ACCEPTED: 0, Disposition.PARTIAL: 3, Disposition.REFUSED: 4, Disposition.REJECTED: 1}


class Attempts:
    """The attempts of one run, and its journal."""

    def __init__(
        self,
        engine: NativeEngine,
        agent: str,
        lists: Lists | None,
        evidence: Evidence | None,
        allow_partial: bool,
        journal: str | os.PathLike[str] | None,
    ) -> None:
        given = None if lists is None else _lists(lists)
        seen = None if evidence is None else _evidence(evidence)
        self._native: Any = unfit_is_a_fault(engine.native.attempts, agent, given, seen, allow_partial)
        self._journal = None if journal is None else _Journal(Path(journal))
        self._asked = time.monotonic()
        if self._journal is not None:
            about = {"agent": agent, "contract": self._native.contract, "component": engine.digest}
            digests = {"prompt": _digest(b""), "lists": _digest(_json.text(given or {}).encode())}
            evident = {} if seen is None else {"evidence": _digest(seen.encode())}
            self._journal.write("begin", None, {**about, "command": ["seamgate.Gate.run"], **digests, **evident})

    def next(self) -> tuple[str | None, str | None]:
        """Why to stop, or nothing; and the feedback for the producer. What is decided is written down."""
        stop, feedback = self._native.next()
        count = self._native.count
        if self._journal is not None and count:
            decided: dict[str, Any] = {"decision": stop or "ask_again"}
            if stop is not None:
                decided["status"] = 0 if stop == "accepted" else _STATUS[self.report().disposition]
            self._journal.write("decision", count, decided)
        if self._journal is not None and stop is None:
            self._journal.write("start", count + 1, {})
        self._asked = time.monotonic()
        return stop, feedback

    def judge(self, produced: Produced | str | bytes) -> Verdict:
        """Judge the next output."""
        if not isinstance(produced, Produced):
            produced = Produced(produced)
        elapsed = time.monotonic() - self._asked
        output = _bytes_of(produced.output)
        finish = produced.finish.value if isinstance(produced.finish, Finish) else produced.finish
        verdict = of_native(unfit_is_a_fault(self._native.judge, output, finish), output)
        if self._journal is not None:
            self._journal.attempt(self._native.count, verdict, output, finish, elapsed)
        return verdict

    def report(self) -> Report:
        """The verdict on all attempts together."""
        return Report.from_json(self._native.report())

    def outcome(self, stop: Any) -> Outcome:
        """How the run ended."""
        return Outcome(self.report(), self._native.count, stop)


def run(attempts: Attempts, produce: Produce) -> Outcome:
    """Ask until there is a reason to stop."""
    while True:
        stop, feedback = attempts.next()
        if stop is not None:
            return attempts.outcome(stop)
        attempts.judge(produce(feedback))


async def run_async(attempts: Attempts, produce: ProduceLater) -> Outcome:
    """The same, where other tasks go on while the producer works, and while its output is judged."""
    import asyncio

    while True:
        stop, feedback = attempts.next()
        if stop is not None:
            return attempts.outcome(stop)
        produced = await produce(feedback)
        await asyncio.to_thread(attempts.judge, produced)


class _Journal:
    """One JSON line for each attempt and each decision (`schemas/journal.schema.json`), safe before the run goes on."""

    def __init__(self, path: Path) -> None:
        # What a run's producer wrote is nobody else's.
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        before = os.pread(self._file, os.fstat(self._file).st_size, 0) if os.fstat(self._file).st_size else b""
        runs = [_json.parse(line.decode()).get("run", 0) for line in before.splitlines() if line]
        self._run = 1 + max(runs, default=0)

    def __del__(self) -> None:
        os.close(self._file)

    def write(self, event: str, attempt: int | None, rest: dict[str, Any], report: str | None = None) -> None:
        """Append a line."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"event": event, "time": now, "run": self._run, **({} if attempt is None else {"attempt": attempt})}
        line = _json.written({**head, **rest})
        if report is not None:
            line = f'{line[:-1]},"report":{report}}}'
        os.write(self._file, line.encode() + b"\n")
        os.fsync(self._file)

    def attempt(self, count: int, verdict: Verdict, output: str | bytes, finish: str, elapsed: float) -> None:
        """Append the line of an attempt that has its verdict."""
        raw = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
        report, usage = verdict.report, verdict.usage
        word = finish if finish in {known.value for known in Finish} else Finish.UNKNOWN.value
        self.write(
            "attempt",
            count,
            {
                "contract": report.contract,
                "output": _digest(raw),
                "bytes": len(raw),
                "exit": 0,
                "elapsed_ms": int(elapsed * 1000),
                "finish": word,
                "disposition": report.disposition.value,
                "usage": {"fuel": usage.fuel, "memory": usage.memory, "component": usage.component},
            },
            _without_output(report.json),
        )


def _without_output(report: str) -> str:
    """A report whose `raw_output` is empty."""

    def of_error(name: str, source: str) -> str:
        return '""' if name == "raw_output" else source

    def of_report(name: str, source: str) -> str:
        return _each(source, of_error) if name == "error" and source != "null" else source

    return _each(report, of_report)


def _each(source: str, write: Callable[[str, str], str]) -> str:
    members = _json.members(source, values=False)
    return "{" + ",".join(f"{_json.quoted(name)}:{write(name, text)}" for name, _, text in members) + "}"


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
