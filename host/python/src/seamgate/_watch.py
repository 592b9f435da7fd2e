"""Observers of verdicts: the logger `seamgate`, and hooks. The logger never records the text of an output."""

from __future__ import annotations

import sys

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from typing import Any

    from ._faults import SeamgateFault
    from ._types import Violation
    from ._verdict import Verdict

    Hook = Callable[[Verdict | SeamgateFault], object]

# Hooks of all gates. `seamgate.otel` adds its own.
verdict_hooks: list[Hook] = []

# Context managers around each question of `ask`, by the name of its agent. Each yields a function that gets the result.
question_spans: list[Callable[[str], AbstractContextManager[Callable[[Any], object]]]] = []

_DEBUG = 10
_INFO = 20
_loggers: list[Any] = []


def _logger(level: int) -> Any:
    """Returns the logger if it is enabled. A program that never imported `logging` has configured none."""
    if not _loggers:
        logging = sys.modules.get("logging")
        if logging is None:
            return None
        _loggers.append(logging.getLogger("seamgate"))
    logger = _loggers[0]
    return logger if logger.isEnabledFor(level) else None


def is_watched() -> bool:
    """Returns whether anything observes every verdict."""
    if _loggers:
        # As `_logger` does, for each verdict.
        return bool(verdict_hooks) or _loggers[0].isEnabledFor(_DEBUG)
    return bool(verdict_hooks) or _logger(_DEBUG) is not None


def tell(made: Verdict | SeamgateFault, hook: Hook | None) -> None:
    """Reports a verdict, or the fault in place of one."""
    logger = _logger(_DEBUG)
    if logger is not None:
        _log_verdict(logger, made)
    for each in verdict_hooks:
        each(made)
    if hook is not None:
        hook(made)


def _log_verdict(logger: Any, made: Verdict | SeamgateFault) -> None:
    from ._faults import SeamgateFault

    if isinstance(made, SeamgateFault):
        logger.debug("fault: %s", made.code, extra={"seamgate": {"fault": made.code}})
        return
    report, usage = made.report, made.usage
    facts = {
        "agent": report.agent,
        "disposition": report.disposition.value,
        "keywords": sorted({violation.keyword for violation in report.violations}),
        "fuel": usage.fuel,
        "elapsed_seconds": usage.elapsed_seconds,
    }
    logger.debug(
        "%s: %s%s", report.agent, report.disposition.value, _keywords(facts["keywords"]), extra={"seamgate": facts}
    )


def log_attempt(agent: str, number: int, word: str, violations: Iterable[Violation], stop: str | None) -> None:
    """Logs an attempt of `ask`, at `INFO` unless the first one was accepted."""
    logger = _logger(_INFO)
    if logger is None:
        return
    keywords = sorted({violation.keyword for violation in violations})
    facts = {"agent": agent, "attempt": number, "disposition": word, "keywords": keywords, "stop": stop}
    then = "asks again" if stop is None else f"stops: {stop}"
    level = _DEBUG if stop == "accepted" and number == 1 else _INFO
    text = "%s: attempt %d is %s%s, %s"
    logger.log(level, text, agent, number, word, _keywords(keywords), then, extra={"seamgate": facts})


def _keywords(keywords: Any) -> str:
    return f" ({', '.join(keywords)})" if keywords else ""
