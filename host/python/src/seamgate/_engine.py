"""The engine behind a gate: the parts that both backends share."""

from __future__ import annotations

import os

from . import _json
from ._answers import _answer
from ._faults import LoadError, SeamgateFault
from ._records import dataclass
from ._report import Report
from ._requests import (
    _bytes_of,
    _contract_text,
    _evidence,
    _finish_word,
    _is_path,
    _lists,
    _output_text,
    _request,
    _size,
)
from ._verdict import Verdict

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    from ._aliases import Contract, Evidence, Lists, Output
    from ._decisions import ProfileInfo
    from ._limits import Limits, Usage
    from ._models import Model
    from ._requests import Request
    from ._types import ContractInfo, Finish, LintWarning
else:
    Protocol = object

# The most bytes of a component. No other limit covers compiling it.
_MOST_BYTES = 32 * 1024 * 1024

# The first bytes of a component. A core module begins differently.
_PREAMBLE = b"\0asm\x0d\0\x01\0"

# The most bytes of a contract that the component accepts.
_MOST_CONTRACT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Registered:
    """A registered contract, and the type that is its schema, if any."""

    text: str
    info: ContractInfo
    model: Model | None = None


@dataclass(frozen=True)
class RegisteredProfile:
    """A registered profile."""

    text: str
    info: ProfileInfo


class Warm(Protocol):
    """Answers calls one after the other, either all in one instance or each in a fresh one."""

    def validate(
        self,
        contract: Contract,
        output: Output,
        finish: Finish | str | None,
        lists: Lists | None,
        evidence: Evidence | None,
    ) -> Verdict:
        """Judge an output."""

    def answer(
        self, request: str, size: int, agents: Iterable[str] = (), profiles: Iterable[str] = ()
    ) -> tuple[str, Usage]:
        """Answer a request that is JSON text, with the contracts and the profiles of these agents registered."""

    def decide(self, name: str, agent: str, texts: list[str | None]) -> str:
        """Have the kernel make a document."""

    def close(self) -> None:
        """Free the instance."""


