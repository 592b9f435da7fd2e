"""The package `wasmtime` as the engine of a gate: for platforms without a native module."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from wasmtime.component import ExportIndex

from ._aliases import Contract, Evidence, Lists, Output
from ._answers import _read, _record
from ._decisions import ProfileInfo
from ._engine import Engine, Warm
from ._faults import SeamgateFault
from ._limits import Limits, Usage
from ._requests import _bytes_of, _size
from ._sandbox import KERNEL, PROFILES, Live, Sandbox, Stopped
from ._types import ContractInfo, Finish, LintWarning
from ._verdict import Verdict

T = TypeVar("T")


class WasmtimeEngine(Engine):
    """A component that the package `wasmtime` runs."""

    def __init__(self, component: bytes | None, limits: Limits, cache: bool) -> None:
        super().__init__(component, limits)
        self.sandbox = Sandbox(component, limits, cache)
        self.digest = self.sandbox.digest
        self.begin()

    def compile(self, contract: str) -> ContractInfo:
        info, _ = _Instance(self).run(lambda live: self.give(live, contract), 0)
        return info

    def compile_profile(self, profile: str) -> ProfileInfo:
        info, _ = _Instance(self).run(lambda live: self.give_profile(live, profile), 0)
        return info

    def lint(self, contract: str) -> tuple[LintWarning, ...]:
        return self._linted(self.sandbox.lint, contract)

    def lint_profile(self, profile: str) -> tuple[LintWarning, ...]:
        return self._linted(self.sandbox.harness(PROFILES, "lint"), profile)

    def _linted(self, function: ExportIndex, text: str) -> tuple[LintWarning, ...]:
        def linted(live: Live) -> Any:
            live.grant(self.limits.fuel_for_contract(_size(text)), "compiling")
            return _typed(live, function, text)

        warnings, _ = _Instance(self).run(linted, 0)
        return tuple(_record(LintWarning, warning) for warning in warnings)

    def describe_profile(self, agent: str) -> str:
        function = self.sandbox.harness(PROFILES, "describe")
        return str(_Instance(self).by_profile(agent, 0, lambda live: _typed(live, function, agent)))

    def refuse(self, contract: str) -> None:
        _Instance(self).run(lambda live: self._register(live, contract), _size(contract))

    def once(self) -> Warm:
        return _Instance(self, once=True)

    def warm(self) -> Warm:
        return _Instance(self)

    def _register(self, live: Live, text: str) -> ContractInfo:
        return _record(ContractInfo, _typed(live, self.sandbox.register, text))

    def give(self, live: Live, text: str) -> ContractInfo:
        """Register a contract in an instance, within the budget for contracts."""
        live.grant(self.limits.fuel_for_contract(_size(text)), "compiling")
        return self._register(live, text)

    def give_profile(self, live: Live, text: str) -> ProfileInfo:
        """Register a profile in an instance, within the budget for contracts."""
        live.grant(self.limits.fuel_for_contract(_size(text)), "compiling")
        return _read(ProfileInfo, _typed(live, self.sandbox.harness(PROFILES, "register"), text))


class _Instance:
    """An instance, which is created on first use. After a fault stops it, the next call starts a fresh one.

    With `once`, every call starts a fresh instance, nothing is kept, and any number of threads may call.
    """

    def __init__(self, engine: WasmtimeEngine, *, once: bool = False) -> None:
        self._engine = engine
        self._once = once
        self._live: Live | None = None

    def close(self) -> None:
        self._live = None

    def validate(
        self,
        contract: Contract,
        output: Output,
        finish: Finish | str | None,
        lists: Lists | None,
        evidence: Evidence | None,
    ) -> Verdict:
        if not isinstance(output, (str, bytes, bytearray, memoryview)):
            _bytes_of(output)
        return self._engine.by_request(self, contract, output, finish, lists, evidence, fresh=self._once)

    def answer(
        self, request: str, size: int, agents: Iterable[str] = (), profiles: Iterable[str] = ()
    ) -> tuple[str, Usage]:
        function = self._engine.sandbox.call
        return self.run(lambda live: live.call(function, request), size, agents, profiles)

    def decide(self, name: str, agent: str, texts: list[str | None]) -> str:
        size = self._engine.small_enough(sum(0 if text is None else _size(text) for text in texts))
        function = self._engine.sandbox.harness(KERNEL, name)
        text = self.by_profile(agent, size, lambda live: _typed(live, function, agent, *texts))
        if not isinstance(text, str):
            raise SeamgateFault("trap", "the component failed: invalid answer: no text")
        return text

    def by_profile(self, agent: str, size: int, operation: Callable[[Live], Any]) -> Any:
        """Run an operation in an instance that has the profile of an agent."""
        try:
            value, _ = self.run(operation, size, profiles=[agent])
        except SeamgateFault as fault:
            if fault.code == "unknown_agent":
                # An instance knows only the profiles that were registered in it. The gate knows all of them.
                fault.detail["agents"] = sorted({*fault.detail.get("agents", []), *self._engine.profiles})
            raise
        return value

    def run(
        self, operation: Callable[[Live], T], size: int, agents: Iterable[str] = (), profiles: Iterable[str] = ()
    ) -> tuple[T, Usage]:
        """Run an operation in the instance, or in a fresh one if there is none.

        The contracts and profiles of these agents that the gate has are registered in it first.
        """
        engine, sandbox = self._engine, self._engine.sandbox
        contracts = {agent: engine.contracts[agent].text for agent in agents if agent in engine.contracts}
        permits = {agent: engine.profiles[agent].text for agent in profiles if agent in engine.profiles}

        def whole(live: Live) -> T:
            lacking = [agent for agent in contracts if agent not in live.agents]
            for agent in lacking:
                engine.give(live, contracts[agent])
                live.agents.add(agent)
            unknown = [agent for agent in permits if agent not in live.profiles]
            for agent in unknown:
                engine.give_profile(live, permits[agent])
                live.profiles.add(agent)
            if lacking or unknown:
                live.grant(live.fuel)
            return operation(live)

        def fuel_for(given: set[str]) -> int:
            new = (_size(contract) for agent, contract in contracts.items() if agent not in given)
            return sandbox.limits.fuel_for(size + sum(new))

        # An instance is not used again after it was stopped or an exception was raised.
        live, self._live = self._live, None
        if live is not None:
            fuel = fuel_for(live.agents)
            try:
                value, usage, self._live = sandbox.attempt(whole, fuel, live)
                return value, usage
            except Stopped as stopped:
                if stopped.code != "trap":
                    raise sandbox.fault(stopped) from None
                # Most likely, earlier outputs have left too little memory. A fresh instance has all of it.
        value, usage, fresh = sandbox.run(whole, fuel_for(set()))
        if not self._once:
            self._live = fresh
        return value, usage


def _typed(live: Live, function: ExportIndex, *texts: str | None) -> Any:
    """Returns the result of a function whose arguments are texts, which need not be JSON."""
    result = live.call(function, *texts)
    # Wasmtime for Python tags a result as ok or error only if both are records.
    value = _plain(getattr(result, "payload", result))
    if not (isinstance(value, dict) and "code" in value and "agents" in value):
        return value
    detail = {name: value[name] for name in ("violations", "agents") if value[name]}
    raise SeamgateFault(value["code"].replace("-", "_"), value["message"], detail)


def _plain(value: Any) -> Any:
    """Converts a value of the component model to its JSON form."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if type(value).__name__ == "Record":
        members = {name.replace("-", "_"): _plain(item) for name, item in vars(value).items()}
        # A span is a pair in JSON.
        return list(members.values()) if members.keys() == {"start", "end"} else members
    return value
