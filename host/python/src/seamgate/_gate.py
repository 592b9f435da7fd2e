"""The gate: contracts and outputs in, verdicts out, each from a fresh sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from wasmtime.component import ExportIndex

from . import _json
from ._contracts import read_contract
from ._faults import LoadError, SeamgateFault
from ._limits import Limits, Usage
from ._report import Report, record
from ._sandbox import Live, Sandbox, Stopped
from ._types import Confidence, ContractInfo, Finish, LintWarning

T = TypeVar("T")

Contract = str | Mapping[str, Any] | os.PathLike[str]
"""A contract: its JSON text, the same as a dict, or (as a `pathlib.Path`) a file `NAME.contract.json`."""

Output = str | bytes | bytearray | memoryview
"""The raw text that an agent produced, prose and fences included; or its bytes, of which nobody knows whether they are
UTF-8."""

Lists = Mapping[str, Iterable[str]]
"""The lists that a contract's `allow` names. One that is missing is a fault, unless its rule is optional."""


@dataclass(frozen=True)
class Observation:
    """What an agent saw of one result, for claims to cite. The defaults allow least.

    Attributes:
        id: What claims cite it by: 1 to 256 bytes, and no other has it.
        text: What the agent saw of it, character for character: at most 1 MiB.
        kinds: The kinds of evidence that it is.
        labels: What is known of it: `stale`, `sampled`, `partial`, `truncated` and `empty` have a meaning.
        confidence: The most that its source allows a claim to state.
        complete: Whether all of the result was seen, so that what is not in it is not there.
        limitations: Codes of what limits it. Each claim that cites it must repeat them.
    """

    id: str
    text: str
    kinds: Iterable[str] = ()
    labels: Iterable[str] = ()
    confidence: Confidence | str = Confidence.LOW
    complete: bool = False
    limitations: Iterable[str] = ()


Evidence = Iterable[Observation | Mapping[str, Any]]
"""What an agent saw, for claims to cite: observations, or the same as dicts; at most 1,000 of 4 MiB in all."""


# The longest contract that the component takes, in bytes.
_MOST_CONTRACT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """The answer to a request that is JSON text, and what it took.

    Attributes:
        json: One line of JSON text: `{"id":…,"report":{…}}`, `{"id":…,"result":…}` or `{"id":…,"fault":{…}}`.
        usage: What it took.
    """

    json: str
    usage: Usage


@dataclass(frozen=True)
class Verdict:
    """The verdict on one output, and what it took.

    Attributes:
        report: The verdict.
        usage: What it took. Beside the report: reports are the same bytes everywhere, times are not.
    """

    report: Report
    usage: Usage


@dataclass(frozen=True)
class Request:
    """One output to judge, for `Gate.validate_all`: what `Gate.validate` takes.

    Attributes:
        contract: The name of an agent whose contract is registered, or a contract.
        output: What the agent produced.
        finish: Why it stopped.
        lists: Lists that the contract's `allow` names.
        evidence: What the agent saw, where the contract has `evidence`.
    """

    contract: Contract
    output: Output
    finish: Finish | str = Finish.UNKNOWN
    lists: Lists | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True)
class _Registered:
    text: str
    info: ContractInfo


