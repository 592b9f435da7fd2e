"""What an agent may do: the documents that decisions are made of, and the decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ._records import dataclass, field
from ._types import Span, Violation


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
        parent: The bounds of a child, as the parent's action `delegate` has them.
        labels: What is known of the data that the model has read.
        used: The use of budgets.
        asks: What a person was asked.
        approvals: What persons decided. The host writes them, never the model.
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
    parent: Mapping[str, Any]
    labels: list[str]
    used: Mapping[str, Any]
    asks: list[Mapping[str, Any]]
    approvals: list[Mapping[str, Any]]


@dataclass(frozen=True)
class ProfileInfo:
    """A registered profile.

    Attributes:
        agent: The agent that it is for.
        version: Its version.
        profile: Its digest: `sha256:` and 64 hexadecimal digits.
        tools: The full names of its tools, in its order.
        lists: The lists that its scopes name, in ascending order.
    """

    agent: str
    version: str
    profile: str
    tools: tuple[str, ...]
    lists: tuple[str, ...]


@dataclass(frozen=True)
class Reason:
    """Why a call may not run, or needs approval.

    Attributes:
        code: The check that it did not pass, as `schemas/decision.schema.json` lists them.
        message: One sentence for a person.
        violations: Where its arguments are wrong.
    """

    code: str
    message: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class Ask:
    """What a person is asked.

    Attributes:
        key: The key of the call.
        digest: The digest of the action.
        by: The principals who may approve.
        expires: In milliseconds since 1970. From then on, neither the ask nor an approval holds.
        view: What would be sent, whole, with what cannot be seen escaped.
        keys: The public keys of those who decide by signed tokens. Verify the token before you tell the loop.
    """

    key: str
    digest: str
    by: tuple[str, ...]
    expires: int
    view: str
    keys: dict[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Approval:
    """The approval that a call uses.

    Attributes:
        principal: Who approved.
        at: When, in milliseconds since 1970.
    """

    principal: str
    at: int


@dataclass(frozen=True)
class Decision:
    """Whether a call may run. A denied call is a decision, never an exception.

    Attributes:
        permit: `allow`, `deny`, or `approval`: a person must decide first. Then ask again.
        key: The key of the call.
        tool: The tool.
        message: What the model may be told. Empty where the call may run.
        reasons: Why it may not run, or needs approval.
        facts: The members of the facts that changed: they take the places of the old ones. A `Loop` does that.
        server: Where the tool runs. None for the host's own.
        effect: `read`, `idempotent` or `effectful`. None where there is no such tool.
        arguments: The text to send, byte for byte. None where the call is denied.
        digest: The digest of the action: what is approved is this, and nothing else.
        allowed: Where it is denied: the tools that are not.
        ask: What a person is asked.
        approval: The approval that the call uses.
        json: The decision as JSON text, the same bytes as in every other runtime.
    """

    permit: Literal["allow", "deny", "approval"]
    key: str
    tool: str
    message: str
    reasons: tuple[Reason, ...]
    facts: dict[str, Any]
    server: str | None = None
    effect: Literal["read", "idempotent", "effectful"] | None = None
    arguments: str | None = None
    digest: str | None = None
    allowed: tuple[str, ...] | None = None
    ask: Ask | None = None
    approval: Approval | None = None
    json: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True)
class Shown:
    """How many items, lines, bytes or parts of how many are shown, where a result was cut."""

    unit: Literal["items", "lines", "bytes", "parts"]
    head: int
    tail: int
    of: int


@dataclass(frozen=True)
class Provenance:
    """Where data comes from."""

    source: str | None = None
    query: str | None = None
    time_range: str | None = None
    cached: bool | None = None


@dataclass(frozen=True)
class Freshness:
    """Until when data goes, in milliseconds since 1970, how many seconds ago that is, and whether that is too long."""

    lag_s: int
    stale: bool
    until: int | None = None


@dataclass(frozen=True)
class Instruction:
    """A passage that reads like an instruction: its kind, its place in the result, and its span in the text there."""

    kind: str
    path: str
    span: Span


@dataclass(frozen=True)
class Found:
    """What was found in the whole result, shown or not.

    Attributes:
        escaped: How many hidden characters of each kind are escaped.
        redacted: How many secrets of each kind are left out.
        defanged: How many links and images are defanged.
        instructions: Passages that read like an instruction. They stay.
        instructions_left_out: How many more there are.
    """

    escaped: dict[str, int]
    redacted: dict[str, int]
    defanged: int
    instructions: tuple[Instruction, ...]
    instructions_left_out: int


@dataclass(frozen=True)
class Observation:
    """What the model may read of a result. An invalid result is an observation, never an exception.

    Attributes:
        id: What claims cite: the tool's name, `#`, and the key of the call.
        tool: The tool.
        status: `error`: the tool says that it failed. `invalid`: the result is not what its schema asks for, and none
            of it is shown.
        message: What goes into the prompt: where the data comes from, what is wrong with it, and the text between
            marks.
        text: The data: cut, cleaned, at most `max_bytes` of the profile.
        kinds: The kinds of evidence that it is.
        labels: What is known of it by where it comes from.
        confidence: `high`, `medium` or `low`, never above what the source says.
        complete: Whether it is everything that there is.
        limitations: By code, as `schemas/observation.schema.json` lists them.
        artifact: The digest of the whole result, under which the host keeps it.
        bytes: The length of the whole result.
        provenance: Where it comes from.
        found: What was found in the whole result, and what was done about it.
        violations: Where it does not match its schema.
        facts: The members of the facts that changed: they take the places of the old ones. A `Loop` does that.
        server: Where the tool runs. None for the host's own.
        returned: The result to hand on in place of one of the Model Context Protocol. None: hand that on as it is.
        shown: Where it was cut: how much is shown.
        freshness: Until when it goes, where the profile says how to know.
        json: The observation as JSON text, the same bytes as in every other runtime.
    """

    id: str
    tool: str
    status: Literal["ok", "error", "invalid"]
    message: str
    text: str
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    confidence: Literal["high", "medium", "low"]
    complete: bool
    limitations: tuple[str, ...]
    artifact: str
    bytes: int
    provenance: Provenance
    found: Found
    violations: tuple[Violation, ...]
    facts: dict[str, Any]
    server: str | None = None
    returned: dict[str, Any] | None = None
    shown: Shown | None = None
    freshness: Freshness | None = None
    json: str = field(default="", repr=False, compare=False)


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
    """A tool that the model may not see, and by what code of `schemas/surface.schema.json`."""

    tool: str
    code: Literal["absent", "changed", "unknown", "mode", "permit", "deny", "parent"]
    server: str | None = None


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
    records: tuple[dict[str, Any], ...] = ()
    actions: tuple[dict[str, Any], ...] = ()
    wake_at: int | None = None
    need: tuple[str, ...] = ()
    json: str = field(default="", repr=False, compare=False)
