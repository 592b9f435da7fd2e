"""The native module as the engine of a gate."""

from __future__ import annotations

from . import _json, _native
from ._answers import _read, _record
from ._engine import Engine, Warm, _length
from ._faults import SeamgateFault
from ._limits import Limits, Usage
from ._raising import fault_of, limits_of, raising
from ._report import Report, held_natively
from ._requests import _bytes_of, _evidence, _finish_word, _lists
from ._types import ContractInfo, Disposition, Finish, LintWarning
from ._verdict import Used, Verdict

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._aliases import Contract, Evidence, Lists, Output
    from ._decisions import ProfileInfo
    from ._requests import Request


# The classes that the native module creates verdicts with. Their members are computed on first access.
_native.classes(Verdict, Report, Disposition, _json.parse)
held_natively(_native.Output())
setattr(Verdict, "usage", Used())  # noqa: B010


class NativeEngine(Engine):
    """A gate of the native module."""

    def __init__(self, component: bytes | None, limits: Limits, cache: bool) -> None:
        super().__init__(component, limits)
        self.native = raising(_native.Gate, component, limits_of(limits), cache)
        self.digest = self.native.digest
        self._once = _Once(self, self.native)
        self.begin()

    def compile(self, contract: str) -> ContractInfo:
        return _record(ContractInfo, _json.parse(raising(self.native.register, contract)))

    def compile_profile(self, profile: str) -> ProfileInfo:
        from ._decisions import ProfileInfo

        return _read(ProfileInfo, raising(self.native.register_profile, profile))

    def lint(self, contract: str) -> tuple[LintWarning, ...]:
        return _warnings(raising(self.native.lint, contract))

    def lint_profile(self, profile: str) -> tuple[LintWarning, ...]:
        return _warnings(raising(self.native.lint_profile, profile))

    def describe_profile(self, agent: str) -> str:
        return raising(self.native.describe_profile, agent)

    def refuse(self, contract: str) -> None:
        self.lint(contract)

    def once(self) -> Warm:
        return self._once

    def warm(self) -> Warm:
        return _Warm(self, self.native.instance())

    def judge(
        self,
        warm: _Once | _Warm,
        contract: Contract,
        output: Output,
        finish: Finish | str | None,
        lists: Lists | None,
        evidence: Evidence | None,
        *,
        fresh: bool,
    ) -> Verdict:
        """Judge an output directly if the native module accepts the arguments, and by a JSON request otherwise."""
        whole = self.agent_or_text(contract)
        if fresh or not whole.lstrip().startswith("{"):
            if isinstance(output, (bytearray, memoryview)):
                # Checked before the output is copied.
                self.small_enough(_length(output))
            output = _bytes_of(output)
            try:
                verdict: Verdict = warm.native.validate(
                    whole,
                    output,
                    _finish_word(finish),
                    None if lists is None else _lists(lists),
                    None if evidence is None else _evidence(evidence),
                )
                return verdict
            except _native.Fault as error:
                raise fault_of(error.args[0]) from None
            except (_native.Unfit, TypeError, UnicodeEncodeError):
                # Ill-formed text, a list of other values than text, or evidence that lacks a member.
                pass
        return self.by_request(warm, whole, output, finish, lists, evidence, fresh=fresh)

    def merge(self, reports: list[Report], lists: Lists | None, evidence: Evidence | None) -> Verdict:
        given = None if lists is None else _lists(lists)
        seen = None if evidence is None else _evidence(evidence)
        try:
            return self.native.merge([report.json for report in reports], given, seen)
        except _native.Fault as error:
            raise fault_of(error.args[0]) from None
        except (_native.Unfit, TypeError, UnicodeEncodeError):
            return super().merge(reports, lists, evidence)

    def validate_all(self, requests: Iterable[Request], threads: int | None) -> list[Verdict | SeamgateFault]:
        """Judge many outputs in threads of the native module, or in Python threads if it does not accept all of
        them."""
        requests = list(requests)
        asked = [
            (
                self.agent_or_text(request.contract),
                _bytes_of(request.output),
                _finish_word(request.finish),
                None if request.lists is None else _lists(request.lists),
                None if request.evidence is None else _evidence(request.evidence),
            )
            for request in requests
        ]
        try:
            made = raising(self.native.validate_all, asked, threads)
        except (_native.Unfit, TypeError, UnicodeEncodeError):
            return super().validate_all(requests, threads)
        return [fault_of(answer) if isinstance(answer, str) else answer for answer in made]


_UNKNOWN = Finish.UNKNOWN


class _Once:
    """Answers each call in a fresh instance."""

    is_fresh = True

    def __init__(self, engine: NativeEngine, native: Any) -> None:
        self._engine = engine
        self.native = native
        self._plain = native.plain

    def validate(
        self,
        contract: Contract,
        output: Output,
        finish: Finish | str | None,
        lists: Lists | None,
        evidence: Evidence | None,
    ) -> Verdict:
        if finish is _UNKNOWN and lists is None and evidence is None:
            # What most calls are.
            try:
                verdict: Verdict | None = self._plain(contract, output)
            except _native.Fault as error:
                raise fault_of(error.args[0]) from None
            if verdict is not None:
                return verdict
        return self._engine.judge(self, contract, output, finish, lists, evidence, fresh=self.is_fresh)

    def answer(
        self, request: str, size: int, agents: Iterable[str] = (), profiles: Iterable[str] = ()
    ) -> tuple[str, Usage]:
        json, fuel, memory, elapsed = raising(self.native.call, request)
        return json, Usage(fuel, elapsed, self._engine.digest, memory)

    def decide(self, name: str, agent: str, texts: list[str | None]) -> str:
        first, second, third = [*texts, None, None][:3]
        return str(raising(self.native.decide, name, agent, (first, second, third)))

    def close(self) -> None:
        pass


class _Warm(_Once):
    """Answers all calls in one instance."""

    is_fresh = False

    def close(self) -> None:
        self.native.close()


def _warnings(text: str) -> tuple[LintWarning, ...]:
    return tuple(_record(LintWarning, warning) for warning in _json.parse(text))