class Engine:
    """A loaded component, its limits, and the contracts and profiles registered in it. Shared by both backends."""

    digest: str

    def __init__(self, component: bytes | None, limits: Limits) -> None:
        if component is not None and not component.startswith(_PREAMBLE):
            raise LoadError("not a WebAssembly component: it does not begin as one")
        if component is not None and len(component) > _MOST_BYTES:
            raise LoadError(f"the component has {len(component)} bytes; the limit is {_MOST_BYTES}")
        self.limits = limits
        self.is_builtin = component is None
        self.contracts: dict[str, Registered] = {}
        self.profiles: dict[str, RegisteredProfile] = {}
        self.baked: list[str] = []

    def begin(self) -> None:
        """Ask the component for the agents of its baked contracts.

        Raises:
            LoadError: The component does not answer.
        """
        if not self.is_builtin:
            try:
                self.baked = self.result("names")
            except SeamgateFault as fault:
                raise LoadError(f"the component does not answer: {fault.message}") from fault

    def names(self) -> list[str]:
        """Returns the agents that have a contract, sorted."""
        return sorted({*self.contracts, *self.baked})

    def agent_or_text(self, contract: Contract) -> str:
        """Returns the name of an agent unchanged, and any other contract as JSON text."""
        if type(contract) is str and (not _is_path(contract) or contract in self.contracts or contract in self.baked):
            return contract
        return _contract_text(contract)

    def compile(self, contract: str) -> ContractInfo:
        """Check a contract."""
        raise NotImplementedError

    def compile_profile(self, profile: str) -> ProfileInfo:
        """Check a profile."""
        raise NotImplementedError

    def lint(self, contract: str) -> tuple[LintWarning, ...]:
        """Returns warnings about likely mistakes in a contract."""
        raise NotImplementedError

    def lint_profile(self, profile: str) -> tuple[LintWarning, ...]:
        """Returns warnings about likely mistakes in a profile."""
        raise NotImplementedError

    def describe_profile(self, agent: str) -> str:
        """Returns text for an agent's prompt that says what it may do."""
        raise NotImplementedError

    def warm(self) -> Warm:
        """Returns an instance that can be used more than once."""
        raise NotImplementedError

    def once(self) -> Warm:
        """Returns an object that answers each call in a fresh instance."""
        raise NotImplementedError

    def merge(self, reports: list[Report], lists: Lists | None, evidence: Evidence | None) -> Verdict:
        """Merge reports, and judge the result."""
        agent = reports[0].agent
        members = [
            f'"op":"merge","agent":{_json.text(agent)}',
            f'"reports":[{",".join(report.json for report in reports)}]',
        ]
        if lists:
            members.append(f'"lists":{_json.text(_lists(lists))}')
        if evidence is not None:
            members.append(f'"evidence":{_evidence(evidence)}')
        request = "{" + ",".join(members) + "}"
        answer, usage = self.once().answer(request, self.small_enough(_size(request)), [agent])
        report = self.unless_fault(_answer(answer, "report"))["report"]
        try:
            return Verdict(Report.from_json(report), usage)
        except ValueError as error:
            raise SeamgateFault("trap", f"the component failed: invalid report: {error}") from error

    def validate_all(self, requests: Iterable[Request], threads: int | None) -> list[Verdict | SeamgateFault]:
        """Judge many outputs in parallel."""
        from concurrent.futures import ThreadPoolExecutor

        def judge(request: Request) -> Verdict | SeamgateFault:
            try:
                finish, lists, evidence = request.finish, request.lists, request.evidence
                return self.once().validate(request.contract, request.output, finish, lists, evidence)
            except SeamgateFault as fault:
                return fault

        pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="seamgate")
        try:
            return list(pool.map(judge, requests))
        finally:
            # If it is interrupted (Ctrl-C), no further verdict is started.
            pool.shutdown(cancel_futures=True)

    def refuse(self, contract: str) -> None:
        """Have the component report what is wrong with a contract."""
        raise NotImplementedError

    def result(self, op: str, agent: str | None = None) -> Any:
        """Returns the answer to a request about the registry."""
        request = _json.text({"op": op} if agent is None else {"op": op, "agent": agent})
        answer, _ = self.once().answer(request, 0, [] if agent is None else [agent])
        return self.unless_fault(_answer(answer, "result"))["result"]

    def unless_fault(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Returns an answer if it is not a fault.

        Raises:
            SeamgateFault: The answer is a fault.
        """
        fault = answer.get("fault")
        if fault is None:
            return answer
        detail = dict(fault["detail"])
        if fault["fault"] == "unknown_agent":
            # An instance knows only the contracts that were registered in it. The gate knows all of them.
            detail["agents"] = sorted({*detail.get("agents", []), *self.names()})
        raise SeamgateFault(fault["fault"], fault["message"], detail)

    def small_enough(self, size: int) -> int:
        """Returns a size if it is within the limit on outputs.

        Raises:
            SeamgateFault: The size exceeds the limit.
        """
        limit = self.limits.output_bytes
        if size > limit:
            message = f"the output has {size} bytes; the limit is {limit}"
            raise SeamgateFault("input_too_large", message, {"bytes": size, "limit": limit})
        return size

    def by_request(
        self,
        warm: Warm,
        contract: Contract,
        output: Output,
        finish: Finish | str | None,
        lists: Lists | None,
        evidence: Evidence | None,
        *,
        fresh: bool,
    ) -> Verdict:
        """Judge an output by a request that is JSON text. The component validates the whole request."""
        finish = _finish_word(finish)
        # Checked before the request is built: each character has at least one byte.
        self.small_enough(_length(output))
        text, invalid = _output_text(output)
        seen = None if evidence is None else _evidence(evidence)
        self.small_enough(_size(text) + (0 if seen is None else _size(seen)))
        agents: list[str] = []
        whole = None
        contract = self.agent_or_text(contract)
        if not contract.lstrip().startswith("{"):
            registered = self.contracts.get(contract)
            if fresh and registered is not None:
                # Either way the contract is compiled once, and passing it here saves a call.
                whole = registered.text
            else:
                agents = [contract]
        else:
            whole = _contract_text(contract)
            if _size(whole) > _MOST_CONTRACT or not _json.is_json(whole):
                self.refuse(whole)
        request = _request(agents, whole, text, finish, lists, seen, invalid)
        # Output and contract count as they appear in the request, with JSON escapes.
        answer, usage = warm.answer(request, _size(request), agents)
        parsed = _answer(answer, "report")
        if whole is not None and "fault" in parsed:
            # The contract is the likely cause. Checked on its own, its violations have paths within the contract,
            # not within the request.
            try:
                self.refuse(whole)
            except SeamgateFault as fault:
                if fault.code == "bad_contract":
                    raise
        report = self.unless_fault(parsed)["report"]
        try:
            return Verdict(Report._read(report, _bytes_of(output)), usage)
        except ValueError as error:
            raise SeamgateFault("trap", f"the component failed: invalid report: {error}") from error


def _length(output: Output) -> int:
    return output.nbytes if isinstance(output, memoryview) else len(_bytes_of(output))
