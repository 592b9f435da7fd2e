"""The gate: contracts and outputs in, verdicts out, each from a fresh sandbox."""

from __future__ import annotations

import os
import time

from . import _arguments, _backend, _json, _watch
from ._answers import _answer, _decision, _read, _record
from ._engine import Registered, RegisteredProfile, Warm
from ._evidence import Seen
from ._faults import BackendError, LoadError, SeamgateFault
from ._limits import Limits
from ._report import Report
from ._requests import Request, _contract_given, _contract_text, _profile_text, _size, _text_of
from ._types import ContractInfo, Finish
from ._verdict import Answer, Verdict

# As in the package's `__init__`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, NoReturn, TypeVar

    from typing_extensions import Unpack

    from ._aliases import Contract, Evidence, Lists, Output, Profile
    from ._decisions import Audience, Call, Facts, ProfileInfo, Step, Surface, ToolResult
    from ._harness import Outcome, Produce, ProduceLater, RunJournal
    from ._loop import Loop
    from ._native_engine import NativeEngine
    from ._partial import View
    from ._runs import Journal, Run
    from ._session import Session
    from ._types import LintWarning
    from ._words import Action, Decision, Observation, StartedEvent

    Made = TypeVar("Made", Observation, Surface)

__all__ = ["Answer", "Gate", "Instance", "Request", "Seen", "Verdict"]

# `Gate.validate_each` reads no more outputs ahead once they have so many bytes together.
_BATCH_BYTES = 4 * 1024 * 1024


