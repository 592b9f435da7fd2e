"""The gate: contracts and outputs in, verdicts out, each from a fresh sandbox."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from wasmtime.component import ExportIndex

from . import _json
from ._contracts import read_contract
from ._decisions import Audience, Call, Decision, Facts, Observation, ProfileInfo, Step, Surface, ToolResult
from ._faults import LoadError, SeamgateFault
from ._limits import Limits, Usage
from ._loop import Loop
from ._profiles import read_profile
from ._report import Report, record
from ._sandbox import KERNEL, PROFILES, Live, Sandbox, Stopped
from ._types import Confidence, ContractInfo, FaultCode, Finish, LintWarning

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
Made = TypeVar("Made", Decision, Observation, Surface)

Contract = str | Mapping[str, Any] | os.PathLike[str]
"""A contract: its JSON text, the same as a dict, or (as a `pathlib.Path`) a file `NAME.contract.json`."""

Profile = str | Mapping[str, Any] | os.PathLike[str]
"""A profile: its JSON text, the same as a dict, or (as a `pathlib.Path`) a file `NAME.profile.json`."""

Output = str | bytes | bytearray | memoryview
"""The raw text that an agent produced, prose and fences included; or its bytes, of which nobody knows whether they are
UTF-8."""

Lists = Mapping[str, Iterable[str]]
"""The lists that a contract's `allow` names. One that is missing is a fault, unless its rule is optional."""


@dataclass(frozen=True)
class Seen:
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


Evidence = Iterable[Seen | Observation | Mapping[str, Any]]
"""What an agent saw, for claims to cite: as `observe` made it, as `Seen`, or as dicts; at most 1,000 of 4 MiB in
all."""


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
    """The verdict on one output, and what it took. It is true where the output is accepted.

    Attributes:
        report: The verdict.
        usage: What it took. Beside the report: reports are the same bytes everywhere, times are not.
    """

    report: Report
    usage: Usage

    def __bool__(self) -> bool:
        return self.report.success


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


