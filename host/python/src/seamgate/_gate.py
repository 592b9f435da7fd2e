"""The gate: takes contracts and outputs, and returns verdicts, each from a fresh sandbox."""

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

# The most bytes of outputs that `Gate.validate_each` reads ahead.
_BATCH_BYTES = 4 * 1024 * 1024


class Gate:
    """Judges outputs, each in a fresh instance of a component. Any number of threads may share a gate.

    Creating a gate takes two seconds if its component must be compiled, and a few milliseconds if the machine code is
    cached.

    Args:
        component: The component to run in the sandbox, as bytes or a path, for example one that `seamgate bake` made.
            Default: the built-in component.
        limits: The limits of one call.
        cache: If True, the component's machine code is cached in the user's cache folder, in files that only the user
            can access. Ignored on Windows.
        on_verdict: Called with each verdict, or with the fault that replaces it, in the thread that asked for the
            verdict. An exception that it raises propagates to the caller.

    Raises:
        LoadError: The component is invalid, too large, imports anything, is not a validator, or does not start.
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
        # The method that is called most often is bound once.
        self._judge = self._engine.once().validate
        # A gate with the contracts that read incomplete documents.
        self._views: Gate | None = None

    def __repr__(self) -> str:
        return f"<seamgate.Gate of {', '.join(self.names()) or 'no agent'}, {_backend.backend}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Gate cannot be pickled or copied: threads share one, and each process makes its own")

    @property
    def limits(self) -> Limits:
        """The limits of one call."""
        return self._engine.limits

    def register(self, contract: Contract) -> ContractInfo:
        """Check a contract and register it: from now on, outputs of its agent are judged by it.

        Args:
            contract: The contract as JSON text, as a dict, or as the `pathlib.Path` of its file.

        Raises:
            SeamgateFault: `bad_contract` if the contract is invalid or the agent already has another one; `sealed` if
                the component accepts no contracts; or a limit was exceeded.
            FileError: A file cannot be read.
            TypeError: It holds a value that is not JSON, such as a Pydantic model. The message says what to pass
                instead.
        """
        text, model = _contract_given(contract)
        info = self._engine.compile(text)
        held = self._engine.contracts.setdefault(info.agent, Registered(text, info, model))
        if held.info.contract != info.contract:
            message = f'the agent "{info.agent}" already has another contract: {held.info.contract}'
            raise SeamgateFault("bad_contract", message)
        if model is not None:
            # The last type that was given for this schema.
            self._engine.contracts[info.agent] = Registered(text, info, model)
        return info

    def has(self, agent: str) -> bool:
        """Returns whether the agent has a contract, either registered here or baked into the component."""
        _arguments.agent(agent)
        return agent in self._engine.contracts or agent in self._engine.baked

    def names(self) -> list[str]:
        """Returns the agents that have a contract, in ascending order."""
        return self._engine.names()

    def contract(self, agent: str) -> ContractInfo:
        """Returns the contract that applies to an agent's outputs.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was exceeded.
        """
        registered = self._engine.contracts.get(_arguments.agent(agent))
        if registered is not None:
            return registered.info
        return _record(ContractInfo, self._engine.result("contract", agent))

    def describe(self, agent: str) -> str:
        """Returns text for an agent's prompt that says what its output must be.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was exceeded.
        """
        return str(self._engine.result("describe", _arguments.agent(agent)))

    def lint(self, contract: Contract) -> tuple[LintWarning, ...]:
        """Returns warnings about likely mistakes in a contract. The contract need not be registered.

        Raises:
            SeamgateFault: `bad_contract`; or a limit was exceeded.
            FileError: A file cannot be read.
            TypeError: It holds a value that is not JSON.
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

        If the contract's schema is a type, only its JSON Schema is used. The type's own validators do not run, because
        they are not part of the sandbox. `ResultParser.parse`, `parse_with_schema`, `ask` and `ask_stream` run them.

        Args:
            contract: The name of an agent whose contract is registered; or a contract, registered or not, as JSON text
                that begins with `{`, a dict, or a `pathlib.Path`.
            output: The agent's output. If it is not well-formed (bytes that are not UTF-8, or half a surrogate pair in
                a str), it is rejected, and the report names the position.
            finish: Why the producer stopped: `stop`, `length`, `refusal`, `content_filter`, `tool_call`, `unknown`, or
                its API's own word for one of these (`end_turn`, `MAX_TOKENS` …).
            lists: The lists that the contract's `allow` names. Only those of optional rules may be missing.
            evidence: The results that the agent saw. If the contract has `evidence`, leaving this out is a fault;
                passing `[]` is not.

        Raises:
            SeamgateFault: No verdict is possible, for example because a list is missing (`bad_request`). A rejected
                output does not raise: its verdict is a report.
            FileError: A file cannot be read.
            TypeError: A contract holds a value that is not JSON, such as a Pydantic model.
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
        """Judge many outputs in parallel, each in a fresh instance.

        Args:
            requests: The outputs.
            threads: The number of threads. Default: the number of processors.

        Returns:
            For each request, in order, its verdict, or the fault if there is no verdict.
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
        """Judge any number of outputs in parallel, each in a fresh instance, without holding all of them in memory.

        Args:
            requests: The outputs. An endless generator is allowed.
            threads: The number of threads. Default: the number of processors.
            ahead: The most requests that are read before their verdicts are yielded. Fewer are read if their outputs
                together exceed 4 MiB.

        Yields:
            For each request, in order, its verdict, or the fault if there is no verdict.
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
        """Merge the reports of several attempts, in order, and judge the result as a whole.

        Args:
            reports: The reports, all of one agent whose contract is registered. If the feedback asked only for some
                items again, the new items replace the old ones.
            lists: As for `validate`.
            evidence: As for `validate`.

        Raises:
            SeamgateFault: `bad_request` if there is no report, a report belongs to another contract, or a list or the
                evidence is missing; or a limit was exceeded.
        """
        given: list[Report | Verdict] = _arguments.listed("reports", (Report, Verdict), reports, "`Report`")
        if not given:
            raise SeamgateFault("bad_request", "reports: must have at least one")
        made = [each.report if isinstance(each, Verdict) else each for each in given]
        return self._engine.merge(made, lists, evidence)

    def session(self, agent: str, *, lists: Lists | None = None, evidence: Evidence | None = None) -> Session:
        """Begin a session, which follows an output while it is streamed.

        A session holds an instance, about 0.35 MB. A process can have 4,096 sessions and instances open. Opening one
        more raises the fault `busy` at once. Sessions never delay other verdicts.

        Args:
            agent: The name of an agent whose contract is registered.
            lists: As for `validate`.
            evidence: As for `validate`.

        Raises:
            SeamgateFault: `unknown_agent`, `bad_request`, `busy`; or a limit was exceeded.
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
        """Ask a producer until its output is accepted, or there is a reason to stop. Requires the native backend.

        Args:
            agent: The name of an agent whose contract is registered. The contract's `retry.limit` says how often to ask
                again.
            produce: A function that asks the producer. It receives the feedback on the last output (None at first) and
                returns the next output as text, bytes or `Produced`. An exception that it raises ends the run and
                propagates to the caller.
            lists: As for `validate`.
            evidence: As for `validate`.
            allow_partial: Whether the run may end with a partial verdict.
            journal: The path of a file, to which a line is appended for each attempt and each decision
                (`schemas/journal.schema.json`); or a `RunJournal`, which can resume the last run of its file.

        Raises:
            SeamgateFault: No verdict is possible. If a list is missing or the agent is unknown, this is raised before
                the producer is first called.
            JournalError: The journal cannot be read or written, or its last run is a different one.
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
        """The same as `run`, for an asynchronous producer. Other tasks continue while an output is judged.

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
        """Start a run of the kernel. Requires the native backend.

        Args:
            journal: The path of a folder that does not exist yet, or an object that stores the lines.
            agent: The name of an agent whose profile is registered.
            started: An event of the type `started` (`schemas/event.schema.json`).

        Returns:
            The run, and the actions that the host must take first.

        Raises:
            SeamgateFault: The agent has no profile, or the event is invalid.
            JournalError: The journal already has a run, or cannot be written.
            BackendError: This platform has no native backend.
        """
        engine = self._native("a run")
        from . import _runs

        return _runs.start(engine, journal, agent, started)

    def open(self, journal: Journal | str | os.PathLike[str]) -> Run:
        """Resume a run of the kernel from its journal. Then send `resumed`.

        If the gate's component differs from the run's, all events are replayed, and the run resumes only if every step
        has the same result. The next step records the change of component in the journal.

        Args:
            journal: As for `start`.

        Raises:
            SeamgateFault: The agent has no profile here.
            JournalError: The journal has no run, is damaged, or belongs to another profile; or the gate's component
                differs from the run's and decides a step differently.
            BackendError: This platform has no native backend.
        """
        engine = self._native("a run")
        from . import _runs

        return _runs.go_on(engine, journal)

    def restore(self, journal: Journal | str | os.PathLike[str], snapshot: str) -> Run:
        """Resume a run of the kernel from its snapshot, without reading its journal.

        This is for an engine that stores both in one transaction. Unlike `open`, this compares no line with the
        snapshot.

        Args:
            journal: As for `start`. Its `get` and `lines` are called only if a step needs a stored text.
            snapshot: `Run.snapshot` after the last line that the journal has.

        Raises:
            SeamgateFault: The agent has no profile here.
            JournalError: The snapshot is invalid, or belongs to another profile or component than the gate's.
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
            request_json: The request. The limit on the size of outputs applies to it.

        Returns:
            The answer and its resource usage.

        Raises:
            SeamgateFault: A limit was exceeded; or `bad_request` if the text is not well-formed Unicode. Other faults
                are returned as answers.
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
        """Check a profile and register it: from now on it decides what its agent may do.

        Args:
            profile: The profile as JSON text, as a dict, or as the `pathlib.Path` of its file. From a path, the files
                and the lock file that it names are embedded, as `read_profile` does.

        Raises:
            SeamgateFault: `bad_profile` if the profile is invalid or contradicts its examples, or if the agent already
                has another profile; `sealed` if the component accepts no profiles; or a limit was exceeded.
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
        """Returns the profiles that are registered here, sorted by agent."""
        profiles = self._engine.profiles
        return tuple(profiles[agent].info for agent in sorted(profiles))

    def describe_profile(self, agent: str) -> str:
        """Returns text for an agent's prompt that says what the agent may do.

        Raises:
            SeamgateFault: `unknown_agent`; or a limit was exceeded.
        """
        return self._engine.describe_profile(_arguments.agent(agent))

    def lint_profile(self, profile: Profile) -> tuple[LintWarning, ...]:
        """Returns warnings about likely mistakes in a profile. The profile need not be registered.

        Raises:
            SeamgateFault: `bad_profile`; or a limit was exceeded.
            FileError: A file cannot be read.
        """
        return self._engine.lint_profile(_profile_text(profile))

    def surface(self, agent: str, facts: str | Facts, listed: str | Mapping[str, Any] | None = None) -> Surface:
        """Decide which tools the model may see, in a fresh instance.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: The facts of the run, as a dict or as JSON text.
            listed: The tools that the servers list now, in the form of a lock file (`schemas/lock.schema.json`). A tool
                that is missing, or whose definition changed, is hidden. Default: the profile's own definitions.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` if a document is invalid or the facts lack the mode; or a
                limit was exceeded.
        """
        return Instance(self, self._engine.once()).surface(agent, facts, listed)

    def permit(self, agent: str, facts: str | Facts, call: str | Call) -> Decision:
        """Decide whether a call may run, in a fresh instance.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: The facts of the run, as a dict or as JSON text. `loop` keeps them for you.
            call: The call that the model asked for, as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` if the facts or the call are invalid, or the facts lack the
                mode or a list that a scope names; or a limit was exceeded. A denied call does not raise: it is a
                decision.
        """
        return Instance(self, self._engine.once()).permit(agent, facts, call)

    def observe(self, agent: str, facts: str | Facts, call: str | Call, result: str | ToolResult) -> Observation:
        """Turn a tool's result into an observation, which holds what the model may read, in a fresh instance.

        Args:
            agent: The name of an agent whose profile is registered.
            facts: As for `permit`, with a `nonce`.
            call: The call that was made, as a dict or as JSON text.
            result: The tool's result, as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` if a document is invalid, the profile has no such tool, or
                the facts have no nonce; or a limit was exceeded. An invalid result does not raise: it is an
                observation.
        """
        return Instance(self, self._engine.once()).observe(agent, facts, call, result)

    def advance(self, agent: str, state: str | None, event: str | Mapping[str, Any]) -> Step:
        """Apply one event to a run, in a fresh instance. The kernel makes every decision; the host performs the
        actions.

        Args:
            agent: The name of an agent whose profile is registered.
            state: `Step.state` of the previous step, unchanged. None for the first event, which is `started`.
            event: The event (`schemas/event.schema.json`), as a dict or as JSON text.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` if the event is invalid, or the state belongs to another
                profile or version; or a limit was exceeded. The state is unchanged. An event that does not fit the
                run does not raise: the step says why it was ignored.
        """
        return Instance(self, self._engine.once()).advance(agent, state, event)

    def project(self, agent: str, line: str | Mapping[str, Any], audience: Audience) -> dict[str, Any] | None:
        """Returns what one audience sees of a line of a journal, or None if the profile shows it nothing.

        Args:
            agent: The name of an agent whose profile is registered.
            line: An object with `event`, `record` or `action`, as a dict or as JSON text.
            audience: `model`, `ui`, `user`, `audit` or `eval`.

        Raises:
            SeamgateFault: `unknown_agent`; `bad_request` if the line is not JSON; or a limit was exceeded.
        """
        return Instance(self, self._engine.once()).project(agent, line, audience)

    def loop(self, agent: str, *, clock: Callable[[], float] = time.time, **facts: Unpack[Facts]) -> Loop:
        """Returns a `Loop`, which decides about the calls of one run and keeps its facts, so that each decision takes
        the previous ones into account.

        Args:
            agent: The name of an agent whose profile is registered.
            clock: A function that returns the time in seconds since 1970.
            facts: The facts at the start of the run: at least `run` and `principal`. If there is no `nonce`, a random
                one is generated. To resume an earlier loop, pass its `loop.facts`.
        """
        from ._loop import Loop

        return Loop(self, _arguments.agent(agent), facts, _arguments.called("clock", clock))

    def instance(self) -> Instance:
        """Returns an instance that can be used more than once. It is for callers who trust all their producers equally,
        because one output can affect the state that the next one finds. The reports are the same. Only one thread at a
        time may use it."""
        return Instance(self, self._engine.warm())

    def _needed_for(self, request: str) -> tuple[list[str], list[str]]:
        """Returns the agents whose contracts, and the agents whose profiles, an instance needs to answer a request. A
        verdict needs the contract of the agent that the request names, and a decision needs the profile. Any other
        request may need all of them. The component itself reads the request, and reports what is wrong with it."""
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
    """Returns the given gate, or the gate of the given registry."""
    held = getattr(given, "gate", given)
    if isinstance(held, Gate):
        return held
    raise _arguments.wrong("gate", "a `Gate`", given)


def _component(given: bytes | str | os.PathLike[str] | None) -> bytes | None:
    """Returns the bytes of a component, reading them from a file if a path is given.

    Raises:
        LoadError: The file cannot be read.
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
    """An instance that can be used more than once; see `Gate.instance`. After a fault stops it, the next call starts a
    fresh one."""

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
        """Frees the instance's memory at once. A later call starts a fresh instance."""
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
        """Judge one output. A registered contract is compiled only once.

        Args and errors are those of `Gate.validate`.
        """
        if self._gate._on_verdict is not None or _watch.is_watched():
            return self._gate._watched(self._judge, contract, output, finish, lists, evidence)
        return self._judge(contract, output, finish, lists, evidence)

    def surface(self, agent: str, facts: str | Facts, listed: str | Mapping[str, Any] | None = None) -> Surface:
        """Decide which tools the model may see. A registered profile is compiled only once.

        Args and errors are those of `Gate.surface`.
        """
        from ._decisions import Surface

        return self._made(Surface, "surface", agent, facts=facts, listed=listed)

    def permit(self, agent: str, facts: str | Facts, call: str | Call) -> Decision:
        """Decide whether a call may run. A registered profile is compiled only once.

        Args and errors are those of `Gate.permit`.
        """
        return _decision(self._decided("permit", agent, facts=facts, call=call))

    def observe(self, agent: str, facts: str | Facts, call: str | Call, result: str | ToolResult) -> Observation:
        """Turn a tool's result into an observation. A registered profile is compiled only once.

        Args and errors are those of `Gate.observe`.
        """
        from ._words import Observation

        return self._made(Observation, "observe", agent, facts=facts, call=call, result=result)

    def advance(self, agent: str, state: str | None, event: str | Mapping[str, Any]) -> Step:
        """Apply one event to a run. A registered profile is compiled only once.

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
        """Returns what one audience sees of a line of a journal. A registered profile is compiled only once.

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
