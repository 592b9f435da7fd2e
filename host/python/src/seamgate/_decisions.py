"""Documents of the kernel: the inputs of decisions, surfaces and steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ._records import dataclass, field
from ._words import Action, RunRecord


class _Call(TypedDict):
    key: str
    tool: str
    arguments: Mapping[str, Any] | str


class Call(_Call, total=False):
    """A call that the model asks for (`schemas/call.schema.json`). `permit` decides whether it may run.

    Attributes:
        key: The caller's own name for this call, unique for each call. Ids that models choose may repeat.
        tool: The name of the tool.
        arguments: An object, which is sent as JSON text without optional white space; or text, which is sent unchanged.
        server: The server that runs the tool. May be omitted if only one tool has this name.
    """

    server: str


class ToolResult(TypedDict, total=False):
    """A tool's result (`schemas/result.schema.json`): `result`, `text`, `returned`, or all of `head` … `digest`.

    Attributes:
        result: Any JSON value.
        text: Text. If the profile has a schema or items for the result, the text is parsed as JSON.
        returned: A whole result of the Model Context Protocol, which itself says whether the tool failed.
        status: `error` if the tool reports a failure. Default: `ok`.
        head: The beginning of a text that is too large to pass in whole.
        tail: The end of that text.
        length: The length of that text in bytes.
        digest: The digest of the whole text, under which the host stores it. With `returned`, it is the host's own
            claim.
    """

    result: Any
    text: str
    returned: Mapping[str, Any]
    status: Literal["ok", "error"]
    head: str
    tail: str
    length: int
    digest: str


class Facts(TypedDict, total=False):
    """The facts that a decision about one call depends on (`schemas/facts.schema.json`). A `Loop` keeps them.

    Attributes:
        run: The run's id.
        principal: The person or system that the agent works for.
        at: The current time, in milliseconds since 1970.
        nonce: A random secret of the run, of at least 16 characters. The markers around untrusted data are derived from
            it.
        mode: One of the profile's modes. A profile with modes needs it.
        task: The task, which must match the profile's schema for tasks.
        context: Values for the names in the profile's `context`.
        lists: The lists that `scope` names.
        surface: The tools that exist and are unchanged, as NAME or SERVER/NAME. Default: all tools of the profile.
        programs: The programs that run tools: the key SERVER/ covers all tools of a server, and SERVER/TOOL one tool. A
            person reads the program before approving a call, and the approval is valid for this program only.
        parent: The bounds of a child run, from the parent's action `delegate`.
        labels: The labels of the data that the model has read.
        used: The usage of each budget.
        asks: The questions that people were asked.
        approvals: The decisions of people. The host writes them, never the model.
        remembered: Approvals that people gave for further calls of the run.
        said: The words of people in this run, which prove `origins`. The host writes them, never the model.
        observed: The values that results had at the paths that `origins` names.
        stores: The labels of data in the stores that the profile's tools name. Keep them for the next run.
    """

    run: str
    principal: str
    at: int
    nonce: str
    mode: str
    task: Any
    context: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    surface: list[str]
    programs: Mapping[str, str]
    parent: Mapping[str, Any]
    labels: list[str]
    used: Mapping[str, Any]
    asks: list[Mapping[str, Any]]
    approvals: list[Mapping[str, Any]]
    remembered: list[Mapping[str, Any]]
    said: list[str]
    observed: list[Mapping[str, Any]]
    stores: list[Mapping[str, Any]]


@dataclass(frozen=True)
class DisabledTool:
    """A tool that is disabled because its pinned definition is invalid. It is hidden, and its calls are denied.

    Attributes:
        tool: Its full name.
        message: What is wrong with the tool's definition, and where.
    """

    tool: str
    message: str


@dataclass(frozen=True)
class ProfileInfo:
    """A registered profile.

    Attributes:
        agent: The agent that it is for.
        version: Its version.
        profile: Its digest: `sha256:` and 64 hexadecimal digits.
        tools: The full names of its tools, in its order.
        lists: The lists that its scopes name, in ascending order.
        disabled: The tools whose pinned definition is invalid.
    """

    agent: str
    version: str
    profile: str
    tools: tuple[str, ...]
    lists: tuple[str, ...]
    disabled: tuple[DisabledTool, ...]


@dataclass(frozen=True)
class SurfaceTool:
    """A tool that the model may see.

    Attributes:
        tool: The tool.
        effect: `read`, `idempotent` or `effectful`.
        permit: `approval` if a person decides about each call.
        server: The server that runs the tool. None for the host's own tools.
        definition: The part of the definition that the model may read, with each text sanitized.
    """

    tool: str
    effect: Literal["read", "idempotent", "effectful"]
    permit: Literal["allow", "approval"]
    server: str | None = None
    definition: dict[str, Any] | None = None


@dataclass(frozen=True)
class HiddenTool:
    """A tool that the model may not see.

    Attributes:
        tool: The tool.
        code: Why it is hidden: a code of `schemas/surface.schema.json`.
        server: The server that runs the tool. None for the host's own tools.
        message: What is wrong with the tool's definition, and where.
    """

    tool: str
    code: Literal["absent", "changed", "unknown", "mode", "permit", "deny", "parent", "invalid_definition"]
    server: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Surface:
    """The tools that the model may see now, and the hidden ones.

    Attributes:
        tools: The tools that the model may see.
        hidden: The tools that it may not see.
        facts: The members of the facts that changed: `surface`. A `Loop` applies the change itself.
        json: The surface as JSON text, the same bytes as in every other runtime.
    """

    tools: tuple[SurfaceTool, ...]
    hidden: tuple[HiddenTool, ...]
    facts: dict[str, Any]
    json: str = field(default="", repr=False, compare=False)


Audience = Literal["model", "ui", "user", "audit", "eval"]
"""The audience that a line of a journal is shown to."""


@dataclass(frozen=True)
class Step:
    """The result of applying one event to a run (`schemas/step.schema.json`).

    Attributes:
        step: The number of events that the run has had.
        state: The new state as JSON text. Pass it to the next `advance`, unchanged.
        records: The decisions of this step.
        actions: The actions that the host must take next.
        wake_at: The time of the next timeout, in milliseconds since 1970. Send a `tick` then.
        need: Digests of artifacts that the step needs. If there are any, all other members are empty: send the same
            event again, with `artifacts`.
        json: The step as JSON text, the same bytes as in every other runtime.
    """

    step: int = 0
    state: str | None = None
    records: tuple[RunRecord, ...] = ()
    actions: tuple[Action, ...] = ()
    wake_at: int | None = None
    need: tuple[str, ...] = ()
    json: str = field(default="", repr=False, compare=False)