@dataclass(frozen=True)
class _RegisteredProfile:
    text: str
    info: ProfileInfo


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
        self._profiles: dict[str, _RegisteredProfile] = {}
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
            FileError: A file cannot be read.
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
            FileError: A file cannot be read.
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
            FileError: A file cannot be read.
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
        agents, profiles = self._needed_for(request_json)
        json, usage = self.instance()._run(
            lambda live: live.call(self._sandbox.call, request_json), size, agents, profiles
        )
        if not self._sandbox.is_builtin:
            _answer(json, "report", "result")
        return Answer(str(json), usage)

    def register_profile(self, profile: Profile) -> ProfileInfo:
        """Check a profile and keep it: from now on it decides what its agent may do.

        Args:
            profile: Its JSON text, the same as a dict, or a `pathlib.Path`: its files and its lock file are put in, as
                `read_profile` does.

        Raises:
            SeamgateFault: `bad_profile`, also where the agent has another profile already, or where the profile
                contradicts its examples; `sealed` where the component takes none; or a limit was passed.
            FileError: A file cannot be read.
        """
        text = _profile_text(profile)
        info, _ = self.instance()._run(lambda live: self._compile_profile(live, text), 0)
        held = self._profiles.setdefault(info.agent, _RegisteredProfile(text, info))
        if held.info.profile != info.profile:
            message = f'the agent "{info.agent}" already has another profile: {held.info.profile}'
            raise SeamgateFault("bad_profile", message)
        return info

    def profiles(self) -> tuple[ProfileInfo, ...]:
        """The profiles that were registered here, by ascending agent."""
        return tuple(self._profiles[agent].info for agent in sorted(self._profiles))

    def describe_profile(self, agent: str) -> str:
        """Text for an agent's prompt: what it may do.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        function = self._sandbox.harness(PROFILES, "describe")
        instance = self.instance()
        return str(instance._by_profile(agent, 0, lambda live: _typed(live, function, agent)))

    def lint_profile(self, profile: Profile) -> tuple[LintWarning, ...]:
        """What is likely a mistake in a profile, which need not be registered.

        Raises:
            SeamgateFault: `bad_profile`; or a limit was passed.
            FileError: A file cannot be read.
        """
        text = _profile_text(profile)
        function = self._sandbox.harness(PROFILES, "lint")

        def linted(live: Live) -> Any:
            live.grant(self._sandbox.limits.fuel_for_contract(_size(text)))
            return _typed(live, function, text)

        warnings, _ = self.instance()._run(linted, 0)
        return tuple(_record(LintWarning, warning) for warning in warnings)

    def surface(self, agent: str, facts: str | Facts, listed: str | Mapping[str, Any] | None = None) -> Surface:
        """Say which tools the model may see, in a fresh instance.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: What it depends on, as a dict or as JSON text.
            listed: What servers list now, as a lock file has it (`schemas/lock.schema.json`): a tool that is not there,
                or whose definition changed, is hidden. Default: the profile's own definitions are looked at.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where a document is invalid, or the facts lack the mode; or a
                limit was passed.
        """
        return self.instance().surface(agent, facts, listed)

    def permit(self, agent: str, facts: str | Facts, call: str | Call) -> Decision:
        """Decide whether a call may run, in a fresh instance.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: What the decision depends on, as a dict or as JSON text. `loop` keeps them.
            call: What the model asked for, as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where facts or call are invalid, or the facts lack the mode,
                or a list that a scope names; or a limit was passed. A denied call is none: it is a decision.
        """
        return self.instance().permit(agent, facts, call)

    def observe(self, agent: str, facts: str | Facts, call: str | Call, result: str | ToolResult) -> Observation:
        """Make an observation of what a tool returned, in a fresh instance: what the model may read of it.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: As for `permit`; with a `nonce`.
            call: The call that was made, as a dict or as JSON text.
            result: What the tool returned, as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where a document is invalid, the profile has no such tool, or
                the facts have no nonce; or a limit was passed. An invalid result is none: it is an observation.
        """
        return self.instance().observe(agent, facts, call, result)

    def advance(self, agent: str, state: str | None, event: str | Mapping[str, Any]) -> Step:
        """Apply one event to a run, in a fresh instance. Every decision is made here; the host causes the effects.

        Args:
            agent: The name of an agent whose profile is registered.
            state: `Step.state` of the step before, unchanged. None for the first event, which is `started`.
            event: What happened (`schemas/event.schema.json`), as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where the event is invalid, or the state belongs to another
                profile or version; or a limit was passed. The state stays as it was. An event that does not fit the
                run is none of these: the step says why it was ignored.
        """
        return self.instance().advance(agent, state, event)

    def project(self, agent: str, line: str | Mapping[str, Any], audience: Audience) -> dict[str, Any] | None:
        """What one audience sees of a line of a journal. None where the profile shows nothing.

        Args:
            agent: The name of an agent whose profile is registered.
            line: An object with `event`, `record` or `action`, as a dict or as JSON text.
            audience: `model`, `ui`, `user`, `audit` or `eval`.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where the line is not JSON; or a limit was passed.
        """
        return self.instance().project(agent, line, audience)

    def loop(self, agent: str, *, clock: Callable[[], float] = time.time, **facts: Unpack[Facts]) -> Loop:
        """Decide about the calls of one run, whose facts are kept here: no decision can miss what one before it
        changed.

        Args:
            agent: The name of an agent whose profile is registered.
            clock: The time in seconds since 1970.
            facts: What is known of the run at its beginning: `run` and `principal` at least. Where there is no `nonce`,
                a random one is made. `loop.facts` of an earlier loop go on with it.
        """
        return Loop(self, agent, facts, clock)

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

    def _compile_profile(self, live: Live, text: str) -> ProfileInfo:
        """Register a profile within the budget that contracts have."""
        live.grant(self._sandbox.limits.fuel_for_contract(_size(text)))
        return _read(ProfileInfo, _typed(live, self._sandbox.harness(PROFILES, "register"), text))

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

    def _needed_for(self, request: str) -> tuple[list[str], list[str]]:
        """The agents whose contracts, and those whose profiles, an instance needs to answer a request. A verdict needs
        the contract of the agent that it names, and a decision the profile; anything else may need all. The component
        reads the request itself, and says what is wrong."""
        if not (self._contracts or self._profiles):
            return [], []
        try:
            named = _json.parse(request)
        except ValueError:
            return [], []
        if not isinstance(named, dict):
            return [], []
        op, agent = named.get("op"), named.get("agent")
        one = [agent] if isinstance(agent, str) else []
        if op is None:
            return one, []
        if op in ("surface", "permit", "observe", "advance", "project"):
            return [], one
        return ([], sorted(self._profiles)) if "profile" in str(op) else (sorted(self._contracts), [])


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

    def surface(self, agent: str, facts: str | Facts, listed: str | Mapping[str, Any] | None = None) -> Surface:
        """Say which tools the model may see. A registered profile is compiled once.

        Args and errors are those of `Gate.surface`.
        """
        return self._made(Surface, "surface", agent, facts=facts, listed=listed)

    def permit(self, agent: str, facts: str | Facts, call: str | Call) -> Decision:
        """Decide whether a call may run. A registered profile is compiled once.

        Args and errors are those of `Gate.permit`.
        """
        return self._made(Decision, "permit", agent, facts=facts, call=call)

    def observe(self, agent: str, facts: str | Facts, call: str | Call, result: str | ToolResult) -> Observation:
        """Make an observation of what a tool returned. A registered profile is compiled once.

        Args and errors are those of `Gate.observe`.
        """
        return self._made(Observation, "observe", agent, facts=facts, call=call, result=result)

    def advance(self, agent: str, state: str | None, event: str | Mapping[str, Any]) -> Step:
        """Apply one event to a run. A registered profile is compiled once.

        Args and errors are those of `Gate.advance`.
        """
        text = self._of_kernel("advance", agent, [state, _text_of("event", event)])
        members = {name: (value, source) for name, value, source in _json.members(text)}

        def of(name: str, default: Any) -> Any:
            return members[name][0] if name in members else default

        return Step(
            step=of("step", 0),
            state=members["state"][1] if "state" in members else None,
            records=tuple(of("records", ())),
            actions=tuple(of("actions", ())),
            wake_at=of("wake_at", None),
            need=tuple(of("need", ())),
            json=text,
        )

    def project(self, agent: str, line: str | Mapping[str, Any], audience: Audience) -> dict[str, Any] | None:
        """What one audience sees of a line of a journal. A registered profile is compiled once.

        Args and errors are those of `Gate.project`.
        """
        view: dict[str, Any] | None = _json.parse(
            self._of_kernel("project", agent, [_text_of("line", line), audience])
        )["view"]
        return view

    def _of_kernel(self, name: str, agent: str, texts: list[str | None]) -> str:
        size = self._gate._small_enough(sum(0 if text is None else _size(text) for text in texts))
        function = self._gate._sandbox.harness(KERNEL, name)
        text = self._by_profile(agent, size, lambda live: _typed(live, function, agent, *texts))
        if not isinstance(text, str):
            raise SeamgateFault("trap", "the component failed: invalid answer: no text")
        return text

    def _made(self, cls: type[Made], name: str, agent: str, **documents: str | Mapping[str, Any] | None) -> Made:
        texts = [None if document is None else _text_of(what, document) for what, document in documents.items()]
        return _read(cls, self._of_kernel(name, agent, texts))

    def _by_profile(self, agent: str, size: int, operation: Callable[[Live], Any]) -> Any:
        """Run an operation in an instance that has the profile of an agent."""
        try:
            value, _ = self._run(operation, size, profiles=[agent])
        except SeamgateFault as fault:
            if fault.code == "unknown_agent":
                # An instance knows the profiles it was given; the gate knows them all.
                fault.detail["agents"] = sorted({*fault.detail.get("agents", []), *self._gate._profiles})
            raise
        return value

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

    def _run(
        self, operation: Callable[[Live], T], size: int, agents: Iterable[str] = (), profiles: Iterable[str] = ()
    ) -> tuple[T, Usage]:
        """Run an operation in the instance, or a fresh one where there is none.

        It is given the contracts and the profiles of these agents first, as far as the gate has them.
        """
        gate, sandbox = self._gate, self._gate._sandbox
        contracts = {agent: gate._contracts[agent].text for agent in agents if agent in gate._contracts}
        permits = {agent: gate._profiles[agent].text for agent in profiles if agent in gate._profiles}

        def whole(live: Live) -> T:
            lacking = [agent for agent in contracts if agent not in live.agents]
            for agent in lacking:
                gate._compile(live, contracts[agent])
                live.agents.add(agent)
            unknown = [agent for agent in permits if agent not in live.profiles]
            for agent in unknown:
                gate._compile_profile(live, permits[agent])
                live.profiles.add(agent)
            if lacking or unknown:
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


def _observation(observation: Seen | Observation | Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(observation, (Seen, Observation)):
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
    if isinstance(contract, os.PathLike):
        return read_contract(contract)
    if isinstance(contract, Mapping):
        return _json.text(dict(contract))
    return _text_given("contract", contract, "bad_contract", ", a dict or a pathlib.Path")


def _profile_text(profile: Profile) -> str:
    if isinstance(profile, os.PathLike):
        return read_profile(profile)
    if isinstance(profile, Mapping):
        return _json.written(dict(profile))
    return _text_given("profile", profile, "bad_profile", ", a dict or a pathlib.Path")


def _text_of(what: str, document: str | Mapping[str, Any]) -> str:
    """One of the documents that a decision depends on, as JSON text."""
    if isinstance(document, Mapping):
        return _json.written(dict(document))
    return _text_given(what, document, "bad_request", " or a dict")


def _text_given(what: str, text: object, code: FaultCode, otherwise: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a {what} must be JSON text{otherwise}, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"{what}: half a surrogate pair at character {error.start}: it is no text"
        raise SeamgateFault(code, message) from None
    return text


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _record(cls: type[T], value: object) -> T:
    try:
        return record(cls, value, cls.__name__)
    except ValueError as error:
        raise SeamgateFault("trap", f"the component failed: what it answered is no {cls.__name__}: {error}") from error


def _read(cls: type[T], text: object) -> T:
    """A record of ours from the JSON text that a function of the kernel gave."""
    try:
        if not isinstance(text, str):
            raise ValueError("no text")
        value = _json.parse(text)
    except ValueError as error:
        raise SeamgateFault("trap", f"the component failed: invalid answer: {error}") from None
    return _record(
        cls, {**value, "json": text} if cls in (Decision, Observation, Surface) and isinstance(value, dict) else value
    )


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


def _typed(live: Live, function: ExportIndex, *texts: str | None) -> Any:
    """The result of a function that takes texts, which need not be JSON."""
    result = live.call(function, *texts)
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
