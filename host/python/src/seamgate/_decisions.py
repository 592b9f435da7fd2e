"""What an agent may do: the documents that decisions are made of, surfaces and steps."""

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
    """What the model asked for (`schemas/call.schema.json`). It is a wish: `permit` decides.

    Attributes:
        key: The caller's own name for this call, another one for each call. The ids of models may repeat.
        tool: The name of the tool.
        arguments: An object, of which the text without optional white space is sent; or text, which is sent as it is.
        server: Where the tool runs. May be missing where one tool has this name.
    """

    server: str


class ToolResult(TypedDict, total=False):
    """What a tool returned (`schemas/result.schema.json`): `result`, `text`, `returned`, or all of `head` … `digest`.

    Attributes:
        result: Any JSON.
        text: Text. Where the profile has a schema or items for the result, it is read as JSON.
        returned: A whole result of the Model Context Protocol. It says itself whether the tool failed.
        status: `error` where the tool says that it failed. Default: `ok`.
        head: The beginning of a text that is too large to be handed on.
        tail: Its end.
        length: Its length in bytes.
        digest: The digest of the whole, under which the host keeps it. Beside `returned` it is the host's word.
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
    """What a decision about one call depends on (`schemas/facts.schema.json`). A `Loop` keeps them.

    Attributes:
        run: The run's id.
        principal: For whom the agent works.
        at: Now, in milliseconds since 1970.
        nonce: A secret of the run, random, of at least 16 characters. The marks around data from outside are made from
            it.
        mode: One of the profile's modes. A profile with modes needs it.
        task: The task, as the profile's schema has it.
        context: Values by the names that the profile's `context` has.
        lists: Lists that `scope` names.
        surface: The tools that are there and unchanged, as NAME or SERVER/NAME. Default: all of the profile's.
        programs: How tools are run: by SERVER/ for all tools of a server, and by SERVER/TOOL for one. A person reads it
            before approving, and an approval is for this program only.
        parent: The bounds of a child, as the parent's action `delegate` has them.
        labels: What is known of the data that the model has read.
        used: The use of budgets.
        asks: What a person was asked.
        approvals: What persons decided. The host writes them, never the model.
        remembered: Approvals that persons gave for further calls of the run.
        said: What people said in this run, by which `origins` are proven. The host writes it, never the model.
        observed: Values that results had at the paths that `origins` name.
        stores: The labels of data in stores that the profile's tools name. Keep them for the next run.
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
    """A tool that is disabled because its pinned definition is invalid: it is hidden, and its calls are denied.

    Attributes:
        tool: Its full name.
        message: What is wrong with its definition, and where.
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
        permit: `approval`: a person decides about each call.
        server: Where the tool runs. None for the host's own.
        definition: What the model may read of the definition: each text is cleaned.
    """

    tool: str
    effect: Literal["read", "idempotent", "effectful"]
    permit: Literal["allow", "approval"]
    server: str | None = None
    definition: dict[str, Any] | None = None


@dataclass(frozen=True)
class HiddenTool:
    """A tool that the model may not see, and by what code of `schemas/surface.schema.json`.

    Attributes:
        tool: The tool.
        code: Why it is hidden.
        server: Where the tool runs. None for the host's own.
        message: What is wrong with its definition, and where.
    """

    tool: str
    code: Literal["absent", "changed", "unknown", "mode", "permit", "deny", "parent", "invalid_definition"]
    server: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Surface:
    """The tools that the model may see now, and those that it may not.

    Attributes:
        tools: Those that it may see.
        hidden: The others.
        facts: The members of the facts that changed: `surface`. A `Loop` puts it in its place.
        json: The surface as JSON text, the same bytes as in every other runtime.
    """

    tools: tuple[SurfaceTool, ...]
    hidden: tuple[HiddenTool, ...]
    facts: dict[str, Any]
    json: str = field(default="", repr=False, compare=False)


Audience = Literal["model", "ui", "user", "audit", "eval"]
"""Who is shown a line of a journal."""


@dataclass(frozen=True)
class Step:
    """What one event of a run led to (`schemas/step.schema.json`).

    Attributes:
        step: How many events the run has had.
        state: The new state as JSON text: give it to the next `advance`, unchanged.
        records: What was decided.
        actions: What the host must do next.
        wake_at: When something lapses, in milliseconds since 1970: send a `tick` then.
        need: Digests of artifacts without which the step cannot be made. Nothing else is there then: send the same
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
