"""The words of a run: events, actions and records as dicts, decisions and observations as classes.

Made by `cargo xtask generate` from `schemas/` and `xtask/generate/`. Do not edit: run it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ._records import dataclass, field
from ._types import Span, Violation

ResultStatus = Literal["ok", "error"]

PossibleEffect = Literal["none", "unknown"]

ApprovalAnswer = Literal["approved", "rejected", "edited"]

ResolutionOutcome = Literal["done", "not_done"]

RunStatus = Literal["final", "final_partial", "failed", "cancelled"]

Party = Literal["client", "server"]

Purpose = Literal["frame", "step", "final"]

Role = Literal["system", "user", "assistant", "tool"]

Effect = Literal["read", "idempotent", "effectful"]

Permit = Literal["allow", "deny", "approval"]

StopCode = Literal[
    "budget",
    "same_call",
    "same_denial",
    "rejected",
    "surface",
    "unresolved",
    "no_answer",
    "prompt",
    "state_bytes",
    "cancelled",
    "task",
    "context",
    "model",
]

IgnoredCode = Literal[
    "finished",
    "repeated",
    "started",
    "loop",
    "no_loop",
    "late",
    "not_dispatched",
    "not_under_way",
    "not_uncertain",
    "no_ask",
    "before_ask",
    "digest",
    "approver",
    "arguments",
    "token",
    "not_asked",
    "mode",
]

LeftOutWhat = Literal["context", "output"]

LeftOutCode = Literal["undeclared", "invalid", "too_large"]

HiddenToolCode = Literal["absent", "changed", "unknown", "permit", "deny", "mode", "parent", "invalid_definition"]

OutputKind = Literal["answer", "no_answer", "question", "plan", "refusal", "task", "no_task", "calls", "failure"]

ReasonCode = Literal[
    "unknown_tool",
    "ambiguous_tool",
    "mode",
    "parent",
    "surface",
    "malformed",
    "too_large",
    "definition",
    "arguments",
    "deny",
    "mark",
    "secret",
    "scope",
    "origin",
    "flow",
    "budget",
    "same_call",
    "rate",
    "state_bytes",
    "permit",
    "rejected",
    "expired",
    "approver",
    "digest",
    "before_ask",
    "invalid_definition",
]

ObservationStatus = Literal["ok", "error", "invalid"]

Limitation = Literal[
    "contradictory",
    "error",
    "format",
    "invalid",
    "invalid_items",
    "partial",
    "sampled",
    "stale",
    "truncated",
    "undated",
    "unchecked",
]

SettledCode = Literal["expired", "not_sent", "rejected", "cancelled", "uncertain"]

CutFrom = Literal["prompt", "state"]

ShownUnit = Literal["items", "lines", "members", "bytes", "parts"]

FinishWord = Literal["stop", "length", "refusal", "content_filter", "tool_call", "unknown"]

ConfidenceWord = Literal["low", "medium", "high"]


class _ParentRules(TypedDict):
    profile: Mapping[str, Any]


class ParentRules(_ParentRules, total=False):
    """The rules of one agent above a child.

    Attributes:
        profile: The part of the agent's profile that judges calls of the tools that were handed on: see
            profile.schema.json.
        task: The agent's task, if a scope or an origin names it. The child's model does not see it.
        context: The values of the agent's context that a scope or an origin names. The child's model does not see
            them.
        lists: The lists that a scope or an origin names.
        said: The texts that people said to the agent, if an origin needs them. The child's model does not see them.
        observed: Values of the agent's results that an origin names: see facts.schema.json. The child's model does
            not see them.
        calls: The number of times that each call was permitted in the agent's run and below it before the child
            started, if the agent's budget has `same_call`. A call that waits for approval counts.
        recent: The times of the last permitted calls of each tool with a `rate`, in the agent's run and below it,
            before the child started.
        reserved: The number of times that other children, which run at the same time, may make each call that is
            not only a read.
    """

    task: Any
    context: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    said: list[str]
    observed: list[Mapping[str, Any]]
    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]
    reserved: int


class ChildBudget(TypedDict, total=False):
    """The budget of the child."""

    steps: int
    tool_calls: int
    tokens: int
    ms: int
    same_call: int
    state_bytes: int


class _Bounds(TypedDict):
    run: str
    call: str
    tools: list[str]
    rules: list[ParentRules]
    budget: ChildBudget


class Bounds(_Bounds, total=False):
    """The bounds of a child.

    Attributes:
        call: The key of a call, as in its action.
        tools: The tools that were handed on.
        rules: The rules of the agents above, beginning with the parent. Each of them judges each call of the child,
            in addition to the child's own profile.
        labels: The labels of the data that the parent has read.
        budget: The budget of the child.
        deadline: The time of the event, in milliseconds since 1970. The time of the run is the greatest time so
            far.
        edited: True if the last of the rules is the run's own profile after an edit. In a run without a parent, it
            is the only one.
    """

    labels: list[str]
    deadline: int
    edited: bool


class _ModelCall(TypedDict):
    tool: str
    arguments: Any


class ModelCall(_ModelCall, total=False):
    """A part of a word.

    Attributes:
        id: The model's own id. It may repeat.
        arguments: An object, or the text as the model wrote it.
    """

    id: str
    server: str


class TokenUsage(TypedDict, total=False):
    """The number of tokens. If it is missing, it is estimated from bytes."""

    input: int
    output: int


class ApprovalRemember(TypedDict, total=False):
    """The approval also covers further calls of this run: those of the same tool with the same arguments except some,
    as long as they need approval for no other reason. Not allowed with a token.

    Attributes:
        any: The names of the arguments that may differ or be missing.
        times: The number of further calls that it covers.
        ttl_s: The time for which it is valid, in seconds from now.
    """

    any: list[str]
    times: int
    ttl_s: int


class _Stored(TypedDict):
    store: str
    labels: list[str]


class Stored(_Stored, total=False):
    """The labels of the data below one key of a store.

    Attributes:
        store: The name of the store.
        key: The key. If it is missing, the whole store.
    """

    key: str


class ChildUse(TypedDict, total=False):
    """The budget that the child used. A missing member counts as zero. Without this object, the child counts as having
    used its whole budget.

    Attributes:
        calls: The number of times that each call was permitted. The parent counts them as its own.
        recent: The times of the last permitted calls of each tool with a `rate`. The parent counts them as its own.
    """

    steps: int
    tool_calls: int
    tokens: int
    ms: int
    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]


class _UncertainCall(TypedDict):
    call: str
    tool: str
    arguments: str


class UncertainCall(_UncertainCall, total=False):
    """A part of a word.

    Attributes:
        run: The child that made the call. Missing if the run itself made it.
        call: The key of a call, as in its action.
        server: The server of the tool.
        tool: The name of the tool in the child.
        arguments: The arguments that were sent. Those of a child are truncated to 1 KiB.
    """

    run: str
    server: str


class _RequestedCall(TypedDict):
    call: str
    tool: str
    arguments: str


class RequestedCall(_RequestedCall, total=False):
    """A call that the model requested.

    Attributes:
        call: The run's own key for a call: c1, c2, ….
        id: The model's own id.
        server: The server of the tool.
        tool: The arguments as the model gave them.
        arguments: The arguments as the model wrote them.
    """

    id: str
    server: str


class _PromptMessage(TypedDict):
    role: Role
    text: str


class PromptMessage(_PromptMessage, total=False):
    """One message. The messages have a fixed order: role, rules, task, context, history, and last what to answer.

    Attributes:
        text: The text of the message. Data from outside is between marks that the data cannot know.
        calls: The calls of an assistant's message.
        call: The call that a tool's message answers.
        id: The model's own id for the call.
        message: The provider's message, unchanged.
    """

    calls: list[RequestedCall]
    call: str
    id: str
    message: Mapping[str, Any]


class _VisibleTool(TypedDict):
    tool: str
    effect: Effect
    permit: Permit


class VisibleTool(_VisibleTool, total=False):
    """A tool that the model sees.

    Attributes:
        server: The server of the tool.
        tool: The name of the tool.
        definition: The definition as the server lists it, sanitized.
    """

    server: str
    definition: Mapping[str, Any]


class ModelPrompt(TypedDict):
    """The request to the model.

    Attributes:
        tools: The surface: the tools that the model may call now.
    """

    messages: list[PromptMessage]
    tools: list[VisibleTool]


class _ApprovalDict(TypedDict):
    principal: str
    at: int


class ApprovalDict(_ApprovalDict, total=False):
    """The approval that the call uses.

    Attributes:
        principal: The principal who approved.
        at: In milliseconds since 1970.
        remembered: True if a person gave the approval for another call of the run and it also covers this one.
    """

    remembered: bool


class SecretDict(TypedDict):
    """A secret. The host replaces a reference with its value when it sends the call.

    Attributes:
        at: A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
        name: The name of the tool.
    """

    at: str
    name: str


class _AskDict(TypedDict):
    key: str
    digest: str
    by: list[str]
    expires: int
    view: str


class AskDict(_AskDict, total=False):
    """The request for approval that a person sees.

    Attributes:
        key: The run's own key for a call: c1, c2, ….
        digest: The digest of the action. The approval covers this action, and no other.
        by: The principals who may decide. One of them is enough.
        keys: The public keys of the principals that have keys. Such a principal's decision counts only with a token
            that one of these keys signed, whichever profile lists the key. If the profiles of a child and of the agents
            above it list different keys for one principal, the list is empty, and the principal cannot decide.
        expires: The time at which the ask and any approval of it expire.
        view: The whole call as it would be sent, with invisible characters escaped, and the equal calls that ran
            before.
    """

    keys: Mapping[str, list[str]]


class StopReason(TypedDict):
    """The reason for which the run must end.

    Attributes:
        message: The text for people.
    """

    code: StopCode
    message: str


class _RunUse(TypedDict):
    steps: int
    tool_calls: int
    tokens: int


class RunUse(_RunUse, total=False):
    """The used budget.

    Attributes:
        calls: The number of times that each call was permitted, by a digest of the call. For the parent of a child.
        recent: The times of the last permitted calls of each tool with a `rate`. For the parent of a child.
    """

    calls: Mapping[str, int]
    recent: Mapping[str, list[int]]


class ContextRequest(TypedDict):
    """The part of its parent's context that a child requested and was denied.

    Attributes:
        reason: The child's reason for the request.
        packet: The digest of the task that it received.
        tools: The tools that its profile names.
    """

    reason: str
    packet: str
    tools: list[str]


class _HiddenName(TypedDict):
    tool: str
    code: HiddenToolCode


class HiddenName(_HiddenName, total=False):
    """A tool that the model does not see.

    Attributes:
        tool: NAME or SERVER/NAME.
        message: The error in the tool's definition, and its place.
    """

    message: str


class ReasonDict(TypedDict):
    """The reasons for which the call may not run, or needs approval.

    Attributes:
        message: The text for people.
    """

    code: ReasonCode
    message: str
    violations: list[Mapping[str, Any]]


class _NamePlaceDict(TypedDict):
    origin: str


class NamePlaceDict(_NamePlaceDict, total=False):
    """The place of the name of the value's item.

    Attributes:
        origin: `user` or `task`.
        message: The number of the text among the texts that people said, counted from 1.
        at: A JSON Pointer into the task.
        span: A range of bytes in the text there: the first byte, and the one after the last.
    """

    message: int
    at: str
    span: list[int]


class _ProofDict(TypedDict):
    pointer: str


class ProofDict(_ProofDict, total=False):
    """The origin of a value of a call, or the places where it was sought.

    Attributes:
        pointer: A JSON Pointer into the arguments.
        origin: `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as in the
            rule.
        message: The number of the text among the texts that people said, counted from 1.
        call: The call whose result contains it.
        at: A JSON Pointer into the task, the value of the context, the list or the result.
        span: A range of bytes in the text there: the first byte, and the one after the last.
        named: The place of the name of the value's item.
        sought: The places where a value without an origin was sought.
    """

    origin: str
    message: int
    call: str
    at: str
    span: list[int]
    named: NamePlaceDict
    sought: list[str]


class InstructionDict(TypedDict):
    """A part of a word.

    Attributes:
        path: The place in the result.
        span: The range of bytes in the text there: the first byte, and the one after the last.
    """

    kind: str
    path: str
    span: list[int]


class FoundDict(TypedDict):
    """The findings in the whole result, and their treatment.

    Attributes:
        defanged: The number of links and images that were defanged.
        escaped: The number of hidden characters of each kind that were escaped.
        instructions: Passages that read like an instruction. They are kept.
        instructions_left_out: The number of further ones.
        redacted: The number of secrets of each kind that were left out.
    """

    defanged: int
    escaped: Mapping[str, int]
    instructions: list[InstructionDict]
    instructions_left_out: int
    redacted: Mapping[str, int]


class _BudgetUse(TypedDict):
    tool_calls: int
    tokens: int
    ms: int
    calls: Mapping[str, int]


class BudgetUse(_BudgetUse, total=False):
    """The used budget: see facts.schema.json.

    Attributes:
        calls: The number of times that each call was permitted, by a digest of the call.
        recent: The times of the last permitted calls of each tool with a `rate`.
    """

    recent: Mapping[str, list[int]]


class ShownDict(TypedDict):
    """The truncation: the number of items or lines that are shown, and the total number."""

    unit: ShownUnit
    head: int
    tail: int
    of: int


class ProvenanceDict(TypedDict, total=False):
    """A part of a word."""

    source: str
    query: str
    time_range: str
    cached: bool


class _FreshnessDict(TypedDict):
    lag_s: int
    stale: bool


class FreshnessDict(_FreshnessDict, total=False):
    """A part of a word.

    Attributes:
        until: The time up to which the data extends, in milliseconds since 1970.
    """

    until: int


class _StartedEvent(TypedDict):
    type: Literal["started"]
    at: int
    run: str
    principal: str
    nonce: str


class StartedEvent(_StartedEvent, total=False):
    """A run starts. This is the first event, and the only one of its kind.

    Attributes:
        run: The run's id.
        principal: The person or system that the agent works for.
        nonce: A random secret of the run, from which the marks around data from outside are derived.
        mode: One of the profile's modes. Default: the first mode.
        task: The task. Free text if the profile has `frame`.
        context: Values, by the names in the profile's `context`.
        lists: The lists that `scope` names.
        listed: The tools that servers list now, as in `tools_listed`. Without this member, all tools of the profile
            are available.
        labels: The labels of data that the client has read in earlier runs.
        parent: The limits that a parent sets, as in its action `delegate`.
    """

    session: str
    turn: str
    mode: str
    task: Any
    context: Mapping[str, Any]
    lists: Mapping[str, list[str]]
    listed: Mapping[str, Any]
    labels: list[str]
    parent: Bounds


class ToolsListedEvent(TypedDict):
    """The tools that servers list now.

    Attributes:
        listed: The list, in the format of lock files: see lock.schema.json.
    """

    type: Literal["tools_listed"]
    at: int
    listed: Mapping[str, Any]


class _ModelOutputEvent(TypedDict):
    type: Literal["model_output"]
    at: int
    key: str


class ModelOutputEvent(_ModelOutputEvent, total=False):
    """The output of the model.

    Attributes:
        key: The key of the action `ask_model` that this event answers.
        calls: The calls that the model requests, in its order.
        message: The provider's message. Later prompts contain it unchanged.
        finish: The reason for which the model stopped.
        usage: The number of tokens. If it is missing, it is estimated from bytes.
        artifacts: The artifacts that the step requested under `need`: texts by their digests.
    """

    text: str
    calls: list[ModelCall]
    message: Mapping[str, Any]
    finish: FinishWord
    usage: TokenUsage
    artifacts: Mapping[str, str]


class _ModelFailedEvent(TypedDict):
    type: Literal["model_failed"]
    at: int
    key: str
    message: str


class ModelFailedEvent(_ModelFailedEvent, total=False):
    """The model returned no output.

    Attributes:
        key: The key of a call, as in its action.
        retry: Whether another attempt may help. Default: false, a permanent failure.
    """

    retry: bool


class _CallEvent(TypedDict):
    type: Literal["call"]
    at: int
    tool: str
    arguments: Any


class CallEvent(_CallEvent, total=False):
    """One call from outside a loop, for profiles without a loop.

    Attributes:
        joinable: The digests of calls that an equal call may join, as in `same` of their decisions. A call that
            joins another is not decided.
    """

    id: str
    server: str
    joinable: list[str]


class ToolStartedEvent(TypedDict):
    """The host is about to send a call. It writes this event to the journal first.

    Attributes:
        call: The key of a call, as in its action.
    """

    type: Literal["tool_started"]
    at: int
    call: str


class _ToolResultEvent(TypedDict):
    type: Literal["tool_result"]
    at: int
    call: str


class ToolResultEvent(_ToolResultEvent, total=False):
    """The result of a tool: see result.schema.json.

    Attributes:
        call: The key of a call, as in its action.
        status: `error`: the tool reports a failure. The result is then sanitized, and not validated against the
            schema.
        result: Any JSON.
        returned: A whole result of the Model Context Protocol, which itself says whether the tool failed. Its
            `structuredContent` is validated against the schema. Without that, its only text is validated.
        text: Text. If the profile has a schema or items for the result, it is parsed as JSON.
        head: The beginning of a text that is too large.
        tail: The end of the text.
        length: The length of the whole text in bytes.
        digest: The digest of the whole result, under which the host keeps it. Beside `returned`, the host states
            it.
    """

    duration_ms: int
    status: ResultStatus
    result: Any
    returned: Mapping[str, Any]
    text: str
    head: str
    tail: str
    length: int
    digest: str


class _ToolFailedEvent(TypedDict):
    type: Literal["tool_failed"]
    at: int
    call: str
    message: str


class ToolFailedEvent(_ToolFailedEvent, total=False):
    """A call ended without a result.

    Attributes:
        call: The key of a call, as in its action.
        effect: Whether the call may have had an effect. Default: unknown, if it was started.
    """

    effect: PossibleEffect


class _JobEvent(TypedDict):
    type: Literal["job"]
    at: int
    call: str


class JobEvent(_JobEvent, total=False):
    """A call continues elsewhere. Its result comes later.

    Attributes:
        call: The key of a call, as in its action.
        ttl_s: The maximum time until then, in seconds from now.
    """

    ttl_s: int


class _ApprovalEvent(TypedDict):
    type: Literal["approval"]
    at: int
    key: str
    digest: str
    decision: ApprovalAnswer
    principal: str


class ApprovalEvent(_ApprovalEvent, total=False):
    """A person's decision about one ask. `edited` replaces the call's arguments with `arguments`. The call is then
    judged again, and needs a new ask if it requires approval.

    Attributes:
        key: The key of a call, as in its action.
        arguments: The new arguments as they would be sent: the text of a JSON object. Only with `edited`, and only
            in a loop.
        remember: The approval also covers further calls of this run: those of the same tool with the same arguments
            except some, as long as they need approval for no other reason. Not allowed with a token.
        reason: The reason, in the person's words. The model reads it if the call is rejected or edited.
        token: The facts that the host verified before it appended this event.
    """

    arguments: str
    remember: ApprovalRemember
    reason: str
    token: str


class _InputEvent(TypedDict):
    type: Literal["input"]
    at: int
    key: str
    text: str


class InputEvent(_InputEvent, total=False):
    """A person's answer to a question.

    Attributes:
        key: The key of the action `ask_input`.
    """

    principal: str


class _UserMessageEvent(TypedDict):
    type: Literal["user_message"]
    at: int
    text: str


class UserMessageEvent(_UserMessageEvent, total=False):
    """A message that a person sent unasked."""

    principal: str
    turn: str


class _SaidEvent(TypedDict):
    type: Literal["said"]
    at: int
    text: str


class SaidEvent(_SaidEvent, total=False):
    """A text that a person said elsewhere, which can prove `origins`. The model does not receive it."""

    principal: str


class StoresEvent(TypedDict):
    """Labels that other runs gave to data in stores, in addition to those that the run knows."""

    type: Literal["stores"]
    at: int
    stores: list[Stored]


class ContextEvent(TypedDict):
    """A declared context value changed."""

    type: Literal["context"]
    at: int
    name: str
    value: Any


class _ResolutionEvent(TypedDict):
    type: Literal["resolution"]
    at: int
    call: str
    outcome: ResolutionOutcome
    principal: str


class ResolutionEvent(_ResolutionEvent, total=False):
    """A person states the outcome of an uncertain call.

    Attributes:
        call: The key of a call, as in its action.
    """

    text: str


class ModeEvent(TypedDict):
    """A person changes the mode."""

    type: Literal["mode"]
    at: int
    mode: str
    principal: str


class ProfileEvent(TypedDict):
    """The profile was edited. Until the run ends, a call must satisfy both the edited profile and the one with which
    the run started. A later event of this kind replaces the edited profile.

    Attributes:
        profile: The edited profile: see profile.schema.json.
    """

    type: Literal["profile"]
    at: int
    profile: Mapping[str, Any]


class _ChildResultEvent(TypedDict):
    type: Literal["child_result"]
    at: int
    call: str
    status: RunStatus


class ChildResultEvent(_ChildResultEvent, total=False):
    """The end of a child, as in its action `finish`.

    Attributes:
        call: The key of a call, as in its action.
        used: The budget that the child used. A missing member counts as zero. Without this object, the child counts
            as having used its whole budget.
        requests: The parts of the parent's context that the child requested and was denied.
        uncertain: Calls whose effect is unknown.
    """

    document: Any
    kinds: list[str]
    labels: list[str]
    confidence: ConfidenceWord
    used: ChildUse
    requests: list[Mapping[str, Any]]
    uncertain: list[UncertainCall]


class _CallCancelledEvent(TypedDict):
    type: Literal["call_cancelled"]
    at: int
    call: str


class CallCancelledEvent(_CallCancelledEvent, total=False):
    """The host cancelled a call.

    Attributes:
        call: The key of a call, as in its action.
        effect: Whether the call may have had an effect. Default: unknown, if it was started.
    """

    effect: PossibleEffect


class _CancelledEvent(TypedDict):
    type: Literal["cancelled"]
    at: int


class CancelledEvent(_CancelledEvent, total=False):
    """A person ends the run."""

    principal: str
    reason: str


_MessageEventFrom = TypedDict("_MessageEventFrom", {"from": "Party"})


class _MessageEvent(_MessageEventFrom):
    type: Literal["message"]
    at: int
    method: str


class MessageEvent(_MessageEvent, total=False):
    """A message between a client and a tool server that is not a tool call.

    Attributes:
        id: An id that distinguishes equal messages.
        method: The method of the message, or of the request that it answers.
        document: The content of the message. Without it, only the method is checked.
    """

    id: str
    server: str
    document: Any


class TickEvent(TypedDict):
    """Time has passed."""

    type: Literal["tick"]
    at: int


class _ResumedEvent(TypedDict):
    type: Literal["resumed"]
    at: int


class ResumedEvent(_ResumedEvent, total=False):
    """The host restarts after an interruption.

    Attributes:
        listed: The tools that servers list now, as in `tools_listed`.
    """

    listed: Mapping[str, Any]


RunEvent = (
    StartedEvent
    | ToolsListedEvent
    | ModelOutputEvent
    | ModelFailedEvent
    | CallEvent
    | ToolStartedEvent
    | ToolResultEvent
    | ToolFailedEvent
    | JobEvent
    | ApprovalEvent
    | InputEvent
    | UserMessageEvent
    | SaidEvent
    | StoresEvent
    | ContextEvent
    | ResolutionEvent
    | ModeEvent
    | ProfileEvent
    | ChildResultEvent
    | CallCancelledEvent
    | CancelledEvent
    | MessageEvent
    | TickEvent
    | ResumedEvent
)
"""A fact from outside that `advance` applies. The host sets its time. An event that does not fit the run is recorded,
and changes nothing.
"""


class AskModelAction(TypedDict):
    """Call the model, and send its output as `model_output`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        purpose: The purpose of the request. `frame`: turn free text into a task. `step`: continue. `final`: answer
            without tools.
        prompt: The request to the model.
        expires: Later answers are ignored.
    """

    type: Literal["ask_model"]
    key: str
    purpose: Purpose
    prompt: ModelPrompt
    expires: int


class _ExecuteAction(TypedDict):
    type: Literal["execute"]
    key: str
    call: str
    tool: str
    effect: Effect
    arguments: str
    idempotency_key: str
    expires: int


class ExecuteAction(_ExecuteAction, total=False):
    """Send a call. Append `tool_started` before sending it. If that event is ignored, do not send the call.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key for a call: c1, c2, ….
        server: The server of the tool. Missing if the host itself offers the tool.
        tool: The name of the tool in the child.
        arguments: The exact text to send.
        digest: The digest of the action.
        idempotency_key: The idempotency key, which stays the same however often the call is sent.
        expires: Later results of a read are ignored. An effect is then uncertain.
        approval: The approval that the call uses.
        secrets: The secrets whose values the host inserts into the arguments, in the order of the arguments. A host
            without secrets must not send the call.
    """

    server: str
    digest: str
    approval: ApprovalDict
    secrets: list[SecretDict]


class AskApprovalAction(TypedDict):
    """Ask a person, and send the decision as `approval`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key for a call: c1, c2, ….
        ask: The request for approval that a person sees.
    """

    type: Literal["ask_approval"]
    key: str
    call: str
    ask: AskDict


class _AskInputAction(TypedDict):
    type: Literal["ask_input"]
    key: str
    question: str
    expires: int


class AskInputAction(_AskInputAction, total=False):
    """Ask a person a question, and send the answer as `input`. For an uncertain call, send it as `resolution`.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        question: The question, without invisible characters.
        call: The uncertain call whose outcome somebody must state.
        expires: In milliseconds since 1970.
    """

    call: str


class DelegateAction(TypedDict):
    """Start or continue the run of another agent. The run's name is fixed. Append `tool_started` first.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key for a call: c1, c2, ….
        run: The id of the child's run.
        agent: The child's agent.
        profile: The digest of the child's profile.
        reason: The model's reason for the delegation.
        task: The task of the child: everything that it receives.
        digest: The digest of this task.
        parent: The limits that the parent sets. They go unchanged into the child's event `started` as `parent`: see
            event.schema.json.
    """

    type: Literal["delegate"]
    key: str
    call: str
    run: str
    agent: str
    profile: str
    reason: str
    task: Mapping[str, Any]
    digest: str
    parent: Bounds


class CancelAction(TypedDict):
    """Cancel a call that was sent or is about to be sent.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        call: The run's own key for a call: c1, c2, ….
    """

    type: Literal["cancel"]
    key: str
    call: str


class _FinishAction(TypedDict):
    type: Literal["finish"]
    key: str
    status: RunStatus
    reasons: list[StopReason]
    missing: list[str]
    uncertain: list[UncertainCall]
    kinds: list[str]
    labels: list[str]
    used: RunUse
    requests: list[ContextRequest]


class FinishAction(_FinishAction, total=False):
    """The run has ended.

    Attributes:
        key: RUN/STEP/N: the N-th action of a step.
        document: The final answer. For a partial one, its parts: `asked`, `found`, `missing`, `why`, `plan`.
        reasons: The reason for which the run had to end. Empty if the answer is final.
        missing: The kinds of evidence that are missing.
        uncertain: Effects whose outcome is unknown.
        kinds: The kinds of evidence that were found.
        labels: The labels of everything that the model has read.
        confidence: The lowest confidence of all observations.
        used: The used budget.
    """

    document: Any
    confidence: ConfidenceWord


Action = (
    AskModelAction | ExecuteAction | AskApprovalAction | AskInputAction | DelegateAction | CancelAction | FinishAction
)
"""The next action of the host. `advance` decides it, and the host performs it. Each action has its own key."""


class IgnoredRecord(TypedDict):
    """An event that does not fit the run. It changed nothing.

    Attributes:
        message: The text for people.
    """

    type: Literal["ignored"]
    code: IgnoredCode
    message: str


class LeftOutRecord(TypedDict):
    """Data from outside that the model does not get, or only in part.

    Attributes:
        name: The digest of the value.
        message: The text for people.
    """

    type: Literal["left_out"]
    what: LeftOutWhat
    name: str
    code: LeftOutCode
    message: str


class SurfaceRecord(TypedDict):
    """The tools that servers list now.

    Attributes:
        tools: The tools that the model may see.
    """

    type: Literal["surface"]
    tools: list[str]
    hidden: list[HiddenName]


class OutputRecord(TypedDict):
    """The kind of the model's output. An output with calls has a decision for each call instead.

    Attributes:
        message: The text for the model, or the model's question.
    """

    type: Literal["output"]
    kind: OutputKind
    message: str


class _DecisionRecord(TypedDict):
    type: Literal["decision"]
    call: str
    permit: Permit
    tool: str
    arguments: str
    arguments_digest: str
    same: str
    message: str
    reasons: list[ReasonDict]


class DecisionRecord(_DecisionRecord, total=False):
    """The decision whether a call may run. See decision.schema.json.

    Attributes:
        call: The run's own key for a call: c1, c2, ….
        server: The server of the tool.
        tool: The arguments as the model gave them, truncated.
        digest: The digest of the action.
        arguments: The arguments as the model wrote them, truncated to 4 KiB.
        arguments_digest: The digest of the whole.
        same: The digest that equal calls share: calls of the same tool with equal arguments, however these are
            written.
        message: The text for the model.
        approval: The approval that the call uses.
        origins: The origins of values of the arguments. See decision.schema.json.
        secrets: The secrets that the call takes. See decision.schema.json.
    """

    server: str
    effect: Effect
    digest: str
    approval: ApprovalDict
    origins: list[ProofDict]
    secrets: list[SecretDict]


class JoinedRecord(TypedDict):
    """A call that equals a call of the event's `joinable`. It was not decided. The host answers it with the result of
    the other call.

    Attributes:
        same: The digest that equal calls share: calls of the same tool with equal arguments, however these are
            written.
    """

    type: Literal["joined"]
    same: str


class _ObservationRecord(TypedDict):
    type: Literal["observation"]
    call: str
    tool: str
    status: ObservationStatus
    id: str
    message: str
    kinds: list[str]
    labels: list[str]
    confidence: ConfidenceWord
    complete: bool
    limitations: list[Limitation]
    artifact: str
    bytes: int
    found: FoundDict
    arguments_digest: str


class ObservationRecord(_ObservationRecord, total=False):
    """The part of a result that the model may read. See observation.schema.json.

    Attributes:
        call: The run's own key for a call: c1, c2, ….
        server: The server of the tool.
        tool: The name of the tool in the child.
        id: The id that claims cite.
        message: The text for the prompt.
        kinds: The kinds of evidence that it provides.
        labels: The labels of the data from its source.
        complete: True if it contains the complete result.
        returned: The result that replaces a result of the Model Context Protocol. If it is missing, that result is
            passed on unchanged.
        artifact: The digest of the whole result.
        bytes: The length of the whole result.
        found: The findings in the whole result, and their treatment.
        duration_ms: The value that the host states.
        ui: The text for the audience `ui`.
        user: The text for the audience `user`.
    """

    server: str
    returned: Mapping[str, Any]
    duration_ms: int
    ui: str
    user: str


class SettledRecord(TypedDict):
    """A call that ended without a result.

    Attributes:
        call: The run's own key for a call: c1, c2, ….
        tool: The name of the tool, truncated.
        message: The text for people.
    """

    type: Literal["settled"]
    call: str
    tool: str
    code: SettledCode
    message: str


_CutRecordFrom = TypedDict("_CutRecordFrom", {"from": "CutFrom"})


class CutRecord(_CutRecordFrom):
    """The content that was removed from the prompt or the state to make it fit.

    Attributes:
        calls: Calls whose observations lost their text.
        entries: The number of oldest messages that were left out.
    """

    type: Literal["cut"]
    calls: list[str]
    entries: int


class StopRecord(TypedDict):
    """The reason for which the run ended.

    Attributes:
        message: The text for people.
    """

    type: Literal["stop"]
    code: StopCode
    message: str


class ContextRequestRecord(TypedDict):
    """A child requested part of its parent's context and was denied. Recorded in its own run, and in its parent's run.

    Attributes:
        call: The run's own key for a call: c1, c2, ….
        request: In the parent's run: as in the child's end.
    """

    type: Literal["context_request"]
    call: str
    request: Mapping[str, Any]


class UsedRecord(TypedDict):
    """The used budget when the run ended.

    Attributes:
        steps: The number of calls of the model.
        budgets: The used budget: see facts.schema.json.
    """

    type: Literal["used"]
    steps: int
    budgets: BudgetUse


_MessageRecordFrom = TypedDict("_MessageRecordFrom", {"from": "Party"})


class _MessageRecord(_MessageRecordFrom):
    type: Literal["message"]
    server: str
    method: str
    permit: Permit
    found: FoundDict


class MessageRecord(_MessageRecord, total=False):
    """The decision whether a message between a client and a server may pass, and in which form.

    Attributes:
        document: The sanitized message. If it is missing, the message passes unchanged.
        found: The findings in the message, and their treatment.
    """

    document: Any


RunRecord = (
    IgnoredRecord
    | LeftOutRecord
    | SurfaceRecord
    | OutputRecord
    | DecisionRecord
    | JoinedRecord
    | ObservationRecord
    | SettledRecord
    | CutRecord
    | StopRecord
    | ContextRequestRecord
    | UsedRecord
    | MessageRecord
)
"""A decision of a step. It is in the journal beside the event."""


@dataclass(frozen=True)
class Approval:
    """The approval that the call uses.

    Attributes:
        principal: The principal who approved.
        at: In milliseconds since 1970.
        remembered: True if a person gave the approval for another call of the run and it also covers this one.
    """

    principal: str
    at: int
    remembered: bool | None = None


@dataclass(frozen=True)
class Secret:
    """A secret. The host replaces a reference with its value when it sends the call.

    Attributes:
        at: A JSON Pointer into the arguments. The value there is the text `secret:NAME`.
        name: The name of the tool.
    """

    at: str
    name: str


@dataclass(frozen=True)
class Ask:
    """The request for approval that a person sees.

    Attributes:
        key: The run's own key for a call: c1, c2, ….
        digest: The digest of the action. The approval covers this action, and no other.
        by: The principals who may decide. One of them is enough.
        expires: The time at which the ask and any approval of it expire.
        view: The whole call as it would be sent, with invisible characters escaped, and the equal calls that ran
            before.
        keys: The public keys of the principals that have keys. Such a principal's decision counts only with a token
            that one of these keys signed, whichever profile lists the key. If the profiles of a child and of the agents
            above it list different keys for one principal, the list is empty, and the principal cannot decide.
    """

    key: str
    digest: str
    by: tuple[str, ...]
    expires: int
    view: str
    keys: dict[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Reason:
    """The reasons for which the call may not run, or needs approval.

    Attributes:
        message: The text for people.
    """

    code: ReasonCode
    message: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True)
class NamePlace:
    """The place of the name of the value's item.

    Attributes:
        origin: `user` or `task`.
        message: The number of the text among the texts that people said, counted from 1.
        at: A JSON Pointer into the task.
        span: A range of bytes in the text there: the first byte, and the one after the last.
    """

    origin: str
    message: int | None = None
    at: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Proof:
    """The origin of a value of a call, or the places where it was sought.

    Attributes:
        pointer: A JSON Pointer into the arguments.
        origin: `user`, `task`, `context.NAME`, `list NAME`, `TOOL at PATH`, `secret NAME` and others, as in the
            rule.
        message: The number of the text among the texts that people said, counted from 1.
        call: The call whose result contains it.
        at: A JSON Pointer into the task, the value of the context, the list or the result.
        span: A range of bytes in the text there: the first byte, and the one after the last.
        named: The place of the name of the value's item.
        sought: The places where a value without an origin was sought.
    """

    pointer: str
    origin: str | None = None
    message: int | None = None
    call: str | None = None
    at: str | None = None
    span: Span | None = None
    named: NamePlace | None = None
    sought: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Instruction:
    """A part of a word.

    Attributes:
        path: The place in the result.
        span: The range of bytes in the text there: the first byte, and the one after the last.
    """

    kind: str
    path: str
    span: Span


@dataclass(frozen=True)
class Found:
    """The findings in the whole result, and their treatment.

    Attributes:
        defanged: The number of links and images that were defanged.
        escaped: The number of hidden characters of each kind that were escaped.
        instructions: Passages that read like an instruction. They are kept.
        instructions_left_out: The number of further ones.
        redacted: The number of secrets of each kind that were left out.
    """

    defanged: int
    escaped: dict[str, int]
    instructions: tuple[Instruction, ...]
    instructions_left_out: int
    redacted: dict[str, int]


@dataclass(frozen=True)
class Shown:
    """The truncation: the number of items or lines that are shown, and the total number."""

    unit: ShownUnit
    head: int
    tail: int
    of: int


@dataclass(frozen=True)
class Provenance:
    """A part of a word."""

    source: str | None = None
    query: str | None = None
    time_range: str | None = None
    cached: bool | None = None


@dataclass(frozen=True)
class Freshness:
    """A part of a word.

    Attributes:
        until: The time up to which the data extends, in milliseconds since 1970.
    """

    lag_s: int
    stale: bool
    until: int | None = None


@dataclass(frozen=True)
class Observation:
    """The part of a result that the model may read.

    Attributes:
        id: The id that claims cite: the tool's name, `#`, and the key of the call.
        status: `error`: the tool reports a failure. `invalid`: the result does not match its schema, and none of it
            is shown.
        message: The text for the prompt: the source of the data, its problems, and the data between marks.
        text: The data: truncated to the profile's `max_bytes`, and sanitized.
        kinds: The kinds of evidence that it provides.
        complete: True if it contains the complete result.
        artifact: The digest of the whole result, under which the host keeps it.
        bytes: The length of the whole result.
        found: The findings in the whole result, and their treatment.
        violations: The places at which it does not match its schema.
        facts: The members of the facts that changed.
        returned: The result that replaces a result of the Model Context Protocol. If it is missing, that result is
            passed on unchanged.
        shown: The truncation: the number of items or lines that are shown, and the total number.
    """

    id: str
    tool: str
    status: ObservationStatus
    message: str
    text: str
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    confidence: ConfidenceWord
    complete: bool
    limitations: tuple[Limitation, ...]
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
    """The document as JSON text, the same bytes as in every other runtime."""


@dataclass(frozen=True)
class AllowedDecision:
    """The call may run.

    Attributes:
        arguments: The exact text to send. Missing if the call is denied.
        digest: The digest of the action. The approval covers this action, and no other.
        message: The text that the model may read. Empty if the call may run.
        reasons: The reasons for which the call may not run, or needs approval.
        facts: The members of the facts that changed.
        approval: The approval that the call uses.
        origins: The origins of the values that the tool's `origins` rules cover. Values without an origin come
            first. At most 64 values are listed.
        secrets: The secrets that the call takes, in the order of its arguments. A host without secrets must not
            send the call.
    """

    permit: Literal["allow"]
    key: str
    tool: str
    effect: Effect
    arguments: str
    digest: str
    message: str
    reasons: tuple[Reason, ...]
    facts: dict[str, Any]
    server: str | None = None
    approval: Approval | None = None
    origins: tuple[Proof, ...] | None = None
    secrets: tuple[Secret, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(frozen=True)
class DeniedDecision:
    """The call must not run.

    Attributes:
        message: The text that the model may read. Empty if the call may run.
        reasons: The reasons for which the call may not run, or needs approval.
        allowed: If the call is denied, the tools that are allowed.
        facts: The members of the facts that changed.
        digest: The digest of the action. The approval covers this action, and no other.
        origins: The origins of the values that the tool's `origins` rules cover. Values without an origin come
            first. At most 64 values are listed.
    """

    permit: Literal["deny"]
    key: str
    tool: str
    message: str
    reasons: tuple[Reason, ...]
    allowed: tuple[str, ...]
    facts: dict[str, Any]
    server: str | None = None
    effect: Effect | None = None
    digest: str | None = None
    origins: tuple[Proof, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[False]:
        return False


@dataclass(frozen=True)
class ApprovalDecision:
    """A person must decide first. The caller then asks again, with the approval in the facts.

    Attributes:
        arguments: The exact text to send. Missing if the call is denied.
        digest: The digest of the action. The approval covers this action, and no other.
        message: The text that the model may read. Empty if the call may run.
        reasons: The reasons for which the call may not run, or needs approval.
        ask: The request for approval that a person sees.
        facts: The members of the facts that changed.
        origins: The origins of the values that the tool's `origins` rules cover. Values without an origin come
            first. At most 64 values are listed.
        secrets: The secrets that the call takes, in the order of its arguments. A host without secrets must not
            send the call.
    """

    permit: Literal["approval"]
    key: str
    tool: str
    effect: Effect
    arguments: str
    digest: str
    message: str
    reasons: tuple[Reason, ...]
    ask: Ask
    facts: dict[str, Any]
    server: str | None = None
    origins: tuple[Proof, ...] | None = None
    secrets: tuple[Secret, ...] | None = None
    json: str = field(default="", repr=False, compare=False)
    """The document as JSON text, the same bytes as in every other runtime."""

    def __bool__(self) -> Literal[False]:
        return False


Decision = AllowedDecision | DeniedDecision | ApprovalDecision
"""The decision whether a call may run. It is true if the call may run now."""