class Gate:
    """Judges outputs, each in a fresh instance of a component. Use one from as many threads as you like.

    To make one takes two seconds where its component is compiled for the first time, some milliseconds from then on.

    Args:
        component: What runs in the sandbox: the bytes or the path of a component, as `seamgate bake` makes them.
            Default: the built-in one.
        limits: What one call may use.
        cache: Whether the machine code that is made of the component is kept in the user's cache folder, private to
            them, and loaded from there. Not on Windows.

    Raises:
        LoadError: The component is none, too large, imports anything, is not a validator, or does not start.
    """

    def __init__(
        self,
        *,
        component: bytes | str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        cache: bool = True,
    ) -> None:
        if isinstance(component, (str, os.PathLike)):
            try:
                with open(component, "rb") as file:
                    component = file.read()
            except OSError as error:
                raise LoadError(f"{os.fspath(component)!s}: {error.strerror or error}") from error
        self._sandbox = Sandbox(component, limits or Limits(), cache)
        self._contracts: dict[str, _Registered] = {}
        self._baked: list[str] = []
        if not self._sandbox.is_builtin:
            try:
                self._baked = self._result("names")
            except SeamgateFault as fault:
                raise LoadError(f"the component does not answer: {fault.message}") from fault

    @property
    def limits(self) -> Limits:
        """What one call may use."""
        return self._sandbox.limits

    def register(self, contract: Contract) -> ContractInfo:
        """Check a contract and keep it: outputs of its agent are judged by it from now on.

        Args:
            contract: Its JSON text, the same as a dict, or a `pathlib.Path`.

        Raises:
            SeamgateFault: `bad_contract`, also where the agent has another contract already; `sealed` where the
                component takes none; or a limit was passed.
            ContractError: A file cannot be read.
        """
        text = _contract_text(contract)
        info, _ = self.instance()._run(lambda live: self._compile(live, text), 0)
        held = self._contracts.setdefault(info.agent, _Registered(text, info))
        if held.info.contract != info.contract:
            message = f'the agent "{info.agent}" already has another contract: {held.info.contract}'
            raise SeamgateFault("bad_contract", message)
        return info

    def has(self, agent: str) -> bool:
        """Whether a contract applies to an agent's outputs, registered here or baked into the component."""
        return agent in self._contracts or agent in self._baked

    def names(self) -> list[str]:
        """The agents that have a contract, in ascending order."""
        return sorted({*self._contracts, *self._baked})

    def contract(self, agent: str) -> ContractInfo:
        """Which contract applies to an agent's outputs.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        registered = self._contracts.get(agent)
        if registered is not None:
            return registered.info
        return _record(ContractInfo, self._result("contract", agent))

    def describe(self, agent: str) -> str:
        """Text for an agent's prompt: what its output must be.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        return str(self._result("describe", agent))

    def lint(self, contract: Contract) -> tuple[LintWarning, ...]:
        """What is likely a mistake in a contract, which need not be registered.

        Raises:
            SeamgateFault: `bad_contract`; or a limit was passed.
            ContractError: A file cannot be read.
        """
        text = _contract_text(contract)

        def linted(live: Live) -> Any:
            live.grant(self._sandbox.limits.fuel_for_contract(_size(text)))
            return _typed(live, self._sandbox.lint, text)

        warnings, _ = self.instance()._run(linted, 0)
        return tuple(_record(LintWarning, warning) for warning in warnings)

    def validate(
        self,
        contract: Contract,
        output: Output,
        *,
        finish: Finish | str = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Judge one output in a fresh instance.

        Args:
            contract: The name of an agent whose contract is registered; or a contract, which need not be: JSON text
                that begins with `{`, a dict, or a `pathlib.Path`.
            output: What the agent produced. Where it is not well-formed (bytes that are not UTF-8, half a surrogate
                pair in a str), it is rejected with the place.
            finish: Why the producer stopped: `stop`, `length`, `refusal`, `content_filter`, `tool_call`, `unknown`, or
                its API's own word for one of these (`end_turn`, `MAX_TOKENS` …).
            lists: Lists that the contract's `allow` names: all but those of optional rules.
            evidence: What the agent saw. Where the contract has `evidence`, none is a fault, and `[]` is not.

        Raises:
            SeamgateFault: There is no verdict: for one, a list is missing (`bad_request`). A rejected output is none:
                it is a report.
            ContractError: A file cannot be read.
        """
        return self.instance()._validate(contract, output, finish, lists, evidence, fresh=True)

    def validate_all(self, requests: Iterable[Request], *, threads: int | None = None) -> list[Verdict | SeamgateFault]:
        """Judge many outputs, each in a fresh instance, several at once.

        Args:
            requests: The outputs.
            threads: How many at once. Default: as many as there are processors.

        Returns:
            For each request, in their order, its verdict, or the fault in place of one.
        """

        def judge(request: Request) -> Verdict | SeamgateFault:
            try:
                return self.validate(
                    request.contract,
                    request.output,
                    finish=request.finish,
                    lists=request.lists,
                    evidence=request.evidence,
                )
            except SeamgateFault as fault:
                return fault

        pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="seamgate")
        try:
            return list(pool.map(judge, requests))
        finally:
            # Where it ends early (Ctrl-C), what has not begun is not begun.
            pool.shutdown(cancel_futures=True)

    def call(self, request_json: str) -> Answer:
        """Answer one request that is JSON text (`schemas/request.schema.json`) in a fresh instance.

        Args:
            request_json: The request, which counts as the output does for its size.

        Returns:
            The answer, and what it took.

        Raises:
            SeamgateFault: A limit was passed; or `bad_request` where the text is not Unicode. Other faults are answers.
        """
        size = self._small_enough(len(request_json))
        try:
            size = self._small_enough(_size(request_json))
        except UnicodeEncodeError as error:
            message = f"request: half a surrogate pair at character {error.start}: it is no text"
            raise SeamgateFault("bad_request", message) from None
        agents = self._agents_for(request_json)
        json, usage = self.instance()._run(lambda live: live.call(self._sandbox.call, request_json), size, agents)
        if not self._sandbox.is_builtin:
            _answer(json, "report", "result")
        return Answer(str(json), usage)

    def instance(self) -> Instance:
        """An instance to use more than once, for callers who trust their producers alike: what one output did to it,
        the next one finds. The reports are the same. One thread at a time may use it."""
        return Instance(self)

    def _register(self, live: Live, text: str) -> ContractInfo:
        return _record(ContractInfo, _typed(live, self._sandbox.register, text))

    def _compile(self, live: Live, text: str) -> ContractInfo:
        """Register a contract within the budget that contracts have."""
        live.grant(self._sandbox.limits.fuel_for_contract(_size(text)))
        return self._register(live, text)

    def _result(self, op: str, agent: str | None = None) -> Any:
        """The answer to a request about the registry."""
        request = _json.text({"op": op} if agent is None else {"op": op, "agent": agent})
        agents = [] if agent is None else [agent]
        answer, _ = self.instance()._run(lambda live: live.call(self._sandbox.call, request), 0, agents)
        return self._unless_fault(_answer(answer, "result"))["result"]

    def _unless_fault(self, answer: dict[str, Any]) -> dict[str, Any]:
        fault = answer.get("fault")
        if fault is None:
            return answer
        detail = dict(fault["detail"])
        if fault["fault"] == "unknown_agent":
            # An instance knows the contracts it was given; the gate knows them all.
            detail["agents"] = sorted({*detail.get("agents", []), *self.names()})
        raise SeamgateFault(fault["fault"], fault["message"], detail)

    def _small_enough(self, size: int) -> int:
        limit = self.limits.output_bytes
        if size > limit:
            message = f"the output has {size} bytes; the limit is {limit}"
            raise SeamgateFault("input_too_large", message, {"bytes": size, "limit": limit})
        return size

    def _agents_for(self, request: str) -> list[str]:
        """The agents whose contracts an instance needs to answer a request: the one it names, or, where it asks for
        something else than a verdict, all. The component reads the request itself, and says what is wrong."""
        if not self._contracts:
            return []
        try:
            named = _json.parse(request)
        except ValueError:
            return []
        if not isinstance(named, dict):
            return []
        if named.get("op") is not None:
            return sorted(self._contracts)
        agent = named.get("agent")
        return [agent] if isinstance(agent, str) and agent in self._contracts else []


class Instance:
    """An instance that is used more than once; see `Gate.instance`. After a fault that stopped it, the next call begins
    with a fresh one."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._live: Live | None = None

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self._live = None

    def validate(
        self,
        contract: Contract,
        output: Output,
        *,
        finish: Finish | str = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Judge one output. A registered contract is compiled once.

        Args and errors are those of `Gate.validate`.
        """
        return self._validate(contract, output, finish, lists, evidence, fresh=False)

    def _validate(
        self,
        contract: Contract,
        output: Output,
        finish: Finish | str,
        lists: Lists | None,
        evidence: Evidence | None,
        *,
        fresh: bool,
    ) -> Verdict:
        gate = self._gate
        text, invalid = self._text(output)
        seen = None if evidence is None else _json.text([_observation(observation) for observation in evidence])
        gate._small_enough(_size(text) + (0 if seen is None else _size(seen)))
        agents: list[str] = []
        whole = None
        if isinstance(contract, str) and not contract.lstrip().startswith("{"):
            registered = gate._contracts.get(contract)
            if fresh and registered is not None:
                # It is compiled once in either way, and so with one call in place of two.
                whole = registered.text
            else:
                agents = [contract]
        else:
            whole = _contract_text(contract)
            if _size(whole) > _MOST_CONTRACT or not _json.is_json(whole):
                self._refuse(whole)
        request = _request(agents, whole, text, finish, lists, seen, invalid)
        # Output and contract count as they stand in the request, with what must be escaped in JSON.
        answer, usage = self._run(lambda live: live.call(gate._sandbox.call, request), _size(request), agents)
        parsed = _answer(answer, "report")
        if whole is not None and "fault" in parsed:
            # It is likely the contract, and the request has a copy of it: asked alone, its places are its own.
            try:
                self._refuse(whole)
            except SeamgateFault as fault:
                if fault.code == "bad_contract":
                    raise
        report = gate._unless_fault(parsed)["report"]
        try:
            return Verdict(Report.from_json(report, text), usage)
        except ValueError as error:
            raise SeamgateFault("trap", f"the component failed: invalid report: {error}") from error

    def _refuse(self, contract: str) -> None:
        """Have the component say what is wrong with a contract."""
        self._run(lambda live: self._gate._register(live, contract), _size(contract))

    def _text(self, output: Output) -> tuple[str, int | None]:
        """The output as text, and where it first is not well-formed."""
        if not isinstance(output, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"an output must be str or bytes, not {type(output).__name__}")
        # Before anything is made of it: each character has at least a byte.
        self._gate._small_enough(output.nbytes if isinstance(output, memoryview) else len(output))
        if isinstance(output, str):
            try:
                output.encode()
                return output, None
            except UnicodeEncodeError:
                output = output.encode("utf-8", "surrogatepass")
        content = bytes(output)
        try:
            return content.decode(), None
        except UnicodeDecodeError as error:
            return content.decode(errors="replace"), error.start

    def _run(self, operation: Callable[[Live], T], size: int, agents: Iterable[str] = ()) -> tuple[T, Usage]:
        """Run an operation in the instance, or a fresh one where there is none.

        It is given the contracts of these agents first, as far as the gate has them.
        """
        gate, sandbox = self._gate, self._gate._sandbox
        contracts = {agent: gate._contracts[agent].text for agent in agents if agent in gate._contracts}

        def whole(live: Live) -> T:
            lacking = [agent for agent in contracts if agent not in live.agents]
            for agent in lacking:
                gate._compile(live, contracts[agent])
                live.agents.add(agent)
            if lacking:
                live.grant(live.fuel)
            return operation(live)

        def fuel_for(given: set[str]) -> int:
            new = (_size(contract) for agent, contract in contracts.items() if agent not in given)
            return sandbox.limits.fuel_for(size + sum(new))

        # An instance that is stopped, or left by an exception, is not used again.
        live, self._live = self._live, None
        if live is not None:
            fuel = fuel_for(live.agents)
            try:
                value, usage, self._live = sandbox.attempt(whole, fuel, live)
                return value, usage
            except Stopped as stopped:
                if stopped.code != "trap":
                    raise sandbox.fault(stopped) from None
                # Most likely the outputs before have left too little memory: a fresh instance has it all.
        value, usage, self._live = sandbox.run(whole, fuel_for(set()))
        return value, usage


def _request(
    agents: list[str],
    contract: str | None,
    output: str,
    finish: Finish | str,
    lists: Lists | None,
    evidence: str | None,
    invalid_utf8: int | None,
) -> str:
    members = [f'"agent":{_json.text(agent)}' for agent in agents]
    if contract is not None:
        members.append(f'"contract":{contract}')
    members.append(f'"output":{_json.quoted(output)}')
    if finish != Finish.UNKNOWN:
        members.append(f'"finish":{_json.text(finish)}')
    if lists:
        members.append(f'"lists":{_json.text({name: _values(name, values) for name, values in lists.items()})}')
    if evidence is not None:
        members.append(f'"evidence":{evidence}')
    if invalid_utf8 is not None:
        members.append(f'"invalid_utf8":{invalid_utf8}')
    return "{" + ",".join(members) + "}"


def _values(name: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise TypeError(f"the list {name!r} must be a list of str, not {type(values).__name__}")
    return list(values)


def _observation(observation: Observation | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(observation, Observation):
        return dict(observation)
    of_id = f"of the observation {observation.id!r}"
    return {
        "id": observation.id,
        "text": observation.text,
        "kinds": _values(f"kinds {of_id}", observation.kinds),
        "labels": _values(f"labels {of_id}", observation.labels),
        "confidence": observation.confidence,
        "complete": observation.complete,
        "limitations": _values(f"limitations {of_id}", observation.limitations),
    }


def _contract_text(contract: Contract) -> str:
    if isinstance(contract, str):
        try:
            contract.encode()
        except UnicodeEncodeError as error:
            message = f"contract: half a surrogate pair at character {error.start}: it is no text"
            raise SeamgateFault("bad_contract", message) from None
        return contract
    if isinstance(contract, Mapping):
        return _json.text(dict(contract))
    if isinstance(contract, os.PathLike):
        return read_contract(contract)
    raise TypeError(f"a contract must be JSON text, a dict or a pathlib.Path, not {type(contract).__name__}")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _record(cls: type[T], value: object) -> T:
    try:
        return record(cls, value, cls.__name__)
    except ValueError as error:
        raise SeamgateFault("trap", f"the component failed: what it answered is no {cls.__name__}: {error}") from error


def _answer(answer: Any, *kinds: str) -> dict[str, Any]:
    """An answer of `wire`: a fault or a result as values, a report as text."""
    try:
        if not isinstance(answer, str) or "\n" in answer:
            raise ValueError("more than a line")
        if answer.startswith('{"id":null,"report":{') and answer.endswith("}"):
            return {"report": answer[len('{"id":null,"report":') : -1]}
        members = {name: (value, source) for name, value, source in _json.members(answer)}
        ((name, (value, source)),) = ((name, of) for name, of in members.items() if name != "id")
        if name not in (*kinds, "fault") or "id" not in members:
            raise ValueError("no such member")
        if name == "fault":
            return {"fault": {key: value[key] for key in ("fault", "message", "detail")}}
        return {name: source if name == "report" else value}
    except (ValueError, KeyError, TypeError):
        message = "the component failed: invalid answer: expected one line of JSON"
        raise SeamgateFault("trap", message) from None


def _typed(live: Live, function: ExportIndex, text: str) -> Any:
    """The result of a function of the registry, which takes a contract that need not be JSON."""
    result = live.call(function, text)
    # Wasmtime for Python says which of the two a result is where both are records, and leaves it out where not.
    value = _plain(getattr(result, "payload", result))
    if not (isinstance(value, dict) and "code" in value and "agents" in value):
        return value
    detail = {name: value[name] for name in ("violations", "agents") if value[name]}
    raise SeamgateFault(value["code"].replace("-", "_"), value["message"], detail)


def _plain(value: Any) -> Any:
    """A value of the component model as what JSON has for it."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if type(value).__name__ == "Record":
        members = {name.replace("-", "_"): _plain(item) for name, item in vars(value).items()}
        # A span is a pair in JSON.
        return list(members.values()) if members.keys() == {"start", "end"} else members
    return value