class Gate:
    """Judges outputs, each in a fresh instance of a component. Use one from as many threads as you like.

    To make one takes two seconds where its component is compiled for the first time, some milliseconds from then on.

    Args:
        component: What runs in the sandbox: the bytes or the path of a component, as `seamgate bake` makes them.
            Default: the built-in one.
        limits: What one call may use.
        cache: Whether the machine code that is made of the component is kept in the user's cache folder, private to
            them, and loaded from there. Not on Windows.
        on_verdict: Called with each verdict on an output, or with the fault in place of one, in the thread that asked
            for it. What it raises is raised to the caller.

    Raises:
        LoadError: The component is none, too large, imports anything, is not a validator, or does not start.
    """

    def __init__(
        self,
        *,
        component: bytes | str | os.PathLike[str] | None = None,
        limits: Limits | None = None,
        cache: bool = True,
        on_verdict: Callable[[Verdict | SeamgateFault], object] | None = None,
    ) -> None:
        if not isinstance(cache, bool):
            raise _arguments.wrong("cache", "True or False", cache)
        self._engine = _backend.engine(_component(component), _arguments.limits(limits), cache)
        self._on_verdict = None if on_verdict is None else _arguments.called("on_verdict", on_verdict)
        # The method that is called most: bound once.
        self._judge = self._engine.once().validate
        # Contracts that read documents which have not come whole.
        self._views: Gate | None = None

    def __repr__(self) -> str:
        return f"<seamgate.Gate of {', '.join(self.names()) or 'no agent'}, {_backend.backend}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Gate cannot be pickled or copied: threads share one, and each process makes its own")

    @property
    def limits(self) -> Limits:
        """What one call may use."""
        return self._engine.limits

    def register(self, contract: Contract) -> ContractInfo:
        """Check a contract and keep it: outputs of its agent are judged by it from now on.

        Args:
            contract: Its JSON text, the same as a dict, or a `pathlib.Path`.

        Raises:
            SeamgateFault: `bad_contract`, also where the agent has another contract already; `sealed` where the
                component takes none; or a limit was passed.
            FileError: A file cannot be read.
            TypeError: It holds something that is not JSON, as a Pydantic model: the message says what to pass.
        """
        text, model = _contract_given(contract)
        info = self._engine.compile(text)
        held = self._engine.contracts.setdefault(info.agent, Registered(text, info, model))
        if held.info.contract != info.contract:
            message = f'the agent "{info.agent}" already has another contract: {held.info.contract}'
            raise SeamgateFault("bad_contract", message)
        if model is not None:
            # The last one that was given for this schema.
            self._engine.contracts[info.agent] = Registered(text, info, model)
        return info

    def has(self, agent: str) -> bool:
        """Whether a contract applies to an agent's outputs, registered here or baked into the component."""
        _arguments.agent(agent)
        return agent in self._engine.contracts or agent in self._engine.baked

    def names(self) -> list[str]:
        """The agents that have a contract, in ascending order."""
        return self._engine.names()

    def contract(self, agent: str) -> ContractInfo:
        """Which contract applies to an agent's outputs.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        registered = self._engine.contracts.get(_arguments.agent(agent))
        if registered is not None:
            return registered.info
        return _record(ContractInfo, self._engine.result("contract", agent))

    def describe(self, agent: str) -> str:
        """Text for an agent's prompt: what its output must be.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        return str(self._engine.result("describe", _arguments.agent(agent)))

    def lint(self, contract: Contract) -> tuple[LintWarning, ...]:
        """What is likely a mistake in a contract, which need not be registered.

        Raises:
            SeamgateFault: `bad_contract`; or a limit was passed.
            FileError: A file cannot be read.
            TypeError: It holds something that is not JSON.
        """
        return self._engine.lint(_contract_text(contract))

    def validate(
        self,
        contract: Contract,
        output: Output,
        *,
        finish: Finish | str | None = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Judge one output in a fresh instance.

        It uses the JSON Schema of a type, and does not run the type's own validators: they are no part of the sandbox.
        `ResultParser.parse`, `parse_with_schema`, `ask` and `ask_stream` run them.

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
            TypeError: A contract holds something that is not JSON, as a Pydantic model.
        """
        if self._on_verdict is not None or _watch.is_watched():
            return self._watched(self._judge, contract, output, finish, lists, evidence)
        return self._judge(contract, output, finish, lists, evidence)

    def _watched(self, judge: Callable[..., Verdict], *arguments: Any) -> Verdict:
        """Judges, and reports the verdict or the fault to hooks and the logger."""
        try:
            verdict = judge(*arguments)
        except SeamgateFault as fault:
            _watch.tell(fault, self._on_verdict)
            raise
        _watch.tell(verdict, self._on_verdict)
        return verdict

    def validate_all(self, requests: Iterable[Request], *, threads: int | None = None) -> list[Verdict | SeamgateFault]:
        """Judge many outputs, each in a fresh instance, several at once.

        Args:
            requests: The outputs.
            threads: How many at once. Default: as many as there are processors.

        Returns:
            For each request, in their order, its verdict, or the fault in place of one.
        """
        made = self._engine.validate_all(
            _arguments.listed("requests", Request, requests, "`Request`"), _arguments.count("threads", threads)
        )
        if self._on_verdict is not None or _watch.is_watched():
            for each in made:
                _watch.tell(each, self._on_verdict)
        return made

    def validate_each(
        self, requests: Iterable[Request], *, threads: int | None = None, ahead: int = 256
    ) -> Iterator[Verdict | SeamgateFault]:
        """Judge any number of outputs, each in a fresh instance, several at once, without holding all of them.

        Args:
            requests: The outputs, also of a generator that never ends.
            threads: How many at once. Default: as many as there are processors.
            ahead: The most requests that are read before their verdicts are yielded. Fewer are read where their outputs
                have more than 4 MiB together.

        Yields:
            For each request, in their order, its verdict, or the fault in place of one.
        """
        most, threads = _arguments.count("ahead", ahead), _arguments.count("threads", threads)
        return self._each(_arguments.iterator("requests", requests, "`Request`"), threads, most or 1)

    def _each(self, requests: Iterator[Request], threads: int | None, ahead: int) -> Iterator[Verdict | SeamgateFault]:
        batch: list[Request] = []
        size = 0
        for number, request in enumerate(requests):
            if not isinstance(request, Request):
                raise _arguments.wrong(f"requests[{number}]", "`Request`", request)
            batch.append(request)
            output = request.output
            size += len(output) if isinstance(output, (str, bytes)) else getattr(output, "nbytes", 0)
            if len(batch) >= ahead or size > _BATCH_BYTES:
                yield from self.validate_all(batch, threads=threads)
                batch, size = [], 0
        yield from self.validate_all(batch, threads=threads)

    def merge(
        self,
        reports: Iterable[Report | Verdict],
        *,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Put the reports of several attempts together, in their order, and judge the result as a whole.

        Args:
            reports: Of one agent, whose contract is registered. Where the feedback asked for some items alone, the
                items that the producer sent then take their places.
            lists: As for `validate`.
            evidence: As for `validate`.

        Raises:
            SeamgateFault: `bad_request` where there is no report, one is of another contract, or a list or the evidence
                is missing; or a limit was passed.
        """
        given: list[Report | Verdict] = _arguments.listed("reports", (Report, Verdict), reports, "`Report`")
        if not given:
            raise SeamgateFault("bad_request", "reports: must have at least one")
        made = [each.report if isinstance(each, Verdict) else each for each in given]
        return self._engine.merge(made, lists, evidence)

    def session(self, agent: str, *, lists: Lists | None = None, evidence: Evidence | None = None) -> Session:
        """Begin an output that is still coming.

        A session holds an instance, about 0.35 MB. A process can have 4,096 sessions and instances open; one more is
        the fault `busy` at once. No verdict waits for a session.

        Args:
            agent: The name of an agent whose contract is registered.
            lists: As for `validate`.
            evidence: As for `validate`.

        Raises:
            SeamgateFault: `unknown_agent`, `bad_request`, `busy`; or a limit was passed.
        """
        from ._session import Session

        name = _arguments.agent(agent)
        return Session(self._engine, name, lists, evidence, self._watched, lambda: self._view(name))

    def _view(self, agent: str) -> View:
        from . import _partial

        registered = self._engine.contracts.get(agent)
        contract, name = _partial.contract_of("" if registered is None else registered.text)
        if self._views is None:
            self._views = Gate(limits=self.limits)
        views = self._views
        if not views.has(name):
            views.register(contract)
        return _partial.View(lambda output: views._judge(name, output, "length", None, None))

    def run(
        self,
        agent: str,
        produce: Produce,
        *,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
        allow_partial: bool = False,
        journal: RunJournal | str | os.PathLike[str] | None = None,
    ) -> Outcome:
        """Ask a producer until its output is accepted, or there is a reason to stop. Only the native backend does that.

        Args:
            agent: The name of an agent whose contract is registered: its `retry.limit` says how often to ask again.
            produce: Asks the producer. It gets the feedback on the last output, None at first, and returns the next
                output as text, bytes or `Produced`. What it raises ends the run, and is raised here.
            lists: As for `validate`.
            evidence: As for `validate`.
            allow_partial: Whether the run may end with a partial verdict.
            journal: A file that gets a line for each attempt and each decision (`schemas/journal.schema.json`); or a
                `RunJournal`, which can go on with the last run of its file.

        Raises:
            SeamgateFault: There is no verdict. Where a list is missing or the agent is unknown, before the first call.
            JournalError: The journal cannot be read or written, or its last run is not this one.
            BackendError: This platform has no native backend.
        """
        engine = self._native("the harness step")
        from . import _harness

        produce = _arguments.called("produce", produce)
        return _harness.run(
            _harness.Attempts(engine, agent, lists, evidence, allow_partial, journal, self._watched), produce
        )

    async def run_async(
        self,
        agent: str,
        produce: ProduceLater,
        *,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
        allow_partial: bool = False,
        journal: RunJournal | str | os.PathLike[str] | None = None,
    ) -> Outcome:
        """The same as `run` for a producer that is awaited. Other tasks go on while an output is judged.

        Args and errors are those of `run`.
        """
        engine = self._native("the harness step")
        from . import _harness

        produce = _arguments.called("produce", produce)
        attempts = _harness.Attempts(engine, agent, lists, evidence, allow_partial, journal, self._watched)
        return await _harness.run_async(attempts, produce)

    def start(
        self, journal: Journal | str | os.PathLike[str], agent: str, started: str | StartedEvent | Mapping[str, Any]
    ) -> tuple[Run, tuple[Action, ...]]:
        """Start a run of the kernel. Only the native backend does that.

        Args:
            journal: A folder that is not there yet, or an object that keeps the lines.
            agent: The name of an agent whose profile is registered.
            started: An event of the type `started` (`schemas/event.schema.json`).

        Returns:
            The run, and the actions that the host must take first.

        Raises:
            SeamgateFault: The agent has no profile, or the event is invalid.
            JournalError: The journal has a run, or cannot be written.
            BackendError: This platform has no native backend.
        """
        engine = self._native("a run")
        from . import _runs

        return _runs.start(engine, journal, agent, started)

    def open(self, journal: Journal | str | os.PathLike[str]) -> Run:
        """Go on with a run of the kernel, from its journal. Then send `resumed`.

        If the gate has another component than the run, all events are replayed, and the run goes on if each step comes
        out the same. The next step writes the change into the journal.

        Args:
            journal: As for `start`.

        Raises:
            SeamgateFault: The agent has no profile here.
            JournalError: It has no run, is damaged, has a run of another profile, or the gate has another component
                that decides a step differently.
            BackendError: This platform has no native backend.
        """
        engine = self._native("a run")
        from . import _runs

        return _runs.go_on(engine, journal)

    def restore(self, journal: Journal | str | os.PathLike[str], snapshot: str) -> Run:
        """Go on with a run of the kernel from its snapshot, without reading its journal.

        This is for an engine that keeps both in one transaction. No line is compared with the snapshot, as `open` does.

        Args:
            journal: As for `start`. Its `get` and `lines` are called only where a step needs a text again.
            snapshot: `Run.snapshot` after the last line that the journal has.

        Raises:
            SeamgateFault: The agent has no profile here.
            JournalError: It is no snapshot, or the gate has another profile or component.
            BackendError: This platform has no native backend.
        """
        engine = self._native("a run")
        from . import _runs

        return _runs.restore(engine, journal, snapshot)

    def _native(self, what: str) -> NativeEngine:
        if _backend.backend != "native":
            raise BackendError(f"the backend `wasmtime` has not {what}: only the native one does, on Linux")
        engine: NativeEngine = self._engine  # type: ignore[assignment]
        return engine

    def call(self, request_json: str) -> Answer:
        """Answer one request that is JSON text (`schemas/request.schema.json`) in a fresh instance.

        Args:
            request_json: The request, which counts as the output does for its size.

        Returns:
            The answer, and what it took.

        Raises:
            SeamgateFault: A limit was passed; or `bad_request` where the text is not Unicode. Other faults are answers.
        """
        if not isinstance(request_json, str):
            raise _arguments.wrong("request_json", "JSON text", request_json)
        size = self._engine.small_enough(len(request_json))
        try:
            size = self._engine.small_enough(_size(request_json))
        except UnicodeEncodeError as error:
            message = f"request: half a surrogate pair at character {error.start}: it is no text"
            raise SeamgateFault("bad_request", message) from None
        json, usage = self._engine.once().answer(request_json, size, *self._needed_for(request_json))
        if not self._engine.is_builtin:
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
        info = self._engine.compile_profile(text)
        held = self._engine.profiles.setdefault(info.agent, RegisteredProfile(text, info))
        if held.info.profile != info.profile:
            message = f'the agent "{info.agent}" already has another profile: {held.info.profile}'
            raise SeamgateFault("bad_profile", message)
        return info

    def profiles(self) -> tuple[ProfileInfo, ...]:
        """The profiles that were registered here, by ascending agent."""
        profiles = self._engine.profiles
        return tuple(profiles[agent].info for agent in sorted(profiles))

    def describe_profile(self, agent: str) -> str:
        """Text for an agent's prompt: what it may do.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was passed.
        """
        return self._engine.describe_profile(_arguments.agent(agent))

    def lint_profile(self, profile: Profile) -> tuple[LintWarning, ...]:
        """What is likely a mistake in a profile, which need not be registered.

        Raises:
            SeamgateFault: `bad_profile`; or a limit was passed.
            FileError: A file cannot be read.
        """
        return self._engine.lint_profile(_profile_text(profile))

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
        return Instance(self, self._engine.once()).surface(agent, facts, listed)

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
        return Instance(self, self._engine.once()).permit(agent, facts, call)

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
        return Instance(self, self._engine.once()).observe(agent, facts, call, result)

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
        return Instance(self, self._engine.once()).advance(agent, state, event)

    def project(self, agent: str, line: str | Mapping[str, Any], audience: Audience) -> dict[str, Any] | None:
        """What one audience sees of a line of a journal. None where the profile shows nothing.

        Args:
            agent: The name of an agent whose profile is registered.
            line: An object with `event`, `record` or `action`, as a dict or as JSON text.
            audience: `model`, `ui`, `user`, `audit` or `eval`.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` where the line is not JSON; or a limit was passed.
        """
        return Instance(self, self._engine.once()).project(agent, line, audience)

    def loop(self, agent: str, *, clock: Callable[[], float] = time.time, **facts: Unpack[Facts]) -> Loop:
        """Decide about the calls of one run, whose facts are kept here: no decision can miss what one before it
        changed.

        Args:
            agent: The name of an agent whose profile is registered.
            clock: The time in seconds since 1970.
            facts: What is known of the run at its beginning: `run` and `principal` at least. Where there is no `nonce`,
                a random one is made. `loop.facts` of an earlier loop go on with it.
        """
        from ._loop import Loop

        return Loop(self, _arguments.agent(agent), facts, _arguments.called("clock", clock))

    def instance(self) -> Instance:
        """An instance to use more than once, for callers who trust their producers alike: what one output did to it,
        the next one finds. The reports are the same. One thread at a time may use it."""
        return Instance(self, self._engine.warm())

    def _needed_for(self, request: str) -> tuple[list[str], list[str]]:
        """The agents whose contracts, and those whose profiles, an instance needs to answer a request. A verdict needs
        the contract of the agent that it names, and a decision the profile; anything else may need all. The component
        reads the request itself, and says what is wrong."""
        contracts, profiles = self._engine.contracts, self._engine.profiles
        if not (contracts or profiles):
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
        return ([], sorted(profiles)) if "profile" in str(op) else (sorted(contracts), [])


def gate_of(given: Any) -> Gate:
    """Returns a gate, or the gate of a registry."""
    held = getattr(given, "gate", given)
    if isinstance(held, Gate):
        return held
    raise _arguments.wrong("gate", "a `Gate`", given)


def _component(given: bytes | str | os.PathLike[str] | None) -> bytes | None:
    """Returns the bytes of a component, which may be in a file.

    Raises:
        LoadError: It cannot be read.
    """
    if given is None or isinstance(given, bytes):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise _arguments.wrong("component", "the bytes or the path of a component", given)
    try:
        with open(given, "rb") as file:
            return file.read()
    except OSError as error:
        raise LoadError(f"{os.fspath(given)!s}: {error.strerror or error}") from error


class Instance:
    """An instance that is used more than once; see `Gate.instance`. After a fault that stopped it, the next call begins
    with a fresh one."""

    def __init__(self, gate: Gate, warm: Warm) -> None:
        self._gate = gate
        self._warm = warm
        self._judge = warm.validate

    def __repr__(self) -> str:
        return f"<seamgate.Instance of {self._gate!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Instance cannot be pickled or copied: `Gate.instance` makes one")

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees what the instance holds at once. A later call begins with a fresh one."""
        self._warm.close()

    def validate(
        self,
        contract: Contract,
        output: Output,
        *,
        finish: Finish | str | None = Finish.UNKNOWN,
        lists: Lists | None = None,
        evidence: Evidence | None = None,
    ) -> Verdict:
        """Judge one output. A registered contract is compiled once.

        Args and errors are those of `Gate.validate`.
        """
        if self._gate._on_verdict is not None or _watch.is_watched():
            return self._gate._watched(self._judge, contract, output, finish, lists, evidence)
        return self._judge(contract, output, finish, lists, evidence)

    def surface(self, agent: str, facts: str | Facts, listed: str | Mapping[str, Any] | None = None) -> Surface:
        """Say which tools the model may see. A registered profile is compiled once.

        Args and errors are those of `Gate.surface`.
        """
        from ._decisions import Surface

        return self._made(Surface, "surface", agent, facts=facts, listed=listed)

    def permit(self, agent: str, facts: str | Facts, call: str | Call) -> Decision:
        """Decide whether a call may run. A registered profile is compiled once.

        Args and errors are those of `Gate.permit`.
        """
        return _decision(self._decided("permit", agent, facts=facts, call=call))

    def observe(self, agent: str, facts: str | Facts, call: str | Call, result: str | ToolResult) -> Observation:
        """Make an observation of what a tool returned. A registered profile is compiled once.

        Args and errors are those of `Gate.observe`.
        """
        from ._words import Observation

        return self._made(Observation, "observe", agent, facts=facts, call=call, result=result)

    def advance(self, agent: str, state: str | None, event: str | Mapping[str, Any]) -> Step:
        """Apply one event to a run. A registered profile is compiled once.

        Args and errors are those of `Gate.advance`.
        """
        if state is not None and not isinstance(state, str):
            raise _arguments.wrong("state", "`Step.state` or None", state)
        text = self._warm.decide("advance", _arguments.agent(agent), [state, _text_of("event", event)])
        members = {name: (value, source) for name, value, source in _json.members(text)}

        def of(name: str, default: Any) -> Any:
            return members[name][0] if name in members else default

        from ._decisions import Step

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
        if not isinstance(audience, str):
            raise _arguments.wrong("audience", "`model`, `ui`, `user`, `audit` or `eval`", audience)
        texts: list[str | None] = [_text_of("line", line), audience]
        view: dict[str, Any] | None = _json.parse(self._warm.decide("project", _arguments.agent(agent), texts))["view"]
        return view

    def _made(self, cls: type[Made], name: str, agent: str, **documents: str | Mapping[str, Any] | None) -> Made:
        return _read(cls, self._decided(name, agent, **documents))

    def _decided(self, name: str, agent: str, **documents: str | Mapping[str, Any] | None) -> object:
        texts = [None if document is None else _text_of(what, document) for what, document in documents.items()]
        return self._warm.decide(name, _arguments.agent(agent), texts)
